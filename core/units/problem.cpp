// SPDX-License-Identifier: GPL-3.0-or-later
#include "units/problem.h"

#include <fmt/format.h>

namespace headroom {

std::string Problem::english() const
{
    if (file.empty()) {
        return text.english();
    }
    return line > 0 ? fmt::format("{}:{}: {}", file, line, text.english())
                    : fmt::format("{}: {}", file, text.english());
}

tl::unexpected<Problem> failure(Text text, std::string file, std::int64_t line)
{
    return tl::unexpected(Problem{Severity::Error, std::move(file), line, std::move(text)});
}

} // namespace headroom
