// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/problem.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace headroom {

/// What mixes the tokens of a layer, and what works on each of them alone.
enum class Mixer : std::uint8_t { None, Attention, Mamba2, Mamba, DeltaNet };
enum class FeedForward : std::uint8_t { None, Mlp, Experts };

struct LayerKind
{
    Mixer mixer = Mixer::Attention;
    FeedForward feedForward = FeedForward::Mlp;

    /// Norms, each with a residual add behind its branch.
    [[nodiscard]] int halves() const
    {
        return (mixer == Mixer::None ? 0 : 1) + (feedForward == FeedForward::None ? 0 : 1);
    }
    friend bool operator==(LayerKind, LayerKind) = default;
};

/// The layers of a hybrid model in order.
struct LayerPattern
{
    std::vector<LayerKind> layers; ///< empty: attention everywhere, and an MLP or experts as MoePlan says
    std::vector<std::int64_t> segments; ///< layers between bars: those of the pipeline's chunks, as they go round
    std::vector<LayerKind> predictor; ///< the layers of a multi-token prediction
    std::int64_t predictors = 0;
};

/// Whether layers may differ in their mixers at all.
[[nodiscard]] bool isHybrid(const TrainingPlan& plan);

/// Megatron-LM's letters (models/hybrid/hybrid_layer_allocation.py), each of which is a layer of its own: M Mamba-2,
/// G gated delta net, * attention, - MLP, E experts; bars between pipeline chunks, a slash in front of the layers of
/// each multi-token prediction. Fails with the letter that is none of them, or where predictions differ.
[[nodiscard]] Result<LayerPattern> parseLayerPattern(std::string_view letters);

/// The layers of the plan, whichever of its fields say so; none for a model that is no hybrid. Fails where what is said
/// contradicts the number of layers.
[[nodiscard]] Result<LayerPattern> layerPatternOf(const TrainingPlan& plan);

} // namespace headroom
