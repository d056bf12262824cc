// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/scalar_text.h"

#include <QtTest>

using namespace headroom;

namespace {

QByteArray bytesOf(const ConfigDocument& document)
{
    return QByteArray::fromStdString(document.bytes());
}

} // namespace

class TestConfigSet : public QObject
{
    Q_OBJECT

private slots:
    void splices_data();
    void splices();
    void severalEdits();
    void lists_data();
    void lists();
    void sameMeaningChangesNothing_data();
    void sameMeaningChangesNothing();
    void refusals_data();
    void refusals();
};

void TestConfigSet::splices_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("after");
    const auto row = [](const char* name, const char* before, const char* key, const char* value, const char* after) {
        QTest::newRow(name) << QString::fromUtf8(before) << QString::fromUtf8(key) << QString::fromUtf8(value)
                            << QString::fromUtf8(after);
    };
    // Replacing.
    row("plain", "a:\n  b: 2\nc: 3\n", "a.b", "4", "a:\n  b: 4\nc: 3\n");
    row("comment and alignment stay", "a:   2     # why\n", "a", "16", "a:   16     # why\n");
    row("trailing blanks stay", "a: 2  \nb: 3\n", "a", "4", "a: 4  \nb: 3\n");
    row("crlf stays", "a: 2\r\nb: 3\r\n", "b", "4", "a: 2\r\nb: 4\r\n");
    row("no final newline stays", "a: 2\nb: 3", "b", "4", "a: 2\nb: 4");
    row("byte order mark stays",
        "\xEF\xBB\xBF"
        "a: 2\n",
        "a", "4",
        "\xEF\xBB\xBF"
        "a: 4\n");
    row("double quotes stay", "a: \"2\"\n", "a", "4", "a: \"4\"\n");
    row("single quotes stay", "a: '2' # x\n", "a", "4", "a: '4' # x\n");
    row("escapes in double quotes", "a: \"x\"\n", "a", "say \"hi\" \\o/", "a: \"say \\\"hi\\\" \\\\o/\"\n");
    row("apostrophe in single quotes", "a: 'x'\n", "a", "it's", "a: 'it''s'\n");
    row("line end in single quotes", "a: 'x'\n", "a", "x\ny", "a: \"x\\ny\"\n");
    row("in a flow mapping", "a: {b: 2, c: 3}\n", "a.b", "4", "a: {b: 4, c: 3}\n");
    row("in a flow sequence", "a: [1, 2,3 ]\n", "a[1]", "7", "a: [1, 7,3 ]\n");
    row("in a block sequence", "a:\n- 1\n- b: 2 # x\n", "a[1].b", "7", "a:\n- 1\n- b: 7 # x\n");
    row("wide characters", "标题: 中文 # 注释\nb: 1\n", "标题", "新", "标题: 新 # 注释\nb: 1\n");
    row("key with dots", "\"a.b\": 1\na: {b: 2}\n", "\"a.b\"", "3", "\"a.b\": 3\na: {b: 2}\n");
    row("key with dashes", "--num-layers: 4\n", "--num-layers", "8", "--num-layers: 8\n");
    row("not the commented-out key", "# a: 1\na: 2\n", "a", "3", "# a: 1\na: 3\n");
    row("capital True", "a: True\n", "a", "false", "a: False\n");
    row("yes", "a: yes # x\n", "a", "false", "a: no # x\n");
    row("a word beside", "a: True\n", "a", "full", "a: full\n");
    row("underscored number", "a: 10_000\n", "a", "20000", "a: 20000\n");
    row("the same word elsewhere", "a: 2\nb: 2\n", "b", "3", "a: 2\nb: 3\n");
    row("duplicate: the last", "a: 1\nb: 2\na: 3 # here\n", "a", "4", "a: 1\nb: 2\na: 4 # here\n");
    row("interpolation", "a: ${oc.env:PP,1} # set by the launcher\n", "a", "4",
        "a: ${oc.env:PP,4} # set by the launcher\n");
    row("interpolation with default", "a: ${PRIMUS_TP:1}\n", "a", "2", "a: ${PRIMUS_TP:2}\n");
    row("interpolation without", "a: ${oc.env:PP}\n", "a", "2", "a: 2\n");
    row("anchor stays", "a: &x 1\n", "a", "2", "a: &x 2\n");
    row("tag stays", "a: !!int 1\n", "a", "2", "a: !!int 2\n");
    row("folded plain text", "a: one\n  two\nb: 1\n", "a", "three", "a: three\nb: 1\n");
    row("block text", "a: |\n  one\n  two\n\nb: 1\n", "a", "three", "a: three\n\nb: 1\n");
    row("second document stays", "a: 1\n---\na: 2\n", "a", "3", "a: 3\n---\na: 2\n");
    // Quoting what YAML would take for something else.
    row("yes", "a: full\n", "a", "yes", "a: \"yes\"\n");
    row("yes for a flag", "a: no\n", "a", "yes", "a: yes\n");
    row("leading zero", "a: full\n", "a", "010", "a: \"010\"\n");
    row("base 60", "a: full\n", "a", "1:30", "a: \"1:30\"\n");
    row("date", "a: full\n", "a", "2024-01-01", "a: \"2024-01-01\"\n");
    row("colon and blank", "a: full\n", "a", "a: b", "a: \"a: b\"\n");
    row("colon without blank", "a: full\n", "a", "a:b", "a: a:b\n");
    row("comment sign", "a: full\n", "a", "#x", "a: \"#x\"\n");
    row("comment sign inside", "a: full\n", "a", "x #y", "a: \"x #y\"\n");
    row("empty text", "a: full\n", "a", "", "a: \"\"\n");
    row("bracket", "a: full\n", "a", "[x", "a: \"[x\"\n");
    row("alias sign", "a: full\n", "a", "*x", "a: \"*x\"\n");
    row("comma in flow", "a: {b: full}\n", "a.b", "x, y", "a: {b: \"x, y\"}\n");
    row("comma in block", "a: full\n", "a", "x, y", "a: x, y\n");
    row("leading blank", "a: full\n", "a", " x", "a: \" x\"\n");
    row("minus", "a: full\n", "a", "-", "a: \"-\"\n");
    row("negative number", "a: 1\n", "a", "-2", "a: -2\n");
    row("number for a word", "a: auto\n", "a", "2", "a: 2\n");
    row("flag for a word", "a: auto\n", "a", "true", "a: true\n");
    // Values that are not there.
    row("empty value", "a:\nb: 1\n", "a", "2", "a: 2\nb: 1\n");
    row("empty value with comment", "a:   # x\nb: 1\n", "a", "2", "a: 2   # x\nb: 1\n");
    row("empty value at the end", "b: 1\na:", "a", "2", "b: 1\na: 2");
    row("empty value with anchor", "a: &x\nb: 1\n", "a", "2", "a: &x 2\nb: 1\n");
    row("empty value in braces", "{a: , b: 1}\n", "a", "2", "{a: 2 , b: 1}\n");
    row("key without colon in braces", "x: {a, b: 1}\n", "x.a", "2", "x: {a: 2, b: 1}\n");
    row("empty item", "a:\n-\n- 1\n", "a[0]", "2", "a:\n- 2\n- 1\n");
    row("null", "a: null # x\n", "a", "2", "a: 2 # x\n");
    row("tilde", "a: ~\n", "a", "2", "a: 2\n");
    // Adding.
    row("after the last sibling", "a:\n  b: 1\nc: 2\n", "a.d", "3", "a:\n  b: 1\n  d: 3\nc: 2\n");
    row("sibling's indentation", "a:\n    b: 1\nc: 2\n", "a.d", "3", "a:\n    b: 1\n    d: 3\nc: 2\n");
    row("behind the sibling's comment", "a:\n  b: 1 # x\n\nc: 2\n", "a.d", "3", "a:\n  b: 1 # x\n  d: 3\n\nc: 2\n");
    row("before commented-out keys", "a:\n  b: 1\n  # d: 9\nc: 2\n", "a.d", "3",
        "a:\n  b: 1\n  d: 3\n  # d: 9\nc: 2\n");
    row("file's line end", "a:\r\n  b: 1\r\nc: 2\r\n", "a.d", "3", "a:\r\n  b: 1\r\n  d: 3\r\nc: 2\r\n");
    row("no final newline", "a:\n  b: 1", "a.d", "3", "a:\n  b: 1\n  d: 3");
    row("top level", "a: 1\n", "b", "2", "a: 1\nb: 2\n");
    row("top level, no final newline, crlf", "a: 1\r\nb: 2", "c", "3", "a: 1\r\nb: 2\r\nc: 3");
    row("behind a nested sibling", "a:\n  b:\n    c: 1\n", "a.d", "3", "a:\n  b:\n    c: 1\n  d: 3\n");
    row("behind a block text", "a:\n  b: |\n    x\nc: 1\n", "a.d", "3", "a:\n  b: |\n    x\n  d: 3\nc: 1\n");
    row("behind an empty value", "a:\n  b:\nc: 1\n", "a.d", "3", "a:\n  b:\n  d: 3\nc: 1\n");
    row("in a list's mapping", "a:\n- b: 1\n  c: 2\n- d\n", "a[0].e", "3", "a:\n- b: 1\n  c: 2\n  e: 3\n- d\n");
    row("missing parent at the end", "a:\n    b: 1\n", "c.d", "3", "a:\n    b: 1\nc:\n    d: 3\n");
    row("missing parents, no final newline", "a: 1", "c.d.e", "3", "a: 1\nc:\n  d:\n    e: 3");
    row("missing parent inside", "a:\n  b: 1\nc: 2\n", "a.x.y", "3", "a:\n  b: 1\n  x:\n    y: 3\nc: 2\n");
    row("empty parent", "a:\nb: 1\n", "a.c", "3", "a:\n  c: 3\nb: 1\n");
    row("empty parent with comment", "a: # x\nb: 1\n", "a.c", "3", "a: # x\n  c: 3\nb: 1\n");
    row("null parent", "a: null\nb: 1\n", "a.c", "3", "a: {c: 3}\nb: 1\n");
    row("empty braces", "a: {}\n", "a.c", "3", "a: {c: 3}\n");
    row("flow mapping", "a: {b: 1}\n", "a.c", "3", "a: {b: 1, c: 3}\n");
    row("flow mapping with blanks", "a: { b: 1 }\n", "a.c", "3", "a: { b: 1, c: 3 }\n");
    row("flow mapping with trailing comma", "a: {b: 1,}\n", "a.c", "3", "a: {b: 1, c: 3,}\n");
    row("nested in a flow mapping", "a: {b: 1}\n", "a.c.d", "3", "a: {b: 1, c: {d: 3}}\n");
    row("document marker behind", "a: 1\n---\nb: 2\n", "c", "3", "a: 1\nc: 3\n---\nb: 2\n");
    row("key that needs quotes", "a: 1\n", "\"x: y\"", "2", "a: 1\n\"x: y\": 2\n");
    // JSON.
    row("json number", "{\"a\": 1, \"b\": 2}", "b", "3", "{\"a\": 1, \"b\": 3}");
    row("json word", "{\"a\": \"x\"}\n", "a", "y", "{\"a\": \"y\"}\n");
    row("json auto becomes a number", "{\"a\": \"auto\"}\n", "a", "2", "{\"a\": 2}\n");
    row("json number becomes auto", "{\"a\": 2}\n", "a", "auto", "{\"a\": \"auto\"}\n");
    row("json number in quotes", "{\"a\": \"2\"}\n", "a", "3", "{\"a\": \"3\"}\n");
    row("json flag", "{\"a\": true}\n", "a", "false", "{\"a\": false}\n");
    row("json null", "{\"a\": null}\n", "a", "2", "{\"a\": 2}\n");
    row("json added on a line", "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n}\n", "b.d", "full",
        "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2,\n    \"d\": \"full\"\n  }\n}\n");
    row("json added at the top", "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n}", "d", "3",
        "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  },\n  \"d\": 3\n}");
    row("json added in one line", "{\"a\":{\"b\":1}}", "a.c", "2", "{\"a\":{\"b\":1, \"c\": 2}}");
    row("json with tabs and crlf", "{\r\n\t\"a\": 1\r\n}\r\n", "b", "2", "{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}\r\n");
    row("json missing parents", "{\n  \"a\": 1\n}\n", "b.c", "x", "{\n  \"a\": 1,\n  \"b\": {\"c\": \"x\"}\n}\n");
    row("trailing comma on lines", "{\n  \"a\": 1,\n}\n", "b", "2", "{\n  \"a\": 1,\n  \"b\": 2,\n}\n");
    row("comment before the brace", "{\n  \"a\": 1  # x\n}\n", "b", "2", "{\n  \"a\": 1,  # x\n  \"b\": 2\n}\n");
    row("comment behind a trailing comma", "{\n  \"a\": 1,  # x\n}\n", "b", "2",
        "{\n  \"a\": 1,  # x\n  \"b\": 2,\n}\n");
    row("json with a Python flag", "{\"a\": True, \"b\": 1}\n", "a", "False", "{\"a\": False, \"b\": 1}\n");
    row("json flag stays json", "{\"a\": true}\n", "a", "False", "{\"a\": false}\n");
    row("json word on", "{\"a\": \"x\"}\n", "a", "on", "{\"a\": \"on\"}\n");
    row("schedule name", "a: auto\n", "a", "1f1b", "a: 1f1b\n");
    row("infinity", "a: auto\n", "a", ".inf", "a: \".inf\"\n");
    row("text that begins with a colon", "a: auto\n", "a", ":4096:8", "a: :4096:8\n");
    // Shared values: only the one that was named changes.
    row("alias becomes a literal", "a: &x 1\nb: *x # y\nc: *x\n", "b", "2", "a: &x 1\nb: 2 # y\nc: *x\n");
    row("alias in a flow mapping", "a: &x 1\nb: {c: *x, d: 2}\n", "b.c", "2", "a: &x 1\nb: {c: 2, d: 2}\n");
    row("alias keeps the quotes", "a: &x \"1\"\nb: *x\n", "b", "2", "a: &x \"1\"\nb: \"2\"\n");
    row("merged key", "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  r: 3\n", "b.p", "4",
        "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  r: 3\n  p: 4\n");
    row("merged key, nothing but the merge", "a: &x\n  p: 1\nb:\n  <<: *x\n", "b.p", "4",
        "a: &x\n  p: 1\nb:\n  <<: *x\n  p: 4\n");
    row("merged key in braces", "a: &x {p: 1}\nb: {<<: *x}\n", "b.p", "4", "a: &x {p: 1}\nb: {<<: *x, p: 4}\n");
    row("key of an aliased mapping", "a: &x {p: 1, q: 2}\nb: *x\n", "b.p", "4",
        "a: &x {p: 1, q: 2}\nb: {<<: *x, p: 4}\n");
    row("key beside a merge", "a: &x {p: 1}\nb: {<<: *x, p: 2}\n", "b.p", "4", "a: &x {p: 1}\nb: {<<: *x, p: 4}\n");
}

