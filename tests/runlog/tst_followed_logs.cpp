// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/followed_logs.h"
#include "runlog/read_log.h"
#include "runlog/written_events.h"
#include "runlog/written_log.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

using namespace headroom;
using namespace headroom::test;

namespace {

namespace fs = std::filesystem;
constexpr int ranks = 4;

/// Amounts that name rank and step, so that no two records of a test are alike.
std::string records(int rank, int first, int last)
{
    std::string text;
    for (int step = first; step <= last; ++step) {
        text += "phase=backward step=" + std::to_string(step)
            + " peak_alloc=" + std::to_string(1000000 + rank * 100000 + step) + "B\n";
    }
    return text;
}

using RecordKey = std::tuple<std::int32_t, std::int64_t, std::int64_t>; // rank, step, bytes

std::vector<RecordKey> sorted(const Run& run)
{
    std::vector<RecordKey> keys;
    for (std::size_t i = 0; i < run.size(); ++i) {
        const Record record = run.record(i);
        keys.emplace_back(record.rank, record.step, record.allocated.value);
    }
    std::ranges::sort(keys);
    return keys;
}

std::vector<RecordKey> expected(std::array<int, ranks> last)
{
    std::vector<RecordKey> keys;
    for (int rank = 0; rank < ranks; ++rank) {
        for (int step = 1; step <= last[static_cast<std::size_t>(rank)]; ++step) {
            keys.emplace_back(rank, step, 1000000 + rank * 100000 + step);
        }
    }
    return keys;
}

} // namespace

/// A folder of per-rank files that are still written.
class FollowedLogsTest : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void smallWrites();
    void writerKilled();
    void truncated();
    void replaced_data();
    void replaced();
    void renamedWriterGoesOn();
    void copiedAndTruncated();
    void muchIsAppended();
    void filesComeLater();
    void packedFileIsReadOnce();
    void eventFileGrows();
    void oneFileOfAFolderCannotBeRead();
    void thousandRanks();

private:
    [[nodiscard]] fs::path file(int rank) const { return m_path / ("rank" + std::to_string(rank) + ".log"); }
    void writeRanks(int last) const;
    [[nodiscard]] Run fresh() const { return readLog(std::array{m_path}).value_or(Run{}); }
    /// All of the Run is what opening the folder shows.
    void compareWithFresh(const FollowedLogs& logs) const;

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_path;
};

void FollowedLogsTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_path = m_folder->path().toStdString();
}

void FollowedLogsTest::writeRanks(int last) const
{
    for (int rank = 0; rank < ranks; ++rank) {
        write(file(rank), records(rank, 1, last));
    }
}

void FollowedLogsTest::compareWithFresh(const FollowedLogs& logs) const
{
    const Run followed = logs.run();
    const Run read = fresh();
    QCOMPARE(followed.files, read.files);
    QCOMPARE(followed.firstRecordOfFile, read.firstRecordOfFile);
    QCOMPARE(followed.firstStepOfFile, read.firstStepOfFile);
    QCOMPARE(followed.formats, read.formats);
    QCOMPARE(followed.phaseNames, read.phaseNames);
    QCOMPARE(followed.step, read.step);
    QCOMPARE(followed.phase, read.phase);
    QCOMPARE(followed.rank, read.rank);
    QCOMPARE(followed.allocatedBytes, read.allocatedBytes);
    QCOMPARE(followed.reservedBytes, read.reservedBytes);
    QCOMPARE(followed.line, read.line);
    QCOMPARE(followed.loss.records, read.loss.records);
    QCOMPARE(followed.loss.values, read.loss.values);
    QCOMPARE(followed.deviceBytes.records, read.deviceBytes.records);
    QCOMPARE(followed.steps.step, read.steps.step);
    QCOMPARE(followed.steps.line, read.steps.line);
    QCOMPARE(followed.facts.size(), read.facts.size());
    for (std::size_t i = 0; i < read.facts.size(); ++i) {
        QCOMPARE(followed.facts[i].format, read.facts[i].format);
        QCOMPARE(followed.facts[i].file, read.facts[i].file);
        QCOMPARE(followed.facts[i].rank, read.facts[i].rank);
        QCOMPARE(followed.facts[i].line, read.facts[i].line);
    }
    QVERIFY(followed.inferences == read.inferences);
    QCOMPARE(followed.problemCount, read.problemCount);
    QCOMPARE(followed.lineCount, read.lineCount);
    QCOMPARE(followed.byteCount, read.byteCount);
}

