// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_splice.h"
#include "config/config_syntax.h"
#include "config/effective_settings.h"
#include "config/yaml_interpolation.h"
#include "config/yaml_tree.h"

#include <algorithm>
#include <map>

namespace headroom {

namespace {

bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Where a // or /* comment that begins here ends; `at` when none does. A // inside a word, as in an address, is none.
std::size_t endOfComment(std::string_view text, std::size_t at)
{
    const bool isAtWordStart
        = at == 0 || isBlank(text[at - 1]) || std::string_view(",{}[]/").find(text[at - 1]) != std::string_view::npos;
    if (!isAtWordStart) {
        return at;
    }
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
        return std::min(text.find('\n', at), text.size());
    }
    if (rest.starts_with("/*")) {
        const std::size_t end = text.find("*/", at + 2);
        return end == std::string_view::npos ? text.size() : end + 2;
    }
    return at;
}

std::size_t endOfLineAt(std::string_view text, std::size_t at)
{
    return std::min(text.find('\n', at), text.size());
}

/// The first character that is neither blank nor comment is a brace.
bool isJsonLike(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = endOfComment(text, at);
        if (end > at) {
            at = end;
        } else if (text[at] == '#') {
            at = endOfLineAt(text, at);
        } else if (isBlank(text[at])) {
            ++at;
        } else {
            return text[at] == '{';
        }
    }
    return false;
}

/// JSON's comments as blanks, so that a YAML parser reads the rest where it stands.
std::string withoutJsonComments(const std::string& bytes)
{
    std::string result = bytes;
    if (!isJsonLike(bytes)) {
        return result;
    }
    const std::string_view text(bytes);
    char quote = '\0';
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (quote != '\0') {
            if (text[at] == '\\' && quote == '"') {
                ++at; // what it escapes ends nothing
            } else if (text[at] == quote) {
                quote = '\0';
            }
        } else if (text[at] == '"' || (text[at] == '\'' && isBlank(at > 0 ? text[at - 1] : ' '))) {
            quote = text[at];
        } else if (text[at] == '#' && (at == 0 || isBlank(text[at - 1]))) {
            at = endOfLineAt(text, at);
        } else if (const std::size_t end = endOfComment(text, at); end > at) {
            std::replace_if(
                result.begin() + static_cast<std::ptrdiff_t>(at), result.begin() + static_cast<std::ptrdiff_t>(end),
                [](char c) { return c != '\n' && c != '\r'; }, ' ');
            at = end - 1;
        }
    }
    return result;
}

class YamlSyntax final : public ConfigSyntax
{
public:
    YamlSyntax(YamlTree tree, std::string readable, std::map<std::string, std::string> defaults)
        : m_tree(std::move(tree))
        , m_readable(std::move(readable))
        , m_defaults(std::move(defaults))
    {
    }

    [[nodiscard]] Result<std::string> spliced(const std::string& bytes, const std::string& name,
                                              const ConfigEdit& edit) const override
    {
        const auto written = m_defaults.find(edit.key);
        const auto other
            = written != m_defaults.end() && !edit.items ? withOtherDefault(written->second, edit.value) : std::nullopt;
        return headroom::spliced(bytes, m_readable.empty() ? bytes : m_readable, m_tree, name,
                                 other ? ConfigEdit{edit.key, *other} : edit);
    }

private:
    YamlTree m_tree;
    std::string m_readable; ///< the text as parsed; empty: the bytes themselves
    std::map<std::string, std::string> m_defaults; ///< by key: variables with a default, as they are written
};

std::map<std::string, std::string> defaultsOf(const std::vector<Setting>& settings)
{
    std::map<std::string, std::string> defaults;
    for (const Setting& setting : settings) {
        if (withOtherDefault(setting.text, {})) {
            defaults[setting.key] = setting.text;
        }
    }
    return defaults;
}

Result<void> checkRoot(const YamlTree& tree, const std::string& name)
{
    if (tree.root == YamlNode::none || tree[tree.root].isNull) {
        return failure(Text{HEADROOM_TR("core", "the file holds no settings, only comments or blanks")}, name);
    }
    if (tree[tree.root].kind != YamlNode::Kind::Map) {
        return failure(Text{HEADROOM_TR("core", "the file is not a mapping of keys to values")}, name,
                       tree[tree.root].line);
    }
    return {};
}

} // namespace

Result<SyntaxReading> readYamlSyntax(const std::string& bytes, const std::string& name)
{
    std::string readable = withoutJsonComments(bytes);
    auto tree = parseYaml(readable, name);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    if (auto checked = checkRoot(*tree, name); !checked) {
        return tl::unexpected(checked.error());
    }
    SyntaxReading reading;
    reading.problems = std::move(tree->problems);
    auto settings = effectiveSettings(*tree, name, reading.problems);
    if (!settings) {
        return tl::unexpected(settings.error());
    }
    reading.settings = std::move(*settings);
    if (readable == bytes) {
        readable.clear();
    }
    reading.syntax = std::make_shared<YamlSyntax>(std::move(*tree), std::move(readable), defaultsOf(reading.settings));
    resolveInterpolations(reading.settings);
    return reading;
}

} // namespace headroom
