// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "plan/batch.h"
#include "support/folders.h"

#include <QtTest>

#include <algorithm>
#include <filesystem>

using namespace headroom;

namespace {

/// A small decoder as a mapping of flags; a row adds to it. The last of two equal flags counts.
const QString anchor = "--num-layers: 12\n--hidden-size: 512\n--num-attention-heads: 8\n--micro-batch-size: 4\n"
                       "--seq-length: 1024\n--max-position-embeddings: 1024\n";

} // namespace

class TestMegatronArgs : public QObject
{
    Q_OBJECT

private slots:
    void fields_data();
    void fields();
    void shapesOfFiles_data();
    void shapesOfFiles();
    void launchScript_data();
    void launchScript();
    void scriptEdits_data();
    void scriptEdits();
    void scriptLosesWhatOnlyFullTakes_data();
    void scriptLosesWhatOnlyFullTakes();
    void tellsWhatItDoesNotKnow_data();
    void tellsWhatItDoesNotKnow();
    void edits_data();
    void edits();
    void baseFormatHasEveryField();
};

void TestMegatronArgs::fields_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    const auto row = [](const char* name, const char* text, const char* field, const char* value) {
        QTest::newRow(name) << anchor + text << field << value;
    };
    // Defaults of megatron/training/arguments.py.
    row("layers", "", "model.layers", "12");
    row("width of the MLP", "", "model.ffn", "2048");
    row("width of the MLP with SwiGLU", "--hidden-size: 4096\n--swiglu: true", "model.ffn", "10880");
    row("geglu keeps 4h", "--quick-geglu: true", "model.ffn", "2048");
    row("geglu has a gate", "--quick-geglu: true", "model.gated_mlp", "true");
    row("stated width", "--ffn-hidden-size: 3000\n--swiglu: true", "model.ffn", "3000");
    row("padding of the vocabulary", "", "model.vocab_pad_multiple", "128");
    row("stated padding", "--make-vocab-size-divisible-by: 3232", "model.vocab_pad_multiple", "3232");
    row("embeddings are tied", "", "model.tied_embeddings", "true");
    row("untied", "--untie-embeddings-and-output-weights: true", "model.tied_embeddings", "false");
    row("untied: false", "--untie-embeddings-and-output-weights: false", "model.tied_embeddings", "true");
    row("biases", "", "model.mlp_bias", "true");
    row("no biases", "--disable-bias-linear: true", "model.attn_out_bias", "false");
    row("only q, k and v have biases", "--disable-bias-linear: true\n--add-qkv-bias: true", "model.attn_bias", "true");
    row("LayerNorm", "", "model.layer_norm", "true");
    row("RMSNorm", "--normalization: RMSNorm", "model.layer_norm", "false");
    row("learned positions", "", "model.learned_positions", "true");
    row("rope", "--position-embedding-type: rope", "model.rope", "true");
    row("rope has no learned positions", "--position-embedding-type: rope", "model.learned_positions", "false");
    row("dropout", "", "model.hidden_dropout", "0.1");
    row("groups need their switch", "--num-attention-heads: 16\n--num-query-groups: 2", "model.kv_heads", "16");
    row("every head its own", "--num-attention-heads: 16", "model.kv_heads", "16");
    row("groups", "--group-query-attention: true\n--num-query-groups: 2", "model.kv_heads", "2");
    // Megatron-DeepSpeed's own words.
    row("rmsnorm", "--deepspeed: true\n--normalization: rmsnorm", "model.layer_norm", "false");
    row("key-value heads", "--deepspeed: true\n--num-key-value-heads: 4", "model.kv_heads", "4");
    row("key-value heads without DeepSpeed", "--num-attention-heads: 16\n--num-key-value-heads: 4", "model.kv_heads",
        "16");
    row("DeepSpeed's engine", "--deepspeed: true", "implementation.profile", "deepspeed-pipeline");
    row("flash attention", "--deepspeed: true\n--use-flash-attn-v2: true", "attention.impl", "flash");
    row("the old switch with DeepSpeed", "--deepspeed: true\n--use-flash-attn: true", "attention.impl", "flash");
    row("the old switch alone does nothing", "--use-flash-attn: true", "attention.impl", "");
    row("fp32", "", "precision.recipe", "fp32");
    row("bf16", "--bf16: true", "precision.recipe", "megatron-bf16");
    row("bf16: false", "--bf16: false", "precision.recipe", "fp32");
    row("fp16", "--fp16: true", "precision.recipe", "megatron-fp16");
    row("adam", "", "optimizer.name", "adam");
    row("tensors dealt to ranks", "--no-use-layer-wise-param-layout: true", "shard.whole_tensors", "true");
    row("tensors laid out", "--optimizer: muon", "shard.whole_tensors", "false");
    row("TE", "", "implementation.profile", "megatron-te");
    row("local", "--transformer-impl: local", "implementation.profile", "megatron-local");
    row("no fusion", "--no-gradient-accumulation-fusion: true", "implementation.grad_accum_fusion", "false");
    row("no tokenizer", "", "model.vocab", "50257");
    row("a tokenizer's own file", "--tokenizer-type: HuggingFaceTokenizer", "model.vocab", "");
    row("own tokenizer", "--tokenizer-type: GPT2BPETokenizer", "model.vocab", "50257");
    row("null tokenizer adds one", "--tokenizer-type: NullTokenizer\n--vocab-size: 131072", "model.vocab", "131073");
    row("word pieces add two", "--tokenizer-type: BertWordPieceCase", "model.vocab", "28998");
    row("recompute is off", "--recompute-num-layers: 1", "recompute.enabled", "false");
    row("recompute", "--recompute-granularity: full", "recompute.enabled", "true");
    row("selective means core attention", "--recompute-granularity: selective", "recompute.modules", "core_attn");
    row("modules", "--recompute-granularity: selective\n--recompute-modules: '[moe_act mlp]'", "recompute.modules",
        "moe_act, mlp");
    row("the old switch wins", "--recompute-activations: true\n--recompute-granularity: full", "recompute.granularity",
        "selective");
    row("offloaded layers", "--cpu-offloading: true\n--cpu-offloading-num-layers: 12",
        "shard.offload_activation_layers", "12");
    row("offloaded modules", "--fine-grained-activation-offloading: true\n--offload-modules: '[core_attn attn_proj]'",
        "shard.offload_activation_modules", "core_attn, attn_proj");
    row("Kwai's share", "--kaimm-offload-activation-ratio: 0.6", "shard.offload_activation_fraction", "0.6");
    row("Kwai's share is one of offloaded", "--kaimm-offload-activation-ratio: 0.6", "shard.offload_activations",
        "true");
    row("Kwai's profile", "--kaimm-offload-activation-ratio: 0.6", "implementation.profile", "megatron-kwai");
    row("Kwai's balanced recomputation", "--kaimm-recompute-norm: true\n--kaimm-recompute-mlp-activation-func: true",
        "recompute.modules", "layernorm, mlp_act");
    row("experts", "--num-experts: 8", "moe.topk", "2");
    row("dense layers first", "--num-experts: 8\n--moe-layer-freq: '([0]*3+[1]*9)'", "moe.first_dense_layers", "3");
    row("the exchange behind a flexible one",
        "--num-experts: 8\n--moe-token-dispatcher-type: flex\n--moe-flex-dispatcher-backend: hybridep",
        "moe.dispatcher", "hybridep");
    row("the default exchange behind it", "--num-experts: 8\n--moe-token-dispatcher-type: flex", "moe.dispatcher",
        "flex");
    row("graphs by their older flag", "--external-cuda-graph: true", "implementation.cuda_graphs",
        "transformer_engine");
    row("modules of graphs", "--cuda-graph-impl: transformer_engine\n--cuda-graph-scope: [attn, moe_router]",
        "implementation.cuda_graph_modules", "attn, moe_router");
    row("every second layer", "--num-experts: 8\n--moe-layer-freq: 2", "moe.layer_freq", "2");
    row("latent attention", "--multi-latent-attention: true\n--kv-lora-rank: 512", "mla.kv_lora_rank", "512");
    row("latent attention's defaults", "--multi-latent-attention: true", "mla.qk_rope_dim", "64");
    row("ranks without latent attention", "--kv-lora-rank: 512", "mla.kv_lora_rank", "");
    row("schedule of batch sizes", "--step-batch-size-schedule: 0:384 200B:768", "batch.global", "384");
    row("context parallel", "--cp-comm-type: '[a2a+p2p]'", "parallel.cp_comm", "a2a+p2p");
    row("inner ranks", "--hierarchical-context-parallel-sizes: '[2 4]'", "parallel.cp_inner", "2");
    row("sequence parallel", "--sequence-parallel: true\n--tensor-model-parallel-size: 2", "parallel.sp", "true");
    row("sequence parallel needs tensor parallel", "--sequence-parallel: true", "parallel.sp", "false");
    row("layers of a pattern", "--hybrid-layer-pattern: M-M*|M-M*/*E/*E", "model.layers", "8");
    row("its predictions", "--hybrid-layer-pattern: M-M*|M-M*/*E/*E", "model.mtp_layers", "2");
    row("its pipeline", "--hybrid-layer-pattern: M-M*|M-M*/*E/*E", "parallel.layout", "Et*4|t*4m*2L");
    row("the older name", "--hybrid-override-pattern: M-M*", "model.layer_pattern", "M-M*");
    // One of ten has attention: nine others make two stretches of 4.5, and attention comes once less than a half is
    // left.
    row("an even pattern", "--is-hybrid-model: true\n--num-layers: 10\n--hybrid-attention-ratio: 0.1",
        "model.layer_pattern", "MMMMM*MMMM");
    row("with MLPs", "--is-hybrid-model: true\n--num-layers: 8\n--hybrid-mlp-ratio: 0.5", "model.layer_pattern",
        "M-M-M-M-");
    row("delta nets", "--experimental-attention-variant: gated_delta_net\n--linear-attention-freq: 4", "mixer.kind",
        "gated_delta_net");
    row("fp8", "--fp8-format: hybrid", "precision.fp8", "delayed");
    row("fp8 recipe", "--fp8-format: hybrid\n--fp8-recipe: mxfp8", "precision.fp8", "mxfp8");
    row("fused loss", "--cross-entropy-loss-fusion: true", "implementation.fused_loss", "native");
}

