// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "insight/finding.h"

#include <QtTest>

#include <algorithm>

using namespace headroom;

/// Settings that silently do nothing, or something else: each fires in one config and not in its neighbour.
class TestConfigRules : public QObject
{
    Q_OBJECT

private slots:
    void rules_data();
    void rules();
    void aMendTakesTheFindingAway();
};

namespace {

std::vector<Finding> findingsOf(const OpenedConfig& config, const TrainingPlan& plan)
{
    Situation situation;
    situation.plan = &plan;
    situation.withoutEffect = config.withoutEffect;
    return diagnose(situation);
}

const Finding* find(const std::vector<Finding>& findings, const QString& id)
{
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding& finding) { return QString::fromStdString(finding.id) == id; });
    return found == findings.end() ? nullptr : &*found;
}

Result<OpenedConfig> configOf(const QString& name, const QString& text)
{
    return ConfigDocument::parse(text.toStdString(), name.toStdString()).and_then([](ConfigDocument document) {
        return openConfig(std::move(document), builtinFormats(), builtinCatalog());
    });
}

const QString megatron = "torchrun a.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 ";
const QString swift = "stage: sft\nfinetuning_type: full\ntemplate: x\nper_device_train_batch_size: 1\n";

} // namespace

void TestConfigRules::rules_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("id");
    QTest::addColumn<int>("line"); // of the evidence; 0: the finding must not be there
    QTest::addColumn<QString>("edits");
    const auto row
        = [](const char* name, const char* file, const QString& text, const char* id, int line,
             const char* edits = "") { QTest::newRow(name) << file << text << QString(id) << line << QString(edits); };
    row("Megatron's old switch overrules", "a.sh",
        megatron + "\\\n --recompute-activations \\\n --recompute-granularity full", "setting-overruled", 3,
        "recompute.granularity=full");
    row("granularity alone", "a.sh",
        megatron + "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
        "setting-overruled", 0);
    row("full without a method", "a.sh", megatron + "\\\n --recompute-granularity full", "setting-refused", 2);
    row("full with a method", "a.sh", megatron + "--recompute-granularity full --recompute-method block",
        "setting-refused", 0);
    row("selective with a method", "a.sh", megatron + "--recompute-granularity selective \\\n --recompute-method block",
        "settings-refused", 2);
    row("selective", "a.sh", megatron + "--recompute-granularity selective", "settings-refused", 0);
    row("groups without their switch", "a.sh", megatron + "\\\n --num-query-groups 2", "setting-lacks-switch", 2);
    row("groups with it", "a.sh", megatron + "--num-query-groups 2 --group-query-attention", "setting-lacks-switch", 0);
    row("nothing reads use-flash-attn", "a.sh", megatron + "\\\n --use-flash-attn", "setting-not-read", 2);
    row("attention-backend is read", "a.sh", megatron + "--attention-backend flash", "setting-not-read", 0);
    row("layers beside a pattern", "a.sh", megatron + "\\\n --hybrid-layer-pattern M*M*", "setting-overruled", 1);
    row("a sharding strategy without Megatron's FSDP", "a.sh",
        megatron + "\\\n --data-parallel-sharding-strategy optim", "setting-lacks-switch", 2);
    row("a vision granularity without its switch", "a.sh", megatron + "\\\n --recompute-granularity-vision full",
        "setting-lacks-switch", 2);
    row("a vision granularity with it", "a.sh", megatron + "--recompute-granularity-vision full --recompute-vision",
        "setting-lacks-switch", 0);
    row("a method without granularity", "a.sh", megatron + "\\\n --recompute-method uniform", "recompute-method-alone",
        2, "recompute.enabled=true recompute.granularity=full");
    row("neither", "a.sh", megatron, "recompute-method-alone", 0);
    row("NeMo's granularity is null", "a.yaml",
        "trainer: {devices: 8, num_nodes: 1}\nmodel:\n  tensor_model_parallel_size: 1\n"
        "  activations_checkpoint_granularity: null\n  activations_checkpoint_num_layers: 1\n",
        "recompute-method-alone", 5, "recompute.enabled=true recompute.granularity=full");
    row("core attention under flash", "a.sh",
        megatron + "\\\n --recompute-granularity selective --attention-backend flash", "core-attention-saves-nothing",
        2, "recompute.enabled=true recompute.granularity=full");
    row("core attention, unfused", "a.sh", megatron + "--recompute-granularity selective --attention-backend unfused",
        "core-attention-saves-nothing", 0);
    row("another module under flash", "a.sh",
        megatron + "--recompute-granularity selective --recompute-modules mlp --attention-backend flash",
        "core-attention-saves-nothing", 0);
    row("experts nobody has", "a.sh", megatron + "\\\n --expert-model-parallel-size 2",
        "expert-parallel-without-experts", 2, "parallel.ep=1");
    row("experts", "a.sh", megatron + "--expert-model-parallel-size 2 --num-experts 4",
        "expert-parallel-without-experts", 0);
    row("DeepSpeed's block alone", "a.json",
        "{\"zero_optimization\": {\"stage\": 2},\n\"activation_checkpointing\": {\n\"partition_activations\": true}}",
        "setting-needs-code", 3);
    row("DeepSpeed's block switched off", "a.json",
        "{\"zero_optimization\": {\"stage\": 2}, \"activation_checkpointing\": {\"partition_activations\": false}}",
        "setting-needs-code", 0);
    row("LLaMA-Factory's other switch", "a.yaml", swift + "gradient_checkpointing: false\n", "setting-not-read", 5,
        "recompute.enabled=false");
    row("LLaMA-Factory's own switch", "a.yaml", swift + "disable_gradient_checkpointing: true\n", "setting-not-read",
        0);
    row("recompute by default", "a.yaml", swift, "on-by-default", 1);
    row("recompute said", "a.yaml", swift + "disable_gradient_checkpointing: false\n", "on-by-default", 0);
    row("frozen by default", "a.yaml",
        swift
            + "disable_gradient_checkpointing: false\nfreeze_multi_modal_projector: true\n"
              "model_name_or_path: Qwen/Qwen2-VL-7B-Instruct\n",
        "on-by-default", 2);
    row("frozen said", "a.yaml",
        swift
            + "disable_gradient_checkpointing: false\nfreeze_multi_modal_projector: true\n"
              "freeze_vision_tower: true\nmodel_name_or_path: Qwen/Qwen2-VL-7B-Instruct\n",
        "on-by-default", 0);
    row("Trainer's two checkpoints", "a.yaml",
        "per_device_train_batch_size: 1\ngradient_checkpointing: true\n"
        "fsdp_config: {activation_checkpointing: true}\n",
        "settings-refused", 2);
    row("one of them", "a.yaml",
        "per_device_train_batch_size: 1\ngradient_checkpointing: false\n"
        "fsdp_config: {activation_checkpointing: true}\n",
        "settings-refused", 0);
    row("a cache under checkpointing", "a.yaml",
        "per_device_train_batch_size: 1\ngradient_checkpointing: true\nuse_cache: true\n", "setting-overruled", 3);
    row("a cache without", "a.yaml", "per_device_train_batch_size: 1\nuse_cache: true\n", "setting-overruled", 0);
    row("torchtune's two switches", "a.yaml",
        "model: {_component_: x}\nbatch_size: 2\nac_mode: full\nenable_activation_checkpointing: true\n",
        "settings-cancel", 3);
    row("torchtune's one switch", "a.yaml",
        "model: {_component_: x}\nbatch_size: 2\nenable_activation_checkpointing: true\n", "settings-cancel", 0);
    row("accelerate's fields beside a file", "a.yaml",
        "compute_environment: x\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: ds.json\n"
        "  zero_stage: 3\n",
        "settings-refused", 5);
    row("parameters offloaded below stage 3", "a.yaml",
        "compute_environment: x\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 2\n"
        "  offload_param_device: cpu\n",
        "setting-lacks-switch", 5);
    row("parameters offloaded at stage 3", "a.yaml",
        "compute_environment: x\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n"
        "  offload_param_device: cpu\n",
        "setting-lacks-switch", 0);
    row("torchtitan's budget without compile", "a.toml",
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n[activation_checkpoint]\n"
        "mode = \"memory_budget\"\n",
        "setting-lacks-switch", 7);
    row("torchtitan's budget with it", "a.toml",
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n[activation_checkpoint]\n"
        "mode = \"memory_budget\"\n[compile]\nenable = true\n",
        "setting-lacks-switch", 0);
    const QString titan = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 4\n";
    row("torchtitan's micro-batch without stages", "a.toml",
        titan + "[parallelism]\npipeline_parallel_microbatch_size = 2\n", "setting-idle", 7);
    row("torchtitan's micro-batch with stages", "a.toml",
        titan + "[parallelism]\npipeline_parallel_microbatch_size = 2\npipeline_parallel_degree = 4\n", "setting-idle",
        0);
    const QString nemo = "trainer: {devices: 8, num_nodes: 1}\nmodel:\n  tensor_model_parallel_size: 1\n"
                         "  overlap_p2p_comm: true\n";
    row("NeMo's overlap without chunks", "a.yaml", nemo, "setting-lacks-switch", 4);
    row("NeMo's overlap with chunks", "a.yaml", nemo + "  virtual_pipeline_model_parallel_size: 2\n",
        "setting-lacks-switch", 0);
    const QString trainer = "per_device_train_batch_size: 1\ngradient_checkpointing: true\nfreeze_backbone: true\n";
    row("reentrant over frozen layers", "a.yaml", trainer + "gradient_checkpointing_kwargs: {use_reentrant: true}\n",
        "reentrant-frozen-inputs", 4, "recompute.reentrant=false");
    row("not reentrant", "a.yaml", trainer + "gradient_checkpointing_kwargs: {use_reentrant: false}\n",
        "reentrant-frozen-inputs", 0);
}

