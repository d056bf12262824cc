// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/line_diff.h"

#include <QTest>

using namespace headroom;

class TestLineDiff : public QObject
{
    Q_OBJECT

private slots:
    void unified_data();
    void unified();
    void rebuildsBothTexts_data();
    void rebuildsBothTexts();
};

void TestLineDiff::unified_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QByteArray>("diff"); // as diff -U3 prints it, without the two names
    QTest::newRow("equal") << QByteArray("a\nb\n") << QByteArray("a\nb\n") << QByteArray();
    QTest::newRow("changed") << QByteArray("a\nb\nc\n") << QByteArray("a\nX\nc\n")
                             << QByteArray("@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n");
    QTest::newRow("added at the end") << QByteArray("a\n") << QByteArray("a\nb\n")
                                      << QByteArray("@@ -1,1 +1,2 @@\n a\n+b\n");
    QTest::newRow("no newline at the end")
        << QByteArray("a\nb") << QByteArray("a\nc")
        << QByteArray("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n");
    QTest::newRow("two hunks") << QByteArray("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n")
                               << QByteArray("A\n2\n3\n4\n5\n6\n7\n8\n9\nB\n")
                               << QByteArray(
                                      "@@ -1,4 +1,4 @@\n-1\n+A\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+B\n");
    QTest::newRow("CRLF stays") << QByteArray("a\r\nb\r\n") << QByteArray("a\r\nc\r\n")
                                << QByteArray("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n");
}

void TestLineDiff::unified()
{
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(QByteArray, diff);
    const QByteArray expected = diff.isEmpty() ? diff : "--- old\n+++ new\n" + diff;
    QCOMPARE(QByteArray::fromStdString(unifiedDiff(before.toStdString(), after.toStdString(), "old", "new")), expected);
}

void TestLineDiff::rebuildsBothTexts_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::newRow("both empty") << QByteArray() << QByteArray();
    QTest::newRow("from nothing") << QByteArray() << QByteArray("a\nb\n");
    QTest::newRow("to nothing") << QByteArray("a\nb\n") << QByteArray();
    QTest::newRow("moved") << QByteArray("a\nb\nc\nd\n") << QByteArray("c\na\nb\nd\n");
    QTest::newRow("repeated lines") << QByteArray("x\nx\ny\nx\n") << QByteArray("x\ny\nx\nx\nx\n");
    QByteArray all;
    QByteArray other;
    for (int i = 0; i < 5000; ++i) {
        all += QByteArray::number(i) + '\n';
        other += QByteArray::number(-i - 1) + '\n';
    }
    QTest::newRow("nothing in common") << all << other;
}

void TestLineDiff::rebuildsBothTexts()
{
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    const std::string oldText = before.toStdString();
    const std::string newText = after.toStdString();
    std::string rebuiltOld;
    std::string rebuiltNew;
    for (const DiffLine& line : lineDiff(oldText, newText)) {
        rebuiltOld += line.kind == DiffKind::Added ? "" : line.text;
        rebuiltNew += line.kind == DiffKind::Removed ? "" : line.text;
    }
    QCOMPARE(rebuiltOld, oldText);
    QCOMPARE(rebuiltNew, newText);
}

QTEST_APPLESS_MAIN(TestLineDiff)
#include "tst_line_diff.moc"
