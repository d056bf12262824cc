// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/mixers.h"

namespace headroom {

using enum TensorKind;

DeltaRule MegatronDeltaNet::sizes() const
{
    return {share(), m_shape.microBatch, m_shape.fullSequence, m_shape.element};
}

MegatronModules::Tensor MegatronDeltaNet::branch(const Tensor& input)
{
    const LinearMixer &own = m_shape.hybrid.mixer, part = share();
    // The projection is a variable of the mixer's until it returns.
    const Tensor projected = columnParallel(input,
                                            {m_shape.tokens(), m_shape.hidden, own.projected(Mixer::DeltaNet),
                                             MixerProjection, true, true, 0, TrainedParts::MixerIn});
    const Tensor packed = toHeads(projected, part.projected(Mixer::DeltaNet));
    const std::int64_t channels = bytes(part.convolved(Mixer::DeltaNet)), values = bytes(part.values());
    Tensor mixed = recorder.run({packed}, MixerProjection, channels); // channels first
    Tensor convolved = recorder.run({mixed}, MixerProjection, channels, {mixed.storage});
    mixed = {};
    Tensor query = normalised(convolved), key = normalised(convolved);
    Tensor value = recorder.run({convolved}, ValueCopy, values);
    const Tensor gate = recorder.run({packed}, ValueCopy, values);
    convolved = {};
    Tensor result = rule(query, key, value);
    query = key = value = {};
    const Storage statistics = recorder.allocate(NormStatistics, 4 * rows() * part.heads);
    result = recorder.run({result, gate}, NormOutput, values, {result.storage, gate.storage, statistics});
    if (m_shape.microBatch > 1) {
        result = recorder.run({result}, NormOutput, values); // sequence first
    }
    result = fromHeads(result, part.values());
    return rowParallel(
        result,
        {m_shape.tokens(), own.values(), m_shape.hidden, PartialOutput, false, true, 0, TrainedParts::MixerOut});
}

/// q or k: copied, normalised, and repeated where value heads are more.
MegatronModules::Tensor MegatronDeltaNet::normalised(const Tensor& convolved)
{
    const LinearMixer part = share();
    Tensor copy = recorder.run({convolved}, QkNormInput, bytes(part.keys()));
    const Storage statistics = recorder.allocate(NormStatistics, 4 * rows() * part.keyHeads);
    const Tensor normed = recorder.runKeepingOutput({copy}, QkNormOutput, bytes(part.keys()), {statistics});
    copy = {};
    return part.heads > part.keyHeads ? recorder.run({normed}, RepeatedKv, bytes(part.heads * part.keyDim)) : normed;
}

/// Scores in fp32 until they are inverted; w and u; the states of the chunks; new values.
MegatronModules::Storages MegatronDeltaNet::ruleTemporaries()
{
    const DeltaRule sizes = this->sizes();
    Storages all;
    for (const std::int64_t size : {sizes.expandedKeys(), sizes.values(), sizes.states(), sizes.values()}) {
        all.push_back(recorder.allocate(ScanWorkspace, size));
    }
    return all;
}

MegatronModules::Tensor MegatronDeltaNet::rule(const Tensor& query, const Tensor& key, const Tensor& value)
{
    const DeltaRule sizes = this->sizes();
    const Storage decay = recorder.allocate(ScanOutput, sizes.decay());
    Storage scores = recorder.allocate(ScanWorkspace, sizes.scores());
    const Storage inverted = recorder.allocate(ScanOutput, sizes.inverted());
    scores = {};
    const Storages temporaries = ruleTemporaries();
    return recorder.run({query, key, value}, ScanOutput, sizes.values(),
                        {query.storage, key.storage, value.storage, decay, inverted},
                        [this](const Storages&) { return ruleBackward(); });
}

/// chunk_gated_delta_rule_bwd: the forward's temporaries again, then gradients of values, states, q, k and w.
MegatronModules::Storages MegatronDeltaNet::ruleBackward()
{
    const DeltaRule sizes = this->sizes();
    const auto workspace = [this](std::int64_t size) { return recorder.allocate(ScanWorkspace, size); };
    Storages held = ruleTemporaries();
    Storage valueGradient = workspace(sizes.values());
    held.push_back(workspace(sizes.states()));
    valueGradient = workspace(sizes.values());
    const Storage query = recorder.allocate(ActivationGradient, sizes.expandedKeys());
    const Storage key = recorder.allocate(ActivationGradient, sizes.expandedKeys());
    held.push_back(workspace(sizes.expandedKeys())); // of w
    held.push_back(workspace(4 * sizes.rows() * sizes.mixer.heads)); // of the decay
    held.push_back(workspace(sizes.expandedKeys())); // k once more
    const Storage value = recorder.allocate(ActivationGradient, sizes.values());
    return {query, key, value};
}

} // namespace headroom
