// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/plans.h"

#include <utility>

namespace headroom::test {

/// CLIP ViT-L/14-336 in front of a language model.
inline TrainingPlan withClip(TrainingPlan plan)
{
    return planOf({{"vision.layers", "24"},
                   {"vision.hidden", "1024"},
                   {"vision.heads", "16"},
                   {"vision.ffn", "4096"},
                   {"vision.patch", "14"},
                   {"vision.image_size", "336"},
                   {"vision.class_token", "true"},
                   {"vision.learned_positions", "true"},
                   {"vision.extra_norms", "2"}},
                  std::move(plan));
}

/// LLaVA-1.5-7B.
inline TrainingPlan llavaOf7B()
{
    return planOf({{"vision.tokens_per_image", "576"},
                   {"projector.type", "mlp"},
                   {"projector.layers", "2"},
                   {"projector.hidden", "4096"}},
                  withClip(llama2Of7B()));
}

/// A vision-language model on several GPUs.
inline TrainingPlan multimodal()
{
    return planOf({{"vision.layers", "24"},
                   {"vision.hidden", "1024"},
                   {"vision.heads", "16"},
                   {"vision.patch", "14"},
                   {"vision.image_size", "336"},
                   {"vision.images_per_sample", "2"},
                   {"projector.type", "mlp"},
                   {"parallel.pp", "4"},
                   {"batch.accum", "8"}},
                  llama3Of8B());
}

} // namespace headroom::test
