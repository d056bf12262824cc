// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/hybrid_plans.h"

#include "footprint/estimate.h"
#include "footprint/explain_tapes.h"
#include "footprint/programs.h"
#include "footprint/recipe/state_space_scan.h"
#include "footprint/tape/parameter_tensors.h"
#include "footprint/tape/state.h"

#include <QtTest>

#include <map>
#include <numeric>

using namespace headroom;
using namespace headroom::test;

/// Layers whose mixer is a state space or a gated delta net, on the tapes. Expected figures are worked out here from
/// the papers' dimensions.
class HybridTest : public QObject
{
    Q_OBJECT

private slots:
    void tapesKeep_data();
    void tapesKeep();
    void torchKeeps_data();
    void torchKeeps();
    void torchGathersNeighbours();
    void scanBackwardPeaks();
    void temporariesTogether();
    void adaptersTrainAlone();
    void freezesByName_data();
    void freezesByName();
    void tapesCountParameters_data();
    void tapesCountParameters();
    void refusals_data();
    void refusals();
    void namesItsLayers();
};

namespace {

/// The only layer of a model with one kind of layer.
const Tape& layerOf(const ModelProgram& program)
{
    return program.pieces[program.stages.front().chunks.front().runs.at(1).piece].tape;
}

/// What stays of that layer between its forward and its backward.
qint64 keptBytes(const TrainingPlan& plan)
{
    const ModelProgram program = programOf(plan);
    qint64 kept = 0;
    for (const Tape::Event& saved : layerOf(program).saved) {
        kept += saved.bytes;
    }
    return kept;
}

TrainingPlan megatron(TrainingPlan plan, FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"implementation.profile", "megatron-te"},
                          {"precision.recipe", "megatron-bf16"},
                          {"hardware.compute_capability", "9"},
                          {"model.rope", "false"}},
                         std::move(plan)));
}

} // namespace

void HybridTest::tapesKeep_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("bytes");
    // mamba_ssm and megatron/core/ssm: the norm's result and statistics; the projection, batch first; the scan's result
    // before its gate, and behind it sequence first; the gated norm's statistics of 8 groups and result.
    const qint64 mamba = 2 * 1024 + 4 + 2 * 6176 + 2 * 2048 + 2 * 2048 + 4 * 8 + 2 * 2048;
    QTest::newRow("a state space") << megatron(mambaHybrid("M", "1", {{"batch.micro", "2"}})) << 2 * 1024 * mamba;
    // One sample a micro-batch needs no copies, so what stays is the same.
    QTest::newRow("one sample") << megatron(mambaHybrid("M", "1")) << 1024 * mamba;
    const qint64 half = 2 * 1024 + 4 + 2 * 3088 + 2 * 1024 + 2 * 1024 + 4 * 4 + 2 * 1024;
    QTest::newRow("half of it") << megatron(mambaHybrid("M", "1", {{"parallel.tp", "2"}})) << 1024 * half;
    // A quarter of the sequence, all heads; the scan sees all of it and a quarter of the heads.
    QTest::newRow("on four ranks") << megatron(mambaHybrid("M", "1", {{"parallel.cp", "4"}})) << 256 * mamba;
    // Nothing of the linear layers' inputs but bytes, which they compute with.
    QTest::newRow("8-bit precision") << megatron(mambaHybrid("M", "1", {{"precision.fp8", "tensorwise"}}))
                                     << qint64{1024} * (mamba - 2 * 1024 - 2 * 2048 + 1024 + 2048);
    // A frozen linear layer keeps no input: neither the norm's result nor the gated norm's.
    QTest::newRow("beside adapters") << megatron(
        mambaHybrid("M-", "2", {{"lora.rank", "8"}, {"lora.targets", "linear_fc1, linear_fc2"}}))
                                     << qint64{1024} * (mamba - 2 * 1024 - 2 * 2048);
    QTest::newRow("its first matrix frozen")
        << megatron(mambaHybrid("M", "1", {{"frozen.patterns", "in_proj.weight"}})) << 1024 * (mamba - 2 * 1024);
    QTest::newRow("its last matrix frozen")
        << megatron(mambaHybrid("M", "1", {{"frozen.patterns", "out_proj"}})) << 1024 * (mamba - 2 * 2048);
    QTest::newRow("the scan frozen") // its kernel keeps the same for the gradients of what it reads
        << megatron(mambaHybrid("M", "1", {{"frozen.patterns", "A_log|conv1d|mixer.norm"}})) << 1024 * mamba;
    QTest::newRow("an MLP") << megatron(mambaHybrid("-", "1")) << qint64{1024} * (2 * 1024 + 4 + 2 * 2 * 4096);
    // What the convolution reads; q and k normalised with their statistics and repeated, v, the gate; decay and beta;
    // inverted triangles of 64; the rule's result, the gated norm's statistics and result.
    const qint64 delta = 2 * 2048 + 4 + 2 * 8192 + 2 * (2 * 2048 + 4 * 16 + 2 * 4096) + 2 * 4096 + 2 * 4096
        + 32 * (3 * 4 + 2) + 2 * 64 * 32 + 2 * 4096 + 4 * 32 + 2 * 4096;
    const TrainingPlan alone = deltaHybrid({{"model.layers", "1"}, {"model.layer_pattern", "G"}});
    QTest::newRow("a delta net") << megatron(alone) << 1024 * delta;
    QTest::newRow("its matrices frozen") << megatron(alone, {{"frozen.patterns", "in_proj.weight|out_proj"}})
                                         << 1024 * (delta - 2 * 2048 - 2 * 4096);
}

