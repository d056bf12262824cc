// SPDX-License-Identifier: GPL-3.0-or-later
#include "allocator/free_list.h"

#include <algorithm>
#include <bit>

namespace headroom {

namespace {

bool isBefore(const FreeList::Entry& entry, std::int64_t size, std::int64_t address)
{
    return entry.size != size ? entry.size < size : entry.address < address;
}

} // namespace

std::size_t FreeList::classOf(std::int64_t size)
{
    const auto value = static_cast<std::uint64_t>(size);
    const auto width = static_cast<std::size_t>(std::bit_width(value | classesPerPower));
    constexpr std::size_t fractionBits = 3; // of eight classes
    return (width - 1) * classesPerPower + ((value >> (width - 1 - fractionBits)) & (classesPerPower - 1));
}

void FreeList::insert(const Entry& entry)
{
    const std::size_t index = classOf(entry.size);
    std::vector<Entry>& entries = m_classes[index];
    const auto isNotBefore = [&entry](const Entry& other) { return !isBefore(other, entry.size, entry.address); };
    // The last one first: segments are added in the order of their addresses.
    const bool isLast = entries.empty() || !isNotBefore(entries.back());
    entries.insert(isLast ? entries.end() : std::find_if(entries.begin(), entries.end(), isNotBefore), entry);
    m_filled[index / wordBits] |= std::uint64_t{1} << index % wordBits;
}

void FreeList::erase(std::int64_t size, std::int64_t address)
{
    const std::size_t index = classOf(size);
    std::vector<Entry>& entries = m_classes[index];
    entries.erase(std::find_if(entries.begin(), entries.end(),
                               [address](const Entry& entry) { return entry.address == address; }));
    if (entries.empty()) {
        m_filled[index / wordBits] &= ~(std::uint64_t{1} << index % wordBits);
    }
}

const FreeList::Entry* FreeList::smallest(std::int64_t size) const
{
    const std::size_t index = classOf(size);
    for (const Entry& entry : m_classes[index]) {
        if (entry.size >= size) {
            return &entry;
        }
    }
    return firstFrom(index + 1);
}

const FreeList::Entry* FreeList::next(const Entry& entry) const
{
    const std::size_t index = classOf(entry.size);
    return &entry != &m_classes[index].back() ? &entry + 1 : firstFrom(index + 1);
}

const FreeList::Entry* FreeList::largest() const
{
    for (std::size_t word = m_filled.size(); word-- > 0;) {
        if (m_filled[word] != 0) {
            const auto highest = static_cast<std::size_t>(std::bit_width(m_filled[word])) - 1;
            return &m_classes[word * wordBits + highest].back();
        }
    }
    return nullptr;
}

const FreeList::Entry* FreeList::firstFrom(std::size_t sizeClass) const
{
    std::uint64_t mask = ~std::uint64_t{0} << sizeClass % wordBits;
    for (std::size_t word = sizeClass / wordBits; word < m_filled.size(); ++word) {
        if (const std::uint64_t filled = m_filled[word] & mask; filled != 0) {
            return &m_classes[word * wordBits + static_cast<std::size_t>(std::countr_zero(filled))].front();
        }
        mask = ~std::uint64_t{0};
    }
    return nullptr;
}

} // namespace headroom
