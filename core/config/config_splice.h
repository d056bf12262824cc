// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/yaml_tree.h"
#include "units/problem.h"

#include <string>

namespace headroom {

/// The bytes of a config file with one value changed, added or made explicit, and nothing else touched. The caller
/// parses the result again and compares; `tree` is that of `readable`, the bytes with what YAML does not know blanked
/// out, `name` stands for the file in messages.
[[nodiscard]] Result<std::string> spliced(const std::string& bytes, const std::string& readable, const YamlTree& tree,
                                          const std::string& name, const ConfigEdit& edit);

} // namespace headroom
