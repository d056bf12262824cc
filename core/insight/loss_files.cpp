// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/loss_files.h"

#include "runlog/loss_lines.h"
#include "runlog/read_log.h"

namespace headroom {

Result<LossSeries> readLosses(const std::filesystem::path& path, std::vector<Problem>& problems, Run* log)
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
    auto read = readLog(paths);
    if (!read) {
        return tl::unexpected(read.error());
    }
    LossSeries series = LossSeries::of(*read);
    series.name = name;
    if (series.steps.empty()) {
        return failure(
            Text{HEADROOM_TR("core",
                             "no line has a step and a loss, neither as JSON ({\"step\": 1, \"loss\": 2.5}) nor "
                             "as step= and loss=")},
            name, 0);
    }
    if (log != nullptr) {
        *log = std::move(*read);
    }
    return series;
}

} // namespace headroom
