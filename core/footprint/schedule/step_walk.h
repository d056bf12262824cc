// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/interleaved_walk.h"
#include "footprint/schedule/lone_walk.h"
#include "footprint/schedule/ordered_walk.h"
#include "footprint/schedule/plain_walk.h"

#include <vector>

namespace headroom {

/// One training step of a pipeline stage, in the order of its schedule: which chunk runs forward or backward when, and
/// how long the tensors between stages live. Those rules are the same for both readers, so they are written once.
///
/// A reader has
///   Handle                                a tensor; a default one is none
///   Handle allocate(TensorKind, int64)
///   void free(Handle&)                    nothing for none; leaves none
///   Handle forward(std::size_t chunk, std::int64_t microBatch, const Handle& input)      -> what is sent on, or none
///   Handle backward(std::size_t chunk, std::int64_t microBatch, Handle outputGradient)   -> gradient of the input
///   Handle inputBackward(…)       the same without the weights' gradients, which
///   void weights(std::size_t chunk, std::int64_t microBatch)      computes later
/// and is told the phase by enter(). It may have
///   std::int64_t repeatable(std::span<const Handle> kept, std::int64_t turns, std::int64_t unit)
/// called at the end of each steady turn with what the walk keeps itself -> of the turns to come, those, whole units,
/// that would only repeat what has been and are left out.
///
/// The lifetimes follow from the variables of Megatron-LM's schedules (pipeline_parallel/schedules.py, read by name in
/// theory_dense.md rules 16 and 17): an input is kept by its chunk until the chunk receives another one, and by the
/// graph of the output that is still bound; so is its gradient, which is being sent.
template <class Reader> class StepWalk
{
public:
    using Memory = typename StageWalk<Reader>::Memory;

    StepWalk(const RankShape& shape, const StageProgram& stage, Reader& reader, Memory& memory)
        : m_shape(shape)
        , m_stage(stage)
        , m_reader(reader)
        , m_memory(memory)
    {
        memory.chunks.assign(stage.chunks.size(), {});
    }

    /// `microBatches` may be fewer than the plan's when more would only repeat the same states.
    void run(std::int64_t microBatches)
    {
        if (splitsBackward(m_shape.schedule)) {
            runAs<OrderedWalk<Reader>>(microBatches);
        } else if (m_shape.chunks > 1) {
            runAs<InterleavedWalk<Reader>>(microBatches);
        } else if (m_shape.stages == 1 && !m_stage.chunks[0].receives) {
            runAs<LoneWalk<Reader>>(microBatches);
        } else {
            runAs<PlainWalk<Reader>>(microBatches);
        }
    }

private:
    template <class Walk> void runAs(std::int64_t microBatches)
    {
        Walk walk(m_shape, m_stage, m_reader, m_memory, microBatches);
        walk.run(microBatches);
        walk.finishEncoder();
    }

    const RankShape& m_shape;
    const StageProgram& m_stage;
    Reader& m_reader;
    Memory& m_memory;
};

/// Micro-batches after which what is alive on a stage repeats: warm-up, two steady ones and what does not divide.
[[nodiscard]] std::int64_t distinctMicroBatches(const RankShape& shape, const StageProgram& stage);

} // namespace headroom
