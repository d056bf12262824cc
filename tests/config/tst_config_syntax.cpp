// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_document.h"

#include <QtTest>

#include <algorithm>

using namespace headroom;

namespace {

ConfigDocument opened(const QString& name, const QString& text)
{
    auto document = ConfigDocument::parse(text.toStdString(), name.toStdString());
    if (!document) {
        qFatal("%s", document.error().english().c_str());
    }
    return std::move(*document);
}

/// "key = text", what only a running program knows in angle brackets.
QStringList settingsOf(const ConfigDocument& document)
{
    QStringList result;
    for (const Setting& setting : document.settings()) {
        const QString text = QString::fromStdString(setting.text);
        result << QString::fromStdString(setting.key) + " = " + (setting.isKnown ? text : "<" + text + ">");
    }
    return result;
}

/// "a=1" or "a=[x, y]".
ConfigEdit editFrom(const QString& text)
{
    ConfigEdit edit{text.section('=', 0, 0).toStdString(), text.section('=', 1).toStdString()};
    if (edit.value.starts_with('[') && edit.value.ends_with(']')) {
        std::vector<std::string> items;
        for (const QString& item : text.section('=', 1).chopped(1).mid(1).split(", ", Qt::SkipEmptyParts)) {
            items.push_back(item.toStdString());
        }
        edit = {edit.key, {}, std::move(items)};
    }
    return edit;
}

} // namespace

/// What the syntaxes beside YAML make of a text, and how they write into it.
class TestConfigSyntax : public QObject
{
    Q_OBJECT

private slots:
    void reads_data();
    void reads();
    void writes_data();
    void writes();
    void refuses_data();
    void refuses();
    void brokenFilesGiveASentence_data();
    void brokenFilesGiveASentence();
};

void TestConfigSyntax::reads_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("settings");
    const auto row = [](const char* title, const char* name, const char* text, const QStringList& settings) {
        QTest::newRow(title) << name << text << settings;
    };
    row("JSON with line comments", "a.json", "// top\n{\n  \"a\": 1, // one\n  \"b\": \"//x\"\n}\n",
        {"a = 1", "b = //x"});
    row("JSON with block comments", "a.json", "{/* \"c\": 2, */ \"a\": 1 /* x */}", {"a = 1"});
    row("JSON with a trailing comma", "a.json", "{\"a\": [1, 2,],}", {"a[0] = 1", "a[1] = 2"});
    row("JSON with # comments", "a.json", "{ # one\n \"a\": 1e9 # two\n}", {"a = 1e9"});
    row("an address is no comment", "a.json", "{\"a\": \"http://x/y\", b: 1}", {"a = http://x/y", "b = 1"});
    row("quote in a JSON comment", "a.json", "{\n// don't \"x\n\"a\": 1}", {"a = 1"});

    row("TOML", "a.toml", "a = 1\n[t]\nb = \"x\"\nc=true # d\n", {"a = 1", "t.b = x", "t.c = true"});
    row("TOML numbers", "a.toml", "a = 10_000\nb = 8e-5\nc = -1\n", {"a = 10_000", "b = 8e-5", "c = -1"});
    row("TOML quotes", "a.toml", "a = 'x\\y'\nb = \"x\\ty\"\n", {"a = x\\y", "b = x\ty"});
    row("TOML dotted header", "a.toml", "[quantize.dense.float8]\nenable = true\n",
        {"quantize.dense.float8.enable = true"});
    row("TOML list", "a.toml", "a = [\"x\", \"y\"]\n", {"a[0] = x", "a[1] = y"});
    row("TOML inline table", "a.toml", "a = {b = 1, c.d = 2}\n", {"a.b = 1", "a.c.d = 2"});
    row("TOML tables in a list", "a.toml", "[[a]]\nb = 1\n[[a]]\nb = 2\n", {"a[0].b = 1", "a[1].b = 2"});
    row("TOML in file order", "a.toml", "z = 1\na = 2\n", {"z = 1", "a = 2"});
    row("TOML after wide characters", "a.toml", "a = \"é汉😀\" # é\nb = 2\n", {"a = é汉😀", "b = 2"});
    row("commented-out TOML keys", "a.toml", "a = 1\n# b = 2\n", {"a = 1"});
}

void TestConfigSyntax::reads()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QStringList, settings);
    QCOMPARE(settingsOf(opened(name, text)), settings);
}

