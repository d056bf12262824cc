// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimated.h"
#include "footprint/working.h"

#include <QtTest>

#include <cstdlib>
#include <new>

using namespace headroom;
using test::estimated;
using test::multimodal;
using test::planOf;
using test::workflowExample;

namespace {

std::size_t allocations = 0;

} // namespace

// Counts what an estimate allocates.
void* operator new(std::size_t size)
{
    ++allocations;
    if (void* memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept
{
    std::free(memory);
}

class EstimateTest : public QObject
{
    Q_OBJECT

private slots:
    void workflowExampleIsExact();
    void workflowExampleOverStages();
    void tableOfInputs_data();
    void tableOfInputs();
    void missingInputs_data();
    void missingInputs();
    void impossiblePlans_data();
    void impossiblePlans();
    void gradientsInForward_data();
    void gradientsInForward();
    void firstStepLacksMoments();
    void optimizerPhaseCanPeak();
    void interleavedChunksAreExact();
    void visionBurdensTheFirstStage();
    void bidirectionalHoldsTwoCopies();
    void capacityDecides_data();
    void capacityDecides();
    void reusesItsStorage();
};

void EstimateTest::workflowExampleIsExact()
{
    const Footprint footprint = estimated(workflowExample());
    QCOMPARE(footprint.textbook.blockParameters, 12'582'912);
    QCOMPARE(footprint.textbook.parameters, 353'189'888);
    QCOMPARE(footprint.modelParameters, 353'189'888);
    QCOMPARE(footprint.textbook.staticState.value, 353'189'888LL * 16);
    QCOMPARE(formatGib(footprint.textbook.staticState, 3), std::string("5.263 GiB"));
    QCOMPARE(footprint.textbook.activations, mib(1536));
    QCOMPARE(footprint.textbook.inFlight, 1);
    QCOMPARE(footprint.k, 16.0);
    QCOMPARE(footprint.stages.size(), std::size_t{1});
    QCOMPARE(footprint.fullest().parameters, 353'189'888);
    QCOMPARE(footprint.fullest().peakAllocated.value, 353'189'888LL * 16 + mib(1536).value);
    QCOMPARE(footprint.fullest().peakPhase, Phase::Backward);
    QCOMPARE(footprint.textbook.peak, footprint.fullest().peakAllocated);
}

void EstimateTest::workflowExampleOverStages()
{
    // Two stages of twelve layers; the tied table is on both. Stage 0 holds two micro-batches of half the activations.
    const Footprint footprint = estimated(planOf({{"parallel.pp", "2"}, {"batch.accum", "8"}}, workflowExample()));
    QCOMPARE(footprint.stages.size(), std::size_t{2});
    for (const StageFootprint& stage : footprint.stages) {
        QCOMPARE(stage.parameters, 12 * 12'582'912 + 51'200'000);
        QCOMPARE(stage.component(Component::Activations), mib(768));
    }
    QCOMPARE(footprint.stages[0].inFlight, 2);
    QCOMPARE(footprint.stages[0].component(Component::InFlight), mib(768));
    QCOMPARE(footprint.stages[1].inFlight, 1);
    QCOMPARE(footprint.stages[1].component(Component::InFlight), Bytes{});
    QCOMPARE(footprint.modelParameters, 353'189'888);
    QCOMPARE(footprint.textbook.peak, footprint.stages[0].peakAllocated);
    QCOMPARE(footprint.fullestStage, std::size_t{0});
}

void EstimateTest::tableOfInputs_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("activations"); // bytes of one micro-batch
    const double token = 1024.0 * 24 * 16 * 2;
    QTest::newRow("as given") << workflowExample() << 2048 * token;
    QTest::newRow("micro-batch from the global batch") << planOf(
        {{"batch.global", "32"}, {"batch.accum", "4"}, {"parallel.dp", "2"}}, [] {
            TrainingPlan plan = workflowExample();
            plan.batch.micro = {};
            return plan;
        }()) << 4096 * token;
    QTest::newRow("packed tokens") << planOf({{"batch.tokens_per_microbatch", "8192"}}, workflowExample())
                                   << 8192 * token;
    QTest::newRow("context parallel") << planOf({{"parallel.cp", "2"}}, workflowExample()) << 1024 * token;
}

void EstimateTest::tableOfInputs()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, activations);
    QCOMPARE(estimated(plan).fullest().component(Component::Activations), bytesFrom(activations));
}

