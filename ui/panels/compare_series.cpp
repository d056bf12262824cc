// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/compare_series.h"

#include "workspace/wording.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom {
namespace {

/// Texts of the tab Compare.
class CompareText
{
    Q_DECLARE_TR_FUNCTIONS(CompareText)
};

using Line = OverlayLine;

std::array<const ComparedSide*, 2> sidesOf(const ComparedRuns& runs)
{
    return {&runs.before, &runs.after};
}

std::array<QString, 2> namesOf(const ComparedRuns& runs)
{
    return {titleOf(runs.comparison.before), titleOf(runs.comparison.after)};
}

void fill(const StepLine& from, Line& line)
{
    line.keys.assign(from.steps.begin(), from.steps.end());
    line.values.resize(from.bytes.size());
    std::transform(from.bytes.begin(), from.bytes.end(), line.values.begin(),
                   [](std::int64_t bytes) { return Bytes{bytes}.gib(); });
}

/// What the device was missing, the largest of each step.
StepLine deviceLine(const Run& run)
{
    std::map<std::uint32_t, std::int64_t> most;
    for (std::size_t i = 0; i < run.deviceBytes.records.size(); ++i) {
        std::int64_t& bytes = most[run.step[run.deviceBytes.records[i]]];
        bytes = std::max(bytes, run.deviceBytes.values[i]);
    }
    StepLine line;
    for (const auto& [step, bytes] : most) {
        line.steps.push_back(step);
        line.bytes.push_back(bytes);
    }
    return line;
}

const MetricLine* metricOf(const PeakSeries& series, ComparedQuantity quantity)
{
    const Metric metric = quantity == ComparedQuantity::StepTime ? Metric::StepTime : Metric::TokensPerSecond;
    const auto found = std::find_if(series.metrics.begin(), series.metrics.end(),
                                    [metric](const MetricLine& line) { return line.metric == metric; });
    return found != series.metrics.end() ? &*found : nullptr;
}

bool tells(const Run& run, const PeakSeries& series, ComparedQuantity quantity)
{
    switch (quantity) {
    case ComparedQuantity::Allocated:
        return !series.phases.empty();
    case ComparedQuantity::Reserved:
        return !series.reserved.isEmpty();
    case ComparedQuantity::Device:
        return !run.deviceBytes.records.empty();
    case ComparedQuantity::StepTime:
    case ComparedQuantity::TokensPerSecond:
        return metricOf(series, quantity) != nullptr;
    case ComparedQuantity::Stages:
        break;
    }
    return false;
}

std::vector<Line> linesOfLog(const Run& run, const PeakSeries& series, ComparedQuantity quantity)
{
    std::vector<Line> lines;
    const auto add = [&lines](const QString& name, Line::Hue hue, std::size_t phase, const StepLine& from) {
        if (!from.isEmpty()) {
            lines.emplace_back();
            lines.back().name = name;
            lines.back().hue = hue;
            lines.back().phase = phase;
            fill(from, lines.back());
        }
    };
    switch (quantity) {
    case ComparedQuantity::Allocated:
        for (const PhaseLine& phase : series.phases) {
            add(toQString(phase.name), Line::Hue::Phase, phase.phase, phase.line);
        }
        break;
    case ComparedQuantity::Reserved:
        add(CompareText::tr("reserved"), Line::Hue::Reserved, 0, series.reserved);
        break;
    case ComparedQuantity::Device:
        add(CompareText::tr("device"), Line::Hue::Device, 0, deviceLine(run));
        break;
    case ComparedQuantity::StepTime:
    case ComparedQuantity::TokensPerSecond:
        if (const MetricLine* metric = metricOf(series, quantity)) {
            lines.emplace_back();
            lines.back().name = titleOf(quantity);
            lines.back().keys.assign(metric->steps.begin(), metric->steps.end());
            lines.back().values = metric->values;
        }
        break;
    case ComparedQuantity::Stages:
        break;
    }
    return lines;
}

/// Level lines of the fullest stage.
std::vector<Line> linesOfEstimate(const Footprint& footprint, ComparedQuantity quantity, std::array<double, 2> steps)
{
    std::vector<Line> lines;
    const auto add = [&](const QString& name, Line::Hue hue, std::size_t phase, Bytes bytes) {
        if (bytes.value > 0) {
            lines.push_back({{}, name, hue, phase, false, {steps[0], steps[1]}, {bytes.gib(), bytes.gib()}});
        }
    };
    const StageFootprint& fullest = footprint.fullest();
    if (quantity == ComparedQuantity::Allocated) {
        for (std::size_t phase = 0; phase < fullest.phases.size(); ++phase) {
            add(toQString(nameOf(static_cast<Phase>(phase))), Line::Hue::Phase, phase, fullest.phases[phase]);
        }
    } else if (quantity == ComparedQuantity::Reserved && footprint.engine == Engine::Replay) {
        add(CompareText::tr("reserved"), Line::Hue::Reserved, 0, fullest.peakReserved);
    } else if (quantity == ComparedQuantity::Device) {
        add(CompareText::tr("device"), Line::Hue::Device, 0, fullest.device);
    }
    return lines;
}

std::array<double, 2> stepsOf(const ComparedSeries& series)
{
    for (const auto& log : series) {
        if (log && !log->isEmpty()) {
            return {static_cast<double>(log->firstStep()), static_cast<double>(log->lastStep())};
        }
    }
    return {0, 1};
}

} // namespace

