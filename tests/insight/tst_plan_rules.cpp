// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/insight_fixture.h"

#include "footprint/estimate.h"
#include "replay/replay.h"

#include <QTest>

using namespace headroom;

/// What the rules say of a plan and its estimate.
class TestPlanRules : public QObject
{
    Q_OBJECT

private slots:
    void planRules_data();
    void planRules();
    void estimateRules_data();
    void estimateRules();
    void evensStagesOut_data();
    void evensStagesOut();
    void keepsItsPromises_data();
    void keepsItsPromises();
    void illegalPlansSayWhy();
    void inFlightGrowth_data();
    void inFlightGrowth();
};

void TestPlanRules::planRules_data()
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
    row("recompute without a switch", "recompute.granularity=full", "recompute-not-loaded", false);
    row("recompute off", "recompute.enabled=false recompute.granularity=none", "recompute-not-loaded", false);
    row("recompute not mentioned", "", "recompute-not-loaded", false);
}

void TestPlanRules::planRules()
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

void TestPlanRules::estimateRules_data()
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

void TestPlanRules::estimateRules()
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

void TestPlanRules::evensStagesOut_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QByteArray>("edits");
    const QByteArray megatron
        = "framework=megatron-args model.heads=16 shard.dist_opt=true parallel.dp=8 batch.micro=32 batch.accum=32 ";
    // Of 24 layers 19 would be left for three stages: 7 on the last leave 6 for each between.
    QTest::newRow("both ends") << megatron + "parallel.pp=4"
                               << QByteArray("parallel.first_stage_layers=5 parallel.last_stage_layers=7");
    QTest::newRow("two stages") << megatron + "model.vocab=1000 parallel.pp=2"
                                << QByteArray("parallel.first_stage_layers=11");
    QTest::newRow("two stages, the other stated")
        << megatron + "model.vocab=1000 parallel.pp=2 parallel.first_stage_layers=12 parallel.last_stage_layers=12"
        << QByteArray("parallel.first_stage_layers=11 parallel.last_stage_layers=13");
    // 27 do not divide over four; 6 leave 7 for each of the others.
    QTest::newRow("one end") << megatron + "model.layers=27 parallel.pp=4"
                             << QByteArray("parallel.first_stage_layers=6");
    QTest::newRow("by the chunk") << megatron + "parallel.pp=4 parallel.vpp=2" << QByteArray();
}

/// As Megatron accepts it: the stages between the ends have as many layers each.
void TestPlanRules::evensStagesOut()
{
    QFETCH(QByteArray, settings);
    const TrainingPlan plan = planOf(settings);
    Footprint footprint;
    QVERIFY(estimateInstantly(plan, {}, footprint));
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.estimator = estimateInstantly;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "end-stage-fuller");
    QVERIFY(finding != nullptr);
    QTEST(QByteArray::fromStdString(editsText(*finding)), "edits");
}

void TestPlanRules::keepsItsPromises_data()
{
    QTest::addColumn<QByteArray>("settings");
    const QByteArray megatron = "framework=megatron-args model.heads=16 shard.dist_opt=true parallel.dp=8 ";
    QTest::newRow("in flight") << megatron + "parallel.pp=4 batch.micro=8 batch.accum=8";
    QTest::newRow("logits") << megatron + "model.layers=4 model.vocab=256000 batch.micro=16";
    QTest::newRow("recompute switched off")
        << megatron + "batch.micro=4 recompute.enabled=false recompute.granularity=full";
}

/// What a mend promises of a replayed plan is what the replay has once it is applied.
void TestPlanRules::keepsItsPromises()
{
    QFETCH(QByteArray, settings);
    const TrainingPlan plan = planOf(settings);
    Footprint footprint;
    QVERIFY(replay(plan, {}, footprint));
    QCOMPARE(footprint.engine, Engine::Replay);
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.estimator = estimateInstantly;
    situation.exact = replayWithin;
    int mends = 0;
    for (const Finding& finding : diagnose(situation)) {
        if (!finding.mend || !finding.mend->predictedPeak) {
            continue;
        }
        TrainingPlan mended = plan;
        for (const PlanEdit& edit : finding.mend->edits) {
            QVERIFY(setField(mended, edit.field, edit.value, {OriginKind::Edited, 0, nullptr}));
        }
        Footprint after;
        QVERIFY(replay(mended, {}, after));
        QCOMPARE(finding.mend->predictedPeak->value, after.fullest().device.value);
        ++mends;
    }
    QVERIFY(mends > 0);
}

void TestPlanRules::illegalPlansSayWhy()
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

void TestPlanRules::inFlightGrowth_data()
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

void TestPlanRules::inFlightGrowth()
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

QTEST_APPLESS_MAIN(TestPlanRules)
#include "tst_plan_rules.moc"