/// Different formats on different ranks, in writes that end anywhere.
void FollowedLogsTest::smallWrites()
{
    std::array<std::string, ranks> texts;
    for (int step = 1; step <= 300; ++step) {
        const std::string number = std::to_string(step);
        texts[0] += records(0, step, step);
        texts[1] += "rank=1 phase=eval step=" + number + " peak_alloc=3GiB peak_reserved=4GiB loss=1.5\n";
        texts[2] += "[Rank 2] (after " + number + " iterations) memory (MB) | allocated: 1.0 | max allocated: " + number
            + ".0 | reserved: 1.0 | max reserved: 9.0\n" + " iteration " + number
            + "/ 1000 | elapsed time per iteration (ms): 20.0 | lm loss: 1.0E+00 |\n";
        texts[3]
            += "step=" + number + " phase=forward peak_alloc=oops\nphase=warmup step=" + number + " peak_alloc=1GiB\n";
    }
    texts[2]
        += "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity "
           "of 79.15 GiB of which 1.00 GiB is free. Process 7 has 78.00 GiB memory in use. Of the allocated memory "
           "70.00 GiB is allocated by PyTorch, and 5.00 GiB is reserved by PyTorch but unallocated.\n";
    FollowedLogs logs({m_path});
    std::array<std::size_t, ranks> at{};
    for (std::size_t i = 0; i < 4000; ++i) {
        const std::size_t rank = i * 7 % ranks;
        const std::string& text = texts[rank];
        const std::size_t size = std::min(text.size() - at[rank], i * 7919 % 200);
        append(file(static_cast<int>(rank)), text.substr(at[rank], size));
        at[rank] += size;
        QVERIFY(logs.poll());
    }
    QVERIFY(logs.poll());
    QVERIFY(logs.poll());
    QVERIFY(!*logs.poll());
    QVERIFY(at[2] == texts[2].size() && at[1] == texts[1].size());
    compareWithFresh(logs);
    QCOMPARE(fresh().size(), std::size_t{300 * 4});
}

void FollowedLogsTest::writerKilled()
{
    writeRanks(3);
    append(file(2), "phase=backward step=4 peak_al");
    FollowedLogs logs({m_path});
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected({3, 3, 3, 3}));
    append(file(0), records(0, 4, 6));
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected({6, 3, 3, 3}));
    append(file(2), "\n" + records(2, 4, 5)); // the writer is started again
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected({6, 3, 5, 3}));
    compareWithFresh(logs);
}

void FollowedLogsTest::truncated()
{
    writeRanks(5);
    FollowedLogs logs({m_path});
    QVERIFY(logs.poll());
    write(file(1), records(1, 6, 7));
    append(file(3), records(3, 6, 6));
    QVERIFY(*logs.poll());
    QCOMPARE(sorted(logs.run()), expected({5, 7, 5, 6}));
    QVERIFY(!*logs.poll());
    QCOMPARE(logs.run().line[logs.run().size() - 12], 2U); // of the new content: lines count from 1
    append(file(1), records(1, 8, 8));
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected({5, 8, 5, 6}));
}

void FollowedLogsTest::replaced_data()
{
    QTest::addColumn<bool>("looksBetween");
    QTest::addColumn<bool>("oldStays");
    QTest::addColumn<bool>("endsInsideLine");
    QTest::newRow("renamed in the folder, at once") << false << true << false;
    QTest::newRow("renamed in the folder, seen") << true << true << false;
    QTest::newRow("renamed in the folder with half a line") << false << true << true;
    QTest::newRow("moved away, at once") << false << false << false;
    QTest::newRow("moved away, seen") << true << false << false;
}

