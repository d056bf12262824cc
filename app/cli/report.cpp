// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include "table.h"

#include "footprint/uncertainty.h"
#include "units/number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace headroom::cli {

namespace {

const char* mark(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return "✗";
    case Severity::Warning:
        return "!";
    case Severity::Note:
        break;
    }
    return "·";
}

std::string placeText(const Evidence& evidence)
{
    if (evidence.file.empty()) {
        return evidence.text.english();
    }
    const std::string line = evidence.line > 0 ? fmt::format(":{}", evidence.line) : std::string{};
    return fmt::format("{}{}: {}", evidence.file, line, evidence.text.english());
}

std::string valueText(const Term& term)
{
    switch (term.unit) {
    case Unit::Size:
        return formatBytes(bytesFrom(term.value), 3);
    case Unit::Number:
        return formatCount(bytesFrom(term.value).value);
    case Unit::Factor:
        break;
    }
    return formatReal(term.value);
}

void addTerms(const std::vector<Term>& terms, std::size_t depth, Table& table)
{
    for (const Term& term : terms) {
        const bool showsNumbers = !term.substituted.empty() && term.substituted != term.formula;
        const std::string working
            = showsNumbers ? fmt::format("{} = {}", term.formula, term.substituted) : term.formula;
        table.addRow({std::string(2 * depth, ' ') + term.name.english(), working, valueText(term)});
        addTerms(term.parts, depth + 1, table);
    }
}

bool isUsed(const Footprint& footprint, Component component)
{
    return std::any_of(footprint.stages.begin(), footprint.stages.end(),
                       [component](const StageFootprint& stage) { return stage.component(component).value != 0; });
}

std::string spaced(std::string_view name)
{
    std::string title(name);
    std::replace(title.begin(), title.end(), '_', ' ');
    return title;
}

std::string size(Bytes bytes)
{
    return fmt::format("{:.2f}", bytes.gib());
}

/// Short enough for a hundred columns.
std::string titleOf(Component component)
{
    switch (component) {
    case Component::OptimizerState:
        return "optimizer";
    case Component::WorkingSet:
        return "working";
    default:
        return spaced(nameOf(component));
    }
}

std::string peaksTable(const Footprint& footprint)
{
    Table table;
    for (const char* title :
         {"stage", "layers", "params", "held", "forward", "backward", "optimizer", "allocated", "reserved", "device"}) {
        table.addColumn(title);
    }
    const bool hasIntervals = footprint.fullest().intervals.has_value();
    if (hasIntervals) {
        table.addColumn("or between");
    }
    for (const StageFootprint& stage : footprint.stages) {
        const bool isFullest = stage.stage == footprint.fullest().stage;
        std::vector<std::string> row{std::to_string(stage.stage) + (isFullest ? " ←" : "  "),
                                     std::to_string(stage.layers), formatCountShort(stage.parameters),
                                     std::to_string(stage.inFlight)};
        for (const Bytes phase : stage.phases) {
            row.push_back(size(phase));
        }
        row.push_back(size(stage.peakAllocated));
        row.push_back(size(stage.peakReserved));
        row.push_back(size(stage.device));
        if (hasIntervals) {
            const Interval device = stage.intervals->device;
            row.push_back(fmt::format("{:.1f}–{:.1f}", device.low.gib(), device.high.gib()));
        }
        table.addRow(std::move(row));
    }
    return "Peaks on one GPU of each stage, GiB (← the fullest; held: micro-batches in flight)\n" + table.text();
}

std::string componentsTable(const Footprint& footprint)
{
    Table table;
    table.addColumn("stage");
    for (int i = 0; i < componentCount; ++i) {
        if (isUsed(footprint, static_cast<Component>(i))) {
            table.addColumn(titleOf(static_cast<Component>(i)));
        }
    }
    for (const StageFootprint& stage : footprint.stages) {
        std::vector<std::string> row{std::to_string(stage.stage)};
        for (int i = 0; i < componentCount; ++i) {
            if (isUsed(footprint, static_cast<Component>(i))) {
                row.push_back(size(stage.components[static_cast<std::size_t>(i)]));
            }
        }
        table.addRow(std::move(row));
    }
    return "What is allocated at the peak, and the context with NCCL beside it, GiB\n" + table.text();
}

