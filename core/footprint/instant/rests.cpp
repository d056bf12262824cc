// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/rests.h"

#include "allocator/allocator_sizes.h"
#include "footprint/instant/placed_activations.h"
#include "footprint/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace headroom {

namespace {

using Tensors = std::vector<std::int64_t>;
using Sizes = Segments::Sizes;

/// Appends tensors to those of the same size before them.
void append(Sizes& sizes, std::int64_t bytes, std::int64_t count)
{
    if (!sizes.empty() && sizes.back().bytes == bytes) {
        sizes.back().count += count;
    } else if (count > 0) {
        sizes.push_back({bytes, count});
    }
}

Sizes sizesOf(const Tensors& tensors, std::int64_t bytes = 1)
{
    Sizes sizes;
    for (const std::int64_t tensor : tensors) {
        append(sizes, tensor * bytes, 1);
    }
    return sizes;
}

/// What `pick` appends for each piece of the stage, in the order of construction.
template <class Pick> Sizes sizesOf(const ModelProgram& program, const StageProgram& stage, const Pick& pick)
{
    Sizes all, ofPiece;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        ofPiece.clear();
        pick(piece, ofPiece);
        for (std::int64_t i = 0; i < count; ++i) {
            for (const Segments::Size& size : ofPiece) {
                append(all, size.bytes, size.count);
            }
        }
    });
    return all;
}

void appendAll(Sizes& sizes, const Tensors& tensors, std::int64_t bytes)
{
    for (const std::int64_t tensor : tensors) {
        append(sizes, tensor * bytes, 1);
    }
}

/// Elements of the trained tensors whose optimizer state this rank holds: all, or the last share of a distributed
/// optimizer's (optimizerTensors).
Sizes heldTensors(const ModelProgram& program, const StageProgram& stage, ParameterGroup group)
{
    const RankShape& shape = program.shape;
    if (shape.dealsTensors || shape.optimizerOnGpu < 1) {
        return sizesOf(optimizerTensors(shape, parameterTensors(program, stage, group), group));
    }
    const Sizes all = sizesOf(program, stage,
                              [&](const Piece& piece, Sizes& sizes) { appendAll(sizes, tensorsOf(piece, group), 1); });
    if (!shape.isDistributedOptimizer) {
        return all;
    }
    std::int64_t left = 0;
    for (const Segments::Size& size : all) {
        left += size.bytes * size.count;
    }
    left /= optimizerShards(shape, group);
    Sizes held;
    for (auto size = all.rbegin(); size != all.rend() && left > 0; ++size) {
        const std::int64_t whole = std::min(size->count, left / size->bytes);
        append(held, size->bytes, whole);
        left -= whole * size->bytes;
        if (whole < size->count && left > 0) {
            append(held, left, 1);
            left = 0;
        }
    }
    std::reverse(held.begin(), held.end());
    return held;
}

/// Two tensors of each held one, of so many bytes an element; none of 0.
Sizes statesOf(const Sizes& held, std::int64_t first, std::int64_t second)
{
    Sizes states;
    for (const Segments::Size& size : held) {
        if (first == second || first == 0 || second == 0) {
            append(states, size.bytes * std::max(first, second), size.count * ((first > 0) + (second > 0)));
            continue;
        }
        for (std::int64_t i = 0; i < size.count; ++i) {
            append(states, size.bytes * first, 1);
            append(states, size.bytes * second, 1);
        }
    }
    return states;
}

/// Where activations were, `bytes` of them: in segments like those that were made, at most so many times, and what is
/// left together.
void addCached(std::vector<std::int64_t> made, std::int64_t bytes, double mostTimes, Segments& segments)
{
    std::sort(made.begin(), made.end());
    const std::int64_t all = std::accumulate(made.begin(), made.end(), std::int64_t{0});
    const double times = all > 0 ? std::min(static_cast<double>(bytes) / static_cast<double>(all), mostTimes) : 0;
    for (auto segment = made.begin(); segment != made.end();) {
        const auto other = std::upper_bound(segment, made.end(), *segment);
        const auto count = static_cast<std::int64_t>(static_cast<double>(other - segment) * times);
        segments.free(*segment, count);
        bytes -= count * *segment;
        segment = other;
    }
    segments.free(bytes);
}

