// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_scan.h"

#include "runlog/byte_search.h"

#include <algorithm>
#include <cstring>

namespace headroom {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr char escape = '\x1b';

std::size_t findByte(std::string_view text, char byte, std::size_t from)
{
    return std::min(text.find(byte, from), text.size());
}

/// The first line feed or carriage return at or after `from`, else npos.
std::size_t findBreak(std::string_view text, std::size_t from)
{
    const std::size_t feed = text.find('\n', from);
    return std::min(feed, text.substr(0, feed).find('\r', from));
}

/// The last `byte` between `from` and the end of the text, else npos.
std::size_t findLastByte(std::string_view text, char byte, std::size_t from)
{
    const void* const found = memrchr(text.data() + from, byte, text.size() - from);
    return found == nullptr ? npos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// The last line feed or carriage return between `from` and the end of the text, else npos.
std::size_t findLastBreak(std::string_view text, std::size_t from)
{
    const std::size_t feed = findLastByte(text, '\n', from);
    const std::size_t carriage = findLastByte(text, '\r', feed == npos ? from : feed);
    return carriage == npos ? feed : carriage;
}

/// Removes terminal control sequences, ESC [ parameters letter.
void removeColours(std::string_view line, std::string& plain)
{
    plain.clear();
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t next = findByte(line, escape, at);
        plain.append(line.substr(at, next - at));
        at = next + 1;
        if (at < line.size() && line[at] == '[') {
            const auto isFinal = [](char c) { return c >= '@' && c <= '~'; };
            const auto* const end
                = std::find_if(line.begin() + static_cast<std::ptrdiff_t>(at) + 1, line.end(), isFinal);
            at = static_cast<std::size_t>(end - line.begin()) + 1;
        }
    }
}

std::size_t index(std::int64_t offset)
{
    return static_cast<std::size_t>(offset);
}

} // namespace

LogChunk LogScanner::scan(ByteSource& source, std::int64_t begin, std::int64_t end, std::int64_t fileSize,
                          std::size_t maxProblems)
{
    m_builder.begin(maxProblems);
    m_lineFeeds = 0;
    bool endsInsideLine = false;
    bool fileEndsEarly = false;
    for (std::int64_t at = begin; at < end; at += m_sizes.window) {
        const Window window = readWindow(source, at, std::min(at + m_sizes.window, end), fileSize);
        scanWindow(window);
        endsInsideLine = endsInsideLine || window.endsInsideLine;
        fileEndsEarly = fileEndsEarly || window.fileEndsEarly;
    }
    LogChunk chunk = m_builder.take();
    chunk.lineFeeds = m_lineFeeds;
    chunk.endsInsideLine = endsInsideLine;
    chunk.fileEndsEarly = fileEndsEarly;
    return chunk;
}

LogScanner::Window LogScanner::readWindow(ByteSource& source, std::int64_t begin, std::int64_t end,
                                          std::int64_t fileSize) const
{
    std::int64_t asked = std::min(end + m_sizes.tail, fileSize) - begin;
    std::string_view text = source.read(begin, asked);
    Window window;
    window.ownsFirst = begin == 0;
    const auto atFileEnd = [&] { return begin + asked == fileSize || text.size() < index(asked); };
    const std::size_t own = std::min(index(end - begin), text.size());
    window.fileEndsEarly = text.size() < index(asked);
    window.endsInsideLine = own > 0 && own == text.size() && atFileEnd() && text[own - 1] != '\n';
    const std::size_t lastBreak = findLastBreak(text.substr(0, own), 0);
    if (lastBreak == npos && begin != 0) {
        return window; // inside a line that started in an earlier window
    }
    window.lastLine = lastBreak + 1; // npos + 1 is 0
    const std::size_t longest = window.lastLine + index(m_sizes.longestLine);
    std::size_t lineEnd = findBreak(text, own);
    while (lineEnd == npos && !atFileEnd() && text.size() <= longest) {
        const std::size_t from = text.size();
        asked = std::min(std::min(asked + asked, static_cast<std::int64_t>(longest) + 1), fileSize - begin);
        text = source.read(begin, asked);
        lineEnd = text.size() < from ? npos : findBreak(text, from);
    }
    window.lastIsTooLong = std::min(lineEnd, text.size()) > longest;
    window.lastIsCutOff = !window.lastIsTooLong && lineEnd == npos && window.lastLine < text.size();
    window.text = text.substr(0, lineEnd);
    return window;
}

void LogScanner::scanWindow(const Window& window)
{
    const bool lastIsSpecial = window.lastIsCutOff || window.lastIsTooLong;
    const std::string_view text = window.text.substr(0, lastIsSpecial ? window.lastLine : npos);
    std::size_t from = 0; // a line end, or the window's first byte
    std::size_t feed = 0;
    for (;;) {
        const std::size_t hit = m_search.next(text, from, m_lineFeeds);
        if (hit == text.size()) {
            break;
        }
        std::size_t before = findLastByte(text.substr(0, hit), '\n', from);
        feed = feed <= hit ? findByte(text, '\n', hit) : feed;
        std::size_t end = feed;
        const std::size_t known = before == npos ? from : before + 1;
        const bool controls = hasControls(text.substr(known, feed - known));
        if (controls) {
            const std::size_t carriage = findLastByte(text.substr(0, hit), '\r', known);
            before = carriage == npos ? before : carriage;
            end = findByte(text.substr(0, feed), '\r', hit);
        }
        if (before != npos || window.ownsFirst) {
            const std::size_t begin = before + 1; // npos + 1 is 0
            readLine(text.substr(begin, end - begin), controls, false);
        }
        from = end;
    }
    if (window.lastIsCutOff) {
        readLine(window.text.substr(window.lastLine), true, true);
    } else if (window.lastIsTooLong) {
        m_builder.setLine(m_lineFeeds);
        m_builder.problem(Severity::Warning,
                          Text(HEADROOM_TR("core", "the line is longer than %1 KiB and was not read"),
                               {std::to_string(m_sizes.longestLine >> 10)}));
    }
}

void LogScanner::readLine(std::string_view line, bool controls, bool cutOff)
{
    m_builder.setLine(m_lineFeeds);
    if (controls && line.find(escape) != npos) {
        removeColours(line, m_uncoloured);
        line = m_uncoloured;
    }
    m_format.read({line, cutOff}, m_builder);
}

} // namespace headroom
