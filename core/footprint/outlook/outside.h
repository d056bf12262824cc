// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "footprint/recipe/architecture.h"

namespace headroom {

/// A figure that no formula gives, with the range it is found in.
struct Prior
{
    Bytes low, central, high;
};

/// Device memory that PyTorch's allocator doesn't hand out (theory.md 6.1 and 6.2, theory_frameworks.md 2.5): priors
/// all, to be replaced by a measurement where there is one.
struct OutsideMemory
{
    Prior context; ///< CUDA context and kernels
    std::int64_t communicators = 0; ///< that carry traffic
    Prior communication; ///< NCCL's buffers for rings and trees
    Prior exchange; ///< and for the all-to-all of experts

    [[nodiscard]] Bytes central() const { return context.central + communication.central + exchange.central; }
};
[[nodiscard]] OutsideMemory outsideMemory(const TrainingPlan& plan, const Split& split);

/// Groups of GPUs that exchange data: tensor, data, context, pipeline, tied embedding, norm and overflow of a split
/// model, experts and their replicas (megatron/core/parallel_state.py), or the profile's own; one GPU has none.
[[nodiscard]] std::int64_t communicators(const TrainingPlan& plan, const Split& split);

/// NCCL's buffers of one connection on one channel: LL 512 KiB, LL128 4.6875 MiB and Simple 4 MiB on the receiving side
/// and the sender's 2 MiB, rounded to 2 MiB (NCCL src/transport/p2p.cc).
inline constexpr Bytes ncclConnection = mib(12);

/// Sets what is outside the allocator on every stage, and the device figures.
void setOutsideMemory(Bytes outside, std::vector<StageFootprint>& stages);

} // namespace headroom
