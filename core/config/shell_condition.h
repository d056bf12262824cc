// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Which part of a shell script's branches a reader is in: taken, not taken, or not known because a condition isn't.
class ShellBranches
{
public:
    /// A reserved word at the beginning of a command; false when it is none.
    bool enter(std::string_view word);
    /// The arguments of a command that was executed: [, [[ and test decide conditions.
    void test(const std::vector<std::string>& words, bool areKnown);
    /// After ;, && and the like.
    void endCommand(const std::string& separator);

    /// The next words are the subject or the patterns of a case.
    [[nodiscard]] bool isAtPattern() const { return !m_frames.empty() && m_frames.back().phase != Phase::Body; }
    void addPattern(const std::string& text, bool isKnown);
    void endPattern();

    [[nodiscard]] bool isSkipped() const;
    [[nodiscard]] bool isUncertain() const;

private:
    enum class Answer : std::uint8_t { No, Yes, Unknown };
    enum class Phase : std::uint8_t { Subject, Pattern, Body };
    struct Frame
    {
        Answer isTaken = Answer::Yes;
        bool wasTaken = false, wasUncertain = false; ///< an earlier branch
        Phase phase = Phase::Body;
        bool hasSubject = false, isSubjectKnown = false;
        std::string subject;
        Answer matches = Answer::No;
    };

    static Answer evaluate(const std::vector<std::string>& words);
    void take(Frame& frame, Answer answer);

    std::vector<Frame> m_frames;
    Answer m_last = Answer::Unknown; ///< what the last command returned
    Answer m_chain = Answer::Yes; ///< whether the next command runs, by the && or || before it
    bool m_isNegated = false;
};

} // namespace headroom
