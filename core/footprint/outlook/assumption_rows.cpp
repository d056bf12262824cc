// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/outlook/assumption_rows.h"

#include "footprint/tape/shape.h"
#include "footprint/torch/shape.h"
#include "plan/layer_pattern.h"
#include "plan/objective.h"
#include "units/number.h"

#include <algorithm>
#include <iterator>

namespace headroom {

namespace {

template <class T> bool isOpen(const AssumptionCase& asked, const Field<T>& field)
{
    return !field.isKnown() || (field.origin.kind == OriginKind::Default && asked.isFormless);
}

bool hasExperts(const AssumptionCase& asked)
{
    return asked.plan.moe.experts.value > 0;
}

bool isBf16Megatron(const AssumptionCase& asked)
{
    return asked.isMegatron && profileOf(asked.plan) == "megatron-te";
}

/// Facts about the implementation that no flag holds, or that a file may leave out.
std::vector<AssumptionRow> implementationRows()
{
    return {
        {"implementation.profile",
         "megatron-te",
         HEADROOM_TR("core", "Framework not known: layers of Megatron-LM with Transformer Engine taken"),
         [](const AssumptionCase& c) { return c.isFormless && !c.plan.implementation.profile.isKnown(); },
         {{"megatron-local"}, {"hf-sdpa"}, {"torchtitan"}}},
        {"hardware.gpu",
         "Hopper",
         HEADROOM_TR("core", "No GPU named: workspaces and attention kernel of a Hopper GPU taken"),
         [](const AssumptionCase& c) {
             return !c.plan.hardware.gpu.isKnown() && !c.plan.hardware.computeCapability.isKnown();
         },
         {{"Ampere", true, "hardware.compute_capability", "8"},
          {"Blackwell", true, "hardware.compute_capability", "10"}}},
        {"attention.impl",
         "auto",
         HEADROOM_TR("core", "Attention kernel not given: the one the library prefers on this GPU taken"),
         [](const AssumptionCase& c) {
             return c.isMegatron && (isOpen(c, c.plan.attention.impl) || c.plan.attention.impl.value == "auto");
         },
         {{"flash", true}, {"fused", true}, {"unfused"}}},
        {"attention.impl",
         "sdpa",
         HEADROOM_TR("core", "Attention implementation not given: SDPA taken"),
         [](const AssumptionCase& c) {
             return c.isTorch && isOpen(c, c.plan.attention.impl) && profileOf(c.plan).starts_with("hf");
         },
         {{"flash_attention_2", true}, {"eager"}}},
        {"implementation.fused_loss",
         "none",
         HEADROOM_TR("core", "Loss implementation not given: cross entropy in fp32 over all logits taken"),
         [](const AssumptionCase& c) { return isOpen(c, c.plan.implementation.fusedLoss) && c.isMegatron; },
         {{"te-inplace", true}, {"native", true}}},
        {"implementation.fused_loss",
         "none",
         HEADROOM_TR("core", "Loss implementation not given: cross entropy in fp32 over all logits taken"),
         [](const AssumptionCase& c) { return isOpen(c, c.plan.implementation.fusedLoss) && c.isTorch; },
         {{"16bit", true}, {"liger"}, {"chunked"}}},
        {"implementation.grad_accum_fusion",
         "true",
         HEADROOM_TR("core", "Fusion of gradient accumulation not given: taken to be on"),
         [](const AssumptionCase& c) { return c.isMegatron && isOpen(c, c.plan.implementation.gradAccumFusion); },
         {{"false", true}}},
        {"implementation.placeholder_grads",
         "true",
         HEADROOM_TR("core", "Library age not known: one since 2025 taken, with an unused gradient per weight shape"),
         [](const AssumptionCase& c) { return isBf16Megatron(c) && isOpen(c, c.plan.implementation.placeholderGrads); },
         {{"false", true}}},
        {"implementation.loader_mask",
         "true",
         HEADROOM_TR("core", "Masks from the data loader not given: taken to be made"),
         [](const AssumptionCase& c) { return c.isMegatron && isOpen(c, c.plan.implementation.loaderMask); },
         {{"false", true}}},
        {"implementation.rope_fusion",
         "true",
         HEADROOM_TR("core", "Fusion of rotary positions not given: taken to be on"),
         [](const AssumptionCase& c) { return c.isMegatron && isOpen(c, c.plan.implementation.ropeFusion); },
         {{"false", true}}},
        {"implementation.cublas_workspace_bytes",
         "32 MiB",
         HEADROOM_TR("core", "PyTorch's age not known: one that gives cuBLAS 32 MiB on Blackwell taken"),
         [](const AssumptionCase& c) {
             return isOpen(c, c.plan.implementation.cublasWorkspaceBytes) && computeCapability(c.plan.hardware) >= 10;
         },
         {{"8.1 MiB", true, "implementation.cublas_workspace_bytes", "8519680"}}},
        {"implementation.keeps_logits",
         "false",
         HEADROOM_TR("core", "Whether the logits stay during backward not given: taken to be dropped"),
         [](const AssumptionCase& c) { return c.isTorch && isOpen(c, c.plan.implementation.keepsLogits); },
         {{"true", true}}},
        {"shard.fsdp_version",
         "1",
         HEADROOM_TR("core", "FSDP's version not given: the first taken, as accelerate does"),
         [](const AssumptionCase& c) {
             return c.isTorch && isOpen(c, c.plan.shard.fsdpVersion) && profileOf(c.plan).starts_with("hf")
                 && usesFirstFsdp(c.plan, *torchHabits(profileOf(c.plan)));
         },
         {{"2", true}}},
        {"optimizer.impl",
         "as the framework does",
         HEADROOM_TR("core", "Optimizer implementation not given: the framework's usual one taken"),
         [](const AssumptionCase& c) { return c.isTorch && isOpen(c, c.plan.optimizer.impl); },
         {{"fused", true}, {"foreach"}, {"for-loop"}}},
    };
}

std::vector<AssumptionRow> expertRows()
{
    return {
        {"moe.load",
         "1",
         HEADROOM_TR("core", "Routing not known: balanced taken, the busiest rank may get half as much again"),
         [](const AssumptionCase& c) { return hasExperts(c) && isOpen(c, c.plan.moe.load); },
         {{"1.5", true}},
         true},
        {"moe.dispatcher",
         "allgather",
         HEADROOM_TR("core", "Token dispatcher not given: all-gather, Megatron-LM's default, taken"),
         [](const AssumptionCase& c) { return hasExperts(c) && c.isMegatron && isOpen(c, c.plan.moe.dispatcher); },
         {{"alltoall", true}}},
        {"moe.grouped_gemm",
         "false",
         HEADROOM_TR("core", "Grouped expert products not given: one by one taken"),
         [](const AssumptionCase& c) { return hasExperts(c) && c.isMegatron && isOpen(c, c.plan.moe.groupedGemm); },
         {{"true", true}}},
        {"implementation.kept_expert_output",
         "true",
         HEADROOM_TR("core",
                     "Library age not known: one since 2025-10 taken, whose deterministic runs keep what experts "
                     "return"),
         [](const AssumptionCase& c) {
             return hasExperts(c) && c.isMegatron && c.plan.implementation.deterministic.value
                 && !c.plan.moe.permuteFusion.value && isOpen(c, c.plan.implementation.keptExpertOutput);
         },
         {{"false", true}}},
    };
}

/// Sizes and choices that a configuration normally states.
std::vector<AssumptionRow> inputRows()
{
    return {
        {"batch.accum",
         "1",
         HEADROOM_TR("core", "Neither accumulation nor global batch given: one micro-batch a step taken"),
         [](const AssumptionCase& c) { return isOpen(c, c.plan.batch.accum) && !c.plan.batch.global.isKnown(); },
         {{"64"}}},
        {"parallel.dp",
         "1",
         HEADROOM_TR("core", "Neither data-parallel size nor number of GPUs given: one replica taken"),
         [](const AssumptionCase& c) { return isOpen(c, c.plan.parallel.dp) && !c.plan.parallel.world.isKnown(); },
         {{"8"}}},
        {"objective.reference",
         "separate",
         HEADROOM_TR("core", "Reference model not given: a frozen copy of the whole model taken"),
         [](const AssumptionCase& c) {
             return isOpen(c, c.plan.objective.reference) && referenceModel(c.plan) == ReferenceModel::Separate;
         },
         {{"none"}}},
        {"objective.value",
         "separate",
         HEADROOM_TR("core", "Value model not given: a second model that trains with the policy taken, as in TRL"),
         [](const AssumptionCase& c) {
             return isOpen(c, c.plan.objective.value) && valueModel(c.plan) == ValueModel::Separate;
         },
         {{"head"}, {"none"}}},
        {"objective.reward",
         "separate",
         HEADROOM_TR("core", "Reward model not given: a frozen model of the policy's size taken, as in TRL"),
         [](const AssumptionCase& c) {
             return isOpen(c, c.plan.objective.reward) && rewardModel(c.plan) == RewardModel::Separate;
         },
         {{"none"}}},
        {"objective.response",
         "none",
         HEADROOM_TR("core", "Length of generated responses not given: no memory for generating taken"),
         [](const AssumptionCase& c) { return isOpen(c, c.plan.objective.response) && trainsPolicyWithValue(c.plan); },
         {{"256"}}},
        {"precision.recipe",
         "bf16-mixed",
         HEADROOM_TR("core", "Precision not given: 16-bit weights and gradients, fp32 optimizer state taken"),
         [](const AssumptionCase& c) {
             return isOpen(c, c.plan.precision.recipe) && !c.plan.precision.params.isStated()
                 && !c.plan.precision.grads.isStated();
         },
         {{"megatron-bf16"}, {"fp32"}, {"bf16-pure"}}},
        {"recompute.granularity",
         "none",
         HEADROOM_TR("core", "Recomputation not given: none taken"),
         [](const AssumptionCase& c) {
             return !c.plan.recompute.enabled.isStated() && isOpen(c, c.plan.recompute.granularity);
         },
         {{"full", false, "recompute.granularity", "full", "recompute.enabled", "true"}}},
        {"parallel.sp",
         "false",
         HEADROOM_TR("core", "Sequence parallelism not given: taken to be off"),
         [](const AssumptionCase& c) { return c.plan.parallel.tp.value > 1 && isOpen(c, c.plan.parallel.sp); },
         {{"true"}}},
        {"shard.dist_opt",
         "false",
         HEADROOM_TR("core", "Distributed optimizer not given: every replica taken to keep the whole state"),
         [](const AssumptionCase& c) { return c.isMegatron && isOpen(c, c.plan.shard.distOpt); },
         {{"true"}}},
        {"model.vocab_pad_multiple",
         "1",
         HEADROOM_TR("core", "Padding of the vocabulary not given: none taken, Megatron-LM pads to 128 per rank"),
         [](const AssumptionCase& c) {
             return c.isMegatron && isOpen(c, c.plan.model.vocabPadMultiple) && !c.plan.model.paddedVocab.isKnown();
         },
         {{"128", true}}},
        {"model.tied_embeddings",
         "true",
         HEADROOM_TR("core", "Tying of embedding and output layer not given: taken to share their weights"),
         [](const AssumptionCase& c) { return isOpen(c, c.plan.model.tiedEmbeddings); },
         {{"false"}}},
        {"model.ffn",
         "4 × hidden",
         HEADROOM_TR("core", "Width of the MLP not given: four times the hidden size without a gate taken"),
         [](const AssumptionCase& c) {
             return isOpen(c, c.plan.model.ffn) && !hasExperts(c) && isOpen(c, c.plan.model.gatedMlp);
         },
         {{"with a gate", false, "model.gated_mlp", "true"}}},
        {"model.kv_heads",
         "as many as heads",
         HEADROOM_TR("core", "Key and value heads not given: as many as query heads taken"),
         [](const AssumptionCase& c) {
             return isOpen(c, c.plan.model.kvHeads) && c.plan.model.heads.value % 8 == 0
                 && c.plan.mla.kvLoraRank.value == 0;
         },
         {{"8"}}},
        {"model.hidden_dropout",
         "0",
         HEADROOM_TR("core", "Dropout not given: none taken"),
         [](const AssumptionCase& c) { return c.isMegatron && isOpen(c, c.plan.model.hiddenDropout); },
         {{"0.1"}}},
        {"vision.images_per_sample",
         "1",
         HEADROOM_TR("core", "Images per sample not given: one taken"),
         [](const AssumptionCase& c) {
             return c.plan.vision.layers.value > 0 && isOpen(c, c.plan.vision.imagesPerSample);
         },
         {{"2"}}},
    };
}

/// By name, or by the pattern's letter.
bool hasStateSpaces(const TrainingPlan& plan)
{
    const std::string& kind = plan.mixer.kind.value;
    const bool hasLetter = plan.model.layerPattern.value.find('M') != std::string::npos;
    return kind.starts_with("mamba") || (kind.empty() && hasLetter);
}

/// Over ranks whose frameworks have no hybrids of their own.
bool splitsMixers(const AssumptionCase& asked)
{
    const TorchHabits* habits = torchHabits(profileOf(asked.plan));
    const ParallelPlan& parallel = asked.plan.parallel;
    return habits != nullptr && isHybrid(asked.plan)
        && (parallel.cp.value > 1 || (parallel.tp.value > 1 && habits->supportsTensorParallel));
}

/// Transformers' hybrids compute their mixers by libraries where these are there, else in Python, which keeps far more;
/// no tape describes that, so there is no figure for it.
std::vector<AssumptionRow> mixerRows()
{
    return {
        {"mixer.kind",
         "mamba_ssm, causal_conv1d",
         HEADROOM_TR("core", "Kernels of the state spaces taken as installed: without them much more is kept"),
         [](const AssumptionCase& c) { return c.isTorch && hasStateSpaces(c.plan); },
         {}},
        {"mixer.kind",
         "flash-linear-attention, causal_conv1d",
         HEADROOM_TR("core", "Kernels of the delta nets taken as installed: without them much more is kept"),
         [](const AssumptionCase& c) { return c.isTorch && c.plan.mixer.kind.value == "gated_delta_net"; },
         {}},
        {"mixer.heads",
         "Megatron-LM",
         HEADROOM_TR(
             "core",
             "Mixers spread over ranks as Megatron-LM's, as the framework has no way of its own: whole ones take more"),
         &splitsMixers,
         {}},
    };
}

} // namespace

std::vector<AssumptionRow> assumptionRows()
{
    std::vector<AssumptionRow> rows = implementationRows();
    for (std::vector<AssumptionRow> more : {expertRows(), inputRows(), mixerRows()}) {
        std::move(more.begin(), more.end(), std::back_inserter(rows));
    }
    return rows;
}

AssumptionCase assumptionCase(const TrainingPlan& plan)
{
    const std::string_view profile = profileOf(plan);
    AssumptionCase result{plan};
    result.isMegatron = profile.starts_with("megatron") && !profile.starts_with("megatron-2");
    result.isTorch = torchHabits(profile) != nullptr;
    result.isFormless = plan.framework.value.empty() || plan.framework.value == "base-yaml";
    return result;
}

} // namespace headroom
