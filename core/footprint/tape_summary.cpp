// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_summary.h"

#include "footprint/tape_offload.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

/// `keepsDeferred`: what is deferred stays.
template <bool keepsDeferred = false> Rise riseOf(const std::vector<Tape::Event>& events)
{
    Rise rise;
    std::int64_t now = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Tape::Event& event = events[i];
        if (event.op == Tape::Op::Allocate) {
            now += event.bytes;
        } else if (event.op == Tape::Op::Free || event.op == Tape::Op::Defer) {
            now -= keepsDeferred && event.op == Tape::Op::Defer ? 0 : event.bytes;
        }
        if (now > rise.peak) {
            rise.peak = now;
            rise.peakEvent = static_cast<std::uint32_t>(i + 1);
        }
    }
    rise.net = now;
    return rise;
}

/// The same with all persistent storages there already (`usual`), and with none of them (`first`): then every one
/// appears where it is first mentioned, and grows beside what it replaces.
void addRises(const std::vector<Tape::Event>& events, Rise& usual, Rise& first)
{
    std::int64_t now = 0, made = 0;
    std::uint64_t seen = 0;
    std::array<std::int64_t, 64> there; // NOLINT(cppcoreguidelines-pro-type-member-init): valid where seen
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Tape::Event& event = events[i];
        std::int64_t replaced = 0;
        if (event.op == Tape::Op::Allocate) {
            now += event.bytes;
        } else if (event.op == Tape::Op::Free || event.op == Tape::Op::Defer) {
            now -= event.bytes;
        } else {
            const std::size_t index = event.slot & 63U;
            const std::uint64_t bit = std::uint64_t{1} << index;
            const std::int64_t known = (seen & bit) != 0 ? there[index] : 0;
            if (known < event.bytes) {
                there[index] = event.bytes;
                seen |= bit;
                made += event.bytes;
                replaced = known;
            }
        }
        if (now > usual.peak) {
            usual.peak = now;
            usual.peakEvent = static_cast<std::uint32_t>(i + 1);
        }
        if (now + made > first.peak) {
            first.peak = now + made;
            first.peakEvent = static_cast<std::uint32_t>(i + 1);
        }
        made -= replaced;
    }
    usual.net = now;
    first.net = now + made;
}

void raise(PassSummary& pass, std::int64_t level, const Place& place)
{
    if (level > pass.peak) {
        pass.peak = level;
        pass.place = place;
    }
}

/// Forward through a run whose pieces are stored as the inputs of groups: every piece leaves its output only.
void checkpointedForward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass)
{
    const std::int64_t groups = (run.count + run.checkpointGroup - 1) / run.checkpointGroup;
    const std::int64_t lastSize = run.count - (groups - 1) * run.checkpointGroup;
    // Within a group the output before is alive beside the group's input.
    raise(pass, pass.net + (groups - 1) * piece.output + (lastSize > 1 ? piece.output : 0) + piece.forward.peak,
          {Place::Doing::Forward, index, run.count - 1, piece.forward.peakEvent});
    if (groups > 1 && run.checkpointGroup > 1) {
        raise(pass, pass.net + (groups - 1) * piece.output + piece.forward.peak,
              {Place::Doing::Forward, index, (groups - 1) * run.checkpointGroup - 1, piece.forward.peakEvent});
    }
    pass.net += groups * piece.output;
}

std::int64_t offloadedOf(const PieceRun& run, const PieceSummary& piece, std::int64_t index)
{
    return piece.offloaded - (run.keepsFirstInput && index == 0 ? piece.offloadedInput : 0);
}

/// Piece by piece: what an earlier one keeps leaves once the piece that its copy runs beside is through.
void offloadedForward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass)
{
    std::int64_t away = 0;
    for (std::int64_t i = 0; i < run.count; ++i) {
        raise(pass, pass.net + piece.forward.peak, {Place::Doing::Forward, index, i, piece.forward.peakEvent});
        pass.net += piece.forward.net;
        for (; away < run.offloaded && offloadWindow(run, away) <= i; ++away) {
            pass.net -= offloadedOf(run, piece, away);
        }
    }
}

void offloadedBackward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass)
{
    for (std::int64_t i = run.count; i-- > 0;) {
        pass.net += returnedAt(run, piece, i);
        raise(pass, pass.net + piece.backward.peak, {Place::Doing::Backward, index, i, piece.backward.peakEvent});
        pass.net += piece.backward.net;
    }
}

