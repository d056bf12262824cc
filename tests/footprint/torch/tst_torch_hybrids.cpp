// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/hybrid_plans.h"
#include "footprint/programs.h"

#include <QTest>

#include <cmath>

using namespace headroom;
using namespace headroom::test;

/// Hybrids of PyTorch frameworks over ranks, with modules recomputed and parts frozen. Expected figures are worked out
/// here from the papers' dimensions: what a layer keeps between its forward and its backward, and what its ranks hold.
class TestTorchHybrids : public QObject
{
    Q_OBJECT

private slots:
    void keeps_data();
    void keeps();
    void keepsNothingInFront();
    void keepsAcross();
    void trainsByName_data();
    void trainsByName();
    void holdsMixersWhole();
    void countsParameters_data();
    void countsParameters();
    void refuses_data();
    void refuses();
};

namespace {

TrainingPlan under(const char* profile, TrainingPlan plan, FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"implementation.profile", profile},
                          {"precision.recipe", "bf16-pure"},
                          {"hardware.compute_capability", "9"},
                          {"recompute.enabled", "false"}},
                         std::move(plan)));
}

TrainingPlan withModules(TrainingPlan plan, const char* modules)
{
    return planOf(
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.modules", modules}},
        std::move(plan));
}

/// Layers of the kinds of a delta hybrid that a pattern names.
TrainingPlan deltaLayers(const char* pattern, const char* layers, FieldTexts more = {})
{
    return planOf(more, deltaHybrid({{"model.layers", layers}, {"model.layer_pattern", pattern}}));
}

/// Kimi Linear's pair: delta nets beside latent attention.
TrainingPlan latentHybrid(FieldTexts more = {})
{
    return planOf(more,
                  deltaHybrid({{"model.attn_gate", "false"},
                               {"mla.kv_lora_rank", "512"},
                               {"mla.qk_nope_dim", "128"},
                               {"mla.qk_rope_dim", "64"},
                               {"mla.v_dim", "128"}}));
}

const Tape& layerOf(const ModelProgram& program, std::size_t which = 1)
{
    return program.pieces[program.stages.front().chunks.front().runs.at(which).piece].tape;
}

qint64 savedBytes(const Tape& tape)
{
    qint64 bytes = 0;
    for (const Tape::Event& saved : tape.saved) {
        bytes += saved.bytes;
    }
    return bytes;
}

/// A norm in Python over h values: fp32 input, a number, the normalised tensor, its result.
constexpr qint64 norm(qint64 h)
{
    return 4 * h + 4 + 2 * h + 2 * h;
}

} // namespace