/// Rename and recreate: under its new name the old file is not read again.
void FollowedLogsTest::replaced()
{
    QFETCH(const bool, looksBetween);
    QFETCH(const bool, oldStays);
    QFETCH(const bool, endsInsideLine);
    QTemporaryDir elsewhere;
    writeRanks(4);
    FollowedLogs logs({m_path});
    QVERIFY(logs.poll());
    append(file(1), records(1, 5, 6) + (endsInsideLine ? "[2026-01-05 10:00:" : ""));
    fs::rename(file(1), oldStays ? m_path / "rank1.log.1" : fs::path(elsewhere.path().toStdString()) / "old");
    if (looksBetween) {
        QVERIFY(logs.poll());
        QVERIFY(logs.poll());
    }
    write(file(1), records(1, 7, 9));
    QVERIFY(logs.poll());
    QVERIFY(logs.poll());
    append(file(1), records(1, 10, 10));
    append(file(0), records(0, 5, 5));
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected({5, 10, 4, 4}));
    if (oldStays) {
        QCOMPARE(sorted(logs.run()), sorted(fresh()));
        QCOMPARE(logs.run().lineCount, fresh().lineCount);
    }
}

/// A process that keeps its file open writes on under the new name.
void FollowedLogsTest::renamedWriterGoesOn()
{
    writeRanks(4);
    FollowedLogs logs({m_path});
    QVERIFY(logs.poll());
    std::ofstream writer(file(1), std::ios::binary | std::ios::app);
    fs::rename(file(1), m_path / "rank1.log.1");
    writer << records(1, 5, 5) << std::flush;
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected({4, 5, 4, 4}));
    write(file(1), records(1, 8, 9));
    QVERIFY(logs.poll());
    writer << records(1, 6, 7) << std::flush;
    QVERIFY(logs.poll());
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected({4, 9, 4, 4}));
    QCOMPARE(sorted(logs.run()), sorted(fresh()));
    const Run run = logs.run();
    const auto six
        = static_cast<std::size_t>(std::ranges::find(run.allocatedBytes, 1100006) - run.allocatedBytes.begin());
    QCOMPARE(run.line[six], 6U);
}

/// As logrotate's copytruncate does: what the copy has and was not read before comes from the copy.
void FollowedLogsTest::copiedAndTruncated()
{
    writeRanks(40);
    FollowedLogs logs({m_path});
    QVERIFY(logs.poll());
    append(file(1), records(1, 41, 42));
    fs::copy_file(file(1), m_path / "rank1.log-1");
    write(file(1), records(1, 43, 44));
    for (int i = 0; i < 3; ++i) {
        QVERIFY(logs.poll());
    }
    QCOMPARE(sorted(logs.run()), expected({40, 44, 40, 40}));
    QCOMPARE(sorted(logs.run()), sorted(fresh()));
}

/// 4 x 32 MiB in uneven pieces, ranks in turn.
void FollowedLogsTest::muchIsAppended()
{
    constexpr std::size_t size = 32 << 20;
    std::string chatter;
    for (int i = 0; i < 40; ++i) {
        chatter += "[2026-01-05 10:00:00,123] [INFO] a line of a data loader that says nothing about memory\n";
    }
    FollowedLogs logs({m_path});
    std::array<int, ranks> last{};
    bool isLarge = false;
    for (int round = 0; !isLarge; ++round) {
        isLarge = true;
        for (int rank = 0; rank < ranks; ++rank) {
            std::string piece;
            int& step = last[static_cast<std::size_t>(rank)];
            const std::size_t wanted = static_cast<std::size_t>(1 + (round * 5 + rank) % 4) << 20U;
            while (piece.size() < wanted) {
                ++step;
                piece += records(rank, step, step) + chatter;
            }
            append(file(rank), piece);
            isLarge = isLarge && fs::file_size(file(rank)) >= size;
        }
        QVERIFY(logs.poll());
    }
    QVERIFY(logs.poll());
    QCOMPARE(sorted(logs.run()), expected(last));
    compareWithFresh(logs);
}

