// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/implementation_plan.h"
#include "plan/model_plan.h"
#include "plan/run_plan.h"

namespace headroom {

/// The canonical description of a training run: a plain value, copied, compared and diffed. Copies and moves of its
/// two hundred fields stand in one source file: written inline wherever a plan is copied, they are most of the
/// compiling.
struct TrainingPlan
{
    TrainingPlan();
    TrainingPlan(const TrainingPlan& other);
    TrainingPlan(TrainingPlan&& other) noexcept;
    TrainingPlan& operator=(const TrainingPlan& other);
    TrainingPlan& operator=(TrainingPlan&& other) noexcept;
    ~TrainingPlan();

    Name framework; ///< id of the config format it was read from
    ModelPlan model;
    MoePlan moe;
    MixerPlan mixer;
    MlaPlan mla;
    VisionPlan vision;
    ProjectorPlan projector;
    FrozenPlan frozen;
    BatchPlan batch;
    ObjectivePlan objective;
    ParallelPlan parallel;
    ShardPlan shard;
    PrecisionPlan precision;
    OptimizerPlan optimizer;
    RecomputePlan recompute;
    AttentionPlan attention;
    ImplementationPlan implementation;
    LoraPlan lora;
    HardwarePlan hardware;
};

} // namespace headroom
