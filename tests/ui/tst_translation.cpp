// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_document.h"
#include "panels/notices.h"
#include "support/folders.h"
#include "theme/theme.h"
#include "window/main_window.h"
#include "window/settings.h"
#include "workspace/wording.h"

#include <QAbstractButton>
#include <QAction>
#include <QDockWidget>
#include <QFile>
#include <QLabel>
#include <QLibraryInfo>
#include <QMenuBar>
#include <QRegularExpression>
#include <QSettings>
#include <QStandardPaths>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTranslator>
#include <QXmlStreamReader>
#include <QtTest>

#include <memory>

using namespace headroom;

namespace {

struct Message
{
    QString context;
    QString source;
    QString state; ///< of the translation: "", "unfinished", "vanished" or "obsolete"
    QStringList forms; ///< one, or one for each plural form
    bool isPlural = false;
};

QList<Message> readCatalogue(const QString& name)
{
    QFile file(sourcePath("resources/i18n") / name.toStdString());
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    QXmlStreamReader xml(&file);
    QList<Message> messages;
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) {
            continue;
        }
        const auto element = xml.name();
        if (element == u"name") {
            context = xml.readElementText();
        } else if (element == u"message") {
            messages.append({context, {}, {}, {}, xml.attributes().value(QLatin1String("numerus")) == u"yes"});
        } else if (element == u"source") {
            messages.back().source = xml.readElementText();
        } else if (element == u"translation") {
            messages.back().state = xml.attributes().value(QLatin1String("type")).toString();
            if (!messages.back().isPlural) {
                messages.back().forms.append(xml.readElementText());
            }
        } else if (element == u"numerusform") {
            messages.back().forms.append(xml.readElementText());
        }
    }
    return xml.hasError() ? QList<Message>{} : messages;
}

/// All that `pattern` matches in the text, in sorted order.
QStringList partsOf(const QString& text, const QString& pattern)
{
    QStringList parts;
    for (auto match = QRegularExpression(pattern).globalMatch(text); match.hasNext();) {
        parts.append(match.next().captured());
    }
    parts.sort();
    return parts;
}

/// The key of "&File" or "文件(&F)", in upper case; nothing without a mnemonic.
QString mnemonicOf(const QString& text)
{
    const auto match = QRegularExpression(QStringLiteral("&([^&\\s])")).match(text);
    return match.captured(1).toUpper();
}

/// Words that are the same in both languages: abbreviations, symbols, keys.
bool staysAsItIs(const QString& source)
{
    static const QStringList names{QStringLiteral("GPU"),         QStringLiteral("GPU %1"),  QStringLiteral("MLP"),
                                   QStringLiteral("Logits"),      QStringLiteral("Home"),    QStringLiteral("h %1"),
                                   QStringLiteral("ViT %1 × %2"), QStringLiteral("%1 = %2"), QStringLiteral("k = %1"),
                                   QStringLiteral("rank %1"),     QStringLiteral("rank"),    QStringLiteral("%1 %"),
                                   QStringLiteral("%1 ms"),       QStringLiteral("P")};
    return names.contains(source);
}

bool isChinese(const QString& text)
{
    return text.contains(QRegularExpression(QStringLiteral("\\p{Han}")));
}

/// Every text that a user can read in the window, its menus and its tips.
QStringList shownTexts(const QWidget& window)
{
    QStringList texts;
    for (const QAction* action : window.findChildren<QAction*>()) {
        texts << action->text() << action->toolTip() << action->statusTip();
    }
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        texts << widget->toolTip() << widget->statusTip() << widget->accessibleName()
              << widget->accessibleDescription();
        if (const auto* label = qobject_cast<const QLabel*>(widget)) {
            texts << label->text();
        } else if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
            texts << button->text();
        } else if (const auto* dock = qobject_cast<const QDockWidget*>(widget)) {
            texts << dock->windowTitle();
        } else if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
            for (int i = 0; i < tabs->count(); ++i) {
                texts << tabs->tabText(i);
            }
        }
    }
    texts.removeDuplicates();
    texts.removeAll(QString());
    return texts;
}

QString writeFile(const QTemporaryDir& folder, const QString& name, const QByteArray& bytes)
{
    QFile file(folder.filePath(name));
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() ? file.fileName() : QString();
}

