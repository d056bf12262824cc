// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/line_format.h"
#include "support/folders.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

using namespace headroom;

namespace {

struct Found
{
    QJsonObject fields; ///< numbers and texts; a number that is no number is null
};

QJsonValue valueOf(const LinePattern& pattern, const FieldMatch& match)
{
    const FieldRule& rule = pattern.fields()[match.field];
    const QString text = QString::fromUtf8(match.text.data(), static_cast<qsizetype>(match.text.size()));
    if (rule.unit == FieldUnit::Text) {
        return text;
    }
    const std::optional<double> number = fieldNumber(rule, match.text);
    return number && std::isfinite(*number) ? QJsonValue(*number) : QJsonValue(QJsonValue::Null);
}

std::vector<Found> allMatches(const LineFormat& format, std::string_view line)
{
    PatternMatcher matcher;
    std::vector<Found> all;
    for (std::size_t from = 0; matcher.next(format.pattern, line, from);) {
        Found found;
        for (const FieldMatch& match : matcher.found()) {
            found.fields[QString::fromStdString(format.pattern.fields()[match.field].name)]
                = valueOf(format.pattern, match);
        }
        all.push_back(std::move(found));
    }
    return all;
}

/// The published values are rounded to a byte; a text must be the same.
bool same(const QJsonValue& actual, const QJsonValue& expected)
{
    if (expected.isNull()) {
        return actual.isNull();
    }
    if (actual.isDouble() && expected.isDouble()) {
        const double want = expected.toDouble();
        return std::abs(actual.toDouble() - want) <= std::max(1.0 * (std::abs(want) > 1e6), 1e-9 * std::abs(want));
    }
    if (actual.isDouble() && expected.isString()) { // the catalogue keeps some numbers as they are written
        return fieldNumber(*fieldRule("value", "num"), expected.toString().toStdString()) == actual.toDouble();
    }
    return actual == expected;
}

QString compare(const QJsonObject& actual, const QJsonObject& expected)
{
    for (auto field = expected.begin(); field != expected.end(); ++field) {
        if (!same(actual[field.key()], field.value())) {
            return QStringLiteral("%1: is %2, not %3")
                .arg(field.key(), actual[field.key()].toVariant().toString(), field.value().toVariant().toString());
        }
    }
    return {};
}

QJsonArray publishedRecords()
{
    QFile file(sharedPath("knowledge/logformats.json"));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    return QJsonDocument::fromJson(file.readAll().replace(": NaN", ": null"))
        .object()[QStringLiteral("records")]
        .toArray();
}

} // namespace

/// The format files: every published example line gives the published fields.
class LogFormatsTest : public QObject
{
    Q_OBJECT

private slots:
    void builtinFormatsAreWhole();
    void example_data();
    void example();
    void everyExampleHasItsAnchor();
    void number_data();
    void number();
    void brokenFormat_data();
    void brokenFormat();
    void usersFormats();
    void matchLimit();
};

void LogFormatsTest::builtinFormatsAreWhole()
{
    const LineFormats& formats = LineFormats::builtin();
    for (const Problem& problem : formats.problems) {
        qWarning("%s", problem.english().c_str());
    }
    QVERIFY(formats.problems.empty());
    QVERIFY(formats.formats.size() >= 154);
}

void LogFormatsTest::example_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("line");
    QTest::addColumn<QJsonArray>("expected");
    QTest::addColumn<bool>("all");
    const QJsonArray records = publishedRecords();
    if (records.isEmpty()) {
        QTest::newRow("absent") << QString() << QString() << QJsonArray() << false;
    }
    for (const QJsonValue& record : records) {
        const QString id = record[QStringLiteral("id")].toString();
        int number = 0;
        for (const QJsonValue& example : record[QStringLiteral("examples")].toArray()) {
            const QJsonValue list = example[QStringLiteral("expect_all")];
            const QJsonArray expected = list.isArray() ? list.toArray() : QJsonArray{example[QStringLiteral("expect")]};
            QTest::addRow("%s #%d", qPrintable(id), ++number)
                << id << example[QStringLiteral("line")].toString() << expected << list.isArray();
        }
    }
}

