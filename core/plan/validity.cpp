// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/validity.h"

#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/fields.h"
#include "plan/layer_pattern.h"
#include "plan/name_pattern.h"
#include "plan/objective.h"
#include "plan/pipeline_layout.h"
#include "plan/pipeline_split.h"
#include "plan/size_limits.h"
#include "units/number.h"

#include <algorithm>
#include <tuple>

namespace headroom {

namespace {

class Checker
{
public:
    explicit Checker(const TrainingPlan& plan)
        : m_plan(plan)
    {
    }

    void add(Severity severity, const Origin& origin, Text text)
    {
        m_problems.push_back({severity, origin.source ? *origin.source : std::string{}, origin.line, std::move(text)});
    }

    void checkLimits()
    {
        forEachField(m_plan, [this]<class T>(std::string_view key, const Field<T>& field) {
            if (field.isUnclear()) {
                checkClear(key, field.origin);
            }
            if constexpr (std::is_same_v<T, std::int64_t>) {
                // Most sizes are within every limit, and this runs for each slider tick.
                if (field.isKnown() && (field.value < 1 || field.value > leastUpperLimit)) {
                    checkLimit(key, field);
                }
            }
        });
        // The one that may be too small though it is above one.
        if (const Count& split = m_plan.implementation.maxSplitMib;
            split.value >= 1 && split.value <= leastUpperLimit) {
            checkLimit("implementation.max_split_mib", split);
        }
    }

    void checkClear(std::string_view key, const Origin& place)
    {
        add(Severity::Warning, place,
            Text{HEADROOM_TR("core",
                             "%1 is set here but not understood: the estimate goes on without it until you "
                             "give its value"),
                 {std::string(key)}});
    }

    void checkLimit(std::string_view key, const Count& field)
    {
        if (auto objection = sizeObjection(key, field.value)) {
            add(Severity::Error, field.origin, std::move(*objection));
        }
    }

    void checkDivides(const Count& part, const Count& whole, std::string_view partName, std::string_view wholeName,
                      Severity severity)
    {
        if (part.value > 1 && whole.isKnown() && whole.value % part.value != 0) {
            add(severity, part.origin,
                Text{HEADROOM_TR("core", "%1 = %2 does not divide %3 = %4"),
                     {std::string(partName), formatCount(part.value), std::string(wholeName),
                      formatCount(whole.value)}});
        }
    }

    void checkModel()
    {
        const ModelPlan& model = m_plan.model;
        for (const auto& [field, name] :
             {std::pair{&model.layers, "model.layers"}, std::pair{&model.hidden, "model.hidden"}}) {
            if (!field->isKnown()) {
                add(Severity::Error, {}, Text{HEADROOM_TR("core", "%1 is not known"), {name}});
            }
        }
        if (!model.headDim.isKnown()) {
            checkDivides(model.heads, model.hidden, "model.heads", "model.hidden", Severity::Error);
        }
        checkDivides(model.kvHeads, model.heads, "model.kv_heads", "model.heads", Severity::Error);
    }

    void checkRecompute()
    {
        const Real& share = m_plan.recompute.fraction;
        if (share.isKnown() && !(share.value >= 0 && share.value <= 1)) {
            add(Severity::Error, share.origin,
                Text{HEADROOM_TR("core", "%1 is %2; it must be between %3 and %4"),
                     {"recompute.fraction", formatReal(share.value), "0", "1"}});
        }
    }

    /// What is frozen by name or share.
    void checkFrozen()
    {
        const FrozenPlan& frozen = m_plan.frozen;
        if (frozen.ratio.isKnown() && !(frozen.ratio.value >= 0 && frozen.ratio.value <= 1)) {
            add(Severity::Error, frozen.ratio.origin,
                Text{HEADROOM_TR("core", "%1 is %2; it must be between %3 and %4"),
                     {"frozen.ratio", formatReal(frozen.ratio.value), "0", "1"}});
        }
        for (const Name* expression : {&frozen.patterns, &frozen.trained}) {
            if (!expression->isKnown()) {
                continue;
            }
            if (auto compiled = NamePattern::compile(expression->value); !compiled) {
                add(Severity::Error, expression->origin, std::move(compiled.error().text));
            }
        }
    }

    /// The layers of a hybrid, and what of their mixers is split over tensor parallel ranks.
    void checkPattern()
    {
        if (!isHybrid(m_plan)) {
            return;
        }
        if (auto pattern = layerPatternOf(m_plan); !pattern) {
            m_problems.push_back(std::move(pattern.error()));
        }
        const MixerPlan& mixer = m_plan.mixer;
        checkDivides(m_plan.parallel.tp, mixer.heads, "parallel.tp", "mixer.heads", Severity::Error);
        checkDivides(m_plan.parallel.tp, mixer.keyHeads, "parallel.tp", "mixer.key_heads", Severity::Error);
        checkDivides(mixer.keyHeads, mixer.heads, "mixer.key_heads", "mixer.heads", Severity::Error);
        checkDivides(mixer.groups, mixer.heads, "mixer.groups", "mixer.heads", Severity::Error);
    }

