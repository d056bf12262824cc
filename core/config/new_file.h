// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"

#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// A file of the format that states these settings and nothing else; `heading` becomes a comment where the syntax has
/// comments. Settings that a file of this kind can't hold (a flag in a mapping, two values at one place) fail.
[[nodiscard]] Result<std::string> newFile(const ConfigFormat::Export& way, std::span<const ConfigEdit> settings,
                                          std::string_view heading);

} // namespace headroom
