// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/line_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

constexpr std::uint32_t matchLimit = 200000;
constexpr std::size_t longestPattern = 8192;

/// What stands for a value of each unit in a pattern.
std::string_view grammarOf(const FieldRule& rule, std::string_view unit)
{
    if (unit.empty()) {
        return R"(-?\d+(?:,\d{3})*)";
    }
    switch (rule.unit) {
    case FieldUnit::Text:
        return unit == "time" ? R"(\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?)" : R"(\S.*?)";
    case FieldUnit::Size:
        return R"(\d+(?:\.\d+)?\s*(?:bytes?|GigaBytes|[KMGTP]?i?B|[KMGTP]))";
    case FieldUnit::Suffixed:
        return R"([-+]?\d[\d.]*(?:e[-+]?\d+)?\s?[kKMGBT]?)";
    case FieldUnit::Fraction:
        return R"(\d+/\d+)";
    default:
        return R"((?:[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?|nan|NaN|-?inf))";
    }
}

/// A pattern of the format language as one of PCRE2, with the rules of its placeholders.
class Expansion
{
public:
    [[nodiscard]] std::optional<Problem> run(std::string_view pattern)
    {
        std::size_t at = 0;
        for (std::size_t open = 0; (open = pattern.find("%{", at)) != std::string_view::npos;) {
            const std::size_t close = pattern.find('}', open);
            if (close == std::string_view::npos) {
                return Problem{Severity::Error, {}, 0, Text{HEADROOM_TR("core", "“%{” has no “}”")}};
            }
            text.append(pattern.substr(at, open - at));
            const std::string_view inner = pattern.substr(open + 2, close - open - 2);
            const std::size_t colon = std::min(inner.find(':'), inner.size());
            const std::string_view unit = inner.substr(std::min(colon + 1, inner.size()));
            const std::optional<FieldRule> rule = fieldRule(inner.substr(0, colon), unit.empty() ? "num" : unit);
            if (!rule) {
                return Problem{
                    Severity::Error, {}, 0, Text{HEADROOM_TR("core", "“%1” is not a unit"), {std::string(unit)}}};
            }
            text.append("(?<").append(rule->name).append(">").append(grammarOf(*rule, unit)).append(")");
            rules.push_back(*rule);
            at = close + 1;
        }
        text.append(pattern.substr(at));
        return std::nullopt;
    }

    std::string text;
    std::vector<FieldRule> rules;
};

} // namespace

struct LinePattern::Code
{
    pcre2_code* code = nullptr;
    std::vector<std::uint16_t> fieldOfGroup; ///< index into fields, or none

    static constexpr std::uint16_t none = 65535;

    Code() = default;
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    ~Code() { pcre2_code_free(code); }
};

struct PatternMatcher::State
{
    pcre2_match_context* context = pcre2_match_context_create(nullptr);
    pcre2_match_data* data = pcre2_match_data_create(64, nullptr);

    State() { pcre2_set_match_limit(context, matchLimit); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State()
    {
        pcre2_match_data_free(data);
        pcre2_match_context_free(context);
    }
};

Result<LinePattern> LinePattern::compile(const std::string& pattern)
{
    Expansion expansion;
    if (std::optional<Problem> wrong = expansion.run(pattern)) {
        return tl::unexpected(std::move(*wrong));
    }
    if (expansion.text.size() > longestPattern) {
        return failure(
            Text{HEADROOM_TR("core", "the pattern is longer than %1 characters"), {std::to_string(longestPattern)}});
    }
    const auto code = std::make_shared<Code>();
    int error = 0;
    PCRE2_SIZE offset = 0;
    code->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expansion.text.data()), expansion.text.size(),
                               PCRE2_DUPNAMES | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
    if (code->code == nullptr) {
        std::array<PCRE2_UCHAR, 256> message{};
        pcre2_get_error_message(error, message.data(), message.size());
        return failure(Text{
            HEADROOM_TR("core", "the pattern is wrong near “%1”: %2"),
            {expansion.text.substr(offset > 12 ? offset - 12 : 0, 24), reinterpret_cast<const char*>(message.data())}});
    }
    pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE); // where there is no JIT the interpreter does the same
    LinePattern result;
    std::uint32_t groups = 0;
    std::uint32_t names = 0;
    std::uint32_t entrySize = 0;
    PCRE2_SPTR table = nullptr;
    pcre2_pattern_info(code->code, PCRE2_INFO_CAPTURECOUNT, &groups);
    pcre2_pattern_info(code->code, PCRE2_INFO_NAMECOUNT, &names);
    pcre2_pattern_info(code->code, PCRE2_INFO_NAMEENTRYSIZE, &entrySize);
    pcre2_pattern_info(code->code, PCRE2_INFO_NAMETABLE, &table);
    std::vector<std::string> nameOfGroup(groups + 1);
    for (std::uint32_t i = 0; i < names; ++i) {
        PCRE2_SPTR entry = table + static_cast<std::size_t>(i) * entrySize;
        const auto group = static_cast<std::size_t>(entry[0] << 8 | entry[1]);
        nameOfGroup[group] = reinterpret_cast<const char*>(entry + 2);
    }
    code->fieldOfGroup.assign(groups + 1, Code::none);
    for (std::size_t group = 1; group <= groups; ++group) {
        if (nameOfGroup[group].empty()) {
            continue;
        }
        const auto rule = std::ranges::find(expansion.rules, nameOfGroup[group], &FieldRule::name);
        code->fieldOfGroup[group] = static_cast<std::uint16_t>(result.m_fields.size());
        result.m_fields.push_back(rule != expansion.rules.end() ? *rule : FieldRule{nameOfGroup[group]});
    }
    if (groups >= 64) {
        return failure(Text{HEADROOM_TR("core", "the pattern has more than 63 groups")});
    }
    result.m_code = code;
    return result;
}

PatternMatcher::PatternMatcher()
    : m_state(std::make_unique<State>())
{
}

PatternMatcher::~PatternMatcher() = default;

bool PatternMatcher::next(const LinePattern& pattern, std::string_view text, std::size_t& from)
{
    m_found.clear();
    if (from > text.size()) {
        return false;
    }
    const LinePattern::Code& code = pattern.code();
    const int count = pcre2_match(code.code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from, 0,
                                  m_state->data, m_state->context);
    if (count <= 0) {
        m_limitReached = m_limitReached || (count < 0 && count != PCRE2_ERROR_NOMATCH);
        return false;
    }
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(m_state->data);
    for (std::size_t group = 1; group < static_cast<std::size_t>(count); ++group) {
        if (code.fieldOfGroup[group] != LinePattern::Code::none && ends[2 * group] != PCRE2_UNSET) {
            m_found.push_back(
                {code.fieldOfGroup[group], text.substr(ends[2 * group], ends[2 * group + 1] - ends[2 * group])});
        }
    }
    m_begin = ends[0];
    from = std::max(ends[1], ends[0]) + (ends[1] <= ends[0] ? 1 : 0); // an empty match must not repeat
    return true;
}

bool PatternMatcher::takeLimitReached()
{
    return std::exchange(m_limitReached, false);
}

} // namespace headroom
