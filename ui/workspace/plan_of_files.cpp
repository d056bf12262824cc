// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/plan_of_files.h"

#include "config/assumed_batch.h"
#include "plan/fields.h"
#include "runlog/log_launch.h"

#include <span>

namespace headroom {

TrainingPlan planOfFiles(const LoadedConfig* config, const LoadedModel* model, const LoadedLog* log,
                         const Library& library)
{
    const std::span<const OpenedConfig> configs
        = config != nullptr ? std::span<const OpenedConfig>(&config->opened, 1) : std::span<const OpenedConfig>();
    TrainingPlan plan = composePlan(model != nullptr ? model->plan : TrainingPlan{}, configs, library.catalog);
    if (log != nullptr && log->plan && !plan.model.layers.isKnown()) {
        // Without a model in the config the arguments in the log have it (and all else, where there is no config).
        TrainingPlan logged = *log->plan;
        overlay(logged, plan);
        plan = std::move(logged);
    }
    if (log != nullptr) {
        completeFromLog(plan, *log->run, library.catalog);
    }
    if (config == nullptr) {
        assumeBatch(plan);
    }
    return plan;
}

} // namespace headroom
