// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/hybrid_pattern.h"

#include "plan/layer_pattern.h"
#include "units/number.h"

#include <fmt/format.h>

#include <cmath>

namespace headroom {

namespace {

const Origin derived{OriginKind::Derived, 0, nullptr};

/// Puts `letter` in place of Mamba layers, one after each stretch of `length`.
void space(std::string& pattern, double length, char letter)
{
    double left = length;
    for (char& layer : pattern) {
        if (layer != 'M') {
            continue;
        }
        if (left < 0.5) {
            layer = letter;
            left += length;
        } else {
            left -= 1;
        }
    }
}

double shareOf(const Setting* setting)
{
    return setting != nullptr ? std::clamp(parseReal(setting->text).value_or(0), 0.0, 1.0) : 0;
}

/// "Et*10|t*10|…|t*10m*2L": what the bars of a pattern say, as an explicit layout.
std::string layoutOf(const LayerPattern& pattern)
{
    std::string layout = "E";
    for (std::size_t i = 0; i < pattern.segments.size(); ++i) {
        layout += i > 0 ? "|" : "";
        layout += pattern.segments[i] > 0 ? fmt::format("t*{}", pattern.segments[i]) : std::string();
    }
    layout += pattern.predictors > 0 ? fmt::format("m*{}", pattern.predictors) : std::string();
    return layout + "L";
}

} // namespace

std::string evenPattern(std::int64_t layers, double attentionShare, double mlpShare)
{
    const auto all = static_cast<double>(layers);
    const double attention = std::nearbyint(all * attentionShare);
    std::string pattern(static_cast<std::size_t>(layers), 'M');
    space(pattern, (all - attention) / (attention + 1), '*');
    const double mlps = std::nearbyint(all * mlpShare);
    if (mlps > 0) {
        space(pattern, (all - attention - mlps) / mlps, '-');
    }
    return pattern;
}

void completeHybrid(TrainingPlan& plan, const std::function<const Setting*(std::string_view)>& flag,
                    const std::string& file, std::vector<Problem>& problems)
{
    ModelPlan& model = plan.model;
    constexpr std::int64_t mostLayers = 100'000;
    const Setting* hybrid = flag("--is-hybrid-model");
    const bool isHybridModel = hybrid != nullptr && hybrid->text != "false";
    if (isHybridModel && !model.layerPattern.isKnown() && model.layers.isKnown() && model.layers.value > 0
        && model.layers.value <= mostLayers) {
        model.layerPattern.set(evenPattern(model.layers.value, shareOf(flag("--hybrid-attention-ratio")),
                                           shareOf(flag("--hybrid-mlp-ratio"))),
                               derived);
    }
    if (!model.layerPattern.isKnown()) {
        return;
    }
    const auto pattern = parseLayerPattern(model.layerPattern.value);
    if (!pattern) {
        problems.push_back({Severity::Warning, file, model.layerPattern.origin.line, pattern.error().text});
        return;
    }
    if (flag("--hybrid-layer-pattern") != nullptr || !model.layers.isKnown()) {
        model.layers.set(static_cast<std::int64_t>(pattern->layers.size()), derived); // overrules --num-layers
    }
    if (pattern->predictors > 0) {
        model.mtpLayers.set(pattern->predictors, derived);
    }
    if (pattern->segments.size() > 1 && !plan.parallel.layout.isKnown()) {
        plan.parallel.layout.set(layoutOf(*pattern), derived);
    }
}

} // namespace headroom
