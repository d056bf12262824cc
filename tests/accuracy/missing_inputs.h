// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace headroom::accuracy {

/// What an entry of measured/cases.yaml leaves out of what an estimate needs, by its own list, else by its empty keys.
/// Empty: nothing.
[[nodiscard]] std::string missingInput(const YAML::Node& node);

} // namespace headroom::accuracy
