// SPDX-License-Identifier: GPL-3.0-or-later
#include "wording.h"

#include "config/builtin_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>

namespace headroom::cli {

namespace {

constexpr std::string_view prefix = "i18n/headroom_";
constexpr std::string_view suffix = ".ts";

/// The text between `open` and `close` from `at` on, which moves behind it; nothing where there is none.
std::string_view between(std::string_view text, std::string_view open, std::string_view close, std::size_t& at)
{
    const std::size_t begin = text.find(open, at);
    const std::size_t end = begin == std::string_view::npos ? begin : text.find(close, begin + open.size());
    if (end == std::string_view::npos) {
        at = text.size();
        return {};
    }
    at = end + close.size();
    return text.substr(begin + open.size(), end - begin - open.size());
}

std::string unescaped(std::string_view text)
{
    constexpr std::array<std::pair<std::string_view, char>, 5> entities{
        {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
    std::string result;
    while (!text.empty()) {
        const auto entity
            = std::ranges::find_if(entities, [&](const auto& one) { return text.starts_with(one.first); });
        result += entity == entities.end() ? text.front() : entity->second;
        text.remove_prefix(entity == entities.end() ? 1 : entity->first.size());
    }
    return result;
}

using Messages = std::unordered_map<std::string, std::string>;

/// The messages of one context of a catalogue as Qt Linguist writes it; it ships with the program.
Messages messagesOf(std::string_view catalogue, std::string_view context)
{
    Messages messages;
    for (std::size_t at = 0; at < catalogue.size();) {
        const std::string_view block = between(catalogue, "<context>", "</context>", at);
        std::size_t in = 0;
        if (between(block, "<name>", "</name>", in) != context) {
            continue;
        }
        while (in < block.size()) {
            const std::string_view message = between(block, "<message>", "</message>", in);
            std::size_t inside = 0;
            std::string source = unescaped(between(message, "<source>", "</source>", inside));
            std::string translation = unescaped(between(message, "<translation>", "</translation>", inside));
            if (!translation.empty()) { // what is not finished has an attribute
                messages.insert_or_assign(std::move(source), std::move(translation));
            }
        }
    }
    return messages;
}

std::string_view languageOf(std::string_view code)
{
    return code.substr(0, code.find_first_of("_-.@"));
}

std::string_view codeOf(const BuiltinFile& file)
{
    const std::string_view name = file.path;
    const bool isCatalogue = name.starts_with(prefix) && name.ends_with(suffix);
    return isCatalogue ? name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()) : std::string_view{};
}

/// The catalogue of a locale: "zh_CN.UTF-8" and "zh" both have that of zh_CN, zh_TW has none.
const BuiltinFile* catalogueOf(std::string_view locale)
{
    std::string code(locale.substr(0, locale.find_first_of(".@")));
    std::ranges::replace(code, '-', '_');
    for (const BuiltinFile& file : builtinFiles()) {
        const std::string_view own = codeOf(file);
        if (!own.empty() && (code == own || code == languageOf(own))) {
            return &file;
        }
    }
    return nullptr;
}

bool isEnglish(std::string_view locale)
{
    const std::string_view language = languageOf(locale);
    return language == "en" || language == "C" || language == "POSIX";
}

std::string_view variable(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// The catalogue of the first language of the environment that is spoken here; null: English.
const BuiltinFile* catalogueOfEnvironment()
{
    std::string_view locale;
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
        locale = locale.empty() ? variable(name) : locale;
    }
    if (locale.empty() || locale == "C" || locale.starts_with("C.") || locale == "POSIX") {
        return nullptr; // LANGUAGE does not count then
    }
    std::string wanted = fmt::format("{}:{}", variable("LANGUAGE"), locale);
    for (std::string_view rest = wanted; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        if (isEnglish(one)) {
            return nullptr;
        }
        if (const BuiltinFile* catalogue = one.empty() ? nullptr : catalogueOf(one)) {
            return catalogue;
        }
    }
    return nullptr;
}

struct Catalogue
{
    std::string language = "en";
    Messages core = {}, own = {};
};

Catalogue& chosen()
{
    static Catalogue catalogue;
    return catalogue;
}

std::string withHyphen(std::string_view code)
{
    std::string name(code);
    std::ranges::replace(name, '_', '-');
    return name;
}

const std::string& lookUp(const Messages& messages, const std::string& source)
{
    const auto found = messages.find(source);
    return found == messages.end() ? source : found->second;
}

} // namespace

std::string language()
{
    return chosen().language;
}

std::vector<std::string> languages()
{
    std::vector<std::string> all{"en"};
    for (const BuiltinFile& file : builtinFiles()) {
        if (const std::string_view code = codeOf(file); !code.empty() && code != "en") {
            all.emplace_back(code);
        }
    }
    return all;
}

bool useLanguage(std::string_view code)
{
    const bool isNamed = !code.empty();
    const BuiltinFile* catalogue = isNamed ? (isEnglish(code) ? nullptr : catalogueOf(code)) : catalogueOfEnvironment();
    chosen() = catalogue == nullptr ? Catalogue{}
                                    : Catalogue{withHyphen(codeOf(*catalogue)), messagesOf(catalogue->content, "core"),
                                                messagesOf(catalogue->content, "cli")};
    return !isNamed || catalogue != nullptr || isEnglish(code);
}

std::string translated(const Text& text)
{
    return text.fill(lookUp(chosen().core, text.pattern));
}

std::string translated(const Problem& problem)
{
    const std::string line = problem.line > 0 ? fmt::format(":{}", problem.line) : std::string{};
    return problem.file.empty() ? translated(problem.text)
                                : fmt::format("{}{}: {}", problem.file, line, translated(problem.text));
}

std::string say(const char* pattern, std::vector<std::string> arguments)
{
    const Text text(pattern, std::move(arguments));
    return text.fill(lookUp(chosen().own, text.pattern));
}

} // namespace headroom::cli