/// "±1.25", "−0.10 +3.20", "+3.20".
std::string marginText(const UncertaintyReason& reason)
{
    if (reason.below == reason.above) {
        return fmt::format("±{:.2f}", reason.above.gib());
    }
    const std::string above = reason.above.value > 0 ? fmt::format("+{:.2f}", reason.above.gib()) : "";
    const std::string below = reason.below.value > 0 ? fmt::format("−{:.2f}", reason.below.gib()) : "";
    return fmt::format("{}{}{}", below, below.empty() || above.empty() ? "" : " ", above);
}

void addAssumption(const Assumption& assumption, const Footprint& footprint, Table& table)
{
    bool isFirst = true;
    for (const Alternative& alternative : assumption.alternatives) {
        const std::size_t stage = alternative.mostChangedStage(footprint.fullestStage);
        const double gib = alternative.changes[stage].gib();
        std::string change = fmt::format("{}{:.2f}", gib < 0 ? "−" : "+", std::abs(gib));
        if (stage != footprint.fullestStage) {
            change = fmt::format("stage {}: {}", stage, change);
        }
        table.addRow({isFirst ? fmt::format("  {}", assumption.field) : "", isFirst ? assumption.taken : "",
                      alternative.value, change});
        isFirst = false;
    }
}

std::string gpusText(const RelativeStepTime& time)
{
    return time.gpus == 1 ? "" : fmt::format(", on {:.4g} × the GPUs", time.gpus);
}

std::string mendText(const Mend& mend)
{
    std::string text = mend.label.english();
    if (mend.predictedPeak) {
        text += fmt::format(": estimate {}", formatGib(*mend.predictedPeak, 1));
    }
    if (mend.stepTime) {
        text += fmt::format(", {}", stepTimeText(*mend.stepTime));
    }
    return text;
}

std::string rangeText(Interval device)
{
    return fmt::format("{:.1f} to {:.1f} GiB", device.low.gib(), device.high.gib());
}

} // namespace

std::string findingsText(const std::vector<Finding>& findings)
{
    std::string text;
    for (const Finding& finding : findings) {
        text += wrapped(fmt::format("{} ", mark(finding.severity)), finding.title.english())
            + wrapped("    ", finding.explanation.english());
        for (const Evidence& evidence : finding.evidence) {
            text += fmt::format("    {}\n", placeText(evidence));
        }
        if (finding.mend) {
            text += wrapped("    → ", mendText(*finding.mend));
        }
        for (const Mend& other : finding.alternatives) {
            text += wrapped("    → or ", mendText(other));
        }
    }
    return text;
}

std::string stagesText(const Footprint& footprint)
{
    return peaksTable(footprint) + "\n" + componentsTable(footprint);
}

std::string uncertaintyText(const Uncertainty& uncertainty, const Footprint& footprint)
{
    std::string text;
    const StageFootprint& stage = footprint.fullest();
    if (stage.intervals && !uncertainty.reasons.empty()) {
        const Interval device = stage.intervals->device;
        text += fmt::format("Stage {} may need {} to {} of device memory\n", stage.stage, formatGib(device.low, 1),
                            formatGib(device.high, 1));
        for (const UncertaintyReason& reason : uncertainty.reasons) {
            text += wrapped(fmt::format("  {:>12} GiB  ", marginText(reason)), reason.text.english());
        }
    }
    if (uncertainty.assumptions.empty()) {
        return text;
    }
    Table table;
    table.addColumn("  not given", Table::Align::Left);
    table.addColumn("taken", Table::Align::Left);
    table.addColumn("instead", Table::Align::Left);
    table.addColumn("change, GiB");
    for (const Assumption& assumption : uncertainty.assumptions) {
        addAssumption(assumption, footprint, table);
    }
    return text + fmt::format("\nAssumed, and what the allocated peak of stage {} would be otherwise\n", stage.stage)
        + table.text();
}

std::string stepTimeText(const RelativeStepTime& time)
{
    if (!time.isClear()) {
        return "about the same time for the same samples" + gpusText(time);
    }
    std::vector<std::string> parts;
    for (int i = 0; i < stepPartCount; ++i) {
        const double change = time.changes[static_cast<std::size_t>(i)];
        if (std::abs(change) >= 0.02) {
            parts.push_back(fmt::format("{} {}{:.0f} %", spaced(nameOf(static_cast<StepPart>(i))),
                                        change < 0 ? "−" : "+", 100 * std::abs(change)));
        }
    }
    return fmt::format("{:.2f} × the time for the same samples{}{}{}", time.ratio, parts.empty() ? "" : ": ",
                       fmt::join(parts, ", "), gpusText(time));
}

