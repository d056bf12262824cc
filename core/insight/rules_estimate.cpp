// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "insight/log_conclusions.h"
#include "plan/validity.h"
#include "units/number.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

/// Below this much a plan is not changed for a finding's sake.
constexpr Bytes worthTelling{std::int64_t{1} << 30};

double share(Bytes part, Bytes whole)
{
    return static_cast<double>(part.value) / static_cast<double>(std::max<std::int64_t>(whole.value, 1));
}

std::string stageName(const StageFootprint& stage)
{
    return std::to_string(stage.stage);
}

/// For the fullest stage, an end. The stages between the ends hold as many layers each (Megatron transformer_block.py,
/// get_num_layers_to_build), so that the other end may have to give or take some: as few as possible. None where no
/// split does, or where layers come by the chunk.
std::optional<std::vector<PlanEdit>> oneLayerFewer(const TrainingPlan& plan, const Footprint& footprint)
{
    const auto& stages = footprint.stages;
    const bool isFirst = footprint.fullestStage == 0;
    const std::int64_t fewer = stages[footprint.fullestStage].layers - 1;
    const std::int64_t other = (isFirst ? stages.back() : stages.front()).layers;
    std::int64_t left = -fewer;
    for (const StageFootprint& stage : stages) {
        left += stage.layers;
    }
    std::vector<PlanEdit> edits{
        {isFirst ? "parallel.first_stage_layers" : "parallel.last_stage_layers", std::to_string(fewer)}};
    const std::string otherField = isFirst ? "parallel.last_stage_layers" : "parallel.first_stage_layers";
    const auto others = static_cast<std::int64_t>(stages.size()) - 1, between = others - 1;
    const bool isStated = (isFirst ? plan.parallel.lastStageLayers : plan.parallel.firstStageLayers).isStated();
    if (plan.parallel.vpp.value > 1 || plan.parallel.encoderPp.value > 0) {
        return std::nullopt;
    }
    if (!isStated && left % others == 0) {
        return edits;
    }
    for (std::int64_t distance = 0; distance <= others; ++distance) {
        for (const std::int64_t layers : {other + distance, other - distance}) {
            const std::int64_t rest = left - layers;
            if (layers > 0 && (between == 0 ? rest == 0 : rest >= between && rest % between == 0)) {
                edits.push_back({otherField, std::to_string(layers)});
                return edits;
            }
        }
    }
    return std::nullopt;
}

} // namespace

void logitsAreThePeak(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr || situation.footprint == nullptr) {
        return;
    }
    const StageFootprint& stage = situation.footprint->fullest();
    const Bytes logits = stage.component(Component::Logits);
    const Bytes activations = stage.component(Component::Activations) + stage.component(Component::InFlight);
    if (logits <= activations || logits < worthTelling || share(logits, stage.peakAllocated) < 0.15) {
        return;
    }
    Finding finding;
    finding.id = "logits-are-the-peak";
    // No fault of the plan; it matters where it is what does not fit.
    finding.severity = situation.footprint->fits() == false ? Severity::Warning : Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "Logits make the peak: %1 of %2"),
                         {formatGib(logits, 1), formatGib(stage.peakAllocated, 1)}};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "Scores for each of the %1 vocabulary entries and every token take more than all layers keep, and "
                    "recompute does not touch them. A fused or chunked loss, a smaller micro-batch or splitting the "
                    "vocabulary over tensor parallel ranks does."),
        {formatCount(situation.plan->model.paddedVocab.valueOr(situation.plan->model.vocab.valueOr(0)))}};
    finding.evidence.push_back(evidenceOf(*situation.plan, "model.vocab"));
    finding.mend = halveMicroBatch(situation);
    findings.push_back(std::move(finding));
}

