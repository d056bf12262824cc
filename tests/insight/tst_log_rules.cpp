// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/catalog.h"
#include "config/config_format.h"
#include "insight/insight_fixture.h"
#include "runlog/log_arguments.h"

#include <QTest>

using namespace headroom;

namespace {

/// A backward peak that rises by `gib` each step.
QByteArray growing(int steps, double gib)
{
    QByteArray text;
    for (int step = 0; step < steps; ++step) {
        text += (step > 0 ? " / " : "") + QByteArray("f 20 b ") + QByteArray::number(30 + gib * step, 'f', 3) + " o 18";
    }
    return text;
}

} // namespace

/// What the rules say of a log, alone and beside a plan.
class TestLogRules : public QObject
{
    Q_OBJECT

private slots:
    void logRules_data();
    void logRules();
    void firstReportIsLower();
    void inferencesAreMarked();
    void disagreement_data();
    void disagreement();
    void memoryOutside();
    void argumentsThatDiffer();
    void reservedIsNoLeak();
    void reservedBesideTheEstimate_data();
    void reservedBesideTheEstimate();
    void argumentsLeftOut();
};

void TestLogRules::logRules_data()
{
    QTest::addColumn<QByteArray>("steps");
    QTest::addColumn<QByteArray>("fires");
    QTest::addColumn<QByteArray>("mustNot");
    QTest::addColumn<int>("line"); // of the first evidence
    const auto row = [](const char* name, const QByteArray& steps, const char* fires, const char* mustNot, int line) {
        QTest::newRow(name) << steps << QByteArray(fires) << QByteArray(mustNot) << line;
    };
    row("forward", "f 40 b 35 o 20 / f 41 b 35 o 20", "peak-in-forward", "peak-in-backward", 4);
    row("backward", "f 31.25 b 42.5 o 20 / f 31 b 42 o 20", "peak-in-backward", "peak-in-forward", 2);
    row("optimizer", "f 20 b 30 o 38 / f 20 b 30 o 38", "peak-in-optimizer", "peak-in-backward", 3);
    row("running maxima", "f 20 b 30 o 30 / f 30 b 30 o 30 / f 30 b 31 o 31", "statistics-not-reset",
        "peak-in-backward", 1);
    row("reset", "f 20 b 30 o 18 / f 21 b 31 o 19 / f 21 b 31 o 19", "peak-in-backward", "statistics-not-reset", 5);
    row("too short to tell", "f 20 b 30", "peak-in-backward", "statistics-not-reset", 2);
    const QByteArray flat = QByteArray("f 20 b 30 o 18 / ").repeated(30);
    row("grows", growing(30, 0.2), "growth-over-steps", "one-step-far-above", 89);
    row("does not grow", flat + "f 20 b 30 o 18", "peak-in-backward", "growth-over-steps", 2);
    row("grows by next to nothing", growing(30, 0.01), "peak-in-backward", "growth-over-steps", 89);
    row("first step lower", "f 15 b 22 o 18 / " + flat + "f 20 b 30 o 18", "first-step-below", "growth-over-steps", 5);
    row("second of two steps higher", "f 20 b 28 o 18 / f 20 b 30 o 18", "first-step-below", "growth-over-steps", 5);
    row("two steps alike", "f 20 b 28 o 18 / f 20 b 28.1 o 18", "peak-in-backward", "first-step-below", 5);
    row("second of two steps lower", "f 20 b 28 o 18 / f 20 b 27 o 18", "peak-in-backward", "first-step-below", 2);
    row("running maxima, first step lower", "f 20 b 28 o 28 / f 30 b 30 o 30 / f 30 b 30 o 30", "first-step-below",
        "peak-in-backward", 4);
    row("first step alike", flat + "f 20 b 30 o 18", "peak-in-backward", "first-step-below", 2);
    row("one long sample", flat + "f 22 b 40 o 18", "one-step-far-above", "growth-over-steps", 92);
    row("many long samples", QByteArray("f 20 b 30 o 18 / f 22 b 40 o 18 / ").repeated(20) + "f 20 b 30 o 18",
        "peak-in-backward", "one-step-far-above", 5);
    row("one phase only, flat", "b 30 / b 30 / b 30 / b 30 / b 30 / b 30", "", "statistics-not-reset", 0);
    row("one phase only has no verdict", "b 30 / b 31 / b 30", "", "peak-in-backward", 0);
}

