// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/outlook/flops.h"
#include "footprint/tape/state.h"
#include "footprint/vision_plans.h"
#include "footprint/working.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"

#include <QtTest>

#include <numeric>

using namespace headroom;
using headroom::test::planOf;

namespace {

constexpr std::int64_t clipParameters = 303'507'456; ///< CLIP ViT-L/14-336 (theory.md 1.5, P10)
constexpr std::int64_t projectorParameters = 20'979'712; ///< LLaVA-1.5-7B (theory.md 1.6, P12)
constexpr std::int64_t languageParameters = 6'738'415'616; ///< Llama-2-7B

/// LLaVA-1.5-7B in a batch of sixteen images.
TrainingPlan llava(test::FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"precision.recipe", "megatron-bf16"}, {"batch.seq", "2048"}, {"batch.accum", "16"}},
                         test::llavaOf7B()));
}

std::vector<StageWorking> stagesOf(const TrainingPlan& plan)
{
    const Working working = workingOf(plan, {});
    const auto split = PipelineSplit::of(plan).value();
    std::vector<StageWorking> stages;
    for (std::int64_t stage = 0; stage < split.stages() + working.encoderStages; ++stage) {
        stages.push_back(stageWorking(working, split, stage));
    }
    return stages;
}

} // namespace

class EncoderTest : public QObject
{
    Q_OBJECT

private slots:
    void copiesFrozenWeightsForTheirNorm_data();
    void copiesFrozenWeightsForTheirNorm();
    void stagesAddUp_data();
    void stagesAddUp();
    void countsGpus_data();
    void countsGpus();
    void ownStagesLengthenThePipeline();
    void everyStageTakesItsShare();
    void splitsOverItsOwnRanks();
    void worksWhereItStands();
    void tapesOfASingleStage();
    void refusesWhatNobodyRuns_data();
    void refusesWhatNobodyRuns();
};

void EncoderTest::copiesFrozenWeightsForTheirNorm_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("copied");
    const test::FieldTexts frozen{
        {"frozen.llm", "true"}, {"frozen.vision", "true"}, {"implementation.logs_parameter_norm", "true"}};
    QTest::newRow("encoder and language model") << llava(frozen) << qint64{clipParameters + languageParameters};
    QTest::newRow("encoder") << planOf({{"frozen.llm", "false"}}, llava(frozen)) << qint64{clipParameters};
    QTest::newRow("nothing frozen") << llava({{"implementation.logs_parameter_norm", "true"}}) << qint64{0};
    QTest::newRow("no norm") << planOf({{"implementation.logs_parameter_norm", "false"}}, llava(frozen)) << qint64{0};
    QTest::newRow("fp32 already") << planOf({{"precision.recipe", "fp32"}}, llava(frozen)) << qint64{0};
}

/// 4 bytes a frozen 16-bit weight, all at once (theory_moe_cp.md section 3).
void EncoderTest::copiesFrozenWeightsForTheirNorm()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, copied);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY2(built, built ? "" : built.error().english().c_str());
    QCOMPARE(stageState(program, program.stages[0]).stepTemporaries, 4 * copied);
}

void EncoderTest::stagesAddUp_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QList<qint64>>("encoderLayers");
    QTest::addColumn<qint64>("copies");
    const auto row = [](const char* name, test::FieldTexts fields, QList<qint64> layers, qint64 copies) {
        QTest::newRow(name) << planOf({{"parallel.pp", "4"}}, llava(fields)) << layers << copies;
    };
    row("first stage, by default", {}, {24, 0, 0, 0}, 1);
    row("first stage", {{"parallel.encoder_placement", "first_stage"}}, {24, 0, 0, 0}, 1);
    row("one stage of its own", {{"parallel.encoder_placement", "own_stages"}}, {24, 0, 0, 0, 0}, 1);
    row("two stages", {{"parallel.encoder_pp", "2"}}, {12, 12, 0, 0, 0, 0}, 1);
    row("five stages", {{"parallel.encoder_pp", "5"}}, {5, 5, 5, 5, 4, 0, 0, 0, 0}, 1);
    row("every stage", {{"parallel.encoder_placement", "every_stage"}}, {24, 24, 24, 24}, 4);
}

