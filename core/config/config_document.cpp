// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_document.h"

#include "config/config_syntax.h"
#include "config/file_bytes.h"
#include "config/key_path.h"
#include "config/scalar_text.h"
#include "config/text_encoding.h"
#include "units/number.h"

#include <algorithm>
#include <functional>
#include <map>

namespace headroom {

namespace {

using Leaves = std::map<std::string, const Setting*>;

Leaves leavesOf(const ConfigDocument& document)
{
    Leaves leaves;
    for (const Setting& setting : document.settings()) {
        leaves.emplace(setting.key, &setting);
    }
    return leaves;
}

bool isSameLeaf(const Setting& a, const Setting& b)
{
    return a.text == b.text && isNull(a) == isNull(b);
}

const std::string& textOf(const Setting& setting)
{
    return setting.text;
}

/// What the edits are to come to: a text for every leaf they name.
std::map<std::string, std::string> intendedLeaves(std::span<const ConfigEdit> edits)
{
    std::map<std::string, std::string> intended;
    for (const ConfigEdit& edit : edits) {
        const auto steps = parseKey(edit.key);
        const std::string key = steps ? formatKey(*steps) : edit.key;
        std::erase_if(intended, [&](const auto& leaf) { return leaf.first == key || isBelow(leaf.first, key); });
        if (!edit.items) {
            intended[key] = edit.value;
            continue;
        }
        for (std::size_t i = 0; i < edit.items->size(); ++i) {
            intended[elementKey(key, i)] = (*edit.items)[i];
        }
    }
    return intended;
}

/// A leaf that the edits may make disappear: an item of a replaced list, or the empty value that became a mapping.
bool mayVanish(const Setting& leaf, std::span<const ConfigEdit> edits)
{
    return std::any_of(edits.begin(), edits.end(), [&](const ConfigEdit& edit) {
        return isBelow(leaf.key, edit.key) || (edit.items && leaf.key == edit.key)
            || (isNull(leaf) && isBelow(edit.key, leaf.key));
    });
}

/// A leaf that changes with an intended one: made from a variable that was to be changed, the variable that an intended
/// leaf takes its whole text from, or a name (a folder, a title) that this variable is a part of.
bool mayFollow(const Setting& leaf, const Leaves& old, const std::map<std::string, std::string>& intended)
{
    const auto isMadeFrom = [&](const std::string& source) {
        return std::find(leaf.sources.begin(), leaf.sources.end(), source) != leaf.sources.end();
    };
    const bool isName = !leaf.sources.empty() && !parseReal(leaf.text);
    return std::any_of(intended.begin(), intended.end(), [&](const auto& edit) {
        const auto found = old.find(edit.first);
        if (found == old.end()) {
            return false;
        }
        const Setting& edited = *found->second;
        const auto& sources = edited.sources;
        return (edited.isDefinition && isMadeFrom(edit.first))
            || (leaf.isDefinition && edited.begin == leaf.begin
                && std::find(sources.begin(), sources.end(), leaf.key) != sources.end())
            || (isName && leaf.begin != edited.begin && std::any_of(sources.begin(), sources.end(), isMadeFrom));
    });
}

/// Exactly the intended leaves differ between the two; otherwise the reason.
Result<void> verify(const ConfigDocument& before, const ConfigDocument& after, std::span<const ConfigEdit> edits,
                    const ConfigSyntax& syntax)
{
    const auto intended = intendedLeaves(edits);
    const Leaves old = leavesOf(before);
    const Leaves fresh = leavesOf(after);
    for (const auto& [key, text] : intended) {
        const auto found = fresh.find(key);
        const bool isReference = text.starts_with("${") && found != fresh.end() && !found->second->sources.empty();
        const bool isSaid = isReference
            || (found == fresh.end() ? syntax.isSaidByAbsence(text) : meansTheSame(textOf(*found->second), text));
        if (!isSaid) {
            return failure(
                Text{HEADROOM_TR("core", "“%1” can't be set to “%2” without rewriting more of the file"), {key, text}},
                before.name());
        }
    }
    for (const auto& [key, setting] : old) {
        const auto found = fresh.find(key);
        const bool isKept = found != fresh.end()
            ? intended.contains(key) || isSameLeaf(*setting, *found->second) || mayFollow(*setting, old, intended)
            : intended.contains(key) || mayVanish(*setting, edits);
        if (!isKept) {
            return failure(
                Text{HEADROOM_TR("core", "the change would also change “%1”, which shares the value of line %2"),
                     {key, std::to_string(setting->line)}},
                before.name(), setting->line);
        }
    }
    for (const auto& [key, setting] : fresh) {
        if (!old.contains(key) && !intended.contains(key)) {
            return failure(Text{HEADROOM_TR("core", "the change would also add “%1”"), {key}}, before.name(),
                           setting->line);
        }
    }
    return {};
}

bool isAlreadySo(const ConfigDocument& document, const ConfigEdit& edit, const ConfigSyntax& syntax)
{
    if (!edit.items) {
        const Setting* setting = document.find(edit.key);
        if (setting == nullptr && syntax.isSaidByAbsence(edit.value)) {
            return true;
        }
        // Quoted "null" is a word, not nothing.
        return setting && (isNull(*setting) ? isNullText(edit.value) : meansTheSame(setting->text, edit.value));
    }
    const auto& settings = document.settings();
    const auto steps = parseKey(edit.key);
    const std::string key = steps ? formatKey(*steps) : edit.key;
    std::vector<std::string> items;
    for (const Setting& setting : settings) {
        if (isBelow(setting.key, key)) {
            items.push_back(setting.text);
        }
    }
    return !items.empty() && items == *edit.items;
}

/// A value that is written where its setting stands and nowhere else.
bool hasOwnPlace(const Setting& setting)
{
    const bool isOneLine = setting.style == ScalarStyle::Plain || setting.style == ScalarStyle::SingleQuoted
        || setting.style == ScalarStyle::DoubleQuoted;
    return isOneLine && setting.isKnown && !setting.viaAlias && !setting.viaMerge && setting.sources.empty()
        && setting.begin < setting.end;
}

/// The edits with the rearmost place first, so that writing one leaves the places of the next as they are; nothing
/// where one of them needs more than its own place.
std::optional<std::vector<ConfigEdit>> fromTheEnd(const ConfigDocument& document, std::span<const ConfigEdit> edits)
{
    std::map<std::size_t, const ConfigEdit*, std::greater<>> byPlace;
    for (const ConfigEdit& edit : edits) {
        const Setting* setting = document.find(edit.key);
        if (edit.items || setting == nullptr || !hasOwnPlace(*setting)
            || !byPlace.try_emplace(setting->begin, &edit).second) {
            return std::nullopt;
        }
    }
    std::vector<ConfigEdit> result;
    for (const auto& [begin, edit] : byPlace) {
        result.push_back(*edit);
    }
    return result;
}

/// All edits at once: files are read again once, not once for each edit. Nothing where that does not come out as it
/// should.
std::optional<ConfigDocument> setTogether(const ConfigDocument& document, const ConfigSyntax& syntax,
                                          std::span<const ConfigEdit> edits)
{
    std::vector<ConfigEdit> normalised;
    for (const ConfigEdit& edit : edits) {
        normalised.push_back(syntax.normalised(edit));
    }
    const auto ordered = fromTheEnd(document, normalised);
    if (!ordered) {
        return std::nullopt;
    }
    std::string bytes = document.bytes();
    for (const ConfigEdit& edit : *ordered) {
        if (isAlreadySo(document, edit, syntax)) {
            continue;
        }
        auto spliced = syntax.spliced(bytes, document.name(), edit);
        if (!spliced) {
            return std::nullopt;
        }
        bytes = std::move(*spliced);
    }
    auto changed = ConfigDocument::parse(std::move(bytes), document.name());
    return changed && verify(document, *changed, normalised, syntax) ? std::optional(std::move(*changed))
                                                                     : std::nullopt;
}

} // namespace

Result<ConfigDocument> ConfigDocument::open(const std::filesystem::path& path)
{
    auto bytes = readFile(path, maxFileBytes);
    if (!bytes) {
        return tl::unexpected(bytes.error());
    }
    return parse(std::move(*bytes), path.string());
}

Result<ConfigDocument> ConfigDocument::parse(std::string bytes, std::string name)
{
    if (bytes.size() > maxFileBytes) {
        return failure(Text{HEADROOM_TR("core", "the file is larger than %1 MiB, so it is hardly a config"),
                            {std::to_string(maxFileBytes >> 20)}},
                       std::move(name));
    }
    if (bytes.empty()) {
        return failure(Text{HEADROOM_TR("core", "the file is empty")}, std::move(name));
    }
    if (auto problem = encodingProblem(bytes, name)) {
        return tl::unexpected(std::move(*problem));
    }
    ConfigDocument document;
    auto reading = readSyntax(bytes, name);
    if (!reading) {
        return tl::unexpected(reading.error());
    }
    document.m_settings = std::move(reading->settings);
    document.m_problems = std::move(reading->problems);
    document.m_syntax = std::move(reading->syntax);
    document.m_bytes = std::move(bytes);
    document.m_name = std::move(name);
    return document;
}

bool ConfigDocument::setsVariables() const
{
    return m_syntax && m_syntax->setsVariables();
}

const Setting* ConfigDocument::find(std::string_view key) const
{
    const auto steps = parseKey(key);
    const std::string canonical = steps ? formatKey(*steps) : std::string(key);
    const auto found = std::find_if(m_settings.begin(), m_settings.end(),
                                    [&](const Setting& setting) { return setting.key == canonical; });
    return found == m_settings.end() ? nullptr : &*found;
}

Result<ConfigDocument> ConfigDocument::set(std::span<const ConfigEdit> edits) const
{
    if (edits.size() > 1) {
        if (auto together = setTogether(*this, *m_syntax, edits)) {
            return std::move(*together);
        }
    }
    ConfigDocument document = *this;
    // One after the other: an edit may add the mapping that the next one needs.
    std::vector<ConfigEdit> normalised;
    for (const ConfigEdit& given : edits) {
        const ConfigEdit& edit = normalised.emplace_back(m_syntax->normalised(given));
        if (isAlreadySo(document, edit, *m_syntax)) {
            continue;
        }
        auto bytes = document.m_syntax->spliced(document.m_bytes, m_name, edit);
        if (!bytes) {
            return tl::unexpected(bytes.error());
        }
        auto changed = parse(std::move(*bytes), m_name);
        if (!changed) {
            return failure(
                Text{HEADROOM_TR("core", "“%1” can't be set to “%2”: the file would no longer be readable (%3)"),
                     {edit.key, edit.value, changed.error().text.english()}},
                m_name, changed.error().line);
        }
        document = std::move(*changed);
    }
    if (auto verified = verify(*this, document, normalised, *m_syntax); !verified) {
        return tl::unexpected(verified.error());
    }
    return document;
}

Result<void> ConfigDocument::save(const std::filesystem::path& path) const
{
    return writeFileAtomically(path, m_bytes);
}

} // namespace headroom
