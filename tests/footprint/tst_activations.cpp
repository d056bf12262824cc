// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/activations.h"
#include "footprint/plans.h"
#include "footprint/theory_cases.h"

#include <QtTest>

using namespace headroom;
using headroom::test::planOf;
using headroom::test::theoryCases;
using Json = nlohmann::json;

namespace {

ActivationModel modelOf(const TrainingPlan& plan, const Calibration& calibration = {})
{
    return activationModel(plan, architectureOf(plan), visionTowerOf(plan), projectorOf(plan), splitOf(plan),
                           calibration);
}

/// Bytes that one layer keeps of one micro-batch.
double layerOf(const TrainingPlan& plan)
{
    const ActivationModel model = modelOf(plan);
    return model.tokens * model.dense.kept;
}

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

TrainingPlan llama2Of7B()
{
    return planOf({{"model.layers", "32"},
                   {"model.hidden", "4096"},
                   {"model.heads", "32"},
                   {"model.ffn", "11008"},
                   {"model.gated_mlp", "true"},
                   {"model.vocab", "32000"},
                   {"batch.seq", "4096"},
                   {"batch.micro", "1"}});
}

/// A Llama-2-7B with the encoder and projector of LLaVA-1.5.
TrainingPlan llava()
{
    return planOf({{"vision.layers", "24"},
                   {"vision.hidden", "1024"},
                   {"vision.heads", "16"},
                   {"vision.ffn", "4096"},
                   {"vision.patch", "14"},
                   {"vision.image_size", "336"},
                   {"vision.class_token", "true"},
                   {"vision.tokens_per_image", "576"},
                   {"projector.type", "mlp"},
                   {"projector.hidden", "4096"}},
                  llama2Of7B());
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
    void groupedRecompute_data();
    void groupedRecompute();
    void effectiveRecompute_data();
    void effectiveRecompute();
    void namedModules_data();
    void namedModules();
    void modulesOverlapOnce();
    void wholeLayersOfAStage_data();
    void wholeLayersOfAStage();
    void calibrationScales();
    void frozenLanguageModel_data();
    void frozenLanguageModel();
    void mixtureOfExperts();
    void latentAttention();
    void visionEncoder_data();
    void visionEncoder();
    void moreRecomputingNeverAdds();
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
    QTest::addColumn<Json>("row");
    for (const char* id : {"A02", "A03", "A04"}) {
        for (const Json& row : theoryCases(id)) {
            QTest::addRow("%s", id) << row;
        }
    }
    if (theoryCases("A0").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void ActivationsTest::theoryLayers()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
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

void ActivationsTest::groupedRecompute_data()
{
    QTest::addColumn<Json>("row");
    for (const char* id : {"A16", "A17"}) {
        for (const Json& row : theoryCases(id)) {
            QTest::addRow("%s", row.at("id").get<std::string>().c_str()) << row;
        }
    }
    if (theoryCases("A16").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void ActivationsTest::groupedRecompute()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
    const Json& inputs = row.at("inputs");
    const bool isUniform = row.at("id").get<std::string>().starts_with("A16");
    ActivationModel model;
    model.tokens = 1;
    model.dense = {inputs.at("layer_bytes"), inputs.at("layer_bytes")};
    model.input = inputs.at("input_bytes");
    model.recompute.kind = isUniform ? Recompute::Kind::Uniform : Recompute::Kind::Block;
    model.recompute.group = model.recompute.layers = inputs.at("n");
    const StageActivations stage = stageActivations(model, inputs.at("L"), 0, 1);
    QCOMPARE(stage.kept, row.at("expected").at("forward_live").get<double>());
    QCOMPARE(stage.kept + stage.rebuilt, row.at("expected").at("backward_live").get<double>());
}

void ActivationsTest::effectiveRecompute_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<int>("kind");
    using Kind = Recompute::Kind;
    const auto row = [](const char* name, Kind kind, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(fields) << static_cast<int>(kind);
    };
    row("block absent", Kind::None, {});
    row("full", Kind::Block, {{"recompute.enabled", "true"}, {"recompute.granularity", "full"}});
    row("enabled: false wins", Kind::None, {{"recompute.enabled", "false"}, {"recompute.granularity", "full"}});
    row("enabled without granularity", Kind::None, {{"recompute.enabled", "true"}});
    row("granularity without enabled", Kind::Block, {{"recompute.granularity", "full"}});
    row("none", Kind::None, {{"recompute.enabled", "true"}, {"recompute.granularity", "none"}});
    row("selective layers", Kind::Block,
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.num_layers", "4"}});
    row("selective modules", Kind::Modules,
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.modules", "mlp"}});
    row("selective, nothing named", Kind::Modules,
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}});
    row("full in groups", Kind::Uniform,
        {{"recompute.granularity", "full"}, {"recompute.method", "uniform"}, {"recompute.num_layers", "2"}});
}

void ActivationsTest::effectiveRecompute()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(int, kind);
    QCOMPARE(static_cast<int>(recomputeOf(plan).kind), kind);
}

void ActivationsTest::namedModules_data()
{
    QTest::addColumn<QString>("modules");
    QTest::addColumn<double>("bytes");
    const double whole = 1'141'964'800; // Llama-3-8B, 8192 tokens
    const double stream = 67'108'864; // 2·T·h
    const double hidden = 469'762'048; // fc1 output
    QTest::newRow("mlp drops its norm too") << "mlp" << whole - hidden - hidden / 2 - stream;
    QTest::newRow("core_attn, flash: lse only") << "core_attn" << whole - 1'048'576;
    QTest::newRow("layernorm") << "layernorm" << whole - 2 * stream;
    QTest::newRow("activation") << "act" << whole - hidden / 2;
    QTest::newRow("two modules") << "core_attn,mlp" << whole - 1'048'576 - hidden - hidden / 2 - stream;
    QTest::newRow("experts of a dense model") << "moe,moe_act,shared_experts" << whole;
    QTest::newRow("latent attention it has not") << "mla_up_proj" << whole;
    QTest::newRow("a name nobody knows") << "warp_drive" << whole;
}

void ActivationsTest::namedModules()
{
    QFETCH(QString, modules);
    QFETCH(double, bytes);
    const TrainingPlan plan = planOf({{"recompute.enabled", "true"},
                                      {"recompute.granularity", "selective"},
                                      {"recompute.modules", modules.toStdString()}},
                                     test::llama3Of8B());
    QCOMPARE(layerOf(plan), bytes);
    const StageActivations stage = stageActivations(modelOf(plan), 32, 0, 1);
    QCOMPARE(stage.kept, 32 * bytes);
    QCOMPARE(stage.rebuilt, 1'141'964'800 - bytes); // one layer at a time
}

void ActivationsTest::modulesOverlapOnce()
{
    // The MLP's norm output goes with either module; both together drop it once, and nothing falls below what the
    // residual stream and attention keep.
    const TrainingPlan plan = planOf(
        {{"recompute.granularity", "selective"}, {"recompute.modules", "mlp,mlp,layernorm,core_attn,attention,act"}},
        test::llama3Of8B());
    const double statistics = 8192 * 8;
    QCOMPARE(layerOf(plan), 2.0 * 67'108'864 + statistics);
}

void ActivationsTest::wholeLayersOfAStage_data()
{
    QTest::addColumn<QString>("count");
    QTest::addColumn<int>("chunks");
    QTest::addColumn<double>("kept"); // in layers stored whole and inputs: whole + inputs/100
    QTest::newRow("none") << "0" << 1 << 8 * 100.0;
    QTest::newRow("three of eight") << "3" << 1 << 5 * 100 + 3.0;
    QTest::newRow("all") << "8" << 1 << 8.0;
    QTest::newRow("more than there are") << "24" << 1 << 8.0;
    QTest::newRow("four of eight, two chunks") << "4" << 2 << 4 * 100 + 4.0;
}

void ActivationsTest::wholeLayersOfAStage()
{
    QFETCH(QString, count);
    QFETCH(int, chunks);
    QFETCH(double, kept);
    ActivationModel model;
    model.tokens = 1;
    model.dense = {100, 100};
    model.input = 1;
    model.recompute.kind = Recompute::Kind::Block;
    model.recompute.layers = count.toLongLong();
    const StageActivations stage = stageActivations(model, 8, 0, chunks);
    QCOMPARE(stage.kept, kept);
    // A layer is rebuilt only after those stored whole are gone, unless none is.
    QCOMPARE(stage.rebuilt, kept == 8.0 ? 99.0 : 0.0);
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
    QTest::newRow("trained") << llava() << trained;
    // Norm inputs, statistics, q, k, v, attention output, lse, fc1 output.
    QTest::newRow("frozen, projector trained")
        << planOf({{"frozen.llm", "true"}, {"frozen.vision", "true"}}, llava()) << 93'320.0;
    QTest::newRow("frozen, nothing trained before it")
        << planOf({{"frozen.llm", "true"}, {"frozen.vision", "true"}, {"frozen.projector", "true"}}, llava()) << 0.0;
    QTest::newRow("frozen language model alone") << planOf({{"frozen.llm", "true"}}, llama2Of7B()) << 0.0;
    QTest::newRow("all frozen") << planOf({{"frozen.all", "true"}}, llava()) << 0.0;
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
    QTest::newRow("trained") << llava() << tower << projector;
    QTest::newRow("micro-batch 4, 3 images")
        << planOf({{"batch.micro", "4"}, {"vision.images_per_sample", "3"}}, llava()) << 12 * tower << 12 * projector;
    QTest::newRow("encoder frozen") << planOf({{"frozen.vision", "true"}}, llava()) << 0.0 << projector;
    QTest::newRow("projector frozen") << planOf({{"frozen.projector", "true"}}, llava()) << tower << 576.0 * 2 * 4096;
    QTest::newRow("both frozen") << planOf({{"frozen.vision", "true"}, {"frozen.projector", "true"}}, llava()) << 0.0
                                 << 0.0;
    QTest::newRow("encoder recomputed") << planOf({{"recompute.granularity", "full"}, {"recompute.vision", "true"}},
                                                  llava())
                                        << 577.0 * 24 * 2 * 1024 << projector;
    QTest::newRow("TP 2") << planOf({{"parallel.tp", "2"}}, llava()) << 577.0 * 24 * (8 * 1024 + 12 * 1024 + 32 + 16)
                          << projector;
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

void ActivationsTest::moreRecomputingNeverAdds()
{
    const TrainingPlan plan = test::llama3Of8B();
    double before = stageActivations(modelOf(plan), 32, 0, 1).kept;
    for (const char* layers : {"1", "4", "16", "31", "32"}) {
        const TrainingPlan selective
            = planOf({{"recompute.granularity", "selective"}, {"recompute.num_layers", layers}}, plan);
        const double now = stageActivations(modelOf(selective), 32, 0, 1).kept;
        QVERIFY(now < before);
        before = now;
    }
    const TrainingPlan full = planOf({{"recompute.granularity", "full"}}, plan);
    QCOMPARE(stageActivations(modelOf(full), 32, 0, 1).kept, before);
}

QTEST_APPLESS_MAIN(ActivationsTest)
#include "tst_activations.moc"
