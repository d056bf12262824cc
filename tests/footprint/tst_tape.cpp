// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the tapes keep, against the tables of theory.md 3.2, 3.7 and 3.9 with the corrections of theory_dense.md
// rule 12.
#include "footprint/instant/estimator.h"
#include "footprint/programs.h"
#include "footprint/tape/state.h"
#include "footprint/vision_plans.h"

#include <QTest>

#include <cmath>
#include <numeric>

using namespace headroom;
using test::programOf;

namespace {

/// Llama 3 8B, 8192 tokens.
TrainingPlan llama(test::FieldTexts own)
{
    return test::planOf(own, test::planOf({{"precision.recipe", "megatron-bf16"}}, test::llama3Of8B()));
}

/// The layer piece is the one that the middle of a stage repeats.
const Tape& layerTape(const ModelProgram& program)
{
    for (const PieceRun& run : program.stages.front().chunks.front().runs) {
        if (run.count == program.stages.front().layers) {
            return program.pieces[run.piece].tape;
        }
    }
    qFatal("no layers");
}

std::int64_t keptBytes(const Tape& tape)
{
    return std::accumulate(tape.saved.begin(), tape.saved.end(), tape.outputBytes,
                           [](std::int64_t sum, const Tape::Event& event) { return sum + event.bytes; });
}

/// Every storage is allocated once and freed once, the output excepted.
bool leavesNothing(const Tape& tape, std::initializer_list<const std::vector<Tape::Event>*> passes)
{
    std::vector<int> alive(tape.slotCount, 0);
    for (const auto* events : passes) {
        for (const Tape::Event& event : *events) {
            const bool isLocal = event.slot >= Tape::firstLocal;
            if (event.op == Tape::Op::Allocate && isLocal && alive[event.slot]++ != 0) {
                return false;
            }
            const bool isFreed = event.op == Tape::Op::Free || event.op == Tape::Op::Defer;
            if (isFreed && isLocal && alive[event.slot]-- != 1) {
                return false;
            }
        }
    }
    for (std::size_t slot = 0; slot < alive.size(); ++slot) {
        if (alive[slot] != 0 && slot != tape.output) {
            return false;
        }
    }
    return true;
}

} // namespace

class TestTape : public QObject
{
    Q_OBJECT

private slots:
    void keepsWhatTheTableSays_data();
    void keepsWhatTheTableSays();
    void endsWhereItBegan_data();
    void endsWhereItBegan();
    void heldForTheWeights_data();
    void heldForTheWeights();
    void countsEveryParameter_data();
    void countsEveryParameter();
    void recomputeNeverKeepsMore();
    void tensorParallelNeverRaises();
    void namesTensors();
};

