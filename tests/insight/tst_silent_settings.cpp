// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "insight/finding.h"
#include "support/folders.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <array>
#include <vector>

using namespace headroom;

namespace {

/// One known case of a setting that silently does nothing, or something else. Where no config can show it, `why` says
/// so; the others fire in one text and stay silent in another. "@@name" starts a second file.
struct Case
{
    int number; ///< of the public collection; some have several parts
    const char* source;
    const char* id; ///< of the finding; "problem" is one of the file's own problems
    const char* file;
    QString fires, quiet;
    const char* why;
};

const QString megatron = "torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 ";
const QString factory = "stage: sft\nfinetuning_type: full\ntemplate: x\nper_device_train_batch_size: 1\n";
const QString accelerate = "compute_environment: x\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n";
const QString trainer = "per_device_train_batch_size: 1\ngradient_checkpointing: true\n";
const QString visual = trainer + "model_name_or_path: Qwen/Qwen2-VL-7B-Instruct\n";
const QString reentrant = "gradient_checkpointing_kwargs: {use_reentrant: true}\n";
const QString notReentrant = "gradient_checkpointing_kwargs: {use_reentrant: false}\n";
const QString titan = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n";
const QString nemo = "trainer: {devices: 8, num_nodes: 1}\nmodel:\n  tensor_model_parallel_size: 1\n";
const QString swift = "micro_batch_size: 1\nglobal_batch_size: 8\nmax_length: 2048\ntuner_type: full\n"
                      "model: Qwen/Qwen2-VL-7B-Instruct\nrecompute_granularity: full\n";
const QString tune = "model: {_component_: x}\nbatch_size: 2\n";
const QString selective = megatron + "--recompute-granularity selective --recompute-modules core_attn ";
const QString stored = "@@ds.json\n{\"zero_optimization\": {\"stage\": 1}, \"activation_checkpointing\": "
                       "{\"partition_activations\": %1}}";

const char* const ofVersion = "depends on the version of a library, which no config states";
const char* const ofReport = "a report whose cause nobody named: nothing in a config tells it from one that works";
const char* const ofLibrary = "about a library for reading YAML, not about a training config";
const char* const ofNumbers
    = "how a number is spelled: no value that concerns memory is written so, and it is read as meant";

const std::vector<Case>& cases()
{
    static const std::vector<Case> all{
        {1, "Megatron-LM/issues/1487", "setting-overruled", "a.sh",
         megatron + "--recompute-activations --recompute-granularity full",
         megatron + "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1", ""},
        {2, "Megatron-LM/issues/464", "core-attention-saves-nothing", "a.sh", selective + "--attention-backend flash",
         selective + "--attention-backend unfused", ""},
        {3, "Megatron-LM/issues/1225", "core-attention-saves-nothing", "a.sh", selective + "--attention-backend fused",
         selective + "--attention-backend local", ""},
        {4, "Megatron-LM/issues/1886", "core-attention-saves-nothing", "a.sh", selective + "--attention-backend flash",
         megatron + "--attention-backend flash", ""},
        {5, "Megatron-LM/pull/7237", "core-attention-saves-nothing", "a.sh", selective + "--attention-backend flash",
         megatron + "--attention-backend flash --recompute-granularity selective --recompute-modules mlp", ""},
        {6, "Megatron-LM/issues/1300", "", "", "", "", ofReport},
        {7, "", "setting-overruled", "a.sh", megatron + "--yaml-cfg gpt.yaml", megatron, ""},
        {8, "", "setting-idle", "a.sh", megatron + "--sequence-parallel",
         megatron + "--sequence-parallel --tensor-model-parallel-size 2", ""},
        {8, "", "setting-lacks-switch", "a.sh", megatron + "--num-query-groups 2",
         megatron + "--num-query-groups 2 --group-query-attention", ""},
        {8, "", "setting-not-read", "a.sh", megatron + "--use-flash-attn", megatron + "--attention-backend flash", ""},
        {8, "", "setting-overruled", "a.sh", megatron + "--hybrid-layer-pattern M*M*", megatron, ""},
        {9, "", "vision-not-recomputed", "a.sh",
         megatron + "--vision-model-type clip --recompute-granularity selective",
         megatron + "--vision-model-type clip --recompute-granularity selective --recompute-vision", ""},
        {10, "Megatron-LM/pull/237", "setting-renamed", "a.sh", megatron + "--checkpoint-activations",
         megatron + "--checkpoint-activations --deepspeed", ""},
        {11, "Megatron-DeepSpeed/pull/452", "setting-needs-code", "a.sh",
         megatron + "--deepspeed_config ds.json" + stored.arg("true"),
         megatron + "--deepspeed_config ds.json" + stored.arg("false"), ""},
        {12, "DeepSpeed/issues/5704", "setting-needs-code", "a.json",
         "{\"zero_optimization\": {\"stage\": 1}, \"activation_checkpointing\": {\"cpu_checkpointing\": true}}",
         "{\"zero_optimization\": {\"stage\": 1}, \"activation_checkpointing\": {\"cpu_checkpointing\": false}}", ""},
        {13, "accelerate/issues/2160", "setting-needs-code", "a.yaml",
         accelerate + "  deepspeed_config_file: ds.json\n" + stored.arg("true"),
         accelerate + "  deepspeed_config_file: ds.json\n" + stored.arg("false"), ""},
        {14, "transformers/pull/22099", "setting-needs-code", "a.yaml",
         trainer + "deepspeed: ds.json\n" + stored.arg("true"), trainer + "deepspeed: ds.json\n" + stored.arg("false"),
         ""},
        {15, "transformers/issues/27830", "problem: the trainer refuses such a pair", "a.yaml",
         trainer + "deepspeed: ds.json\n@@ds.json\n{\"zero_optimization\": {}, \"train_micro_batch_size_per_gpu\": 4}",
         trainer
             + "deepspeed: ds.json\n@@ds.json\n{\"zero_optimization\": {}, \"train_micro_batch_size_per_gpu\": "
               "\"auto\"}",
         ""},
        {16, "accelerate/issues/2298", "setting-not-read", "a.yaml",
         accelerate + "  train_micro_batch_size_per_gpu: 4\n", accelerate + "  zero_stage: 2\n", ""},
        {17, "accelerate/issues/1644", "setting-unfilled", "a.json",
         "{\"zero_optimization\": {\"stage\": 2, \"allgather_bucket_size\": \"auto\"}}",
         "{\"zero_optimization\": {\"stage\": 2, \"reduce_bucket_size\": \"auto\"}}", ""},
        {18, "accelerate/pull/941", "settings-refused", "a.yaml",
         accelerate + "  deepspeed_config_file: ds.json\n  gradient_accumulation_steps: 2\n",
         accelerate + "  deepspeed_config_file: ds.json\n", ""},
        {19, "accelerate/pull/2296", "", "", "", "", "how auto is filled in: the setting does what it says"},
        {20, "accelerate/issues/1791", "setting-dropped", "a.yaml",
         "compute_environment: x\ndistributed_type: MEGATRON_LM\nmegatron_lm_config:\n"
         "  megatron_lm_other_megatron_args: {recompute_granularity: full}\n",
         "compute_environment: x\ndistributed_type: MEGATRON_LM\nmegatron_lm_config:\n  megatron_lm_tp_degree: 2\n",
         ""},
        {21, "transformers/issues/28022", "", "", "", "", ofReport},
        {22, "transformers/pull/22270", "", "", "", "", ofVersion},
        {23, "transformers/issues/21381", "reentrant-frozen-inputs", "a.yaml",
         trainer + "freeze_backbone: true\n" + reentrant, trainer + "freeze_backbone: true\n" + notReentrant, ""},
        {24, "transformers/pull/30320", "setting-overruled", "a.yaml", trainer + "use_cache: true\n",
         trainer + "use_cache: false\n", ""},
        {25, "trl/pull/3891", "setting-overruled", "a.yaml", trainer + "max_length: 1024\nuse_cache: true\n",
         "per_device_train_batch_size: 1\nuse_cache: true\n", ""},
        {26, "transformers/pull/42494", "reentrant-frozen-inputs", "a.yaml", trainer + "lora_r: 8\n" + reentrant,
         trainer + reentrant, ""},
        {27, "transformers/pull/41993", "reentrant-vision-inputs", "a.yaml", visual + "lora_r: 8\n" + reentrant,
         visual + "lora_r: 8\nfreeze_vision_tower: true\n" + reentrant, ""},
        {28, "transformers/pull/34724", "", "", "", "", ofVersion},
        {29, "transformers/issues/30404", "recompute-gathers-again", "a.yaml",
         trainer + "fsdp: \"full_shard auto_wrap\"\n", trainer + "fsdp: \"shard_grad_op auto_wrap\"\n", ""},
        {30, "transformers/pull/31578", "recompute-gathers-again", "a.yaml", trainer + "fsdp: [hybrid_shard]\n",
         "per_device_train_batch_size: 1\nfsdp: [hybrid_shard]\nfsdp_config: {activation_checkpointing: true}\n", ""},
        {31, "transformers/pull/25771", "", "", "", "", ofVersion},
        {32, "transformers/issues/28499", "", "", "", "", "an error while the run goes on, which its log shows"},
        {33, "pytorch/issues/105635", "recompute-gathers-again", "a.sh",
         "accelerate launch --config_file f.yaml a.py --per_device_train_batch_size 1 --gradient_checkpointing True\n"
         "@@f.yaml\ncompute_environment: x\ndistributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: "
         "FULL_SHARD}\n",
         "accelerate launch --config_file f.yaml a.py --per_device_train_batch_size 1 --gradient_checkpointing True\n"
         "@@f.yaml\ncompute_environment: x\ndistributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: NO_SHARD}\n",
         ""},
        {34, "LlamaFactory/issues/6232", "setting-not-read", "a.yaml", factory + "gradient_checkpointing: false\n",
         factory + "disable_gradient_checkpointing: true\n", ""},
        {35, "LlamaFactory/issues/2322", "", "", "", "", ofReport},
        {36, "LlamaFactory/issues/6358", "reentrant-frozen-inputs", "a.yaml",
         factory + "freeze_language_model: true\nuse_reentrant_gc: true\n",
         factory + "freeze_language_model: true\nuse_reentrant_gc: false\n", ""},
        {37, "LlamaFactory/issues/4014", "", "", "", "", ofNumbers},
        {38, "ms-swift/pull/9945", "vision-not-recomputed", "a.yaml", swift,
         swift + "vit_gradient_checkpointing: true\n", ""},
        {39, "ms-swift/pull/10214", "frozen-tower-keeps-activations", "a.yaml",
         "tuner_type: lora\nper_device_train_batch_size: 1\nmodel: Qwen/Qwen2-VL-7B-Instruct\n",
         "tuner_type: lora\nper_device_train_batch_size: 1\nmodel: Qwen/Qwen2-VL-7B-Instruct\nfreeze_vit: false\n", ""},
        {40, "ms-swift/issues/1928", "", "", "", "", ofVersion},
        {41, "ms-swift/pull/2625", "", "", "", "", ofVersion},
        {42, "unsloth/issues/2362", "setting-overruled", "a.yaml",
         factory + "disable_gradient_checkpointing: true\nuse_unsloth: true\n",
         factory + "disable_gradient_checkpointing: true\nuse_unsloth: false\n", ""},
        {43, "unsloth/issues/2870", "setting-overruled", "a.yaml",
         factory + "use_unsloth: true\ndisable_gradient_checkpointing: true\n", factory + "use_unsloth: true\n", ""},
        {44, "Automodel/issues/1986", "", "", "", "", ofVersion},
        {45, "Automodel/pull/2993", "", "", "", "", ofVersion},
        {46, "Automodel/pull/2840", "", "", "", "", ofVersion},
        {47, "Megatron-Bridge/pull/5320", "vision-not-recomputed", "a.yaml",
         "model: {tensor_model_parallel_size: 1, freeze_vision_model: false, recompute_granularity: full}\n"
         "train: {global_batch_size: 8, micro_batch_size: 1}\n",
         "model: {tensor_model_parallel_size: 1, recompute_granularity: full}\n"
         "train: {global_batch_size: 8, micro_batch_size: 1}\n",
         ""},
        {48, "Speech/pull/5470", "recompute-method-alone", "a.yaml",
         nemo + "  activations_checkpoint_granularity: null\n  activations_checkpoint_method: uniform\n",
         nemo + "  activations_checkpoint_granularity: full\n  activations_checkpoint_method: uniform\n", ""},
        {48, "Speech/pull/5470", "setting-lacks-switch", "a.yaml",
         nemo + "  activations_checkpoint_granularity: full\n  activations_checkpoint_num_layers: 0\n",
         nemo + "  activations_checkpoint_granularity: full\n  activations_checkpoint_num_layers: 1\n", ""},
        {49, "NeMo-Framework-Launcher/pull/116", "recompute-method-alone", "a.yaml",
         nemo + "  activations_checkpoint_method: block\n  activations_checkpoint_num_layers: 1\n",
         nemo + "  activations_checkpoint_method: null\n  activations_checkpoint_num_layers: null\n", ""},
        {50, "", "settings-cancel", "a.yaml", tune + "ac_mode: full\nenable_activation_checkpointing: true\n",
         tune + "enable_activation_checkpointing: true\n", ""},
        {51, "", "setting-lacks-switch", "a.toml", titan + "[activation_checkpoint]\nmode = \"memory_budget\"\n",
         titan + "[activation_checkpoint]\nmode = \"memory_budget\"\n[compile]\nenable = true\n", ""},
        {51, "", "setting-idle", "a.py",
         "def f():\n  return Trainer.Config(training=TrainingConfig.Config(max_context_length=2048),\n"
         "    parallelism=Parallelism.Config(num_pp_microbatches=4))\n",
         "def f():\n  return Trainer.Config(training=TrainingConfig.Config(max_context_length=2048),\n"
         "    parallelism=Parallelism.Config(num_pp_microbatches=4, pipeline_parallel_degree=5))\n",
         ""},
        {52, "LLaVA/issues/1173", "setting-dropped", "a.sh",
         "deepspeed a.py --per_device_train_batch_size 1 --unfreeze_mm_vision_tower True",
         "deepspeed a.py --per_device_train_batch_size 1 --unfreeze_mm_vision_tower False", ""},
        {53, "Qwen-VL-Series-Finetune/issues/56", "frozen-tower-keeps-activations", "a.yaml",
         visual + "freeze_vision_tower: true\n" + reentrant, visual + "freeze_vision_tower: true\n" + notReentrant, ""},
        {54, "yaml/issues/173", "", "", "", "", ofNumbers},
        {55, "yaml-cpp/issues/154", "", "", "", "", ofLibrary},
        {56, "yaml-cpp/issues/1217", "", "", "", "", ofLibrary},
    };
    return all;
}

} // namespace

