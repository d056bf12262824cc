// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/format_nodes.h"

#include "config/effective_settings.h"

namespace headroom {

using Kind = YamlNode::Kind;

void FormatNodes::fail(std::size_t node, Text text) const
{
    throw Wrong{{Severity::Error, m_name, m_tree[node].line, std::move(text)}};
}

void FormatNodes::failUnknown(const Entry& entry) const
{
    fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not known here"), {entry.key}});
}

std::vector<FormatNodes::Entry> FormatNodes::entries(std::size_t node) const
{
    const std::size_t map = m_tree[node].kind == Kind::Alias ? m_tree[node].target : node;
    if (m_tree[map].kind != Kind::Map) {
        fail(node, Text{HEADROOM_TR("core", "a mapping belongs here")});
    }
    std::vector<Problem> problems;
    const auto effective = effectiveEntries(m_tree, map, m_name, &problems);
    if (!effective) {
        throw Wrong{effective.error()};
    }
    if (!problems.empty()) {
        throw Wrong{problems.front()};
    }
    std::vector<Entry> result;
    for (const EffectiveEntry& entry : *effective) {
        result.push_back({*keyText(m_tree, entry.key), entry.key, entry.value});
    }
    return result;
}

std::string FormatNodes::text(std::size_t node) const
{
    const YamlNode& scalar = m_tree.resolved(node);
    if (scalar.kind != Kind::Scalar) {
        fail(node, Text{HEADROOM_TR("core", "a single value belongs here")});
    }
    return scalar.text;
}

std::vector<std::size_t> FormatNodes::items(std::size_t node) const
{
    const YamlNode& list = m_tree.resolved(node);
    return list.kind == Kind::Sequence ? list.items : std::vector{node};
}

std::vector<std::string> FormatNodes::texts(std::size_t node) const
{
    std::vector<std::string> result;
    for (const std::size_t item : items(node)) {
        result.push_back(text(item));
    }
    return result;
}

std::vector<std::string> FormatNodes::expanded(std::size_t node, const std::string& key) const
{
    const std::size_t dot = key.find('.');
    if (!key.starts_with('$')) {
        return {key};
    }
    const auto scope = m_scopes.find(key.substr(1, dot == std::string::npos ? dot : dot - 1));
    if (scope == m_scopes.end() || dot == std::string::npos) {
        fail(node, Text{HEADROOM_TR("core", "“%1” names no scope of this file"), {key}});
    }
    std::vector<std::string> result;
    for (const std::string& place : scope->second) {
        // The place of flags is a prefix of their names.
        const bool isPrefix = place.empty() || place.ends_with('-');
        result.push_back(place + key.substr(isPrefix ? dot + 1 : dot));
    }
    return result;
}

void FormatNodes::readScopes(std::size_t node)
{
    for (const Entry& entry : entries(node)) {
        m_scopes[entry.key] = texts(entry.value);
    }
}

std::vector<ConfigFormat::Condition> FormatNodes::conditions(std::size_t node) const
{
    std::vector<ConfigFormat::Condition> result;
    for (const Entry& entry : entries(node)) {
        const bool isPresence = m_tree.resolved(entry.value).isNull;
        result.push_back(
            {expanded(entry.keyNode, entry.key), isPresence ? std::vector<std::string>{} : texts(entry.value)});
    }
    return result;
}

} // namespace headroom
