// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_scan.h"

#include "runlog/byte_search.h"

#include <algorithm>
#include <cstring>

namespace headroom {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr char escape = '\x1b';
constexpr std::int64_t lineAllowance = 512; ///< bytes of each of the lines around one, on average

bool hasEscapeOrReturn(std::string_view text)
{
    return text.find(escape) != npos || text.find('\r') != npos;
}

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

/// Where a colour code without its escape ends, "[36m" as saved notebooks have it; 0 for other text.
std::size_t bareColourAt(std::string_view line, std::size_t at)
{
    std::size_t end = at + 1;
    while (end < line.size() && ((line[end] >= '0' && line[end] <= '9') || line[end] == ';')) {
        ++end;
    }
    return end > at + 1 && end < line.size() && line[end] == 'm' ? end + 1 : 0;
}

bool hasBareColour(std::string_view line)
{
    for (std::size_t at = line.find('['); at != npos; at = line.find('[', at + 1)) {
        if (bareColourAt(line, at) != 0) {
            return true;
        }
    }
    return false;
}

void removeBareColours(std::string& line)
{
    for (std::size_t at = line.find('['); at != npos; at = line.find('[', at)) {
        const std::size_t end = bareColourAt(line, at);
        line.erase(at, end == 0 ? 0 : end - at);
        at += end == 0 ? 1 : 0;
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
    m_source = &source;
    m_fileSize = fileSize;
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
    window.begin = begin;
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
    m_hits = &m_search.scan(window.lastIsTooLong ? text : window.text);
    std::size_t from = 0; // a line end, or the window's first byte: line feeds before it are counted
    std::size_t feed = 0;
    std::size_t next = 0;
    while (next < m_hits->size() && (*m_hits)[next].begin < text.size()) {
        const std::size_t hit = (*m_hits)[next].begin;
        m_lineFeeds += countByte(text.substr(from, hit - from), '\n');
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
            readLine(window, before + 1, end, next, controls); // npos + 1 is 0
        } else {
            collectFormats(end, next);
        }
        from = end;
    }
    m_lineFeeds += countByte(text.substr(std::min(from, text.size())), '\n');
    if (window.lastIsCutOff) {
        readLine(window, window.lastLine, window.text.size(), next, true);
    } else if (window.lastIsTooLong) {
        m_builder.setLine(m_lineFeeds);
        m_builder.problem(Severity::Warning,
                          Text(HEADROOM_TR("core", "the line is longer than %1 KiB and was not read"),
                               {std::to_string(m_sizes.longestLine >> 10)}));
    }
}

/// The formats of the hits before `end`, each once, in their own order.
void LogScanner::collectFormats(std::size_t end, std::size_t& hit)
{
    m_formats.clear();
    for (; hit < m_hits->size() && (*m_hits)[hit].begin < end; ++hit) {
        for (const std::uint16_t format : m_anchors.formatsOf((*m_hits)[hit].anchor)) {
            if (std::ranges::find(m_formats, format) == m_formats.end()) {
                m_formats.push_back(format);
            }
        }
    }
    std::ranges::sort(m_formats);
}

void LogScanner::readLine(const Window& window, std::size_t begin, std::size_t end, std::size_t& hit, bool controls)
{
    collectFormats(end, hit);
    const bool cutOff = window.lastIsCutOff && end == window.text.size();
    if (cutOff && m_anchors.plainFormat() && m_formats.empty()) {
        m_formats.push_back(*m_anchors.plainFormat()); // half of its anchor may be there
    }
    if (m_formats.empty()) {
        return;
    }
    std::string_view line = window.text.substr(begin, end - begin);
    if (controls && line.find(escape) != npos) {
        removeColours(line, m_uncoloured);
        line = m_uncoloured;
    }
    const bool isPlain = m_formats.size() == 1 && m_formats.front() == m_anchors.plainFormat();
    if (!isPlain && hasBareColour(line)) {
        m_uncoloured = std::string(line);
        removeBareColours(m_uncoloured);
        line = m_uncoloured;
    }
    m_lineBegin = window.begin + static_cast<std::int64_t>(begin);
    m_lineEnd = window.begin + static_cast<std::int64_t>(end);
    m_builder.setLine(m_lineFeeds);
    m_reader.read({line, cutOff}, m_formats, m_lineFeeds, *this, m_builder);
}

/// The text without colour codes and carriage returns.
std::string_view LogScanner::plainLines(std::string_view text)
{
    if (!hasEscapeOrReturn(text)) {
        return text;
    }
    removeColours(text, m_around);
    std::erase(m_around, '\r');
    return m_around;
}

std::string_view LogScanner::before(int count)
{
    const std::int64_t length = std::min(m_lineBegin, count * lineAllowance);
    std::string_view text = m_source->readAside(m_lineBegin - length, length);
    std::size_t begin = text.size();
    for (int lines = 0; begin > 0 && lines < count; ++lines) {
        begin = text.substr(0, begin - 1).rfind('\n') + 1; // npos + 1 is 0
    }
    if (begin == 0 && length < m_lineBegin) {
        begin = std::min(text.find('\n') + 1, text.size()); // inside a line
    }
    return plainLines(text.substr(begin));
}

std::string_view LogScanner::after(int count)
{
    const std::int64_t length = std::min(m_fileSize - m_lineEnd, count * lineAllowance);
    std::string_view text = m_source->readAside(m_lineEnd, length);
    text.remove_prefix(std::min<std::size_t>(std::min(text.find('\n'), text.size()) + 1, text.size()));
    std::size_t end = 0;
    for (int lines = 0; end < text.size() && lines < count; ++lines) {
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    return plainLines(text.substr(0, end));
}

} // namespace headroom
