// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/environment_value.h"

#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace headroom {

namespace {

struct Option
{
    std::string_view name, value;
    std::size_t begin = 0, end = 0; ///< in the text
};

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = text.find_first_not_of(blanks);
    return begin == text.npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Commas within brackets part nothing.
std::vector<Option> optionsOf(std::string_view text)
{
    std::vector<Option> options;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        const char c = at < text.size() ? text[at] : ',';
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c != ',' || (depth > 0 && at < text.size())) {
            continue;
        }
        const std::string_view part = text.substr(begin, at - begin);
        const std::size_t colon = std::min(part.find(':'), part.size());
        options.push_back(
            {trimmed(part.substr(0, colon)), trimmed(part.substr(std::min(colon + 1, part.size()))), begin, at});
        begin = at + 1;
    }
    return options;
}

} // namespace

std::optional<std::string> optionValue(std::string_view text, std::string_view name)
{
    for (const Option& option : optionsOf(text)) {
        if (option.name == name) {
            return std::string(option.value);
        }
    }
    return std::nullopt;
}

std::string withOption(const std::string& text, const std::string& name, const std::string& value)
{
    const std::string stated = name + ":" + value;
    for (const Option& option : optionsOf(text)) {
        if (option.name == name) {
            return text.substr(0, option.begin) + stated + text.substr(option.end);
        }
    }
    return text.empty() ? stated : text + "," + stated;
}

std::string workspaceBytes(const std::string& text)
{
    constexpr std::int64_t most = std::int64_t{1} << 20; // KiB of a buffer, number of buffers: beyond any GPU
    std::int64_t bytes = 0, size = 0;
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size() && text[at] == ':'; ++count) {
        const std::size_t end = std::min(text.find(':', at + 1), text.size());
        const auto number = parseInteger(std::string_view(text).substr(at + 1, end - at - 1));
        if (!number || *number < 0 || *number > most) {
            return text;
        }
        bytes += count % 2 == 1 ? size * *number * 1024 : 0;
        size = *number;
        at = end;
    }
    return count == 0 || count % 2 == 1 ? text : std::to_string(bytes);
}

std::optional<std::string> workspaceText(std::string_view bytes)
{
    constexpr std::int64_t smallBuffer = 16 * 1024, largeBuffers = 256; // of 4 MiB, in small ones
    const std::int64_t all = parseInteger(bytes).value_or(0);
    if (all <= 0 || all % smallBuffer != 0) {
        return std::nullopt;
    }
    const std::int64_t buffers = all / smallBuffer, large = buffers / largeBuffers, rest = buffers % largeBuffers;
    return (large > 0 ? fmt::format(":4096:{}", large) : std::string{})
        + (rest > 0 ? fmt::format(":16:{}", rest) : std::string{});
}

} // namespace headroom