void TestMegatronArgs::fields()
{
    QFETCH(QString, text);
    QFETCH(QString, field);
    QFETCH(QString, value);
    const PlanReading reading = readingOf(parsed(text));
    QCOMPARE(fieldOf(reading.plan, field), value);
    for (const Problem& problem : reading.problems) {
        QVERIFY2(problem.severity != Severity::Error, problem.english().c_str());
    }
}

void TestMegatronArgs::shapesOfFiles_data()
{
    QTest::addColumn<QString>("text");
    const QString flags = "--num-layers: 24\n--hidden-size: 1024\n--num-attention-heads: 16\n";
    QString nested = flags;
    nested.replace("--", "  --");
    QTest::newRow("flags") << flags;
    QTest::newRow("functional test") << "ENV_VARS:\n  NCCL_ALGO: Ring\nMODEL_ARGS:\n" + nested;
    QTest::newRow("JSON") << R"({"--num-layers": 24, "--hidden-size": 1024, "--num-attention-heads": 16})";
    QTest::newRow("entry of a list of runs")
        << R"({"case": "x", "flags": {"--num-layers": 24, "--hidden-size": 1024, "--num-attention-heads": 16}})";
    QTest::newRow("merged") << "BASE: &base\n" + nested + "MODEL_ARGS:\n  <<: *base\n  --micro-batch-size: 2\n";
}

