// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "footprint/recipe/architecture.h"
#include "footprint/recipe/parameters.h"
#include "support/folders.h"

#include <QFile>
#include <QtTest>

#include <filesystem>

using namespace headroom;

/// Hugging Face's config.json: what each type of model does without saying so, against published counts of parameters
/// and against public files read by hand.
class TestHfModels : public QObject
{
    Q_OBJECT

private slots:
    void exactCounts_data();
    void exactCounts();
    void counts_data();
    void counts();
    void imageTokens_data();
    void imageTokens();
    void incompleteOnesSaySo_data();
    void incompleteOnesSaySo();
    void publicModels_data();
    void publicModels();
    void sameAsModelAndAsConfig_data();
    void sameAsModelAndAsConfig();
};

namespace {

std::string pathOf(const char* name)
{
    return testData(std::string("good/config/") + name + ".json");
}

/// Without problems, unless they are allowed.
TrainingPlan planOf(const char* name, bool mayHaveProblems = false)
{
    std::vector<Problem> problems;
    const auto plan = openModel(pathOf(name), builtinFormats(), builtinCatalog(), &problems);
    if (!plan || (!problems.empty() && !mayHaveProblems)) {
        qFatal("%s", plan ? problems.front().english().c_str() : plan.error().english().c_str());
    }
    return *plan;
}

qint64 parametersOf(const TrainingPlan& plan)
{
    return modelParameters(architectureOf(plan), visionTowerOf(plan), projectorOf(plan));
}

} // namespace

