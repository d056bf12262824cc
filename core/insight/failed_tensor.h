// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/tensor_kind.h"
#include "plan/training_plan.h"
#include "units/bytes.h"
#include "units/text.h"

#include <optional>
#include <vector>

namespace headroom {

/// A tensor of a plan that an allocation may have failed for.
struct FailedTensor
{
    TensorKind kind{};
    std::size_t stage = 0;
    std::optional<Phase> phase; ///< that allocates it; none: before the first step

    [[nodiscard]] Text text() const; ///< "of this size: logits (stage 3, forward)"
    friend bool operator==(const FailedTensor&, const FailedTensor&) = default;
};

/// The plan's tensors of the size that an out-of-memory message names, each kind once: of one stage where that is known
/// (else of the first that has it), of one phase where that is known and has any. The message names the segment that
/// was asked of the driver, a multiple of 2 MiB, to two decimals; below 20 MiB it says nothing about the tensor
/// (c10/cuda/CUDACachingAllocator.cpp, theory.md 6.3). Empty where no tapes describe the plan.
[[nodiscard]] std::vector<FailedTensor> tensorsOfSize(Bytes requested, const TrainingPlan& plan,
                                                      std::optional<std::size_t> stage, std::optional<Phase> phase);

} // namespace headroom