std::int64_t microBatchesInFlight(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    const PipelineShape pipeline{shape.schedule,     shape.stages,     shape.chunks,
                                 shape.microBatches, shape.chunkGroup, shape.extraInFlight};
    return std::max(inFlight(pipeline, stage.stage).microBatches(), std::int64_t{1});
}

/// Lets some micro-batches run: what their activations leave in blocks into `rests`, what they leave behind for the
/// optimizer's step, `cached` bytes, beside the state.
Segments placeActivations(const ModelProgram& program, const StageProgram& stage, const Segments& state,
                          std::int64_t cached, StepRests& rests)
{
    // A few of them: the second lies otherwise than the first.
    const std::int64_t all = microBatchesInFlight(program, stage), played = std::min(all, std::int64_t{4});
    PlacedActivations activations(program, stage, state);
    for (std::int64_t i = 0; i < played; ++i) {
        activations.addMicroBatch();
    }
    const double times = static_cast<double>(all) / static_cast<double>(played);
    PlacedActivations::Held held = activations.held() * times;
    held += activations.rebuilt();
    rests.reach = static_cast<std::int64_t>(held.bytes);
    rests.activations = held.bytes > 0 ? held.rests / held.bytes : 0;
    Segments segments = state;
    addCached(activations.segments(), std::max<std::int64_t>(cached, 0), times * activations.timesPlayed(), segments);
    return segments;
}

/// The sizes of tensors that share segments. Whether they leave rests there is a question of arithmetic: 20 MiB less
/// some of them comes to at most 1 MiB, or it never does.
class SharedSizes
{
public:
    void add(std::int64_t bytes)
    {
        if (!Segments::isShared(bytes)) {
            return;
        }
        const std::int64_t size = blockSize(bytes);
        const auto end = m_sizes.begin() + m_count;
        if (m_count <= most && std::find(m_sizes.begin(), end, size) == end) {
            m_sizes[static_cast<std::size_t>(m_count++)] = size;
        }
    }

    /// Taken for granted of more sizes than it pays to combine.
    [[nodiscard]] bool leaveRests() const { return m_count > most || leaveRests(0, largeBuffer); }

private:
    static constexpr std::ptrdiff_t most = 4;

    /// By filling what is left of a segment with those from `first` on.
    [[nodiscard]] bool leaveRests(std::ptrdiff_t first, std::int64_t left) const
    {
        for (std::ptrdiff_t i = first; i < m_count; ++i) {
            const std::int64_t rest = left - m_sizes[static_cast<std::size_t>(i)];
            if (rest > 0 && (isRest(rest) || leaveRests(i, rest))) {
                return true;
            }
        }
        return false;
    }

    std::array<std::int64_t, most + 1> m_sizes{};
    std::ptrdiff_t m_count = 0;
};

/// What of a piece stays: its parameters, their masters, what its tape saves.
void addSizes(const Piece& piece, const RankShape& shape, SharedSizes& sizes)
{
    for (const Tensors* tensors :
         {&piece.parameters, &piece.expertParameters, &piece.frozenParameters, &piece.frozenExpertParameters}) {
        for (const std::int64_t elements : *tensors) {
            sizes.add(elements * shape.element);
            sizes.add(elements * shape.master);
        }
    }
    for (const Tape::Event& tensor : piece.tape.saved) {
        sizes.add(tensor.bytes);
    }
}

} // namespace

bool leavesRests(const ModelProgram& program)
{
    if (program.usesExpandableSegments || program.roundupDivisions > 1) {
        return false;
    }
    SharedSizes sizes;
    for (const Piece& piece : program.pieces) {
        addSizes(piece, program.shape, sizes);
    }
    return sizes.leaveRests();
}

