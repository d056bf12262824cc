// SPDX-License-Identifier: GPL-3.0-or-later
// The body of forEachField, apart from fields.h because it is long; include fields.h instead.
#pragma once

#include "plan/fields_visit_implementation.h"
#include "plan/fields_visit_mixer.h"
#include "plan/fields_visit_model.h"
#include "plan/fields_visit_run.h"

namespace headroom {

/// One group at a time keeps the functions short.
template <class Plan, class Visitor> void forEachField(Plan& plan, Visitor&& visit)
{
    visit("framework", plan.framework);
    visitModel(plan.model, visit);
    visitMoe(plan.moe, visit);
    visitMixer(plan.mixer, visit);
    visitMla(plan.mla, visit);
    visitVision(plan.vision, visit);
    visitProjector(plan.projector, visit);
    visitFrozen(plan.frozen, visit);
    visitBatch(plan.batch, visit);
    visitObjective(plan.objective, visit);
    visitParallel(plan.parallel, visit);
    visitShard(plan.shard, visit);
    visitPrecision(plan.precision, visit);
    visitOptimizer(plan.optimizer, visit);
    visitRecompute(plan.recompute, visit);
    visitAttention(plan.attention, visit);
    visitImplementation(plan.implementation, visit);
    visitLora(plan.lora, visit);
    visitHardware(plan.hardware, visit);
}

} // namespace headroom
