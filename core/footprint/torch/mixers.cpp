// SPDX-License-Identifier: GPL-3.0-or-later
// From knowledge of the source of transformers 4.5x (modeling_mamba2.py, modeling_bamba.py, modeling_nemotron_h.py,
// modeling_qwen3_next.py, modeling_qwen3_5.py, modeling_jamba.py) and of its kernels: mamba_ssm 2 (ops/triton/
// ssd_combined.py, ops/selective_scan_interface.py), causal_conv1d 1.5 (causal_conv1d_interface.py), flash-linear-
// attention 0.3 (ops/gated_delta_rule/chunk.py, modules/fused_norm_gate.py). No run was measured against it.
#include "footprint/torch/mixers.h"

#include "footprint/recipe/delta_rule.h"
#include "footprint/recipe/state_space_scan.h"
#include "footprint/tape/shape_hybrid.h"
#include "footprint/torch/modules.h"
#include "plan/recomputed_share.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

Tensor TorchModules::layer(Tensor stream, LayerKind kind)
{
    if (kind.mixer != Mixer::None) {
        const Tensor normed = norm(stream, m_shape.localTokens(), m_model.hidden);
        stream = add(stream, dropped(mixed(normed, kind.mixer)));
    }
    if (kind.feedForward != FeedForward::None) {
        const Tensor input = norm(stream, m_shape.localTokens(), m_model.hidden);
        const Linear in{m_shape.tokens, m_model.hidden, m_model.ffn, Adapters::MlpIn};
        const bool hasExperts = kind.feedForward == FeedForward::Experts;
        stream = add(stream, dropped(hasExperts ? experts(input) : mlp(input, m_model.hidden, in, denseMlp)));
    }
    return stream;
}

Tensor TorchModules::mixed(Tensor normed, Mixer mixer)
{
    switch (mixer) {
    case Mixer::Mamba2:
        return stateSpace(normed);
    case Mixer::Mamba:
        return firstMamba(normed);
    case Mixer::DeltaNet:
        return deltaNet(normed);
    default:
        return m_model.attnGate ? gatedAttention(normed) : attention(normed);
    }
}

/// modeling_qwen3_next.py, Qwen3NextAttention: queries and gates come from one product, whose halves alternate by
/// heads, so that the gates are copied; their sigmoid and the context are both factors.
Tensor TorchModules::gatedAttention(Tensor normed)
{
    const std::int64_t width = m_model.heads * m_model.headDim, keyWidth = m_model.groups * m_model.headDim;
    const std::int64_t bytes = m_shape.tokens * width * m_shape.compute;
    const Tensor packed = linear(normed, QueryProjection, {m_shape.tokens, m_model.hidden, 2 * width, Adapters::Query});
    const Tensor gate = m_graph.apply({.kind = QueryProjection, .bytes = bytes, .reads = {packed}});
    const Tensor query = m_model.qkNorm
        ? rotated(norm(packed, m_shape.tokens * m_model.heads, m_model.headDim, TrainedParts::QueryNorm))
        : m_graph.apply({.kind = RotatedQk, .bytes = bytes, .reads = {packed}});
    const Tensor key = linear(normed, KeyValueProjection, {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Key});
    const Tensor value
        = linear(normed, KeyValueProjection, {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Value});
    const Tensor context = attend(query, repeated(rotated(perHeadNorm(key, m_model.groups, TrainedParts::KeyNorm))),
                                  repeated(value), m_model.heads, width);
    const Tensor opened = m_graph.apply({.kind = GateProduct, .bytes = bytes, .reads = {gate}, .savesResult = true});
    const Tensor gated = m_graph.apply({.kind = ContextCopy,
                                        .bytes = bytes,
                                        .reads = {context, opened},
                                        .saves = {true, true},
                                        .backwardWork = bytes});
    return linear(gated, PartialOutput, {m_shape.tokens, width, m_model.hidden, Adapters::Output});
}

