// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace headroom {

/// Searches within a line, eight bytes at a time: what is looked for is usually a few bytes away, where calling
/// memchr would cost more than the search.
namespace eight {

constexpr std::uint64_t ones = 0x0101010101010101;
constexpr std::uint64_t highBits = 0x8080808080808080;

inline std::uint64_t load(const char* bytes)
{
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// Not zero when one of the bytes is less than `bound` (at most 128); exact for the lowest such byte.
constexpr std::uint64_t less(std::uint64_t word, unsigned char bound)
{
    return (word - ones * bound) & ~word & highBits;
}

} // namespace eight

/// Letters, digits and _ . - /: what makes one word of a log, be it a key or a name.
inline bool continuesWord(char c)
{
    static constexpr std::array<bool, 256> table = [] {
        std::array<bool, 256> continues{};
        for (const char word : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/")) {
            continues[static_cast<unsigned char>(word)] = true;
        }
        return continues;
    }();
    return table[static_cast<unsigned char>(c)];
}

/// The first `byte` at or after `from`, else the size of the text.
inline std::size_t findNearByte(std::string_view text, char byte, std::size_t from)
{
    if constexpr (std::endian::native == std::endian::little) {
        const std::uint64_t wanted = eight::ones * static_cast<unsigned char>(byte);
        for (; from + 8 <= text.size(); from += 8) {
            const std::uint64_t found = eight::less(eight::load(text.data() + from) ^ wanted, 1);
            if (found != 0) {
                return from + static_cast<std::size_t>(std::countr_zero(found)) / 8;
            }
        }
    }
    while (from < text.size() && text[from] != byte) {
        ++from;
    }
    return from;
}

/// Whether the text holds a control character below the blank, carriage return and escape among them.
inline bool hasControls(std::string_view text)
{
    std::size_t at = 0;
    while (at + 8 <= text.size() && eight::less(eight::load(text.data() + at), 0x20) == 0) {
        at += 8;
    }
    // The last bytes, or those of the word where the loop stopped.
    const std::size_t end = text.size() - at < 8 ? text.size() : at + 8;
    while (at < end && static_cast<unsigned char>(text[at]) >= 0x20) {
        ++at;
    }
    return at < end;
}

} // namespace headroom
