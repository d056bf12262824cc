// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/format_file.h"

#include "config/effective_settings.h"
#include "config/format_rules.h"
#include "config/yaml_tree.h"
#include "plan/fields.h"

#include <algorithm>
#include <map>
#include <optional>

namespace headroom {

namespace {

using Kind = YamlNode::Kind;

/// Reads one data file; the first thing that is wrong ends it.
class FormatReader
{
public:
    FormatReader(const YamlTree& tree, const std::string& name)
        : m_tree(tree)
        , m_name(name)
    {
    }

    Result<ConfigFormat> read();

private:
    struct Wrong
    {
        Problem problem;
    };
    struct Entry
    {
        std::string key;
        std::size_t keyNode;
        std::size_t value;
    };

    [[noreturn]] void fail(std::size_t node, Text text) const
    {
        throw Wrong{{Severity::Error, m_name, m_tree[node].line, std::move(text)}};
    }
    [[nodiscard]] std::vector<Entry> entries(std::size_t node) const;
    [[nodiscard]] std::string text(std::size_t node) const;
    [[nodiscard]] std::vector<std::size_t> items(std::size_t node) const;
    [[nodiscard]] std::vector<std::string> texts(std::size_t node) const;
    [[nodiscard]] std::vector<std::string> expanded(std::size_t node, const std::string& key) const;
    void readScopes(std::size_t node);
    void addGroups(std::vector<std::vector<std::string>>& groups, std::size_t node) const;
    [[nodiscard]] std::string fieldOf(const Entry& entry) const;
    [[nodiscard]] std::vector<ConfigFormat::Key> keys(std::size_t node) const;
    void addKey(std::vector<ConfigFormat::Key>& keys, const std::string& field, std::size_t node) const;
    [[nodiscard]] ConfigFormat::Transform transform(std::size_t node) const;
    [[nodiscard]] std::vector<ConfigFormat::Key> values(std::size_t node) const;
    [[nodiscard]] std::vector<ConfigFormat::Key> products(std::size_t node) const;
    [[nodiscard]] ConfigFormat::Variant variant(std::size_t node) const;
    [[nodiscard]] std::vector<ConfigFormat::Condition> conditions(std::size_t node) const;
    [[nodiscard]] ConfigFormat::Files files(std::size_t node) const;
    [[nodiscard]] ConfigFormat::NoEffect noEffect(std::size_t node) const;
    [[nodiscard]] ConfigFormat::Export exported(std::size_t node) const;
    void readTop(ConfigFormat& format, const Entry& entry) const;

