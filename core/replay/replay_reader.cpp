// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/replay_reader.h"

#include "allocator/allocator_sizes.h"
#include "footprint/tape/offload.h"

#include <algorithm>

namespace headroom {

namespace {

const std::array<std::uint8_t, tensorKindCount>& componentIndices()
{
    static const auto indices = [] {
        std::array<std::uint8_t, tensorKindCount> all{};
        for (int i = 0; i < tensorKindCount; ++i) {
            all[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(componentOf(static_cast<TensorKind>(i)));
        }
        return all;
    }();
    return indices;
}

constexpr auto activationsIndex = static_cast<std::size_t>(Component::Activations);

} // namespace

ReplayReader::ReplayReader(const ModelProgram& program, const StageProgram& stage, const ReplayOptions& options)
    : m_program(program)
    , m_stage(stage)
    , m_options(options)
    , m_allocator(options.allocator)
    , m_persistents(program.persistents.all.size())
{
    for (const Chunk& chunk : stage.chunks) {
        std::size_t slots = 0;
        for (const PieceRun& run : chunk.runs) {
            slots += static_cast<std::size_t>(run.count) * program.pieces[run.piece].tape.slotCount;
        }
        m_slotCounts.push_back(slots);
    }
}

void ReplayReader::beginStep(bool isLast)
{
    enter(Phase::Forward);
    for (Handle& gradient : m_mainGradients) {
        free(gradient); // zero_grad
    }
    m_mainGradients.clear();
    m_phasePeaks.fill(0);
    m_states.clear();
    m_isRecording = isLast && m_options.recordsTimeline;
    enter(Phase::Forward);
    playTogether(m_stage.tensors.rollout);
}

void ReplayReader::endStep()
{
    enter(Phase::Optimizer);
    m_microBatch = -1;
    for (Handle& tensor : m_deferred) {
        free(tensor);
    }
    m_deferred.clear();
    for (std::size_t i = 0; i < m_persistents.size(); ++i) {
        if (m_program.persistents.all[i].endsWithStep) {
            free(m_persistents[i]);
        }
    }
    // The step is part of the timeline even where it allocates nothing.
    m_spanPeak = m_allocator.statistics().allocated;
    m_hasUnseenSpan = m_isRecording;
    m_program.hasOwnState ? stepTorch() : stepMegatron();
    if (!m_hasMoments) {
        m_hasMoments = true;
        m_result.firstStepPeakAllocated = Bytes{m_peak};
    }
    endSpan();
}

void ReplayReader::enter(Phase phase)
{
    m_phase = phase;
    auto& peak = m_phasePeaks[static_cast<std::size_t>(phase)];
    peak = std::max(peak, m_allocator.statistics().allocated);
}

ReplayReader::Handle ReplayReader::allocate(TensorKind kind, std::int64_t bytes, std::uint32_t stream)
{
    ++m_result.events;
    const std::int64_t asked = blockSize(bytes);
    const CachingAllocator::Block block = m_allocator.allocate(asked, stream);
    if (block == CachingAllocator::noBlock) {
        m_result.isOutOfMemory = true;
        return {};
    }
    const auto index = static_cast<std::size_t>(kind);
    const std::size_t component = componentIndices()[index];
    const std::int64_t size = m_allocator.sizeOf(block);
    m_tensors[index] += asked;
    m_components[component] += size;
    m_rounding += size - asked;
    m_activations += component == activationsIndex ? size : 0;
    const std::int64_t allocated = m_allocator.statistics().allocated;
    auto& phasePeak = m_phasePeaks[static_cast<std::size_t>(m_phase)];
    phasePeak = std::max(phasePeak, allocated);
    if (allocated > m_peak) {
        m_peak = allocated;
        m_hasUnseenPeak = true; // looked at before the next free, when it is certain to be one
    }
    if (allocated > m_spanPeak) {
        m_spanPeak = allocated;
        m_hasUnseenSpan = m_isRecording;
    }
    const Handle handle{block, kind, asked};
    m_alive ^= placeOf(handle);
    return handle;
}

void ReplayReader::free(Handle& handle)
{
    if (handle.block == CachingAllocator::noBlock) {
        return;
    }
    if (m_hasUnseenPeak || m_hasUnseenSpan) {
        takeSnapshot();
    }
    ++m_result.events;
    const auto index = static_cast<std::size_t>(handle.kind);
    const std::size_t component = componentIndices()[index];
    const std::int64_t size = m_allocator.sizeOf(handle.block);
    m_tensors[index] -= handle.bytes;
    m_components[component] -= size;
    m_rounding -= size - handle.bytes;
    m_activations -= component == activationsIndex ? size : 0;
    m_alive ^= placeOf(handle);
    m_allocator.free(handle.block);
    handle = {};
}

ReplayReader::Handle ReplayReader::forward(std::size_t chunk, std::int64_t microBatch, const Handle& input)
{
    m_chunk = static_cast<std::int32_t>(chunk);
    m_microBatch = static_cast<std::int32_t>(microBatch);
    LiveChunk& live = m_live[{chunk, microBatch}];
    if (!m_spare.empty()) {
        live.slots = std::move(m_spare.back());
        m_spare.pop_back();
    }
    live.slots.assign(m_slotCounts[chunk], Handle{});
    m_current = &live;
    m_activations = 0;
    std::vector<Handle> loaded;
    for (const Tape::Event& tensor : m_stage.chunks[chunk].loaded) {
        loaded.push_back(allocate(tensor.kind, tensor.bytes));
    }
    // What comes from another stage belongs to the schedule, so the tapes must not free it.
    Handle stream = m_stage.chunks[chunk].receives ? Handle{} : input;
    Handle* slots = live.slots.data();
    for (const PieceRun& run : m_stage.chunks[chunk].runs) {
        forwardRun(run, slots, stream);
    }
    for (Handle& tensor : loaded) {
        free(tensor);
    }
    if (stream.block != CachingAllocator::noBlock && m_stage.chunks[chunk].sends) {
        m_activations -= m_allocator.sizeOf(stream.block);
    }
    live.activations = m_activations;
    live.places = placesOf(live, input, stream);
    finishLeaving();
    if (m_stage.chunks[chunk].offloadsLater) {
        m_leaving = {chunk, microBatch};
    }
    return m_stage.chunks[chunk].sends ? stream : Handle{};
}

ReplayReader::LiveChunk& ReplayReader::resume(std::size_t chunk, std::int64_t microBatch)
{
    m_chunk = static_cast<std::int32_t>(chunk);
    m_microBatch = static_cast<std::int32_t>(microBatch);
    LiveChunk& live = m_live.at({chunk, microBatch});
    m_current = &live;
    m_activations = live.activations;
    return live;
}

void ReplayReader::countLayers(const Chunk& chunk)
{
    m_layer = static_cast<std::size_t>(m_chunk) << 32; // gradients of chunks are their own
    for (const PieceRun& run : chunk.runs) {
        m_layer += static_cast<std::size_t>(run.count);
    }
}

void ReplayReader::runBackward(const Chunk& chunk, LiveChunk& live)
{
    Handle* slots = live.slots.data() + live.slots.size();
    countLayers(chunk);
    for (auto run = chunk.runs.rbegin(); run != chunk.runs.rend(); ++run) {
        backwardRun(*run, slots);
    }
}

void ReplayReader::finish(std::size_t chunk, std::int64_t microBatch)
{
    const auto found = m_live.find({chunk, microBatch});
    m_spare.push_back(std::move(found->second.slots));
    m_live.erase(found);
    m_current = nullptr;
}

ReplayReader::Handle ReplayReader::backward(std::size_t chunk, std::int64_t microBatch, Handle outputGradient)
{
    if (m_leaving == std::pair{chunk, microBatch}) {
        m_leaving.reset(); // its backward comes at once, so it stays
    }
    LiveChunk& live = resume(chunk, microBatch);
    live.gradient = outputGradient;
    runBackward(m_stage.chunks[chunk], live);
    const Handle gradient = live.gradient;
    finish(chunk, microBatch);
    finishLeaving();
    return gradient;
}

ReplayReader::Handle ReplayReader::inputBackward(std::size_t chunk, std::int64_t microBatch, Handle outputGradient)
{
    LiveChunk& live = resume(chunk, microBatch);
    live.gradient = outputGradient;
    m_isSplit = true;
    runBackward(m_stage.chunks[chunk], live);
    m_isSplit = false;
    const Handle gradient = live.gradient;
    live.gradient = {};
    live.activations = m_activations;
    m_current = nullptr;
    return gradient;
}

void ReplayReader::weights(std::size_t chunk, std::int64_t microBatch)
{
    LiveChunk& live = resume(chunk, microBatch);
    Handle* slots = live.slots.data() + live.slots.size();
    const auto& runs = m_stage.chunks[chunk].runs;
    countLayers(m_stage.chunks[chunk]);
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        const Tape& tape = m_program.pieces[run->piece].tape;
        for (std::int64_t i = 0; i < run->count; ++i) {
            slots -= tape.slotCount;
            --m_layer;
            play(tape.weights, slots);
            endSpan();
        }
    }
    finish(chunk, microBatch);
}

void ReplayReader::forwardRun(const PieceRun& run, Handle*& slots, Handle& stream)
{
    const Tape& tape = m_program.pieces[run.piece].tape;
    Handle* const first = slots;
    std::int64_t away = 0;
    for (std::int64_t i = 0; i < run.count; ++i) {
        slots[Tape::input] = stream;
        forwardPiece(tape, slots);
        stream = tape.output == Tape::none ? Handle{} : slots[tape.output];
        if (run.checkpointGroup > 0) {
            for (const Tape::Event& saved : tape.saved) {
                free(slots[saved.slot]);
            }
            if (i % run.checkpointGroup != 0 || run.offloadsInput) {
                free(slots[Tape::input]);
            }
        }
        for (; away < run.offloaded && offloadWindow(run, away) <= i; ++away) {
            sendAway(run, first, away);
        }
        slots += tape.slotCount;
    }
}

void ReplayReader::backwardRun(const PieceRun& run, Handle*& slots)
{
    const Tape& tape = m_program.pieces[run.piece].tape;
    std::int64_t away = run.offloaded;
    for (std::int64_t i = run.count; i-- > 0;) {
        slots -= tape.slotCount;
        --m_layer;
        for (; away > 0 && offloadWindow(run, away - 1) >= i; --away) {
            bringBack(run, slots - i * tape.slotCount, away - 1);
        }
        if (run.checkpointGroup > 0 && (i + 1 == run.count || (i + 1) % run.checkpointGroup == 0)) {
            const std::int64_t first = i / run.checkpointGroup * run.checkpointGroup;
            if (run.offloadsInput) {
                (slots - (i - first) * tape.slotCount)[Tape::input]
                    = allocate(TensorKind::ResidualStream, tape.storages[Tape::input].bytes);
            }
            rebuildGroup(tape, slots - (i - first) * tape.slotCount, i - first + 1);
        }
        backwardPiece(tape, slots);
    }
}

void ReplayReader::rebuildGroup(const Tape& tape, Handle* slots, std::int64_t pieces)
{
    m_isRebuilding = true;
    for (std::int64_t i = 0; i < pieces; ++i) {
        if (i > 0) {
            slots[Tape::input] = (slots - tape.slotCount)[tape.output];
        }
        forwardPiece(tape, slots);
        slots += tape.slotCount;
    }
    m_isRebuilding = false;
    free((slots - tape.slotCount)[tape.output]); // the same values exist already
}

void ReplayReader::forwardPiece(const Tape& tape, Handle* slots)
{
    play(tape.forward, slots);
    endSpan();
}

void ReplayReader::backwardPiece(const Tape& tape, Handle* slots)
{
    slots[Tape::gradient] = m_current->gradient;
    slots[Tape::carried] = m_current->carried;
    play(m_isSplit ? tape.inputBackward : tape.backward, slots);
    m_current->gradient = slots[Tape::gradient];
    m_current->carried = slots[Tape::carried];
    endSpan();
}

void ReplayReader::play(const std::vector<Tape::Event>& events, Handle* slots)
{
    for (const Tape::Event& event : events) {
        switch (event.op) {
        case Tape::Op::Allocate:
            slots[event.slot] = allocate(event.kind, event.bytes, event.stream);
            break;
        case Tape::Op::Free:
            free(slots[event.slot]);
            break;
        case Tape::Op::Ensure:
            if (m_persistents[event.slot].block == CachingAllocator::noBlock) {
                m_persistents[event.slot] = allocate(event.kind, event.bytes);
            }
            break;
        case Tape::Op::Grow:
            if (m_persistents[event.slot].bytes < event.bytes) {
                const Handle larger = allocate(event.kind, event.bytes);
                free(m_persistents[event.slot]);
                m_persistents[event.slot] = larger;
            }
            break;
        case Tape::Op::Accumulate:
            accumulate(event);
            break;
        case Tape::Op::Defer:
            if (canDefer()) {
                m_deferred.push_back(slots[event.slot]);
                slots[event.slot] = {};
            } else {
                free(slots[event.slot]);
            }
            break;
        }
    }
}

void ReplayReader::accumulate(const Tape::Event& event)
{
    const std::size_t layer = event.slot >= Tape::sharedGradient ? ~std::size_t{0} : m_layer;
    Handle fresh = allocate(event.kind, event.bytes, event.stream);
    Handle& known = m_gradients[{layer, event.slot}];
    if (known.block == CachingAllocator::noBlock) {
        known = fresh;
    } else {
        free(fresh); // added in place
    }
}

bool ReplayReader::canDefer() const
{
    // Two tensors a micro-batch: the gradient of the logits and the input of the output layer.
    const std::int64_t limit = m_program.shape.deferredWgrads;
    return limit == 0 || static_cast<std::int64_t>(m_deferred.size()) < 2 * limit;
}

} // namespace headroom
