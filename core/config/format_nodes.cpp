// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/format_nodes.h"

#include "config/effective_settings.h"
#include "config/format_keys.h"
#include "plan/fields.h"

#include <utility>

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
    const auto spelled = [this](std::string name) { return m_hasFlagsAsKeys ? keyOfFlag(std::move(name)) : name; };
    const std::size_t dot = key.find('.');
    if (!key.starts_with('$')) {
        return {spelled(key)};
    }
    const auto scope = m_scopes.find(key.substr(1, dot == std::string::npos ? dot : dot - 1));
    if (scope == m_scopes.end() || dot == std::string::npos) {
        fail(node, Text{HEADROOM_TR("core", "“%1” names no scope of this file"), {key}});
    }
    std::vector<std::string> result;
    for (const std::string& place : scope->second) {
        // The place of flags is a prefix of their names.
        const bool isPrefix = place.empty() || place.ends_with('-');
        result.push_back(place + (isPrefix ? "" : ".") + spelled(key.substr(dot + 1)));
    }
    return result;
}

void FormatNodes::readScopes(std::size_t node)
{
    for (const Entry& entry : entries(node)) {
        m_scopes.try_emplace(entry.key, texts(entry.value));
    }
}

void FormatNodes::readFor(std::map<std::string, std::vector<std::string>> scopes, bool hasFlagsAsKeys)
{
    m_scopes = std::move(scopes);
    m_hasFlagsAsKeys = hasFlagsAsKeys;
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

std::string FormatNodes::fieldOf(const Entry& entry) const
{
    if (!isFieldKey(entry.key)) {
        fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not a field of a plan"), {entry.key}});
    }
    return entry.key;
}

ConfigFormat::Transform FormatNodes::transform(std::size_t node) const
{
    using Transform = ConfigFormat::Transform;
    const std::string name = text(node);
    for (const auto& [word, transform] :
         {std::pair{"not", Transform::Inverse}, std::pair{"size", Transform::ByteSize},
          std::pair{"count", Transform::ItemCount}, std::pair{"first", Transform::First},
          std::pair{"any", Transform::AnyOf}, std::pair{"names", Transform::NamesOf},
          std::pair{"starts", Transform::StartsOf}, std::pair{"workspace", Transform::Workspace}}) {
        if (name == word) {
            return transform;
        }
    }
    fail(node,
         Text{HEADROOM_TR(
                  "core",
                  "“%1” is not a transform; there are not, size, count, first, any, names, starts and workspace"),
              {name}});
}

/// One key, or a mapping with the key and what its value goes through.
void FormatNodes::addKey(std::vector<ConfigFormat::Key>& keys, const std::string& field, std::size_t node) const
{
    if (!isMap(node)) {
        for (std::string& key : expanded(node, text(node))) {
            keys.push_back({std::move(key), field});
        }
        return;
    }
    ConfigFormat::Key pattern{{}, field};
    std::vector<std::string> names;
    for (const Entry& entry : entries(node)) {
        if (entry.key == "key") {
            names = expanded(entry.value, text(entry.value));
        } else if (entry.key == "as") {
            pattern.transform = transform(entry.value);
        } else if (entry.key == "member") {
            pattern.transform = ConfigFormat::Transform::Member;
            for (std::string& word : texts(entry.value)) {
                pattern.words.emplace_back(std::move(word), "true");
            }
        } else if (entry.key == "switch") {
            pattern.transform = ConfigFormat::Transform::Switch;
            pattern.words = {{"true", text(entry.value)}};
        } else if (entry.key == "option") {
            pattern.transform = ConfigFormat::Transform::Option;
            pattern.option = text(entry.value);
        } else if (entry.key == "words") {
            for (const Entry& word : entries(entry.value)) {
                pattern.words.emplace_back(word.key, text(word.value));
            }
        } else {
            failUnknown(entry);
        }
    }
    if (names.empty()) {
        fail(node, Text{HEADROOM_TR("core", "“%1” is missing here"), {"key"}});
    }
    for (std::string& name : names) {
        pattern.key = std::move(name);
        keys.push_back(pattern);
    }
}

std::vector<ConfigFormat::Key> FormatNodes::keys(std::size_t node) const
{
    std::vector<ConfigFormat::Key> result;
    for (const Entry& entry : entries(node)) {
        const std::string field = fieldOf(entry);
        for (const std::size_t item : items(entry.value)) {
            addKey(result, field, item);
        }
    }
    return result;
}

/// field: value, each checked against the field.
std::vector<ConfigFormat::Key> FormatNodes::values(std::size_t node) const
{
    std::vector<ConfigFormat::Key> result;
    for (const Entry& entry : entries(node)) {
        TrainingPlan plan;
        const std::string value = text(entry.value);
        if (const auto set = setField(plan, fieldOf(entry), value, {}); !set) {
            fail(entry.value, set.error().text);
        }
        result.push_back({value, entry.key});
    }
    return result;
}

} // namespace headroom
