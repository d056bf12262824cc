// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "allocator/allocator_sizes.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// How large the blocks are that tensors get one after the other, from segments of 20 MiB or, from 10 MiB on, of their
/// own: a rest of up to 1 MiB is not split off, unless segments grow as they are needed (theory.md 6.3). What is free
/// is known by its size alone.
class Segments
{
public:
    explicit Segments(bool areExpandable = false)
        : m_areExpandable(areExpandable)
    {
    }

    struct Size
    {
        std::int64_t bytes = 0, count = 0;
    };
    using Sizes = std::vector<Size>;

    /// Whether tensors of this size share a segment with others.
    [[nodiscard]] static bool isShared(std::int64_t bytes) { return !isSmallBlock(bytes) && bytes < minLargeAlloc; }

    /// Places tensors that stay, of each size in turn; returns what their blocks hold beyond the sizes rounded to 512
    /// bytes.
    std::int64_t place(std::int64_t bytes, std::int64_t count = 1);
    std::int64_t place(const Sizes& tensors);
    /// Of `count` blocks, whose neighbours stay what they are.
    void free(std::int64_t bytes, std::int64_t count = 1);
    /// All that was placed goes: every segment is free as a whole.
    void release();

    [[nodiscard]] const Sizes& freeBlocks() const { return m_free; } ///< ascending

private:
    /// From `blocks` free ones of `whole` bytes each, which a tensor of `size` fits into.
    std::int64_t cut(std::int64_t whole, std::int64_t blocks, std::int64_t size, std::int64_t count);
    static void add(Sizes& sizes, std::int64_t bytes, std::int64_t count);

    bool m_areExpandable;
    Sizes m_free, m_all; ///< ascending
};

} // namespace headroom
