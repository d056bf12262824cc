// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/name_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

namespace headroom {

namespace {

constexpr std::uint32_t mostSteps = 5000; // a name has some dozens of characters
constexpr std::size_t longest = 65'536;

} // namespace

struct NamePattern::Code
{
    explicit Code(pcre2_code* compiled)
        : code(compiled)
        , data(pcre2_match_data_create(1, nullptr))
        , limits(pcre2_match_context_create(nullptr))
    {
        pcre2_set_match_limit(limits, mostSteps);
    }
    ~Code()
    {
        pcre2_match_context_free(limits);
        pcre2_match_data_free(data);
        pcre2_code_free(code);
    }
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;

    pcre2_code* code;
    pcre2_match_data* data;
    pcre2_match_context* limits;
};

Result<NamePattern> NamePattern::compile(const std::string& expression)
{
    if (expression.size() > longest) {
        return failure(Text{HEADROOM_TR("core", "a regular expression of %1 characters is too long"),
                            {std::to_string(expression.size())}});
    }
    int error = 0;
    std::size_t place = 0;
    pcre2_code* code
        = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), 0, &error, &place, nullptr);
    if (code == nullptr) {
        std::array<unsigned char, 256> message{};
        pcre2_get_error_message(error, message.data(), message.size());
        return failure(Text{HEADROOM_TR("core", "“%1” is not a regular expression: %2 at its character %3"),
                            {expression, reinterpret_cast<const char*>(message.data()), std::to_string(place + 1)}});
    }
    NamePattern pattern;
    pattern.m_code = std::make_shared<const Code>(code);
    return pattern;
}

NamePattern::Found NamePattern::find(std::string_view name) const
{
    const int result = pcre2_match(m_code->code, reinterpret_cast<PCRE2_SPTR>(name.data()), name.size(), 0, 0,
                                   m_code->data, m_code->limits);
    return result >= 0 ? Found::Yes : result == PCRE2_ERROR_NOMATCH ? Found::No : Found::GivenUp;
}

} // namespace headroom
