// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/explain_tapes.h"

#include "footprint/tape/program.h"
#include "footprint/tape/state.h"
#include "footprint/working.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace headroom {

namespace {

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

std::string size(std::int64_t bytes)
{
    return formatBytes(Bytes{bytes}, 3);
}

Term sizeTerm(Text name, std::int64_t bytes, std::string formula = {}, std::string substituted = {})
{
    return {std::move(name), std::move(formula), std::move(substituted), real(bytes), Unit::Size, {}};
}

bool holds(const Tape& tape, TensorKind first, TensorKind last)
{
    return std::any_of(tape.forward.begin(), tape.forward.end(), [&](const Tape::Event& event) {
        return event.op == Tape::Op::Allocate && event.kind >= first && event.kind <= last;
    });
}

/// What a tape is the tape of, told by its tensors.
Text pieceName(const Tape& tape, std::int64_t count)
{
    const std::string number = formatCount(count);
    if (holds(tape, TensorKind::Logits, TensorKind::LossTerms)) {
        return Text{HEADROOM_TR("core", "Output layer and loss")};
    }
    if (holds(tape, TensorKind::RouterScores, TensorKind::RoutedProbabilities)) {
        return Text{HEADROOM_TR("core", "%1 layers with experts"), {number}};
    }
    if (holds(tape, TensorKind::MixerProjection, TensorKind::ScanOutput)) {
        return Text{HEADROOM_TR("core", "%1 layers with a state space or delta net"), {number}};
    }
    if (!holds(tape, TensorKind::Qkv, TensorKind::Context)
        && holds(tape, TensorKind::Fc1Output, TensorKind::Fc1Output)) {
        return Text{HEADROOM_TR("core", "%1 MLP layers"), {number}};
    }
    if (holds(tape, TensorKind::Qkv, TensorKind::Context)) {
        return Text{HEADROOM_TR("core", "%1 layers"), {number}};
    }
    return Text{HEADROOM_TR("core", "Embedding, norms and projections")};
}

/// One kind of layer in all chunks of a stage.
struct Layers
{
    std::int64_t count = 0;
    std::int64_t group = 0; ///< that share one stored input when recomputed
    bool offloadsInput = false;
    std::int64_t offloaded = 0; ///< whose Tape::offloaded is in the host's memory

    friend bool operator==(const Layers&, const Layers&) = default;
};
using StageLayerCounts = std::map<std::pair<std::uint16_t, std::int64_t>, Layers>; ///< by piece and group

StageLayerCounts countLayers(const StageProgram& stage)
{
    StageLayerCounts counts;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            Layers& layers = counts[{run.piece, run.checkpointGroup}];
            layers.count += run.count;
            layers.group = run.checkpointGroup;
            layers.offloadsInput = run.offloadsInput;
            layers.offloaded += chunk.offloadsLater && run.checkpointGroup == 0 ? run.count : run.offloaded;
        }
    }
    return counts;
}

std::int64_t inputBytes(const Tape& tape)
{
    return tape.storages.empty() || tape.consumesInput ? 0 : tape.storages[Tape::input].bytes;
}

/// What one layer holds from its forward to its backward, by kind.
std::map<TensorKind, std::int64_t> keptByKind(const Tape& tape)
{
    std::map<TensorKind, std::int64_t> kept;
    if (const std::int64_t input = inputBytes(tape); input > 0) {
        kept[TensorKind::ResidualStream] += input;
    }
    for (const Tape::Event& saved : tape.saved) {
        kept[saved.kind] += saved.bytes;
    }
    return kept;
}

