// SPDX-License-Identifier: GPL-3.0-or-later
#include "units/bytes.h"
#include "units/number.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace headroom;

class TestUnits : public QObject
{
    Q_OBJECT

private slots:
    void parsesSizes_data();
    void parsesSizes();
    void refusesSizes_data();
    void refusesSizes();
    void printsSizes_data();
    void printsSizes();
    void clampsAbsurdSizes();
    void parsesIntegers_data();
    void parsesIntegers();
    void parsesReals_data();
    void parsesReals();
    void parsesBools_data();
    void parsesBools();
    void groupsDigits();
    void fillsText();
};

void TestUnits::parsesSizes_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("GiB is 2^30") << QByteArray("31.25GiB") << qint64{33554432000};
    QTest::newRow("blank before the unit") << QByteArray("80 GiB") << qint64{85899345920};
    QTest::newRow("GB is 10^9") << QByteArray("80GB") << qint64{80000000000};
    QTest::newRow("MiB") << QByteArray("512MiB") << qint64{536870912};
    QTest::newRow("MB") << QByteArray("1.5MB") << qint64{1500000};
    QTest::newRow("KiB") << QByteArray("3KiB") << qint64{3072};
    QTest::newRow("B") << QByteArray("17B") << qint64{17};
    QTest::newRow("no unit") << QByteArray("1024") << qint64{1024};
    QTest::newRow("exponent") << QByteArray("1e9") << qint64{1000000000};
    QTest::newRow("exponent and unit") << QByteArray("1.5e9B") << qint64{1500000000};
    QTest::newRow("lower case") << QByteArray("1gib") << qint64{1073741824};
    QTest::newRow("zero") << QByteArray("0B") << qint64{0};
}

void TestUnits::parsesSizes()
{
    QFETCH(QByteArray, text);
    const auto size = parseBytes(text.toStdString());
    QVERIFY(size.has_value());
    QTEST(qint64{size->value}, "bytes");
}

void TestUnits::refusesSizes_data()
{
    QTest::addColumn<QByteArray>("text");
    for (const char* text :
         {"", "GiB", "-1GiB", "nan", "nanGiB", "inf", "1e30GiB", "12XiB", "1,5GiB", "12G", "1 2GiB", "0x"}) {
        QTest::newRow(*text == '\0' ? "empty" : text) << QByteArray(text);
    }
}

void TestUnits::refusesSizes()
{
    QFETCH(QByteArray, text);
    const auto size = parseBytes(text.toStdString());
    QVERIFY(!size.has_value());
    QVERIFY(!size.error().english().empty());
}

void TestUnits::printsSizes_data()
{
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("bytes") << qint64{17} << QByteArray("17 B");
    QTest::newRow("KiB") << qint64{1536} << QByteArray("1.5 KiB");
    QTest::newRow("MiB") << qint64{536870912} << QByteArray("512.00 MiB");
    QTest::newRow("GiB") << qint64{33554432000} << QByteArray("31.25 GiB");
    QTest::newRow("negative") << qint64{-3650722202} << QByteArray("-3.40 GiB");
    QTest::newRow("just below a GiB") << qint64{1073741823} << QByteArray("1.00 GiB");
    QTest::newRow("zero") << qint64{0} << QByteArray("0 B");
}

void TestUnits::printsSizes()
{
    QFETCH(qint64, bytes);
    QTEST(QByteArray::fromStdString(formatBytes(Bytes{bytes})), "text");
}

void TestUnits::clampsAbsurdSizes()
{
    QCOMPARE(bytesFrom(1e30).value, std::numeric_limits<std::int64_t>::max());
    QCOMPARE(bytesFrom(-1e30).value, std::numeric_limits<std::int64_t>::min());
    QCOMPARE(bytesFrom(std::nan("")).value, std::int64_t{0});
    QCOMPARE(bytesFrom(1.5).value, std::int64_t{2});
}

