// SPDX-License-Identifier: GPL-3.0-or-later
//
// Activations of Megatron's layers in the host's memory: which storages leave, when they come back, and what that makes
// of the peak.
#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/programs.h"
#include "footprint/tape/offload.h"
#include "footprint/written_plan.h"

#include <QTest>

using namespace headroom;
using test::planOf;
using test::programOf;

class TestOffload : public QObject
{
    Q_OBJECT

private slots:
    void windows_data();
    void windows();
    void peaks_data();
    void peaks();
    void kwaiLayers_data();
    void kwaiLayers();
    void kwaiDifferences();
    void scoresLeaveByName();
    void lastLayerStaysBeforeALossAlone();
    void recipe();
};

namespace {

/// Llama-2-7B, 4096 tokens, with a vocabulary so small that the layers' backward is the peak.
const QByteArray model = "model.layers=32 model.hidden=4096 model.ffn=11008 model.heads=32 model.kv_heads=32 "
                         "model.vocab=128 model.gated_mlp=true model.tied_embeddings=false attention.impl=flash "
                         "batch.micro=1 batch.seq=4096 batch.accum=1 precision.recipe=megatron-bf16 ";

constexpr std::int64_t stream = std::int64_t{4096} * 4096 * 2; ///< U, 2 T h

std::int64_t backwardPeak(const QByteArray& settings)
{
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    if (const auto done = estimator.run(planOf(settings), stages); !done) {
        qFatal("%s", done.error().english().c_str());
    }
    return stages.front().phase(Phase::Backward).value;
}

} // namespace

void TestOffload::windows_data()
{
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("offloaded");
    QTest::addColumn<QList<int>>("windows");
    // Transformer Engine cpu_offload.py, layer_window_map: n layers leave in n even windows.
    QTest::newRow("half of eight") << 8 << 4 << QList<int>{1, 3, 5, 7};
    QTest::newRow("all but the last") << 5 << 4 << QList<int>{1, 2, 3, 4};
    QTest::newRow("a rest is spread over the first") << 5 << 3 << QList<int>{1, 3, 4};
    QTest::newRow("one") << 6 << 1 << QList<int>{5};
    QTest::newRow("all") << 3 << 3 << QList<int>{1, 2, 2};
}

void TestOffload::windows()
{
    QFETCH(int, layers);
    QFETCH(int, offloaded);
    QFETCH(QList<int>, windows);
    PieceRun run{0, layers};
    run.offloaded = offloaded;
    QList<int> got;
    for (int i = 0; i < offloaded; ++i) {
        got.push_back(static_cast<int>(offloadWindow(run, i)));
    }
    QCOMPARE(got, windows);
    QCOMPARE(piecesAway(run, layers), std::int64_t{offloaded});
    QCOMPARE(piecesAway(run, windows.front()), std::int64_t{0});
    QCOMPARE(piecesAway(run, windows.front() + 1), std::int64_t{1});
}

void TestOffload::peaks_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<std::int64_t>("less");
    // A layer keeps its input, both norms' results, rotated q and k, v, the result of attention and the stream in the
    // middle, U each; fc1's output and the activation, 4 T f and 2 T f.
    const std::int64_t whole = 8 * stream + std::int64_t{6} * 4096 * 11008;
    // While the last layer runs backward the one before it is there again.
    QTest::newRow("all but the last") << QByteArray() << 30 * whole;
    QTest::newRow("16 layers") << QByteArray("shard.offload_activation_layers=16") << 15 * whole;
    QTest::newRow("layers beyond the last but one") << QByteArray("shard.offload_activation_layers=99") << 30 * whole;
    QTest::newRow("what core attention and its projection read")
        << QByteArray("shard.offload_activation_modules=core_attn,attn_proj") << 30 * 4 * stream;
    QTest::newRow("the streams and what q, k and v are made from")
        << QByteArray("shard.offload_activation_modules=attn_norm,mlp_norm,qkv_linear") << 30 * 3 * stream;
    QTest::newRow("nothing that a dense layer has")
        << QByteArray("shard.offload_activation_modules=expert_fc1,moe_act") << std::int64_t{0};
    QTest::newRow("half of the layers") << QByteArray("shard.offload_activation_fraction=0.5") << 14 * whole;
}

void TestOffload::peaks()
{
    QFETCH(QByteArray, settings);
    QFETCH(std::int64_t, less);
    QCOMPARE(backwardPeak(model) - backwardPeak(model + "shard.offload_activations=true " + settings), less);
}

void TestOffload::kwaiLayers_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<double>("bytesPerToken");
    // theory_frameworks.md 12: 148,096 bytes a token and layer of Llama-65B with t = 2 and sequence parallelism;
    // "balanced" leaves out the activation 2f, both norms' results 4h and the rotated copies 4h. Both norms keep their
    // fp32 number a row.
    QTest::newRow("nothing rebuilt") << QByteArray() << 148'096.0 + 4;
    QTest::newRow("balanced") << QByteArray("recompute.granularity=selective recompute.modules=layernorm,mlp_act")
                              << 148'096.0 - (2 * 22016 + 8 * 8192) / 2.0 + 4;
}

