// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which tapes describe a plan, and the facts of its GPU that they depend on.
#include "footprint/tape/shape.h"
#include "footprint/torch/gpt_pipeline.h"
#include "footprint/torch/habits.h"
#include "units/bytes.h"

#include <array>

namespace headroom {

std::int64_t computeCapability(const HardwarePlan& hardware)
{
    if (hardware.computeCapability.isKnown()) {
        return hardware.computeCapability.value;
    }
    if (!hardware.gpu.isKnown()) {
        return 9;
    }
    struct Generation
    {
        std::string_view name;
        std::int64_t capability;
    };
    constexpr std::array<Generation, 16> generations{{
        {"h100", 9},
        {"h200", 9},
        {"h20", 9},
        {"h800", 9},
        {"gh200", 9},
        {"gb200", 10},
        {"b200", 10},
        {"b100", 10},
        {"b300", 10},
        {"v100", 7},
        {"t4", 7},
        {"a100", 8},
        {"a800", 8},
        {"rtx-50", 12},
        {"rtx", 8},
        {"l40", 8},
    }};
    for (const Generation& generation : generations) {
        if (hardware.gpu.value.find(generation.name) != std::string::npos) {
            return generation.capability;
        }
    }
    return 8;
}

std::int64_t cublasWorkspaceBytes(const TrainingPlan& plan)
{
    const bool isDeterministic = plan.implementation.deterministic.valueOr(false);
    const bool isLarge = isDeterministic || computeCapability(plan.hardware) >= 9;
    return plan.implementation.cublasWorkspaceBytes.valueOr(isLarge ? mib(32).value : kib(4096 * 2 + 16 * 8).value);
}

std::string_view profileOf(const TrainingPlan& plan)
{
    if (plan.implementation.profile.isKnown()) {
        const std::string& name = plan.implementation.profile.value;
        if (const TorchHabits* habits = torchHabits(name)) {
            return habits->profile;
        }
        if (isGptPipeline(name)) {
            return name;
        }
        for (const std::string_view megatron : {"megatron-te", "megatron-local", "megatron-kwai"}) {
            if (name == megatron) {
                return megatron;
            }
        }
        return {};
    }
    const std::string& framework = plan.framework.value;
    const auto isOf = [&framework](std::string_view name) { return framework.find(name) != std::string::npos; };
    if (framework.empty() || framework == "base-yaml" || isOf("megatron") || isOf("nemo")) {
        return "megatron-te";
    }
    if (isOf("gpt-neox")) {
        return "deepspeed-pipeline";
    }
    if (isOf("torchtitan")) {
        return "torchtitan";
    }
    if (isOf("torchtune")) {
        return "torchtune";
    }
    for (const std::string_view own : {"prime-rl", "litgpt", "internevo", "galvatron", "nanotron"}) {
        if (isOf(own)) {
            return own;
        }
    }
    if (isOf("hf") || isOf("transformers") || isOf("swift") || isOf("deepspeed") || isOf("trl") || isOf("axolotl")
        || isOf("llama-factory")) {
        const std::string& attention = plan.attention.impl.value;
        return attention == "eager" ? "hf-eager" : attention.starts_with("flash") ? "hf-flash" : "hf-sdpa";
    }
    return {};
}

} // namespace headroom