void TestMegatronArgs::shapesOfFiles()
{
    QFETCH(QString, text);
    const ConfigDocument document = parsed(text);
    QCOMPARE(formatOf(document).id, std::string("megatron-args"));
    const TrainingPlan plan = readingOf(document).plan;
    QCOMPARE(fieldOf(plan, "model.layers"), QString("24"));
    QCOMPARE(fieldOf(plan, "model.hidden"), QString("1024"));
}

/// The script of tests/data/good/config/megatron_gpt.sh; the values were read by hand.
void TestMegatronArgs::launchScript_data()
{
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    const auto row = [](const char* field, const char* value) { QTest::newRow(field) << field << value; };
    row("model.layers", "32");
    row("model.hidden", "4096");
    row("model.ffn", "14336");
    row("model.heads", "32");
    row("model.kv_heads", "8");
    row("model.gated_mlp", "true");
    row("model.tied_embeddings", "false");
    row("model.rope", "true");
    row("model.mlp_bias", "false");
    row("model.vocab", "128256");
    row("model.max_pos", "8192");
    row("batch.seq", "8192");
    row("batch.micro", "1");
    row("batch.global", "128");
    row("parallel.tp", "4");
    row("parallel.pp", "2");
    row("parallel.cp", "2");
    row("parallel.sp", "true");
    row("parallel.world", "32");
    row("parallel.vpp", "2");
    row("shard.dist_opt", "true");
    row("precision.recipe", "megatron-bf16");
    row("recompute.granularity", "full");
    row("recompute.method", "uniform");
    row("recompute.num_layers", "1");
    row("attention.impl", "flash");
    row("moe.experts", ""); // commented out
    row("model.hidden_dropout", "0");
}

