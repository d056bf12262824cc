// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/loss_causes.h"

#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>

namespace headroom {

namespace {

std::string lossText(double value)
{
    return fmt::format("{:.4g}", value);
}

Evidence placeOf(const LossSeries& series, std::int64_t step, double loss)
{
    Evidence evidence{
        Text{HEADROOM_TR("core", "step %1, loss %2"), {std::to_string(step), fmt::format("{:.7g}", loss)}}, series.name,
        0};
    const auto found = std::lower_bound(series.steps.begin(), series.steps.end(), step);
    if (found != series.steps.end() && *found == step) {
        evidence.line = series.lines[static_cast<std::size_t>(found - series.steps.begin())];
    }
    return evidence;
}

Text explanationOf(const LossComparison& c)
{
    switch (c.verdict) {
    case LossVerdict::Identical:
        return Text{HEADROOM_TR("core", "Every common step has the same loss to its last digit.")};
    case LossVerdict::Noise:
        return Text{
            HEADROOM_TR("core",
                        "The largest difference is %1, the tolerance for losses of about %2 is %3, and it does not "
                        "grow. What is left is rounding: sums in another order."),
            {lossText(c.largest), lossText(c.scale), lossText(c.tolerance)}};
    case LossVerdict::Shifted:
        return Text{
            HEADROOM_TR("core",
                        "Moved by one step the losses agree. One run takes its loss before the optimizer's update "
                        "and the other after it, or they count steps from 0 and from 1. Take both after the "
                        "update.")};
    case LossVerdict::Scaled:
        return Text{HEADROOM_TR("core",
                                "Every loss of the second run is %1 times that of the first. A loss summed over "
                                "micro-batches or ranks was not divided by their number, or by another one. If the "
                                "gradients are scaled alike, so is the learning rate."),
                    {lossText(c.factor)}};
    case LossVerdict::OtherData:
        return Text{
            HEADROOM_TR("core",
                        "The losses go up and down independently of each other, as they do with other batches: "
                        "another seed, another order of the data, or samples spread over the ranks differently. "
                        "Such runs cannot be compared step by step.")};
    case LossVerdict::OtherBatch:
        return Text{
            HEADROOM_TR("core",
                        "The losses go up and down independently, and by different amounts: the number of samples "
                        "in a step is not the same. Changing the pipeline must not change the global batch.")};
    case LossVerdict::Drift:
        return Text{HEADROOM_TR("core",
                                "The runs start alike and grow apart by %1 per step. Look at three causes: the global "
                                "batch changed with the stages, accumulation does not sum over the micro-batches "
                                "correctly, or normalisation statistics are computed inside a micro-batch."),
                    {lossText(c.trendPerStep)}};
    case LossVerdict::Different:
        return Text{
            HEADROOM_TR("core",
                        "The difference exceeds the tolerance of %1 and does not shrink: the runs do not start from "
                        "the same weights, or do not compute the same thing."),
            {lossText(c.tolerance)}};
    }
    return {};
}

void addQuality(const LossSeries& series, std::vector<Finding>& findings)
{
    const auto add = [&](const char* id, const char* pattern, std::int64_t count) {
        if (count > 0) {
            Finding finding;
            finding.id = id;
            finding.severity = Severity::Warning;
            finding.title = Text{pattern, {series.name, formatCount(count)}};
            findings.push_back(std::move(finding));
        }
    };
    add("loss-steps-repeated", HEADROOM_TR("core", "%1: %2 steps come twice; the later loss was taken"),
        series.duplicates);
    add("loss-steps-missing", HEADROOM_TR("core", "%1: %2 steps are missing"), series.missing);
    add("loss-not-finite", HEADROOM_TR("core", "%1: %2 losses are not numbers (NaN or infinite)"), series.notFinite);
}

} // namespace

Text titleOf(LossVerdict verdict)
{
    switch (verdict) {
    case LossVerdict::Identical:
        return Text{HEADROOM_TR("core", "The losses are identical")};
    case LossVerdict::Noise:
        return Text{HEADROOM_TR("core", "The losses agree within rounding")};
    case LossVerdict::Shifted:
        return Text{HEADROOM_TR("core", "The losses are the same, one step apart")};
    case LossVerdict::Scaled:
        return Text{HEADROOM_TR("core", "The losses differ by a constant factor")};
    case LossVerdict::OtherData:
        return Text{HEADROOM_TR("core", "The runs saw other batches")};
    case LossVerdict::OtherBatch:
        return Text{HEADROOM_TR("core", "The runs have another global batch")};
    case LossVerdict::Drift:
        return Text{HEADROOM_TR("core", "The losses drift apart")};
    case LossVerdict::Different:
        return Text{HEADROOM_TR("core", "The losses differ")};
    }
    return {};
}

std::string_view nameOf(LossVerdict verdict)
{
    switch (verdict) {
    case LossVerdict::Identical:
        return "identical";
    case LossVerdict::Noise:
        return "noise";
    case LossVerdict::Shifted:
        return "shifted";
    case LossVerdict::Scaled:
        return "scaled";
    case LossVerdict::OtherData:
        return "other_data";
    case LossVerdict::OtherBatch:
        return "other_batch";
    case LossVerdict::Drift:
        return "drift";
    case LossVerdict::Different:
        break;
    }
    return "different";
}

std::vector<Finding> lossFindings(const LossSeries& first, const LossSeries& second, const LossComparison& comparison,
                                  const TrainingPlan* firstPlan, const TrainingPlan* secondPlan)
{
    std::vector<Finding> findings;
    Finding verdict;
    verdict.id = "loss-comparison";
    verdict.severity = comparison.holds() ? Severity::Note : Severity::Error;
    verdict.title = titleOf(comparison.verdict);
    verdict.explanation = explanationOf(comparison);
    const std::int64_t at = comparison.departsAt.value_or(comparison.largestStep);
    const auto index = static_cast<std::size_t>(std::lower_bound(comparison.steps.begin(), comparison.steps.end(), at)
                                                - comparison.steps.begin());
    if (comparison.largest > 0 && index < comparison.steps.size()) {
        verdict.evidence = {placeOf(first, at, comparison.first[index]), placeOf(second, at, comparison.second[index])};
    }
    findings.push_back(std::move(verdict));
    if (firstPlan != nullptr && secondPlan != nullptr) {
        addLossCauses(comparison, *firstPlan, *secondPlan, findings);
    }
    addQuality(first, findings);
    addQuality(second, findings);
    return findings;
}

} // namespace headroom
