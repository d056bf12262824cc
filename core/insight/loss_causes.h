// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/loss_check.h"

namespace headroom {

/// What two plans say about why their runs' losses part. The usual causes are looked up one after the other: another
/// global batch, accumulation that does not average over the micro-batches, and what is worked out inside one
/// micro-batch (normalisation statistics, balancing of experts); then settings the loss itself depends on. What the
/// plans rule out is said too. Adds nothing where the losses agree or are merely one step apart.
void addLossCauses(const LossComparison& comparison, const TrainingPlan& first, const TrainingPlan& second,
                   std::vector<Finding>& findings);

} // namespace headroom
