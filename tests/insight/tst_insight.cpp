// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/written_plan.h"
#include "insight/finding.h"
#include "runlog/read_log.h"

#include <QTest>

#include <algorithm>

using namespace headroom;

namespace {

/// The recipe's example model over the given settings.
TrainingPlan planOf(const QByteArray& settings)
{
    return test::planOf("model.layers=24 model.hidden=1024 model.vocab=50000 batch.seq=1024 batch.micro=2 " + settings,
                        "a.yaml");
}

/// "f 31.25 b 40 o 20 / f …": one step per group, GiB, rank 0.
Run runOf(const QByteArray& steps)
{
    QByteArray log;
    int step = 0;
    for (const QByteArray& group : steps.split('/')) {
        const QList<QByteArray> words = group.simplified().split(' ');
        ++step;
        for (qsizetype i = 0; i + 1 < words.size(); i += 2) {
            const QByteArray phase = words[i] == "f" ? "forward" : words[i] == "b" ? "backward" : "optimizer";
            log += "phase=" + phase + " step=" + QByteArray::number(step) + " rank=0 peak_alloc=" + words[i + 1]
                + "GiB\n";
        }
    }
    return readLogText(log.toStdString(), "train.log");
}

/// A backward peak that rises by `gib` each step.
QByteArray growing(int steps, double gib)
{
    QByteArray text;
    for (int step = 0; step < steps; ++step) {
        text += (step > 0 ? " / " : "") + QByteArray("f 20 b ") + QByteArray::number(30 + gib * step, 'f', 3) + " o 18";
    }
    return text;
}

const Finding* find(const std::vector<Finding>& findings, const std::string& id)
{
    const auto found
        = std::find_if(findings.begin(), findings.end(), [&id](const Finding& finding) { return finding.id == id; });
    return found == findings.end() ? nullptr : &*found;
}

std::string editsText(const Finding& finding)
{
    std::string text;
    for (const PlanEdit& edit : finding.mend ? finding.mend->edits : std::vector<PlanEdit>{}) {
        text += (text.empty() ? "" : " ") + edit.field + "=" + edit.value;
    }
    return text;
}

} // namespace

class TestInsight : public QObject
{
    Q_OBJECT

private slots:
    void logRules_data();
    void logRules();
    void planRules_data();
    void planRules();
    void estimateRules_data();
    void estimateRules();
    void disagreement_data();
    void disagreement();
    void outOfMemory_data();
    void outOfMemory();
    void memoryOutside();
    void argumentsThatDiffer();
    void illegalPlansSayWhy();
    void inFlightGrowth_data();
    void inFlightGrowth();
    void reservedIsNoLeak();
    void mendsPredictWhatTheEstimateSays();
    void theWorstComesFirst();
    void nothingOpenSaysNothing();
    void doubledStagesTakeTheGpusAlong();
    void absurdSizesAreNoCrash_data();
    void absurdSizesAreNoCrash();
};

void TestInsight::logRules_data()
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
    row("first step alike", flat + "f 20 b 30 o 18", "peak-in-backward", "first-step-below", 2);
    row("one long sample", flat + "f 22 b 40 o 18", "one-step-far-above", "growth-over-steps", 92);
    row("many long samples", QByteArray("f 20 b 30 o 18 / f 22 b 40 o 18 / ").repeated(20) + "f 20 b 30 o 18",
        "peak-in-backward", "one-step-far-above", 5);
    row("one phase only, flat", "b 30 / b 30 / b 30 / b 30 / b 30 / b 30", "", "statistics-not-reset", 0);
    row("one phase only has no verdict", "b 30 / b 31 / b 30", "", "peak-in-backward", 0);
}

void TestInsight::logRules()
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

