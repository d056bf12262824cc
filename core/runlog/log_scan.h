// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/anchor_search.h"
#include "runlog/log_chunk.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// Sizes of the reading, in bytes. Other values than these are for tests.
struct ScanSizes
{
    std::int64_t chunk = 4 << 20; ///< unit of work of a thread
    std::int64_t window = 256 << 10; ///< read at once; stays in the second-level cache
    std::int64_t tail = 4 << 10; ///< read beyond the window at first, to finish its last line
    std::int64_t longestLine = 1 << 20; ///< longer ones are reported and left out
};

/// Where bytes come from. `read` gives the bytes from `offset` on, fewer than asked at the end; they stay valid until
/// the next call.
class ByteSource
{
public:
    virtual ~ByteSource() = default;
    [[nodiscard]] virtual std::string_view read(std::int64_t offset, std::int64_t length) = 0;
};

/// Finds the records of one format in pieces of a file. A line belongs to the window in which the line end before it
/// stands (the first line to the first window), so windows can be read in any order and no line is split or read
/// twice. A carriage return ends a line too, as terminals show it (progress bars), but only line feeds count as lines.
class LogScanner
{
public:
    LogScanner(const LogFormat& format, const ScanSizes& sizes)
        : m_format(format)
        , m_sizes(sizes)
        , m_search(format.anchor)
    {
    }

    /// The bytes from `begin` to `end` of a file of `fileSize` bytes.
    [[nodiscard]] LogChunk scan(ByteSource& source, std::int64_t begin, std::int64_t end, std::int64_t fileSize,
                                std::size_t maxProblems);

private:
    struct Window
    {
        std::string_view text; ///< from the window's begin to the end of its last line
        std::size_t lastLine = 0; ///< where the last line starts
        bool ownsFirst = false; ///< the first line starts at the first byte
        bool lastIsCutOff = false; ///< the file ends inside the last line
        bool lastIsTooLong = false; ///< the last line is not there whole
        bool endsInsideLine = false; ///< the file's last byte is in the window and is no line feed
        bool fileEndsEarly = false; ///< the file is shorter than it should be
    };

    [[nodiscard]] Window readWindow(ByteSource& source, std::int64_t begin, std::int64_t end,
                                    std::int64_t fileSize) const;
    void scanWindow(const Window& window);
    void readLine(std::string_view line, bool controls, bool cutOff);

    const LogFormat& m_format;
    ScanSizes m_sizes;
    AnchorSearch m_search;
    ChunkBuilder m_builder;
    std::string m_uncoloured;
    std::int64_t m_lineFeeds = 0;
};

} // namespace headroom
