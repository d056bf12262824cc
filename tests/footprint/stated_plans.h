// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"
#include "footprint/outlook/uncertainty.h"
#include "footprint/plans.h"

#include <QtGlobal>

namespace headroom::test {

/// Llama 3 8B with every fact stated that the estimate could be in doubt about.
inline TrainingPlan statedPlan(FieldTexts own = {})
{
    return planOf(own,
                  planOf({{"model.vocab_pad_multiple", "128"},
                          {"model.hidden_dropout", "0"},
                          {"batch.accum", "8"},
                          {"parallel.dp", "1"},
                          {"parallel.pp", "4"},
                          {"parallel.sp", "false"},
                          {"shard.dist_opt", "false"},
                          {"precision.recipe", "megatron-bf16"},
                          {"recompute.enabled", "false"},
                          {"attention.impl", "flash"},
                          {"implementation.profile", "megatron-te"},
                          {"implementation.fused_loss", "none"},
                          {"implementation.grad_accum_fusion", "true"},
                          {"implementation.placeholder_grads", "true"},
                          {"implementation.loader_mask", "true"},
                          {"implementation.rope_fusion", "true"},
                          {"implementation.cublas_workspace_bytes", "33554432"},
                          {"hardware.gpu", "h100-80gb"}},
                         llama3Of8B()));
}

struct Described
{
    Footprint footprint;
    Uncertainty uncertainty;
};

inline Described described(const TrainingPlan& plan, const Calibration& calibration = {})
{
    Described result;
    if (const auto done = estimateInstantly(plan, calibration, result.footprint); !done) {
        qFatal("%s", done.error().english().c_str());
    }
    result.uncertainty = describeUncertainty(plan, calibration, result.footprint);
    return result;
}

} // namespace headroom::test