/// Weights, gradients and Adam's moments of 24 layers of width 1024 take more than 5 GiB, far above the capacity.
const QByteArray configText = R"(model:
  layers: 24
  hidden: 1024
  heads: 16
  vocab: 50000
parallel:
  pipeline_parallel_size: 1
  data_parallel_size: 2
train:
  micro_batch_sise: 2
  micro_batch_size: 2
  gradient_accumulation_steps: 4
  global_batch_size: 20
  seq_length: 1024
hardware:
  capacity: 4GiB
)";

const QByteArray logText = "phase=forward step=1 peak_alloc=3.0GiB\n"
                           "phase=backward step=1 peak_alloc=3.5GiB\n"
                           "phase=optimizer step=1 peak_alloc=3.9GiB\n"
                           "phase=forward step=2 peak_alloc=3.0GiB\n"
                           "phase=backward step=2 peak_alloc=3.5GiB\n"
                           "phase=optimizer step=2 peak_alloc=3.9GiB\n";

} // namespace

class TranslationTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanupTestCase();

    void catalogueIsFinished_data();
    void catalogueIsFinished();
    void translationsKeepWhatTheProgramNeeds();
    void samplesAreTranslated();
    void pluralForms_data();
    void pluralForms();
    void mnemonicsAreLeftOut_data();
    void mnemonicsAreLeftOut();
    void menusSpeakChinese();
    void languagesAreChosenByTheirOwnNames();
    void startPageSpeaksChinese();
    void verdictFindingAndProblemSpeakChinese();
    void nothingShownStaysEnglish();

private:
    void openFiles(MainWindow& window);

    QTranslator m_chinese;
    QTranslator m_chineseQt;
    QList<Message> m_messages;
    QTemporaryDir m_folder;
};

