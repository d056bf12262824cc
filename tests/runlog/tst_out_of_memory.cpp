// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/out_of_memory.h"
#include "runlog/read_log.h"

#include <QTest>

using namespace headroom;

namespace {

constexpr double gibi = 1073741824;

Bytes bytes(double value)
{
    return Bytes{static_cast<std::int64_t>(value + 0.5)};
}

} // namespace

/// What an out-of-memory message tells.
class OutOfMemoryTest : public QObject
{
    Q_OBJECT

private slots:
    void cause_data();
    void cause();
    void oldCachedIsBeyondAllocated();
    void hardWrapped();
    void otherProcesses();
    void severalOtherProcesses();
    void ownProcessInAContainer();
    void noFigure();
    void phaseOfTraceback_data();
    void phaseOfTraceback();
    void sizesOfTensors();
    void requestAlone();
    void gradientBuffers();
};

void OutOfMemoryTest::cause_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<int>("cause");
    const auto row = [](const char* name, const char* message, OutOfMemoryCause cause) {
        QTest::newRow(name) << QByteArray(message) << static_cast<int>(cause);
    };
    const char* const head = "torch.OutOfMemoryError: CUDA out of memory. ";
    const auto modern = [&](const char* rest) { return QByteArray(head) + rest; };
    row("shortage",
        modern(
            "Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 300.00 MiB is free. "
            "Including non-PyTorch memory, this process has 78.80 GiB memory in use. Of the allocated memory 77.50 GiB "
            "is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated."),
        OutOfMemoryCause::Shortage);
    row("fragmentation: what no tensor uses would do",
        modern(
            "Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.66 GiB is free. Of the "
            "allocated memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is reserved by PyTorch but unallocated."),
        OutOfMemoryCause::Fragmentation);
    row("outside: another process holds it",
        modern(
            "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.00 GiB is free. Process 77 "
            "has 40.00 GiB memory in use. Of the allocated memory 36.00 GiB is allocated by PyTorch, and 500.00 MiB is "
            "reserved by PyTorch but unallocated."),
        OutOfMemoryCause::OutsideAllocator);
    row("giant block",
        modern(
            "Tried to allocate 32.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 20.00 GiB is free. Of the "
            "allocated memory 57.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated."),
        OutOfMemoryCause::GiantBlock);
    row("limit",
        modern("Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 20.00 GiB is free. 1.05 "
               "GiB "
               "allowed; Of the allocated memory 900.00 MiB is allocated by PyTorch, and 100.00 MiB is reserved by "
               "PyTorch "
               "but unallocated."),
        OutOfMemoryCause::Limit);
    row("host", "  exitcode  : -9 (pid: 4242)", OutOfMemoryCause::Host);
    row("no sizes", "RuntimeError: CUDA error: out of memory", OutOfMemoryCause::Unknown);
}

