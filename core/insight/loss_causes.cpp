// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/loss_causes.h"

#include "insight/compare.h"
#include "insight/rule.h"
#include "plan/batch.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {

namespace {

constexpr double sameFactor = 0.01; ///< the printed digits of small losses leave a factor no more exact

/// A number of parts that a step's loss is summed over, and so may be divided by or not.
struct Parts
{
    const char* field;
    std::int64_t first, second;
};

class Causes
{
public:
    Causes(const LossComparison& comparison, const TrainingPlan& first, const TrainingPlan& second,
           std::vector<Finding>& findings)
        : m_comparison(comparison)
        , m_first(first)
        , m_second(second)
        , m_batchOfFirst(batchEquation(first))
        , m_batchOfSecond(batchEquation(second))
        , m_findings(findings)
    {
    }

    void run()
    {
        brokenEquation(m_first, m_batchOfFirst);
        brokenEquation(m_second, m_batchOfSecond);
        globalBatch();
        const bool isFactorKnown = factor();
        if (m_comparison.verdict != LossVerdict::Scaled) {
            accumulation();
            insideMicroBatch();
            dataParallel();
        }
        otherSettings();
        if (!isFactorKnown) {
            ruledOut();
        }
    }

private:
    Finding& add(const char* id, Severity severity, Text title, Text explanation,
                 std::initializer_list<const char*> fields)
    {
        Finding finding;
        finding.id = id;
        finding.severity = severity;
        finding.title = std::move(title);
        finding.explanation = std::move(explanation);
        for (const char* field : fields) {
            finding.evidence.push_back(evidenceOf(m_first, field));
            finding.evidence.push_back(evidenceOf(m_second, field));
        }
        return m_findings.emplace_back(std::move(finding));
    }

    void brokenEquation(const TrainingPlan& plan, const BatchEquation& batch)
    {
        if (batch.holds.value_or(true) || !batch.product || !batch.global) {
            return;
        }
        Finding finding;
        finding.id = "loss-batch-equation";
        finding.severity = Severity::Error;
        finding.title = Text{
            &plan == &m_first
                ? HEADROOM_TR("core", "The first run's batch does not add up: %1 samples by its parts, %2 stated")
                : HEADROOM_TR("core", "The second run's batch does not add up: %1 samples by its parts, %2 stated"),
            {formatCount(*batch.product), formatCount(*batch.global)}};
        finding.explanation = Text{HEADROOM_TR(
            "core",
            "Micro-batch × accumulation × data-parallel size is the global batch; one of the four is not what "
            "ran. See whether the command line or another file overrides it.")};
        for (const char* field : {"batch.global", "batch.micro", "batch.accum", "parallel.dp"}) {
            finding.evidence.push_back(evidenceOf(plan, field));
        }
        m_findings.push_back(std::move(finding));
    }

    void globalBatch()
    {
        const auto first = samplesOf(m_batchOfFirst);
        const auto second = samplesOf(m_batchOfSecond);
        if (!first || !second || *first == *second) {
            note("batch.global", first, second);
            return;
        }
        add("loss-global-batch-differs", Severity::Error,
            Text{HEADROOM_TR("core", "The global batch differs: %1 and %2 samples"),
                 {formatCount(*first), formatCount(*second)}},
            Text{HEADROOM_TR(
                "core",
                "The runs do not take the same step, so their losses need not agree. Keep micro-batch × accumulation × "
                "data-parallel size the same, then compare again.")},
            {"batch.global"});
    }

    /// By its parts where all are known, whatever is stated beside them.
    [[nodiscard]] static std::optional<std::int64_t> samplesOf(const BatchEquation& batch)
    {
        return batch.accumulate && batch.product ? batch.product : batch.global;
    }

    /// A constant factor between the losses, explained by a number of parts that one run divides by and the other does
    /// not, or that is another one in each.
    bool factor()
    {
        if (m_comparison.verdict != LossVerdict::Scaled) {
            return false;
        }
        const std::array<Parts, 4> all{
            {{"batch.accum", m_batchOfFirst.accumulate.value_or(1), m_batchOfSecond.accumulate.value_or(1)},
             {"parallel.dp", dataParallelSize(m_first), dataParallelSize(m_second)},
             {"batch.micro", m_batchOfFirst.micro.value_or(1), m_batchOfSecond.micro.value_or(1)},
             {"parallel.pp", m_first.parallel.pp.value, m_second.parallel.pp.value}}};
        const auto isExplained = [this](const Parts& parts) { return explanationBy(parts).has_value(); };
        const auto first = std::find_if(all.begin(), all.end(), isExplained);
        if (first == all.end()) {
            return false;
        }
        Finding& finding = add(
            "loss-factor-explained", Severity::Error, *explanationBy(*first),
            Text{HEADROOM_TR("core",
                             "The loss of a step is the mean over all its samples, however they are split. Divide the "
                             "sum once, before the backward pass, so that the gradients are those of the mean too.")},
            {first->field});
        for (auto other = std::find_if(first + 1, all.end(), isExplained); other != all.end();
             other = std::find_if(other + 1, all.end(), isExplained)) {
            finding.evidence.push_back({*explanationBy(*other), {}, 0}); // as likely
        }
        return true;
    }

