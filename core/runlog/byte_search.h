// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace headroom {

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

// Searches within a line: what is looked for is usually a few bytes away, and calling memchr would cost more than the
// search. SSE2 is part of every x86-64 processor.

/// The first `byte` at or after `from`, else the size of the text.
inline std::size_t findNearByte(std::string_view text, char byte, std::size_t from)
{
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8(byte);
    for (; from + 16 <= text.size(); from += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + from));
        const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
        if (found != 0) {
            return from + static_cast<std::size_t>(std::countr_zero(found));
        }
    }
#endif
    while (from < text.size() && text[from] != byte) {
        ++from;
    }
    return from;
}

/// How often `byte` is in the text.
inline std::int64_t countByte(std::string_view text, char byte)
{
    std::int64_t count = 0;
    std::size_t at = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8(byte);
    while (at + 16 <= text.size()) {
        // Each lane of `found` counts down from 0; 255 rounds fill one.
        __m128i found = _mm_setzero_si128();
        const std::size_t end = std::min(text.size() - 15, at + std::size_t{255} * 16);
        for (; at < end; at += 16) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
            found = _mm_sub_epi8(found, _mm_cmpeq_epi8(bytes, wanted));
        }
        const __m128i sums = _mm_sad_epu8(found, _mm_setzero_si128());
        count += _mm_cvtsi128_si64(sums) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums));
    }
#endif
    for (; at < text.size(); ++at) {
        count += text[at] == byte ? 1 : 0;
    }
    return count;
}

/// Whether the text holds a control character below the blank, carriage return and escape among them. Stops at the
/// first, so that it is cheap on texts that are full of them.
inline bool hasControls(std::string_view text)
{
    std::size_t at = 0;
#if defined(__SSE2__)
    const __m128i largest = _mm_set1_epi8(0x1f);
    const auto anyAt = [&](std::size_t from) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + from));
        return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, largest), bytes)) != 0;
    };
    for (; at + 16 <= text.size(); at += 16) {
        if (anyAt(at)) {
            return true;
        }
    }
    if (at > 0) {
        return at < text.size() && anyAt(text.size() - 16); // the rest, and some bytes again
    }
#endif
    while (at < text.size() && static_cast<unsigned char>(text[at]) >= 0x20) {
        ++at;
    }
    return at < text.size();
}

} // namespace headroom
