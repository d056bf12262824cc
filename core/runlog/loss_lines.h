// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace headroom {

/// The losses of a file of JSON lines, {"step": 3, "loss": 2.5}, in file order; the vectors are of one length. A loss
/// that is null, NaN or infinite is NaN here.
struct LossLines
{
    std::vector<std::int64_t> steps;
    std::vector<double> losses;
    std::vector<std::int64_t> lines; ///< 1-based
    std::vector<Problem> problems; ///< the first maxProblems lines that are not JSON or have a loss without a step
    std::int64_t problemCount = 0; ///< all of them
    static constexpr std::size_t maxProblems = 1000;
};

/// Reads such a file, of any size. Other keys are ignored, lines without a loss too (evaluations, learning rates).
/// Fails when the file can't be read or no line has both.
[[nodiscard]] Result<LossLines> readLossLines(const std::filesystem::path& path);

/// Whether a file's first line that is not empty looks like one of them: a JSON object with a step and a loss.
[[nodiscard]] bool looksLikeLossLines(const std::filesystem::path& path);

} // namespace headroom