/// mamba_split_conv1d_scan_combined: convolution, scan, gated norm and the product behind it are one function, which
/// keeps what the product in front of it made, the scan's result and the norm's statistics, and makes everything else
/// again.
Tensor TorchModules::stateSpace(Tensor normed)
{
    const LinearMixer& mixer = m_model.mixer;
    const StateSpaceScan scan{mixer, m_shape.sequences, m_shape.keys, m_shape.compute, m_shape.processors};
    const std::int64_t values = scan.bytes(mixer.values());
    const Tensor packed
        = linear(normed, MixerProjection, {m_shape.tokens, m_model.hidden, mixer.projected(Mixer::Mamba2)});
    Operation op{.kind = PartialOutput, .bytes = m_shape.streamBytes(), .reads = {packed}};
    op.saves = {true};
    op.keeps = {{ScanOutput, values}, {NormStatistics, 4 * m_shape.tokens * mixer.groups}};
    const std::int64_t states = scan.stateElements();
    // Results of the convolution, time steps and their sums, states passed on; the norm's result at last.
    const std::int64_t held = scan.bytes(mixer.convolved(Mixer::Mamba2)) + 2 * scan.steps() + m_shape.compute * states
        + 4 * states / scan.chunks();
    op.forwardWork = held + std::max({values, scan.scores(), 4 * states - op.bytes - values});
    // The gradient in front of the product, that of the scan's result, and the norm's result again.
    op.backwardWork = 3 * values + mostTogether(scanBackwardTemporaries(scan, false));
    op.weight = m_shape.trainsModel ? mixer.values() * m_model.hidden + mixer.values() + 3 * mixer.heads
            + mixer.convolved(Mixer::Mamba2) * (mixer.conv + (mixer.hasConvBias ? 1 : 0))
                                    : 0;
    op.isMatrixProduct = true;
    return m_graph.apply(std::move(op));
}

/// JambaMambaMixer with its kernels: its norms between the products keep the fused mamba_inner_fn from it. The
/// convolution reads half of the projection as it is; the scan (SelectiveScanFn) wants every tensor with tokens
/// innermost, so that each is copied, and keeps fp32 states of every 2048 tokens.
Tensor TorchModules::firstMamba(Tensor normed)
{
    const LinearMixer& mixer = m_model.mixer;
    const std::int64_t inner = mixer.values(), tokens = m_shape.tokens, element = m_shape.compute;
    const auto copied = [&](Tensor input, TensorKind kind) {
        return m_graph.apply({.kind = kind, .bytes = tokens * inner * element, .reads = {input}});
    };
    const Tensor packed = linear(normed, MixerProjection, {tokens, m_model.hidden, 2 * inner});
    Operation convolution{.kind = MixerProjection, .bytes = tokens * inner * element, .reads = {packed}};
    convolution.saves = {true};
    convolution.weight = m_shape.trainsModel ? inner * (mixer.conv + (mixer.hasConvBias ? 1 : 0)) : 0;
    const Tensor convolved = m_graph.apply(std::move(convolution));
    const Tensor parameters = linear(convolved, MixerProjection, {tokens, inner, mixer.timeRank + 2 * mixer.state});
    const Tensor steps
        = linear(norm(parameters, tokens, mixer.timeRank), MixerProjection, {tokens, mixer.timeRank, inner});
    // B and C, which the scan keeps as copies.
    const Tensor shared
        = m_graph.apply({.kind = MixerProjection,
                         .bytes = 2 * tokens * mixer.state * element,
                         .reads = {norm(parameters, tokens, mixer.state), norm(parameters, tokens, mixer.state)}});
    const Tensor delta = m_graph.apply(
        {.kind = MixerProjection, .bytes = tokens * inner * element, .reads = {steps, shared}, .saves = {false, true}});
    const std::int64_t blocks = (m_shape.keys + 2047) / 2048;
    const Tensor values = copied(convolved, MixerProjection), gate = copied(packed, ValueCopy);
    Operation scan{.kind = ScanOutput, .bytes = tokens * inner * element, .reads = {values, delta, gate}};
    scan.saves = {true, true, true};
    scan.keeps = {{ScanOutput, tokens * inner * element},
                  {ScanOutput, 4 * m_shape.sequences * inner * blocks * 2 * mixer.state}};
    scan.backwardWork = 2 * 4 * tokens * mixer.state;
    scan.weight = m_shape.trainsModel ? inner * (mixer.state + 2) : 0; // A, D and the time steps' bias
    return linear(m_graph.apply(std::move(scan)), PartialOutput, {tokens, inner, m_model.hidden});
}

