// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peak_series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace headroom {

namespace {

/// Builds a StepLine record by record: one comparison each while steps come in order, as they do in one file.
class StepLineBuilder
{
public:
    void add(std::uint32_t step, std::int64_t bytes, std::uint32_t record)
    {
        if (!m_line.steps.empty() && m_line.steps.back() == step) {
            if (bytes > m_line.bytes.back()) {
                m_line.bytes.back() = bytes;
                m_line.records.back() = record;
            }
            return;
        }
        m_isSorted = m_isSorted && (m_line.steps.empty() || m_line.steps.back() < step);
        m_line.steps.push_back(step);
        m_line.bytes.push_back(bytes);
        m_line.records.push_back(record);
    }

    [[nodiscard]] StepLine finish() { return m_isSorted ? std::move(m_line) : sorted(); }

private:
    /// Several files of one rank each, or a run that started again: sort, then merge equal steps.
    [[nodiscard]] StepLine sorted() const
    {
        std::vector<std::uint32_t> order(m_line.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [this](std::uint32_t a, std::uint32_t b) { return m_line.steps[a] < m_line.steps[b]; });
        StepLineBuilder merged;
        for (const std::uint32_t i : order)
            merged.add(m_line.steps[i], m_line.bytes[i], m_line.records[i]);
        return std::move(merged.m_line);
    }

    StepLine m_line;
    bool m_isSorted = true;
};

std::optional<std::size_t> lastAtOrBefore(const std::vector<std::uint32_t>& steps, std::int64_t step)
{
    const auto after = std::upper_bound(steps.begin(), steps.end(), step,
                                        [](std::int64_t value, std::uint32_t element) { return value < element; });
    if (after == steps.begin())
        return std::nullopt;
    return static_cast<std::size_t>(after - steps.begin()) - 1;
}

/// Builds the lines of the channels asked for. Records of ranks nobody asked for cost one look into a table.
class AddedLines
{
public:
    AddedLines(const Run& run, std::optional<int> rank, const std::vector<Channel>& channels)
        : m_run(run)
        , m_channels(channels)
        , m_rank(rank)
        , m_lines(channels.size())
    {
        for (std::size_t i = 0; i < channels.size(); ++i) {
            if (!channels[i].isTimer)
                m_ofRank[channels[i].rank].push_back(i);
        }
    }

    void add(std::size_t i)
    {
        if (m_run.rank[i] >= 0)
            addTo(m_run.rank[i], i);
        if (!m_rank || m_run.rank[i] == *m_rank)
            addTo(Channel::overRanks, i);
    }

    [[nodiscard]] std::vector<ChannelLine> finish()
    {
        std::vector<ChannelLine> lines;
        for (std::size_t i = 0; i < m_channels.size(); ++i) {
            StepLine line = m_lines[i].finish();
            const auto name = std::find(m_run.phaseNames.begin(), m_run.phaseNames.end(), m_channels[i].phase);
            const auto phase = name != m_run.phaseNames.end()
                ? std::optional(static_cast<std::uint8_t>(name - m_run.phaseNames.begin()))
                : std::nullopt;
            if (!line.isEmpty())
                lines.push_back({m_channels[i], phase, std::move(line)});
        }
        return lines;
    }

private:
    void addTo(int rank, std::size_t i)
    {
        const auto channels = m_ofRank.find(rank);
        if (channels == m_ofRank.end())
            return;
        for (const std::size_t which : channels->second) {
            const Channel& channel = m_channels[which];
            if (!channel.phase.empty() && channel.phase != m_run.phaseNames[m_run.phase[i]])
                continue;
            const std::int64_t bytes = !channel.isReserved ? m_run.allocatedBytes[i]
                : m_run.reservedBytes.empty()              ? Run::noReserved
                                                           : m_run.reservedBytes[i];
            if (bytes >= 0)
                m_lines[which].add(m_run.step[i], bytes, static_cast<std::uint32_t>(i));
        }
    }

    const Run& m_run;
    const std::vector<Channel>& m_channels;
    std::optional<int> m_rank;
    std::vector<StepLineBuilder> m_lines;
    std::map<int, std::vector<std::size_t>> m_ofRank;
};

/// `columns`: the same on lines that tell nothing of memory, a value for each of `steps`.
template <class T>
void addMetric(const Run& run, std::optional<int> rank, Metric metric, const Sparse<T>& values,
               const std::vector<T>& columns, std::vector<MetricLine>& lines)
{
    std::map<std::uint32_t, double> ofStep; // logs of several ranks come one after the other
    for (std::size_t i = 0; i < std::min(columns.size(), run.steps.size()); ++i) {
        if (std::isfinite(columns[i]))
            ofStep.insert_or_assign(ofStep.end(), run.steps.step[i], static_cast<double>(columns[i]));
    }
    for (std::size_t i = 0; i < values.records.size(); ++i) {
        const std::uint32_t record = values.records[i];
        const auto value = static_cast<double>(values.values[i]);
        if (std::isfinite(value) && (!rank || run.rank[record] == *rank))
            ofStep.insert_or_assign(ofStep.end(), run.step[record], value);
    }
    if (ofStep.empty() && rank)
        return addMetric(run, {}, metric, values, columns, lines); // often one rank tells for all
    if (ofStep.empty())
        return;
    MetricLine line{metric, {}, {}, {}};
    for (const auto& [step, value] : ofStep) {
        line.steps.push_back(step);
        line.values.push_back(value);
    }
    lines.push_back(std::move(line));
}

} // namespace

