// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/compare.h"
#include "workspace/open_files.h"

#include <QFuture>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace headroom {

class Workspace;

/// The run before, to compare the open one with: a log with or without its config, or the estimate of a config.
struct OtherRun
{
    std::string name;
    std::optional<RunFigures> measured; ///< of the log
    std::optional<TrainingPlan> plan; ///< null: neither a config nor arguments in the log
    std::optional<RunFigures> instant, exact; ///< of the plan's estimate, where there is no log
};
using OtherRunAnswer = std::shared_ptr<const Result<OtherRun>>;

/// Opens it away from the window. What its config leaves open about model and GPU is taken from `open`, the plan it is
/// compared with. Fails where there is neither a measurement nor an estimate.
[[nodiscard]] QFuture<OtherRunAnswer> openOtherRun(const std::vector<std::filesystem::path>& paths,
                                                   std::shared_ptr<const Library> library, TrainingPlan open);

/// Sets it beside what is open: a log beside the open log where there is one, else beside the estimate of the plan as
/// it stands; estimates by the same engine. Fails with the reason where nothing that can be compared is open.
[[nodiscard]] Result<RunComparison> compareWith(const OtherRun& before, const Workspace& after);

} // namespace headroom
