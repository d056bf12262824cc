// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/yaml_tree.h"

#include <string>
#include <vector>

namespace headroom {

/// A mapping's entry as a reader sees it.
struct EffectiveEntry
{
    std::size_t key = YamlNode::none;
    std::size_t value = YamlNode::none;
    bool isMerged = false; ///< from a mapping merged with <<
};

/// The mapping's entries in file order: the last of several with one key, explicit ones before merged ones.
/// Duplicates are added to `problems` when it is given. Fails when merging goes beyond the limits.
[[nodiscard]] Result<std::vector<EffectiveEntry>> effectiveEntries(const YamlTree& tree, std::size_t map,
                                                                   const std::string& name,
                                                                   std::vector<Problem>* problems = nullptr);

/// All leaves of the tree with aliases expanded and merge keys applied. Fails when that gives more than 500,000 leaves,
/// 64 MiB of keys and texts, or 200 levels (an alias bomb).
[[nodiscard]] Result<std::vector<Setting>> effectiveSettings(const YamlTree& tree, const std::string& name,
                                                             std::vector<Problem>& problems);

/// A key's text; keys that are not scalars have none.
[[nodiscard]] const std::string* keyText(const YamlTree& tree, std::size_t key);

} // namespace headroom