    const YamlTree& m_tree;
    const std::string& m_name;
    std::map<std::string, std::vector<std::string>> m_scopes;
};

std::vector<FormatReader::Entry> FormatReader::entries(std::size_t node) const
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

std::string FormatReader::text(std::size_t node) const
{
    const YamlNode& scalar = m_tree.resolved(node);
    if (scalar.kind != Kind::Scalar) {
        fail(node, Text{HEADROOM_TR("core", "a single value belongs here")});
    }
    return scalar.text;
}

std::vector<std::size_t> FormatReader::items(std::size_t node) const
{
    const YamlNode& list = m_tree.resolved(node);
    return list.kind == Kind::Sequence ? list.items : std::vector{node};
}

std::vector<std::string> FormatReader::texts(std::size_t node) const
{
    std::vector<std::string> result;
    for (const std::size_t item : items(node)) {
        result.push_back(text(item));
    }
    return result;
}

/// A key's alternatives: "$text.vocab_size" is one key for each place of the scope `text`.
std::vector<std::string> FormatReader::expanded(std::size_t node, const std::string& key) const
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

void FormatReader::readScopes(std::size_t node)
{
    for (const Entry& entry : entries(node)) {
        m_scopes[entry.key] = texts(entry.value);
    }
}

/// A group of keys that must stand together; keys of a scope give one group for each of its places.
void FormatReader::addGroups(std::vector<std::vector<std::string>>& groups, std::size_t node) const
{
    std::vector<std::vector<std::string>> alternatives;
    std::size_t count = 1;
    for (const std::size_t item : items(node)) {
        alternatives.push_back(expanded(item, text(item)));
        count = std::max(count, alternatives.back().size());
    }
    for (std::size_t place = 0; place < count; ++place) {
        std::vector<std::string> group;
        for (const auto& keys : alternatives) {
            group.push_back(keys[std::min(place, keys.size() - 1)]);
        }
        groups.push_back(std::move(group));
    }
}

std::string FormatReader::fieldOf(const Entry& entry) const
{
    if (!isFieldKey(entry.key)) {
        fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not a field of a plan"), {entry.key}});
    }
    return entry.key;
}

ConfigFormat::Transform FormatReader::transform(std::size_t node) const
{
    using Transform = ConfigFormat::Transform;
    const std::string name = text(node);
    for (const auto& [word, transform] :
         {std::pair{"not", Transform::Inverse}, std::pair{"size", Transform::ByteSize},
          std::pair{"count", Transform::ItemCount}, std::pair{"first", Transform::First}}) {
        if (name == word) {
            return transform;
        }
    }
    fail(node, Text{HEADROOM_TR("core", "“%1” is not a transform; there are not, size, count and first"), {name}});
}

/// One key, or a mapping with the key and what its value goes through.
void FormatReader::addKey(std::vector<ConfigFormat::Key>& keys, const std::string& field, std::size_t node) const
{
    if (m_tree.resolved(node).kind != Kind::Map) {
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
        } else if (entry.key == "words") {
            for (const Entry& word : entries(entry.value)) {
                pattern.words.emplace_back(word.key, text(word.value));
            }
        } else {
            fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not known here"), {entry.key}});
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

std::vector<ConfigFormat::Key> FormatReader::keys(std::size_t node) const
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
std::vector<ConfigFormat::Key> FormatReader::values(std::size_t node) const
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

std::vector<ConfigFormat::Key> FormatReader::products(std::size_t node) const
{
    std::vector<ConfigFormat::Key> result;
    for (const Entry& entry : entries(node)) {
        for (const std::size_t item : items(entry.value)) {
            result.push_back({text(item), fieldOf(entry)});
        }
    }
    return result;
}

std::vector<ConfigFormat::Condition> FormatReader::conditions(std::size_t node) const
{
    std::vector<ConfigFormat::Condition> result;
    for (const Entry& entry : entries(node)) {
        const bool isPresence = m_tree.resolved(entry.value).isNull;
        result.push_back(
            {expanded(entry.keyNode, entry.key), isPresence ? std::vector<std::string>{} : texts(entry.value)});
    }
    return result;
}

ConfigFormat::Variant FormatReader::variant(std::size_t node) const
{
    ConfigFormat::Variant result;
    for (const Entry& entry : entries(node)) {
        if (entry.key == "when") {
            result.when = conditions(entry.value);
        } else if (entry.key == "keys") {
            result.keys = keys(entry.value);
        } else if (entry.key == "implies") {
            result.implied = values(entry.value);
        } else if (entry.key == "products") {
            result.products = products(entry.value);
        } else if (entry.key == "preset") {
            result.preset = text(entry.value);
        } else {
            fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not known here"), {entry.key}});
        }
    }
    if (result.when.empty()) {
        fail(node, Text{HEADROOM_TR("core", "“%1” is missing here"), {"when"}});
    }
    return result;
}

ConfigFormat::Files FormatReader::files(std::size_t node) const
{
    ConfigFormat::Files result;
    const std::map<std::string_view, std::vector<std::string>*> roles{{"beside", &result.beside},
                                                                      {"below", &result.below},
                                                                      {"above", &result.above},
                                                                      {"model", &result.models},
                                                                      {"defaults_list", &result.defaultsLists}};
    for (const Entry& entry : entries(node)) {
        const auto role = roles.find(entry.key);
        if (role == roles.end()) {
            fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not known here"), {entry.key}});
        }
        for (const std::size_t item : items(entry.value)) {
            const auto keys = expanded(item, text(item));
            role->second->insert(role->second->end(), keys.begin(), keys.end());
        }
    }
    return result;
}

ConfigFormat::NoEffect FormatReader::noEffect(std::size_t node) const
{
    ConfigFormat::NoEffect result;
    const std::map<std::string_view, std::vector<ConfigFormat::Condition>*> lists{
        {"when", &result.when}, {"beside", &result.beside}, {"without", &result.without}};
    const std::map<std::string_view, bool*> flags{
        {"stops", &result.stops}, {"neither", &result.isNeither}, {"harmless", &result.isHarmless}};
    const std::map<std::string_view, std::string*> texts{{"instead", &result.instead}, {"source", &result.source}};
    for (const Entry& entry : entries(node)) {
        if (const auto list = lists.find(entry.key); list != lists.end()) {
            *list->second = conditions(entry.value);
        } else if (const auto flag = flags.find(entry.key); flag != flags.end()) {
            *flag->second = text(entry.value) == "true";
        } else if (const auto one = texts.find(entry.key); one != texts.end()) {
            *one->second = text(entry.value);
        } else if (entry.key == "mend") {
            result.mend = values(entry.value);
        } else {
            fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not known here"), {entry.key}});
        }
    }
    for (const auto& [isMissing, key] :
         {std::pair{result.when.empty(), "when"}, std::pair{result.source.empty(), "source"}}) {
        if (isMissing) {
            fail(node, Text{HEADROOM_TR("core", "“%1” is missing here"), {key}});
        }
    }
    return result;
}

ConfigFormat::Export FormatReader::exported(std::size_t node) const
{
    ConfigFormat::Export result;
    const std::map<std::string_view, std::string*> one{
        {"ending", &result.ending}, {"launcher", &result.launcher}, {"program", &result.program}};
    for (const Entry& entry : entries(node)) {
        if (const auto found = one.find(entry.key); found != one.end()) {
            *found->second = text(entry.value);
        } else if (entry.key == "launcher_flags") {
            result.launcherFlags = texts(entry.value);
        } else {
            fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not known here"), {entry.key}});
        }
    }
    if (result.ending != ".yaml" && result.ending != ".json" && (result.ending != ".sh" || result.program.empty())) {
        fail(node, Text{HEADROOM_TR("core", "“%1” is missing here"), {result.ending == ".sh" ? "program" : "ending"}});
    }
    return result;
}

void FormatReader::readTop(ConfigFormat& format, const Entry& entry) const
{
    const std::map<std::string_view, std::vector<std::string>*> lists{{"blocks", &format.blocks},
                                                                      {"other_keys", &format.otherKeys},
                                                                      {"presets", &format.presetKeys},
                                                                      {"preset_hints", &format.presetHints}};
    if (entry.key == "id") {
        format.id = text(entry.value);
    } else if (entry.key == "title") {
        format.title = text(entry.value);
    } else if (entry.key == "recognised_by") {
        for (const std::size_t group : items(entry.value)) {
            addGroups(format.recognisedBy, group);
        }
    } else if (entry.key == "keys") {
        format.keys = keys(entry.value);
    } else if (entry.key == "defaults") {
        format.defaults = values(entry.value);
    } else if (entry.key == "products") {
        format.products = products(entry.value);
    } else if (entry.key == "variants") {
        for (const std::size_t item : items(entry.value)) {
            format.variants.push_back(variant(item));
        }
    } else if (entry.key == "kinds") {
        for (const std::size_t item : items(entry.value)) {
            const auto keys = expanded(item, text(item));
            format.kinds.insert(format.kinds.end(), keys.begin(), keys.end());
        }
    } else if (entry.key == "not_estimated") {
        format.notEstimated = conditions(entry.value);
    } else if (entry.key == "no_effect") {
        for (const std::size_t item : items(entry.value)) {
            format.noEffect.push_back(noEffect(item));
        }
    } else if (entry.key == "export") {
        format.exported = exported(entry.value);
    } else if (entry.key == "files") {
        format.files = files(entry.value);
    } else if (entry.key == "rules") {
        format.rules = text(entry.value);
        if (!isFormatRule(format.rules)) {
            fail(entry.value, Text{HEADROOM_TR("core", "“%1” is not known here"), {format.rules}});
        }
    } else if (const auto list = lists.find(entry.key); list != lists.end()) {
        *list->second = texts(entry.value);
    } else if (entry.key != "scopes") {
        fail(entry.keyNode, Text{HEADROOM_TR("core", "“%1” is not known here"), {entry.key}});
    }
}

Result<ConfigFormat> FormatReader::read()
try {
    ConfigFormat format;
    const auto top = entries(m_tree.root);
    for (const Entry& entry : top) {
        if (entry.key == "scopes") {
            readScopes(entry.value);
        }
    }
    for (const Entry& entry : top) {
        readTop(format, entry);
    }
    format.scopes = m_scopes;
    for (const auto& [isMissing, key] :
         {std::pair{format.id.empty(), "id"}, std::pair{format.title.empty(), "title"},
          std::pair{format.recognisedBy.empty(), "recognised_by"},
          std::pair{format.keys.empty() && format.files.defaultsLists.empty(), "keys"}}) {
        if (isMissing) {
            fail(m_tree.root, Text{HEADROOM_TR("core", "“%1” is missing here"), {key}});
        }
    }
    return format;
} catch (const Wrong& wrong) {
    return tl::unexpected(wrong.problem);
}

} // namespace

Result<ConfigFormat> parseFormat(std::string_view bytes, const std::string& name)
{
    // Checks encoding and limits; users write these files too.
    const auto document = ConfigDocument::parse(std::string(bytes), name);
    if (!document) {
        return tl::unexpected(document.error());
    }
    const auto tree = parseYaml(bytes, name);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    if (tree->root == YamlNode::none || tree->nodes[tree->root].kind != Kind::Map) {
        return failure(Text{HEADROOM_TR("core", "the file is not a mapping of keys to values")}, name);
    }
    return FormatReader(*tree, name).read();
}

} // namespace headroom
