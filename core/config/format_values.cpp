// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/format_values.h"

#include "config/environment_value.h"
#include "config/format_keys.h"
#include "config/scalar_text.h"
#include "units/bytes.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

using Transform = ConfigFormat::Transform;

std::vector<std::string> split(std::string_view text)
{
    std::vector<std::string> words;
    std::string word;
    for (const char c : text) {
        if (c == ',' || c == ' ') {
            if (!word.empty()) {
                words.push_back(std::move(word));
                word.clear();
            }
        } else {
            word += c;
        }
    }
    if (!word.empty()) {
        words.push_back(std::move(word));
    }
    return words;
}

/// A list's items as texts; a single text may itself be a list: "llm, vision".
std::vector<std::string> memberWords(const std::vector<const Setting*>& items)
{
    std::vector<std::string> words;
    for (const Setting* item : items) {
        const auto more = split(item->text);
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

bool isMember(const ConfigFormat::Key& key, const std::string& word)
{
    return std::any_of(key.words.begin(), key.words.end(),
                       [&](const auto& known) { return meansTheSame(known.first, word); });
}

std::string translated(const ConfigFormat::Key& key, const std::string& text)
{
    const auto found
        = std::find_if(key.words.begin(), key.words.end(), [&](const auto& word) { return word.first == text; });
    return found == key.words.end() ? text : found->second;
}

std::string translatedBack(const ConfigFormat::Key& key, const std::string& value)
{
    const auto found
        = std::find_if(key.words.begin(), key.words.end(), [&](const auto& word) { return word.second == value; });
    return found == key.words.end() ? value : found->first;
}

bool isOff(std::string_view text)
{
    return parseBool(text) == false;
}

std::string inverted(const std::string& text)
{
    const auto flag = parseBool(text);
    return flag ? (*flag ? "false" : "true") : text;
}

/// 85899345920 -> "80GiB", in the largest unit that is exact.
std::string sizeText(const std::string& value)
{
    const auto bytes = parseInteger(value);
    for (const auto& [shift, unit] : {std::pair{30, "GiB"}, std::pair{20, "MiB"}}) {
        if (bytes && *bytes > 0 && *bytes % (std::int64_t{1} << shift) == 0) {
            return std::to_string(*bytes >> shift) + unit;
        }
    }
    return value;
}

/// "[2 2]", "(128, 0)" -> "2", "128".
std::string firstOf(std::string_view text)
{
    constexpr std::string_view separators = " ,()[]\"'";
    const std::size_t begin = text.find_first_not_of(separators);
    return begin == std::string_view::npos
        ? std::string{}
        : std::string(text.substr(begin, text.find_first_of(separators, begin) - begin));
}

std::string joined(const std::vector<const Setting*>& items)
{
    std::string text;
    for (const Setting* item : items) {
        text += (text.empty() ? "" : ", ") + item->text;
    }
    return text;
}

bool isExpression(Transform transform)
{
    return transform == Transform::AnyOf || transform == Transform::NamesOf || transform == Transform::StartsOf;
}

/// Axolotl's expressions (utils/freeze.py, LayerNamePattern): dots are dots unless something repeats them, and a range
/// of rows behind them leaves the whole parameter trained. Prefixes of names are such expressions too.
std::string startingWith(std::string_view text)
{
    if (const std::size_t open = text.rfind('['); open != std::string_view::npos && open > 0 && text.ends_with(']')
        && text.find_first_not_of("0123456789:", open + 1) == text.size() - 1
        && text.find(':', open) != std::string_view::npos) {
        text = text.substr(0, open);
    }
    std::string expression = text.starts_with('^') ? "" : "^";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool isEscaped = i > 0 && text[i - 1] == '\\';
        const bool isRepeated = i + 1 < text.size() && (text[i + 1] == '+' || text[i + 1] == '*');
        expression += text[i] == '.' && !isEscaped && !isRepeated ? "\\." : std::string(1, text[i]);
    }
    return expression;
}

/// One regular expression of several.
std::string alternatives(const std::vector<const Setting*>& items, Transform transform)
{
    std::vector<std::string> expressions;
    for (const Setting* item : items) {
        if (transform == Transform::NamesOf) {
            const auto words = split(item->text);
            expressions.insert(expressions.end(), words.begin(), words.end());
        } else {
            expressions.push_back(transform == Transform::StartsOf ? startingWith(item->text) : item->text);
        }
    }
    if (expressions.size() == 1) {
        return expressions.front();
    }
    std::string all;
    for (const std::string& expression : expressions) {
        all.append(all.empty() ? "" : "|").append("(?:").append(expression).append(")");
    }
    return all;
}

/// The first item changes, the others stay.
ConfigEdit firstEdit(const ConfigDocument& document, const ConfigFormat::Key& key, const std::string& value)
{
    const auto items = itemsOf(document, key.key);
    if (items.size() > 1 || (items.size() == 1 && items.front()->key != key.key)) {
        std::vector<std::string> texts{value};
        for (std::size_t i = 1; i < items.size(); ++i) {
            texts.push_back(items[i]->text);
        }
        return {key.key, {}, std::move(texts)};
    }
    std::string text = items.empty() ? std::string{} : items.front()->text;
    const std::string old = firstOf(text);
    return {key.key, old.empty() ? value : text.replace(text.find(old), old.size(), value)};
}

ConfigEdit memberEdit(const ConfigDocument& document, const ConfigFormat::Key& key, bool isIn,
                      const ConfigEdit* pending)
{
    auto words = pending && pending->items ? *pending->items : memberWords(itemsOf(document, key.key));
    std::erase_if(words, [&](const std::string& word) { return isMember(key, word); });
    if (isIn) {
        words.push_back(key.words.front().first);
    }
    return {key.key, {}, std::move(words)};
}

} // namespace

