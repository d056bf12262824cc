// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a block of the code bases on DeepSpeed's pipeline engine keeps, added up by hand, and its parameters.
#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/programs.h"
#include "footprint/written_plan.h"

#include <QTest>

#include <numeric>

using namespace headroom;
using test::planOf;
using test::programOf;

class TestGptPipeline : public QObject
{
    Q_OBJECT

private slots:
    void keptOfABlock_data();
    void keptOfABlock();
    void parametersOfStages_data();
    void parametersOfStages();
    void stepsOfZero();
    void widensGradients();
    void chosenFromTheFramework();
    void refusesWhatItDoesNotDescribe_data();
    void refusesWhatItDoesNotDescribe();
};

namespace {

constexpr qint64 hidden = 1024, heads = 16, ffn = 4096, tokens = 2048;
const QByteArray base = "implementation.profile=deepspeed-pipeline model.layers=4 model.hidden=1024 model.heads=16 "
                        "model.ffn=4096 model.vocab=32000 batch.seq=1024 batch.accum=4 parallel.pp=2 "
                        "precision.recipe=megatron-fp16 recompute.enabled=false ";
const QByteArray twoSamples = "batch.micro=2 ";
const QByteArray gpt = "model.layer_norm=true model.attn_bias=true model.mlp_bias=true model.attn_dropout=0.1 "
                       "model.hidden_dropout=0.1 model.rope=false model.learned_positions=true model.max_pos=1024 ";
const QByteArray llama = "model.gated_mlp=true model.tied_embeddings=false model.rope=true ";
const QByteArray neox = "framework=gpt-neox ";

} // namespace

void TestGptPipeline::keptOfABlock_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<qint64>("expected"); // bytes of all tokens
    constexpr qint64 scores = 5 * heads * 1024; // softmax 2, dropped 2, mask 1 for each key
    // Korthikanti et al. 2022, equation 1, and the fp32 mean and deviation of two norms.
    QTest::newRow("GPT") << gpt + twoSamples << tokens * (34 * hidden + scores + 16);
    // Streams and norms' results 4h each, q, k and v 6h, fc1 and the activation 2f each; one norm's result is shared.
    QTest::newRow("GPT, parallel block") << gpt + twoSamples
            + "model.attn_dropout=0 model.hidden_dropout=0 model.parallel_block=true model.shared_norm=true"
                                         << tokens * ((2 + 2 + 6 + 2) * hidden + 4 * ffn + 2 * heads * 1024 + 8);
    // q and k rotated beside the product that holds v; the kernel reads copies with the batch first, so that only those
    // stay, and its result once more. Gate and up 4f, the activated gate and the product 2f each.
    QTest::newRow("Llama, Megatron-DeepSpeed, flash")
        << llama + twoSamples + "attention.impl=flash" << tokens * ((4 + 4 + 6 + 4) * hidden + 8 * ffn + 4 * heads + 8);
    QTest::newRow("one sample: nothing to reorder")
        << llama + "batch.micro=1 attention.impl=flash"
        << tokens / 2 * ((4 + 4 + 4 + 6 + 2) * hidden + 8 * ffn + 4 * heads + 8);
    QTest::newRow("over two ranks") << llama + twoSamples + "attention.impl=flash parallel.tp=2"
                                    << tokens * ((4 + 4 + 3 + 2) * hidden + 4 * ffn + 2 * heads + 8);
    // The gathered inputs of linear layers are not kept.
    QTest::newRow("over two ranks, sequence parallel")
        << llama + twoSamples + "attention.impl=flash parallel.tp=2 parallel.sp=true"
        << tokens / 2 * ((4 + 4 + 6 + 4) * hidden + 8 * ffn + 4 * heads + 8);
    // Keys and values are repeated for every head.
    QTest::newRow("grouped, Megatron-DeepSpeed, flash") << llama + twoSamples
            + "model.kv_heads=4 attention.impl=flash" << tokens * ((4 + 4 + 6 + 4) * hidden + 8 * ffn + 4 * heads + 8);
    // Norms in Python keep the quotient (2h each) and two 16-bit figures a token; v stays in the product, the kernel
    // reads views and only its result is copied.
    QTest::newRow("Llama, GPT-NeoX, flash") << neox + llama + twoSamples + "attention.impl=flash"
                                            << tokens * ((4 + 4 + 4 + 4 + 6 + 4) * hidden + 8 * ffn + 4 * heads + 8);
    // Grouped ones are copied: q 2h, k and v a quarter of it each.
    QTest::newRow("grouped, GPT-NeoX, flash") << neox + llama + twoSamples + "model.kv_heads=4 attention.impl=flash"
                                              << tokens * ((4 + 4 + 4 + 3 + 4) * hidden + 8 * ffn + 4 * heads + 8);
}

void TestGptPipeline::keptOfABlock()
{
    QFETCH(QByteArray, settings);
    QFETCH(qint64, expected);
    const ModelProgram program = programOf(planOf(base + settings));
    const Tape& block = program.pieces[2].tape;
    const auto kept = std::accumulate(block.saved.begin(), block.saved.end(), block.outputBytes,
                                      [](std::int64_t sum, const Tape::Event& one) { return sum + one.bytes; });
    QCOMPARE(qint64{kept}, expected);
}

