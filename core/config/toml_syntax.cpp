// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_syntax.h"
#include "config/key_path.h"
#include "config/scalar_text.h"
#include "units/number.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>

namespace headroom {

namespace {

/// Byte offsets of toml++'s positions, which count lines and code points.
class Places
{
public:
    explicit Places(std::string_view text)
        : m_text(text)
    {
        m_lines.push_back(0);
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text[at] == '\n') {
                m_lines.push_back(at + 1);
            }
        }
    }

    [[nodiscard]] std::size_t offset(const toml::source_position& position) const
    {
        if (position.line == 0 || position.line > m_lines.size()) {
            return m_text.size();
        }
        std::size_t at = m_lines[position.line - 1];
        at += at == 0 && m_text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
        for (toml::source_index column = 1; column < position.column && at < m_text.size(); ++column) {
            ++at;
            while (at < m_text.size() && (static_cast<unsigned char>(m_text[at]) & 0xC0U) == 0x80U) {
                ++at;
            }
        }
        return at;
    }

private:
    std::string_view m_text;
    std::vector<std::size_t> m_lines;
};

/// A table of the file: where the next key goes.
struct TomlTable
{
    std::string path;
    bool isInline = false;
    std::size_t begin = 0, end = 0; ///< of an inline table, braces included; of a header
    std::size_t lastKey = 0, lastEnd = 0; ///< the key that stands last in it and the end of its value
    bool hasKeys = false;
};

class TomlSyntax final : public ConfigSyntax
{
public:
    [[nodiscard]] Result<std::string> spliced(const std::string& bytes, const std::string& name,
                                              const ConfigEdit& edit) const override;

    std::vector<Setting> settings;
    std::vector<TomlTable> tables;
    std::vector<Setting> lists; ///< arrays as a whole

private:
    [[nodiscard]] Result<std::string> added(const std::string& bytes, const std::string& name,
                                            const ConfigEdit& edit) const;
    static std::string addedLine(const std::string& bytes, const TomlTable& table, const std::string& text);
    static std::string addedInline(const std::string& bytes, const TomlTable& table, const std::string& text);
};

/// All settings of a parsed file with their places.
class TomlReader
{
public:
    explicit TomlReader(const std::string& bytes)
        : m_text(bytes)
        , m_places(bytes)
    {
    }

    void readTable(const toml::table& table, const std::string& path);
    std::shared_ptr<TomlSyntax> syntax = std::make_shared<TomlSyntax>();

private:
    void readNode(const toml::node& node, const std::string& path);
    [[nodiscard]] Setting place(const toml::node& node, const std::string& path) const;

    std::string_view m_text;
    Places m_places;
};

