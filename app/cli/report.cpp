// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include "names.h"
#include "table.h"
#include "wording.h"

#include "footprint/outlook/uncertainty.h"
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
        return translated(evidence.text);
    }
    const std::string line = evidence.line > 0 ? fmt::format(":{}", evidence.line) : std::string{};
    return fmt::format("{}{}: {}", evidence.file, line, translated(evidence.text));
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
        table.addRow({std::string(2 * depth, ' ') + translated(term.name), working, valueText(term)});
        addTerms(term.parts, depth + 1, table);
    }
}

bool isUsed(const Footprint& footprint, Component component)
{
    return std::any_of(footprint.stages.begin(), footprint.stages.end(),
                       [component](const StageFootprint& stage) { return stage.component(component).value != 0; });
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
        return say(HEADROOM_TR("cli", "optimizer"));
    case Component::WorkingSet:
        return say(HEADROOM_TR("cli", "working"));
    default:
        return componentName(component);
    }
}

std::string peaksTable(const Footprint& footprint)
{
    Table table;
    for (const char* title : {HEADROOM_TR("cli", "stage"), HEADROOM_TR("cli", "layers"), HEADROOM_TR("cli", "params"),
                              HEADROOM_TR("cli", "held"), HEADROOM_TR("cli", "forward"), HEADROOM_TR("cli", "backward"),
                              HEADROOM_TR("cli", "optimizer"), HEADROOM_TR("cli", "allocated"),
                              HEADROOM_TR("cli", "reserved"), HEADROOM_TR("cli", "device")}) {
        table.addColumn(say(title));
    }
    const bool hasIntervals = footprint.fullest().intervals.has_value();
    if (hasIntervals) {
        table.addColumn(say(HEADROOM_TR("cli", "or between")));
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
    return say(HEADROOM_TR("cli", "Peaks on one GPU of each stage, GiB (← the fullest; held: micro-batches in flight)"))
        + '\n' + table.text();
}

std::string componentsTable(const Footprint& footprint)
{
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "stage")));
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
    return say(HEADROOM_TR("cli", "What is allocated at the peak, and the context with NCCL beside it, GiB")) + '\n'
        + table.text();
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
    if (assumption.alternatives.empty()) {
        table.addRow({fmt::format("  {}", assumption.field), assumption.taken, say(HEADROOM_TR("cli", "none")),
                      say(HEADROOM_TR("cli", "more"))});
    }
    for (const Alternative& alternative : assumption.alternatives) {
        const std::size_t stage = alternative.mostChangedStage(footprint.fullestStage);
        const double gib = alternative.changes[stage].gib();
        std::string change = fmt::format("{}{:.2f}", gib < 0 ? "−" : "+", std::abs(gib));
        if (stage != footprint.fullestStage) {
            change = say(HEADROOM_TR("cli", "stage %1: %2"), {std::to_string(stage), change});
        }
        table.addRow({isFirst ? fmt::format("  {}", assumption.field) : "", isFirst ? assumption.taken : "",
                      alternative.value, change});
        isFirst = false;
    }
}

std::string gpusText(const RelativeStepTime& time)
{
    return time.gpus == 1 ? "" : say(HEADROOM_TR("cli", ", on %1 × the GPUs"), {fmt::format("{:.4g}", time.gpus)});
}

std::string mendText(const Mend& mend)
{
    std::string text = mend.words(inOwnWords);
    if (mend.predictedPeak) {
        text += say(HEADROOM_TR("cli", ": estimate %1"), {formatGib(*mend.predictedPeak, 1)});
    }
    if (mend.stepTime) {
        text += fmt::format(", {}", stepTimeText(*mend.stepTime));
    }
    return text;
}

std::string rangeText(Interval device)
{
    return say(HEADROOM_TR("cli", "%1 to %2 GiB"),
               {fmt::format("{:.1f}", device.low.gib()), fmt::format("{:.1f}", device.high.gib())});
}

} // namespace

std::string findingsText(const std::vector<Finding>& findings)
{
    std::string text;
    for (const Finding& finding : findings) {
        text += wrapped(fmt::format("{} ", mark(finding.severity)), translated(finding.title))
            + wrapped("    ", translated(finding.explanation));
        for (const Evidence& evidence : finding.evidence) {
            text += fmt::format("    {}\n", placeText(evidence));
        }
        if (finding.mend) {
            text += wrapped("    → ", mendText(*finding.mend));
        }
        for (const Mend& other : finding.alternatives) {
            text += wrapped(say(HEADROOM_TR("cli", "    → or ")), mendText(other));
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
        text += say(HEADROOM_TR("cli", "Stage %1 may need %2 to %3 of device memory"),
                    {std::to_string(stage.stage), formatGib(device.low, 1), formatGib(device.high, 1)})
            + '\n';
        for (const UncertaintyReason& reason : uncertainty.reasons) {
            text += wrapped(fmt::format("  {:>12} GiB  ", marginText(reason)), translated(reason.text));
        }
    }
    if (uncertainty.assumptions.empty()) {
        return text;
    }
    Table table;
    table.addColumn("  " + say(HEADROOM_TR("cli", "not given")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "taken")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "instead")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "change, GiB")));
    for (const Assumption& assumption : uncertainty.assumptions) {
        addAssumption(assumption, footprint, table);
    }
    return text + '\n'
        + say(HEADROOM_TR("cli", "Assumed, and what the allocated peak of stage %1 would be otherwise"),
              {std::to_string(stage.stage)})
        + '\n' + table.text();
}

