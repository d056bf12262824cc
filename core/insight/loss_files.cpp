// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/loss_files.h"

#include "runlog/loss_lines.h"
#include "runlog/read_log.h"

namespace headroom {

Result<LossSeries> readLosses(const std::filesystem::path& path, std::vector<Problem>& problems)
{
    const std::string name = path.string();
    if (looksLikeLossLines(path)) {
        auto lines = readLossLines(path);
        if (!lines) {
            return tl::unexpected(lines.error());
        }
        problems.insert(problems.end(), lines->problems.begin(), lines->problems.end());
        return LossSeries::of(name, std::move(lines->steps), std::move(lines->losses), std::move(lines->lines));
    }
    const std::vector<std::filesystem::path> paths{path};
    const auto log = readLog(paths);
    if (!log) {
        return tl::unexpected(log.error());
    }
    LossSeries series = LossSeries::of(*log);
    series.name = name;
    if (series.steps.empty()) {
        return failure(
            Text{HEADROOM_TR("core",
                             "no line has a step and a loss, neither as JSON ({\"step\": 1, \"loss\": 2.5}) nor "
                             "as step= and loss=")},
            name, 0);
    }
    return series;
}

} // namespace headroom