void TestMegatronArgs::launchScript()
{
    QFETCH(QString, field);
    QFETCH(QString, value);
    const auto opened = openConfig(testData("good/config/megatron_gpt.sh"), builtinFormats(), builtinCatalog());
    QVERIFY2(opened, opened ? "" : opened.error().english().c_str());
    QCOMPARE(opened->format->id, std::string("megatron-args"));
    QCOMPARE(fieldOf(opened->plan, field), value);
    QCOMPARE(opened->notEstimated.size(), std::size_t{0});
}

void TestMegatronArgs::scriptEdits_data()
{
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("removed"); // the lines that go
    QTest::addColumn<QString>("added"); // and those that come
    const auto row = [](const char* field, const char* value, const char* removed, const char* added) {
        QTest::newRow(field) << field << value << removed << added;
    };
    row("parallel.tp", "8", "TP=4", "TP=8");
    row("parallel.pp", "4", "PP=${PP:-2}", "PP=${PP:-4}");
    row("batch.micro", "2", "    --micro-batch-size 1", "    --micro-batch-size 2");
    row("batch.global", "256", "    --global-batch-size $((16 * DATA_PARALLEL))", "    --global-batch-size 256");
    row("parallel.sp", "false", "\t--sequence-parallel", "");
    row("recompute.method", "block", "    --recompute-method=uniform", "    --recompute-method=block");
    row("model.layers", "40", "    --num-layers 32 \\", "    --num-layers 40 \\");
    row("model.tied_embeddings", "true", "    --untie-embeddings-and-output-weights \\", "");
    row("model.qk_norm", "true", "    --save-interval 500 2>&1 | tee \"train_$MODEL.log\"",
        "    --save-interval 500 --qk-layernorm 2>&1 | tee \"train_$MODEL.log\"");
}

void TestMegatronArgs::scriptLosesWhatOnlyFullTakes_data()
{
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("granularity"); // what its line becomes, empty: it goes
    QTest::newRow("selective") << "recompute.granularity"
                               << "selective"
                               << "    --recompute-granularity=selective";
    QTest::newRow("off") << "recompute.enabled"
                         << "false" << QString();
}