void EstimateTest::missingInputs_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* key, auto forget) {
        TrainingPlan plan = workflowExample();
        forget(plan);
        QTest::newRow(key) << plan << QString("%1 is not known").arg(key);
    };
    row("model.layers", [](TrainingPlan& plan) { plan.model.layers = {}; });
    row("model.hidden", [](TrainingPlan& plan) { plan.model.hidden = {}; });
    row("model.vocab", [](TrainingPlan& plan) { plan.model.vocab = {}; });
    row("batch.micro", [](TrainingPlan& plan) { plan.batch.micro = {}; });
    row("batch.seq", [](TrainingPlan& plan) { plan.batch.seq = {}; });
    row("vision.tokens_per_image", [](TrainingPlan& plan) {
        plan = planOf({{"vision.layers", "2"}, {"vision.hidden", "64"}}, plan);
    });
}

void EstimateTest::missingInputs()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, sentence);
    Footprint footprint;
    const auto done = estimate(plan, {}, footprint);
    QVERIFY(!done);
    QCOMPARE(QString::fromStdString(done.error().text.english()), sentence);
}

void EstimateTest::impossiblePlans_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    const auto row
        = [](const char* name, test::FieldTexts fields) { QTest::newRow(name) << planOf(fields, test::llama3Of8B()); };
    row("no layers", {{"model.layers", "0"}});
    row("negative hidden size", {{"model.hidden", "-4096"}});
    row("absurd layers", {{"model.layers", "9000000000000000000"}});
    row("absurd sequence", {{"batch.seq", "9000000000000000000"}});
    row("more stages than layers", {{"parallel.pp", "33"}});
    row("tensor parallelism that does not divide", {{"parallel.tp", "3"}});
    row("negative stages", {{"parallel.pp", "-1"}});
    row("contradicting stage sizes", {{"parallel.pp", "4"}, {"parallel.first_stage_layers", "40"}});
    row("negative stage size", {{"parallel.pp", "4"}, {"parallel.first_stage_layers", "-9223372036854775807"}});
}

void EstimateTest::impossiblePlans()
{
    QFETCH(TrainingPlan, plan);
    Footprint footprint;
    const auto done = estimate(plan, {}, footprint);
    QVERIFY(!done);
    QVERIFY(!done.error().text.isEmpty());
}

void EstimateTest::gradientsInForward_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<bool>("inForward");
    QTest::addColumn<bool>("betweenSteps");
    const auto row = [](const char* name, bool inForward, bool betweenSteps, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(fields, workflowExample()) << inForward << betweenSteps;
    };
    row("one micro-batch", false, false, {{"batch.accum", "1"}});
    row("accumulation: the second forward meets them", true, false, {{"batch.accum", "2"}});
    row("all micro-batches in flight", false, false,
        {{"batch.accum", "4"}, {"parallel.pp", "4"}, {"parallel.schedule", "gpipe"}});
    row("1F1B with more micro-batches than stages", true, false, {{"batch.accum", "8"}, {"parallel.pp", "4"}});
    row("fp32 gradient buffer", true, true, {{"batch.accum", "1"}, {"precision.recipe", "megatron-bf16"}});
}

void EstimateTest::gradientsInForward()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(bool, inForward);
    QFETCH(bool, betweenSteps);
    const StageFootprint stage = estimated(plan).stages.front();
    const Bytes gradients{stage.parameters * static_cast<std::int64_t>(stateRecipe(plan).gradient)};
    QCOMPARE(stage.phase(Phase::Backward) - stage.phase(Phase::Forward), inForward ? Bytes{} : gradients);
    QCOMPARE(stage.phase(Phase::Optimizer) - stage.steadyAllocated, betweenSteps ? Bytes{} : gradients);
    QCOMPARE(stage.phase(Phase::Optimizer).value,
             stage.parameters * static_cast<std::int64_t>(stateRecipe(plan).total()));
}

void EstimateTest::firstStepLacksMoments()
{
    const StageFootprint stage = estimated(workflowExample()).fullest();
    const std::int64_t moments = 8 * stage.parameters;
    // 1.5 GiB of activations are less than the moments, so the first optimizer step is the first step's peak.
    QCOMPARE(stage.firstStepPeakAllocated, stage.phase(Phase::Optimizer));
    const StageFootprint larger = estimated(planOf({{"batch.micro", "16"}}, workflowExample())).fullest();
    QCOMPARE(larger.firstStepPeakAllocated.value, larger.peakAllocated.value - moments);
}

void EstimateTest::optimizerPhaseCanPeak()
{
    const TrainingPlan plan
        = planOf({{"precision.recipe", "megatron-fp16"}, {"batch.micro", "1"}, {"batch.seq", "64"}}, workflowExample());
    const StageFootprint stage = estimated(plan).fullest();
    QCOMPARE(stage.peakPhase, Phase::Optimizer);
    QCOMPARE(stage.peakAllocated.value, 20 * stage.parameters);
    QCOMPARE(stage.component(Component::Activations), Bytes{});
    QCOMPARE(stage.component(Component::Gradients).value, 6 * stage.parameters);
}