std::optional<FieldValue> readValue(const ConfigDocument& document, const ConfigFormat::Key& key)
{
    const bool takesList = key.transform == Transform::Member || key.transform == Transform::ItemCount
        || key.transform == Transform::First || isExpression(key.transform) || isListField(key.field);
    if (!takesList) {
        const Setting* setting = statedAt(document, key.key);
        if (setting == nullptr) {
            return std::nullopt;
        }
        if (key.transform == Transform::Switch) {
            return isOff(setting->text) ? std::nullopt : std::optional(FieldValue{key.words.front().second, setting});
        }
        if (key.transform == Transform::Option) {
            const auto value = optionValue(setting->text, key.option);
            return value ? std::optional(FieldValue{translated(key, *value), setting}) : std::nullopt;
        }
        if (key.transform == Transform::Workspace) {
            return FieldValue{workspaceBytes(setting->text), setting};
        }
        const std::string text = translated(key, setting->text);
        if (text.empty() && !setting->text.empty()) {
            return std::nullopt; // a word that leaves it to others
        }
        return FieldValue{key.transform == Transform::Inverse ? inverted(text) : text, setting};
    }
    const auto items = itemsOf(document, key.key);
    if (items.empty()) {
        return std::nullopt;
    }
    if (key.transform == Transform::First) {
        const std::string first = translated(key, firstOf(items.front()->text));
        return first.empty() ? std::nullopt : std::optional(FieldValue{first, items.front()});
    }
    if (const auto open = std::find_if(items.begin(), items.end(), [](const Setting* item) { return !item->isKnown; });
        open != items.end()) {
        return FieldValue{(*open)->text, *open};
    }
    if (isExpression(key.transform)) {
        return FieldValue{alternatives(items, key.transform), items.front()};
    }
    if (key.transform == Transform::ItemCount) {
        return FieldValue{std::to_string(items.size()), items.front()};
    }
    if (key.transform == Transform::Member) {
        const auto words = memberWords(items);
        const bool isIn
            = std::any_of(words.begin(), words.end(), [&](const std::string& word) { return isMember(key, word); });
        return FieldValue{isIn ? "true" : "false", items.front()};
    }
    return FieldValue{joined(items), items.front()};
}

std::optional<ConfigEdit> writeValue(const ConfigDocument& document, const ConfigFormat::Key& key,
                                     const std::string& value, const ConfigEdit* pending)
{
    switch (key.transform) {
    case Transform::ItemCount:
    case Transform::NamesOf:
    case Transform::StartsOf:
        return std::nullopt;
    case Transform::AnyOf:
        return ConfigEdit{key.key, {}, std::vector<std::string>{value}};
    case Transform::Switch:
        return value == key.words.front().second ? std::optional(ConfigEdit{key.key, "true"}) : std::nullopt;
    case Transform::Member:
        return memberEdit(document, key, value == "true", pending);
    case Transform::Inverse:
        return ConfigEdit{key.key, translatedBack(key, inverted(value))};
    case Transform::ByteSize:
        return ConfigEdit{key.key, sizeText(value)};
    case Transform::First:
        return firstEdit(document, key, translatedBack(key, value));
    case Transform::Option: {
        const Setting* setting = statedAt(document, key.key);
        const std::string old = pending ? pending->value : setting ? setting->text : std::string{};
        return ConfigEdit{key.key, withOption(old, key.option, translatedBack(key, value)), {}, key.isEnvironment};
    }
    case Transform::Workspace:
        if (auto text = workspaceText(value)) {
            return ConfigEdit{key.key, *std::move(text), {}, key.isEnvironment};
        }
        return std::nullopt;
    case Transform::None:
        break;
    }
    if (isListField(key.field)) {
        return ConfigEdit{key.key, {}, split(value)};
    }
    return ConfigEdit{key.key, translatedBack(key, value)};
}

} // namespace headroom
