// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/activations.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

/// All layers of a stage together, per token; `largest` is that of one layer.
struct LayerSums
{
    double layers = 0, whole = 0, kept = 0, offered = 0, largest = 0;

    void add(const LayerBytes& layer, std::int64_t count)
    {
        layers += real(count);
        whole += real(count) * layer.whole;
        kept += real(count) * layer.kept;
        offered += real(count) * layer.offloaded;
        largest = std::max(largest, count > 0 ? layer.whole : 0);
    }
};

StageActivations activationsOnGpu(const ActivationModel& model, const LayerSums& sums, std::int64_t chunks)
{
    const double layers = sums.layers;
    const double whole = model.tokens * sums.whole;
    const double kept = model.tokens * sums.kept;
    if (layers <= 0 || whole <= 0) {
        return {};
    }
    // Recomputed layers are rebuilt one (one group) at a time; the stored input of the group is the rebuilt one's.
    const double input = model.tokens * model.input;
    const double largest = model.tokens * sums.largest;
    const double chunkLayers = layers / real(chunks);
    switch (model.recompute.kind) {
    case Recompute::Kind::None:
        return {whole, 0};
    case Recompute::Kind::Modules:
        return {kept, std::max(largest - kept / layers, 0.0)};
    case Recompute::Kind::Uniform: {
        const double group = std::min(real(model.recompute.group), chunkLayers);
        return {real(chunks) * std::ceil(chunkLayers / group) * input, std::max(group * largest - input, 0.0)};
    }
    case Recompute::Kind::Block:
        break;
    }
    // Backward starts with the layers stored whole, so they are gone when the first recomputed one is rebuilt.
    const double recomputed = model.recompute.blockLayers(chunkLayers, real(chunks));
    const double stored = (chunkLayers - recomputed) * whole / layers;
    const double rebuilt = recomputed > 0 ? std::max(largest - input - stored, 0.0) : 0.0;
    return {real(chunks) * (recomputed * input + stored), rebuilt};
}

StageActivations activationsOf(const ActivationModel& model, const LayerSums& sums, std::int64_t chunks)
{
    StageActivations result = activationsOnGpu(model, sums, chunks);
    if (sums.layers > 0 && (model.offload.isOn || model.offload.takesInputs)) {
        offloadActivations(model, sums.layers, model.tokens * sums.offered / sums.layers, real(chunks), result);
    }
    return result;
}

} // namespace

StageActivations stageActivations(const ActivationModel& model, std::int64_t denseLayers, std::int64_t expertLayers,
                                  std::int64_t chunks)
{
    LayerSums sums;
    sums.add(model.dense, denseLayers);
    sums.add(model.expert, expertLayers);
    return activationsOf(model, sums, chunks);
}

StageActivations stageActivations(const ActivationModel& model,
                                  const std::vector<std::pair<LayerKind, std::int64_t>>& counts, std::int64_t chunks)
{
    LayerSums sums;
    for (const auto& [kind, count] : counts) {
        for (const auto& [other, layer] : model.kinds) {
            if (other == kind) {
                sums.add(layer, count);
            }
        }
    }
    return activationsOf(model, sums, chunks);
}

} // namespace headroom
