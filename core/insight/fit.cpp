// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit.h"

#include "insight/knobs.h"
#include "insight/rule.h"
#include "plan/batch.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace headroom {

namespace {

/// Values of a knob that pairs are made of: more of them would not end in time.
constexpr std::size_t valuesInPairs = 10;
constexpr std::size_t mostPairs = 12;
/// Stages that take more of the limit than this are asked of the exact engine: what a pool keeps in pieces can come to
/// half of what it holds (a model moved into one buffer leaves its first copy behind).
constexpr double nearLimit = 0.5;

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
            const Interval every{{}, Bytes{std::numeric_limits<std::int64_t>::max()}};
            static_cast<void>(m_question.exact(*m_question.plan, m_question.calibration, every, m_footprint));
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
        proposal.isTimeLowerBound
            = m_plan.shard.offloadOptimizer.value && !m_question.plan->shard.offloadOptimizer.value;
    }

    /// Whether the proposal just made fits; a close call takes the exact engine's figures.
    [[nodiscard]] bool fits(FitProposal& proposal)
    {
        const Bytes close{static_cast<std::int64_t>(nearLimit * static_cast<double>(m_limit.value))};
        if (seemsToFit(proposal) && proposal.peak > close && m_question.exact != nullptr) {
            ++m_answer.estimates;
            if (!m_question.exact(m_plan, m_question.calibration, {close, m_limit}, m_footprint)) {
                return false;
            }
            proposal.peak = m_footprint.fullest().device;
        }
        return seemsToFit(proposal);
    }

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

    Result<void> estimated(const TrainingPlan& plan)
    {
        ++m_answer.estimates;
        return m_question.estimator(plan, m_question.calibration, m_footprint);
    }

    void trySingle(const FitKnob& knob)
    {
        for (const FitCandidate& candidate : knob.candidates) {
            if (isStopped()) {
                return;
            }
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

    /// Of every two knobs the cheapest values that fit. The fast estimate says which may, the exact engine is asked of
    /// the cheapest of those until there are enough.
    void tryPairs()
    {
        std::vector<Pair> candidates;
        for (std::size_t i = 0; i < m_knobs.size(); ++i) {
            for (std::size_t j = i + 1; j < m_knobs.size(); ++j) {
                addPairs(m_knobs[i], m_knobs[j], candidates);
            }
        }
        std::stable_sort(candidates.begin(), candidates.end(),
                         [](const Pair& a, const Pair& b) { return a.cost < b.cost; });
        std::set<std::pair<std::string_view, std::string_view>> answered;
        for (const Pair& pair : candidates) {
            if (m_answer.pairs.size() == mostPairs || isStopped()) {
                break;
            }
            const std::pair knobs{pair.firstKnob->id, pair.secondKnob->id};
            if (answered.contains(knobs)) {
                continue;
            }
            auto proposal = proposed(pair);
            if (proposal && fits(*proposal)) {
                describe(*proposal);
                proposal->knobs = {knobs.first, knobs.second};
                proposal->labels = {pair.first->label, pair.second->label};
                m_answer.pairs.push_back(std::move(*proposal));
                answered.insert(knobs);
            }
        }
    }

    std::optional<FitProposal> proposed(const Pair& pair)
    {
        std::vector<PlanEdit> primary = pair.first->primary;
        primary.insert(primary.end(), pair.second->primary.begin(), pair.second->primary.end());
        return propose(std::move(primary), m_question.constraints);
    }

    void addPairs(const FitKnob& first, const FitKnob& second, std::vector<Pair>& candidates)
    {
        for (const FitCandidate* a : spread(first)) {
            for (const FitCandidate* b : spread(second)) {
                if (isStopped()) {
                    return;
                }
                Pair pair{&first, &second, a, b, {}};
                auto proposal = proposed(pair);
                if (proposal && seemsToFit(*proposal)) {
                    describe(*proposal);
                    pair.cost = rank(*proposal);
                    candidates.push_back(pair);
                }
            }
        }
    }

    static std::pair<bool, double> rank(const FitProposal& proposal)
    {
        return {proposal.isTimeLowerBound, proposal.cost()};
    }

    static void cheapestFirst(std::vector<FitProposal>& proposals)
    {
        std::stable_sort(proposals.begin(), proposals.end(),
                         [](const FitProposal& a, const FitProposal& b) { return rank(a) < rank(b); });
    }

    const FitQuestion& m_question;
    const Bytes m_limit;
    std::optional<StepCost> m_before;
    std::vector<FitKnob> m_knobs;
    FitAnswer m_answer;
    TrainingPlan m_plan;
    Footprint m_footprint;
};

/// A way to spread the plan over GPUs.
struct Split
{
    std::int64_t tensor = 1, stages = 1, context = 1, data = 1;

    [[nodiscard]] std::int64_t gpus() const { return tensor * stages * context * data; }
    [[nodiscard]] std::vector<PlanEdit> edits() const
    {
        return {{"parallel.tp", std::to_string(tensor)},
                {"parallel.pp", std::to_string(stages)},
                {"parallel.dp", std::to_string(data)}};
    }
};

/// Every split over no more GPUs than the plan has, the fewest first and the plan's own before others of its size.
std::vector<Split> splitsByGpus(const TrainingPlan& plan)
{
    constexpr std::int64_t mostTensor = 64;
    const std::int64_t context = std::max<std::int64_t>(1, plan.parallel.cp.value);
    const std::int64_t copies = dataParallelSize(plan);
    const std::int64_t world = worldSize(plan);
    std::set<std::int64_t> replicas{1, copies};
    for (std::int64_t value = 2; value < copies; value *= 2) {
        replicas.insert(value);
    }
    std::vector<Split> splits{{plan.parallel.tp.value, plan.parallel.pp.value, context, copies}};
    for (std::int64_t tensor = 1; tensor <= mostTensor; tensor *= 2) {
        for (const std::int64_t stages : knobValues(Knob::PipelineStages, plan)) {
            for (const std::int64_t data : replicas) {
                const Split split{tensor, stages, context, data};
                if (split.gpus() <= world) {
                    splits.push_back(split);
                }
            }
        }
    }
    std::stable_sort(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.gpus() < b.gpus(); });
    return splits;
}

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
        return proposal && !search.isStopped() && search.fits(*proposal);
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
        return proposal && !search.isStopped() && search.fits(*proposal);
    });
    return units ? std::optional(*units * unit) : std::nullopt;
}

std::optional<FitProposal> fewestGpus(const FitQuestion& question)
{
    Search search(question);
    FitConstraints constraints = question.constraints;
    constraints.keepGpus = false;
    std::optional<FitProposal> best;
    std::int64_t fewest = 0;
    const TrainingPlan& plan = *question.plan;
    const auto isLacking = [&constraints](const char* field) {
        return std::ranges::find(constraints.lacking, field) != constraints.lacking.end();
    };
    for (const Split& split : splitsByGpus(plan)) {
        if ((best && split.gpus() > fewest) || search.isStopped()) {
            break;
        }
        if ((split.tensor != plan.parallel.tp.value && isLacking("parallel.tp"))
            || (split.stages != plan.parallel.pp.value && isLacking("parallel.pp"))) {
            continue;
        }
        auto proposal = search.propose(split.edits(), constraints);
        if (!proposal || !search.seemsToFit(*proposal)) {
            continue;
        }
        search.describe(*proposal);
        if ((!best || proposal->cost() < best->cost()) && search.fits(*proposal)) {
            search.describe(*proposal);
            fewest = split.gpus();
            best = std::move(proposal);
        }
    }
    return best;
}

} // namespace headroom