void TestTorchHybrids::keeps_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("bytes");
    const TrainingPlan mamba = mambaHybrid("M", "1");
    // Mamba-2 of h = 1024: projection of 6176, 2048 values of the scan, a number for each of 8 groups.
    constexpr qint64 scan = 2 * 6176 + 2 * 2048 + 4 * 8, half = 2 * 3088 + 2 * 1024 + 4 * 4;
    QTest::newRow("Mamba-2, tp 2") << under("torchtitan", mamba, {{"parallel.tp", "2"}}) << 1024 * (norm(1024) + half);
    // A norm of half of the tokens, whose result is gathered.
    QTest::newRow("Mamba-2, tp 2 and sequence parallel")
        << under("torchtitan", mamba, {{"parallel.tp", "2"}, {"parallel.sp", "true"}})
        << 512 * (norm(1024) - 2 * 1024) + 1024 * (2 * 1024 + half);
    QTest::newRow("Mamba-2, whole on every rank")
        << under("hf-sdpa", mamba, {{"parallel.tp", "2"}}) << 1024 * (norm(1024) + scan);
    // One group of B and C on both ranks: 2 · 1024 of gate and values, 2 · 128 of the group, 16 time steps.
    QTest::newRow("Mamba-2, one group, tp 2")
        << under("torchtitan", mambaHybrid("M", "1", {{"mixer.groups", "1"}}), {{"parallel.tp", "2"}})
        << qint64{1024} * (norm(1024) + 2 * (2048 + 256 + 16) + 2 * 1024 + 4);
    // mamba_mixer.py over context-parallel ranks: half of the heads with whole sequences of what the scan reads and
    // its result before the gate; behind the exchange the norm's input, its numbers and its result.
    QTest::newRow("Mamba-2, cp 2") << under("torchtitan", mamba, {{"parallel.cp", "2"}})
                                   << 512 * norm(1024) + 1024 * (2 * 3088 + 2 * 1024)
            + qint64{512} * (2 * 2048 + 4 * 8 + 2 * 2048);
    // The norm in front multiplies by its weight in fp32: 2h more.
    constexpr qint64 wide = norm(2048) + 2 * 2048;
    // What the convolution reads, gate, q and k normalised for all heads with their numbers, v; decay on its way and
    // beta; inverted triangles of 64; the rule's result, the norm's numbers and result.
    const auto delta = [](qint64 heads, qint64 keyHeads) {
        return 2 * (heads + 2 * keyHeads) * 128 + 2 * (2 * heads * 128 + 4 * heads) + 2 * 2 * heads * 128 + heads * 14
            + 2 * 64 * heads + 2 * 2 * heads * 128 + 4 * heads;
    };
    QTest::newRow("a delta net, tp 2") << under("torchtitan", deltaLayers("G", "1"), {{"parallel.tp", "2"}})
                                       << 1024 * (wide + delta(16, 8));
    QTest::newRow("a delta net, cp 2") << under("hf-sdpa", deltaLayers("G", "1"), {{"parallel.cp", "2"}})
                                       << 512 * wide + 1024 * delta(16, 8);
    // Sigmoid of the gates, q, repeated k and v, the context with its numbers, their product: 8 heads of 256.
    QTest::newRow("gated attention, tp 2")
        << under("hf-sdpa", deltaLayers("*", "1", {{"model.kv_heads", "2"}}), {{"parallel.tp", "2"}})
        << 1024 * (norm(2048) + 6 * 2 * 2048 + qint64{4} * 8);
    QTest::newRow("gated attention, cp 2") << under("hf-sdpa", deltaLayers("*", "1"), {{"parallel.cp", "2"}})
                                           << 512 * (norm(2048) + 6 * 2 * 4096 + qint64{4} * 16);
    // Jamba's of 2048 of 4096 channels: projection and convolution, three norms of 128 values, time steps, B and C
    // whole; tokens, steps and gate of the scan, its result twice, states of 2 · 128 numbers in fp32; half an MLP.
    const TrainingPlan first
        = deltaHybrid({{"model.layers", "1"}, {"mixer.layer_types", "mamba"}, {"mixer.kind", "mamba"}});
    QTest::newRow("Mamba, tp 2") << under("torchtitan", first, {{"parallel.tp", "2"}})
                                 << qint64{1024}
                * (2 * norm(2048) + 8 * 2 * 2048 + 3 * (norm(128) - 2 * 128) + 2 * 128 + 2 * 2 * 128 + 4 * 2 * 2560)
            + 4 * 2048 * 256;

    // Of attention with its projections, and of an MLP, what they read: the norm's result.
    QTest::newRow("self_attn") << withModules(under("hf-sdpa", deltaLayers("*", "1")), "self_attn")
                               << 1024 * norm(2048);
    QTest::newRow("mlp") << withModules(under("hf-sdpa", mambaHybrid("-", "1")), "mlp")
                         << 1024 * (norm(1024) + 2 * 1024);
    // A mixer is none of them.
    QTest::newRow("self_attn of a mixer")
        << withModules(under("hf-sdpa", mamba), "self_attn,mlp") << 1024 * (norm(1024) + scan);
    QTest::newRow("norm") << withModules(under("hf-sdpa", mamba), "norm") << 1024 * (2 * qint64{1024} + scan);
    // torchtitan's policy stores every second product: the first of both in front of the mixer, here one tensor, the
    // one behind it, and the MLP's second.
    const TrainingPlan selective = planOf({{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}},
                                          under("torchtitan", deltaHybrid({{"model.layers", "1"}})));
    QTest::newRow("every second product") << selective << qint64{1024} * (2 * 12352 + 2 * 2048 + 2 * 5120);

    // The projection in front keeps no input where it is frozen, nor does the one behind, which is the scan's.
    QTest::newRow("a frozen projection") << under("hf-sdpa", mamba, {{"frozen.patterns", "mamba.in_proj"}})
                                         << 1024 * (norm(1024) - 2 * 1024 + scan);
    QTest::newRow("a delta net's") << under("hf-sdpa", deltaLayers("G", "1"),
                                            {{"frozen.patterns", "linear_attn.(in_proj|out_proj)"}})
                                   << 1024 * (wide - 2 * 2048 + delta(32, 16) - 2 * 4096);

    QTest::newRow("LayerNorm") << under("hf-sdpa", mamba, {{"model.layer_norm", "true"}})
                               << 1024 * (8 + 2 * 1024 + scan);
    // modeling_deepseek_v3.py: both latents like streams of their width, here keys and values' alone; q and k
    // assembled, the up-projection, the result and a number a head.
    QTest::newRow("latent attention") << under(
        "hf-sdpa", planOf({{"model.layers", "1"}, {"model.layer_pattern", "*"}}, latentHybrid()))
                                      << 1024
            * (norm(2048) + norm(512) + 2 * 2 * 16 * 192 + 2 * 16 * 256 + 2 * 16 * 128 + qint64{4} * 16);
    // In a model without mixers, with the second norm and an MLP of gate, SiLU, up and product.
    QTest::newRow("gated attention everywhere")
        << under("hf-sdpa", gatedDecoder()) << 1024 * (2 * norm(2048) + 6 * 2 * 4096 + 4 * 16 + qint64{4} * 2 * 5120);
}

