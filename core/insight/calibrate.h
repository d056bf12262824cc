// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"
#include "insight/least_squares.h"

#include <optional>
#include <span>
#include <vector>

namespace headroom {

/// An allocated peak that a run showed, and the plan it ran with.
struct CalibrationPoint
{
    TrainingPlan plan;
    std::size_t stage = 0;
    std::optional<Phase> phase; ///< whose peak; of the whole step when not known
    Bytes allocated;
    Evidence evidence;
};

/// The peaks of a log as points of this plan: of every pipeline stage and phase that it shows. Fails with the reason
/// where the log can't determine activations: no allocated bytes, ranks unknown with several stages, only the last
/// stage of several (its peak is the logits'), the schedule of several stages not stated.
[[nodiscard]] Result<std::vector<CalibrationPoint>> calibrationPoints(const Run& run, const RunSummary& summary,
                                                                      const TrainingPlan& plan);

/// Another setting under which theory alone meets the measurements: what the run most likely did.
struct Suspect
{
    Text name;
    Text title; ///< the sentence about the log
    std::vector<PlanEdit> edits;
    double misfit = 0; ///< root mean square of the relative differences
};

/// What measurements say beyond theory: estimated peak = theory + (activations − 1) · activation bytes + offset, by
/// weighted least squares with theory as the prior where few points are there (theory.md 9).
struct Calibrated
{
    Calibration calibration; ///< theory's own where a suspect explains the measurements
    RealInterval activations; ///< 95 % of calibration.activations
    Bytes offsetLow, offsetHigh;
    double k = 0, theoryK = 0; ///< bytes per token, layer and hidden unit, halved: of the first point's stage
    double misfit = 0; ///< of theory alone, root mean square of the relative differences
    std::optional<double> reducedChiSquare;
    struct Residual
    {
        Bytes measured, theory, predicted;
        Evidence evidence;
    };
    std::vector<Residual> residuals;
    std::vector<Suspect> suspects; ///< best first
    std::vector<Text> remarks;

    /// 95 % interval of a stage's allocated peak, from its footprint without calibration.
    [[nodiscard]] std::pair<Bytes, Bytes> predict(const StageFootprint& theory) const;

    std::optional<LeastSquares> fit; ///< in GiB: unknowns are activations − 1 and the offset
};

/// Fails without points, where all of them are of the optimizer's phase, and as the estimator does.
[[nodiscard]] Result<Calibrated> calibrate(std::span<const CalibrationPoint> points,
                                           Estimator estimator = estimateInstantly);

/// The pipeline stage of a rank in Megatron's order, tensor parallel fastest and pipeline slowest; null beyond the run.
[[nodiscard]] std::optional<std::size_t> stageOfRank(const TrainingPlan& plan, std::int32_t rank);

} // namespace headroom
