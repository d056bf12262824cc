// SPDX-License-Identifier: GPL-3.0-or-later
#include "allocator/caching_allocator.h"

#include "allocator/allocator_sizes.h"

#include <algorithm>

namespace headroom {

CachingAllocator::CachingAllocator(const AllocatorOptions& options)
    : m_options(options)
{
    m_options.capacity = std::min(m_options.capacity, AllocatorOptions::unlimited);
}

std::int64_t CachingAllocator::roundedSize(std::int64_t bytes) const
{
    return blockSize(bytes, m_options.roundupPower2Divisions);
}

CachingAllocator::Block CachingAllocator::allocate(std::int64_t bytes, std::uint32_t stream)
{
    if (bytes < 0 || bytes > m_options.capacity) {
        return noBlock;
    }
    const std::int64_t size = roundedSize(bytes);
    const std::uint32_t pool = poolFor(size, stream);
    Block block = takeFree(size, pool);
    if (block == noBlock) {
        block = fromDevice(size, pool);
        if (block == noBlock && releaseOversize(size, pool)) {
            block = fromDevice(size, pool);
        }
        if (block == noBlock) {
            synchronize();
            emptyCache();
            ++m_statistics.retries;
            block = fromDevice(size, pool);
        }
        if (block == noBlock) {
            return noBlock;
        }
    }
    const std::int64_t rest = m_blocks[block].size - size;
    const bool isFine = m_pools[pool].isSmall || m_options.expandableSegments;
    if (isFine ? rest >= minBlockSize : size < m_options.maxSplitSize && !isRest(rest)) {
        splitOff(block, size);
    }
    m_blocks[block].requested = bytes;
    AllocatorStatistics& now = m_statistics;
    now.allocated += m_blocks[block].size;
    now.active += m_blocks[block].size;
    now.requested += bytes;
    now.peakAllocated = std::max(now.peakAllocated, now.allocated);
    now.peakActive = std::max(now.peakActive, now.active);
    now.peakRequested = std::max(now.peakRequested, now.requested);
    return block;
}

void CachingAllocator::free(Block block)
{
    m_statistics.allocated -= m_blocks[block].size;
    m_statistics.active -= m_blocks[block].size;
    m_statistics.requested -= m_blocks[block].requested;
    returnToPool(block);
}

void CachingAllocator::cacheSegment(std::int64_t bytes)
{
    insertFree(newSegment(bytes, poolFor(bytes, 0)));
}

void CachingAllocator::freeInUse(Block block)
{
    m_statistics.allocated -= m_blocks[block].size;
    m_statistics.requested -= m_blocks[block].requested;
    m_pending.push_back(block);
}

void CachingAllocator::synchronize()
{
    for (const Block block : m_pending) {
        m_statistics.active -= m_blocks[block].size;
        returnToPool(block);
    }
    m_pending.clear();
}

void CachingAllocator::emptyCache()
{
    std::vector<Block> candidates;
    for (const Pool& pool : m_pools) {
        for (const FreeList::Entry* entry = pool.free.smallest(0); entry != nullptr; entry = pool.free.next(*entry)) {
            candidates.push_back(entry->block);
        }
    }
    for (const Block block : candidates) {
        if (m_blocks[block].isExpandable) {
            unmap(block);
        } else if (m_blocks[block].previous == noBlock && m_blocks[block].next == noBlock) {
            releaseSegment(block);
        }
    }
}

void CachingAllocator::resetPeaks()
{
    AllocatorStatistics& now = m_statistics;
    now.peakAllocated = now.allocated;
    now.peakActive = now.active;
    now.peakRequested = now.requested;
    now.peakReserved = now.reserved;
}

std::int64_t CachingAllocator::largestFreeBlock() const
{
    std::int64_t largest = 0;
    for (const Pool& pool : m_pools) {
        const FreeList::Entry* entry = pool.free.largest();
        largest = std::max(largest, entry != nullptr ? entry->size : 0);
    }
    return largest;
}

std::uint32_t CachingAllocator::poolFor(std::int64_t size, std::uint32_t stream)
{
    const std::uint32_t pool = stream * 2 + (isSmallBlock(size) ? 1 : 0);
    while (m_pools.size() <= pool) {
        m_pools.emplace_back();
        m_pools.back().isSmall = m_pools.size() % 2 == 0;
    }
    return pool;
}

CachingAllocator::Block CachingAllocator::newBlock(const BlockData& data)
{
    if (m_spare.empty()) {
        m_blocks.push_back(data);
        return static_cast<Block>(m_blocks.size() - 1);
    }
    const Block block = m_spare.back();
    m_spare.pop_back();
    m_blocks[block] = data;
    return block;
}

void CachingAllocator::insertFree(Block block)
{
    BlockData& data = m_blocks[block];
    data.isFree = true;
    m_pools[data.pool].free.insert({data.size, data.address, block});
}

void CachingAllocator::eraseFree(Block block)
{
    BlockData& data = m_blocks[block];
    data.isFree = false;
    m_pools[data.pool].free.erase(data.size, data.address);
}

CachingAllocator::Block CachingAllocator::takeFree(std::int64_t size, std::uint32_t pool)
{
    const FreeList& free = m_pools[pool].free;
    const FreeList::Entry* found = free.smallest(size);
    if (found == nullptr) {
        return noBlock;
    }
    // A block before unmapped address space can grow, so it is kept for larger requests while another one serves.
    const auto expandableSize = [this](const FreeList::Entry& entry) {
        const Block next = m_blocks[entry.block].next;
        return entry.size + (next != noBlock && !m_blocks[next].isMapped ? m_blocks[next].size : 0);
    };
    while (m_blocks[found->block].isExpandable) {
        const FreeList::Entry* next = free.next(*found);
        if (next == nullptr || expandableSize(*next) >= expandableSize(*found)) {
            break;
        }
        found = next;
    }
    constexpr std::int64_t maxNonSplitRounding = largeBuffer;
    const bool isOversize = size < m_options.maxSplitSize ? found->size >= m_options.maxSplitSize
                                                          : found->size >= size + maxNonSplitRounding;
    if (isOversize) {
        return noBlock;
    }
    const Block block = found->block;
    eraseFree(block);
    return block;
}

CachingAllocator::Block CachingAllocator::fromDevice(std::int64_t size, std::uint32_t pool)
{
    if (m_options.expandableSegments) {
        return fromExpandable(size, pool);
    }
    const std::int64_t segment = segmentSize(size);
    if (segment > m_options.capacity - m_statistics.reserved) {
        return noBlock;
    }
    return newSegment(segment, pool);
}

CachingAllocator::Block CachingAllocator::newSegment(std::int64_t bytes, std::uint32_t pool)
{
    // Segments never touch, so that blocks of two segments are never taken for neighbours.
    const Block block = newBlock({m_nextAddress, bytes, 0, noBlock, noBlock, pool, false, true, false});
    m_nextAddress += bytes + smallBuffer;
    m_statistics.reserved += bytes;
    m_statistics.peakReserved = std::max(m_statistics.peakReserved, m_statistics.reserved);
    ++m_statistics.segments;
    ++m_statistics.deviceAllocations;
    return block;
}

CachingAllocator::Block CachingAllocator::cut(Block block, std::int64_t size)
{
    BlockData rest = m_blocks[block];
    rest.address += size;
    rest.size -= size;
    rest.previous = block;
    const Block tail = newBlock(rest);
    if (rest.next != noBlock) {
        m_blocks[rest.next].previous = tail;
    }
    m_blocks[block].next = tail;
    m_blocks[block].size = size;
    return tail;
}

void CachingAllocator::splitOff(Block block, std::int64_t size)
{
    insertFree(cut(block, size));
}

/// Joins a block that is not in its pool with its free neighbours (unmapped ones, when it is unmapped); returns the
/// block in front, which stands for all of them and is not in the pool either.
CachingAllocator::Block CachingAllocator::merged(Block block)
{
    const bool isMapped = m_blocks[block].isMapped;
    const auto joins = [&](Block other) {
        return other != noBlock && m_blocks[other].isMapped == isMapped && (!isMapped || m_blocks[other].isFree);
    };
    const auto absorb = [this](Block front, Block back) {
        m_blocks[front].size += m_blocks[back].size;
        m_blocks[front].next = m_blocks[back].next;
        if (m_blocks[back].next != noBlock) {
            m_blocks[m_blocks[back].next].previous = front;
        }
        m_spare.push_back(back);
    };
    if (const Block next = m_blocks[block].next; joins(next)) {
        if (isMapped) {
            eraseFree(next);
        }
        absorb(block, next);
    }
    if (const Block previous = m_blocks[block].previous; joins(previous)) {
        if (isMapped) {
            eraseFree(previous);
        }
        absorb(previous, block);
        block = previous;
    }
    return block;
}

void CachingAllocator::returnToPool(Block block)
{
    insertFree(merged(block));
}

void CachingAllocator::releaseSegment(Block block)
{
    eraseFree(block);
    m_statistics.reserved -= m_blocks[block].size;
    --m_statistics.segments;
    m_spare.push_back(block);
}

bool CachingAllocator::releaseOversize(std::int64_t size, std::uint32_t pool)
{
    if (m_options.maxSplitSize >= AllocatorOptions::unlimited) {
        return false;
    }
    const FreeList& free = m_pools[pool].free;
    if (const FreeList::Entry* found = free.smallest(std::max(size, m_options.maxSplitSize)); found != nullptr) {
        releaseSegment(found->block);
        return true;
    }
    std::int64_t released = 0;
    for (const FreeList::Entry* largest = free.largest();
         largest != nullptr && released < size && largest->size >= m_options.maxSplitSize; largest = free.largest()) {
        released += largest->size;
        releaseSegment(largest->block);
    }
    return released >= size;
}

} // namespace headroom
