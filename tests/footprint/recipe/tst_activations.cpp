// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/layer_activations.h"
#include "footprint/theory_cases.h"
#include "footprint/vision_plans.h"

#include <QtTest>

using namespace headroom;
using test::addTheoryRows;
using test::layerOf;
using test::llama2Of7B;
using test::llavaOf7B;
using test::modelOf;
using test::planOf;
using Json = nlohmann::json;

namespace {

/// The theory's counts "without statistics" leave out what the kernels add per token.
double withoutStatistics(LayerTensors layer)
{
    layer[Kept::LogSumExp] = 0;
    layer[Kept::NormStatistics] = 0;
    return layer.total();
}

/// The 22B model of arXiv:2205.05198: dropout everywhere, attention not fused.
TrainingPlan modelOf22B()
{
    return planOf({{"model.layers", "48"},
                   {"model.hidden", "6144"},
                   {"model.heads", "64"},
                   {"model.ffn", "24576"},
                   {"model.layer_norm", "true"},
                   {"model.attn_dropout", "0.1"},
                   {"model.hidden_dropout", "0.1"},
                   {"attention.impl", "unfused"},
                   {"model.vocab", "51200"},
                   {"batch.seq", "2048"},
                   {"batch.micro", "4"}});
}

} // namespace

class ActivationsTest : public QObject
{
    Q_OBJECT

private slots:
    void coefficients_data();
    void coefficients();
    void fusedLayer_data();
    void fusedLayer();
    void theoryLayers_data();
    void theoryLayers();
    void paperLayers_data();
    void paperLayers();
    void calibrationScales();
    void frozenLanguageModel_data();
    void frozenLanguageModel();
    void mixtureOfExperts();
    void latentAttention();
    void visionEncoder_data();
    void visionEncoder();
};

void ActivationsTest::coefficients_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("k");
    // bytes/(2h) without lse and statistics: (8h + 2(a + 2g)d + 2ad + 2Gf + 2f)/(2h)
    QTest::newRow("GPT, f = 4h") << planOf({{"model.hidden", "1024"}, {"model.heads", "16"}}) << 16.0;
    QTest::newRow("Llama-2-7B") << llama2Of7B() << 16.0625;
    QTest::newRow("Llama-3-8B") << test::llama3Of8B() << 17.0;
    QTest::newRow("Qwen2.5-7B") << planOf({{"model.hidden", "3584"},
                                           {"model.heads", "28"},
                                           {"model.kv_heads", "4"},
                                           {"model.ffn", "18944"},
                                           {"model.gated_mlp", "true"}})
                                << 155.0 / 7;
    QTest::newRow("heads and FFN unknown") << planOf({{"model.hidden", "1024"}}) << 16.0;
}

void ActivationsTest::coefficients()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, k);
    const Architecture model = architectureOf(plan);
    QCOMPARE(withoutStatistics(denseLayer(model, {}, 0, 0)) / (2.0 * static_cast<double>(model.hidden)), k);
}

void ActivationsTest::fusedLayer_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytes");
    const TrainingPlan llama = test::llama3Of8B();
    // Llama-3-8B, 8192 tokens, statistics included.
    QTest::newRow("one GPU") << llama << 1'141'964'800.0;
    QTest::newRow("TP 8 with SP") << planOf({{"parallel.tp", "8"}, {"parallel.sp", "true"}}, llama)
                                  << 1'141'964'800.0 / 8;
    QTest::newRow("TP 8 without SP") << planOf({{"parallel.tp", "8"}}, llama) << 377'683'968.0;
    QTest::newRow("CP 4") << planOf({{"parallel.cp", "4"}}, llama) << 1'141'964'800.0 / 4;
    QTest::newRow("micro-batch 3") << planOf({{"batch.micro", "3"}}, llama) << 3 * 1'141'964'800.0;
    QTest::newRow("packed tokens") << planOf({{"batch.tokens_per_microbatch", "16384"}}, llama) << 2 * 1'141'964'800.0;
    // Two bytes of 32 x 8192 scores for each of 8192 tokens.
    QTest::newRow("unfused attention") << planOf({{"attention.impl", "unfused"}}, llama)
                                       << 1'141'964'800.0 + 2.0 * 32 * 8192 * 8192;
    QTest::newRow("eager attention") << planOf({{"attention.impl", "eager"}}, llama)
                                     << 1'141'964'800.0 + 6.0 * 32 * 8192 * 8192;
    QTest::newRow("SP means nothing without TP") << planOf({{"parallel.sp", "true"}}, llama) << 1'141'964'800.0;
    // Key and value groups cannot be split over more than eight GPUs: 2 · 128 · 2 bytes stay on each.
    QTest::newRow("TP 16 with 8 groups, SP") << planOf({{"parallel.tp", "16"}, {"parallel.sp", "true"}}, llama)
                                             << 1'141'964'800.0 / 16 + 8192.0 * (512 - 256);
}

void ActivationsTest::fusedLayer()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(layerOf(plan), bytes);
}

