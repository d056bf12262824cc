// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_document.h"
#include "config/key_path.h"
#include "config/scalar_text.h"
#include "support/folders.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace headroom;

namespace {

const std::filesystem::path brokenFolder = testData("broken/config");

ConfigDocument parsed(const std::string& bytes)
{
    auto document = ConfigDocument::parse(bytes, "test.yaml");
    if (!document) {
        qFatal("%s", document.error().english().c_str());
    }
    return std::move(*document);
}

/// "line key=text" of every setting.
QStringList listed(const ConfigDocument& document)
{
    QStringList lines;
    for (const Setting& setting : document.settings()) {
        lines << QString::fromStdString(std::to_string(setting.line) + " " + setting.key + "=" + setting.text);
    }
    return lines;
}

QStringList problemLines(const ConfigDocument& document)
{
    QStringList lines;
    for (const Problem& problem : document.problems()) {
        lines << QString::fromStdString(problem.english());
    }
    return lines;
}

} // namespace

class TestConfigDocument : public QObject
{
    Q_OBJECT

private slots:
    void settingsAreEffective_data();
    void settingsAreEffective();
    void rangesHoldTheScalar_data();
    void rangesHoldTheScalar();
    void problemsAreReported_data();
    void problemsAreReported();
    void brokenFilesGiveASentence_data();
    void brokenFilesGiveASentence();
    void deepNestingIsRefused_data();
    void deepNestingIsRefused();
    void largeFileIsRefusedQuickly();
    void whatIsNoFileIsRefused();
    void fileWithoutPermissionIsRefused();
    void keysWithDotsAreUnambiguous();
    void sameMeaning_data();
    void sameMeaning();
    void openWordsAreNamed();
};

void TestConfigDocument::settingsAreEffective_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("expected");
    // Order and meaning follow PyYAML, which the frameworks use.
    QTest::newRow("nested") << "a:\n  b: 1\n  c: [x, {d: 2}]\n" << QStringList{"2 a.b=1", "3 a.c[0]=x", "3 a.c[1].d=2"};
    QTest::newRow("duplicate: the last wins") << "a: 1\nb: 2\na: 3\n" << QStringList{"2 b=2", "3 a=3"};
    QTest::newRow("duplicate mapping") << "a: {x: 1}\na: {y: 2}\n" << QStringList{"2 a.y=2"};
    QTest::newRow("duplicate of different type") << "moe: null\nmoe:\n  topk: 2\n" << QStringList{"3 moe.topk=2"};
    QTest::newRow("alias") << "a: &x 1\nb: *x\n" << QStringList{"1 a=1", "1 b=1"};
    QTest::newRow("alias of a mapping") << "a: &x {p: 1}\nb: *x\n" << QStringList{"1 a.p=1", "1 b.p=1"};
    QTest::newRow("merge") << "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n"
                           << QStringList{"1 a.p=1", "1 a.q=2", "1 b.p=1", "4 b.q=3"};
    QTest::newRow("merge after explicit keys") << "a: &x {p: 1}\nb:\n  p: 3\n  <<: *x\n"
                                               << QStringList{"1 a.p=1", "3 b.p=3"};
    QTest::newRow("merge list: the first wins") << "a: &x {p: 1}\nb: &y {p: 2, q: 3}\nc: {<<: [*x, *y]}\n"
                                                << QStringList{"1 a.p=1", "2 b.p=2", "2 b.q=3", "1 c.p=1", "2 c.q=3"};
    QTest::newRow("merge of a merge") << "a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y}\n"
                                      << QStringList{"1 a.p=1", "1 b.p=1", "2 b.q=2", "1 c.p=1", "2 c.q=2"};
    QTest::newRow("quoted << is a key") << "a: &x {p: 1}\nb: {\"<<\": 2}\n" << QStringList{"1 a.p=1", "2 b.<<=2"};
    QTest::newRow("json") << "{\"a\":{\"b\":1,\"c\":\"x\\ty\"}}" << QStringList{"1 a.b=1", "1 a.c=x\ty"};
    QTest::newRow("tabs in json") << "{\n\t\"a\": 1,\n\t\"b\": 2\n}\n" << QStringList{"2 a=1", "3 b=2"};
    QTest::newRow("trailing commas and comments") << "{\n  # sizes\n  \"a\": 1,\n  \"b\": True,\n}\n"
                                                  << QStringList{"3 a=1", "4 b=True"};
    QTest::newRow("null spellings") << "a: ~\nb:\nc: null\nd: \"null\"\n"
                                    << QStringList{"1 a=~", "2 b=", "3 c=null", "4 d=null"};
    QTest::newRow("null as a key after an empty value") << "a:\nnull: 3\n" << QStringList{"1 a=", "2 \"\"=3"};
    QTest::newRow("interpolation") << "a: ${oc.env:X,4}\n" << QStringList{"1 a=4"};
    QTest::newRow("interpolation without default") << "a: ${oc.env:X}\n" << QStringList{"1 a=${oc.env:X}"};
    QTest::newRow("dashes in keys") << "--num-layers: 4\n" << QStringList{"1 --num-layers=4"};
    QTest::newRow("byte order mark") << QString::fromUtf8("\xEF\xBB\xBF") + "a: 1\n" << QStringList{"1 a=1"};
    QTest::newRow("crlf") << "a: 1\r\nb:\r\n  c: x\r\n" << QStringList{"1 a=1", "3 b.c=x"};
    QTest::newRow("first document") << "a: 1\n---\nb: 2\n" << QStringList{"1 a=1"};
    QTest::newRow("folded") << "a: one\n  two\nb: |\n  x\n  y\n" << QStringList{"1 a=one two", "3 b=x\ny\n"};
    QTest::newRow("commented-out keys") << "# a: 1\nb: 2 # a: 3\n" << QStringList{"2 b=2"};
    QTest::newRow("no blank after the colon") << "a: 1\nb: x:y\n" << QStringList{"1 a=1", "2 b=x:y"};
    QTest::newRow("bracket at the key's column") << "a: [1,\n]\nb: 2\n" << QStringList{"1 a[0]=1", "3 b=2"};
}