void TestUnits::parsesIntegers_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("isInteger");
    QTest::addColumn<qint64>("value");
    QTest::newRow("plain") << QByteArray("4096") << true << qint64{4096};
    QTest::newRow("underscored") << QByteArray("4_096") << true << qint64{4096};
    QTest::newRow("signed") << QByteArray("-3") << true << qint64{-3};
    QTest::newRow("plus") << QByteArray("+3") << true << qint64{3};
    QTest::newRow("leading zero is octal") << QByteArray("010") << true << qint64{8};
    QTest::newRow("leading zero, not octal") << QByteArray("09") << true << qint64{9};
    QTest::newRow("0o") << QByteArray("0o17") << true << qint64{15};
    QTest::newRow("hexadecimal") << QByteArray("0xff") << true << qint64{255};
    QTest::newRow("exponent") << QByteArray("1e6") << true << qint64{1000000};
    QTest::newRow("whole decimal") << QByteArray("24.0") << true << qint64{24};
    QTest::newRow("fraction") << QByteArray("24.5") << false << qint64{0};
    QTest::newRow("comma") << QByteArray("1,000") << false << qint64{0};
    QTest::newRow("base sixty") << QByteArray("1:30") << false << qint64{0};
    QTest::newRow("trailing underscore") << QByteArray("4_") << false << qint64{0};
    QTest::newRow("too large") << QByteArray("1e30") << false << qint64{0};
    QTest::newRow("two signs") << QByteArray("--3") << false << qint64{0};
    QTest::newRow("empty") << QByteArray("") << false << qint64{0};
    QTest::newRow("word") << QByteArray("auto") << false << qint64{0};
}

void TestUnits::parsesIntegers()
{
    QFETCH(QByteArray, text);
    const auto value = parseInteger(text.toStdString());
    QTEST(value.has_value(), "isInteger");
    QTEST(qint64{value.value_or(0)}, "value");
}

void TestUnits::parsesReals_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("isReal");
    QTest::addColumn<double>("value");
    QTest::newRow("exponent without dot") << QByteArray("1e-5") << true << 1e-5;
    QTest::newRow("decimal") << QByteArray("17.25") << true << 17.25;
    QTest::newRow("leading dot") << QByteArray(".5") << true << 0.5;
    QTest::newRow("negative") << QByteArray("-0.5") << true << -0.5;
    QTest::newRow("infinite") << QByteArray("inf") << false << 0.0;
    QTest::newRow("not a number") << QByteArray("nan") << false << 0.0;
    QTest::newRow("too large") << QByteArray("1e999") << false << 0.0;
    QTest::newRow("two numbers") << QByteArray("1 2") << false << 0.0;
}

void TestUnits::parsesReals()
{
    QFETCH(QByteArray, text);
    const auto value = parseReal(text.toStdString());
    QTEST(value.has_value(), "isReal");
    QTEST(value.value_or(0.0), "value");
}

void TestUnits::parsesBools_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("value"); // -1: not a bool
    const std::pair<const char*, int> rows[]{{"true", 1},  {"True", 1},  {"TRUE", 1}, {"yes", 1},
                                             {"on", 1},    {"false", 0}, {"No", 0},   {"OFF", 0},
                                             {"tRue", -1}, {"1", -1},    {"", -1},    {"truee", -1}};
    for (const auto& [text, value] : rows) {
        QTest::newRow(*text == '\0' ? "empty" : text) << QByteArray(text) << value;
    }
}

void TestUnits::parsesBools()
{
    QFETCH(QByteArray, text);
    const auto value = parseBool(text.toStdString());
    QTEST(value ? int(*value) : -1, "value");
}

void TestUnits::groupsDigits()
{
    QCOMPARE(formatCount(353189888), std::string("353,189,888"));
    QCOMPARE(formatCount(-1234), std::string("-1,234"));
    QCOMPARE(formatCount(999), std::string("999"));
    QCOMPARE(formatCountShort(8291375616), std::string("8.29 B"));
    QCOMPARE(formatCountShort(353189888), std::string("353.2 M"));
    QCOMPARE(formatReal(16.0), std::string("16"));
}

void TestUnits::fillsText()
{
    const Text text{"%1 of %2 (%1), 50 % done, %3", {"a", "b"}};
    QCOMPARE(text.english(), std::string("a of b (a), 50 % done, %3"));
    QCOMPARE(text.fill("%2/%1"), std::string("b/a"));
    const Problem problem{Severity::Error, "train.log", 12, text};
    QCOMPARE(problem.english(), std::string("train.log:12: a of b (a), 50 % done, %3"));
}

QTEST_APPLESS_MAIN(TestUnits)
#include "tst_units.moc"
