// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/yaml_interpolation.h"

#include "config/key_path.h"
#include "units/number.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace headroom {

namespace {

/// References to references end here, also where they go in a circle.
constexpr int deepest = 16;

/// A sum of sums of sums would not end in time.
constexpr int mostSteps = 100'000;

struct Resolved
{
    std::string text;
    std::vector<std::string> sources = {};
};

std::string_view trimmed(std::string_view text)
{
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view{}
                                           : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// What stands between "${" and the brace that ends the text; nothing where the scalar is more than that.
std::optional<std::string_view> insideOf(std::string_view text)
{
    if (!text.starts_with("${") || !text.ends_with('}')) {
        return std::nullopt;
    }
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
        if (depth == 0 && text[at] == '}' && at + 1 < text.size()) {
            return std::nullopt;
        }
    }
    return text.substr(2, text.size() - 3);
}

bool isVariable(std::string_view name)
{
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// Where the default of a variable begins in what stands inside the braces.
std::optional<std::size_t> defaultOf(std::string_view inside)
{
    constexpr std::string_view resolver = "oc.env:";
    const bool isResolver = inside.starts_with(resolver);
    const std::size_t begin = isResolver ? resolver.size() : 0;
    const std::size_t end = inside.find(isResolver ? ',' : ':', begin);
    const bool hasDefault = end != std::string_view::npos && isVariable(trimmed(inside.substr(begin, end - begin)));
    if (!hasDefault) {
        return std::nullopt;
    }
    return std::min(inside.find_first_not_of(' ', end + 1), inside.size());
}

/// The arguments of a resolver; commas inside braces belong to an argument.
std::vector<std::string_view> argumentsOf(std::string_view text)
{
    std::vector<std::string_view> result;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at == text.size() || (text[at] == ',' && depth == 0)) {
            result.push_back(trimmed(text.substr(begin, at - begin)));
            begin = at + 1;
        } else {
            depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
        }
    }
    return result;
}

std::optional<std::int64_t> combined(std::string_view resolver, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    if (resolver == "multiply") {
        return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    }
    if (resolver == "sum" || resolver == "add") {
        return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    }
    const bool isDivision = resolver == "divide_floor" || resolver == "divide_ceil" || resolver == "int_div";
    if (!isDivision || a < 0 || b <= 0) {
        return std::nullopt;
    }
    return a / b + (resolver == "divide_ceil" && a % b != 0 ? 1 : 0);
}

class Resolver
{
public:
    explicit Resolver(const std::vector<Setting>& settings)
    {
        for (const Setting& setting : settings) {
            m_settings.emplace(setting.key, &setting);
        }
    }

    std::optional<Resolved> value(const std::string& text, const std::string& key, int depth = 0)
    {
        const auto inside = insideOf(text);
        if (!inside || depth > deepest || m_steps == 0) {
            return std::nullopt;
        }
        --m_steps;
        if (const auto begin = defaultOf(*inside)) {
            std::string fallback(trimmed(inside->substr(*begin)));
            return fallback.starts_with("${") ? value(fallback, key, depth + 1) : Resolved{std::move(fallback)};
        }
        const std::size_t colon = inside->find(':');
        return colon == std::string_view::npos
            ? reference(*inside, key, depth)
            : calculation(inside->substr(0, colon), argumentsOf(inside->substr(colon + 1)), key, depth);
    }

private:
    /// "a.b" from the root; ".b" beside the key, "..b" a level above.
    std::optional<Resolved> reference(std::string_view path, const std::string& key, int depth)
    {
        auto steps = parseKey(key);
        std::size_t dots = 0;
        while (dots < path.size() && path[dots] == '.') {
            ++dots;
        }
        if (!steps || dots > steps->size() || path.find_first_of("${}") != std::string_view::npos) {
            return std::nullopt;
        }
        steps->resize(dots == 0 ? 0 : steps->size() - dots);
        const auto rest = parseKey(path.substr(dots));
        if (!rest) {
            return std::nullopt;
        }
        steps->insert(steps->end(), rest->begin(), rest->end());
        const auto found = m_settings.find(formatKey(*steps));
        if (found == m_settings.end()) {
            return std::nullopt;
        }
        const Setting& target = *found->second;
        Resolved result{target.text};
        if (target.text.find("${") != std::string::npos) {
            auto deeper = value(target.text, target.key, depth + 1);
            if (!deeper) {
                return std::nullopt;
            }
            result = std::move(*deeper);
        }
        result.sources.push_back(target.key);
        return result;
    }

    std::optional<Resolved> calculation(std::string_view resolver, const std::vector<std::string_view>& arguments,
                                        const std::string& key, int depth)
    {
        Resolved result;
        std::optional<std::int64_t> sum;
        for (const std::string_view argument : arguments) {
            std::string text(argument);
            if (auto deeper = value(text, key, depth + 1)) {
                text = std::move(deeper->text);
                result.sources.insert(result.sources.end(), deeper->sources.begin(), deeper->sources.end());
            }
            const auto number = parseInteger(text);
            if (!number) {
                return std::nullopt;
            }
            sum = sum ? combined(resolver, *sum, *number) : number;
            if (!sum) {
                return std::nullopt;
            }
        }
        if (arguments.size() < 2 || !sum) {
            return std::nullopt;
        }
        result.text = std::to_string(*sum);
        return result;
    }

    std::unordered_map<std::string, const Setting*> m_settings;
    int m_steps = mostSteps;
};

} // namespace

void resolveInterpolations(std::vector<Setting>& settings)
{
    const bool hasAny = std::any_of(settings.begin(), settings.end(),
                                    [](const Setting& setting) { return setting.text.starts_with("${"); });
    if (!hasAny) {
        return;
    }
    const std::vector<Setting> written = settings;
    Resolver resolver(written);
    std::unordered_set<std::string> definitions;
    for (Setting& setting : settings) {
        if (auto resolved = resolver.value(setting.text, setting.key)) {
            setting.text = std::move(resolved->text);
            setting.sources = std::move(resolved->sources);
            definitions.insert(setting.sources.begin(), setting.sources.end());
        }
    }
    for (Setting& setting : settings) {
        setting.isDefinition = definitions.contains(setting.key);
    }
}

std::optional<std::string> withOtherDefault(std::string_view interpolation, std::string_view value)
{
    const auto inside = insideOf(interpolation);
    const auto begin = inside ? defaultOf(*inside) : std::nullopt;
    const bool isWritable = begin && value.find_first_of("${},") == std::string_view::npos
        && inside->substr(*begin).find('$') == std::string_view::npos;
    if (!isWritable) {
        return std::nullopt;
    }
    return "${" + std::string(inside->substr(0, *begin)) + std::string(value) + "}";
}

} // namespace headroom
