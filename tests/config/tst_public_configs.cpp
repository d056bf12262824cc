// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "support/folders.h"

#include <QDir>
#include <QFileInfo>
#include <QtTest>

using namespace headroom;

namespace {

const QString corpusFolder = QString::fromStdString(sharedPath("corpus/configs/").string());

} // namespace

/// Public configs of other frameworks: the format that is recognised and what the plan then says, against values read
/// by hand with each framework's documentation beside them.
class TestPublicConfigs : public QObject
{
    Q_OBJECT

private slots:
    void corpus_data();
    void corpus();
    void everyPublicFileOpens_data();
    void everyPublicFileOpens();
};

void TestPublicConfigs::corpus_data()
{
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("fields");
    const auto row
        = [](const char* file, const char* format, const char* fields) { QTest::newRow(file) << format << fields; };
    row("torchtitan-toml__torchtitan__llama3_405b.toml", "torchtitan-toml",
        "model.layers=126, model.hidden=16384, batch.micro=2, batch.seq=8192, parallel.tp=8, parallel.pp=1, "
        "parallel.dp_shard=, parallel.sp=true, recompute.enabled=true, recompute.granularity=full, "
        "implementation.compile=true, shard.fsdp=true, precision.fp8=tensorwise, precision.fp8_params=true");
    row("torchtune-yaml__torchtune__8B_full.yaml", "torchtune",
        "model.layers=32, model.hidden=4096, batch.micro=2, batch.accum=1, batch.seq=, batch.packing=false, "
        "recompute.enabled=true, recompute.granularity=full, precision.recipe=bf16-pure, optimizer.in_backward=false");
    row("torchtune-yaml__torchtune__11B_full.yaml", "torchtune", "batch.micro=2, recompute.enabled=true");
    row("deepspeed-json__LLaMA-Factory__ds_z3_config.json", "deepspeed-json",
        "batch.micro=, batch.global=, batch.accum=, shard.zero_stage=3, shard.offload_params=false, "
        "recompute.enabled=false");
    row("deepspeed-json__LLaMA-Factory__ds_z3_offload_config.json", "deepspeed-json",
        "shard.zero_stage=3, shard.offload_params=true, shard.offload_optimizer=true");
    row("deepspeed-json__LLaMA-Factory__ds_z2_offload_config.json", "deepspeed-json",
        "shard.zero_stage=2, shard.offload_optimizer=true");
    row("deepspeed-json__bigscience__ds_zero2.json", "deepspeed-json",
        "shard.zero_stage=2, shard.offload_optimizer=true, precision.recipe=fp16-mixed, optimizer.name=AdamW");
    row("llamafactory-yaml__LLaMA-Factory__qwen3_full_sft.yaml", "llama-factory",
        "model.layers=36, batch.micro=1, batch.accum=2, batch.seq=2048, recompute.enabled=true, "
        "recompute.granularity=full, precision.recipe=bf16-mixed, parallel.tp=1");
    row("llamafactory-mca-yaml__LLaMA-Factory__qwen2_vl_full.yaml", "llama-factory",
        "model.layers=28, batch.micro=1, batch.accum=2, batch.seq=4096, parallel.tp=4, parallel.pp=2, "
        "parallel.sp=true, "
        "shard.dist_opt=true, recompute.enabled=false, frozen.vision=true");
    row("axolotl-yaml__axolotl__lora-7b.yaml", "axolotl",
        "model.layers=28, vision.layers=32, batch.micro=1, batch.accum=4, batch.seq=8192, lora.rank=32, "
        "recompute.enabled=true, recompute.granularity=full, precision.opt_m=int8, attention.impl=flash");
    row("axolotl-yaml__axolotl__llama-3_1-8b-hsdp-tp.yaml", "axolotl",
        "model.layers=32, batch.micro=1, batch.seq=2048, parallel.dp_shard=4, parallel.dp_replicate=2, parallel.tp=2, "
        "shard.fsdp=true, shard.fsdp_version=2, recompute.enabled=false, batch.packing=true");
    row("axolotl-yaml__axolotl__qlora-fsdp-405b.yaml", "axolotl", "precision.params=nf4, shard.fsdp=true");
    row("ms-swift-yaml__ms-swift__sft.yaml", "ms-swift",
        "model.layers=28, batch.micro=1, batch.accum=8, batch.seq=2048, lora.rank=8, shard.zero_stage=2, "
        "recompute.enabled=true, precision.recipe=bf16-mixed");
    row("nanotron-yaml__nanotron__config_2.8b_llama.yaml", "nanotron",
        "model.layers=6, model.hidden=4096, model.ffn=24576, model.heads=32, model.kv_heads=16, model.vocab=49152, "
        "model.tied_embeddings=true, parallel.dp=8, parallel.pp=1, parallel.tp=2, parallel.sp=true, "
        "parallel.schedule=1f1b, shard.zero_stage=0, precision.recipe=megatron-bf16, recompute.enabled=false");
    row("nanotron-yaml__nanotron__config_qwen_with_moe.yaml", "nanotron",
        "model.layers=12, model.hidden=256, model.heads=4, model.attn_bias=false");
    row("accelerate-yaml__LLaMA-Factory__fsdp2_config.yaml", "accelerate",
        "parallel.world=2, shard.fsdp=true, shard.fsdp_version=2, shard.offload_params=false, precision.autocast=true, "
        "shard.reshard_after_forward=true");
    row("accelerate-yaml__accelerate__tp_hsdp.yaml", "accelerate",
        "parallel.world=8, parallel.tp=2, parallel.cp=1, parallel.dp_replicate=2, parallel.dp_shard=2, "
        "recompute.enabled=false");
    row("accelerate-yaml__alignment-handbook__zero3.yaml", "accelerate",
        "parallel.world=8, shard.zero_stage=3, shard.offload_params=false, precision.recipe=bf16-mixed");
    row("accelerate-yaml__LLaMA-Factory__fsdp_config_offload.yaml", "accelerate", "shard.offload_params=true");
    row("galvatron-yaml__Hetu-Galvatron__llama2-7b.yaml", "galvatron",
        "model.layers=32, model.hidden=4096, model.ffn=11008, model.heads=32, model.kv_heads=, model.gated_mlp=true, "
        "model.tied_embeddings=true, model.vocab=32000");
    row("gpt-neox-yaml__gpt-neox__7B.yml", "gpt-neox",
        "model.layers=32, model.hidden=4096, model.ffn=11008, model.gated_mlp=true, model.tied_embeddings=false, "
        "model.layer_norm=false, model.rope=true, parallel.pp=1, parallel.tp=1, batch.seq=4096, "
        "recompute.enabled=false");
    row("gpt-neox-yaml__gpt-neox__20B.yml", "gpt-neox",
        "model.layers=44, model.hidden=6144, model.ffn=24576, model.heads=64, parallel.pp=4, parallel.tp=2, "
        "batch.micro=4, batch.accum=32, shard.zero_stage=1, recompute.enabled=true, recompute.granularity=full, "
        "recompute.num_layers=1, precision.recipe=fp16-mixed, model.rotary_fraction=0.25");
    row("litgpt-yaml__litgpt__tinyllama.yaml", "litgpt",
        "batch.global=512, batch.micro=4, batch.seq=2048, precision.autocast=true, recompute.enabled=false");
    row("llamafactory-v1-yaml__LLaMA-Factory__train_full_fsdp2.yaml", "llama-factory-v1",
        "model.layers=28, model.hidden=1024, batch.micro=1, batch.seq=2048, shard.fsdp=true, shard.fsdp_version=2");
    row("megatron-bridge-yaml__Megatron-Bridge__llama32_1b_pretrain.yaml", "megatron-bridge",
        "batch.micro=1, batch.global=8, batch.seq=4096, parallel.tp=1, parallel.pp=1, parallel.cp=1, model.layers=");
    row("megatron-bridge-yaml__Megatron-Bridge__quantized_llama3_8b_pretrain_override_example.yaml", "megatron-bridge",
        "batch.micro=, batch.global=8, parallel.tp=1, implementation.grad_accum_fusion=false");
    row("megatron-yaml__Megatron-LM__gpt_config.yaml", "megatron-yaml",
        "model.layers=24, model.hidden=1024, model.heads=16, model.ffn=2688, model.gated_mlp=true, batch.micro=2, "
        "batch.global=128, parallel.tp=1, parallel.pp=1, parallel.sp=false, precision.recipe=megatron-bf16, "
        "recompute.enabled=false");
    row("nemo1-yaml__NeMo-Framework-Launcher__llama2_7b.yaml", "nemo1",
        "model.layers=32, model.hidden=4096, model.ffn=11008, model.heads=32, model.gated_mlp=true, batch.micro=1, "
        "batch.global=2048, batch.seq=4096, parallel.tp=1, parallel.pp=1, parallel.world=128, recompute.enabled=false, "
        "model.tied_embeddings=false, model.rope=true");
    row("nemo1-yaml__NeMo-Framework-Launcher__llama2_7b_chat.yaml", "nemo1",
        "batch.micro=32, batch.global=256, parallel.tp=4, parallel.world=16, frozen.llm=true, frozen.vision=true, "
        "attention.impl=flash");
    row("olmo-yaml__OLMo__OLMo2-13B-stage1.yaml", "olmo",
        "model.layers=40, model.hidden=5120, model.heads=40, model.ffn=13824, model.gated_mlp=true, "
        "model.vocab=100278, "
        "model.padded_vocab=100352, model.tied_embeddings=false, batch.global=2048, batch.micro=2, batch.seq=4096, "
        "attention.impl=flash, precision.reduce=fp32, implementation.profile=hf-flash");
    row("primus-yaml__Primus__exp_pretrain.yaml", "megatron-wrappers",
        "batch.micro=1, batch.global=16, batch.seq=4096, parallel.tp=1, parallel.pp=1, parallel.ep=1");
    row("megatron-test-yaml__Megatron-LM__model_config.yaml", "megatron-args",
        "model.layers=32, model.hidden=3072, model.ffn=8192, batch.micro=2, batch.global=2, parallel.tp=1, "
        "parallel.pp=1, "
        "parallel.sp=false, recompute.enabled=false");
    // Models, whose recompute and batch are another file's business.
    row("../models/llama__aiconfigurator__meta-llama--Meta-Llama-3.1-70B_config.json", "hf-config",
        "model.layers=80, model.hidden=8192, model.ffn=28672, model.heads=64, model.kv_heads=8, model.vocab=128256, "
        "model.tied_embeddings=false, model.gated_mlp=true");
    row("../models/llama__neuronx-distributed__9eeb_config.json", "hf-config",
        "model.layers=40, model.hidden=5120, model.ffn=13824, model.heads=40, model.kv_heads=40, model.vocab=32016");
    row("../models/llama__neuronx-distributed__config.json", "hf-config",
        "model.layers=32, model.hidden=4096, model.ffn=11008, model.heads=32, model.vocab=32000");
    row("../models/qwen3__aiconfigurator__Qwen--Qwen3-8B_config.json", "hf-config",
        "model.layers=36, model.hidden=4096, model.ffn=12288, model.heads=32, model.kv_heads=8, model.head_dim=128, "
        "model.vocab=151936");
    row("../models/mixtral__aiconfigurator__mistralai--Mixtral-8x7B-v0.1_config.json", "hf-config",
        "model.layers=32, model.hidden=4096, model.heads=32, model.kv_heads=8, moe.experts=8, moe.topk=2, "
        "moe.ffn=14336");
    row("../models/deepseek_v3__aiconfigurator__deepseek-ai--DeepSeek-V3_config.json", "hf-config",
        "model.layers=61, model.hidden=7168, model.ffn=18432, model.heads=128, moe.experts=256, moe.topk=8, "
        "moe.ffn=2048, model.vocab=129280");
    row("../models/deepseek_v3__SimAI__deepseek_R1_0528_config.json", "hf-config",
        "model.layers=61, model.hidden=7168, moe.experts=256");
    row("../models/kimi_k2__aiconfigurator__moonshotai--Kimi-K2-Instruct_config.json", "hf-config",
        "model.layers=61, model.hidden=7168, model.heads=64, moe.experts=384, moe.topk=8, model.vocab=163840");
    row("../models/gpt_oss__aiconfigurator__openai--gpt-oss-20b_config.json", "hf-config",
        "model.layers=24, model.hidden=2880, model.heads=64, model.kv_heads=8, model.head_dim=64, moe.experts=32, "
        "moe.topk=4, model.vocab=201088");
    row("../models/qwen3_vl__aiconfigurator__Qwen--Qwen3-VL-8B-Instruct_config.json", "hf-config",
        "model.layers=36, model.hidden=4096, model.ffn=12288, model.kv_heads=8, vision.layers=27");
    row("../models/qwen3_vl__aiconfigurator__Qwen--Qwen3-VL-2B-Instruct_config.json", "hf-config",
        "model.layers=28, model.hidden=2048, model.ffn=6144, model.heads=16, model.tied_embeddings=true, "
        "vision.layers=24");
    row("../models/qwen3_vl_moe__aiconfigurator__Qwen--Qwen3-VL-30B-A3B-Instruct_config.json", "hf-config",
        "model.layers=48, model.hidden=2048, model.kv_heads=4, moe.experts=128, moe.topk=8, moe.ffn=768");
    row("../models/phi3__intel-extension-for-pytorch__config.json", "hf-config",
        "model.layers=1, model.hidden=3072, model.ffn=8192, model.heads=32, model.vocab=32064");
    row("../models/gpt_bigcode__intel-extension-for-pytorch__config.json", "hf-config",
        "model.layers=1, model.hidden=2048, model.ffn=24576, model.heads=16, model.vocab=49152");
}

