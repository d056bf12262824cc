// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/event_file.h"
#include "runlog/log_files.h"
#include "runlog/read_log.h"
#include "runlog/unpack.h"
#include "runlog/written_events.h"
#include "runlog/written_log.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <zlib.h>
#include <zstd.h>

#include <bit>
#include <fstream>

#include <sys/resource.h>

using namespace headroom;
using namespace headroom::test;

namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uintmax_t sparseBytes = std::uintmax_t{1} << 30;
#else
constexpr std::uintmax_t sparseBytes = std::uintmax_t{10} << 30;
#endif

std::string gzip(const std::string& text)
{
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::string zstd(const std::string& text)
{
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    return packed;
}

std::string utf16(const std::string& ascii, bool bigEndian)
{
    std::string text = bigEndian ? "\xfe\xff" : "\xff\xfe";
    for (const char c : ascii) {
        text += bigEndian ? std::string{'\0', c} : std::string{c, '\0'};
    }
    return text;
}

Result<Run> read(const fs::path& path)
{
    const std::array<fs::path, 1> paths{path};
    return readLog(paths);
}

} // namespace

/// Where the bytes of logs come from: packed files, folders of ranks, event files, captures.
class LogSourcesTest : public QObject
{
    Q_OBJECT

private slots:
    void packed_data();
    void packed();
    void severalMembers();
    void cutOffArchive();
    void bomb();
    void rankOfName_data();
    void rankOfName();
    void folderOfRanks();
    void manyRankFiles();
    void sparseFile();

    void checksum();
    void events();
    void damagedEvent();
    void damagedLength();
    void capturesAsFiles();
};

void LogSourcesTest::packed_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const std::string text = lines(1, 500);
    QTest::newRow("gzip") << QByteArray::fromStdString(gzip(text));
    QTest::newRow("zstd") << QByteArray::fromStdString(zstd(text));
    QTest::newRow("UTF-16 little endian") << QByteArray::fromStdString(utf16(text, false));
    QTest::newRow("UTF-16 big endian") << QByteArray::fromStdString(utf16(text, true));
    QTest::newRow("UTF-16 with CRLF")
        << QByteArray::fromStdString(utf16(text, false)).replace(QByteArray("\n\0", 2), QByteArray("\r\0\n\0", 4));
}

void LogSourcesTest::packed()
{
    QFETCH(QByteArray, bytes);
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log.x";
    write(file, bytes.toStdString());
    const Result<Run> run = read(file);
    QVERIFY2(run, run ? "" : run.error().english().c_str());
    QCOMPARE(run->size(), std::size_t{500});
    QCOMPARE(run->line.back(), 500U);
    QVERIFY(run->problems.empty());
}

void LogSourcesTest::severalMembers()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log.gz";
    write(file, gzip(lines(1, 10)) + gzip(lines(11, 20)));
    const Result<Run> run = read(file);
    QVERIFY(run);
    QCOMPARE(run->size(), std::size_t{20});
    write(file, zstd(lines(1, 10)) + zstd(lines(11, 20)));
    QCOMPARE(read(file)->size(), std::size_t{20});
}

/// What could be unpacked is read, and a problem says that it is not all.
void LogSourcesTest::cutOffArchive()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log.gz";
    for (const std::string& whole : {gzip(lines(1, 20000)), zstd(lines(1, 200000))}) {
        write(file, whole.substr(0, whole.size() / 2));
        const Result<Run> run = read(file);
        QVERIFY(run);
        QVERIFY(run->size() > 0);
        QVERIFY(!run->problems.empty());
    }
}

void LogSourcesTest::bomb()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "bomb.gz";
    write(file, gzip(std::string(8 << 20, 'a')));
    const Result<Unpacked> bySize = unpack(file.string(), Packing::Gzip, {.bytes = 1 << 20});
    QVERIFY(bySize && bySize->problem);
    QVERIFY(bySize->size <= 1 << 20);
    const Result<Unpacked> byRatio = unpack(file.string(), Packing::Gzip, {.ratio = 100, .ratioFrom = 1 << 20});
    QVERIFY(byRatio && byRatio->problem);
    QVERIFY(byRatio->size <= 4 << 20);
}

void LogSourcesTest::rankOfName_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<int>("rank");
    const auto row = [](const char* name, int rank) { QTest::newRow(name) << QByteArray(name) << rank; };
    row("rank3.log", 3);
    row("log_rank_12.txt", 12);
    row("train-rank-0007.log.gz", 7);
    row("3.log", 3);
    row("attempt_0/5/stdout.log", 5);
    row("train.log", -1);
    row("2026-01-05.log", -1);
    row("rank.log", -1);
    row("rank99999999999.log", -1);
}

void LogSourcesTest::rankOfName()
{
    QFETCH(QByteArray, name);
    QFETCH(int, rank);
    QCOMPARE(rankOfFileName(name.toStdString()), rank);
}

void LogSourcesTest::folderOfRanks()
{
    QTemporaryDir folder;
    for (int rank = 0; rank < 12; ++rank) {
        write(fs::path(folder.path().toStdString()) / ("rank" + std::to_string(rank) + ".log"), line(1, 1 + rank));
    }
    const Result<Run> run = read(folder.path().toStdString());
    QVERIFY(run);
    QCOMPARE(run->ranks().size(), std::size_t{12});
    QCOMPARE(run->rank.front(), std::int16_t{0});
    QCOMPARE(run->rank.back(), std::int16_t{11});
    QCOMPARE(run->record(*run->peak()).rank, 11);
}

