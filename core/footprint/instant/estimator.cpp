// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/estimator.h"

#include "allocator/allocator_sizes.h"
#include "footprint/instant/count.h"
#include "footprint/instant/first_pass.h"
#include "footprint/instant/peak.h"
#include "footprint/instant/rests.h"
#include "footprint/instant/summary.h"
#include "footprint/schedule/schedule.h"
#include "footprint/schedule/step_walk.h"
#include "footprint/tape/graph_inputs.h"
#include "footprint/tape/round_up.h"
#include "footprint/tape/state.h"
#include "footprint/working.h"

#include <algorithm>
#include <optional>

namespace headroom {

namespace {

bool runsTheSame(const Chunk& a, const Chunk& b)
{
    return a.receives == b.receives && a.sends == b.sends && a.receivedBytes == b.receivedBytes
        && a.sentBytes == b.sentBytes && a.isFrozen == b.isFrozen && a.loaded.empty() && b.loaded.empty()
        && std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), b.runs.end(),
                      [](const PieceRun& x, const PieceRun& y) {
                          return x.piece == y.piece && x.count == y.count && x.checkpointGroup == y.checkpointGroup
                              && x.offloadsInput == y.offloadsInput && x.offloaded == y.offloaded
                              && x.keepsFirstInput == y.keepsFirstInput;
                      });
}

/// To the allocator's unit.
std::int64_t sumOf(const std::vector<std::int64_t>& tensors)
{
    std::int64_t sum = 0;
    for (const std::int64_t bytes : tensors) {
        sum += (bytes + 511) & ~std::int64_t{511};
    }
    return sum;
}

/// Counts bytes where the replay moves blocks. A StepWalk drives it, a chunk's pass is two additions.
class InstantReader
{
public:
    struct Handle
    {
        std::int64_t bytes = 0;
        TensorKind kind = TensorKind::Boundary;
    };

    InstantReader(const ModelProgram& program, const StageProgram& stage, const std::vector<PieceSummary>& pieces,
                  const std::vector<ChunkSummary>& chunks, std::vector<std::int64_t>& persistents,
                  std::vector<std::int64_t>& stepPersistents, StageConstants& constants)
        : m_program(program)
        , m_stage(stage)
        , m_chunks(chunks)
        , m_firstPasses(program, pieces, persistents)
        , m_constants(constants)
        , m_state(constants.state)
        , m_boundaryBytes(rounded(program.shape.boundaryBytes()))
    {
        if (constants.stepPersistents > 0) {
            m_stepPasses.emplace(program, pieces, stepPersistents);
        }
        m_missing = constants.persistents - constants.stepPersistents;
        // What ends with a step is added where it appears.
        m_now = m_state.parameters + m_state.gradients + m_state.master + m_state.moments + m_missing
            + constants.graphInputs;
        // While a distributed optimizer is built its tensors stand beside the buffer they move into.
        const RankShape& shape = program.shape;
        if (shape.isDistributedOptimizer && shape.gradient > 0 && !shape.isKwai) {
            m_constants.moving
                = (shape.movesFrozen ? m_constants.parameters : m_state.gradients / shape.gradient) * shape.element;
            if (program.roundupDivisions > 1) [[unlikely]] {
                m_constants.moving = roundedParameters(program, stage);
            }
            m_constants.moving += m_state.movingRests;
            m_firstStepPeak = m_peak.bytes
                = m_state.parameters - m_state.reference + m_constants.moving + m_state.gradients;
            m_peak.isConstruction = true;
        }
    }

    void beginStep()
    {
        m_now -= m_hasMainGradients ? m_state.mainGradients : 0;
        m_hasMainGradients = false;
        if (m_stepPasses) {
            m_forwardSeen = m_backwardSeen = m_weightsSeen = 0;
            m_stepPasses->beginStep();
        }
        m_phasePeaks.fill(0);
        enter(Phase::Forward);
    }