void TestPublicConfigs::corpus()
{
    QFETCH(QString, format);
    QFETCH(QString, fields);
    const QString path = corpusFolder + QTest::currentDataTag();
    if (!QFileInfo::exists(path)) {
        QSKIP("no public configs in ../shared/corpus/configs");
    }
    const auto opened = openConfig(path.toStdString(), builtinFormats(), builtinCatalog());
    QVERIFY2(opened, opened ? "" : opened.error().english().c_str());
    QCOMPARE(QString::fromStdString(opened->format->id), format);
    compare(opened->plan, fields);
    for (const Problem& problem : opened->problems) {
        QVERIFY2(problem.severity != Severity::Error, problem.english().c_str());
    }
}

/// Those that are not in the table above are at least of the format they are filed under.
void TestPublicConfigs::everyPublicFileOpens_data()
{
    QTest::addColumn<QString>("path");
    const QFileInfoList files = QDir(corpusFolder).entryInfoList(QDir::Files);
    if (files.isEmpty()) {
        QSKIP("no public configs in ../shared/corpus/configs");
    }
    for (const QFileInfo& file : files) {
        QTest::newRow(qPrintable(file.fileName())) << file.filePath();
    }
}

void TestPublicConfigs::everyPublicFileOpens()
{
    QFETCH(QString, path);
    const auto opened = openConfig(path.toStdString(), builtinFormats(), builtinCatalog());
    QVERIFY2(opened, opened ? "" : opened.error().english().c_str());
    QVERIFY(opened->format->id != "base-yaml");
    for (const Problem& problem : opened->problems) {
        QVERIFY2(problem.severity != Severity::Error, problem.english().c_str());
    }
}

QTEST_APPLESS_MAIN(TestPublicConfigs)
#include "tst_public_configs.moc"
