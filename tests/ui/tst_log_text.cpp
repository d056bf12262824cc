// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text by line numbers: the sparse index, what is shown of a line, growth and search.
#include "theme/theme.h"
#include "ui/text_files.h"
#include "workspace/text_finder.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>

using namespace headroom;
using namespace headroom::test;

namespace {

/// Lines as anybody would split them.
QList<QByteArray> split(const QByteArray& text)
{
    QList<QByteArray> lines = text.split('\n');
    if (lines.last().isEmpty()) {
        lines.removeLast();
    }
    return lines;
}

std::string_view viewOf(const QByteArray& text)
{
    return {text.constData(), static_cast<std::size_t>(text.size())};
}

bool always()
{
    return true;
}

} // namespace

class LogTextTest : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase();
    static void linesAreWhereTheyAre_data();
    void linesAreWhereTheyAre();
    static void bytesBecomeReadable_data();
    static void bytesBecomeReadable();
    static void searchFindsTheNextLine_data();
    void searchFindsTheNextLine();
    void fileGrowsAndIsReplaced();
    void someFilesHaveNoText_data();
    void someFilesHaveNoText();
    void packedTextIsShown_data();
    void packedTextIsShown();
    void hugeFileIsNotReadIn();
    void finderTellsWhatItFound();

private:
    QString write(const QByteArray& text, QIODevice::OpenMode mode = QIODevice::WriteOnly) const
    {
        return writeText(m_folder.filePath(QStringLiteral("train.log")), text, mode);
    }
    QTemporaryDir m_folder;
};

void LogTextTest::initTestCase()
{
    QLocale::setDefault(QLocale::c());
    applyTheme(*qApp, ThemeChoice::Light);
}

void LogTextTest::linesAreWhereTheyAre_data()
{
    QTest::addColumn<QByteArray>("text");
    const QByteArray large(300'000, 'x'), middling(5000, 'm'), exact(4096, 'e');
    QTest::newRow("one line") << QByteArray("alone");
    QTest::newRow("one line and its end") << QByteArray("alone\n");
    QTest::newRow("empty lines") << QByteArray("\n\n\nfour\n");
    QTest::newRow("carriage returns") << QByteArray("a\r\nb\rc\r\n");
    QTest::newRow("more than an anchor's distance") << numbered(5000);
    QTest::newRow("more than a block") << numbered(200'000);
    QTest::newRow("no end of the last line") << numbered(3000) + "half";
    QTest::newRow("exactly what is shown") << "a\n" + exact + "\nb\n" + exact;
    QTest::newRow("longer than shown") << "a\n" + middling + "\nb\n" + middling + "\n";
    QTest::newRow("long last line without end") << "a\n" + middling;
    QTest::newRow("lines over an anchor's distance") << "a\n" + large + "\n" + large + "\nb\n" + large + "\n";
    QTest::newRow("one long line without end") << large;
    QTest::newRow("a line over a block") << "a\n" + QByteArray(3 << 20, 'y') + "\nb";
}

void LogTextTest::linesAreWhereTheyAre()
{
    QFETCH(const QByteArray, text);
    const QList<QByteArray> expected = split(text);
    FileBytes bytes;
    QCOMPARE(bytes.open(write(text).toStdString()), 0);
    LineIndex index;
    index.extend(bytes, always);
    QCOMPARE(index.lineCount(), qint64{expected.size()});
    QCOMPARE(index.byteCount(), qint64{text.size()});
    const qint64 stride = std::max<qint64>(1, expected.size() / 97);
    for (qint64 first = 1; first <= expected.size(); first += stride) {
        const auto lines = readLines(bytes, index, first, 4);
        QCOMPARE(static_cast<qint64>(lines.size()), std::min<qint64>(4, expected.size() - first + 1));
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const QByteArray& line = expected[static_cast<qsizetype>(first) - 1 + static_cast<qsizetype>(i)];
            QCOMPARE(lines[i].length, qint64{line.size()});
            QCOMPARE(QByteArray::fromStdString(lines[i].bytes), line.left(4096));
        }
    }
    QVERIFY(readLines(bytes, index, expected.size() + 1, 1).empty());
    QVERIFY(readLines(bytes, index, 0, 1).empty());
}

void LogTextTest::bytesBecomeReadable_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("text");
    QTest::newRow("plain") << QByteArray("step 1") << QStringLiteral("step 1");
    QTest::newRow("line end of Windows") << QByteArray("step 1\r") << QStringLiteral("step 1");
    QTest::newRow("progress bar") << QByteArray("10%\r20%") << QStringLiteral("10%␍20%");
    QTest::newRow("colour") << QByteArray("\x1b[32mINFO\x1b[0m ok") << QStringLiteral("INFO ok");
    QTest::newRow("colour of 256") << QByteArray("\x1b[38;5;208mx\x1b[m") << QStringLiteral("x");
    QTest::newRow("title") << QByteArray("\x1b]0;title\ax") << QStringLiteral("x");
    QTest::newRow("link") << QByteArray("\x1b]8;;http://a\x1b\\x") << QStringLiteral("x");
    QTest::newRow("cut sequence") << QByteArray("x\x1b[3") << QStringLiteral("x");
    QTest::newRow("lone escape") << QByteArray("x\x1b") << QStringLiteral("x");
    QTest::newRow("tab") << QByteArray("ab\tc") << QStringLiteral("ab      c");
    QTest::newRow("bell") << QByteArray("a\ab") << QStringLiteral("a␇b");
    QTest::newRow("zero") << QByteArray("a\0b", 3) << QStringLiteral("a␀b");
    QTest::newRow("UTF-8") << QByteArray("\xe6\x98\xbe\xe5\xad\x98") << QStringLiteral("显存");
    QTest::newRow("no UTF-8") << QByteArray("a\xff"
                                            "b")
                              << QStringLiteral("a\uFFFDb");
}