void TestConfigSyntax::writes_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("edit");
    QTest::addColumn<QString>("changed");
    const auto row = [](const char* title, const char* name, const char* text, const char* edit, const char* changed) {
        QTest::newRow(title) << name << text << edit << changed;
    };
    row("JSON beside comments", "a.json", "{\n  // é one\n  \"a\": 1, // two\n}", "a=2",
        "{\n  // é one\n  \"a\": 2, // two\n}");
    row("JSON key behind a comment", "a.json", "{\n  \"a\": 1 // one\n}\n", "b=2",
        "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n");
    row("TOML number", "a.toml", "a = 10_000 # x\r\nb = 1\r\n", "a=5", "a = 5 # x\r\nb = 1\r\n");
    row("TOML text stays a text", "a.toml", "a = \"2\"\n", "a=4", "a = \"4\"\n");
    row("TOML literal text", "a.toml", "a = 'x'\n", "a=y", "a = 'y'\n");
    row("TOML text with a quote", "a.toml", "a = 'x'\n", "a=it's", "a = \"it's\"\n");
    row("TOML word for a number", "a.toml", "a = 2\n", "a=auto", "a = \"auto\"\n");
    row("TOML flag", "a.toml", "enable=true\n", "enable=false", "enable=false\n");
    row("TOML new key", "a.toml", "[t]\n  a = 1 # x\n\n[u]\nb = 2\n", "t.c=3",
        "[t]\n  a = 1 # x\n  c = 3\n\n[u]\nb = 2\n");
    row("TOML new key in an empty table", "a.toml", "[t]\n[u]\nb = 2\n", "t.c=3", "[t]\nc = 3\n[u]\nb = 2\n");
    row("TOML new key above", "a.toml", "a = 1\n[t]\nb = 2\n", "c=3", "a = 1\nc = 3\n[t]\nb = 2\n");
    row("TOML first key above", "a.toml", "[t]\nb = 2\n", "c=3", "c = 3\n[t]\nb = 2\n");
    row("TOML new table", "a.toml", "a = 1\n", "t.u=full", "a = 1\n\n[t]\nu = \"full\"\n");
    row("TOML new table without a last line end", "a.toml", "[a]\nb = 1", "t.u=2", "[a]\nb = 1\n\n[t]\nu = 2");
    row("TOML inline", "a.toml", "a = {b = 1}\n", "a.c=2", "a = {b = 1, c = 2}\n");
    row("TOML list", "a.toml", "a = [\"x\"] # y\n", "a=[u, v]", "a = [\"u\", \"v\"] # y\n");
    row("TOML item", "a.toml", "a = [1, 2]\n", "a[1]=3", "a = [1, 3]\n");
    row("TOML after wide characters", "a.toml", "a = {x = \"é汉😀\", y = 2}\n", "a.y=3", "a = {x = \"é汉😀\", y = 3}\n");
}

void TestConfigSyntax::writes()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, edit);
    QFETCH(QString, changed);
    const auto written = opened(name, text).set(std::vector{editFrom(edit)});
    QVERIFY2(written, written ? "" : written.error().english().c_str());
    QCOMPARE(QString::fromStdString(written->bytes()), changed);
}

void TestConfigSyntax::refuses_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("edit");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* title, const char* name, const char* text, const char* edit, const char* reason) {
        QTest::newRow(title) << name << text << edit << reason;
    };
    row("TOML list with comments", "a.toml", "a = [1, # one\n 2]\n", "a=[3]", "would lose the comments in it");
    row("TOML value for a list", "a.toml", "a = [1, 2]\n", "a=3", "holds several values");
}

void TestConfigSyntax::refuses()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, edit);
    QFETCH(QString, reason);
    const auto written = opened(name, text).set(std::vector{editFrom(edit)});
    QVERIFY2(!written, written ? written->bytes().c_str() : "");
    QVERIFY2(QString::fromStdString(written.error().english()).contains(reason), written.error().english().c_str());
}

void TestConfigSyntax::brokenFilesGiveASentence_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("TOML") << "a.toml"
                          << "a = 1\nb = \n"
                          << "a.toml:2: the file is not valid TOML";
    QTest::newRow("TOML key twice") << "a.toml"
                                    << "a = 1\na = 2\n"
                                    << "a.toml:2: the file is not valid TOML";
    QTest::newRow("TOML with only comments") << "a.toml"
                                             << "# x\n"
                                             << "a.toml: the file holds no settings";
    QTest::newRow("deep TOML") << "a.toml"
                               << "a = " + QString("[").repeated(5000) << "is not valid TOML";
}

void TestConfigSyntax::brokenFilesGiveASentence()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    const auto document = ConfigDocument::parse(text.toStdString(), name.toStdString());
    QVERIFY(!document);
    QVERIFY2(QString::fromStdString(document.error().english()).contains(sentence), document.error().english().c_str());
}

QTEST_APPLESS_MAIN(TestConfigSyntax)
#include "tst_config_syntax.moc"
