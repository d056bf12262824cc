// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/mixers.h"

namespace headroom {

using enum TensorKind;

/// Every part is exchanged, the parts are joined, and the halves of the sequence are put in order.
MegatronModules::Tensor MegatronMixer::toHeads(const Tensor& input, std::int64_t width)
{
    if (m_shape.context == 1) {
        return input;
    }
    Tensor exchanged = recorder.run({input}, MixerProjection, bytes(width));
    Tensor joined = recorder.run({exchanged}, MixerProjection, bytes(width));
    return recorder.run({joined}, MixerProjection, bytes(width));
}

MegatronModules::Tensor MegatronMixer::fromHeads(const Tensor& input, std::int64_t width)
{
    if (m_shape.context == 1) {
        return input;
    }
    const Tensor ordered = recorder.run({input}, ScanOutput, bytes(width));
    return recorder.run({ordered}, ScanOutput, bytes(width));
}

MegatronModules::Tensor MegatronStateSpace::branch(const Tensor& input)
{
    const LinearMixer &own = m_shape.hybrid.mixer, part = share();
    // The projection is a variable of the mixer's until it returns.
    const Tensor projected = columnParallel(input,
                                            {m_shape.tokens(), m_shape.hidden, own.projected(Mixer::Mamba2),
                                             MixerProjection, true, true, 0, TrainedParts::MixerIn});
    const Tensor whole = toHeads(projected, part.projected(Mixer::Mamba2));
    const bool isBatched = m_shape.microBatch > 1; // else batch first and sequence first are the same
    Tensor packed = isBatched ? recorder.run({whole}, MixerProjection, whole.bytes) : whole;
    Tensor scanned = scan(packed);
    packed = {};
    if (isBatched) {
        scanned = recorder.run({scanned}, ScanOutput, scanned.bytes);
    }
    scanned = fromHeads(scanned, part.values());
    const std::int64_t ownBytes = m_shape.tokens() * own.values() * m_shape.element;
    const Storage statistics = recorder.allocate(NormStatistics, 4 * m_shape.tokens() * own.groups);
    const Tensor normed = recorder.run({scanned}, NormOutput, ownBytes, {scanned.storage, statistics});
    scanned = {};
    return rowParallel(
        normed,
        {m_shape.tokens(), own.values(), m_shape.hidden, PartialOutput, false, true, 0, TrainedParts::MixerOut});
}

StateSpaceScan MegatronStateSpace::sizes() const
{
    const std::int64_t processors = m_shape.capability >= 10 ? 148 : m_shape.capability == 9 ? 132 : 108;
    return {share(), m_shape.microBatch, m_shape.fullSequence, m_shape.element, processors};
}

/// _mamba_chunk_scan_combined_fwd: x, B, C; time steps and their sums; the states of the chunks, first alone, then
/// passed on; the products of B and C.
MegatronModules::Storages MegatronStateSpace::scanTemporaries()
{
    const StateSpaceScan scan = sizes();
    Storages all{recorder.allocate(ScanWorkspace, bytes(scan.mixer.convolved(Mixer::Mamba2)))};
    for (int i = 0; i < 2; ++i) {
        all.push_back(recorder.allocate(ScanWorkspace, scan.steps()));
    }
    Storage states = recorder.allocate(ScanWorkspace, 4 * scan.stateElements());
    all.push_back(recorder.allocate(ScanWorkspace, scan.element * scan.stateElements()));
    all.push_back(recorder.allocate(ScanWorkspace, 4 * scan.stateElements() / scan.chunks()));
    states = {};
    all.push_back(recorder.allocate(ScanWorkspace, scan.scores()));
    return all;
}

/// Keeps what it reads and the result before its gate.
MegatronModules::Tensor MegatronStateSpace::scan(const Tensor& packed)
{
    const std::int64_t size = bytes(share().values());
    const Storages temporaries = scanTemporaries();
    const Storage ungated = recorder.allocate(ScanOutput, size);
    return recorder.run(
        {packed}, ScanOutput, size, {packed.storage, ungated},
        [this, packedBytes = packed.bytes](const Storages&) { return Storages{scanBackward(packedBytes)}; });
}

MegatronModules::Storage MegatronStateSpace::scanBackward(std::int64_t packedBytes)
{
    Storage gradient = recorder.allocate(ActivationGradient, packedBytes);
    const std::vector<ScanTemporary> temporaries = scanBackwardTemporaries(sizes(), true);
    Storages held(temporaries.size());
    for (std::size_t i = 0; i < temporaries.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (temporaries[k].until == i) {
                held[k] = {};
            }
        }
        held[i] = recorder.allocate(ScanWorkspace, temporaries[i].bytes);
    }
    return gradient;
}

std::unique_ptr<RecordedBlock> recordedMixer(Mixer mixer, MegatronOps& ops)
{
    if (mixer == Mixer::Mamba2) {
        return std::make_unique<MegatronStateSpace>(ops);
    }
    if (mixer == Mixer::DeltaNet) {
        return std::make_unique<MegatronDeltaNet>(ops);
    }
    return nullptr;
}

} // namespace headroom
