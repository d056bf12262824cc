// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/objective_plans.h"
#include "footprint/programs.h"
#include "footprint/tape/state.h"
#include "footprint/torch/tapes.h"
#include "plan/objective.h"

#include <QtTest>

#include <cstdlib>
#include <numeric>

using namespace headroom;
using namespace headroom::test;

/// What preferences and classes change: pairs of sequences, a frozen copy of the model, the output layer.
class ObjectiveTest : public QObject
{
    Q_OBJECT

private slots:
    void means_data();
    void means();
    void refusesOtherWords();
    void copiesTheModel_data();
    void copiesTheModel();
    void pairsAreTwiceTheBatch_data();
    void pairsAreTwiceTheBatch();
    void referenceRunsBesideLogProbabilities();
    void classifies();
    void adaptersAreAllThatTrains_data();
    void adaptersAreAllThatTrains();
    void adaptersKeepWhatTheyRead_data();
    void adaptersKeepWhatTheyRead();
};

void ObjectiveTest::means_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("sequences");
    QTest::addColumn<int>("reference");
    QTest::addColumn<qint64>("labels");
    const auto row
        = [](const char* name, FieldTexts fields, qint64 sequences, ReferenceModel reference, qint64 labels) {
              QTest::newRow(name) << planOf(fields, planOf({{"batch.micro", "3"}})) << sequences
                                  << static_cast<int>(reference) << labels;
          };
    using enum ReferenceModel;
    row("next token", {}, 3, None, 0);
    row("DPO", {{"objective.type", "dpo"}}, 6, Separate, 0);
    row("DPO with adapters", {{"objective.type", "dpo"}, {"lora.rank", "8"}}, 6, AdaptersOff, 0);
    row("DPO with adapters and another reference",
        {{"objective.type", "dpo"}, {"lora.rank", "8"}, {"objective.reference", "separate"}}, 6, Separate, 0);
    row("DPO without one", {{"objective.type", "dpo"}, {"objective.reference", "none"}}, 6, None, 0);
    row("packed pairs", {{"objective.type", "dpo"}, {"batch.packing", "true"}}, 3, Separate, 0);
    row("KTO has single samples", {{"objective.type", "kto"}}, 3, Separate, 0);
    row("ORPO compares with nothing", {{"objective.type", "orpo"}}, 6, None, 0);
    row("reward", {{"objective.type", "rm"}}, 6, None, 1);
    row("classes", {{"objective.head", "classifier"}, {"objective.labels", "265"}}, 3, None, 265);
}

void ObjectiveTest::means()
{
    QFETCH(TrainingPlan, plan);
    QTEST(qint64{sequencesPerMicroBatch(plan)}, "sequences");
    QTEST(static_cast<int>(referenceModel(plan)), "reference");
    QTEST(qint64{classifierLabels(plan).value_or(0)}, "labels");
}

void ObjectiveTest::refusesOtherWords()
{
    Footprint footprint;
    const auto done = estimate(small({{"objective.type", "dop"}}), {}, footprint);
    QVERIFY(!done);
    QVERIFY(done.error().english().find("dop is none of these: pretrain, sft, dpo") != std::string::npos);
}

void ObjectiveTest::copiesTheModel_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("Megatron") << small({{"precision.recipe", "megatron-bf16"}}) << qint64{2 * parameters};
    QTest::newRow("Megatron, distributed optimizer")
        << small({{"precision.recipe", "megatron-bf16"}, {"shard.dist_opt", "true"}, {"parallel.dp", "4"}})
        << qint64{2 * parameters};
    QTest::newRow("one GPU") << small({{"implementation.profile", "hf-sdpa"}, {"precision.recipe", "bf16-pure"}})
                             << qint64{2 * parameters};
    QTest::newRow("ZeRO-2 keeps it whole")
        << small({{"implementation.profile", "hf-sdpa"}, {"shard.zero_stage", "2"}, {"parallel.dp", "4"}})
        << qint64{2 * parameters};
    QTest::newRow("ZeRO-3 shards it") << small(
        {{"implementation.profile", "hf-sdpa"}, {"shard.zero_stage", "3"}, {"parallel.dp", "4"}})
                                      << qint64{2 * parameters / 4};
}

