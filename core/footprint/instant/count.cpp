// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/count.h"

#include "allocator/allocator_sizes.h"
#include "footprint/instant/rests.h"
#include "footprint/schedule/step_walk.h"
#include "footprint/tape/state.h"
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
        , m_segments(program.usesExpandableSegments)
    {
        for (const Tape::Event& tensor : stage.tensors.resident) {
            change(tensor.kind, blockSize(tensor.bytes) + m_segments.place(tensor.bytes));
        }
    }

    struct Handle
    {
        std::int64_t bytes = 0;
        TensorKind kind = TensorKind::Boundary;
    };

    void beginStep()
    {
        m_phases.fill(0);
        m_phase = Phase::Forward;
        playTogether(m_stage.tensors.rollout);
    }

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
        playTogether(m_stage.tensors.clipping);
        if (m_stage.tensors.dropsGradients) {
            dropGradients();
        }
        if (!m_hasMoments) {
            createMoments();
        }
        playTogether(m_stage.tensors.temporaries);
        m_firstStepPeak = m_hasMoments ? m_firstStepPeak : m_peak;
        m_hasMoments = true;
        dropGradients();
        for (ChunkCount& chunk : m_chunks) {
            chunk.hasGradients = false;
        }
        m_shared.clear();
    }

    /// Where activations were, and in segments of their own.
    void createMoments()
    {
        const std::vector<Tape::Event>& moments = m_stage.tensors.created;
        m_rests = placeStep(m_program, m_stage, m_segments, m_peak - m_now, moments);
        const std::int64_t passes = std::max(m_phases[at(Phase::Forward)], m_phases[at(Phase::Backward)]);
        m_firstPassPeak = passes + m_rests.ofActivations(passes, m_now - m_gradients);
        changeAll(moments, 1);
        if (!moments.empty()) {
            change(moments.back().kind, m_rests.moments);
        }
    }

    void dropGradients()
    {
        change(TensorKind::Gradients, -m_gradients);
        m_gradients = 0;
    }

    void enter(Phase phase)
    {
        m_phase = phase;
        change(TensorKind::Batch, 0);
    }

    Handle allocate(TensorKind kind, std::int64_t bytes)
    {
        const std::int64_t size = blockSize(bytes);
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
        const std::size_t reader = firstReader(chunk);
        for (std::size_t i = 0; i < chunk.runs.size(); ++i) {
            forwardRun(chunk.runs[i], i == reader);
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
        const Handle gradient = runBackward(index, &Tape::backward, outputGradient);
        m_current = 0;
        m_chunks[index].hasGradients = true;
        return gradient;
    }

    Handle inputBackward(std::size_t index, std::int64_t /*microBatch*/, const Handle& outputGradient)
    {
        const Handle gradient = runBackward(index, &Tape::inputBackward, outputGradient);
        m_chunks[index].keptForWeights = m_current;
        return gradient;
    }

    void weights(std::size_t index, std::int64_t /*microBatch*/)
    {
        resume(index, m_chunks[index].keptForWeights);
        const std::vector<PieceRun>& runs = m_stage.chunks[index].runs;
        for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
            for (std::int64_t i = 0; i < run->count; ++i) {
                const bool isReceived = runs.size() - 1 - static_cast<std::size_t>(run - runs.rbegin())
                        == firstReader(m_stage.chunks[index])
                    && i + 1 == run->count;
                play(m_program.pieces[run->piece].tape.weights, isReceived);
            }
        }
        m_isInside = false;
        m_current = 0;
        m_chunks[index].hasGradients = true;
    }

    void fill(StageFootprint& result)
    {
        for (const Phase phase : {Phase::Forward, Phase::Backward}) {
            m_phases[at(phase)] += m_rests.ofActivations(m_phases[at(phase)], m_now);
        }
        if (m_peakPhase != Phase::Optimizer) {
            const std::int64_t rests = m_rests.ofActivations(m_peak, m_now);
            addActivationRests(rests, m_atPeak);
            m_peak += rests;
        }
        result.steadyAllocated = Bytes{m_now};
        result.firstStepPeakAllocated = Bytes{std::max(m_firstStepPeak, m_firstPassPeak)};
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
    static constexpr std::size_t at(Phase phase) { return static_cast<std::size_t>(phase); }

    void change(TensorKind kind, std::int64_t bytes)
    {
        m_now += bytes;
        const auto component = static_cast<std::size_t>(componentOf(kind));
        m_components[component] += bytes;
        m_current += m_isInside && component == activations ? bytes : 0;
        auto& phase = m_phases[at(m_phase)];
        phase = std::max(phase, m_now);
        if (m_now > m_peak) {
            m_peak = m_now;
            m_peakPhase = m_phase;
            m_atPeak = m_components;
            m_atPeak[static_cast<std::size_t>(Component::InFlight)] = m_others;
            m_atPeak[activations] -= m_others;
        }
    }

    /// Every micro-batch keeps as much; the one that runs now is not among the others.
    void resume(std::size_t index, std::int64_t kept)
    {
        m_others += m_current - kept;
        m_current = kept;
        m_hasGradients = m_chunks[index].hasGradients;
        m_isInside = true;
    }

    Handle runBackward(std::size_t index, std::vector<Tape::Event> Tape::*events, const Handle& outputGradient)
    {
        const Chunk& chunk = m_stage.chunks[index];
        // What was received goes through the tapes as a gradient, and is freed or sent on as one.
        m_components[static_cast<std::size_t>(componentOf(outputGradient.kind))] -= outputGradient.bytes;
        m_components[static_cast<std::size_t>(componentOf(TensorKind::ActivationGradient))] += outputGradient.bytes;
        resume(index, m_chunks[index].kept);
        m_flowing = outputGradient.bytes;
        const std::size_t reader = firstReader(chunk);
        for (std::size_t i = chunk.runs.size(); i-- > 0;) {
            backwardRun(chunk.runs[i], i == reader, events);
        }
        m_isInside = false;
        return {m_flowing, TensorKind::ActivationGradient}; // none where the embedding used it up
    }

    void forwardRun(const PieceRun& run, bool readsReceived)
    {
        const Tape& tape = m_program.pieces[run.piece].tape;
        for (std::int64_t i = 0; i < run.count; ++i) {
            const bool isReceived = readsReceived && i == 0;
            play(tape.forward, isReceived);
            if (run.checkpointGroup > 0) {
                changeAll(tape.saved, -1);
            }
            const bool isWithinGroup = run.checkpointGroup > 0 && i % run.checkpointGroup != 0;
            if (isWithinGroup || (run.offloadsInput && !isReceived)) {
                change(TensorKind::ResidualStream, -tape.storages[Tape::input].bytes);
            }
        }
    }

    /// The first run whose tape works on what the chunk got from another stage: that belongs to the schedule, so the
    /// tape must not free it. Where it rebuilds from a copy that comes back from the host's memory, the copy is its
    /// own.
    [[nodiscard]] std::size_t firstReader(const Chunk& chunk) const
    {
        const auto first = std::find_if(chunk.runs.begin(), chunk.runs.end(), [this](const PieceRun& run) {
            return m_program.pieces[run.piece].tape.output != Tape::input;
        });
        return chunk.receives ? static_cast<std::size_t>(first - chunk.runs.begin()) : chunk.runs.size();
    }

    void backwardRun(const PieceRun& run, bool readsReceived, std::vector<Tape::Event> Tape::*events)
    {
        const Tape& tape = m_program.pieces[run.piece].tape;
        const std::int64_t group = std::max<std::int64_t>(run.checkpointGroup, 1);
        for (std::int64_t i = run.count; i-- > 0;) {
            const auto isReceived
                = [&](std::int64_t piece) { return readsReceived && piece == 0 && !run.offloadsInput; };
            const bool isLastOfGroup = i + 1 == run.count || (i + 1) % group == 0;
            if (isLastOfGroup && run.offloadsInput) {
                change(TensorKind::ResidualStream, tape.storages[Tape::input].bytes);
            }
            if (isLastOfGroup && run.checkpointGroup > 0) { // rebuilt together
                for (std::int64_t piece = i / group * group; piece <= i; ++piece) {
                    play(tape.forward, isReceived(piece));
                }
                change(TensorKind::ResidualStream, -tape.outputBytes);
            }
            play(tape.*events, isReceived(i));
        }
    }

    void changeAll(const std::vector<Tape::Event>& events, std::int64_t sign)
    {
        for (const Tape::Event& event : events) {
            change(event.kind, sign * event.bytes);
        }
    }

    void playTogether(const std::vector<Tape::Event>& tensors)
    {
        play(tensors);
        for (const Tape::Event& tensor : tensors) {
            change(tensor.kind, -tensor.bytes);
        }
    }

    void play(const std::vector<Tape::Event>& events, bool keepsInput = false)
    {
        for (const Tape::Event& event : events) {
            switch (event.op) {
            case Tape::Op::Allocate:
                change(event.kind, event.bytes);
                m_flowing = event.slot == Tape::gradient ? event.bytes : m_flowing;
                break;
            case Tape::Op::Free:
            case Tape::Op::Defer:
                m_flowing = event.slot == Tape::gradient ? 0 : m_flowing;
                change(event.kind, keepsInput && event.slot == Tape::input ? 0 : -event.bytes);
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
        std::int64_t kept = 0, keptForWeights = 0; ///< by one micro-batch
        bool hasGradients = false; ///< of its weights in this step
    };
    std::vector<ChunkCount> m_chunks;
    Segments m_segments;
    std::vector<Tape::Slot> m_shared; ///< tied gradients that are there
    std::int64_t m_now = 0, m_peak = 0, m_firstStepPeak = 0, m_firstPassPeak = 0, m_gradients = 0;
    std::array<std::int64_t, componentCount> m_components{}, m_atPeak{};
    std::array<std::int64_t, phaseCount> m_phases{};
    Phase m_phase = Phase::Forward, m_peakPhase = Phase::Forward;
    StepRests m_rests;
    bool m_hasMoments = false, m_hasGradients = false, m_isInside = false;
    std::int64_t m_flowing = 0; ///< of the gradient that one tape hands to the next
    std::int64_t m_current = 0, m_others = 0; ///< activations of the micro-batch at hand, and of the others
};

} // namespace

void countStage(const ModelProgram& program, const StageProgram& stage, StageFootprint& result)
{
    TapeCounter counter(program, stage);
    StepWalk<TapeCounter>::Memory memory;
    StepWalk<TapeCounter> walk(program.shape, stage, counter, memory);
    // The second micro-batch meets the gradients of the first; more are the same.
    const std::int64_t distinct = distinctMicroBatches(program.shape, stage);
    for (int step = 0; step < 2; ++step) {
        counter.beginStep();
        walk.run(std::min(program.shape.microBatches, std::max<std::int64_t>(distinct, 2)));
        counter.endStep();
    }
    counter.fill(result);
}

} // namespace headroom
