// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/tape.h"

#include <algorithm>
#include <array>

namespace headroom {

/// A few slots, in order.
class SlotList
{
public:
    void add(Tape::Slot slot)
    {
        if (slot != Tape::none) {
            m_slots[m_size++] = slot;
        }
    }
    void add(const SlotList& other)
    {
        for (const Tape::Slot slot : other) {
            add(slot);
        }
    }
    void clear() { m_size = 0; }
    [[nodiscard]] bool contains(Tape::Slot slot) const { return std::find(begin(), end(), slot) != end(); }
    [[nodiscard]] Tape::Slot operator[](std::size_t index) const { return m_slots[index]; }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] const Tape::Slot* begin() const { return m_slots.data(); }
    [[nodiscard]] const Tape::Slot* end() const { return m_slots.data() + m_size; }

private:
    std::array<Tape::Slot, 24> m_slots{};
    std::size_t m_size = 0;
};

} // namespace headroom