/// Group by group: rebuilt, then run backwards.
void checkpointedBackward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass)
{
    const std::int64_t groups = (run.count + run.checkpointGroup - 1) / run.checkpointGroup;
    const auto raiseBy = [&](std::int64_t group) {
        const std::int64_t first = group * run.checkpointGroup;
        const std::int64_t end = std::min(first + run.checkpointGroup, run.count), size = end - first;
        const std::int64_t level = pass.net - (groups - 1 - group) * piece.output + (run.count - end) * piece.held;
        raise(pass, level + (size - 1) * piece.forward.net + piece.forward.peak,
              {Place::Doing::Rebuilding, index, end - 1, piece.forward.peakEvent});
        const std::int64_t rebuilt = level + size * piece.forward.net - piece.output;
        raise(pass, rebuilt + piece.backward.peak, {Place::Doing::Backward, index, end - 1, piece.backward.peakEvent});
        raise(pass, rebuilt + (size - 1) * piece.backward.net + piece.backward.peak,
              {Place::Doing::Backward, index, first, piece.backward.peakEvent});
    };
    // The last group may be smaller; of the others the one that comes next is the highest, or the one that comes last
    // where what stays for later grows faster than the stored inputs go away.
    for (std::int64_t group = groups - 1; group >= std::max<std::int64_t>(groups - 2, 0); --group) {
        raiseBy(group);
    }
    if (piece.held > 0 && groups > 2) {
        raiseBy(0);
    }
    pass.net += run.count * piece.held - groups * piece.output;
}

void add(const std::vector<Tape::Event>& events, std::size_t count, ComponentBytes& components)
{
    for (std::size_t i = 0; i < std::min(count, events.size()); ++i) {
        const Tape::Event& event = events[i];
        const auto component = static_cast<std::size_t>(componentOf(event.kind));
        if (event.op == Tape::Op::Allocate) {
            components[component] += event.bytes;
        } else if (event.op == Tape::Op::Free || event.op == Tape::Op::Defer) {
            components[component] -= event.bytes;
        }
    }
}

void addSaved(const Tape& tape, std::int64_t count, ComponentBytes& components)
{
    // Neighbours are mostly of one component, whose sum needs no memory.
    auto component = Component::Activations;
    std::int64_t sum = 0;
    for (const Tape::Event& saved : tape.saved) {
        if (const Component next = componentOf(saved.kind); next != component) {
            components[static_cast<std::size_t>(component)] += sum * count;
            component = next;
            sum = 0;
        }
        sum += saved.bytes;
    }
    components[static_cast<std::size_t>(component)] += sum * count;
}

void addStored(const Tape& tape, std::int64_t outputs, ComponentBytes& components)
{
    components[static_cast<std::size_t>(Component::Activations)] += tape.outputBytes * outputs;
}

/// Everything that `count` pieces in a row keep, outputs included unless the piece after them used them up.
void addKept(const Tape& tape, std::int64_t count, bool isLastUsedUp, ComponentBytes& components)
{
    addSaved(tape, count, components);
    if (count > 0) {
        addStored(tape, (tape.consumesInput ? 0 : count - 1) + (isLastUsedUp ? 0 : 1), components);
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

std::int64_t returnedAt(const PieceRun& run, const PieceSummary& piece, std::int64_t place)
{
    std::int64_t bytes = 0;
    for (std::int64_t i = std::min(place, run.offloaded - 1); i >= 0; --i) {
        const std::int64_t window = offloadWindow(run, i);
        if (window < place) {
            break;
        }
        bytes += window == place ? offloadedOf(run, piece, i) : 0;
    }
    return bytes;
}

void summarise(const Tape& tape, PieceSummary& summary)
{
    summary = {};
    addRises(tape.forward, summary.forward, summary.firstForward);
    addRises(tape.backward, summary.backward, summary.firstBackward);
    summary.output = tape.outputBytes;
    if (!tape.offloaded.empty()) {
        std::vector<Tape::Event> events = tape.backward;
        for (const Tape::Event& storage : tape.offloaded) {
            summary.offloaded += storage.bytes;
            summary.offloadedInput += storage.slot == Tape::input ? storage.bytes : 0;
            for (Tape::Event& event : events) {
                const bool isFreed = event.op == Tape::Op::Free && event.slot == storage.slot;
                event.bytes -= isFreed ? storage.bytes : 0;
            }
        }
        addRises(events, summary.returned, summary.firstReturned);
    }
    summary.deferring = tape.defersInBackward ? riseOf<true>(tape.backward) : summary.backward;
    if (!tape.inputBackward.empty()) {
        addRises(tape.inputBackward, summary.inputBackward, summary.firstInputBackward);
        summary.weights = riseOf<>(tape.weights);
        summary.isSplit = true;
    }
}

PieceSummary PieceSummary::splitting() const
{
    PieceSummary split = *this;
    split.backward = inputBackward;
    split.firstBackward = firstInputBackward;
    split.held = inputBackward.net - backward.net;
    return split;
}

PieceSummary PieceSummary::returning() const
{
    PieceSummary reading = *this;
    reading.backward = returned;
    reading.firstBackward = firstReturned;
    return reading;
}

Rise riseBeside(const std::vector<std::int64_t>& persistents, const std::vector<Tape::Event>& events)
{
    std::vector<std::int64_t> there = persistents;
    Rise rise;
    std::int64_t now = 0;
    for (const Tape::Event& event : events) {
        if (event.op == Tape::Op::Allocate) {
            now += event.bytes;
        } else if (event.op == Tape::Op::Free || event.op == Tape::Op::Defer) {
            now -= event.bytes;
        } else if (there[event.slot] < event.bytes) {
            rise.peak = std::max(rise.peak, now + event.bytes); // beside what it replaces
            now += event.bytes - there[event.slot];
            there[event.slot] = event.bytes;
        }
        rise.peak = std::max(rise.peak, now);
    }
    rise.net = now;
    return rise;
}

void addForward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass)
{
    if (run.checkpointGroup > 0) {
        checkpointedForward(run, piece, index, pass);
        return;
    }
    if (run.offloaded > 0) {
        offloadedForward(run, piece, index, pass);
        return;
    }
    raise(pass, pass.net + (run.count - 1) * piece.forward.net + piece.forward.peak,
          {Place::Doing::Forward, index, run.count - 1, piece.forward.peakEvent});
    pass.net += run.count * piece.forward.net;
}

void addBackward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass)
{
    if (run.checkpointGroup > 0) {
        checkpointedBackward(run, piece, index, pass);
        return;
    }
    if (run.offloaded > 0) {
        offloadedBackward(run, piece, index, pass);
        return;
    }
    raise(pass, pass.net + piece.backward.peak,
          {Place::Doing::Backward, index, run.count - 1, piece.backward.peakEvent});
    if (piece.backward.net > 0) { // what stays for later may be more than what is freed
        raise(pass, pass.net + (run.count - 1) * piece.backward.net + piece.backward.peak,
              {Place::Doing::Backward, index, 0, piece.backward.peakEvent});
    }
    pass.net += run.count * piece.backward.net;
}

