// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/loss_answer.h"

#include "insight/loss_files.h"

#include <QtConcurrentRun>

namespace headroom {
namespace {

Result<LossReport> compared(const std::filesystem::path& firstPath, const std::filesystem::path& secondPath)
{
    LossReport report;
    auto first = readLosses(firstPath, report.problems);
    if (!first) {
        return tl::unexpected(std::move(first.error()));
    }
    auto second = readLosses(secondPath, report.problems);
    if (!second) {
        return tl::unexpected(std::move(second.error()));
    }
    auto comparison = compareLosses(*first, *second);
    if (!comparison) {
        return tl::unexpected(std::move(comparison.error()));
    }
    report.findings = lossFindings(*first, *second, *comparison);
    report.first = std::move(*first);
    report.second = std::move(*second);
    report.comparison = std::move(*comparison);
    return report;
}

} // namespace

QFuture<LossAnswer> compareLossFiles(const std::filesystem::path& first, const std::filesystem::path& second)
{
    return QtConcurrent::run([first, second]() -> LossAnswer {
        return std::make_shared<const Result<LossReport>>(compared(first, second));
    });
}

} // namespace headroom