    void checkParallel()
    {
        const ParallelPlan& parallel = m_plan.parallel;
        checkDivides(parallel.tp, m_plan.model.heads, "parallel.tp", "model.heads", Severity::Error);
        checkDivides(parallel.cp, m_plan.batch.seq, "parallel.cp", "batch.seq", Severity::Error);
        if (parallel.ep.value > 1) {
            checkDivides(parallel.ep, m_plan.moe.experts, "parallel.ep", "moe.experts", Severity::Error);
        }
        if (parallel.sp.value && parallel.tp.value == 1 && parallel.sp.isStated()) {
            add(Severity::Warning, parallel.sp.origin,
                Text{HEADROOM_TR("core", "sequence parallelism does nothing without tensor parallelism")});
        }
        if (checkLayout() && m_plan.model.layers.isKnown() && !PipelineSplit::of(m_plan)) {
            add(Severity::Error, parallel.pp.origin,
                Text{HEADROOM_TR("core", "%1 layers cannot be split over %2 pipeline stages as asked"),
                     {formatCount(m_plan.model.layers.value), formatCount(parallel.pp.value)}});
        }
        const std::int64_t modelParallel = modelParallelSize(m_plan);
        if (parallel.world.isKnown() && parallel.world.value % std::max<std::int64_t>(modelParallel, 1) != 0) {
            add(Severity::Error, parallel.world.origin,
                Text{HEADROOM_TR("core",
                                 "%1 GPUs cannot be divided into groups of %2 (tensor × pipeline × context parallel)"),
                     {formatCount(parallel.world.value), formatCount(modelParallel)}});
        } else if (parallel.world.isStated() && parallel.dp.isStated()
                   && parallel.world.value != parallel.dp.value * modelParallel) {
            add(Severity::Warning, parallel.world.origin,
                Text{HEADROOM_TR("core",
                                 "%1 data-parallel ranks of %2 GPUs (tensor × pipeline × context parallel) are %3 "
                                 "GPUs, not %4"),
                     {formatCount(parallel.dp.value), formatCount(modelParallel),
                      formatCount(parallel.dp.value * modelParallel), formatCount(parallel.world.value)}});
        }
    }

    void checkObjective()
    {
        const ObjectivePlan& objective = m_plan.objective;
        for (const auto& [field, knows, words] : {
                 std::tuple{&objective.type, &isObjective, "pretrain, sft, dpo, kto, orpo, simpo, cpo, rm, ppo, grpo"},
                 std::tuple{&objective.reference, &isReference, "none, separate, adapters_off"},
                 std::tuple{&objective.head, &isHead, "lm, classifier"},
                 std::tuple{&objective.value, &isValue, "none, head, separate, in_turn"},
                 std::tuple{&objective.reward, &isReward, "none, separate, adapters"},
             }) {
            if (field->isKnown() && !knows(field->value)) {
                add(Severity::Error, field->origin,
                    Text{HEADROOM_TR("core", "%1 is none of these: %2"), {field->value, words}});
            }
        }
    }

    /// An encoder on stages of its own lengthens the pipeline; how the other schedules would do that is nobody's
    /// custom.
    void checkEncoder()
    {
        const ParallelPlan& parallel = m_plan.parallel;
        const std::string& name = parallel.encoderPlacement.value;
        if (parallel.encoderPlacement.isKnown() && name != "first_stage" && name != "own_stages"
            && name != "every_stage") {
            add(Severity::Error, parallel.encoderPlacement.origin,
                Text{HEADROOM_TR("core", "an encoder is placed on first_stage, own_stages or every_stage, not on %1"),
                     {name}});
        }
        const bool isPlain = parallel.vpp.value <= 1
            && (parallel.schedule.value == Schedule::OneForwardOneBackward
                || parallel.schedule.value == Schedule::GPipe);
        if (encoderStages(m_plan) > 0 && !isPlain) {
            add(Severity::Error, parallel.schedule.origin,
                Text{HEADROOM_TR("core", "an encoder on stages of its own needs the 1F1B or the GPipe schedule")});
        }
        if (encoderStages(m_plan) > m_plan.vision.layers.value) {
            add(Severity::Error, parallel.encoderPp.origin,
                Text{HEADROOM_TR("core", "%1 layers cannot be split over %2 pipeline stages as asked"),
                     {formatCount(m_plan.vision.layers.value), formatCount(encoderStages(m_plan))}});
        }
        if (encoderTensorParallel(m_plan) > std::max<std::int64_t>(parallel.tp.value, 1)) {
            add(Severity::Error, parallel.encoderTp.origin,
                Text{HEADROOM_TR("core", "the encoder's tensor parallel size %1 is above the language model's, %2"),
                     {formatCount(encoderTensorParallel(m_plan)), formatCount(parallel.tp.value)}});
        }
    }

