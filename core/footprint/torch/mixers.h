// SPDX-License-Identifier: GPL-3.0-or-later
// Hybrids of PyTorch frameworks: layers whose mixers differ, as Hugging Face transformers writes them.
#pragma once

#include "footprint/recipe/delta_rule.h"
#include "footprint/torch/modules.h"

namespace headroom {

/// Why these tapes do not describe a hybrid or gated attention, a sentence with the profile for %1; null: they do.
[[nodiscard]] const char* undescribedHybrid(const TrainingPlan& plan, const TorchHabits& habits);
/// Every tensor of its mixers stays far below 2^63 bytes.
[[nodiscard]] bool areMixersComputable(const TorchShape& shape);
/// Tensor-parallel ranks that split a mixer.
[[nodiscard]] std::int64_t mixerRanks(const TrainingPlan& plan, const TorchHabits& habits);

/// Mixers other than attention, on this rank's heads.
class TorchMixers
{
public:
    using Tensor = TorchModules::Tensor;
    using Operation = TorchModules::Operation;

    TorchMixers(const TorchShape& shape, TorchModules& modules, ModuleGraph& moduleGraph);

    /// Of all tokens of the group, whose ranks' results are parts of a sum where heads are split.
    Tensor mix(Tensor input, Mixer mixer);

private:
    struct Sizes
    {
        std::int64_t in = 0, out = 0;
    };
    Tensor linear(Tensor input, TensorKind kind, TrainedParts::Part part, Sizes sizes);
    [[nodiscard]] std::int64_t ifTrained(TrainedParts::Part part, std::int64_t elements) const
    {
        return m_shape.trains(part) ? elements : 0;
    }
    [[nodiscard]] std::int64_t convolutionWeight(std::int64_t channels) const;
    Tensor exchanged(Tensor input, TensorKind kind, std::int64_t bytes, int copies);
    Tensor stateSpace(Tensor input);
    Tensor fusedScan(Tensor packed);
    Tensor exchangedScan(Tensor packed);
    Tensor firstMamba(Tensor input);
    Tensor deltaNet(Tensor input);
    Tensor normalisedKeys(Tensor convolved);
    Tensor rule(Tensor query, Tensor key, Tensor value);

    const TorchShape& m_shape;
    TorchModules& m_modules;
    ModuleGraph& m_graph;
    const std::int64_t m_hidden;
    const LinearMixer& m_own; ///< heads of this rank's weights
    const LinearMixer m_part; ///< those it works on, with whole sequences
    const DeltaRule m_rule;
};

} // namespace headroom
