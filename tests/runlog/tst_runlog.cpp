// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/anchor_scan.h"
#include "runlog/byte_search.h"
#include "runlog/read_log.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace headroom;

/// What one line means. Amounts in bytes are from the definitions of the units: 31.25 × 2^30 = 33,554,432,000.
class RunlogTest : public QObject
{
    Q_OBJECT

private slots:
    void record_data();
    void record();
    void problem_data();
    void problem();
    void nothing_data();
    void nothing();
    void severalRecordsOnALine();
    void optionalFields();
    void duplicatesAreKept();
    void lineNumbers();
};

void RunlogTest::record_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("phase");
    QTest::addColumn<qint64>("step");
    QTest::addColumn<int>("rank");
    QTest::addColumn<qint64>("allocated");

    const auto row = [](const char* name, QByteArray line, const char* phase, qint64 step, int rank, qint64 allocated) {
        QTest::newRow(name) << std::move(line) << QByteArray(phase) << step << rank << allocated;
    };
    constexpr qint64 gib3125 = 33554432000;
    row("as in the recipe", "phase=forward step=12 peak_alloc=31.25GiB", "forward", 12, -1, gib3125);
    row("other order", "peak_alloc=31.25GiB phase=backward step=12", "backward", 12, -1, gib3125);
    row("third order", "step=12 peak_alloc=31.25GiB phase=optimizer", "optimizer", 12, -1, gib3125);
    row("words between", "phase=forward lr=3e-4 step=12 note peak_alloc=31.25GiB end", "forward", 12, -1, gib3125);
    row("logger prefix", "[2026-01-05 10:11:12,123] [INFO] phase=forward step=12 peak_alloc=31.25GiB", "forward", 12,
        -1, gib3125);
    row("prefix without blank", "INFO:phase=forward step=12 peak_alloc=31.25GiB", "forward", 12, -1, gib3125);
    row("in brackets", "(phase=forward step=12 peak_alloc=31.25GiB)", "forward", 12, -1, gib3125);
    row("end of a sentence", "phase=forward, step=12, peak_alloc=31.25GiB.", "forward", 12, -1, gib3125);
    row("commas", "phase=forward,step=12,peak_alloc=31.25GiB", "forward", 12, -1, gib3125);
    row("semicolons", "phase=forward;step=12;peak_alloc=31.25GiB", "forward", 12, -1, gib3125);
    row("bars and tabs", "phase=forward|step=12\tpeak_alloc=31.25GiB", "forward", 12, -1, gib3125);
    row("quotes", R"(phase="forward" step="12" peak_alloc="31.25 GiB")", "forward", 12, -1, gib3125);
    row("single quotes", "phase='forward' step='12' peak_alloc='31.25GiB'", "forward", 12, -1, gib3125);
    row("inside JSON", R"({"msg": "phase=forward step=12 peak_alloc=31.25GiB"})", "forward", 12, -1, gib3125);
    row("quotes inside JSON", R"({"msg": "phase=\"forward\" step=12 peak_alloc=31.25GiB"})", "forward", 12, -1,
        gib3125);
    row("padded values", "phase= forward   step=   12 peak_alloc=   31.25GiB", "forward", 12, -1, gib3125);
    row("padded with zeros", "phase=forward step=0012 peak_alloc=31.2500GiB", "forward", 12, -1, gib3125);
    row("step of total", "phase=forward step=12/500 peak_alloc=31.25GiB", "forward", 12, -1, gib3125);
    row("plus sign", "phase=forward step=+12 peak_alloc=+31.25GiB", "forward", 12, -1, gib3125);
    row("largest step", "phase=forward step=4294967295 peak_alloc=31.25GiB", "forward", 4294967295, -1, gib3125);
    row("capitals", "phase=Forward step=12 peak_alloc=31.25GIB", "forward", 12, -1, gib3125);
    row("later word wins", "step=3 phase=forward step=12 peak_alloc=31.25GiB", "forward", 12, -1, gib3125);

    row("GiB", "phase=forward step=1 peak_alloc=1GiB", "forward", 1, -1, 1073741824);
    row("blank before the unit", "phase=forward step=1 peak_alloc=1 GiB", "forward", 1, -1, 1073741824);
    row("small letters", "phase=forward step=1 peak_alloc=1gib", "forward", 1, -1, 1073741824);
    row("MiB", "phase=forward step=1 peak_alloc=40960MiB", "forward", 1, -1, 42949672960);
    row("rounded to a byte", "phase=forward step=1 peak_alloc=991.56 MiB", "forward", 1, -1, 1039726019);
    row("GB", "phase=forward step=1 peak_alloc=80GB", "forward", 1, -1, 80000000000);
    row("gb", "phase=forward step=1 peak_alloc=1.5gb", "forward", 1, -1, 1500000000);
    row("MB", "phase=forward step=1 peak_alloc=512MB", "forward", 1, -1, 512000000);
    row("KiB", "phase=forward step=1 peak_alloc=3KiB", "forward", 1, -1, 3072);
    row("kB", "phase=forward step=1 peak_alloc=3kB", "forward", 1, -1, 3000);
    row("TiB", "phase=forward step=1 peak_alloc=0.5TiB", "forward", 1, -1, 549755813888);
    row("TB", "phase=forward step=1 peak_alloc=0.5TB", "forward", 1, -1, 500000000000);
    row("B", "phase=forward step=1 peak_alloc=33822867456B", "forward", 1, -1, 33822867456);
    row("bytes without a unit", "phase=forward step=1 peak_alloc=33822867456", "forward", 1, -1, 33822867456);
    row("the next word is no unit", "peak_alloc=1024 b=3 phase=forward step=1", "forward", 1, -1, 1024);
    row("exponent", "phase=forward step=1 peak_alloc=1.5e9B", "forward", 1, -1, 1500000000);
    row("no digit before the point", "phase=forward step=1 peak_alloc=.5GiB", "forward", 1, -1, 536870912);
    row("point without decimals", "phase=forward step=12. peak_alloc=2.GiB", "forward", 12, -1, 2147483648);
    row("as good as zero", "phase=forward step=1 peak_alloc=1e-999GiB", "forward", 1, -1, 0);
    row("zero", "phase=forward step=0 peak_alloc=0GiB", "forward", 0, -1, 0);
    row("many digits", "phase=forward step=1 peak_alloc=1.00000000000000000000000000GiB", "forward", 1, -1, 1073741824);
    row("2^50", "phase=forward step=1 peak_alloc=1048576GiB", "forward", 1, -1, qint64{1} << 50);

    row("rank", "rank=3 phase=forward step=1 peak_alloc=1GiB", "forward", 1, 3, 1073741824);
    row("largest rank", "rank=32767 phase=forward step=1 peak_alloc=1GiB", "forward", 1, 32767, 1073741824);
    row("rank -1", "rank=-1 phase=forward step=1 peak_alloc=1GiB", "forward", 1, -1, 1073741824);
    row("rank of the exception hook", "[rank3]: phase=forward step=1 peak_alloc=1GiB", "forward", 1, 3, 1073741824);
    row("rank of torchrun", "[default12]:phase=forward step=1 peak_alloc=1GiB", "forward", 1, 12, 1073741824);
    row("rank of srun", "7: phase=forward step=1 peak_alloc=1GiB", "forward", 1, 7, 1073741824);
    row("word before prefix", "[rank3]: rank=5 phase=forward step=1 peak_alloc=1GiB", "forward", 1, 5, 1073741824);
    row("line number of grep", "7:phase=forward step=1 peak_alloc=1GiB", "forward", 1, -1, 1073741824);
    row("number too large for a rank", "99999: phase=forward step=1 peak_alloc=1GiB", "forward", 1, -1, 1073741824);
    row("other brackets", "[node3]: phase=forward step=1 peak_alloc=1GiB", "forward", 1, -1, 1073741824);

    row("colours", "\x1b[32mphase=forward\x1b[0m step=\x1b[1;36m12\x1b[0m peak_alloc=31.25GiB\x1b[K", "forward", 12, -1,
        gib3125);
    row("colours around the equals sign", "\x1b[33mphase\x1b[0m=\x1b[35mforward\x1b[0m step=12 peak_alloc=31.25GiB",
        "forward", 12, -1, gib3125);
    row("true colours before a rank", "\x1b[38;2;180;60;0m[rank4]:\x1b[39m phase=forward step=12 peak_alloc=31.25GiB",
        "forward", 12, 4, gib3125);
    row("progress bar", " 50%|#####     | 5/10 [00:05<00:05]\rphase=forward step=12 peak_alloc=31.25GiB", "forward", 12,
        -1, gib3125);
    row("CRLF", "phase=forward step=12 peak_alloc=31.25GiB\r", "forward", 12, -1, gib3125);
    row("not UTF-8", "\xff\xfe\x80 phase=forward step=12 peak_alloc=31.25GiB", "forward", 12, -1, gib3125);
    row("box drawing", "\xe2\x94\x82phase=forward step=12 peak_alloc=31.25GiB\xe2\x94\x82", "forward", 12, -1, gib3125);
}

