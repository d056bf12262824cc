// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/naive_log.h"
#include "runlog/named_files.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <memory>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

/// A log is read in pieces, by several threads, while it changes: what is found does not depend on it.
class RunlogPiecesTest : public QObject
{
    Q_OBJECT

private slots:
    void init() { m_files = std::make_unique<NamedFiles>(); }
    void bordersDoNotMatter_data();
    void bordersDoNotMatter();
    void everyBorder();
    void threadsDoNotMatter();
    void overlongLine();
    void longLinesOfProgressBars();
    void truncatedWhileRead();
    void growsWhileRead();
    void progressAndCancel();

private:
    [[nodiscard]] fs::path write(const std::string& name, const std::string& content) const
    {
        return m_files->write(name, content);
    }
    [[nodiscard]] fs::path path(const std::string& name) const { return m_files->path(name); }

    std::unique_ptr<NamedFiles> m_files;
};

void RunlogPiecesTest::bordersDoNotMatter_data()
{
    QTest::addColumn<qint64>("chunk");
    QTest::addColumn<qint64>("window");
    QTest::addColumn<qint64>("tail");
    QTest::newRow("one byte") << qint64{1} << qint64{1} << qint64{1};
    QTest::newRow("seven bytes") << qint64{7} << qint64{7} << qint64{3};
    QTest::newRow("windows in chunks") << qint64{100} << qint64{13} << qint64{1};
    QTest::newRow("about a line") << qint64{90} << qint64{90} << qint64{16};
    QTest::newRow("several lines") << qint64{1000} << qint64{300} << qint64{64};
    QTest::newRow("as shipped") << qint64{4 << 20} << qint64{256 << 10} << qint64{4 << 10};
}

void RunlogPiecesTest::bordersDoNotMatter()
{
    QFETCH(qint64, chunk);
    QFETCH(qint64, window);
    QFETCH(qint64, tail);
    std::mt19937 random(20260105);
    for (int round = 0; round < 3; ++round) {
        const std::string log = randomLog(random, 200);
        const std::vector<std::string> expected = naiveRecords(log);
        QVERIFY(expected.size() > 20);
        const Run run = readTextInPieces(log, "train.log", {.chunk = chunk, .window = window, .tail = tail});
        const std::vector<std::string> found = records(run);
        for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
            QCOMPARE(found[i], expected[i]);
        }
        QCOMPARE(found.size(), expected.size());
        QCOMPARE(run.lineCount, static_cast<std::int64_t>(std::ranges::count(log, '\n')));
        QCOMPARE(run.problems.empty() ? std::string() : run.problems.front().english(), std::string());
    }
}

/// A border at every byte of a short log with every kind of line end.
void RunlogPiecesTest::everyBorder()
{
    const std::string log = "\r\nphase=forward step=1 peak_alloc=1GiB\n 5%|\rphase=forward step=2 peak_alloc=2GiB\r\n\n"
                            "phase=forward step=3 peak_alloc=x\nphase=eval step=4 peak_alloc=3GiB\r"
                            "phase=eval step=5 peak_alloc=3GiB";
    const Run whole = readLogText(log, "train.log");
    QCOMPARE(whole.line, (std::vector<std::uint32_t>{2, 3, 6, 6}));
    QCOMPARE(whole.problems.front().line, std::int64_t{5});
    for (std::int64_t size = 1; size <= static_cast<std::int64_t>(log.size()) + 1; ++size) {
        const Run run = readTextInPieces(log, "train.log", {.chunk = size, .window = size, .tail = 1});
        QCOMPARE(records(run), records(whole));
        QCOMPARE(run.problems, whole.problems);
        QCOMPARE(run.lineCount, whole.lineCount);
    }
}

void RunlogPiecesTest::threadsDoNotMatter()
{
    std::mt19937 random(7);
    std::string log;
    for (int i = 0; i < 40; ++i) {
        log += randomLog(random, 500);
        log += "phase=forward step=" + std::to_string(i) + "x peak_alloc=1GiB\n";
    }
    const fs::path file = write("train.log", log);
    const ScanSizes sizes{.chunk = 10000, .window = 3000, .tail = 200};
    const Result<Run> one = read(file, 1);
    QVERIFY(one.has_value());
    QVERIFY(one->size() > 5000);
    QCOMPARE(one->problemCount, std::int64_t{40});
    for (const int threads : {1, 2, 3, 8, 1000, 0, -1}) {
        const Result<Run> run = read(file, threads, sizes);
        QVERIFY(run.has_value());
        QCOMPARE(records(*run), records(*one));
        QCOMPARE(run->problems, one->problems);
        QCOMPARE(run->lineCount, one->lineCount);
        QCOMPARE(run->byteCount, static_cast<std::int64_t>(log.size()));
    }
}

