// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/followed_log.h"
#include "runlog/followed_logs.h"
#include "runlog/out_of_memory.h"
#include "runlog/read_log.h"
#include "runlog/written_log.h"

#include <QTemporaryDir>
#include <QTest>

using namespace headroom;
using namespace headroom::test;

namespace {

namespace fs = std::filesystem;

} // namespace

/// A log that is still written: it grows, is cut off, begins anew or makes way for another.
class FollowedLogTest : public QObject
{
    Q_OBJECT

private slots:
    void grows();
    void halfLine();
    void truncated();
    void rewrittenLonger();
    void replaced();
    void halfLineOfReplaced();
    void gigabyteInChunks();
    void comesLater();
    void blockOverSeveralPolls();
    void openBlockIsInSight();
    void manyLines();
    void endsAsReadWhole();
};

void FollowedLogTest::grows()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, lines(1, 3));
    FollowedLog log(file);
    auto change = log.poll();
    QVERIFY(change);
    QCOMPARE(log.run().size(), std::size_t{3});
    QVERIFY(log.poll()->isEmpty);
    append(file, lines(4, 5));
    change = log.poll();
    QCOMPARE(change->firstRecord, std::size_t{3});
    QVERIFY(!change->isEmpty && !change->startedAnew);
    QCOMPARE(log.run().step, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
    QCOMPARE(log.run().line, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
}

/// The writer is killed in the middle of a line, and another goes on.
void FollowedLogTest::halfLine()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, line(1) + "phase=forward step=2 peak_alloc=1");
    FollowedLog log(file);
    QVERIFY(log.poll());
    QVERIFY(log.poll());
    QCOMPARE(log.run().size(), std::size_t{1});
    append(file, "2GiB\n" + line(3));
    QVERIFY(log.poll());
    QCOMPARE(log.run().step, (std::vector<std::uint32_t>{1, 2, 3}));
    QCOMPARE(log.run().allocatedBytes[1], std::int64_t{12} << 30);
    QCOMPARE(log.run().line, (std::vector<std::uint32_t>{1, 2, 3}));
}

void FollowedLogTest::truncated()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, lines(1, 5));
    FollowedLog log(file);
    QVERIFY(log.poll());
    write(file, lines(10, 11));
    const auto change = log.poll();
    QVERIFY(change && change->startedAnew);
    QCOMPARE(log.run().step, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 10, 11}));
    QCOMPARE(log.run().line.back(), 2U);
    QCOMPARE(log.run().files.size(), std::size_t{2});
}

/// Truncated and grown beyond its old size between two looks: the size alone does not tell.
void FollowedLogTest::rewrittenLonger()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, lines(1, 2));
    FollowedLog log(file);
    QVERIFY(log.poll());
    write(file, lines(5, 9));
    const auto change = log.poll();
    QVERIFY(change && change->startedAnew);
    QCOMPARE(log.run().step, (std::vector<std::uint32_t>{1, 2, 5, 6, 7, 8, 9}));
}

/// Rotation: what was still written to the old file is not lost.
void FollowedLogTest::replaced()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, lines(1, 2));
    FollowedLog log(file);
    QVERIFY(log.poll());
    append(file, line(3));
    fs::rename(file, file.string() + ".1");
    QVERIFY(log.poll()); // between the two there is no file
    write(file, lines(4, 5));
    QVERIFY(log.poll());
    QVERIFY(log.poll());
    QCOMPARE(log.run().step, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
    QCOMPARE(log.run().line, (std::vector<std::uint32_t>{1, 2, 3, 1, 2}));
}

/// What stood behind the last line feed of the old file is not lost: it is what opening the file would show.
void FollowedLogTest::halfLineOfReplaced()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    const std::string half = "phase=forward step=2 peak_alloc=12GiB ";
    write(file, line(1));
    FollowedLog log(file);
    QVERIFY(log.poll());
    append(file, half);
    QVERIFY(log.poll());
    QCOMPARE(log.run().size(), std::size_t{1});
    fs::rename(file, file.string() + ".1");
    write(file, lines(3, 4));
    QVERIFY(log.poll());
    QVERIFY(log.poll());
    const Run plain = readLogText(line(1) + half, "train.log");
    QCOMPARE(plain.step, (std::vector<std::uint32_t>{1, 2}));
    QCOMPARE(log.run().step, (std::vector<std::uint32_t>{1, 2, 3, 4}));
    QCOMPARE(log.run().line, (std::vector<std::uint32_t>{1, 2, 1, 2}));
    QCOMPARE(log.run().allocatedBytes[1], plain.allocatedBytes[1]);
    QCOMPARE(log.run().lineCount, std::int64_t{4});
}

/// 1 GiB comes in chunks of a size that no piece has, almost nothing of it on the disk.
void FollowedLogTest::gigabyteInChunks()
{
    constexpr std::uintmax_t chunk = (64 << 20) + 12345;
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, "");
    FollowedLog log(file);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t step = 1; step <= 16; ++step) {
        fs::resize_file(file, fs::file_size(file) + chunk);
        append(file, "\n" + line(static_cast<int>(step)));
        expected.push_back(step);
        QVERIFY(log.poll());
    }
    QVERIFY(log.poll());
    QVERIFY(fs::file_size(file) > std::uintmax_t{1} << 30);
    QCOMPARE(log.run().step, expected);
    QCOMPARE(log.run().line.back(), 32U);
    QCOMPARE(log.run().lineCount, std::int64_t{32});
}