    void endStep()
    {
        enter(Phase::Optimizer);
        m_now -= m_deferred;
        m_deferred = 0;
        m_deferredCount = 0;
        m_now -= m_made;
        m_made = 0;
        if (m_isFirstStep) {
            addMomentRests();
        }
        m_now += m_state.mainGradients;
        m_hasMainGradients = true;
        m_now += m_state.stepTemporaries;
        reach(m_now, noChunk, nullptr);
        m_firstStepPeak = std::max(m_firstStepPeak, m_isFirstStep ? m_now : 0);
        m_now -= m_state.stepTemporaries;
        m_isFirstStep = false;
    }

    void enter(Phase phase)
    {
        m_phase = phase;
        auto& peak = m_phasePeaks[static_cast<std::size_t>(phase)];
        peak = std::max(peak, m_now);
    }

    Handle allocate(TensorKind kind, std::int64_t bytes)
    {
        const std::int64_t rounded = blockSize(bytes);
        m_now += rounded;
        walked(kind) += rounded;
        auto& peak = m_phasePeaks[static_cast<std::size_t>(m_phase)];
        peak = std::max(peak, m_now);
        return {rounded, kind};
    }

    void free(Handle& handle)
    {
        m_now -= handle.bytes;
        walked(handle.kind) -= handle.bytes;
        handle.bytes = 0;
    }

    Handle forward(std::size_t chunk, std::int64_t microBatch, const Handle& /*input*/)
    {
        const ChunkSummary& summary = m_chunks[chunk];
        pass(chunk, summary.forward, isFirst(m_forwardSeen, chunk));
        m_now += summary.forward.net;
        const bool sends = m_stage.chunks[chunk].sends;
        m_kept += summary.forward.net - (sends ? summary.output : 0);
        m_walked += sends ? summary.output : 0;
        finishLeaving();
        if (summary.offloaded > 0) {
            m_leaving = {chunk, microBatch, summary.offloaded};
        }
        return {sends ? summary.output : 0, TensorKind::ResidualStream};
    }

    // A call takes as long as the pass.
    [[gnu::always_inline]] Handle backward(std::size_t chunk, std::int64_t microBatch, Handle gradient)
    {
        const ChunkSummary& summary = m_chunks[chunk];
        if (m_leaving.bytes > 0 && m_leaving.chunk == chunk && m_leaving.microBatch == microBatch) {
            m_leaving = {}; // its backward comes at once, so it stays
        } else if (summary.offloaded > 0) {
            m_isReturned = true;
            gradient = endChunk(chunk, summary.returned, summary.returned.net, gradient);
            m_isReturned = false;
            finishLeaving();
            return gradient;
        }
        const std::int64_t limit = m_program.shape.deferredWgrads;
        const bool defers = limit == 0 || m_deferredCount < limit;
        const PassSummary& backwardPass = defers ? summary.deferring : summary.backward;
        gradient = endChunk(chunk, backwardPass, summary.backward.net, gradient);
        const std::int64_t deferred = backwardPass.net - summary.backward.net;
        m_deferred += deferred;
        m_now += deferred;
        m_deferredCount += deferred > 0 ? 1 : 0;
        finishLeaving();
        return gradient;
    }

    Handle inputBackward(std::size_t chunk, std::int64_t /*microBatch*/, Handle gradient)
    {
        const ChunkSummary& summary = m_chunks[chunk];
        m_isSplit = true;
        gradient = endChunk(chunk, summary.inputBackward, summary.backward.net, gradient);
        m_isSplit = false;
        m_now -= summary.weights.net;
        m_kept -= summary.weights.net;
        return gradient;
    }

    void weights(std::size_t chunk, std::int64_t /*microBatch*/)
    {
        const ChunkSummary& summary = m_chunks[chunk];
        m_kept += summary.weights.net;
        m_isWeights = true;
        pass(chunk, summary.weights, isFirst(m_weightsSeen, chunk));
        m_isWeights = false;
        m_now += summary.weights.net;
    }