void FollowedLogsTest::filesComeLater()
{
    FollowedLogs logs({m_path / "later"});
    QVERIFY(!*logs.poll());
    m_path /= "later";
    fs::create_directory(m_path);
    QVERIFY(!*logs.poll());
    write(file(3), records(3, 1, 2));
    QVERIFY(*logs.poll());
    write(file(0), "");
    QVERIFY(logs.poll());
    append(file(0), records(0, 1, 3));
    QVERIFY(*logs.poll());
    QCOMPARE(sorted(logs.run()), expected({3, 0, 0, 2}));
    compareWithFresh(logs);
}

/// UTF-16, as PowerShell writes it; when it grows it is read again, and what it holds stands there once.
void FollowedLogsTest::packedFileIsReadOnce()
{
    const auto utf16 = [](const std::string& text) {
        std::string bytes;
        for (const char c : text) {
            bytes += {c, '\0'};
        }
        return bytes;
    };
    write(file(0), "\xff\xfe" + utf16(records(0, 1, 3)));
    write(file(1), records(1, 1, 2));
    FollowedLogs logs({m_path});
    QVERIFY(*logs.poll());
    QVERIFY(!*logs.poll());
    compareWithFresh(logs);
    append(file(0), utf16(records(0, 4, 5)));
    QVERIFY(*logs.poll());
    QCOMPARE(logs.files().front().firstNew, std::size_t{3});
    QCOMPARE(sorted(logs.run()), expected({5, 2, 0, 0}));
}

void FollowedLogsTest::eventFileGrows()
{
    const fs::path events = m_path / "events.out.tfevents.1";
    write(events,
          framed(std::string("\x1a\x0d") + "brain.Event:2") + scalarEvent(1, "mem-max-allocated-bytes", 1024.0F));
    FollowedLogs logs({m_path});
    QVERIFY(*logs.poll());
    QCOMPARE(logs.run().size(), std::size_t{1});
    append(events, scalarEvent(2, "mem-max-allocated-bytes", 2048.0F));
    QVERIFY(*logs.poll());
    QCOMPARE(logs.run().step, (std::vector<std::uint32_t>{1, 2}));
    QCOMPARE(logs.files().front().firstNew, std::size_t{1});
    compareWithFresh(logs);
}

/// What is no text is told as when the folder is opened, and the others go on.
void FollowedLogsTest::oneFileOfAFolderCannotBeRead()
{
    writeRanks(2);
    std::string rubbish;
    for (int i = 0; i < 5000; ++i) {
        rubbish += static_cast<char>(1 + i % 6);
    }
    write(file(3), rubbish);
    FollowedLogs logs({m_path});
    QVERIFY(logs.poll());
    compareWithFresh(logs);
    append(file(0), records(0, 3, 3));
    QVERIFY(*logs.poll());
    compareWithFresh(logs);
    QCOMPARE(logs.run().problemCount, std::int64_t{1});
}

/// More files than a process may have open by default.
void FollowedLogsTest::thousandRanks()
{
    for (int rank = 0; rank < 1200; ++rank) {
        write(file(rank), line(1, rank + 1));
    }
    FollowedLogs logs({m_path});
    QVERIFY(*logs.poll());
    QCOMPARE(logs.run().size(), std::size_t{1200});
    append(file(1199), line(2));
    QVERIFY(*logs.poll());
    QCOMPARE(logs.run().size(), std::size_t{1201});
    QCOMPARE(logs.run().rank.back(), std::int16_t{1199});
}

QTEST_APPLESS_MAIN(FollowedLogsTest)
#include "tst_followed_logs.moc"
