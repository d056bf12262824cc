// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/byte_search.h"
#include "runlog/field_values.h"
#include "runlog/log_format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace headroom {
namespace {

enum class Key : std::uint8_t { Phase, Step, Allocated, Reserved, Rank, StepTime, TokensPerSecond, Loss, None };

constexpr std::array<std::string_view, 8> keyNames{"phase", "step",      "peak_alloc",   "peak_reserved",
                                                   "rank",  "step_time", "tokens_per_s", "loss"};

constexpr unsigned bit(Key key)
{
    return 1U << static_cast<unsigned>(key);
}

constexpr unsigned required = bit(Key::Phase) | bit(Key::Step) | bit(Key::Allocated);
constexpr unsigned essentialKeys = required | bit(Key::Rank);
constexpr std::int64_t largestStep = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t largestRank = std::numeric_limits<std::int16_t>::max();

/// my_phase=, train/loss= and --step= are other words than ours.
template <Key key> bool endsWith(std::string_view line, std::size_t equals)
{
    constexpr std::string_view name = keyNames[static_cast<std::size_t>(key)];
    return equals >= name.size() && std::memcmp(line.data() + equals - name.size(), name.data(), name.size()) == 0
        && (equals == name.size() || !continuesWord(line[equals - name.size() - 1]));
}

/// The key that ends right before `equals`.
Key keyBefore(std::string_view line, std::size_t equals)
{
    switch (equals == 0 ? '\0' : line[equals - 1]) {
    case 'e':
        return endsWith<Key::Phase>(line, equals)   ? Key::Phase
            : endsWith<Key::StepTime>(line, equals) ? Key::StepTime
                                                    : Key::None;
    case 'p':
        return endsWith<Key::Step>(line, equals) ? Key::Step : Key::None;
    case 'c':
        return endsWith<Key::Allocated>(line, equals) ? Key::Allocated : Key::None;
    case 'd':
        return endsWith<Key::Reserved>(line, equals) ? Key::Reserved : Key::None;
    case 'k':
        return endsWith<Key::Rank>(line, equals) ? Key::Rank : Key::None;
    case 's':
        return endsWith<Key::Loss>(line, equals)           ? Key::Loss
            : endsWith<Key::TokensPerSecond>(line, equals) ? Key::TokensPerSecond
                                                           : Key::None;
    default:
        return Key::None;
    }
}

/// A value that could not be used.
struct Complaint
{
    Fault fault = Fault::None;
    Key key = Key::None;
    std::size_t at = 0;
};

/// A record while its line is being read.
struct Draft
{
    LineRecord record;
    unsigned seen = 0;
    std::size_t phaseEnd = 0;
    Complaint essential; ///< of phase, step, peak_alloc or rank: without them there is no record
    Complaint other;

    [[nodiscard]] bool has(unsigned keys) const { return (seen & keys) == keys; }

