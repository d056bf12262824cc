// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/framework_oracle.h"

#include "footprint/recipe/architecture.h"
#include "plan/batch.h"

#include <algorithm>

namespace headroom::test {

namespace {

using accuracy::FrameworkCase;

constexpr double zeroBucket = 2 * 5e8; ///< bytes; DeepSpeed's default (runtime/zero/config.py)
constexpr double zeroSubGroup = 1e9; ///< elements

/// What the tensors below are made of, as real numbers.
struct Sizes
{
    explicit Sizes(const TrainingPlan& plan)
        : model(architectureOf(plan))
        , shards(static_cast<double>(dataParallelSize(plan) * std::max<std::int64_t>(plan.parallel.cp.value, 1)))
        , tokens(static_cast<double>(plan.batch.micro.value * plan.batch.seq.value)
                 / static_cast<double>(std::max<std::int64_t>(plan.parallel.cp.value, 1)))
        , hidden(static_cast<double>(model.hidden))
        , layers(static_cast<double>(model.layers))
        , table(static_cast<double>(model.vocab) * hidden)
        , stream(2 * tokens * hidden)
    {
    }

    [[nodiscard]] double queries() const { return static_cast<double>(model.heads * model.headDim); }
    [[nodiscard]] double keys() const { return static_cast<double>(model.groups * model.headDim); }
    [[nodiscard]] double logits() const { return tokens * static_cast<double>(model.vocab); }
    [[nodiscard]] double layer() const
    {
        const double attention = hidden * (2 * queries() + 2 * keys());
        const double experts = static_cast<double>(model.experts) * (3 * static_cast<double>(model.expertFfn) + 1);
        const double mlp = hidden * (model.isMoe() ? experts : 3 * static_cast<double>(model.ffn));
        return attention + mlp + 2 * hidden + (model.qkNorm ? 2 * static_cast<double>(model.headDim) : 0);
    }
    /// Of the layer that FSDP2 gathers while the backward of the one behind it runs.
    [[nodiscard]] double prefetched() const { return shards > 1 ? 2 * layer() * (1 + 1 / shards) : 0; }