std::optional<std::size_t> StepLine::holdLast(std::int64_t step) const
{
    return lastAtOrBefore(steps, step);
}

std::optional<std::size_t> MetricLine::holdLast(std::int64_t step) const
{
    return lastAtOrBefore(steps, step);
}

std::optional<std::size_t> StepLine::peak() const
{
    if (isEmpty())
        return std::nullopt;
    return static_cast<std::size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

PeakSeries makePeakSeries(const Run& run, std::optional<int> rank, const std::vector<Channel>& added)
{
    std::vector<StepLineBuilder> phases(run.phaseNames.size());
    StepLineBuilder overall, reserved;
    AddedLines addedLines(run, rank, added);
    for (std::size_t i = 0; i < run.size(); ++i) {
        if (run.phase[i] >= phases.size())
            continue;
        if (!added.empty())
            addedLines.add(i);
        if (rank && run.rank[i] != *rank)
            continue;
        const auto record = static_cast<std::uint32_t>(i);
        if (run.hasAllocated(i)) {
            phases[run.phase[i]].add(run.step[i], run.allocatedBytes[i], record);
            overall.add(run.step[i], run.allocatedBytes[i], record);
        }
        if (!run.reservedBytes.empty() && run.reservedBytes[i] != Run::noReserved)
            reserved.add(run.step[i], run.reservedBytes[i], record);
    }

    PeakSeries series;
    series.rank = rank;
    series.ranks = run.ranks();
    series.overall = overall.finish();
    series.reserved = reserved.finish();
    if (series.overall.isEmpty())
        series.overall = series.reserved;
    series.added = addedLines.finish();
    series.metrics = makeMetricLines(run, rank);
    series.timers = makeTimerLines(run, rank, added);
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        StepLine line = phases[phase].finish();
        if (!line.isEmpty())
            series.phases.push_back({static_cast<std::uint8_t>(phase), run.phaseNames[phase], std::move(line)});
    }
    return series;
}

std::vector<MetricLine> makeMetricLines(const Run& run, std::optional<int> rank)
{
    std::vector<MetricLine> lines;
    addMetric(run, rank, Metric::StepTime, run.stepSeconds, run.steps.seconds, lines);
    addMetric(run, rank, Metric::TokensPerSecond, run.tokensPerSecond, run.steps.tokensPerSecond, lines);
    addMetric(run, rank, Metric::Loss, run.loss, run.steps.loss, lines);
    return lines;
}

std::vector<MetricLine> makeTimerLines(const Run& run, std::optional<int> rank, const std::vector<Channel>& channels)
{
    std::vector<MetricLine> lines;
    for (const Channel& channel : channels) {
        const auto name = std::find(run.timerNames.begin(), run.timerNames.end(), channel.phase);
        if (!channel.isTimer || name == run.timerNames.end())
            continue;
        const auto index = static_cast<std::uint16_t>(name - run.timerNames.begin());
        const auto gather = [&](std::optional<int> ofRank) {
            std::map<std::uint32_t, double> ofStep;
            for (std::size_t i = 0; i < run.timers.size(); ++i) {
                if (run.timers.name[i] != index || (ofRank && run.timers.rank[i] != *ofRank))
                    continue;
                double& most = ofStep.try_emplace(ofStep.end(), run.timers.step[i], 0)->second;
                most = std::max(most, static_cast<double>(run.timers.seconds[i]));
            }
            return ofStep;
        };
        const bool isOverRanks = channel.rank == Channel::overRanks;
        auto ofStep = gather(isOverRanks ? rank : std::optional(channel.rank));
        if (ofStep.empty() && isOverRanks)
            ofStep = gather({}); // often one rank tells for all
        MetricLine line{Metric::Timer, {}, {}, channel};
        for (const auto& [step, seconds] : ofStep) {
            line.steps.push_back(step);
            line.values.push_back(seconds);
        }
        if (!line.steps.empty())
            lines.push_back(std::move(line));
    }
    return lines;
}

StepLine reduced(const StepLine& line, std::size_t bins)
{
    if (line.size() <= 2 * bins || bins == 0)
        return line;
    StepLine result;
    const auto keep = [&](std::size_t i) {
        result.steps.push_back(line.steps[i]);
        result.bytes.push_back(line.bytes[i]);
        result.records.push_back(line.records[i]);
    };
    const double first = line.steps.front();
    const double width = (line.steps.back() - first) / static_cast<double>(bins);
    for (std::size_t begin = 0, bin = 1; begin < line.size(); ++bin) {
        const double edge = first + width * static_cast<double>(bin);
        std::size_t low = begin, high = begin, end = begin;
        for (; end < line.size() && (line.steps[end] < edge || bin >= bins); ++end) {
            low = line.bytes[end] < line.bytes[low] ? end : low;
            high = line.bytes[end] > line.bytes[high] ? end : high;
        }
        if (end == begin)
            continue;
        keep(std::min(low, high));
        if (low != high)
            keep(std::max(low, high));
        begin = end;
    }
    return result;
}

} // namespace headroom