/// Megatron-LM stops at a method beside selective recompute, and knows no word for none.
void TestMegatronArgs::scriptLosesWhatOnlyFullTakes()
{
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(QString, granularity);
    const auto opened = openConfig(testData("good/config/megatron_gpt.sh"), builtinFormats(), builtinCatalog());
    QVERIFY(opened);
    TrainingPlan after = opened->plan;
    QVERIFY(setField(after, field.toStdString(), value.toStdString(), {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(opened->document, *opened->format, opened->plan, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto written = opened->document.set(*edits);
    QVERIFY2(written, written ? "" : written.error().english().c_str());
    QStringList expected;
    for (const QString& line : QString::fromStdString(opened->document.bytes()).split('\n')) {
        const bool isGranularity = line.contains("--recompute-granularity");
        if (!line.contains("--recompute-") || (isGranularity && !granularity.isEmpty())) {
            expected += isGranularity ? granularity : line;
        }
    }
    QCOMPARE(QString::fromStdString(written->bytes()).split('\n'), expected);
}

void TestMegatronArgs::scriptEdits()
{
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(QString, removed);
    QFETCH(QString, added);
    const auto opened = openConfig(testData("good/config/megatron_gpt.sh"), builtinFormats(), builtinCatalog());
    QVERIFY(opened);
    TrainingPlan after = opened->plan;
    QVERIFY(setField(after, field.toStdString(), value.toStdString(), {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(opened->document, *opened->format, opened->plan, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto written = opened->document.set(*edits);
    QVERIFY2(written, written ? "" : written.error().english().c_str());
    QCOMPARE(fieldOf(readingOf(*written).plan, field), value);
    const QStringList before = QString::fromStdString(opened->document.bytes()).split('\n');
    QStringList lines = QString::fromStdString(written->bytes()).split('\n');
    const qsizetype at = before.indexOf(removed);
    QVERIFY2(at >= 0, qPrintable(removed));
    if (added.isEmpty()) {
        lines.insert(at, removed);
    } else {
        QCOMPARE(lines.value(at), added);
        lines[at] = removed;
    }
    QCOMPARE(lines, before);
}

void TestMegatronArgs::tellsWhatItDoesNotKnow_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("key");
    QTest::newRow("sparse attention") << "--experimental-attention-variant: dsa"
                                      << "--experimental-attention-variant";
    QTest::newRow("another optimizer") << "--optimizer: lion"
                                       << "--optimizer";
    QTest::newRow("CUDA graphs") << "--cuda-graph-impl: local"
                                 << "--cuda-graph-impl";
    QTest::newRow("CUDA graphs, the older word") << "--enable-cuda-graph: true"
                                                 << "--enable-cuda-graph";
    QTest::newRow("CUDA graphs of Transformer Engine") << "--cuda-graph-impl: transformer_engine"
                                                       << "";
    QTest::newRow("gradients reduced in 16 bit") << "--grad-reduce-in-bf16: true"
                                                 << "";
    QTest::newRow("switched off") << "--is-hybrid-model: false"
                                  << "";
    QTest::newRow("adam") << "--optimizer: adam"
                          << "";
}

void TestMegatronArgs::tellsWhatItDoesNotKnow()
{
    QFETCH(QString, text);
    QFETCH(QString, key);
    const PlanReading reading = readingOf(parsed(anchor + text));
    const auto expected = key.isEmpty() ? std::vector<std::string>{} : std::vector{key.toStdString()};
    QCOMPARE(reading.notEstimated, expected);
    QCOMPARE(sentences(reading.problems).join('\n').contains("incomplete"), !key.isEmpty());
}

void TestMegatronArgs::edits_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("changed");
    const auto row = [](const char* name, const char* text, const char* field, const char* value, const char* changed) {
        QTest::newRow(name) << anchor + text << field << value << anchor + changed;
    };
    row("a value", "--tensor-model-parallel-size: 2 # x\n", "parallel.tp", "4",
        "--tensor-model-parallel-size: 4 # x\n");
    row("an inverted flag", "--untie-embeddings-and-output-weights: true\n", "model.tied_embeddings", "true",
        "--untie-embeddings-and-output-weights: false\n");
    row("a new flag", "--bf16: true\n", "parallel.pp", "2", "--bf16: true\n--pipeline-model-parallel-size: 2\n");
    row("precision", "--bf16: true\n", "precision.recipe", "megatron-fp16", "--bf16: false\n--fp16: true\n");
    row("from the old switch", "--recompute-activations: true\n", "recompute.granularity", "full",
        "--recompute-activations: false\n--recompute-granularity: full\n--recompute-method: "
        "uniform\n--recompute-num-layers: 1\n");
}

void TestMegatronArgs::edits()
{
    QFETCH(QString, text);
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(QString, changed);
    const ConfigDocument document = parsed(text);
    const TrainingPlan before = readingOf(document).plan;
    TrainingPlan after = before;
    QVERIFY(setField(after, field.toStdString(), value.toStdString(), {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(document, formatOf(document), before, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto written = document.set(*edits);
    QVERIFY2(written, written ? "" : written.error().english().c_str());
    QCOMPARE(QString::fromStdString(written->bytes()), changed);
    QCOMPARE(fieldOf(readingOf(*written).plan, field), value);
}

/// Whatever a plan can say, a config of the own format can.
void TestMegatronArgs::baseFormatHasEveryField()
{
    const auto& formats = builtinFormats().formats;
    const auto base = std::find_if(formats.begin(), formats.end(),
                                   [](const ConfigFormat& format) { return format.id == "base-yaml"; });
    QVERIFY(base != formats.end());
    const TrainingPlan plan;
    forEachField(plan, [&](std::string_view field, const auto&) {
        const bool hasKey = std::any_of(base->keys.begin(), base->keys.end(),
                                        [&](const ConfigFormat::Key& key) { return key.field == field; });
        QVERIFY2(hasKey || field == "framework", std::string(field).c_str());
    });
}

QTEST_APPLESS_MAIN(TestMegatronArgs)
#include "tst_megatron_args.moc"
