// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Puts values in place of "${…}" where that is the whole scalar and the file tells the value: another key, absolute or
/// relative (OmegaConf), a variable of the environment with a default (${NAME:default} as in Primus, ${oc.env:NAME,x}),
/// and NeMo's ${multiply:…}, ${sum:…}, ${divide_floor:…}. Keys that a value comes from become its sources. What the
/// file does not tell stays as it is written.
void resolveInterpolations(std::vector<Setting>& settings);

/// "${NAME:old}" with another default; nothing for a text that is no variable with a default.
[[nodiscard]] std::optional<std::string> withOtherDefault(std::string_view interpolation, std::string_view value);

} // namespace headroom
