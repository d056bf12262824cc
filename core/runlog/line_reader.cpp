// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/line_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr std::size_t longestText = 64 << 10; ///< of a line, for patterns
constexpr int mostMatches = 4096; ///< of a format on a line
constexpr std::size_t longestPhase = 64;
constexpr std::size_t longestField = 4096;
constexpr std::size_t mostTimers = 4096; ///< of a block
constexpr std::string_view timerField = "timer_ms"; ///< in `values`: the key is the timer's name

/// Kinds whose lines become records or rows of steps; the others become facts.
bool isSeries(LineKind kind)
{
    return kind == LineKind::Memory || kind == LineKind::Iteration || kind == LineKind::Timers;
}

const FieldMatch* findField(const LinePattern& pattern, const std::vector<FieldMatch>& found, std::string_view name)
{
    const auto match = std::ranges::find_if(
        found, [&](const FieldMatch& field) { return pattern.fields()[field.field].name == name; });
    return match == found.end() ? nullptr : &*match;
}

std::string_view textOf(const FieldMatch* match)
{
    return match == nullptr ? std::string_view() : match->text;
}

/// What a line that names its values calls this one.
std::string_view keyOf(const LinePattern& pattern, const std::vector<FieldMatch>& found)
{
    for (const std::string_view name : {"key", "what", "metric", "active", "phase"}) {
        if (const FieldMatch* const match = findField(pattern, found, name)) {
            return match->text;
        }
    }
    return {};
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// "[After model building]" is a message as well.
std::string_view withoutBrackets(std::string_view text)
{
    const bool hasBrackets = text.size() > 2 && text.starts_with('[') && text.find(']') == text.size() - 1;
    return hasBrackets ? trimmed(text.substr(1, text.size() - 2)) : text;
}

/// The last line with something on it.
std::string_view lastLineOf(std::string_view text)
{
    text = trimmed(text);
    return text.substr(text.find_last_of('\n') + 1); // npos + 1 is 0
}

/// A caller's message without the launcher's and the logger's brackets before it: "[rank3]: [time] [INFO]
/// [utils.py:627:see_memory_usage] Engine before forward".
std::string_view messageOf(std::string_view line)
{
    line = trimmed(line);
    while (line.starts_with('[')) {
        const std::size_t close = std::min(line.find("] "), line.find("]: "));
        if (close == npos) {
            break;
        }
        line = trimmed(line.substr(line.find(' ', close)));
    }
    return line.substr(0, longestPhase);
}

} // namespace

void LineReader::read(const LogLine& line, std::span<const std::uint16_t> formats, std::int64_t number,
                      Surroundings& around, LineSink& sink)
{
    if (formats.size() == 1 && m_formats.formats[formats.front()].plainReader) {
        if (readPlainLine(line, sink)) {
            sink.seen(formats.front());
        }
        return; // nothing to prepare and nothing to merge: this format may be on every line
    }
    m_sink = &sink;
    m_number = number;
    m_line = line.text.substr(0, longestText);
    m_draft = {};
    m_timers.clear();
    m_phase.clear();
    for (const std::uint16_t index : formats) {
        const LineFormat& format = m_formats.formats[index];
        const bool found = format.plainReader ? readPlainLine(line, sink) : readFormat(format, line, around);
        if (found) {
            sink.seen(index);
        }
    }
    flush();
    if (m_matcher.takeLimitReached()) {
        sink.problem(Severity::Warning, Text(HEADROOM_TR("core", "the line is too intricate to be read")));
    }
}

bool LineReader::readFormat(const LineFormat& format, const LogLine& line, Surroundings& around)
{
    std::string_view text = m_line;
    if (format.lines > 1) {
        m_joined.assign(m_line).append("\n").append(around.after(format.lines - 1));
        text = m_joined;
    }
    std::size_t from = 0;
    int matches = 0;
    for (; matches < mostMatches; ++matches) {
        // What begins on a later line has an anchor of its own there.
        if (!m_matcher.next(format.pattern, text, from) || (format.lines > 1 && m_matcher.begin() > m_line.size())) {
            break;
        }
        // A number that touches the end of a line which is still being written may go on.
        const std::vector<FieldMatch>& found = m_matcher.found();
        if (line.cutOff && isSeries(format.kind) && !found.empty()
            && found.back().text.data() + found.back().text.size() == text.data() + text.size()) {
            m_sink->problem(Severity::Note,
                            Text(HEADROOM_TR("core", "the file ends inside this line; it may still be being written")));
            break;
        }
        if (matches > 0 && isSeries(format.kind) && format.values.empty()) {
            flush();
        }
        readMatch(format, text, around);
    }
    return matches > 0;
}

