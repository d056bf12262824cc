// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_megatron_mixers.h"

#include <algorithm>

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
    const Tensor projected = columnParallel(
        input, {m_shape.tokens(), m_shape.hidden, own.projected(Mixer::Mamba2), MixerProjection, true});
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
    return rowParallel(normed, {m_shape.tokens(), own.values(), m_shape.hidden, PartialOutput});
}

std::int64_t MegatronStateSpace::chunks() const
{
    const std::int64_t chunk = m_shape.hybrid.mixer.chunk;
    return (m_shape.fullSequence + chunk - 1) / chunk;
}

/// States of all chunks.
std::int64_t MegatronStateSpace::stateElements() const
{
    const LinearMixer part = share();
    return m_shape.microBatch * chunks() * part.values() * part.state;
}

/// Products of B and C within the chunks, in fp32.
std::int64_t MegatronStateSpace::scoreBytes() const
{
    const LinearMixer part = share();
    return 4 * m_shape.microBatch * chunks() * part.groups * part.chunk * part.chunk;
}

/// Time steps, or their sums, in fp32.
std::int64_t MegatronStateSpace::stepBytes() const
{
    const LinearMixer part = share();
    return 4 * m_shape.microBatch * chunks() * part.chunk * part.heads;
}

/// Programs that share a group's heads write gradients of their own, so that the GPU is full
/// (ops/triton/ssd_chunk_state.py, _chunk_state_bwd_db: nsplits).
std::int64_t MegatronStateSpace::headSplits() const
{
    const LinearMixer part = share();
    const std::int64_t processors = m_shape.capability >= 10 ? 148 : m_shape.capability == 9 ? 132 : 108;
    const std::int64_t ratio = std::max<std::int64_t>(part.heads / part.groups, 1);
    const std::int64_t programs = m_shape.microBatch * chunks() * part.heads;
    const std::int64_t each = std::clamp<std::int64_t>((programs + processors - 1) / processors, 1, ratio);
    return (ratio + each - 1) / each;
}

/// _mamba_chunk_scan_combined_fwd: x, B, C; time steps and their sums; the states of the chunks, first alone, then
/// passed on; the products of B and C.
MegatronModules::Storages MegatronStateSpace::scanTemporaries()
{
    Storages all{recorder.allocate(ScanWorkspace, bytes(share().convolved(Mixer::Mamba2)))};
    for (int i = 0; i < 2; ++i) {
        all.push_back(recorder.allocate(ScanWorkspace, stepBytes()));
    }
    Storage states = recorder.allocate(ScanWorkspace, 4 * stateElements());
    all.push_back(recorder.allocate(ScanWorkspace, m_shape.element * stateElements()));
    all.push_back(recorder.allocate(ScanWorkspace, 4 * stateElements() / chunks()));
    states = {};
    all.push_back(recorder.allocate(ScanWorkspace, scoreBytes()));
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

/// A gradient that several programs write apart, and its sum.
MegatronModules::Storage MegatronStateSpace::summed(std::int64_t size, std::int64_t parts)
{
    const Storage apart = recorder.allocate(ScanWorkspace, size * parts);
    return recorder.allocate(ScanWorkspace, size);
}

/// MambaSplitConv1dScanCombinedFn.backward and _mamba_chunk_scan_combined_bwd, in their order.
MegatronModules::Storage MegatronStateSpace::scanBackward(std::int64_t packedBytes)
{
    const LinearMixer part = share();
    const auto workspace = [this](std::int64_t size) { return recorder.allocate(ScanWorkspace, size); };
    const std::int64_t convolved = bytes(part.convolved(Mixer::Mamba2)), steps = stepBytes();
    Storages held{workspace(convolved)}; // x, B, C again
    Storage gradient = recorder.allocate(ActivationGradient, packedBytes);
    held.push_back(workspace(convolved)); // their gradients
    held.push_back(workspace(bytes(part.heads))); // a copy of the time steps
    for (int i = 0; i < 2; ++i) {
        held.push_back(workspace(steps));
    }
    held.push_back(workspace(scoreBytes()));
    Storage states = workspace(4 * stateElements());
    Storage passed = workspace(4 * stateElements());
    held.push_back(workspace(4 * stateElements() / chunks()));
    states = {};
    held.push_back(workspace(bytes(part.values()))); // the gradient behind the gate
    Storage stateGradients = workspace(4 * stateElements());
    for (int i = 0; i < 2; ++i) { // states and their gradients for the products
        held.push_back(workspace(m_shape.element * stateElements()));
    }
    passed = stateGradients = {};
    held.push_back(workspace(steps));
    const std::int64_t shared = 4 * rows() * part.groups * part.state, splits = headSplits();
    for (int i = 0; i < 2; ++i) { // B and C
        held.push_back(summed(shared, splits));
        held.push_back(workspace(steps));
    }
    held.push_back(summed(scoreBytes(), splits));
    held.push_back(workspace(steps)); // sums of A's gradient from behind
    constexpr std::int64_t rowBlock = 32;
    held.push_back(summed(steps, std::max<std::int64_t>(part.chunk / rowBlock, 1)));
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