void TestConfigSet::splices()
{
    QFETCH(QString, before);
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, after);
    const ConfigDocument document = parsed(before);
    const std::vector<ConfigEdit> edits{{key.toStdString(), value.toStdString()}};
    const auto result = document.set(edits);
    QVERIFY2(result, result ? "" : result.error().english().c_str());
    QCOMPARE(bytesOf(*result), after.toUtf8());
    QCOMPARE(bytesOf(document), before.toUtf8());
    QVERIFY(meansTheSame(result->find(key.toStdString())->text, value.toStdString()));
}

void TestConfigSet::severalEdits()
{
    const ConfigDocument document = parsed("parallel:\n  pp: 2 # stages\ntrain:\n  micro: 4\n  accum: 1\nlast: x\n");
    const std::vector<ConfigEdit> edits{
        {"recompute.enabled", "true"}, {"train.accum", "16"}, {"recompute.granularity", "full"},
        {"parallel.pp", "10"},         {"train.micro", "1"},  {"train.accum", "32"}};
    const auto result = document.set(edits);
    QVERIFY(result);
    QCOMPARE(bytesOf(*result),
             QByteArray("parallel:\n  pp: 10 # stages\ntrain:\n  micro: 1\n  accum: 32\nlast: x\n"
                        "recompute:\n  enabled: true\n  granularity: full\n"));
    const auto none = document.set({});
    QVERIFY(none);
    QCOMPARE(none->bytes(), document.bytes());
    // Both users of an anchor may change if both are asked for.
    const std::vector<ConfigEdit> both{{"a", "2"}, {"b", "2"}};
    QCOMPARE(bytesOf(*parsed("a: &x 1\nb: *x\n").set(both)), QByteArray("a: &x 2\nb: *x\n"));
}