void TranslationTest::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("headroom-test"));
    QCoreApplication::setApplicationName(QStringLiteral("headroom-translation-test"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings().clear();
    applyTheme(*qApp, ThemeChoice::Light);
    m_messages = readCatalogue(QStringLiteral("headroom_zh_CN.ts"));
    // Qt's own texts, such as the close button of a dock, come from a package of their own.
    if (m_chineseQt.load(QStringLiteral("qtbase_zh_CN"), QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
        QCoreApplication::installTranslator(&m_chineseQt);
    }
    QVERIFY(m_chinese.load(QLocale(QLocale::Chinese, QLocale::SimplifiedHanScript, QLocale::China),
                           QStringLiteral("headroom"), QStringLiteral("_"), QStringLiteral(":/i18n")));
    QVERIFY(QCoreApplication::installTranslator(&m_chinese));
}

void TranslationTest::cleanupTestCase()
{
    QCoreApplication::removeTranslator(&m_chinese);
    QSettings().clear();
}

void TranslationTest::catalogueIsFinished_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("pluralForms");
    QTest::addRow("Simplified Chinese") << QStringLiteral("headroom_zh_CN.ts") << 1;
    QTest::addRow("English") << QStringLiteral("headroom_en.ts") << 2;
}

void TranslationTest::catalogueIsFinished()
{
    QFETCH(QString, file);
    QFETCH(int, pluralForms);
    const QList<Message> messages = readCatalogue(file);
    QVERIFY2(!messages.isEmpty(), "missing, not XML or empty");
    for (const Message& message : messages) {
        const QByteArray name = (message.context + QStringLiteral(": ") + message.source).toUtf8();
        QVERIFY2(message.state.isEmpty(), name + " is " + message.state.toUtf8());
        QVERIFY2(!message.forms.contains(QString()) && !message.source.isEmpty(), name);
        QVERIFY2(message.forms.size() == (message.isPlural ? pluralForms : 1), name);
    }
}

void TranslationTest::translationsKeepWhatTheProgramNeeds()
{
    for (const Message& message : m_messages) {
        const QString& source = message.source;
        const QString& chinese = message.forms.front();
        const QByteArray name = (source + QStringLiteral(" → ") + chinese).toUtf8();
        // Placeholders, the patterns of file dialogs, units and names of keys mean the same in every language.
        for (const char* pattern : {"%[1-9n]", "\\*\\.?[a-z]*", "GiB|KiB|MiB", "[a-z]+_[a-z_]+", "\n"}) {
            QVERIFY2(partsOf(source, QLatin1String(pattern)) == partsOf(chinese, QLatin1String(pattern)), name);
        }
        QVERIFY2(mnemonicOf(source) == mnemonicOf(chinese), name);
        QVERIFY2(source.contains(u'…') == chinese.contains(u'…'), name);
        QVERIFY2((source == chinese) == staysAsItIs(source), name);
        QVERIFY2(isChinese(chinese) || !source.contains(QRegularExpression(QStringLiteral("[a-z]{4}")))
                     || staysAsItIs(source) || message.context == u"HelpDialogs" || source == u"Rank",
                 name);
    }
}

void TranslationTest::samplesAreTranslated()
{
    const auto index = ConfigDocument::open(sourcePath("resources/samples/index.yaml"));
    QVERIFY(index);
    int count = 0;
    for (const Setting& setting : index->settings()) {
        const QString key = toQString(setting.key);
        if (key.endsWith(QLatin1String("].title")) || key.endsWith(QLatin1String("].description"))) {
            QVERIFY2(isChinese(QCoreApplication::translate("samples", setting.text.c_str())), setting.text.c_str());
            ++count;
        }
    }
    QVERIFY(count > 0);
}

void TranslationTest::pluralForms_data()
{
    QTest::addColumn<QString>("language");
    QTest::addColumn<int>("count");
    QTest::addColumn<QString>("expected");
    QTest::addRow("Chinese, one") << QStringLiteral("zh_CN") << 1 << QStringLiteral("1 层");
    QTest::addRow("Chinese, many") << QStringLiteral("zh_CN") << 32 << QStringLiteral("32 层");
    QTest::addRow("English, one") << QStringLiteral("en_US") << 1 << QStringLiteral("1 layer");
    QTest::addRow("English, many") << QStringLiteral("en_US") << 32 << QStringLiteral("32 layers");
    QTest::addRow("English, none") << QStringLiteral("en_GB") << 0 << QStringLiteral("0 layers");
}

void TranslationTest::pluralForms()
{
    QFETCH(QString, language);
    QFETCH(int, count);
    QFETCH(QString, expected);
    QTranslator translator;
    QVERIFY(
        translator.load(QLocale(language), QStringLiteral("headroom"), QStringLiteral("_"), QStringLiteral(":/i18n")));
    QString text = translator.translate("headroom::ModelSection", "%n layers", nullptr, count);
    QCOMPARE(text.replace(QStringLiteral("%n"), QString::number(count)), expected);
}

void TranslationTest::mnemonicsAreLeftOut_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    QTest::addRow("English") << QStringLiteral("F&ull screen") << QStringLiteral("Full screen");
    QTest::addRow("Chinese") << QStringLiteral("打开(&O)…") << QStringLiteral("打开…");
    QTest::addRow("brackets of its own") << QStringLiteral("显存 (GiB)(&M)") << QStringLiteral("显存 (GiB)");
    QTest::addRow("none") << QStringLiteral("调节") << QStringLiteral("调节");
}

void TranslationTest::mnemonicsAreLeftOut()
{
    QFETCH(QString, text);
    QFETCH(QString, expected);
    QCOMPARE(withoutMnemonic(text), expected);
}

void TranslationTest::menusSpeakChinese()
{
    const MainWindow window(Library::load());
    QStringList titles;
    for (const QAction* action : window.menuBar()->actions()) {
        titles.append(action->text());
    }
    const QStringList expected{QStringLiteral("文件(&F)"), QStringLiteral("编辑(&E)"), QStringLiteral("视图(&V)"),
                               QStringLiteral("方案(&P)"), QStringLiteral("帮助(&H)")};
    QCOMPARE(titles, expected);
    const QStringList shown = shownTexts(window);
    QVERIFY2(shown.contains(QStringLiteral("打开…")), "the button in the toolbar");
    for (const char* text : {"打开(&O)…", "撤销(&U)", "退出(&Q)", "关于 Headroom(&A)"}) {
        QVERIFY2(shown.contains(QString::fromUtf8(text)), text);
    }
}

