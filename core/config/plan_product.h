// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "plan/training_plan.h"

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

struct ProductValue
{
    std::string text;
    const Setting* setting = nullptr; ///< the first factor that stands in the file; null: all come from the plan
    Origin origin; ///< of the first factor from the plan
};

/// "{vision_config.embed_dim} * {vision_config.mlp_ratio} / 2": keys of the file in braces, fields of the plan and
/// numbers, from left to right. Nothing when a factor is not known, is not a number, or the outcome is not a whole
/// number. "launcher" alone is what launcherWorld() says.
[[nodiscard]] std::optional<ProductValue> evaluateProduct(std::string_view product, const ConfigDocument& document,
                                                          const TrainingPlan& plan);
/// The file's keys that a product names.
[[nodiscard]] std::vector<std::string> keysOfProduct(std::string_view product);

} // namespace headroom