void endStageFuller(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr || situation.footprint == nullptr || situation.footprint->stages.size() < 2) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const auto& stages = situation.footprint->stages;
    const std::size_t last = stages.size() - 1;
    const std::size_t fullest = situation.footprint->fullestStage;
    std::vector<Bytes> peaks;
    peaks.reserve(stages.size());
    for (const StageFootprint& stage : stages) {
        peaks.push_back(stage.peakAllocated);
    }
    std::nth_element(peaks.begin(), peaks.begin() + static_cast<std::ptrdiff_t>(peaks.size() / 2), peaks.end());
    const Bytes typical
        = stages.size() == 2 ? std::min(stages[0].peakAllocated, stages[1].peakAllocated) : peaks[peaks.size() / 2];
    const Bytes gap = stages[fullest].peakAllocated - typical;
    const bool isEnd = fullest == 0 || fullest == last;
    const bool isMuch = gap >= worthTelling && share(gap, typical) >= 0.15;
    if (!isEnd || !isMuch || stages[fullest].layers < 2 || plan.parallel.layout.isStated()) {
        return;
    }
    Finding finding;
    finding.id = "end-stage-fuller";
    finding.severity = Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "Stage %1 holds %2 more than a typical one"),
                         {stageName(stages[fullest]), formatGib(gap, 1)}};
    finding.explanation = fullest == 0
        ? Text{HEADROOM_TR("core",
                           "The first stage has the most micro-batches in flight, and the embedding. Fewer layers "
                           "on it even the stages out.")}
        : Text{HEADROOM_TR("core",
                           "The last stage has the output layer and the loss. Fewer layers on it even the stages "
                           "out.")};
    finding.evidence.push_back(evidenceOf(plan, "parallel.pp"));
    finding.evidence.push_back(
        {Text{HEADROOM_TR("core", "stage %1: %2 allocated at its peak, a typical one %3"),
              {stageName(stages[fullest]), formatGib(stages[fullest].peakAllocated), formatGib(typical)}},
         {},
         0});
    if (auto edits = oneLayerFewer(plan, *situation.footprint)) {
        auto mend
            = mendOf(situation, Text{HEADROOM_TR("core", "One layer fewer on stage %1"), {stageName(stages[fullest])}},
                     std::move(*edits));
        if (mend && lowersPeak(situation, *mend)) {
            finding.mend = std::move(mend);
        }
    }
    findings.push_back(std::move(finding));
}

void frozenKeepsActivations(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr || situation.footprint == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const bool trainsInFront = plan.vision.layers.valueOr(0) > 0
        && (!plan.frozen.projector.value || !plan.frozen.vision.value) && !plan.frozen.all.value;
    const StageFootprint& stage = situation.footprint->fullest();
    const Bytes activations = stage.component(Component::Activations) + stage.component(Component::InFlight);
    if (!plan.frozen.llm.value || !trainsInFront || share(activations, stage.peakAllocated) < 0.1) {
        return;
    }
    Finding finding;
    finding.id = "frozen-keeps-activations";
    finding.severity = Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "The frozen language model still keeps %1 of activations"),
                         {formatGib(activations, 1)}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "The projector or the image encoder is trained, and its gradient has to pass backward through every "
        "frozen layer. Freezing saves gradients and optimizer state there, but what the layers need for the "
        "input's gradient stays. Recompute helps.")};
    finding.evidence.push_back(evidenceOf(plan, "frozen.llm"));
    finding.mend = recomputeFully(situation);
    findings.push_back(std::move(finding));
}