void TestTape::keepsWhatTheTableSays_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytesPerToken");
    const double h = 4096, a = 32, g = 8, d = 128, f = 14336;
    const double replicated = 2 * 2 * h + 2 * 2 * h + 2 * 4; // two norms: input, output, statistics
    const double split = 2 * (a + 2 * g) * d + 2 * a * d + 4 * a + 4 * f + 2 * f;
    QTest::newRow("A04") << llama({}) << 1141964800.0 / 8192;
    QTest::newRow("the table") << llama({}) << replicated + split;
    QTest::newRow("TP8") << llama({{"parallel.tp", "8"}}) << replicated + split / 8;
    QTest::newRow("TP8 SP") << llama({{"parallel.tp", "8"}, {"parallel.sp", "true"}}) << (replicated + split) / 8;
    // The ring casts its fp32 sum twice: once for the backward, once to be returned (theory_moe_cp.md section 8).
    QTest::newRow("CP4, per token of the sequence")
        << llama({{"parallel.cp", "4"}}) << (replicated + split + 2 * a * d) / 4;
    // Frozen linear layers keep no input: neither norms' results, nor that of the activation, nor the returned context.
    QTest::newRow("CP4, frozen behind an encoder") << test::planOf(
        {{"parallel.cp", "4"}, {"frozen.llm", "true"}, {"projector.type", "mlp"}}, test::withClip(llama({})))
                                                   << (replicated - 2 * 2 * h + split - 2 * f) / 4;
    QTest::newRow("flash, b = 1") << llama({{"attention.impl", "flash"}}) << replicated + split;
    QTest::newRow("hidden dropout") << llama({{"model.hidden_dropout", "0.1"}}) << replicated + split + 2 * h;
    // A20 without the rotated copies beside the packed tensor, and without the statistics of the norm inside.
    QTest::newRow("mlp recomputed") << llama(
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.modules", "mlp"}})
                                    << 454098944.0 / 8192 - 2 * (a + g) * d - 4;
    // Korthikanti's 34 + 5·a·s/h, with masks and dropped probabilities of unfused attention.
    const TrainingPlan gpt = test::planOf({{"model.layers", "4"},
                                           {"model.hidden", "2048"},
                                           {"model.ffn", "8192"},
                                           {"model.heads", "16"},
                                           {"model.vocab", "50304"},
                                           {"model.learned_positions", "true"},
                                           {"model.attn_dropout", "0.1"},
                                           {"model.hidden_dropout", "0.1"},
                                           {"attention.impl", "unfused"},
                                           {"precision.recipe", "megatron-bf16"},
                                           {"batch.micro", "1"},
                                           {"batch.seq", "2048"}});
    QTest::newRow("A02, Korthikanti") << gpt << 34.0 * 2048 + 5.0 * 16 * 2048 + 8; // and two norms' statistics
    // An odd length has no softmax kernel: probabilities stay in fp32, beside the mask and what was dropped.
    QTest::newRow("an odd length") << test::planOf({{"batch.seq", "2047"}}, gpt) << 34.0 * 2048 + 7.0 * 16 * 2047 + 8;
    // Heads of 100 have no kernel but the one with explicit scores.
    QTest::newRow("heads of 100") << test::planOf(
        {{"model.hidden", "1600"}, {"model.ffn", "6400"}, {"attention.impl", "fused"}}, gpt)
                                  << 34.0 * 1600 + 5.0 * 16 * 2048 + 8;
}

void TestTape::keepsWhatTheTableSays()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytesPerToken);
    const ModelProgram program = programOf(plan);
    const double tokens = static_cast<double>(plan.batch.micro.value * plan.batch.seq.value);
    const double expected = bytesPerToken * tokens;
    const double kept = static_cast<double>(keptBytes(layerTape(program)));
    // The random state of attention and the rounding of small tensors.
    QVERIFY2(std::abs(kept - expected) <= 2048, qPrintable(QStringLiteral("%1 instead of %2").arg(kept).arg(expected)));
}

void TestTape::endsWhereItBegan_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("plain") << llama({});
    QTest::newRow("SP, dropout") << llama(
        {{"parallel.tp", "4"}, {"parallel.sp", "true"}, {"model.hidden_dropout", "0.1"}, {"model.qk_norm", "true"}});
    QTest::newRow("unfused") << llama({{"attention.impl", "unfused"}, {"model.attn_dropout", "0.1"}});
    QTest::newRow("unfused, an odd length") << llama({{"attention.impl", "unfused"}, {"batch.seq", "1601"}});
    QTest::newRow("selective") << llama({{"attention.impl", "unfused"},
                                         {"recompute.enabled", "true"},
                                         {"recompute.granularity", "selective"},
                                         {"recompute.modules", "core_attn,mlp"}});
    QTest::newRow("local") << llama({{"implementation.profile", "megatron-local"}, {"model.attn_bias", "true"}});
    for (const char* profile : {"megatron-te", "megatron-local"}) {
        for (const char* fusion : {"true", "false"}) {
            QTest::addRow("split, %s, fused gradients %s", profile, fusion)
                << llama({{"parallel.pp", "4"},
                          {"parallel.schedule", "zb-h1"},
                          {"batch.accum", "8"},
                          {"parallel.tp", "4"},
                          {"parallel.sp", "true"},
                          {"implementation.profile", profile},
                          {"implementation.grad_accum_fusion", fusion}});
        }
    }
    QTest::newRow("fp8") << llama({{"precision.fp8", "tensorwise"}});
    QTest::newRow("fp8, recomputed attention") << llama({{"precision.fp8", "tensorwise"},
                                                         {"recompute.enabled", "true"},
                                                         {"recompute.granularity", "selective"},
                                                         {"recompute.modules", "core_attn"}});
    QTest::newRow("encoder-decoder") << llama({{"model.decoder_layers", "32"}, {"batch.decoder_seq", "1024"}});
}

