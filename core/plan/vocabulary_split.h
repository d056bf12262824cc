// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <cstdint>

namespace headroom {

/// Embedding and output layer spread over all stages of a 1F1B pipeline (arXiv:2411.05288,
/// sail-sg/VocabularyParallelism).
enum class VocabularySplit : std::uint8_t {
    None,
    TwoBarriers, ///< variant 1: the stages wait for each other twice a micro-batch
    OneBarrier, ///< variant 2: once
    Interlaced ///< the stages run the vocabulary layers at the same time, between their other passes
};

/// Stated as "variant1", "variant2" or "interlaced"; none without a plain 1F1B pipeline.
[[nodiscard]] VocabularySplit vocabularySplit(const TrainingPlan& plan);
/// Micro-batches that a stage holds beyond those of 1F1B: p + 2, p + 1 and 1.5 p on the first one (the repository's
/// README).
[[nodiscard]] std::int64_t extraInFlight(VocabularySplit split, std::int64_t stages);

} // namespace headroom