void RunlogPiecesTest::overlongLine()
{
    const std::string record = "phase=forward step=1 peak_alloc=1GiB\n";
    {
        std::ofstream out(path("long.log"), std::ios::binary);
        out << record;
        const std::string part(1 << 20, 'x');
        for (int i = 0; i < 200; ++i) {
            out << part << " phase=forward step=2 peak_alloc=2GiB ";
        }
        out << "\n" << record;
    }
    QElapsedTimer timer;
    timer.start();
    const Result<Run> run = read(path("long.log"));
    QVERIFY2(timer.elapsed() < 20000, "reading a line of 200 MiB takes time in proportion to its length");
    QVERIFY(run.has_value());
    QCOMPARE(run->line, (std::vector<std::uint32_t>{1, 3}));
    QCOMPARE(run->lineCount, std::int64_t{3});
    QCOMPARE(run->problemCount, std::int64_t{1});
    QCOMPARE(run->problems.front().english(),
             path("long.log").string() + ":2: the line is longer than 1024 KiB and was not read");

    const std::string limit(40, 'x');
    const ScanSizes small{.chunk = 16, .window = 8, .tail = 1, .longestLine = 40};
    QCOMPARE(readTextInPieces(limit + "\n", "x", small).problemCount, std::int64_t{0});
    QCOMPARE(readTextInPieces(limit + "x\n", "x", small).problemCount, std::int64_t{1});
    QCOMPARE(readTextInPieces(limit + "x", "x", small).problemCount, std::int64_t{1});
    QCOMPARE(readTextInPieces("\n\n" + limit + "xyz\n" + record + limit + limit, "x", small).problems.back().line,
             std::int64_t{5});
}

/// One line of 20 MiB for an editor, 400,000 lines for a terminal: each is read, in bounded time.
void RunlogPiecesTest::longLinesOfProgressBars()
{
    std::string log;
    int count = 0;
    for (; log.size() < (20U << 20U); ++count) {
        log += " 10%|# | 1/10\rphase=forward step=1 peak_alloc=1GiB\r";
    }
    QElapsedTimer timer;
    timer.start();
    const Run run = readLogText(log, "train.log");
    QVERIFY2(timer.elapsed() < 20000, "reading takes time in proportion to the length");
    QCOMPARE(static_cast<int>(run.size()), count);
    QCOMPARE(run.lineCount, std::int64_t{1});
    QCOMPARE(run.line.back(), std::uint32_t{1});
}

/// The first piece is read, then the file shrinks; the rest is not there any more.
void RunlogPiecesTest::truncatedWhileRead()
{
    std::string log;
    for (int i = 0; i < 40000; ++i) {
        log += "phase=forward step=" + std::to_string(i) + " peak_alloc=1GiB\n";
    }
    const fs::path file = write("train.log", log);
    for (const int threads : {1, 2}) {
        std::ignore = write("train.log", log);
        std::atomic<bool> truncated{false};
        const Result<Run> run = read(file, threads, {.chunk = 64 << 10, .window = 16 << 10}, [&](double) {
            if (!truncated.exchange(true)) {
                fs::resize_file(file, 200000);
            }
            return true;
        });
        QVERIFY(run.has_value());
        QVERIFY(!run->isEmpty() && run->size() < 20000);
        bool told = false;
        for (const Problem& problem : run->problems) {
            told = told
                || problem.english() == file.string() + ": the file became shorter while it was read; open it again";
        }
        QVERIFY(told);
        for (std::size_t i = 0; i < run->size(); ++i) {
            QCOMPARE(run->step[i] + 1, run->line[i]);
        }
    }
}

void RunlogPiecesTest::growsWhileRead()
{
    const fs::path file
        = write("train.log", "phase=forward step=1 peak_alloc=1GiB\nphase=forward step=2 peak_alloc=1GiB\n");
    bool grown = false;
    const Result<Run> run = read(file, 1, {.chunk = 8, .window = 8}, [&](double) {
        if (!std::exchange(grown, true)) {
            std::ofstream(file, std::ios::app) << "phase=forward step=3 peak_alloc=1GiB\n";
        }
        return true;
    });
    QVERIFY(run.has_value());
    QCOMPARE(run->step, (std::vector<std::uint32_t>{1, 2}));
    QCOMPARE(run->problemCount, std::int64_t{0});
}

void RunlogPiecesTest::progressAndCancel()
{
    const fs::path file = write("train.log", std::string(30 << 20, '\n'));
    for (const int threads : {1, 2}) {
        std::vector<double> shares;
        const Result<Run> run = read(file, threads, {}, [&](double done) {
            shares.push_back(done);
            return true;
        });
        QVERIFY(run.has_value());
        QCOMPARE(run->lineCount, std::int64_t{30 << 20});
        QVERIFY(std::ranges::is_sorted(shares));
        QCOMPARE(shares.back(), 1.0);
        QVERIFY(shares.size() >= 4); // every 8 MiB or more often
    }
    std::atomic<int> calls{0};
    const Result<Run> cancelled = read(file, 2, {}, [&](double) { return ++calls < 2; });
    QVERIFY(!cancelled.has_value());
    QCOMPARE(cancelled.error().text.english(), std::string("reading was cancelled"));
    QVERIFY(calls <= 3);
}

QTEST_APPLESS_MAIN(RunlogPiecesTest)
#include "tst_runlog_pieces.moc"
