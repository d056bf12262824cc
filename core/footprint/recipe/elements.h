// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace headroom {

/// A number of elements: exact, never negative, and stopping at the largest int64 instead of overflowing, so that
/// absurd input gives a huge number rather than undefined behaviour.
class Elements
{
public:
    constexpr Elements() = default;
    constexpr Elements(std::int64_t value) // NOLINT(google-explicit-constructor): formulas read as written
        : m_value(std::max<std::int64_t>(value, 0))
    {
    }

    [[nodiscard]] constexpr std::int64_t value() const { return m_value; }
    [[nodiscard]] constexpr double real() const { return static_cast<double>(m_value); }

    constexpr Elements& operator+=(Elements other)
    {
        if (__builtin_add_overflow(m_value, other.m_value, &m_value)) {
            m_value = std::numeric_limits<std::int64_t>::max();
        }
        return *this;
    }
    friend constexpr Elements operator+(Elements a, Elements b) { return a += b; }
    friend constexpr Elements operator*(Elements a, Elements b)
    {
        std::int64_t product = 0;
        return __builtin_mul_overflow(a.m_value, b.m_value, &product) ? std::numeric_limits<std::int64_t>::max()
                                                                      : product;
    }
    /// The largest of the shards that `parts` GPUs hold.
    friend constexpr Elements operator/(Elements whole, std::int64_t parts)
    {
        return parts <= 1 ? whole : Elements(whole.m_value / parts + (whole.m_value % parts != 0 ? 1 : 0));
    }
    friend constexpr auto operator<=>(Elements, Elements) = default;

private:
    std::int64_t m_value = 0;
};

} // namespace headroom