void RunlogTest::record()
{
    QFETCH(QByteArray, line);
    const QByteArray text = "first line\n" + line + "\nlast line\n";
    const Run run = readLogText(text.toStdString(), "train.log");
    QCOMPARE(run.problems.empty() ? std::string() : run.problems.front().english(), std::string());
    QCOMPARE(run.size(), std::size_t{1});
    const Record record = run.record(0);
    QTEST(QByteArray::fromStdString(run.phaseNames[record.phase]), "phase");
    QTEST(qint64{record.step}, "step");
    QTEST(int{record.rank}, "rank");
    QTEST(qint64{record.allocated.value}, "allocated");
    QCOMPARE(record.line, std::int64_t{2});
    QVERIFY(!record.reserved);
    QCOMPARE(run.formats, std::vector<std::string>{"plain.kv"});
}

void RunlogTest::problem_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("sentence");
    QTest::addColumn<int>("severity");
    QTest::addColumn<int>("records");

    const auto row = [](const char* name, const char* line, const char* sentence, Severity severity = Severity::Error,
                        int records = 0) {
        QTest::newRow(name) << QByteArray(line) << QByteArray(sentence) << static_cast<int>(severity) << records;
    };
    row("no step", "phase=forward peak_alloc=1GiB", "phase= and peak_alloc= stand here without step=");
    row("word for a number", "phase=forward step=1 peak_alloc=much",
        "peak_alloc= is not a number of the expected kind: much");
    row("no number", "phase=forward step=1 peak_alloc=", "peak_alloc= is not a number of the expected kind: ");
    row("no phase", "phase= step=1 peak_alloc=1GiB", "phase= has no readable value: step=1");
    row("negative", "phase=forward step=1 peak_alloc=-3GiB", "peak_alloc= is negative: -3GiB");
    row("NaN", "phase=forward step=1 peak_alloc=NaN", "peak_alloc= is not a finite number: NaN");
    row("infinite", "phase=forward step=1 peak_alloc=infGiB", "peak_alloc= is not a finite number: infGiB");
    row("negative infinity", "phase=forward step=1 peak_alloc=-inf", "peak_alloc= is not a finite number: -inf");
    row("above 2^50", "phase=forward step=1 peak_alloc=1048577GiB",
        "peak_alloc= is larger than any real value: 1048577GiB");
    row("absurd", "phase=forward step=1 peak_alloc=1e30GiB", "peak_alloc= is larger than any real value: 1e30GiB");
    row("beyond double", "phase=forward step=1 peak_alloc=1e999B", "peak_alloc= is larger than any real value: 1e999B");
    row("unknown unit", "phase=forward step=1 peak_alloc=3XiB", "peak_alloc= has an unknown unit: 3XiB");
    row("half a unit", "phase=forward step=1 peak_alloc=3G", "peak_alloc= has an unknown unit: 3G");
    row("rate", "phase=forward step=1 peak_alloc=3GiB/s", "peak_alloc= has an unknown unit: 3GiB/s");
    row("percent", "phase=forward step=1 peak_alloc=45%", "peak_alloc= has an unknown unit: 45%");
    row("fraction without unit", "phase=forward step=1 peak_alloc=31.25",
        "peak_alloc= is a fraction without a unit: 31.25");
    row("thousands", "phase=forward step=1 peak_alloc=31,250MiB",
        "peak_alloc= has a comma between digits, which could mean two numbers: 31,250MiB");
    row("two points", "phase=forward step=1 peak_alloc=3.1.2GiB",
        "peak_alloc= is not a number of the expected kind: 3.1.2GiB");
    row("step beyond 32 bits", "phase=forward step=4294967296 peak_alloc=1GiB",
        "step= is larger than any real value: 4294967296");
    row("step of 30 digits", "phase=forward step=111111111111111111111111111111 peak_alloc=1GiB",
        "step= is larger than any real value: 111111111111111111111111111111");
    row("step with a fraction", "phase=forward step=1.5 peak_alloc=1GiB",
        "step= is not a number of the expected kind: 1.5");
    row("negative step", "phase=forward step=-1 peak_alloc=1GiB", "step= is negative: -1");
    row("step no number", "phase=forward step=abc peak_alloc=1GiB", "step= is not a number of the expected kind: abc");
    row("rank beyond 16 bits", "rank=32768 phase=forward step=1 peak_alloc=1GiB",
        "rank= is larger than any real value: 32768");
    row("rank no number", "rank=a phase=forward step=1 peak_alloc=1GiB",
        "rank= is not a number of the expected kind: a");
    row("rank of a prefix beyond 16 bits", "[rank70000]: phase=forward step=1 peak_alloc=1GiB",
        "rank= is larger than any real value: [rank70000]:");
    row("phase too long",
        "phase=fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff step=1 peak_alloc=1GiB",
        "phase= has no readable value: ffffffffffffffffffffffffffffffffffffffff...");
    row("unprintable", "phase=forward step=1 peak_alloc=\xff\x01x",
        "peak_alloc= is not a number of the expected kind: ??x");
    row("reserved unreadable", "phase=forward step=1 peak_alloc=1GiB peak_reserved=n/a",
        "peak_reserved= is not a number of the expected kind: n/a", Severity::Warning, 1);
    row("loss unreadable", "phase=forward step=1 peak_alloc=1GiB loss=none",
        "loss= is not a number of the expected kind: none", Severity::Warning, 1);
    row("negative time", "phase=forward step=1 peak_alloc=1GiB step_time=-1s", "step_time= is negative: -1s",
        Severity::Warning, 1);
    row("unit of time", "phase=forward step=1 peak_alloc=1GiB step_time=1h", "step_time= has an unknown unit: 1h",
        Severity::Warning, 1);
}

