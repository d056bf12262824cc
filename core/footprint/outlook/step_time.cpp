// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/outlook/step_time.h"

#include "footprint/outlook/flops.h"
#include "footprint/tape/shape.h"
#include "plan/batch.h"
#include "plan/validity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom {

namespace {

constexpr double computeEfficiency = 0.5; // of the data sheet: arXiv:2104.04473 table 1 reports 44 to 52 %
constexpr double linkEfficiency = 0.75; // a prior; collectives reach 70 to 80 % of a link

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

/// Seconds that bytes take between `ranks` GPUs, each `stride` GPUs apart in the order in which frameworks number them.
class Links
{
public:
    explicit Links(const MachineRates& rates)
        : m_rates(rates)
    {
    }

    [[nodiscard]] double seconds(double bytes, std::int64_t ranks, std::int64_t stride) const
    {
        if (ranks <= 1) {
            return 0;
        }
        const bool isWithinNode = real(ranks) * real(stride) <= real(m_rates.linkedGpus);
        return bytes / (linkEfficiency * (isWithinNode ? m_rates.link : m_rates.network));
    }

private:
    MachineRates m_rates;
};

/// One plan's step on one machine.
class StepModel
{
public:
    explicit StepModel(const TrainingPlan& plan)
        : m_plan(plan)
        , m_working(workingOf(plan, {}))
        , m_rates(machineRates(plan.hardware))
        , m_links(m_rates)
    {
    }

    StepCost cost(const PipelineSplit& split)
    {
        StepCost slowest;
        StageFlops slowestWork;
        for (std::int64_t stage = 0; stage < split.stages() + m_working.encoderStages; ++stage) {
            const StageLayers layers = stageLayers(m_working, split, stage);
            const StageFlops work = stageFlops(m_plan, m_working, layers);
            const StepCost cost = microBatch(work, layers);
            if (stage == 0 || cost.total() > slowest.total()) {
                slowest = cost;
                slowestWork = work;
            }
        }
        const double microBatches = real(m_working.pipeline.microBatches);
        const double one = slowest.total();
        for (double& part : slowest.parts) {
            part *= microBatches;
        }
        set(slowest, StepPart::Bubble, one * bubbleShare(slowestWork));
        const double busy = microBatches * one;
        addDataTraffic(split, busy, slowest);
        slowest.samples = microBatches * real(m_working.split.data)
            * real(std::max<std::int64_t>(batchEquation(m_plan).micro.value_or(1), 1));
        slowest.gpus = real(std::max<std::int64_t>(worldSize(m_plan), 1));
        return slowest;
    }

private:
    static void set(StepCost& cost, StepPart part, double seconds)
    {
        cost.parts[static_cast<std::size_t>(part)] = seconds;
    }

    [[nodiscard]] double compute(double flops) const { return flops / (computeEfficiency * m_rates.flops); }

    /// A micro-batch's way through a stage, forward and backward.
    [[nodiscard]] StepCost microBatch(const StageFlops& work, const StageLayers& layers) const
    {
        const Split& split = m_working.split;
        const Architecture& model = m_working.model;
        const double tokens = m_working.activations.tokens;
        StepCost cost;
        set(cost, StepPart::Compute, compute(work.total() - work.recomputed));
        set(cost, StepPart::Recompute, compute(work.recomputed));

        const double repeated = work.forward > 0 ? work.recomputed / work.forward : 0;
        const bool isRepeated = repeated > 0.5;
        std::int64_t expertLayers = 0;
        for (const StageLayers::Range& range : layers.ranges) {
            expertLayers += model.moeLayers(range.first, range.count);
        }
        const double copies = real(layerCopies(m_working.pipeline.schedule));
        // Of a layer with experts only attention is split like a dense one.
        const double tensorLayers = (real(layers.count()) - real(expertLayers) / 2) / copies;
        const bool isHidden = m_plan.implementation.tpCommOverlap.valueOr(false);
        if (!isHidden) {
            const double bytes
                = tensorTrafficBytes(tokens, real(model.hidden), real(split.tensor), split.sequence, isRepeated);
            set(cost, StepPart::TensorTraffic, m_links.seconds(tensorLayers * bytes, split.tensor, 1));
        }
        set(cost, StepPart::ContextTraffic, contextSeconds(work, real(layers.count()) / copies));
        set(cost, StepPart::ExpertTraffic, expertSeconds(real(expertLayers) / copies, isRepeated));
        // Sent once forward and once backward, by every chunk.
        const double boundary = 2 * tokens * real(model.hidden) / real(split.outside());
        set(cost, StepPart::PipelineTraffic,
            m_links.seconds(2 * boundary * real(m_working.pipeline.chunks), std::min<std::int64_t>(split.pipeline, 2),
                            neighbourStride()));
        return cost;
    }