    /// Stores a value or its fault; a later value of the same key stands in for an unreadable one.
    template <class T, class U> std::size_t keep(Key key, std::size_t at, const FieldValue<T>& value, U& target)
    {
        seen |= bit(key);
        Complaint& complaint = bit(key) & essentialKeys ? essential : other;
        if (value.fault != Fault::None) {
            complaint = complaint.fault == Fault::None ? Complaint{value.fault, key, at} : complaint;
            return value.end;
        }
        target = static_cast<U>(value.value);
        if (complaint.key == key) {
            complaint = {};
        }
        return value.end;
    }
};

std::size_t readValue(Draft& draft, Key key, std::string_view line, std::size_t at)
{
    LineRecord& record = draft.record;
    switch (key) {
    case Key::Phase:
        return draft.phaseEnd = draft.keep(key, at, readName(line, at), record.phase);
    case Key::Step:
        return draft.keep(key, at, readWhole(line, at, 0, largestStep), record.step);
    case Key::Rank: // -1: a launcher's word for "not distributed"
        return draft.keep(key, at, readWhole(line, at, -1, largestRank), record.rank);
    case Key::Allocated:
        return draft.keep(key, at, readAmount(line, at), record.allocatedBytes);
    case Key::Reserved:
        return draft.keep(key, at, readAmount(line, at), record.reservedBytes);
    case Key::StepTime:
        return draft.keep(key, at, readSeconds(line, at), record.stepSeconds);
    case Key::TokensPerSecond:
        return draft.keep(key, at, readRate(line, at), record.tokensPerSecond);
    case Key::Loss:
        return draft.keep(key, at, readReal(line, at), record.loss);
    case Key::None:
        break;
    }
    return at;
}

Text complaintText(const Complaint& complaint, std::string_view line)
{
    return faultText(complaint.fault, keyNames[static_cast<std::size_t>(complaint.key)], line, complaint.at);
}

/// Whether the file ends inside the draft's values: "peak_alloc=31.", "step=" or "phase=forw" and nothing after it.
bool isCutOff(const Draft& draft, std::string_view line)
{
    const Fault fault = draft.essential.fault;
    if (!draft.has(required) || fault == Fault::Missing || fault == Fault::NotANumber || fault == Fault::UnknownUnit
        || fault == Fault::NoUnit) {
        return draft.has(bit(Key::Phase) | bit(Key::Step)) || draft.has(bit(Key::Phase) | bit(Key::Allocated));
    }
    const auto startsWithPhase
        = [&](std::string_view name) { return name != draft.record.phase && name.starts_with(draft.record.phase); };
    return fault == Fault::None && draft.phaseEnd == line.size()
        && (startsWithPhase("forward") || startsWithPhase("backward") || startsWithPhase("optimizer"));
}

bool finish(Draft& draft, std::string_view line, bool lastOfCutLine, LineSink& sink)
{
    const Complaint& complaint = draft.essential;
    if (lastOfCutLine && isCutOff(draft, line)) {
        sink.problem(Severity::Note,
                     Text(HEADROOM_TR("core", "the file ends inside this line; it may still be being written")));
        return false;
    }
    if (!draft.has(bit(Key::Phase) | bit(Key::Allocated)) || complaint.fault == Fault::Placeholder) {
        return false;
    }
    if (complaint.fault != Fault::None) {
        sink.problem(Severity::Error, complaintText(complaint, line));
        return false;
    }
    if (!draft.has(bit(Key::Step))) {
        sink.problem(Severity::Error, Text(HEADROOM_TR("core", "phase= and peak_alloc= stand here without step=")));
        return false;
    }
    if (!draft.has(bit(Key::Rank))) {
        const std::int32_t rank = rankOfPrefix(line);
        if (rank < -1) {
            sink.problem(Severity::Error,
                         faultText(Fault::TooLarge, keyNames[static_cast<std::size_t>(Key::Rank)], line, 0));
            return false;
        }
        draft.record.rank = rank;
    }
    sink.record(draft.record);
    if (draft.other.fault != Fault::None) {
        sink.problem(Severity::Warning, complaintText(draft.other, line));
    }
    return true;
}

} // namespace

/// Usually a line has one record. When processes write at the same time there may be several without a line end in
/// between: a key that comes again after a whole record begins the next.
bool readPlainLine(const LogLine& logLine, LineSink& sink)
{
    const std::string_view line = logLine.text;
    Draft draft;
    bool found = false;
    for (std::size_t at = 0; (at = findNearByte(line, '=', at)) < line.size();) {
        const Key key = keyBefore(line, at);
        ++at;
        if (key == Key::None) {
            continue;
        }
        if (draft.has(required | bit(key))) {
            found = finish(draft, line, false, sink) || found;
            draft = {};
        }
        at = readValue(draft, key, line, at);
    }
    return finish(draft, line, logLine.cutOff, sink) || found;
}

} // namespace headroom