/// Every tensor of every tape is freed exactly once, and none before it exists.
void TestTape::endsWhereItBegan()
{
    QFETCH(TrainingPlan, plan);
    const ModelProgram program = programOf(plan);
    for (const Chunk& chunk : program.stages.front().chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Tape& tape = program.pieces[run.piece].tape;
            QVERIFY(leavesNothing(tape, {&tape.forward, &tape.backward}));
            if (!tape.inputBackward.empty()) {
                QVERIFY(leavesNothing(tape, {&tape.forward, &tape.inputBackward, &tape.weights}));
            }
        }
    }
}

void TestTape::heldForTheWeights_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytesPerToken");
    const auto split = [](test::FieldTexts own) {
        return test::planOf(own, llama({{"parallel.pp", "4"}, {"parallel.schedule", "zb-h1"}, {"batch.accum", "8"}}));
    };
    const double h = 4096, a = 32, g = 8, d = 128, f = 14336;
    // Inputs of the four products, then the gradients of their outputs.
    const double inputs = 2 * h + 2 * a * d + 2 * h + 2 * f;
    const double gradients = 2 * (a + 2 * g) * d + 2 * h + 4 * f + 2 * h;
    QTest::newRow("one rank") << split({}) << inputs + gradients;
    QTest::newRow("TP8") << split({{"parallel.tp", "8"}})
                         << 4 * 2 * h + (2 * a * d + 2 * f + 2 * (a + 2 * g) * d + 4 * f) / 8;
    // Transformer Engine keeps what it gathered.
    QTest::newRow("TP8 SP") << split({{"parallel.tp", "8"}, {"parallel.sp", "true"}})
                            << 4 * 2 * h + (2 * a * d + 2 * f + 2 * (a + 2 * g) * d + 4 * f) / 8;
    // Megatron's own layers gather their inputs again.
    QTest::newRow("TP8 SP, local") << split(
        {{"parallel.tp", "8"}, {"parallel.sp", "true"}, {"implementation.profile", "megatron-local"}})
                                   << 2 * 2 * h + (2 * 2 * h + 2 * a * d + 2 * f + 2 * (a + 2 * g) * d + 4 * f) / 8;
    // arXiv:2401.10241 table 1: M_W = 32·s·b·h of a GPT layer.
    QTest::newRow("GPT") << split({{"model.kv_heads", "32"}, {"model.gated_mlp", "false"}, {"model.ffn", "16384"}})
                         << 32 * h;
    QTest::newRow("GPT, dropout") << split({{"model.kv_heads", "32"},
                                            {"model.gated_mlp", "false"},
                                            {"model.ffn", "16384"},
                                            {"model.hidden_dropout", "0.1"}})
                                  << 32 * h;
}

/// Between the two passes of a split backward.
void TestTape::heldForTheWeights()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytesPerToken);
    const ModelProgram program = programOf(plan);
    const Tape& tape = program.pieces[program.stages[1].chunks.front().runs.front().piece].tape;
    std::int64_t freed = 0;
    for (const Tape::Event& event : tape.weights) {
        freed += event.op == Tape::Op::Free ? event.bytes : event.op == Tape::Op::Allocate ? -event.bytes : 0;
    }
    QCOMPARE(static_cast<double>(freed), bytesPerToken * 8192);
}