void FollowedLogTest::comesLater()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    FollowedLog log(file);
    QVERIFY(log.poll());
    QCOMPARE(log.run().size(), std::size_t{0});
    write(file, "");
    QVERIFY(log.poll());
    append(file, line(1));
    QVERIFY(log.poll());
    QCOMPARE(log.run().size(), std::size_t{1});
    QCOMPARE(log.run().line[0], 1U);
}

/// The values of an OLMo step are lines below its head, which may be written later.
void FollowedLogTest::blockOverSeveralPolls()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, line(1) + "[step=2/10]\n");
    FollowedLog log(file);
    QVERIFY(log.poll());
    append(file, "    System/Peak GPU Memory (MB)=2\n");
    QVERIFY(log.poll());
    QVERIFY(log.poll()); // at rest: the block is whole
    QCOMPARE(log.run().size(), std::size_t{2});
    QCOMPARE(log.run().allocatedBytes[1], std::int64_t{2000000});
    QCOMPARE(log.run().line[1], 2U);
}

/// What may still go on is in sight at once, and neither lost nor doubled once it is known to be whole.
void FollowedLogTest::openBlockIsInSight()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    write(file, line(1));
    FollowedLog log(file);
    QVERIFY(log.poll());
    QVERIFY(!log.runWithOpenBlock());
    append(
        file,
        line(2)
            + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
              "79.00 GiB of which 1.00 GiB is free. Of the allocated memory 76.00 GiB is allocated by PyTorch, and "
              "1.00 GiB is reserved by PyTorch but unallocated.\n");
    QVERIFY(log.poll());
    QCOMPARE(log.run().size(), std::size_t{2});
    QVERIFY(outOfMemoryOf(log.run()).empty()); // more of it may come
    const std::optional<Run> open = log.runWithOpenBlock();
    QVERIFY(open);
    QCOMPARE(open->size(), std::size_t{2});
    QCOMPARE(outOfMemoryOf(*open).size(), std::size_t{1});
    QCOMPARE(outOfMemoryOf(*open).front().line, std::int64_t{3});
    QCOMPARE(open->lineCount, std::int64_t{3});
    const auto whole = readLog(std::array<fs::path, 1>{file});
    QVERIFY(whole);
    QCOMPARE(open->byteCount, whole->byteCount);
    FollowedLogs all({file}); // as the window follows it
    QVERIFY(all.poll());
    QCOMPARE(outOfMemoryOf(all.run()).size(), std::size_t{1});
    QVERIFY(all.poll());
    QCOMPARE(outOfMemoryOf(all.run()).size(), std::size_t{1});
    QVERIFY(log.poll()); // at rest
    QVERIFY(!log.runWithOpenBlock());
    QCOMPARE(outOfMemoryOf(log.run()).size(), std::size_t{1});
    append(file, line(4));
    QVERIFY(log.poll());
    QCOMPARE(log.run().step, (std::vector<std::uint32_t>{1, 2, 4}));
    QCOMPARE(log.run().line.back(), 4U);
}

/// Nothing lost and nothing doubled over many small writes that end anywhere.
void FollowedLogTest::manyLines()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    const std::string text = lines(1, 2000);
    write(file, "");
    FollowedLog log(file);
    std::size_t at = 0;
    for (std::size_t i = 0; at < text.size(); ++i) {
        const std::size_t size = 1 + i * 7919 % 3000;
        append(file, text.substr(at, size));
        at += size;
        QVERIFY(log.poll());
    }
    QVERIFY(log.poll());
    QCOMPARE(log.run().size(), std::size_t{2000});
    for (std::size_t i = 0; i < 2000; ++i) {
        QCOMPARE(log.run().step[i], static_cast<std::uint32_t>(i + 1));
        QCOMPARE(log.run().line[i], static_cast<std::uint32_t>(i + 1));
    }
}

/// What only a whole log tells is the same for one that was followed: here the phases that DeepSpeed's lines imply.
void FollowedLogTest::endsAsReadWhole()
{
    QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "train.log";
    std::string text;
    for (int step = 1; step <= 3; ++step) {
        for (const char* place : {"Before forward", "After forward", "Before backward", "After backward"}) {
            text += std::string("[INFO] [utils.py:802:see_memory_usage] ") + place
                + "\n[INFO] [utils.py:803:see_memory_usage] MA 1.5 GB         Max_MA " + std::to_string(step)
                + ".25 GB         CA 4.0 GB         Max_CA 5 GB\n";
        }
    }
    for (const std::size_t size : {std::size_t{1}, std::size_t{37}, std::size_t{400}}) {
        write(file, "");
        FollowedLog log(file);
        for (std::size_t at = 0; at < text.size(); at += size) {
            append(file, text.substr(at, size));
            QVERIFY(log.poll());
        }
        QVERIFY(log.poll());
        QVERIFY(log.poll());
        Run followed = log.run();
        conclude(followed);
        const Run whole = readLogText(text, file.string());
        QVERIFY(whole.size() > 0 && !whole.inferences.empty());
        QVERIFY(followed.inferences == whole.inferences);
        QCOMPARE(followed.phase, whole.phase);
        QCOMPARE(followed.step, whole.step);
        QCOMPARE(followed.line, whole.line);
        QCOMPARE(followed.allocatedBytes, whole.allocatedBytes);
        fs::remove(file);
    }
}

QTEST_APPLESS_MAIN(FollowedLogTest)
#include "tst_followed_log.moc"