void LineReader::readMatch(const LineFormat& format, std::string_view text, Surroundings& around)
{
    if (!isSeries(format.kind)) {
        addFact(format, 0);
    } else {
        m_draft.record.nearStep
            = m_draft.record.nearStep == LineFormat::Step::Next ? LineFormat::Step::Next : format.step;
        apply(format);
        if (format.firstEpoch) {
            m_draft.countFromEpoch(*format.firstEpoch);
        }
        if (m_draft.record.phase.empty() && format.phaseIsLineBefore) {
            m_phase = messageBefore(format, around);
            const std::string_view own = textOf(findField(format.pattern, m_matcher.found(), "when"));
            m_phase = own.empty() ? m_phase : std::string(withoutBrackets(own).substr(0, longestPhase));
            m_draft.record.phase = m_phase;
            takeKindFromPhase();
        } else if (m_draft.record.phase.empty()) {
            m_draft.record.phase = format.phase;
        }
    }
    if (format.pairs) {
        const FieldMatch* const rest = findField(format.pattern, m_matcher.found(), "rest");
        readPairs(m_formats.formats[*format.pairs], rest != nullptr ? rest->text : text);
    }
    if (!format.rows.empty()) {
        readRows(format, around);
    }
}

/// The caller's message: the last line above that is one, else the line before.
std::string LineReader::messageBefore(const LineFormat& format, Surroundings& around)
{
    std::string_view above = around.before(std::max(format.above, 2));
    const std::string last(messageOf(lastLineOf(above)));
    const auto row = std::ranges::find_if(
        format.rows, [&](std::size_t index) { return m_formats.formats[index].kind == LineKind::Phase; });
    const auto isOwn = [&](std::string_view line) {
        return std::ranges::any_of(format.anchors,
                                   [&](const std::string& anchor) { return line.find(anchor) != npos; });
    };
    std::string message = isOwn(lastLineOf(above)) ? std::string() : last;
    while (row != format.rows.end() && !(above = trimmed(above)).empty()) {
        const std::size_t begin = above.find_last_of('\n') + 1; // npos + 1 is 0
        const std::string_view line = above.substr(begin);
        std::size_t from = 0;
        if (isOwn(line)) {
            break;
        }
        if (m_messageMatcher.next(m_formats.formats[*row].pattern, line, from)) {
            message = textOf(findField(m_formats.formats[*row].pattern, m_messageMatcher.found(), "phase"));
            break;
        }
        above = above.substr(0, begin);
    }
    return message.substr(0, longestPhase);
}

/// Galvatron prints the same line for allocated and for reserved, below a head that says which.
void LineReader::takeKindFromPhase()
{
    for (const std::string_view kind : {std::string_view(" [Allocated]"), std::string_view(" [Reserved]")}) {
        if (m_phase.ends_with(kind)) {
            m_phase.resize(m_phase.size() - kind.size());
            m_draft.record.phase = m_phase;
            if (kind == " [Reserved]") {
                m_draft.becomeReserved();
            }
        }
    }
}

void LineReader::readPairs(const LineFormat& pairs, std::string_view text)
{
    std::size_t from = 0;
    for (int matches = 0; matches < mostMatches && m_matcher.next(pairs.pattern, text, from); ++matches) {
        if (isSeries(pairs.kind)) {
            apply(pairs);
        } else {
            addFact(pairs, 0);
        }
    }
}

void LineReader::readRows(const LineFormat& format, Surroundings& around)
{
    const auto each = [&](std::string_view text, std::int64_t distance, bool stops) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            const std::string_view line = text.substr(0, end);
            if (stops && !format.until.empty() && line.find(format.until) != std::string_view::npos) {
                return;
            }
            for (const std::size_t row : format.rows) {
                readRow(format, m_formats.formats[row], line, distance);
            }
            ++distance;
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    };
    if (format.above > 0) {
        std::string_view above = around.before(format.above);
        if (!format.until.empty()) { // the block begins with the last line that would end one
            const std::size_t last = above.rfind(format.until);
            const std::size_t begin = last == std::string_view::npos ? 0 : above.substr(0, last).rfind('\n') + 1;
            above.remove_prefix(begin);
        }
        each(above, -std::ranges::count(above, '\n'), false);
    }
    if (format.reach > 0) {
        each(around.after(format.reach), 1, true);
    }
}

/// Rows that have anchors of their own become facts there; here they only tell the record's device.
void LineReader::readRow(const LineFormat& head, const LineFormat& row, std::string_view text, std::int64_t distance)
{
    std::size_t from = 0;
    text = text.substr(0, longestText);
    for (int matches = 0; matches < mostMatches && m_matcher.next(row.pattern, text, from); ++matches) {
        if (isSeries(row.kind) || (isSeries(head.kind) && !row.isInner)) {
            apply(row, distance);
        } else if (row.kind != LineKind::Phase) {
            addFact(row, distance);
        }
    }
}

