// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/hard_wraps.h"

#include <algorithm>

namespace headroom {
namespace {

constexpr std::size_t narrowest = 60;
constexpr std::size_t widest = 1000;
constexpr std::size_t fewestLines = 3;
constexpr std::size_t longestJoined = 1 << 16;

/// Characters of UTF-8 text.
std::size_t widthOf(std::string_view line)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// Calls for each line with whether a line feed ends it.
template <class Call> void eachLine(std::string_view text, const Call& call)
{
    while (!text.empty()) {
        const std::size_t feed = text.find('\n');
        call(text.substr(0, feed), feed != std::string_view::npos);
        text.remove_prefix(feed == std::string_view::npos ? text.size() : feed + 1);
    }
}

} // namespace

std::optional<std::size_t> wrapWidth(std::string_view text)
{
    std::size_t width = 0;
    std::size_t lines = 0;
    eachLine(text, [&](std::string_view line, bool isWhole) {
        const std::size_t own = isWhole ? widthOf(line) : 0;
        lines = own > width ? 1 : lines + (own == width ? 1 : 0);
        width = std::max(width, own);
    });
    const bool isWidth = width >= narrowest && width <= widest && lines >= fewestLines;
    return isWidth ? std::optional(width) : std::nullopt;
}

std::string joinWraps(std::string_view text, std::size_t width)
{
    std::string joined;
    joined.reserve(text.size() + text.size() / width);
    std::size_t owed = 0; ///< line ends of the lines before that go on here
    std::size_t begin = 0;
    eachLine(text, [&](std::string_view line, bool isWhole) {
        joined += line;
        const std::size_t own = widthOf(line);
        const bool goesOn = (own == width || own + 1 == width) && joined.size() - begin < longestJoined;
        if (isWhole && goesOn) {
            joined.append(width - own, ' ');
            ++owed;
        } else {
            joined.append(owed + (isWhole ? 1 : 0), '\n');
            owed = 0;
            begin = joined.size();
        }
    });
    joined.append(owed, '\n');
    return joined;
}

} // namespace headroom