void estimateDisagrees(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || situation.calibration.k || situation.calibration.scalesTapes()) {
        return;
    }
    const std::optional<Calibrated>& measured = situation.conclusions->measured;
    if (!measured || measured->misfit < 0.05) {
        return;
    }
    const auto worst
        = std::max_element(measured->residuals.begin(), measured->residuals.end(), [](const auto& a, const auto& b) {
              return std::abs(a.measured.value - a.theory.value) < std::abs(b.measured.value - b.theory.value);
          });
    Finding finding;
    finding.severity = Severity::Warning;
    if (measured->suspects.empty()) {
        finding.id = "estimate-disagrees";
        finding.title = Text{HEADROOM_TR("core", "The log and the estimate differ by %1"),
                             {formatGib(Bytes{std::abs(worst->measured.value - worst->theory.value)}, 1)}};
        finding.explanation = Text{
            HEADROOM_TR(
                "core",
                "Measured %1, estimated %2. No single other setting explains it. See whether the config is the one "
                "that ran, whether samples are as long as the config says, and which implementation runs."),
            {formatGib(worst->measured), formatGib(worst->theory)}};
    } else {
        const Suspect& suspect = measured->suspects.front();
        finding.id = "another-setting-ran";
        finding.title = suspect.title;
        finding.explanation = Text{
            HEADROOM_TR(
                "core",
                "Measured %1, estimated %2; with that setting the estimate meets all measured peaks within %3 %. The "
                "command line or another file may have overridden the config."),
            {formatGib(worst->measured), formatGib(worst->theory), formatReal(std::ceil(suspect.misfit * 1000) / 10)}};
        finding.mend = mendOf(situation, Text{HEADROOM_TR("core", "Plan with that setting")}, suspect.edits);
    }
    finding.evidence.push_back(worst->evidence);
    findings.push_back(std::move(finding));
}

/// A pool at the device's end is cut back to what is left, whatever was needed: nothing follows from it.
void reservedDisagrees(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || !situation.conclusions->reserved || situation.calibration.k
        || situation.calibration.scalesTapes()) {
        return;
    }
    const ReservedPeak& peak = *situation.conclusions->reserved;
    const Record record = situation.run->record(peak.record);
    const Bytes measured = record.reserved.value_or(Bytes{});
    const Count& capacity = loggedPlan(situation)->hardware.capacityBytes;
    const bool isCutBack = capacity.isKnown() && measured.value > capacity.value / 100 * 93;
    const Interval range = peak.estimated;
    if (measured < range.low ? isCutBack : measured <= range.high) {
        return;
    }
    const Bytes gap = measured < range.low ? range.low - measured : measured - range.high;
    if (gap.value < (std::int64_t{1} << 28)) { // what segments and libraries differ by anyway
        return;
    }
    Finding finding;
    finding.id = "reserved-disagrees";
    finding.severity = Severity::Warning;
    finding.title = Text{measured < range.low ? HEADROOM_TR("core", "The run reserved %1 less than estimated")
                                              : HEADROOM_TR("core", "The run reserved %1 more than estimated"),
                         {formatGib(gap, 1)}};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "The log has reserved amounts only: at most %1, where %2 to %3 are estimated, with what the "
                    "allocator keeps in pieces. See whether the config is the one that ran, whether samples are as "
                    "long as it says, and which implementation runs."),
        {formatGib(measured), formatGib(range.low), formatGib(range.high)}};
    finding.evidence.push_back(
        {Text{HEADROOM_TR("core", "step %1: %2 reserved"), {std::to_string(record.step), formatGib(measured)}},
         situation.run->files[record.file], record.line});
    findings.push_back(std::move(finding));
}

void notLegal(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const ModelPlan& model = situation.plan->model;
    const bool isComplete = model.layers.isKnown() && model.hidden.isKnown();
    for (const Problem& problem : validate(*situation.plan)) {
        // What is missing is no contradiction: the model may be in another file.
        if (problem.severity != Severity::Error || (!isComplete && problem.file.empty())) {
            continue;
        }
        Finding finding;
        finding.id = "plan-not-legal";
        finding.severity = Severity::Error;
        finding.title = problem.text;
        finding.explanation = Text{
            HEADROOM_TR("core", "No framework can run this, so there is nothing to estimate until it is changed.")};
        if (!problem.file.empty()) {
            finding.evidence.push_back({problem.text, problem.file, problem.line});
        }
        findings.push_back(std::move(finding));
    }
}

} // namespace headroom
