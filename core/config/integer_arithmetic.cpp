// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/integer_arithmetic.h"

#include "units/number.h"

#include <string>

namespace headroom {

namespace {

using Number = std::optional<std::int64_t>;

/// Recursive descent; what is not understood makes the whole unknown.
class Expression
{
public:
    Expression(std::string_view text, bool hasExactDivision)
        : m_text(text)
        , m_hasExactDivision(hasExactDivision)
    {
    }

    Number read()
    {
        const Number value = sum(0);
        skipBlanks();
        return m_at == m_text.size() ? value : std::nullopt;
    }

private:
    static constexpr int maxDepth = 100;

    void skipBlanks()
    {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t' || m_text[m_at] == '\n')) {
            ++m_at;
        }
    }
    bool take(std::string_view sign)
    {
        skipBlanks();
        const bool isThere = m_text.substr(m_at).starts_with(sign);
        m_at += isThere ? sign.size() : 0;
        return isThere;
    }

    Number sum(int depth)
    {
        Number left = product(depth);
        for (;;) {
            std::int64_t result = 0;
            if (take("+")) {
                const Number right = product(depth);
                left = left && right && !__builtin_add_overflow(*left, *right, &result) ? Number(result) : std::nullopt;
            } else if (take("-")) {
                const Number right = product(depth);
                left = left && right && !__builtin_sub_overflow(*left, *right, &result) ? Number(result) : std::nullopt;
            } else {
                return left;
            }
        }
    }

    Number product(int depth)
    {
        Number left = power(depth);
        for (;;) {
            if (take("//")) {
                left = divided(left, power(depth), false);
            } else if (take("*")) {
                left = multiplied(left, power(depth));
            } else if (take("/")) {
                left = divided(left, power(depth), m_hasExactDivision);
            } else if (take("%")) {
                const Number right = power(depth);
                left = left && right && *right > 0 && *left >= 0 ? Number(*left % *right) : std::nullopt;
            } else {
                return left;
            }
        }
    }

    Number power(int depth)
    {
        const Number base = operand(depth);
        if (!take("**")) {
            return base;
        }
        const Number exponent = depth < maxDepth ? power(depth + 1) : std::nullopt;
        if (!exponent || *exponent < 0 || *exponent > 64) {
            return std::nullopt;
        }
        Number result = 1;
        for (std::int64_t i = 0; i < *exponent; ++i) {
            result = multiplied(result, base);
        }
        return result;
    }

    Number operand(int depth)
    {
        if (depth > maxDepth) {
            return std::nullopt;
        }
        if (take("(")) {
            const Number value = sum(depth + 1);
            return take(")") ? value : std::nullopt;
        }
        if (take("-")) {
            return multiplied(Number(-1), operand(depth + 1));
        }
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && ((m_text[m_at] >= '0' && m_text[m_at] <= '9') || m_text[m_at] == '_')) {
            ++m_at;
        }
        return parseInteger(m_text.substr(begin, m_at - begin));
    }

    static Number multiplied(Number left, Number right)
    {
        std::int64_t result = 0;
        return left && right && !__builtin_mul_overflow(*left, *right, &result) ? Number(result) : std::nullopt;
    }
    static Number divided(Number left, Number right, bool isExact)
    {
        // Languages differ in what they make of negative ones.
        const bool isDefined = left && right && *right > 0 && *left >= 0 && (!isExact || *left % *right == 0);
        return isDefined ? Number(*left / *right) : std::nullopt;
    }

    std::string_view m_text;
    bool m_hasExactDivision;
    std::size_t m_at = 0;
};

} // namespace

std::optional<std::int64_t> evaluateIntegers(std::string_view expression, bool hasExactDivision)
{
    return Expression(expression, hasExactDivision).read();
}

std::optional<double> ratioOf(std::string_view expression)
{
    const std::size_t slash = expression.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto above = parseReal(expression.substr(0, slash)), below = parseReal(expression.substr(slash + 1));
    return above && below && *below != 0 ? std::optional(*above / *below) : std::nullopt;
}

} // namespace headroom