static void summariseSplit(const Chunk& chunk, const std::vector<PieceSummary>& pieces, ChunkSummary& summary)
{
    for (std::size_t i = chunk.runs.size(); i-- > 0;) {
        const PieceRun& run = chunk.runs[i];
        const PieceSummary piece = pieces[run.piece].splitting();
        addBackward(run, piece, i, summary.inputBackward);
        raise(summary.weights, summary.weights.net + piece.weights.peak,
              {Place::Doing::Weights, i, run.count - 1, piece.weights.peakEvent});
        summary.weights.net += run.count * piece.weights.net;
    }
    summary.inputBackward.place.isSplit = true;
}

/// The whole chunk has been away and lies in a buffer again.
static void summariseReturned(const Chunk& chunk, const std::vector<PieceSummary>& pieces, ChunkSummary& summary)
{
    std::int64_t scheduled = 0;
    for (std::size_t i = chunk.runs.size(); i-- > 0;) {
        const PieceRun& run = chunk.runs[i];
        const PieceSummary& piece = pieces[run.piece];
        const bool isAway = piece.offloaded > 0 && run.checkpointGroup == 0;
        addBackward(run, isAway ? piece.returning() : piece, i, summary.returned);
        summary.offloaded += isAway ? run.count * piece.offloaded : 0;
        scheduled += isAway && run.keepsFirstInput ? piece.offloadedInput : 0;
    }
    summary.offloaded -= scheduled;
    summary.returned.net -= scheduled;
    summary.returned.place.isReturned = true;
}

ChunkSummary summarise(const Chunk& chunk, const std::vector<PieceSummary>& pieces)
{
    ChunkSummary summary;
    std::int64_t loaded = 0;
    for (const Tape::Event& tensor : chunk.loaded) {
        loaded += tensor.bytes;
    }
    PassSummary& forward = summary.forward;
    PassSummary& backward = summary.backward;
    forward.net = forward.peak = loaded;
    for (std::size_t i = 0; i < chunk.runs.size(); ++i) {
        const PieceRun& run = chunk.runs[i];
        const PieceSummary& piece = pieces[run.piece];
        addForward(run, piece, i, forward);
        summary.output = piece.output;
    }
    forward.net -= loaded;
    for (std::size_t i = chunk.runs.size(); i-- > 0;) {
        addBackward(chunk.runs[i], pieces[chunk.runs[i].piece], i, backward);
    }
    if (chunk.offloadsLater) {
        summariseReturned(chunk, pieces, summary);
    }
    if (std::any_of(chunk.runs.begin(), chunk.runs.end(),
                    [&](const PieceRun& run) { return pieces[run.piece].isSplit; })) {
        summariseSplit(chunk, pieces, summary);
    }
    const bool defers = std::any_of(chunk.runs.begin(), chunk.runs.end(), [&](const PieceRun& run) {
        return pieces[run.piece].deferring.net != pieces[run.piece].backward.net;
    });
    if (!defers) {
        summary.deferring = backward;
        return summary;
    }
    for (std::size_t i = chunk.runs.size(); i-- > 0;) {
        PieceSummary keeping = pieces[chunk.runs[i].piece];
        keeping.backward = keeping.deferring;
        addBackward(chunk.runs[i], keeping, i, summary.deferring);
    }
    return summary;
}

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
        addKept(tape, within, tape.consumesInput, components);
        addSaved(tape, 1, components);
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
    components[static_cast<std::size_t>(Component::Activations)] -= awayAt(program, chunk, place);
}

} // namespace headroom
