// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/gated_width.h"

#include "config/format_keys.h"
#include "units/number.h"

#include <cmath>

namespace headroom {

namespace {

constexpr std::int64_t mostWidth = std::int64_t{1} << 32;

std::int64_t roundedUp(std::int64_t value, std::int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

} // namespace

void completeGptNeoxPlan(const ConfigDocument& /*document*/, const ConfigFormat& /*format*/, TrainingPlan& plan,
                         std::vector<Problem>& /*problems*/)
{
    ModelPlan& model = plan.model;
    if (!model.ffn.isKnown() && !model.ffn.isUnclear() && model.hidden.isKnown() && model.hidden.value < mostWidth) {
        model.ffn.set(4 * model.hidden.value, {OriginKind::Derived, 0, nullptr});
    }
    if (model.ffn.isKnown() && model.gatedMlp.value && model.ffn.value < mostWidth) {
        model.ffn.value = roundedUp(model.ffn.value * 2 / 3 / 2, 256);
    }
}

void completeHuggingFacePlan(const ConfigDocument& document, const ConfigFormat& /*format*/, TrainingPlan& plan,
                             std::vector<Problem>& /*problems*/)
{
    const Setting* type = statedAt(document, "model_type");
    Count& ffn = plan.model.ffn;
    if (type != nullptr && type->text == "qwen" && ffn.isStated()) {
        ffn.value /= 2;
    }
}

void completeInternEvoPlan(const ConfigDocument& document, const ConfigFormat& /*format*/, TrainingPlan& plan,
                           std::vector<Problem>& /*problems*/)
{
    const Setting* stated = statedAt(document, "model.mlp_ratio");
    constexpr double notKnown = 0;
    const double ratio = stated == nullptr ? 4
        : stated->isKnown                  ? parseReal(stated->text).value_or(notKnown)
                                           : notKnown;
    ModelPlan& model = plan.model;
    const bool isSane = !model.ffn.isUnclear() && model.hidden.isKnown() && model.hidden.value < mostWidth;
    if (!model.ffn.isKnown() && isSane && ratio > 0 && ratio < 1000) {
        const double width = static_cast<double>(model.hidden.value) * ratio;
        model.ffn.set(roundedUp(static_cast<std::int64_t>(std::floor(width)), 256), {OriginKind::Derived, 0, nullptr});
    }
    const Setting* checkpoint = statedAt(document, "model.checkpoint");
    const auto share = checkpoint != nullptr ? parseReal(checkpoint->text) : std::nullopt;
    if (share && *share > 0 && *share < 1) {
        const Origin origin{OriginKind::ConfigFile, static_cast<std::int32_t>(checkpoint->line),
                            std::make_shared<const std::string>(document.name())};
        plan.recompute.enabled.set(true, origin);
        plan.recompute.granularity.set(Granularity::Full, origin);
        plan.recompute.fraction.set(*share, origin);
    }
}

} // namespace headroom
