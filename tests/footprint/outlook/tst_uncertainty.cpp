// SPDX-License-Identifier: GPL-3.0-or-later
//
// Intervals and their reasons, against the half-widths and priors of theory.md 6 and 9.5.
#include "footprint/outlook/outside.h"
#include "footprint/stated_plans.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace headroom;
using test::Described;
using test::described;
using test::llama3Of8B;
using test::planOf;
using test::statedPlan;
using test::workflowExample;

namespace {

TrainingPlan expertPlan(test::FieldTexts own = {})
{
    return planOf(own,
                  statedPlan({{"parallel.pp", "1"},
                              {"parallel.dp", "8"},
                              {"parallel.ep", "8"},
                              {"moe.experts", "8"},
                              {"moe.topk", "2"},
                              {"moe.ffn", "14336"},
                              {"moe.dispatcher", "alltoall"},
                              {"moe.grouped_gemm", "true"}}));
}

OutsideMemory outside(const TrainingPlan& plan)
{
    return outsideMemory(plan, splitOf(plan));
}

const UncertaintyReason* reason(const Uncertainty& uncertainty, std::string_view id)
{
    const auto found = std::find_if(uncertainty.reasons.begin(), uncertainty.reasons.end(),
                                    [id](const UncertaintyReason& reason) { return reason.id == id; });
    return found == uncertainty.reasons.end() ? nullptr : &*found;
}

Bytes activationPart(const StageFootprint& stage)
{
    return stage.component(Component::Activations) + stage.component(Component::InFlight)
        + stage.component(Component::Logits) + stage.component(Component::WorkingSet);
}

Bytes share(double part, Bytes bytes)
{
    return bytesFrom(part * static_cast<double>(bytes.value));
}

} // namespace

class TestUncertainty : public QObject
{
    Q_OBJECT

private slots:
    void countsCommunicators_data();
    void countsCommunicators();
    void outsideTheAllocator();
    void activationShare_data();
    void activationShare();
    void independentDoubtsAddInQuadrature();
    void expertRoutingIsARange();
    void recipeForgetsLogits();
    void expertsOnOneRankAreSure();
    void fitIsThreeValued();
    void estimatingAgainForgetsIntervals();
    void intervalsHoldTheFigure_data();
    void intervalsHoldTheFigure();
};

void TestUncertainty::countsCommunicators_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("count");
    const auto row = [](const char* name, test::FieldTexts fields, qint64 count) {
        QTest::newRow(name) << planOf(fields, llama3Of8B()) << count;
    };
    row("one GPU", {}, 0);
    row("replicas", {{"parallel.dp", "8"}}, 1);
    row("tensor", {{"parallel.tp", "4"}}, 2); // and the norm of all gradients
    row("tensor and replicas", {{"parallel.tp", "4"}, {"parallel.dp", "2"}}, 3);
    row("pipeline, untied", {{"parallel.pp", "4"}}, 2);
    row("pipeline, tied", {{"parallel.pp", "4"}, {"model.tied_embeddings", "true"}}, 3);
    row("context", {{"parallel.cp", "2"}}, 2); // gradients are reduced over it
    row("FSDP", {{"implementation.profile", "torchtitan"}, {"parallel.dp", "8"}, {"shard.fsdp", "true"}}, 1);
    // Model, pipeline and two pairs of stages; data and tensor groups are there twice.
    row("the DeepSpeed pipeline's grid", {{"implementation.profile", "deepspeed-pipeline"}, {"parallel.pp", "4"}}, 4);
    row("all of it",
        {{"implementation.profile", "deepspeed-pipeline"},
         {"parallel.pp", "4"},
         {"parallel.tp", "2"},
         {"parallel.dp", "2"}},
        8);
    row("InternEvo, FSDP", {{"implementation.profile", "internevo"}, {"parallel.dp", "4"}, {"shard.fsdp", "true"}}, 3);
    row("InternEvo, pipeline", {{"implementation.profile", "internevo"}, {"parallel.pp", "4"}}, 3);
    row("experts with replicas", {{"parallel.dp", "8"}, {"parallel.ep", "4"}, {"moe.experts", "8"}, {"moe.topk", "2"}},
        3);
}

void TestUncertainty::countsCommunicators()
{
    QFETCH(TrainingPlan, plan);
    QTEST(static_cast<qint64>(communicators(plan, splitOf(plan))), "count");
}

