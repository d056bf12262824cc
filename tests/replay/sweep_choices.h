// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that the random plans of the sweep are put together from.
#pragma once

#include <QByteArray>
#include <QList>

namespace headroom::sweep {

/// Lists of settings of which each plan takes one.
using Choices = QList<QList<QByteArray>>;

inline const Choices models{
    {"model.layers=16 model.hidden=4096 model.ffn=11008 model.heads=32 model.kv_heads=8 model.vocab=32000",
     "model.layers=22 model.hidden=3072 model.ffn=8192 model.heads=24 model.kv_heads=8 model.vocab=128256",
     "model.layers=12 model.hidden=5120 model.ffn=13824 model.heads=40 model.kv_heads=40 model.vocab=50257",
     "model.layers=12 model.hidden=4096 model.ffn=14336 model.heads=32 model.kv_heads=8 model.vocab=32000 "
     "moe.experts=8 moe.topk=2 moe.grouped_gemm=true"},
    {"batch.micro=1", "batch.micro=2", "batch.micro=3"},
    {"batch.seq=2048", "batch.seq=4096", "batch.seq=1000"},
    {"batch.accum=1", "batch.accum=2", "batch.accum=5", "batch.accum=16"},
    {"model.tied_embeddings=true", "model.tied_embeddings=false"},
};

/// Encoders and decoders of T5, BART and Whisper.
inline const Choices twoHalves{
    {"model.encoder_layers=24 model.decoder_layers=24 model.layers=24 model.hidden=4096 model.ffn=10240 model.heads=64 "
     "model.vocab=32128 batch.seq=1024 batch.decoder_seq=256",
     "model.encoder_layers=12 model.decoder_layers=36 model.layers=36 model.hidden=4096 model.ffn=16384 model.heads=32 "
     "model.vocab=50265 model.gated_mlp=false model.layer_norm=true model.learned_positions=true batch.seq=1024 "
     "batch.decoder_seq=1024",
     "model.encoder_layers=32 model.decoder_layers=32 model.layers=32 model.hidden=1280 model.ffn=5120 model.heads=20 "
     "model.vocab=51865 model.gated_mlp=false model.layer_norm=true model.learned_positions=true model.attn_bias=true "
     "model.max_pos=448 model.audio_bins=80 batch.seq=1500 batch.decoder_seq=448"},
    {"batch.micro=1", "batch.micro=3"},
    {"batch.accum=1", "batch.accum=4"},
    {"model.tied_embeddings=true", "model.tied_embeddings=false"},
    {"model.hidden_dropout=0", "model.hidden_dropout=0.1 model.attn_dropout=0.1"},
    {"model.parallel_block=false"},
};

/// One device, or shards of a group.
inline const Choices torch{
    {"precision.recipe=bf16-pure", "precision.recipe=bf16-pure parallel.dp=2",
     "precision.params=fp32 precision.grads=fp32 precision.opt_m=fp32 precision.opt_v=fp32 precision.reduce=fp32 "
     "shard.fsdp=true parallel.dp=8",
     "precision.recipe=bf16-pure shard.fsdp=true parallel.dp=4 shard.reshard_after_forward=never",
     "precision.recipe=bf16-pure precision.reduce=fp32 shard.fsdp=true shard.fsdp_version=1 parallel.dp=4",
     "precision.recipe=bf16-pure precision.reduce=fp32 shard.fsdp=true shard.fsdp_version=2 parallel.dp=4",
     "precision.recipe=megatron-bf16 shard.zero_stage=2 parallel.dp=4",
     "precision.recipe=megatron-bf16 shard.zero_stage=3 parallel.dp=8",
     "precision.recipe=megatron-bf16 shard.zero_stage=3 parallel.dp=2 shard.offload_optimizer=true "
     "shard.offload_optimizer_fraction=0.5 shard.sub_group=300000000"},
    {"recompute.enabled=false", "recompute.enabled=true recompute.granularity=full",
     "recompute.enabled=true recompute.granularity=full recompute.method=block recompute.num_layers=1",
     "recompute.enabled=true recompute.granularity=full recompute.offload_inputs=true",
     "recompute.enabled=true recompute.granularity=selective recompute.modules=self_attn,mlp,moe",
     "recompute.enabled=true recompute.granularity=selective recompute.modules=core_attn,norm,mlp_act,moe_act"},
    {"implementation.fused_loss=none", "implementation.fused_loss=chunked", "implementation.fused_loss=liger",
     "implementation.fused_loss=16bit", "implementation.compiled_loss=true"},
    {"implementation.compile=false", "implementation.compile=true"},
    {"optimizer.impl=fused", "optimizer.impl=foreach", "optimizer.impl=for-loop"},
    {"implementation.expandable_segments=true", "implementation.expandable_segments=false",
     "implementation.expandable_segments=true implementation.roundup_divisions=16"},
    {"lora.dropout=0", "lora.rank=16", "optimizer.in_backward=false"},
    {"model.parallel_block=false", "model.parallel_block=true", "model.parallel_block=true model.shared_norm=true",
     "shard.offload_activations=true"},
};

/// By layer, by share and by name, from the front and from the back.
inline const Choices frozenParts{
    {"frozen.trained_layers=5", "frozen.trained_layers=-4", "frozen.ratio=0.4", "frozen.patterns=embed_tokens|q_proj",
     "frozen.trained=layers\\.[0-9]*[13579]\\.mlp.down|norm", "frozen.trained_layers=3 frozen.trained=lm_head|merger"},
};

/// Under Megatron's names and those of checkpoints.
inline const Choices frozenMegatron{
    {"frozen.trained_layers=5", "frozen.trained_layers=-4", "frozen.ratio=0.4",
     "frozen.patterns=word_embeddings|linear_qkv", "frozen.trained=layers\\.[0-9]*[13579]\\.mlp|final_layernorm",
     "frozen.patterns=self_attn frozen.trained=o_proj", "frozen.trained=linear_fc2|output_layer",
     "frozen.patterns=experts|linear_proj"},
};

inline const Choices eightBits{
    {"precision.fp8=tensorwise", "precision.fp8=rowwise", "precision.fp8=mxfp8", "precision.fp8=delayed",
     "precision.fp8=tensorwise shard.zero_stage=0 shard.fsdp=true shard.fsdp_version=2 parallel.dp=8 "
     "precision.fp8_params=true"},
};

inline const Choices splitBackwards{
    {"parallel.pp=2", "parallel.pp=4", "parallel.pp=4 parallel.tp=2"},
    {"parallel.schedule=zb-v batch.accum=16", "parallel.schedule=dualpipev batch.accum=16",
     "parallel.schedule=zb-h1 batch.accum=8", "parallel.schedule=zb-h2 batch.accum=8", "parallel.schedule=v-half",
     "parallel.schedule=v-min"},
    {"recompute.enabled=false implementation.compile=false shard.offload_activations=false shard.zero_stage=0"},
};

inline const Choices megatron{
    {"parallel.tp=1", "parallel.tp=2", "parallel.tp=4 parallel.sp=true"},
    {"parallel.pp=1", "parallel.pp=2", "parallel.pp=4", "parallel.pp=2 parallel.vpp=2",
     "parallel.pp=4 parallel.schedule=gpipe", "parallel.pp=2 parallel.schedule=zb-h1",
     "parallel.pp=2 parallel.schedule=zb-v", "parallel.pp=2 parallel.schedule=dualpipev"},
    {"recompute.enabled=false", "recompute.enabled=true recompute.granularity=full",
     "recompute.enabled=true recompute.granularity=full recompute.num_layers=3",
     "recompute.enabled=true recompute.granularity=full recompute.method=block recompute.num_layers=1",
     "recompute.enabled=true recompute.granularity=selective recompute.modules=mlp,core_attn"},
    {"attention.impl=flash", "attention.impl=unfused", "model.attn_dropout=0.1 model.hidden_dropout=0.1"},
    {"implementation.grad_accum_fusion=true", "implementation.grad_accum_fusion=false"},
    {"shard.dist_opt=false", "shard.dist_opt=true parallel.dp=4", "moe.dispatcher=alltoall"},
    {"precision.recipe=megatron-bf16", "precision.recipe=megatron-fp16", "precision.recipe=fp32"},
    {"implementation.fused_loss=none", "implementation.fused_loss=native", "implementation.fused_loss=te-inplace"},
};

/// On DeepSpeed's engine, whose ZeRO stages go up to 1 with a pipeline.
inline const Choices deepSpeed{
    {"framework=gpt-neox", "framework=megatron-args"},
    {"parallel.tp=1", "parallel.tp=2", "parallel.tp=4 parallel.sp=true"},
    {"parallel.pp=1", "parallel.pp=2 shard.zero_stage=0", "parallel.pp=4 shard.zero_stage=1"},
    {"shard.zero_stage=0", "shard.zero_stage=1 parallel.dp=4", "shard.zero_stage=2 parallel.dp=4",
     "shard.zero_stage=3 parallel.dp=8"},
    {"recompute.enabled=false", "recompute.enabled=true recompute.granularity=full",
     "recompute.enabled=true recompute.granularity=full recompute.method=uniform recompute.num_layers=3"},
    {"attention.impl=flash", "attention.impl=unfused", "model.attn_dropout=0.1 model.hidden_dropout=0.1"},
    {"precision.recipe=megatron-bf16", "precision.recipe=megatron-fp16"},
    {"model.parallel_block=false", "model.parallel_block=true", "model.layer_norm=true model.gated_mlp=false"},
};

inline const Choices offloaded{
    {"shard.offload_activations=true", "shard.offload_activations=true shard.offload_activation_layers=3",
     "shard.offload_activations=true shard.offload_activation_modules=core_attn,attn_norm,mlp_norm,moe_act",
     "shard.offload_activations=true shard.offload_activation_fraction=0.4"},
};

inline const Choices spread{
    {"parallel.vocab_split=variant1", "parallel.vocab_split=variant2", "parallel.vocab_split=interlaced"},
};

inline const Choices shardedUnits{
    {"shard.fsdp=true parallel.dp=4", "shard.fsdp=true parallel.dp=8 shard.strategy=optim_grads",
     "shard.fsdp=true parallel.dp=4 shard.strategy=optim"},
};

/// Of Megatron-Kwai, which rebuilds norms and activations.
inline const Choices rebuilt{
    {"batch.accum=8", "batch.accum=17"},
    {"parallel.tp=1", "parallel.tp=2 parallel.sp=true"},
    {"parallel.pp=1", "parallel.pp=4", "parallel.pp=2 parallel.vpp=2", "parallel.pp=2 parallel.layers_per_vstage=2"},
    {"recompute.enabled=false", "recompute.granularity=selective recompute.modules=layernorm,mlp_act"},
    {"shard.dist_opt=true parallel.dp=4", "shard.dist_opt=false"},
    {"model.rope=true", "model.rope=false", "parallel.cp=2"},
};

inline const Choices ranks{{"parallel.tp=2", "parallel.tp=4"}};

inline const Choices pipelines{
    {"parallel.tp=1", "parallel.tp=2", "parallel.tp=2 parallel.sp=true"},
    {"parallel.pp=1", "parallel.pp=2", "parallel.pp=4", "parallel.pp=2 parallel.vpp=2 parallel.schedule=interleaved",
     "parallel.pp=4 parallel.schedule=gpipe"},
};

/// Experts spread over ranks of tensor parallelism too, whole or split.
inline const Choices spreadExperts{
    {"model.layers=12 model.hidden=4096 model.ffn=14336 model.heads=32 model.kv_heads=8 model.vocab=32000 "
     "moe.experts=16 moe.topk=2 batch.seq=2048",
     "model.layers=16 model.hidden=2048 model.ffn=6144 model.heads=32 model.kv_heads=4 model.vocab=151936 "
     "moe.experts=64 moe.topk=8 moe.ffn=768 moe.shared_ffn=768 batch.seq=4096"},
    {"parallel.tp=2 parallel.sp=true", "parallel.tp=4 parallel.sp=true"},
    {"parallel.ep=2", "parallel.ep=4", "parallel.ep=8 parallel.etp=1", "parallel.ep=2 parallel.etp=2",
     "parallel.ep=4 parallel.etp=4"},
    {"parallel.pp=1", "parallel.pp=2"},
};

/// A policy with models beside it.
inline const Choices policies{
    {"objective.type=ppo", "objective.type=ppo objective.reference=none objective.reward=none",
     "objective.type=ppo objective.value=head", "objective.type=ppo objective.value=in_turn"},
    {"objective.rollout=1", "objective.response=128", "objective.response=512 objective.rollout=4",
     "objective.response=2048 objective.rollout=64"},
};

inline const Choices narrowExperts{
    {"model.layers=12 model.hidden=4096 model.ffn=14336 model.heads=32 model.kv_heads=8 model.vocab=32000 "
     "moe.experts=16 moe.topk=4 moe.ffn=4096 moe.latent=1024",
     "model.layers=16 model.layer_pattern=MEME*EMEMEMEM*ME model.hidden=2688 model.ffn=1856 model.heads=32 "
     "model.kv_heads=2 model.head_dim=128 model.vocab=131072 mixer.heads=64 moe.experts=32 moe.topk=6 moe.ffn=1856 "
     "moe.shared_ffn=3712 moe.latent=1024 model.parallel_block=false shard.offload_activations=false"},
};

inline const Choices perceivers{
    {"vision.layers=27 vision.hidden=1152 vision.ffn=4304 vision.heads=16 vision.image_size=980 vision.patch=14 "
     "vision.tokens_per_image=64 vision.learned_positions=true projector.type=perceiver projector.layers=3 "
     "projector.hidden=11008"},
    {"vision.images_per_sample=1", "vision.images_per_sample=3"},
    {"frozen.vision=false", "frozen.vision=true", "frozen.vision=true frozen.projector=true"},
};

const QList<QByteArray> towers{
    "vision.layers=24 vision.hidden=1024 vision.ffn=4096 vision.heads=16 vision.image_size=336 vision.patch=14 "
    "vision.class_token=true vision.learned_positions=true projector.type=mlp projector.layers=2 batch.seq=2048",
    "vision.layers=27 vision.hidden=1152 vision.ffn=4304 vision.heads=16 vision.image_size=384 vision.patch=14 "
    "vision.images_per_sample=3 projector.type=patch_merger vision.merge=2 batch.seq=4096",
};
const QList<QByteArray> trainedParts{"frozen.vision=false", "frozen.vision=true",
                                     "frozen.vision=true frozen.projector=true", "frozen.vision=true frozen.llm=true",
                                     "recompute.vision=true"};
inline const Choices encoders{towers, trainedParts};

/// Image encoders wherever they may stand.
inline const Choices placedEncoders{
    towers,
    {"parallel.pp=2 parallel.encoder_pp=1", "parallel.pp=2 parallel.encoder_pp=3",
     "parallel.encoder_pp=2 parallel.schedule=gpipe", "parallel.pp=4 parallel.encoder_placement=every_stage",
     "parallel.pp=2 parallel.vpp=2 parallel.encoder_placement=every_stage",
     "parallel.pp=4 parallel.schedule=zb-h1 parallel.encoder_placement=every_stage",
     "parallel.pp=2 parallel.schedule=dualpipev parallel.encoder_placement=every_stage"},
    {"parallel.tp=1", "parallel.tp=2 parallel.sp=true", "parallel.tp=4 parallel.encoder_tp=2"},
    trainedParts,
};

inline const Choices hybrids{
    {"model.layers=24 model.layer_pattern=M-M-M*-M-M-M-M*-M-M-M-M- model.hidden=4096 model.ffn=21504 model.heads=32 "
     "model.kv_heads=8 model.vocab=131072 mixer.heads=128",
     "model.layers=16 model.layer_pattern=MEME*EMEMEMEM*ME model.hidden=2688 model.ffn=1856 model.heads=32 "
     "model.kv_heads=2 model.head_dim=128 model.vocab=131072 mixer.heads=64 moe.experts=16 moe.topk=6 moe.ffn=1856 "
     "moe.shared_ffn=3712 moe.grouped_gemm=true moe.dispatcher=alltoall",
     "model.layers=12 mixer.kind=mamba2 mixer.attention_layers=5,9 model.hidden=4096 model.ffn=14336 model.heads=32 "
     "model.kv_heads=8 model.vocab=128256 mixer.heads=128 mixer.groups=4 mixer.chunk=256",
     "model.layers=12 mixer.kind=gated_delta_net mixer.attention_every=4 model.hidden=2048 model.ffn=5120 "
     "model.heads=16 model.kv_heads=4 model.head_dim=256 model.attn_gate=true model.qk_norm=true model.vocab=151936 "
     "mixer.heads=32 mixer.head_dim=128 mixer.key_heads=16 mixer.key_dim=128 moe.experts=32 moe.topk=8 moe.ffn=512 "
     "moe.shared_ffn=512 moe.shared_gate=true moe.grouped_gemm=true moe.dispatcher=alltoall"},
    {"batch.micro=1", "batch.micro=2", "batch.micro=3"},
    {"batch.seq=2048", "batch.seq=4096", "batch.seq=8192"},
    {"batch.accum=1", "batch.accum=2", "batch.accum=5", "batch.accum=16"},
    {"model.tied_embeddings=true", "model.tied_embeddings=false"},
};
inline const Choices eightBitOrAdapters{{"precision.fp8=tensorwise", "precision.fp8=blockwise", "lora.rank=16",
                                         "lora.rank=8 lora.targets=linear_fc1,linear_fc2 lora.dropout=0.1"}};
inline const Choices contexts{{"parallel.cp=1", "parallel.cp=2", "mixer.conv=4"}};
inline const Choices torchOfHybrids = torch.mid(0, torch.size() - 1); // attention and MLP side by side are none
/// Norms, latent attention, the first Mamba, and what a policy stores.
inline const Choices otherLayers{
    {"model.rope=true", "model.layer_norm=true",
     "mla.kv_lora_rank=512 mla.qk_nope_dim=128 mla.qk_rope_dim=64 mla.v_dim=128", "mixer.kind=mamba",
     "recompute.enabled=true recompute.granularity=selective recompute.modules="},
};
inline const Choices frozenMixers{
    {"frozen.trained_layers=5", "frozen.trained_layers=-4", "frozen.ratio=0.4", "frozen.patterns=embed_tokens|in_proj",
     "frozen.trained=out_proj|A_log|mlp.down|norm", "frozen.patterns=conv1d|o_proj frozen.trained=lm_head"},
};
/// Under Megatron's names.
inline const Choices frozenMegatronMixers{
    {"frozen.trained_layers=5", "frozen.ratio=0.4", "frozen.patterns=in_proj|linear_qkv",
     "frozen.trained=out_proj|A_log|linear_fc2|norm", "frozen.patterns=conv1d|linear_proj frozen.trained=output_layer",
     "frozen.patterns=experts|mixer"},
};
inline const Choices frozenPredictions{
    {"frozen.trained_layers=5", "frozen.trained_layers=-4", "frozen.patterns=^mtp", "frozen.trained=^mtp",
     "frozen.patterns=word_embeddings|linear_qkv", "frozen.trained=linear_fc2|output_layer",
     "frozen.patterns=transformer_layer", "frozen.patterns=output_layer|linear_proj",
     "shard.fsdp=true parallel.dp=4 "
     "frozen.patterns=mlp|experts"},
};
inline const Choices mixers{{"mixer.kind=mamba2 mixer.attention_every=4",
                             "mixer.kind=gated_delta_net mixer.attention_every=6",
                             "mixer.kind=mamba mixer.attention_every=2"}};
inline const Choices gates{{"model.attn_gate=true", "model.attn_gate=true model.qk_norm=true"}};

} // namespace headroom::sweep
