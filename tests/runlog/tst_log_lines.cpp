// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/read_log.h"
#include "runlog/read_pieces.h"

#include <QTest>

using namespace headroom;

namespace {

constexpr double mebi = 1048576;
constexpr double gibi = 1073741824;

qint64 rounded(double bytes)
{
    return static_cast<qint64>(bytes + 0.5);
}

/// A record as the tests compare it; -1 where there is nothing.
QString described(const Run& run, std::size_t i)
{
    const Record record = run.record(i);
    return QStringLiteral("%1 step %2 rank %3 line %4 allocated %5 reserved %6")
        .arg(QString::fromStdString(run.phaseNames[record.phase]))
        .arg(record.step)
        .arg(record.rank)
        .arg(record.line)
        .arg(run.allocatedBytes[i])
        .arg(record.reserved ? record.reserved->value : -1);
}

QString expected(const char* phase, qint64 step, int rank, qint64 line, qint64 allocated, qint64 reserved = -1)
{
    return QStringLiteral("%1 step %2 rank %3 line %4 allocated %5 reserved %6")
        .arg(QLatin1String(phase))
        .arg(step)
        .arg(rank)
        .arg(line)
        .arg(allocated)
        .arg(reserved);
}

std::int64_t valueAt(const Sparse<std::int64_t>& column, std::size_t record)
{
    for (std::size_t i = 0; i < column.records.size(); ++i) {
        if (column.records[i] == record) {
            return column.values[i];
        }
    }
    return -1;
}

} // namespace