/// In the tapes and by the recipe.
void ObjectiveTest::copiesTheModel()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, bytes);
    const TrainingPlan alone = planOf({{"objective.type", "dpo"}, {"objective.reference", "none"}}, plan);
    const TrainingPlan compared = planOf({{"objective.type", "dpo"}}, plan);
    const ModelProgram without = programOf(alone), with = programOf(compared);
    const qint64 added = without.hasOwnState
        ? residentOf(with) - residentOf(without)
        : stageState(with, with.stages[0]).parameters - stageState(without, without.stages[0]).parameters;
    QCOMPARE(added, bytes);
    Footprint first, second;
    QVERIFY(estimate(alone, {}, first) && estimate(compared, {}, second));
    QCOMPARE((second.stages[0].steadyAllocated - first.stages[0].steadyAllocated).value, bytes);
}

void ObjectiveTest::pairsAreTwiceTheBatch_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("Megatron") << small({{"precision.recipe", "megatron-bf16"}});
    QTest::newRow("SDPA") << small({{"implementation.profile", "hf-sdpa"}, {"precision.recipe", "bf16-pure"}});
}

/// A block's forward with one pair allocates what it does with two sequences.
void ObjectiveTest::pairsAreTwiceTheBatch()
{
    QFETCH(TrainingPlan, plan);
    const ModelProgram pair = programOf(planOf({{"objective.type", "dpo"}}, plan));
    const ModelProgram two = programOf(planOf({{"batch.micro", "2"}}, plan));
    const ModelProgram one = programOf(plan);
    const auto block = [](const ModelProgram& program) {
        const auto& saved = program.pieces[program.stages[0].chunks[0].runs[1].piece].tape.saved;
        return std::accumulate(saved.begin(), saved.end(), std::int64_t{0},
                               [](std::int64_t sum, const Tape::Event& event) { return sum + event.bytes; });
    };
    QVERIFY(block(one) < block(two));
    QCOMPARE(block(pair), block(two));
}

/// With E logits of a pair: 2E and their log-softmax, 2E, then the reference's 2E and one sequence's log-softmax beside
/// the 2E that stay: 2E/2 more, and the loss's own terms, a few bytes a token.
void ObjectiveTest::referenceRunsBesideLogProbabilities()
{
    const TrainingPlan plan = small({{"implementation.profile", "hf-sdpa"},
                                     {"precision.recipe", "bf16-pure"},
                                     {"model.gated_mlp", "true"},
                                     {"objective.type", "dpo"},
                                     {"objective.reference", "none"}});
    const std::int64_t alone = headPeak(programOf(plan));
    const std::int64_t compared = headPeak(programOf(planOf({{"objective.reference", "separate"}}, plan)));
    const std::int64_t logits = 2 * sequence * vocab;
    QVERIFY(alone >= 4 * logits && alone < 4 * logits + 8 * 2 * sequence * h);
    QVERIFY(compared - alone >= logits && compared - alone <= logits + 2 * sequence * 16);
    // LLaMA-Factory's trainer has fp32 logits and log-softmax of both models at once, 8 bytes each.
    const TrainingPlan upcast = planOf({{"framework", "llama-factory"}, {"objective.reference", "separate"}}, plan);
    const std::int64_t both = headPeak(programOf(upcast));
    QVERIFY(both >= 16 * logits && both < 16 * logits + 8 * 2 * sequence * h);
}

/// Every rank holds the classifier whole, and there are no logits over the vocabulary.
void ObjectiveTest::classifies()
{
    constexpr std::int64_t labels = 265;
    for (const char* profile : {"megatron-te", "hf-sdpa"}) {
        const ModelProgram program = programOf(small(
            {{"implementation.profile", profile}, {"objective.head", "classifier"}, {"objective.labels", "265"}}));
        QCOMPARE(parameterCount(program, program.stages[0]), parameters - vocab * h + labels * h);
        QVERIFY(headPeak(program) < 2 * sequence * vocab);
    }
    Footprint footprint;
    QVERIFY(estimate(small({{"objective.head", "classifier"}, {"objective.labels", "265"}}), {}, footprint));
    QCOMPARE(footprint.stages[0].parameters, parameters - vocab * h + labels * h);
}

