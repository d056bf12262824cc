// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/estimator.h"
#include "footprint/torch/tapes.h"
#include "footprint/torch_plans.h"
#include "footprint/working.h"

#include <QTest>

using namespace headroom;
using namespace headroom::test;

/// What layers of PyTorch frameworks keep, against the tables that were derived from saved-tensor hooks (theory.md 3.3,
/// 3.7, 3.9 and theory_frameworks.md 2.1, 4).
class TestTorchKept : public QObject
{
    Q_OBJECT

private slots:
    void keeps_data();
    void keeps();
    void keepsOfExperts();
    void keepsOfNarrowExperts();
    void keepsOfImages();
    void keepsOfPerceivers();
    void keepsDropoutMasks();
    void keepsSideBySide_data();
    void keepsSideBySide();
};

void TestTorchKept::keeps_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytesPerToken");

    QTest::newRow("A09 Llama-2-7B") << planOf(llama2, "hf-sdpa") << 186504.0;
    // theory.md 3.3: two norms 8h + 4, q, k, v and result, 4a, 8f; k = 26.02 with repeated keys and values, else 24.52.
    const double repeated = 2 * (8 * 4096 + 4) + 4 * 2 * 4096 + 4 * 32 + 8 * 14336;
    QTest::newRow("A10 Llama-3-8B, repeated") << planOf(llama3, "hf-sdpa") << repeated;
    QTest::newRow("A10 Llama-3-8B, as they are") << planOf(llama3, "hf-flash") << repeated - 2 * 2 * (4096 - 1024);
    // theory.md 3.6: 6 bytes a score in place of the statistics; the result once more where heads move behind tokens.
    // modeling_deepseek_v3.py: both latents are normed like a stream of their width; q and k are assembled anew, the
    // value is a view of the up-projection of keys and values.
    TrainingPlan latent = planOf({27, 2048, 10944, 16, 16, 102400, false}, "hf-flash");
    latent.mla.kvLoraRank = Count(512);
    latent.mla.qLoraRank = Count(1536);
    latent.mla.qkNopeDim = latent.mla.vDim = Count(128);
    latent.mla.qkRopeDim = Count(64);
    QTest::newRow("latent attention") << latent
                                      << 2.0 * (8 * 2048 + 4) + 8 * 1536 + 4 + 8 * 512 + 4 + 4 * 16 * 192 + 2 * 16 * 256
            + 2 * 16 * 128 + 4 * 16 + 8 * 10944;
    // Streams and norms' results 4h each, one product of q, k and v 6h beside rotated ones of 4h, the result 2h.
    QTest::newRow("nanotron") << planOf(llama2, "nanotron") << 20.0 * 4096 + 8.0 * 11008 + 4 * 32 + 2 * 4;
    // Streams and norms' results 4h each, q, k, v and the result 2h each, gate and up 4f, their product 2f, statistics:
    // 514.5 MiB a layer, as Galvatron's profiler published for 4096 tokens. Of several sequences the result once more
    // with tokens first; over two ranks with sequence parallelism a half of all that, gathered inputs are not kept:
    // 273.3 MiB of a sample.
    TrainingPlan galvatron = planOf(llama2, "galvatron");
    const double oneSequence = 16.0 * 4096 + 6.0 * 11008 + 4 * 32 + 2 * 4;
    QTest::newRow("Galvatron") << galvatron << oneSequence;
    galvatron.batch.micro = Count(2);
    QTest::newRow("Galvatron, two sequences") << galvatron << 2 * (oneSequence + 2.0 * 4096);
    galvatron.parallel.tp = Count(2);
    galvatron.parallel.sp = Flag(true);
    QTest::newRow("Galvatron, two sequences over two ranks") << galvatron << oneSequence + 2.0 * 4096;
    QTest::newRow("explicit scores") << planOf(llama2, "hf-eager") << 186504.0 + 6.0 * 32 * tokens - 4 * 32;

    TrainingPlan frozen = planOf(llama2, "hf-sdpa");
    frozen.frozen.llm = Flag(true);
    QTest::newRow("A18 frozen Llama-2-7B") << frozen << 131720.0;

    TrainingPlan fp32Adapters = planOf(llama2, "hf-sdpa");
    fp32Adapters.lora.rank = Count(16);
    fp32Adapters.lora.targets = Names(std::vector<std::string>{"q_proj", "v_proj"});
    // theory_frameworks.md 2.1 rule 5: every adapter casts its input by itself, 4h, and keeps rank r in fp32.
    QTest::newRow("fp32 adapters on q and v") << fp32Adapters << 131720.0 + 2 * (4 * 4096 + 4 * 16);
    TrainingPlan adapters = fp32Adapters;
    adapters.lora.adapterType = Field<DataType>(DataType::Bf16);
    // 16-bit adapters share the input that is there.
    QTest::newRow("16-bit adapters on q and v") << adapters << 131720.0 + 2 * 4096 + 2 * 2 * 16;

    // LitGPT: norms in fp32, q, k and v as one of which the value is a view, 6f, the dropped input with its mask, 2r,
    // and the results for q and v that index_copy keeps (lora.py, zero_pad).
    TrainingPlan lit = adapters;
    lit.implementation.profile = Name("litgpt");
    lit.lora.rank = Count(8);
    lit.lora.dropout = Real(0.05);
    QTest::newRow("LitGPT") << lit
                            << 2.0 * (4 * 4096 + 4) + (6 + 4 + 2) * 4096 + 4 * 32 + 6 * 11008 + 3 * 4096 + 2 * 2 * 8
            + 2 * 2 * 4096;
    // auto_gptq qlinear_cuda_old.py: every product of a GPTQ layer keeps its unpacked 16-bit weight, 4h² of attention
    // and 3hf; bitsandbytes (autograd/_functions.py, MatMul4Bit) unpacks it again in backward.
    adapters.precision.params = Field<DataType>(DataType::Int4);
    QTest::newRow("adapters on GPTQ") << adapters
                                      << 131720.0 + 2 * 4096 + 2 * 2 * 16
            + 2.0 * (4 * 4096 * 4096 + 3 * 4096 * 11008) / tokens;
    adapters.precision.params = Field<DataType>(DataType::Nf4);
    QTest::newRow("adapters on nf4") << adapters << 131720.0 + 2 * 4096 + 2 * 2 * 16;

    // Both norms keep their normalised input, of which every other has a 16-bit copy, in fp32 (transformers
    // modeling_gemma.py, GemmaRMSNorm).
    TrainingPlan gemma = planOf(llama2, "hf-sdpa");
    gemma.model.activation = Name("geglu");
    QTest::newRow("Gemma's norm") << gemma << 186504.0 + 2 * 2 * 4096;

    // theory_frameworks.md 2.1 rule 2, and the one number a row that each norm keeps.
    QTest::newRow("eager Llama-3.2-3B") << planOf(llama32, "torchtune") << 139360.0 + 8;
    TrainingPlan compiled = planOf(llama32, "torchtune");
    compiled.implementation.compile = Flag(true);
    QTest::newRow("compiled Llama-3.2-3B") << compiled << 98400.0 + 8;

    TrainingPlan selective = planOf(llama3, "torchtitan");
    shardWithFsdp(selective, 8);
    selective.recompute.enabled = Flag(true);
    selective.recompute.granularity = Field<Granularity>(Granularity::Selective);
    // theory_frameworks.md 4: input 2h, wq 2ad, wv 2gd, attention 2ad + 4a, w1 2f, w2 2h.
    const double stored = 2 * 4096 + 2 * 4096 + 2 * 1024 + 2 * 4096 + 4 * 32 + 2 * 14336;
    TrainingPlan compiledSelective = selective;
    compiledSelective.implementation.compile = Flag(true);
    QTest::newRow("selective, compiled") << compiledSelective << stored;
    QTest::newRow("selective, eager caches w2") << selective << stored + 2 * 4096;
}

