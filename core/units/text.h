// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

/// Marks a literal for lupdate (QT_TRANSLATE_NOOP is its alias); core itself has no translator and links no Qt.
#define HEADROOM_TR(context, literal) literal

namespace headroom {

/// A sentence for the user: a translatable pattern with %1, %2, … and its arguments, kept apart so that the terminal
/// prints english() and the window looks the pattern up in its catalogue (context "core") before filling it in.
struct Text
{
    std::string pattern;
    std::vector<std::string> arguments;

    Text() = default;
    explicit Text(std::string patternText, std::vector<std::string> argumentTexts = {})
        : pattern(std::move(patternText))
        , arguments(std::move(argumentTexts))
    {
    }

    [[nodiscard]] std::string english() const { return fill(pattern); }
    /// The arguments put into `translated`, a translation of the pattern.
    [[nodiscard]] std::string fill(const std::string& translated) const;
    [[nodiscard]] bool isEmpty() const { return pattern.empty(); }

    friend bool operator==(const Text&, const Text&) = default;
};

} // namespace headroom
