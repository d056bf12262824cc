// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_files.h"
#include "runlog/naive_log.h"
#include "runlog/read_pieces.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

using namespace headroom;
namespace fs = std::filesystem;

/// Logs as files: pieces and threads, several files, folders, and whatever can be wrong with them.
class RunlogFilesTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void bordersDoNotMatter_data();
    void bordersDoNotMatter();
    void everyBorder();
    void threadsDoNotMatter();
    void severalFiles();
    void folder();
    void naturalOrder_data();
    void naturalOrder();
    void refused_data();
    void refused();
    void notRead_data();
    void notRead();
    void brokenFiles_data();
    void brokenFiles();
    void cutOffLastLine_data();
    void cutOffLastLine();
    void overlongLine();
    void longLinesOfProgressBars();
    void truncatedWhileRead();
    void growsWhileRead();
    void progressAndCancel();
    void memoryPerRecord();

private:
    fs::path write(const std::string& name, const std::string& content);
    [[nodiscard]] fs::path path(const std::string& name) const { return fs::path(m_dir->path().toStdString()) / name; }
    static Result<Run> read(const fs::path& file, int threads = 2, const ScanSizes& sizes = {},
                            std::function<bool(double)> progress = {});

    std::unique_ptr<QTemporaryDir> m_dir;
};

void RunlogFilesTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
}

fs::path RunlogFilesTest::write(const std::string& name, const std::string& content)
{
    fs::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
}

Result<Run> RunlogFilesTest::read(const fs::path& file, int threads, const ScanSizes& sizes,
                                  std::function<bool(double)> progress)
{
    const std::array<fs::path, 1> paths{file};
    return readLogInPieces(paths, {.progress = std::move(progress), .threads = threads}, sizes);
}

void RunlogFilesTest::bordersDoNotMatter_data()
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

void RunlogFilesTest::bordersDoNotMatter()
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
void RunlogFilesTest::everyBorder()
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

void RunlogFilesTest::threadsDoNotMatter()
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

void RunlogFilesTest::severalFiles()
{
    const std::vector<fs::path> paths{
        write("b.log", "phase=forward step=1 peak_alloc=1GiB rank=1\nphase=eval step=1 peak_alloc=2GiB loss=1\n"),
        write("a.log", "x\nphase=warmup step=2 peak_alloc=3GiB peak_reserved=4GiB\nphase=eval step=2 peak_alloc=-1\n"),
        write("c.log", "phase=eval step=3 peak_alloc=5GiB loss=2\n")};
    const Result<Run> run = readLog(paths);
    QVERIFY(run.has_value());
    QCOMPARE(run->files, (std::vector<std::string>{paths[0].string(), paths[1].string(), paths[2].string()}));
    QCOMPARE(run->firstRecordOfFile, (std::vector<std::int64_t>{0, 2, 3}));
    QCOMPARE(run->line, (std::vector<std::uint32_t>{1, 2, 2, 1}));
    QCOMPARE(run->record(0).file, std::uint16_t{0});
    QCOMPARE(run->record(2).file, std::uint16_t{1});
    QCOMPARE(run->record(3).file, std::uint16_t{2});
    QCOMPARE(run->phaseNames[run->phase[1]], std::string("eval"));
    QCOMPARE(run->phaseNames[run->phase[2]], std::string("warmup"));
    QCOMPARE(run->phase[3], run->phase[1]);
    QCOMPARE(run->reservedBytes,
             (std::vector<std::int64_t>{Run::noReserved, Run::noReserved, 4LL << 30, Run::noReserved}));
    QCOMPARE(run->loss.records, (std::vector<std::uint32_t>{1, 3}));
    QCOMPARE(run->loss.values, (std::vector<double>{1, 2}));
    QCOMPARE(run->problems.front().english(), paths[1].string() + ":3: peak_alloc= is negative: -1");
    QCOMPARE(run->lineCount, std::int64_t{6});
}