void RunlogTest::problem()
{
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, sentence);
    QFETCH(int, severity);
    QFETCH(int, records);
    const Run run = readLogText(("one\ntwo\n" + line + "\nfour\n").toStdString(), "train.log");
    QCOMPARE(static_cast<int>(run.size()), records);
    QCOMPARE(run.problemCount, std::int64_t{1});
    QCOMPARE(QByteArray::fromStdString(run.problems.front().english()), "train.log:3: " + sentence);
    QCOMPARE(static_cast<int>(run.problems.front().severity), severity);
}

void RunlogTest::nothing_data()
{
    QTest::addColumn<QByteArray>("text");

    QTest::newRow("other key before") << QByteArray("my_phase=forward step=1 peak_alloc=1GiB\n");
    QTest::newRow("other key after") << QByteArray("phase_x=forward step=1 peak_alloc=1GiB\n");
    QTest::newRow("longer peak") << QByteArray("phase=forward step=1 peak_allocated=1GiB\n");
    QTest::newRow("dotted peak") << QByteArray("phase=forward step=1 gpu.peak_alloc=1GiB\n");
    QTest::newRow("options") << QByteArray("python t.py --phase=forward --step=1 --peak_alloc=1GiB\n");
    QTest::newRow("no phase") << QByteArray("step=1 peak_alloc=1GiB\n");
    QTest::newRow("no peak") << QByteArray("phase=forward step=1\n");
    QTest::newRow("colons") << QByteArray("phase: forward step: 1 peak_alloc: 1GiB\n");
    QTest::newRow("source text") << QByteArray("print(f\"phase={phase} step={step} peak_alloc={peak:.2f}GiB\")\n");
    QTest::newRow("printf") << QByteArray("printf(\"phase=%s step=%d peak_alloc=%.2fGiB\")\n");
    QTest::newRow("usage") << QByteArray("phase=<forward|backward> step=<n> peak_alloc=<number>GiB\n");
    QTest::newRow("anchor at the start") << QByteArray("peak_alloc\npeak_alloc=\n");
    QTest::newRow("one line end") << QByteArray("\n");
    QTest::newRow("one carriage return") << QByteArray("\r");
    QTest::newRow("plain last line without its end") << QByteArray("training done");
}