/// Every known case of settings that silently do nothing (issues and pull requests of the frameworks): said by a
/// finding, or why no config can show it.
class TestSilentSettings : public QObject
{
    Q_OBJECT

private slots:
    void cases_data();
    void cases();
    void noneIsLeftOut();
    void aKnobTakesEffect();

private:
    QTemporaryDir m_folder;

    Result<OpenedConfig> opened(const QString& file, const QString& text);
    static QStringList said(const OpenedConfig& config);
};

Result<OpenedConfig> TestSilentSettings::opened(const QString& file, const QString& text)
{
    const QStringList parts = text.split("@@");
    for (qsizetype i = 0; i < parts.size(); ++i) {
        const QString name = i == 0 ? file : parts[i].section('\n', 0, 0);
        QFile out(m_folder.filePath(name));
        if (out.open(QIODevice::WriteOnly)) {
            out.write((i == 0 ? parts[i] : parts[i].section('\n', 1)).toUtf8());
        }
    }
    auto config = openConfig(m_folder.filePath(file).toStdString(), builtinFormats(), builtinCatalog());
    for (qsizetype i = 0; i < parts.size(); ++i) {
        QFile::remove(m_folder.filePath(i == 0 ? file : parts[i].section('\n', 0, 0)));
    }
    return config;
}

