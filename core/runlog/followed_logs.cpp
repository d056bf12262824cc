// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/followed_logs.h"

#include "runlog/joined_runs.h"
#include "runlog/read_log.h"
#include "runlog/read_pieces.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <system_error>
#include <tuple>

#include <sys/resource.h>

namespace headroom {
namespace {

/// A followed file stays open, and so does the one it took the place of: thousands of ranks need more than the usual
/// 1024 files, which the system allows to those who ask.
void allowOpenFiles(std::size_t logs)
{
    constexpr rlim_t others = 256;
    const rlim_t needed = 2 * logs + others;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = std::min(needed, limit.rlim_max);
        std::ignore = ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void applyRank(Run& run, std::int32_t rank)
{
    for (std::int16_t& value : run.rank) {
        value = value < 0 ? static_cast<std::int16_t>(rank) : value;
    }
    for (LogFact& fact : run.facts) {
        fact.rank = fact.rank < 0 ? rank : fact.rank;
    }
}

/// Text that only grows; other files are read as a whole when they have changed.
bool isPlainText(const LogFile& file, const AnchorSet& anchors)
{
    return file.readable && !file.unpacked && !file.isEventFile && !file.isDeviceTable
        && !hasBrokenLines(file, anchors);
}

} // namespace

FollowedLogs::FollowedLogs(std::vector<std::filesystem::path> paths, const AnchorSet* anchors)
    : m_paths(std::move(paths))
    , m_anchors(anchors == nullptr ? AnchorSet::builtin() : *anchors)
{
}

Result<bool> FollowedLogs::poll()
{
    findFiles();
    bool hasChanged = false;
    for (File& file : m_files) {
        const Result<bool> isNew = read(file);
        if (!isNew && !file.isMember) {
            return isNew;
        }
        hasChanged = hasChanged || isNew.value_or(false);
    }
    return hasChanged;
}

Run FollowedLogs::run() const
{
    std::vector<const Run*> runs;
    std::deque<Run> withOpenBlocks;
    for (const File& file : m_files) {
        auto open = file.text ? file.text->runWithOpenBlock() : std::nullopt;
        runs.push_back(open ? &withOpenBlocks.emplace_back(*std::move(open)) : &file.run());
    }
    Run all = joinRuns(runs, m_anchors.formats());
    conclude(all);
    return all;
}

/// The files that are followed from now on. Before any is read: a name that has come for a file that is followed is
/// told by the file that is open.
void FollowedLogs::findFiles()
{
    std::vector<File> added;
    for (std::size_t path = 0; path < m_paths.size(); ++path) {
        std::error_code noStatus;
        const bool isFolder = std::filesystem::is_directory(m_paths[path], noStatus);
        const auto names = isFolder ? logFilesIn(m_paths[path]).value_or(std::vector<std::string>())
                                    : std::vector<std::string>{m_paths[path].string()};
        for (const std::string& name : names) {
            const bool isKnown = std::ranges::find(m_files, name, &File::name) != m_files.end();
            if (auto file = isKnown ? std::nullopt : newFile(path, name, isFolder)) {
                added.push_back(std::move(*file));
            }
        }
    }
    if (added.empty()) {
        return;
    }
    std::ranges::move(added, std::back_inserter(m_files));
    std::ranges::stable_sort(m_files, [](const File& a, const File& b) {
        return a.path != b.path ? a.path < b.path : naturallyLess(a.name, b.name);
    });
    allowOpenFiles(m_files.size());
}

std::optional<FollowedLogs::File> FollowedLogs::newFile(std::size_t path, std::string name, bool isMember) const
{
    File file;
    const FileState state = stateOf(name);
    if (!state.exists()) {
        return std::nullopt;
    }
    for (const File& known : m_files) {
        if (known.text && known.text->isReading(state)) {
            return std::nullopt;
        }
        if (auto place = known.text ? known.text->placeIn(state) : std::nullopt) {
            file.start = *std::move(place);
        }
    }
    file.path = path;
    file.isMember = isMember;
    file.rank = isMember || m_paths.size() > 1 ? rankOfFileName(name) : -1;
    file.name = std::move(name);
    return file;
}

Result<bool> FollowedLogs::read(File& file) const
{
    if (!file.text) {
        return readWhole(file);
    }
    const auto change = file.text->poll();
    if (!change) {
        return tl::unexpected(change.error());
    }
    file.firstNew = change->firstRecord;
    return !change->isEmpty || change->startedAnew;
}

Result<bool> FollowedLogs::readWhole(File& file) const
{
    const std::size_t known = file.whole.size();
    file.firstNew = known;
    FileState state = stateOf(file.name);
    if (!state.exists() || state == file.state) {
        return false;
    }
    int error = 0;
    if (isPlainText(inspectLogFile(file.name, error), m_anchors)) {
        file.text = std::make_unique<FollowedLog>(file.name, &m_anchors, file.rank, std::move(file.start));
        file.whole = {};
        return read(file);
    }
    ReadOptions options;
    options.formats = &m_anchors;
    auto run = readLogAsItIs(std::array<std::filesystem::path, 1>{file.name}, options);
    if (!run) {
        return tl::unexpected(run.error());
    }
    applyRank(*run, file.rank);
    file.whole = *std::move(run);
    file.state = std::move(state);
    file.firstNew = std::min(known, file.whole.size());
    return true;
}

} // namespace headroom
