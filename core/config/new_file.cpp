// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/new_file.h"

#include "config/key_path.h"
#include "config/scalar_text.h"

#include <algorithm>
#include <deque>

namespace headroom {

namespace {

struct Node
{
    std::string name;
    const ConfigEdit* leaf = nullptr;
    std::deque<Node> children;
};

tl::unexpected<Problem> noPlace(const ConfigEdit& setting)
{
    return failure(Text{HEADROOM_TR("core", "there is no place for “%1” in a file of this kind"), {setting.key}});
}

/// The mappings that the dotted keys mean, in the order of their first keys.
Result<Node> treeOf(std::span<const ConfigEdit> settings)
{
    Node root;
    for (const ConfigEdit& setting : settings) {
        const auto steps = parseKey(setting.key);
        if (!steps) {
            return noPlace(setting);
        }
        Node* node = &root;
        for (const KeyStep& step : *steps) {
            if (step.index || node->leaf != nullptr) {
                return noPlace(setting);
            }
            auto found = std::find_if(node->children.begin(), node->children.end(),
                                      [&](const Node& child) { return child.name == step.name; });
            node = found != node->children.end() ? &*found : &node->children.emplace_back(Node{step.name, nullptr, {}});
        }
        if (node->leaf != nullptr || !node->children.empty()) {
            return noPlace(setting);
        }
        node->leaf = &setting;
    }
    return root;
}

std::string listText(const std::vector<std::string>& items, ScalarPlace place)
{
    place.isFlow = true;
    std::string text = "[";
    for (const std::string& item : items) {
        text += (text.size() > 1 ? ", " : "") + writeScalar(item, place);
    }
    return text + "]";
}

std::string leafText(const ConfigEdit& setting, const ScalarPlace& place)
{
    return setting.items ? listText(*setting.items, place) : writeScalar(setting.value, place);
}

void writeYaml(const Node& node, std::size_t depth, std::string& text)
{
    for (const Node& child : node.children) {
        text += std::string(2 * depth, ' ') + writeKey(child.name, {}) + ":";
        if (child.leaf != nullptr) {
            text += " " + leafText(*child.leaf, {}) + "\n";
        } else {
            text += "\n";
            writeYaml(child, depth + 1, text);
        }
    }
}

void writeJson(const Node& node, std::size_t depth, std::string& text)
{
    ScalarPlace place;
    place.isFlow = place.isJson = true;
    text += "{";
    for (const Node& child : node.children) {
        text += (&child == &node.children.front() ? "\n" : ",\n") + std::string(2 * (depth + 1), ' ')
            + writeKey(child.name, place) + ": ";
        if (child.leaf != nullptr) {
            text += leafText(*child.leaf, place);
        } else {
            writeJson(child, depth + 1, text);
        }
    }
    text += (node.children.empty() ? "" : "\n" + std::string(2 * depth, ' ')) + "}";
}

/// Plain where the shell takes every character as itself.
std::string shellWord(const std::string& word)
{
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./:,=@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
        return word;
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

/// "--bf16", "--micro-batch-size 2"; a switch that is off is not there.
std::string flagText(const ConfigEdit& setting)
{
    if (setting.items) {
        std::string text = setting.key;
        for (const std::string& item : *setting.items) {
            text += " " + shellWord(item);
        }
        return text;
    }
    return setting.value == "true" ? setting.key : setting.key + " " + shellWord(setting.value);
}

/// The launcher with its own flags, the program, and the program's.
Result<std::string> shellText(const ConfigFormat::Export& way, std::span<const ConfigEdit> settings)
{
    std::vector<std::string> before{way.launcher}, after;
    std::string program = way.program, variables;
    for (const ConfigEdit& setting : settings) {
        const bool isLaunchers
            = std::find(way.launcherFlags.begin(), way.launcherFlags.end(), setting.key) != way.launcherFlags.end();
        if (setting.key == "script") {
            program = setting.value;
        } else if (setting.isEnvironment) {
            variables += "export " + setting.key + "=" + shellWord(setting.value) + "\n";
        } else if (!setting.key.starts_with("--") || setting.key.find_first_of(".[\" ") != std::string::npos) {
            return noPlace(setting);
        } else if (setting.items || setting.value != "false") {
            (isLaunchers ? before : after).push_back(flagText(setting));
        }
    }
    std::string text;
    before.push_back(program);
    before.insert(before.end(), after.begin(), after.end());
    for (const std::string& part : before) {
        text += (text.empty() ? "" : " \\\n    ") + part;
    }
    return variables + text + "\n";
}

std::string comment(std::string_view heading)
{
    std::string text;
    for (std::size_t at = 0; at < heading.size();) {
        const std::size_t end = std::min(heading.find('\n', at), heading.size());
        text += "# " + std::string(heading.substr(at, end - at)) + "\n";
        at = end + 1;
    }
    return text;
}

} // namespace

Result<std::string> newFile(const ConfigFormat::Export& way, std::span<const ConfigEdit> settings,
                            std::string_view heading)
{
    if (way.ending == ".sh") {
        return shellText(way, settings).map([&](const std::string& text) {
            return "#!/bin/bash\n" + comment(heading) + text;
        });
    }
    return treeOf(settings).map([&](const Node& tree) {
        std::string text;
        if (way.ending == ".json") {
            writeJson(tree, 0, text);
            return text + "\n";
        }
        writeYaml(tree, 0, text);
        return comment(heading) + (text.empty() ? "{}\n" : text);
    });
}

} // namespace headroom
