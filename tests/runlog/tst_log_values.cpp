// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_arguments.h"
#include "runlog/read_log.h"
#include "runlog/run_text.h"

#include <QTest>

#include <cmath>

using namespace headroom;
using namespace headroom::test;

/// What the values on the lines of real frameworks mean: units, ranks, steps, losses.
class LogValuesTest : public QObject
{
    Q_OBJECT

private slots:
    void stepOfTheLine_data();
    void stepOfTheLine();
    void noMessageBefore();
    void messageBehindARank();
    void absurdValues();
    void roundedMaximum();
    void reservedIsNotAllocated();
    void unitByFramework_data();
    void unitByFramework();
    void rankPrefix_data();
    void rankPrefix();
    void quotedNumbers();
    void stepsOfEpochs();
    void skippedLossAndText();
    void diverged();
    void firstValueOfPair();
    void sharesOfTheCapacity();
};

/// DeepSpeed rounds Max_CA to whole GiB, so it can be below CA: the peak is the larger.
void LogValuesTest::roundedMaximum()
{
    const Run run
        = readLogText("MA 4.0 GB         Max_MA 5.0 GB         CA 5.4 GB         Max_CA 5 GB \n", "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.reservedBytes[0], rounded(5.4 * gibi));
}

/// torchtitan's "memory" is reserved: it must not become a peak of allocated.
void LogValuesTest::reservedIsNotAllocated()
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

void LogValuesTest::unitByFramework_data()
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

void LogValuesTest::unitByFramework()
{
    QFETCH(QByteArray, line);
    QFETCH(double, allocated);
    const Run run = readLogText((line + '\n').toStdString(), "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.allocatedBytes[0], allocated < 0 ? Run::noAllocated : rounded(allocated));
}

void LogValuesTest::rankPrefix_data()
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

void LogValuesTest::rankPrefix()
{
    QFETCH(QByteArray, prefix);
    QFETCH(int, rank);
    const Run run = readLogText((prefix + "Peak memory usage: 75422.5MiB\n").toStdString(), "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(static_cast<int>(run.rank[0]), rank);
}

/// transformers 5 quotes the numbers.
void LogValuesTest::quotedNumbers()
{
    const Run run
        = readLogText("{'loss': '0.75', 'grad_norm': '12.79', 'learning_rate': '0', 'epoch': '0.02'}\n", "a.log");
    QCOMPARE(run.size(), std::size_t{0});
    QCOMPARE(run.steps.loss, std::vector<double>{0.75});
}

/// MMEngine counts from 1 in each epoch: step 50 of the second of 7393 steps is 7443.
void LogValuesTest::stepsOfEpochs()
{
    const Run run = readLogText("07/04 08:12:50 - mmengine - INFO - Epoch(train)  [2][  50/7393]  lr: 3e-05  eta: "
                                "9:40:59  time: 0.5  data_time: 0.01  "
                                "memory: 14765  loss: 37.5\n"
                                "Epoch: [1]  [  20/4572]  eta: 0:08:36    time: 0.1136  data: 0.1014  max mem: 20009\n",
                                "a.log");
    QCOMPARE(run.step, (std::vector<std::uint32_t>{7443, 4592}));
}

/// "lm loss" is missing when every step of the interval was skipped; the row has its time.
void LogValuesTest::skippedLossAndText()
{
    const Run run
        = readLogText(" iteration        5/    1000 | elapsed time per iteration (ms): 500.0 | number of skipped "
                      "iterations:   5 |Number of parameters in transformer block in billions:  1.35\n",
                      "a.log");
    QCOMPARE(run.steps.size(), std::size_t{1});
    QVERIFY(std::isnan(run.steps.loss[0]));
    QCOMPARE(run.facts.size(), std::size_t{1});
}

void LogValuesTest::diverged()
{
    const Run run = readLogText("{'loss': nan, 'grad_norm': inf, 'learning_rate': 0.0, 'epoch': 0.1}\n"
                                "step:1/6000 train_loss:11.5 train_time:24179ms step_avg:nanms\n",
                                "a.log");
    QCOMPARE(run.steps.size(), std::size_t{2});
    QVERIFY(std::isnan(run.steps.loss[0]));
    QCOMPARE(run.steps.loss[1], 11.5);
    QVERIFY(std::isnan(run.steps.seconds[1]));
}

/// Primus prints "inst/avg" pairs: the first is this interval's.
void LogValuesTest::firstValueOfPair()
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
void LogValuesTest::sharesOfTheCapacity()
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

void LogValuesTest::stepOfTheLine_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<qint64>("step");
    QTest::newRow("Liger's callback") << QByteArray(
        "{'step': 5, 'step_time_sec': 2.1, 'step_peak_memory_allocated_MB': "
        "26279.24, 'total_peak_memory_allocated_MB': 26279.24}")
                                      << qint64{5};
    QTest::newRow("LambdaLabs' guide") << QByteArray(
        "{'global_step': 10, 'lr': 2.9e-05, 'total_gb': 84.9, 'curr_alloc_gb': 8.0, 'peak_alloc_gb': 40.5}")
                                       << qint64{10};
    QTest::newRow("fairseq2") << QByteArray("Train Metrics (step 12) - Peak Active Device Memory: 23.41 GiB | Peak "
                                            "Reserved Device Memory: 25.08 GiB")
                              << qint64{12};
}

void LogValuesTest::stepOfTheLine()
{
    QFETCH(const QByteArray, line);
    QFETCH(const qint64, step);
    const Run run = readLogText(line.toStdString() + '\n', "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(qint64{run.step[0]}, step);
}

/// Amounts without a caller's message above them are of no phase, not of the amounts above.
void LogValuesTest::noMessageBefore()
{
    const std::string amounts = "MA 1.69 GB         Max_MA 1.69 GB         CA 1.7 GB         Max_CA 2 GB \n";
    const Run run = readLogText(amounts + amounts + "After forward\n" + amounts, "train.log");
    QCOMPARE(run.size(), std::size_t{3});
    QCOMPARE(run.phaseNames[run.phase[0]], std::string(Run::wholeStep));
    QCOMPARE(run.phaseNames[run.phase[1]], std::string(Run::wholeStep));
    QCOMPARE(run.phaseNames[run.phase[2]], std::string("forward"));
}

void LogValuesTest::messageBehindARank()
{
    const Run run
        = readLogText("[rank3]: [INFO] After backward\n[rank3]: MA 1.69 GB         Max_MA 1.69 GB         CA 1.7 "
                      "GB         Max_CA 2 GB \n",
                      "train.log");
    QCOMPARE(run.size(), std::size_t{1});
    QCOMPARE(run.phaseNames[run.phase[0]], std::string("backward"));
    QCOMPARE(run.rank[0], std::int16_t{3});
    const Run bracketed = readLogText("[After model building] Memory usage: 105.18MiB. Peak allocated: 112.43MiB Peak "
                                      "reserved: 118.00MiB\n",
                                      "train.log");
    QCOMPARE(bracketed.phaseNames[bracketed.phase[0]], std::string("after model building"));
}

/// What no machine has is no measurement.
void LogValuesTest::absurdValues()
{
    const Run run
        = readLogText("GPU capacity: NVIDIA H100 with 1e30GiB memory\n"
                      "steps: 1 loss: 12.7902 iter time (s): 1e30 samples/sec: 6.805\n"
                      "step 10/20 (0.05%) | loss: 9.5 | lrm: 1.00 | dt: 1e40ms | tok/sec: 1e30 | mfu: 50.10\n",
                      "train.log");
    QVERIFY(!capacityOf(run));
    QVERIFY(run.allStepSeconds().empty());
    QVERIFY(run.allTokensPerSecond().empty());
}

QTEST_APPLESS_MAIN(LogValuesTest)
#include "tst_log_values.moc"