void TestGptPipeline::parametersOfStages_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<qint64>("expected");
    constexpr qint64 table = qint64{32000} * hidden;
    constexpr qint64 square = hidden * hidden, mlp = hidden * ffn;
    // 12h² + 13h a layer, the final norm, the table twice: the last stage has a copy; and the positions.
    QTest::newRow("GPT") << gpt << 4 * (12 * square + 13 * hidden) + 2 * hidden + 2 * table + 1024 * hidden;
    QTest::newRow("Llama") << llama << 4 * (4 * square + 3 * mlp + 2 * hidden) + hidden + 2 * table;
    QTest::newRow("Llama on one stage") << llama + "parallel.pp=1"
                                        << 4 * (4 * square + 3 * mlp + 2 * hidden) + hidden + 2 * table;
    QTest::newRow("grouped") << llama + "model.kv_heads=4"
                             << 4 * (2 * square + 2 * square / 4 + 3 * mlp + 2 * hidden) + hidden + 2 * table;
    QTest::newRow("parallel block, one norm")
        << gpt + "model.parallel_block=true model.shared_norm=true"
        << 4 * (12 * square + 11 * hidden) + 2 * hidden + 2 * table + 1024 * hidden;
}

void TestGptPipeline::parametersOfStages()
{
    QFETCH(QByteArray, settings);
    QFETCH(qint64, expected);
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    const auto done = estimator.run(planOf(base + "batch.micro=1 " + settings), stages);
    QVERIFY2(done, done ? "" : done.error().english().c_str());
    qint64 parameters = 0;
    for (const StageFootprint& stage : stages) {
        parameters += stage.parameters;
    }
    QCOMPARE(parameters, expected);
}

namespace {

qint64 sumOf(const std::vector<Tape::Event>& tensors)
{
    return std::accumulate(tensors.begin(), tensors.end(), qint64{0},
                           [](qint64 sum, const Tape::Event& one) { return sum + one.bytes; });
}

} // namespace

/// ZeRO-1: the bucket, smaller than 5e8 elements here, and this rank's share of the gradients while they are reduced;
/// then the share, its flat copy and that in fp32, without the gradients.
void TestGptPipeline::stepsOfZero()
{
    const ModelProgram program = programOf(planOf(base + gpt + twoSamples + "shard.zero_stage=1 parallel.dp=4"));
    const StageTensors& tensors = program.stages.back().tensors;
    constexpr qint64 all = 2 * (12 * hidden * hidden + 13 * hidden) + 2 * hidden + 32000 * hidden;
    QCOMPARE(sumOf(tensors.clipping), 2 * all + 2 * all / 4);
    QCOMPARE(sumOf(tensors.temporaries), (2 + 2 + 4) * all / 4);
    QVERIFY(tensors.dropsGradients);
}

/// DeepSpeed's bf16 optimizer: fp32 copies of the largest matrix, and of the table on the stage that has it.
void TestGptPipeline::widensGradients()
{
    const ModelProgram program
        = programOf(planOf(base + gpt + twoSamples + "precision.recipe=megatron-bf16 shard.zero_stage=1"));
    const auto copies = [&program](std::size_t piece) {
        std::int64_t bytes = 0;
        for (const Tape::Event& event : program.pieces[piece].tape.backward) {
            const bool isCopy = event.kind == TensorKind::OptimizerTemporary && event.op == Tape::Op::Allocate;
            bytes += isCopy ? event.bytes : 0;
        }
        return qint64{bytes};
    };
    QCOMPARE(copies(0), 4 * hidden * ffn);
    QCOMPARE(copies(1), 4 * 32000 * hidden);
    // Over replicas they are reduced as one 16-bit copy of all; a rank alone has nothing to reduce.
    QVERIFY(program.stages.back().tensors.clipping.empty());
    const ModelProgram replicated = programOf(
        planOf(base + gpt + twoSamples + "precision.recipe=megatron-bf16 shard.zero_stage=1 parallel.dp=4"));
    constexpr qint64 all = 2 * (12 * hidden * hidden + 13 * hidden) + 2 * hidden + 32000 * hidden;
    QCOMPARE(sumOf(replicated.stages.back().tensors.clipping), 2 * all);
}

void TestGptPipeline::chosenFromTheFramework()
{
    QCOMPARE(profileOf(planOf("framework=gpt-neox")), std::string_view("deepspeed-pipeline"));
    QCOMPARE(profileOf(planOf("framework=gpt-neox implementation.profile=hf-sdpa")), std::string_view("hf-sdpa"));
}

void TestGptPipeline::refusesWhatItDoesNotDescribe_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::newRow("experts") << llama + "moe.experts=8 moe.topk=2";
    QTest::newRow("query and key norms") << llama + "model.qk_norm=true";
    QTest::newRow("a gate before DeepSpeed") << llama + "implementation.profile=megatron-2.4";
    QTest::newRow("a parallel block before DeepSpeed")
        << gpt + "implementation.profile=megatron-2.4 model.parallel_block=true";
}

void TestGptPipeline::refusesWhatItDoesNotDescribe()
{
    QFETCH(QByteArray, settings);
    ModelProgram program;
    const auto built = buildProgram(planOf(base + "batch.micro=1 " + settings), program);
    QVERIFY(!built);
    QVERIFY2(built.error().english().find("does not describe") != std::string::npos, built.error().english().c_str());
}

QTEST_APPLESS_MAIN(TestGptPipeline)
#include "tst_gpt_pipeline.moc"
