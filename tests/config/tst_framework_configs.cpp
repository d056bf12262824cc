// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "support/folders.h"

#include <QtTest>

using namespace headroom;

/// Texts in the frameworks' own languages: the format that is recognised and what the plan then says, by each
/// framework's documentation.
class TestFrameworkConfigs : public QObject
{
    Q_OBJECT

private slots:
    void ownTexts_data();
    void ownTexts();
    void ownSamples();
};

void TestFrameworkConfigs::ownTexts_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("fields");
    const auto row = [](const char* title, const char* name, const char* text, const char* format, const char* fields) {
        QTest::newRow(title) << name << text << format << fields;
    };
    row("Trainer's flags in a script", "a.sh",
        "torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf \\\n"
        "  --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --bf16 True \\\n"
        "  --gradient_checkpointing True --model_max_length 2048 --deepspeed zero3.json\n",
        "hf-trainer",
        "model.layers=32, batch.micro=4, batch.accum=2, batch.seq=2048, parallel.world=8, recompute.enabled=true, "
        "recompute.granularity=full, precision.recipe=bf16-mixed");
    row("Trainer's YAML", "a.yaml", "per_device_train_batch_size: 2\ntorch_dtype: bfloat16\n", "hf-trainer",
        "batch.micro=2, batch.accum=1, precision.recipe=bf16-pure, recompute.enabled=false");
    row("torchtitan's layers in 8 bits by row", "a.toml",
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"quantize.linear.float8\"]\n[training]\nseq_len = "
        "8192\n"
        "[parallelism]\ntensor_parallel_degree = 1\n[quantize.linear.float8]\nrecipe_name = \"rowwise\"\n",
        "torchtitan-toml", "precision.fp8=rowwise, precision.fp8_params=false");
    row("accelerate in 8 bits", "a.yaml",
        "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_processes: 8\nmixed_precision: fp8\n"
        "fp8_config:\n  backend: AO\n  enable_fsdp_float8_all_gather: true\n",
        "accelerate", "precision.fp8=tensorwise, precision.fp8_params=true, precision.autocast=true");
    row("accelerate in 8 bits with Transformer Engine", "a.yaml",
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: fp8\n"
        "fp8_config:\n  backend: TE\n  fp8_format: HYBRID\n",
        "accelerate", "precision.fp8=delayed, precision.fp8_params=false");
    row("Axolotl in 8 bits", "a.yaml",
        "base_model: x\ndatasets: []\nmicro_batch_size: 1\nsequence_len: 4096\nbf16: true\nfp8: true\n"
        "fp8_enable_fsdp_float8_all_gather: true\nfsdp_version: 2\nfsdp_config:\n  offload_params: false\n",
        "axolotl", "precision.fp8=tensorwise, precision.fp8_params=true, shard.fsdp_version=2");
    row("LLaMA-Factory in 8 bits", "a.yaml",
        "stage: sft\nfinetuning_type: full\ntemplate: x\nbf16: true\nfp8: true\nfp8_backend: te\n", "llama-factory",
        "precision.fp8=delayed");
    row("LLaMA-Factory's switch", "a.yaml",
        "stage: sft\nfinetuning_type: lora\ntemplate: x\ndisable_gradient_checkpointing: true\n", "llama-factory",
        "recompute.enabled=false, lora.rank=8, batch.micro=8, frozen.vision=true");
    row("LLaMA-Factory's PPO", "a.yaml", "stage: ppo\nfinetuning_type: lora\ntemplate: x\nreward_model: y\n",
        "llama-factory", "objective.type=ppo, objective.value=head, objective.reward=adapters, lora.rank=8");
    row("LLaMA-Factory's PPO with another reward model", "a.yaml",
        "stage: ppo\nfinetuning_type: full\ntemplate: x\nreward_model: y\nreward_model_type: full\n"
        "max_new_tokens: 512\n",
        "llama-factory", "objective.value=head, objective.reward=separate, objective.response=512");
    row("TRL's PPO", "a.yaml", "per_device_train_batch_size: 4\nnum_ppo_epochs: 1\nresponse_length: 128\n",
        "hf-trainer",
        "objective.type=ppo, objective.value=separate, objective.reward=separate, objective.response=128, "
        "objective.rollout=64");
    row("verl with a critic", "a.yaml",
        "algorithm: {adv_estimator: gae}\nreward_model: {enable: true}\n"
        "actor_rollout_ref:\n  actor: {ppo_mini_batch_size: 64, strategy: fsdp2}\n",
        "verl", "objective.value=in_turn, objective.reward=separate, shard.fsdp_version=2");
    row("LLaMA-Factory's last layers", "a.yaml",
        "stage: sft\nfinetuning_type: freeze\ntemplate: x\nbf16: true\nfreeze_trainable_modules: mlp,self_attn\n"
        "freeze_extra_modules: embed_tokens,norm\n",
        "llama-factory",
        "frozen.trained_layers=2, frozen.trained_modules=mlp, self_attn, frozen.trained=(?:embed_tokens)|(?:norm), "
        "precision.frozen=bf16");
    row("LLaMA-Factory's first layers", "a.yaml",
        "stage: sft\nfinetuning_type: freeze\ntemplate: x\nfreeze_trainable_layers: -3\n", "llama-factory",
        "frozen.trained_layers=-3, frozen.trained=");
    row("Axolotl's unfrozen parameters", "a.yaml",
        "base_model: x\nmicro_batch_size: 1\ndatasets: [{path: y}]\nunfrozen_parameters:\n"
        "  - ^lm_head.weight$\n  - ^model.embed_tokens.weight$[:32000]\n"
        "  - model.layers.2[0-9]+.block_sparse_moe.gate\n",
        "axolotl",
        "frozen.trained=(?:^lm_head\\.weight$)|(?:^model\\.embed_tokens\\.weight$)|"
        "(?:^model\\.layers\\.2[0-9]+\\.block_sparse_moe\\.gate)");
    row("ms-swift's frozen share", "a.sh",
        "swift sft --model x --train_type full --per_device_train_batch_size 1 --freeze_parameters_ratio 0.75 "
        "--trainable_parameters lm_head\n",
        "ms-swift", "frozen.ratio=0.75, frozen.trained=^lm_head");
    row("ms-swift's frozen prefix", "a.sh",
        "swift sft --model x --train_type full --per_device_train_batch_size 1 --freeze_parameters model.layers.1. "
        "--trainable_parameters_regex "
        "'norm$'\n",
        "ms-swift", "frozen.patterns=^model\\.layers\\.1\\., frozen.trained=norm$");
    row("LLaMA-Factory's pairs", "a.yaml", "stage: dpo\nfinetuning_type: full\ntemplate: x\n", "llama-factory",
        "objective.type=dpo, objective.reference=");
    row("LLaMA-Factory's pairs alone", "a.yaml", "stage: dpo\nfinetuning_type: full\ntemplate: x\npref_loss: orpo\n",
        "llama-factory", "objective.type=dpo, objective.reference=none");
    row("LLaMA-Factory's rewards", "a.yaml", "stage: rm\nfinetuning_type: full\ntemplate: x\n", "llama-factory",
        "objective.type=rm, objective.head=lm");
    row("TRL's pairs", "a.yaml",
        "per_device_train_batch_size: 2\nbeta: 0.01\nloss_type: sigmoid\nprecompute_ref_log_probs: true\n",
        "hf-trainer", "objective.type=dpo, objective.reference=none");
    row("TRL's script", "a.sh",
        "torchrun --nproc_per_node 8 examples/scripts/dpo.py --model_name_or_path x --per_device_train_batch_size 4\n",
        "hf-trainer", "objective.type=dpo");
    row("Axolotl's pairs", "a.yaml", "base_model: a\nmicro_batch_size: 2\nbatch_size: 8\nrl: ipo\n", "axolotl",
        "objective.type=dpo");
    row("ms-swift's unpaired preferences", "a.sh",
        "NPROC_PER_NODE=4 megatron rlhf --rlhf_type kto --micro_batch_size 1 --global_batch_size 4 --max_length 8192 "
        "\\\n"
        "  --packing true\n",
        "ms-swift", "objective.type=kto, batch.packing=true");
    row("Megatron-SWIFT's adapters", "a.sh",
        "megatron sft --tuner_type lora --target_modules all-linear --micro_batch_size 1 --global_batch_size 4 \\\n"
        "  --max_length 8192 --decoder_first_pipeline_num_layers 25 --pipeline_model_parallel_size 2 \\\n"
        "  --moe_expert_capacity_factor 2 --optimizer_cpu_offload true --optimizer_offload_fraction 0.5 \\\n"
        "  --use_precision_aware_optimizer true --exp_avg_dtype bf16\n",
        "ms-swift",
        "lora.rank=8, lora.dropout=0.05, lora.targets=all-linear, parallel.first_stage_layers=25, "
        "moe.capacity_factor=2, "
        "shard.offload_optimizer_fraction=0.5, precision.opt_m=bf16, implementation.fused_loss=native, "
        "model.vocab_pad_multiple=1, moe.dispatcher=alltoall, implementation.loader_mask=false");
    row("ms-swift's classifier", "a.sh",
        "megatron sft --task_type seq_cls --num_labels 3 --micro_batch_size 1 --global_batch_size 4 --max_length "
        "8192\n",
        "ms-swift", "objective.head=classifier, objective.labels=3");
    row("LitGPT's adapters", "a.yaml", "checkpoint_dir: x\nout_dir: y\ntrain: {micro_batch_size: 1}\nlora_r: 8\n",
        "litgpt", "lora.rank=8, lora.targets=q_proj, v_proj");
    row("LitGPT's adapters on the attention", "a.yaml",
        "checkpoint_dir: x\nout_dir: y\ntrain: {micro_batch_size: 1}\nlora_r: 8\nlora_query: true\nlora_key: true\n"
        "lora_value: true\nlora_projection: true\nlora_mlp: false\n",
        "litgpt", "lora.targets=q_proj, k_proj, v_proj, o_proj");
    row("LitGPT's adapters everywhere", "a.yaml",
        "checkpoint_dir: x\nout_dir: y\ntrain: {micro_batch_size: 1}\nlora_r: 8\nlora_query: true\nlora_key: true\n"
        "lora_value: true\nlora_projection: true\nlora_mlp: true\n",
        "litgpt", "lora.targets=all-linear");
    row("torchtune's two switches", "a.yaml",
        "model: {_component_: x}\nbatch_size: 2\nac_mode: full\nenable_activation_checkpointing: true\n", "torchtune",
        "recompute.enabled=false");
    row("torchtune's selective", "a.yaml",
        "model: {_component_: x}\nbatch_size: 2\nac_mode: selective\nac_option: 2\n"
        "enable_activation_checkpointing: false\n",
        "torchtune", "recompute.enabled=true, recompute.granularity=selective, recompute.fraction=0.5");
    row("every third layer of torchtitan", "a.toml",
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n[compile]\nenable = true\n"
        "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"3\"\n",
        "torchtitan-toml",
        "recompute.granularity=selective, recompute.fraction=0.333333, implementation.compiled_loss=true");
    row("torchtitan without the section", "a.toml",
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n[parallelism]\n"
        "pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 1\n",
        "torchtitan-toml",
        "model.layers=32, recompute.granularity=selective, batch.micro=1, batch.seq=2048, parallel.pp=2");
    row("torchtitan's experts", "a.toml",
        "[model]\nname = \"llama4\"\nflavor = \"17bx16e\"\n[training]\nlocal_batch_size = 1\n[parallelism]\n"
        "tensor_parallel_degree = 4\nexpert_parallel_degree = 8\nexpert_tensor_parallel_degree = 4\n",
        "torchtitan-toml", "parallel.tp=4, parallel.ep=8, parallel.etp=4");
    row("torchtitan in Python", "a.py",
        "def llama3_8b():\n    return Trainer.Config(\n        training=TrainingConfig.Config("
        "num_tokens_per_microbatch_per_dp_rank=8 * 2048, max_context_length=8192),\n"
        "        parallelism=Parallelism.Config(tensor_parallel_degree=4),\n"
        "        activation_checkpoint=FullAC.Config(),\n    )\n",
        "torchtitan-python",
        "batch.tokens_per_microbatch=16384, batch.seq=8192, batch.micro=2, parallel.tp=4, parallel.sp=true, "
        "recompute.granularity=full");
    row("Megatron-SWIFT", "a.sh",
        "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen2.5-7B-Instruct --micro_batch_size 1 --global_batch_size 16 "
        "\\\n"
        "  --tensor_model_parallel_size 2 --sequence_parallel true --max_length 4096\n",
        "ms-swift",
        "batch.micro=1, batch.global=16, parallel.tp=2, parallel.sp=true, parallel.world=8, "
        "recompute.granularity=selective, recompute.modules=core_attn, shard.dist_opt=true");
    row("nanotron's defaults", "a.yaml", "parallelism: {dp: 2, pp: 2, tp: 2}\ntokens: {micro_batch_size: 1}\n",
        "nanotron", "parallel.schedule=gpipe, parallel.sp=false");
    row("xtuner", "a.py",
        "pretrained_model_name_or_path = 'meta-llama/Llama-2-7b-hf'\nmax_length = int(2048 - (336 // 14) ** 2)\n"
        "batch_size = 4  # per device\naccumulative_counts = 2\nmodel = dict(type=LLaVAModel, freeze_llm=True)\n",
        "xtuner",
        "model.layers=32, batch.micro=4, batch.accum=2, batch.seq=1472, frozen.llm=true, recompute.enabled=true");
    row("xtuner v1", "a.py",
        "fsdp_cfg = FSDPConfig(tp_size=1, ep_size=8, recompute_ratio=0.5)\n"
        "loader = DataloaderConfig(pack_max_length=8 * 1024)\n"
        "trainer = TrainerConfig(global_batch_size=int(os.environ.get('GBS', '16')), sp_size=2)\n",
        "xtuner-v1",
        "parallel.ep=8, batch.seq=8192, batch.global=16, parallel.cp=2, recompute.fraction=0.5, shard.fsdp=true");
    row("FlagScale", "a.yaml",
        "system: {tensor_model_parallel_size: 2}\nmodel: {num_layers: 4, hidden_size: 64, num_attention_heads: 4}\n",
        "megatron-wrappers", "model.layers=4, model.ffn=256, parallel.tp=2");
    row("Primus", "a.yaml",
        "modules:\n  pre_trainer:\n    framework: megatron\n    overrides:\n      micro_batch_size: 1\n"
        "      global_batch_size: 8\n      num_layers: 61\n      hidden_size: 7168\n      num_experts: 256\n"
        "      moe_layer_freq: ([0]*3+[1]*58)\n      moe_router_topk: 8\n      multi_latent_attention: true\n"
        "      q_lora_rank: 1536\n      kv_lora_rank: 512\n      swiglu: true\n      fp8_format: null\n"
        "      recompute_granularity: full\n      recompute_method: block\n      recompute_num_layers: 2\n"
        "      decoder_first_pipeline_num_layers: 4\n      use_precision_aware_optimizer: true\n"
        "      exp_avg_dtype: bf16\n      untie_embeddings_and_output_weights: true\n",
        "megatron-wrappers",
        "model.layers=61, moe.experts=256, moe.topk=8, moe.first_dense_layers=3, mla.q_lora_rank=1536, "
        "mla.qk_nope_dim=128, model.gated_mlp=true, model.activation=swiglu, precision.fp8=, precision.opt_m=bf16, "
        "optimizer.impl=precision-aware, recompute.granularity=full, recompute.method=block, recompute.num_layers=2, "
        "parallel.first_stage_layers=4, "
        "model.tied_embeddings=false");
    row("Megatron-Bridge, mixed precision by name", "a.yaml",
        "model: {tensor_model_parallel_size: 2}\ntrain: {global_batch_size: 4}\n"
        "mixed_precision: bf16_with_fp8_current_scaling_mixed\n",
        "megatron-bridge",
        "precision.recipe=megatron-bf16, precision.grads=, precision.fp8=tensorwise, precision.fp8_params=true");
    // fp8_recipe is tensorwise unless stated, so that masters stay whole.
    row("Megatron-Bridge, mixed precision in full", "a.yaml",
        "model: {tensor_model_parallel_size: 2}\ntrain: {global_batch_size: 4}\n"
        "mixed_precision: {bf16: true, grad_reduce_in_fp32: false}\nddp: {grad_reduce_in_fp32: true}\n"
        "optimizer: {use_precision_aware_optimizer: true, exp_avg_dtype: torch.bfloat16}\n",
        "megatron-bridge",
        "precision.recipe=megatron-bf16, precision.grads=bf16, precision.opt_m=bf16, optimizer.impl=");
    row("Megatron-Bridge, delayed scaling", "a.yaml",
        "model: {tensor_model_parallel_size: 2}\ntrain: {global_batch_size: 4}\n"
        "mixed_precision: {bf16: true, fp8: hybrid, fp8_recipe: delayed}\n"
        "optimizer: {use_precision_aware_optimizer: true}\n",
        "megatron-bridge", "precision.fp8=delayed, optimizer.impl=precision-aware");
    row("Megatron's precision-aware optimizer under 8-bit recipes", "a.sh",
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 \\\n"
        "  --bf16 --use-precision-aware-optimizer --main-grads-dtype bf16 --fp8-format hybrid --fp8-recipe "
        "tensorwise\n",
        "megatron-args", "precision.grads=bf16, precision.fp8=tensorwise, optimizer.impl=fused");
    row("images in Megatron", "a.sh",
        "torchrun --nproc_per_node 8 train.py --language-model-type llama3_8b --vision-model-type siglip \\\n"
        "  --img-h 448 --img-w 448 --patch-dim 14 --pixel-shuffle --freeze-LM --num-layers 32 --hidden-size 4096 \\\n"
        "  --ffn-hidden-size 14336 --num-attention-heads 32 --micro-batch-size 1 --recompute-vision\n",
        "megatron-args",
        "vision.type=siglip, vision.layers=27, vision.hidden=1152, vision.heads=16, vision.tokens_per_image=256, "
        "projector.in=4608, projector.hidden=14336, projector.out=4096, frozen.llm=true, frozen.vision=false, "
        "recompute.vision=true");
    // 24² patches and the class token join 1024 tokens of text.
    row("images in Megatron's own script", "a.sh",
        "torchrun --nproc_per_node 8 pretrain_vlm.py --num-layers 12 --hidden-size 624 --num-attention-heads 12 \\\n"
        "  --micro-batch-size 4 --seq-length 1024 --max-position-embeddings 1024 --tokenizer-type NullTokenizer \\\n"
        "  --vocab-size 8193 --img-h 336 --img-w 336 --patch-dim 14 --freeze-ViT\n",
        "megatron-args",
        "vision.layers=12, vision.hidden=624, vision.ffn=2496, vision.heads=12, vision.tokens_per_image=577, "
        "projector.hidden=2496, projector.out=624, batch.seq=1601, model.max_pos=1601, model.tied_embeddings=false, "
        "frozen.llm=false, frozen.vision=true");
    row("an encoder of its own depth", "a.sh",
        "torchrun --nproc_per_node 8 pretrain_vlm.py --num-layers 12 --encoder-num-layers 6 --hidden-size 512 \\\n"
        "  --num-attention-heads 8 --micro-batch-size 4 --seq-length 512 --dataloader-seq-length 256 \\\n"
        "  --disable-vision-class-token --swiglu\n",
        "megatron-args",
        "vision.layers=6, model.layers=12, vision.tokens_per_image=196, batch.seq=452, vision.gated_mlp=true, "
        "vision.ffn=1344");
    row("LLaVA in Megatron's MIMO", "a.sh",
        "torchrun --nproc_per_node 8 examples/mimo/train.py --model-provider llava_vlm --num-layers 32 \\\n"
        "  --hidden-size 4096 --num-attention-heads 32 --micro-batch-size 8 --total-seq-length 2048 \\\n"
        "  --seq-length 4096 --tokenizer-type HuggingFaceTokenizer --bf16 --log-params-norm\n",
        "megatron-args",
        "model.vocab=32256, model.ffn=11008, vision.tokens_per_image=576, batch.seq=2048, frozen.llm=true, "
        "frozen.vision=true, frozen.projector=false, implementation.logs_parameter_norm=true");
    row("a null is no block", "a.yaml",
        "base_model: a\nmicro_batch_size: 2\nbatch_size: 8\nfsdp:\nfsdp_config:\ndeepspeed:\nbf16: true\n", "axolotl",
        "shard.fsdp=false, precision.recipe=bf16-pure, batch.accum=4");
    row("NeMo in 16 bits", "a.yaml",
        "trainer: {precision: 16, num_nodes: 1, devices: 8}\nmodel: {micro_batch_size: 1, global_batch_size: 8, "
        "megatron_amp_O2: true, fp8: true}\n",
        "nemo1", "precision.recipe=megatron-fp16, precision.autocast=false, precision.fp8=delayed");
    row("DeepSpeed without fp32", "a.json",
        "{\"train_micro_batch_size_per_gpu\": 2, \"bf16\": {\"enabled\": true, \"bf16_master_weights_and_grads\": true,"
        " \"bf16_optimizer_states\": true}}\n",
        "deepspeed-json",
        "precision.recipe=bf16-mixed, precision.master=bf16, precision.grads=bf16, precision.opt_v=bf16");
    row("verl", "a.yaml",
        "actor_rollout_ref:\n  actor: {ppo_mini_batch_size: 64, megatron: {tensor_model_parallel_size: 4}}\n"
        "trainer: {nnodes: 2, n_gpus_per_node: 8}\n",
        "verl", "parallel.tp=4, batch.global=64, parallel.world=16, implementation.profile=megatron-te");
    row("verl with FSDP", "a.yaml",
        "actor_rollout_ref:\n  actor: {ppo_mini_batch_size: 64, strategy: fsdp2, fsdp_config: {fsdp_size: 8}}\n"
        "trainer: {nnodes: 2, n_gpus_per_node: 8}\n",
        "verl",
        "shard.fsdp=true, shard.fsdp_version=2, parallel.dp_shard=8, precision.reduce=fp32, precision.recipe=fp32, "
        "implementation.profile=hf-flash");
    row("llm-foundry", "a.yaml",
        "max_seq_len: 2048\nglobal_train_batch_size: 256\ndevice_train_microbatch_size: auto\n"
        "model: {d_model: 768, n_layers: 12, n_heads: 12}\nfsdp_config: {activation_checkpointing: true}\n",
        "llm-foundry",
        "batch.micro=, batch.global=256, model.ffn=3072, recompute.granularity=full, shard.fsdp=true, "
        "implementation.profile=hf-flash");
    row("Galvatron's strategy", "a.json",
        "{\"pp_deg\": 2, \"tp_sizes_enc\": \"4,4,4,4\", \"global_bsz\": 64, \"chunks\": 8, \"vtp\": 4, \"checkpoint\": "
        "\"0,0,1,1\"}",
        "galvatron", "parallel.pp=2, parallel.tp=4, parallel.vocab_tp=4, batch.global=64, batch.accum=8");
    row("Trainer in a script", "train.py",
        "MODEL = \"meta-llama/Llama-2-7b-hf\"\nmodel = AutoModelForCausalLM.from_pretrained(MODEL, "
        "torch_dtype=torch.bfloat16, attn_implementation=\"flash_attention_2\")\n"
        "args = TrainingArguments(output_dir=\"out\", per_device_train_batch_size=8, bf16=True, "
        "gradient_checkpointing=True, fsdp=\"full_shard auto_wrap\")\ntrainer = Trainer(model=model, args=args)\n",
        "hf-trainer",
        "model.layers=32, model.hidden=4096, batch.micro=8, batch.accum=1, recompute.enabled=true, "
        "recompute.granularity=full, shard.fsdp=true, precision.recipe=bf16-pure, implementation.profile=hf-flash");
    row("TRL with adapters in a function", "sft.py",
        "def main():\n    model = AutoModelForCausalLM.from_pretrained(\"Qwen/Qwen2.5-7B-Instruct\",\n"
        "        quantization_config=BitsAndBytesConfig(load_in_4bit=True))\n"
        "    peft_config = LoraConfig(r=16, lora_alpha=32, target_modules=\"all-linear\")\n"
        "    args = SFTConfig(per_device_train_batch_size=2, gradient_accumulation_steps=4, max_length=4096)\n"
        "    trainer = SFTTrainer(model=model, args=args, peft_config=peft_config)\n    trainer.train()\n",
        "hf-trainer",
        "model.layers=28, batch.micro=2, batch.accum=4, batch.seq=4096, lora.rank=16, precision.params=nf4, "
        "precision.double_quantised=false");
    row("constants quantised in turn", "sft.py",
        "config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=True)\n"
        "args = SFTConfig(per_device_train_batch_size=2)\n",
        "hf-trainer", "precision.params=nf4, precision.double_quantised=true");
    row("LLaMA-Factory in 4 bits", "a.yaml",
        "stage: sft\nfinetuning_type: lora\ntemplate: x\nquantization_bit: 4\ndouble_quantization: false\n",
        "llama-factory", "precision.params=nf4, precision.double_quantised=false");
    row("accelerate reduces each micro-batch", "a.yaml",
        "per_device_train_batch_size: 2\nfsdp: full_shard\n"
        "accelerator_config: {gradient_accumulation_kwargs: {sync_each_batch: true}}\n",
        "hf-trainer", "shard.sync_each_batch=true");
    row("LitGPT in 4 bits", "qlora.yaml",
        "checkpoint_dir: checkpoints/mistralai/Mistral-7B-v0.1\nout_dir: out\nprecision: bf16-true\n"
        "quantize: bnb.nf4\nlora_r: 32\ntrain:\n  micro_batch_size: 2\n",
        "litgpt", "batch.micro=2, lora.rank=32, precision.params=nf4, precision.double_quantised=false");
    row("Megatron-Bridge's recipe", "pretrain.py",
        "cfg = llama3_8b_pretrain_config()\ncfg.model.tensor_model_parallel_size = 2\n"
        "cfg.model.pipeline_model_parallel_size = 2\ncfg.model.seq_length = 8192\ncfg.train.micro_batch_size = 2\n"
        "cfg.train.global_batch_size = 128\ncfg.model.recompute_granularity = None\n",
        "megatron-bridge",
        "model.layers=32, model.vocab=128256, parallel.tp=2, parallel.pp=2, batch.micro=2, batch.global=128, "
        "batch.seq=8192");
    row("NeMo's recipe", "recipe.py",
        "def configure(nodes: int = 2, gpus_per_node: int = 8):\n"
        "    recipe = llm.llama3_70b.pretrain_recipe(num_nodes=nodes, num_gpus_per_node=gpus_per_node)\n"
        "    recipe.trainer.strategy.tensor_model_parallel_size = 8\n    recipe.data.micro_batch_size = 1\n"
        "    recipe.data.global_batch_size = 64\n    return recipe\n",
        "nemo-recipe",
        "model.layers=80, parallel.tp=8, parallel.world=16, batch.micro=1, batch.global=64, shard.dist_opt=true, "
        "precision.recipe=megatron-bf16");
    row("DeepSpeed with comments", "a.json",
        "{\n  // two per GPU\n  \"train_micro_batch_size_per_gpu\": 2,\n  \"zero_optimization\": {\"stage\": 2,},\n}\n",
        "deepspeed-json", "batch.micro=2, shard.zero_stage=2");
}

