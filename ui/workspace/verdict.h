// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "insight/run_summary.h"

#include <QString>

#include <optional>
#include <string_view>

namespace headroom {

/// The one line on top of the window.
struct Verdict
{
    enum class Level { None, Unknown, Fits, Tight, DoesNotFit };

    Level level = Level::None; ///< None: nothing to judge; Unknown: no capacity or no estimate
    QString sentence;
    QString exactness; ///< how far the figure can be trusted

    friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct VerdictInput
{
    const Footprint* footprint = nullptr; ///< null: the plan cannot be estimated
    QString obstacle; ///< why not
    std::optional<Bytes> capacity;
    std::string_view profile; ///< whose layers the exact figures describe
    bool hasOwnK = false; ///< k was set by the user
    bool isCalibrated = false; ///< measured coefficients correct it
    const Run* run = nullptr;
    const RunSummary* summary = nullptr;
    const Footprint* originalFootprint = nullptr; ///< of the plan the log was made with
};

/// Judges the device peak of the fullest stage, or the log's own peak where there is no estimate. Tight: under 5 % of
/// the capacity is left.
[[nodiscard]] Verdict judge(const VerdictInput& input);

/// The sentence for a plan that can't be estimated.
[[nodiscard]] QString noEstimateText(const QString& obstacle);
[[nodiscard]] QString phaseName(Phase phase);
/// The stage panels speak of: the chosen one where the estimate has it, the fullest otherwise.
[[nodiscard]] int shownStage(const Footprint& footprint, std::optional<int> chosen);

} // namespace headroom
