// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_scan.h"
#include "runlog/unpack.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A file to read, as it was when the reading began.
struct LogFile
{
    std::string name;
    std::int64_t size = 0;
    std::int32_t rank = -1; ///< in the file's name, "rank_3.log"; -1: there is none
    std::shared_ptr<const OpenFile> unpacked; ///< the text of a file that is compressed or UTF-16
    bool isEventFile = false; ///< TensorBoard's
    bool isDeviceTable = false; ///< nvidia-smi's, see device_table.h
    bool readable = true; ///< false: `problem` says why it is left out
    std::optional<Problem> problem;
};

/// What tells that a file is another, or has other content, than before. All zero: there is no such file.
struct FileState
{
    std::string name;
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, seconds = 0, nanoseconds = 0;

    friend bool operator==(const FileState&, const FileState&) = default;
    [[nodiscard]] bool exists() const { return inode != 0; }
    [[nodiscard]] bool isSameFile(const FileState& other) const
    {
        return exists() && device == other.device && inode == other.inode;
    }
};
[[nodiscard]] FileState stateOf(const std::string& name);

/// The regular files of a folder in natural order (rank2 before rank10), hidden ones left out.
[[nodiscard]] Result<std::vector<std::string>> logFilesIn(const std::filesystem::path& folder);

/// Looks at the beginning of a file, and unpacks one that is packed. `error`: errno when it can't be opened.
[[nodiscard]] LogFile inspectLogFile(const std::string& name, int& error);

/// The files the paths stand for, in their order; the files of a folder in natural order (rank2 before rank10), hidden
/// ones left out. Fails when a path is missing or can't be opened; a member of a folder that can't be is left out.
[[nodiscard]] Result<std::vector<LogFile>> listLogFiles(std::span<const std::filesystem::path> paths);

/// Why text that begins like this is not read as a log: packed or binary. Null for text.
[[nodiscard]] std::optional<Text> unreadableContent(std::string_view head);

/// The rank in the name of a file that one process wrote: "rank3.log", "log_rank_3.txt", "3.log", or torchrun's
/// "3/stdout.log"; else -1.
[[nodiscard]] std::int32_t rankOfFileName(const std::filesystem::path& path);

/// Natural order: digits compare as numbers.
[[nodiscard]] bool naturallyLess(std::string_view a, std::string_view b);

/// Reads with pread into a buffer of its own. Against a mapping this is as fast (the buffer stays in the cache and no
/// page has to be mapped and unmapped) and it is safe: a file that becomes shorter gives fewer bytes where touching a
/// mapped page would end the process with SIGBUS.
class FileBytes final : public ByteSource
{
public:
    FileBytes() = default;
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;
    ~FileBytes() override;

    /// Opens a regular file; 0 or an errno.
    [[nodiscard]] int open(const std::string& name);
    [[nodiscard]] int open(const LogFile& file);
    [[nodiscard]] std::string_view read(std::int64_t offset, std::int64_t length) override;
    [[nodiscard]] std::string_view readAside(std::int64_t offset, std::int64_t length) override;
    /// The size now, -1 when it can't be told.
    [[nodiscard]] std::int64_t size() const;
    /// errno of the first read that failed since the file was opened.
    [[nodiscard]] int error() const { return m_error; }

private:
    void close();
    [[nodiscard]] std::string_view read(std::vector<char>& buffer, std::int64_t offset, std::int64_t length);

    int m_file = -1;
    int m_error = 0;
    std::vector<char> m_buffer, m_asideBuffer;
};

class TextBytes final : public ByteSource
{
public:
    explicit TextBytes(std::string_view text)
        : m_text(text)
    {
    }
    [[nodiscard]] std::string_view read(std::int64_t offset, std::int64_t length) override
    {
        return m_text.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
    }
    [[nodiscard]] std::string_view readAside(std::int64_t offset, std::int64_t length) override
    {
        return read(offset, length);
    }

private:
    std::string_view m_text;
};

} // namespace headroom
