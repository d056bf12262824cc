// SPDX-License-Identifier: GPL-3.0-or-later
#include "config_fixture.h"

#include "config/comparable_plan.h"
#include "config/export_plan.h"
#include "config/open_plan.h"
#include "support/folders.h"

#include <QDir>
#include <QtTest>

using namespace headroom;

namespace {

const ConfigFormat& formatNamed(const std::string& id)
{
    for (const ConfigFormat& format : builtinFormats().formats) {
        if (format.id == id) {
            return format;
        }
    }
    qFatal("no format %s", id.c_str());
}

TrainingPlan planOf(const QString& preset, const QString& settings)
{
    TrainingPlan plan;
    if (!preset.isEmpty()) {
        plan = builtinCatalog().model(preset.toStdString())->plan;
    }
    for (const QString& setting : settings.split(' ', Qt::SkipEmptyParts)) {
        const auto set = setField(plan, setting.section('=', 0, 0).toStdString(), setting.section('=', 1).toStdString(),
                                  {OriginKind::Edited, 0, nullptr});
        if (!set) {
            qFatal("%s", set.error().english().c_str());
        }
    }
    return plan;
}

QStringList textsOf(const std::vector<FieldDifference>& fields)
{
    QStringList texts;
    for (const FieldDifference& field : fields) {
        texts << QString::fromStdString(field.key + "=" + field.before);
    }
    return texts;
}

constexpr const char* someRun = "batch.micro=2 batch.global=64 batch.seq=4096 parallel.tp=4 parallel.pp=2 "
                                "parallel.world=16 parallel.sp=true recompute.enabled=true recompute.granularity=full "
                                "recompute.method=uniform recompute.num_layers=1 precision.recipe=megatron-bf16 "
                                "optimizer.name=adam shard.dist_opt=true";

} // namespace

class TestExportPlan : public QObject
{
    Q_OBJECT

private slots:
    void presetsComeBack_data();
    void presetsComeBack();
    void filesComeBack_data();
    void filesComeBack();
    void writesOnlyWhatMatters_data();
    void writesOnlyWhatMatters();
    void namesWhatCannotBeSaid_data();
    void namesWhatCannotBeSaid();
    void refusesOtherFormats();
};

/// Opens the export as its reader would; everything not named as omitted must be there again.
void comesBack(const TrainingPlan& plan, const std::string& format)
{
    const auto exported = exportPlan(plan, formatNamed(format), builtinCatalog(), "train", "A run.\nFor a test.");
    QVERIFY2(exported, exported ? "" : exported.error().english().c_str());
    auto document = ConfigDocument::parse(exported->bytes, exported->name);
    QVERIFY2(document, exported->bytes.c_str());
    const auto opened = openConfig(std::move(*document), builtinFormats(), builtinCatalog());
    QVERIFY2(opened, exported->bytes.c_str());
    QCOMPARE(opened->format->id, format);
    for (const Problem& problem : opened->problems) {
        QVERIFY2(problem.severity != Severity::Error, problem.english().c_str());
    }
    QStringList wrong;
    for (const FieldDifference& field : difference(comparable(opened->plan), comparable(plan))) {
        const bool isNamed = std::any_of(exported->omitted.begin(), exported->omitted.end(),
                                         [&](const FieldDifference& one) { return one.key == field.key; });
        if (!field.after.empty() && field.key != "framework" && field.key != "model.name" && !isNamed) {
            wrong << QString::fromStdString(field.key + ": " + field.after + ", read " + field.before);
        }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n') + "\n" + QString::fromStdString(exported->bytes)));
}

void TestExportPlan::presetsComeBack_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("format");
    for (const ModelPreset& preset : builtinCatalog().models) {
        for (const char* format : {"base-yaml", "megatron-args", "deepspeed-json"}) {
            QTest::addRow("%s as %s", preset.id.c_str(), format)
                << QString::fromStdString(preset.id) << QString(format);
        }
    }
}

