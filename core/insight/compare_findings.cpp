// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/compare.h"

#include "plan/batch.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double clear = 0.03; ///< a smaller change of a peak is not worth a sentence
constexpr double same = 0.01;
constexpr double clearTime = 0.02; ///< step times scatter

std::optional<double> change(std::optional<Bytes> before, std::optional<Bytes> after)
{
    if (!before || !after || before->value <= 0) {
        return std::nullopt;
    }
    return static_cast<double>(after->value) / static_cast<double>(before->value) - 1;
}

std::optional<double> change(std::optional<double> before, std::optional<double> after)
{
    if (!before || !after || !(*before > 0)) {
        return std::nullopt;
    }
    return *after / *before - 1;
}

std::string percent(double change)
{
    return fmt::format("{:+.1f} %", change * 100);
}

class Verdicts
{
public:
    Verdicts(RunComparison& comparison, const TrainingPlan* before, const TrainingPlan* after)
        : m_comparison(comparison)
        , m_planBefore(before)
        , m_planAfter(after)
        , m_allocated(change(comparison.before.allocated, comparison.after.allocated))
        , m_reserved(change(comparison.before.reserved, comparison.after.reserved))
        , m_time(change(comparison.before.stepSeconds, comparison.after.stepSeconds))
        , m_throughput(change(comparison.before.tokensPerSecond, comparison.after.tokensPerSecond))
    {
    }

