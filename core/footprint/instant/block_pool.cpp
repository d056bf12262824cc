// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/block_pool.h"

#include <algorithm>

namespace headroom {

BlockPool::BlockPool(const Segments& segments)
{
    for (const Segments::Size& size : segments.freeBlocks()) {
        for (std::int64_t i = 0; i < size.count; ++i) {
            insert(newSegment(size.bytes));
        }
    }
}

BlockPool::Block BlockPool::allocate(std::int64_t bytes)
{
    if (Segments::isSmall(bytes)) {
        return none;
    }
    const auto found = std::lower_bound(m_free.begin(), m_free.end(), Free{bytes, 0, 0});
    Block block = none;
    if (found != m_free.end()) {
        block = found->block;
        m_free.erase(found);
        m_blocks[block].isFree = false;
    } else {
        block = newSegment(Segments::segmentFor(bytes));
        m_segments.push_back(m_blocks[block].bytes);
    }
    const std::int64_t left = m_blocks[block].bytes - bytes;
    if (!Segments::isRest(left)) {
        const Block next = m_blocks[block].next;
        const Block tail = newBlock({left, m_blocks[block].address + bytes, block, next});
        if (next != none) {
            m_blocks[next].previous = tail;
        }
        m_blocks[block].next = tail;
        m_blocks[block].bytes = bytes;
        insert(tail);
    }
    return block;
}

void BlockPool::free(Block block)
{
    if (block == none) {
        return;
    }
    if (const Block next = m_blocks[block].next; next != none && m_blocks[next].isFree) {
        erase(next);
        join(block, next);
    }
    if (const Block previous = m_blocks[block].previous; previous != none && m_blocks[previous].isFree) {
        erase(previous);
        join(previous, block);
        block = previous;
    }
    insert(block);
}

BlockPool::Block BlockPool::newBlock(const Data& data)
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

BlockPool::Block BlockPool::newSegment(std::int64_t bytes)
{
    const Block block = newBlock({bytes, m_nextAddress});
    m_nextAddress += bytes;
    return block;
}

void BlockPool::insert(Block block)
{
    m_blocks[block].isFree = true;
    const Free entry{m_blocks[block].bytes, m_blocks[block].address, block};
    m_free.insert(std::lower_bound(m_free.begin(), m_free.end(), entry), entry);
}

void BlockPool::erase(Block block)
{
    m_blocks[block].isFree = false;
    m_free.erase(
        std::lower_bound(m_free.begin(), m_free.end(), Free{m_blocks[block].bytes, m_blocks[block].address, block}));
}

void BlockPool::join(Block front, Block back)
{
    m_blocks[front].bytes += m_blocks[back].bytes;
    m_blocks[front].next = m_blocks[back].next;
    if (m_blocks[back].next != none) {
        m_blocks[m_blocks[back].next].previous = front;
    }
    m_spare.push_back(back);
}

} // namespace headroom