    /// False when it said what is wrong.
    bool checkLayout()
    {
        const ParallelPlan& parallel = m_plan.parallel;
        if (!parallel.layout.isKnown()) {
            return true;
        }
        auto layout = PipelineLayout::parse(parallel.layout.value, parallel.pp.value);
        if (!layout) {
            add(Severity::Error, parallel.layout.origin, std::move(layout.error().text));
            return false;
        }
        const bool countsMtp = m_plan.model.mtpLayers.isKnown() && layout->mtpLayers() != m_plan.model.mtpLayers.value;
        const bool countsLayers = m_plan.model.layers.isKnown() && layout->layers() != m_plan.model.layers.value;
        if (countsLayers) {
            add(Severity::Error, parallel.layout.origin,
                Text{HEADROOM_TR("core", "the pipeline layout has %1 layers, the model %2"),
                     {formatCount(layout->layers()), formatCount(m_plan.model.layers.value)}});
        } else if (countsMtp) {
            add(Severity::Error, parallel.layout.origin,
                Text{HEADROOM_TR("core", "the pipeline layout has %1 multi-token prediction layers, the model %2"),
                     {formatCount(layout->mtpLayers()), formatCount(m_plan.model.mtpLayers.value)}});
        }
        return !countsLayers && !countsMtp;
    }

    void checkInterleaving()
    {
        const ParallelPlan& parallel = m_plan.parallel;
        const auto split = PipelineSplit::of(m_plan);
        if (parallel.vpp.value <= 1 || parallel.layout.isKnown() || !m_plan.model.layers.isKnown() || !split) {
            return;
        }
        for (std::int64_t stage = 0; stage < split->stages(); ++stage) {
            // Where they are counted, embedding and loss take the place of a layer in their chunk.
            const std::int64_t embedding = parallel.embedInSplit.value && stage == 0 ? 1 : 0;
            const std::int64_t loss = parallel.lossInSplit.value && stage == split->stages() - 1 ? 1 : 0;
            if ((split->layers(stage) + embedding + loss) % parallel.vpp.value != 0) {
                add(Severity::Error, parallel.vpp.origin,
                    Text{HEADROOM_TR("core", "%1 layers of a stage cannot be split into %2 chunks"),
                         {formatCount(split->layers(stage)), formatCount(parallel.vpp.value)}});
                return;
            }
        }
    }

    /// DualPipe fills its pipeline from both ends (deepseek-ai/DualPipe, dualpipe.py and dualpipev.py).
    void checkDualPipe()
    {
        const ParallelPlan& parallel = m_plan.parallel;
        const bool isPlain = parallel.schedule.value == Schedule::DualPipe;
        if (parallel.pp.value <= 1 || (!isPlain && parallel.schedule.value != Schedule::DualPipeV)) {
            return;
        }
        if (isPlain && parallel.pp.value % 2 != 0) {
            add(Severity::Error, parallel.pp.origin,
                Text{HEADROOM_TR("core", "DualPipe needs an even number of stages, not %1"),
                     {formatCount(parallel.pp.value)}});
        }
        const std::int64_t microBatches = microBatchesPerStep(m_plan);
        if (microBatches < 2 * parallel.pp.value || (isPlain && microBatches % 2 != 0)) {
            add(Severity::Error, parallel.schedule.origin,
                Text{isPlain ? HEADROOM_TR("core",
                                           "DualPipe needs an even number of micro-batches, at least %1; the step "
                                           "has %2")
                             : HEADROOM_TR("core", "DualPipeV needs at least %1 micro-batches; the step has %2"),
                     {formatCount(2 * parallel.pp.value), formatCount(microBatches)}});
        }
    }

    std::vector<Problem> run()
    {
        checkLimits();
        // Sizes out of bounds would make the other sentences absurd, and their arithmetic too.
        const bool isAbsurd = std::any_of(m_problems.begin(), m_problems.end(),
                                          [](const Problem& problem) { return problem.severity == Severity::Error; });
        if (!isAbsurd) {
            checkModel();
            checkPattern();
            checkRecompute();
            checkFrozen();
            checkParallel();
            checkEncoder();
            checkObjective();
            checkInterleaving();
            checkDualPipe();
        }
        return std::move(m_problems);
    }

private:
    const TrainingPlan& m_plan;
    std::vector<Problem> m_problems;
};

} // namespace

std::vector<Problem> validate(const TrainingPlan& plan)
{
    return Checker(plan).run();
}

} // namespace headroom
