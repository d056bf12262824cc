// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/format_file.h"

#include "config/format_nodes.h"
#include "config/format_rules.h"
#include "config/settings_without_effect.h"
#include "config/yaml_tree.h"
#include "plan/fields.h"

#include <algorithm>
#include <map>
#include <optional>

namespace headroom {

namespace {

/// Reads one data file.
class FormatReader : FormatNodes
{
public:
    FormatReader(const YamlTree& tree, const std::string& name)
        : FormatNodes(tree, name)
    {
    }

    Result<ConfigFormat> read();

private:
    [[nodiscard]] ConfigFormat readEntries();
    [[nodiscard]] Result<ConfigFormat> inOurPlaces(const YamlTree& tree, const std::string& path,
                                                   bool hasFlagsAsKeys) const;
    void addBase(ConfigFormat& format, std::size_t node) const;
    void addEnvironment(ConfigFormat& format) const;
    void addGroups(std::vector<std::vector<std::string>>& groups, std::size_t node) const;
    [[nodiscard]] std::vector<ConfigFormat::Key> products(std::size_t node) const;
    [[nodiscard]] ConfigFormat::Variant variant(std::size_t node) const;
    [[nodiscard]] ConfigFormat::Files files(std::size_t node) const;
    [[nodiscard]] std::vector<ConfigFormat::Condition> fieldConditions(std::size_t node) const;
    [[nodiscard]] ConfigFormat::NoEffect noEffect(std::size_t node) const;
    [[nodiscard]] ConfigFormat::Export exported(std::size_t node) const;
    void readTop(ConfigFormat& format, const Entry& entry) const;
};

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
            failUnknown(entry);
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
            failUnknown(entry);
        }
        for (const std::size_t item : items(entry.value)) {
            const auto keys = expanded(item, text(item));
            role->second->insert(role->second->end(), keys.begin(), keys.end());
        }
    }
    return result;
}

/// field: values that it has, or nothing where it only has to be known.
std::vector<ConfigFormat::Condition> FormatReader::fieldConditions(std::size_t node) const
{
    for (const Entry& entry : entries(node)) {
        static_cast<void>(fieldOf(entry));
    }
    return conditions(node);
}