void TestInsight::planRules_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QByteArray>("id");
    QTest::addColumn<bool>("fires");
    QTest::addColumn<QByteArray>("edits");
    const auto row = [](const char* name, const char* settings, const char* id, bool fires, const char* edits = "") {
        QTest::newRow(name) << QByteArray(settings) << QByteArray(id) << fires << QByteArray(edits);
    };
    row("equation holds", "batch.accum=8 batch.global=16", "global-batch-mismatch", false);
    row("data parallel forgotten", "batch.accum=8 batch.global=16 parallel.dp=2", "global-batch-mismatch", true,
        "batch.accum=4");
    row("no accumulation fits", "batch.accum=3 batch.global=7 parallel.dp=1", "global-batch-mismatch", true,
        "batch.global=6");
    row("global batch not stated", "batch.accum=8 parallel.dp=2", "global-batch-mismatch", false);
    row("micro-batch is the global batch", "batch.micro=16 batch.accum=8 batch.global=16 parallel.dp=2",
        "micro-batch-is-global-batch", true, "batch.micro=1");
    row("micro-batch is the global batch, mismatch not said twice",
        "batch.micro=16 batch.accum=8 batch.global=16 parallel.dp=2", "global-batch-mismatch", false);
    row("one GPU, no accumulation: they are equal", "batch.micro=16 batch.accum=1 batch.global=16",
        "micro-batch-is-global-batch", false);
    row("divides", "parallel.pp=4", "layers-do-not-divide", false);
    row("does not divide", "parallel.pp=5", "layers-do-not-divide", true, "parallel.pp=4");
    row("uneven on purpose", "parallel.pp=5 parallel.first_stage_layers=4", "layers-do-not-divide", false);
    row("recompute off wins", "recompute.enabled=false recompute.granularity=full", "recompute-not-loaded", true,
        "recompute.enabled=true");
    row("recompute of nothing", "recompute.enabled=true recompute.granularity=none", "recompute-not-loaded", true,
        "recompute.enabled=true recompute.granularity=full");
    row("recompute on", "recompute.enabled=true recompute.granularity=full", "recompute-not-loaded", false);
    row("recompute off", "recompute.enabled=false recompute.granularity=none", "recompute-not-loaded", false);
    row("recompute not mentioned", "", "recompute-not-loaded", false);
}

void TestInsight::planRules()
{
    QFETCH(QByteArray, settings);
    QFETCH(QByteArray, id);
    QFETCH(bool, fires);
    const TrainingPlan plan = planOf(settings);
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, id.toStdString());
    QCOMPARE(finding != nullptr, fires);
    if (finding != nullptr) {
        QTEST(QByteArray::fromStdString(editsText(*finding)), "edits");
        QVERIFY(!finding->evidence.empty());
        QCOMPARE(finding->evidence.front().file, std::string("a.yaml"));
        QVERIFY(finding->evidence.front().line > 0);
    }
}

void TestInsight::estimateRules_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QByteArray>("id");
    QTest::addColumn<bool>("fires");
    const QByteArray megatron = "framework=megatron-args model.heads=16 shard.dist_opt=true parallel.dp=8 ";
    QTest::newRow("large vocabulary, few layers")
        << megatron + "model.layers=4 model.vocab=256000 batch.micro=16" << QByteArray("logits-are-the-peak") << true;
    QTest::newRow("small vocabulary") << megatron + "batch.micro=16" << QByteArray("logits-are-the-peak") << false;
    QTest::newRow("first stage in flight")
        << megatron + "parallel.pp=4 batch.micro=8 batch.accum=8" << QByteArray("end-stage-fuller") << true;
    QTest::newRow("one micro-batch") << megatron + "parallel.pp=4 batch.micro=1 batch.accum=1 model.vocab=1000"
                                     << QByteArray("end-stage-fuller") << false;
    QTest::newRow("one stage") << megatron + "batch.micro=8" << QByteArray("end-stage-fuller") << false;
    const QByteArray vision = megatron
        + "batch.micro=16 frozen.llm=true vision.layers=4 vision.hidden=512 vision.heads=8 "
          "vision.tokens_per_image=64 projector.type=mlp ";
    QTest::newRow("frozen behind a trained projector") << vision << QByteArray("frozen-keeps-activations") << true;
    QTest::newRow("all frozen in front") << vision + "frozen.vision=true frozen.projector=true"
                                         << QByteArray("frozen-keeps-activations") << false;
    QTest::newRow("nothing frozen") << QByteArray(vision).replace("frozen.llm=true", "")
                                    << QByteArray("frozen-keeps-activations") << false;
}

void TestInsight::estimateRules()
{
    QFETCH(QByteArray, settings);
    QFETCH(QByteArray, id);
    QFETCH(bool, fires);
    const TrainingPlan plan = planOf(settings);
    Footprint footprint;
    const auto done = estimateInstantly(plan, {}, footprint);
    QVERIFY2(done.has_value(), done ? "" : done.error().english().c_str());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.estimator = estimateInstantly;
    QCOMPARE(find(diagnose(situation), id.toStdString()) != nullptr, fires);
}

