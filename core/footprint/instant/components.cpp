// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the bytes of a chunk are at a place within its pass.
#include "footprint/instant/summary.h"
#include "footprint/tape/offload.h"

#include <algorithm>
#include <span>

namespace headroom {

namespace {

void add(const std::vector<Tape::Event>& events, std::size_t count, ComponentBytes& components)
{
    for (const Tape::Event& event : std::span(events).first(std::min(count, events.size()))) {
        const bool isFreed = event.op == Tape::Op::Free || event.op == Tape::Op::Defer;
        const std::int64_t change = event.op == Tape::Op::Allocate ? event.bytes : isFreed ? -event.bytes : 0;
        components[static_cast<std::size_t>(componentOf(event.kind))] += change;
    }
}

void addSaved(const Tape& tape, std::int64_t count, ComponentBytes& components)
{
    for (const Tape::Event& saved : tape.saved) {
        components[static_cast<std::size_t>(componentOf(saved.kind))] += saved.bytes * count;
    }
}

void addStored(const Tape& tape, std::int64_t outputs, ComponentBytes& components)
{
    components[static_cast<std::size_t>(Component::Activations)] += tape.outputBytes * outputs;
}

/// The outputs of `count` pieces in a row, unless the piece after each of them uses it up.
void addOutputs(const Tape& tape, std::int64_t count, bool isLastUsedUp, ComponentBytes& components)
{
    if (count > 0) {
        addStored(tape, (tape.consumesInput ? 0 : count - 1) + (isLastUsedUp ? 0 : 1), components);
    }
}

/// Everything that `count` pieces in a row keep.
void addKept(const Tape& tape, std::int64_t count, bool isLastUsedUp, ComponentBytes& components)
{
    if (count > 0) {
        addSaved(tape, count, components);
        addOutputs(tape, count, isLastUsedUp, components);
    }
}

/// What the first pass of a split backward leaves of `count` pieces for the second one.
void addHeld(const Tape& tape, std::int64_t count, ComponentBytes& components)
{
    if (count == 0) {
        return;
    }
    ComponentBytes one{};
    addSaved(tape, 1, one);
    for (const Tape::Event& event : tape.inputBackward) {
        const bool isOwn = event.slot >= Tape::firstLocal;
        if (isOwn && event.op == Tape::Op::Allocate) {
            one[static_cast<std::size_t>(componentOf(event.kind))] += event.bytes;
        } else if (isOwn && event.op == Tape::Op::Free) {
            one[static_cast<std::size_t>(componentOf(event.kind))] -= event.bytes;
        }
    }
    for (std::size_t i = 0; i < one.size(); ++i) {
        components[i] += count * one[i];
    }
}

/// Those before the piece at hand have not had their second pass; those behind it are done.
void addDuringWeights(const ModelProgram& program, const Chunk& chunk, const Place& place, ComponentBytes& components)
{
    for (std::size_t i = 0; i <= place.run; ++i) {
        const PieceRun& run = chunk.runs[i];
        addHeld(program.pieces[run.piece].tape, i == place.run ? place.piece + 1 : run.count, components);
    }
    add(program.pieces[chunk.runs[place.run].piece].tape.weights, place.event, components);
}

/// What the backward of a piece hands on to those before it: the gradient of its input, a carried tensor.
void addHandedOn(const Tape& tape, ComponentBytes& components)
{
    for (const Tape::Event& event : tape.backward) {
        const bool isShared = event.slot == Tape::gradient || event.slot == Tape::carried;
        if (isShared && (event.op == Tape::Op::Allocate || event.op == Tape::Op::Free)) {
            components[static_cast<std::size_t>(componentOf(event.kind))]
                += event.op == Tape::Op::Allocate ? event.bytes : -event.bytes;
        }
    }
}

/// Of the pieces up to the one at hand, what is in the host's memory, or in a buffer that it came back into.
std::int64_t awayAt(const ModelProgram& program, const Chunk& chunk, const Place& place)
{
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i <= place.run; ++i) {
        const PieceRun& run = chunk.runs[i];
        const Tape& tape = program.pieces[run.piece].tape;
        const bool isAtHand = i == place.run;
        const std::int64_t reached = isAtHand ? place.piece + 1 : run.count;
        const bool isReturned = place.isReturned && run.checkpointGroup == 0;
        const std::int64_t pieces = isReturned ? reached : isAtHand ? piecesAway(run, place.piece) : run.offloaded;
        for (const Tape::Event& storage : tape.offloaded) {
            const bool isScheduled = storage.slot == Tape::input && run.keepsFirstInput && pieces > 0;
            bytes += storage.bytes * (pieces - (isScheduled ? 1 : 0));
        }
        for (std::size_t k = 0; isReturned && isAtHand && k < place.event; ++k) {
            for (const Tape::Event& storage : tape.offloaded) {
                const bool isFreed = tape.backward[k].op == Tape::Op::Free && tape.backward[k].slot == storage.slot;
                bytes -= isFreed ? storage.bytes : 0;
            }
        }
    }
    return bytes;
}

/// A piece whose output is not its successor's to free: T5's encoder norm, which every decoder layer reads.
bool freesItsOutput(const Tape& tape)
{
    return tape.output != Tape::none
        && std::any_of(tape.backward.begin(), tape.backward.end(), [&](const Tape::Event& event) {
               return event.op == Tape::Op::Free && event.slot == tape.output;
           });
}

} // namespace

