// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <memory>
#include <string>
#include <string_view>

namespace headroom {

/// A regular expression, in PCRE2's language, that looks for names of parameters. A limit on the work of one search
/// keeps any expression from hanging on any name.
class NamePattern
{
public:
    /// Fails with the reason.
    [[nodiscard]] static Result<NamePattern> compile(const std::string& expression);

    enum class Found : char { No, Yes, GivenUp };
    [[nodiscard]] Found find(std::string_view name) const;

private:
    struct Code;
    std::shared_ptr<const Code> m_code;
};

} // namespace headroom
