// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit_search.h"

#include "insight/rule.h"
#include "units/number.h"

#include <algorithm>
#include <limits>
#include <set>

namespace headroom {

namespace {

/// Values of a knob that pairs are made of: more of them would not end in time.
constexpr std::size_t valuesInPairs = 10;
constexpr std::size_t mostPairs = 12;
/// Stages that take more of the limit than this are asked of the exact engine: what a pool keeps in pieces can come to
/// half of what it holds (a model moved into one buffer leaves its first copy behind).
constexpr double nearLimit = 0.5;

} // namespace

FitSearch::FitSearch(const FitQuestion& question)
    : m_question(question)
    , m_limit(question.limit())
{
    if (auto before = stepCost(*question.plan)) {
        m_before = *before;
    }
}

Result<FitAnswer> FitSearch::run()
{
    if (auto now = estimated(*m_question.plan); !now) {
        return tl::unexpected(std::move(now.error()));
    }
    // The plan itself is told as the exact engine has it, wherever it stands: the verdict says the same.
    if (m_question.exact != nullptr) {
        ++m_answer.estimates;
        static_cast<void>(m_question.exact(*m_question.plan, m_question.calibration, everyPeak, m_footprint));
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
    } else {
        tryAdapters();
    }
    return std::move(m_answer);
}

std::optional<FitProposal> FitSearch::propose(std::vector<PlanEdit> primary, const FitConstraints& constraints)
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

void FitSearch::describe(FitProposal& proposal) const
{
    proposal.stages.clear();
    for (const StageFootprint& stage : m_footprint.stages) {
        proposal.stages.push_back(stage.device);
    }
    if (const auto after = stepCost(m_plan); after && m_before) {
        proposal.stepTime = relativeStepTime(*m_before, *after);
    }
    proposal.isTimeLowerBound = m_plan.shard.offloadOptimizer.value && !m_question.plan->shard.offloadOptimizer.value;
}

bool FitSearch::fits(FitProposal& proposal)
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

Result<void> FitSearch::estimated(const TrainingPlan& plan)
{
    ++m_answer.estimates;
    return m_question.estimator(plan, m_question.calibration, m_footprint);
}

void FitSearch::trySingle(const FitKnob& knob)
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

void FitSearch::tryAdapters()
{
    const FitKnob kinds = adapterKinds(*m_question.plan, m_question.constraints);
    for (const FitCandidate& kind : kinds.candidates) {
        FitProposal all;
        all.knobs = {kinds.id};
        all.labels = {kind.label};
        std::vector<PlanEdit> primary = kind.primary;
        bool isDone = tryTogether(primary, all);
        for (const std::string_view id : {"recompute", "micro-batch"}) {
            const auto knob = std::ranges::find(m_knobs, id, &FitKnob::id);
            if (isDone || isStopped() || knob == m_knobs.end()) {
                continue;
            }
            const FitCandidate& most = id == "recompute"
                ? knob->candidates.back()
                : *std::ranges::min_element(knob->candidates, {}, &smallestValue);
            primary.insert(primary.end(), most.primary.begin(), most.primary.end());
            all.knobs.push_back(knob->id);
            all.labels.push_back(most.label);
            isDone = tryTogether(primary, all);
        }
    }
}

std::int64_t FitSearch::smallestValue(const FitCandidate& candidate)
{
    return parseInteger(candidate.primary.front().value).value_or(std::numeric_limits<std::int64_t>::max());
}

bool FitSearch::tryTogether(const std::vector<PlanEdit>& primary, const FitProposal& named)
{
    auto proposal = propose(primary, m_question.constraints);
    if (!proposal || !fits(*proposal)) {
        return false;
    }
    describe(*proposal);
    proposal->knobs = named.knobs;
    proposal->labels = named.labels;
    m_answer.adapters.push_back(std::move(*proposal));
    return true;
}

std::vector<const FitCandidate*> FitSearch::spread(const FitKnob& knob)
{
    std::vector<const FitCandidate*> result;
    const std::size_t count = std::min(knob.candidates.size(), valuesInPairs);
    for (std::size_t i = 0; i < count; ++i) {
        // The first and the last are among them.
        result.push_back(&knob.candidates[count < 2 ? 0 : i * (knob.candidates.size() - 1) / (count - 1)]);
    }
    return result;
}

void FitSearch::tryPairs()
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

std::optional<FitProposal> FitSearch::proposed(const Pair& pair)
{
    std::vector<PlanEdit> primary = pair.first->primary;
    primary.insert(primary.end(), pair.second->primary.begin(), pair.second->primary.end());
    return propose(std::move(primary), m_question.constraints);
}

void FitSearch::addPairs(const FitKnob& first, const FitKnob& second, std::vector<Pair>& candidates)
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

std::pair<bool, double> FitSearch::rank(const FitProposal& proposal)
{
    return {proposal.isTimeLowerBound, proposal.cost()};
}

void FitSearch::cheapestFirst(std::vector<FitProposal>& proposals)
{
    std::stable_sort(proposals.begin(), proposals.end(),
                     [](const FitProposal& a, const FitProposal& b) { return rank(a) < rank(b); });
}

} // namespace headroom