void TestLogRules::logRules()
{
    QFETCH(QByteArray, steps);
    QFETCH(QByteArray, fires);
    QFETCH(QByteArray, mustNot);
    QFETCH(int, line);
    const Run run = runOf(steps);
    Situation situation;
    situation.run = &run;
    const auto findings = diagnose(situation);
    if (!fires.isEmpty()) {
        const Finding* finding = find(findings, fires.toStdString());
        QVERIFY(finding != nullptr);
        QVERIFY(!finding->title.isEmpty() && !finding->explanation.isEmpty());
        QCOMPARE(finding->evidence.front().file, std::string("train.log"));
        QCOMPARE(int(finding->evidence.front().line), line);
    }
    QVERIFY(find(findings, mustNot.toStdString()) == nullptr);
}

/// Megatron reports its memory twice: after the first step, and again when the optimizer has its state.
void TestLogRules::firstReportIsLower()
{
    const auto report = [](int step, int mib) {
        const std::string amount = std::to_string(mib);
        return "[Rank 0] (after " + std::to_string(step)
            + " iterations) memory (MB) | allocated: 8192.0 | max allocated: " + amount + ".0 | reserved: " + amount
            + ".0 | max reserved: " + amount + ".0\n";
    };
    const auto findingsOf = [&](int later) {
        const Run run = readLogText(report(1, 20480) + report(2, later), "train.log");
        const RunSummary summary = summarise(run);
        Situation situation;
        situation.run = &run;
        situation.summary = &summary;
        return diagnose(situation);
    };
    const std::vector<Finding> findings = findingsOf(28672);
    const Finding* const finding = find(findings, "first-step-below");
    QVERIFY(finding != nullptr);
    QCOMPARE(finding->title.english(), std::string("The first step peaks 8.0 GiB below the others"));
    QVERIFY(find(findingsOf(20490), "first-step-below") == nullptr);
}

/// Phases that a log does not name are never shown without saying so.
void TestLogRules::inferencesAreMarked()
{
    std::string text;
    for (const char* point : {"Before forward", "After forward", "After backward", "After step"}) {
        text += std::string(point) + "\nMA 1 GB         Max_MA 2 GB         CA 3 GB         Max_CA 3 GB\n";
    }
    const Run run = readLogText(text, "train.log");
    const RunSummary summary = summarise(run);
    Situation situation;
    situation.run = &run;
    situation.summary = &summary;
    const std::vector<Finding> findings = diagnose(situation);
    const Finding* const finding = find(findings, "inferred-from-log");
    QVERIFY(finding != nullptr);
    QVERIFY(finding->explanation.english().starts_with("Phases are inferred from points such as"));
    const Run plain = runOf("f 20 b 30 o 18 / f 20 b 30 o 18");
    const RunSummary plainSummary = summarise(plain);
    situation.run = &plain;
    situation.summary = &plainSummary;
    QVERIFY(find(diagnose(situation), "inferred-from-log") == nullptr);
}

void TestLogRules::disagreement_data()
{
    QTest::addColumn<QByteArray>("ran");
    QTest::addColumn<QByteArray>("id");
    QTest::newRow("as stated") << QByteArray("recompute.enabled=true recompute.granularity=full") << QByteArray();
    QTest::newRow("never loaded") << QByteArray("recompute.enabled=false") << QByteArray("another-setting-ran");
    QTest::newRow("twice as long") << QByteArray("recompute.enabled=true recompute.granularity=full batch.seq=4096")
                                   << QByteArray("estimate-disagrees");
}