Term activationsTerm(const ModelProgram& program, const StageProgram& stage)
{
    Term all = sizeTerm(Text{HEADROOM_TR("core", "Kept of one micro-batch")}, 0);
    std::vector<std::string> sums;
    for (const auto& [key, layers] : countLayers(stage)) {
        const Tape& tape = program.pieces[key.first].tape;
        const auto kinds = keptByKind(tape);
        std::int64_t each = std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0},
                                            [](std::int64_t sum, const auto& kind) { return sum + kind.second; });
        std::int64_t stored = layers.count;
        if (layers.group > 0) {
            each = layers.offloadsInput ? 0 : inputBytes(tape);
            stored = (layers.count + layers.group - 1) / layers.group;
        }
        const std::int64_t away
            = std::accumulate(tape.offloaded.begin(), tape.offloaded.end(), std::int64_t{0},
                              [](std::int64_t sum, const Tape::Event& storage) { return sum + storage.bytes; });
        const bool isAway = layers.offloaded > 0 && away > 0;
        const std::int64_t bytes = stored * each - (isAway ? layers.offloaded * away : 0);
        if (bytes == 0) {
            continue;
        }
        std::string sum = fmt::format("{} × {}", formatCount(stored), size(each));
        if (isAway) { // in the host's memory
            sum += fmt::format(" − {} × {}", formatCount(layers.offloaded), size(away));
        }
        Term term = sizeTerm(pieceName(tape, layers.count), bytes, {}, std::move(sum));
        if (layers.group > 0) {
            term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "their inputs only: they are recomputed")}, bytes));
        } else {
            for (const auto& [kind, one] : kinds) {
                term.parts.push_back(sizeTerm(Text{std::string(nameOf(kind))}, layers.count * one, {},
                                              fmt::format("{} × {}", formatCount(layers.count), size(one))));
            }
        }
        all.value += real(bytes);
        sums.push_back(size(bytes));
        all.parts.push_back(std::move(term));
    }
    all.substituted = sums.size() > 1 ? fmt::format("{}", fmt::join(sums, " + ")) : std::string();
    return all;
}

/// The kinds of tensor that fill a component.
void addTensors(Term& term, Component component, const PeakTensors* tensors)
{
    if (tensors == nullptr) {
        return;
    }
    for (int i = 0; i < tensorKindCount; ++i) {
        const auto kind = static_cast<TensorKind>(i);
        const std::int64_t bytes = (*tensors)[static_cast<std::size_t>(i)].value;
        if (componentOf(kind) == component && bytes > 0) {
            term.parts.push_back(sizeTerm(Text{std::string(nameOf(kind))}, bytes));
        }
    }
}

Term parametersTerm(const ModelProgram& program, const StageProgram& stage, const StageFootprint& result)
{
    Term term = sizeTerm(Text{HEADROOM_TR("core", "Parameters")}, result.component(Component::Parameters).value, {},
                         formatCount(parameterCount(program, stage)));
    std::map<std::uint16_t, std::int64_t> counts;
    for (const auto& [key, layers] : countLayers(stage)) {
        counts[key.first] += layers.count;
    }
    for (const auto& [index, count] : counts) {
        const Piece& piece = program.pieces[index];
        const std::int64_t each = std::accumulate(piece.parameters.begin(), piece.parameters.end(), std::int64_t{0})
            + std::accumulate(piece.expertParameters.begin(), piece.expertParameters.end(), std::int64_t{0})
            + std::accumulate(piece.frozenParameters.begin(), piece.frozenParameters.end(), std::int64_t{0})
            + std::accumulate(piece.frozenExpertParameters.begin(), piece.frozenExpertParameters.end(),
                              std::int64_t{0});
        if (each > 0) {
            term.parts.push_back({pieceName(piece.tape, count),
                                  {},
                                  fmt::format("{} × {}", formatCount(count), formatCount(each)),
                                  real(each * count),
                                  Unit::Number,
                                  {}});
        }
    }
    return term;
}

Term optimizerTerm(const ModelProgram& program, const StageProgram& stage, const StageFootprint& result)
{
    Term term
        = sizeTerm(Text{HEADROOM_TR("core", "Optimizer state")}, result.component(Component::OptimizerState).value);
    if (!program.hasOwnState) {
        const StageState state = stageState(program, stage);
        term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "Master weights")}, state.master));
        term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "Optimizer moments")}, state.moments));
    }
    return term;
}