/// The fields of the match become those of the draft.
void LineReader::apply(const LineFormat& format, std::int64_t distance)
{
    const std::vector<FieldMatch>& found = m_matcher.found();
    const LinePattern& pattern = format.pattern;
    if (!format.values.empty()) {
        const std::string_view key = keyOf(pattern, found);
        const auto value = std::ranges::find(format.values, key, &LineFormat::Value::key);
        if (value != format.values.end()) {
            const FieldMatch* match = findField(pattern, found, value->asMatched ? "bytes" : "val");
            match = match != nullptr ? match : findField(pattern, found, value->asMatched ? "val" : "bytes");
            const FieldRule& rule = value->asMatched && match != nullptr ? pattern.fields()[match->field] : value->rule;
            FieldRule named = rule;
            named.name = value->rule.name;
            const auto number = match == nullptr
                ? std::nullopt
                : fieldNumber(named, match->text, textOf(findField(pattern, found, "unit")));
            if (number && value->rule.name == timerField) {
                addTimer(key, *number, distance);
            } else if (number) {
                m_draft.set(value->rule.name, *number);
            }
        }
    }
    for (const FieldMatch& match : found) {
        const FieldRule& rule = pattern.fields()[match.field];
        if (rule.unit == FieldUnit::Text) {
            if ((rule.name == "phase" || rule.name == "validation") && m_draft.record.phase.empty()) {
                m_phase = trimmed(match.text.substr(0, longestPhase)); // its text may be that of a line around
                m_draft.record.phase = m_phase;
            }
        } else if (const std::optional<double> number = fieldNumber(rule, match.text)) {
            m_draft.set(rule.name, *number);
        }
    }
    if (format.kind == LineKind::Timers && format.isInner) {
        addNamedTimer(format, distance);
    }
}

void LineReader::addTimer(std::string_view name, double milliseconds, std::int64_t distance)
{
    if (name.empty() || !(milliseconds >= 0) || !std::isfinite(milliseconds) || m_timers.size() >= mostTimers) {
        return;
    }
    LineTimer times;
    times.seconds = static_cast<float>(milliseconds / 1000);
    times.distance = distance;
    m_timers.push_back({std::string(name.substr(0, longestPhase)), times});
}

/// A time and its name, or one of a rank below the line with the name.
void LineReader::addNamedTimer(const LineFormat& format, std::int64_t distance)
{
    const LinePattern& pattern = format.pattern;
    const std::vector<FieldMatch>& found = m_matcher.found();
    const auto numberOf = [&](std::string_view field) {
        const FieldMatch* const match = findField(pattern, found, field);
        return match == nullptr ? std::nullopt : fieldNumber(pattern.fields()[match->field], match->text);
    };
    if (const FieldMatch* const name = findField(pattern, found, "name")) {
        m_timerName = name->text;
    }
    const std::optional<double> most = numberOf("max_ms");
    const std::size_t known = m_timers.size();
    addTimer(m_timerName, most.value_or(-1), distance);
    if (m_timers.size() == known) {
        return;
    }
    LineTimer& times = m_timers.back().times;
    if (const std::optional<double> least = numberOf("min_ms"); least && *least >= 0 && *least <= *most) {
        times.leastSeconds = static_cast<float>(*least / 1000);
    }
    const double rank = numberOf("timer_rank").value_or(-1);
    times.rank = rank <= std::numeric_limits<std::int16_t>::max() ? static_cast<std::int32_t>(rank) : -1;
}

void LineReader::addFact(const LineFormat& format, std::int64_t distance)
{
    LogFact fact{.kind = format.kind,
                 .format = format.id,
                 .file = 0,
                 .rank = rankOfPrefix(m_line),
                 .line = m_number + distance,
                 .fields = {}};
    for (const FieldMatch& match : m_matcher.found()) {
        const FieldRule& rule = format.pattern.fields()[match.field];
        const bool isText = rule.unit == FieldUnit::Text;
        fact.fields.push_back({rule.name, std::string(trimmed(match.text.substr(0, longestField))),
                               isText ? std::nullopt : fieldNumber(rule, match.text)});
        if (rule.name == "rank" && fact.fields.back().number.value_or(-1) >= 0) {
            fact.rank = static_cast<std::int32_t>(std::min(*fact.fields.back().number, 32767.0));
        }
    }
    m_sink->fact(std::move(fact));
}

void LineReader::flush()
{
    LineRecord& record = m_draft.record;
    if ((!m_draft.isEmpty() || !m_timers.empty()) && record.rank < 0) {
        record.rank = std::max(rankOfPrefix(m_line), -1);
    }
    if (m_draft.capacity()) {
        LogFact fact;
        fact.kind = LineKind::Capacity;
        fact.rank = record.rank;
        fact.line = m_number;
        fact.fields.push_back({"capacity_bytes", {}, m_draft.capacity()});
        m_sink->fact(std::move(fact));
    }
    m_draft.finish(*m_sink);
    for (Timer& timer : m_timers) {
        timer.times.name = timer.name;
        timer.times.step = record.step;
        timer.times.nearStep = record.nearStep;
        const bool isOfAllRanks = timer.times.leastSeconds.has_value();
        timer.times.rank = timer.times.rank < 0 && !isOfAllRanks ? record.rank : timer.times.rank;
        m_sink->timer(timer.times);
    }
    m_timers.clear();
    m_draft = {};
    m_phase.clear();
}

} // namespace headroom
