// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/pipeline_split.h"

#include "plan/pipeline_layout.h"
#include "plan/size_limits.h"

#include <algorithm>

namespace headroom {

namespace {

enum class Remainder : std::uint8_t { FirstStages, LastStages, LastStage };

/// InternEvo gives one layer more to each of the last stages (core/scheduler, partition_uniform), Galvatron all that is
/// left over to the last one (its default pp_division).
Remainder remainderOf(const TrainingPlan& plan)
{
    const auto is = [&plan](const char* name) {
        return plan.framework.value == name || plan.implementation.profile.value == name;
    };
    return is("internevo") ? Remainder::LastStages : is("galvatron") ? Remainder::LastStage : Remainder::FirstStages;
}

/// Layers of every stage where the remainder goes behind.
std::vector<std::int64_t> filledFromBehind(Remainder kind, std::int64_t layers, std::int64_t stages)
{
    const std::int64_t base = layers / stages, rest = layers % stages;
    std::vector<std::int64_t> result(static_cast<std::size_t>(stages), base);
    if (kind == Remainder::LastStage) {
        result.back() += rest;
    } else {
        std::for_each(result.end() - rest, result.end(), [](std::int64_t& count) { ++count; });
    }
    return result;
}

} // namespace

std::optional<PipelineSplit> PipelineSplit::of(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    const std::int64_t all = plan.model.decoderLayers.valueOr(plan.model.layers.value);
    const auto isCount = [all](const Count& count) { return count.value >= 0 && count.value <= all; };
    PipelineSplit split;
    split.m_stages = parallel.pp.value;
    if (parallel.layout.isKnown() && split.m_stages >= 1) {
        const auto layout = PipelineLayout::parse(parallel.layout.value, split.m_stages);
        if (!layout || layout->layers() != all) {
            return std::nullopt;
        }
        for (std::int64_t stage = 0; stage < split.m_stages; ++stage) {
            split.m_explicit.push_back(layout->layersOfStage(stage));
        }
        return split;
    }
    // The embedding and the loss take the place of a layer in the split when they are counted (theory.md 1.8).
    const std::int64_t embedding = parallel.embedInSplit.value ? 1 : 0;
    const std::int64_t loss = parallel.lossInSplit.value ? 1 : 0;
    if (split.m_stages < 1 || split.m_stages > all + embedding + loss) {
        return std::nullopt;
    }
    const bool hasFirst = parallel.firstStageLayers.isKnown();
    const bool hasLast = parallel.lastStageLayers.isKnown() && (split.m_stages > 1 || !hasFirst);
    if ((hasFirst && !isCount(parallel.firstStageLayers)) || (hasLast && !isCount(parallel.lastStageLayers))) {
        return std::nullopt;
    }
    constexpr std::int64_t mostListed = 10'000;
    const bool isPlain = embedding + loss == 0 && !hasFirst && !hasLast && split.m_stages <= mostListed;
    if (const Remainder kind = remainderOf(plan); isPlain && kind != Remainder::FirstStages) {
        split.m_explicit = filledFromBehind(kind, all, split.m_stages);
        return split;
    }
    const std::int64_t open = split.m_stages - (hasFirst ? 1 : 0) - (hasLast ? 1 : 0);
    const std::int64_t rest = all + embedding + loss - (hasFirst ? parallel.firstStageLayers.value : 0)
        - (hasLast ? parallel.lastStageLayers.value : 0);
    if (rest < 0 || (open == 0 && rest != 0)) {
        return std::nullopt;
    }
    split.m_base = open > 0 ? rest / open : 0;
    split.m_remainder = open > 0 ? rest % open : 0;
    split.m_firstInner = hasFirst ? 0 : 1;
    const std::int64_t evenFirst = split.m_base + (split.m_remainder > 0 ? 1 : 0);
    const std::int64_t onlyStage = hasLast && split.m_stages == 1 ? parallel.lastStageLayers.value : evenFirst;
    split.m_first = (hasFirst ? parallel.firstStageLayers.value : onlyStage) - embedding;
    split.m_last = hasLast ? parallel.lastStageLayers.value : split.m_base;
    if (split.m_stages == 1) {
        split.m_first -= loss;
        split.m_last = split.m_first;
    } else {
        split.m_last -= loss;
    }
    return split.m_first < 0 || split.m_last < 0 ? std::nullopt : std::optional(split);
}

std::int64_t PipelineSplit::layers(std::int64_t stage) const
{
    if (!m_explicit.empty()) {
        return m_explicit[static_cast<std::size_t>(stage)];
    }
    if (stage == 0) {
        return m_first;
    }
    if (stage == m_stages - 1) {
        return m_last;
    }
    return m_base + (stage - 1 + m_firstInner < m_remainder ? 1 : 0);
}

std::int64_t chunksPerStage(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    const std::int64_t stages = std::max<std::int64_t>(parallel.pp.value, 1);
    if (parallel.layout.isKnown()) {
        const auto layout = PipelineLayout::parse(parallel.layout.value, stages);
        return layout ? layout->chunks() : 1;
    }
    const std::int64_t chunks = std::max<std::int64_t>(parallel.vpp.value, 1);
    if (chunks > 1 || parallel.layersPerVstage.value < 1) {
        return chunks;
    }
    return std::max<std::int64_t>(plan.model.layers.value / stages / parallel.layersPerVstage.value, 1);
}

std::vector<std::int64_t> layersPerStage(const TrainingPlan& plan)
{
    std::vector<std::int64_t> layers;
    const std::int64_t stages = plan.parallel.pp.value;
    const bool isUsual = stages >= 1 && stages <= leastUpperLimit;
    if (!isUsual && sizeObjection("parallel.pp", stages)) {
        return layers;
    }
    if (const auto split = PipelineSplit::of(plan)) {
        layers.reserve(static_cast<std::size_t>(split->stages()));
        for (std::int64_t stage = 0; stage < split->stages(); ++stage) {
            layers.push_back(split->layers(stage));
        }
    }
    return layers;
}

} // namespace headroom
