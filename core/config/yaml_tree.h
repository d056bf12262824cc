// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "units/problem.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A node of a YAML file with the bytes it stands in. Nodes refer to one another by their place in YamlTree::nodes.
struct YamlNode
{
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    enum class Kind : std::uint8_t { Scalar, Map, Sequence, Alias };

    Kind kind = Kind::Scalar;
    ScalarStyle style = ScalarStyle::Plain;
    bool isNull = false; ///< plain null, ~ or nothing at all
    bool isFlow = false; ///< a collection in brackets
    bool needsColon = false; ///< an empty value whose key has no colon, as in {a, b: 1}
    bool isPlaced = true; ///< false: where it stands could not be told, so it can't be changed
    std::string text; ///< a scalar's meaning, an alias' name
    std::size_t outer = 0; ///< where the node begins with its anchor and tag
    std::size_t begin = 0; ///< where its own text begins
    std::size_t end = 0;
    std::int64_t line = 0; ///< 1-based line of `begin`
    std::size_t target = none; ///< what an alias stands for
    std::vector<std::size_t> items; ///< of a sequence; of a map: key, value, key, value, …
};

struct YamlTree
{
    std::vector<YamlNode> nodes;
    std::size_t root = YamlNode::none;
    std::vector<Problem> problems; ///< further documents

    [[nodiscard]] const YamlNode& operator[](std::size_t index) const { return nodes[index]; }
    /// The node itself, or what an alias stands for.
    [[nodiscard]] const YamlNode& resolved(std::size_t index) const
    {
        const YamlNode& node = nodes[index];
        return node.kind == YamlNode::Kind::Alias ? nodes[node.target] : node;
    }
};

/// The first document of a YAML (or JSON) text whose encoding has been checked. Fails with the line for what is not
/// YAML, nesting deeper than 200, more than a million values, and anchors that contain themselves.
[[nodiscard]] Result<YamlTree> parseYaml(std::string_view bytes, const std::string& name);

} // namespace headroom
