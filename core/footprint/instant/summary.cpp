// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/summary.h"

#include "footprint/tape/offload.h"

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
    const auto reach = [&events](Rise& rise, std::int64_t level, const Tape::Event& event) {
        if (level > rise.peak) {
            rise.peak = level;
            rise.peakEvent = static_cast<std::uint32_t>(&event - events.data() + 1);
        }
    };
    for (const Tape::Event& event : events) {
        if (event.op == Tape::Op::Free || event.op == Tape::Op::Defer) {
            now -= event.bytes;
        } else if (event.op == Tape::Op::Allocate) {
            now += event.bytes;
            reach(usual, now, event);
            reach(first, now + made, event);
        } else {
            const std::size_t index = event.slot & 63U;
            const std::uint64_t bit = std::uint64_t{1} << index;
            const std::int64_t known = (seen & bit) != 0 ? there[index] : 0;
            if (known < event.bytes) {
                there[index] = event.bytes;
                seen |= bit;
                reach(first, now + made + event.bytes, event);
                made += event.bytes - known;
            }
        }
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

} // namespace headroom