void TestTape::countsEveryParameter_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("ties"); // rows of a second copy of a tied matrix
    QTest::newRow("Llama 3 8B") << llama({}) << qint64{0};
    QTest::newRow("stages") << llama({{"parallel.pp", "4"}}) << qint64{0};
    QTest::newRow("chunks") << llama({{"parallel.pp", "4"}, {"parallel.vpp", "4"}}) << qint64{0};
    QTest::newRow("tied over stages") << llama({{"parallel.pp", "2"}, {"model.tied_embeddings", "true"}})
                                      << qint64{128256} * 4096;
    QTest::newRow("biases, positions, norms") << llama({{"model.attn_bias", "true"},
                                                        {"model.mlp_bias", "true"},
                                                        {"model.layer_norm", "true"},
                                                        {"model.qk_norm", "true"},
                                                        {"model.learned_positions", "true"},
                                                        {"model.max_pos", "8192"}})
                                              << qint64{0};
    QTest::newRow("vision") << test::withClip(llama({{"projector.type", "mlp"}})) << qint64{0};
    QTest::newRow("vision, merger") << llama({{"vision.layers", "32"},
                                              {"vision.hidden", "1280"},
                                              {"vision.ffn", "5120"},
                                              {"vision.heads", "16"},
                                              {"vision.image_size", "336"},
                                              {"vision.patch", "14"},
                                              {"vision.temporal_patch", "2"},
                                              {"vision.merge", "2"},
                                              {"projector.type", "patch_merger"}})
                                    << qint64{0};
}

/// The tensors that the tapes' pieces list are those that the parameter count knows, once over all stages.
void TestTape::countsEveryParameter()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, ties);
    const ModelProgram program = programOf(plan);
    std::int64_t sum = 0;
    for (const StageProgram& stage : program.stages) {
        sum += parameterCount(program, stage);
    }
    Footprint footprint;
    QVERIFY(estimateInstantly(plan, {}, footprint));
    QCOMPARE(qint64{sum - ties}, qint64{footprint.modelParameters});
}

void TestTape::recomputeNeverKeepsMore()
{
    const auto activations = [](test::FieldTexts own) {
        Footprint footprint;
        const TrainingPlan plan = test::planOf({{"parallel.pp", "4"}, {"batch.accum", "8"}}, llama(own));
        if (!estimateInstantly(plan, {}, footprint)) {
            qFatal("refused");
        }
        const StageFootprint& stage = footprint.stages.front();
        return stage.component(Component::Activations) + stage.component(Component::InFlight);
    };
    const Bytes none = activations({});
    const Bytes selective = activations(
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.modules", "mlp"}});
    const Bytes full = activations({{"recompute.enabled", "true"}, {"recompute.granularity", "full"}});
    QVERIFY(full <= selective);
    QVERIFY(selective <= none);
}

void TestTape::tensorParallelNeverRaises()
{
    std::vector<StageFootprint> before;
    for (const char* tp : {"1", "2", "4", "8"}) {
        InstantEstimator estimator;
        std::vector<StageFootprint> stages;
        QVERIFY(estimator.run(llama({{"parallel.tp", tp}, {"parallel.pp", "2"}, {"batch.accum", "4"}}), stages));
        for (std::size_t i = 0; i < before.size(); ++i) {
            for (const Component component :
                 {Component::Parameters, Component::Gradients, Component::OptimizerState, Component::Logits}) {
                QVERIFY(stages[i].component(component) <= before[i].component(component));
            }
            QVERIFY(stages[i].peakAllocated <= before[i].peakAllocated);
        }
        before = stages;
    }
}

void TestTape::namesTensors()
{
    for (int i = 0; i < tensorKindCount; ++i) {
        QVERIFY(!nameOf(static_cast<TensorKind>(i)).empty());
    }
    QCOMPARE(componentOf(TensorKind::LossTerms), Component::Logits);
    QCOMPARE(componentOf(TensorKind::Cast), Component::WorkingSet);
    QCOMPARE(componentOf(TensorKind::HeadStates), Component::Activations);
    QCOMPARE(componentOf(TensorKind::Boundary), Component::Buffers);
}

QTEST_APPLESS_MAIN(TestTape)
#include "tst_tape.moc"
