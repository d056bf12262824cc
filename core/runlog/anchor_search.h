// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// Finds a literal and counts line feeds on the way, in one pass over the bytes. Uses AVX2 where the processor has it;
/// `portable` asks for the plain version (the tests compare the two).
class AnchorSearch
{
public:
    explicit AnchorSearch(std::string_view anchor, bool portable = false);

    /// Where the anchor first starts at or after `from`, else the end of the text. Adds the line feeds in between to
    /// `lineFeeds`.
    [[nodiscard]] std::size_t next(std::string_view text, std::size_t from, std::int64_t& lineFeeds) const;

private:
    [[nodiscard]] std::size_t nextPortable(std::string_view text, std::size_t from, std::int64_t& lineFeeds) const;
    [[nodiscard]] std::size_t nextAvx2(std::string_view text, std::size_t from, std::int64_t& lineFeeds) const;

    std::string m_anchor;
    std::size_t m_rare = 0; ///< offset of the byte of the anchor that is least common in logs
    bool m_avx2 = false;
};

} // namespace headroom