void TestHfModels::exactCounts_data()
{
    QTest::addColumn<qint64>("parameters");
    // Totals of the published checkpoints.
    QTest::newRow("gpt2") << qint64{124'439'808};
    QTest::newRow("llama-2-7b") << qint64{6'738'415'616};
    QTest::newRow("llama-3-8b") << qint64{8'030'261'248};
    QTest::newRow("llama-3.2-1b") << qint64{1'235'814'400};
    QTest::newRow("mistral-7b") << qint64{7'241'732'096};
    QTest::newRow("mixtral-8x7b") << qint64{46'702'792'704};
    QTest::newRow("qwen2.5-7b") << qint64{7'615'616'512};
    QTest::newRow("qwen3-8b") << qint64{8'190'735'360};
    QTest::newRow("qwen2-vl-7b") << qint64{8'291'375'616};
    QTest::newRow("qwen2-vl-7b-nested") << qint64{8'291'375'616};
    QTest::newRow("qwen2.5-vl-7b") << qint64{8'292'166'656};
    QTest::newRow("llava-1.5-7b") << qint64{7'063'427'072};
    QTest::newRow("qwen3-30b-a3b") << qint64{30'532'122'624};
    QTest::newRow("deepseek-v2-lite") << qint64{15'706'484'224};
    // Without the 58 · 256 biases of its router, which are no parameters of the optimizer.
    QTest::newRow("deepseek-v3") << qint64{671'026'419'200 - 58 * 256};
    QTest::newRow("phi-3-mini") << qint64{3'821'079'552};
    QTest::newRow("gemma-2b") << qint64{2'506'172'416};
    QTest::newRow("pythia-6.9b") << qint64{6'857'302'016};
    QTest::newRow("qwen3-vl-8b") << qint64{8'767'123'696};
    QTest::newRow("qwen3-vl-30b-a3b") << qint64{31'070'754'032};
    QTest::newRow("paligemma-3b-224") << qint64{2'923'466'480};
    // https://huggingface.co/Qwen/Qwen-7B and https://huggingface.co/mosaicml/mpt-7b.
    QTest::newRow("qwen-7b") << qint64{7'721'324'544};
    QTest::newRow("mpt-7b") << qint64{6'649'286'656};
    // Attention and MLP side by side, through one norm or two; biases of output layers.
    QTest::newRow("gpt-j-6b") << qint64{6'050'882'784};
    QTest::newRow("falcon-7b") << qint64{6'921'720'704};
    QTest::newRow("falcon-40b") << qint64{41'303'293'952};
    QTest::newRow("phi-2") << qint64{2'779'683'840};
    QTest::newRow("command-r") << qint64{34'980'831'232};
}

void TestHfModels::exactCounts()
{
    QFETCH(qint64, parameters);
    QCOMPARE(parametersOf(planOf(QTest::currentDataTag())), parameters);
}

/// Totals of the published checkpoints (huggingface.co/google/gemma-3-4b-it and so on). Biases and norms that no field
/// says (four norms a layer in Gemma 3, gates in mllama, a projector without biases) may be missing: a thousandth.
void TestHfModels::counts_data()
{
    QTest::addColumn<qint64>("parameters");
    QTest::newRow("gemma-3-4b") << qint64{4'300'079'472};
    QTest::newRow("gemma-3-12b") << qint64{12'187'325'040};
    QTest::newRow("gemma-3-27b") << qint64{27'432'406'640};
    QTest::newRow("smolvlm-256m") << qint64{256'484'928};
    QTest::newRow("smolvlm-2.2b") << qint64{2'246'272'880};
    QTest::newRow("idefics3-8b") << qint64{8'462'086'384};
    QTest::newRow("idefics2-8b") << qint64{8'402'768'112};
    QTest::newRow("llama-3.2-11b-vision") << qint64{10'670'220'835};
    QTest::newRow("llama-3.2-90b-vision") << qint64{88'593'355'323};
    QTest::newRow("kimi-vl-a3b") << qint64{16'407'654'384};
    QTest::newRow("phi-3.5-vision") << qint64{4'146'621'440};
    QTest::newRow("llama-4-scout") << qint64{108'641'793'536};
    QTest::newRow("exaone-4.0-32b") << qint64{32'003'216'384};
    QTest::newRow("maira-2") << qint64{6'880'185'600};
    QTest::newRow("git-base") << qint64{176'619'066};
}

void TestHfModels::counts()
{
    QFETCH(qint64, parameters);
    const qint64 counted = parametersOf(planOf(QTest::currentDataTag(), true));
    QVERIFY2(qAbs(counted - parameters) * 1000 <= parameters, qPrintable(QString::number(counted)));
}

void TestHfModels::imageTokens_data()
{
    QTest::addColumn<qint64>("patches"); // in the tower, class token included
    QTest::addColumn<qint64>("tokens"); // for the language model
    const auto row = [](const char* name, qint64 patches, qint64 tokens) { QTest::newRow(name) << patches << tokens; };
    row("gemma-3-4b", 64 * 64, 256);
    row("smolvlm-256m", 32 * 32, 64);
    row("smolvlm-2.2b", 27 * 27, 81); // 384 / 14 is no whole number
    row("idefics3-8b", 26 * 26, 169);
    row("idefics2-8b", 70 * 70, 64);
    row("phi-3.5-vision", 24 * 24 + 1, 144);
    row("llama-4-scout", 24 * 24 + 1, 144);
    row("maira-2", 37 * 37 + 1, 37 * 37);
    row("llava-1.5-7b", 24 * 24 + 1, 576);
}

void TestHfModels::imageTokens()
{
    QFETCH(qint64, patches);
    QFETCH(qint64, tokens);
    const TrainingPlan plan = planOf(QTest::currentDataTag());
    QCOMPARE(qint64{visionTowerOf(plan).tokens}, patches);
    QCOMPARE(qint64{projectorOf(plan).tokens}, tokens);
}

/// What no field says is named, so that nobody takes the estimate for whole.
void TestHfModels::incompleteOnesSaySo_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("key");
    QTest::newRow("cross-attention") << QString() << "text_config.cross_attention_layers[0]";
    QTest::newRow("a state space beside attention") << R"({"model_type": "falcon_h1", "hidden_size": 8})"
                                                    << "model_type";
    QTest::newRow("layers of their own") << R"({"model_type": "nemotron-nas", "hidden_size": 8,
                                              "block_configs": [{"ffn": {"ffn_mult": 2.5}}]})"
                                         << "block_configs[0].ffn.ffn_mult";
    QTest::newRow("sound") << R"({"model_type": "phi4mm", "hidden_size": 8, "audio_processor": {"name": "cascades"}})"
                           << "audio_processor.name";
}

void TestHfModels::incompleteOnesSaySo()
{
    QFETCH(QString, text);
    QFETCH(QString, key);
    const auto config = text.isEmpty()
        ? openConfig(std::filesystem::path(pathOf("llama-3.2-11b-vision")), builtinFormats(), builtinCatalog())
        : openConfig(parsed(text), builtinFormats(), builtinCatalog());
    QVERIFY2(config, config ? "" : config.error().english().c_str());
    QCOMPARE(config->notEstimated, std::vector{key.toStdString()});
}

void TestHfModels::publicModels_data()
{
    QTest::addColumn<QString>("fields"); ///< read by hand in the files
    QTest::newRow("deepseek_v3__aiconfigurator__deepseek-ai--DeepSeek-V3_config.json")
        << "model.layers=61 mla.q_lora_rank=1536 mla.kv_lora_rank=512 mla.v_dim=128 moe.experts=256 moe.topk=8 "
           "moe.shared_experts=1 moe.first_dense_layers=3 moe.ffn=2048 model.mtp_layers=1";
    QTest::newRow("kimi_k2__aiconfigurator__moonshotai--Kimi-K2-Instruct_config.json")
        << "model.layers=61 moe.experts=384 model.heads=64 moe.first_dense_layers=1 mla.qk_rope_dim=64";
    QTest::newRow("kimi_k25__aiconfigurator__moonshotai--Kimi-K2.5_config.json")
        << "model.hidden=7168 moe.experts=384 mla.qk_nope_dim=128 vision.layers=27 vision.hidden=1152 vision.ffn=4304 "
           "vision.heads=16 vision.merge=2 vision.image_size=896 projector.type=patch_merger";
    QTest::newRow("git__intel-extension-for-pytorch__config.json")
        << "model.layers=6 model.learned_positions=true model.gated_mlp=false vision.layers=1 vision.patch=16";
    QTest::newRow("qwen3_vl__aiconfigurator__Qwen--Qwen3-VL-2B-Instruct_config.json")
        << "model.layers=28 model.tied_embeddings=true model.qk_norm=true vision.layers=24 vision.hidden=1024 "
           "vision.deepstack_layers=3 projector.out=2048 vision.patch=16";
    QTest::newRow("qwen3_vl_moe__aiconfigurator__Qwen--Qwen3-VL-30B-A3B-Instruct_config.json")
        << "moe.ffn=768 moe.layer_freq=1 vision.ffn=4304 vision.gated_mlp=false";
    QTest::newRow("gpt_oss__aiconfigurator__openai--gpt-oss-20b_config.json")
        << "moe.experts=32 moe.topk=4 moe.ffn=2880 model.head_dim=64 model.attn_bias=true model.attn_window=128";
    QTest::newRow("falcon__intel-extension-for-pytorch__config.json")
        << "model.kv_heads=8 model.attn_bias=false model.gated_mlp=false model.ffn=8192";
    QTest::newRow("chatglm__intel-extension-for-pytorch__config.json")
        << "model.layers=1 model.ffn=13696 model.kv_heads=2 model.vocab=65024 model.head_dim=128";
    QTest::newRow("t5__bigscience__lm_t5-large.json")
        << "model.family=t5 model.layers=36 model.ffn=5120 model.head_dim=64 model.decoder_layers=36";
    QTest::newRow("opt__intel-extension-for-pytorch__config.json")
        << "model.ffn=8192 model.learned_positions=true model.activation=relu model.tied_embeddings=true";
    QTest::newRow("gpt_bigcode__intel-extension-for-pytorch__config.json")
        << "model.kv_heads=1 model.ffn=24576 model.learned_positions=true";
    QTest::newRow("dbrx__neuronx-distributed__16x13b_config.json")
        << "model.layers=40 model.heads=48 model.kv_heads=8 moe.experts=16 moe.ffn=10752 moe.topk=4";
    QTest::newRow("phi__intel-extension-for-pytorch__config.json")
        << "model.rotary_fraction=0.4 model.mlp_bias=true model.layer_norm=true";
}

void TestHfModels::publicModels()
{
    QFETCH(QString, fields);
    const auto path = sharedPath("corpus/models") / QTest::currentDataTag();
    if (!exists(path)) {
        QSKIP("the public models are not here");
    }
    const auto plan = openModel(path, builtinFormats(), builtinCatalog());
    QVERIFY2(plan, plan ? "" : plan.error().english().c_str());
    for (const QString& field : fields.split(' ')) {
        QCOMPARE(field.section('=', 0, 0) + "=" + fieldOf(*plan, field.section('=', 0, 0)), field);
    }
}

void TestHfModels::sameAsModelAndAsConfig_data()
{
    QTest::addColumn<QString>("path");
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(sharedPath("corpus/models"), error)) {
        const auto name = entry.path().filename().string();
        if (name.ends_with(".json")) {
            QTest::newRow(name.c_str()) << QString::fromStdString(entry.path().string());
        }
    }
    if (error) {
        QTest::newRow("none") << QString();
    }
}

/// A file named by --model or by another config brings all of the model, as the file alone does.
void TestHfModels::sameAsModelAndAsConfig()
{
    QFETCH(QString, path);
    if (path.isEmpty()) {
        QSKIP("the public models are not here");
    }
    const auto config = openConfig(std::filesystem::path(path.toStdString()), builtinFormats(), builtinCatalog());
    const auto model = openModel(path.toStdString(), builtinFormats(), builtinCatalog());
    if (!config || !model) {
        QSKIP("no model that is described");
    }
    QCOMPARE(parametersOf(*model), parametersOf(config->plan));
    forEachField(config->plan, [&](std::string_view key, const auto& field) {
        const QString name = QString::fromStdString(std::string(key));
        if (field.isStated() && key != "framework") {
            QCOMPARE(name + "=" + fieldOf(*model, name), name + "=" + fieldOf(config->plan, name));
        }
    });
}

QTEST_APPLESS_MAIN(TestHfModels)
#include "tst_hf_models.moc"
