// SPDX-License-Identifier: GPL-3.0-or-later
//
// What holds for the estimate of every plan, large ones included.
#include "footprint/estimated.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace headroom;
using test::estimated;
using test::multimodal;
using test::planOf;
using test::workflowExample;

namespace {

Bytes componentSum(const StageFootprint& stage)
{
    Bytes sum;
    for (std::size_t i = 0; i < stage.components.size(); ++i) {
        if (i != static_cast<std::size_t>(Component::Context)) {
            sum += stage.components[i];
        }
    }
    return sum;
}

} // namespace

class EstimatePropertiesTest : public QObject
{
    Q_OBJECT

private slots:
    void unevenSplitsCover_data();
    void unevenSplitsCover();
    void componentsAddUpToThePeak_data();
    void componentsAddUpToThePeak();
    void recomputingNeverAdds();
    void tensorParallelismNeverAdds_data();
    void tensorParallelismNeverAdds();
    void moreStagesMoreInFlight();
    void largestNumbersDoNotOverflow();
    void longPipelinesAreQuick();
};

void EstimatePropertiesTest::unevenSplitsCover_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    const auto row = [](const char* name, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(fields, planOf({{"batch.accum", "16"}}, test::llama3Of8B()));
    };
    row("three stages", {{"parallel.pp", "3"}});
    row("five stages", {{"parallel.pp", "5"}});
    row("short first stage", {{"parallel.pp", "4"}, {"parallel.first_stage_layers", "5"}});
    row("embedding and loss counted",
        {{"parallel.pp", "2"}, {"parallel.embed_in_split", "true"}, {"parallel.loss_in_split", "true"}});
    row("folded, odd stages", {{"parallel.pp", "5"}, {"parallel.schedule", "zb-v"}});
}