void HybridTest::tapesKeep()
{
    QFETCH(TrainingPlan, plan);
    QTEST(keptBytes(plan), "bytes");
}

namespace {

TrainingPlan transformers(TrainingPlan plan, FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"implementation.profile", "hf-sdpa"},
                          {"precision.recipe", "bf16-pure"},
                          {"hardware.compute_capability", "9"},
                          {"recompute.enabled", "false"}},
                         std::move(plan)));
}

} // namespace

void HybridTest::torchKeeps_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("bytes");
    // A norm in Python: fp32 input, a number, the normalised tensor, its result.
    const qint64 norm = 4 * 1024 + 4 + 2 * 1024 + 2 * 1024;
    // Mamba2Mixer: projection, scan's result before the norm, the norm's statistics of 8 groups.
    QTest::newRow("Mamba-2") << transformers(mambaHybrid("M", "1"))
                             << qint64{1024} * (norm + 2 * 6176 + 2 * 2048 + 4 * 8);
    // NemotronHMLP beside another half: its norm multiplies by the weight in fp32; relu's square keeps its input.
    QTest::newRow("an MLP alone") << transformers(mambaHybrid("-", "1"))
                                  << qint64{1024} * (norm + 2 * 1024 + 2 * 2 * 4096);
    const qint64 wide = 4 * 2048 + 4 + 2 * 2048 + 2 * 2048, values = 2 * 4096;
    // Qwen3NextGatedDeltaNet: what the convolution reads, gate, q and k normalised for 32 heads with their numbers, v,
    // decay on its way and beta, inverted triangles of 64, the rule's result, the norm's numbers and result.
    QTest::newRow("a delta net") << transformers(deltaHybrid({{"model.layers", "1"}, {"model.layer_pattern", "G"}}))
                                 << qint64{1024}
            * (wide + 2 * 2048 + 2 * 8192 + values + 2 * (values + 4 * 32) + values + 32 * 14 + 2 * 64 * 32 + values
               + 4 * 32 + values);
    // Qwen3NextAttention: sigmoid of the gates, q, repeated k and v, the context with its statistics, their product.
    QTest::newRow("gated attention") << transformers(deltaHybrid({{"model.layers", "1"}, {"model.layer_pattern", "*"}}))
                                     << qint64{1024} * (wide + values + 3 * values + values + 4 * 16 + values);
    // JambaMambaMixer: the projection, the convolution's result, three norms of 128 values, of which one feeds a
    // product and two the copies of B and C; the scan's tokens, steps and gate, its result before and behind the gate,
    // states of 2 · 128 numbers in fp32 a block of 2048 tokens; and an MLP.
    const qint64 small = 4 * 128 + 4 + 2 * 128;
    QTest::newRow("Mamba") << transformers(
        deltaHybrid({{"model.layers", "1"}, {"mixer.layer_types", "mamba"}, {"mixer.kind", "mamba"}}))
                           << qint64{1024}
                * (wide + 2 * values + values + 3 * small + 2 * 128 + 2 * 2 * 128 + 3 * values + 2 * values + wide
                   + 4 * 2 * 5120)
            + 4 * 4096 * 256;
}