void TestConfigSet::lists_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QStringList>("items");
    QTest::addColumn<QString>("after");
    QTest::newRow("longer") << "a: [x] # y\n" << QStringList{"x", "z"} << "a: [x, z] # y\n";
    QTest::newRow("empty") << "a: [x]\nb: 1\n" << QStringList{} << "a: []\nb: 1\n";
    QTest::newRow("was empty") << "a: []\n" << QStringList{"x"} << "a: [x]\n";
    QTest::newRow("missing") << "b: 1\n" << QStringList{"x"} << "b: 1\na: [x]\n";
    QTest::newRow("was one value") << "a: x\n" << QStringList{"x", "y"} << "a: [x, y]\n";
    QTest::newRow("block list") << "a:\n  - x\n  - y\nb: 1\n" << QStringList{"y"} << "a: [y]\nb: 1\n";
    QTest::newRow("same") << "a: [ x,  y ]\n" << QStringList{"x", "y"} << "a: [ x,  y ]\n";
    QTest::newRow("json") << "{\"a\": [\"x\"]}" << QStringList{"x", "1"} << "{\"a\": [\"x\", 1]}";
    QTest::newRow("quoted items") << "a: [x]\n" << QStringList{"yes", "p, q"} << "a: [\"yes\", \"p, q\"]\n";
}

