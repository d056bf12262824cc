// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/line_pattern.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

struct NamedUnit
{
    std::string_view name;
    FieldUnit unit;
    double factor;
};

constexpr std::array<NamedUnit, 15> units{{{"text", FieldUnit::Text, 1},
                                           {"time", FieldUnit::Text, 1},
                                           {"num", FieldUnit::Number, 1},
                                           {"B", FieldUnit::Number, 1},
                                           {"KiB", FieldUnit::Number, 1024},
                                           {"MiB", FieldUnit::Number, 1048576},
                                           {"GiB", FieldUnit::Number, 1073741824},
                                           {"MB", FieldUnit::Number, 1e6},
                                           {"GB", FieldUnit::Number, 1e9},
                                           {"ms", FieldUnit::Number, 1},
                                           {"s", FieldUnit::Number, 1000},
                                           {"size", FieldUnit::Size, 1},
                                           {"si", FieldUnit::Suffixed, 1},
                                           {"fraction", FieldUnit::Fraction, 1},
                                           {"unit", FieldUnit::UnitGroup, 1}}};

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

struct Prefix
{
    double value = 0;
    std::size_t length = 0; ///< 0: no number
};

/// The number a text begins with, commas between digits dropped.
Prefix numberPrefix(std::string_view text)
{
    std::array<char, 64> digits{};
    std::size_t size = 0;
    std::size_t at = !text.empty() && text.front() == '+' ? 1 : 0;
    for (; at < text.size() && size < digits.size(); ++at) {
        const char c = text[at];
        const bool sign = (c == '-' || c == '+') && (size == 0 || (digits[size - 1] | 0x20) == 'e');
        if (isDigit(c) || c == '.' || sign || ((c | 0x20) == 'e' && size > 0)) {
            digits[size++] = c;
        } else if (c != ',' || size == 0) {
            break;
        }
    }
    Prefix prefix;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + size, prefix.value);
    if (error == std::errc::invalid_argument) {
        return {};
    }
    if (error == std::errc::result_out_of_range) {
        prefix.value = std::numeric_limits<double>::infinity();
    }
    prefix.length = at - (size - static_cast<std::size_t>(end - digits.data()));
    return prefix;
}

std::optional<double> notFinite(std::string_view text)
{
    if (text == "nan" || text == "NaN") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (text == "inf" || text == "-inf" || text == "Infinity") {
        return text.front() == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    }
    return std::nullopt;
}

/// What a suffix multiplies by: on base 1024 for sizes of memory, on base 1000 for counts, where B is a billion.
double suffixFactor(std::string_view suffix, double base, bool billions)
{
    const std::size_t first = suffix.find_first_not_of(" \t\r\n");
    switch (first == std::string_view::npos ? '\0' : suffix[first]) {
    case 'k':
    case 'K':
        return base;
    case 'M':
        return base * base;
    case 'G':
        return base * base * base;
    case 'T':
        return base * base * base * base;
    case 'P':
        return base * base * base * base * base;
    case 'B':
        return billions ? base * base * base : 1;
    default:
        return 1;
    }
}

} // namespace

std::optional<FieldRule> fieldRule(std::string_view name, std::string_view unit)
{
    for (const NamedUnit& known : units) {
        if (known.name == unit) {
            return FieldRule{std::string(name), known.unit, known.factor};
        }
    }
    return std::nullopt;
}

std::optional<double> fieldNumber(const FieldRule& rule, std::string_view text, std::string_view unit)
{
    if (text.starts_with("np.float")) { // np.float64(20.76)
        text.remove_prefix(std::min(text.find('(') + 1, text.size()));
    }
    if (const auto special = notFinite(text)) {
        return special;
    }
    const Prefix prefix = numberPrefix(text);
    if (prefix.length == 0) {
        return std::nullopt;
    }
    double value = prefix.value * rule.factor;
    if (rule.unit == FieldUnit::Size) {
        value *= suffixFactor(text.substr(prefix.length), 1024, false);
    } else if (rule.unit == FieldUnit::Suffixed) {
        value *= suffixFactor(text.substr(prefix.length), 1000, true);
    } else if (rule.unit == FieldUnit::UnitGroup) {
        if (unit.empty()) {
            return std::nullopt;
        }
        value *= suffixFactor(unit, 1024, false);
    }
    const bool isBytes = rule.name.ends_with("bytes") && std::abs(value) < 9e15;
    return isBytes ? std::floor(value + 0.5) : value;
}

} // namespace headroom
