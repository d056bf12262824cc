// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/read_log.h"
#include "runlog/read_pieces.h"
#include "runlog/run_text.h"

#include <QTest>

using namespace headroom;
using namespace headroom::test;

/// What whole lines of real frameworks become: records, rows of steps and facts. The traps are those of published logs.
class LogLinesTest : public QObject
{
    Q_OBJECT

private slots:
    void gluedRanks();
    void stepBeforeAndAfter();
    void messagePair();
    void coloursBetweenFields();
    void progressBarThenDict();
    void blockOfLines();
    void testLinesAreNotSteps();
    void repeatedByRay();
    void sourceCodeIsNoRecord();
    void numberStillBeingWritten();
    void iterationRows();
    void piecesDoNotMatter();
};

/// Two ranks print at once and no line end is between them.
void LogLinesTest::gluedRanks()
{
    const Run run = readLogText(
        "[Rank 7] (after 20 iterations) memory (MB) | allocated: 21633.0859375 | max allocated: 24432.009765625 | "
        "reserved: "
        "29316.0 | max reserved: 29316.0[Rank 6] (after 20 iterations) memory (MB) | allocated: 21633.0859375 | max "
        "allocated: 24432.5 | reserved: 29312.0 | max reserved: 29312.0\n",
        "train.log");
    QCOMPARE(run.size(), std::size_t{2});
    QCOMPARE(described(run, 0), expected("total", 20, 7, 1, rounded(24432.009765625 * mebi), rounded(29316 * mebi)));
    QCOMPARE(described(run, 1), expected("total", 20, 6, 1, rounded(24432.5 * mebi), rounded(29312 * mebi)));
    QCOMPARE(valueAt(run.currentBytes, 1), rounded(21633.0859375 * mebi));
    QCOMPARE(run.formats, std::vector<std::string>{"megatron.memory"});
}

/// A line without step takes that of the lines around it, as its format says.
void LogLinesTest::stepBeforeAndAfter()
{
    const Run run = readLogText(
        "(WorkerDict pid=1) Before compute_log_prob, memory allocated (GB): 4.5, memory reserved (GB): 10\n"
        "(TaskRunner pid=2) step:3 - perf/max_memory_allocated_gb:66.5 - perf/max_memory_reserved_gb:74.25\n"
        "(WorkerDict pid=1) After update_actor, memory allocated (GB): 5, memory reserved (GB): 11\n"
        " 50%|#####     | 5/10 [00:10<00:10,  2.00s/it]{'loss': 2.5, 'memory(GiB)': 8.5}\n",
        "train.log");
    QCOMPARE(run.size(), std::size_t{4});
    QCOMPARE(described(run, 0), expected("compute_log_prob", 3, -1, 1, Run::noAllocated, rounded(10 * gibi)));
    QCOMPARE(described(run, 1), expected("total", 3, -1, 2, rounded(66.5 * gibi), rounded(74.25 * gibi)));
    QCOMPARE(described(run, 2), expected("update_actor", 5, -1, 3, Run::noAllocated, rounded(11 * gibi)));
    QCOMPARE(described(run, 3), expected("total", 5, -1, 4, Run::noAllocated, rounded(8.5 * gibi)));
}

/// The message is the line before the amounts, with or without a logger's prefix; what ran before it is inferred.
void LogLinesTest::messagePair()
{
    const Run run = readLogText(
        "[2023-04-18 01:46:59,000] [INFO] [utils.py:785:see_memory_usage] Engine before backward\n"
        "[2023-04-18 01:46:59,001] [INFO] [utils.py:786:see_memory_usage] MA 1.5 GB Max_MA 2.5 GB CA 3 GB Max_CA 3 GB\n"
        "After initializing ZeRO optimizer\n"
        "MA 1.5 GB         Max_MA 2.75 GB         CA 3 GB         Max_CA 3 GB\n"
        "[2023-04-18 01:46:59,170] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=2, lr=[1e-06], mom=[]\n",
        "train.log");
    QCOMPARE(run.size(), std::size_t{2});
    QCOMPARE(described(run, 0), expected("forward", 10, -1, 2, rounded(2.5 * gibi), rounded(3 * gibi)));
    QCOMPARE(described(run, 1),
             expected("after initializing zero optimizer", 10, -1, 4, rounded(2.75 * gibi), rounded(3 * gibi)));
}

