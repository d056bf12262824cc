// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/field_values.h"

#include "runlog/byte_search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace headroom {
namespace {

constexpr double largestAmount = 1125899906842624.0; // 2^50
constexpr std::size_t longestName = 64;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isLetter(char c)
{
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'z';
}

bool isBlank(char c)
{
    return c == ' ' || c == '\t';
}

bool isWord(char c)
{
    return isDigit(c) || isLetter(c) || c == '_';
}

/// A position in a line; past the end it reads as a zero byte.
struct Cursor
{
    std::string_view line;
    std::size_t at = 0;

    [[nodiscard]] char peek(std::size_t ahead = 0) const { return at + ahead < line.size() ? line[at + ahead] : '\0'; }
    void skipBlanks()
    {
        while (isBlank(peek())) {
            ++at;
        }
    }
    /// The opening quote, escaped or not, where there is one.
    char skipQuote()
    {
        if (peek() == '\\' && (peek(1) == '"' || peek(1) == '\'')) {
            ++at;
        }
        return peek() == '"' || peek() == '\'' ? line[at++] : '\0';
    }
};

/// A number without sign and what is wrong with it.
struct Number
{
    double value = 0;
    bool whole = true; ///< no decimals, no exponent
    bool point = false; ///< written with a decimal point
    Fault fault = Fault::None;
};

/// Digits from `at` on as a number; more than 19 overflow, which the caller sees by their count.
std::uint64_t readDigits(std::string_view line, std::size_t& at, std::uint64_t value = 0)
{
    for (; at < line.size() && isDigit(line[at]); ++at) {
        value = value * 10 + static_cast<std::uint64_t>(line[at] - '0');
    }
    return value;
}

bool endsValue(std::string_view line, std::size_t at)
{
    return at >= line.size() || line[at] == ' ';
}

constexpr std::array<double, 20> powersOfTen{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                             1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
constexpr std::uint64_t exactInDouble = std::uint64_t{1} << 53U;

bool isPlaceholder(char c)
{
    return c == '{' || c == '%' || c == '<' || c == '$';
}

/// What stands where a number should: nan, inf, a placeholder of source text, or nothing that could be meant.
Fault faultOfNonNumber(const Cursor& cursor)
{
    if (isPlaceholder(cursor.peek())) {
        return Fault::Placeholder;
    }
    const auto startsWith = [&](std::string_view lower) {
        for (std::size_t i = 0; i < lower.size(); ++i) {
            if ((cursor.peek(i) | 0x20) != lower[i]) {
                return false;
            }
        }
        return true;
    };
    return startsWith("nan") || startsWith("inf") ? Fault::NotFinite : Fault::NotANumber;
}

/// Numbers with an exponent or very many digits.
Number readLongNumber(Cursor& cursor, std::size_t begin)
{
    Number number;
    const char* const first = cursor.line.data() + begin;
    const auto [end, error] = std::from_chars(first, cursor.line.data() + cursor.line.size(), number.value);
    const bool tiny = std::find(first, end, '-') != end; // 1e-999 is out of range too, and zero
    if (error == std::errc::result_out_of_range && !tiny) {
        number.fault = Fault::TooLarge;
    } else if (error == std::errc::invalid_argument) {
        number.fault = Fault::NotANumber;
    }
    cursor.at = static_cast<std::size_t>(end - cursor.line.data());
    return number;
}

/// Digits with an optional fraction and exponent. Short ones, the usual case, are exact: both operands of the
/// division are.
Number readNumber(Cursor& cursor)
{
    const std::size_t begin = cursor.at;
    std::uint64_t mantissa = readDigits(cursor.line, cursor.at);
    std::size_t digits = cursor.at - begin;
    std::size_t decimals = 0;
    const bool point = cursor.peek() == '.' && (digits > 0 || isDigit(cursor.peek(1)));
    if (point) {
        const std::size_t first = ++cursor.at;
        mantissa = readDigits(cursor.line, cursor.at, mantissa);
        decimals = cursor.at - first;
        digits += decimals;
    }
    if (digits == 0) {
        return {.fault = faultOfNonNumber(cursor)};
    }
    const bool exponent = (cursor.peek() | 0x20) == 'e'
        && (isDigit(cursor.peek(1)) || ((cursor.peek(1) == '-' || cursor.peek(1) == '+') && isDigit(cursor.peek(2))));
    Number number{.value = static_cast<double>(mantissa)};
    if (exponent || digits >= powersOfTen.size() || mantissa > exactInDouble) {
        number = readLongNumber(cursor, begin);
    } else if (decimals > 0) {
        number.value /= powersOfTen[decimals];
    }
    number.whole = decimals == 0 && !exponent;
    number.point = point;
    return number;
}

/// Sign, number and what may not follow one.
Number readSigned(Cursor& cursor, bool& negative)
{
    negative = cursor.peek() == '-';
    if (negative || cursor.peek() == '+') {
        ++cursor.at;
    }
    Number number = readNumber(cursor);
    if (number.fault != Fault::None) {
        return number;
    }
    if (cursor.peek() == ',' && isDigit(cursor.peek(1))) {
        number.fault = Fault::Grouped;
    } else if (cursor.peek() == '_' || (cursor.peek() == '.' && isDigit(cursor.peek(1)))) {
        number.fault = Fault::NotANumber;
    }
    return number;
}

struct Unit
{
    std::string_view lower;
    double bytes;
};

constexpr std::array<Unit, 9> units{{{"gib", 1073741824.0},
                                     {"mib", 1048576.0},
                                     {"gb", 1e9},
                                     {"mb", 1e6},
                                     {"b", 1.0},
                                     {"kib", 1024.0},
                                     {"tib", 1099511627776.0},
                                     {"kb", 1e3},
                                     {"tb", 1e12}}};

std::optional<double> unitNamed(std::string_view name)
{
    for (const Unit& unit : units) {
        if (std::ranges::equal(name, unit.lower, {}, [](char c) { return static_cast<char>(c | 0x20); })) {
            return unit.bytes;
        }
    }
    return std::nullopt;
}

/// The letters at the cursor after optional blanks. Letters after a blank that are no unit belong to the next word.
Fault readUnit(Cursor& cursor, std::optional<double>& factor)
{
    Cursor ahead = cursor;
    ahead.skipBlanks();
    const std::size_t begin = ahead.at;
    while (isLetter(ahead.peek())) {
        ++ahead.at;
    }
    const char next = ahead.peek();
    const bool whole = !isWord(next) && next != '=' && next != '/' && next != '%';
    factor = whole ? unitNamed(ahead.line.substr(begin, ahead.at - begin)) : std::nullopt;
    if (factor) {
        cursor.at = ahead.at;
        return Fault::None;
    }
    return begin == cursor.at && (ahead.at > begin || next == '/' || next == '%') ? Fault::UnknownUnit : Fault::None;
}

/// Values in any other form than the usual one, which the public functions read without detours; or none at all.
FieldValue<std::int64_t> readUnusualAmount(std::string_view line, std::size_t begin)
{
    Cursor cursor{line, begin};
    cursor.skipBlanks();
    cursor.skipQuote();
    bool negative = false;
    const Number number = readSigned(cursor, negative);
    Fault fault = number.fault;
    std::optional<double> factor;
    if (fault == Fault::None) {
        fault = readUnit(cursor, factor);
    }
    if (fault == Fault::None && negative) {
        fault = Fault::Negative;
    }
    if (fault == Fault::None && !factor && (number.point || !number.whole)) {
        fault = Fault::NoUnit;
    }
    const double bytes = number.value * factor.value_or(1.0);
    if (fault == Fault::None && !(bytes <= largestAmount)) {
        fault = Fault::TooLarge;
    }
    return {fault == Fault::None ? static_cast<std::int64_t>(bytes + 0.5) : 0, cursor.at, fault};
}

FieldValue<std::int64_t> readUnusualWhole(std::string_view line, std::size_t begin, std::int64_t smallest,
                                          std::int64_t largest)
{
    Cursor cursor{line, begin};
    cursor.skipBlanks();
    cursor.skipQuote();
    bool negative = false;
    const Number number = readSigned(cursor, negative);
    const double value = negative ? -number.value : number.value;
    Fault fault = number.fault;
    if (fault == Fault::None && (!number.whole || isWord(cursor.peek()))) {
        fault = Fault::NotANumber;
    } else if (fault == Fault::None && value < static_cast<double>(smallest)) {
        fault = Fault::Negative;
    } else if (fault == Fault::None && value > static_cast<double>(largest)) {
        fault = Fault::TooLarge;
    }
    return {fault == Fault::None ? static_cast<std::int64_t>(value) : 0, cursor.at, fault};
}

FieldValue<std::string_view> readUnusualName(std::string_view line, std::size_t begin)
{
    Cursor cursor{line, begin};
    cursor.skipBlanks();
    const char quote = cursor.skipQuote();
    if (isPlaceholder(cursor.peek())) {
        return {{}, cursor.at, Fault::Placeholder};
    }
    const std::size_t first = cursor.at;
    const auto belongs = [&](char c) { return continuesWord(c) || (quote != '\0' && c == ' '); };
    while (belongs(cursor.peek())) {
        ++cursor.at;
    }
    std::string_view name = line.substr(first, cursor.at - first);
    while (!name.empty() && (name.back() == '.' || name.back() == '-')) {
        name.remove_suffix(1); // the end of a sentence or of an arrow, not of a name
    }
    const bool isKey = cursor.peek() == '='; // "phase= step=3"
    const bool readable
        = !name.empty() && name.size() <= longestName && !isKey && static_cast<unsigned char>(cursor.peek()) < 0x80;
    return {name, isKey ? first : cursor.at, readable ? Fault::None : Fault::Missing};
}

} // namespace

/// The usual amount is "31.25GiB" or "40960MiB" before a blank or the line's end.
FieldValue<std::int64_t> readAmount(std::string_view line, std::size_t begin)
{
    std::size_t at = begin;
    std::uint64_t mantissa = readDigits(line, at);
    std::size_t digits = at - begin;
    std::size_t decimals = 0;
    if (at < line.size() && line[at] == '.') {
        const std::size_t point = at++;
        mantissa = readDigits(line, at, mantissa);
        decimals = at - point - 1;
        digits += decimals;
    }
    const bool usual = digits > 0 && digits <= 15 && at + 3 <= line.size() && line[at + 1] == 'i' && line[at + 2] == 'B'
        && (line[at] == 'G' || line[at] == 'M') && endsValue(line, at + 3);
    if (!usual) {
        return readUnusualAmount(line, begin);
    }
    // Exact up to the division: 15 digits times a power of two.
    const double bytes = static_cast<double>(mantissa) * (line[at] == 'G' ? 0x1p30 : 0x1p20) / powersOfTen[decimals];
    if (bytes > largestAmount) {
        return {0, begin, Fault::TooLarge};
    }
    return {static_cast<std::int64_t>(bytes + 0.5), at + 3};
}

FieldValue<std::int64_t> readWhole(std::string_view line, std::size_t begin, std::int64_t smallest,
                                   std::int64_t largest)
{
    std::size_t end = begin;
    const std::uint64_t usual = readDigits(line, end);
    if (end > begin && end - begin <= 18 && endsValue(line, end) && usual <= static_cast<std::uint64_t>(largest)) {
        return {static_cast<std::int64_t>(usual), end};
    }
    return readUnusualWhole(line, begin, smallest, largest);
}

FieldValue<double> readReal(std::string_view line, std::size_t begin)
{
    Cursor cursor{line, begin};
    cursor.skipBlanks();
    cursor.skipQuote();
    bool negative = false;
    Number number = readSigned(cursor, negative);
    if (number.fault == Fault::NotFinite) {
        const bool infinite = (cursor.peek() | 0x20) == 'i';
        number
            = {.value = infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN()};
        while (isLetter(cursor.peek())) {
            ++cursor.at;
        }
    }
    return {negative ? -number.value : number.value, cursor.at, number.fault};
}

FieldValue<float> readRate(std::string_view line, std::size_t begin)
{
    const FieldValue<double> real = readReal(line, begin);
    Fault fault = real.fault;
    if (fault == Fault::None && !std::isfinite(real.value)) {
        fault = Fault::NotFinite;
    } else if (fault == Fault::None && real.value < 0) {
        fault = Fault::Negative;
    } else if (fault == Fault::None && real.value > static_cast<double>(std::numeric_limits<float>::max())) {
        fault = Fault::TooLarge;
    }
    return {fault == Fault::None ? static_cast<float>(real.value) : 0, real.end, fault};
}

FieldValue<float> readSeconds(std::string_view line, std::size_t begin)
{
    FieldValue<float> seconds = readRate(line, begin);
    Cursor cursor{line, seconds.end};
    while (isLetter(cursor.peek())) {
        ++cursor.at;
    }
    const std::string_view unit = line.substr(std::min(seconds.end, line.size()), cursor.at - seconds.end);
    seconds.end = cursor.at;
    if (seconds.fault != Fault::None) {
        return seconds;
    }
    if (unit == "ms") {
        seconds.value /= 1000.0F;
    } else if (!unit.empty() && unit != "s") {
        seconds.fault = Fault::UnknownUnit;
    }
    return seconds;
}

FieldValue<std::string_view> readName(std::string_view line, std::size_t begin)
{
    std::size_t end = begin;
    while (end < line.size() && continuesWord(line[end])) {
        ++end;
    }
    if (end > begin && end - begin <= longestName && end < line.size() && line[end] == ' ' && line[end - 1] != '.'
        && line[end - 1] != '-') {
        return {line.substr(begin, end - begin), end};
    }
    return readUnusualName(line, begin);
}

} // namespace headroom
