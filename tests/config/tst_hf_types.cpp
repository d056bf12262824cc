// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "footprint/recipe/architecture.h"
#include "footprint/recipe/parameters.h"
#include "support/folders.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QtTest>

#include <filesystem>
#include <vector>

using namespace headroom;

/// Every type of config.json that configs.md lists: what is read of it, its parameters against the published count, and
/// what makes its estimate incomplete.
class TestHfTypes : public QObject
{
    Q_OBJECT

private slots:
    void types_data();
    void types();
    void everyTypeIsHere();
};

namespace {

struct Expected
{
    qint64 parameters = 0; ///< published; 0: not for these sizes
    int perMille = 0; ///< by which the count may differ: norms, gates and tables that no field says
    QString incomplete = {}; ///< the key that says so
};

/// The file of tests/data that a text "@name" means, or the text itself.
Result<OpenedConfig> opened(const QString& text)
{
    if (text.startsWith('@')) {
        const auto path = testData("good/config/" + text.mid(1).toStdString() + ".json");
        return openConfig(path, builtinFormats(), builtinCatalog());
    }
    return openConfig(parsed(text), builtinFormats(), builtinCatalog());
}

struct Row
{
    const char* type;
    QString text;
    Expected expected;
    QString kind; ///< decoder, t5, or vision where a tower stands in front
};

std::vector<Row>& table()
{
    static std::vector<Row> rows;
    return rows;
}

void addRow(const char* type, const QString& text, const Expected& expected, const QString& kind = "decoder")
{
    table().push_back({type, text, expected, kind});
}

/// The keys of Llama under another type.
QString likeLlama(const QString& type, int hidden, int ffn, int layers, int heads, int groups, int vocab,
                  const QString& more = {})
{
    return QString(R"({"model_type": "%1", "hidden_size": %2, "intermediate_size": %3, "num_hidden_layers": %4,
                       "num_attention_heads": %5, "num_key_value_heads": %6, "vocab_size": %7%8})")
        .arg(type)
        .arg(hidden)
        .arg(ffn)
        .arg(layers)
        .arg(heads)
        .arg(groups)
        .arg(vocab)
        .arg(more.isEmpty() ? QString() : ", " + more);
}

