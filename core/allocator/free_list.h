// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// The free blocks of a pool by size and, of one size, by address. Sizes are sorted into classes, eight to each power
/// of two, so that finding, adding and removing a block touch a few entries only.
class FreeList
{
public:
    struct Entry
    {
        std::int64_t size = 0, address = 0;
        std::uint32_t block = 0;
    };

    void insert(const Entry& entry);
    void erase(std::int64_t size, std::int64_t address);

    /// The smallest block of at least `size` bytes, the lowest address on ties; null where there is none.
    [[nodiscard]] const Entry* smallest(std::int64_t size) const;
    /// The one behind an entry of the list; null at the end.
    [[nodiscard]] const Entry* next(const Entry& entry) const;
    [[nodiscard]] const Entry* largest() const;

private:
    static constexpr std::size_t classesPerPower = 8, classCount = 64 * classesPerPower;
    static constexpr std::size_t wordBits = 64;

    [[nodiscard]] static std::size_t classOf(std::int64_t size);
    /// The first entry of this class or a later one.
    [[nodiscard]] const Entry* firstFrom(std::size_t sizeClass) const;

    std::array<std::vector<Entry>, classCount> m_classes;
    std::array<std::uint64_t, classCount / wordBits> m_filled{}; ///< a bit for each class with entries
};

} // namespace headroom
