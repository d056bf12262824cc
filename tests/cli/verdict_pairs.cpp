// SPDX-License-Identifier: GPL-3.0-or-later
#include "verdict_pairs.h"

#include "cli_fixture.h"

namespace headroom::cli {

namespace {

QByteArray peaks(const char* forward, const char* backward, const char* optimizer)
{
    QByteArray log;
    for (int step = 1; step <= 4; ++step) {
        const QByteArray at = " step=" + QByteArray::number(step) + " peak_alloc=";
        // A step's first phase falls below the last step's largest, so that no running maximum is seen.
        log += "phase=forward" + at + forward + "GiB\nphase=backward" + at + backward + "GiB\nphase=optimizer" + at
            + optimizer + "GiB\n";
    }
    return log;
}

/// Steps whose backward peaks grow by `slope` GiB each, with one of them, 10, higher by `spike`.
QByteArray steps(double slope, double spike, double firstBelow = 0)
{
    QByteArray log;
    for (int step = 1; step <= 20; ++step) {
        const double peak = 20 + slope * step + (step == 10 ? spike : 0) - (step == 1 ? firstBelow : 0);
        const QByteArray at = " step=" + QByteArray::number(step) + " peak_alloc=";
        log += "phase=forward" + at + "10GiB\nphase=backward" + at + QByteArray::number(peak, 'f', 2) + "GiB\n";
    }
    return log;
}

/// DeepSpeed's memory at points of a step, which names no phase.
QByteArray memoryPoints()
{
    QByteArray log;
    for (const char* point : {"Before forward", "After forward", "After backward", "After step"}) {
        log += QByteArray(point) + "\nMA 1 GB         Max_MA 2 GB         CA 3 GB         Max_CA 3 GB\n";
    }
    return log;
}

/// One line of a framework that prints what the device has in use beside the pool.
QByteArray deviceLine(int usedMib)
{
    return "[Rank 0] (after 2 iterations) memory (MB) | allocated: 10000.0 | max allocated: 20000.0 | reserved: "
           "24000.0 "
           "| max reserved: 24000.0 | total device memory used: "
        + QByteArray::number(usedMib) + ".0\n";
}

/// A step of torchtitan, which prints the pool's peak alone.
QByteArray reservedOnly(const char* gib)
{
    return QByteArray("step:  2  loss: 10.0  memory: ") + gib + "GiB(50.00%)  tps: 1,000  mfu: 30.0%\n";
}

/// Peaks of some ranks in two steps.
QByteArray ranks(const QList<int>& ranks)
{
    QByteArray log;
    for (int step = 1; step <= 2; ++step) {
        for (const int rank : ranks) {
            const QByteArray at = " step=" + QByteArray::number(step) + " rank=" + QByteArray::number(rank);
            log += "phase=forward" + at + " peak_alloc=10GiB\nphase=backward" + at + " peak_alloc=20GiB\n";
        }
    }
    return log;
}

/// The list of arguments that a run prints as it starts.
QByteArray argumentList(const QByteArray& microBatch)
{
    return "------------------------ arguments ------------------------\n"
           "  global_batch_size ............................... 16\n"
           "  hidden_size ..................................... 1024\n"
           "  micro_batch_size ................................ "
        + microBatch
        + "\n"
          "  num_layers ...................................... 24\n"
          "  pipeline_model_parallel_size .................... 1\n"
          "  seq_length ...................................... 1024\n"
          "  tensor_model_parallel_size ...................... 1\n"
          "-------------------- end of arguments ---------------------\n";
}

/// The recipe's example with these keys in its block `parallel` and more in `model` and behind.
Input with(const QByteArray& parallel, const QByteArray& model = {}, const QByteArray& more = {})
{
    QByteArray config = example;
    config.replace("hidden_size: 1024\n", "hidden_size: 1024\n  num_attention_heads: 16\n" + model);
    const auto from = config.indexOf("pipeline_parallel_size");
    config.replace(from, config.indexOf("train:") - from, parallel + '\n');
    return {{}, {}, {}, {}, {}, config + more};
}

const QByteArray megatron = "torchrun a.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 ";
const QByteArray factory = "stage: sft\nfinetuning_type: full\ntemplate: x\nper_device_train_batch_size: 1\n";

Input script(const QByteArray& options)
{
    return {{}, {}, {}, {}, QStringLiteral("a.sh"), megatron + options};
}

Input yaml(const QByteArray& config)
{
    return {{}, {}, {}, {}, QStringLiteral("b.yaml"), config};
}

Input set(const QStringList& settings)
{
    return {{}, {}, {}, settings, {}, {}};
}

Input log(const QByteArray& text)
{
    return {{}, {}, text, {}, {}, {}};
}

Input edit(const QByteArray& from, const QByteArray& to, const QByteArray& text = {})
{
    return {from, to, text, {}, {}, {}};
}

// Sections 1 and 4: the phase of the peak, the steps, and what is beyond the tensors.
std::vector<Pair> pairsOfLogs()
{
    const Input forward = log(peaks("30", "20", "10"));
    const Input backward = log(peaks("20", "30", "10"));
    const Input optimizer = log(peaks("10", "20", "30"));
    const Input even = log(steps(0, 0));
    const auto pool = [](const char* reserved) {
        return log(QByteArray("phase=backward step=1 peak_alloc=20GiB peak_reserved=") + reserved + "GiB\n");
    };
    const Input shortList{{}, {}, {}, {}, QStringLiteral("short.log"), argumentList("2")};
    const Input twoStages = edit("pipeline_parallel_size: 1", "pipeline_parallel_size: 2", ranks({0}));
    return {{"peak-in-forward", forward, backward},
            {"peak-in-backward", backward, optimizer},
            {"peak-in-optimizer", optimizer, forward},
            {"statistics-not-reset",
             log("phase=forward step=1 peak_alloc=10GiB\nphase=backward step=1 peak_alloc=20GiB\n"
                 "phase=optimizer step=1 peak_alloc=25GiB\nphase=forward step=2 peak_alloc=25GiB\n"
                 "phase=backward step=2 peak_alloc=25GiB\nphase=optimizer step=2 peak_alloc=26GiB\n"),
             backward},
            {"growth-over-steps", log(steps(0.1, 0)), even},
            {"one-step-far-above", log(steps(0, 8)), even},
            {"first-step-below", log(steps(0, 0, 5)), even},
            {"reserved-above-allocated", pool("24"), pool("20.5")},
            {"pool-in-pieces", pool("30"), pool("24")},
            {"memory-outside-allocator", log(deviceLine(30000)), log(deviceLine(25000))},
            {"inferred-from-log", log(memoryPoints()), backward},
            {"out-of-memory", log(outOfMemory("0.66", "22.30", "0.10")), backward},
            {"only-one-rank one of two", twoStages,
             edit("pipeline_parallel_size: 1", "pipeline_parallel_size: 2", ranks({0, 1}))},
            {"only-one-rank one stage", twoStages, log(ranks({0}))},
            {"reserved-disagrees", log(reservedOnly("70")), log(reservedOnly("7"))},
            {"arguments-shortened", shortList, log(argumentList("2"))},
            {"config-is-not-what-ran mesh",
             edit("tensor_parallel_size: 1", "tensor_parallel_size: 2",
                  "Building 2-D device mesh with ['dp_shard', 'tp'], [2, 4]\n"),
             edit("tensor_parallel_size: 1", "tensor_parallel_size: 2",
                  "Building 2-D device mesh with ['dp_shard', 'tp'], [2, 2]\n")},
            {"config-is-not-what-ran", log(argumentList("4")), log(argumentList("2"))}};
}

// Sections 2 and 3: batch, split, recompute, and what the estimate shows.
std::vector<Pair> pairsOfPlans()
{
    const Input plain;
    const auto stages = [](const char* count) {
        return edit("pipeline_parallel_size: 1", QByteArray("pipeline_parallel_size: ") + count);
    };
    const QStringList full{"framework=megatron-args", "model.heads=16"};
    const QStringList vision = full
        + QStringList{
            "batch.micro=16", "batch.global=128",           "frozen.llm=true",   "vision.layers=4", "vision.hidden=512",
            "vision.heads=8", "vision.tokens_per_image=64", "projector.type=mlp"};
    const QStringList wide = full + QStringList{"model.layers=4", "batch.micro=16", "batch.global=128"};
    const QStringList piped = full + QStringList{"parallel.pp=4", "batch.micro=8", "batch.global=64"};
    const QByteArray experts = "  moe: {experts: 8, topk: 2, ffn: 1024}\n";
    const QByteArray chunks = "pipeline_parallel_size: 2\n  virtual_pipeline_chunks: ";
    return {{"micro-batch-is-global-batch", edit("micro_batch_size: 2 ", "micro_batch_size: 16 "), plain},
            {"global-batch-mismatch", edit("global_batch_size: 16", "global_batch_size: 24"), plain},
            {"layers-do-not-divide", stages("5"), stages("4")},
            {"plan-not-legal heads", with("tensor_parallel_size: 3"), with("tensor_parallel_size: 2")},
            {"plan-not-legal experts", with("expert_parallel_size: 3", experts),
             with("data_parallel_size: 4\n  expert_parallel_size: 4", experts)},
            {"plan-not-legal sequence", with("context_parallel_size: 3"), with("context_parallel_size: 2")},
            {"plan-not-legal layers in chunks", with(chunks + "5"), with(chunks + "4")},
            {"recompute-not-loaded", edit("granularity: none", "granularity: full"),
             edit("enabled: false\n  granularity: none", "enabled: true\n  granularity: full")},
            {"in-flight-growth", set({"parallel.pp=4"}), set({"parallel.pp=1"})},
            {"in-flight-growth two micro-batches", set({"parallel.pp=4"}),
             set({"parallel.pp=4", "batch.accum=1", "batch.global=2"})},
            {"in-flight-does-not-fit", with("pipeline_parallel_size: 4", {}, "hardware: {capacity: 4.66GiB}\n"),
             with("pipeline_parallel_size: 4", {}, "hardware: {capacity: 80GiB}\n")},
            {"logits-are-the-peak", set(wide + QStringList{"model.vocab=256000"}),
             set(wide + QStringList{"model.vocab=1000"})},
            {"end-stage-fuller", set(piped),
             set(piped + QStringList{"batch.micro=1", "batch.accum=1", "batch.global=1", "model.vocab=1000"})},
            {"frozen-keeps-activations", set(vision),
             set(vision + QStringList{"frozen.vision=true", "frozen.projector=true"})}};
}

// What the files say and the framework makes something else of; tst_config_rules has more of each.
std::vector<Pair> pairsOfSettings()
{
    const QByteArray selective = "--recompute-granularity selective ";
    const QByteArray tune = "model: {_component_: x}\nbatch_size: 2\n";
    const QByteArray trainer = "per_device_train_batch_size: 1\ngradient_checkpointing: true\n";
    const QByteArray visual = trainer + "model_name_or_path: Qwen/Qwen2-VL-7B-Instruct\n";
    const QByteArray reentrant = "gradient_checkpointing_kwargs: {use_reentrant: true}\n";
    const QByteArray accelerate = "compute_environment: x\ndistributed_type: MEGATRON_LM\nmegatron_lm_config:\n";
    const auto json = [](const QByteArray& text) { return Input{{}, {}, {}, {}, QStringLiteral("c.json"), text}; };
    const auto partitioned = [&json](const QByteArray& value) {
        return json("{\"zero_optimization\": {\"stage\": 2}, \"activation_checkpointing\": {\"partition_activations\": "
                    + value + "}}");
    };
    return {
        {"setting-overruled", script("--recompute-activations --recompute-granularity full"),
         script("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1")},
        {"settings-cancel", yaml(tune + "ac_mode: full\nenable_activation_checkpointing: true\n"),
         yaml(tune + "enable_activation_checkpointing: true\n")},
        {"setting-lacks-switch", script("--num-query-groups 2"),
         script("--num-query-groups 2 --group-query-attention")},
        {"setting-not-read", script("--use-flash-attn"), script("--attention-backend flash")},
        {"setting-needs-code", partitioned("true"), partitioned("false")},
        {"settings-refused", script(selective + "--recompute-method block"), script(selective)},
        {"setting-refused", script("--recompute-granularity full"),
         script("--recompute-granularity full --recompute-method block")},
        {"setting-idle", script("--sequence-parallel"), script("--sequence-parallel --tensor-model-parallel-size 2")},
        {"setting-dropped", yaml(accelerate + "  megatron_lm_other_megatron_args: {recompute_granularity: full}\n"),
         yaml(accelerate + "  megatron_lm_tp_degree: 2\n")},
        {"vision-not-recomputed", script(selective + "--vision-model-type clip"),
         script(selective + "--vision-model-type clip --recompute-vision")},
        {"recompute-gathers-again", yaml(trainer + "fsdp: \"full_shard auto_wrap\"\n"),
         yaml(trainer + "fsdp: \"shard_grad_op auto_wrap\"\n")},
        {"setting-renamed", script("--checkpoint-activations"), script("--checkpoint-activations --deepspeed")},
        {"setting-unfilled", json("{\"zero_optimization\": {\"stage\": 2, \"allgather_bucket_size\": \"auto\"}}"),
         json("{\"zero_optimization\": {\"stage\": 2, \"reduce_bucket_size\": \"auto\"}}")},
        {"reentrant-vision-inputs", yaml(visual + "lora_r: 8\n" + reentrant),
         yaml(visual + "lora_r: 8\nfreeze_vision_tower: true\n" + reentrant)},
        {"frozen-tower-keeps-activations", yaml(visual + "freeze_vision_tower: true\n" + reentrant),
         yaml(visual + "freeze_vision_tower: true\ngradient_checkpointing_kwargs: {use_reentrant: false}\n")},
        {"on-by-default", yaml(factory), yaml(factory + "disable_gradient_checkpointing: false\n")},
        {"recompute-method-alone", script("--recompute-method uniform"), script("")},
        {"core-attention-saves-nothing", script(selective + "--attention-backend flash"),
         script(selective + "--attention-backend unfused")},
        {"expert-parallel-without-experts", script("--expert-model-parallel-size 2"),
         script("--expert-model-parallel-size 2 --num-experts 4")},
        {"reentrant-frozen-inputs", yaml(trainer + "freeze_backbone: true\n" + reentrant),
         yaml(trainer + "freeze_backbone: true\ngradient_checkpointing_kwargs: {use_reentrant: false}\n")}};
}

} // namespace

QByteArray outOfMemory(const char* free, const char* allocated, const char* unallocated)
{
    return QByteArray("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total "
                      "capacity of 23.65 GiB of which ")
        + free + " GiB is free. Of the allocated memory " + allocated + " GiB is allocated by PyTorch, and "
        + unallocated + " GiB is reserved by PyTorch but unallocated.\n";
}

std::vector<Pair> allPairs()
{
    std::vector<Pair> all;
    for (const auto& some : {pairsOfLogs(), pairsOfPlans(), pairsOfSettings()}) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

} // namespace headroom::cli
