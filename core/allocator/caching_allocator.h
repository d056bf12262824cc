// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "allocator/free_list.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// What PYTORCH_CUDA_ALLOC_CONF and the device decide.
struct AllocatorOptions
{
    static constexpr std::int64_t unlimited = std::int64_t{1} << 60;

    std::int64_t capacity = unlimited; ///< bytes the driver can give
    std::int64_t maxSplitSize
        = unlimited; ///< max_split_size_mb; larger blocks are neither split nor lent to smaller requests
    std::int64_t roundupPower2Divisions = 0; ///< 0 or 1: off
    bool expandableSegments = false;
};

/// All in bytes. `allocated` counts whole blocks, `requested` what was asked for.
struct AllocatorStatistics
{
    std::int64_t allocated = 0, reserved = 0, requested = 0;
    std::int64_t active = 0; ///< allocated, and freed blocks that another stream still uses
    std::int64_t peakAllocated = 0, peakReserved = 0, peakRequested = 0, peakActive = 0;
    std::int64_t segments = 0; ///< device allocations held; mapped pages of expandable segments are not counted
    std::int64_t deviceAllocations = 0; ///< successful ones, mappings included
    std::int64_t retries = 0; ///< times the cache was emptied because the device had nothing left
};

/// PyTorch's native CUDA caching allocator without the device (c10/cuda/CUDACachingAllocator.cpp; theory.md 6.3): sizes
/// are rounded to 512 bytes; up to 1 MiB come from 2 MiB segments, up to 10 MiB from 20 MiB segments, larger ones from
/// a segment of their own rounded to 2 MiB. The smallest free block that is large enough is taken, the lowest address
/// on ties; pools belong to one stream each.
class CachingAllocator
{
public:
    using Block = std::uint32_t;
    static constexpr Block noBlock = ~Block{0};

    explicit CachingAllocator(const AllocatorOptions& options = {});

    /// noBlock when the device is out of memory, even after everything cached was given back.
    [[nodiscard]] Block allocate(std::int64_t bytes, std::uint32_t stream = 0);
    void free(Block block);
    /// Free on its own stream while others still work on it: no longer allocated, active until synchronize().
    void freeInUse(Block block);
    void synchronize();
    void emptyCache();
    /// A free segment of any size, or the free part of one whose other blocks stay.
    void cacheSegment(std::int64_t bytes);
    /// Peaks become the current values, as reset_peak_memory_stats() does.
    void resetPeaks();

    [[nodiscard]] const AllocatorStatistics& statistics() const { return m_statistics; }
    [[nodiscard]] std::int64_t sizeOf(Block block) const { return m_blocks[block].size; }
    [[nodiscard]] std::int64_t addressOf(Block block) const { return m_blocks[block].address; }
    /// The largest request that needs nothing from the device.
    [[nodiscard]] std::int64_t largestFreeBlock() const;
    /// The size a request is rounded to before a block is looked for.
    [[nodiscard]] std::int64_t roundedSize(std::int64_t bytes) const;

private:
    struct BlockData
    {
        std::int64_t address = 0, size = 0, requested = 0;
        Block previous = noBlock, next = noBlock; ///< neighbours within the segment
        std::uint32_t pool = 0;
        bool isFree = false, isMapped = true, isExpandable = false;
    };
    /// One stream's small or large blocks.
    struct Pool
    {
        bool isSmall = false;
        FreeList free;
        Block expandable = noBlock; ///< first block of the growing segment
    };

    [[nodiscard]] std::uint32_t poolFor(std::int64_t size, std::uint32_t stream);
    [[nodiscard]] Block newBlock(const BlockData& data);
    void insertFree(Block block);
    void eraseFree(Block block);
    [[nodiscard]] Block takeFree(std::int64_t size, std::uint32_t pool);
    [[nodiscard]] Block fromDevice(std::int64_t size, std::uint32_t pool);
    [[nodiscard]] Block newSegment(std::int64_t bytes, std::uint32_t pool);
    [[nodiscard]] Block fromExpandable(std::int64_t size, std::uint32_t pool);
    [[nodiscard]] Block expandableCandidate(std::int64_t size, std::uint32_t pool);
    [[nodiscard]] bool map(Block block, std::int64_t size);
    void unmap(Block block);
    /// Two neighbours of one; returns the second.
    Block cut(Block block, std::int64_t size);
    void splitOff(Block block, std::int64_t size);
    [[nodiscard]] Block merged(Block block);
    void returnToPool(Block block);
    void releaseSegment(Block block);
    [[nodiscard]] bool releaseOversize(std::int64_t size, std::uint32_t pool);

    AllocatorOptions m_options;
    AllocatorStatistics m_statistics;
    std::vector<BlockData> m_blocks;
    std::vector<Block> m_spare; ///< indices into m_blocks that are not in use
    std::vector<Pool> m_pools; ///< two per stream: large, small
    std::vector<Block> m_pending;
    std::int64_t m_nextAddress = 0;
};

} // namespace headroom
