// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/line_index.h"

#include <algorithm>
#include <cstring>

namespace headroom {
namespace {

constexpr std::int64_t block = std::int64_t{1} << 20;
constexpr std::int64_t window = std::int64_t{64} << 10;
constexpr std::int64_t linesApart = 1024;
constexpr std::int64_t bytesApart = std::int64_t{256} << 10;

/// Calls `visit` with the offset after each line feed of `text`, until it says no.
template <class Visit> void eachLineFeed(std::string_view text, Visit visit)
{
    std::size_t at = 0;
    while (const void* found = std::memchr(text.data() + at, '\n', text.size() - at)) {
        at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1;
        if (!visit(static_cast<std::int64_t>(at)) || at == text.size()) {
            return;
        }
    }
}

/// The offset of the `count`-th line start after `offset`; the file's end when there are fewer.
std::int64_t skipLines(ByteSource& source, std::int64_t offset, std::int64_t count, std::int64_t end)
{
    while (count > 0 && offset < end) {
        const std::string_view text = source.read(offset, std::min(window, end - offset));
        if (text.empty()) {
            return end;
        }
        std::int64_t next = static_cast<std::int64_t>(text.size());
        eachLineFeed(text, [&](std::int64_t after) {
            if (--count == 0) {
                next = after;
            }
            return count > 0;
        });
        offset += next;
    }
    return offset;
}

} // namespace

void LineIndex::extend(ByteSource& source, const std::function<bool()>& keepGoing)
{
    while (keepGoing()) {
        const std::int64_t begin = byteCount();
        const std::string_view text = source.read(begin, block);
        if (text.empty()) {
            return;
        }
        std::vector<Anchor> more;
        std::int64_t lineFeeds = m_lineFeeds;
        std::int64_t lastStart = m_lastLineStart;
        Anchor last = m_anchors.back(); // written by this thread only
        eachLineFeed(text, [&](std::int64_t after) {
            ++lineFeeds;
            lastStart = begin + after;
            if (lineFeeds + 1 - last.line >= linesApart || lastStart - last.offset >= bytesApart) {
                last = {lineFeeds + 1, lastStart};
                more.push_back(last);
            }
            return true;
        });
        const std::scoped_lock lock(m_mutex);
        m_anchors.insert(m_anchors.end(), more.begin(), more.end());
        m_lineFeeds = lineFeeds;
        m_lastLineStart = lastStart;
        m_bytes = begin + static_cast<std::int64_t>(text.size());
    }
}

std::int64_t LineIndex::lineCount() const
{
    const std::scoped_lock lock(m_mutex);
    return m_lineFeeds + (m_bytes > m_lastLineStart ? 1 : 0);
}

std::int64_t LineIndex::byteCount() const
{
    const std::scoped_lock lock(m_mutex);
    return m_bytes;
}

LineIndex::Anchor LineIndex::anchorBefore(std::int64_t line) const
{
    const std::scoped_lock lock(m_mutex);
    const auto after = std::upper_bound(m_anchors.begin(), m_anchors.end(), line,
                                        [](std::int64_t value, const Anchor& anchor) { return value < anchor.line; });
    return after == m_anchors.begin() ? m_anchors.front() : *std::prev(after);
}

std::optional<LineIndex::Anchor> LineIndex::anchorAfter(std::int64_t line) const
{
    const std::scoped_lock lock(m_mutex);
    const auto after = std::upper_bound(m_anchors.begin(), m_anchors.end(), line,
                                        [](std::int64_t value, const Anchor& anchor) { return value < anchor.line; });
    return after == m_anchors.end() ? std::nullopt : std::optional(*after);
}

std::vector<RawLine> readLines(ByteSource& source, const LineIndex& index, std::int64_t first, std::int64_t count)
{
    std::vector<RawLine> lines;
    const std::int64_t end = index.byteCount();
    const std::int64_t last = std::min(first + count - 1, index.lineCount());
    if (first < 1 || last < first) {
        return lines;
    }
    const LineIndex::Anchor anchor = index.anchorBefore(first);
    std::int64_t offset = skipLines(source, anchor.offset, first - anchor.line, end);
    for (std::int64_t line = first; line <= last && offset < end; ++line) {
        const std::string_view text = source.read(offset, std::min(longestShown + 1, end - offset));
        const std::size_t feed = text.find('\n');
        RawLine raw{std::string(text.substr(0, std::min(feed, static_cast<std::size_t>(longestShown)))), 0};
        std::int64_t next = offset + static_cast<std::int64_t>(feed) + 1;
        if (feed == std::string_view::npos) {
            // A line too long to be walked over has an anchor right after it; the last one ends with the file.
            const auto after = index.anchorAfter(line);
            if (after && after->line == line + 1) {
                next = after->offset;
            } else if (line == index.lineCount()) {
                next = source.read(end - 1, 1) == "\n" ? end : end + 1;
            } else {
                next = skipLines(source, offset, 1, end);
            }
        }
        raw.length = next - 1 - offset;
        lines.push_back(std::move(raw));
        offset = next;
    }
    return lines;
}

} // namespace headroom
