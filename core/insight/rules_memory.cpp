// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/log_conclusions.h"
#include "insight/plan_edits.h"
#include "insight/rule.h"

#include "plan/fields.h"
#include "runlog/log_launch.h"
#include "units/number.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

std::string fileOf(const Run& run, std::uint16_t file)
{
    return file < run.files.size() ? run.files[file] : std::string{};
}

Text titleOf(const OutOfMemory& message)
{
    const std::string tried = message.requested ? formatBytes(*message.requested) : std::string{};
    if (message.rank >= 0 && message.requested) {
        return Text{HEADROOM_TR("core", "Out of memory on rank %1, asking for %2"),
                    {std::to_string(message.rank), tried}};
    }
    return message.requested ? Text{HEADROOM_TR("core", "Out of memory, asking for %1"), {tried}}
                             : Text{HEADROOM_TR("core", "Out of memory")};
}

Evidence stageEvidence(const Situation& situation, std::size_t stage)
{
    const StageFootprint& estimated = situation.footprint->stages[stage];
    static constexpr std::array patterns{
        HEADROOM_TR("core", "stage %1, estimated: %2 allocated at its peak in forward"),
        HEADROOM_TR("core", "stage %1, estimated: %2 allocated at its peak in backward"),
        HEADROOM_TR("core", "stage %1, estimated: %2 allocated at its peak in the optimizer")};
    return {Text{patterns[static_cast<std::size_t>(estimated.peakPhase)],
                 {std::to_string(stage), formatGib(estimated.peakAllocated)}},
            {},
            0};
}

/// What fits is answered for the files' plan: with knobs turned since, its edits would be of something else.
bool isUntouched(const Situation& situation)
{
    return situation.plan != nullptr
        && (situation.original == nullptr || difference(*situation.original, *situation.plan).empty());
}

Evidence plain(Text text)
{
    return {std::move(text), {}, 0};
}

Text meaningOf(const OutOfMemory& message, const TrainingPlan* plan)
{
    const bool growsAlready = plan != nullptr && plan->implementation.expandableSegments.value;
    if (message.cause == OutOfMemoryCause::Fragmentation && growsAlready) {
        return Text{
            HEADROOM_TR("core",
                        "%1 were asked for while the allocator held %2 that no tensor used, in pieces too small, "
                        "though its segments can grow (%3): less memory has to be needed."),
            {formatBytes(*message.requested), formatBytes(*message.reserved - *message.allocated),
             plan->implementation.expandableSegments.origin.english()}};
    }
    return message.meaning.isEmpty() ? Text{HEADROOM_TR("core", "The message says no amounts.")} : message.meaning;
}

bool isShort(const OutOfMemory& message)
{
    return message.cause == OutOfMemoryCause::Shortage || message.cause == OutOfMemoryCause::GiantBlock;
}

Text failedIn(Phase phase)
{
    static constexpr std::array patterns{HEADROOM_TR("core", "it failed in forward"),
                                         HEADROOM_TR("core", "it failed in backward"),
                                         HEADROOM_TR("core", "it failed in the optimizer")};
    return Text{patterns[static_cast<std::size_t>(phase)]};
}

/// What acts on the memory of the phase it failed in (the order of the three verdicts in rules_phase.cpp).
Text adviceFor(Phase phase)
{
    switch (phase) {
    case Phase::Forward:
        return Text{HEADROOM_TR("core", "activations fill it there: a smaller micro-batch and recompute help most")};
    case Phase::Backward:
        return Text{HEADROOM_TR("core", "activations and gradients are alive together there: recompute helps most")};
    case Phase::Optimizer:
        break;
    }
    return Text{HEADROOM_TR(
        "core", "static state fills it there; the micro-batch hardly matters, sharding or lower precision does")};
}

Mend mendOf(const FitProposal& proposal)
{
    // Where the host has a part in it, what is known of the time is too little to be said in a word.
    return {proposal.labels.front(),
            proposal.edits,
            proposal.peak,
            proposal.isTimeLowerBound ? std::nullopt : proposal.stepTime,
            {proposal.labels.begin() + 1, proposal.labels.end()}};
}

/// What would have fitted, where it can no longer be chosen.
void tell(const FitProposal& proposal, Finding& finding)
{
    finding.evidence.push_back(
        plain(Text{HEADROOM_TR("core", "would have fitted, with a peak of %1:"), {formatGib(proposal.peak)}}));
    for (const Text& label : proposal.labels) {
        finding.evidence.push_back(plain(label));
    }
}

/// The last resort, which trains less and says so.
void addAdapters(const Situation& situation, const FitAnswer& answer, Finding& finding)
{
    for (const FitProposal& proposal : answer.adapters) {
        if (isUntouched(situation)) {
            finding.alternatives.push_back(mendOf(proposal));
        } else {
            tell(proposal, finding);
        }
    }
}