void TestFrameworkConfigs::ownTexts()
{
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, format);
    QFETCH(QString, fields);
    auto document = ConfigDocument::parse(text.toStdString(), name.toStdString());
    QVERIFY2(document, document ? "" : document.error().english().c_str());
    const auto opened = openConfig(std::move(*document), builtinFormats(), builtinCatalog());
    QVERIFY2(opened, opened ? "" : opened.error().english().c_str());
    QCOMPARE(QString::fromStdString(opened->format->id), format);
    compare(opened->plan, fields);
}

void TestFrameworkConfigs::ownSamples()
{
    const auto opened = openConfig(testData("good/config/internevo_7b.py"), builtinFormats(), builtinCatalog());
    QVERIFY2(opened, opened ? "" : opened.error().english().c_str());
    QCOMPARE(opened->format->id, std::string("internevo"));
    compare(opened->plan,
            "model.layers=32, model.hidden=4096, model.heads=32, model.vocab=103168, model.layer_norm=false, "
            "batch.seq=2048, batch.micro=2, batch.accum=4, parallel.tp=2, parallel.pp=2, parallel.sp=true, "
            "shard.zero_stage=1, precision.recipe=bf16-mixed, recompute.enabled=false, attention.impl=flash, "
            "model.ffn=11008"); // 4096 · 8 / 3, rounded up to a multiple of 256
}

QTEST_APPLESS_MAIN(TestFrameworkConfigs)
#include "tst_framework_configs.moc"