/// What stays of a layer between its forward and its backward.
void HybridTest::torchKeeps()
{
    QFETCH(TrainingPlan, plan);
    QTEST(keptBytes(plan), "bytes");
}

/// The collective of the layer behind, and in backward of the one in front: a buffer with this rank's quarter.
void HybridTest::torchGathersNeighbours()
{
    const ModelProgram program = programOf(transformers(
        mambaHybrid("M-M-", "4"), {{"shard.fsdp", "true"}, {"shard.fsdp_version", "2"}, {"parallel.dp", "4"}}));
    const qint64 scan = 1024 * 6176 + 4096 * 5 + 3 * 32 + 2048 + 2048 * 1024 + 1024, mlp = 2 * 1024 * 4096 + 1024;
    const auto buffer = [](qint64 elements) { return (2 * elements / 4 * 5 + 511) / 512 * 512; };
    const auto asked = [](const std::vector<Tape::Event>& events) {
        QList<qint64> sizes;
        for (const Tape::Event& event : events) {
            if (event.op == Tape::Op::Allocate && event.kind == TensorKind::GatheredParameters && event.stream != 0) {
                sizes += event.bytes;
            }
        }
        return sizes;
    };
    const Tape& tape = layerOf(program);
    QCOMPARE(asked(tape.forward), (QList<qint64>{buffer(scan), buffer(mlp)}));
    QCOMPARE(asked(tape.backward), QList<qint64>{buffer(mlp)});
}

/// 10, then 10 and 5; the first one goes as 7 comes; 2 is there with those two.
void HybridTest::temporariesTogether()
{
    QCOMPARE(qint64{mostTogether({{10, 2}, {5}, {7}, {2}})}, 15);
    QCOMPARE(qint64{mostTogether({{10, 2}, {5}, {7}, {4}})}, 16);
    QCOMPARE(qint64{mostTogether({})}, 0);
}

/// Two samples of 1024 tokens are 16 chunks of 128. When the gradients of the products of B and C are summed, alive are
/// x, B and C and their gradients, two bytes each of 4096 channels; the copied time steps of 32 heads, and in fp32 the
/// steps, their sums, the gradients of both and one more; the products of 8 groups and their gradients twice; the last
/// states; the gradient behind the gate; states and their gradients in two bytes; gradients of B and C in fp32.
void HybridTest::scanBackwardPeaks()
{
    const ModelProgram program = programOf(megatron(mambaHybrid("M", "1", {{"batch.micro", "2"}})));
    const qint64 tokens = 2048, chunks = 16;
    const qint64 states = chunks * 2048 * 128, scores = 4 * chunks * 8 * 128 * 128, steps = 4 * tokens * 32;
    const qint64 expected = 2 * (2 * tokens * 4096) + 2 * tokens * 32 + 2 * steps + 3 * scores + 4 * states / 8
        + 2 * tokens * 2048 + 2 * (2 * states) + steps + 2 * (4 * tokens * 8 * 128 + steps);
    qint64 alive = 0, most = 0;
    std::map<Tape::Slot, qint64> sizes;
    for (const Tape::Event& event : layerOf(program).backward) {
        if (event.op == Tape::Op::Allocate && event.kind == TensorKind::ScanWorkspace) {
            sizes[event.slot] = event.bytes;
            alive += event.bytes;
        } else if (event.op == Tape::Op::Free && sizes.contains(event.slot)) {
            alive -= sizes[event.slot];
        }
        most = std::max(most, alive);
    }
    QCOMPARE(most, expected);
    QCOMPARE(alive, 0);
}

/// Rank 8 beside the MLP's two linear layers and attention's of 16 query and 2 · 8 key heads of 64; what they stand
/// beside is frozen, as is all of a state space.
void HybridTest::adaptersTrainAlone()
{
    const TrainingPlan plan = megatron(mambaHybrid("M-*", "3", {{"lora.rank", "8"}}));
    const ModelProgram program = programOf(plan);
    qint64 trained = 0;
    for (const qint64 elements : parameterTensors(program, program.stages.front(), ParameterGroup::Dense)) {
        trained += elements;
    }
    QCOMPARE(trained, 8 * (2 * (1024 + 4096) + (1024 + 2048) + (1024 + 1024)));
    const qint64 frozen = 1024 * 6176 + 4096 * 5 + 3 * 32 + 2048 + 2048 * 1024 + 1024 + 2 * 1024 * 4096 + 1024
        + 1024 * 2048 + 1024 * 1024 + 1024 + 32000 * 1024 + 1024;
    QCOMPARE(qint64{parameterCount(program, program.stages.front())}, trained + frozen);
}