void EstimatePropertiesTest::unevenSplitsCover()
{
    QFETCH(TrainingPlan, plan);
    const Footprint footprint = estimated(plan);
    std::int64_t layers = 0;
    std::int64_t parameters = 0;
    for (const StageFootprint& stage : footprint.stages) {
        layers += stage.layers;
        parameters += stage.parameters;
    }
    QCOMPARE(layers, 32);
    QCOMPARE(parameters, 8'030'261'248);
    QCOMPARE(footprint.modelParameters, 8'030'261'248);
}

void EstimatePropertiesTest::componentsAddUpToThePeak_data()
{
    test::addVariedPlans();
}

void EstimatePropertiesTest::componentsAddUpToThePeak()
{
    QFETCH(TrainingPlan, plan);
    const Footprint footprint = estimated(plan);
    for (const StageFootprint& stage : footprint.stages) {
        QCOMPARE(componentSum(stage), stage.peakAllocated);
        QCOMPARE(stage.phase(stage.peakPhase), stage.peakAllocated);
        QCOMPARE(stage.peakReserved, stage.peakAllocated);
        QCOMPARE(stage.device, stage.peakReserved + stage.component(Component::Context));
        for (const Bytes phase : stage.phases) {
            QVERIFY(phase <= stage.peakAllocated);
        }
        QVERIFY(stage.firstStepPeakAllocated <= stage.peakAllocated);
        QVERIFY(stage.steadyAllocated <= stage.peakAllocated);
        QVERIFY(stage.device <= footprint.fullest().device);
    }
}

void EstimatePropertiesTest::recomputingNeverAdds()
{
    for (const TrainingPlan& plan : {workflowExample(), multimodal()}) {
        const auto with = [&plan](test::FieldTexts fields) { return estimated(planOf(fields, plan)); };
        const Footprint none = with({});
        const Footprint selective = with({{"recompute.granularity", "selective"}, {"recompute.modules", "mlp"}});
        const Footprint full = with({{"recompute.granularity", "full"}});
        for (std::size_t stage = 0; stage < none.stages.size(); ++stage) {
            QVERIFY(selective.stages[stage].peakAllocated < none.stages[stage].peakAllocated);
            QVERIFY(full.stages[stage].peakAllocated < selective.stages[stage].peakAllocated);
            QVERIFY(full.stages[stage].component(Component::WorkingSet) > Bytes{});
        }
    }
}

void EstimatePropertiesTest::tensorParallelismNeverAdds_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    const TrainingPlan llama = planOf({{"parallel.pp", "2"}, {"batch.accum", "4"}}, test::llama3Of8B());
    QTest::newRow("without SP") << llama;
    QTest::newRow("with SP") << planOf({{"parallel.sp", "true"}}, llama);
    QTest::newRow("multimodal") << multimodal();
    QTest::newRow("full recompute") << planOf({{"recompute.granularity", "full"}}, multimodal());
    QTest::newRow("experts") << planOf({{"moe.experts", "8"}, {"moe.topk", "2"}, {"parallel.sp", "true"}}, llama);
}

void EstimatePropertiesTest::tensorParallelismNeverAdds()
{
    QFETCH(TrainingPlan, plan);
    Footprint before = estimated(plan);
    for (const char* size : {"2", "4", "8", "16", "32"}) {
        const Footprint now = estimated(planOf({{"parallel.tp", size}}, plan));
        for (std::size_t stage = 0; stage < now.stages.size(); ++stage) {
            // The context comes last: a group more has its own communicator.
            for (std::size_t i = 0; i + 1 < now.stages[stage].components.size(); ++i) {
                QVERIFY2(now.stages[stage].components[i] <= before.stages[stage].components[i], size);
            }
        }
        before = now;
    }
}

void EstimatePropertiesTest::moreStagesMoreInFlight()
{
    // Activations of the first stage do not fall with more stages: fewer layers, more micro-batches.
    const auto live = [](const char* stages) {
        const Footprint footprint
            = estimated(planOf({{"parallel.pp", stages}, {"batch.accum", "32"}}, test::llama3Of8B()));
        const StageFootprint& first = footprint.stages.front();
        return first.component(Component::Activations) + first.component(Component::InFlight);
    };
    QCOMPARE(live("1"), live("2"));
    QCOMPARE(live("2"), live("8"));
}

void EstimatePropertiesTest::largestNumbersDoNotOverflow()
{
    // Every size at the limit of what is accepted, and what no limit covers as large as it gets.
    TrainingPlan plan = planOf({{"model.layers", "100000"},
                                {"model.hidden", "16000000"},
                                {"model.heads", "1000000"},
                                {"model.ffn", "64000000"},
                                {"model.vocab", "1000000000"},
                                {"moe.experts", "1000000"},
                                {"moe.ffn", "64000000"},
                                {"moe.shared_ffn", "9223372036854775807"},
                                {"vision.layers", "100000"},
                                {"vision.hidden", "16000000"},
                                {"vision.tokens_per_image", "100000000"},
                                {"vision.images_per_sample", "1000000"},
                                {"vision.max_tiles", "9223372036854775807"},
                                {"vision.merge", "9223372036854775807"},
                                {"projector.type", "patch_merger"},
                                {"projector.out", "9223372036854775807"},
                                {"lora.rank", "9223372036854775807"},
                                {"batch.micro", "100000000"},
                                {"batch.seq", "1000000000"},
                                {"batch.accum", "100000000"},
                                {"attention.impl", "eager"}});
    Footprint footprint = estimated(plan);
    const StageFootprint& stage = footprint.fullest();
    QCOMPARE(stage.peakAllocated.value, std::numeric_limits<std::int64_t>::max());
    QCOMPARE(stage.device.value, std::numeric_limits<std::int64_t>::max());
    QVERIFY(stage.staticState().value > 0);
    QVERIFY(stage.firstStepPeakAllocated.value > 0);
    QVERIFY(!explain(plan, {}, footprint, 0).empty());
    QVERIFY(!estimated(workflowExample(), {1e300, 1, {}, {}}).stages.empty());
    QVERIFY(!estimated(workflowExample(), {std::nan(""), 1, {}, {}}).stages.empty());
}

void EstimatePropertiesTest::longPipelinesAreQuick()
{
    TrainingPlan plan
        = planOf({{"model.layers", "100000"}, {"parallel.pp", "100000"}, {"batch.accum", "4"}}, workflowExample());
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(estimated(plan).stages.size(), std::size_t{100'000});
    QVERIFY2(timer.elapsed() < 5000, "each stage must cost the same");
}

QTEST_APPLESS_MAIN(EstimatePropertiesTest)
#include "tst_estimate_properties.moc"