void TranslationTest::languagesAreChosenByTheirOwnNames()
{
    MainWindow window(Library::load(), {});
    auto* chinese = window.findChild<QAction*>(QStringLiteral("languageAction.zh_CN"));
    auto* english = window.findChild<QAction*>(QStringLiteral("languageAction.en"));
    auto* system = window.findChild<QAction*>(QStringLiteral("languageAction."));
    QVERIFY(chinese != nullptr && english != nullptr && system != nullptr);
    QCOMPARE(chinese->text(), QStringLiteral("简体中文"));
    QCOMPARE(english->text(), QStringLiteral("English"));
    QVERIFY(system->isChecked());
    chinese->trigger();
    QCOMPARE(Settings::value(Preference::Language).toString(), QStringLiteral("zh_CN"));
    QVERIFY(isChinese(window.messageBar().text()));
    system->trigger();
    QCOMPARE(Settings::value(Preference::Language).toString(), QString());
}

void TranslationTest::startPageSpeaksChinese()
{
    const MainWindow window(Library::load(), loadSamples(sourcePath("resources/samples")));
    const QStringList shown = shownTexts(window);
    QVERIFY(shown.contains(QStringLiteral("把训练日志及其配置拖到这里")));
    QVERIFY(!shown.filter(QStringLiteral("370 步后显存不足")).isEmpty());
}

void TranslationTest::openFiles(MainWindow& window)
{
    const QStringList paths{writeFile(m_folder, QStringLiteral("train.log"), logText),
                            writeFile(m_folder, QStringLiteral("train.yaml"), configText)};
    window.workspace().open(paths);
    QTRY_VERIFY(window.workspace().log() != nullptr && window.workspace().config() != nullptr);
    QTRY_VERIFY(!window.workspace().findings().empty());
}

void TranslationTest::verdictFindingAndProblemSpeakChinese()
{
    MainWindow window(Library::load());
    openFiles(window);
    if (QTest::currentTestFailed()) {
        return;
    }
    const QString verdict = window.workspace().verdict().sentence;
    QVERIFY2(verdict.startsWith(QStringLiteral("放不下：流水级 0 的峰值在")), qPrintable(verdict));
    QVERIFY2(verdict.contains(QStringLiteral(" / 4.0 GiB，超出 ")), qPrintable(verdict));

    const QStringList shown = shownTexts(window);
    QVERIFY(shown.contains(QStringLiteral("峰值在优化器更新")));
    QVERIFY(shown.contains(QStringLiteral("全局批次不一致")));
    QVERIFY(shown.contains(QStringLiteral("2 × 4 × 2 = 16，但全局批次是 20")));

    const auto& problems = window.workspace().problems();
    const bool isNamed = std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
        return translated(problem).endsWith(QStringLiteral(
            "train.yaml:10: “train.micro_batch_sise”不是这种格式的键，未被采用；是否想写“train.micro_batch_size”？"));
    });
    QVERIFY2(isNamed, problems.empty() ? "no problem" : qPrintable(translated(problems.front())));
}

/// A text asked for in a context that the catalogue doesn't have comes out in English although it is translated.
void TranslationTest::nothingShownStaysEnglish()
{
    if (m_chineseQt.isEmpty()) {
        QSKIP("Qt's Chinese texts are not installed (qt6-translations-l10n)");
    }
    MainWindow window(Library::load(), loadSamples(sourcePath("resources/samples")));
    openFiles(window);
    if (QTest::currentTestFailed()) {
        return;
    }
    QStringList shown = shownTexts(window);
    // The phases are named as in the log.
    for (const std::string& phase : window.workspace().log()->run->phaseNames) {
        shown.removeAll(toQString(phase));
    }
    shown.removeAll(QStringLiteral("English")); // a language is named in itself
    for (const Message& message : m_messages) {
        if (message.context == u"cli" || staysAsItIs(message.source)
            || !message.source.contains(QRegularExpression(QStringLiteral("[A-Za-z]{3}")))) {
            continue;
        }
        QString pattern = QRegularExpression::escape(message.source);
        pattern.replace(QRegularExpression(QStringLiteral("\\\\%([1-9n])")), QStringLiteral(".+"));
        const QStringList english = shown.filter(QRegularExpression(QRegularExpression::anchoredPattern(pattern)));
        QVERIFY2(english.isEmpty(), qPrintable(message.context + QStringLiteral(": ") + english.value(0)));
    }
}

QTEST_MAIN(TranslationTest)
#include "tst_translation.moc"