void RunlogTest::nothing()
{
    QFETCH(QByteArray, text);
    const Run run = readLogText(text.toStdString(), "train.log");
    QCOMPARE(run.size(), std::size_t{0});
    QCOMPARE(run.problems.empty() ? std::string() : run.problems.front().english(), std::string());
    QVERIFY(run.formats.empty());
}

void RunlogTest::severalRecordsOnALine()
{
    const Run run
        = readLogText("phase=forward step=1 peak_alloc=1GiB rank=0 phase=forward step=x peak_alloc=2GiB rank=1 "
                      "phase=forward step=1 peak_alloc=3GiB rank=2\n",
                      "train.log");
    QCOMPARE(run.rank, (std::vector<std::int16_t>{0, 2}));
    QCOMPARE(run.allocatedBytes, (std::vector<std::int64_t>{1LL << 30, 3LL << 30}));
    QCOMPARE(run.line, (std::vector<std::uint32_t>{1, 1}));
    QCOMPARE(run.problemCount, std::int64_t{1});
}

void RunlogTest::optionalFields()
{
    const Run run = readLogText("phase=forward step=1 peak_alloc=1GiB\n"
                                "phase=optimizer step=1 peak_alloc=2GiB peak_reserved=2.5GiB step_time=812ms "
                                "tokens_per_s=14523.1 loss=2.5\n"
                                "phase=optimizer step=2 peak_alloc=2GiB step_time=0.75 loss=nan\n"
                                "phase=optimizer step=3 peak_alloc=2GiB step_time=0.5s loss=-1e-3\n",
                                "train.log");
    QCOMPARE(run.reservedBytes,
             (std::vector<std::int64_t>{Run::noReserved, 2684354560, Run::noReserved, Run::noReserved}));
    QCOMPARE(run.record(1).reserved, std::optional(Bytes{2684354560}));
    QCOMPARE(run.stepSeconds.records, (std::vector<std::uint32_t>{1, 2, 3}));
    QCOMPARE(run.stepSeconds.values, (std::vector<float>{0.812F, 0.75F, 0.5F}));
    QCOMPARE(run.tokensPerSecond.records, (std::vector<std::uint32_t>{1}));
    QCOMPARE(run.tokensPerSecond.values, (std::vector<float>{14523.1F}));
    QCOMPARE(run.loss.records, (std::vector<std::uint32_t>{1, 2, 3}));
    QCOMPARE(run.loss.values[0], 2.5);
    QVERIFY(std::isnan(run.loss.values[1]));
    QCOMPARE(run.loss.values[2], -1e-3);
    QCOMPARE(run.problemCount, std::int64_t{0});
}