void ActivationsTest::theoryLayers_data()
{
    addTheoryRows({"A02", "A03", "A04"});
}

void ActivationsTest::theoryLayers()
{
    QFETCH(Json, row);
    const Json& inputs = row.at("inputs");
    TrainingPlan plan = planOf({{"model.layers", "1"},
                                {"model.vocab", "1"},
                                {"model.hidden", inputs.at("h").dump()},
                                {"model.heads", inputs.at("a").dump()},
                                {"model.kv_heads", inputs.at("g").dump()},
                                {"model.head_dim", inputs.at("d").dump()},
                                {"model.ffn", inputs.at("f").dump()},
                                {"model.gated_mlp", inputs.at("gated").dump()},
                                {"model.layer_norm", inputs.at("norm") == "layernorm" ? "true" : "false"},
                                {"model.hidden_dropout", inputs.at("hidden_dropout").get<bool>() ? "0.1" : "0"},
                                {"model.attn_dropout", inputs.at("attn_dropout").get<bool>() ? "0.1" : "0"},
                                {"attention.impl", inputs.at("flash").get<bool>() ? "flash" : "unfused"},
                                {"batch.micro", "1"},
                                {"batch.seq", inputs.at("T").dump()}});
    const LayerTensors layer = denseLayer(architectureOf(plan), {}, scoreBytes(plan), inputs.value("s", 0.0));
    const double bytes = inputs.at("stats_and_lse").get<bool>() ? layer.total() : withoutStatistics(layer);
    QCOMPARE(bytes * inputs.at("T").get<double>(), row.at("expected").at("bytes_per_layer").get<double>());
}

void ActivationsTest::paperLayers_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("coefficient"); // bytes/(s·b·h), arXiv:2205.05198 table 2
    const double scores = 5.0 * 64 * 2048 / 6144; // 5as/h
    QTest::newRow("no parallelism") << modelOf22B() << 34 + scores;
    QTest::newRow("TP 8") << planOf({{"parallel.tp", "8"}}, modelOf22B()) << 10 + 24.0 / 8 + scores / 8;
    QTest::newRow("TP 8 with SP") << planOf({{"parallel.tp", "8"}, {"parallel.sp", "true"}}, modelOf22B())
                                  << 34.0 / 8 + scores / 8;
}

void ActivationsTest::paperLayers()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, coefficient);
    const LayerTensors layer = denseLayer(architectureOf(plan), splitOf(plan), scoreBytes(plan), 2048);
    QCOMPARE(withoutStatistics(layer), coefficient * 6144);
}

void ActivationsTest::calibrationScales()
{
    const TrainingPlan plan = test::workflowExample();
    const ActivationModel theory = modelOf(plan);
    const ActivationModel measured = modelOf(plan, {20.0, 1, {}});
    QCOMPARE(theory.k, 16.0);
    QCOMPARE(measured.k, 20.0);
    QCOMPARE(measured.theoryK, 16.0);
    QCOMPARE(stageActivations(measured, 24, 0, 1).kept, 2.0 * 1024 * 1024 * 24 * 20 * 2);
    const TrainingPlan full = planOf({{"recompute.enabled", "true"}, {"recompute.granularity", "full"}}, plan);
    const ActivationModel recomputed = modelOf(full, {20.0, 1, {}});
    QCOMPARE(recomputed.effectiveK, 1.0);
    QCOMPARE(stageActivations(recomputed, 24, 0, 1).kept, 2.0 * 1024 * 1024 * 24 * 2);
    QCOMPARE(stageActivations(recomputed, 24, 0, 1).rebuilt, 2.0 * 1024 * 1024 * 19 * 2);
    // A k below one layer input cannot grow by recomputing.
    QCOMPARE(modelOf(full, {0.5, 1, {}}).effectiveK, 0.5);
    QCOMPARE(stageActivations(modelOf(full, {0.5, 1, {}}), 24, 0, 1).rebuilt, 0.0);
}

void ActivationsTest::frozenLanguageModel_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("perToken");
    const double trained = 16'384 + 16'384 + 24'576 + 8'192 + 8 + 128 + 44'032 + 22'016;
    QTest::newRow("trained") << llavaOf7B() << trained;
    // Norm inputs, statistics, q, k, v, attention output, lse, fc1 output.
    QTest::newRow("frozen, projector trained")
        << planOf({{"frozen.llm", "true"}, {"frozen.vision", "true"}}, llavaOf7B()) << 93'320.0;
    QTest::newRow("frozen, nothing trained before it")
        << planOf({{"frozen.llm", "true"}, {"frozen.vision", "true"}, {"frozen.projector", "true"}}, llavaOf7B())
        << 0.0;
    QTest::newRow("frozen language model alone") << planOf({{"frozen.llm", "true"}}, llama2Of7B()) << 0.0;
    QTest::newRow("all frozen") << planOf({{"frozen.all", "true"}}, llavaOf7B()) << 0.0;
    QTest::newRow("adapters") << planOf({{"lora.rank", "8"}}, llama2Of7B()) << trained;
}