const QByteArray kwai = "implementation.profile=megatron-kwai model.layers=80 model.hidden=8192 model.ffn=22016 "
                        "model.heads=64 model.kv_heads=64 model.vocab=32004 model.vocab_pad_multiple=128 "
                        "model.gated_mlp=true model.tied_embeddings=false model.rope=true batch.micro=1 "
                        "batch.seq=8192 batch.global=256 parallel.dp=8 parallel.tp=2 parallel.cp=2 parallel.pp=8 "
                        "parallel.layers_per_vstage=2 parallel.sp=true precision.recipe=megatron-bf16 "
                        "shard.dist_opt=true hardware.compute_capability=9 ";

void TestOffload::kwaiLayers()
{
    QFETCH(QByteArray, settings);
    QFETCH(double, bytesPerToken);
    const ModelProgram program = programOf(planOf(kwai + settings));
    const Tape& tape = program.pieces[1].tape;
    std::int64_t bytes = tape.storages[Tape::input].bytes - 512; // of random numbers' state, rounded up
    for (const Tape::Event& saved : tape.saved) {
        bytes += saved.bytes;
    }
    QCOMPARE(static_cast<double>(bytes) / 4096, bytesPerToken);
}

/// theory_frameworks.md 12: stage 0 holds 47 chunks of two layers, of which all but the one at work leave a share
/// alpha; two buffers take alpha of a chunk each. Between two fractions lie so 46 - 2 chunks of what a layer offers.
void TestOffload::kwaiDifferences()
{
    const auto at = [](const char* fraction) {
        return backwardPeak(kwai + "shard.offload_activations=true shard.offload_activation_fraction=" + fraction);
    };
    const double chunk = 2.0 * 148'096 * 4096;
    const auto difference = static_cast<double>(at("0.6") - at("0.9"));
    QVERIFY2(std::abs(difference / (44 * 0.3 * chunk) - 1) < 0.01, qPrintable(QString::number(difference)));
}

/// Explicit scores, 2 a s bytes a token, leave with core attention where it is named (Megatron-LM's hooks take all that
/// it saves); Transformer Engine's own offloading takes what its modules offer.
void TestOffload::scoresLeaveByName()
{
    const auto leaving = [](const char* settings) {
        const ModelProgram program = programOf(
            planOf(model + "attention.impl=unfused batch.seq=2048 shard.offload_activations=true " + settings));
        std::int64_t bytes = 0;
        for (const Tape::Event& storage : program.pieces[1].tape.offloaded) {
            bytes += storage.kind == TensorKind::AttentionSoftmax ? storage.bytes : 0;
        }
        return bytes;
    };
    QCOMPARE(leaving("shard.offload_activation_modules=core_attn"), std::int64_t{2} * 32 * 2048 * 2048);
    QCOMPARE(leaving("shard.offload_activation_layers=8"), std::int64_t{0});
}

/// What saved-tensor hooks leave on the GPU is small: a norm's number a row and attention's statistics. One layer is
/// back while backward works on it; recomputed layers whose inputs leave keep nothing.
/// A stage's last layer stays, also where the loss is a chunk of its own behind it.
void TestOffload::lastLayerStaysBeforeALossAlone()
{
    const ModelProgram program = programOf(planOf(model
                                                  + "model.layers=4 parallel.pp=2 batch.accum=2 "
                                                    "parallel.layout=Et|t|tt|L shard.offload_activations=true"));
    QList<qint64> away;
    for (const StageProgram& stage : program.stages) {
        for (const Chunk& chunk : stage.chunks) {
            qint64 layers = 0;
            for (const PieceRun& run : chunk.runs) {
                layers += run.offloaded;
            }
            away.append(layers);
        }
    }
    QCOMPARE(away, (QList<qint64>{1, 1, 0, 0})); // Et and tt, then t and L
}

void TestOffload::recipe()
{
    const auto stage = [](const char* settings) {
        Footprint footprint;
        if (!estimate(planOf(model + "implementation.profile=hf-sdpa shard.offload_activations=true " + settings), {},
                      footprint)) {
            qFatal("refused");
        }
        return footprint.stages.front();
    };
    const StageFootprint hooks = stage("");
    QCOMPARE((hooks.component(Component::Activations) + hooks.component(Component::InFlight)).value,
             std::int64_t{32} * 4096 * (2 * 4 + 4 * 32));
    // Streams in front of both norms and their results 8h, q, k, v and the result 8h, fc1 4f, the activation 2f.
    QCOMPARE(hooks.component(Component::WorkingSet).value, std::int64_t{4096} * (16 * 4096 + 6 * 11008));
    const StageFootprint recomputed = stage("recompute.granularity=full");
    QCOMPARE((recomputed.component(Component::Activations) + recomputed.component(Component::InFlight)).value,
             std::int64_t{0});
}

QTEST_APPLESS_MAIN(TestOffload)
#include "tst_offload.moc"
