// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_format.h"
#include "config/yaml_tree.h"
#include "units/problem.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace headroom {

/// The nodes of a format's data file in the shapes that its language has. Whatever has another shape is thrown as
/// Wrong, which parseFormat() catches: the first thing that is wrong ends the reading.
class FormatNodes
{
public:
    struct Wrong
    {
        Problem problem;
    };

protected:
    struct Entry
    {
        std::string key;
        std::size_t keyNode;
        std::size_t value;
    };

    FormatNodes(const YamlTree& tree, const std::string& name)
        : m_tree(tree)
        , m_name(name)
    {
    }

    [[noreturn]] void fail(std::size_t node, Text text) const;
    [[noreturn]] void failUnknown(const Entry& entry) const;
    [[nodiscard]] bool isMap(std::size_t node) const { return m_tree.resolved(node).kind == YamlNode::Kind::Map; }
    [[nodiscard]] std::size_t root() const { return m_tree.root; }

    [[nodiscard]] std::vector<Entry> entries(std::size_t node) const;
    [[nodiscard]] std::string text(std::size_t node) const;
    /// A single value is a list of one.
    [[nodiscard]] std::vector<std::size_t> items(std::size_t node) const;
    [[nodiscard]] std::vector<std::string> texts(std::size_t node) const;
    /// A key's alternatives: "$text.vocab_size" is one key for each place of the scope `text`. Flags are spelled as the
    /// format has them.
    [[nodiscard]] std::vector<std::string> expanded(std::size_t node, const std::string& key) const;
    /// key: values, or nothing where it only has to be there.
    [[nodiscard]] std::vector<ConfigFormat::Condition> conditions(std::size_t node) const;
    [[nodiscard]] std::string fieldOf(const Entry& entry) const;
    /// field: its keys.
    [[nodiscard]] std::vector<ConfigFormat::Key> keys(std::size_t node) const;
    /// field: value, each checked against the field.
    [[nodiscard]] std::vector<ConfigFormat::Key> values(std::size_t node) const;

    /// Places that were given before stay.
    void readScopes(std::size_t node);
    /// This file is read for another format: with its places, and its spelling of flags.
    void readFor(std::map<std::string, std::vector<std::string>> scopes, bool hasFlagsAsKeys);
    [[nodiscard]] const std::map<std::string, std::vector<std::string>>& scopes() const { return m_scopes; }

private:
    void addKey(std::vector<ConfigFormat::Key>& keys, const std::string& field, std::size_t node) const;
    [[nodiscard]] ConfigFormat::Transform transform(std::size_t node) const;

    const YamlTree& m_tree;
    const std::string& m_name;
    std::map<std::string, std::vector<std::string>> m_scopes;
    bool m_hasFlagsAsKeys = false; ///< --num-layers is num_layers
};

} // namespace headroom
