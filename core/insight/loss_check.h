// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"
#include "runlog/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Losses of one run by step: ascending, each step once.
struct LossSeries
{
    std::string name;
    std::vector<std::int64_t> steps;
    std::vector<double> losses;
    std::vector<std::int64_t> lines; ///< where each stands; 0: unknown
    std::int64_t duplicates = 0; ///< steps that came again, as after a restart: the later value is taken
    std::int64_t notFinite = 0; ///< NaN or infinite values, left out
    std::int64_t missing = 0; ///< steps absent between the first and the last, by the usual distance

    /// From (step, loss, line) rows in file order; the vectors are of one length.
    [[nodiscard]] static LossSeries of(std::string name, std::vector<std::int64_t> steps, std::vector<double> losses,
                                       std::vector<std::int64_t> lines);
    /// The losses that a log's records carry.
    [[nodiscard]] static LossSeries of(const Run& run);
};

/// What the difference of two runs with the same seed looks like (workflow.md section 5).
enum class LossVerdict : std::uint8_t {
    Identical, ///< to the last printed digit
    Noise, ///< within the tolerance, no trend: the split did not change the mathematics
    Shifted, ///< the same losses one step apart: one run logs before its update, the other after it
    Scaled, ///< a constant factor: summed over micro-batches instead of averaged, or divided by another count
    OtherData, ///< the steps go up and down independently: other batches or another order
    OtherBatch, ///< as before, and the noise has another size: another global batch
    Drift, ///< starts alike and grows apart
    Different ///< beyond the tolerance from the start
};
[[nodiscard]] Text titleOf(LossVerdict verdict);
[[nodiscard]] std::string_view nameOf(LossVerdict verdict); ///< "other_batch"

struct LossComparison
{
    LossVerdict verdict = LossVerdict::Identical;
    std::vector<std::int64_t> steps; ///< the common ones, ascending
    std::vector<double> first, second; ///< losses at them
    double tolerance = 0; ///< of one step's difference
    double scale = 0, noise = 0; ///< what it follows: the typical loss, and its change from step to step
    double largest = 0; ///< largest absolute difference
    std::int64_t largestStep = 0;
    double largestOfFirst = 0; ///< among the first `window` common steps
    double trendPerStep = 0; ///< least-squares slope of the absolute difference
    std::optional<std::int64_t> departsAt; ///< first step from which the difference stays above the tolerance
    double factor = 1; ///< second by first, where they are Scaled
    std::int64_t shift = 0; ///< steps by which the second is later, where they are Shifted

    [[nodiscard]] bool holds() const { return verdict == LossVerdict::Identical || verdict == LossVerdict::Noise; }
};

struct LossOptions
{
    std::optional<double> tolerance; ///< instead of the derived one
    std::int64_t window = 30; ///< "the first 30 common steps"
};

/// Aligns two runs by step and says what sets them apart. Fails when fewer than two steps are common.
[[nodiscard]] Result<LossComparison> compareLosses(const LossSeries& first, const LossSeries& second,
                                                   const LossOptions& options = {});

/// The comparison as findings, with the causes to look at; plans sharpen them where they are known (null: unknown).
[[nodiscard]] std::vector<Finding> lossFindings(const LossSeries& first, const LossSeries& second,
                                                const LossComparison& comparison,
                                                const TrainingPlan* firstPlan = nullptr,
                                                const TrainingPlan* secondPlan = nullptr);

} // namespace headroom
