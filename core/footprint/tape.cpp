// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape.h"

#include <algorithm>

namespace headroom {

namespace {

/// The allocator's unit (theory.md 6.3), so that both readers count the same bytes.
std::int64_t rounded(std::int64_t bytes)
{
    return std::max<std::int64_t>(512, (bytes + 511) & ~std::int64_t{511});
}

} // namespace

void Tape::clear()
{
    forward.clear();
    backward.clear();
    storages.clear();
    saved.clear();
    output = none;
    outputBytes = 0;
    slots = firstLocal;
}

Tape::Slot PersistentStorages::find(std::uint64_t key, TensorKind kind, std::int64_t bytes)
{
    const auto found
        = std::find_if(all.begin(), all.end(), [key](const Storage& storage) { return storage.key == key; });
    if (found == all.end()) {
        all.push_back({key, kind, bytes});
        return static_cast<Tape::Slot>(all.size() - 1);
    }
    found->bytes = std::max(found->bytes, bytes);
    return static_cast<Tape::Slot>(found - all.begin());
}

TapeWriter::TapeWriter(Tape& tape, PersistentStorages& persistents)
    : m_tape(tape)
    , m_persistents(persistents)
    , m_events(&tape.forward)
{
    tape.clear();
}

Tape::Slot TapeWriter::allocateInto(Tape::Slot slot, TensorKind kind, std::int64_t bytes)
{
    const Tape::Event event{rounded(bytes), Tape::Op::Allocate, kind, slot};
    m_events->push_back(event);
    if (m_tape.storages.size() <= slot) {
        m_tape.storages.resize(std::size_t{slot} + 1);
    }
    m_tape.storages[slot] = event;
    return slot;
}

void TapeWriter::add(Tape::Op op, Tape::Slot slot)
{
    if (slot == Tape::none) {
        return;
    }
    Tape::Event event = slot < m_tape.storages.size() ? m_tape.storages[slot] : Tape::Event{};
    event.op = op;
    event.slot = slot;
    m_events->push_back(event);
}

void TapeWriter::ensure(std::uint64_t key, TensorKind kind, std::int64_t bytes)
{
    m_events->push_back({rounded(bytes), Tape::Op::Ensure, kind, m_persistents.find(key, kind, rounded(bytes))});
}

void TapeWriter::grow(std::uint64_t key, TensorKind kind, std::int64_t bytes)
{
    m_events->push_back({rounded(bytes), Tape::Op::Grow, kind, m_persistents.find(key, kind, rounded(bytes))});
}

void TapeWriter::beginBackward(Tape::Slot output)
{
    m_tape.output = output;
    m_tape.outputBytes = output == Tape::none ? 0 : m_tape.storages[output].bytes;
    // What the forward allocated and did not free.
    for (const Tape::Event& event : m_tape.forward) {
        const bool isLocal = event.slot >= Tape::firstLocal && event.slot != output;
        if (event.op == Tape::Op::Allocate && isLocal) {
            m_tape.saved.push_back(event);
        } else if (event.op == Tape::Op::Free && isLocal) {
            std::erase_if(m_tape.saved, [&](const Tape::Event& other) { return other.slot == event.slot; });
        }
    }
    m_events = &m_tape.backward;
}

} // namespace headroom
