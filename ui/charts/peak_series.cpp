// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peak_series.h"

#include <algorithm>
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

} // namespace

std::optional<std::size_t> StepLine::holdLast(std::int64_t step) const
{
    const auto after = std::upper_bound(steps.begin(), steps.end(), step,
                                        [](std::int64_t value, std::uint32_t element) { return value < element; });
    if (after == steps.begin())
        return std::nullopt;
    return static_cast<std::size_t>(after - steps.begin()) - 1;
}

std::optional<std::size_t> StepLine::peak() const
{
    if (isEmpty())
        return std::nullopt;
    return static_cast<std::size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
}

PeakSeries makePeakSeries(const Run& run, std::optional<int> rank)
{
    std::vector<StepLineBuilder> phases(run.phaseNames.size());
    StepLineBuilder overall, reserved;
    for (std::size_t i = 0; i < run.size(); ++i) {
        if ((rank && run.rank[i] != *rank) || run.phase[i] >= phases.size())
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
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        StepLine line = phases[phase].finish();
        if (!line.isEmpty())
            series.phases.push_back({static_cast<std::uint8_t>(phase), run.phaseNames[phase], std::move(line)});
    }
    return series;
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
