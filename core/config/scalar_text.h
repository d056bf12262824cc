// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"

#include <string>
#include <string_view>

namespace headroom {

/// Where a scalar is written, which decides how it must be quoted.
struct ScalarPlace
{
    bool isFlow = false; ///< inside brackets
    bool isJson = false; ///< inside a mapping whose keys have double quotes
    ScalarStyle oldStyle = ScalarStyle::Empty;
    std::string_view oldText; ///< what stood there, for its type
};

/// `value` as it has to be written there: in the quotes that were there, otherwise plain unless a YAML reader would
/// take that for something else (yes, 010, "a: b", "#x", an empty text). A flag is written in the words that stood
/// there.
[[nodiscard]] std::string writeScalar(std::string_view value, const ScalarPlace& place);
/// A key of the mapping, plain or in double quotes.
[[nodiscard]] std::string writeKey(std::string_view name, const ScalarPlace& place);

[[nodiscard]] bool isNullText(std::string_view text);
/// The setting is null: nothing, or plain null or ~.
[[nodiscard]] bool isNull(const Setting& setting);
/// A reader of the config can't tell the two apart: 4_096 and 4096, yes and true, 1e9 and 1000000000.
[[nodiscard]] bool meansTheSame(std::string_view a, std::string_view b);

} // namespace headroom