void RunlogFilesTest::folder()
{
    write("logs/rank10.log", "phase=forward step=10 peak_alloc=1GiB\n");
    write("logs/rank2.log", "phase=forward step=2 peak_alloc=1GiB\n");
    write("logs/events.bin", std::string(5000, '\x01'));
    write("logs/.hidden", "phase=forward step=99 peak_alloc=1GiB\n");
    write("logs/empty.log", "");
    write("logs/deeper/other.log", "phase=forward step=99 peak_alloc=1GiB\n");
    const Result<Run> run = read(path("logs"));
    QVERIFY(run.has_value());
    QCOMPARE(run->step, (std::vector<std::uint32_t>{2, 10}));
    QCOMPARE(run->problemCount, std::int64_t{2});
    QCOMPARE(run->problems[0].english(), path("logs/empty.log").string() + ": the file is empty");
    QCOMPARE(run->problems[1].english(), path("logs/events.bin").string() + ": the file holds binary data, not text");
}

void RunlogFilesTest::naturalOrder_data()
{
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<QByteArray>("second");
    QTest::newRow("numbers") << QByteArray("rank2.log") << QByteArray("rank10.log");
    QTest::newRow("zeros") << QByteArray("rank02.log") << QByteArray("rank10.log");
    QTest::newRow("equal numbers") << QByteArray("rank02.log") << QByteArray("rank2.log");
    QTest::newRow("letters") << QByteArray("a10") << QByteArray("b2");
    QTest::newRow("prefix") << QByteArray("rank") << QByteArray("rank0");
    QTest::newRow("two numbers") << QByteArray("node1_rank10") << QByteArray("node2_rank1");
    QTest::newRow("beyond 64 bits") << QByteArray("9") << QByteArray("99999999999999999999999999");
    QTest::newRow("zero alone") << QByteArray("a0b") << QByteArray("a1b");
}

void RunlogFilesTest::naturalOrder()
{
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, second);
    QVERIFY(naturallyLess(first.toStdString(), second.toStdString()));
    QVERIFY(!naturallyLess(second.toStdString(), first.toStdString()));
    QVERIFY(!naturallyLess(first.toStdString(), first.toStdString()));
}

void RunlogFilesTest::refused_data()
{
    QTest::addColumn<QByteArray>("what");
    QTest::addColumn<QByteArray>("sentence");
    QTest::newRow("missing") << QByteArray("missing.log") << QByteArray("there is no such file");
    QTest::newRow("empty folder") << QByteArray("folder") << QByteArray("the folder holds no files");
    QTest::newRow("named pipe") << QByteArray("pipe") << QByteArray("it is not a regular file");
    QTest::newRow("no permission") << QByteArray("secret.log") << QByteArray("reading it is not permitted");
}

void RunlogFilesTest::refused()
{
    QFETCH(QByteArray, what);
    QFETCH(QByteArray, sentence);
    if (what == "secret.log" && ::geteuid() == 0) {
        QSKIP("root may read every file");
    }
    fs::create_directory(path("folder"));
    QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
    fs::permissions(write("secret.log", "x\n"), fs::perms::none);
    const Result<Run> run = read(path(what.toStdString()));
    QVERIFY(!run.has_value());
    QCOMPARE(QByteArray::fromStdString(run.error().text.english()), sentence);
    QCOMPARE(run.error().file, path(what.toStdString()).string());
    QVERIFY(!readLog({}).has_value());
}

void RunlogFilesTest::notRead_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("sentence");
    const QByteArray record("phase=forward step=1 peak_alloc=1GiB\n");
    QTest::newRow("empty") << QByteArray() << QByteArray("the file is empty");
    QTest::newRow("xz") << QByteArray("\xfd\x37zXZ\0", 6) + record
                        << QByteArray("the file is compressed; unpack it with unxz first");
    QByteArray binary;
    for (int i = 0; i < 9000; ++i) {
        binary.append(static_cast<char>(i * 7919 >> 3));
    }
    QTest::newRow("binary") << binary << QByteArray("the file holds binary data, not text");
}

void RunlogFilesTest::notRead()
{
    QFETCH(QByteArray, content);
    QFETCH(QByteArray, sentence);
    const Result<Run> file = read(write("train.log", content.toStdString()));
    QVERIFY(file.has_value());
    const Run text = readLogText(content.toStdString(), path("train.log").string());
    for (const Run& run : {*file, text}) {
        QVERIFY(run.isEmpty());
        QCOMPARE(run.problemCount, std::int64_t{1});
        QCOMPARE(run.problems.front().line, std::int64_t{0});
        QCOMPARE(QByteArray::fromStdString(run.problems.front().text.english()), sentence);
    }
}