/// A hundred files are one Run (10 MB each in bench_runlog; here they are small).
void LogSourcesTest::manyRankFiles()
{
    QTemporaryDir folder;
    for (int rank = 0; rank < 100; ++rank) {
        write(fs::path(folder.path().toStdString()) / ("rank" + std::to_string(rank) + ".log"), lines(1, 100));
    }
    const Result<Run> run = read(folder.path().toStdString());
    QVERIFY(run);
    QCOMPARE(run->size(), std::size_t{10000});
    QCOMPARE(run->files.size(), std::size_t{100});
    QCOMPARE(run->ranks().size(), std::size_t{100});
}

/// 10 GB of which almost nothing is on the disk, as a log has that was truncated while it was written: read, not kept.
void LogSourcesTest::sparseFile()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "sparse.log";
    write(file, "");
    fs::resize_file(file, sparseBytes);
    append(file, "\n" + lines(1, 2));
    rusage before{};
    getrusage(RUSAGE_SELF, &before);
    const Result<Run> run = read(file);
    rusage after{};
    getrusage(RUSAGE_SELF, &after);
    QVERIFY(run);
    QCOMPARE(run->step, (std::vector<std::uint32_t>{1, 2}));
    QVERIFY(after.ru_maxrss - before.ru_maxrss < 128 << 10); // KiB
}

/// The check value of CRC-32C (RFC 3720, appendix B.4: 32 bytes of zeros).
void LogSourcesTest::checksum()
{
    QCOMPARE(crc32c(std::string(32, '\0')), 0x8a9136aaU);
    QCOMPARE(crc32c("123456789"), 0xe3069283U);
}

void LogSourcesTest::events()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "events.out.tfevents.1";
    write(file,
          framed(std::string("\x1a\x0d") + "brain.Event:2") + scalarEvent(1, "mem-max-allocated-bytes", 1073741824.0F)
              + scalarEvent(1, "mem-reserved-bytes", 2147483648.0F) + scalarEvent(1, "unknown", 1)
              + scalarEvent(2, "lm loss", 2.5F));
    const Result<Run> run = read(file);
    QVERIFY2(run, run ? "" : run.error().english().c_str());
    QCOMPARE(run->size(), std::size_t{1});
    QCOMPARE(run->step[0], 1U);
    QCOMPARE(run->allocatedBytes[0], std::int64_t{1073741824});
    QCOMPARE(run->reservedBytes[0], std::int64_t{2147483648});
    QCOMPARE(run->steps.step, std::vector<std::uint32_t>{2});
    QCOMPARE(run->steps.loss, std::vector<double>{2.5});
    QCOMPARE(run->formats, std::vector<std::string>{"tensorboard.scalar"});
    QVERIFY(run->problems.empty());
}

void LogSourcesTest::damagedEvent()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "events.out.tfevents.1";
    std::string bad = scalarEvent(1, "mem-max-allocated-bytes", 1073741824.0F);
    bad[bad.size() - 8] = static_cast<char>(bad[bad.size() - 8] ^ 1); // a byte of the data
    write(file, bad + scalarEvent(2, "mem-max-allocated-bytes", 1073741824.0F));
    const Result<Run> run = read(file);
    QVERIFY(run);
    QCOMPARE(run->step, std::vector<std::uint32_t>{2});
    QCOMPARE(run->problems.size(), std::size_t{1});
    QCOMPARE(run->problems[0].line, std::int64_t{1});
}

void LogSourcesTest::damagedLength()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "events.out.tfevents.1";
    std::string bad = scalarEvent(2, "mem-max-allocated-bytes", 1073741824.0F);
    bad[9] = static_cast<char>(bad[9] ^ 1);
    write(file, scalarEvent(1, "mem-max-allocated-bytes", 1073741824.0F) + bad);
    const Result<Run> run = read(file);
    QVERIFY(run);
    QCOMPARE(run->step, std::vector<std::uint32_t>{1});
    QCOMPARE(run->problems.size(), std::size_t{1});
}

/// What only whole files tell: the columns of nvidia-smi's rows and the width of a terminal, in one Run.
void LogSourcesTest::capturesAsFiles()
{
    QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    std::string table = "index, memory.used [MiB], memory.total [MiB]\n";
    std::string broken;
    for (int i = 1; i <= 3; ++i) {
        table += "1, " + std::to_string(i * 1000) + " MiB, 81559 MiB\n";
        const std::string whole = "some prefix that is long enough to be broken by a terminal " + line(i);
        broken += whole.substr(0, 70) + '\n' + whole.substr(70);
    }
    write(root / "a.csv", table);
    write(root / "b.log", broken);
    const Result<Run> run = read(root);
    QVERIFY(run);
    QCOMPARE(run->step, (std::vector<std::uint32_t>{1, 2, 3, 1, 2, 3}));
    QCOMPARE(run->line, (std::vector<std::uint32_t>{2, 3, 4, 1, 3, 5}));
    QCOMPARE(run->deviceBytes.values, (std::vector<std::int64_t>{1000LL << 20, 2000LL << 20, 3000LL << 20}));
    QCOMPARE(run->rank.front(), std::int16_t{1});
    QCOMPARE(run->allocatedBytes.back(), std::int64_t{1} << 30);
    QCOMPARE(run->lineCount, std::int64_t{10});
    QCOMPARE(run->inferences.size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(LogSourcesTest)
#include "tst_log_sources.moc"