    void fill(StageFootprint& result)
    {
        if (m_rests.activations > 0) {
            addActivationRests();
        }
        result.steadyAllocated = Bytes{m_now};
        result.firstStepPeakAllocated = Bytes{std::max(m_firstStepPeak, m_firstPassPeak)};
        result.peakAllocated = Bytes{m_peak.bytes};
        result.peakReserved = result.peakAllocated;
        result.peakPhase = m_peak.phase;
        for (std::size_t i = 0; i < m_phasePeaks.size(); ++i) {
            result.phases[i] = Bytes{m_phasePeaks[i]};
        }
        const ComponentBytes components = peakComponents(m_program, m_stage, m_constants, m_peak);
        for (std::size_t i = 0; i < components.size(); ++i) {
            result.components[i] = Bytes{components[i]};
        }
        result.components[static_cast<std::size_t>(Component::Context)] = contextPrior;
        result.device = result.peakReserved + contextPrior;
    }

private:
    static constexpr std::size_t noChunk = InstantPeak::noChunk;

    static std::int64_t rounded(std::int64_t bytes) { return blockSize(bytes); }

    /// Chunks beyond the 64th hold the same pieces as those before.
    static bool isFirst(std::uint64_t& seen, std::size_t chunk)
    {
        const std::uint64_t bit = chunk < 64 ? std::uint64_t{1} << chunk : 0;
        const bool isNew = bit != 0 && (seen & bit) == 0;
        seen |= bit;
        return isNew;
    }

    void reach(std::int64_t bytes, std::size_t chunk, const Place* place)
    {
        auto& phasePeak = m_phasePeaks[static_cast<std::size_t>(m_phase)];
        phasePeak = std::max(phasePeak, bytes);
        if (bytes > m_peak.bytes) {
            m_peak = {m_phase, chunk, place, m_kept, m_walked, m_gradients, bytes, m_peak.momentRests, false};
        }
    }

    /// The first step makes the moments, and fp32 copies of gradients before them: where activations were, and what
    /// does not fit there in segments of their own.
    void addMomentRests()
    {
        const std::int64_t cached = *std::max_element(m_phasePeaks.begin(), m_phasePeaks.end()) - m_now;
        if (m_constants.segments) {
            m_rests = placeMegatronStep(m_program, m_stage, *m_constants.segments, cached);
        } else if (m_state.momentRests > 0) {
            const double fresh
                = 1 - static_cast<double>(cached) / static_cast<double>(m_state.mainGradients + m_state.moments);
            m_rests.moments
                = static_cast<std::int64_t>(static_cast<double>(m_state.momentRests) * std::max(fresh, 0.0));
        }
        m_now += m_rests.moments;
        for (std::int64_t& peak : m_phasePeaks) {
            peak += m_rests.moments;
        }
        m_peak.bytes += m_peak.isConstruction ? 0 : m_rests.moments;
        m_peak.momentRests = m_rests.moments;
    }

    /// What blocks hold beyond the tensors that are alive beside the state alone.
    void addActivationRests()
    {
        const std::int64_t state = m_now - m_state.mainGradients;
        for (const Phase phase : {Phase::Forward, Phase::Backward}) {
            auto& peak = m_phasePeaks[static_cast<std::size_t>(phase)];
            peak += m_rests.ofActivations(peak, state);
        }
        m_firstPassPeak += m_rests.ofActivations(m_firstPassPeak, state - m_state.moments - m_peak.momentRests);
        if (m_peak.phase != Phase::Optimizer && !m_peak.isConstruction) {
            m_peak.activationRests = m_rests.ofActivations(m_peak.bytes, state);
            m_peak.bytes += m_peak.activationRests;
        }
    }

    std::int64_t& walked(TensorKind kind) { return kind == TensorKind::ActivationGradient ? m_gradients : m_walked; }

    /// The copy of a chunk's activations that ran beside the last pass has ended.
    void finishLeaving()
    {
        if (m_leaving.bytes > 0) {
            m_now -= m_leaving.bytes;
            m_kept -= m_leaving.bytes;
            m_leaving = {};
        }
    }