Setting TomlReader::place(const toml::node& node, const std::string& path) const
{
    Setting setting;
    setting.key = path;
    setting.begin = m_places.offset(node.source().begin);
    setting.end = std::max(setting.begin, m_places.offset(node.source().end));
    setting.line = static_cast<std::int64_t>(node.source().begin.line);
    const std::string_view raw = m_text.substr(setting.begin, setting.end - setting.begin);
    if (const auto* text = node.as_string()) {
        const bool isLong = raw.starts_with(R"(""")") || raw.starts_with("'''");
        setting.text = text->get();
        setting.style = isLong      ? ScalarStyle::MultiLine
            : raw.starts_with('\'') ? ScalarStyle::SingleQuoted
                                    : ScalarStyle::DoubleQuoted;
    } else {
        setting.text = raw;
    }
    return setting;
}

void TomlReader::readNode(const toml::node& node, const std::string& path)
{
    if (const toml::table* table = node.as_table()) {
        readTable(*table, path);
    } else if (const toml::array* array = node.as_array()) {
        if (!array->is_array_of_tables()) {
            syntax->lists.push_back(place(node, path));
        }
        for (std::size_t i = 0; i < array->size(); ++i) {
            readNode(*array->get(i), elementKey(path, i));
        }
    } else {
        syntax->settings.push_back(place(node, path));
    }
}

void TomlReader::readTable(const toml::table& table, const std::string& path)
{
    TomlTable& entry = syntax->tables.emplace_back();
    entry.path = path;
    entry.isInline = table.is_inline();
    entry.begin = m_places.offset(table.source().begin);
    entry.end = m_places.offset(table.source().end);
    const std::size_t place = syntax->tables.size() - 1;
    for (const auto& [key, node] : table) {
        const std::size_t keyBegin = m_places.offset(key.source().begin);
        const bool isDirect = !node.is_table() || node.as_table()->is_inline();
        const bool isTables = node.is_array() && node.as_array()->is_array_of_tables();
        TomlTable& owner = syntax->tables[place];
        if (isDirect && !isTables && (!owner.hasKeys || keyBegin > owner.lastKey)) {
            owner.lastKey = keyBegin;
            owner.lastEnd = m_places.offset(node.source().end);
            owner.hasKeys = true;
        }
        readNode(node, childKey(path, key.str()));
    }
}

/// `value` in the notation of the file: numbers and flags bare unless a text stood there.
std::string tomlScalar(std::string_view value, ScalarStyle oldStyle)
{
    const bool wasText = oldStyle == ScalarStyle::DoubleQuoted || oldStyle == ScalarStyle::SingleQuoted
        || oldStyle == ScalarStyle::MultiLine;
    const auto flag = parseBool(value);
    if (!wasText && flag) {
        return *flag ? "true" : "false";
    }
    const bool hasBase
        = value.size() > 1 && value.front() == '0' && value.find_first_not_of("0123456789") == std::string_view::npos;
    if (!wasText && !hasBase && (parseInteger(value) || parseReal(value))) {
        return std::string(value);
    }
    const bool isLiteral = oldStyle == ScalarStyle::SingleQuoted
        && std::none_of(value.begin(), value.end(), [](char c) { return c == '\'' || (c >= 0 && c < ' '); });
    // A JSON text is a TOML text.
    return isLiteral ? "'" + std::string(value) + "'"
                     : writeScalar(value, {true, true, ScalarStyle::DoubleQuoted, "0"});
}

std::string tomlValue(const ConfigEdit& edit, ScalarStyle oldStyle)
{
    if (!edit.items) {
        return tomlScalar(edit.value, oldStyle);
    }
    std::string text = "[";
    for (const std::string& item : *edit.items) {
        text += (text.size() > 1 ? ", " : "") + tomlScalar(item, oldStyle);
    }
    return text + "]";
}

std::string replaced(const std::string& bytes, const Setting& setting, const std::string& text)
{
    return bytes.substr(0, setting.begin) + text + bytes.substr(setting.end);
}

std::string lineEndOf(const std::string& bytes)
{
    const std::size_t lineFeed = bytes.find('\n');
    return lineFeed != std::string::npos && lineFeed > 0 && bytes[lineFeed - 1] == '\r' ? "\r\n" : "\n";
}

bool isBareKey(std::string_view name)
{
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
    });
}

std::string tomlKey(const std::vector<KeyStep>& steps, std::size_t from, std::size_t to)
{
    std::string key;
    for (std::size_t i = from; i < to; ++i) {
        const std::string& name = steps[i].name;
        key += (key.empty() ? "" : ".")
            + (isBareKey(name) ? name : writeScalar(name, {true, true, ScalarStyle::DoubleQuoted, "a"}));
    }
    return key;
}

std::size_t endOfLine(const std::string& bytes, std::size_t at)
{
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    return end > at && bytes[end - 1] == '\r' ? end - 1 : end;
}

Result<std::string> TomlSyntax::spliced(const std::string& bytes, const std::string& name, const ConfigEdit& edit) const
{
    const auto find = [&](const std::vector<Setting>& all) {
        return std::find_if(all.begin(), all.end(), [&](const Setting& setting) { return setting.key == edit.key; });
    };
    if (const auto found = find(settings); found != settings.end()) {
        return replaced(bytes, *found, tomlValue(edit, found->style));
    }
    if (const auto list = find(lists); list != lists.end()) {
        if (!edit.items) {
            return failure(
                Text{HEADROOM_TR("core", "“%1” holds several values; a single one can't take their place"), {edit.key}},
                name, list->line);
        }
        if (bytes.substr(list->begin, list->end - list->begin).find('#') != std::string::npos) {
            return failure(
                Text{HEADROOM_TR("core", "replacing the list “%1” would lose the comments in it"), {edit.key}}, name,
                list->line);
        }
        const auto first = std::find_if(settings.begin(), settings.end(),
                                        [&](const Setting& setting) { return isBelow(setting.key, edit.key); });
        return replaced(bytes, *list, tomlValue(edit, first != settings.end() ? first->style : ScalarStyle::Empty));
    }
    return added(bytes, name, edit);
}

/// `text` on a line of its own below the last key of the table, or below its header.
std::string TomlSyntax::addedLine(const std::string& bytes, const TomlTable& table, const std::string& text)
{
    if (!table.hasKeys) {
        const std::size_t at = endOfLine(bytes, table.end);
        return bytes.substr(0, at) + lineEndOf(bytes) + text + bytes.substr(at);
    }
    const std::size_t at = endOfLine(bytes, table.lastEnd);
    const std::size_t lineBegin = table.lastKey == 0 ? 0 : bytes.rfind('\n', table.lastKey - 1) + 1;
    const std::size_t indentEnd = std::min(bytes.find_first_not_of(" \t", lineBegin), table.lastKey);
    return bytes.substr(0, at) + lineEndOf(bytes) + bytes.substr(lineBegin, indentEnd - lineBegin) + text
        + bytes.substr(at);
}

std::string TomlSyntax::addedInline(const std::string& bytes, const TomlTable& table, const std::string& text)
{
    const std::size_t at = table.hasKeys ? table.lastEnd : table.begin + 1;
    return bytes.substr(0, at) + (table.hasKeys ? ", " + text : " " + text + " ") + bytes.substr(at);
}

/// The key in the deepest table that is there, or in a new table at the end of the file.
Result<std::string> TomlSyntax::added(const std::string& bytes, const std::string& name, const ConfigEdit& edit) const
{
    const auto steps = parseKey(edit.key);
    const bool isPath = steps && !steps->empty()
        && std::none_of(steps->begin(), steps->end(), [](const KeyStep& step) { return step.index.has_value(); });
    if (!isPath) {
        return failure(Text{HEADROOM_TR("core", "there is no list for “%1” to be added to"), {edit.key}}, name);
    }
    const std::string lineEnd = lineEndOf(bytes);
    const std::string value = tomlValue(edit, ScalarStyle::Empty);
    for (std::size_t depth = steps->size(); depth-- > 0;) {
        const std::string path = formatKey({steps->begin(), steps->begin() + static_cast<std::ptrdiff_t>(depth)});
        const auto table = std::find_if(tables.begin(), tables.end(), [&](const TomlTable& candidate) {
            // A table that only others' headers name has no place, and neither has the top without keys.
            return candidate.path == path && (candidate.hasKeys || (depth > 0 && candidate.end > candidate.begin));
        });
        if (table != tables.end() && (depth > 0 || steps->size() == 1)) {
            const std::string pair = tomlKey(*steps, depth, steps->size()) + " = " + value;
            return table->isInline ? addedInline(bytes, *table, pair) : addedLine(bytes, *table, pair);
        }
    }
    if (steps->size() == 1) {
        return tomlKey(*steps, 0, 1) + " = " + value + lineEnd + bytes;
    }
    const bool needsEnd = !bytes.empty() && bytes.back() != '\n';
    return bytes + (needsEnd ? lineEnd : "") + lineEnd + "[" + tomlKey(*steps, 0, steps->size() - 1) + "]" + lineEnd
        + tomlKey(*steps, steps->size() - 1, steps->size()) + " = " + value + (needsEnd ? "" : lineEnd);
}

} // namespace

Result<SyntaxReading> readTomlSyntax(const std::string& bytes, const std::string& name)
try {
    const toml::table root = toml::parse(std::string_view(bytes));
    TomlReader reader(bytes);
    reader.readTable(root, {});
    auto& settings = reader.syntax->settings;
    std::stable_sort(settings.begin(), settings.end(),
                     [](const Setting& a, const Setting& b) { return a.begin < b.begin; });
    if (settings.empty()) {
        return failure(Text{HEADROOM_TR("core", "the file holds no settings, only comments or blanks")}, name);
    }
    return SyntaxReading{settings, {}, reader.syntax};
} catch (const toml::parse_error& error) {
    return failure(Text{HEADROOM_TR("core", "the file is not valid TOML: %1"), {std::string(error.description())}},
                   name, static_cast<std::int64_t>(error.source().begin.line));
}

} // namespace headroom