/// What would have fitted, as far as the mend does not say it: to be chosen while the plan is the files', else told.
void addProposals(const Situation& situation, const Shortage& shortage, Finding& finding)
{
    const FitAnswer& answer = *shortage.answer;
    if (answer.fits) {
        finding.evidence.push_back(plain(
            Text{HEADROOM_TR("core",
                             "by its estimate, %1 of device memory, this plan fits: what filled the rest is not in it"),
                 {formatGib(answer.peak)}}));
        return;
    }
    const std::vector<FitProposal>& all = answer.singles.empty() ? answer.pairs : answer.singles;
    constexpr std::size_t most = 3;
    const bool isSaid = finding.mend && !all.empty()
        && std::ranges::equal(finding.mend->edits, all.front().edits, {}, &PlanEdit::field, &PlanEdit::field);
    for (std::size_t i = isSaid ? 1 : 0; i < std::min(all.size(), most); ++i) {
        if (isUntouched(situation)) {
            finding.alternatives.push_back(mendOf(all[i]));
        } else {
            tell(all[i], finding);
        }
    }
    if (all.empty()) {
        finding.evidence.push_back(plain(
            answer.closest
                ? Text{HEADROOM_TR("core", "no change of one or two settings would have fitted; the closest needs %1:"),
                       {formatGib(answer.closest->peak)}}
                : Text{HEADROOM_TR("core", "no change of one or two settings would have fitted or come closer")}));
        for (const Text& label : answer.closest ? answer.closest->labels : std::vector<Text>{}) {
            finding.evidence.push_back(plain(label));
        }
        addAdapters(situation, answer, finding);
    }
}

/// What helps depends on why it failed: fragments need another way to cut segments, the rest less memory.
std::optional<Mend> mendFor(const Situation& situation, const Shortage& shortage)
{
    if (situation.plan == nullptr) {
        return std::nullopt;
    }
    if (shortage.message.cause == OutOfMemoryCause::Fragmentation) {
        return situation.plan->implementation.expandableSegments.value
            ? std::nullopt
            : headroom::mendOf(situation, Text{HEADROOM_TR("core", "Let the allocator's segments grow")},
                               {{"implementation.expandable_segments", "true"}});
    }
    if (!shortage.answer || !isUntouched(situation)) {
        return std::nullopt;
    }
    for (const auto* proposals : {&shortage.answer->singles, &shortage.answer->pairs}) {
        if (!proposals->empty()) {
            return mendOf(proposals->front());
        }
    }
    return std::nullopt;
}

bool isStatedHere(const Origin& origin)
{
    return origin.kind == OriginKind::ConfigFile || origin.kind == OriginKind::CommandLine;
}

constexpr const char* enabledField = "recompute.enabled";
constexpr const char* granularityField = "recompute.granularity";

/// What both plans state and state differently: a default on one side is no contradiction. Recompute is one matter.
std::vector<FieldDifference> contradictions(const TrainingPlan& config, const TrainingPlan& log)
{
    std::vector<FieldDifference> result = difference(config, log);
    std::erase_if(result, [&](const FieldDifference& one) {
        const bool bothSay = !one.before.empty() && !one.after.empty() && isStatedHere(fieldOrigin(config, one.key))
            && fieldOrigin(log, one.key).kind == OriginKind::Log;
        return !bothSay || one.key == "framework" || one.key == "model.name";
    });
    // What is written and switched off is the business of recomputeNotLoaded().
    const bool isSameInEffect = effectiveGranularity(config) == effectiveGranularity(log);
    std::erase_if(result, [&](const FieldDifference& one) {
        return isSameInEffect && (one.key == enabledField || one.key == granularityField);
    });
    if (std::ranges::find(result, granularityField, &FieldDifference::key) != result.end()) {
        std::erase_if(result, [](const FieldDifference& one) { return one.key == enabledField; });
    }
    return result;
}

} // namespace

void outOfMemoryExplained(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || !situation.conclusions->shortage) {
        return;
    }
    const Shortage& shortage = *situation.conclusions->shortage;
    const OutOfMemory& message = shortage.message;
    Finding finding;
    finding.id = "out-of-memory";
    finding.severity = Severity::Error;
    finding.title = titleOf(message);
    finding.explanation = meaningOf(message, loggedPlan(situation));
    finding.evidence.push_back({message.phase ? failedIn(*message.phase) : Text{HEADROOM_TR("core", "the message")},
                                fileOf(*situation.run, message.file), message.line});
    if (message.phase && isShort(message)) {
        finding.evidence.push_back(plain(adviceFor(*message.phase)));
    }
    for (const FailedTensor& tensor : shortage.tensors) {
        finding.evidence.push_back(plain(tensor.text()));
    }
    const TrainingPlan* plan = loggedPlan(situation);
    if (plan != nullptr && message.requested && shortage.tensors.empty()) {
        for (Text& block : blocksOfSize(*message.requested, *plan)) {
            finding.evidence.push_back(plain(std::move(block)));
        }
    }
    if (message.requested) {
        for (Text& block : buffersOfSize(*message.requested, parametersOf(*situation.run))) {
            finding.evidence.push_back(plain(std::move(block)));
        }
    }
    if (situation.footprint != nullptr && shortage.stage && *shortage.stage < situation.footprint->stages.size()) {
        finding.evidence.push_back(stageEvidence(situation, *shortage.stage));
    }
    if (shortage.answer && shortage.unexplained.value > 0) {
        finding.evidence.push_back(plain(
            Text{HEADROOM_TR("core", "the run needed %1 more than its estimate of %2; what follows leaves that free"),
                 {formatGib(shortage.unexplained), formatGib(shortage.estimated)}}));
    }
    finding.mend = mendFor(situation, shortage);
    if (shortage.answer) {
        addProposals(situation, shortage, finding);
    }
    findings.push_back(std::move(finding));
}