/// The sum of the stages is the model, with as many encoders as there are copies.
void EncoderTest::stagesAddUp()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QList<qint64>, encoderLayers);
    QFETCH(qint64, copies);
    const std::vector<StageWorking> stages = stagesOf(plan);
    QCOMPARE(stages.size(), static_cast<std::size_t>(encoderLayers.size()));
    constexpr qint64 layer = 12 * 1024 * 1024 + 13 * 1024; // 4h² + 2hf and biases and norms, h 1024, f 4096
    constexpr qint64 stem = clipParameters - 24 * layer;
    qint64 sum = 0, encoders = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const qint64 layers = encoderLayers[static_cast<qsizetype>(i)];
        const bool hasStem = layers > 0 && (copies > 1 || i == 0);
        QCOMPARE(stages[i].weights.vision.total().value(), layers * layer + (hasStem ? stem : 0));
        sum += stages[i].weights.total().value();
        encoders += stages[i].weights.vision.total().value() + stages[i].weights.projector.total().value();
    }
    QCOMPARE(encoders, copies * (clipParameters + projectorParameters));
    QCOMPARE(sum, languageParameters + encoders);
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint));
    QCOMPARE(footprint.modelParameters, languageParameters + clipParameters + projectorParameters);
    QCOMPARE(footprint.stages.size(), stages.size());
}

void EncoderTest::countsGpus_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("world");
    const auto row = [](const char* name, test::FieldTexts fields, qint64 world) {
        QTest::newRow(name) << planOf(
            fields, llava({{"parallel.tp", "8"}, {"parallel.pp", "4"}, {"parallel.cp", "2"}, {"parallel.dp", "3"}}))
                            << world;
    };
    row("first stage", {}, qint64{8} * 4 * 2 * 3);
    row("every stage", {{"parallel.encoder_placement", "every_stage"}}, qint64{8} * 4 * 2 * 3);
    row("own stage", {{"parallel.encoder_pp", "1"}}, (qint64{8} * 1 + 8 * 4) * 2 * 3);
    row("own stages, narrower", {{"parallel.encoder_pp", "2"}, {"parallel.encoder_tp", "4"}},
        (qint64{4} * 2 + 8 * 4) * 2 * 3);
}

/// World size and data parallel size follow from one another.
void EncoderTest::countsGpus()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, world);
    QCOMPARE(worldSize(plan), world);
    plan.parallel.dp = {};
    plan = planOf({{"parallel.world", std::to_string(world)}}, plan);
    QCOMPARE(dataParallelSize(plan), 3);
}

/// 1F1B over 2 + 4 stages holds 6, 5, …, 1 micro-batches (theory.md 4.1).
void EncoderTest::ownStagesLengthenThePipeline()
{
    const TrainingPlan plan = llava({{"parallel.pp", "4"}, {"parallel.encoder_pp", "2"}});
    const std::vector<StageWorking> stages = stagesOf(plan);
    for (std::size_t i = 0; i < stages.size(); ++i) {
        QCOMPARE(stages[i].held.microBatches(), static_cast<std::int64_t>(6 - i));
    }
    const std::vector<StageWorking> before = stagesOf(llava({{"parallel.pp", "4"}}));
    QCOMPARE(before[0].held.microBatches(), 4);
    // Both halves and the projector together keep what the first stage kept; it now keeps the features: 576·h·2.
    QCOMPARE(stages[0].vision + stages[1].vision, before[0].vision);
    QCOMPARE(stages[2].vision, 576.0 * 4096 * 2);
    QCOMPARE(stages[3].vision, 0.0);
    QCOMPARE(stages[0].activations.kept, 0.0);
}

/// Four stages: of sixteen images each encodes four, and the optimizer's share is a fourth.
void EncoderTest::everyStageTakesItsShare()
{
    const test::FieldTexts common{
        {"parallel.pp", "4"}, {"batch.micro", "16"}, {"shard.dist_opt", "true"}, {"parallel.dp", "2"}};
    const std::vector<StageWorking> first = stagesOf(llava(common));
    const std::vector<StageWorking> every
        = stagesOf(planOf({{"parallel.encoder_placement", "every_stage"}}, llava(common)));
    for (const StageWorking& stage : every) {
        QCOMPARE(stage.vision, first[0].vision / 4);
        QCOMPARE(stage.held.firstChunk, 4);
    }
    constexpr double encoder = static_cast<double>(clipParameters + projectorParameters);
    // bf16 weights and fp32 gradients whole, 12 bytes over 2·4 replicas instead of none.
    QCOMPARE(every[1].state.total() - first[1].state.total(), encoder * (2 + 4 + 12.0 / 8));
    // One image cannot be divided: the rank that gets it keeps all of it.
    const TrainingPlan one = llava({{"parallel.pp", "4"}, {"parallel.encoder_placement", "every_stage"}});
    QCOMPARE(stagesOf(one)[0].vision, stagesOf(llava({{"parallel.pp", "4"}}))[0].vision);
}

