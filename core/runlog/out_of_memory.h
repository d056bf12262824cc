// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "runlog/log_arguments.h"
#include "runlog/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Why an allocation failed.
enum class OutOfMemoryCause : std::uint8_t {
    Shortage, ///< tensors fill the device
    Fragmentation, ///< the allocator has more than was asked for, in pieces
    OutsideAllocator, ///< other processes, the context or communication hold what is missing
    GiantBlock, ///< one tensor of a quarter of the device or more
    Limit, ///< a memory fraction set by the user
    Host, ///< the machine's memory, not the GPU's
    Unknown ///< the message has no sizes
};

/// An out-of-memory message taken apart; amounts that it does not say are absent. PyTorch prints the size of the
/// segment it wanted from the driver: whole multiples of 2 MiB above 10 MiB (c10/cuda/CUDACachingAllocator.cpp).
struct OutOfMemory
{
    std::uint16_t file = 0; ///< index into Run::files
    std::int64_t line = 0;
    std::int32_t rank = -1; ///< of the line's prefix
    std::optional<std::int64_t> device; ///< index within the process
    std::string backend; ///< CUDA, HIP, XPU, NPU, MPS; empty when not said
    std::string message; ///< of messages without sizes
    std::optional<Bytes> requested, capacity, free, allocated, reserved, process, otherProcesses, limit, privatePools;
    std::optional<Phase> phase; ///< from the traceback above: what ran when it failed
    OutOfMemoryCause cause = OutOfMemoryCause::Unknown;
    Text meaning; ///< the cause as a sentence with the message's figures
};

/// The out-of-memory messages of a log in order.
[[nodiscard]] std::vector<OutOfMemory> outOfMemoryOf(const Run& run);

/// The tensors of a plan that have the size of a failed request once it is rounded up to 2 MiB as PyTorch does: logits,
/// attention scores.
[[nodiscard]] std::vector<Text> blocksOfSize(Bytes requested, const TrainingPlan& plan);
/// The gradient buffers of that size: 4 or 2 bytes for each of a rank's parameters, as the log counts them.
[[nodiscard]] std::vector<Text> buffersOfSize(Bytes requested, const std::vector<LogParameters>& parameters);

} // namespace headroom