    /// Stages are as far apart as the ranks that share one.
    [[nodiscard]] std::int64_t neighbourStride() const
    {
        const Split& split = m_working.split;
        return (Elements(split.tensor) * split.context * split.data).value();
    }

    /// The ring passes on keys and values while attention works, so only what is left over costs; once in forward,
    /// twice in backward (theory.md 8.3).
    [[nodiscard]] double contextSeconds(const StageFlops& work, double layers) const
    {
        const Split& split = m_working.split;
        const Architecture& model = m_working.model;
        const double width = model.isMla ? real(model.heads) * real(model.nopeDim + model.ropeDim + model.valueDim) / 2
            : model.heads > 0            ? real(model.groups) * real(model.headDim)
                                         : real(model.hidden);
        const double keysAndValues = 4 * m_working.activations.tokens * width / real(split.tensor);
        const double bytes = 3 * real(split.context - 1) * keysAndValues * layers;
        const double seconds = m_links.seconds(bytes, split.context, split.tensor);
        return std::max(seconds - compute(3 * work.scores), 0.0);
    }

    /// Dispatch and combine, forward and backward.
    [[nodiscard]] double expertSeconds(double layers, bool isRepeated) const
    {
        const Split& split = m_working.split;
        const Architecture& model = m_working.model;
        if (split.expert <= 1 || layers <= 0) {
            return 0;
        }
        const double width = real(model.latent > 0 ? model.latent : model.hidden);
        const double rows = m_working.activations.tokens / real(split.outside()) * real(model.topk)
            * std::max(m_plan.moe.load.valueOr(1), 0.0);
        const double each = 2 * rows * width * real(split.expert - 1) / real(split.expert);
        const bool isHidden = m_plan.implementation.expertCommOverlap.valueOr(false);
        const double times = isHidden ? 0 : isRepeated ? 6 : 4;
        return m_links.seconds(times * each * layers, split.expert, split.expertTensor);
    }

    /// Gradients once a step. Fully sharded weights are also gathered twice for each micro-batch, while others compute.
    void addDataTraffic(const PipelineSplit& split, double busy, StepCost& cost) const
    {
        const std::int64_t replicas = (Elements(m_working.split.data) * m_working.split.context).value();
        if (replicas <= 1) {
            return;
        }
        const StageWorking stage = stageWorking(m_working, split, m_working.encoderStages);
        const double weights = stage.weights.language.total().real();
        const Weights& language = stage.weights.language;
        const double trained = m_working.trainable.language ? weights : language.adapters.real();
        const double once = real(replicas - 1) / real(replicas);
        const bool gathersWeights = m_plan.shard.fsdp.value || m_plan.shard.zeroStage.value >= 3;
        const double reduced = once * trained * (m_working.recipe.gradient + m_working.recipe.parameter);
        const auto seconds = [&](double bytes) { return m_links.seconds(bytes, replicas, m_working.split.tensor); };
        if (!gathersWeights) {
            set(cost, StepPart::DataTraffic, seconds(reduced));
            return;
        }
        const double gathered = once * 2 * weights * 2 * real(m_working.pipeline.microBatches);
        set(cost, StepPart::DataTraffic, std::max(seconds(gathered + reduced) - busy, 0.0));
    }

    /// Waiting in units of one micro-batch's time through a stage, forward and backward.
    [[nodiscard]] double bubbleShare(const StageFlops& work) const
    {
        const double all = work.total();
        const PassTimes times{work.forward / all, (work.inputGradients + work.recomputed) / all,
                              work.weightGradients / all};
        return all > 0 ? bubbleTime(m_working.pipeline, times) : 0;
    }

