// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/linear_mixer.h"

#include "footprint/recipe/layer_tensors.h"

#include <algorithm>

namespace headroom {

namespace {

using enum Kept;

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

/// z, x, B, C and the time steps as they came from the projection; the scan's result before and behind its gate; the
/// norm's, which the projection out reads.
void addStateSpace(LayerTensors& layer, const LinearMixer& mixer)
{
    layer[MixerProjection] = bytesPerValue * real(mixer.projected(Mixer::Mamba2));
    layer[ScanOutput] = 2 * bytesPerValue * real(mixer.values());
    layer[MixerNorm] = bytesPerValue * real(mixer.values());
}

/// Mamba keeps the projection, the convolution's result, the time steps before and behind their projection, B and C,
/// and the scan's result with its fp32 chunk states (mamba_ssm ops/selective_scan_interface.py, MambaInnerFn).
void addFirstMamba(LayerTensors& layer, const LinearMixer& mixer)
{
    layer[MixerProjection] = bytesPerValue * (2 * real(mixer.values()) + real(mixer.timeRank + 2 * mixer.state));
    layer[ScanOutput] = 2 * bytesPerValue * real(mixer.values());
    layer[MixerNorm] = bytesPerValue * real(mixer.values());
}

/// What the convolution reads; q and k normalised, and once more for every value head; v, the gate, the inverted
/// triangles of 64 tokens; the rule's result, and the norm's.
void addDeltaNet(LayerTensors& layer, const LinearMixer& mixer)
{
    constexpr double chunk = 64;
    const double values = real(mixer.values()), expanded = real(mixer.heads * mixer.keyDim);
    const double repeated = mixer.heads > mixer.keyHeads ? 2 * expanded : 0;
    layer[MixerProjection] = bytesPerValue * (real(mixer.convolved(Mixer::DeltaNet)) + values);
    layer[QueryKeyValue] = bytesPerValue * (2 * real(mixer.keys()) + repeated + values + chunk * real(mixer.heads));
    layer[ScanOutput] = bytesPerValue * values;
    layer[MixerNorm] = bytesPerValue * values;
}

} // namespace

LinearMixer LinearMixer::splitOver(std::int64_t ranks) const
{
    LinearMixer share = *this;
    share.heads = std::max<std::int64_t>(heads / ranks, 1);
    share.keyHeads = std::max<std::int64_t>(keyHeads / ranks, 1);
    share.groups = std::max<std::int64_t>(groups / ranks, 1); // repeated when there are fewer than ranks
    return share;
}

void keepKind(LayerKind kind, const Architecture& model, const Split& split, LayerTensors& layer)
{
    if (kind.mixer != Mixer::Attention) {
        layer.drop({Latents, QueryKeyValue, AttentionOutput, LogSumExp, Scores});
    }
    if (kind.mixer == Mixer::None) {
        layer.drop({AttentionNorm});
    }
    if (kind.feedForward == FeedForward::None) {
        layer.drop({MlpNorm, Hidden, Activated});
    }
    if (kind.halves() < 2) {
        for (const Kept tensor : {NormInputs, NormStatistics, DropoutMasks}) {
            layer[tensor] /= 2;
        }
    }
    const LinearMixer mixer = model.mixer.splitOver(split.tensor);
    if (kind.mixer == Mixer::Mamba2) {
        addStateSpace(layer, mixer);
    } else if (kind.mixer == Mixer::Mamba) {
        addFirstMamba(layer, mixer);
    } else if (kind.mixer == Mixer::DeltaNet) {
        addDeltaNet(layer, mixer);
    }
}

} // namespace headroom
