// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/fit.h"

#include <optional>
#include <utility>
#include <vector>

namespace headroom {

/// Proposes changes of a plan and tells whether they fit: what the questions of fit.h have in common.
class FitSearch
{
public:
    explicit FitSearch(const FitQuestion& question);

    Result<FitAnswer> run();

    /// The plan with these edits as a proposal, whether it fits or not; null where it is not legal.
    std::optional<FitProposal> propose(std::vector<PlanEdit> primary, const FitConstraints& constraints);

    /// Completes a proposal just made.
    void describe(FitProposal& proposal) const;

    /// Whether the proposal just made fits; a close call takes the exact engine's figures.
    [[nodiscard]] bool fits(FitProposal& proposal);

    /// The same by the fast estimate alone.
    [[nodiscard]] bool seemsToFit(const FitProposal& proposal) const { return proposal.peak <= m_limit; }

    [[nodiscard]] bool isStopped() const { return m_question.stop.stop_requested(); }

private:
    struct Pair
    {
        const FitKnob* firstKnob;
        const FitKnob* secondKnob;
        const FitCandidate* first;
        const FitCandidate* second;
        std::pair<bool, double> cost;
    };

    Result<void> estimated(const TrainingPlan& plan);
    void trySingle(const FitKnob& knob);

    /// Each kind of adapters alone, else with every layer recomputed, else with the smallest micro-batch as well.
    void tryAdapters();
    static std::int64_t smallestValue(const FitCandidate& candidate);

    /// Whether the edits fit; then they are among the answer's adapters, called as `named` is.
    bool tryTogether(const std::vector<PlanEdit>& primary, const FitProposal& named);
    static std::vector<const FitCandidate*> spread(const FitKnob& knob);

    /// Of every two knobs the cheapest values that fit. The fast estimate says which may, the exact engine is asked of
    /// the cheapest of those until there are enough.
    void tryPairs();
    std::optional<FitProposal> proposed(const Pair& pair);
    void addPairs(const FitKnob& first, const FitKnob& second, std::vector<Pair>& candidates);
    static std::pair<bool, double> rank(const FitProposal& proposal);
    static void cheapestFirst(std::vector<FitProposal>& proposals);

    const FitQuestion& m_question;
    const Bytes m_limit;
    std::optional<StepCost> m_before;
    std::vector<FitKnob> m_knobs;
    FitAnswer m_answer;
    TrainingPlan m_plan;
    Footprint m_footprint;
};

} // namespace headroom
