// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit.h"

#include "insight/rule.h"
#include "plan/batch.h"

#include <algorithm>
#include <set>

namespace headroom {

namespace {

/// Values of a knob that pairs are made of: more of them would not end in time.
constexpr std::size_t valuesInPairs = 10;
constexpr std::size_t mostPairs = 12;
/// What takes more of the limit than this is asked of the exact engine: fragments of the allocator's segments can tip
/// it.
constexpr double nearLimit = 0.88;

class Search
{
public:
    explicit Search(const FitQuestion& question)
        : m_question(question)
        , m_limit(question.limit())
    {
        if (auto before = stepCost(*question.plan)) {
            m_before = *before;
        }
    }

    Result<FitAnswer> run()
    {
        if (auto now = estimated(*m_question.plan); !now) {
            return tl::unexpected(std::move(now.error()));
        }
        // The plan itself is told as the exact engine has it, wherever it stands: the verdict says the same.
        if (m_question.exact != nullptr) {
            ++m_answer.estimates;
            static_cast<void>(m_question.exact(*m_question.plan, m_question.calibration, m_footprint));
        }
        m_answer.peak = m_footprint.fullest().device;
        m_answer.fits = m_answer.peak <= m_limit;
        if (m_answer.fits) {
            return std::move(m_answer);
        }
        m_knobs = fitKnobs(*m_question.plan, m_question.constraints);
        for (const FitKnob& knob : m_knobs) {
            trySingle(knob);
        }
        if (m_answer.singles.empty()) {
            tryPairs();
        }
        cheapestFirst(m_answer.singles);
        cheapestFirst(m_answer.pairs);
        m_answer.pairs.resize(std::min(m_answer.pairs.size(), mostPairs));
        if (!m_answer.singles.empty() || !m_answer.pairs.empty()) {
            m_answer.closest.reset();
        }
        return std::move(m_answer);
    }

    /// The plan with these edits as a proposal, whether it fits or not; null where it is not legal.
    std::optional<FitProposal> propose(std::vector<PlanEdit> primary, const FitConstraints& constraints)
    {
        auto edits = linkedEdits(*m_question.plan, std::move(primary), constraints);
        if (!edits) {
            return std::nullopt;
        }
        m_plan = *edited(*m_question.plan, *edits);
        if (!estimated(m_plan)) {
            return std::nullopt;
        }
        FitProposal proposal;
        proposal.edits = std::move(*edits);
        proposal.peak = m_footprint.fullest().device;
        return proposal;
    }

    /// Completes a proposal just made.
    void describe(FitProposal& proposal) const
    {
        proposal.stages.clear();
        for (const StageFootprint& stage : m_footprint.stages) {
            proposal.stages.push_back(stage.device);
        }
        if (const auto after = stepCost(m_plan); after && m_before) {
            proposal.stepTime = relativeStepTime(*m_before, *after);
        }
    }

    /// Whether the proposal just made fits; a close call takes the exact engine's figures.
    [[nodiscard]] bool fits(FitProposal& proposal)
    {
        const bool isClose = static_cast<double>(proposal.peak.value) > nearLimit * static_cast<double>(m_limit.value);
        if (seemsToFit(proposal) && isClose && m_question.exact != nullptr) {
            ++m_answer.estimates;
            Footprint exact;
            if (m_question.exact(m_plan, m_question.calibration, exact)) {
                m_footprint = std::move(exact);
                proposal.peak = m_footprint.fullest().device;
            }
        }
        return seemsToFit(proposal);
    }

    /// The same by the fast estimate alone.
    [[nodiscard]] bool seemsToFit(const FitProposal& proposal) const { return proposal.peak <= m_limit; }

private:
    Result<void> estimated(const TrainingPlan& plan)
    {
        ++m_answer.estimates;
        return m_question.estimator(plan, m_question.calibration, m_footprint);
    }

    void trySingle(const FitKnob& knob)
    {
        for (const FitCandidate& candidate : knob.candidates) {
            auto proposal = propose(candidate.primary, m_question.constraints);
            if (!proposal) {
                continue;
            }
            proposal->knobs = {knob.id};
            proposal->labels = {candidate.label};
            if (fits(*proposal)) {
                describe(*proposal);
                m_answer.singles.push_back(std::move(*proposal));
                return;
            }
            if (proposal->peak < (m_answer.closest ? m_answer.closest->peak : m_answer.peak)) {
                describe(*proposal);
                m_answer.closest = std::move(proposal);
            }
        }
    }

    static std::vector<const FitCandidate*> spread(const FitKnob& knob)
    {
        std::vector<const FitCandidate*> result;
        const std::size_t count = std::min(knob.candidates.size(), valuesInPairs);
        for (std::size_t i = 0; i < count; ++i) {
            // The first and the last are among them.
            result.push_back(&knob.candidates[count < 2 ? 0 : i * (knob.candidates.size() - 1) / (count - 1)]);
        }
        return result;
    }

    void tryPairs()
    {
        for (std::size_t i = 0; i < m_knobs.size(); ++i) {
            for (std::size_t j = i + 1; j < m_knobs.size(); ++j) {
                tryPair(m_knobs[i], m_knobs[j]);
            }
        }
    }