void EncoderTest::splitsOverItsOwnRanks()
{
    const test::FieldTexts own{{"parallel.tp", "4"}, {"parallel.encoder_pp", "1"}, {"parallel.encoder_tp", "2"}};
    const TrainingPlan plan = llava(own);
    QCOMPARE(encoderTensorParallel(plan), 2);
    // 12h² of each layer is halved, and so are the biases of q, k, v and fc1: 3h + f.
    constexpr qint64 split = 24 * (12 * 1024 * 1024 + 3 * 1024 + 4096);
    QCOMPARE(stagesOf(plan)[0].weights.vision.total().value(), clipParameters - split / 2);
    QCOMPARE(encoderTensorParallel(llava({{"parallel.tp", "4"}, {"parallel.encoder_tp", "2"}})), 4);
    // Beside the embedding it is split like the language model, or whole on every rank.
    QCOMPARE(encoderTensorParallel(llava({{"parallel.tp", "4"}, {"parallel.encoder_tp", "1"}})), 1);
}

/// The encoder's work is done where it stands, and all of it once.
void EncoderTest::worksWhereItStands()
{
    const auto forward = [](const TrainingPlan& plan) {
        const Working working = workingOf(plan, {});
        const auto split = PipelineSplit::of(plan).value();
        std::vector<double> flops;
        for (std::int64_t stage = 0; stage < split.stages() + working.encoderStages; ++stage) {
            flops.push_back(stageFlops(plan, working, stageLayers(working, split, stage)).forward);
        }
        return flops;
    };
    const std::vector<double> first = forward(llava({{"parallel.pp", "2"}}));
    const std::vector<double> own = forward(llava({{"parallel.pp", "2"}, {"parallel.encoder_pp", "2"}}));
    QCOMPARE(own[0], own[1]);
    QVERIFY(own[0] > 0);
    QCOMPARE(std::accumulate(own.begin(), own.end(), 0.0), std::accumulate(first.begin(), first.end(), 0.0));
}

/// On one stage that splits the encoder as the language model there is one place.
void EncoderTest::tapesOfASingleStage()
{
    InstantEstimator estimator;
    std::vector<StageFootprint> first, every;
    QVERIFY(estimator.run(llava(), first));
    QVERIFY(estimator.run(llava({{"parallel.encoder_placement", "every_stage"}}), every));
    QCOMPARE(every.size(), first.size());
    QCOMPARE(every.front().peakAllocated, first.front().peakAllocated);
    QCOMPARE(every.front().parameters, first.front().parameters);
}

void EncoderTest::refusesWhatNobodyRuns_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("unknown place") << llava({{"parallel.encoder_placement", "elsewhere"}});
    QTest::newRow("more stages than layers") << llava({{"parallel.encoder_pp", "25"}});
    QTest::newRow("wider than the language model")
        << llava({{"parallel.encoder_pp", "1"}, {"parallel.encoder_tp", "2"}});
    QTest::newRow("interleaved") << llava({{"parallel.pp", "4"},
                                           {"parallel.encoder_pp", "1"},
                                           {"parallel.vpp", "2"},
                                           {"parallel.schedule", "interleaved"}});
    QTest::newRow("folded") << llava(
        {{"parallel.pp", "4"}, {"parallel.encoder_pp", "1"}, {"parallel.schedule", "zb-v"}});
}

void EncoderTest::refusesWhatNobodyRuns()
{
    QFETCH(TrainingPlan, plan);
    Footprint footprint;
    QVERIFY(!estimate(plan, {}, footprint));
}

QTEST_APPLESS_MAIN(EncoderTest)
#include "tst_encoder.moc"