    void run()
    {
        severalVariables();
        otherRanks();
        otherSource();
        nothingChanged();
        peakMoved();
        poolKeptIts();
        priceOfMemory();
        peakInOptimizer();
        otherGlobalBatch();
        std::stable_sort(m_comparison.findings.begin(), m_comparison.findings.end(),
                         [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    }

private:
    void add(const char* id, Severity severity, Text title, Text explanation)
    {
        Finding finding;
        finding.id = id;
        finding.severity = severity;
        finding.title = std::move(title);
        finding.explanation = std::move(explanation);
        m_comparison.findings.push_back(std::move(finding));
    }

    [[nodiscard]] bool changed(std::string_view id) const
    {
        return std::any_of(m_comparison.variables.begin(), m_comparison.variables.end(),
                           [id](const ChangedVariable& variable) { return variable.id == id; });
    }

    void severalVariables()
    {
        if (m_comparison.variables.size() < 2) {
            return;
        }
        std::string names;
        for (const ChangedVariable& variable : m_comparison.variables) {
            names += (names.empty() ? "" : ", ") + variable.id;
        }
        add("several-variables-changed", Severity::Warning,
            Text{HEADROOM_TR("core", "%1 settings changed at once"), {formatCount(std::ssize(m_comparison.variables))}},
            Text{HEADROOM_TR("core",
                             "Between the two runs %1 changed. What each of them did cannot be told apart; change one "
                             "at a time."),
                 {names}});
    }

    void otherRanks()
    {
        const auto& before = m_comparison.before.ranks;
        const auto& after = m_comparison.after.ranks;
        if (before.empty() || after.empty() || before == after || m_comparison.before.isEstimate
            || m_comparison.after.isEstimate) {
            return;
        }
        add("other-ranks", Severity::Warning, Text{HEADROOM_TR("core", "The logs are of other ranks")},
            Text{HEADROOM_TR("core",
                             "One log has lines of %1 ranks and the other of %2. Ranks of other pipeline stages have "
                             "other peaks, so compare logs of the same ranks."),
                 {formatCount(std::ssize(before)), formatCount(std::ssize(after))}});
    }

    [[nodiscard]] bool isOtherSource() const { return m_comparison.before.isEstimate != m_comparison.after.isEstimate; }

    void otherSource()
    {
        if (!isOtherSource()) {
            return;
        }
        if (m_comparison.hasPlans && m_comparison.variables.empty() && m_allocated) {
            estimateAgainstMeasurement();
            return;
        }
        add("estimate-beside-measurement", Severity::Note,
            Text{HEADROOM_TR("core", "One of them is measured, the other estimated")},
            Text{HEADROOM_TR("core",
                             "Their difference holds the estimate's own error beside what the settings did. Calibrate "
                             "the estimate on the log, or compare two logs.")});
    }

    void estimateAgainstMeasurement()
    {
        const RunFigures& estimate = m_comparison.before.isEstimate ? m_comparison.before : m_comparison.after;
        const RunFigures& measured = m_comparison.before.isEstimate ? m_comparison.after : m_comparison.before;
        const double error = change(measured.allocated, estimate.allocated).value_or(0);
        add("estimate-error", std::abs(error) > clear ? Severity::Warning : Severity::Note,
            Text{HEADROOM_TR("core", "Same settings: the estimate is %1 off the measured peak"), {percent(error)}},
            Text{HEADROOM_TR("core",
                             "Measured %1, estimated %2, allocated in both. What is left may be calibrated away, where "
                             "the log was made with these settings."),
                 {formatGib(*measured.allocated), formatGib(*estimate.allocated)}});
    }

    void nothingChanged()
    {
        if (isOtherSource() || !m_allocated || std::abs(*m_allocated) > same
            || (m_reserved && std::abs(*m_reserved) > same)) {
            return;
        }
        if (m_comparison.hasPlans && m_comparison.variables.empty()) {
            add("nothing-changed", Severity::Note, Text{HEADROOM_TR("core", "Same settings, same peak")},
                Text{HEADROOM_TR("core",
                                 "The plans do not differ in anything that takes memory, and neither do the "
                                 "peaks: the measurement repeats.")});
            return;
        }
        add("no-effect", Severity::Warning, Text{HEADROOM_TR("core", "The change had no effect on memory")},
            changed("recompute")
                ? Text{HEADROOM_TR("core",
                                   "Neither allocated nor reserved bytes moved. First see whether the command "
                                   "line overrode the config, so that recompute never came on; then whether "
                                   "it covers only a few layers.")}
                : Text{HEADROOM_TR("core",
                                   "Neither allocated nor reserved bytes moved. See whether the command line "
                                   "or another file overrode the setting.")});
    }

    void peakMoved()
    {
        const bool isSameRun = isOtherSource() && m_comparison.hasPlans && m_comparison.variables.empty();
        if (isSameRun || !m_allocated || std::abs(*m_allocated) <= clear) {
            return;
        }
        const bool fell = *m_allocated < 0;
        add(fell ? "peak-fell" : "peak-rose", fell ? Severity::Note : Severity::Warning,
            Text{fell ? HEADROOM_TR("core", "The allocated peak fell by %1, to %2")
                      : HEADROOM_TR("core", "The allocated peak rose by %1, to %2"),
                 {fmt::format("{:.1f} %", std::abs(*m_allocated) * 100), formatGib(*m_comparison.after.allocated)}},
            reasonOfRise(fell));
    }

    [[nodiscard]] Text reasonOfRise(bool fell) const
    {
        const bool moreStages = m_planBefore != nullptr && m_planAfter != nullptr
            && m_planAfter->parallel.pp.value > m_planBefore->parallel.pp.value;
        if (!fell && moreStages) {
            return Text{HEADROOM_TR("core",
                                    "More pipeline stages: each holds fewer layers, but its first stage holds "
                                    "as many micro-batches in flight as there are stages. Where activations "
                                    "outweigh the static state, the peak rises.")};
        }
        return Text{HEADROOM_TR("core", "From %1 to %2."),
                    {formatGib(*m_comparison.before.allocated), formatGib(*m_comparison.after.allocated)}};
    }

    void poolKeptIts()
    {
        const bool fellAlone = m_allocated && m_reserved && *m_allocated<-clear&& * m_reserved> * m_allocated / 2;
        if (fellAlone) {
            add("pool-kept-its-memory", Severity::Note,
                Text{HEADROOM_TR("core", "Allocated fell, reserved barely: the pool kept what it had")},
                Text{HEADROOM_TR("core",
                                 "Allocated %1, reserved %2. The caching allocator does not give back what it "
                                 "once took. This is normal, and no sign that the change failed."),
                     {percent(*m_allocated), percent(*m_reserved)}});
        }
    }

    void priceOfMemory()
    {
        const bool slower = (m_time && *m_time > clearTime) || (m_throughput && *m_throughput < -clearTime);
        if (!m_allocated || *m_allocated >= -clear || !slower) {
            return;
        }
        add("price-of-memory", Severity::Note,
            m_time ? Text{HEADROOM_TR("core", "Less memory for %1 step time"), {percent(*m_time)}}
                   : Text{HEADROOM_TR("core", "Less memory for %1 tokens/s"), {percent(*m_throughput)}},
            Text{HEADROOM_TR("core",
                             "This is the price to expect, of recomputing for one. Whether it pays shows in "
                             "the tokens per second with whatever the freed memory is then used for.")});
    }

    void peakInOptimizer()
    {
        if (m_comparison.before.peakPhase == Phase::Optimizer && changed("recompute")) {
            add("peak-was-in-optimizer", Severity::Note,
                Text{HEADROOM_TR("core", "The peak was in the optimizer step, where recompute changes little")},
                Text{HEADROOM_TR("core",
                                 "Recompute lowers what lives in backward. The optimizer's peak is static "
                                 "state: split the layers further, or store the state in fewer bytes.")});
        }
    }

    void otherGlobalBatch()
    {
        if (m_planBefore == nullptr || m_planAfter == nullptr) {
            return;
        }
        const auto before = batchEquation(*m_planBefore).global;
        const auto after = batchEquation(*m_planAfter).global;
        if (before && after && *before != *after) {
            add("global-batch-changed", Severity::Warning,
                Text{HEADROOM_TR("core", "The global batch changed from %1 to %2"),
                     {formatCount(*before), formatCount(*after)}},
                Text{HEADROOM_TR("core",
                                 "The runs do not train alike, and step times are of different work. Keep "
                                 "micro-batch × accumulation × data-parallel size the same.")});
        }
    }

    RunComparison& m_comparison;
    const TrainingPlan* m_planBefore;
    const TrainingPlan* m_planAfter;
    std::optional<double> m_allocated, m_reserved, m_time, m_throughput;
};

bool isStated(const TrainingPlan& plan, const std::string& key)
{
    const OriginKind kind = fieldOrigin(plan, key).kind;
    return kind != OriginKind::Unknown && kind != OriginKind::Default && kind != OriginKind::Derived;
}

/// The arguments that a log lists say less than a config with its model; the rest are defaults, and no change. What the
/// log does list was in effect, whether the estimate's plan states it or not.
void keepWhatTheLogStates(std::vector<ChangedVariable>& variables, const TrainingPlan& measured)
{
    for (ChangedVariable& variable : variables) {
        std::erase_if(variable.differences, [&](const FieldDifference& one) { return !isStated(measured, one.key); });
    }
    std::erase_if(variables, [](const ChangedVariable& variable) { return variable.differences.empty(); });
}

} // namespace

RunComparison compareRuns(RunFigures before, RunFigures after, const TrainingPlan* planBefore,
                          const TrainingPlan* planAfter)
{
    RunComparison comparison{
        std::move(before), std::move(after), {}, planBefore != nullptr && planAfter != nullptr, {}};
    if (comparison.hasPlans) {
        comparison.variables = changedVariables(*planBefore, *planAfter);
        if (comparison.before.isEstimate != comparison.after.isEstimate) {
            keepWhatTheLogStates(comparison.variables, comparison.before.isEstimate ? *planAfter : *planBefore);
        }
    }
    Verdicts(comparison, planBefore, planAfter).run();
    return comparison;
}

} // namespace headroom
