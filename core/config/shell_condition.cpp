// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/shell_condition.h"

#include "units/number.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>

namespace headroom {

bool ShellBranches::isSkipped() const
{
    return m_chain == Answer::No || std::any_of(m_frames.begin(), m_frames.end(), [](const Frame& frame) {
               return frame.isTaken == Answer::No;
           });
}

bool ShellBranches::isUncertain() const
{
    return m_chain == Answer::Unknown || std::any_of(m_frames.begin(), m_frames.end(), [](const Frame& frame) {
               return frame.isTaken == Answer::Unknown;
           });
}

/// The next branch is entered if its condition holds and no earlier one did.
void ShellBranches::take(Frame& frame, Answer answer)
{
    const bool isUncertain = answer == Answer::Unknown || (answer == Answer::Yes && frame.wasUncertain);
    frame.isTaken = frame.wasTaken || answer == Answer::No ? Answer::No : isUncertain ? Answer::Unknown : Answer::Yes;
    frame.wasTaken = frame.wasTaken || frame.isTaken == Answer::Yes;
    frame.wasUncertain = frame.wasUncertain || frame.isTaken == Answer::Unknown;
}

bool ShellBranches::enter(std::string_view word)
{
    const bool isInside = !m_frames.empty();
    if (word == "if" || word == "while" || word == "until" || word == "for" || word == "select") {
        m_frames.emplace_back();
        m_last = Answer::Unknown;
    } else if (word == "case") {
        m_frames.emplace_back().phase = Phase::Subject;
    } else if (word == "then" && isInside) {
        take(m_frames.back(), m_last);
    } else if (word == "do" && isInside) {
        m_frames.back().isTaken = Answer::Unknown;
    } else if (word == "elif" && isInside) {
        m_frames.back().isTaken = m_frames.back().wasTaken ? Answer::No : Answer::Yes;
        m_last = Answer::Unknown;
    } else if (word == "else" && isInside) {
        take(m_frames.back(), Answer::Yes);
    } else if ((word == "fi" || word == "done" || word == "esac") && isInside) {
        m_frames.pop_back();
    } else if (word == "!") {
        m_isNegated = true;
    } else {
        return word == "{" || word == "}" || word == "function" || word == "time";
    }
    m_chain = Answer::Yes;
    return true;
}

void ShellBranches::addPattern(const std::string& text, bool isKnown)
{
    Frame& frame = m_frames.back();
    if (frame.phase == Phase::Subject && !frame.hasSubject) {
        frame.hasSubject = true;
        frame.isSubjectKnown = isKnown;
        frame.subject = text;
    } else if (frame.phase == Phase::Subject) {
        frame.phase = Phase::Pattern; // the word "in"
    } else if (text == "esac") {
        m_frames.pop_back();
    } else if (!frame.isSubjectKnown || !isKnown) {
        frame.matches = Answer::Unknown;
    } else if (fnmatch(text.c_str(), frame.subject.c_str(), 0) == 0) {
        frame.matches = Answer::Yes;
    }
}

void ShellBranches::endPattern()
{
    Frame& frame = m_frames.back();
    take(frame, frame.matches);
    frame.matches = Answer::No;
    frame.phase = Phase::Body;
}

void ShellBranches::endCommand(const std::string& separator)
{
    const auto opposite = [](Answer answer) {
        return answer == Answer::Unknown ? answer : answer == Answer::Yes ? Answer::No : Answer::Yes;
    };
    if (separator == "&&" || separator == "||") {
        m_chain = separator == "&&" ? m_last : opposite(m_last);
        return;
    }
    m_chain = Answer::Yes;
    if (separator == ";;" && !m_frames.empty() && m_frames.back().hasSubject) {
        m_frames.back().phase = Phase::Pattern;
    }
}

ShellBranches::Answer ShellBranches::evaluate(const std::vector<std::string>& words)
{
    const auto answer = [](bool holds) { return holds ? Answer::Yes : Answer::No; };
    if (words.size() == 1) {
        return answer(!words[0].empty());
    }
    if (words.size() == 2 && (words[0] == "-z" || words[0] == "-n")) {
        return answer(words[1].empty() == (words[0] == "-z"));
    }
    if (words.size() != 3) {
        return Answer::Unknown;
    }
    const std::string& sign = words[1];
    if (sign == "=" || sign == "==" || sign == "!=") {
        return answer((fnmatch(words[2].c_str(), words[0].c_str(), 0) == 0) == (sign != "!="));
    }
    const auto left = parseInteger(words[0]), right = parseInteger(words[2]);
    if (!left || !right) {
        return Answer::Unknown;
    }
    return sign == "-eq" ? answer(*left == *right)
        : sign == "-ne"  ? answer(*left != *right)
        : sign == "-lt"  ? answer(*left < *right)
        : sign == "-le"  ? answer(*left <= *right)
        : sign == "-gt"  ? answer(*left > *right)
        : sign == "-ge"  ? answer(*left >= *right)
                         : Answer::Unknown;
}

void ShellBranches::test(const std::vector<std::string>& words, bool areKnown)
{
    const std::string& command = words.front();
    const bool isBracket = command == "[" || command == "[[";
    const std::string close = command == "[" ? "]" : "]]";
    bool isNegated = m_isNegated;
    m_isNegated = false;
    const bool isTest
        = (isBracket && words.back() == close && words.size() > 2) || (command == "test" && words.size() > 1);
    if (!isTest || !areKnown || m_chain == Answer::Unknown) {
        m_last = Answer::Unknown;
        return;
    }
    std::vector<std::string> inner(words.begin() + 1, words.end() - (isBracket ? 1 : 0));
    if (inner.size() > 1 && inner[0] == "!") {
        inner.erase(inner.begin());
        isNegated = !isNegated;
    }
    m_last = evaluate(inner);
    if (isNegated && m_last != Answer::Unknown) {
        m_last = m_last == Answer::Yes ? Answer::No : Answer::Yes;
    }
}

} // namespace headroom