void TestConfigRules::rules()
{
    QFETCH(QString, file);
    QFETCH(QString, text);
    QFETCH(QString, id);
    QFETCH(int, line);
    QFETCH(QString, edits);
    const auto config = configOf(file, text);
    QVERIFY2(config, config ? "" : config.error().english().c_str());
    const auto findings = findingsOf(*config, config->plan);
    const Finding* finding = find(findings, id);
    QCOMPARE(finding != nullptr, line > 0);
    if (finding == nullptr) {
        return;
    }
    QVERIFY(!finding->explanation.english().empty());
    QCOMPARE(QString::fromStdString(finding->evidence.front().file), file);
    QCOMPARE(int(finding->evidence.front().line), line);
    QStringList made;
    for (const PlanEdit& edit : finding->mend ? finding->mend->edits : std::vector<PlanEdit>{}) {
        made << QString::fromStdString(edit.field + "=" + edit.value);
    }
    QCOMPARE(made.join(' '), edits);
}

/// The mend, written into the file, makes a config that the rule has nothing to say about.
void TestConfigRules::aMendTakesTheFindingAway()
{
    const auto config = configOf("a.sh",
                                 megatron
                                     + "--recompute-activations --recompute-granularity full "
                                       "--recompute-method uniform --recompute-num-layers 1\n");
    QVERIFY(config);
    TrainingPlan after = config->plan;
    QVERIFY(find(findingsOf(*config, after), "setting-overruled") != nullptr);
    QVERIFY(setField(after, "recompute.granularity", "full", {OriginKind::Edited, 0, nullptr}));
    QVERIFY(find(findingsOf(*config, after), "setting-overruled") == nullptr);
    const auto edits = editsFor(config->document, *config->format, config->plan, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto changed = config->document.set(*edits);
    QVERIFY2(changed, changed ? "" : changed.error().english().c_str());
    const auto again = openConfig(*changed, builtinFormats(), builtinCatalog());
    QVERIFY(again);
    QCOMPARE(fieldOf(again->plan, "recompute.granularity"), QString("full"));
    QVERIFY(find(findingsOf(*again, again->plan), "setting-overruled") == nullptr);
}

QTEST_APPLESS_MAIN(TestConfigRules)
#include "tst_config_rules.moc"
