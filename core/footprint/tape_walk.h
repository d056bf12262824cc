// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/encoder_passes.h"
#include "footprint/schedule_order.h"
#include "footprint/tape_program.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
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
    using Handle = typename Reader::Handle;

    /// What a walk remembers, apart so that its storage serves the next walk too.
    struct Memory
    {
        struct ChunkMemory
        {
            Handle input, gradient; ///< the last ones, kept between steps too
            bool isDone = false; ///< that input's backward has run
            std::int64_t microBatch = 0;
        };
        std::vector<ChunkMemory> chunks;
        std::vector<Handle> outputs; ///< where they stay until their backward
        std::vector<Handle> inputs; ///< by micro-batch, and by chunk when interleaving
    };

    StepWalk(const RankShape& shape, const StageProgram& stage, Reader& reader, Memory& memory)
        : m_shape(shape)
        , m_stage(stage)
        , m_reader(reader)
        , m_memory(memory)
        , m_boundaryBytes(shape.boundaryBytes())
    {
        memory.chunks.assign(stage.chunks.size(), {});
    }

    /// `microBatches` may be fewer than the plan's when more would only repeat the same states.
    void run(std::int64_t microBatches)
    {
        if (m_stage.hasEncoder) {
            m_encoderPasses = encoderPasses(m_shape, microBatches);
            m_encoded = 0;
            m_elapsed = 0;
        }
        if (splitsBackward(m_shape.schedule)) {
            runInOrder(microBatches);
        } else if (m_shape.stages == 1 && m_shape.chunks == 1 && !m_stage.chunks[0].receives) {
            runAlone(microBatches);
        } else if (m_shape.chunks == 1) {
            runPlain(microBatches);
        } else {
            runInterleaved(microBatches);
        }
        encodeUntil(std::numeric_limits<std::int64_t>::max());
    }

    /// Micro-batches after which what is alive on a stage repeats: warm-up, two steady ones and what does not divide.
    [[nodiscard]] static std::int64_t distinctMicroBatches(const RankShape& shape, const StageProgram& stage)
    {
        const std::int64_t all = shape.microBatches;
        if (shape.schedule == Schedule::GPipe || shape.deferredWgrads == 0) {
            return all;
        }
        if (splitsBackward(shape.schedule)) {
            return std::min(all, repeatingPasses(shape));
        }
        const std::int64_t deferred = std::max<std::int64_t>(shape.deferredWgrads, 0);
        if (shape.chunks == 1 && stage.hasEncoder) {
            return std::min(all, 2 * shape.stages + 2 + deferred); // it holds as many as the first stage
        }
        if (shape.chunks == 1) {
            return std::min(all, shape.stages - stage.stage + 1 + deferred);
        }
        const std::int64_t group = shape.chunkGroup;
        const std::int64_t most = 4 * group + (deferred + group - 1) / group * group;
        return all <= most ? all : most + all % group;
    }

    /// An upper bound of the micro-batches under way at once in the schedules that split the backward, and two more; an
    /// even number.
    [[nodiscard]] static std::int64_t repeatingPasses(const RankShape& shape) { return 2 * shape.stages + 4; }