ConfigFormat::NoEffect FormatReader::noEffect(std::size_t node) const
{
    ConfigFormat::NoEffect result;
    const std::map<std::string_view, std::vector<ConfigFormat::Condition>*> lists{
        {"when", &result.when}, {"beside", &result.beside}, {"without", &result.without}};
    const std::map<std::string_view, bool*> flags{
        {"stops", &result.stops}, {"neither", &result.isNeither}, {"harmless", &result.isHarmless}};
    const std::map<std::string_view, std::string*> words{
        {"instead", &result.instead}, {"effect", &result.effect}, {"source", &result.source}};
    for (const Entry& entry : entries(node)) {
        if (const auto list = lists.find(entry.key); list != lists.end()) {
            *list->second = conditions(entry.value);
        } else if (const auto flag = flags.find(entry.key); flag != flags.end()) {
            *flag->second = text(entry.value) == "true";
        } else if (const auto word = words.find(entry.key); word != words.end()) {
            *word->second
                = entry.key == "instead" ? expanded(entry.value, text(entry.value)).front() : text(entry.value);
            if (entry.key == "effect" && !reasonNamed(result.effect)) {
                fail(entry.value, Text{HEADROOM_TR("core", "“%1” is not known here"), {result.effect}});
            }
        } else if (entry.key == "where") {
            result.where = fieldConditions(entry.value);
        } else if (entry.key == "mend") {
            result.mend = values(entry.value);
        } else {
            failUnknown(entry);
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
            failUnknown(entry);
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
    } else if (entry.key == "over_recipe") {
        format.isOverRecipe = text(entry.value) == "true";
    } else if (entry.key == "rules") {
        format.rules = text(entry.value);
        if (!isFormatRule(format.rules)) {
            fail(entry.value, Text{HEADROOM_TR("core", "“%1” is not known here"), {format.rules}});
        }
    } else if (const auto list = lists.find(entry.key); list != lists.end()) {
        *list->second = texts(entry.value);
    } else if (entry.key == "flags_as_keys") {
        format.hasFlagsAsKeys = text(entry.value) == "true";
    } else if (entry.key != "scopes" && entry.key != "based_on") {
        failUnknown(entry);
    }
}

template <class T> void append(std::vector<T>& to, std::vector<T> from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// A file of the program.
Result<YamlTree> builtinTree(const std::string& path)
{
    const auto files = builtinFiles();
    const auto file
        = std::find_if(files.begin(), files.end(), [&](const BuiltinFile& one) { return one.path == path; });
    if (file == files.end()) {
        return failure(Text{HEADROOM_TR("core", "“%1” is not known here"), {path}}, path);
    }
    return parseYaml(file->content, path);
}

/// Its keys looked up in the places of this one.
Result<ConfigFormat> FormatReader::inOurPlaces(const YamlTree& tree, const std::string& path, bool hasFlagsAsKeys) const
{
    FormatReader reader(tree, path);
    reader.readFor(scopes(), hasFlagsAsKeys);
    return reader.readEntries();
}

/// What a built-in format says of its keys. What its program takes when a file is silent is not passed on: between that
/// file and the program there are others.
void FormatReader::addBase(ConfigFormat& format, std::size_t node) const
{
    const std::string path = "formats/config/" + text(node) + ".yaml";
    auto base = builtinTree(path).and_then(
        [&](const YamlTree& tree) { return inOurPlaces(tree, path, format.hasFlagsAsKeys); });
    if (!base) {
        fail(node, Text{HEADROOM_TR("core", "“%1” is not known here"), {text(node)}});
    }
    append(format.keys, std::move(base->keys));
    append(format.variants, std::move(base->variants));
    append(format.noEffect, std::move(base->noEffect));
    append(format.notEstimated, std::move(base->notEstimated));
}

/// Variables that PyTorch reads from the environment, whatever program it runs in.
void FormatReader::addEnvironment(ConfigFormat& format) const
{
    static const std::string path = "formats/environment.yaml";
    static const Result<YamlTree> tree = builtinTree(path); // for all formats
    auto environment = tree.and_then([&](const YamlTree& of) { return inOurPlaces(of, path, false); });
    if (!environment) {
        throw Wrong{environment.error()};
    }
    for (ConfigFormat::Key& key : environment->keys) {
        key.isEnvironment = true;
    }
    append(format.keys, std::move(environment->keys));
}

ConfigFormat FormatReader::readEntries()
{
    ConfigFormat format;
    const auto top = entries(root());
    for (const Entry& entry : top) {
        if (entry.key == "scopes") {
            readScopes(entry.value);
        }
    }
    for (const Entry& entry : top) {
        readTop(format, entry);
    }
    for (const Entry& entry : top) {
        if (entry.key == "based_on") {
            addBase(format, entry.value);
        }
    }
    format.scopes = scopes();
    return format;
}

Result<ConfigFormat> FormatReader::read()
try {
    ConfigFormat format = readEntries();
    for (const auto& [isMissing, key] :
         {std::pair{format.id.empty(), "id"}, std::pair{format.title.empty(), "title"},
          std::pair{format.recognisedBy.empty(), "recognised_by"},
          std::pair{format.keys.empty() && format.files.defaultsLists.empty(), "keys"}}) {
        if (isMissing) {
            fail(root(), Text{HEADROOM_TR("core", "“%1” is missing here"), {key}});
        }
    }
    addEnvironment(format);
    return format;
} catch (const FormatNodes::Wrong& wrong) {
    return tl::unexpected(wrong.problem);
}

} // namespace

Result<ConfigFormat> parseFormat(const BuiltinFile& file)
{
    const std::string name(file.path);
    return parseYaml(file.content, name).and_then([&](const YamlTree& tree) {
        return FormatReader(tree, name).read();
    });
}

Result<ConfigFormat> parseFormat(std::string_view bytes, const std::string& name)
{
    // Checks encoding and limits, and what aliases expand to.
    const auto document = ConfigDocument::parse(std::string(bytes), name);
    if (!document) {
        return tl::unexpected(document.error());
    }
    const auto tree = parseYaml(bytes, name);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    if (tree->root == YamlNode::none || tree->nodes[tree->root].kind != YamlNode::Kind::Map) {
        return failure(Text{HEADROOM_TR("core", "the file is not a mapping of keys to values")}, name);
    }
    return FormatReader(*tree, name).read();
}

} // namespace headroom