void HybridTest::freezesByName_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("trained"); // elements
    const auto row = [](const char* name, const TrainingPlan& plan, const char* key, const char* value,
                        qint64 trained) {
        QTest::newRow(name) << megatron(
            plan, {{"model.tied_embeddings", "false"}, {"implementation.expandable_segments", "true"}, {key, value}})
                            << trained;
    };
    // Projections of 2 · 2048 + 2 · 8 · 128 + 32 columns and back, a convolution of 4 and a bias over 4096 channels,
    // three values a head, both norms; the first norm is part of the layer behind it.
    const qint64 h = 1024, scan = h * 6176 + 5 * 4096 + 3 * 32 + 2048 + 2048 * h + h, mlp = 2 * h * 4096 + h;
    const TrainingPlan mamba = mambaHybrid("M-*-", "4");
    row("state spaces", mamba, "frozen.trained", R"(mixer\.)", scan);
    row("numbers of heads", mamba, "frozen.trained", "A_log", 3 * 32);
    row("convolution", mamba, "frozen.trained", "conv1d", 5 * 4096);
    row("MLPs", mamba, "frozen.trained", R"(mlp\.)", 2 * mlp);
    row("all but MLPs", mamba, "frozen.patterns", R"(mlp\.)",
        scan + h * (1024 + 2 * 512) + h * h + h + h + 2 * 32000 * h);
    row("final norm", mamba, "frozen.trained", "final_norm", h);
    row("last layer", mamba, "frozen.trained_layers", "1", mlp);
    // Columns of q, k, v and gate, and of two numbers a head; attention's queries have gates beside them.
    const qint64 wide = 2048, columns = 2 * 2048 + 2 * 4096 + 2 * 32, queries = 2 * 16 * 256 + 2 * 2 * 256;
    row("delta nets' matrices", deltaHybrid(), "frozen.trained", "in_proj|out_proj",
        6 * (wide * columns + wide + 4096 * wide));
    row("attention's projection", deltaHybrid(), "frozen.trained", "linear_qkv.weight", 2 * wide * queries);
    row("names of the checkpoint", deltaHybrid(), "frozen.trained", R"(linear_attn\.out)", 6 * 4096 * wide);
}

/// Gradients of the trained alone, on every stage.
void HybridTest::freezesByName()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, trained);
    const ModelProgram program = programOf(plan);
    const qint64 all = parameterCount(program, program.stages.front());
    const ModelProgram staged = programOf(planOf({{"parallel.pp", "2"}, {"batch.accum", "4"}}, plan));
    for (const ModelProgram* some : {&program, &staged}) {
        qint64 parameters = 0, own = 0;
        for (const StageProgram& stage : some->stages) {
            const std::vector<std::int64_t> tensors = parameterTensors(*some, stage);
            const qint64 elements = std::accumulate(tensors.begin(), tensors.end(), qint64{0});
            QCOMPARE(qint64{stageState(*some, stage).gradients}, (4 * elements + 511) / 512 * 512);
            own += elements;
            parameters += parameterCount(*some, stage);
        }
        QCOMPARE(own, trained);
        QCOMPARE(parameters, all);
    }
}

void HybridTest::tapesCountParameters_data()
{
    addHybridsOverStages();
    QTest::newRow("experts") << mambaHybrid("ME*EM-", "6",
                                            {{"parallel.pp", "2"},
                                             {"model.tied_embeddings", "false"},
                                             {"moe.experts", "8"},
                                             {"moe.topk", "2"},
                                             {"moe.ffn", "512"},
                                             {"moe.shared_ffn", "1024"}})
                             << 2;
    QTest::newRow("predictions") << mambaHybrid("M-M*/*-/*-", "4",
                                                {{"model.tied_embeddings", "false"}, {"model.mtp_layers", "2"}})
                                 << 1;
    QTest::newRow("one layer for all predictions") << mambaHybrid(
        "M-M*/*-/*-", "4",
        {{"model.tied_embeddings", "false"}, {"model.mtp_layers", "2"}, {"model.repeated_predictor", "true"}})
                                                   << 1;
}

