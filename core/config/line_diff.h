// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class DiffKind : std::uint8_t { Same, Removed, Added };

struct DiffLine
{
    DiffKind kind = DiffKind::Same;
    std::int64_t before = 0; ///< 1-based line in the old text, 0 for an added line
    std::int64_t after = 0; ///< 1-based line in the new text, 0 for a removed line
    std::string_view text; ///< with its line end, a view into the text it comes from
};

/// The shortest list of removed and added lines that turns `before` into `after`, with the lines that stay (Myers, "An
/// O(ND) difference algorithm", 1986). Texts that differ in more than a few thousand lines come as one block.
[[nodiscard]] std::vector<DiffLine> lineDiff(std::string_view before, std::string_view after);

/// The same as a unified diff with `context` lines around each change; empty when the texts are equal.
[[nodiscard]] std::string unifiedDiff(std::string_view before, std::string_view after, const std::string& beforeName,
                                      const std::string& afterName, std::size_t context = 3);

} // namespace headroom
