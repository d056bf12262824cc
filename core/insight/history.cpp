// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/history.h"

#include <fmt/format.h>

#include <algorithm>

namespace headroom {

namespace {

const TrainingPlan* planOf(const HistoryRun& run)
{
    return run.plan ? &*run.plan : nullptr;
}

RunComparison between(const HistoryRun& before, const HistoryRun& after)
{
    return compareRuns(before.figures, after.figures, planOf(before), planOf(after));
}

bool isSame(const ChangedVariable& a, const ChangedVariable& b)
{
    return a.id == b.id
        && std::equal(a.differences.begin(), a.differences.end(), b.differences.begin(), b.differences.end(),
                      [](const FieldDifference& x, const FieldDifference& y) {
                          return x.key == y.key && x.before == y.before && x.after == y.after;
                      });
}

/// Pairs of runs that differ in one setting alone.
class SinglePairs
{
public:
    explicit SinglePairs(std::span<const HistoryRun> runs)
        : m_runs(runs)
    {
        for (std::size_t before = 0; before < runs.size(); ++before) {
            for (std::size_t after = 0; after < runs.size(); ++after) {
                addIfSingle(before, after);
            }
        }
    }

    /// Adds what is known about each of the settings that changed at once; true when that is all of them.
    bool tellApart(RunComparison& change) const
    {
        std::vector<Finding> told;
        for (const ChangedVariable& variable : change.variables) {
            const auto found = std::find_if(m_pairs.begin(), m_pairs.end(),
                                            [&](const Pair& pair) { return isSame(pair.variable, variable); });
            if (found != m_pairs.end()) {
                told.push_back(findingOf(*found));
            }
        }
        const bool isComplete = told.size() == change.variables.size();
        const auto several = std::find_if(change.findings.begin(), change.findings.end(), [](const Finding& finding) {
            return finding.id == "several-variables-changed";
        });
        if (isComplete && several != change.findings.end()) {
            several->severity = Severity::Note;
            several->explanation.pattern
                = HEADROOM_TR("core", "Between the two runs %1 changed. Other runs show what each of them does alone.");
        }
        change.findings.insert(change.findings.end(), told.begin(), told.end());
        return isComplete;
    }

private:
    struct Pair
    {
        std::size_t before, after;
        ChangedVariable variable;
    };

    void addIfSingle(std::size_t before, std::size_t after)
    {
        const HistoryRun& a = m_runs[before];
        const HistoryRun& b = m_runs[after];
        // An estimate beside a measurement would tell their difference too.
        if (before == after || !a.plan || !b.plan || a.figures.isEstimate != b.figures.isEstimate
            || !a.figures.allocated || !b.figures.allocated || a.figures.allocated->value <= 0) {
            return;
        }
        std::vector<ChangedVariable> variables = changedVariables(*a.plan, *b.plan);
        if (variables.size() == 1) {
            m_pairs.push_back({before, after, std::move(variables.front())});
        }
    }

    [[nodiscard]] Finding findingOf(const Pair& pair) const
    {
        const RunFigures& before = m_runs[pair.before].figures;
        const RunFigures& after = m_runs[pair.after].figures;
        const double change
            = static_cast<double>(after.allocated->value) / static_cast<double>(before.allocated->value) - 1;
        Finding finding;
        finding.id = "told-apart-elsewhere";
        finding.title = Text{HEADROOM_TR("core", "%1 alone: allocated peak %2"),
                             {pair.variable.id, fmt::format("{:+.1f} %", change * 100)}};
        finding.explanation
            = Text{HEADROOM_TR("core", "Runs %1 (%2) and %3 (%4) differ in nothing else."),
                   {std::to_string(pair.before + 1), before.name, std::to_string(pair.after + 1), after.name}};
        return finding;
    }

    std::span<const HistoryRun> m_runs;
    std::vector<Pair> m_pairs;
};

} // namespace

Text HistoryStep::verdict() const
{
    if (!change) {
        return Text{HEADROOM_TR("core", "The first run")};
    }
    if (isMixed()) {
        return Text{isToldApart
                        ? HEADROOM_TR("core", "%1 settings changed at once; other runs tell them apart")
                        : HEADROOM_TR("core", "%1 settings changed at once: their effects cannot be told apart"),
                    {std::to_string(change->variables.size())}};
    }
    const auto& findings = change->findings;
    const auto first = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return finding.id != "estimate-beside-measurement"; });
    return first != findings.end() ? first->title : Text{HEADROOM_TR("core", "No clear change")};
}

Severity HistoryStep::severity() const
{
    return change && !change->findings.empty() ? change->findings.front().severity : Severity::Note;
}

std::vector<HistoryStep> historyOf(std::span<const HistoryRun> runs, std::optional<std::size_t> reference)
{
    std::vector<HistoryStep> steps(runs.size());
    std::optional<SinglePairs> pairs; // looked for only where they are needed
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (i > 0) {
            steps[i].change = between(runs[i - 1], runs[i]);
        }
        if (reference && *reference < runs.size() && *reference != i) {
            steps[i].fromReference = between(runs[*reference], runs[i]);
        }
        if (steps[i].isMixed()) {
            if (!pairs) {
                pairs.emplace(runs);
            }
            steps[i].isToldApart = pairs->tellApart(*steps[i].change);
        }
    }
    return steps;
}

} // namespace headroom
