// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_count.h"

#include "footprint/tape_state.h"
#include "footprint/tape_walk.h"
#include "footprint/working.h"

#include <algorithm>

namespace headroom {

namespace {

class TapeCounter
{
public:
    TapeCounter(const ModelProgram& program, const StageProgram& stage)
        : m_program(program)
        , m_stage(stage)
        , m_persistents(program.persistents.all.size(), 0)
        , m_chunks(stage.chunks.size())
    {
        for (const Tape::Event& tensor : stage.tensors.resident) {
            change(tensor.kind, blockBytes(tensor.bytes));
        }
    }

    struct Handle
    {
        std::int64_t bytes = 0;
        TensorKind kind = TensorKind::Boundary;
    };

    void beginStep() { m_phases.fill(0); }

    void endStep()
    {
        enter(Phase::Optimizer);
        for (std::size_t i = 0; i < m_persistents.size(); ++i) {
            const PersistentStorages::Storage& storage = m_program.persistents.all[i];
            if (storage.endsWithStep) {
                change(storage.kind, -m_persistents[i]);
                m_persistents[i] = 0;
            }
        }
        if (!m_hasMoments) {
            for (const Tape::Event& tensor : m_stage.tensors.created) {
                change(tensor.kind, blockBytes(tensor.bytes));
            }
        }
        play(m_stage.tensors.temporaries);
        for (const Tape::Event& tensor : m_stage.tensors.temporaries) {
            change(tensor.kind, -tensor.bytes);
        }
        m_firstStepPeak = m_hasMoments ? m_firstStepPeak : m_peak;
        m_hasMoments = true;
        change(TensorKind::Gradients, -m_gradients);
        m_gradients = 0;
        for (ChunkCount& chunk : m_chunks) {
            chunk.hasGradients = false;
        }
        m_shared.clear();
    }

    void enter(Phase phase)
    {
        m_phase = phase;
        change(TensorKind::Batch, 0);
    }

    Handle allocate(TensorKind kind, std::int64_t bytes)
    {
        const std::int64_t size = std::max<std::int64_t>((bytes + 511) & ~std::int64_t{511}, 512);
        change(kind, size);
        return {size, kind};
    }

    void free(Handle& handle)
    {
        change(handle.kind, -handle.bytes);
        handle.bytes = 0;
    }

    Handle forward(std::size_t index, std::int64_t /*microBatch*/, const Handle& /*input*/)
    {
        const Chunk& chunk = m_stage.chunks[index];
        m_others += m_current;
        m_current = 0;
        m_isInside = true;
        changeAll(chunk.loaded, 1);
        for (const PieceRun& run : chunk.runs) {
            forwardRun(run);
        }
        changeAll(chunk.loaded, -1);
        m_isInside = false;
        m_chunks[index].kept = m_current;
        if (!chunk.sends) {
            return {};
        }
        const std::int64_t output = m_program.pieces[chunk.runs.back().piece].tape.outputBytes;
        m_current -= output;
        m_chunks[index].kept -= output;
        return {output, TensorKind::ResidualStream};
    }

    Handle backward(std::size_t index, std::int64_t /*microBatch*/, const Handle& outputGradient)
    {
        const Chunk& chunk = m_stage.chunks[index];
        // What was received goes through the tapes as a gradient, and is freed or sent on as one.
        m_components[static_cast<std::size_t>(componentOf(outputGradient.kind))] -= outputGradient.bytes;
        m_components[static_cast<std::size_t>(componentOf(TensorKind::ActivationGradient))] += outputGradient.bytes;
        // Every micro-batch keeps as much; the one that runs now is not among the others.
        m_others += m_current - m_chunks[index].kept;
        m_current = m_chunks[index].kept;
        m_hasGradients = m_chunks[index].hasGradients;
        m_isInside = true;
        for (std::size_t i = chunk.runs.size(); i-- > 0;) {
            backwardRun(chunk.runs[i]);
        }
        m_isInside = false;
        m_current = 0;
        m_chunks[index].hasGradients = true;
        if (!chunk.receives) {
            return {};
        }
        // The first tape freed its input, but what came from another stage belongs to the schedule.
        const std::int64_t unit = (m_program.shape.boundaryBytes() + 511) & ~std::int64_t{511};
        change(TensorKind::ResidualStream, unit);
        return {unit, TensorKind::ActivationGradient};
    }

    /// The profiles that are counted so refuse the schedules that split the backward.
    Handle inputBackward(std::size_t index, std::int64_t microBatch, const Handle& outputGradient)
    {
        return backward(index, microBatch, outputGradient);
    }
    void weights(std::size_t /*index*/, std::int64_t /*microBatch*/) { }

