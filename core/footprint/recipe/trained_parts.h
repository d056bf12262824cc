// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/architecture.h"
#include "units/problem.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// What of a model is trained, module by module, where its config freezes some by name, by layer or by share: LLaMA-
/// Factory's freeze tuning (model/adapter.py, _setup_freeze_tuning), Axolotl's unfrozen_parameters (utils/freeze.py),
/// ms-swift's freeze_parameters (utils/torch_utils.py).
struct TrainedParts
{
    enum Part : std::uint32_t {
        QueryLatent = 1U << 0U,
        Query = 1U << 1U,
        Key = 1U << 2U, ///< of latent attention the projection down
        Value = 1U << 3U, ///< and the one up again
        Output = 1U << 4U,
        Gate = 1U << 5U,
        Up = 1U << 6U,
        Down = 1U << 7U,
        Router = 1U << 8U,
        ExpertGate = 1U << 9U,
        ExpertUp = 1U << 10U,
        ExpertDown = 1U << 11U,
        SharedGate = 1U << 12U,
        SharedUp = 1U << 13U,
        SharedDown = 1U << 14U,
        FirstNorm = 1U << 15U,
        SecondNorm = 1U << 16U,
        QueryNorm = 1U << 17U,
        KeyNorm = 1U << 18U,
        Table = 1U << 19U, ///< with learned positions; these are no parts of a block
        FinalNorm = 1U << 20U,
        Head = 1U << 21U, ///< a tied one is the table
        Vision = 1U << 22U,
        Projector = 1U << 23U,
        MixerIn = 1U << 24U, ///< projections of mixers that are no attention
        MixerConv = 1U << 25U,
        MixerSteps = 1U << 26U, ///< of the first Mamba: what makes time steps, B and C
        MixerScan = 1U << 27U, ///< numbers of a head or channel: A, D and a bias
        MixerNorm = 1U << 28U,
        MixerOut = 1U << 29U,
        SharedOpening = 1U << 30U, ///< the shared expert's gate of one number a token
        Joining = 1U << 31U ///< what a prediction of further tokens has around its layer: three norms, a projection
    };
    static constexpr std::uint32_t all = ~std::uint32_t{0};
    static constexpr std::uint32_t outsideBlocks = Table | FinalNorm | Head | Vision | Projector;

    std::uint32_t outside = all; ///< blocks: those that every block trains
    std::vector<std::uint32_t> layers; ///< empty: all of every block is trained
    std::uint32_t prediction = 0; ///< of each layer that predicts further tokens, where there are any

    [[nodiscard]] bool isAll() const { return layers.empty(); }
    [[nodiscard]] std::uint32_t of(std::int64_t layer) const
    {
        return layers.empty() ? all : layers[static_cast<std::size_t>(layer)];
    }
    [[nodiscard]] bool trainsLanguage() const;
};

/// Whether anything in the plan freezes parts by name, layer or share.
[[nodiscard]] bool freezesParts(const TrainingPlan& plan);

/// Fails where an expression takes too long, or where only some of a layer's experts or of an encoder are frozen.
[[nodiscard]] Result<TrainedParts> trainedPartsOf(const TrainingPlan& plan);

/// Of the language model's weights on a stage, layers [first, first + count) and the ends it holds, before any split.
[[nodiscard]] double trainedShare(const TrainedParts& parts, const Architecture& model, std::int64_t first,
                                  std::int64_t count, bool holdsEmbedding, bool holdsHead);

} // namespace headroom