void LogTextTest::bytesBecomeReadable()
{
    QFETCH(const QByteArray, bytes);
    QTEST(readableText(viewOf(bytes)), "text");
}

void LogTextTest::searchFindsTheNextLine_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("needle");
    QTest::addColumn<bool>("matchesCase");
    QTest::addColumn<qint64>("from");
    QTest::addColumn<bool>("backwards");
    QTest::addColumn<qint64>("line"); // 0: none
    const QByteArray many = numbered(20'000); // lucky lines: multiples of 7
    const auto row = [](const char* name, const QByteArray& text, const char* needle, bool matchesCase, qint64 from,
                        bool backwards, qint64 line) {
        QTest::newRow(name) << text << QString::fromUtf8(needle) << matchesCase << from << backwards << line;
    };
    row("next", many, "lucky", true, 0, false, 7);
    row("not the line itself", many, "lucky", true, 7, false, 14);
    row("before", many, "lucky", true, 14, true, 7);
    row("far", many, "line 19999", true, 3, false, 19'999);
    row("far back", many, "line 3 ", true, 19'999, true, 0);
    row("round the end", many, "line 12345", true, 15'000, false, 12'345);
    row("round the beginning", many, "line 12345", true, 5, true, 12'345);
    row("round to the line itself", many, "line 12345", true, 12'345, false, 12'345);
    row("other case", many, "LUCKY", false, 0, false, 7);
    row("other case, minded", many, "LUCKY", true, 0, false, 0);
    row("through colours", "a\n\x1b[1mpeak\x1b[0m_alloc\n", "peak_alloc", true, 0, false, 2);
    row("none", many, "unlucky", true, 0, false, 0);
    row("empty needle", many, "", true, 0, false, 0);
    row("behind a long line", QByteArray(300'000, 'x') + "\nfound", "found", true, 0, false, 2);
    row("in a long line", "a\n" + QByteArray(300'000, 'x') + "found", "found", true, 0, false, 2);
}

void LogTextTest::searchFindsTheNextLine()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, needle);
    QFETCH(const bool, matchesCase);
    QFETCH(const qint64, from);
    QFETCH(const bool, backwards);
    FileBytes bytes;
    QCOMPARE(bytes.open(write(text).toStdString()), 0);
    LineIndex index;
    index.extend(bytes, always);
    const auto found = findLine(bytes, index, {needle, matchesCase}, from, backwards, always, always);
    QTEST(found.value_or(0), "line");
}

void LogTextTest::fileGrowsAndIsReplaced()
{
    TextFile file(write("one\ntwo"));
    QVERIFY(isRead(file));
    QCOMPARE(file.lineCount(), qint64{2});
    write(" and a half\nthree\n", QIODevice::Append);
    file.refresh();
    QVERIFY(isRead(file));
    QCOMPARE(file.lineCount(), qint64{3});
    QCOMPARE(file.lines(2, 1).front().text, QStringLiteral("two and a half"));

    QSignalSpy replaced(&file, &TextFile::replaced);
    write("new\n"); // shorter: what was read is no longer there
    file.refresh();
    QVERIFY(isRead(file));
    QCOMPARE(replaced.size(), 1);
    QCOMPARE(file.lineCount(), qint64{1});

    QVERIFY(QFile::remove(file.path()));
    file.refresh(); // gone while a job is restarted: the text stays
    QCOMPARE(file.lines(1, 1).front().text, QStringLiteral("new"));
    write("again, and longer than before\nsecond\n");
    file.refresh();
    QVERIFY(isRead(file));
    QCOMPARE(file.lines(2, 1).front().text, QStringLiteral("second"));
}

void LogTextTest::someFilesHaveNoText_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("reason");
    QTest::newRow("damaged gzip") << QByteArray("\x1f\x8b\x08rest") << QStringLiteral("damaged");
    QTest::newRow("damaged zstd") << QByteArray("\x28\xb5\x2f\xfdrest") << QStringLiteral("damaged");
    QTest::newRow("empty UTF-16") << QByteArray("\xff\xfe", 2) << QStringLiteral("empty");
    QTest::newRow("binary") << QByteArray("ab\0c", 4) << QStringLiteral("binary");
}

void LogTextTest::someFilesHaveNoText()
{
    QFETCH(const QByteArray, content);
    QFETCH(const QString, reason);
    TextFile file(write(content));
    QTRY_VERIFY2(file.obstacle().contains(reason), qPrintable(file.obstacle()));
    QVERIFY(file.lines(1, 1).empty());
    TextFile missing(m_folder.filePath(QStringLiteral("missing.log")));
    QVERIFY(missing.obstacle().contains(QStringLiteral("missing.log")));
}

void LogTextTest::packedTextIsShown_data()
{
    QTest::addColumn<QByteArray>("content");
    // printf 'one\ntwo\n' | gzip -n, and | zstd
    QTest::newRow("gzip") << QByteArray::fromHex("1f8b0800000000000003cbcf4be52a29cfe70200e60bba1208000000");
    QTest::newRow("zstd") << QByteArray::fromHex("28b52ffd04584100006f6e650a74776f0ae6a60e40");
    QTest::newRow("UTF-16, little endian") << QByteArray("\xff\xfeo\0n\0e\0\n\0t\0w\0o\0\n\0", 18);
}

void LogTextTest::packedTextIsShown()
{
    QFETCH(const QByteArray, content);
    const QString path = write(content);
    TextFile file(path);
    QTRY_COMPARE(file.lineCount(), qint64{2});
    QTRY_VERIFY(file.isComplete());
    QVERIFY2(file.obstacle().isEmpty(), qPrintable(file.obstacle()));
    QCOMPARE(file.lines(2, 1).front().text, QStringLiteral("two"));
    TextFinder finder;
    QSignalSpy found(&finder, &TextFinder::found);
    finder.find(file, {QStringLiteral("TWO")}, 1, false);
    QVERIFY(found.wait());
    QCOMPARE(found.front().front().toLongLong(), 2);
    file.refresh(); // unchanged: nothing is unpacked again
    QCOMPARE(file.lineCount(), qint64{2});
    write("plain\nnow\nthree\n");
    file.refresh();
    QTRY_COMPARE(file.lineCount(), qint64{3});
    QCOMPARE(file.lines(1, 1).front().text, QStringLiteral("plain"));
}

void LogTextTest::hugeFileIsNotReadIn()
{
    const auto resident = [] {
        std::ifstream status("/proc/self/statm");
        qint64 total = 0, pages = 0;
        status >> total >> pages;
        return pages * 4096;
    };
    const QString path = write("first\n" + QByteArray(8192, 'a') + "\n");
    constexpr std::uintmax_t size = std::uintmax_t{2} << 30;
    std::error_code error;
    std::filesystem::resize_file(path.toStdString(), size, error);
    if (error) {
        QSKIP("no room for a sparse file here");
    }
    write("\nlast\n", QIODevice::Append);
    const qint64 before = resident();
    TextFile file(path);
    QVERIFY(isRead(file));
    QCOMPARE(file.lineCount(), qint64{4});
    const auto lines = file.lines(2, 3);
    QCOMPARE(lines.size(), std::size_t{3});
    QCOMPARE(lines[0].hiddenBytes, qint64{4096});
    QCOMPARE(lines[1].hiddenBytes, static_cast<qint64>(size) - 6 - 8193 - 4096);
    QCOMPARE(lines[2].text, QStringLiteral("last"));
    QVERIFY2(resident() - before < (32 << 20), qPrintable(QString::number(resident() - before)));
}

void LogTextTest::finderTellsWhatItFound()
{
    TextFile file(write(numbered(100'000)));
    TextFinder finder;
    QSignalSpy found(&finder, &TextFinder::found), notFound(&finder, &TextFinder::notFound);
    // The index may still grow: the search waits for it.
    finder.find(file, {QStringLiteral("line 99999"), true}, 1, false);
    QTRY_COMPARE(found.size(), 1);
    QCOMPARE(found.first().first().toLongLong(), qint64{99'999});
    finder.find(file, {QStringLiteral("line 5 "), true}, 1, false); // replaced by the next
    finder.find(file, {QStringLiteral("nowhere"), true}, 1, false);
    QTRY_COMPARE(notFound.size(), 1);
    QCOMPARE(found.size(), 1);
}

QTEST_MAIN(LogTextTest)
#include "tst_log_text.moc"
