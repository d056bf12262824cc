// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What the characters of a field stand for.
enum class FieldUnit : std::uint8_t {
    Text,
    Number, ///< times FieldRule::factor: bytes of a unit, milliseconds of seconds
    Size, ///< a number with its unit, K, M, G and T on base 1024 whatever the spelling
    Suffixed, ///< a number with K, M, B (billion) or T on base 1000
    Fraction, ///< "12/94" is 12
    UnitGroup ///< a number whose unit is the text of the group "unit"
};

/// A field of a line: its name, and how its text becomes a value.
struct FieldRule
{
    std::string name; ///< "peak_alloc_bytes"
    FieldUnit unit = FieldUnit::Text;
    double factor = 1;
};

/// A unit of the format language ("MiB", "s", "num", "size", …); null for a word that is none.
[[nodiscard]] std::optional<FieldRule> fieldRule(std::string_view name, std::string_view unit);

/// The number a text means under a rule: bytes rounded half up, milliseconds, plain numbers; nan and inf too. Commas
/// between digits are dropped. Null when it is no number ("n/a", "?").
[[nodiscard]] std::optional<double> fieldNumber(const FieldRule& rule, std::string_view text,
                                                std::string_view unit = {});

/// Patterns are PCRE2 with one addition: %{name:unit} is a named group that matches what the unit is written as, and
/// %{name} one for whole numbers. A group of PCRE2's own form, (?<name>…), is a text.
class LinePattern
{
public:
    /// Fails with the reason and the place in the pattern.
    [[nodiscard]] static Result<LinePattern> compile(const std::string& pattern);

    [[nodiscard]] const std::vector<FieldRule>& fields() const { return m_fields; }

    struct Code; ///< the compiled pattern, shared by all threads
    [[nodiscard]] const Code& code() const { return *m_code; }

private:
    std::shared_ptr<const Code> m_code;
    std::vector<FieldRule> m_fields; ///< one for each group that has a name, in the order of their numbers
};

/// A field's text on a line.
struct FieldMatch
{
    std::uint16_t field = 0; ///< index into LinePattern::fields
    std::string_view text;
};

/// Runs patterns; one for each thread. A limit on the work of one match keeps any pattern from hanging on any line.
class PatternMatcher
{
public:
    PatternMatcher();
    ~PatternMatcher();
    PatternMatcher(const PatternMatcher&) = delete;
    PatternMatcher& operator=(const PatternMatcher&) = delete;

    /// Looks for the pattern from `from` on and moves `from` behind what matched. The fields found are valid until the
    /// next call and as long as `text`; false when there is no match.
    [[nodiscard]] bool next(const LinePattern& pattern, std::string_view text, std::size_t& from);
    [[nodiscard]] const std::vector<FieldMatch>& found() const { return m_found; }
    /// Where in the text the match begins.
    [[nodiscard]] std::size_t begin() const { return m_begin; }
    /// A match was given up at the limit since the last call of this.
    [[nodiscard]] bool takeLimitReached();

private:
    struct State;
    std::unique_ptr<State> m_state;
    std::vector<FieldMatch> m_found;
    std::size_t m_begin = 0;
    bool m_limitReached = false;
};

} // namespace headroom