/// A component as it stands at the peak, left out where there is nothing of it.
void addComponent(std::vector<Term>& terms, Text name, const StageFootprint& result, Component component,
                  const PeakTensors* tensors)
{
    const std::int64_t bytes = result.component(component).value;
    if (bytes > 0) {
        terms.push_back(sizeTerm(std::move(name), bytes));
        addTensors(terms.back(), component, tensors);
    }
}

Term heldTerm(const StageFootprint& result, const PeakTensors* tensors)
{
    const std::int64_t own = result.component(Component::Activations).value;
    const std::int64_t others = result.component(Component::InFlight).value;
    Term term = sizeTerm(Text{HEADROOM_TR("core", "Activations at the peak")}, own + others, {},
                         fmt::format("{} + {}", size(own), size(others)));
    term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "of the micro-batch being worked on")}, own));
    term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "of the others in flight")}, others));
    addTensors(term, Component::Activations, tensors);
    return term;
}

Term peakTerm(const StageFootprint& result)
{
    std::vector<std::string> sums;
    for (int i = 0; i < componentCount; ++i) {
        const Bytes bytes = result.components[static_cast<std::size_t>(i)];
        if (bytes.value > 0 && static_cast<Component>(i) != Component::Context) {
            sums.push_back(size(bytes.value));
        }
    }
    Term term = sizeTerm(Text{HEADROOM_TR("core", "Peak, allocated")}, result.peakAllocated.value, {},
                         fmt::format("{}", fmt::join(sums, " + ")));
    term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "Forward")}, result.phase(Phase::Forward).value));
    term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "Backward")}, result.phase(Phase::Backward).value));
    term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "Optimizer step")}, result.phase(Phase::Optimizer).value));
    term.parts.push_back(sizeTerm(Text{HEADROOM_TR("core", "Between two steps")}, result.steadyAllocated.value));
    return term;
}

} // namespace

std::vector<Term> explainTapes(const TrainingPlan& plan, const StageFootprint& result, const PeakTensors* tensors)
{
    ModelProgram program;
    if (!buildProgram(plan, program) || result.stage < 0
        || static_cast<std::size_t>(result.stage) >= program.stages.size()) {
        return {};
    }
    const StageProgram& stage = program.stages[static_cast<std::size_t>(result.stage)];
    std::vector<Term> terms{parametersTerm(program, stage, result)};
    addComponent(terms, Text{HEADROOM_TR("core", "Gradients")}, result, Component::Gradients, tensors);
    terms.push_back(optimizerTerm(program, stage, result));
    terms.push_back(activationsTerm(program, stage));
    terms.push_back({Text{HEADROOM_TR("core", "In flight on stage %1"), {formatCount(result.stage)}},
                     {},
                     {},
                     real(result.inFlight),
                     Unit::Factor,
                     {}});
    terms.push_back(heldTerm(result, tensors));
    addComponent(terms, Text{HEADROOM_TR("core", "Logits")}, result, Component::Logits, tensors);
    addComponent(terms, Text{HEADROOM_TR("core", "Working set")}, result, Component::WorkingSet, tensors);
    addComponent(terms, Text{HEADROOM_TR("core", "Buffers")}, result, Component::Buffers, tensors);
    terms.push_back(peakTerm(result));
    terms.push_back(sizeTerm(
        Text{HEADROOM_TR("core", "Device")}, result.device.value, {},
        fmt::format("{} + {}", size(result.peakReserved.value), size(result.component(Component::Context).value))));
    terms.back().parts.push_back(
        sizeTerm(Text{HEADROOM_TR("core", "Reserved by the allocator")}, result.peakReserved.value));
    terms.back().parts.push_back(
        sizeTerm(Text{HEADROOM_TR("core", "CUDA context")}, result.component(Component::Context).value));
    return terms;
}

} // namespace headroom