/// Qwen3NextGatedDeltaNet: q, k and v are copied out of the projection, joined, and read by the convolution with
/// channels innermost. What the convolution made is a variable until the forward returns, as are repeated q and k.
/// Qwen3.5's projections are apart and need no copies.
Tensor TorchModules::deltaNet(Tensor normed)
{
    const LinearMixer& mixer = m_model.mixer;
    const DeltaRule rule{mixer, m_shape.sequences, m_shape.keys, m_shape.compute};
    const std::int64_t channels = rule.bytes(mixer.convolved(Mixer::DeltaNet));
    const Tensor packed
        = linear(normed, MixerProjection, {m_shape.tokens, m_model.hidden, mixer.projected(Mixer::DeltaNet)});
    m_graph.keepThroughForward(packed);
    const Tensor joined
        = m_graph.apply({.kind = MixerProjection, .bytes = channels, .reads = {packed}, .forwardWork = channels});
    const Tensor gate = m_graph.apply({.kind = ValueCopy, .bytes = rule.values(), .reads = {packed}});
    Operation convolution{.kind = MixerProjection, .bytes = channels, .reads = {joined}};
    convolution.saves = {true};
    convolution.weight
        = m_shape.trainsModel ? mixer.convolved(Mixer::DeltaNet) * (mixer.conv + (mixer.hasConvBias ? 1 : 0)) : 0;
    const Tensor convolved = m_graph.apply(std::move(convolution));
    m_graph.keepThroughForward(convolved);
    const Tensor query = normalisedKeys(convolved), key = normalisedKeys(convolved);
    const Tensor value = m_graph.apply({.kind = ValueCopy, .bytes = rule.values(), .reads = {convolved}});
    Operation op{.kind = ScanOutput, .bytes = rule.values(), .reads = {query, key, value}};
    op.saves = {true, true, true};
    op.keeps = {{ScanOutput, rule.decay()}, {ScanOutput, rule.inverted()}};
    op.forwardWork = std::max(rule.scores(), rule.temporaries());
    // The forward's again, gradients of states, values, w, k once more, and of the decay.
    op.backwardWork
        = rule.temporaries() + rule.states() + rule.values() + 2 * rule.expandedKeys() + 4 * rule.rows() * mixer.heads;
    op.weight = m_shape.trainsModel ? 2 * mixer.heads : 0;
    const Tensor result = m_graph.apply(std::move(op));
    Operation norm{.kind = NormOutput, .bytes = rule.values(), .reads = {result, gate}};
    norm.saves = {true, true};
    norm.keeps = {{NormStatistics, 4 * m_shape.tokens * mixer.heads}};
    norm.weight = m_shape.trainsModel ? mixer.headDim : 0;
    return linear(m_graph.apply(std::move(norm)), PartialOutput, {m_shape.tokens, mixer.values(), m_model.hidden});
}

/// q or k of as many heads as the values have, repeated where they are fewer, and normalised within the rule.
Tensor TorchModules::normalisedKeys(Tensor convolved)
{
    const LinearMixer& mixer = m_model.mixer;
    const std::int64_t bytes = m_shape.tokens * mixer.heads * mixer.keyDim * m_shape.compute;
    const bool isRepeated = mixer.heads > mixer.keyHeads;
    const Tensor whole
        = m_graph.apply({.kind = isRepeated ? RepeatedKv : QkNormInput, .bytes = bytes, .reads = {convolved}});
    if (isRepeated) {
        m_graph.keepThroughForward(whole);
    }
    return m_graph.apply({.kind = QkNormOutput,
                          .bytes = bytes,
                          .reads = {whole},
                          .savesResult = true,
                          .keeps = {{NormStatistics, 4 * m_shape.tokens * mixer.heads}}});
}

