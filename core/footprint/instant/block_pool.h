// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/segments.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// Blocks that come and go beside what stays, free neighbours joined: the caching allocator's large pool (theory.md
/// 6.3), of which tensors up to 1 MiB are no part.
class BlockPool
{
public:
    using Block = std::uint32_t;
    static constexpr Block none = ~Block{0};

    /// Beside the free blocks of `segments`.
    explicit BlockPool(const Segments& segments);

    /// The smallest free block that fits, the lowest of equal ones, or one of a new segment; none for a small tensor.
    /// `bytes`: rounded to 512.
    Block allocate(std::int64_t bytes);
    void free(Block block);

    [[nodiscard]] std::int64_t sizeOf(Block block) const { return m_blocks[block].bytes; }
    /// Of those that were made.
    [[nodiscard]] const std::vector<std::int64_t>& segments() const { return m_segments; }

private:
    struct Data
    {
        std::int64_t bytes = 0, address = 0;
        Block previous = none, next = none;
        bool isFree = false;
    };
    struct Free
    {
        std::int64_t bytes = 0, address = 0;
        Block block = none;
        friend auto operator<=>(const Free&, const Free&) = default;
    };

    Block newBlock(const Data& data);
    Block newSegment(std::int64_t bytes);
    void insert(Block block);
    void erase(Block block);
    /// `back`, which is free and behind `front`, becomes a part of it.
    void join(Block front, Block back);

    std::vector<Data> m_blocks;
    std::vector<Block> m_spare;
    std::vector<Free> m_free; ///< ascending
    std::vector<std::int64_t> m_segments;
    std::int64_t m_nextAddress = 0;
};

} // namespace headroom
