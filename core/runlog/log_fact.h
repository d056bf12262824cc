// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_kind.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Something a log tells besides its measurements: an argument, a parameter count, the capacity, an out-of-memory
/// message. Fields have the names of the log formats.
struct LogFact
{
    struct Field
    {
        std::string name;
        std::string text; ///< as the log has it
        std::optional<double> number; ///< bytes, milliseconds, counts; absent for texts
    };
    LineKind kind = LineKind::Marker;
    std::string format; ///< "megatron.args_row"
    std::uint16_t file = 0; ///< index into Run::files
    std::int32_t rank = -1; ///< -1: the log does not say
    std::int64_t line = 0; ///< 1-based
    std::vector<Field> fields;

    [[nodiscard]] const Field* find(std::string_view name) const;
    [[nodiscard]] std::optional<double> number(std::string_view name) const;
    [[nodiscard]] std::string_view text(std::string_view name) const;
};

} // namespace headroom