void addComponents(const ModelProgram& program, const Chunk& chunk, const Place& place, ComponentBytes& components)
{
    const bool isForward = place.doing == Place::Doing::Forward || place.doing == Place::Doing::Loading;
    for (const Tape::Event& tensor : chunk.loaded) {
        components[static_cast<std::size_t>(componentOf(tensor.kind))] += isForward ? tensor.bytes : 0;
    }
    if (place.doing == Place::Doing::Loading) {
        return;
    }
    if (place.doing == Place::Doing::Weights) {
        addDuringWeights(program, chunk, place, components);
        return;
    }
    for (std::size_t i = 0; i < place.run; ++i) {
        const PieceRun& run = chunk.runs[i];
        const Tape& tape = program.pieces[run.piece].tape;
        if (run.checkpointGroup > 0) {
            addStored(tape, (run.count + run.checkpointGroup - 1) / run.checkpointGroup, components);
        } else {
            // The piece at hand uses its input up at the end of its forward only, so that still counts in there.
            const PieceRun& next = chunk.runs[i + 1];
            const bool isAtHand = i + 1 == place.run && isForward && place.piece == 0;
            addKept(tape, run.count, !isAtHand && program.pieces[next.piece].tape.consumesInput, components);
        }
    }
    for (std::size_t i = place.run + 1; i < chunk.runs.size() && !isForward; ++i) {
        addHandedOn(program.pieces[chunk.runs[i].piece].tape, components);
        addHeld(program.pieces[chunk.runs[i].piece].tape, place.isSplit ? chunk.runs[i].count : 0, components);
    }
    const PieceRun& run = chunk.runs[place.run];
    const Tape& tape = program.pieces[run.piece].tape;
    const std::int64_t group = run.checkpointGroup > 0 ? place.piece / run.checkpointGroup : 0;
    const std::int64_t within = run.checkpointGroup > 0 ? place.piece - group * run.checkpointGroup : place.piece;
    addStored(tape, group, components);
    addHeld(tape, place.isSplit ? run.count - 1 - place.piece : 0, components);
    if (place.doing == Place::Doing::Backward) {
        // The output of the piece at hand went with its successor's backward, or to the next stage.
        addSaved(tape, within + 1, components);
        addOutputs(tape, within, tape.consumesInput, components);
        addStored(tape, freesItsOutput(tape) ? 1 : 0, components);
        add(place.isSplit ? tape.inputBackward : tape.backward, place.event, components);
    } else {
        if (place.doing == Place::Doing::Forward && run.checkpointGroup > 0) {
            addStored(tape, within > 0 ? 1 : 0, components);
        } else {
            addKept(tape, within, false, components);
        }
        add(tape.forward, place.event, components);
    }
    if (program.shape.offload.isOn) {
        components[static_cast<std::size_t>(Component::Activations)] -= awayAt(program, chunk, place);
    }
}

} // namespace headroom