    Architecture model;
    double shards, tokens, hidden, layers, table, stream;
};

/// Qwen-VL's finetune.py names c_attn, attn.c_proj, w1 and w2 (lora_target_modules); the encoder's layers are in_proj,
/// out_proj, c_fc and c_proj. In October 2023 PEFT 0.5 left adapters in fp32.
std::vector<OracleNote> visualAdapterNotes(const FrameworkCase& entry, const Sizes& size)
{
    const TrainingPlan& plan = entry.plan;
    if (plan.vision.layers.value == 0) {
        return {};
    }
    const auto h = static_cast<double>(plan.vision.hidden.value);
    const auto ffn = static_cast<double>(size.model.ffn);
    const auto rank = static_cast<double>(plan.lora.rank.value);
    const double encoder = static_cast<double>(plan.vision.layers.value) * rank
        * (8 * h + 2 * static_cast<double>(plan.vision.ffn.value));
    const double named = size.layers * rank * (6 * size.hidden + 2 * (size.hidden + ffn));
    const double counted = entry.kind == "qlora" ? 16 : 8; // bytes a weight
    return {{"adapters of the encoder, whose layers finetune.py does not name", -encoder * counted},
            {"adapters of the MLP's last layer, which it does not name either",
             -size.layers * rank * (size.hidden + ffn) * counted},
            {"adapters, gradients and moments in fp32", entry.kind == "qlora" ? 0 : named * 8}};
}

/// Qwen and Qwen-VL finetune.py.
std::vector<OracleNote> qwenNotes(const FrameworkCase& entry, const Sizes& size)
{
    std::vector<OracleNote> notes = visualAdapterNotes(entry, size);
    const TrainingPlan& plan = entry.plan;
    if (plan.implementation.fusedLoss.value == "16bit" && entry.kind == "qlora") {
        notes.push_back({"the logits, which went when the module returned its loss", -2 * size.logits()});
    }
    if (plan.lora.trainsEmbeddings.value) {
        notes.push_back(
            {"fresh gradients of both tables, which come when those of the logits are gone", -4 * size.table});
    }
    return notes;
}

/// ms-swift under DeepSpeed's third stage.
std::vector<OracleNote> swiftNotes(const nlohmann::json& row)
{
    const double share = row.at("parts_bytes").at("gradients").get<double>() / 2;
    return {{"fp32 gradient of a sub-group, which the step makes (stage3.py, _prepare_fp32_grad_for_sub_group)",
             -4 * std::min(share, zeroSubGroup)},
            {"the bucket for gradients (stage3.py, _setup_for_real_optimizer)", zeroBucket}};
}

std::vector<OracleNote> primeNotes(const FrameworkCase& entry, const Sizes& size, const nlohmann::json& row)
{
    std::vector<OracleNote> notes;
    if (row.at("parts_bytes").contains("logits")) {
        if (entry.plan.implementation.fusedLoss.value != "chunked") {
            notes.push_back(
                {"the output layer's gradient, which comes when those of the fp32 logits are gone", -2 * size.table});
        }
        return notes;
    }
    if (row.at("parts_bytes").at("activations").get<double>() == 0) { // its peak is the optimizer's
        return {{"the table gathered by the root: it is a group of its own and dropped",
                 size.model.tied ? 0 : -2 * size.table}};
    }
    notes.push_back({"the layer that is gathered ahead (_fsdp_param_group.py, _backward_prefetch)", size.prefetched()});
    if (entry.plan.lora.rank.value > 0) {
        notes.push_back(
            {"attention's result, counted again as the input of an adapter", -2 * size.tokens * size.queries()});
        if (entry.plan.recompute.offloadInputs.value) {
            notes.push_back({"the layer's input, counted again beside the one that is fetched", -size.stream});
        }
    } else if (!size.model.isMoe()) {
        notes.push_back({"gradients of the whole block at once", -6 * size.layer()});
        notes.push_back({"gradient of the last product, the first that the backward makes",
                         2 * size.hidden * static_cast<double>(size.model.ffn)});
        notes.push_back(
            {"the tied table's gradient, which waits for the root's reduction", size.model.tied ? 2 * size.table : 0});
    }
    if (size.model.isMoe()) {
        notes.push_back({"one table: it is a group of its own and dropped", -2 * size.table});
        if (entry.plan.lora.rank.value > 0) {
            notes.push_back({"a 16-bit gradient of routed rows, at another time than the three in fp32",
                             -static_cast<double>(size.model.topk) * 2 * size.tokens * size.hidden});
        }
    }
    return notes;
}

std::vector<OracleNote> litGptNotes(const Sizes& size)
{
    std::vector<OracleNote> notes{
        {"results of the adapters of q and v, which index_copy keeps (lora.py, zero_pad)",
         2 * size.layers * size.stream},
        {"the logits, which Fabric returns in fp32 (plugins/precision/half.py)", 4 * size.logits()}};
    if (!size.model.layerNorm) {
        notes.push_back({"inputs of both norms in fp32 (rmsnorm.py)", 2 * size.layers * size.stream});
    }
    return notes;
}

/// Megatron-Kwai: what waits in the host's memory.
std::vector<OracleNote> kwaiNotes(const FrameworkCase& entry, const Sizes& size, const nlohmann::json& row)
{
    const TrainingPlan& plan = entry.plan;
    const double alpha = plan.shard.offloadActivations.value ? plan.shard.offloadActivationFraction.value : 0;
    const double input = 2 * static_cast<double>(plan.batch.seq.value / plan.parallel.cp.value) * size.hidden
        / static_cast<double>(plan.parallel.tp.value);
    // Stage 0 of 8 with 5 chunks of each has 47 chunks in flight, of which those behind chunk 0 got their input.
    const double received = 47 - (8 + 7);
    std::vector<OracleNote> notes{
        {"inputs of chunks, which the schedule holds (schedules.py, input_tensors)", alpha * received * input}};
    if (alpha == 1) { // nothing else of the chunks in flight is there, so that the last forward of the warm-up peaks
        notes.push_back({"the chunk before, which is copied while the next one runs forward",
                         row.at("parts_bytes").at("in_flight").get<double>()});
    }
    return notes;
}

/// Layers dealt out so that the stage with the embedding is the fullest.
std::vector<OracleNote> redistributedNotes(const FrameworkCase& entry, const Sizes& size)
{
    if (!entry.plan.parallel.layout.isKnown()) {
        return {};
    }
    const double kept = 4 * size.tokens * (32 * size.hidden + 4 * static_cast<double>(size.model.heads));
    return {
        {"the embedding's gradient, which comes when a micro-batch's four layers are through", 2 * size.table - kept}};
}

} // namespace

std::vector<OracleNote> oracleNotes(const FrameworkCase& entry, const nlohmann::json& row)
{
    const Sizes size(entry.plan);
    if (entry.framework.starts_with("Qwen")) {
        return qwenNotes(entry, size);
    }
    if (entry.framework.find("DeepSpeed zero3") != std::string::npos) {
        return swiftNotes(row);
    }
    if (entry.framework.find("Megatron-Core backend") != std::string::npos
        && entry.plan.implementation.fusedLoss.value == "native") {
        const auto ranks = static_cast<double>(std::max<std::int64_t>(entry.plan.parallel.tp.value, 1));
        return {{"the exponentials of the logits in fp32, a tensor of their own once compiled (fused_cross_entropy.py)",
                 4 * size.logits() / ranks}};
    }
    if (entry.framework == "prime-rl") {
        return primeNotes(entry, size, row);
    }
    if (entry.framework == "torchtitan" && entry.plan.implementation.separateTables.value) {
        const double loss = row.at("parts_bytes").at("logits").get<double>();
        const double statistics = 4 * size.tokens * static_cast<double>(size.model.heads);
        return {{"16-bit logits and their gradient, whole", 4 * size.logits() - loss},
                {"the last layer's weights, gathered again later", -2 * size.layer()},
                {"attention's results, which are recomputed", -size.layers * (size.stream + statistics)}};
    }
    if (entry.framework == "LitGPT") {
        return litGptNotes(size);
    }
    if (entry.framework.find("Kwai") != std::string::npos) {
        return kwaiNotes(entry, size, row);
    }
    if (entry.framework.find("VocabularyParallelism") != std::string::npos) {
        return redistributedNotes(entry, size);
    }
    return {};
}

double oracleStep(const FrameworkCase& entry, const nlohmann::json& row)
{
    const nlohmann::json& parts = row.at("parts_bytes");
    const auto part = [&parts](const char* key) { return parts.value(key, 0.0); };
    double held = part("parameters") + part("vision_parameters") + part("workspaces");
    if (entry.plan.lora.trainsEmbeddings.value) {
        // Trainable copies, moments, gradients and two 16-bit lists of AdamW of both tables; of adapters in the same
        // proportion.
        const Sizes size(entry.plan);
        double adapters = part("adapters");
        for (const OracleNote& note : visualAdapterNotes(entry, size)) {
            adapters += note.bytes;
        }
        return held + 1.5 * adapters + part("trained_embeddings") + 12 * size.table;
    }
    if (entry.framework.find("DeepSpeed zero3") != std::string::npos) {
        held += part("gradients") + part("optimizer_state");
        // The bucket, gradients of a sub-group and their flat copy.
        return held + zeroBucket + 2 * 4 * std::min(part("gradients") / 2, zeroSubGroup);
    }
    return 0;
}

double oracleFloor(const FrameworkCase& entry, const nlohmann::json& row)
{
    const nlohmann::json& parts = row.at("parts_bytes");
    const auto part = [&parts](const char* key) { return parts.value(key, 0.0); };
    const bool isFp16 = entry.plan.precision.recipe.value == "megatron-fp16";
    const bool isItsStep = part("in_flight") == 0 && part("activations") == 0;
    if (entry.plan.shard.zeroStage.value != 1 || !isFp16 || !isItsStep
        || !entry.framework.starts_with("Megatron-DeepSpeed")) {
        return 0;
    }
    const double gradients = part("gradients");
    const double share = gradients / static_cast<double>(std::max<std::int64_t>(entry.plan.parallel.dp.value, 1));
    return part("parameters") + part("optimizer_state")
        + std::max(gradients + std::min(zeroBucket, gradients) + share, 4 * share);
}

} // namespace headroom::test