    /// The backward of a chunk; `net`: what the whole of it frees, nothing left for later.
    Handle endChunk(std::size_t chunk, const PassSummary& summary, std::int64_t net, Handle gradient)
    {
        const ChunkSummary& whole = m_chunks[chunk];
        const std::int64_t kept = whole.forward.net - (m_stage.chunks[chunk].sends ? whole.output : 0)
            - (m_isReturned ? whole.offloaded : 0);
        m_kept -= kept;
        pass(chunk, summary, isFirst(m_backwardSeen, chunk));
        const std::int64_t change = net + receivedBytes(m_stage.chunks[chunk]);
        m_now += change;
        const std::int64_t flowing = change + kept + gradient.bytes; // 0: the embedding used it up
        if (gradient.bytes == 0) {
            gradient.kind = TensorKind::ActivationGradient; // the head makes it
        }
        walked(gradient.kind) += flowing - gradient.bytes;
        gradient.bytes = flowing;
        return gradient;
    }

    /// The first tape frees its input, but what came from another stage belongs to the schedule.
    [[nodiscard]] std::int64_t receivedBytes(const Chunk& chunk) const
    {
        if (!chunk.receives || chunk.runs.empty() || m_program.pieces[chunk.runs.front().piece].tape.leavesInput) {
            return 0;
        }
        return chunk.receivedBytes > 0 ? rounded(chunk.receivedBytes) : m_boundaryBytes;
    }

    /// In the first step the moments do not exist yet, nor what `m_missing` counts.
    void pass(std::size_t chunk, const PassSummary& summary, bool isFirst)
    {
        const std::int64_t before = m_now;
        std::int64_t rise = summary.peak, made = 0;
        if (isFirst && m_stepPasses) [[unlikely]] {
            const FirstPass first = m_stepPasses->run(m_stage.chunks[chunk], doing());
            rise = first.highest;
            made = first.made;
            m_now += made;
            m_made += made;
        }
        reach(before + rise, chunk, &summary.place);
        if (m_isFirstStep) {
            const std::int64_t lacking = m_state.moments + m_missing;
            const std::int64_t first = isFirst ? firstRise(m_stage.chunks[chunk], made) : summary.peak;
            m_firstPassPeak = std::max(m_firstPassPeak, before - lacking + first);
        }
    }

    [[nodiscard]] FirstPasses::Doing doing() const
    {
        using Doing = FirstPasses::Doing;
        return m_isWeights               ? Doing::Weights
            : m_isSplit                  ? Doing::InputBackward
            : m_isReturned               ? Doing::Returned
            : m_phase == Phase::Backward ? Doing::Backward
                                         : Doing::Forward;
    }

    /// The first pass through a chunk, or what is known of it from a stage that runs the same. `ofStep`: what of the
    /// storages it makes ends with the step.
    std::int64_t firstRise(const Chunk& chunk, std::int64_t ofStep)
    {
        const bool isRepeated = m_chunks.size() == 1 && !splitsBackward(m_program.shape.schedule);
        auto& known = m_constants.firstPasses[m_phase == Phase::Backward ? 1 : 0];
        if (!isRepeated || !known) {
            known = m_firstPasses.run(chunk, doing());
        }
        m_missing -= known->made - ofStep;
        return known->highest;
    }

    const ModelProgram& m_program;
    const StageProgram& m_stage;
    const std::vector<ChunkSummary>& m_chunks;
    FirstPasses m_firstPasses;
    std::optional<FirstPasses> m_stepPasses;
    StageConstants& m_constants;
    const StageState& m_state;
    const std::int64_t m_boundaryBytes;

    Phase m_phase = Phase::Forward;
    struct Leaving
    {
        std::size_t chunk = 0;
        std::int64_t microBatch = 0, bytes = 0;
    };
    Leaving m_leaving; ///< for the host's memory, while the next pass runs
    bool m_isFirstStep = true, m_hasMainGradients = false, m_isSplit = false, m_isWeights = false, m_isReturned = false;
    std::uint64_t m_forwardSeen = 0, m_backwardSeen = 0, m_weightsSeen = 0;
    std::int64_t m_now = 0, m_kept = 0, m_walked = 0, m_gradients = 0, m_deferred = 0, m_deferredCount = 0,
                 m_firstStepPeak = 0, m_firstPassPeak = 0, m_missing = 0, m_made = 0;
    StepRests m_rests;
    std::array<std::int64_t, phaseCount> m_phasePeaks{};
    InstantPeak m_peak;
};

} // namespace

