// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_files.h"
#include "runlog/run_assembler.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace headroom {

/// How far a file has been read.
struct LogPlace
{
    FileState file; ///< as it was; of a file that was truncated nothing but its name
    std::int64_t bytes = 0;
    std::int64_t lineFeeds = 0; ///< among those bytes but the last
    std::string last; ///< of those bytes: others there mean another content
};

/// A log that is still being written. Each poll reads what has been added since the last, whole lines only, so a writer
/// that dies in the middle of a line loses no one else's. A file that was truncated or written anew is read from its
/// beginning, and one that another took the place of is read to its end first, half a line included; in both cases what
/// was read before stays, and the Run has the file once more, with lines counted from 1.
class FollowedLog
{
public:
    /// The formats must outlive the log; null: the built-in ones. `rank`: of records that name none; -1: it is unknown.
    /// `start`: what another log has read of the file that is there now, see placeIn.
    explicit FollowedLog(std::filesystem::path path, const AnchorSet* anchors = nullptr, std::int32_t rank = -1,
                         LogPlace start = {});

    struct Change
    {
        std::size_t firstRecord = 0; ///< records from here on are new
        std::size_t firstStepRow = 0; ///< the same in Run::steps
        bool startedAnew = false; ///< the file was truncated, rewritten or replaced
        bool isEmpty = true; ///< nothing was read
    };
    /// Reads what is new. A file that isn't there (yet, or between two others) is no failure: it may come.
    [[nodiscard]] Result<Change> poll();
    /// Everything read so far, without what only a whole log tells (see conclude). Records that wait for the step of a
    /// later line have the last one known.
    [[nodiscard]] const Run& run() const { return *m_run; }
    /// The same with the whole lines that poll left for later, as their block may still go on: what opening the file
    /// at the time of the last poll would have shown. None where nothing was left.
    [[nodiscard]] std::optional<Run> runWithOpenBlock();
    /// Whether the file is the one this log reads, under another name, or a copy of it: rotation makes such.
    [[nodiscard]] bool isReading(const FileState& file) const;
    /// How far this log has read the file before it was renamed, or copied and truncated; none: it is another.
    [[nodiscard]] std::optional<LogPlace> placeIn(const FileState& file) const;

private:
    [[nodiscard]] Result<void> openAgain(Change& change);
    void readAdded(bool toTheEnd, bool isFinished = false);
    [[nodiscard]] LogChunk scanned(std::int64_t from, std::int64_t to, std::int64_t fileEnd);
    void leave(FileState file);
    [[nodiscard]] LogPlace place(FileState file) const;
    [[nodiscard]] bool wasRewritten(std::int64_t size);
    [[nodiscard]] std::int64_t endOfWholeLines(std::int64_t size);
    [[nodiscard]] std::int64_t beforeOpenBlock(std::int64_t end);
    void begin();

    std::filesystem::path m_path;
    const AnchorSet& m_anchors;
    std::int32_t m_rank;
    LogScanner m_scanner;
    AnchorScan m_search;
    RunAssembler m_assembler;
    Run* m_run = nullptr;
    std::unique_ptr<FileBytes> m_bytes; ///< null: it isn't open
    FileState m_file; ///< when it was opened
    LogPlace m_start;
    std::optional<LogPlace> m_left; ///< the content read before this one
    std::unique_ptr<FileBytes> m_leftBytes; ///< keeps its inode from being used again
    std::int64_t m_linesBefore = 0; ///< of the contents before
    std::int64_t m_end = 0; ///< bytes read: 0 or behind a line feed
    std::int64_t m_wholeEnd = 0; ///< of the whole lines at the last poll
    bool m_endsInsideLine = false; ///< what was read of a finished file does
    bool m_countsLast = false; ///< the run's lines have the one whose line feed the next piece begins with
    std::int64_t m_lastSize = -1;
    std::string m_lastBytes; ///< the last of those read: others there mean another content
    std::size_t m_problems = 0;
};

} // namespace headroom