void TestConfigSet::lists()
{
    QFETCH(QString, before);
    QFETCH(QStringList, items);
    QFETCH(QString, after);
    ConfigEdit edit{"a", {}, std::vector<std::string>{}};
    for (const QString& item : items) {
        edit.items->push_back(item.toStdString());
    }
    const auto result = parsed(before).set(std::vector{edit});
    QVERIFY2(result, result ? "" : result.error().english().c_str());
    QCOMPARE(bytesOf(*result), after.toUtf8());
}

void TestConfigSet::sameMeaningChangesNothing_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("value");
    QTest::newRow("same text") << "a: 2 # x\n"
                               << "2";
    QTest::newRow("quoted") << "a: \"2\"\n"
                            << "2";
    QTest::newRow("underscores") << "a: 4_096\n"
                                 << "4096";
    QTest::newRow("exponent") << "a: 1e6\n"
                              << "1000000";
    QTest::newRow("capital") << "a: True\n"
                             << "true";
    QTest::newRow("yes") << "a: yes\n"
                         << "true";
    QTest::newRow("null") << "a: ~\n"
                          << "null";
    QTest::newRow("nothing") << "a:\n"
                             << "null";
    QTest::newRow("alias") << "b: &x 2\na: *x\n"
                           << "2";
    QTest::newRow("duplicate") << "a: 1\na: 2\n"
                               << "2";
}

