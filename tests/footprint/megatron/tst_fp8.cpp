// SPDX-License-Identifier: GPL-3.0-or-later
//
// What Transformer Engine's fp8 linear layers keep: one-byte inputs of experts, and one-byte copies of 16-bit weights
// (theory_moe_cp.md B3; its reference keeps q8(input) of every linear layer).
#include "footprint/programs.h"
#include "footprint/tape/state.h"
#include "footprint/written_plan.h"

#include <QTest>

#include <numeric>

using namespace headroom;
using test::planOf;
using test::programOf;

class TestFp8 : public QObject
{
    Q_OBJECT

private slots:
    void expertsKeepBytes();
    void latentsAndPredictionsKeepBytes();
    void copiesOfWeights_data();
    void copiesOfWeights();
};

namespace {

/// Mixtral 8x7B, two layers, 4096 tokens: each goes to two experts, so that 8192 rows reach those of the only rank.
const QByteArray mixtral
    = "model.layers=2 model.hidden=4096 model.ffn=14336 model.heads=32 model.kv_heads=8 model.vocab=32000 "
      "model.gated_mlp=true model.tied_embeddings=false batch.micro=1 batch.seq=4096 batch.accum=1 "
      "precision.recipe=megatron-bf16 hardware.compute_capability=9 ";
const QByteArray experts = "moe.experts=8 moe.topk=2 moe.grouped_gemm=true moe.dispatcher=alltoall ";

enum : std::size_t { Head = 2, ExpertLayer = 3 };

std::int64_t savedOf(const ModelProgram& program, std::initializer_list<TensorKind> kinds,
                     std::size_t piece = ExpertLayer)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& saved : program.pieces[piece].tape.saved) {
        bytes += std::find(kinds.begin(), kinds.end(), saved.kind) != kinds.end() ? saved.bytes : 0;
    }
    return bytes;
}

} // namespace

void TestFp8::expertsKeepBytes()
{
    using enum TensorKind;
    constexpr std::int64_t tokens = 4096, rows = 2 * tokens, hidden = 4096, ffn = 14336;
    const ModelProgram bf16 = programOf(planOf(mixtral + experts));
    QCOMPARE(savedOf(bf16, {SortedTokens}), 2 * rows * hidden);
    QCOMPARE(savedOf(bf16, {ActivationOutput}), 2 * rows * ffn);
    QCOMPARE(savedOf(bf16, {Fp8Inputs}), std::int64_t{0});
    const ModelProgram fp8 = programOf(planOf(mixtral + experts + "precision.fp8=tensorwise"));
    QCOMPARE(savedOf(fp8, {SortedTokens, PermutedTokens, DispatchedTokens, ActivationOutput}), std::int64_t{0});
    // Beside the experts' two inputs that of attention's projection.
    QCOMPARE(savedOf(fp8, {Fp8Inputs}), tokens * hidden + rows * hidden + rows * ffn);
    QCOMPARE(savedOf(fp8, {Fc1Output}), 2 * rows * 2 * ffn); // the activation is computed in 16 bit
    // An activation that is made again needs no copy.
    const ModelProgram rebuilt = programOf(planOf(
        mixtral + experts + "precision.fp8=tensorwise recompute.granularity=selective recompute.modules=moe_act"));
    QCOMPARE(savedOf(rebuilt, {Fp8Inputs}), tokens * hidden + rows * hidden);
}

/// A byte an element of every linear layer's input: of latent attention the projections up and the result's; the two
/// down would have a copy each, which is as much as the 16-bit input that is counted for both. Of a prediction the
/// joined states and its layer's four.
void TestFp8::latentsAndPredictionsKeepBytes()
{
    constexpr std::int64_t tokens = 4096, rows = 2 * tokens, hidden = 4096, ffn = 14336;
    const ModelProgram latent
        = programOf(planOf(mixtral + experts
                           + "precision.fp8=tensorwise attention.impl=fused mla.q_lora_rank=1536 mla.kv_lora_rank=512 "
                             "mla.qk_nope_dim=128 mla.qk_rope_dim=64 mla.v_dim=128"));
    QCOMPARE(savedOf(latent, {TensorKind::Fp8Inputs}), tokens * (1536 + 512 + 32 * 128) + rows * (hidden + ffn));
    QCOMPARE(savedOf(latent, {TensorKind::NormOutput}), 2 * 2 * tokens * hidden); // and the router's
    const ModelProgram predicting = programOf(planOf(mixtral + "precision.fp8=tensorwise model.mtp_layers=1"));
    QCOMPARE(savedOf(predicting, {TensorKind::Fp8Inputs}, Head), tokens * (2 * hidden + 3 * hidden + ffn));
}

void TestFp8::copiesOfWeights_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<std::int64_t>("bytes");
    // Of a layer q, k, v and the projection (2 h² + 2 h · 1024) and three matrices of the MLP.
    constexpr std::int64_t attention = std::int64_t{4096} * (2 * 4096 + 2 * 1024), mlp = std::int64_t{3} * 4096 * 14336;
    constexpr std::int64_t dense = 2 * (attention + mlp);
    QTest::newRow("none without fp8") << QByteArray() << std::int64_t{0};
    QTest::newRow("by row and transposed on Hopper") << QByteArray("precision.fp8=delayed") << 2 * dense;
    QTest::newRow("by row on Blackwell") << QByteArray("precision.fp8=tensorwise hardware.compute_capability=10")
                                         << dense;
    QTest::newRow("scales by block") << QByteArray("precision.fp8=blockwise hardware.compute_capability=10")
                                     << 2 * dense + 2 * 4 * dense / (128 * 128);
    QTest::newRow("fp8 parameters are their own copy")
        << QByteArray("precision.fp8=tensorwise precision.fp8_params=true shard.dist_opt=true parallel.dp=2")
        << std::int64_t{0};
    QTest::newRow("experts, but no router") << experts + "precision.fp8=delayed" << 2 * 2 * (attention + 8 * mlp);
}

void TestFp8::copiesOfWeights()
{
    QFETCH(QByteArray, settings);
    QFETCH(std::int64_t, bytes);
    const ModelProgram program = programOf(planOf(mixtral + settings));
    const auto copies = fp8WeightCopies(program, program.stages.front());
    QCOMPARE(std::accumulate(copies.begin(), copies.end(), std::int64_t{0}), bytes);
}

QTEST_APPLESS_MAIN(TestFp8)
#include "tst_fp8.moc"