QStringList TestSilentSettings::said(const OpenedConfig& config)
{
    Situation situation;
    situation.plan = &config.plan;
    situation.withoutEffect = config.withoutEffect;
    QStringList result;
    for (const Finding& finding : diagnose(situation)) {
        result << QString::fromStdString(finding.id);
    }
    for (const QString& problem : sentences(config.problems)) {
        result << "problem: " + problem;
    }
    return result;
}

void TestSilentSettings::cases_data()
{
    QTest::addColumn<qsizetype>("place");
    for (qsizetype i = 0; i < qsizetype(::cases().size()); ++i) {
        const Case& one = ::cases()[std::size_t(i)];
        QTest::addRow("%d %s %s", one.number, one.source, one.id) << i;
    }
}

void TestSilentSettings::cases()
{
    QFETCH(qsizetype, place);
    const Case& one = ::cases()[std::size_t(place)];
    const QString id = one.id;
    if (id.isEmpty()) {
        QVERIFY(QString(one.why).size() > 40); // a sentence
        return;
    }
    const auto isSaid = [&](const QStringList& sentences) {
        return std::any_of(sentences.begin(), sentences.end(), [&](const QString& sentence) {
            return id.startsWith("problem: ") ? sentence.startsWith("problem: ") && sentence.contains(id.mid(9))
                                              : sentence == id;
        });
    };
    for (const bool fires : {true, false}) {
        const auto config = opened(one.file, fires ? one.fires : one.quiet);
        QVERIFY2(config, config ? "" : config.error().english().c_str());
        const QStringList found = said(*config);
        QVERIFY2(isSaid(found) == fires, qPrintable((fires ? "not said: " : "said: ") + found.join("\n")));
    }
}

