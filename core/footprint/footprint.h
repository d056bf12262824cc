// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/bytes.h"
#include "units/text.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// What a log taught about this model: coefficients that replace the theory's own.
/// How well a calibration's coefficients are known: the squares of their 95 % half-widths and what they have in common,
/// in units of 1, GiB and GiB².
struct CalibrationSpread
{
    double activations = 0, both = 0, offset = 0;

    /// Half of the 95 % interval of a peak whose activations are so many by theory.
    [[nodiscard]] Bytes margin(Bytes activationBytes) const;
    friend bool operator==(const CalibrationSpread&, const CalibrationSpread&) = default;
};

struct Calibration
{
    /// Activation copies per layer, token and hidden unit of a layer that is neither recomputed nor split
    /// over tensor parallel GPUs; recomputation and splits then act on it as they do on the theory's own k.
    std::optional<double> k;
    double activations = 1; ///< measured by estimated activations, logits not among them (theory.md 9.1, 9.2)
    Bytes offset; ///< what else is allocated in every phase beyond the estimate
    std::optional<CalibrationSpread> spread = {}; ///< of the two; none where nothing was measured

    [[nodiscard]] bool scalesTapes() const { return activations != 1 || offset.value != 0; }
    friend bool operator==(const Calibration&, const Calibration&) = default;
};

struct Interval
{
    Bytes low, high;

    [[nodiscard]] bool contains(Bytes bytes) const { return low <= bytes && bytes <= high; }
    friend bool operator==(Interval, Interval) = default;
};

/// Between what a stage's peaks may be.
struct StageIntervals
{
    Interval allocated, reserved, device;
};

/// How a capacity stands to an interval.
enum class Fit : std::uint8_t { Fits, MayNotFit, DoesNotFit };

struct StageFootprint
{
    std::int64_t stage = 0;
    std::int64_t firstLayer = 0;
    std::int64_t layers = 0;
    std::int64_t parameters = 0; ///< on one GPU of the stage, after tensor parallelism
    std::int64_t inFlight = 0; ///< micro-batches whose activations are held at once
    std::array<Bytes, componentCount> components{}; ///< as they stand when the stage peaks
    std::array<Bytes, phaseCount> phases{}; ///< allocated peak of each phase, steady state
    Bytes steadyAllocated; ///< between two steps
    Bytes firstStepPeakAllocated; ///< Adam's moments do not exist yet
    Bytes peakAllocated;
    Bytes peakReserved;
    Bytes device; ///< reserved, context and libraries
    std::optional<StageIntervals> intervals; ///< once describeUncertainty() has worked them out
    Phase peakPhase = Phase::Backward;

    [[nodiscard]] Bytes component(Component which) const { return components[static_cast<std::size_t>(which)]; }
    [[nodiscard]] Bytes phase(Phase which) const { return phases[static_cast<std::size_t>(which)]; }
    [[nodiscard]] Bytes staticState() const;
};

/// The recipe of workflow.md section 2 taken literally: 12h² per block, L·12h² + V·h, B·S·h·L·k·2. Whole-model figures
/// before any split, except inFlight and peak, which are those of the fullest stage.
struct TextbookFigures
{
    std::int64_t blockParameters = 0;
    std::int64_t parameters = 0;
    Bytes staticState;
    Bytes activations; ///< of one micro-batch
    std::int64_t inFlight = 0;
    double k = 0;
    Bytes peak;
};

/// The stage with the largest device figure, the first of equals; 0 when there are none.
[[nodiscard]] std::size_t fullestOf(const std::vector<StageFootprint>& stages);

enum class Engine : std::uint8_t {
    Textbook, ///< closed forms of the recipe
    Instant, ///< tapes summed and maximised
    Replay ///< tapes walked through the allocator
};

struct Footprint
{
    Engine engine = Engine::Textbook;
    std::optional<Text> notExact; ///< why it is the textbook's though more was asked for
    std::vector<StageFootprint> stages;
    std::size_t fullestStage = 0; ///< by device bytes
    TextbookFigures textbook;
    std::int64_t modelParameters = 0; ///< all stages, vision and projector, ties counted once
    double k = 0; ///< the activation coefficient used, before recomputation; the textbook's k is what is left after it
    std::optional<Bytes> capacity; ///< of one GPU, when the plan names it

    [[nodiscard]] const StageFootprint& fullest() const { return stages[fullestStage]; }
    /// By the central figure; unknown without a capacity.
    [[nodiscard]] std::optional<bool> fits() const;
    /// By the intervals of all stages, where they are worked out; unknown without a capacity.
    [[nodiscard]] std::optional<Fit> fit() const;
};

/// Puts a calibration's activations and offset into a footprint that was estimated without them. A k is not its matter:
/// that one replaces the recipe's own.
void calibrate(Footprint& footprint, const Calibration& calibration);

} // namespace headroom
