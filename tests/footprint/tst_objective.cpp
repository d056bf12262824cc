// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/tape/state.h"
#include "footprint/torch/tapes.h"
#include "plan/objective.h"
#include "plans.h"
#include "programs.h"

#include <QtTest>

#include <cstdlib>
#include <numeric>

using namespace headroom;
using headroom::test::planOf;
using headroom::test::programOf;

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
    void modelsBesideThePolicy_data();
    void modelsBesideThePolicy();
    void valueModelKeepsAsMuch();
    void valueHeadWantsLogits();
    void generates_data();
    void generates();
    void refusesOtherPolicies_data();
    void refusesOtherPolicies();
    void adaptersAreAllThatTrains_data();
    void adaptersAreAllThatTrains();
    void adaptersKeepWhatTheyRead_data();
    void adaptersKeepWhatTheyRead();
};

namespace {

TrainingPlan small(test::FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"model.layers", "4"},
                          {"model.hidden", "1024"},
                          {"model.heads", "16"},
                          {"model.ffn", "4096"},
                          {"model.vocab", "32768"},
                          {"model.tied_embeddings", "false"},
                          {"batch.seq", "128"},
                          {"batch.micro", "1"}}));
}

constexpr std::int64_t h = 1024, layers = 4, vocab = 32'768, sequence = 128;
/// 4h² of attention and 8h² of the MLP in each layer, embedding and output layer, two norms a layer and the last one.
constexpr std::int64_t parameters = layers * 12 * h * h + 2 * vocab * h + 9 * h;

std::int64_t residentOf(const ModelProgram& program)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& tensor : program.stages[0].tensors.resident) {
        bytes += tensor.bytes;
    }
    return bytes;
}

/// Highest level of the forward of the last piece, the head.
std::int64_t headPeak(const ModelProgram& program)
{
    std::int64_t level = 0, highest = 0;
    for (const Tape::Event& event : program.pieces[program.stages[0].chunks[0].runs.back().piece].tape.forward) {
        level += event.op == Tape::Op::Allocate ? event.bytes : event.op == Tape::Op::Free ? -event.bytes : 0;
        highest = std::max(highest, level);
    }
    return highest;
}

} // namespace

void ObjectiveTest::means_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("sequences");
    QTest::addColumn<int>("reference");
    QTest::addColumn<qint64>("labels");
    const auto row
        = [](const char* name, test::FieldTexts fields, qint64 sequences, ReferenceModel reference, qint64 labels) {
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

void ObjectiveTest::modelsBesideThePolicy_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("resident");
    QTest::addColumn<qint64>("created");
    const TrainingPlan plan = small({{"implementation.profile", "hf-sdpa"},
                                     {"precision.recipe", "bf16-pure"},
                                     {"objective.type", "ppo"},
                                     {"objective.reference", "none"},
                                     {"objective.value", "none"},
                                     {"objective.reward", "none"}});
    // One number a token in the place of the output layer.
    const qint64 other = parameters - vocab * h + h;
    const auto row = [&](const char* name, test::FieldTexts fields, qint64 resident, qint64 created) {
        QTest::newRow(name) << planOf(fields, plan) << resident << created;
    };
    row("policy alone", {}, 2 * parameters, 4 * parameters);
    row("reward model", {{"objective.reward", "separate"}}, 2 * (parameters + other), 4 * parameters);
    row("value model", {{"objective.value", "separate"}}, 2 * (parameters + other), 4 * (parameters + other));
    row("value model that steps alone", {{"objective.value", "in_turn"}}, 2 * (parameters + other),
        4 * (parameters + other));
    row("all of TRL's",
        {{"objective.value", "separate"}, {"objective.reward", "separate"}, {"objective.reference", "separate"}},
        2 * (2 * parameters + 2 * other), 4 * (parameters + other));
    const qint64 head = 2560; // h + 1 numbers of 2 bytes, in blocks of 512
    row("value head", {{"objective.value", "head"}}, 2 * parameters + head, 4 * parameters + 2 * head);
    // r·(in + out) of four h × h layers and two h × 4h ones, in fp32; the value model trains as a whole.
    const qint64 adapters = layers * 8 * (4 * 2 * h + 2 * 5 * h);
    row("adapters", {{"lora.rank", "8"}}, 2 * parameters + 4 * adapters, 8 * adapters);
    row("reward by adapters", {{"lora.rank", "8"}, {"objective.reward", "adapters"}}, 2 * parameters + 2 * 4 * adapters,
        8 * adapters);
    row("value model beside adapters", {{"lora.rank", "8"}, {"objective.value", "separate"}},
        2 * (parameters + other) + 4 * adapters, 8 * adapters + 4 * other);
    const TrainingPlan zero = planOf({{"shard.zero_stage", "3"}, {"parallel.dp", "4"}}, plan);
    const qint64 bucket = 2 * 500'000'000;
    QTest::newRow("reward model under ZeRO-3")
        << planOf({{"objective.reward", "separate"}, {"precision.recipe", "bf16-mixed"}}, zero)
        << (2 + 2 + 12) * parameters / 4 + 2 * other / 4 + bucket << qint64{0};
}

