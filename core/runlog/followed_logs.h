// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/followed_log.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A run's logs while they are written: files, and the files of folders, also those that come later. Of text only what
/// was added is read. A file that is packed, holds events or was captured from a terminal is read again when it has
/// changed. Rotation loses and doubles nothing: a file that is followed may be renamed, or copied and truncated, and
/// what is in its new place is not read again.
class FollowedLogs
{
public:
    /// The formats must outlive the logs; null: the built-in ones.
    explicit FollowedLogs(std::vector<std::filesystem::path> paths, const AnchorSet* anchors = nullptr);

    struct File
    {
        std::string name;
        std::size_t path = 0; ///< the one it is or is in
        bool isMember = false; ///< of a folder
        std::int32_t rank = -1; ///< of records that name none
        LogPlace start; ///< what was read of it under another name
        std::unique_ptr<FollowedLog> text; ///< null: the file is read as a whole
        Run whole;
        FileState state; ///< when it was read as a whole
        std::size_t firstNew = 0; ///< records from here on came with the last poll

        [[nodiscard]] const Run& run() const { return text ? text->run() : whole; }
    };

    /// Reads what is new; true when there was something. What isn't there (yet) is no failure, and of a folder neither
    /// is what can't be read.
    [[nodiscard]] Result<bool> poll();
    /// By path, those of a folder in natural order.
    [[nodiscard]] const std::vector<File>& files() const { return m_files; }
    /// Everything read so far, as opening all of it would show.
    [[nodiscard]] Run run() const;

private:
    void findFiles();
    [[nodiscard]] std::optional<File> newFile(std::size_t path, std::string name, bool isMember) const;
    [[nodiscard]] Result<bool> read(File& file) const;
    [[nodiscard]] Result<bool> readWhole(File& file) const;

    std::vector<std::filesystem::path> m_paths;
    const AnchorSet& m_anchors;
    std::vector<File> m_files;
};

} // namespace headroom
