// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/key_path.h"

#include <charconv>

namespace headroom {

namespace {

/// Reads "…" at `at`; null when it does not close.
std::optional<std::string> readQuoted(std::string_view key, std::size_t& at)
{
    std::string name;
    for (++at; at < key.size(); ++at) {
        if (key[at] == '"') {
            ++at;
            return name;
        }
        if (key[at] == '\\' && at + 1 < key.size()) {
            ++at;
        }
        name += key[at];
    }
    return std::nullopt;
}

std::optional<std::string> readPlain(std::string_view key, std::size_t& at)
{
    const std::size_t begin = at;
    while (at < key.size() && key[at] != '.' && key[at] != '[') {
        ++at;
    }
    return at > begin ? std::optional<std::string>(key.substr(begin, at - begin)) : std::nullopt;
}

std::optional<std::size_t> readIndex(std::string_view key, std::size_t& at)
{
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(key.data() + at + 1, key.data() + key.size(), index);
    if (error != std::errc{} || end == key.data() + key.size() || *end != ']') {
        return std::nullopt;
    }
    at = static_cast<std::size_t>(end - key.data()) + 1;
    return index;
}

} // namespace

std::string childKey(std::string_view path, std::string_view name)
{
    std::string key(path);
    if (!key.empty()) {
        key += '.';
    }
    if (!name.empty() && name.find_first_of(".[]\"\\") == std::string_view::npos) {
        return key += name;
    }
    key += '"';
    for (const char c : name) {
        if (c == '"' || c == '\\') {
            key += '\\';
        }
        key += c;
    }
    return key += '"';
}

std::string elementKey(std::string_view path, std::size_t index)
{
    return std::string(path) + '[' + std::to_string(index) + ']';
}

std::optional<std::vector<KeyStep>> parseKey(std::string_view key)
{
    std::vector<KeyStep> steps;
    std::size_t at = 0;
    while (at < key.size() || steps.empty()) {
        if (at < key.size() && key[at] == '[') {
            const auto index = readIndex(key, at);
            if (!index) {
                return std::nullopt;
            }
            steps.push_back({{}, index});
            continue;
        }
        if (!steps.empty() && key[at++] != '.') {
            return std::nullopt;
        }
        auto name = at < key.size() && key[at] == '"' ? readQuoted(key, at) : readPlain(key, at);
        if (!name) {
            return std::nullopt;
        }
        steps.push_back({std::move(*name), std::nullopt});
    }
    return steps;
}

std::string formatKey(const std::vector<KeyStep>& steps)
{
    std::string key;
    for (const KeyStep& step : steps) {
        key = step.index ? elementKey(key, *step.index) : childKey(key, step.name);
    }
    return key;
}

bool isBelow(std::string_view key, std::string_view ancestor)
{
    return key.size() > ancestor.size() && key.starts_with(ancestor)
        && (key[ancestor.size()] == '.' || key[ancestor.size()] == '[');
}

} // namespace headroom
