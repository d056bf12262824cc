// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace headroom::accuracy {

struct FlagReading
{
    TrainingPlan plan;
    std::vector<std::string> notUnderstood; ///< flags that change memory in a way the plan cannot say
};

/// A dictionary of Megatron-LM arguments ({"--num-layers": 12, "--bf16": true}) as the program reads such a file, with
/// what the files of the measured runs leave to others.
[[nodiscard]] FlagReading planFromMegatronFlags(const nlohmann::json& flags);

/// What a result file of Megatron's functional tests says besides the flags: the GPU, how many, and from the age of
/// the libraries ("dev", "lts", older) which of their habits existed (theory_dense.md section 1).
struct RunFacts
{
    std::string environment, platform; ///< "dev", "gb200_2nd"; the file's name stands in either where it says more
    std::int64_t world = 8;
    std::string test = {}; ///< its name tells what it sets in the environment
};
void applyRunFacts(const RunFacts& facts, TrainingPlan& plan);

} // namespace headroom::accuracy
