// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/cli_fixture.h"

#include "table.h"

#include <QRegularExpression>

using namespace headroom::cli;

namespace {

bool isChinese(const QByteArray& text)
{
    return QString::fromUtf8(text).contains(QRegularExpression(QStringLiteral("\\p{Han}")));
}

} // namespace

/// The terminal speaks the language of its environment, or the one it is told.
class TestCliLanguage : public CliFixture
{
    Q_OBJECT

private slots:
    void environments_data();
    void environments();
    void everyCommandSpeaks_data();
    void everyCommandSpeaks();
    void programsReadEnglish_data();
    void programsReadEnglish();
    void unknownLanguage();
    void widths_data();
    void widths();
    void wraps_data();
    void wraps();
};

void TestCliLanguage::environments_data()
{
    QTest::addColumn<QString>("locale");
    QTest::addColumn<QString>("languages");
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<bool>("chinese");
    const auto row = [](const char* name, const char* locale, const char* languages, const QStringList& options,
                        bool chinese) { QTest::newRow(name) << locale << languages << options << chinese; };
    row("none", "", "", {}, false);
    row("C", "C", "zh_CN", {}, false); // as gettext has it
    row("C.UTF-8", "C.UTF-8", "zh_CN", {}, false);
    row("English", "en_US.UTF-8", "", {}, false);
    row("Chinese", "zh_CN.UTF-8", "", {}, true);
    row("list", "en_US.UTF-8", "fr:zh_CN:en", {}, true);
    row("English first", "zh_CN.UTF-8", "en:zh_CN", {}, false);
    row("Traditional Chinese has no catalogue", "zh_TW.UTF-8", "", {}, false);
    row("told", "C", "", {"--language", "zh_CN"}, true);
    row("told behind the command", "C", "", {"--language=zh"}, true);
    row("told English", "zh_CN.UTF-8", "", {"--language=en"}, false);
}

void TestCliLanguage::environments()
{
    QFETCH(QString, locale);
    QFETCH(QString, languages);
    QFETCH(QStringList, options);
    QFETCH(bool, chinese);
    m_locale = locale;
    m_languages = languages;
    const Outcome outcome = run(QStringList{"log", "train.log"} + options);
    m_locale = "C";
    m_languages.clear();
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.err, QByteArray());
    QCOMPARE(isChinese(outcome.out), chinese);
}

void TestCliLanguage::everyCommandSpeaks_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("begins"); // of the first line
    const auto row = [](const char* name, const QStringList& arguments, const char* begins) {
        QTest::newRow(name) << arguments << QString::fromUtf8(begins);
    };
    row("estimate", {"estimate", "a.yaml", "--gpu", "h100-80gb"}, "放得下：流水级 0 的峰值");
    row("check", {"check", "a.yaml"}, "2 微批次 × 8 累积 × 1 数据并行 = 16");
    row("fit", {"fit", "a.yaml", "--gpu", "h100-80gb"}, "放得下：");
    row("log", {"log", "train.log"}, "5 行");
    row("models", {"models"}, "预设");
    row("gpus", {"gpus"}, "标识");
    row("formats", {"formats"}, "配置格式");
    row("compare", {"compare", "train.log", "train.log"}, "之前：");
    row("help", {"--help"}, "Headroom：训练");
    row("help of a command", {"fit", "--help"}, "让每个流水级");
}

void TestCliLanguage::everyCommandSpeaks()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, begins);
    const Outcome outcome = run(QStringList{"--language", "zh_CN"} + arguments);
    QVERIFY2(QString::fromUtf8(outcome.out).startsWith(begins), outcome.out.left(300));
}

/// JSON and CSV are what they are in every language.
void TestCliLanguage::programsReadEnglish_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("estimate") << QStringList{"estimate", "a.yaml", "--json"};
    QTest::newRow("log") << QStringList{"log", "train.log", "--json"};
    QTest::newRow("csv") << QStringList{"log", "train.log", "--csv"};
    QTest::newRow("fit") << QStringList{"fit", "a.yaml", "--capacity", "4GiB", "--json"};
    QTest::newRow("check") << QStringList{"check", "a.yaml", "--json"};
}

void TestCliLanguage::programsReadEnglish()
{
    QFETCH(QStringList, arguments);
    const Outcome english = run(arguments);
    const Outcome chinese = run(QStringList{"--language", "zh_CN"} + arguments);
    QVERIFY(!english.out.isEmpty());
    QCOMPARE(chinese.out, english.out);
    QCOMPARE(chinese.code, english.code);
}

void TestCliLanguage::unknownLanguage()
{
    const Outcome outcome = run({"--language", "tlh", "gpus"});
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains("tlh") && outcome.err.contains("en, zh_CN"), outcome.err);
}

void TestCliLanguage::widths_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("columns");
    QTest::newRow("letters") << QStringLiteral("peak") << 4;
    QTest::newRow("arrow and times") << QString::fromUtf8("4 → 2 ×") << 7;
    QTest::newRow("Chinese") << QString::fromUtf8("峰值") << 4;
    QTest::newRow("mixed") << QString::fromUtf8("峰值 80 GiB，") << 13;
}

/// A Chinese character takes two columns of a terminal (Unicode Standard Annex 11).
void TestCliLanguage::widths()
{
    QFETCH(QString, text);
    QFETCH(int, columns);
    QCOMPARE(int(width(text.toStdString())), columns);
    Table table;
    table.addColumn(text.toStdString(), Table::Align::Left);
    table.addColumn("b");
    table.addRow({"a", "b"});
    const QStringList lines = QString::fromStdString(table.text()).split(u'\n');
    QCOMPARE(int(width(lines[0].toStdString())), int(width(lines[2].toStdString())));
}

void TestCliLanguage::wraps_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("English") << QStringLiteral("several words that go on and on ").repeated(8).trimmed();
    QTest::newRow("Chinese") << QString::fromUtf8("显存不足，需要更小的微批或者重计算；").repeated(12);
    QTest::newRow("both") << QString::fromUtf8("设置 micro_batch_size 之后，峰值是 80.0 GiB。").repeated(8);
}

/// Nothing is lost, no line is longer than it may be, and none begins with a comma.
void TestCliLanguage::wraps()
{
    QFETCH(QString, text);
    const QString all = QString::fromStdString(wrapped("- ", text.toStdString()));
    const QStringList lines = all.trimmed().split(u'\n');
    QVERIFY(lines.size() > 1);
    QString joined;
    for (const QString& line : lines) {
        QVERIFY2(width(line.toStdString()) <= 102, qPrintable(line));
        QVERIFY(!line.trimmed().startsWith(QString::fromUtf8("，"))
                && !line.trimmed().startsWith(QString::fromUtf8("；")));
        joined += line.mid(2) + u' ';
    }
    QCOMPARE(joined.remove(u' '), text.remove(u' '));
}

QTEST_GUILESS_MAIN(TestCliLanguage)
#include "tst_cli_language.moc"