void ObjectiveTest::adaptersAreAllThatTrains_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("adapters");
    QTest::addColumn<qint64>("base");
    QTest::addColumn<qint64>("shards");
    const TrainingPlan plan = small({{"precision.recipe", "megatron-bf16"}, {"lora.rank", "8"}});
    // r·(in + out) of qkv, projection, fc1 and fc2.
    QTest::newRow("one rank") << plan << qint64{layers * 8 * (4 * h + 2 * h + 5 * h + 5 * h)} << qint64{parameters}
                              << qint64{1};
    // Of each pair of halves one is split: 2560, 1536, 3072 and 3072 in the place of 4096, 2048, 5120 and 5120.
    const qint64 split = layers * 6 * h * h + vocab * h + 9 * h;
    QTest::newRow("tensor parallel") << planOf({{"parallel.tp", "2"}}, plan)
                                     << qint64{layers * 8 * (2560 + 1536 + 3072 + 3072)} << qint64{split} << qint64{1};
    QTest::newRow("queries, keys, values; distributed optimizer")
        << planOf({{"lora.targets", "linear_qkv"}, {"shard.dist_opt", "true"}, {"parallel.dp", "4"}}, plan)
        << qint64{layers * 8 * 4 * h} << qint64{parameters} << qint64{4};
}

/// 2 bytes of the frozen weights; 2 + 4 of the adapters, 12 of them over the replicas.
void ObjectiveTest::adaptersAreAllThatTrains()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, adapters);
    QFETCH(qint64, base);
    QFETCH(qint64, shards);
    const ModelProgram program = programOf(plan);
    const StageState state = stageState(program, program.stages[0]);
    QCOMPARE(state.parameters, 2 * base + 2 * adapters);
    QCOMPARE(state.gradients, 4 * adapters);
    QCOMPARE(state.master, 4 * adapters / shards);
    QCOMPARE(state.moments, 8 * adapters / shards);
    QCOMPARE(parameterCount(program, program.stages[0]), base + adapters);
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint));
    QCOMPARE(footprint.stages[0].parameters, base + adapters);
}

void ObjectiveTest::adaptersKeepWhatTheyRead_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("bytes");
    const TrainingPlan plan = small({{"precision.recipe", "megatron-bf16"}, {"attention.impl", "flash"}});
    const TrainingPlan gated = planOf({{"model.gated_mlp", "true"}}, plan);
    const qint64 narrow = 2 * 8 * sequence; // r values of every token
    QTest::newRow("dense") << plan << 4 * narrow;
    QTest::newRow("gated") << gated << 4 * narrow;
    QTest::newRow("two sequences") << planOf({{"batch.micro", "2"}}, gated) << 8 * narrow;
    QTest::newRow("split") << planOf({{"parallel.tp", "2"}, {"parallel.sp", "true"}}, gated) << 4 * narrow / 2;
}

/// With adapters everywhere a frozen layer keeps what a trained one does, each adapter's narrow tensor beside it; with
/// adapters nowhere it would keep no norm's output.
void ObjectiveTest::adaptersKeepWhatTheyRead()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, bytes);
    const auto kept = [](const TrainingPlan& of) {
        const ModelProgram program = programOf(of);
        const auto& saved = program.pieces[program.stages[0].chunks[0].runs[1].piece].tape.saved;
        return std::accumulate(saved.begin(), saved.end(), qint64{0},
                               [](qint64 sum, const Tape::Event& event) { return sum + event.bytes; });
    };
    constexpr qint64 randomState = 512; // counted where attention has a tape of its own
    QCOMPARE(kept(planOf({{"lora.rank", "8"}}, plan)) - (kept(plan) - randomState), bytes);
    QVERIFY(kept(planOf({{"lora.rank", "8"}, {"lora.targets", "linear_proj"}}, plan)) < kept(plan));
}

QTEST_APPLESS_MAIN(ObjectiveTest)
#include "tst_objective.moc"
