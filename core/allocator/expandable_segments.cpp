// SPDX-License-Identifier: GPL-3.0-or-later
//
// Segments that grow and shrink page by page in address space of their own (expandable_segments:True).
#include "allocator/allocator_sizes.h"
#include "allocator/caching_allocator.h"

#include <algorithm>

namespace headroom {

CachingAllocator::Block CachingAllocator::expandableCandidate(std::int64_t size, std::uint32_t pool)
{
    const auto isAvailable
        = [this](Block block) { return block != noBlock && (m_blocks[block].isFree || !m_blocks[block].isMapped); };
    for (Block block = m_pools[pool].expandable; block != noBlock; block = m_blocks[block].next) {
        if (m_blocks[block].isMapped) {
            continue;
        }
        const Block first = isAvailable(m_blocks[block].previous) ? m_blocks[block].previous : block;
        std::int64_t available = 0;
        for (Block at = first; available < size && isAvailable(at); at = m_blocks[at].next) {
            available += m_blocks[at].size;
        }
        if (available >= size) {
            return first;
        }
    }
    return noBlock;
}

CachingAllocator::Block CachingAllocator::fromExpandable(std::int64_t size, std::uint32_t pool)
{
    if (m_pools[pool].expandable == noBlock) {
        // PyTorch reserves 9/8 of the device's memory as address space for each segment.
        const std::int64_t span = roundUp(m_options.capacity / 8 * 9 + largeBuffer, largeBuffer);
        m_pools[pool].expandable = newBlock({0, span, 0, noBlock, noBlock, pool, false, false, true});
    }
    Block block = expandableCandidate(size, pool);
    if (block == noBlock) {
        return noBlock;
    }
    if (!m_blocks[block].isMapped && !map(block, std::min(m_blocks[block].size, size))) {
        return noBlock;
    }
    // Mapping merges with the free blocks around, so the block in front keeps its index and grows.
    while (m_blocks[block].size < size) {
        const Block next = m_blocks[block].next;
        if (!map(next, std::min(size - m_blocks[block].size, m_blocks[next].size))) {
            return noBlock;
        }
    }
    eraseFree(block);
    return block;
}

bool CachingAllocator::map(Block block, std::int64_t size)
{
    const std::uint32_t pool = m_blocks[block].pool;
    const std::int64_t page = m_pools[pool].isSmall ? smallBuffer : largeBuffer;
    const std::int64_t bytes = roundUp(size, page);
    if (bytes > m_options.capacity - m_statistics.reserved) {
        return false;
    }
    m_statistics.reserved += bytes;
    m_statistics.peakReserved = std::max(m_statistics.peakReserved, m_statistics.reserved);
    ++m_statistics.deviceAllocations;
    if (bytes < m_blocks[block].size) {
        cut(block, bytes); // the tail stays unmapped
    }
    m_blocks[block].isMapped = true;
    insertFree(merged(block));
    return true;
}

void CachingAllocator::unmap(Block block)
{
    const BlockData whole = m_blocks[block];
    const std::int64_t page = m_pools[whole.pool].isSmall ? smallBuffer : largeBuffer;
    const std::int64_t begin = roundUp(whole.address, page);
    const std::int64_t end = roundDown(whole.address + whole.size, page);
    if (begin >= end) {
        return;
    }
    eraseFree(block);
    if (end < whole.address + whole.size) {
        splitOff(block, end - whole.address);
    }
    if (begin > whole.address) {
        splitOff(block, begin - whole.address);
        insertFree(block);
        block = m_blocks[block].next;
        eraseFree(block);
    }
    m_blocks[block].isMapped = false;
    m_statistics.reserved -= end - begin;
    static_cast<void>(merged(block));
}

} // namespace headroom
