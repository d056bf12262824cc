// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/history.h"
#include "workspace/open_files.h"

#include <QFuture>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace headroom {

class Workspace;

/// What is known of one of two runs that are compared, beside its figures.
struct ComparedSide
{
    std::shared_ptr<const Run> run; ///< the log; null: estimated
    std::vector<std::optional<Bytes>> measuredStages; ///< of the log, where it tells the stages apart
    std::optional<Footprint> footprint; ///< the estimate; none beside a log
};

/// The run before, to compare the open one with: a log with or without its config, or the estimate of a config.
struct OtherRun
{
    std::string name;
    std::optional<RunFigures> measured; ///< of the log
    std::optional<TrainingPlan> plan; ///< null: neither a config nor arguments in the log
    std::optional<Footprint> instant, exact; ///< the plan's estimate, where there is no log
    std::shared_ptr<const Run> run;
    std::vector<std::optional<Bytes>> measuredStages;

    /// As exactly as it is known.
    [[nodiscard]] HistoryRun forHistory() const;
};
using OtherRunAnswer = std::shared_ptr<const Result<OtherRun>>;

/// Opens it away from the window. What its config leaves open about model and GPU is taken from `open`, the plan it is
/// compared with. Fails where there is neither a measurement nor an estimate.
[[nodiscard]] QFuture<OtherRunAnswer> openOtherRun(const std::vector<std::filesystem::path>& paths,
                                                   std::shared_ptr<const Library> library, TrainingPlan open);

struct ComparedRuns
{
    RunComparison comparison;
    ComparedSide before, after;
    std::optional<TrainingPlan> planAfter;
};

/// Sets it beside what is open: a log beside the open log where there is one, else beside the estimate of the plan as
/// it stands; estimates by the same engine. Fails with the reason where nothing that can be compared is open.
[[nodiscard]] Result<ComparedRuns> compareWith(const OtherRun& before, const Workspace& after);

/// What is open as a run of a history: the log while the plan is the files' own, else the estimate of the plan as it
/// stands. Fails with the reason where there is neither.
[[nodiscard]] Result<HistoryRun> currentRun(const Workspace& workspace);
/// The plan the open log was made with; null: not known.
[[nodiscard]] const TrainingPlan* planOfOpenLog(const Workspace& workspace);

} // namespace headroom