void TestConfigDocument::settingsAreEffective()
{
    QFETCH(QString, text);
    QFETCH(QStringList, expected);
    QCOMPARE(listed(parsed(text.toStdString())), expected);
}

void TestConfigDocument::rangesHoldTheScalar_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("range");
    QTest::addColumn<int>("style");
    const auto row = [](const char* name, const char* text, const char* key, const char* range, ScalarStyle style) {
        QTest::newRow(name) << QString::fromUtf8(text) << key << range << static_cast<int>(style);
    };
    row("plain", "a: 12   # x\n", "a", "12", ScalarStyle::Plain);
    row("plain with blanks", "a: one two  \n", "a", "one two", ScalarStyle::Plain);
    row("double", "a: \"x\\\" # y\" # z\n", "a", "\"x\\\" # y\"", ScalarStyle::DoubleQuoted);
    row("single", "a: 'it''s'\n", "a", "'it''s'", ScalarStyle::SingleQuoted);
    row("anchored", "a: &x 12\n", "a", "12", ScalarStyle::Plain);
    row("anchored and tagged", "a: !!int &x 12\n", "a", "12", ScalarStyle::Plain);
    row("alias use", "a: &x 12\nb: *x\n", "b", "12", ScalarStyle::Plain);
    row("empty", "a:\nb: 1\n", "a", "", ScalarStyle::Empty);
    row("empty in braces", "{a: , b: 1}\n", "a", "", ScalarStyle::Empty);
    row("null", "a: ~ # none\n", "a", "~", ScalarStyle::Plain);
    row("empty text", "a: ''\n", "a", "''", ScalarStyle::SingleQuoted);
    row("block", "a: >-\n  x\n  y\n\nb: 1\n", "a", ">-\n  x\n  y", ScalarStyle::Block);
    row("multi-line plain", "a: x\n\n   y\nb: 1\n", "a", "x\n\n   y", ScalarStyle::MultiLine);
    row("multi-line quoted", "a: \"x\n  y\"\n", "a", "\"x\n  y\"", ScalarStyle::MultiLine);
    row("flow", "a: [1,2 , 3]\n", "a[1]", "2", ScalarStyle::Plain);
    row("json without blanks", "{\"a\":{\"b\":1}}", "a.b", "1", ScalarStyle::Plain);
    row("behind wide characters", "标题: \"中文\"\nb: 3\n", "b", "3", ScalarStyle::Plain);
    row("byte order mark",
        "\xEF\xBB\xBF"
        "a: 12\n",
        "a", "12", ScalarStyle::Plain);
    row("crlf", "a: 12\r\nb: 13\r\n", "b", "13", ScalarStyle::Plain);
}

void TestConfigDocument::rangesHoldTheScalar()
{
    QFETCH(QString, text);
    QFETCH(QString, key);
    QFETCH(QString, range);
    QFETCH(int, style);
    const ConfigDocument document = parsed(text.toStdString());
    const Setting* setting = document.find(key.toStdString());
    QVERIFY(setting != nullptr);
    QCOMPARE(QString::fromStdString(document.bytes().substr(setting->begin, setting->end - setting->begin)), range);
    QCOMPARE(static_cast<int>(setting->style), style);
}