void addLlamas()
{
    addRow("llama", "@llama-2-7b", {6'738'415'616});
    addRow("mistral", likeLlama("mistral", 4096, 14336, 32, 32, 8, 32000), {7'241'732'096});
    addRow("qwen2", likeLlama("qwen2", 3584, 18944, 28, 28, 4, 152064), {7'615'616'512});
    addRow("qwen3", likeLlama("qwen3", 1024, 3072, 28, 16, 8, 151936, R"("tie_word_embeddings": true)"), {596'049'920});
    addRow("gemma", "@gemma-2b", {2'506'172'416});
    // Two more norms in each of 26 layers; google/gemma-2-2b.
    addRow("gemma2", likeLlama("gemma2", 2304, 9216, 26, 8, 4, 256000), {2'614'341'888, 1});
    addRow("gemma3_text", likeLlama("gemma3_text", 1152, 6912, 26, 4, 1, 262144), {999'885'952, 1});
    addRow("phi3", "@phi-3-mini", {3'821'079'552});
    addRow("phi4", likeLlama("phi3", 5120, 17920, 40, 40, 10, 100352), {14'659'507'200});
    addRow("olmo", likeLlama("olmo", 2048, 8192, 16, 16, 16, 50304, R"("tie_word_embeddings": true)"),
           {1'176'764'416, 1}); // norms without weights
    addRow("olmo2", likeLlama("olmo2", 4096, 11008, 32, 32, 32, 100352), {7'298'617'344, 1});
    addRow("olmo3", likeLlama("olmo3", 4096, 11008, 32, 32, 32, 100278), {7'298'011'136, 1});
    addRow("stablelm", likeLlama("stablelm", 2560, 6912, 32, 32, 32, 50304, R"("use_qkv_bias": false)"),
           {2'795'443'200});
    addRow("baichuan", likeLlama("baichuan", 4096, 11008, 32, 32, 32, 64000), {7'000'559'616});
    addRow("internlm2", likeLlama("internlm2", 4096, 14336, 32, 32, 8, 92544), {7'737'708'544});
    addRow("exaone4", "@exaone-4.0-32b", {32'003'216'384, 1});
    addRow("qwen", "@qwen-7b", {7'721'324'544});
    addRow("chatglm", R"({"model_type": "chatglm", "hidden_size": 4096, "num_layers": 28, "ffn_hidden_size": 13696,
                          "num_attention_heads": 32, "multi_query_group_num": 2, "kv_channels": 128,
                          "padded_vocab_size": 65024, "add_qkv_bias": true})",
           {6'243'584'000});
}

void addExperts()
{
    addRow("mixtral", likeLlama("mixtral", 4096, 14336, 32, 32, 8, 32000), {46'702'792'704});
    addRow("qwen3_moe", "@qwen3-30b-a3b", {30'532'122'624});
    // Without the gate of the shared experts; Qwen/Qwen1.5-MoE-A2.7B.
    addRow("qwen2_moe",
           likeLlama("qwen2_moe", 2048, 5632, 24, 16, 16, 151936,
                     R"("moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60,
                        "num_experts_per_tok": 4)"),
           {14'315'784'192, 1});
    addRow("deepseek_v2", "@deepseek-v2-lite", {15'706'484'224});
    addRow("deepseek_v3", "@deepseek-v3", {671'026'419'200 - 58 * 256});
    addRow("deepseek_v32",
           likeLlama("deepseek_v32", 7168, 18432, 61, 128, 128, 129280,
                     R"("moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
                        "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 1536,
                        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
                        "index_n_heads": 64, "index_head_dim": 128)"),
           {0, 0, "index_n_heads"});
    // DeepSeek V3 with fewer heads, more experts and a first layer without any: 61 layers of 7168.
    addRow("kimi_k2",
           likeLlama("kimi_k2", 7168, 18432, 61, 64, 64, 163840,
                     R"("moe_intermediate_size": 2048, "n_routed_experts": 384, "n_shared_experts": 1,
                        "num_experts_per_tok": 8, "first_k_dense_replace": 1, "q_lora_rank": 1536,
                        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128)"),
           {1'026'408'232'448, 1});
    // Without 64 sinks a layer.
    addRow("gpt_oss",
           likeLlama("gpt_oss", 2880, 2880, 24, 64, 8, 201088,
                     R"("head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4)"),
           {20'914'757'184, 1});
    addRow("llama4", "@llama-4-scout", {108'641'793'536, 1}, "vision");
    addRow("dbrx", R"({"model_type": "dbrx", "d_model": 6144, "n_layers": 40, "n_heads": 48, "vocab_size": 100352,
                       "attn_config": {"kv_n_heads": 8},
                       "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})",
           {131'596'523'520, 1});
}

void addOlder()
{
    addRow("gpt2", "@gpt2", {124'439'808});
    const QString gpt = R"({"model_type": "%1", "n_embd": %2, "n_layer": %3, "n_head": %4, "n_positions": %5,
                            "vocab_size": %6%7})";
    // One norm a layer instead of two, and a bias of the output layer.
    addRow("gptj", gpt.arg("gptj").arg(4096).arg(28).arg(16).arg(2048).arg(50400).arg(""), {6'050'882'784, 1});
    addRow("codegen", gpt.arg("codegen").arg(1024).arg(20).arg(16).arg(2048).arg(51200).arg(""), {356'712'448, 1});
    addRow("gpt_bigcode",
           gpt.arg("gpt_bigcode").arg(6144).arg(40).arg(48).arg(8192).arg(49152).arg(R"(, "multi_query": true)"),
           {15'517'456'384});
    addRow("gpt_neox", "@pythia-6.9b", {6'857'302'016});
    addRow("phi", likeLlama("phi", 2560, 10240, 32, 32, 32, 51200), {2'779'683'840, 1});
    addRow("bloom",
           R"({"model_type": "bloom", "hidden_size": 4096, "n_layer": 30, "n_head": 32, "vocab_size": 250880})",
           {7'069'016'064, 1}); // without the norm after the embedding
    addRow("falcon", R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
                         "num_attention_heads": 71, "vocab_size": 65024, "multi_query": true, "bias": false,
                         "new_decoder_architecture": false, "parallel_attn": true})",
           {6'921'720'704, 1});
    addRow("opt", R"({"model_type": "opt", "hidden_size": 2048, "ffn_dim": 8192, "num_hidden_layers": 24,
                      "num_attention_heads": 32, "vocab_size": 50272, "max_position_embeddings": 2048})",
           {1'315'758'080, 1}); // two more positions
    addRow("mpt", "@mpt-7b", {6'649'286'656});
    addRow("t5", R"({"model_type": "t5", "d_model": 1024, "d_ff": 4096, "d_kv": 64, "num_layers": 24, "num_heads": 16,
                     "vocab_size": 32128, "is_encoder_decoder": true})",
           {737'668'096}, "t5");
    // Published; the encoder's positions and a norm after each embedding are left out.
    addRow("bart", R"({"model_type": "bart", "d_model": 1024, "encoder_layers": 12, "decoder_layers": 12,
                       "encoder_attention_heads": 16, "decoder_attention_heads": 16, "encoder_ffn_dim": 4096,
                       "decoder_ffn_dim": 4096, "num_hidden_layers": 12, "vocab_size": 50265,
                       "max_position_embeddings": 1024, "is_encoder_decoder": true})",
           {406'291'456, 3}, "t5");
    addRow("whisper", R"({"model_type": "whisper", "d_model": 1280, "encoder_layers": 32, "decoder_layers": 32,
                          "encoder_attention_heads": 20, "decoder_attention_heads": 20, "encoder_ffn_dim": 5120,
                          "decoder_ffn_dim": 5120, "num_hidden_layers": 32, "vocab_size": 51865,
                          "max_source_positions": 1500, "max_target_positions": 448, "is_encoder_decoder": true})",
           {1'543'304'960}, "t5");
}

/// Layers that differ from one another, or are no attention.
void addHybrids()
{
    // nvidia/Nemotron-H-8B-Base-8K
    addRow("nemotron_h",
           likeLlama("nemotron_h", 4096, 21504, 52, 32, 8, 131072,
                     R"("head_dim": 128, "hybrid_override_pattern":
                        "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-")"),
           {8'100'852'736});
    addRow("jamba",
           likeLlama("jamba", 4096, 14336, 32, 32, 8, 65536,
                     R"("attn_layer_period": 8, "attn_layer_offset": 4, "mamba_d_state": 16, "mamba_dt_rank": 256,
                        "expert_layer_period": 2, "num_experts": 16, "num_experts_per_tok": 2)"),
           {51'570'323'328});
    addRow("bamba",
           likeLlama("bamba", 4096, 14336, 32, 32, 8, 128256,
                     R"("attn_layer_indices": [9, 18, 27], "mamba_n_heads": 128, "mamba_d_head": "auto",
                        "mamba_d_state": 128)"),
           {9'780'235'392});
    // Qwen/Qwen3-Next-80B-A3B-Instruct, without its multi-token prediction of 1 650 471 424
    addRow("qwen3_next",
           likeLlama("qwen3_next", 2048, 5120, 48, 16, 2, 151936,
                     R"("linear_num_value_heads": 32, "num_experts": 512, "num_experts_per_tok": 10,
                        "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512)"),
           {79'674'391'296});
    // 18 delta nets of 25 305 248, 6 layers of attention of 14 680 576, MLPs of 37 748 736
    addRow("qwen3_5",
           R"({"model_type": "qwen3_5", "text_config": )"
               + likeLlama("qwen3_5_text", 2048, 6144, 24, 8, 2, 248320, R"("linear_num_value_heads": 16)")
               + R"(, "vision_config": {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "num_heads": 16,
                                        "out_hidden_size": 2048, "patch_size": 16, "spatial_merge_size": 2}})",
           {}, "vision");
    addRow("nemotron-nas", R"({"model_type": "nemotron-nas", "hidden_size": 8192, "num_hidden_layers": 80,
                               "num_attention_heads": 64, "vocab_size": 128256,
                               "block_configs": [{"ffn": {"ffn_mult": 2.5}}]})",
           {0, 0, "block_configs[0].ffn.ffn_mult"});
}

void addLlavas()
{
    addRow("llava", "@llava-1.5-7b", {7'063'427'072}, "vision");
    addRow("llava, mm_ keys",
           likeLlama("llava", 4096, 11008, 32, 32, 32, 32000,
                     R"("mm_vision_tower": "openai/clip-vit-large-patch14-336", "mm_hidden_size": 1024)"),
           {7'062'902'784}, "vision");
    // Without image_newline; llava-hf/llava-v1.6-mistral-7b-hf.
    addRow("llava_next",
           R"({"model_type": "llava_next", "text_config": )" + likeLlama("mistral", 4096, 14336, 32, 32, 8, 32064)
               + R"(, "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336,
                     "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
                     "patch_size": 14}})",
           {7'566'747'648, 1}, "vision");
    addRow("phi3_v", "@phi-3.5-vision", {4'146'621'440, 1}, "vision");
    addRow("phi4mm", likeLlama("phi4mm", 3072, 8192, 32, 24, 8, 200064, R"("audio_processor": {"name": "cascades"})"),
           {0, 0, "audio_processor.name"}, "vision");
    addRow("maira2", "@maira-2", {6'880'185'600, 1}, "vision");
    addRow("git", "@git-base", {176'619'066, 1}, "vision");
}

void addTowers()
{
    addRow("qwen2_vl", "@qwen2-vl-7b", {8'291'375'616}, "vision");
    addRow("qwen2_5_vl", "@qwen2.5-vl-7b", {8'292'166'656}, "vision");
    addRow("qwen3_vl", "@qwen3-vl-8b", {8'767'123'696}, "vision");
    addRow("qwen3_vl_moe", "@qwen3-vl-30b-a3b", {31'070'754'032}, "vision");
    const QString internVit = R"({"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
                                  "num_attention_heads": 16, "image_size": %1, "patch_size": %2, "qkv_bias": true})";
    // Without the scales of the tower's residuals; OpenGVLab/InternVL2-8B.
    addRow("internvl_chat",
           R"({"model_type": "internvl_chat", "force_image_size": 448, "downsample_ratio": 0.5, "llm_config": )"
               + likeLlama("internlm2", 4096, 14336, 32, 32, 8, 92553) + R"(, "vision_config": )"
               + internVit.arg("448", "14") + "}",
           {8'075'365'376, 1}, "vision");
    addRow("internvl",
           R"({"model_type": "internvl", "image_seq_length": 256, "downsample_ratio": 0.5, "text_config": )"
               + likeLlama("internlm2", 4096, 14336, 32, 32, 8, 92553) + R"(, "vision_config": )"
               + internVit.arg("[448, 448]", "[14, 14]") + "}",
           {8'075'365'376, 1}, "vision");
    // Without its eight layers of gated cross-attention (two h² and two 1280·h each, an MLP, norms and gates);
    // HuggingFaceM4/idefics-9b has 8,929,682,192 with them.
    addRow("idefics",
           likeLlama("idefics", 4096, 11008, 32, 32, 32, 32000,
                     R"("cross_layer_interval": 4, "vision_config": {"embed_dim": 1280, "image_size": 224,
                        "num_hidden_layers": 32, "num_attention_heads": 16, "intermediate_size": 5120,
                        "patch_size": 14}, "perceiver_config": {"resampler_n_latents": 64, "resampler_depth": 6})"),
           {8'929'682'192 - 8 * qint64{179'314'946}, 2, "cross_layer_interval"}, "vision");
    addRow("idefics2", "@idefics2-8b", {8'402'768'112, 1}, "vision");
    addRow("idefics3", "@idefics3-8b", {8'462'086'384, 1}, "vision");
    addRow("smolvlm", "@smolvlm-256m", {256'484'928, 1}, "vision");
    addRow("paligemma", "@paligemma-3b-224", {2'923'466'480}, "vision");
    addRow("mllama", "@llama-3.2-11b-vision", {10'670'220'835, 1, "text_config.cross_attention_layers[0]"}, "vision");
    addRow("gemma3", "@gemma-3-4b", {4'300'079'472, 1}, "vision");
    addRow("gemma4",
           R"({"model_type": "gemma4", "text_config": )"
               + likeLlama("gemma4_text", 2816, 2112, 30, 16, 8, 262144, R"("head_dim": 256, "global_head_dim": 512)")
               + R"(, "vision_config": {"model_type": "gemma4_vision", "hidden_size": 1152, "intermediate_size": 4304,
                     "num_hidden_layers": 27, "num_attention_heads": 16, "patch_size": 16}})",
           {0, 0, "text_config.global_head_dim"}, "vision");
    addRow("kimi_vl", "@kimi-vl-a3b", {16'407'654'384, 1}, "vision");
    addRow("kimi_k25",
           R"({"model_type": "kimi_k25", "text_config": )" + likeLlama("kimi_k2", 7168, 18432, 61, 64, 64, 163840)
               + R"(, "vision_config": {"vt_hidden_size": 1152, "vt_num_hidden_layers": 27,
                     "vt_num_attention_heads": 16, "vt_intermediate_size": 4304, "patch_size": 14}})",
           {}, "vision");
}

const std::vector<Row>& rows()
{
    if (table().empty()) {
        addLlamas();
        addExperts();
        addOlder();
        addHybrids();
        addLlavas();
        addTowers();
    }
    return table();
}

} // namespace

void TestHfTypes::types_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("parameters");
    QTest::addColumn<int>("perMille");
    QTest::addColumn<QString>("incomplete");
    QTest::addColumn<QString>("kind");
    for (const Row& row : rows()) {
        QTest::newRow(row.type) << row.text << row.expected.parameters << row.expected.perMille
                                << row.expected.incomplete << row.kind;
    }
}

void TestHfTypes::types()
{
    QFETCH(QString, text);
    QFETCH(qint64, parameters);
    QFETCH(int, perMille);
    QFETCH(QString, incomplete);
    QFETCH(QString, kind);
    const auto config = opened(text);
    QVERIFY2(config, config ? "" : config.error().english().c_str());
    const TrainingPlan& plan = config->plan;
    QCOMPARE(config->format->id, std::string("hf-config"));
    const QString notes = sentences(config->problems).join('\n');
    QVERIFY2(!notes.contains("not a kind"), qPrintable(notes));
    const QStringList parts = incomplete.isEmpty() ? QStringList() : QStringList{incomplete};
    QStringList found;
    for (const std::string& key : config->notEstimated) {
        found += QString::fromStdString(key);
    }
    QCOMPARE(found, parts);
    for (const char* field : {"model.layers", "model.hidden", "model.heads", "model.vocab", "model.gated_mlp"}) {
        QVERIFY2(!fieldOf(plan, field).isEmpty(), field);
    }
    QCOMPARE(fieldOf(plan, "model.family") == "t5", kind == "t5");
    const VisionTower tower = visionTowerOf(plan);
    QCOMPARE(tower.isPresent(), kind == "vision");
    if (tower.isPresent()) {
        QVERIFY(tower.hidden > 0 && tower.ffn > 0 && tower.heads > 0 && tower.patch > 0);
        QVERIFY(projectorOf(plan).kind != Projector::Kind::None);
    }
    const qint64 counted = modelParameters(architectureOf(plan), tower, projectorOf(plan));
    QVERIFY2(parameters == 0 || qAbs(counted - parameters) * 1000 <= parameters * perMille,
             qPrintable(QString::number(counted)));
}

/// The types that the workplace's tables name, in whatever way they join them.
void TestHfTypes::everyTypeIsHere()
{
    QFile file(sharedPath("knowledge/configs.json"));
    if (!file.open(QIODevice::ReadOnly)) {
        QSKIP("the tables of types are not here");
    }
    const QJsonObject tables = QJsonDocument::fromJson(file.readAll())["hf_config"].toObject();
    QStringList known;
    for (const Row& row : rows()) {
        known += row.type;
    }
    const QStringList names = tables["per_type"].toObject().keys() + tables["multimodal"].toObject().keys();
    QVERIFY(names.size() > 30);
    static const QRegularExpression remarks(" *\\((?!_)[^)]*\\)");
    for (QString joined : names) {
        joined.remove(remarks).replace("v2/v3", "v2/deepseek_v3").remove("(_moe)");
        for (const QString& name : joined.split(QRegularExpression("[/, ]+"), Qt::SkipEmptyParts)) {
            QVERIFY2(known.contains(name), qPrintable(name));
        }
    }
}

QTEST_APPLESS_MAIN(TestHfTypes)
#include "tst_hf_types.moc"