const char* undescribedHybrid(const TrainingPlan& plan, const TorchHabits& habits)
{
    if (!isHybrid(plan)) {
        return plan.model.attnGate.value ? HEADROOM_TR(
                   "core", "the profile %1 describes gated attention in hybrids alone: leave model.attn_gate out")
                                         : nullptr;
    }
    const bool isPartial = plan.recompute.granularity.value == Granularity::Selective
        && (plan.recompute.enabled.value || !plan.recompute.enabled.isStated());
    const bool namesModules = isPartial && !plan.recompute.numLayers.isKnown() && !recomputedShare(plan.recompute);
    for (const auto& [has, what] : {
             std::pair{plan.parallel.tp.value > 1,
                       HEADROOM_TR("core",
                                   "the hybrid layers of %1 are whole on every rank: set parallel.tp to 1, or "
                                   "implementation.profile to megatron-te")},
             std::pair{plan.parallel.cp.value > 1,
                       HEADROOM_TR("core",
                                   "the hybrid layers of %1 have whole sequences: set parallel.cp to 1, or "
                                   "implementation.profile to megatron-te")},
             std::pair{namesModules,
                       HEADROOM_TR("core",
                                   "%1 recomputes hybrid layers as a whole: give recompute.num_layers or "
                                   "recompute.fraction, or set recompute.granularity to full")},
             std::pair{habits.packsQkv,
                       HEADROOM_TR("core",
                                   "%1 has no hybrid layers: set implementation.profile to hf-sdpa, torchtitan or "
                                   "megatron-te")},
             std::pair{plan.model.parallelBlock.value,
                       HEADROOM_TR("core",
                                   "the halves of hybrid layers of %1 follow one another: leave model.parallel_block "
                                   "out")},
             std::pair{plan.mla.kvLoraRank.value > 0,
                       HEADROOM_TR("core",
                                   "the profile %1 does not describe latent attention in hybrids: leave "
                                   "mla.kv_lora_rank out")},
             std::pair{plan.model.layerNorm.value,
                       HEADROOM_TR("core", "the hybrid layers of %1 have RMS norms: leave model.layer_norm out")},
             std::pair{freezesParts(plan),
                       HEADROOM_TR("core",
                                   "the profile %1 freezes the layers of hybrids together (frozen.llm), not by name, "
                                   "layer or share")},
         }) {
        if (has) {
            return what;
        }
    }
    return nullptr;
}

bool areMixersComputable(const TorchShape& shape)
{
    const Architecture& model = shape.model;
    return !model.isHybrid()
        || (static_cast<std::int64_t>(model.kinds.size()) == model.layers
            && isMixerComputable(model.mixer, shape.tokens, model.hidden, model.layers));
}

TorchWeights layerWeights(const TorchShape& shape, std::int64_t layer)
{
    return shape.model.isHybrid() ? kindWeights(shape, shape.model.kinds[static_cast<std::size_t>(layer)])
                                  : blockWeights(shape, shape.model.moeLayers(layer, 1) > 0, shape.memoryTokens > 0);
}

/// Of FSDP what is gathered next is that of the largest neighbour that a layer of this kind has anywhere.
static void setNeighbours(const TorchShape& shape, LayerKind kind, ModuleGraph::Options& options)
{
    const std::vector<LayerKind>& kinds = shape.model.kinds;
    const auto neighbourOf = [&shape](LayerKind other) {
        ModuleGraph::Options neighbour;
        setTorchGathered(shape, kindWeights(shape, other), neighbour);
        return neighbour;
    };
    if (options.precedingBuffer == 0) {
        return;
    }
    std::vector<LayerKind> behind, inFront;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto note = [&](std::vector<LayerKind>& known, std::size_t neighbour) {
            if (neighbour < kinds.size() && std::find(known.begin(), known.end(), kinds[neighbour]) == known.end()) {
                known.push_back(kinds[neighbour]);
            }
        };
        if (kinds[i] == kind) {
            note(behind, i + 1);
            note(inFront, i - 1);
        }
    }
    options.followingBuffer = options.precedingBuffer = 0;
    for (const LayerKind other : behind) {
        options.followingBuffer = std::max(options.followingBuffer, neighbourOf(other).followingBuffer);
    }
    for (const LayerKind other : inFront) {
        options.precedingBuffer = std::max(options.precedingBuffer, neighbourOf(other).precedingBuffer);
    }
}

void writeTorchKind(const TorchShape& shape, LayerKind kind, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(shape.streamBytes(), true);
    TorchModules(shape, graph).layer(graph.input(), kind);
    const TorchWeights weights = kindWeights(shape, kind);
    ModuleGraph::Options options = torchBlockOptions(shape, weights);
    setNeighbours(shape, kind, options);
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(weights, piece);
}

} // namespace headroom
