// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "footprint/outlook/assumptions.h"

#include <string_view>
#include <vector>

namespace headroom {

/// Which figures a reason for doubt moves: what allocated is in doubt by, reserved and device are too.
enum class Measure : std::uint8_t { Allocated, Reserved, Device };

/// Why a figure may be off, and by how much on the fullest stage.
struct UncertaintyReason
{
    std::string_view id; ///< stable: "activations", "moe.load", "context", …
    Text text;
    Measure measure = Measure::Allocated;
    Bytes below, above;
    /// Any value within is as likely: added as it is, while other reasons are independent and add in quadrature
    /// (theory.md 9.5).
    bool isRange = false;
};

/// What a user should know before trusting an estimate.
struct Uncertainty
{
    std::vector<UncertaintyReason> reasons; ///< the largest first
    std::vector<Assumption> assumptions; ///< inputs that nobody gave
};

/// Works out the reasons and sets StageFootprint::intervals. For display: it estimates every alternative once more.
/// The half-widths are those of theory.md 9.5, or what the alternatives change.
[[nodiscard]] Uncertainty describeUncertainty(const TrainingPlan& plan, const Calibration& calibration,
                                              Footprint& footprint);

} // namespace headroom
