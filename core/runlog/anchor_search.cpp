// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/anchor_search.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headroom {
namespace {

/// Underscores and punctuation are rarer in log lines than letters and digits.
std::size_t rarestByte(std::string_view anchor)
{
    const auto alphanumeric
        = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' '; };
    const auto rare = std::find_if_not(anchor.begin(), anchor.end(), alphanumeric);
    return rare == anchor.end() ? 0 : static_cast<std::size_t>(rare - anchor.begin());
}

bool hasAvx2()
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

} // namespace

AnchorSearch::AnchorSearch(std::string_view anchor, bool portable)
    : m_anchor(anchor)
    , m_rare(rarestByte(anchor))
    , m_avx2(!portable && hasAvx2())
{
}

std::size_t AnchorSearch::next(std::string_view text, std::size_t from, std::int64_t& lineFeeds) const
{
    return m_avx2 ? nextAvx2(text, from, lineFeeds) : nextPortable(text, from, lineFeeds);
}

std::size_t AnchorSearch::nextPortable(std::string_view text, std::size_t from, std::int64_t& lineFeeds) const
{
    const std::size_t found = std::min(text.find(m_anchor, from), text.size());
    lineFeeds += std::count(text.data() + from, text.data() + found, '\n');
    return found;
}

#if defined(__x86_64__)
namespace {

[[gnu::target("avx2")]] inline __m256i equal(const char* bytes, __m256i wanted)
{
    return _mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes)), wanted);
}

/// One bit per byte of two registers.
[[gnu::target("avx2")]] inline std::uint64_t bits(__m256i low, __m256i high)
{
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(low))
        | std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32U;
}

} // namespace

/// 64 bytes at a time: a place is a candidate when the anchor's rarest and last byte stand where they should.
[[gnu::target("avx2,popcnt")]] std::size_t AnchorSearch::nextAvx2(std::string_view text, std::size_t from,
                                                                  std::int64_t& lineFeeds) const
{
    constexpr std::size_t block = 64;
    const std::size_t last = m_anchor.size() - 1;
    const __m256i lineFeed = _mm256_set1_epi8('\n');
    const __m256i rareByte = _mm256_set1_epi8(m_anchor[m_rare]);
    const __m256i lastByte = _mm256_set1_epi8(m_anchor[last]);
    for (; from + block + last <= text.size(); from += block) {
        const char* p = text.data() + from;
        const std::uint64_t feeds = bits(equal(p, lineFeed), equal(p + 32, lineFeed));
        const __m256i low = _mm256_and_si256(equal(p + m_rare, rareByte), equal(p + last, lastByte));
        const __m256i high = _mm256_and_si256(equal(p + m_rare + 32, rareByte), equal(p + last + 32, lastByte));
        for (std::uint64_t hits = bits(low, high); hits != 0; hits &= hits - 1) {
            const auto at = static_cast<std::size_t>(std::countr_zero(hits));
            if (std::memcmp(p + at, m_anchor.data(), m_anchor.size()) != 0) {
                continue;
            }
            lineFeeds += std::popcount(feeds & ((std::uint64_t{1} << at) - 1));
            return from + at;
        }
        lineFeeds += std::popcount(feeds);
    }
    return nextPortable(text, from, lineFeeds);
}

#else

std::size_t AnchorSearch::nextAvx2(std::string_view text, std::size_t from, std::int64_t& lineFeeds) const
{
    return nextPortable(text, from, lineFeeds);
}

#endif

} // namespace headroom