bool sharesSegments(const ModelProgram& program, const StageProgram& stage)
{
    constexpr std::int64_t mostTensors = 100'000; // an estimate stays below a hundredth of a second
    SharedSizes sizes;
    std::int64_t tensors = 0;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        addSizes(piece, program.shape, sizes);
        for (const Tensors* some :
             {&piece.parameters, &piece.expertParameters, &piece.frozenParameters, &piece.frozenExpertParameters}) {
            tensors += count * static_cast<std::int64_t>(some->size());
        }
    });
    return tensors <= mostTensors && sizes.leaveRests();
}

Segments placeState(const ModelProgram& program, const StageProgram& stage, StageState& state)
{
    const RankShape& shape = program.shape;
    Segments segments;
    std::int64_t rests = segments.place(sizesOf(frozenStorages(program, stage)))
        + segments.place(sizesOf(fp8WeightCopies(program, stage)));
    const std::int64_t trained = segments.place(sizesOf(program, stage, [&](const Piece& piece, Sizes& sizes) {
        if (!piece.isFrozen || shape.movesFrozen) {
            appendAll(sizes, piece.parameters, shape.element);
            appendAll(sizes, piece.expertParameters, shape.element);
        }
        if (shape.movesFrozen) {
            appendAll(sizes, piece.frozenParameters, shape.element);
            appendAll(sizes, piece.frozenExpertParameters, shape.element);
        }
    }));
    if (shape.isDistributedOptimizer) {
        segments.release(); // they have moved into one buffer
        state.movingRests = trained;
    } else {
        rests += trained;
    }
    rests += segments.place(sizesOf(referenceTensors(program, stage), shape.element));
    state.parameters += rests - state.parameterRests;
    state.parameterRests = rests;
    if (shape.master > 0) {
        std::int64_t masterRests = 0;
        for (const ParameterGroup group : parameterGroups) {
            masterRests += segments.place(statesOf(heldTensors(program, stage, group), shape.master, 0));
        }
        state.master += masterRests - state.masterRests;
        state.masterRests = masterRests;
    }
    return segments;
}

StepRests placeStep(const ModelProgram& program, const StageProgram& stage, const Segments& state, std::int64_t cached,
                    const std::vector<Tape::Event>& moments)
{
    StepRests rests;
    if (!program.usesExpandableSegments) {
        Segments segments = placeActivations(program, stage, state, cached, rests);
        Sizes sizes;
        for (const Tape::Event& moment : moments) {
            append(sizes, moment.bytes, 1);
        }
        rests.moments = segments.place(sizes);
    }
    return rests;
}

StepRests placeMegatronStep(const ModelProgram& program, const StageProgram& stage, const Segments& state,
                            std::int64_t cached)
{
    const RankShape& shape = program.shape;
    StepRests rests;
    Segments segments = placeActivations(program, stage, state, cached, rests);
    Sizes moments;
    for (const ParameterGroup group : parameterGroups) {
        const Sizes held = heldTensors(program, stage, group);
        if (shape.hasMainGradients) {
            segments.place(statesOf(held, 4, 0));
        }
        for (const Segments::Size& size : statesOf(held, shape.firstMoment, shape.secondMoment)) {
            append(moments, size.bytes, size.count);
        }
    }
    rests.moments = segments.place(shape.orthogonalises ? sizesOf(momentTensors(program, stage)) : moments);
    return rests;
}

void addActivationRests(std::int64_t rests, ComponentBytes& components)
{
    if (rests == 0) {
        return;
    }
    constexpr std::array others{Component::InFlight, Component::Logits, Component::WorkingSet, Component::Buffers};
    const auto bytesOf
        = [&](Component component) -> std::int64_t& { return components[static_cast<std::size_t>(component)]; };
    std::int64_t all = bytesOf(Component::Activations);
    for (const Component component : others) {
        all += bytesOf(component);
    }
    std::int64_t left = rests;
    for (const Component component : others) {
        const double share = all > 0 ? static_cast<double>(bytesOf(component)) / static_cast<double>(all) : 0;
        const auto own = static_cast<std::int64_t>(static_cast<double>(rests) * share);
        bytesOf(component) += own;
        left -= own;
    }
    bytesOf(Component::Activations) += left;
}

} // namespace headroom