QString titleOf(const RunFigures& figures)
{
    const QString name = toQString(figures.name);
    return figures.isEstimate ? CompareText::tr("%1 (estimate)").arg(name) : name;
}

QString titleOf(ComparedQuantity quantity)
{
    switch (quantity) {
    case ComparedQuantity::Allocated:
        return CompareText::tr("Allocated, by phase");
    case ComparedQuantity::Reserved:
        return CompareText::tr("Reserved");
    case ComparedQuantity::Device:
        return CompareText::tr("Device");
    case ComparedQuantity::StepTime:
        return CompareText::tr("Step time");
    case ComparedQuantity::TokensPerSecond:
        return CompareText::tr("Tokens/s");
    case ComparedQuantity::Stages:
        break;
    }
    return CompareText::tr("Stages");
}

std::vector<ComparedQuantity> quantitiesOf(const ComparedRuns& runs, const ComparedSeries& series)
{
    std::vector<ComparedQuantity> found;
    for (const ComparedQuantity quantity :
         {ComparedQuantity::Allocated, ComparedQuantity::Reserved, ComparedQuantity::Device, ComparedQuantity::StepTime,
          ComparedQuantity::TokensPerSecond}) {
        bool isTold = false;
        for (std::size_t side = 0; side < 2; ++side) {
            isTold = isTold || (series[side] && tells(*sidesOf(runs)[side]->run, *series[side], quantity));
        }
        if (isTold) {
            found.push_back(quantity);
        }
    }
    if (runs.before.footprint || runs.after.footprint) {
        // Two estimates have no steps; beside a log the stages come second.
        found.push_back(ComparedQuantity::Stages);
    }
    return found;
}

OverlayData overlayOf(const ComparedRuns& runs, const ComparedSeries& series, ComparedQuantity quantity)
{
    OverlayData data;
    data.title = titleOf(quantity);
    if (quantity == ComparedQuantity::StepTime) {
        data.unit = CompareText::tr("s");
    } else if (quantity == ComparedQuantity::TokensPerSecond) {
        data.unit = CompareText::tr("tokens/s");
    }
    for (std::size_t side = 0; side < 2; ++side) {
        const ComparedSide& run = *sidesOf(runs)[side];
        std::vector<Line> lines;
        if (series[side]) {
            lines = linesOfLog(*run.run, *series[side], quantity);
        } else if (run.footprint) {
            lines = linesOfEstimate(*run.footprint, quantity, stepsOf(series));
        }
        for (Line& line : lines) {
            line.run = namesOf(runs)[side];
            line.isEarlier = side == 0;
            data.lines.push_back(std::move(line));
        }
    }
    return data;
}