void LogFormatsTest::example()
{
    QFETCH(QString, id);
    QFETCH(QString, line);
    QFETCH(QJsonArray, expected);
    QFETCH(bool, all);
    if (id.isEmpty()) {
        QSKIP("the published examples are not here");
    }
    const LineFormat* format = LineFormats::builtin().find(id.toStdString());
    QVERIFY2(format != nullptr, "there is no such format");
    const std::string text = line.toStdString();
    const std::vector<Found> found = allMatches(*format, text);
    QVERIFY2(found.size() >= static_cast<std::size_t>(expected.size()), "the line is not recognised");
    if (all) {
        QCOMPARE(found.size(), static_cast<std::size_t>(expected.size()));
    }
    for (qsizetype i = 0; i < expected.size(); ++i) {
        const QString difference = compare(found[static_cast<std::size_t>(i)].fields, expected[i].toObject());
        QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
}

/// A line without one of its format's anchors would never be looked at.
void LogFormatsTest::everyExampleHasItsAnchor()
{
    const QJsonArray records = publishedRecords();
    if (records.isEmpty()) {
        QSKIP("the published examples are not here");
    }
    for (const QJsonValue& record : records) {
        const LineFormat* format = LineFormats::builtin().find(record[QStringLiteral("id")].toString().toStdString());
        QVERIFY(format != nullptr);
        for (const QJsonValue& example : record[QStringLiteral("examples")].toArray()) {
            const std::string line = example[QStringLiteral("line")].toString().toStdString();
            const bool found = format->anchors.empty()
                || std::any_of(format->anchors.begin(), format->anchors.end(),
                               [&](const std::string& anchor) { return line.find(anchor) != std::string::npos; });
            // A row of fms-fsdp's block stands beside the line that has the anchor.
            QVERIFY2(found || !format->rows.empty(), line.c_str());
        }
    }
}

void LogFormatsTest::number_data()
{
    QTest::addColumn<QByteArray>("unit");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<double>("value");
    const auto row = [](const char* name, const char* unit, const char* text, double value) {
        QTest::newRow(name) << QByteArray(unit) << QByteArray(text) << value;
    };
    row("whole", "num", "12", 12);
    row("thousands", "num", "1,234,567", 1234567);
    row("exponent", "num", "1.203115E+01", 12.03115);
    row("signed", "num", "-0.5", -0.5);
    row("numpy", "num", "np.float64(20.75)", 20.75);
    row("seconds are milliseconds", "s", "1.5", 1500);
    row("binary label", "GiB", "1.5", 1610612736);
    row("decimal label", "GB", "1.5", 1500000000);
    row("size in words", "size", "512 bytes", 512);
    row("size, any spelling", "size", "2 GB", 2147483648.0);
    row("billion, not byte", "si", "34.2B", 34.2e9);
    row("thousand", "si", "634K", 634000);
    row("left of the slash", "fraction", "12/94", 12);
    row("no number", "num", "n/a", std::numeric_limits<double>::quiet_NaN());
}

void LogFormatsTest::number()
{
    QFETCH(QByteArray, unit);
    QFETCH(QByteArray, text);
    QFETCH(double, value);
    const auto rule = fieldRule("x_bytes", unit.toStdString());
    QVERIFY(rule);
    const std::string field = rule->name;
    FieldRule plain = *rule;
    plain.name = unit == "GiB" || unit == "size" || unit == "GB" ? field : "value";
    const std::optional<double> number = fieldNumber(plain, text.toStdString());
    QCOMPARE(number.has_value(), !std::isnan(value));
    if (number) {
        QCOMPARE(*number, value);
    }
}

void LogFormatsTest::brokenFormat_data()
{
    QTest::addColumn<QByteArray>("yaml");
    QTest::addColumn<int>("line");
    const auto row
        = [](const char* name, const char* yaml, int line) { QTest::newRow(name) << QByteArray(yaml) << line; };
    row("not YAML", "formats: [", 1);
    row("no formats", "framework: x\n", 1);
    row("unknown key", "formats:\n  a:\n    colour: red\n", 3);
    row("unknown kind", "formats:\n  a:\n    is: poem\n", 3);
    row("no pattern", "formats:\n  a:\n    anchors: [abc]\n", 2);
    row("no anchors", "formats:\n  a:\n    pattern: abc\n", 2);
    row("short anchor", "formats:\n  a:\n    anchors: [a]\n    pattern: a\n", 3);
    row("broken pattern", "formats:\n  a:\n    anchors: [abc]\n    pattern: 'a(b'\n", 4);
    row("unknown unit", "formats:\n  a:\n    anchors: [abc]\n    pattern: 'abc %{x:lightyears}'\n", 4);
    row("open placeholder", "formats:\n  a:\n    anchors: [abc]\n    pattern: 'abc %{x'\n", 4);
    row("unit of a value", "formats:\n  a:\n    anchors: [abc]\n    pattern: abc\n    values: {k: 'x:lightyears'}\n",
        5);
}

void LogFormatsTest::brokenFormat()
{
    QFETCH(QByteArray, yaml);
    QFETCH(int, line);
    const FormatFile file = parseLineFormats(yaml.toStdString(), "mine.yaml");
    QCOMPARE(file.problems.size(), std::size_t{1});
    QCOMPARE(file.problems.front().file, std::string("mine.yaml"));
    QCOMPARE(file.problems.front().line, std::int64_t{line});
    QVERIFY(file.entries.empty());
}

void LogFormatsTest::usersFormats()
{
    QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("formats/log")));
    const auto write = [&](const char* name, const char* text) {
        QFile file(folder.filePath(QStringLiteral("formats/log/") + QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    write("a.yaml",
          "formats:\n  mine.step:\n    anchors: ['gpu high water']\n    pattern: 'gpu high water "
          "%{peak_alloc_bytes:MiB}'\n"
          "  mine.bad:\n    anchors: [abc]\n    pattern: '('\n");
    write("b.yaml", "formats: [1, 2]\n");
    const LineFormats formats = LineFormats::load(folder.path().toStdString());
    QCOMPARE(formats.problems.size(), std::size_t{2});
    QVERIFY(formats.find("mine.step") != nullptr);
    QVERIFY(formats.find("mine.bad") == nullptr);
    QCOMPARE(formats.formats.size(), LineFormats::builtin().formats.size() + 1);
}

/// A pattern that backtracks without end gives up instead.
void LogFormatsTest::matchLimit()
{
    const Result<LinePattern> pattern = LinePattern::compile("(?:a+)+(?:a+)+$");
    QVERIFY(pattern);
    PatternMatcher matcher;
    std::size_t from = 0;
    QVERIFY(!matcher.next(*pattern, std::string(5000, 'a') + 'b', from));
    QVERIFY(matcher.takeLimitReached());
    QVERIFY(!matcher.takeLimitReached());
}

QTEST_APPLESS_MAIN(LogFormatsTest)
#include "tst_log_formats.moc"