void TestLogRules::disagreement()
{
    QFETCH(QByteArray, ran);
    QFETCH(QByteArray, id);
    const QByteArray base = "framework=megatron-args model.heads=16 shard.dist_opt=true parallel.dp=8 batch.micro=16 ";
    const TrainingPlan stated = planOf(base + "recompute.enabled=true recompute.granularity=full");
    Footprint footprint;
    QVERIFY(estimateInstantly(planOf(base + ran), {}, footprint));
    const auto size = [&footprint](Phase phase) {
        return QByteArray::number(double(footprint.stages[0].phase(phase).value) / double(std::int64_t{1} << 30), 'f',
                                  4);
    };
    const QByteArray step
        = "f " + size(Phase::Forward) + " b " + size(Phase::Backward) + " o " + size(Phase::Optimizer);
    const Run run = runOf(step + " / " + step);
    QVERIFY(estimateInstantly(stated, {}, footprint));
    Situation situation;
    situation.plan = &stated;
    situation.footprint = &footprint;
    situation.estimator = estimateInstantly;
    situation.run = &run;
    const auto findings = diagnose(situation);
    for (const char* one : {"another-setting-ran", "estimate-disagrees"}) {
        QCOMPARE(find(findings, one) != nullptr, id == one);
    }
}

void TestLogRules::memoryOutside()
{
    Run run = runOf("f 30 b 40 o 20 / f 30 b 40 o 20");
    run.reservedBytes.assign(run.size(), gib(42).value);
    run.deviceBytes = {{1}, {gib(52).value}};
    Situation situation;
    situation.run = &run;
    QVERIFY(find(diagnose(situation), "memory-outside-allocator") != nullptr);
    run.deviceBytes.values = {gib(43).value};
    QVERIFY(find(diagnose(situation), "memory-outside-allocator") == nullptr);
}

void TestLogRules::argumentsThatDiffer()
{
    const TrainingPlan config = planOf("batch.accum=8 recompute.enabled=true recompute.granularity=full");
    TrainingPlan log = config;
    const auto source = std::make_shared<const std::string>("train.log");
    QVERIFY(setField(log, "recompute.granularity", "none", {OriginKind::Log, 7, source}));
    Situation situation;
    situation.plan = &config;
    situation.logPlan = &log;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "config-is-not-what-ran");
    QVERIFY(finding != nullptr);
    QCOMPARE(finding->evidence.back().file, std::string("train.log"));
    QCOMPARE(finding->evidence.back().line, 7);
    QCOMPARE(editsText(*finding), std::string("recompute.granularity=none recompute.enabled=true"));
    log = config;
    QVERIFY(find(diagnose(situation), "config-is-not-what-ran") == nullptr);
    // torchtitan lists none, but its mesh has the parallel sizes.
    const Run mesh = readLogText("Building 2-D device mesh with ['dp_shard', 'tp'], [2, 4]\n", "train.log");
    TrainingPlan titan = config;
    titan.parallel.tp.set(2, {OriginKind::ConfigFile, 3, std::make_shared<const std::string>("a.toml")});
    Situation beside;
    beside.plan = &titan;
    beside.run = &mesh;
    const auto contradicted = diagnose(beside);
    const Finding* const other = find(contradicted, "config-is-not-what-ran");
    QVERIFY(other != nullptr);
    QCOMPARE(other->title.arguments, (std::vector<std::string>{"parallel.tp", "4", "2"}));
    titan.parallel.tp.value = 4;
    QVERIFY(find(diagnose(beside), "config-is-not-what-ran") == nullptr);
    // Switched off in the config and none in the log is the same.
    TrainingPlan off = config;
    off.recompute.enabled.value = false;
    log = off;
    QVERIFY(setField(log, "recompute.granularity", "none", {OriginKind::Log, 7, source}));
    situation.plan = &off;
    QVERIFY(find(diagnose(situation), "config-is-not-what-ran") == nullptr);
    QVERIFY(find(diagnose(situation), "recompute-not-loaded") != nullptr);
}

void TestLogRules::reservedBesideTheEstimate_data()
{
    QTest::addColumn<double>("factor"); // reserved, of what is estimated
    QTest::addColumn<double>("capacity"); // likewise; 0: not known
    QTest::addColumn<QByteArray>("title");
    QTest::newRow("as estimated") << 1.0 << 0.0 << QByteArray();
    QTest::newRow("far more") << 1.8 << 0.0 << QByteArray("The run reserved %1 more than estimated");
    QTest::newRow("far less") << 0.5 << 0.0 << QByteArray("The run reserved %1 less than estimated");
    QTest::newRow("less, but all of the device") << 0.5 << 0.51 << QByteArray();
}