void ObjectiveTest::modelsBesideThePolicy()
{
    QFETCH(TrainingPlan, plan);
    const ModelProgram program = programOf(plan);
    const auto isClose = [](qint64 got, qint64 expected) { return std::abs(got - expected) <= expected / 10'000; };
    QFETCH(qint64, resident);
    QFETCH(qint64, created);
    QVERIFY2(isClose(residentOf(program), resident), std::to_string(residentOf(program)).c_str());
    qint64 made = 0;
    for (const Tape::Event& tensor : program.stages[0].tensors.created) {
        made += tensor.bytes;
    }
    QVERIFY2(isClose(made, created), std::to_string(made).c_str());
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint));
    if (plan.shard.zeroStage.value == 0 && plan.objective.value.value != "head" && !plan.lora.rank.isKnown()) {
        QVERIFY(isClose(footprint.stages[0].steadyAllocated.value, resident + created));
    }
    const qint64 own = plan.lora.rank.isKnown() ? layers * 8 * 18 * h : 0;
    QCOMPARE(parameterCount(program, program.stages[0]), parameters + own);
}

namespace {

/// What a chunk's pieces keep after its forward.
std::int64_t keptOf(const ModelProgram& program)
{
    std::int64_t bytes = 0;
    for (const PieceRun& run : program.stages[0].chunks[0].runs) {
        const Tape& tape = program.pieces[run.piece].tape;
        for (const Tape::Event& saved : tape.saved) {
            bytes += run.count * saved.bytes;
        }
        for (const Tape::Event& event : tape.backward) {
            const bool isInput = event.op == Tape::Op::Free && event.slot == Tape::input;
            bytes += isInput ? run.count * event.bytes : 0;
        }
    }
    return bytes;
}

std::int64_t blockKeeps(const ModelProgram& program, std::size_t run)
{
    const auto& saved = program.pieces[program.stages[0].chunks[0].runs[run].piece].tape.saved;
    return std::accumulate(saved.begin(), saved.end(), std::int64_t{0},
                           [](std::int64_t sum, const Tape::Event& event) { return sum + event.bytes; });
}

} // namespace

/// Beside the policy's: every block's, what the last norm and the classifier read (a copy in fp32, a number a row,
/// twice the normed states), a value a token; and of the policy what its output refers to: a stream a layer, and the
/// logits.
void ObjectiveTest::valueModelKeepsAsMuch()
{
    const TrainingPlan plan = small({{"implementation.profile", "hf-sdpa"},
                                     {"precision.recipe", "bf16-pure"},
                                     {"objective.type", "ppo"},
                                     {"objective.reward", "none"}});
    const ModelProgram alone = programOf(planOf({{"objective.value", "none"}}, plan));
    const ModelProgram both = programOf(planOf({{"objective.value", "separate"}}, plan));
    const auto& runs = both.stages[0].chunks[0].runs;
    QCOMPARE(runs.size(), std::size_t{6}); // embedding, blocks and head of each
    const std::int64_t block = blockKeeps(alone, 1);
    QCOMPARE(blockKeeps(both, 1), block);
    const std::int64_t score = 4 * sequence * h + 4 * sequence + 2 * 2 * sequence * h;
    const std::int64_t streams = layers * 2 * sequence * h, logits = 2 * sequence * vocab;
    QCOMPARE(keptOf(both) - keptOf(alone), layers * block + score + 512 + streams + logits); // values take a block
}

