// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/objective_plans.h"
#include "footprint/programs.h"
#include "footprint/tape/state.h"
#include "plan/objective.h"

#include <QTest>

#include <cstdlib>
#include <numeric>

using namespace headroom;
using namespace headroom::test;

/// What PPO holds beside the policy: models of values and rewards, the caches of generation.
class PolicyTest : public QObject
{
    Q_OBJECT

private slots:
    void modelsBesideThePolicy_data();
    void modelsBesideThePolicy();
    void valueModelKeepsAsMuch();
    void valueHeadWantsLogits();
    void generates_data();
    void generates();
    void refusesOtherPolicies_data();
    void refusesOtherPolicies();
};

void PolicyTest::modelsBesideThePolicy_data()
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
    const auto row = [&](const char* name, FieldTexts fields, qint64 resident, qint64 created) {
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

void PolicyTest::modelsBesideThePolicy()
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
void PolicyTest::valueModelKeepsAsMuch()
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
void PolicyTest::valueHeadWantsLogits()
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

void PolicyTest::generates_data()
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
    const auto row = [&](const char* name, FieldTexts fields, qint64 bytes) {
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

void PolicyTest::generates()
{
    QFETCH(TrainingPlan, plan);
    const ModelProgram program = programOf(plan);
    qint64 bytes = 0;
    for (const Tape::Event& tensor : program.stages[0].tensors.rollout) {
        bytes += tensor.bytes;
    }
    QTEST(bytes, "bytes");
}

void PolicyTest::refusesOtherPolicies_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("words");
    const TrainingPlan plan = small({{"implementation.profile", "hf-sdpa"}, {"objective.type", "ppo"}});
    const auto row = [&](const char* name, FieldTexts fields, const char* words) {
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

void PolicyTest::refusesOtherPolicies()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, words);
    const QString refusal = refusalOf(plan);
    QVERIFY2(!refusal.isEmpty() && refusal.contains(words), qPrintable(refusal));
}

QTEST_APPLESS_MAIN(PolicyTest)
#include "tst_policy.moc"