    [[nodiscard]] std::optional<Text> explanationBy(const Parts& parts) const
    {
        const auto first = static_cast<double>(parts.first);
        const auto second = static_cast<double>(parts.second);
        const auto is = [this](double expected) {
            return std::abs(expected - 1) > sameFactor && std::abs(m_comparison.factor / expected - 1) < sameFactor;
        };
        if (parts.first != parts.second && is(second / first)) {
            return Text{HEADROOM_TR("core", "The factor is that of %1, %2 to %3: both runs sum over it"),
                        {parts.field, formatCount(parts.first), formatCount(parts.second)}};
        }
        if (is(second)) {
            return Text{HEADROOM_TR("core", "The factor is %1 = %2 of the second run: only the first divides by it"),
                        {parts.field, formatCount(parts.second)}};
        }
        if (is(1 / first)) {
            return Text{HEADROOM_TR("core", "The factor is %1 = %2 of the first run: only the second divides by it"),
                        {parts.field, formatCount(parts.first)}};
        }
        return std::nullopt;
    }

    void accumulation()
    {
        const auto first = m_batchOfFirst.accumulate;
        const auto second = m_batchOfSecond.accumulate;
        if (!first || !second || *first == *second) {
            note("batch.accum", first, second);
            return;
        }
        add("loss-accumulation-differs", Severity::Warning,
            Text{HEADROOM_TR("core", "The step is accumulated from %1 and from %2 micro-batches"),
                 {formatCount(*first), formatCount(*second)}},
            Text{
                HEADROOM_TR("core",
                            "Averaging each micro-batch's loss by itself and then over them weighs a short sample as "
                            "much as a long one; with other micro-batches that is another mean. Sum the tokens' losses "
                            "over all micro-batches and ranks, and divide once by the number of all tokens.")},
            {"batch.accum"});
    }

    void insideMicroBatch()
    {
        const auto first = m_batchOfFirst.micro;
        const auto second = m_batchOfSecond.micro;
        if (!first || !second || *first == *second) {
            note("batch.micro", first, second);
            return;
        }
        const bool hasExperts = m_first.moe.experts.isKnown() && m_first.moe.experts.value > 1;
        add("loss-micro-batch-differs", Severity::Warning,
            Text{HEADROOM_TR("core", "The micro-batch differs: %1 and %2 samples"),
                 {formatCount(*first), formatCount(*second)}},
            hasExperts
                ? Text{HEADROOM_TR("core",
                                   "The experts' balancing loss and the tokens they may take are worked out inside a "
                                   "micro-batch, so its size changes the loss. Compare with the same micro-batch, or "
                                   "balance over the global batch.")}
                : Text{HEADROOM_TR("core",
                                   "Statistics that are worked out inside a micro-batch change with its size: batch "
                                   "normalisation, also in an image encoder, and losses that contrast a batch's "
                                   "samples. LayerNorm and RMSNorm do not.")},
            {"batch.micro"});
    }

    void dataParallel()
    {
        const std::int64_t first = dataParallelSize(m_first);
        const std::int64_t second = dataParallelSize(m_second);
        if (first == second || m_comparison.verdict != LossVerdict::OtherData) {
            return;
        }
        add("loss-data-parallel-differs", Severity::Warning,
            Text{HEADROOM_TR("core", "The samples are dealt out to %1 and to %2 data-parallel ranks"),
                 {formatCount(first), formatCount(second)}},
            Text{HEADROOM_TR("core",
                             "Where each rank reads a part of the data of its own, or shuffles with a seed of its own, "
                             "another number of ranks puts other samples into a step.")},
            {"parallel.dp"});
    }

    /// What is learned, or from what, or in which numbers.
    void otherSettings()
    {
        constexpr std::array<std::string_view, 11> learned{
            "model",     "mla",       "vision", "projector",         "lora",         "precision",
            "optimizer", "batch.seq", "frozen", "batch.decoder_seq", "batch.packing"};
        std::string names;
        Finding finding;
        for (const ChangedVariable& variable : changedVariables(m_first, m_second)) {
            if (std::find(learned.begin(), learned.end(), variable.id) == learned.end()) {
                continue;
            }
            names += (names.empty() ? "" : ", ") + variable.id;
            for (const FieldDifference& one : variable.differences) {
                finding.evidence.push_back(evidenceOf(m_first, one.key));
                finding.evidence.push_back(evidenceOf(m_second, one.key));
            }
        }
        if (names.empty()) {
            return;
        }
        finding.id = "loss-settings-differ";
        finding.severity = Severity::Error;
        finding.title = Text{HEADROOM_TR("core", "The plans differ in what is learned: %1"), {names}};
        finding.explanation
            = Text{HEADROOM_TR("core",
                               "With these the losses have no reason to agree. Change them back, then compare "
                               "what the split alone does.")};
        m_findings.push_back(std::move(finding));
    }

    void note(const char* field, std::optional<std::int64_t> first, std::optional<std::int64_t> second)
    {
        if (first && second && *first == *second) {
            m_same += fmt::format("{}{} = {}", m_same.empty() ? "" : ", ", field, *first);
        }
    }

    void ruledOut()
    {
        if (m_same.empty()) {
            return;
        }
        add("loss-causes-ruled-out", Severity::Note,
            Text{HEADROOM_TR("core", "The same in both plans, so not the cause: %1"), {m_same}},
            Text{HEADROOM_TR("core",
                             "What the plans do not tell: the seed and the order of the data, how the code averages "
                             "over micro-batches and ranks, and whether these are the settings that ran.")},
            {});
    }

    const LossComparison& m_comparison;
    const TrainingPlan& m_first;
    const TrainingPlan& m_second;
    BatchEquation m_batchOfFirst, m_batchOfSecond;
    std::vector<Finding>& m_findings;
    std::string m_same; ///< "batch.global = 64, …"
};

} // namespace

void addLossCauses(const LossComparison& comparison, const TrainingPlan& first, const TrainingPlan& second,
                   std::vector<Finding>& findings)
{
    if (!comparison.holds() && comparison.verdict != LossVerdict::Shifted) {
        Causes(comparison, first, second, findings).run();
    }
}

} // namespace headroom