    /// The cheapest of the two knobs' values that fits.
    void tryPair(const FitKnob& first, const FitKnob& second)
    {
        std::optional<FitProposal> best;
        for (const FitCandidate* a : spread(first)) {
            for (const FitCandidate* b : spread(second)) {
                std::vector<PlanEdit> primary = a->primary;
                primary.insert(primary.end(), b->primary.begin(), b->primary.end());
                auto proposal = propose(std::move(primary), m_question.constraints);
                if (!proposal || !seemsToFit(*proposal)) {
                    continue;
                }
                describe(*proposal);
                if ((!best || proposal->cost() < best->cost()) && fits(*proposal)) {
                    describe(*proposal);
                    proposal->knobs = {first.id, second.id};
                    proposal->labels = {a->label, b->label};
                    best = std::move(proposal);
                }
            }
        }
        if (best) {
            m_answer.pairs.push_back(std::move(*best));
        }
    }

    static void cheapestFirst(std::vector<FitProposal>& proposals)
    {
        std::stable_sort(proposals.begin(), proposals.end(),
                         [](const FitProposal& a, const FitProposal& b) { return a.cost() < b.cost(); });
    }

    const FitQuestion& m_question;
    const Bytes m_limit;
    std::optional<StepCost> m_before;
    std::vector<FitKnob> m_knobs;
    FitAnswer m_answer;
    TrainingPlan m_plan;
    Footprint m_footprint;
};

/// The largest count in 1…most whose plan fits, taking it that more of it is never less memory.
template <class Fits> std::optional<std::int64_t> largestThatFits(std::int64_t most, Fits fits)
{
    std::int64_t good = 0;
    std::int64_t bad = 1;
    while (bad <= most && fits(bad)) {
        good = bad;
        bad *= 2;
    }
    bad = std::min(bad, most + 1);
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
    }
    return good > 0 ? std::optional(good) : std::nullopt;
}

} // namespace

Bytes FitQuestion::limit() const
{
    return {static_cast<std::int64_t>(static_cast<double>(capacity.value) * (1 - margin))};
}

double FitProposal::cost() const
{
    return stepTime ? stepTime->ratio * stepTime->gpus : 1;
}

Result<FitAnswer> smallestChangeThatFits(const FitQuestion& question)
{
    return Search(question).run();
}

std::optional<std::int64_t> largestMicroBatch(const FitQuestion& question)
{
    constexpr std::int64_t most = 1 << 16;
    Search search(question);
    // Other micro-batches than divisors are worth knowing too, so the global batch follows here.
    FitConstraints constraints = question.constraints;
    constraints.keepGlobalBatch = false;
    return largestThatFits(most, [&](std::int64_t micro) {
        auto proposal = search.propose({{"batch.micro", std::to_string(micro)}}, constraints);
        return proposal && search.fits(*proposal);
    });
}

std::optional<std::int64_t> longestSequence(const FitQuestion& question)
{
    // Context parallelism cuts a sequence into two pieces for every rank.
    const std::int64_t unit = 128 * std::max<std::int64_t>(1, question.plan->parallel.cp.value);
    constexpr std::int64_t most = 1 << 17;
    Search search(question);
    const auto units = largestThatFits(most, [&](std::int64_t count) {
        auto proposal = search.propose({{"batch.seq", std::to_string(count * unit)}}, question.constraints);
        return proposal && search.fits(*proposal);
    });
    return units ? std::optional(*units * unit) : std::nullopt;
}

std::optional<FitProposal> fewestGpus(const FitQuestion& question)
{
    const TrainingPlan& plan = *question.plan;
    constexpr std::int64_t mostTensor = 64;
    constexpr std::int64_t mostStages = 256;
    Search search(question);
    FitConstraints constraints = question.constraints;
    constraints.keepGpus = false;
    std::set<std::int64_t> replicas{1, dataParallelSize(plan)};
    for (std::int64_t value = 2; value < dataParallelSize(plan); value *= 2) {
        replicas.insert(value);
    }
    std::optional<FitProposal> best;
    std::int64_t fewest = worldSize(plan);
    for (std::int64_t tensor = 1; tensor <= mostTensor; tensor *= 2) {
        for (std::int64_t stages = 1; stages <= std::min(plan.model.layers.valueOr(1), mostStages); ++stages) {
            for (const std::int64_t data : replicas) {
                const std::int64_t gpus = tensor * stages * std::max<std::int64_t>(1, plan.parallel.cp.value) * data;
                if (gpus > fewest) {
                    continue;
                }
                std::vector<PlanEdit> primary{{"parallel.tp", std::to_string(tensor)},
                                              {"parallel.pp", std::to_string(stages)},
                                              {"parallel.dp", std::to_string(data)}};
                auto proposal = search.propose(std::move(primary), constraints);
                if (!proposal || !search.seemsToFit(*proposal)) {
                    continue;
                }
                search.describe(*proposal);
                if ((!best || gpus < fewest || proposal->cost() < best->cost()) && search.fits(*proposal)) {
                    search.describe(*proposal);
                    fewest = gpus;
                    best = std::move(proposal);
                }
            }
        }
    }
    return best;
}

} // namespace headroom
