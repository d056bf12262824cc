// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/anchor_scan.h"
#include "runlog/line_reader.h"
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
    /// The same, without ending the life of what `read` gave; its own bytes stay valid until the next call of this.
    [[nodiscard]] virtual std::string_view readAside(std::int64_t offset, std::int64_t length) = 0;
};

/// Finds the records of all formats in pieces of a file. A line belongs to the window in which the line end before it
/// stands (the first line to the first window), so windows can be read in any order and no line is split or read
/// twice. A carriage return ends a line too, as terminals show it (progress bars), but only line feeds count as lines.
class LogScanner final : private Surroundings
{
public:
    LogScanner(const AnchorSet& anchors, const ScanSizes& sizes)
        : m_anchors(anchors)
        , m_sizes(sizes)
        , m_search(anchors)
        , m_reader(anchors.formats())
    {
    }

    /// The bytes from `begin` to `end` of a file of `fileSize` bytes.
    [[nodiscard]] LogChunk scan(ByteSource& source, std::int64_t begin, std::int64_t end, std::int64_t fileSize,
                                std::size_t maxProblems);

private:
    struct Window
    {
        std::int64_t begin = 0; ///< offset in the file
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
    /// Reads the line (from a line end to a line end, both excluded) with the formats of the hits from `hit` on that
    /// stand in it, and moves `hit` behind them.
    void readLine(const Window& window, std::size_t begin, std::size_t end, std::size_t& hit, bool controls);
    void collectFormats(std::size_t end, std::size_t& hit);
    [[nodiscard]] std::string_view before(int count) override;
    [[nodiscard]] std::string_view after(int count) override;
    [[nodiscard]] std::string_view plainLines(std::string_view text);

    const AnchorSet& m_anchors;
    ScanSizes m_sizes;
    AnchorScan m_search;
    LineReader m_reader;
    ChunkBuilder m_builder;
    const std::vector<AnchorHit>* m_hits = nullptr; ///< of the window
    std::vector<std::uint16_t> m_formats; ///< of the line
    std::string m_uncoloured, m_around;
    std::int64_t m_lineFeeds = 0;

    ByteSource* m_source = nullptr;
    std::int64_t m_fileSize = 0;
    std::int64_t m_lineBegin = 0; ///< of the line being read, offset in the file
    std::int64_t m_lineEnd = 0;
};

} // namespace headroom