void TestTorchHybrids::keeps()
{
    QFETCH(TrainingPlan, plan);
    QTEST(savedBytes(layerOf(programOf(plan))), "bytes");
}

/// Of two layers the last is trained: nothing of the other one is left.
void TestTorchHybrids::keepsNothingInFront()
{
    const ModelProgram program = programOf(under("hf-sdpa", mambaHybrid("MM", "2"), {{"frozen.trained_layers", "1"}}));
    QCOMPARE(savedBytes(layerOf(program, 1)), 0);
    QVERIFY(savedBytes(layerOf(program, 2)) > 0);
}

/// Mamba-2 in a decoder, then attention to 1024 tokens of an encoder: a norm, q, repeated k and v, the context and a
/// number for each of 16 heads.
void TestTorchHybrids::keepsAcross()
{
    const ModelProgram program = programOf(under(
        "hf-sdpa",
        mambaHybrid(
            "M", "1",
            {{"model.encoder_layers", "2"}, {"model.decoder_layers", "1"}, {"model.learned_positions", "true"}})));
    constexpr qint64 scan = 2 * 6176 + 2 * 2048 + 4 * 8, across = 4 * 2 * 1024 + 4 * 16;
    constexpr std::size_t encoderRuns = 3; // what makes its input, its layers, its last norm
    QCOMPARE(savedBytes(layerOf(program, encoderRuns + 1)), 1024 * (2 * norm(1024) + scan + across));
}

void TestTorchHybrids::trainsByName_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("trained");
    // Bamba's names: of two state spaces the projections out; of Nemotron-H all but the projections in; of Qwen3-Next
    // what the delta nets have for each of 32 heads.
    QTest::newRow("projections out") << under("hf-sdpa", mambaHybrid("MM", "2"), {{"frozen.trained", "mamba.out_proj"}})
                                     << qint64{2} * 2048 * 1024;
    QTest::newRow("one layer of its mixers") << under(
        "hf-sdpa", mambaHybrid("M-M-", "4"), {{"frozen.trained_layers", "2"}, {"frozen.trained_modules", "mamba"}})
                                             << qint64{1024} * 6176 + 4096 * 5 + 3 * 32 + 2048 + 2048 * 1024;
    QTest::newRow("all but projections in")
        << under("hf-sdpa", mambaHybrid("M*", "2"), {{"frozen.patterns", R"(^backbone\..*mixer\.(in|q)_proj)"}})
        << qint64{4096} * 5 + 3 * 32 + 2048 + 2048 * 1024 + 1024 + (1024 * 1024 + 2 * 1024 * 512) + 1024 + 32000 * 1024
            + 1024;
    QTest::newRow("numbers of heads") << under("hf-sdpa", deltaHybrid(), {{"frozen.trained", "linear_attn.A_log"}})
                                      << qint64{6} * 2 * 32;
    // Half of its heads on each of two ranks.
    QTest::newRow("projections out, tp 2")
        << under("torchtitan", mambaHybrid("MM", "2"), {{"frozen.trained", "mamba.out_proj"}, {"parallel.tp", "2"}})
        << qint64{2} * 1024 * 1024;
}

/// Adam's moments of 2 + 2 bytes each, which blocks of 512 bytes round up; the recipe counts the same state.
void TestTorchHybrids::trainsByName()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, trained);
    const ModelProgram program = programOf(plan);
    qint64 moments = 0, tensors = 0;
    for (const Tape::Event& event : program.stages.front().tensors.created) {
        moments += event.kind == TensorKind::Moments ? event.bytes : 0;
        ++tensors;
    }
    QVERIFY2(moments >= 4 * trained && moments < 4 * trained + 512 * tensors,
             qPrintable(QString("%1 of %2").arg(moments).arg(4 * trained)));
    Footprint textbook;
    QVERIFY(estimate(plan, {}, textbook));
    const auto state = static_cast<double>(textbook.stages.front().component(Component::OptimizerState).value);
    QVERIFY2(std::abs(state / static_cast<double>(4 * trained) - 1) < 0.001, qPrintable(QString::number(state)));
}

