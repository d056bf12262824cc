// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/comparable_plan.h"

#include "plan/batch.h"
#include "plan/precision.h"

#include <algorithm>

namespace headroom {

namespace {

const Origin derived{OriginKind::Derived, 0, nullptr};

template <class T> void complete(Field<T>& field, T value)
{
    if (!field.isKnown() && !field.isUnclear()) {
        field.set(std::move(value), derived);
    }
}

/// What footprint/architecture.cpp takes where a model is silent.
void completeModel(ModelPlan& model)
{
    if (!model.layers.isKnown() || !model.hidden.isKnown()) {
        return;
    }
    for (Flag* flag :
         {&model.gatedMlp, &model.attnBias, &model.mlpBias, &model.learnedPositions, &model.layerNorm, &model.qkNorm}) {
        complete(*flag, false);
    }
    complete(model.attnOutBias, model.attnBias.value);
    complete(model.activation, std::string(model.gatedMlp.value ? "swiglu" : "gelu"));
    complete(model.rope, !model.learnedPositions.value);
    complete(model.tiedEmbeddings, true);
    complete(model.attnDropout, 0.0);
    complete(model.hiddenDropout, 0.0);
    complete(model.family, std::string("decoder"));
    if (!model.paddedVocab.isKnown()) {
        complete(model.vocabPadMultiple, std::int64_t{1});
    }
    if (model.heads.isKnown() && model.heads.value > 0) {
        complete(model.kvHeads, model.heads.value);
        complete(model.headDim, model.hidden.value / model.heads.value);
    }
}

void completeBatch(TrainingPlan& plan)
{
    ParallelPlan& parallel = plan.parallel;
    const bool isSpread = parallel.dp.isKnown() || parallel.world.isKnown();
    if (isSpread) {
        complete(parallel.dp, dataParallelSize(plan));
        complete(parallel.world, worldSize(plan));
    }
    const BatchEquation equation = batchEquation(plan);
    if (equation.micro && (isSpread || plan.batch.global.isKnown())) {
        complete(plan.batch.micro, *equation.micro);
        complete(plan.batch.accum, equation.accumulate.value_or(1));
        complete(plan.batch.global, equation.global.value_or(1));
    }
}

void completeChunks(TrainingPlan& plan)
{
    ParallelPlan& parallel = plan.parallel;
    const std::int64_t layers = parallel.layersPerVstage.isKnown() ? parallel.layersPerVstage.value : 0;
    const std::int64_t stages = std::max<std::int64_t>(parallel.pp.value, 1);
    if (layers > 0 && plan.model.layers.isKnown() && plan.model.layers.value % stages == 0
        && plan.model.layers.value / stages % layers == 0) {
        parallel.vpp.set(plan.model.layers.value / stages / layers, derived);
        parallel.layersPerVstage = {};
    }
    if (parallel.vpp.value > 1 && parallel.schedule.value == Schedule::OneForwardOneBackward) {
        parallel.schedule.set(Schedule::Interleaved, derived);
    }
}

void completePrecision(TrainingPlan& plan)
{
    const PrecisionPlan& said = plan.precision;
    const PrecisionRecipe types = effectivePrecision(plan);
    const bool isSilent = !said.recipe.isKnown() && !said.params.isKnown() && !said.grads.isKnown()
        && !said.master.isKnown() && !said.optM.isKnown() && !said.optV.isKnown();
    if (isSilent) {
        plan.precision.params.set(types.params, derived);
        return;
    }
    plan.precision.recipe = {};
    plan.precision.params.set(types.params, derived);
    plan.precision.grads.set(types.grads, derived);
    plan.precision.master.set(types.master, derived);
    plan.precision.optM.set(types.optM, derived);
    plan.precision.optV.set(types.optV, derived);
}

/// The granularity alone says it all in some formats, a switch beside it in others.
void completeRecompute(RecomputePlan& recompute)
{
    const bool isOn = recompute.enabled.value && recompute.granularity.value != Granularity::None;
    if (!isOn) {
        recompute = {};
    } else if (recompute.granularity.value == Granularity::Full && recompute.modules.isKnown()) {
        recompute.modules = {};
    }
}

/// Without a tower there is nothing of it to freeze, whatever a framework's defaults are.
void completeFrozen(TrainingPlan& plan)
{
    if (plan.model.layers.isKnown() && !plan.vision.layers.isKnown()) {
        plan.frozen.vision = {};
        plan.frozen.projector = {};
    }
}

} // namespace

TrainingPlan comparable(TrainingPlan plan)
{
    completeModel(plan.model);
    completeBatch(plan);
    completeChunks(plan);
    completePrecision(plan);
    completeRecompute(plan.recompute);
    completeFrozen(plan);
    return plan;
}

} // namespace headroom