void TestTorchKept::keeps()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytesPerToken);
    QCOMPARE(keptPerToken(programOf(plan)), bytesPerToken);
}

/// theory_frameworks.md 5: a routed row keeps its gathered input 2h, 8f of the experts and, weighted in fp32, 4h; a
/// token 4 bytes an expert. Beside that stand where its rows come from (8 twice a row) and their scores (4).
void TestTorchKept::keepsOfExperts()
{
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, "prime-rl");
    plan.model.headDim = Count(128);
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    const double attention = 2 * (8 * 2048 + 4) + 2 * 2 * 32 * 128 + 4 * 4 * 128 + 4 * 32;
    const double routed = 8 * (2 * 2048 + 8 * 768 + 4 * 2048 + 8 + 8 + 4) + 4 * 128;
    QCOMPARE(keptPerToken(programOf(plan), 3), attention + routed);
}

/// Of experts in a space of l in the place of h: what they read and what they make, 2l a row each in the place of 2h,
/// and once more a token the sum that the way back reads; h·l twice and 3l·f for each expert in the place of 3h·f.
void TestTorchKept::keepsOfNarrowExperts()
{
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, "hf-flash");
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    TrainingPlan narrow = plan;
    constexpr std::int64_t l = 512;
    narrow.moe.latent = Count(l);
    const ModelProgram whole = programOf(plan), less = programOf(narrow);
    QCOMPARE(keptPerToken(whole, 3) - keptPerToken(less, 3), 2.0 * 2 * 8 * (2048 - l) - 2 * l);
    const auto parametersOf = [](const ModelProgram& program) { return parameterCount(program, program.stages[0]); };
    QCOMPARE(parametersOf(whole) - parametersOf(less), 48 * (std::int64_t{128} * 3 * (2048 - l) * 768 - 2 * 2048 * l));
    const Working working = workingOf(narrow, {});
    QCOMPARE(parametersOf(less), modelParameters(working.model, working.tower, working.projector));
}

