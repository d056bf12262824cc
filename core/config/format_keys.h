// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The variants of the format that hold for the document.
[[nodiscard]] std::vector<const ConfigFormat::Variant*> variantsOf(const ConfigDocument& document,
                                                                   const ConfigFormat& format);
/// The setting that makes a condition hold; null when none does, or only a mapping.
[[nodiscard]] const Setting* settingThatHolds(const ConfigDocument& document, const ConfigFormat::Condition& condition);
/// The keys that state `field` in this document, the one to be preferred first.
[[nodiscard]] std::vector<const ConfigFormat::Key*> keysOf(const ConfigDocument& document, const ConfigFormat& format,
                                                           std::string_view field);
/// The same where the variants that hold are known already.
[[nodiscard]] std::vector<const ConfigFormat::Key*> keysOf(const std::vector<const ConfigFormat::Variant*>& variants,
                                                           const ConfigFormat& format, std::string_view field);
/// The key stands in the document, as a value or a mapping.
[[nodiscard]] bool hasKey(const ConfigDocument& document, std::string_view key);
/// The values of the list at `key`; a single value is a list of one. Null ones are left out.
[[nodiscard]] std::vector<const Setting*> itemsOf(const ConfigDocument& document, std::string_view key);
/// The setting at `key` unless it is null.
[[nodiscard]] const Setting* statedAt(const ConfigDocument& document, std::string_view key);
/// "--num-layers" -> "num_layers", as projects have it that pass flags on from YAML; other keys as they are.
[[nodiscard]] std::string keyOfFlag(std::string name);
/// The field takes a list of names.
[[nodiscard]] bool isListField(std::string_view field);

} // namespace headroom