/// Logs of torchtitan and others have reserved memory only; it is compared with the reserved estimate.
void TestLogRules::reservedBesideTheEstimate()
{
    QFETCH(double, factor);
    QFETCH(double, capacity);
    QFETCH(QByteArray, title);
    TrainingPlan plan
        = planOf("framework=torchtitan-toml model.heads=16 model.ffn=4096 model.gated_mlp=true "
                 "model.tied_embeddings=false shard.fsdp=true parallel.dp=1 batch.micro=16 batch.accum=1");
    Footprint footprint;
    QVERIFY(estimateInstantly(plan, {}, footprint));
    const double reserved = footprint.fullest().peakReserved.gib();
    QVERIFY(reserved > 4);
    if (capacity > 0) {
        const auto bytes = static_cast<std::int64_t>(capacity * double(footprint.fullest().peakReserved.value));
        plan.hardware.capacityBytes.set(bytes, {OriginKind::ConfigFile, 1, nullptr});
    }
    const std::string line = "step:  1  loss: 12.0  memory: " + std::to_string(factor * reserved)
        + "GiB(50.00%)  tps: 1,000  mfu: 30.0%\n";
    const Run run = readLogText(line + line, "train.log");
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.estimator = estimateInstantly;
    situation.run = &run;
    const auto findings = diagnose(situation);
    const Finding* const finding = find(findings, "reserved-disagrees");
    QCOMPARE(QByteArray::fromStdString(finding == nullptr ? std::string() : finding->title.pattern), title);
    QVERIFY(finding == nullptr || (finding->evidence.front().line == 1 && !finding->explanation.isEmpty()));
}

/// A plan that comes from a list without the usual arguments names what was taken for them.
void TestLogRules::argumentsLeftOut()
{
    const Run run = readLogText("------------------------ arguments ------------------------\n"
                                "  hidden_size ..................................... 2048\n"
                                "  micro_batch_size ................................ 2\n"
                                "  num_attention_heads ............................. 16\n"
                                "  num_layers ...................................... 24\n"
                                "  seq_length ...................................... 1024\n"
                                "-------------------- end of arguments ---------------------\n",
                                "train.log");
    const auto logged = planOfArguments(run, ConfigFormats::load(), Catalog{});
    QVERIFY(logged);
    Situation situation;
    situation.plan = &*logged;
    situation.run = &run;
    const auto findings = diagnose(situation);
    const Finding* const finding = find(findings, "arguments-shortened");
    QVERIFY(finding != nullptr);
    QStringList evidence;
    for (const Evidence& one : finding->evidence) {
        evidence << QString::fromStdString(one.text.english());
    }
    QVERIFY2(evidence.contains("model.hidden_dropout = 0.1 (default)"), qPrintable(evidence.join("; ")));
    // A model of the config's own is not made of the list.
    const TrainingPlan config = planOf("batch.accum=8");
    situation.plan = &config;
    QVERIFY(find(diagnose(situation), "arguments-shortened") == nullptr);
}

void TestLogRules::reservedIsNoLeak()
{
    const auto findingsOf = [](const char* reserved) {
        const Run run = readLogText("phase=forward step=1 peak_alloc=30GiB peak_reserved=" + std::string(reserved)
                                        + "\nphase=backward step=1 peak_alloc=40GiB peak_reserved=" + reserved + "\n",
                                    "train.log");
        Situation situation;
        situation.run = &run;
        return diagnose(situation);
    };
    const auto findings = findingsOf("46.5GiB");
    const Finding* finding = find(findings, "reserved-above-allocated");
    QVERIFY(finding != nullptr);
    QCOMPARE(finding->title.arguments.front(), std::string("6.5 GiB"));
    QCOMPARE(finding->severity, Severity::Note);
    QVERIFY(find(findings, "pool-in-pieces") == nullptr);
    QVERIFY(find(findingsOf("40.5GiB"), "reserved-above-allocated") == nullptr);
    // More than a quarter of the pool that no peak ever used is more than normal.
    const auto inPieces = findingsOf("56GiB");
    const Finding* pool = find(inPieces, "pool-in-pieces");
    QVERIFY(pool != nullptr);
    QCOMPARE(pool->title.arguments, (std::vector<std::string>{"16.0 GiB", "56.0 GiB"}));
    QVERIFY(find(inPieces, "reserved-above-allocated") == nullptr);
}

QTEST_APPLESS_MAIN(TestLogRules)
#include "tst_log_rules.moc"