void EstimateTest::interleavedChunksAreExact()
{
    // p = 4, v = 2, m = 8: 11, 9, 7, 5 chunks of three layers.
    const TrainingPlan plan = planOf(
        {{"parallel.pp", "4"}, {"parallel.vpp", "2"}, {"parallel.schedule", "interleaved"}, {"batch.accum", "8"}},
        workflowExample());
    const Footprint footprint = estimated(plan);
    const std::array<std::int64_t, 4> chunks{11, 9, 7, 5};
    const std::array<std::int64_t, 4> displayed{6, 5, 4, 3};
    const Bytes layer = mib(64);
    for (std::size_t i = 0; i < 4; ++i) {
        const StageFootprint& stage = footprint.stages[i];
        QCOMPARE(stage.component(Component::Activations) + stage.component(Component::InFlight),
                 layer * (3 * chunks[i]));
        QCOMPARE(stage.inFlight, displayed[i]);
    }
}

void EstimateTest::visionBurdensTheFirstStage()
{
    const Footprint with = estimated(multimodal());
    const Footprint without = estimated(planOf({{"parallel.pp", "4"}, {"batch.accum", "8"}}, test::llama3Of8B()));
    const ActivationModel activations = workingOf(multimodal(), {}).activations;
    QVERIFY(activations.vision() > 0);
    // Four micro-batches in flight on stage 0, each with its images.
    const auto live = [](const StageFootprint& stage) {
        return stage.component(Component::Activations) + stage.component(Component::InFlight);
    };
    QCOMPARE(live(with.stages[0]) - live(without.stages[0]), bytesFrom(4 * activations.vision()));
    QVERIFY(with.stages[0].parameters > without.stages[0].parameters);
    for (std::size_t stage = 1; stage < 4; ++stage) {
        QCOMPARE(with.stages[stage].peakAllocated, without.stages[stage].peakAllocated);
    }
    const Footprint frozen = estimated(planOf({{"frozen.vision", "true"}, {"frozen.projector", "true"}}, multimodal()));
    QCOMPARE(live(frozen.stages[0]), live(without.stages[0]));
}

void EstimateTest::bidirectionalHoldsTwoCopies()
{
    const TrainingPlan plan = planOf({{"parallel.pp", "4"}, {"batch.accum", "32"}}, test::llama3Of8B());
    const Footprint once = estimated(plan);
    const Footprint twice = estimated(planOf({{"parallel.schedule", "dualpipe"}}, plan));
    QCOMPARE(twice.stages[0].parameters, once.stages[0].parameters + once.stages[3].parameters);
    QCOMPARE(twice.stages[1].parameters, 2 * once.stages[1].parameters);
    QCOMPARE(twice.stages[1].component(Component::Activations), once.stages[1].component(Component::Activations));
    QCOMPARE(twice.stages[1].inFlight, 5);
}

void EstimateTest::capacityDecides_data()
{
    QTest::addColumn<QString>("capacity");
    QTest::addColumn<bool>("fits");
    const std::int64_t device = 353'189'888LL * 16 + mib(1536).value + contextPrior.value;
    QTest::newRow("exactly") << QString::number(device) << true;
    QTest::newRow("one byte short") << QString::number(device - 1) << false;
    QTest::newRow("80 GB") << "84987740160" << true;
}

void EstimateTest::capacityDecides()
{
    QFETCH(QString, capacity);
    QFETCH(bool, fits);
    QVERIFY(!estimated(workflowExample()).fits());
    QCOMPARE(estimated(planOf({{"hardware.capacity_bytes", capacity.toStdString()}}, workflowExample())).fits(),
             std::optional(fits));
}

void EstimateTest::reusesItsStorage()
{
    TrainingPlan plan = planOf({{"optimizer.name", "adamw"}, {"recompute.granularity", "selective"}}, multimodal());
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    const Footprint first = footprint;
    const std::size_t before = allocations;
    const bool done = estimate(plan, {}, footprint).has_value();
    const std::size_t during = allocations - before;
    QVERIFY(done);
    QCOMPARE(during, std::size_t{0});
    QCOMPARE(footprint.fullest().peakAllocated, first.fullest().peakAllocated);
    plan.parallel.pp.value = 2;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    QCOMPARE(footprint.stages.size(), std::size_t{2});
}

QTEST_APPLESS_MAIN(EstimateTest)
#include "tst_estimate.moc"