void TestExportPlan::presetsComeBack()
{
    QFETCH(QString, preset);
    QFETCH(QString, format);
    const TrainingPlan plan = planOf(preset, someRun);
    comesBack(plan, format.toStdString());
    const auto exported = exportPlan(plan, formatNamed(format.toStdString()), builtinCatalog(), "train");
    QVERIFY(exported);
    if (format == "base-yaml") {
        QCOMPARE(textsOf(exported->omitted).join(' '), QString());
    }
    if (format == "megatron-args" && !plan.vision.layers.isKnown()) {
        // What Megatron-LM has no argument for, or one only together with another.
        const QStringList beyond{"model.parallel_block", "model.shared_norm", "model.head_bias", "model.activation",
                                 "model.mlp_bias", "moe.shared_experts", "moe.first_dense_layers",
                                 // Other mixers than Mamba-2, and attention and experts by number in a hybrid.
                                 "mixer.kind", "mixer.chunk", "mixer.expand", "mixer.time_rank",
                                 "mixer.attention_layers", "mixer.attention_offset", "moe.layer_freq"};
        for (const FieldDifference& field : exported->omitted) {
            QVERIFY2(beyond.contains(QString::fromStdString(field.key)), field.key.c_str());
        }
    }
}

void TestExportPlan::filesComeBack_data()
{
    QTest::addColumn<QString>("path");
    const QDir corpus(sharedPath("corpus/configs"));
    for (const QString& name : corpus.entryList({"*.yaml", "*.yml", "*.json", "*.toml", "*.sh"}, QDir::Files)) {
        QTest::newRow(qPrintable(name)) << corpus.filePath(name);
    }
    if (!corpus.exists()) {
        QTest::newRow("no corpus") << QString();
    }
}

void TestExportPlan::filesComeBack()
{
    QFETCH(QString, path);
    if (path.isEmpty()) {
        QSKIP("the public configs are not here");
    }
    const auto opened = openConfig(path.toStdString(), builtinFormats(), builtinCatalog());
    if (!opened) {
        QSKIP("not a config of a known format");
    }
    for (const char* format : {"base-yaml", "megatron-args", "deepspeed-json"}) {
        // A plan that says nothing of what a format is recognised by makes no file of it.
        const bool isEnough = opened->plan.batch.micro.isKnown()
            && (opened->plan.model.layers.isKnown() || std::string(format) != "megatron-args");
        if (isEnough) {
            comesBack(opened->plan, format);
        }
    }
}

void TestExportPlan::writesOnlyWhatMatters_data()
{
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("bytes");
    QTest::newRow("base format") << "llama-3-8b"
                                 << "batch.micro=2 batch.seq=8192 parallel.pp=4 parallel.dp=2"
                                 << "base-yaml"
                                 << "# A run.\nmodel:\n  preset: llama-3-8b\ntrain:\n  micro_batch_size: 2\n"
                                    "  seq_length: 8192\nparallel:\n  data_parallel_size: 2\n"
                                    "  pipeline_parallel_size: 4\n";
    QTest::newRow("DeepSpeed") << ""
                               << "batch.micro=2 batch.accum=4 shard.zero_stage=3 shard.offload_optimizer=true"
                               << "deepspeed-json"
                               << "{\n  \"train_micro_batch_size_per_gpu\": 2,\n  \"gradient_accumulation_steps\": 4,\n"
                                  "  \"zero_optimization\": {\n    \"stage\": 3,\n    \"offload_optimizer\": {\n"
                                  "      \"device\": \"cpu\"\n    }\n  }\n}\n";
    QTest::newRow("Megatron, GPT-2's own defaults")
        << ""
        << "model.layers=24 model.hidden=1024 model.heads=16 model.ffn=4096 model.vocab=50257 "
           "model.vocab_pad_multiple=128 model.max_pos=1024 model.learned_positions=true model.layer_norm=true "
           "model.attn_bias=true model.mlp_bias=true model.attn_out_bias=true model.tied_embeddings=true "
           "model.attn_dropout=0.1 model.hidden_dropout=0.1 batch.micro=8 batch.seq=1024 precision.recipe=fp32 "
           "parallel.world=16"
        << "megatron-args"
        << "#!/bin/bash\n# A run.\ntorchrun \\\n    --nnodes 2 \\\n    --nproc_per_node 8 \\\n    pretrain_gpt.py \\\n"
           "    --num-layers 24 \\\n    --hidden-size 1024 \\\n    --num-attention-heads 16 \\\n    --vocab-size 50257 "
           "\\\n"
           "    --max-position-embeddings 1024 \\\n    --micro-batch-size 8 \\\n    --seq-length 1024\n";
    QTest::newRow("Megatron's full recompute has a method")
        << ""
        << "model.layers=2 model.hidden=64 model.heads=2 model.ffn=256 model.vocab=512 model.learned_positions=true "
           "model.layer_norm=true model.attn_bias=true model.mlp_bias=true model.attn_out_bias=true "
           "model.tied_embeddings=true model.attn_dropout=0.1 model.hidden_dropout=0.1 model.vocab_pad_multiple=128 "
           "batch.micro=1 batch.seq=64 model.max_pos=64 precision.recipe=fp32 recompute.enabled=true "
           "recompute.granularity=full"
        << "megatron-args"
        << "#!/bin/bash\n# A run.\ntorchrun \\\n    pretrain_gpt.py \\\n    --num-layers 2 \\\n    --hidden-size 64 "
           "\\\n"
           "    --num-attention-heads 2 \\\n    --vocab-size 512 \\\n    --max-position-embeddings 64 \\\n"
           "    --micro-batch-size 1 \\\n    --seq-length 64 \\\n    --recompute-granularity full \\\n"
           "    --recompute-method uniform \\\n    --recompute-num-layers 1\n";
}