void TestInsight::disagreement_data()
{
    QTest::addColumn<QByteArray>("ran");
    QTest::addColumn<QByteArray>("id");
    QTest::newRow("as stated") << QByteArray("recompute.enabled=true recompute.granularity=full") << QByteArray();
    QTest::newRow("never loaded") << QByteArray("recompute.enabled=false") << QByteArray("another-setting-ran");
    QTest::newRow("twice as long") << QByteArray("recompute.enabled=true recompute.granularity=full batch.seq=4096")
                                   << QByteArray("estimate-disagrees");
}

void TestInsight::disagreement()
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

void TestInsight::outOfMemory_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<bool>("fires");
    QTest::addColumn<bool>("hasMend");
    const QByteArray common = "GPU 0 has a total capacity of 79.11 GiB of which ";
    QTest::newRow("shortage") << "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
            + common
            + "1.00 GiB is free. Including non-PyTorch memory, this process has 78.10 GiB memory in use. Of the "
              "allocated "
              "memory 76.50 GiB is allocated by PyTorch, and 500.00 MiB is reserved by PyTorch but unallocated."
                              << true << true;
    QTest::newRow("fragmentation")
        << "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. " + common
            + "1.00 GiB is free. Including non-PyTorch memory, this process has 78.10 GiB memory in use. Of the "
              "allocated "
              "memory 60.00 GiB is allocated by PyTorch, and 16.50 GiB is reserved by PyTorch but unallocated."
        << true << false;
    QTest::newRow("none") << QByteArray("all is well") << false << false;
}

void TestInsight::outOfMemory()
{
    QFETCH(QByteArray, message);
    QFETCH(bool, fires);
    QFETCH(bool, hasMend);
    const TrainingPlan plan = planOf("model.heads=16 batch.micro=4");
    const Run run = readLogText(message.toStdString() + "\n", "train.log");
    Footprint footprint;
    QVERIFY(estimateInstantly(plan, {}, footprint));
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.estimator = estimateInstantly;
    situation.run = &run;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "out-of-memory");
    QCOMPARE(finding != nullptr, fires);
    if (finding != nullptr) {
        QCOMPARE(finding, &findings.front());
        QCOMPARE(finding->evidence.front().line, 1);
        QCOMPARE(finding->mend.has_value(), hasMend);
        QVERIFY(!finding->explanation.isEmpty());
    }
}

void TestInsight::memoryOutside()
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

void TestInsight::argumentsThatDiffer()
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
    QCOMPARE(editsText(*finding), std::string("recompute.granularity=none"));
    log = config;
    QVERIFY(find(diagnose(situation), "config-is-not-what-ran") == nullptr);
}

void TestInsight::illegalPlansSayWhy()
{
    const TrainingPlan plan = planOf("model.heads=16 parallel.tp=3");
    Situation situation;
    situation.plan = &plan;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "plan-not-legal");
    QVERIFY(finding != nullptr);
    QVERIFY(QString::fromStdString(finding->title.english()).contains("does not divide"));
    QCOMPARE(finding->evidence.front().file, std::string("a.yaml"));
    const TrainingPlan legal = planOf("model.heads=16 parallel.tp=2");
    situation.plan = &legal;
    QVERIFY(find(diagnose(situation), "plan-not-legal") == nullptr);
}

void TestInsight::inFlightGrowth_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<bool>("fires");
    QTest::newRow("two to four stages") << QByteArray("parallel.pp=2 batch.accum=8")
                                        << QByteArray("parallel.pp=4 batch.accum=8") << true;
    QTest::newRow("too few micro-batches to fill the pipeline")
        << QByteArray("parallel.pp=2 batch.accum=2") << QByteArray("parallel.pp=4 batch.accum=2") << false;
    QTest::newRow("fewer stages") << QByteArray("parallel.pp=4 batch.accum=8")
                                  << QByteArray("parallel.pp=2 batch.accum=8") << false;
    QTest::newRow("nothing moved") << QByteArray("parallel.pp=4 batch.accum=8")
                                   << QByteArray("parallel.pp=4 batch.accum=8") << false;
}