void TestConfigDocument::problemsAreReported_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("expected");
    QTest::newRow("none") << "a: 1\n" << QStringList{};
    QTest::newRow("duplicate key") << "a: 1\nb: 2\na: 3\n"
                                   << QStringList{
                                          "test.yaml:3: “a” is already on line 1; the last one, on line 3, is used"};
    QTest::newRow("duplicate behind two aliases, said once")
        << "x: &x {a: 1, a: 2}\ny: *x\nz: *x\n"
        << QStringList{"test.yaml:1: “a” is already on line 1; the last one, on line 1, is used"};
    QTest::newRow("second document") << "a: 1\n---\nb: 2\n"
                                     << QStringList{
                                            "test.yaml:2: a second document begins here; only the first one is read"};
    QTest::newRow("list as key") << "? [a, b]\n: 1\nc: 2\n"
                                 << QStringList{"test.yaml:1: this key is a list or a mapping itself; it is not read"};
    QTest::newRow("merge of a number") << "a: {<<: 4, b: 1}\n"
                                       << QStringList{
                                              "test.yaml:1: only mappings can be merged with <<; this is not one"};
}

void TestConfigDocument::problemsAreReported()
{
    QFETCH(QString, text);
    QFETCH(QStringList, expected);
    QCOMPARE(problemLines(parsed(text.toStdString())), expected);
}

constexpr int anyLine = -1;

void TestConfigDocument::brokenFilesGiveASentence_data()
{
    QTest::addColumn<int>("line");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("empty.yaml") << 0 << "empty";
    QTest::newRow("comments_only.yaml") << 0 << "no settings";
    QTest::newRow("binary.yaml") << 3 << "binary";
    QTest::newRow("cycle.yaml") << 5 << "contain itself";
    QTest::newRow("alias_bomb.yaml") << 1 << "aliases expanded";
    QTest::newRow("merge_chain.yaml") << anyLine << "aliases expanded"; // where the limit falls
    QTest::newRow("half_line.yaml") << 3 << "not valid YAML";
    QTest::newRow("half_quote.yaml") << 2 << "not closed";
    QTest::newRow("invalid_utf8.yaml") << 3 << "UTF-8";
    QTest::newRow("utf16.yaml") << 0 << "UTF-16";
    QTest::newRow("tab.yaml") << 2 << "tab";
    QTest::newRow("list.yaml") << 1 << "not a mapping";
    QTest::newRow("prose.yaml") << 1 << "not a mapping";
    QTest::newRow("unknown_alias.yaml") << 2 << "anchor";
    QTest::newRow("stray_indent.yaml") << 2 << "indentation";
    QTest::newRow("trailing_brace.json") << 2 << "not valid";
}

void TestConfigDocument::brokenFilesGiveASentence()
{
    QFETCH(int, line);
    QFETCH(QString, sentence);
    const std::filesystem::path path = brokenFolder / QTest::currentDataTag();
    const auto document = ConfigDocument::open(path);
    QVERIFY(!document);
    QCOMPARE(document.error().file, path.string());
    QVERIFY(document.error().line > 0 || line == 0);
    QCOMPARE(line == anyLine ? anyLine : static_cast<int>(document.error().line), line);
    const QString english = QString::fromStdString(document.error().text.english());
    QVERIFY2(english.contains(sentence), qPrintable(english));
}

void TestConfigDocument::deepNestingIsRefused_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::newRow("brackets") << "[";
    QTest::newRow("braces") << "{a: ";
    QTest::newRow("dashes") << "- ";
    QTest::newRow("explicit keys") << "? ";
    QTest::newRow("brackets on lines") << "[\n";
}

void TestConfigDocument::deepNestingIsRefused()
{
    QFETCH(QString, pattern);
    const auto document = ConfigDocument::parse("a:\n  " + pattern.repeated(1000000).toStdString(), "deep.yaml");
    QVERIFY(!document);
    QVERIFY(document.error().line > 0);
    QVERIFY(QString::fromStdString(document.error().english()).startsWith("deep.yaml:"));
}

void TestConfigDocument::largeFileIsRefusedQuickly()
{
    QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "large.yaml";
    std::ofstream(path) << "a: 1\n";
    std::filesystem::resize_file(path, 200 << 20); // sparse
    QElapsedTimer timer;
    timer.start();
    const auto document = ConfigDocument::open(path);
    QVERIFY(timer.elapsed() < 500);
    QVERIFY(!document);
    QVERIFY(QString::fromStdString(document.error().english()).contains("larger than 8 MiB"));
}

