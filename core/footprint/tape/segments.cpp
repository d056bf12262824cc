// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/segments.h"

#include <algorithm>

namespace headroom {

namespace {

constexpr auto isSmaller = [](const auto& size, std::int64_t bytes) { return size.bytes < bytes; };

} // namespace

std::int64_t Segments::place(std::int64_t bytes, std::int64_t count)
{
    const std::int64_t size = blockSize(bytes);
    if (m_areExpandable || isSmallBlock(size)) {
        return 0;
    }
    std::int64_t rests = 0;
    while (count > 0) {
        const auto found = std::lower_bound(m_free.begin(), m_free.end(), size, isSmaller);
        const bool isFree = found != m_free.end();
        const std::int64_t whole = isFree ? found->bytes : segmentSize(size);
        const std::int64_t most = whole / size;
        std::int64_t blocks = (count + most - 1) / most;
        if (isFree) {
            blocks = std::min(blocks, found->count);
            found->count -= blocks;
            if (found->count == 0) {
                m_free.erase(found);
            }
        } else {
            add(m_all, whole, blocks);
        }
        const std::int64_t placed = std::min(count, blocks * most);
        rests += cut(whole, blocks, size, placed);
        count -= placed;
    }
    return rests;
}

/// What is left of a block is the smallest that fits the next tensor, so one block is filled after the other.
std::int64_t Segments::cut(std::int64_t whole, std::int64_t blocks, std::int64_t size, std::int64_t count)
{
    std::int64_t rests = 0;
    const auto leave = [&](std::int64_t rest, std::int64_t times) {
        if (isRest(rest)) {
            rests += times * rest;
        } else if (times > 0) {
            add(m_free, rest, times);
        }
    };
    const std::int64_t most = whole / size;
    const std::int64_t full = count / most;
    leave(whole - most * size, full);
    if (full < blocks) {
        leave(whole - (count - full * most) * size, 1);
    }
    return rests;
}

std::int64_t Segments::place(const Sizes& tensors)
{
    std::int64_t rests = 0;
    for (const Size& tensor : tensors) {
        rests += place(tensor.bytes, tensor.count);
    }
    return rests;
}

void Segments::free(std::int64_t bytes, std::int64_t count)
{
    if (!m_areExpandable && !isSmallBlock(bytes) && count > 0) {
        add(m_free, bytes, count);
    }
}

void Segments::release()
{
    m_free = m_all;
}

void Segments::add(Sizes& sizes, std::int64_t bytes, std::int64_t count)
{
    const auto found = std::lower_bound(sizes.begin(), sizes.end(), bytes, isSmaller);
    if (found != sizes.end() && found->bytes == bytes) {
        found->count += count;
    } else {
        sizes.insert(found, {bytes, count});
    }
}

} // namespace headroom
