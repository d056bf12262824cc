// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit_plans.h"

namespace headroom::test {

namespace {

// Published shapes.
const QByteArray llama7b = "model.layers=32 model.hidden=4096 model.heads=32 model.ffn=11008 model.gated_mlp=true "
                           "model.vocab=32000 batch.seq=4096 ";
const QByteArray llama8b = "model.layers=32 model.hidden=4096 model.heads=32 model.kv_heads=8 model.ffn=14336 "
                           "model.gated_mlp=true model.vocab=128256 model.tied_embeddings=false batch.seq=8192 ";
const QByteArray llama70b = "model.layers=80 model.hidden=8192 model.heads=64 model.kv_heads=8 model.ffn=28672 "
                            "model.gated_mlp=true model.vocab=128256 model.tied_embeddings=false batch.seq=8192 ";
const QByteArray qwen7b = "model.layers=28 model.hidden=3584 model.heads=28 model.kv_heads=4 model.ffn=18944 "
                          "model.gated_mlp=true model.vocab=152064 model.tied_embeddings=false batch.seq=4096 ";
const QByteArray gpt3 = "model.layers=24 model.hidden=2048 model.heads=16 model.vocab=50304 batch.seq=2048 ";
const QByteArray mixtral = "model.layers=32 model.hidden=4096 model.heads=32 model.kv_heads=8 model.ffn=14336 "
                           "model.gated_mlp=true model.vocab=32000 moe.experts=8 moe.topk=2 moe.ffn=14336 "
                           "moe.grouped_gemm=true batch.seq=4096 ";
const QByteArray deepseekLite
    = "model.layers=27 model.hidden=2048 model.heads=16 model.ffn=10944 model.gated_mlp=true model.vocab=102400 "
      "moe.experts=64 moe.topk=6 moe.ffn=1408 moe.shared_experts=2 moe.first_dense_layers=1 moe.grouped_gemm=true "
      "mla.kv_lora_rank=512 mla.qk_nope_dim=128 mla.qk_rope_dim=64 mla.v_dim=128 batch.seq=4096 ";
const QByteArray vision = "vision.layers=32 vision.hidden=1280 vision.heads=16 vision.patch=14 vision.image_size=448 "
                          "projector.type=mlp ";
const QByteArray megatron = "framework=megatron-args shard.dist_opt=true ";
const QByteArray trainer = "framework=hf-trainer ";
const QByteArray titan = "framework=torchtitan-toml ";

} // namespace

std::vector<FitPlan> fitPlans()
{
    return {
        {"stages", 80, llama7b + "parallel.pp=4 parallel.dp=2 batch.micro=8 batch.accum=8"},
        {"stages, 40 GiB", 40, llama7b + "parallel.pp=2 parallel.dp=4 batch.micro=4 batch.accum=8"},
        {"tensor and stages", 80, llama7b + "parallel.tp=2 parallel.pp=2 parallel.dp=2 batch.micro=12 batch.accum=4"},
        {"world and global batch stated", 80,
         llama7b + "parallel.tp=2 parallel.world=16 batch.micro=8 batch.global=256"},
        {"one GPU", 80, llama7b + "batch.micro=1 batch.accum=8"},
        {"24 GiB", 24, llama7b + "parallel.pp=8 batch.micro=2 batch.accum=8"},
        {"many micro-batches", 80, llama7b + "parallel.pp=8 parallel.dp=1 batch.micro=4 batch.accum=128"},
        {"GPipe", 40,
         gpt3 + megatron + "parallel.pp=4 parallel.schedule=gpipe parallel.dp=1 batch.micro=4 batch.accum=16"},
        {"GPT, tied", 24, gpt3 + megatron + "parallel.dp=8 batch.micro=8 batch.accum=2"},
        {"GPT, unfused attention", 40,
         gpt3 + megatron + "attention.impl=unfused parallel.dp=8 batch.micro=16 batch.accum=2"},
        {"GPT, tensor parallel", 16, gpt3 + megatron + "parallel.tp=2 parallel.dp=4 batch.micro=16 batch.accum=2"},
        {"Megatron 8B", 80, llama8b + megatron + "parallel.tp=2 parallel.dp=4 batch.micro=4 batch.accum=8"},
        {"Megatron 8B, sequence parallel", 80,
         llama8b + megatron + "parallel.tp=4 parallel.sp=true parallel.dp=2 batch.micro=8 batch.accum=8"},
        {"Megatron 8B, no sharding", 80,
         llama8b + "framework=megatron-args parallel.tp=2 parallel.dp=4 batch.micro=1 batch.accum=8"},
        {"interleaved", 80,
         llama8b + megatron
             + "parallel.pp=4 parallel.vpp=4 parallel.schedule=interleaved parallel.dp=2 batch.micro=2 batch.accum=16"},
        {"interleaved, tensor", 40,
         llama8b + megatron
             + "parallel.pp=2 parallel.vpp=8 parallel.schedule=interleaved parallel.tp=2 parallel.dp=2 batch.micro=2 "
               "batch.accum=8"},
        {"long context", 80,
         llama8b + megatron
             + "batch.seq=131072 parallel.cp=4 parallel.tp=2 parallel.sp=true parallel.dp=2 batch.micro=1 "
               "batch.accum=8"},
        {"selective recompute", 80,
         llama8b + megatron
             + "recompute.enabled=true recompute.granularity=selective recompute.modules=core_attn parallel.tp=2 "
               "parallel.dp=4 batch.micro=4 batch.accum=8"},
        {"block recompute", 80,
         llama8b + megatron
             + "recompute.enabled=true recompute.granularity=full recompute.method=block recompute.num_layers=8 "
               "parallel.tp=2 parallel.dp=4 batch.micro=4 batch.accum=8"},
        {"70B", 80,
         llama70b + megatron
             + "parallel.tp=8 parallel.pp=4 parallel.sp=true parallel.dp=2 batch.micro=4 batch.accum=16"},
        {"70B, interleaved", 80,
         llama70b + megatron
             + "parallel.tp=4 parallel.pp=8 parallel.vpp=5 parallel.schedule=interleaved parallel.sp=true "
               "parallel.dp=1 batch.micro=2 batch.accum=32"},
        {"70B on 40 GiB", 40,
         llama70b + megatron
             + "parallel.tp=8 parallel.pp=8 parallel.sp=true parallel.dp=1 batch.micro=2 batch.accum=32"},
        {"Mixtral", 80,
         mixtral + megatron
             + "parallel.tp=2 parallel.pp=4 parallel.ep=4 parallel.sp=true parallel.dp=8 batch.micro=4 batch.accum=16"},
        {"Mixtral, experts apart", 80,
         mixtral + megatron + "parallel.ep=8 parallel.pp=2 parallel.dp=8 batch.micro=2 batch.accum=8"},
        {"DeepSeek-V2-Lite", 80, deepseekLite + megatron + "parallel.ep=8 parallel.dp=8 batch.micro=8 batch.accum=8"},
        {"DeepSeek-V2-Lite, tensor", 40,
         deepseekLite + megatron
             + "parallel.tp=2 parallel.sp=true parallel.ep=4 parallel.dp=4 batch.micro=4 batch.accum=8"},
        {"ZeRO 1", 80, qwen7b + trainer + "shard.zero_stage=1 parallel.dp=8 batch.micro=2 batch.accum=4"},
        {"ZeRO 2", 80, qwen7b + trainer + "shard.zero_stage=2 parallel.dp=8 batch.micro=4 batch.accum=4"},
        {"ZeRO 3", 40,
         llama8b + trainer + "batch.seq=4096 shard.zero_stage=3 parallel.dp=8 batch.micro=8 batch.accum=2"},
        {"FSDP", 80, llama8b + trainer + "batch.seq=4096 shard.fsdp=true parallel.dp=8 batch.micro=8 batch.accum=2"},
        {"FSDP, torchtitan", 80, llama8b + titan + "shard.fsdp=true parallel.dp=8 batch.micro=4 batch.accum=1"},
        {"FSDP, torchtitan, stages", 80,
         llama70b + titan + "shard.fsdp=true parallel.pp=4 parallel.dp=8 batch.micro=4 batch.accum=8"},
        {"LoRA", 24, qwen7b + trainer + "lora.rank=16 batch.seq=2048 parallel.dp=1 batch.micro=4 batch.accum=4"},
        {"LoRA under recompute", 24,
         qwen7b + trainer
             + "lora.rank=16 batch.seq=4096 recompute.enabled=true recompute.granularity=full parallel.dp=2 "
               "batch.micro=8 batch.accum=4"},
        {"vision", 80,
         qwen7b + trainer + vision + "batch.seq=2048 shard.zero_stage=2 parallel.dp=8 batch.micro=8 batch.accum=4"},
        {"vision, frozen language model", 48,
         qwen7b + trainer + vision + "batch.seq=2048 frozen.llm=true parallel.dp=4 batch.micro=8 batch.accum=4"},
        {"vision in Megatron", 80,
         qwen7b + megatron + vision
             + "batch.seq=2048 parallel.tp=2 parallel.pp=2 parallel.dp=2 batch.micro=16 batch.accum=8"},
        {"unfused Hugging Face", 80,
         gpt3 + trainer + "attention.impl=eager parallel.dp=4 batch.micro=16 batch.accum=2"},
    };
}

} // namespace headroom::test
