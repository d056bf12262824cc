// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"
#include "units/text.h"

#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// Chooses the language of what is printed for people; JSON and CSV, which programs read, stay as they are. The code is
/// a locale such as zh_CN or zh; empty: that of the environment, looked for as gettext does (LC_ALL, LC_MESSAGES, LANG,
/// then the list in LANGUAGE). False where it is named and no catalogue speaks it.
[[nodiscard]] bool useLanguage(std::string_view code);
/// The code of the chosen language, as HTML names it: "en", "zh-CN".
[[nodiscard]] std::string language();
/// The languages there are, English first.
[[nodiscard]] std::vector<std::string> languages();

/// A text of core in the chosen language.
[[nodiscard]] std::string translated(const Text& text);
[[nodiscard]] std::string translated(const Problem& problem);
[[nodiscard]] inline std::string inOwnWords(const Text& text)
{
    return translated(text);
}
/// A text of the terminal's own, marked HEADROOM_TR("cli", "…%1…"), with its arguments.
[[nodiscard]] std::string say(const char* pattern, std::vector<std::string> arguments = {});

} // namespace headroom::cli