void RunlogFilesTest::brokenFiles_data()
{
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<int>("records");
    QTest::addColumn<int>("problems");
    QTest::newRow("values that are none") << QByteArray("broken/log/values.log") << 2 << 9;
    QTest::newRow("cut off") << QByteArray("broken/log/cut_off.log") << 2 << 1;
    QTest::newRow("truncated while open") << QByteArray("broken/log/zeros_first.log") << 2 << 0;
    QTest::newRow("ranks and colours") << QByteArray("good/log/launcher.log") << 8 << 0;
    QTest::newRow("CRLF") << QByteArray("good/log/windows.log") << 3 << 0;
}

void RunlogFilesTest::brokenFiles()
{
    QFETCH(QByteArray, file);
    const Result<Run> run = read(fs::path(HEADROOM_TEST_DATA) / file.toStdString());
    QVERIFY(run.has_value());
    QTEST(static_cast<int>(run->size()), "records");
    QTEST(static_cast<int>(run->problemCount), "problems");
}

void RunlogFilesTest::cutOffLastLine_data()
{
    QTest::addColumn<QByteArray>("last");
    QTest::addColumn<int>("records");
    QTest::addColumn<int>("notes");
    const auto row
        = [](const char* last, int records, int notes) { QTest::newRow(last) << QByteArray(last) << records << notes; };
    row("phase=forward step=12 peak_alloc=31.25GiB", 1, 0);
    row("phase=forward step=12 peak_alloc=31.25Gi", 0, 1);
    row("phase=forward step=12 peak_alloc=31.25", 0, 1);
    row("phase=forward step=12 peak_alloc=31.", 0, 1);
    row("phase=forward step=12 peak_alloc=", 0, 1);
    row("phase=forward step=12 peak_al", 0, 1);
    row("phase=forward step=", 0, 1);
    row("phase=forward peak_alloc=31.25GiB step=", 0, 1);
    row("phase=forward peak_alloc=31.25GiB st", 0, 1);
    row("step=12 peak_alloc=31.25GiB phase=", 0, 1);
    row("step=12 peak_alloc=31.25GiB phase=forw", 0, 1);
    row("step=12 peak_alloc=31.25GiB phase=forward", 1, 0);
    row("step=12 peak_alloc=31.25GiB pha", 0, 0);
    row("phase=forw", 0, 0);
    row("end", 0, 0);
}

void RunlogFilesTest::cutOffLastLine()
{
    QFETCH(QByteArray, last);
    QFETCH(int, records);
    QFETCH(int, notes);
    const Run run = readLogText("phase=forward step=11 peak_alloc=31GiB\n" + last.toStdString(), "train.log");
    QCOMPARE(static_cast<int>(run.size()), 1 + records);
    QCOMPARE(static_cast<int>(run.problemCount), notes);
    QCOMPARE(run.lineCount, std::int64_t{2});
    if (notes > 0) {
        QCOMPARE(run.problems.front().severity, Severity::Note);
        QCOMPARE(run.problems.front().english(),
                 std::string("train.log:2: the file ends inside this line; it may still be being written"));
    }
}

void RunlogFilesTest::overlongLine()
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
void RunlogFilesTest::longLinesOfProgressBars()
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
void RunlogFilesTest::truncatedWhileRead()
{
    std::string log;
    for (int i = 0; i < 40000; ++i) {
        log += "phase=forward step=" + std::to_string(i) + " peak_alloc=1GiB\n";
    }
    const fs::path file = write("train.log", log);
    for (const int threads : {1, 2}) {
        write("train.log", log);
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

void RunlogFilesTest::growsWhileRead()
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

void RunlogFilesTest::progressAndCancel()
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

void RunlogFilesTest::memoryPerRecord()
{
    std::string log;
    for (int i = 0; i < 100000; ++i) {
        log += "phase=forward step=1 rank=1 peak_alloc=1GiB peak_reserved=2GiB\n";
    }
    const Run run = readTextInPieces(log, "train.log", {});
    const auto bytes = [](const auto& column) { return column.capacity() * sizeof(column[0]); };
    const std::size_t total = bytes(run.step) + bytes(run.phase) + bytes(run.rank) + bytes(run.allocatedBytes)
        + bytes(run.reservedBytes) + bytes(run.line);
    QCOMPARE(run.size(), std::size_t{100000});
    QVERIFY2(total <= 32 * run.size(), qPrintable(QString::number(total)));
}

QTEST_APPLESS_MAIN(RunlogFilesTest)
#include "tst_runlog_files.moc"
