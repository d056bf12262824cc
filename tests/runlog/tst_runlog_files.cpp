// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_files.h"
#include "runlog/named_files.h"
#include "support/folders.h"

#include <QTest>

#include <memory>
#include <tuple>

#include <sys/stat.h>
#include <unistd.h>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

/// Logs as files: several, folders, and whatever can be wrong with them.
class RunlogFilesTest : public QObject
{
    Q_OBJECT

private slots:
    void init() { m_files = std::make_unique<NamedFiles>(); }
    void severalFiles();
    void folder();
    void naturalOrder_data();
    void naturalOrder();
    void refused_data();
    void refused();
    void notRead_data();
    void notRead();
    void zerosBehindText();
    void brokenFiles_data();
    void brokenFiles();
    void cutOffLastLine_data();
    void cutOffLastLine();
    void memoryPerRecord();

private:
    [[nodiscard]] fs::path write(const std::string& name, const std::string& content) const
    {
        return m_files->write(name, content);
    }
    [[nodiscard]] fs::path path(const std::string& name) const { return m_files->path(name); }

    std::unique_ptr<NamedFiles> m_files;
};

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
    std::ignore = write("logs/rank10.log", "phase=forward step=10 peak_alloc=1GiB\n");
    std::ignore = write("logs/rank2.log", "phase=forward step=2 peak_alloc=1GiB\n");
    std::ignore = write("logs/events.bin", std::string(5000, '\x01'));
    std::ignore = write("logs/.hidden", "phase=forward step=99 peak_alloc=1GiB\n");
    std::ignore = write("logs/empty.log", "");
    std::ignore = write("logs/deeper/other.log", "phase=forward step=99 peak_alloc=1GiB\n");
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
    QTest::newRow("letters of two bytes without a mark")
        << QByteArray("p\0h\0a\0s\0e\0=\0f\0 \0s\0t\0e\0p\0=\0001\0 \0p\0e\0a\0k\0", 36)
        << QByteArray("the file holds binary data, not text");
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

/// As a file system leaves the end of a file when the machine stops.
void RunlogFilesTest::zerosBehindText()
{
    const std::string record = "phase=forward step=1 peak_alloc=1GiB\n";
    const Result<Run> run = read(write("train.log", record + std::string(5000, '\0') + "\n" + record));
    QVERIFY(run.has_value());
    QCOMPARE(run->line, (std::vector<std::uint32_t>{1, 3}));
    QCOMPARE(run->problemCount, std::int64_t{0});
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
    const Result<Run> run = read(testData(file.toStdString()));
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