void TestConfigSet::sameMeaningChangesNothing()
{
    QFETCH(QString, text);
    QFETCH(QString, value);
    const ConfigDocument document = parsed(text);
    const auto result = document.set(std::vector<ConfigEdit>{{"a", value.toStdString()}});
    QVERIFY(result);
    QCOMPARE(result->bytes(), document.bytes());
}

void TestConfigSet::refusals_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("key");
    QTest::addColumn<int>("line");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("anchor that others use") << "a: &x 1\nb: *x\n"
                                            << "a" << 1 << "would also change “b”";
    QTest::newRow("key of an anchored mapping") << "a: &x {p: 1}\nb: *x\n"
                                                << "a.p" << 1 << "would also change “b.p”";
    QTest::newRow("key of a merged mapping") << "a: &x {p: 1}\nb: {<<: *x}\n"
                                             << "a.p" << 1 << "would also change “b.p”";
    QTest::newRow("added to a shared mapping") << "a: &x {p: 1}\nb: *x\n"
                                               << "a.q" << 1 << "would also add “b.q”";
    QTest::newRow("below a merged mapping") << "a: &x {p: {q: 1}}\nb:\n  <<: *x\n"
                                            << "b.p.q" << 3 << "merged mapping on line 1";
    QTest::newRow("deep below an alias") << "a: &x {p: {q: 1}}\nb: *x\n"
                                         << "b.p.q" << 2 << "anchor on line 1";
    QTest::newRow("mapping") << "a: 1\nb: {c: 1}\n"
                             << "b" << 2 << "several values";
    QTest::newRow("below a value") << "a: full\n"
                                   << "a.b" << 1 << "a single value";
    QTest::newRow("beyond a list") << "a: [1, 2]\n"
                                   << "a[2]" << 1 << "has 2 values";
    QTest::newRow("name in a list") << "a: [1, 2]\n"
                                    << "a.b" << 1 << "not in the list";
    QTest::newRow("place in a mapping") << "a: {b: 1}\n"
                                        << "a[0]" << 1 << "names a place in a list";
    QTest::newRow("list that is not there") << "a: 1\n"
                                            << "b[0]" << 1 << "no list";
    QTest::newRow("not a key") << "a: 1\n"
                               << "a..b" << 0 << "not a key";
    QTest::newRow("comment in a block text") << "a: | # why\n  x\n"
                                             << "a" << 1 << "comment";
    QTest::newRow("mapping without braces in a list") << "a: [b: 1]\n"
                                                      << "a[0].c" << 1 << "without braces";
}

void TestConfigSet::refusals()
{
    QFETCH(QString, text);
    QFETCH(QString, key);
    QFETCH(int, line);
    QFETCH(QString, sentence);
    const auto result = parsed(text).set(std::vector<ConfigEdit>{{key.toStdString(), "7"}});
    QVERIFY(!result);
    QCOMPARE(result.error().file, std::string("test.yaml"));
    QCOMPARE(static_cast<int>(result.error().line), line);
    const QString english = QString::fromStdString(result.error().text.english());
    QVERIFY2(english.contains(sentence), qPrintable(english));
}

QTEST_APPLESS_MAIN(TestConfigSet)
#include "tst_config_set.moc"