void LogLinesTest::coloursBetweenFields()
{
    const Run run = readLogText("\x1b[31mstep: 14  \x1b[32mloss:  3.24405  \x1b[38;2;180;60;0mgrad_norm:  0.8319  "
                                "\x1b[36mmemory:  9.50GiB(64.99%)  \x1b[34mtps: 7,282\x1b[39m\n",
                                "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.reservedBytes[0], rounded(9.5 * gibi));
}

/// A bar redrawn with carriage returns and the dict right behind it: the dict's step is the bar's last count.
void LogLinesTest::progressBarThenDict()
{
    const Run run
        = readLogText("\r 80%|████████  | 12/15 [14:26<00:55, 55.88s/it]\r 93%|█████████▍| 14/15 [14:26<00:55, "
                      "55.88s/it]{'loss': 1.25, 'memory/max_allocated (GiB)': '2.5'}\n",
                      "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(described(run, 0), expected("total", 14, -1, 1, rounded(2.5 * gibi)));
}

/// OLMo's values are the indented lines below the head; fms-fsdp's stand above and below.
void LogLinesTest::blockOfLines()
{
    const Run olmo = readLogText("2024\t[step=20/1000,epoch=1]\n"
                                 "    gpu_memory/GPU active mem (GiB)=50.5\n"
                                 "    gpu_memory/GPU reserved mem (GiB)=60.5\n"
                                 "    train/CrossEntropyLoss=11.5\n",
                                 "a.log");
    QCOMPARE(olmo.size(), std::size_t{1});
    QCOMPARE(described(olmo, 0), expected("total", 20, -1, 1, Run::noAllocated, rounded(60.5 * gibi)));
    QCOMPARE(valueAt(olmo.activeBytes, 0), rounded(50.5 * gibi));
    QCOMPARE(olmo.loss.values, std::vector<double>{11.5});
    const Run fms = readLogText("step: 100\nloss: 2.5\nLR: 0.0003\nreserved memory: 57466159104\n"
                                "allocated memory: 53930270720\ncurrent step time: 1.5\n",
                                "b.log");
    QCOMPARE(fms.size(), std::size_t{1});
    QCOMPARE(described(fms, 0), expected("total", 100, -1, 4, 53930270720, 57466159104));
    QCOMPARE(fms.stepSeconds.values, std::vector<float>{1.5F});
}

/// torchvision prints its evaluation with the same words.
void LogLinesTest::testLinesAreNotSteps()
{
    const Run run = readLogText("Test:  [  20/100]  eta: 0:00:36    time: 0.11  data: 0.10  max mem: 20009\n", "a.log");
    QCOMPARE(run.size(), std::size_t{0});
}

/// Ray hides the same line of other workers behind a count.
void LogLinesTest::repeatedByRay()
{
    const Run run
        = readLogText("(WorkerDict pid=55154) Before critic FSDP, memory allocated (GB): 0.5, memory reserved (GB): "
                      "1.0 [repeated 7x across cluster]\n",
                      "a.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(valueAt(run.currentBytes, 0), rounded(0.5 * gibi));
}

/// modded-nanogpt prints its own source, and people paste code.
void LogLinesTest::sourceCodeIsNoRecord()
{
    const Run run = readLogText(
        "print(f\"peak memory allocated: {torch.cuda.max_memory_allocated() // 1024 // 1024} MiB \"\n"
        "    f\"[Rank {rank}] (after {iteration} iterations) memory (MB) | allocated: {a} | max allocated: {b}\"\n",
        "a.log");
    QCOMPARE(run.size(), std::size_t{0});
    QVERIFY(run.facts.empty());
}

/// "max reserved: 29" of a line that is still being written may become 29316.
void LogLinesTest::numberStillBeingWritten()
{
    const std::string whole
        = "[Rank 0] (after 2 iterations) memory (MB) | allocated: 1 | max allocated: 512 | reserved: 600 "
          "| max reserved: 600";
    QCOMPARE(readLogText(whole + "\n", "a.log").size(), std::size_t{1});
    const Run half = readLogText(whole, "a.log");
    QCOMPARE(half.size(), std::size_t{0});
    QCOMPARE(half.problemCount, std::int64_t{1});
}

void LogLinesTest::iterationRows()
{
    const Run run = readLogText(" iteration       20/    1000 | consumed samples: 80 | elapsed time per iteration "
                                "(ms): 1354.5 | learning rate: "
                                "3.750E-05 | global batch size: 4 | lm loss: 1.25E+01 | loss scale: 32768.0 |\n"
                                " iteration       30/    1000 | consumed samples: 80 | elapsed time per iteration (s): "
                                "2.5 | tokens per gpu per "
                                "second (tgs): 1547.5 | lm loss: 2.5E+00 |\n",
                                "a.log");
    QCOMPARE(run.size(), std::size_t{0});
    QCOMPARE(run.steps.step, (std::vector<std::uint32_t>{20, 30}));
    QCOMPARE(run.steps.seconds, (std::vector<float>{1.3545F, 2.5F}));
    QCOMPARE(run.steps.loss, (std::vector<double>{12.5, 2.5}));
    QVERIFY(std::isnan(run.steps.tokensPerSecond[0]));
    QCOMPARE(run.steps.tokensPerSecond[1], 1547.5F);
}

/// The same Run wherever pieces and windows meet, for formats that look at the lines around them.
void LogLinesTest::piecesDoNotMatter()
{
    std::string text;
    for (int i = 1; i < 30; ++i) {
        text += "Engine after backward\nMA 1.5 GB Max_MA " + std::to_string(i) + " GB CA 3 GB Max_CA 3 GB\n";
        text += "[step=" + std::to_string(i) + "/1000]\n    gpu_memory/GPU reserved mem (GiB)=60.5\n";
        text += "RuntimeError: CUDA out of memory. Tried to allocate 1024.00 MiB (GPU 0; 15.90 GiB total\ncapacity; "
                "14.25 GiB "
                "already allocated; 991.56 MiB free; 607.00 KiB cached)\n";
    }
    const Run whole = readLogText(text, "a.log");
    QCOMPARE(whole.size(), std::size_t{58});
    for (const std::int64_t size : {64, 100, 333, 1000}) {
        const Run pieces = readTextInPieces(text, "a.log", {.chunk = size * 3, .window = size, .tail = 7});
        QCOMPARE(pieces.step, whole.step);
        QCOMPARE(pieces.line, whole.line);
        QCOMPARE(pieces.phase, whole.phase);
        QCOMPARE(pieces.allocatedBytes, whole.allocatedBytes);
        QCOMPARE(pieces.facts.size(), whole.facts.size());
    }
}

QTEST_APPLESS_MAIN(LogLinesTest)
#include "tst_log_lines.moc"