void memoryOutsideAllocator(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || situation.run->deviceBytes.values.empty()) {
        return;
    }
    const Run& run = *situation.run;
    std::optional<std::size_t> widest; // place in deviceBytes
    std::int64_t gap = 0;
    for (std::size_t i = 0; i < run.deviceBytes.records.size(); ++i) {
        const std::size_t record = run.deviceBytes.records[i];
        const Record values = run.record(record);
        if (values.reserved && run.deviceBytes.values[i] - values.reserved->value > gap) {
            gap = run.deviceBytes.values[i] - values.reserved->value;
            widest = i;
        }
    }
    // A context with its kernels and the buffers of a few communicators stay below this.
    if (!widest || gap < gib(3).value) {
        return;
    }
    const std::size_t record = run.deviceBytes.records[*widest];
    Finding finding;
    finding.id = "memory-outside-allocator";
    finding.severity = Severity::Warning;
    finding.title
        = Text{HEADROOM_TR("core", "%1 of the GPU are taken outside PyTorch's allocator"), {formatGib(Bytes{gap}, 1)}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "A CUDA context with its kernels takes 0.4 to 0.6 GiB, NCCL some hundred MiB for every communicator. Look "
        "for other processes on this GPU (nvidia-smi), a context on GPU 0 for every rank, or CUDA graphs and "
        "libraries with pools of their own.")};
    finding.evidence.push_back(
        {Text{HEADROOM_TR("core", "%1 taken on the device, %2 reserved"),
              {formatGib(Bytes{run.deviceBytes.values[*widest]}), formatGib(*run.record(record).reserved)}},
         fileOf(run, run.record(record).file), run.record(record).line});
    findings.push_back(std::move(finding));
}

/// Only where the log's list is what the plan is made of.
void argumentsAreShortened(const Situation& situation, std::vector<Finding>& findings)
{
    const TrainingPlan* plan = loggedPlan(situation);
    if (plan == nullptr || situation.run == nullptr || plan->model.layers.origin.kind != OriginKind::Log) {
        return;
    }
    const std::vector<std::string> fields = fieldsLeftToDefaults(*situation.run, *plan);
    if (fields.empty()) {
        return;
    }
    Finding finding;
    finding.id = "arguments-shortened";
    finding.severity = Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "The log's list of arguments is not whole: %1 settings are defaults"),
                         {std::to_string(fields.size())}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "What the list does not name is taken to be what Megatron-LM does without the argument. A script that sets it "
        "otherwise needs another amount: open the script beside the log, or set what differs.")};
    for (const std::string& field : fields) {
        finding.evidence.push_back(evidenceOf(*plan, field));
    }
    findings.push_back(std::move(finding));
}

void argumentsDiffer(const Situation& situation, std::vector<Finding>& findings)
{
    const TrainingPlan* plan = loggedPlan(situation);
    if (plan == nullptr || (situation.logPlan == nullptr && situation.run == nullptr)) {
        return;
    }
    TrainingPlan launched;
    if (situation.logPlan != nullptr) {
        launched = *situation.logPlan;
    } else {
        takeDeviceMesh(launched, *situation.run);
    }
    for (const FieldDifference& one : contradictions(*plan, launched)) {
        Finding finding;
        finding.id = "config-is-not-what-ran";
        finding.severity = Severity::Warning;
        finding.title
            = Text{HEADROOM_TR("core", "The run had %1 = %2, the config says %3"), {one.key, one.after, one.before}};
        finding.explanation = Text{HEADROOM_TR(
            "core",
            "The arguments that the log lists are what took effect. A flag on the command line, a later file or a "
            "rule of the framework overrode the config.")};
        finding.evidence = {evidenceOf(*plan, one.key), evidenceOf(launched, one.key)};
        if (situation.plan != nullptr) {
            std::vector<PlanEdit> edits{{one.key, one.after}};
            if (one.key == granularityField) {
                edits.push_back({enabledField, fieldText(launched, enabledField)});
            }
            finding.mend = headroom::mendOf(situation, Text{HEADROOM_TR("core", "Take the log's %1"), {one.after}},
                                            std::move(edits));
        }
        findings.push_back(std::move(finding));
    }
}

} // namespace headroom
