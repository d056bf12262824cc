// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"
#include "plan/training_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// What a config says, or leaves unsaid, and what the framework makes of it instead.
struct SettingWithoutEffect
{
    enum class Reason : std::uint8_t {
        Overruled, ///< `other` decides
        Neither, ///< written with `other`, and then both count for nothing
        Lacking, ///< counts only with `other`, which is not there
        NotRead, ///< nothing reads it; `other` is the switch
        ByItself, ///< the model's code has to do its part
        Refused, ///< the run stops over it beside `other`
        RefusedAlone, ///< the run stops over it without `other`
        ByDefault, ///< not written; the framework's default is `field` = true
        Idle, ///< nothing to do where the plan is as `where` says
        Dropped, ///< read, and nothing comes of it
        MissesVision, ///< recomputes the language model only; `other`, if any, is the tower's switch
        ExtraGather, ///< gathers sharded weights once more, which `other` does not
        Renamed, ///< an old name of `other`
        Unfilled ///< "auto" in a place that nothing fills in: the run stops
    };

    Reason reason = Reason::Overruled;
    bool isHarmless = false; ///< whoever wrote it most likely gets what they meant
    std::string key, value; ///< as the file has them
    std::string field; ///< ByDefault: the plan's field
    std::string file;
    std::int64_t line = 0;
    std::string other; ///< key; with its value where it stands in the file
    std::int64_t otherLine = 0; ///< 0: not in the file
    std::vector<ConfigFormat::Condition> where; ///< fields of the plan that it depends on
    std::string source; ///< where this was read: an address or a file of the framework
    std::vector<std::pair<std::string, std::string>> mend; ///< fields and values that do what was meant
};

/// The reasons that a data file's `effect` can name.
[[nodiscard]] std::optional<SettingWithoutEffect::Reason> reasonNamed(std::string_view effect);
/// Whether the fields of the plan that a setting depends on are such that it counts for nothing.
[[nodiscard]] bool holdsFor(const SettingWithoutEffect& setting, const TrainingPlan& plan);

/// Those the format's `no_effect` names, and switches that are on by default and matter for this plan.
[[nodiscard]] std::vector<SettingWithoutEffect>
settingsWithoutEffect(const ConfigDocument& document, const ConfigFormat& format, const TrainingPlan& plan);

} // namespace headroom
