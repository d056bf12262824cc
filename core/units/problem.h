// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/text.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace headroom {

enum class Severity : std::uint8_t { Error, Warning, Note };

/// Something in a file that was not understood or not done, with its place. Line 0: the file as a whole.
struct Problem
{
    Severity severity = Severity::Error;
    std::string file;
    std::int64_t line = 0;
    Text text;

    /// "train.log:12: …", "train.log: …" or "…", in English.
    [[nodiscard]] std::string english() const;

    friend bool operator==(const Problem&, const Problem&) = default;
};

template <class T> using Result = tl::expected<T, Problem>;

/// An error without a place, for functions that know only what is wrong; the caller adds file and line.
[[nodiscard]] tl::unexpected<Problem> failure(Text text, std::string file = {}, std::int64_t line = 0);

} // namespace headroom
