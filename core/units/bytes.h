// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace headroom {

/// A number of bytes. GiB is 2^30; GB is 10^9 and only ever read, never printed.
struct Bytes
{
    std::int64_t value = 0;

    friend constexpr auto operator<=>(Bytes, Bytes) = default;
    constexpr Bytes& operator+=(Bytes other)
    {
        value += other.value;
        return *this;
    }
    constexpr Bytes& operator-=(Bytes other)
    {
        value -= other.value;
        return *this;
    }
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
    friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return {a.value * n}; }

    [[nodiscard]] constexpr double gib() const { return static_cast<double>(value) / (1024.0 * 1024.0 * 1024.0); }
};

constexpr Bytes kib(std::int64_t n)
{
    return {n << 10};
}
constexpr Bytes mib(std::int64_t n)
{
    return {n << 20};
}
constexpr Bytes gib(std::int64_t n)
{
    return {n << 30};
}

/// Rounds to the nearest byte and clamps to what fits; NaN becomes 0. Every estimate passes through here, so absurd
/// input (1e30 layers) gives the largest number instead of undefined behaviour.
[[nodiscard]] Bytes bytesFrom(double value);

/// "31.25 GiB", "512.0 MiB", "-3.4 GiB"; below 1 KiB "17 B". `decimals` applies to GiB and MiB.
[[nodiscard]] std::string formatBytes(Bytes bytes, int decimals = 2);
/// Always GiB: "0.50 GiB".
[[nodiscard]] std::string formatGib(Bytes bytes, int decimals = 2);

/// "31.25GiB", "80 GB", "1024" (bytes), "1.5e9B". Units B, KiB, MiB, GiB, TiB, kB, KB, MB, GB, TB, any case except
/// that the i decides binary or decimal. Negative, NaN and infinite values are refused.
[[nodiscard]] Result<Bytes> parseBytes(std::string_view text);

} // namespace headroom
