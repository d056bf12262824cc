// SPDX-License-Identifier: GPL-3.0-or-later
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace headroom {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// 4_096 -> 4096; empty when an underscore does not stand between two digits.
std::optional<std::string> withoutUnderscores(std::string_view text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') {
            result += text[i];
        } else if (i == 0 || i + 1 == text.size() || !std::isxdigit(static_cast<unsigned char>(text[i - 1]))
                   || !std::isxdigit(static_cast<unsigned char>(text[i + 1]))) {
            return std::nullopt;
        }
    }
    return result;
}

template <class T, class... Format> std::optional<T> parseWhole(std::string_view text, Format... format)
{
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format...);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

struct Digits
{
    int base;
    std::string_view digits;
};

Digits splitBase(std::string_view text)
{
    if (text.size() > 2 && text[0] == '0') {
        const char mark = text[1];
        if (mark == 'x' || mark == 'X') {
            return {16, text.substr(2)};
        }
        if (mark == 'o') {
            return {8, text.substr(2)};
        }
    }
    // YAML 1.1, which the frameworks' readers follow, takes a leading zero for octal.
    if (text.size() > 1 && text[0] == '0'
        && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '7'; })) {
        return {8, text.substr(1)};
    }
    return {10, text};
}

std::string lowered(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

} // namespace

std::optional<std::int64_t> parseInteger(std::string_view text)
{
    const auto plain = withoutUnderscores(text);
    if (!plain || plain->empty()) {
        return std::nullopt;
    }
    std::string_view rest = *plain;
    const bool isNegative = rest.front() == '-';
    if (isNegative || rest.front() == '+') {
        rest.remove_prefix(1);
    }
    if (rest.empty() || !std::isxdigit(static_cast<unsigned char>(rest.front()))) {
        return std::nullopt;
    }
    const auto [base, digits] = splitBase(rest);
    if (const auto value = parseWhole<std::int64_t>(digits, base)) {
        return isNegative ? -*value : *value;
    }
    // 1e6 and 4096.0 are integers to the readers that convert to the type they expect.
    const auto real = parseReal(*plain);
    constexpr double exactLimit = 9007199254740992.0;
    if (real && *real == std::floor(*real) && std::abs(*real) <= exactLimit) {
        return static_cast<std::int64_t>(*real);
    }
    return std::nullopt;
}

std::optional<double> parseReal(std::string_view text)
{
    const auto plain = withoutUnderscores(text);
    if (!plain || plain->empty()) {
        return std::nullopt;
    }
    std::string_view rest = *plain;
    const bool isNegative = rest.front() == '-';
    if (isNegative || rest.front() == '+') {
        rest.remove_prefix(1);
    }
    // from_chars would also take inf, nan and a second sign.
    if (rest.empty() || !(isDigit(rest.front()) || (rest.front() == '.' && rest.size() > 1 && isDigit(rest[1])))) {
        return std::nullopt;
    }
    const auto [base, digits] = splitBase(rest);
    std::optional<double> value;
    if (base == 10) {
        value = parseWhole<double>(digits);
    } else if (const auto integer = parseWhole<std::int64_t>(digits, base)) {
        value = static_cast<double>(*integer);
    }
    if (!value || !std::isfinite(*value)) {
        return std::nullopt;
    }
    return isNegative ? -*value : *value;
}

std::optional<bool> parseBool(std::string_view text)
{
    const std::string word = lowered(text);
    std::string capitalised = word;
    std::string upper = word;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!word.empty()) {
        capitalised.front() = upper.front();
    }
    // YAML 1.1 knows yes, Yes and YES, but not yEs.
    if (text != word && text != capitalised && text != upper) {
        return std::nullopt;
    }
    if (word == "true" || word == "yes" || word == "on") {
        return true;
    }
    if (word == "false" || word == "no" || word == "off") {
        return false;
    }
    return std::nullopt;
}

std::string formatCount(std::int64_t value)
{
    std::string digits = std::to_string(value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3; at -= 3) {
        digits.insert(at - 3, 1, ',');
    }
    return digits;
}

std::string formatCountShort(std::int64_t value)
{
    constexpr std::array<std::pair<double, const char*>, 4> scales{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}}};
    const auto real = static_cast<double>(value);
    for (const auto& [scale, name] : scales) {
        const double scaled = real / scale;
        if (std::abs(scaled) >= 1.0) {
            return fmt::format("{:.{}f} {}", scaled, std::abs(scaled) < 100 ? 2 : 1, name);
        }
    }
    return std::to_string(value);
}

std::string formatReal(double value)
{
    return fmt::format("{}", value);
}

} // namespace headroom
