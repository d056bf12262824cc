// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit.h"

#include "insight/fit_search.h"
#include "insight/knobs.h"
#include "insight/rule.h"
#include "plan/batch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headroom {

namespace {

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
    return FitSearch(question).run();
}

std::optional<std::int64_t> largestMicroBatch(const FitQuestion& question)
{
    constexpr std::int64_t most = 1 << 16;
    FitSearch search(question);
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
    FitSearch search(question);
    const auto units = largestThatFits(most, [&](std::int64_t count) {
        auto proposal = search.propose({{"batch.seq", std::to_string(count * unit)}}, question.constraints);
        return proposal && !search.isStopped() && search.fits(*proposal);
    });
    return units ? std::optional(*units * unit) : std::nullopt;
}

std::optional<FitProposal> fewestGpus(const FitQuestion& question)
{
    FitSearch search(question);
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
