// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/field_values.h"

#include <string>

namespace headroom {
namespace {

/// The value as the line has it, up to the next blank. Bytes that are not printable ASCII become question marks: what
/// a log holds must not break the terminal or the JSON that shows it.
std::string excerpt(std::string_view line, std::size_t begin)
{
    constexpr std::size_t longest = 40;
    const std::size_t first = line.find_first_not_of(" \t", begin);
    if (first == std::string_view::npos) {
        return {};
    }
    const std::size_t end = std::min(line.find_first_of(" \t", first), line.size());
    std::string text(line.substr(first, std::min(end - first, longest)));
    for (char& c : text) {
        c = c >= 0x20 && c < 0x7f ? c : '?';
    }
    return end - first > longest ? text + "..." : text;
}

const char* pattern(Fault fault)
{
    switch (fault) {
    case Fault::Missing:
        return HEADROOM_TR("core", "%1= has no readable value: %2");
    case Fault::Negative:
        return HEADROOM_TR("core", "%1= is negative: %2");
    case Fault::NotFinite:
        return HEADROOM_TR("core", "%1= is not a finite number: %2");
    case Fault::TooLarge:
        return HEADROOM_TR("core", "%1= is larger than any real value: %2");
    case Fault::UnknownUnit:
        return HEADROOM_TR("core", "%1= has an unknown unit: %2");
    case Fault::NoUnit:
        return HEADROOM_TR("core", "%1= is a fraction without a unit: %2");
    case Fault::Grouped:
        return HEADROOM_TR("core", "%1= has a comma between digits, which could mean two numbers: %2");
    default:
        return HEADROOM_TR("core", "%1= is not a number of the expected kind: %2");
    }
}

} // namespace

Text faultText(Fault fault, std::string_view key, std::string_view line, std::size_t begin)
{
    return Text(pattern(fault), {std::string(key), excerpt(line, begin)});
}

} // namespace headroom
