// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "units/problem.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// What a training step's time goes into (theory.md 8.4).
enum class StepPart : std::uint8_t {
    Compute, ///< forward and backward of the slowest stage
    Recompute, ///< forward work that its backward repeats
    Bubble, ///< waiting while the pipeline fills and drains
    TensorTraffic,
    ContextTraffic,
    ExpertTraffic,
    PipelineTraffic,
    DataTraffic
};
inline constexpr int stepPartCount = 8;

/// "compute", "recompute", "bubble", "tensor_traffic", …
[[nodiscard]] std::string_view nameOf(StepPart part);

/// A step's cost by part, in units that mean nothing alone: half of a GPU's data-sheet rate is taken for products and
/// three quarters of its links' for traffic, whatever a run really reaches. Only the ratio of two costs says something.
/// Not in it: the optimizer's own step, input, and that small products run less efficiently.
struct StepCost
{
    std::array<double, stepPartCount> parts{};
    double samples = 0; ///< that the step trains on, over all replicas
    double gpus = 1;

    [[nodiscard]] double total() const;
    [[nodiscard]] double part(StepPart which) const { return parts[static_cast<std::size_t>(which)]; }
};
/// Fails where the plan's layers, sizes or sequence are not known or impossible.
[[nodiscard]] Result<StepCost> stepCost(const TrainingPlan& plan);

/// How much longer the second plan takes for the same samples, as a ratio only. Differences below 5 % are within what
/// the model leaves out (theory.md 8.4).
struct RelativeStepTime
{
    double ratio = 1; ///< of times for equal samples: 1.33 is a third slower
    std::array<double, stepPartCount> changes{}; ///< each part's share of ratio - 1
    double gpus = 1; ///< ratio of GPUs in use; ratio × gpus is that of GPU hours

    [[nodiscard]] bool isClear() const { return ratio > 1.05 || ratio < 1 / 1.05; }
    /// The part that changes most.
    [[nodiscard]] StepPart mainPart() const;
};
[[nodiscard]] RelativeStepTime relativeStepTime(const StepCost& before, const StepCost& after);
[[nodiscard]] Result<RelativeStepTime> relativeStepTime(const TrainingPlan& before, const TrainingPlan& after);

/// Bytes a GPU sends for tensor parallelism, per dense layer and micro-batch: four all-reduces of 2·T·h over a ring,
/// six with full recomputation; sequence parallelism gathers both norm outputs once more in backward (theory.md 8.3).
[[nodiscard]] double tensorTrafficBytes(double tokens, double hidden, double tensor, bool isSequence,
                                        bool isRecomputed);

/// What a node of this GPU offers, by data sheet: dense 16-bit products, NVLink or PCIe in one direction, and each
/// GPU's share of the network (NVIDIA's DGX systems).
struct MachineRates
{
    double flops = 0; ///< per second
    double link = 0, network = 0; ///< bytes per second
    std::int64_t linkedGpus = 8; ///< that reach each other by `link`
};
[[nodiscard]] MachineRates machineRates(const HardwarePlan& hardware);

} // namespace headroom