/// What whole lines of real frameworks become: records, rows of steps and facts. The traps are those of published logs.
class LogLinesTest : public QObject
{
    Q_OBJECT

private slots:
    void gluedRanks();
    void stepBeforeAndAfter();
    void roundedMaximum();
    void messagePair();
    void reservedIsNotAllocated();
    void unitByFramework_data();
    void unitByFramework();
    void coloursBetweenFields();
    void rankPrefix_data();
    void rankPrefix();
    void progressBarThenDict();
    void quotedNumbers();
    void blockOfLines();
    void testLinesAreNotSteps();
    void sharesOfTheCapacity();
    void stepsOfEpochs();
    void skippedLossAndText();
    void diverged();
    void repeatedByRay();
    void firstValueOfPair();
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

/// DeepSpeed rounds Max_CA to whole GiB, so it can be below CA: the peak is the larger.
void LogLinesTest::roundedMaximum()
{
    const Run run
        = readLogText("MA 4.0 GB         Max_MA 5.0 GB         CA 5.4 GB         Max_CA 5 GB \n", "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.reservedBytes[0], rounded(5.4 * gibi));
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

/// torchtitan's "memory" is reserved: it must not become a peak of allocated.
void LogLinesTest::reservedIsNotAllocated()
{
    const Run run = readLogText("[rank0]:[titan] 2026-05-18 16:04:46,338 - root - INFO - step: 14  loss:  3.24405  "
                                "grad_norm:  0.8319  memory:  9.5GiB(64.99%)  tps: 7,282  tflops: 0.52  mfu: 0.17%\n",
                                "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(described(run, 0), expected("total", 14, 0, 1, Run::noAllocated, rounded(9.5 * gibi)));
    QVERIFY(!run.peak());
    QVERIFY(run.largest(3).empty());
    QCOMPARE(run.tokensPerSecond.values, std::vector<float>{7282.0F});
    QCOMPARE(run.loss.values, std::vector<double>{3.24405});
}

void LogLinesTest::unitByFramework_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<double>("allocated");
    const auto row = [](const char* name, const char* line, double allocated) {
        QTest::newRow(name) << QByteArray(line) << allocated;
    };
    row("LitGPT's GB is decimal", "Memory used: 21.5 GB", 21.5e9);
    row("MLX's GB is decimal",
        "Iter 8: Train loss 0.4, Learning Rate 1e-6, It/sec 0.2, Tokens/sec 159.3, Trained Tokens 47, Peak mem 100.5 "
        "GB",
        100.5e9);
    row("pith-train's GB is binary",
        "step 0001/0015 | step-time 73.3 sec | cross-entropy-loss 2.6 | tokens-per-second 28,590 | peak-gpu-memory "
        "63.5 GB",
        63.5 * gibi);
    row("DeepSpeed's GB is binary", "MA 1 GB Max_MA 21.5 GB CA 3 GB Max_CA 3 GB", 21.5 * gibi);
    row("Megatron's MB is binary",
        "[Rank 0] (after 2 iterations) memory (MB) | allocated: 1 | max allocated: 512.5 | reserved: 1 | max reserved: "
        "1",
        512.5 * mebi);
    row("Megatron-Bridge's GB is decimal",
        "[Rank 0] (after 1 iterations) memory (GB) | mem-allocated-gigabytes: 13.3 | mem-max-allocated-gigabytes: 13.5",
        13.5e9);
    row("OLMo's MB is decimal", "[step=2/10]\n    System/Peak GPU Memory (MB)=43,205", 43205e6);
    row("MMEngine's has no label",
        "mmengine - INFO - Iter(train) [   10/ 1000]  lr: 6e-06  eta: 1:20:11  time: 4.8  data_time: 0.01  memory: "
        "31542  "
        "loss: 1.4",
        31542 * mebi);
    row("nanotron's B is billion",
        "[INFO|DP=0|PP=0|TP=0]: iteration: 9 / 10 | cuda_memory_allocated: 34.2B | cuda_max_memory_reserved: 40B", -1);
}

void LogLinesTest::unitByFramework()
{
    QFETCH(QByteArray, line);
    QFETCH(double, allocated);
    const Run run = readLogText((line + '\n').toStdString(), "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.allocatedBytes[0], allocated < 0 ? Run::noAllocated : rounded(allocated));
}

void LogLinesTest::coloursBetweenFields()
{
    const Run run = readLogText("\x1b[31mstep: 14  \x1b[32mloss:  3.24405  \x1b[38;2;180;60;0mgrad_norm:  0.8319  "
                                "\x1b[36mmemory:  9.50GiB(64.99%)  \x1b[34mtps: 7,282\x1b[39m\n",
                                "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.reservedBytes[0], rounded(9.5 * gibi));
}

void LogLinesTest::rankPrefix_data()
{
    QTest::addColumn<QByteArray>("prefix");
    QTest::addColumn<int>("rank");
    const auto row = [](const char* prefix, int rank) { QTest::newRow(prefix) << QByteArray(prefix) << rank; };
    row("[rank3]:", 3);
    row("[rank3]: ", 3);
    row("[default12]:", 12);
    row("7: ", 7);
    row("[1,5]<stdout>:", 5);
    row("[20250825 13:42:35][rank-7/8][INFO ] ", 7);
    row("7:", -1);
    row("", -1);
}

void LogLinesTest::rankPrefix()
{
    QFETCH(QByteArray, prefix);
    QFETCH(int, rank);
    const Run run = readLogText((prefix + "Peak memory usage: 75422.5MiB\n").toStdString(), "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(static_cast<int>(run.rank[0]), rank);
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

/// transformers 5 quotes the numbers.
void LogLinesTest::quotedNumbers()
{
    const Run run
        = readLogText("{'loss': '0.75', 'grad_norm': '12.79', 'learning_rate': '0', 'epoch': '0.02'}\n", "a.log");
    QCOMPARE(run.size(), std::size_t{0});
    QCOMPARE(run.steps.loss, std::vector<double>{0.75});
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

/// MMEngine counts from 1 in each epoch: step 50 of the second of 7393 steps is 7443.
void LogLinesTest::stepsOfEpochs()
{
    const Run run = readLogText("07/04 08:12:50 - mmengine - INFO - Epoch(train)  [2][  50/7393]  lr: 3e-05  eta: "
                                "9:40:59  time: 0.5  data_time: 0.01  "
                                "memory: 14765  loss: 37.5\n"
                                "Epoch: [1]  [  20/4572]  eta: 0:08:36    time: 0.1136  data: 0.1014  max mem: 20009\n",
                                "a.log");
    QCOMPARE(run.step, (std::vector<std::uint32_t>{7443, 4592}));
}

/// "lm loss" is missing when every step of the interval was skipped; the row has its time.
void LogLinesTest::skippedLossAndText()
{
    const Run run
        = readLogText(" iteration        5/    1000 | elapsed time per iteration (ms): 500.0 | number of skipped "
                      "iterations:   5 |Number of parameters in transformer block in billions:  1.35\n",
                      "a.log");
    QCOMPARE(run.steps.size(), std::size_t{1});
    QVERIFY(std::isnan(run.steps.loss[0]));
    QCOMPARE(run.facts.size(), std::size_t{1});
}

void LogLinesTest::diverged()
{
    const Run run = readLogText("{'loss': nan, 'grad_norm': inf, 'learning_rate': 0.0, 'epoch': 0.1}\n"
                                "step:1/6000 train_loss:11.5 train_time:24179ms step_avg:nanms\n",
                                "a.log");
    QCOMPARE(run.steps.size(), std::size_t{2});
    QVERIFY(std::isnan(run.steps.loss[0]));
    QCOMPARE(run.steps.loss[1], 11.5);
    QVERIFY(std::isnan(run.steps.seconds[1]));
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

/// Primus prints "inst/avg" pairs: the first is this interval's.
void LogLinesTest::firstValueOfPair()
{
    const Run run = readLogText(
        " iteration       10/      50 | elapsed time per iteration (ms): 1500.0/1630.1 | hip mem "
        "usage/free/total/usage_ratio: "
        "99.0GB/92.0GB/191.0GB/51.60% | tokens per GPU (tokens/s/GPU): 5134.5/5026.5 | lm loss: 1.125E+01 |\n",
        "a.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.stepSeconds.values, std::vector<float>{1.5F});
    QCOMPARE(run.tokensPerSecond.values, std::vector<float>{5134.5F});
    QCOMPARE(valueAt(run.deviceBytes, 0), rounded(99 * gibi));
    QVERIFY(!run.hasAllocated(0));
}

/// fairseq prints what was left free, Lingua a percentage; both name the capacity once.
void LogLinesTest::sharesOfTheCapacity()
{
    const Run fairseq
        = readLogText("rank   0: capabilities =  7.0  ; total memory = 32.000 GB ; name = Tesla V100-SXM2-32GB\n"
                      "2020-07-17 | INFO | train_inner | epoch 001:   2800 / 160368 loss=9.255, num_updates=2800, "
                      "gb_free=5.5, wall=1\n",
                      "a.log");
    QCOMPARE(fairseq.size(), std::size_t{1});
    QCOMPARE(described(fairseq, 0), expected("total", 2800, -1, 2, rounded(26.5 * gibi)));
    const std::string line
        = "step: 10  acc: 0  loss:  10.1  grad: 1.20e+00  flops: 4.00e+14  wps: 5.00e+04  iter:  0.8123  "
          "data: 0.001  lr: 3.00e-04  mem: 50%  pow: 600.1 W\n";
    const Run lingua = readLogText("GPU capacity: NVIDIA H100 80GB HBM3 (0) with 80.0GiB memory\n" + line, "a.log");
    QCOMPARE(lingua.size(), std::size_t{1});
    QCOMPARE(valueAt(lingua.activeBytes, 0), rounded(40 * gibi));
    const Run unknown = readLogText(line, "a.log");
    QVERIFY(unknown.activeBytes.records.empty());
    QCOMPARE(unknown.inferences.size(), std::size_t{1});
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