void ActivationsTest::frozenLanguageModel()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, perToken);
    QCOMPARE(modelOf(plan).dense.kept, perToken);
}

void ActivationsTest::mixtureOfExperts()
{
    // Mixtral, 4096 tokens, TP 2 with SP, ETP 1: the attention half without statistics, and the routed rows
    // 2048 · 2 = 4096 of them.
    const TrainingPlan plan = planOf({{"model.hidden", "4096"},
                                      {"model.heads", "32"},
                                      {"model.kv_heads", "8"},
                                      {"model.gated_mlp", "true"},
                                      {"moe.experts", "8"},
                                      {"moe.topk", "2"},
                                      {"moe.ffn", "14336"},
                                      {"parallel.tp", "2"},
                                      {"parallel.sp", "true"},
                                      {"parallel.etp", "1"}});
    const LayerTensors layer = expertLayer(architectureOf(plan), splitOf(plan), 0, 0, 1);
    QCOMPARE(layer[Kept::ExpertInput] * 4096, 33'554'432.0);
    QCOMPARE(layer[Kept::ExpertHidden] * 4096, 234'881'024.0);
    QCOMPARE(layer[Kept::ExpertActivated] * 4096, 117'440'512.0);
    QCOMPARE(layer[Kept::ExpertProbabilities] * 4096, 16'384.0);
    QCOMPARE(layer[Kept::QueryKeyValue] * 4096, 16'777'216 + 2 * 4'194'304.0);
    QCOMPARE(layer[Kept::Hidden], 0.0);
    QCOMPARE(expertLayer(architectureOf(plan), splitOf(plan), 0, 0, 1.25)[Kept::ExpertInput],
             1.25 * layer[Kept::ExpertInput]);
}

void ActivationsTest::latentAttention()
{
    // DeepSeek-V3, 4096 tokens, TP 8 with SP.
    const TrainingPlan plan = planOf({{"model.hidden", "7168"},
                                      {"model.heads", "128"},
                                      {"mla.q_lora_rank", "1536"},
                                      {"mla.kv_lora_rank", "512"},
                                      {"mla.qk_nope_dim", "128"},
                                      {"mla.qk_rope_dim", "64"},
                                      {"mla.v_dim", "128"},
                                      {"parallel.tp", "8"},
                                      {"parallel.sp", "true"}});
    const LayerTensors layer = denseLayer(architectureOf(plan), splitOf(plan), 0, 0);
    QCOMPARE(layer[Kept::QueryKeyValue] * 4096, 2 * 25'165'824 + 16'777'216.0);
    QCOMPARE(layer[Kept::AttentionOutput] * 4096, 16'777'216.0);
    QCOMPARE(layer[Kept::LogSumExp] * 4096, 262'144.0);
    // Latents and their norms on the local shard, the rotary part of the keys gathered.
    QCOMPARE(layer[Kept::Latents] * 4096, 2.0 * 512 * (2 * 1536 + 2 * 512 + 64) + 2.0 * 4096 * 64);
}

void ActivationsTest::visionEncoder_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("tower");
    QTest::addColumn<double>("projector");
    // Per token and layer 32h, lse 4 · 16, LayerNorm statistics 16; per image token the projector's input, hidden
    // values and activations.
    const double tower = 577.0 * 24 * (32 * 1024 + 64 + 16);
    const double projector = 576.0 * 2 * (1024 + 4096 + 4096);
    QTest::newRow("trained") << llavaOf7B() << tower << projector;
    QTest::newRow("micro-batch 4, 3 images")
        << planOf({{"batch.micro", "4"}, {"vision.images_per_sample", "3"}}, llavaOf7B()) << 12 * tower
        << 12 * projector;
    QTest::newRow("encoder frozen") << planOf({{"frozen.vision", "true"}}, llavaOf7B()) << 0.0 << projector;
    QTest::newRow("projector frozen") << planOf({{"frozen.projector", "true"}}, llavaOf7B()) << tower
                                      << 576.0 * 2 * 4096;
    QTest::newRow("both frozen") << planOf({{"frozen.vision", "true"}, {"frozen.projector", "true"}}, llavaOf7B())
                                 << 0.0 << 0.0;
    QTest::newRow("encoder recomputed") << planOf({{"recompute.granularity", "full"}, {"recompute.vision", "true"}},
                                                  llavaOf7B())
                                        << 577.0 * 24 * 2 * 1024 << projector;
    QTest::newRow("TP 2") << planOf({{"parallel.tp", "2"}}, llavaOf7B())
                          << 577.0 * 24 * (8 * 1024 + 12 * 1024 + 32 + 16) << projector;
    QTest::newRow("no encoder") << llama2Of7B() << 0.0 << 0.0;
}

void ActivationsTest::visionEncoder()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, tower);
    QFETCH(double, projector);
    QCOMPARE(modelOf(plan).tower, tower);
    QCOMPARE(modelOf(plan).projector, projector);
}

QTEST_APPLESS_MAIN(ActivationsTest)
#include "tst_activations.moc"