void RunlogTest::duplicatesAreKept()
{
    const Run run = readLogText("phase=forward step=5 rank=0 peak_alloc=1GiB\n"
                                "resumed from checkpoint\n"
                                "phase=forward step=5 rank=0 peak_alloc=2GiB\n",
                                "train.log");
    QCOMPARE(run.step, (std::vector<std::uint32_t>{5, 5}));
    QCOMPARE(run.line, (std::vector<std::uint32_t>{1, 3}));
}

void RunlogTest::lineNumbers()
{
    const Run run
        = readLogText("\n\r\n \rphase=forward step=1 peak_alloc=1GiB\rphase=forward step=2 peak_alloc=1GiB\r\n"
                      "phase=forward step=3 peak_alloc=1GiB\n\nphase=forward step=4 peak_alloc=1GiB",
                      "train.log");
    QCOMPARE(run.step, (std::vector<std::uint32_t>{1, 2, 3, 4}));
    QCOMPARE(run.line, (std::vector<std::uint32_t>{3, 3, 4, 6}));
    QCOMPARE(run.lineCount, std::int64_t{6});
    QCOMPARE(readLogText("a\nb\n", "x").lineCount, std::int64_t{2});
    QCOMPARE(readLogText("a\nb", "x").lineCount, std::int64_t{2});
    QCOMPARE(readLogText("", "x").lineCount, std::int64_t{0});
}

QTEST_APPLESS_MAIN(RunlogTest)
#include "tst_runlog.moc"
