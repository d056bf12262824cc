// SPDX-License-Identifier: GPL-3.0-or-later
// What a user gets who calibrates on one run and asks about another: the groups of cases.yaml whose runs differ in few
// settings.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headroom::accuracy {

/// A run predicted from another one of its group; errors are predicted / measured − 1.
struct PairPrediction
{
    std::string group, from, to;
    double theoryError = 0, calibratedError = 0;
    double activations = 1; ///< the coefficient that the first run gave
    bool isSuspicious = false; ///< another setting explains the first run better than a coefficient
};

/// Every ordered pair of runs of the folder's cases.yaml that can be computed.
[[nodiscard]] std::vector<PairPrediction> predictPairs(const std::filesystem::path& folder);

} // namespace headroom::accuracy