/// At the loss: logits and log-softmax in fp32, softmax and its product with the logits for the entropy; the head keeps
/// its input in fp32 and a mask.
void ObjectiveTest::valueHeadWantsLogits()
{
    const TrainingPlan plan = small({{"implementation.profile", "hf-sdpa"},
                                     {"precision.recipe", "bf16-pure"},
                                     {"objective.type", "ppo"},
                                     {"objective.value", "head"},
                                     {"objective.reward", "none"},
                                     {"framework", "llama-factory"}});
    const std::int64_t peak = headPeak(programOf(plan));
    const std::int64_t logits = sequence * vocab, head = sequence * h * (4 + 1);
    QVERIFY(peak >= 16 * logits + head);
    QVERIFY(peak < 16 * logits + head + 16 * sequence * h);
}

void ObjectiveTest::generates_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("bytes");
    const TrainingPlan plan = small({{"implementation.profile", "hf-sdpa"},
                                     {"precision.recipe", "bf16-pure"},
                                     {"objective.type", "ppo"},
                                     {"batch.accum", "16"},
                                     {"objective.response", "32"}});
    const qint64 scores = qint64{4} * 32 * vocab; // of a sample
    const qint64 cache = qint64{2} * 2 * layers * h * sequence;
    const auto row = [&](const char* name, test::FieldTexts fields, qint64 bytes) {
        QTest::newRow(name) << planOf(fields, plan) << bytes;
    };
    row("all at once: keys, values, scores and their joined copy", {}, 16 * cache + 2 * 16 * scores);
    row("few at once: all scores and their padded copy", {{"objective.rollout", "4"}}, 2 * 16 * scores);
    row("a value head's trainer keeps no scores", {{"objective.value", "head"}}, cache);
    row("a quarter of the keys", {{"model.kv_heads", "4"}, {"objective.value", "head"}}, cache / 4);
    TrainingPlan open = plan;
    open.objective.response = Count();
    QTest::newRow("length not known") << open << qint64{0};
}

void ObjectiveTest::generates()
{
    QFETCH(TrainingPlan, plan);
    const ModelProgram program = programOf(plan);
    qint64 bytes = 0;
    for (const Tape::Event& tensor : program.stages[0].tensors.rollout) {
        bytes += tensor.bytes;
    }
    QTEST(bytes, "bytes");
}

void ObjectiveTest::refusesOtherPolicies_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("words");
    const TrainingPlan plan = small({{"implementation.profile", "hf-sdpa"}, {"objective.type", "ppo"}});
    const auto row = [&](const char* name, test::FieldTexts fields, const char* words) {
        QTest::newRow(name) << planOf(fields, plan) << QString(words);
    };
    row("Megatron", {{"implementation.profile", "megatron-te"}, {"objective.value", "separate"}},
        "on GPUs of their own");
    row("another framework", {{"implementation.profile", "torchtune"}, {"objective.value", "head"}},
        "set objective.value and objective.reward to none");
    row("4 bits", {{"precision.params", "nf4"}, {"lora.rank", "8"}}, "set objective.value to head");
    row("parts", {{"frozen.trained_layers", "2"}}, "trains as a whole or by adapters");
    row("no adapters", {{"objective.reward", "adapters"}}, "give lora.rank");
    row("classes", {{"objective.head", "classifier"}}, "with an output layer");
}

void ObjectiveTest::refusesOtherPolicies()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, words);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY(!built);
    QVERIFY2(built.error().english().find(words.toStdString()) != std::string::npos, built.error().english().c_str());
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