StagePairs pairsOf(const ComparedRuns& runs)
{
    StagePairs pairs;
    const std::array<const RunFigures*, 2> figures{&runs.comparison.before, &runs.comparison.after};
    for (std::size_t side = 0; side < 2; ++side) {
        const ComparedSide& run = *sidesOf(runs)[side];
        StagePairs::Side& shown = pairs.sides[side];
        shown.name = toQString(figures[side]->name); // bars are estimates, marks are measured
        if (run.footprint) {
            shown.stages = run.footprint->stages;
            if (run.footprint->engine != Engine::Replay) {
                for (StageFootprint& stage : shown.stages) {
                    stage.peakReserved = {}; // there was no allocator to reserve any
                }
            }
        } else {
            shown.measured = run.measuredStages;
            if (shown.measured.empty()) {
                shown.peak = figures[side]->allocated;
            }
        }
        if (run.footprint && run.footprint->capacity) {
            pairs.capacity = run.footprint->capacity;
        }
    }
    return pairs;
}

OverlayData overlayOf(const std::vector<HistoryRun>& runs, std::optional<std::size_t> reference)
{
    OverlayData data;
    data.title = CompareText::tr("Peaks of the runs");
    data.reference = reference;
    const std::array<std::tuple<QString, Line::Hue, std::optional<Bytes> RunFigures::*>, 3> kinds{
        {{CompareText::tr("allocated"), Line::Hue::Figure, &RunFigures::allocated},
         {CompareText::tr("reserved"), Line::Hue::Reserved, &RunFigures::reserved},
         {CompareText::tr("device"), Line::Hue::Device, &RunFigures::device}}};
    for (const HistoryRun& run : runs) {
        data.runNames.push_back(titleOf(run.figures));
    }
    for (const auto& [name, hue, member] : kinds) {
        Line line;
        line.name = name;
        line.hue = hue;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (const std::optional<Bytes>& bytes = runs[i].figures.*member) {
                line.keys.push_back(static_cast<double>(i));
                line.values.push_back(bytes->gib());
            }
        }
        if (!line.keys.empty()) {
            data.lines.push_back(std::move(line));
        }
    }
    std::optional<std::int64_t> capacity;
    bool isOne = true;
    for (const HistoryRun& run : runs) {
        if (run.plan && run.plan->hardware.capacityBytes.isKnown()) {
            isOne = isOne
                && capacity.value_or(run.plan->hardware.capacityBytes.value) == run.plan->hardware.capacityBytes.value;
            capacity = run.plan->hardware.capacityBytes.value;
        }
    }
    if (capacity && isOne) {
        data.capacity = Bytes{*capacity};
        data.capacityLabel = CompareText::tr("capacity %1").arg(gibText(*data.capacity));
    }
    return data;
}

QString changesText(const std::vector<ChangedVariable>& variables)
{
    constexpr std::size_t most = 3;
    QStringList parts;
    for (const ChangedVariable& variable : variables) {
        // A switch of several fields is told by its name: all of them stand in the tool tip.
        const FieldDifference& one = variable.differences.front();
        const auto value = [](const std::string& text) { return text.empty() ? QStringLiteral("–") : toQString(text); };
        parts.append(variable.differences.size() == 1
                         ? QStringLiteral("%1 %2 → %3").arg(toQString(one.key), value(one.before), value(one.after))
                         : toQString(variable.id));
    }
    const auto hidden = static_cast<int>(parts.size()) - static_cast<int>(most);
    if (hidden > 0) {
        parts = parts.first(most);
        parts.append(CompareText::tr("%n more", nullptr, hidden));
    }
    return parts.join(QStringLiteral(", "));
}

QString percentText(double before, double after)
{
    if (before <= 0) {
        return {};
    }
    const double change = 100 * (after / before - 1);
    const QString sign = change < 0 ? QStringLiteral("−") : QStringLiteral("+");
    return QStringLiteral("%1%2 %").arg(sign, QLocale().toString(std::abs(change), 'f', 1));
}

} // namespace headroom
