// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/open_files.h"

#include "runlog/log_arguments.h"
#include "runlog/read_log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <string_view>
#include <system_error>

namespace headroom {
namespace {

enum class Kind { Log, Structured, Unreadable };

struct Recognised
{
    Kind kind = Kind::Log;
    Problem problem;
};

constexpr std::size_t headBytes = std::size_t{256} << 10;
/// Text without a telling name is tried as a config up to here: a log of this size costs nothing to try.
constexpr std::uintmax_t smallFile = std::uintmax_t{1} << 20;

std::string nameOf(const std::filesystem::path& path)
{
    return path.filename().empty() ? path.string() : path.filename().string();
}

Problem problemOf(const std::filesystem::path& path, Text text)
{
    return Problem{Severity::Error, nameOf(path), 0, std::move(text)};
}

bool hasConfigName(const std::filesystem::path& path)
{
    constexpr std::array<std::string_view, 3> suffixes{".yaml", ".yml", ".json"};
    std::string suffix = path.extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

Recognised unreadable(const std::filesystem::path& path, Text text)
{
    return {Kind::Unreadable, problemOf(path, std::move(text))};
}

Recognised recognise(const std::filesystem::path& path)
{
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        return unreadable(path, Text(HEADROOM_TR("core", "there is no such file")));
    }
    if (std::filesystem::is_directory(status)) {
        return {};
    }
    if (!std::filesystem::is_regular_file(status)) {
        return unreadable(path, Text(HEADROOM_TR("core", "is not a regular file")));
    }
    std::ifstream file(path, std::ios::binary);
    std::string head(headBytes, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    if (!file.is_open() || file.bad()) {
        return unreadable(path, Text(HEADROOM_TR("core", "cannot be read: permission denied or damaged")));
    }
    head.resize(static_cast<std::size_t>(file.gcount()));
    if (head.empty()) {
        return unreadable(path, Text(HEADROOM_TR("core", "is empty")));
    }
    if (head.find("peak_alloc=") != std::string::npos) {
        return {};
    }
    if (hasConfigName(path)) {
        return {Kind::Structured, {}};
    }
    if (head.find('\0') != std::string::npos) {
        return unreadable(path, Text(HEADROOM_TR("core", "is binary, neither a log nor a config")));
    }
    const auto size = std::filesystem::file_size(path, error);
    return {!error && size <= smallFile ? Kind::Structured : Kind::Log, {}};
}

bool statesMoreThanModel(const TrainingPlan& plan)
{
    return plan.parallel.pp.isStated() || plan.parallel.tp.isStated() || plan.parallel.dp.isStated()
        || plan.batch.micro.isStated() || plan.batch.accum.isStated() || plan.batch.global.isStated()
        || plan.batch.seq.isStated() || plan.recompute.enabled.isStated() || plan.recompute.granularity.isStated();
}

/// Takes the file as config or model; false when it is neither and may be a log.
bool takeStructured(const std::filesystem::path& path, const Library& library, OpenedFiles& opened)
{
    auto config = openConfig(path, library.formats, library.catalog);
    if (!config) {
        if (!hasConfigName(path)) {
            return false;
        }
        opened.problems.push_back(std::move(config.error()));
        return true;
    }
    if (!statesMoreThanModel(config->plan)) {
        if (auto model = openModel(path.string(), library.formats, library.catalog)) {
            opened.model = LoadedModel{path, std::move(*model), std::move(config->problems)};
            return true;
        }
    }
    if (opened.config) {
        Problem note
            = problemOf(opened.config->path,
                        Text(HEADROOM_TR("core", "was replaced by %1: one config is open at a time"), {nameOf(path)}));
        note.severity = Severity::Warning;
        opened.problems.push_back(std::move(note));
    }
    opened.config = LoadedConfig{path, std::move(*config)};
    return true;
}

/// An out-of-memory message alone is a log worth showing, and so is a list of arguments.
bool tellsNothing(const Run& run)
{
    return run.isEmpty() && run.steps.size() == 0 && run.timers.size() == 0 && run.facts.empty();
}

void readLogs(const std::vector<std::filesystem::path>& logs, const Library& library, const OpenProgress& progress,
              OpenedFiles& opened)
{
    const auto start = std::chrono::steady_clock::now();
    const std::string name = nameOf(logs.front());
    ReadOptions options;
    options.formats = &library.logFormats->anchors();
    bool cancelled = false;
    options.progress = [&](double done) {
        if (!progress(done, name)) {
            cancelled = true;
        }
        return !cancelled;
    };
    auto run = readLog(logs, options);
    // A short log may be read before the first report: ask once more.
    opened.wasCancelled = cancelled || !progress(1.0, name);
    if (opened.wasCancelled) {
        return;
    }
    if (!run) {
        opened.problems.push_back(std::move(run.error()));
        return;
    }
    if (tellsNothing(*run)) {
        opened.problems.push_back(
            problemOf(logs.front(),
                      Text(HEADROOM_TR("core",
                                       "has no line with phase=, step= and peak_alloc=, and none of another log format "
                                       "that is known, so there is nothing to show"))));
        return;
    }
    LoadedLog log = loadedLog(logs, std::move(*run), library);
    log.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    opened.log = std::move(log);
}

} // namespace

LoadedLog loadedLog(const std::vector<std::filesystem::path>& paths, Run run, const Library& library)
{
    LoadedLog log;
    log.paths = paths;
    log.run = std::make_shared<const Run>(std::move(run));
    log.summary = summarise(*log.run);
    log.overview = overviewOf(*log.run);
    if (auto plan = planOfArguments(*log.run, library.formats, library.catalog)) {
        log.plan = std::move(*plan);
    }
    return log;
}

OpenedFiles openFiles(const std::vector<std::filesystem::path>& paths, const Library& library,
                      const OpenProgress& progress)
{
    OpenedFiles opened;
    std::vector<std::filesystem::path> logs;
    for (const auto& path : paths) {
        if (!progress(0, nameOf(path))) {
            opened.wasCancelled = true;
            return opened;
        }
        Recognised found = recognise(path);
        if (found.kind == Kind::Unreadable) {
            opened.problems.push_back(std::move(found.problem));
        } else if (found.kind == Kind::Log || !takeStructured(path, library, opened)) {
            logs.push_back(path);
        }
    }
    if (!logs.empty()) {
        readLogs(logs, library, progress, opened);
    }
    return opened;
}

} // namespace headroom
