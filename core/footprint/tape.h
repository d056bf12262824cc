// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tensor_kind.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// What one layer (or embedding, head, …) of an implementation allocates, keeps and frees, operation by operation: once
/// while it runs forward, once while it runs backward. Sizes are bytes on one rank. The instant reader sums and
/// maximises a tape, the replay feeds it to an allocator; both read the same events.
struct Tape
{
    using Slot = std::uint16_t;
    static constexpr Slot none = 0xffff;
    static constexpr Slot input = 0; ///< the tensor that flows in; belongs to whatever ran before
    static constexpr Slot gradient = 1; ///< gradient of the tensor that flows out, one for the whole micro-batch
    static constexpr Slot carried = 2; ///< one tensor a layer may leave for a later one's backward
    static constexpr Slot firstLocal = 3;

    enum class Op : std::uint8_t {
        Allocate,
        Free,
        Ensure, ///< allocates the persistent storage `slot` unless it is there
        Grow, ///< makes the persistent storage `slot` at least this large
        Defer, ///< frees at the end of the step, as far as the stage's limit for such tensors allows, else now
        Accumulate ///< a gradient of this layer: stays from the first micro-batch on until the optimizer has stepped;
                   ///< of later micro-batches it lives only while it is added. `slot`: which of the layer's
    };
    static constexpr Slot sharedGradient = 0x8000; ///< from here on gradients belong to no single layer: tied weights
    struct Event
    {
        std::int64_t bytes = 0; ///< rounded to 512
        Op op = Op::Allocate;
        TensorKind kind{};
        Slot slot = none;
        std::uint8_t stream = 0; ///< whose pool of the allocator
    };

    std::vector<Event> forward, backward;
    /// The same as `backward` where a schedule computes the weights' gradients later: what they need stays in between.
    std::vector<Event> inputBackward, weights;
    std::vector<Event> storages; ///< by slot: the event that allocated it
    /// Persistent storages that each of them asks for, once with the largest request.
    std::vector<Event> forwardNeeds, backwardNeeds, inputBackwardNeeds, weightNeeds;
    std::vector<Event> saved; ///< local storages alive after the forward, the output excepted
    std::vector<Event> offloaded; ///< of them, and of the input, what goes to the host's memory: how many bytes of each
    Slot output = none; ///< the tensor that flows out; none: the last operation of a micro-batch
    std::int64_t outputBytes = 0;
    Slot slotCount = firstLocal; ///< how many there are
    Slot gradients = 0; ///< how many are accumulated
    bool consumesInput = false; ///< frees its input in the forward already
    bool leavesInput = false; ///< leaves it to whatever ran before, in forward and backward
    bool defersInBackward = false; ///< has an Op::Defer there

    void clear();
    /// Takes the split backward from `split`, the same operations written with the weights' gradients apart.
    void takeSplitBackward(Tape& split);
    /// Nothing upstream is trained, so nothing is kept and no backward runs (theory.md 2.5). `leavesInputAlone`: that
    /// is another stage's, whose schedule frees it.
    void dropBackward(bool leavesInputAlone = false);
};

/// Storages that, once made, stay for the rest of the run, whoever asks for them first: workspaces, global buffers.
struct PersistentStorages
{
    struct Storage
    {
        std::uint64_t key = 0; ///< the same key is the same storage
        TensorKind kind{};
        std::int64_t bytes = 0; ///< the largest request
        bool endsWithStep = false; ///< freed before the optimizer steps
    };
    std::vector<Storage> all;

    /// The index under which tapes refer to it.
    Tape::Slot find(std::uint64_t key, TensorKind kind, std::int64_t bytes, bool endsWithStep = false);
};

/// Writes a tape: forward first, then backward. The profile's code reads as the operations run.
class TapeWriter
{
public:
    TapeWriter(Tape& tape, PersistentStorages& persistents);

    Tape::Slot allocate(TensorKind kind, std::int64_t bytes) { return allocateInto(m_tape.slotCount++, kind, bytes); }
    Tape::Slot allocateOn(std::uint8_t stream, TensorKind kind, std::int64_t bytes)
    {
        return allocateInto(m_tape.slotCount++, kind, bytes, stream);
    }
    /// For Tape::gradient and Tape::carried.
    Tape::Slot allocateInto(Tape::Slot slot, TensorKind kind, std::int64_t bytes, std::uint8_t stream = 0);
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
    void store(const Tape::Event& event);
    void add(Tape::Op op, Tape::Slot slot);
    void need(Tape::Op op, std::uint64_t key, TensorKind kind, std::int64_t bytes, bool endsWithStep = false);

    Tape& m_tape;
    PersistentStorages& m_persistents;
    std::vector<Tape::Event>* m_events;
};

} // namespace headroom
