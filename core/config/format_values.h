// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

struct FieldValue
{
    std::string text; ///< as setField reads it
    const Setting* setting = nullptr; ///< where it stands
};

/// What the document states under `key` for its field; nothing when the key is absent or null.
[[nodiscard]] std::optional<FieldValue> readValue(const ConfigDocument& document, const ConfigFormat::Key& key);

/// The edit that makes `key` state `value` (a field's text); `pending` is an edit of the same key that comes before it,
/// if any. Nothing when this key can't hold it.
[[nodiscard]] std::optional<ConfigEdit> writeValue(const ConfigDocument& document, const ConfigFormat::Key& key,
                                                   const std::string& value, const ConfigEdit* pending);

} // namespace headroom
