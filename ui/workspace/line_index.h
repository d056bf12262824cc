// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_files.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Where the lines of a text of any size start: every thousandth line or quarter of a mebibyte, whichever comes first,
/// so that any line is found by reading little, and 10 GB of log cost a few megabytes. Lines are counted from 1, as
/// Run counts them: only line feeds end one. One thread extends, any thread reads.
class LineIndex
{
public:
    /// A line and the offset of its first byte.
    struct Anchor
    {
        std::int64_t line = 1;
        std::int64_t offset = 0;
    };

    /// Reads on from where the last call stopped until `source` has no more. Returns early when `keepGoing`, asked
    /// after every mebibyte, says no.
    void extend(ByteSource& source, const std::function<bool()>& keepGoing);

    /// Lines known so far; what follows the last line feed counts as a line.
    [[nodiscard]] std::int64_t lineCount() const;
    [[nodiscard]] std::int64_t byteCount() const;
    /// The last anchor at or before the line.
    [[nodiscard]] Anchor anchorBefore(std::int64_t line) const;
    /// The first anchor after the line; none: the end.
    [[nodiscard]] std::optional<Anchor> anchorAfter(std::int64_t line) const;

private:
    mutable std::mutex m_mutex;
    std::vector<Anchor> m_anchors{Anchor{}};
    std::int64_t m_lineFeeds = 0;
    std::int64_t m_bytes = 0;
    std::int64_t m_lastLineStart = 0;
};

struct RawLine
{
    std::string bytes; ///< at most `longestShown` of them, without the line feed
    std::int64_t length = 0; ///< of the whole line
};

constexpr std::int64_t longestShown = 4096;

/// `count` lines from `first` on, fewer at the end. Reads at most about an anchor's distance per line.
[[nodiscard]] std::vector<RawLine> readLines(ByteSource& source, const LineIndex& index, std::int64_t first,
                                             std::int64_t count);

} // namespace headroom
