// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/tensor_kind.h"

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
        std::uint32_t stream = 0; ///< whose pool of the allocator; as wide as to leave no gap, so that copies are quick
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

} // namespace headroom