void TestInsight::inFlightGrowth()
{
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(bool, fires);
    const TrainingPlan original = planOf(before);
    const TrainingPlan plan = planOf(after);
    Footprint originalFootprint;
    Footprint footprint;
    QVERIFY(estimate(original, {}, originalFootprint).has_value());
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.original = &original;
    situation.footprint = &footprint;
    situation.originalFootprint = &originalFootprint;
    QCOMPARE(find(diagnose(situation), "in-flight-growth") != nullptr, fires);
}

void TestInsight::reservedIsNoLeak()
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
    QVERIFY(find(findingsOf("40.5GiB"), "reserved-above-allocated") == nullptr);
}

void TestInsight::mendsPredictWhatTheEstimateSays()
{
    const TrainingPlan plan = planOf("batch.accum=8 batch.global=16 parallel.pp=2");
    const Run run = runOf("f 10 b 20 o 9 / f 10 b 20 o 9");
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.run = &run;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "peak-in-backward");
    QVERIFY(finding != nullptr && finding->mend && finding->mend->predictedPeak);
    const TrainingPlan recomputed
        = planOf("batch.accum=8 batch.global=16 parallel.pp=2 recompute.enabled=true recompute.granularity=full");
    Footprint after;
    QVERIFY(estimate(recomputed, {}, after).has_value());
    QCOMPARE(finding->mend->predictedPeak->value, after.fullest().device.value);
    QVERIFY(after.fullest().device < footprint.fullest().device);
    // The layers run forward twice: a third more at most, less by what the output layer takes (theory.md 8.2).
    QVERIFY(finding->mend->stepTime.has_value());
    QVERIFY(finding->mend->stepTime->ratio > 1.15 && finding->mend->stepTime->ratio < 1.3334);
    QCOMPARE(finding->mend->stepTime->mainPart(), StepPart::Recompute);
    QCOMPARE(finding->mend->stepTime->gpus, 1.0);
}

void TestInsight::theWorstComesFirst()
{
    const TrainingPlan plan = planOf("batch.micro=16 batch.accum=8 batch.global=16 parallel.dp=2 parallel.pp=5");
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    const auto findings = diagnose(situation);
    QCOMPARE(findings.front().id, std::string("micro-batch-is-global-batch"));
    QVERIFY(std::is_sorted(findings.begin(), findings.end(),
                           [](const Finding& a, const Finding& b) { return a.severity < b.severity; }));
}

void TestInsight::nothingOpenSaysNothing()
{
    QVERIFY(diagnose({}).empty());
    const Run empty = readLogText("", "empty.log");
    Situation situation;
    situation.run = &empty;
    QVERIFY(diagnose(situation).empty());
}

void TestInsight::doubledStagesTakeTheGpusAlong()
{
    const TrainingPlan plan = planOf("parallel.pp=2 parallel.dp=2 parallel.world=4 batch.accum=1");
    const Run run = runOf("f 20 b 30 o 38 / f 20 b 30 o 38");
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.run = &run;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "peak-in-optimizer");
    QVERIFY(finding != nullptr);
    QCOMPARE(editsText(*finding), std::string("parallel.pp=4 parallel.world=8"));
}

void TestInsight::absurdSizesAreNoCrash_data()
{
    QTest::addColumn<QByteArray>("settings");
    // 2^62 × 4 is 0 in 64 bits.
    QTest::newRow("micro-batch") << QByteArray(
        "batch.micro=4611686018427387904 parallel.dp=4 batch.accum=8 batch.global=16");
    QTest::newRow("accumulation") << QByteArray("batch.accum=9223372036854775807 batch.global=16");
    QTest::newRow("stages") << QByteArray("parallel.pp=4611686018427387904");
    QTest::newRow("layers and stages") << QByteArray("model.layers=1000000000000000000 parallel.pp=300000000000");
    QTest::newRow("GPUs") << QByteArray("parallel.world=9223372036854775807");
}

void TestInsight::absurdSizesAreNoCrash()
{
    QFETCH(QByteArray, settings);
    const TrainingPlan plan = planOf(settings);
    const Run run = runOf("f 20 b 30 o 38 / f 20 b 30 o 38");
    Situation situation;
    situation.plan = &plan;
    situation.run = &run;
    const auto findings = diagnose(situation);
    QVERIFY(find(findings, "peak-in-optimizer") != nullptr);
    QVERIFY(find(findings, "global-batch-mismatch") == nullptr);
}

QTEST_APPLESS_MAIN(TestInsight)
#include "tst_insight.moc"