/// Against the collection itself, in its order.
void TestSilentSettings::noneIsLeftOut()
{
    QFile file(sharedPath("knowledge/configs.json"));
    if (!file.open(QIODevice::ReadOnly)) {
        QSKIP("no collection in ../shared/knowledge");
    }
    const QJsonArray known = QJsonDocument::fromJson(file.readAll()).object()["silently_not_applied"].toArray();
    QVERIFY(!known.isEmpty());
    for (int number = 1; number <= known.size(); ++number) {
        const auto& all = ::cases();
        const auto found = std::find_if(all.begin(), all.end(), [&](const Case& one) { return one.number == number; });
        QVERIFY2(found != all.end(), qPrintable(QString("number %1 is not in the table").arg(number)));
        const QString url = known[number - 1].toObject()["url"].toString();
        QCOMPARE(url.isEmpty(), QString(found->source).isEmpty());
        QVERIFY2(url.isEmpty() || url.endsWith(found->source), qPrintable(url));
    }
    QCOMPARE(::cases().back().number, int(known.size()));
}

/// What depends on the plan follows the knobs.
void TestSilentSettings::aKnobTakesEffect()
{
    auto config = opened("a.sh", megatron + "--sequence-parallel");
    QVERIFY(config);
    QVERIFY(said(*config).contains("setting-idle"));
    QVERIFY(setField(config->plan, "parallel.tp", "2", {OriginKind::Edited, 0, nullptr}));
    QVERIFY(!said(*config).contains("setting-idle"));
}

QTEST_APPLESS_MAIN(TestSilentSettings)
#include "tst_silent_settings.moc"