void TestConfigDocument::whatIsNoFileIsRefused()
{
    QTemporaryDir folder;
    const std::filesystem::path path(folder.path().toStdString());
    const auto english = [](const std::filesystem::path& what) {
        const auto document = ConfigDocument::open(what);
        return document ? QString() : QString::fromStdString(document.error().english());
    };
    QVERIFY(english(path).endsWith("this is a folder, not a file"));
    QVERIFY(english(path / "none.yaml").endsWith("there is no such file"));
    QVERIFY(english("/dev/null").endsWith("this is not a regular file"));
    // A pipe that nobody writes to must not hang.
    const std::filesystem::path pipe = path / "pipe";
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    QVERIFY(english(pipe).endsWith("this is not a regular file"));
}

void TestConfigDocument::fileWithoutPermissionIsRefused()
{
    if (::geteuid() == 0) {
        QSKIP("root may read everything");
    }
    QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "secret.yaml";
    std::ofstream(path) << "a: 1\n";
    std::filesystem::permissions(path, std::filesystem::perms::none);
    const auto document = ConfigDocument::open(path);
    QVERIFY(!document);
    QVERIFY(QString::fromStdString(document.error().english()).endsWith("you have no permission for this file"));
}

void TestConfigDocument::keysWithDotsAreUnambiguous()
{
    const ConfigDocument document = parsed("a.b: 1\na:\n  b: 2\n\"c\\\"[0]\": 3\n'': 4\nx:\n  - y.z: 5\n");
    QCOMPARE(listed(document),
             (QStringList{"1 \"a.b\"=1", "3 a.b=2", "4 \"c\\\"[0]\"=3", "5 \"\"=4", "7 x[0].\"y.z\"=5"}));
    for (const Setting& setting : document.settings()) {
        const auto steps = parseKey(setting.key);
        QVERIFY(steps);
        QCOMPARE(formatKey(*steps), setting.key);
        QCOMPARE(document.find(setting.key), &setting);
    }
    // Quotes that are not needed do no harm.
    QCOMPARE(document.find("\"a\".\"b\"")->text, std::string("2"));
    for (const char* bad : {"", "a.", ".a", "a..b", "a[", "a[x]", "\"a", "a[0]b"}) {
        QVERIFY2(!parseKey(bad), bad);
    }
}

void TestConfigDocument::sameMeaning_data()
{
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    QTest::addColumn<bool>("same");
    QTest::newRow("underscores") << "4_096"
                                 << "4096" << true;
    QTest::newRow("exponent") << "1e9"
                              << "1000000000" << true;
    QTest::newRow("small exponents") << "1e-5"
                                     << "0.00001" << true;
    QTest::newRow("leading zero is octal") << "010"
                                           << "8" << true;
    QTest::newRow("flags") << "yes"
                           << "True" << true;
    QTest::newRow("nothing") << "~"
                             << "" << true;
    QTest::newRow("flag and number") << "1"
                                     << "true" << false;
    QTest::newRow("numbers") << "1"
                             << "2" << false;
    QTest::newRow("words") << "full"
                           << "Full" << false;
    QTest::newRow("word and nothing") << "none"
                                      << "null" << false;
}

void TestConfigDocument::sameMeaning()
{
    QFETCH(QString, a);
    QFETCH(QString, b);
    QFETCH(bool, same);
    QCOMPARE(meansTheSame(a.toStdString(), b.toStdString()), same);
    QCOMPARE(meansTheSame(b.toStdString(), a.toStdString()), same);
}

/// Words that may be options are no further values of the flag before them, and are said with their line.
void TestConfigDocument::openWordsAreNamed()
{
    const auto document = ConfigDocument::parse("x --a 1 \\\n  --m 2 $EXTRA \\\n  --n 3 \"$@\"\n", "a.sh");
    QVERIFY(document);
    QCOMPARE(document->settings().size(), std::size_t{3});
    QCOMPARE(document->problems().size(), std::size_t{2});
    QVERIFY(
        QString::fromStdString(document->problems()[0].english()).startsWith("a.sh:2: “$EXTRA” is known only when"));
    QVERIFY(QString::fromStdString(document->problems()[1].english()).startsWith("a.sh:3: “$@” is known only when"));
}

QTEST_APPLESS_MAIN(TestConfigDocument)
#include "tst_config_document.moc"