    const TrainingPlan& m_plan;
    Working m_working;
    MachineRates m_rates;
    Links m_links;
};

} // namespace

std::string_view nameOf(StepPart part)
{
    constexpr std::array<std::string_view, stepPartCount> names{"compute",          "recompute",       "bubble",
                                                                "tensor_traffic",   "context_traffic", "expert_traffic",
                                                                "pipeline_traffic", "data_traffic"};
    return names[static_cast<std::size_t>(part)];
}

double StepCost::total() const
{
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

Result<StepCost> stepCost(const TrainingPlan& plan)
{
    for (Problem& problem : validate(plan)) {
        if (problem.severity == Severity::Error) {
            return tl::unexpected(std::move(problem));
        }
    }
    const auto split = PipelineSplit::of(plan);
    if (!split) {
        return failure(Text{HEADROOM_TR("core", "The layers cannot be split over the pipeline stages as asked")});
    }
    const StepCost cost = StepModel(plan).cost(*split);
    const double total = cost.total();
    if (!std::isfinite(total) || total <= 0 || cost.samples <= 0) {
        return failure(Text{HEADROOM_TR("core", "%1 is not known"), {"batch.seq"}});
    }
    return cost;
}

StepPart RelativeStepTime::mainPart() const
{
    const auto larger = [](double a, double b) { return std::abs(a) < std::abs(b); };
    return static_cast<StepPart>(std::max_element(changes.begin(), changes.end(), larger) - changes.begin());
}

RelativeStepTime relativeStepTime(const StepCost& before, const StepCost& after)
{
    RelativeStepTime result;
    const double base = before.total() / before.samples;
    for (std::size_t i = 0; i < result.changes.size(); ++i) {
        result.changes[i] = (after.parts[i] / after.samples - before.parts[i] / before.samples) / base;
    }
    result.ratio = after.total() / after.samples / base;
    result.gpus = after.gpus / before.gpus;
    return result;
}

Result<RelativeStepTime> relativeStepTime(const TrainingPlan& before, const TrainingPlan& after)
{
    const auto first = stepCost(before);
    if (!first) {
        return tl::unexpected(first.error());
    }
    const auto second = stepCost(after);
    if (!second) {
        return tl::unexpected(second.error());
    }
    return relativeStepTime(*first, *second);
}

double tensorTrafficBytes(double tokens, double hidden, double tensor, bool isSequence, bool isRecomputed)
{
    if (tensor <= 1) {
        return 0;
    }
    const double gather = 2 * tokens * hidden * (tensor - 1) / tensor; // an all-reduce over a ring is two of them
    const double normGathers = isSequence ? 2 * gather : 0;
    return (isRecomputed ? 6 : 4) * 2 * gather + normGathers;
}

MachineRates machineRates(const HardwarePlan& hardware)
{
    const std::string& gpu = hardware.gpu.value;
    const auto isAny = [&gpu](std::initializer_list<std::string_view> names) {
        return std::any_of(names.begin(), names.end(),
                           [&gpu](std::string_view name) { return gpu.find(name) != std::string::npos; });
    };
    constexpr double tera = 1e12, giga = 1e9;
    if (isAny({"pcie", "rtx", "l40", "l4-", "a10-", "a10g", "a30", "a40", "t4"})) {
        return {150 * tera, 32 * giga, 12.5 * giga, 8}; // PCIe 4.0 x16
    }
    const std::int64_t capability = computeCapability(hardware);
    if (capability <= 7) {
        return {125 * tera, 150 * giga, 6.25 * giga, 8}; // V100, DGX-1
    }
    if (capability == 8) {
        return {312 * tera, 300 * giga, 25 * giga, 8}; // A100
    }
    if (capability == 9) {
        return {989 * tera, 450 * giga, 50 * giga, 8}; // H100
    }
    return {2250 * tera, 900 * giga, 50 * giga, isAny({"gb200", "gb300"}) ? 72 : 8}; // B200
}

} // namespace headroom