/// theory.md 6.1 and 6.2, cases N01 and N02.
void TestUncertainty::outsideTheAllocator()
{
    QCOMPARE(ncclConnection.value, qint64{12582912});
    const OutsideMemory alone = outside(llama3Of8B());
    QCOMPARE(alone.context.low, mib(400));
    QCOMPARE(alone.context.high, mib(600));
    QCOMPARE(alone.central(), mib(500));
    const OutsideMemory experts = outside(expertPlan());
    QCOMPARE(experts.exchange.central.value, qint64{2818572288}); // 7 peers, 32 channels
    QCOMPARE(experts.communication.low.value, experts.communicators * 300'000'000);
    QCOMPARE(experts.communication.high.value, experts.communicators * 700'000'000);
    QCOMPARE(outside(expertPlan({{"moe.dispatcher", "allgather"}})).exchange.high.value, qint64{0});
    // Eager kernel loading, on a V100 (theory_frameworks.md 2.5).
    const TrainingPlan old
        = planOf({{"implementation.profile", "megatron-2.4"}, {"hardware.gpu", "v100-32gb"}}, llama3Of8B());
    QCOMPARE(outside(old).context.central, mib(1271));
    const Described result = described(expertPlan());
    QCOMPARE(result.footprint.fullest().component(Component::Context), experts.central());
    QCOMPARE(result.footprint.fullest().device, result.footprint.fullest().peakReserved + experts.central());
}

void TestUncertainty::activationShare_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("k");
    QTest::addColumn<double>("expected");
    const auto row = [](const char* name, const TrainingPlan& plan, double expected, double k = 0) {
        QTest::newRow(name) << plan << k << expected;
    };
    TrainingPlan formless = statedPlan();
    formless.implementation.profile = {};
    row("fused, known", statedPlan(), 0.02);
    row("framework not known", formless, 0.15);
    row("what is recomputed not known",
        statedPlan({{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}}), 0.15);
    row("modules known",
        statedPlan(
            {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.modules", "mlp"}}),
        0.02);
    row("Python", statedPlan({{"parallel.pp", "1"}, {"implementation.profile", "hf-sdpa"}}), 0.08);
    row("recipe", workflowExample(), 0.15);
    row("a measured k", statedPlan(), 0.03, 17);
}

void TestUncertainty::activationShare()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, k);
    QFETCH(double, expected);
    Calibration calibration;
    if (k > 0) {
        calibration.k = k;
    }
    const Described result = described(plan, calibration);
    const UncertaintyReason* found = reason(result.uncertainty, "activations");
    QVERIFY(found != nullptr);
    QCOMPARE(found->above, share(expected, activationPart(result.footprint.fullest())));
    QCOMPARE(found->below, found->above);
    QVERIFY(!found->text.english().empty());
}

void TestUncertainty::independentDoubtsAddInQuadrature()
{
    const Described result = described(statedPlan());
    for (const StageFootprint& stage : result.footprint.stages) {
        QVERIFY(stage.intervals.has_value());
        const double activations = 0.02 * static_cast<double>(activationPart(stage).value);
        const double cache = 0.08 * static_cast<double>(stage.peakAllocated.value);
        const double context = 100.0 * 1024 * 1024;
        const double nccl = 2 * 0.2e9; // pipeline and norm
        const auto isNear
            = [](Bytes bytes, double expected) { return std::abs(static_cast<double>(bytes.value) - expected) <= 4; };
        const auto allocated = static_cast<double>(stage.peakAllocated.value);
        const auto device = static_cast<double>(stage.device.value);
        QVERIFY(isNear(stage.intervals->allocated.low, allocated - activations));
        QVERIFY(isNear(stage.intervals->allocated.high, allocated + activations));
        QVERIFY(isNear(stage.intervals->reserved.high, allocated + std::hypot(activations, cache)));
        QVERIFY(isNear(stage.intervals->device.high,
                       device + std::hypot(std::hypot(activations, cache), std::hypot(context, nccl))));
        QVERIFY(isNear(stage.intervals->device.low, device - std::hypot(activations, std::hypot(context, nccl))));
    }
}

/// theory_moe_cp.md 4: [1.0, 1.5] for the busiest rank, as a range and not as a deviation.
void TestUncertainty::expertRoutingIsARange()
{
    const Described result = described(expertPlan());
    const UncertaintyReason* found = reason(result.uncertainty, "moe.load");
    QVERIFY(found != nullptr && found->isRange);
    QCOMPARE(found->below, Bytes{});
    // R more rows of half the balanced number, 2·(h + 3·f) bytes each at least (the same section's slope).
    const double rows = 0.5 * 8192 * 2;
    QVERIFY(static_cast<double>(found->above.value) >= 32 * rows * 2 * (4096 + 3 * 14336.0));
    const StageFootprint& stage = result.footprint.fullest();
    const double activations = 0.02 * static_cast<double>(activationPart(stage).value);
    const double expected
        = static_cast<double>(stage.peakAllocated.value) + activations + static_cast<double>(found->above.value);
    QVERIFY(std::abs(static_cast<double>(stage.intervals->allocated.high.value) - expected) <= 4);
}

