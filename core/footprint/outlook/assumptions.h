// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Another value that an input nobody gave might have.
struct Alternative
{
    std::string value;
    std::vector<Bytes> changes; ///< what it adds to each stage's allocated peak
    bool isPlausible = false; ///< a fact about the run that configurations don't state, so part of the interval

    /// `preferred` where something changes there, else the stage that changes most.
    [[nodiscard]] std::size_t mostChangedStage(std::size_t preferred) const;
};

/// An input that matters and that nobody gave, with what was taken for it.
struct Assumption
{
    std::string_view field; ///< canonical key
    std::string taken;
    Text text; ///< the same as a sentence
    bool isRange = false; ///< everything up to the alternatives is possible (the routing of experts)
    std::vector<Alternative> alternatives; ///< none where what else might be cannot be estimated

    /// The largest change, either way, of one stage's allocated peak.
    [[nodiscard]] Bytes largestChange(std::size_t stage) const;
};

/// What was assumed about `plan`, the most consequential first; left out is what changes less than 0.05 % of every
/// stage or can't be estimated. Every alternative is an estimate of its own by the engine of `footprint` (the instant
/// one for a replay), so this is for display, not for a slider's tick; after a second the rest is not worked out.
[[nodiscard]] std::vector<Assumption> assumptionsOf(const TrainingPlan& plan, const Calibration& calibration,
                                                    const Footprint& footprint);

} // namespace headroom
