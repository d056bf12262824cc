// SPDX-License-Identifier: GPL-3.0-or-later
#include "units/bytes.h"

#include "units/number.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace headroom {

namespace {

constexpr double largest = 9.2e18;

struct UnitName
{
    std::string_view name;
    double factor;
};

// Lower case; "k" alone and the like are left out because they do not say which power they mean.
constexpr std::array<UnitName, 12> units{{
    {"b", 1.0},
    {"bytes", 1.0},
    {"kib", 1024.0},
    {"mib", 1048576.0},
    {"gib", 1073741824.0},
    {"tib", 1099511627776.0},
    {"pib", 1125899906842624.0},
    {"kb", 1e3},
    {"mb", 1e6},
    {"gb", 1e9},
    {"tb", 1e12},
    {"pb", 1e15},
}};

std::optional<double> unitFactor(std::string_view name)
{
    if (name.empty()) {
        return 1.0;
    }
    std::string lower(name);
    for (char& c : lower) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    for (const UnitName& unit : units) {
        if (unit.name == lower) {
            return unit.factor;
        }
    }
    return std::nullopt;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

} // namespace

Bytes bytesFrom(double value)
{
    if (std::isnan(value)) {
        return {0};
    }
    if (value >= largest) {
        return {std::numeric_limits<std::int64_t>::max()};
    }
    if (value <= -largest) {
        return {std::numeric_limits<std::int64_t>::min()};
    }
    // What std::llround returns, without a call: every estimate asks for a hundred of these.
    const auto whole = static_cast<std::int64_t>(value);
    const double rest = value - static_cast<double>(whole);
    return {whole + (rest >= 0.5 ? 1 : rest <= -0.5 ? -1 : 0)};
}

std::string formatBytes(Bytes bytes, int decimals)
{
    const auto value = static_cast<double>(bytes.value);
    const double size = std::abs(value);
    if (size < 1024.0) {
        return fmt::format("{} B", bytes.value);
    }
    if (size < 1048576.0) {
        return fmt::format("{:.1f} KiB", value / 1024.0);
    }
    // 1023.996 MiB would round to 1024.00 MiB, so the border lies where rounding does.
    if (size < 1073741824.0 - 1048576.0 * 0.5 * std::pow(10.0, -decimals)) {
        return fmt::format("{:.{}f} MiB", value / 1048576.0, decimals);
    }
    return formatGib(bytes, decimals);
}

std::string formatGib(Bytes bytes, int decimals)
{
    return fmt::format("{:.{}f} GiB", bytes.gib(), decimals);
}

Result<Bytes> parseBytes(std::string_view text)
{
    const std::string_view whole = trimmed(text);
    std::size_t split = whole.size();
    while (split > 0 && std::isalpha(static_cast<unsigned char>(whole[split - 1]))) {
        --split;
    }
    // "1e9" has no unit: the letter belongs to the number when nothing but digits would be left of an exponent.
    const auto number = parseReal(trimmed(whole.substr(0, split)));
    const auto factor = unitFactor(whole.substr(split));
    if (!factor && number) {
        return failure(Text{HEADROOM_TR("core", "“%1” is not a unit of size; use B, KiB, MiB, GiB, MB or GB"),
                            {std::string(whole.substr(split))}});
    }
    if (!number || !factor) {
        return failure(Text{HEADROOM_TR("core", "“%1” is not a size"), {std::string(whole)}});
    }
    const double bytes = *number * *factor;
    if (bytes < 0.0 || bytes >= largest) {
        return failure(Text{HEADROOM_TR("core", "“%1” is not a size a GPU can have"), {std::string(whole)}});
    }
    return bytesFrom(bytes);
}

} // namespace headroom
