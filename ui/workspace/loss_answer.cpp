// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/loss_answer.h"

#include "insight/loss_files.h"
#include "runlog/log_arguments.h"

#include <QtConcurrentRun>

#include <utility>

namespace headroom {
namespace {

std::optional<TrainingPlan> planOf(const Run& log, const Library& library)
{
    auto plan = planOfArguments(log, library.formats, library.catalog);
    return plan ? std::optional(std::move(*plan)) : std::nullopt;
}

Result<LossReport> compared(const std::filesystem::path& firstPath, const std::filesystem::path& secondPath,
                            const Library& library)
{
    LossReport report;
    Run firstLog, secondLog;
    auto first = readLosses(firstPath, report.problems, &firstLog);
    if (!first) {
        return tl::unexpected(std::move(first.error()));
    }
    auto second = readLosses(secondPath, report.problems, &secondLog);
    if (!second) {
        return tl::unexpected(std::move(second.error()));
    }
    auto comparison = compareLosses(*first, *second);
    if (!comparison) {
        return tl::unexpected(std::move(comparison.error()));
    }
    report.firstPlan = planOf(firstLog, library);
    report.secondPlan = planOf(secondLog, library);
    report.first = std::move(*first);
    report.second = std::move(*second);
    report.comparison = std::move(*comparison);
    return report;
}

} // namespace

QFuture<LossAnswer> compareLossFiles(const std::filesystem::path& first, const std::filesystem::path& second,
                                     std::shared_ptr<const Library> library)
{
    return QtConcurrent::run([first, second, library = std::move(library)]() -> LossAnswer {
        return std::make_shared<const Result<LossReport>>(compared(first, second, *library));
    });
}

std::vector<Finding> findingsOf(const LossReport& report, const LossPlans& plans)
{
    const auto known = [](const std::optional<TrainingPlan>& own, const std::optional<TrainingPlan>& given) {
        return own ? &*own : given ? &*given : nullptr;
    };
    const TrainingPlan* first = known(report.firstPlan, plans.first);
    const TrainingPlan* second = known(report.secondPlan, plans.second);
    std::vector<Finding> findings = lossFindings(report.first, report.second, report.comparison, first, second);
    const bool isExplained = report.comparison.holds() || report.comparison.verdict == LossVerdict::Shifted;
    if (!isExplained && (first == nullptr || second == nullptr)) {
        Finding finding;
        finding.id = "loss-plans-unknown";
        finding.title = Text{HEADROOM_TR("core", "The plans of both runs would tell more")};
        finding.explanation = Text{HEADROOM_TR(
            "core",
            "Open the config of the second run and choose that of the first in Compare: then the causes are "
            "looked up in both.")};
        findings.push_back(std::move(finding));
    }
    return findings;
}

} // namespace headroom