/// theory.md 3.3 for a block with LayerNorm and GELU: two norms keep their input and output, 8 bytes a row; q, k, v and
/// the result; 2f twice.
void TestTorchKept::keepsOfImages()
{
    TrainingPlan plan = planOf(llama2, "hf-sdpa");
    plan.vision.layers = Count(24);
    plan.vision.hidden = Count(1024);
    plan.vision.ffn = Count(4096);
    plan.vision.heads = Count(16);
    plan.vision.patch = Count(14);
    plan.vision.imageSize = Count(448);
    plan.vision.learnedPositions = Flag(true);
    plan.projector.type = Name("mlp");
    const double patches = 1024;
    const double kept = 2 * (4 * 1024 + 8) + 8 * 1024 + 4 * 16 + 4 * 4096;
    QCOMPARE(keptPerToken(programOf(plan), 8), kept * patches / tokens);
    plan.frozen.vision = Flag(true);
    QCOMPARE(keptPerToken(programOf(plan), 8), 0.0);
    plan.frozen.projector = Flag(true);
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    QVERIFY(estimator.run(plan, stages).has_value());
    const ModelProgram program = programOf(plan);
    const StageTensors& tensors = program.stages.front().tensors;
    QCOMPARE(stages.front().steadyAllocated.value >> 30, (sumOf(tensors.resident) + sumOf(tensors.created)) >> 30);
}