std::string workingText(const std::vector<Term>& terms)
{
    Table table;
    table.addColumn("working", Table::Align::Left);
    table.addColumn("formula", Table::Align::Left);
    table.addColumn("value");
    addTerms(terms, 0, table);
    return table.text();
}

std::string verdictText(const Footprint& footprint)
{
    const StageFootprint& stage = footprint.fullest();
    const std::string_view phase = nameOf(stage.peakPhase);
    if (!footprint.capacity) {
        return fmt::format(
            "Peaks at {} on stage {} in {}. No GPU is named, so nothing says whether that fits (--gpu, --capacity).",
            formatGib(stage.device), stage.stage, phase);
    }
    const Bytes rest = *footprint.capacity - stage.device;
    const std::string figures = fmt::format(
        "stage {} peaks at {} of {} in {}, {} {}", stage.stage, formatGib(stage.device), formatGib(*footprint.capacity),
        phase, formatGib(rest.value < 0 ? Bytes{-rest.value} : rest), rest.value < 0 ? "over" : "left");
    if (footprint.fit() == Fit::MayNotFit && stage.intervals) {
        return fmt::format("Close: {}, but {} are possible: it may {}fit.", figures, rangeText(stage.intervals->device),
                           rest.value < 0 ? "yet " : "not ");
    }
    return fmt::format("{}: {}.", rest.value < 0 ? "Does not fit" : "Fits", figures);
}

namespace {

/// The fullest stage by theory and by measurement.
std::string sideBySide(const Calibration& calibration, const TrainingPlan& plan)
{
    Footprint theory;
    if (!estimateInstantly(plan, {}, theory)) {
        return {};
    }
    Footprint measured = theory;
    calibrate(measured, calibration);
    const std::size_t stage = measured.fullestStage;
    static_cast<void>(describeUncertainty(plan, calibration, measured));
    const StageFootprint& own = measured.stages[stage];
    const Interval interval = own.intervals ? own.intervals->allocated : Interval{own.peakAllocated, own.peakAllocated};
    return wrapped("",
                   fmt::format("Stage {}, allocated: {} by theory alone, {} by measurement (95 %: {} to {})", stage,
                               formatGib(theory.stages[stage].peakAllocated), formatGib(own.peakAllocated),
                               formatGib(interval.low), formatGib(interval.high)));
}

} // namespace

std::string calibrationText(const SavedCalibration& saved, const TrainingPlan& plan)
{
    return wrapped("Calibrated: ",
                   fmt::format("by “{}”, made on {} from {} measured peaks of {}. Activations are {:.3f} × theory, {} "
                               "beside them",
                               saved.name, saved.date, saved.points, fmt::join(saved.logs, ", "),
                               saved.calibration.activations, formatBytes(saved.calibration.offset)))
        + sideBySide(saved.calibration, plan);
}

std::string calibrationText(const Calibrated& calibrated, const TrainingPlan& plan)
{
    std::string text;
    if (!calibrated.suspects.empty()) {
        text += wrapped(
            "Not calibrated: ",
            fmt::format("the log looks as if {}; with that the estimate meets its peaks within {:.2g} %, so "
                        "the difference is not put into a coefficient",
                        calibrated.suspects.front().name.english(), calibrated.suspects.front().misfit * 100));
        return text;
    }
    const Calibration& calibration = calibrated.calibration;
    text += wrapped(
        "Calibrated: ",
        fmt::format("on {} measured peaks. Activations are {:.3f} × theory (95 %: {:.3f} to {:.3f}), k = {:.4g} "
                    "where theory has {:.4g}; {} beside them (95 %: {} to {})",
                    calibrated.residuals.size(), calibration.activations, calibrated.activations.low,
                    calibrated.activations.high, calibrated.k, calibrated.theoryK, formatBytes(calibration.offset),
                    formatBytes(calibrated.offsetLow), formatBytes(calibrated.offsetHigh)));
    text += sideBySide(calibration, plan);
    for (const Text& remark : calibrated.remarks) {
        text += wrapped("  ", remark.english());
    }
    return text;
}

} // namespace headroom::cli