void OutOfMemoryTest::cause()
{
    QFETCH(QByteArray, message);
    QFETCH(int, cause);
    const std::vector<OutOfMemory> list = outOfMemoryOf(readLogText((message + '\n').toStdString(), "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(static_cast<int>(list[0].cause), cause);
    QVERIFY(!list[0].meaning.english().empty());
}

void OutOfMemoryTest::oldCachedIsBeyondAllocated()
{
    const auto list = outOfMemoryOf(readLogText("RuntimeError: CUDA out of memory. Tried to allocate 1024.00 MiB (GPU "
                                                "0; 15.90 GiB total capacity; 14.25 GiB already "
                                                "allocated; 991.56 MiB free; 607.00 KiB cached)\n",
                                                "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].reserved, std::optional(bytes(14.25 * gibi + 607 * 1024)));
}

void OutOfMemoryTest::hardWrapped()
{
    const auto list = outOfMemoryOf(readLogText(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.84 GiB (GPU 1; 23.52 GiB total capacity; "
        "10.80 "
        "GiB already allocated; 496.38 MiB free; 13.06 GiB reserved in\ntotal by PyTorch) If reserved memory is >>\n",
        "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].requested, std::optional(bytes(1.84 * gibi)));
    QCOMPARE(list[0].reserved, std::optional(bytes(13.06 * gibi)));
    QCOMPARE(list[0].cause, OutOfMemoryCause::Fragmentation);
}

void OutOfMemoryTest::otherProcesses()
{
    const auto list = outOfMemoryOf(readLogText(
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 514.00 MiB. GPU 3 has a total capacity "
        "of "
        "79.10 GiB of which 287.56 MiB is free. Process 3441597 has 2.50 GiB memory in use. Including non-PyTorch "
        "memory, this "
        "process has 76.25 GiB memory in use. Of the allocated memory 70.88 GiB is allocated by PyTorch, with 572.00 "
        "MiB "
        "allocated in private pools (e.g., CUDA Graphs), and 1.43 GiB is reserved by PyTorch but unallocated.\n",
        "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].rank, 3);
    QCOMPARE(list[0].device, std::optional<std::int64_t>(3));
    QCOMPARE(list[0].otherProcesses, std::optional(bytes(2.5 * gibi)));
    QCOMPARE(list[0].process, std::optional(bytes(76.25 * gibi)));
    QCOMPARE(list[0].privatePools, std::optional(bytes(572.0 * 1048576)));
}

/// Every process of the sentence counts, on one line and over several.
void OutOfMemoryTest::severalOtherProcesses()
{
    const std::string head
        = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
          "capacity of 79.00 GiB of which 1.00 GiB is free. ";
    const std::string tail = "Including non-PyTorch memory, this process has 60.00 GiB memory in use. Of the allocated "
                             "memory 58.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but "
                             "unallocated.\n";
    const std::string first = "Process 11 has 4.00 GiB memory in use.",
                      second = "Process 12 has 6.50 GiB memory in use.",
                      third = "Process 13 has 512.00 MiB memory in use.";
    for (const char* between : {" ", "\n"}) {
        const auto list
            = outOfMemoryOf(readLogText(head + first + between + second + between + third + between + tail, "a.log"));
        QCOMPARE(list.size(), std::size_t{1});
        QCOMPARE(list[0].otherProcesses, std::optional(bytes(11 * gibi)));
        QCOMPARE(list[0].process, std::optional(bytes(60 * gibi)));
    }
}

/// There PyTorch finds its own process under the host's number only, and names it like any other. A small one is not
/// it.
void OutOfMemoryTest::ownProcessInAContainer()
{
    const std::string head = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.50 GiB. GPU 5 has a "
                             "total capacity of 79.00 "
                             "GiB of which ";
    const std::string tail = " Of the allocated memory 63.25 GiB is allocated by PyTorch, and 4.25 GiB is reserved by "
                             "PyTorch but unallocated.\n";
    const auto alone
        = outOfMemoryOf(readLogText(head + "9.25 GiB is free. Process 4021 has 69.75 GiB memory in use." + tail, "a"));
    QCOMPARE(alone.size(), std::size_t{1});
    QCOMPARE(alone[0].process, std::optional(bytes(69.75 * gibi)));
    QVERIFY(!alone[0].otherProcesses);
    const auto two = outOfMemoryOf(readLogText(
        head + "3.25 GiB is free. Process 17 has 6.00 GiB memory in use. Process 4021 has 69.75 GiB memory in use."
            + tail,
        "a"));
    QCOMPARE(two[0].otherProcesses, std::optional(bytes(6.0 * gibi)));
}

/// Windows reports 17179869184 GiB where it has no figure.
void OutOfMemoryTest::noFigure()
{
    const auto list = outOfMemoryOf(readLogText(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 8.00 "
        "GiB of "
        "which 0 bytes is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of "
        "the "
        "allocated memory 9.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n",
        "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QVERIFY(!list[0].process);
    QCOMPARE(list[0].cause, OutOfMemoryCause::Shortage);
}

void OutOfMemoryTest::phaseOfTraceback_data()
{
    QTest::addColumn<QByteArray>("frames");
    QTest::addColumn<int>("phase");
    const auto row
        = [](const char* name, const char* frames, int phase) { QTest::newRow(name) << QByteArray(frames) << phase; };
    row("forward", "  File \"/a/model.py\", line 3, in forward\n", static_cast<int>(Phase::Forward));
    row("backward",
        "  File \"/a/train.py\", line 3, in train_step\n  File \"/t/autograd/__init__.py\", line 4, in backward\n",
        static_cast<int>(Phase::Backward));
    row("recomputed forward in the backward",
        "  File \"/t/autograd/__init__.py\", line 4, in backward\n  File \"/a/model.py\", line 3, in forward\n",
        static_cast<int>(Phase::Backward));
    row("optimizer", "  File \"/t/optim/adamw.py\", line 3, in step\n", static_cast<int>(Phase::Optimizer));
    row("neither", "  File \"/a/data.py\", line 3, in load\n", -1);
}

void OutOfMemoryTest::phaseOfTraceback()
{
    QFETCH(QByteArray, frames);
    QFETCH(int, phase);
    const auto list = outOfMemoryOf(readLogText(("Traceback (most recent call last):\n" + frames
                                                 + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 "
                                                   "GiB. GPU 0 has a total capacity of 8.00 GiB of "
                                                   "which 0 bytes is free.\n")
                                                    .toStdString(),
                                                "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].phase ? static_cast<int>(*list[0].phase) : -1, phase);
}

/// 2 × 8192 tokens × 128256 words × 4 bytes = 8,405,385,216 = 4008 × 2 MiB; scores 2 × 32 × 8192² × 2 bytes = 8 GiB.
void OutOfMemoryTest::sizesOfTensors()
{
    TrainingPlan plan;
    plan.batch.micro = std::int64_t{2};
    plan.batch.seq = std::int64_t{8192};
    plan.model.vocab = std::int64_t{128256};
    plan.model.heads = std::int64_t{32};
    const std::vector<Text> logits = blocksOfSize(bytes(8405385216), plan);
    QCOMPARE(logits.size(), std::size_t{1});
    QVERIFY(logits[0].english().find("logits in 32 bits") != std::string::npos);
    const std::vector<Text> scores = blocksOfSize(bytes(8 * gibi), plan);
    QCOMPARE(scores.size(), std::size_t{1});
    QVERIFY(scores[0].english().find("scores in 16 bits") != std::string::npos);
    QVERIFY(blocksOfSize(bytes(3 * gibi), plan).empty());
}

/// What is asked for, without what is allocated, is told as far as it goes.
void OutOfMemoryTest::requestAlone()
{
    const Run run
        = readLogText("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 KiB. GPU 3 "
                      "has a total capacity of 79.11 GiB of which 0.25 GiB is free.\n",
                      "a.log");
    const std::vector<OutOfMemory> all = outOfMemoryOf(run);
    QCOMPARE(all.size(), std::size_t{1});
    QCOMPARE(all[0].cause, OutOfMemoryCause::Unknown);
    QCOMPARE(all[0].meaning.english(),
             std::string("512.0 KiB were asked for. The message does not say how much was "
                         "allocated, so the cause stays open."));
}

/// 1,132,938,240 parameters of a rank in 32 bits are 4321.8 MiB, which PyTorch rounds up to 4322 MiB: 4.22 GiB.
void OutOfMemoryTest::gradientBuffers()
{
    const Run run = readLogText(
        " > number of parameters on (tensor, pipeline) model parallel rank (3, 2): 1132938240\n", "a.log");
    const std::vector<LogParameters> parameters = parametersOf(run);
    const auto found = [&](double gib) { return buffersOfSize(bytesFrom(gib * 0x1p30), parameters); };
    QCOMPARE(found(4.22).size(), std::size_t{1});
    QCOMPARE(found(4.22)[0].english(),
             std::string("a gradient buffer in 32 bits of the 1,132,938,240 parameters the log names"));
    QCOMPARE(found(2.11)[0].english(),
             std::string("a gradient buffer in 16 bits of the 1,132,938,240 parameters the log names"));
    QVERIFY(found(4.3).empty());
    QVERIFY(found(4.2).empty());
}

QTEST_APPLESS_MAIN(OutOfMemoryTest)
#include "tst_out_of_memory.moc"
