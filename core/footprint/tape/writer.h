// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/tape.h"

namespace headroom {

/// Writes a tape: forward first, then backward. The profile's code reads as the operations run.
class TapeWriter
{
public:
    TapeWriter(Tape& tape, PersistentStorages& persistents);

    Tape::Slot allocate(TensorKind kind, std::int64_t bytes) { return allocateOn(0, kind, bytes); }
    Tape::Slot allocateOn(std::uint8_t stream, TensorKind kind, std::int64_t bytes);
    /// For Tape::gradient and Tape::carried.
    Tape::Slot allocateInto(Tape::Slot slot, TensorKind kind, std::int64_t bytes);
    /// `shared`: gradients that several tapes add to have the same number; -1: one of this layer.
    void accumulate(TensorKind kind, std::int64_t bytes, int shared = -1, std::uint8_t stream = 0);
    /// A tensor that another tape allocates and this one frees: what it is and how large.
    void declare(Tape::Slot slot, TensorKind kind, std::int64_t bytes);
    /// Nothing for Tape::none, so that optional tensors need no question.
    template <class... Slots> void free(Slots... freed) { (add(Tape::Op::Free, freed), ...); }
    template <class List> void freeAll(const List& list)
    {
        for (const Tape::Slot slot : list) {
            free(slot);
        }
    }
    void defer(Tape::Slot slot)
    {
        m_tape.defersInBackward = m_tape.defersInBackward || m_events == &m_tape.backward;
        add(Tape::Op::Defer, slot);
    }
    void ensure(std::uint64_t key, TensorKind kind, std::int64_t bytes) { need(Tape::Op::Ensure, key, kind, bytes); }
    /// The same, but only until the micro-batches are done.
    void ensureForStep(std::uint64_t key, TensorKind kind, std::int64_t bytes)
    {
        need(Tape::Op::Ensure, key, kind, bytes, true);
    }
    void grow(std::uint64_t key, TensorKind kind, std::int64_t bytes) { need(Tape::Op::Grow, key, kind, bytes); }

    /// The forward is written: this is what flows out of it (none: nothing).
    void beginBackward(Tape::Slot output);
    [[nodiscard]] bool isBackward() const { return m_events != &m_tape.forward; }
    /// The backward is written, without the gradients of weights; they follow.
    void beginWeights() { m_events = &m_tape.weights; }

private:
    void add(Tape::Op op, Tape::Slot slot);
    // Storage is used again, so that it seldom grows: apart, what an estimate does a hundred times is short.
    void makeRoom();
    [[gnu::noinline]] Tape::Slot allocateGrowing(std::uint8_t stream, TensorKind kind, std::int64_t bytes);
    [[gnu::noinline]] void addGrowing(Tape::Op op, Tape::Slot slot);
    void need(Tape::Op op, std::uint64_t key, TensorKind kind, std::int64_t bytes, bool endsWithStep = false);

    Tape& m_tape;
    PersistentStorages& m_persistents;
    std::vector<Tape::Event>* m_events;
};

} // namespace headroom
