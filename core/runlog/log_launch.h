// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "runlog/run.h"

namespace headroom {

struct Catalog;

/// Puts into the plan of a run's files what its log says of the launch and the machine, which configs leave open:
/// memory of the device and its name where the catalog knows it, torchtitan's device mesh, data-parallel size or number
/// of GPUs, and the batch of Hugging Face's "Running training" lines. Every value gets its line of the log as origin;
/// what a file states stays.
void completeFromLog(TrainingPlan& plan, const Run& run, const Catalog& catalog);

/// The part of it that the mesh tells, see deviceMeshOf().
void takeDeviceMesh(TrainingPlan& plan, const Run& run);

} // namespace headroom