void TestUncertainty::recipeForgetsLogits()
{
    const Described result = described(workflowExample());
    QCOMPARE(result.footprint.engine, Engine::Textbook);
    const UncertaintyReason* found = reason(result.uncertainty, "logits");
    QVERIFY(found != nullptr);
    QCOMPARE(found->above.value, qint64{6} * 2 * 1024 * 50000);
    QCOMPARE(found->below, Bytes{});
}

/// With all experts on one rank every token comes to it, however it is routed.
void TestUncertainty::expertsOnOneRankAreSure()
{
    const Described result = described(expertPlan({{"parallel.ep", "1"}}));
    QVERIFY(reason(result.uncertainty, "moe.load") == nullptr);
}

void TestUncertainty::fitIsThreeValued()
{
    Described result = described(statedPlan());
    Footprint& footprint = result.footprint;
    const Interval device = footprint.fullest().intervals->device;
    QVERIFY(!footprint.fit().has_value());
    footprint.capacity = device.high;
    QCOMPARE(footprint.fit(), std::optional(Fit::Fits));
    footprint.capacity = device.high - Bytes{1};
    QCOMPARE(footprint.fit(), std::optional(Fit::MayNotFit));
    QCOMPARE(footprint.fits(), std::optional(true));
    footprint.capacity = device.low;
    QCOMPARE(footprint.fit(), std::optional(Fit::MayNotFit));
    QCOMPARE(footprint.fits(), std::optional(false));
    footprint.capacity = device.low - Bytes{1};
    QCOMPARE(footprint.fit(), std::optional(Fit::DoesNotFit));
}

void TestUncertainty::estimatingAgainForgetsIntervals()
{
    Described result = described(statedPlan());
    QVERIFY(estimateInstantly(statedPlan({{"batch.micro", "2"}}), {}, result.footprint));
    QVERIFY(!result.footprint.fullest().intervals.has_value());
    result = described(workflowExample());
    QVERIFY(estimate(workflowExample(), {}, result.footprint));
    QVERIFY(!result.footprint.fullest().intervals.has_value());
}

void TestUncertainty::intervalsHoldTheFigure_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("recipe") << workflowExample();
    QTest::newRow("bare model") << llama3Of8B();
    QTest::newRow("pipeline") << planOf({{"parallel.pp", "8"}, {"parallel.vpp", "4"}, {"batch.accum", "16"}},
                                        llama3Of8B());
    QTest::newRow("experts") << expertPlan();
    QTest::newRow("FSDP") << planOf({{"implementation.profile", "torchtitan"},
                                     {"parallel.dp", "8"},
                                     {"shard.fsdp", "true"},
                                     {"recompute.enabled", "true"},
                                     {"recompute.granularity", "full"}},
                                    llama3Of8B());
    QTest::newRow("old") << planOf({{"implementation.profile", "megatron-2.4"}, {"parallel.tp", "8"}}, llama3Of8B());
    QTest::newRow("huge") << planOf({{"batch.micro", "1000000"}, {"model.layers", "100000"}}, llama3Of8B());
}

void TestUncertainty::intervalsHoldTheFigure()
{
    QFETCH(TrainingPlan, plan);
    const Described result = described(plan);
    for (const StageFootprint& stage : result.footprint.stages) {
        QVERIFY(stage.intervals.has_value());
        QVERIFY(stage.intervals->allocated.contains(stage.peakAllocated));
        QVERIFY(stage.intervals->reserved.contains(stage.peakReserved));
        QVERIFY(stage.intervals->device.contains(stage.device));
        QVERIFY(stage.intervals->allocated.low <= stage.intervals->reserved.low
                || stage.peakReserved == stage.peakAllocated);
        QVERIFY(stage.intervals->reserved.high <= stage.intervals->device.high);
    }
    QVERIFY(!result.uncertainty.reasons.empty());
    for (const UncertaintyReason& found : result.uncertainty.reasons) {
        QVERIFY(found.below.value >= 0 && found.above.value >= 0);
    }
}

QTEST_GUILESS_MAIN(TestUncertainty)
#include "tst_uncertainty.moc"