/// Idefics 2: of every patch the MLP's 8f, then in each layer an fp32 copy and twice the normed one, 6h + 4, the joined
/// rows, 2h, and keys and values of 4 heads of 96; of every latent two norms of 8h + 4 (their results are read again),
/// the joined row with keys and values, queries and result of 16 heads of 96 with statistics, 8 · 4h of the MLP; at
/// last one more norm, whose result is what flows out.
void TestTorchKept::keepsOfPerceivers()
{
    TrainingPlan plan = planOf({32, 4096, 14336, 32, 8, 32003, false}, "hf-flash");
    plan.vision.layers = Count(27);
    plan.vision.hidden = Count(1152);
    plan.vision.ffn = Count(4304);
    plan.vision.heads = Count(16);
    plan.vision.patch = Count(14);
    plan.vision.imageSize = Count(896);
    plan.vision.tokensPerImage = Count(128); // so that all fills whole blocks
    plan.vision.learnedPositions = Flag(true);
    plan.projector.type = Name("perceiver");
    plan.projector.hidden = Count(14336);
    plan.projector.out = Count(4096);
    plan.projector.layers = Count(3);
    plan.frozen.vision = Flag(true);
    const double patches = 4096, latents = 128, h = 4096, f = 14336;
    const double joined = 2 * h + 2 * 2 * 4 * 96;
    const double ofPatch = 8 * f + 3 * (6 * h + 4 + joined);
    const double ofLatent = 3 * (2 * (8 * h + 4) + joined + 2 * 2 * 16 * 96 + 4 * 16 + 8 * 4 * h) + 6 * h + 4;
    const double input = 2 * 1152; // a patch's, which the trained projector reads
    const ModelProgram program = programOf(plan);
    QCOMPARE(keptPerToken(program, 10), (patches * (ofPatch + input) + latents * ofLatent) / tokens);
    const Working working = workingOf(plan, {});
    QCOMPARE(parameterCount(program, program.stages[0]),
             modelParameters(working.model, working.tower, working.projector));
}

/// torch native_dropout: a byte an element after attention and MLP; in eager attention a mask, and the dropped
/// probabilities beside the fp32 softmax in the place of its 16-bit copy.
void TestTorchKept::keepsDropoutMasks()
{
    TrainingPlan plan = planOf(llama2, "hf-eager");
    const double without = keptPerToken(programOf(plan));
    plan.model.hiddenDropout = Real(0.1);
    QCOMPARE(keptPerToken(programOf(plan)) - without, 2.0 * 4096);
    plan.model.attnDropout = Real(0.1);
    QCOMPARE(keptPerToken(programOf(plan)) - without, 2.0 * 4096 + 32.0 * tokens);
}

void TestTorchKept::keepsSideBySide_data()
{
    QTest::addColumn<bool>("sharesNorm");
    QTest::addColumn<double>("bytesPerToken");
    // Pythia 6.9B (h = 4096, f = 4h): the layer's input 2h, LayerNorm's two numbers a row for each norm; the result of
    // each norm 2h; q, k, v and the result 8h; 4 a; GELU's input and result 4f. One after the other the stream between
    // attention and MLP comes to that, 2h.
    const double common = 2 * 4096 + 8 + 2 * 4096 + 8 * 4096 + 4 * 32 + 4 * 16384;
    QTest::newRow("GPT-NeoX, two norms") << false << common + 2 * 4096 + 8;
    QTest::newRow("GPT-J, one norm") << true << common;
}

void TestTorchKept::keepsSideBySide()
{
    QFETCH(bool, sharesNorm);
    QFETCH(double, bytesPerToken);
    TrainingPlan plan = planOf({32, 4096, 16384, 32, 32, 50432, false}, "hf-sdpa");
    plan.model.gatedMlp = Flag(false);
    plan.model.layerNorm = Flag(true);
    TrainingPlan sideBySide = plan;
    sideBySide.model.parallelBlock = Flag(true);
    sideBySide.model.sharedNorm = Flag(sharesNorm);
    const double kept = keptPerToken(programOf(sideBySide));
    QCOMPARE(kept, bytesPerToken);
    QCOMPARE(keptPerToken(programOf(plan)) - kept, 2.0 * 4096 + (sharesNorm ? 2 * 4096 + 8 : 0));
    const std::int64_t parameters = parameterCount(programOf(plan), programOf(plan).stages.front());
    const std::int64_t fewer = parameters - parameterCount(programOf(sideBySide), programOf(sideBySide).stages.front());
    QCOMPARE(fewer, std::int64_t{sharesNorm ? 32 * 2 * 4096 : 0});
}

QTEST_APPLESS_MAIN(TestTorchKept)
#include "tst_torch_kept.moc"
