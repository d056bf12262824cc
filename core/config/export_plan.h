// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"
#include "config/config_format.h"
#include "plan/fields.h"

#include <string>
#include <vector>

namespace headroom {

/// A plan as a new file of some format.
struct PlanExport
{
    std::string bytes;
    std::string name; ///< with the ending that the format's files have
    /// What the file does not say as the plan does: `before` is the plan's value, `after` what the file means (empty:
    /// nothing).
    std::vector<FieldDifference> omitted;
    /// What the file means where the plan says nothing: the format's own defaults.
    std::vector<FieldDifference> assumed;
};

/// The formats that a plan can be written in.
[[nodiscard]] std::vector<const ConfigFormat*> exportFormats(const ConfigFormats& formats);

/// The comment at the top of a file made from `source`: where it is from, and that memory is all it speaks of.
[[nodiscard]] std::string exportHeading(const std::string& source);

/// Writes the plan in another format. Nothing here knows a format: settings are taken from its data file as long as
/// reading the file again comes closer to the plan, so that what is written is what will be read. A value that the
/// format means anyway is not written. `name` is that of the new file without ending, `heading` its comment. Fails for
/// a format that no file can be written in.
[[nodiscard]] Result<PlanExport> exportPlan(const TrainingPlan& plan, const ConfigFormat& format,
                                            const Catalog& catalog, const std::string& name,
                                            const std::string& heading = {});

} // namespace headroom