void TestExportPlan::writesOnlyWhatMatters()
{
    QFETCH(QString, preset);
    QFETCH(QString, settings);
    QFETCH(QString, format);
    const auto exported
        = exportPlan(planOf(preset, settings), formatNamed(format.toStdString()), builtinCatalog(), "train", "A run.");
    QVERIFY(exported);
    QTEST(QString::fromStdString(exported->bytes), "bytes");
}

void TestExportPlan::namesWhatCannotBeSaid_data()
{
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QString>("format");
    QTest::addColumn<QStringList>("omitted");
    QTest::newRow("ZeRO in Megatron") << "model.layers=2 model.hidden=64 model.heads=2 batch.micro=1 shard.zero_stage=3"
                                      << "megatron-args" << QStringList{"shard.zero_stage=3"};
    QTest::newRow("a model in DeepSpeed's file") << "model.layers=2 batch.micro=1"
                                                 << "deepspeed-json" << QStringList{"model.layers=2"};
    // By LLaMA-Factory's defaults, of a model without a tower; and an implementation of another framework.
    QTest::newRow("frozen towers where there are none")
        << "model.layers=2 model.hidden=64 model.heads=2 batch.micro=1 frozen.llm=false frozen.vision=true "
           "frozen.projector=true implementation.profile=hf-flash"
        << "megatron-args" << QStringList{"implementation.profile=hf-flash"};
    QTest::newRow("an odd number of GPUs") << "model.layers=2 model.hidden=64 model.heads=2 batch.micro=1 "
                                              "batch.global=12 parallel.world=12"
                                           << "megatron-args" << QStringList{"parallel.world=12"};
    QTest::newRow("everything in the base format")
        << "model.layers=2 model.hidden=64 model.heads=2 batch.micro=1 shard.zero_stage=3"
        << "base-yaml" << QStringList{};
}

void TestExportPlan::namesWhatCannotBeSaid()
{
    QFETCH(QString, settings);
    QFETCH(QString, format);
    QFETCH(QStringList, omitted);
    const auto exported = exportPlan(planOf({}, settings), formatNamed(format.toStdString()), builtinCatalog(), "t");
    QVERIFY(exported);
    QStringList texts = textsOf(exported->omitted);
    texts.erase(std::remove_if(texts.begin(), texts.end(),
                               [](const QString& text) {
                                   return text.startsWith("precision.") || text.startsWith("parallel.dp=")
                                       || text.startsWith("batch.accum=");
                               }),
                texts.end());
    QCOMPARE(texts, omitted);
}

void TestExportPlan::refusesOtherFormats()
{
    QVERIFY(!exportPlan({}, formatNamed("axolotl"), builtinCatalog(), "train"));
    QCOMPARE(exportFormats(builtinFormats()).size(), std::size_t{3});
}

QTEST_APPLESS_MAIN(TestExportPlan)
#include "tst_export_plan.moc"