private:
    /// `own`: bytes where they are not those of the language model's boundary tensors, else 0.
    Handle boundary(std::int64_t own)
    {
        return m_reader.allocate(TensorKind::Boundary, own > 0 ? own : m_boundaryBytes);
    }
    Handle receive(const Chunk& chunk) { return chunk.receives ? boundary(chunk.receivedBytes) : Handle{}; }
    Handle receiveGradient(const Chunk& chunk) { return chunk.sends ? boundary(chunk.sentBytes) : Handle{}; }

    // A copy of the image encoder, which works in step with the first stage.

    /// Before a pass that takes `width`: the encoder's passes that are due.
    void beginPass(std::int64_t width)
    {
        if (m_stage.hasEncoder) {
            encodeUntil(m_elapsed);
            m_elapsed += width;
        }
    }

    void encodeUntil(std::int64_t time)
    {
        const std::size_t encoder = m_stage.chunks.size() - 1;
        for (; m_encoded < m_encoderPasses.size() && m_encoderPasses[m_encoded].time <= time; ++m_encoded) {
            const EncoderPass& pass = m_encoderPasses[m_encoded];
            m_reader.enter(pass.isForward ? Phase::Forward : Phase::Backward);
            Handle flowing;
            if (pass.isForward) {
                flowing = m_reader.forward(encoder, pass.microBatch, Handle{});
            } else {
                const Chunk& chunk = m_stage.chunks[encoder];
                flowing
                    = chunk.isFrozen ? Handle{} : m_reader.allocate(TensorKind::ActivationGradient, chunk.sentBytes);
                flowing = m_reader.backward(encoder, pass.microBatch, flowing);
            }
            m_reader.free(flowing); // features that the first stage has got
        }
    }

    static constexpr bool leavesOut = requires(Reader & reader, std::span<const Handle> kept)
    {
        reader.repeatable(kept, std::int64_t{}, std::int64_t{});
    };

    std::int64_t repeatable(std::span<const Handle> kept, std::int64_t turns, std::int64_t unit)
    {
        if constexpr (leavesOut) {
            return m_stage.hasEncoder ? 0 : m_reader.repeatable(kept, turns, unit); // which has turns of its own
        }
        return 0;
    }

    void runAlone(std::int64_t microBatches)
    {
        for (std::int64_t i = 0; i < microBatches; ++i) {
            m_reader.enter(Phase::Forward);
            m_reader.forward(0, i, Handle{});
            m_reader.enter(Phase::Backward);
            m_reader.backward(0, i, Handle{});
            microBatches -= repeatable({}, microBatches - i - 1, 1);
        }
    }

    // 1F1B and GPipe.

    void runPlain(std::int64_t microBatches)
    {
        const std::int64_t warmUp = m_shape.schedule == Schedule::GPipe
            ? microBatches
            : std::min(m_shape.stages - 1 - m_stage.stage, microBatches);
        m_memory.inputs.assign(static_cast<std::size_t>(microBatches), Handle{});
        auto& outputs = m_memory.outputs;
        outputs.assign(static_cast<std::size_t>(microBatches), Handle{});
        for (std::int64_t i = 0; i < warmUp; ++i) {
            Handle output = plainForward(i);
            if (m_shape.keepsStageOutputs) {
                outputs[static_cast<std::size_t>(i)] = output;
            } else {
                m_reader.free(output);
            }
        }
        for (std::int64_t i = warmUp; i < microBatches; ++i) {
            Handle output = plainForward(i);
            if (m_shape.keepsStageOutputs && warmUp > 0) {
                outputs[static_cast<std::size_t>(i)] = output;
                output = outputs[static_cast<std::size_t>(i - warmUp)];
            }
            plainBackward(i - warmUp, output);
            const std::array kept{m_oldInput, m_inputGradient, m_outputGradient};
            microBatches -= repeatable(kept, microBatches - i - 1, 1);
        }
        for (std::int64_t i = microBatches - warmUp; i < microBatches; ++i) {
            plainBackward(i, outputs[static_cast<std::size_t>(i)]);
        }
        m_reader.free(m_outputGradient);
        m_memory.chunks[0].input = m_oldInput;
        m_memory.chunks[0].gradient = m_inputGradient;
        m_oldInput = m_inputGradient = Handle{};
    }

    Handle plainForward(std::int64_t microBatch)
    {
        beginPass(forwardWidth);
        m_reader.enter(Phase::Forward);
        const Handle input = receive(m_stage.chunks[0]);
        if (microBatch == 0) {
            // Only the chunk itself still refers to the last step's.
            m_reader.free(m_memory.chunks[0].input);
            m_reader.free(m_memory.chunks[0].gradient);
        }
        const Handle output = m_reader.forward(0, microBatch, input);
        m_reader.free(m_oldInput); // the graph of the old output held it
        m_memory.inputs[static_cast<std::size_t>(microBatch)] = input;
        return output;
    }

    void plainBackward(std::int64_t microBatch, Handle& output)
    {
        beginPass(backwardWidth);
        m_reader.enter(Phase::Backward);
        Handle gradient;
        const Chunk& chunk = m_stage.chunks[0];
        if (chunk.sends) {
            Handle received = receiveGradient(chunk);
            m_reader.free(m_outputGradient);
            m_outputGradient = received;
            if (!m_shape.keepsStageOutputs) {
                m_reader.free(output); // sent, and emptied (deallocate_pipeline_outputs)
            }
            if (!chunk.isFrozen) {
                gradient = m_reader.allocate(TensorKind::ActivationGradient,
                                             chunk.sentBytes > 0 ? chunk.sentBytes : m_boundaryBytes);
            }
        }
        gradient = m_reader.backward(0, microBatch, gradient);
        m_reader.free(output);
        m_reader.free(m_inputGradient);
        m_reader.free(m_oldInput);
        m_inputGradient = gradient;
        m_oldInput = m_memory.inputs[static_cast<std::size_t>(microBatch)];
    }

    // Interleaved 1F1B.

    struct Turn
    {
        std::size_t chunk;
        std::int64_t microBatch;
    };

    /// Micro-batches in groups; a group passes through all chunks before the next one starts.
    [[nodiscard]] Turn turn(std::int64_t k, std::int64_t microBatches, bool isBackward) const
    {
        const std::int64_t group = m_shape.chunkGroup;
        const std::int64_t start = k / (group * m_shape.chunks) * group;
        const std::int64_t size = std::min(group, microBatches - start);
        const std::int64_t within = k - start * m_shape.chunks;
        const std::int64_t chunk = within / size;
        return {static_cast<std::size_t>(isBackward ? m_shape.chunks - 1 - chunk : chunk), start + within % size};
    }

    void runInterleaved(std::int64_t microBatches)
    {
        std::int64_t turns = microBatches * m_shape.chunks;
        const std::int64_t warmUp
            = std::min(2 * (m_shape.stages - 1 - m_stage.stage) + (m_shape.chunks - 1) * m_shape.chunkGroup, turns);
        m_memory.inputs.assign(static_cast<std::size_t>(turns), Handle{});
        m_turns = turns;
        m_microBatches = m_stride = microBatches;
        m_lossChunk = -1;
        m_reader.enter(Phase::Forward);
        m_next = receiveFor(0);
        for (std::int64_t k = 0; k < warmUp; ++k) {
            chunkForward(k);
        }
        for (std::int64_t k = warmUp; k < turns; ++k) {
            chunkForward(k);
            chunkBackward(k - warmUp);
            if constexpr (leavesOut) {
                leaveOutGroups(k);
                turns = m_turns;
            }
        }
        for (std::int64_t k = turns - warmUp; k < turns; ++k) {
            chunkBackward(k);
        }
        m_reader.free(m_inputGradient);
    }

    /// Whole groups only: the last one may be smaller and ends differently. The next turn's input is there already.
    void leaveOutGroups(std::int64_t k)
    {
        const std::int64_t unit = m_shape.chunkGroup * m_shape.chunks;
        m_kept.assign({m_next, m_inputGradient});
        for (const auto& chunk : m_memory.chunks) {
            m_kept.insert(m_kept.end(), {chunk.input, chunk.gradient});
        }
        const std::int64_t turns = repeatable(m_kept, m_microBatches / m_shape.chunkGroup * unit - k - 2, unit);
        m_turns -= turns;
        m_microBatches -= turns / m_shape.chunks;
    }

    Handle receiveFor(std::int64_t k)
    {
        return k < m_turns ? receive(m_stage.chunks[turn(k, m_microBatches, false).chunk]) : Handle{};
    }

    void chunkForward(std::int64_t k)
    {
        beginPass(forwardWidth);
        m_reader.enter(Phase::Forward);
        const auto [chunk, microBatch] = turn(k, m_microBatches, false);
        const Handle input = m_next;
        m_next = receiveFor(k + 1); // the next receive runs during this forward
        auto& last = m_memory.chunks[chunk];
        Handle heldInput, heldGradient;
        if (last.isDone && m_lossChunk == static_cast<std::int64_t>(chunk)) {
            heldInput = last.input; // the last loss still holds its graph
            heldGradient = last.gradient;
        } else if (last.isDone) {
            m_reader.free(last.input);
            m_reader.free(last.gradient);
        }
        last = {input, Handle{}, false, microBatch};
        Handle output = m_reader.forward(chunk, microBatch, input);
        m_reader.free(output);
        m_reader.free(heldInput);
        m_reader.free(heldGradient);
        liveInput(chunk, microBatch) = input;
        m_lossChunk = m_stage.chunks[chunk].sends ? -1 : static_cast<std::int64_t>(chunk);
    }

    Handle& liveInput(std::size_t chunk, std::int64_t microBatch)
    {
        return m_memory.inputs[chunk * static_cast<std::size_t>(m_stride) + static_cast<std::size_t>(microBatch)];
    }

    void chunkBackward(std::int64_t k)
    {
        beginPass(backwardWidth);
        m_reader.enter(Phase::Backward);
        const auto [chunk, microBatch] = turn(k, m_microBatches, true);
        const Handle received = receiveGradient(m_stage.chunks[chunk]);
        const Handle gradient = m_reader.backward(chunk, microBatch, received);
        keepLast(chunk, microBatch, gradient);
    }

    // Schedules whose backward is split: they are run as their orders say.

    void runInOrder(std::int64_t microBatches)
    {
        m_stride = microBatches;
        m_memory.inputs.assign(static_cast<std::size_t>(microBatches) * m_stage.chunks.size(), Handle{});
        for (const StagePass& pass :
             stageOrder({m_shape.schedule, m_shape.stages, m_shape.chunks, microBatches, 0}, m_stage.stage)) {
            switch (pass.kind) {
            case StagePass::Kind::Forward:
                orderedForward(pass.chunk, pass.microBatch);
                break;
            case StagePass::Kind::Backward:
            case StagePass::Kind::InputGradient:
                orderedBackward(pass);
                break;
            case StagePass::Kind::WeightGradient:
                beginPass(weightsWidth);
                m_reader.enter(Phase::Backward);
                m_reader.weights(pass.chunk, pass.microBatch);
                break;
            }
        }
        m_reader.free(m_inputGradient);
    }

    void orderedForward(std::size_t chunk, std::int64_t microBatch)
    {
        beginPass(forwardWidth);
        m_reader.enter(Phase::Forward);
        const Handle input = receive(m_stage.chunks[chunk]);
        auto& last = m_memory.chunks[chunk];
        if (last.isDone) {
            m_reader.free(last.input);
            m_reader.free(last.gradient);
        }
        last = {input, Handle{}, false, microBatch};
        Handle output = m_reader.forward(chunk, microBatch, input);
        m_reader.free(output); // sent, and emptied
        liveInput(chunk, microBatch) = input;
    }

    void orderedBackward(const StagePass& pass)
    {
        beginPass(widthOf(pass.kind));
        m_reader.enter(Phase::Backward);
        const Handle received = receiveGradient(m_stage.chunks[pass.chunk]);
        Handle gradient = pass.kind == StagePass::Kind::Backward
            ? m_reader.backward(pass.chunk, pass.microBatch, received)
            : m_reader.inputBackward(pass.chunk, pass.microBatch, received);
        keepLast(pass.chunk, pass.microBatch, gradient);
    }

    /// A chunk keeps its last input and that input's gradient; others end with the pass, their gradient when it is
    /// sent.
    void keepLast(std::size_t chunk, std::int64_t microBatch, const Handle& gradient)
    {
        m_reader.free(m_inputGradient);
        Handle& input = liveInput(chunk, microBatch);
        auto& last = m_memory.chunks[chunk];
        if (last.microBatch == microBatch) {
            last = {input, gradient, true, microBatch};
        } else {
            m_reader.free(input);
            m_inputGradient = gradient;
        }
    }

    const RankShape& m_shape;
    const StageProgram& m_stage;
    Reader& m_reader;
    Memory& m_memory;
    const std::int64_t m_boundaryBytes;
    Handle m_inputGradient; ///< being sent
    Handle m_oldInput, m_outputGradient;

    std::vector<EncoderPass> m_encoderPasses;
    std::size_t m_encoded = 0;
    std::int64_t m_elapsed = 0; ///< in widths of passes

    std::int64_t m_turns = 0, m_microBatches = 0, m_lossChunk = -1;
    std::int64_t m_stride = 0; ///< of the inputs of a chunk to those of the next
    Handle m_next;
    std::vector<Handle> m_kept;
};

} // namespace headroom