std::string stepTimeText(const RelativeStepTime& time)
{
    if (!time.isClear()) {
        return say(HEADROOM_TR("cli", "about the same time for the same samples")) + gpusText(time);
    }
    std::vector<std::string> parts;
    for (int i = 0; i < stepPartCount; ++i) {
        const double change = time.changes[static_cast<std::size_t>(i)];
        if (std::abs(change) >= 0.02) {
            parts.push_back(fmt::format("{} {}{:.0f} %", stepPartName(static_cast<StepPart>(i)), change < 0 ? "−" : "+",
                                        100 * std::abs(change)));
        }
    }
    return say(HEADROOM_TR("cli", "%1 × the time for the same samples"), {fmt::format("{:.2f}", time.ratio)})
        + fmt::format("{}{}{}", parts.empty() ? "" : ": ", fmt::join(parts, ", "), gpusText(time));
}

std::string workingText(const std::vector<Term>& terms)
{
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "term")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "formula")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "value")));
    addTerms(terms, 0, table);
    return table.text();
}

std::string verdictText(const Footprint& footprint)
{
    const StageFootprint& stage = footprint.fullest();
    const std::string phase = phaseName(stage.peakPhase);
    const std::string number = std::to_string(stage.stage);
    if (!footprint.capacity) {
        return say(HEADROOM_TR("cli",
                               "Peaks at %1 on stage %2 in %3. No GPU is named, so nothing says whether that fits "
                               "(--gpu, --capacity)."),
                   {formatGib(stage.device), number, phase});
    }
    const Bytes rest = *footprint.capacity - stage.device;
    const bool isOver = rest.value < 0;
    const std::string figures = say(isOver ? HEADROOM_TR("cli", "stage %1 peaks at %2 of %3 in %4, %5 over")
                                           : HEADROOM_TR("cli", "stage %1 peaks at %2 of %3 in %4, %5 left"),
                                    {number, formatGib(stage.device), formatGib(*footprint.capacity), phase,
                                     formatGib(isOver ? Bytes{-rest.value} : rest)});
    if (footprint.fit() == Fit::MayNotFit && stage.intervals) {
        return say(isOver ? HEADROOM_TR("cli", "Close: %1, but %2 are possible: it may yet fit.")
                          : HEADROOM_TR("cli", "Close: %1, but %2 are possible: it may not fit."),
                   {figures, rangeText(stage.intervals->device)});
    }
    return say(isOver ? HEADROOM_TR("cli", "Does not fit: %1.") : HEADROOM_TR("cli", "Fits: %1."), {figures});
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
    return wrapped(
        "",
        say(HEADROOM_TR("cli", "Stage %1, allocated: %2 by theory alone, %3 by measurement (95 %: %4 to %5)"),
            {std::to_string(stage), formatGib(theory.stages[stage].peakAllocated), formatGib(own.peakAllocated),
             formatGib(interval.low), formatGib(interval.high)}));
}

} // namespace

std::string calibrationText(const SavedCalibration& saved, const TrainingPlan& plan)
{
    return wrapped(say(HEADROOM_TR("cli", "Calibrated: ")),
                   say(HEADROOM_TR("cli",
                                   "by “%1”, made on %2 from %3 measured peaks of %4. Activations are %5 × theory, %6 "
                                   "beside them"),
                       {saved.name, saved.date, std::to_string(saved.points),
                        fmt::format("{}", fmt::join(saved.logs, ", ")),
                        fmt::format("{:.3f}", saved.calibration.activations), formatBytes(saved.calibration.offset)}))
        + sideBySide(saved.calibration, plan);
}

std::string calibrationText(const Calibrated& calibrated, const TrainingPlan& plan)
{
    std::string text;
    if (!calibrated.suspects.empty()) {
        text += wrapped(
            say(HEADROOM_TR("cli", "Not calibrated: ")),
            say(HEADROOM_TR("cli",
                            "the log looks as if %1; with that the estimate meets its peaks within %2 %, so the "
                            "difference is not put into a coefficient"),
                {translated(calibrated.suspects.front().name),
                 fmt::format("{:.2g}", calibrated.suspects.front().misfit * 100)}));
        return text;
    }
    const Calibration& calibration = calibrated.calibration;
    text += wrapped(
        say(HEADROOM_TR("cli", "Calibrated: ")),
        say(HEADROOM_TR("cli",
                        "on %1 measured peaks. Activations are %2 × theory (95 %: %3 to %4), k = %5 where theory has "
                        "%6; %7 beside them (95 %: %8 to %9)"),
            {std::to_string(calibrated.residuals.size()), fmt::format("{:.3f}", calibration.activations),
             fmt::format("{:.3f}", calibrated.activations.low), fmt::format("{:.3f}", calibrated.activations.high),
             fmt::format("{:.4g}", calibrated.k), fmt::format("{:.4g}", calibrated.theoryK),
             formatBytes(calibration.offset), formatBytes(calibrated.offsetLow), formatBytes(calibrated.offsetHigh)}));
    text += sideBySide(calibration, plan);
    for (const Text& remark : calibrated.remarks) {
        text += wrapped("  ", translated(remark));
    }
    return text;
}

} // namespace headroom::cli