    void fill(StageFootprint& result) const
    {
        result.steadyAllocated = Bytes{m_now};
        result.firstStepPeakAllocated = Bytes{m_firstStepPeak};
        result.peakAllocated = result.peakReserved = Bytes{m_peak};
        result.peakPhase = m_peakPhase;
        for (std::size_t i = 0; i < m_phases.size(); ++i) {
            result.phases[i] = Bytes{m_phases[i]};
        }
        for (std::size_t i = 0; i < m_atPeak.size(); ++i) {
            result.components[i] = Bytes{m_atPeak[i]};
        }
        result.components[static_cast<std::size_t>(Component::Context)] = contextPrior;
        result.device = result.peakReserved + contextPrior;
    }

private:
    static constexpr auto activations = static_cast<std::size_t>(Component::Activations);

    void change(TensorKind kind, std::int64_t bytes)
    {
        m_now += bytes;
        const auto component = static_cast<std::size_t>(componentOf(kind));
        m_components[component] += bytes;
        m_current += m_isInside && component == activations ? bytes : 0;
        auto& phase = m_phases[static_cast<std::size_t>(m_phase)];
        phase = std::max(phase, m_now);
        if (m_now > m_peak) {
            m_peak = m_now;
            m_peakPhase = m_phase;
            m_atPeak = m_components;
            m_atPeak[static_cast<std::size_t>(Component::InFlight)] = m_others;
            m_atPeak[activations] -= m_others;
        }
    }

    void forwardRun(const PieceRun& run)
    {
        const Tape& tape = m_program.pieces[run.piece].tape;
        for (std::int64_t i = 0; i < run.count; ++i) {
            play(tape.forward);
            if (run.checkpointGroup > 0) {
                changeAll(tape.saved, -1);
            }
            if (run.offloadsInput) {
                change(TensorKind::ResidualStream, -tape.storages[Tape::input].bytes);
            }
        }
    }

    void backwardRun(const PieceRun& run)
    {
        const Tape& tape = m_program.pieces[run.piece].tape;
        for (std::int64_t i = 0; i < run.count; ++i) {
            if (run.offloadsInput) {
                change(TensorKind::ResidualStream, tape.storages[Tape::input].bytes);
            }
            if (run.checkpointGroup > 0) {
                play(tape.forward);
                change(TensorKind::ResidualStream, -tape.outputBytes);
            }
            play(tape.backward);
        }
    }

    void changeAll(const std::vector<Tape::Event>& events, std::int64_t sign)
    {
        for (const Tape::Event& event : events) {
            change(event.kind, sign * event.bytes);
        }
    }

    void play(const std::vector<Tape::Event>& events)
    {
        for (const Tape::Event& event : events) {
            switch (event.op) {
            case Tape::Op::Allocate:
                change(event.kind, event.bytes);
                break;
            case Tape::Op::Free:
            case Tape::Op::Defer:
                change(event.kind, -event.bytes);
                break;
            case Tape::Op::Ensure:
            case Tape::Op::Grow:
                if (m_persistents[event.slot] < event.bytes) {
                    change(event.kind, event.bytes - m_persistents[event.slot]);
                    m_persistents[event.slot] = event.bytes;
                }
                break;
            case Tape::Op::Accumulate:
                accumulate(event);
                break;
            }
        }
    }

    void accumulate(const Tape::Event& event)
    {
        change(event.kind, event.bytes);
        bool stays = !m_hasGradients;
        if (event.slot >= Tape::sharedGradient) {
            stays = std::find(m_shared.begin(), m_shared.end(), event.slot) == m_shared.end();
            m_shared.push_back(event.slot);
        }
        if (stays) {
            m_gradients += event.bytes;
        } else {
            change(event.kind, -event.bytes);
        }
    }

    const ModelProgram& m_program;
    const StageProgram& m_stage;
    std::vector<std::int64_t> m_persistents;
    struct ChunkCount
    {
        std::int64_t kept = 0; ///< by one micro-batch
        bool hasGradients = false; ///< of its weights in this step
    };
    std::vector<ChunkCount> m_chunks;
    std::vector<Tape::Slot> m_shared; ///< tied gradients that are there
    std::int64_t m_now = 0, m_peak = 0, m_firstStepPeak = 0, m_gradients = 0;
    std::array<std::int64_t, componentCount> m_components{}, m_atPeak{};
    std::array<std::int64_t, phaseCount> m_phases{};
    Phase m_phase = Phase::Forward, m_peakPhase = Phase::Forward;
    bool m_hasMoments = false, m_hasGradients = false, m_isInside = false;
    std::int64_t m_current = 0, m_others = 0; ///< activations of the micro-batch at hand, and of the others
};

} // namespace

void countStage(const ModelProgram& program, const StageProgram& stage, StageFootprint& result)
{
    TapeCounter counter(program, stage);
    StepWalk<TapeCounter>::Memory memory;
    StepWalk<TapeCounter> walk(program.shape, stage, counter, memory);
    // The second micro-batch meets the gradients of the first; more are the same.
    const std::int64_t distinct = StepWalk<TapeCounter>::distinctMicroBatches(program.shape, stage);
    for (int step = 0; step < 2; ++step) {
        counter.beginStep();
        walk.run(std::min(program.shape.microBatches, std::max<std::int64_t>(distinct, 2)));
        counter.endStep();
    }
    counter.fill(result);
}

} // namespace headroom