/// The tapes' parameter tensors are the recipe's weights, those of transformers too, which has no predictions.
void HybridTest::tapesCountParameters()
{
    QFETCH(TrainingPlan, plan);
    std::vector<TrainingPlan> all{megatron(plan)};
    if (!plan.model.mtpLayers.isKnown()) {
        all.push_back(transformers(plan, {{"implementation.profile", "torchtitan"}}));
    }
    for (const TrainingPlan& one : all) {
        const ModelProgram program = programOf(one);
        Footprint footprint;
        QVERIFY(estimate(one, {}, footprint));
        for (std::size_t i = 0; i < program.stages.size(); ++i) {
            QCOMPARE(qint64{parameterCount(program, program.stages[i])}, qint64{footprint.stages[i].parameters});
        }
    }
}

void HybridTest::refusals_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("Mamba") << megatron(mambaHybrid("M", "1", {{"mixer.kind", "mamba"}})) << "";
    QTest::newRow("the first Mamba") << megatron(deltaHybrid({{"mixer.kind", "mamba"}})) << "first Mamba";
    QTest::newRow("groups") << megatron(mambaHybrid("M", "1", {{"mixer.groups", "1"}, {"parallel.tp", "2"}}))
                            << "mixer.groups (1) cannot be split over 2 ranks";
    QTest::newRow("heads over context ranks")
        << megatron(mambaHybrid("M", "1", {{"mixer.heads", "8"}, {"mixer.head_dim", "256"}, {"parallel.cp", "16"}}))
        << "mixer.heads (8) cannot be split over 16 ranks";
    QTest::newRow("Megatron's own layers")
        << megatron(mambaHybrid("M", "1"), {{"implementation.profile", "megatron-local"}})
        << "outside Transformer Engine";
    QTest::newRow("transformers") << megatron(mambaHybrid("M", "1"), {{"implementation.profile", "hf-sdpa"}}) << "";
    QTest::newRow("transformers, over ranks")
        << megatron(mambaHybrid("M", "1"), {{"implementation.profile", "hf-sdpa"}, {"parallel.tp", "2"}}) << "";
    QTest::newRow("one product for q, k and v")
        << megatron(mambaHybrid("M", "1"), {{"implementation.profile", "litgpt"}}) << "litgpt has no hybrid layers";
    QTest::newRow("adapters behind the first layer")
        << megatron(mambaHybrid("M-M*", "4", {{"lora.rank", "8"}, {"lora.targets", "linear_fc1"}})) << "";
    QTest::newRow("adapters behind several layers")
        << megatron(mambaHybrid("M-M*", "4", {{"lora.rank", "8"}, {"lora.targets", "linear_qkv"}}))
        << "adapters that begin behind several layers";
    QTest::newRow("activations on the host")
        << megatron(mambaHybrid("M-", "2", {{"shard.offload_activations", "true"}}))
        << "offloaded activations of hybrids";
    QTest::newRow("beyond any machine") << megatron(mambaHybrid(
        "M", "1", {{"mixer.heads", "1000000"}, {"mixer.head_dim", "1000000"}, {"mixer.state_dim", "1000000"}}))
                                        << "beyond what any machine holds";
}

void HybridTest::refusals()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, sentence);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QCOMPARE(bool{built}, sentence.isEmpty());
    QVERIFY2(sentence.isEmpty() || QString::fromStdString(built.error().english()).contains(sentence),
             built ? "" : built.error().english().c_str());
}

/// The working names what a stage has.
void HybridTest::namesItsLayers()
{
    const TrainingPlan plan = megatron(mambaHybrid("MM*---", "6"));
    Footprint footprint;
    QVERIFY(estimateInstantly(plan, {}, footprint));
    QVERIFY(!footprint.notExact);
    QStringList names;
    for (const Term& term : explainTapes(plan, footprint.stages.front())) {
        for (const Term& part : term.parts) {
            names += QString::fromStdString(part.name.english());
        }
    }
    for (const char* name : {"2 layers with a state space or delta net", "1 layers", "3 MLP layers"}) {
        QVERIFY2(names.contains(name), qPrintable(names.join('\n')));
    }
}

QTEST_APPLESS_MAIN(HybridTest)
#include "tst_hybrid.moc"
