// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "plan/batch.h"
#include "units/number.h"

#include <limits>

namespace headroom {

namespace {

Text equationText(const BatchEquation& equation)
{
    return Text{HEADROOM_TR("core", "%1 × %2 × %3 = %4, but the global batch is %5"),
                {formatCount(*equation.micro), formatCount(equation.accumulate.value_or(1)),
                 formatCount(*equation.dataParallel), formatCount(*equation.product), formatCount(*equation.global)}};
}

void addPlaces(const TrainingPlan& plan, Finding& finding)
{
    for (const char* field : {"batch.micro", "batch.accum", "batch.global", "parallel.dp"}) {
        Evidence evidence = evidenceOf(plan, field);
        if (!evidence.file.empty()) {
            finding.evidence.push_back(std::move(evidence));
        }
    }
}

/// Keeps what the user most likely means: the global batch, by changing the accumulation; else the global batch
/// follows.
std::optional<Mend> mendFor(const Situation& situation, const BatchEquation& equation)
{
    const std::int64_t perAccumulation = *equation.micro * *equation.dataParallel;
    if (*equation.global % perAccumulation == 0) {
        const std::string accumulation = std::to_string(*equation.global / perAccumulation);
        return mendOf(situation, Text{HEADROOM_TR("core", "Set accumulation to %1"), {accumulation}},
                      {{"batch.accum", accumulation}});
    }
    const std::string product = std::to_string(*equation.product);
    return mendOf(situation, Text{HEADROOM_TR("core", "Set the global batch to %1"), {product}},
                  {{"batch.global", product}});
}

/// A micro-batch equal to the global batch although others share the work: the size was meant per step, not per
/// forward.
bool looksLikeGlobal(const BatchEquation& equation)
{
    return *equation.micro > 1 && *equation.micro == *equation.global
        && *equation.accumulate * *equation.dataParallel > 1;
}

void microTakenForGlobal(const Situation& situation, const BatchEquation& equation, std::vector<Finding>& findings)
{
    Finding finding;
    finding.id = "micro-batch-is-global-batch";
    finding.severity = Severity::Error;
    finding.title = Text{HEADROOM_TR("core", "Micro-batch was taken for the global batch")};
    finding.explanation
        = Text{HEADROOM_TR("core",
                           "micro_batch_size is the samples of one forward on one GPU, and activations grow with it. "
                           "Here it equals the global "
                           "batch of %1, which %2 accumulation steps and %3 data-parallel ranks are meant to share."),
               {formatCount(*equation.global), formatCount(*equation.accumulate), formatCount(*equation.dataParallel)}};
    addPlaces(*situation.plan, finding);
    const std::int64_t shares = *equation.accumulate * *equation.dataParallel;
    if (*equation.global % shares == 0) {
        const std::string micro = std::to_string(*equation.global / shares);
        finding.mend
            = mendOf(situation, Text{HEADROOM_TR("core", "Micro-batch %1 → %2"), {formatCount(*equation.micro), micro}},
                     {{"batch.micro", micro}});
    }
    findings.push_back(std::move(finding));
}

} // namespace

void globalBatchEquation(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const BatchEquation equation = batchEquation(*situation.plan);
    // Sizes so absurd that their product has no number are the business of validate().
    if (equation.holds != false || *equation.product == std::numeric_limits<std::int64_t>::max()) {
        return;
    }
    if (equation.accumulate && looksLikeGlobal(equation)) {
        microTakenForGlobal(situation, equation, findings);
        return;
    }
    Finding finding;
    finding.id = "global-batch-mismatch";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "Global batch does not match")};
    finding.explanation = equationText(equation);
    addPlaces(*situation.plan, finding);
    finding.mend = mendFor(situation, equation);
    findings.push_back(std::move(finding));
}

} // namespace headroom