struct InstantEstimator::Scratch
{
    std::vector<PieceSummary> pieces;
    std::vector<ChunkSummary> chunks; ///< of the stage at hand
    std::vector<std::int64_t> persistents, stepPersistents; ///< bytes there already, by index
    StageConstants constants; ///< of the stage at hand
    const StageProgram* stage = nullptr; ///< whose they are
    bool leavesRests = false; ///< any of the program's tensors does
    StepWalk<InstantReader>::Memory memory;
};

InstantEstimator::InstantEstimator()
    : m_scratch(std::make_unique<Scratch>())
{
}

InstantEstimator::~InstantEstimator() = default;

Result<void> InstantEstimator::run(const TrainingPlan& plan, std::vector<StageFootprint>& stages)
{
    if (auto built = buildProgram(plan, m_program); !built) {
        return built;
    }
    m_scratch->pieces.resize(m_program.pieces.size());
    for (std::size_t i = 0; i < m_program.pieces.size(); ++i) {
        summarise(m_program.pieces[i].tape, m_scratch->pieces[i]);
    }
    m_scratch->leavesRests = !m_program.hasOwnState && leavesRests(m_program);
    m_scratch->stage = nullptr;
    stages.resize(m_program.stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
        fillStage(m_program.stages[i], stages[i]);
    }
    return {};
}

void InstantEstimator::fillStage(const StageProgram& stage, StageFootprint& result)
{
    const RankShape& shape = m_program.shape;
    if (m_program.hasOwnState) {
        countStage(m_program, stage, result);
        describe(stage, parameterCount(m_program, stage), result);
        return;
    }
    Scratch& scratch = *m_scratch;
    if (scratch.stage == nullptr
        || !std::equal(stage.chunks.begin(), stage.chunks.end(), scratch.stage->chunks.begin(),
                       scratch.stage->chunks.end(), runsTheSame)) {
        scratch.chunks.clear();
        for (const Chunk& chunk : stage.chunks) {
            scratch.chunks.push_back(summarise(chunk, scratch.pieces));
        }
        scratch.constants = {};
        scratch.constants.state = stageState(m_program, stage);
        if (scratch.leavesRests && sharesSegments(m_program, stage)) {
            scratch.constants.segments = placeState(m_program, stage, scratch.constants.state);
        }
        scratch.constants.parameters = parameterCount(m_program, stage);
        scratch.constants.persistents = persistentBytes(m_program, stage, scratch.persistents);
        for (std::size_t i = 0; i < scratch.persistents.size(); ++i) {
            const PersistentStorages::Storage& storage = m_program.persistents.all[i];
            scratch.constants.stepPersistents += storage.endsWithStep ? scratch.persistents[i] : 0;
        }
        scratch.stage = &stage;
    }
    if (shape.graphs.isOn) {
        scratch.constants.graphInputs = sumOf(graphInputs(m_program, stage));
    }
    InstantReader reader(m_program, stage, scratch.pieces, scratch.chunks, scratch.persistents, scratch.stepPersistents,
                         scratch.constants);
    StepWalk<InstantReader> walk(shape, stage, reader, scratch.memory);
    const std::int64_t microBatches = distinctMicroBatches(shape, stage);
    // Interleaved chunks keep their last inputs into the next step, which a second one shows; other schedules have let
    // go of them before their first pass.
    for (int step = 0; step < (shape.chunks > 1 ? 2 : 1); ++step) {
        reader.beginStep();
        walk.run(microBatches);
        reader.endStep();
    }
    reader.fill(result);
    describe(stage, scratch.constants.parameters, result);
}

void InstantEstimator::describe(const StageProgram& stage, std::int64_t parameters, StageFootprint& result) const
{
    const RankShape& shape = m_program.shape;
    result.stage = stage.stage;
    result.firstLayer = stage.firstLayer;
    result.layers = stage.layers;
    result.parameters = parameters;
    result.inFlight = inFlight({shape.schedule, shape.stages, shape.chunks, shape.microBatches, shape.chunkGroup,
                                shape.extraInFlight},
                               stage.stage)
                          .microBatches();
}

} // namespace headroom