/// transformers' plans split attention and MLPs: projections of 6176 and back, the convolution of 4 and a bias over
/// 4096 channels, three values a head, the gated norm and the layer's; of attention half.
void TestTorchHybrids::holdsMixersWhole()
{
    const ModelProgram program = programOf(under("hf-sdpa", mambaHybrid("M*", "2"), {{"parallel.tp", "2"}}));
    const auto elementsOf = [&program](std::size_t run) {
        qint64 elements = 0;
        for (const qint64 tensor : program.pieces[program.stages.front().chunks.front().runs[run].piece].parameters) {
            elements += tensor;
        }
        return elements;
    };
    QCOMPARE(elementsOf(1), qint64{1024} * 6176 + 4096 * 5 + 3 * 32 + 2048 + 2048 * 1024 + 1024);
    QCOMPARE(elementsOf(2), (qint64{2} * 1024 * 1024 + 2 * 1024 * 512) / 2 + 1024);
}

void TestTorchHybrids::countsParameters_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    const auto row = [](const char* name, const TrainingPlan& plan, FieldTexts more = {}) {
        QTest::newRow(name) << under("torchtitan", planOf({{"model.tied_embeddings", "false"}}, plan), more);
    };
    const TrainingPlan mamba = mambaHybrid("M-M*M-M*", "8");
    row("Mamba-2, tp 2", mamba, {{"parallel.tp", "2"}});
    row("Mamba-2, tp 2 and two stages", mamba, {{"parallel.tp", "2"}, {"parallel.pp", "2"}});
    row("Mamba-2, one group", planOf({{"mixer.groups", "1"}}, mamba), {{"parallel.tp", "4"}});
    row("Mamba-2, cp 2", mamba, {{"parallel.cp", "2"}});
    row("LayerNorm", mamba, {{"model.layer_norm", "true"}});
    row("Mamba, tp 2", deltaHybrid({{"mixer.kind", "mamba"}}), {{"parallel.tp", "2"}});
    row("delta nets, tp 2", deltaHybrid(), {{"parallel.tp", "2"}});
    row("delta nets, biases", deltaHybrid(), {{"model.attn_bias", "true"}, {"model.attn_out_bias", "false"}});
    row("delta nets, cp 4 and two stages", deltaHybrid(), {{"parallel.cp", "4"}, {"parallel.pp", "2"}});
    row("latent attention", latentHybrid());
    row("behind an encoder", mamba,
        {{"model.encoder_layers", "4"}, {"model.decoder_layers", "8"}, {"model.learned_positions", "true"}});
    row("latent attention, tp 2", latentHybrid(), {{"parallel.tp", "2"}, {"mla.q_lora_rank", "768"}});
    row("LayerNorm of heads", deltaHybrid(), {{"model.layer_norm", "true"}, {"model.qk_norm", "true"}});
}

/// The tapes' tensors on every stage are the recipe's weights, and without ranks that split them all are the model's.
void TestTorchHybrids::countsParameters()
{
    QFETCH(TrainingPlan, plan);
    const ModelProgram program = programOf(plan);
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint));
    qint64 all = 0;
    for (std::size_t i = 0; i < program.stages.size(); ++i) {
        QCOMPARE(qint64{parameterCount(program, program.stages[i])}, qint64{footprint.stages[i].parameters});
        all += parameterCount(program, program.stages[i]);
    }
    if (plan.parallel.tp.value == 1) {
        QCOMPARE(all, qint64{footprint.modelParameters});
    }
}

void TestTorchHybrids::refuses_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("gates of one product")
        << under("litgpt", planOf({{"model.attn_gate", "true"}}, llama2Of7B())) << "litgpt has no gated attention";
    QTest::newRow("the first Mamba's sequences")
        << under("hf-sdpa", deltaHybrid({{"mixer.kind", "mamba"}}), {{"parallel.cp", "2"}})
        << "first Mamba read whole sequences";
    QTest::newRow("heads over ranks") << under("hf-sdpa", deltaHybrid(), {{"parallel.cp", "32"}})
                                      << "divide mixer.heads, mixer.key_heads and mixer.groups";
}

void TestTorchHybrids::refuses()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, sentence);
    const QString refusal = refusalOf(plan);
    QVERIFY2(!refusal.isEmpty() && refusal.contains(sentence), qPrintable(refusal));
}

QTEST_APPLESS_MAIN(TestTorchHybrids)
#include "tst_torch_hybrids.moc"
