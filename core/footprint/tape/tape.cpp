// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/writer.h"

#include "allocator/allocator_sizes.h"

#include <algorithm>

namespace headroom {

namespace {

bool isFull(const std::vector<Tape::Event>& events)
{
    return events.size() == events.capacity();
}

void append(std::vector<Tape::Event>& events, Tape::Event event)
{
    if (isFull(events)) {
        __builtin_unreachable(); // room has been made
    }
    events.push_back(event);
}

} // namespace

void Tape::clear()
{
    forward.clear();
    backward.clear();
    inputBackward.clear();
    weights.clear();
    inputBackwardNeeds.clear();
    weightNeeds.clear();
    storages.assign(firstLocal, Event{});
    forwardNeeds.clear();
    backwardNeeds.clear();
    saved.clear();
    offloaded.clear();
    output = none;
    outputBytes = 0;
    slotCount = firstLocal;
    gradients = 0;
    consumesInput = leavesInput = defersInBackward = false;
}

void Tape::takeSplitBackward(Tape& split)
{
    inputBackward.swap(split.backward);
    weights.swap(split.weights);
    inputBackwardNeeds.swap(split.backwardNeeds);
    weightNeeds.swap(split.weightNeeds);
    slotCount = std::max(slotCount, split.slotCount);
}

void Tape::dropBackward(bool leavesInputAlone)
{
    for (Event event : saved) {
        event.op = Op::Free;
        forward.push_back(event);
    }
    saved.clear();
    const bool isInputFreed = std::any_of(
        forward.begin(), forward.end(), [](const Event& event) { return event.op == Op::Free && event.slot == input; });
    leavesInput = leavesInputAlone;
    if (storages[input].bytes > 0 && !isInputFreed && !leavesInput) {
        Event event = storages[input];
        event.op = Op::Free;
        event.slot = input;
        forward.push_back(event);
        consumesInput = true;
    }
    backward.clear();
    backwardNeeds.clear();
    defersInBackward = false;
}

Tape::Slot PersistentStorages::find(std::uint64_t key, TensorKind kind, std::int64_t bytes, bool endsWithStep)
{
    const auto found
        = std::find_if(all.begin(), all.end(), [key](const Storage& storage) { return storage.key == key; });
    if (found == all.end()) {
        all.push_back({key, kind, bytes, endsWithStep});
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

Tape::Slot TapeWriter::allocateOn(std::uint8_t stream, TensorKind kind, std::int64_t bytes)
{
    if (isFull(*m_events) || isFull(m_tape.storages)) [[unlikely]] {
        return allocateGrowing(stream, kind, bytes);
    }
    const Tape::Event event{blockSize(bytes), Tape::Op::Allocate, kind, m_tape.slotCount++, stream};
    append(m_tape.storages, event);
    append(*m_events, event);
    return event.slot;
}

Tape::Slot TapeWriter::allocateGrowing(std::uint8_t stream, TensorKind kind, std::int64_t bytes)
{
    makeRoom();
    return allocateOn(stream, kind, bytes);
}

Tape::Slot TapeWriter::allocateInto(Tape::Slot slot, TensorKind kind, std::int64_t bytes)
{
    declare(slot, kind, bytes);
    m_events->push_back(m_tape.storages[slot]);
    return slot;
}

void TapeWriter::makeRoom()
{
    for (auto* events : {m_events, &m_tape.storages}) {
        events->reserve(std::max<std::size_t>(64, 2 * events->size()));
    }
}

void TapeWriter::accumulate(TensorKind kind, std::int64_t bytes, int shared, std::uint8_t stream)
{
    const auto slot = shared < 0 ? m_tape.gradients++
                                 : static_cast<Tape::Slot>(Tape::sharedGradient + static_cast<unsigned>(shared));
    m_events->push_back({blockSize(bytes), Tape::Op::Accumulate, kind, slot, stream});
}

void TapeWriter::declare(Tape::Slot slot, TensorKind kind, std::int64_t bytes)
{
    m_tape.storages[slot] = {blockSize(bytes), Tape::Op::Allocate, kind, slot};
}

void TapeWriter::add(Tape::Op op, Tape::Slot slot)
{
    if (slot == Tape::none) {
        return;
    }
    if (isFull(*m_events)) [[unlikely]] {
        addGrowing(op, slot);
        return;
    }
    const Tape::Event& storage = m_tape.storages[slot];
    append(*m_events, {storage.bytes, op, storage.kind, slot, storage.stream});
}

void TapeWriter::addGrowing(Tape::Op op, Tape::Slot slot)
{
    makeRoom();
    add(op, slot);
}

void TapeWriter::need(Tape::Op op, std::uint64_t key, TensorKind kind, std::int64_t bytes, bool endsWithStep)
{
    const Tape::Event event{blockSize(bytes), op, kind, m_persistents.find(key, kind, blockSize(bytes), endsWithStep)};
    m_events->push_back(event);
    auto& needs = m_events == &m_tape.weights ? m_tape.weightNeeds
        : isBackward()                        ? m_tape.backwardNeeds
                                              : m_tape.forwardNeeds;
    for (Tape::Event& known : needs) {
        if (known.slot == event.slot) {
            known.bytes = std::max(known.bytes, event.bytes);
            return;
        }
    }
    needs.push_back(event);
}

void TapeWriter::beginBackward(Tape::Slot output)
{
    m_tape.output = output;
    m_tape.outputBytes = output == Tape::none ? 0 : m_tape.storages[output].bytes;
    // What the forward allocated and did not free; a slot is allocated once.
    for (const Tape::Event& event : m_tape.forward) {
        if (event.op == Tape::Op::Free) {
            m_tape.storages[event.slot].op = Tape::Op::Free;
        }
    }
    m_tape.consumesInput = m_tape.consumesInput || m_tape.storages[Tape::input].op == Tape::Op::Free;
    for (std::size_t slot = Tape::firstLocal; slot < m_tape.storages.size(); ++slot) {
        if (m_tape.storages[slot].op == Tape::Op::Allocate && slot != output) {
            m_tape.saved.push_back(m_tape.storages[slot]);
        }
    }
    m_events = &m_tape.backward;
}

} // namespace headroom
