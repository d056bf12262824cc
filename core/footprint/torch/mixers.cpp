// SPDX-License-Identifier: GPL-3.0-or-later
// From knowledge of the source of transformers 4.5x (modeling_mamba2.py, modeling_bamba.py, modeling_nemotron_h.py,
// modeling_qwen3_next.py, modeling_qwen3_5.py, modeling_jamba.py) and of its kernels: mamba_ssm 2 (ops/triton/
// ssd_combined.py, ops/selective_scan_interface.py), causal_conv1d 1.5 (causal_conv1d_interface.py), flash-linear-
// attention 0.3 (ops/gated_delta_rule/chunk.py, modules/fused_norm_gate.py). No run was measured against it.
//
// Over tensor-parallel ranks: none of the frameworks with pipelines of their own has a hybrid, so theirs are split as
// Megatron's (core/ssm/mamba_mixer.py, gated_delta_net.py), by heads; the plans of transformers leave mixers out
// (configuration_qwen3_next.py, base_model_tp_plan has self_attn and mlp alone; from memory), so that they are whole on
// every rank. Over context-parallel ranks they exchange heads as Megatron's do (core/ssm/mamba_context_parallel.py).
#include "footprint/torch/mixers.h"

#include "footprint/recipe/state_space_scan.h"
#include "footprint/tape/shape_hybrid.h"

#include <algorithm>
#include <utility>

namespace headroom {

using enum TensorKind;
using enum TrainedParts::Part;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

TorchMixers::TorchMixers(const TorchShape& shape, TorchModules& modules, ModuleGraph& moduleGraph)
    : m_shape(shape)
    , m_modules(modules)
    , m_graph(moduleGraph)
    , m_hidden(shape.model.hidden)
    , m_own(shape.mixer)
    , m_part(shape.mixer.splitOver(shape.context))
    , m_rule{m_part, shape.sequences, shape.keys, shape.compute}
{
}

Tensor TorchMixers::mix(Tensor input, Mixer mixer)
{
    return mixer == Mixer::Mamba2 ? stateSpace(input) : mixer == Mixer::Mamba ? firstMamba(input) : deltaNet(input);
}

Tensor TorchMixers::linear(Tensor input, TensorKind kind, TrainedParts::Part part, Sizes sizes)
{
    return m_modules.linear(input, kind, {m_shape.tokens, sizes.in, sizes.out, Adapters::Other, 1, 0, part});
}

std::int64_t TorchMixers::convolutionWeight(std::int64_t channels) const
{
    return ifTrained(MixerConv, channels * (m_own.conv + (m_own.hasConvBias ? 1 : 0)));
}

/// On the way to whole sequences every part of the projection is sent, the parts are joined, and the halves of the
/// sequence are put in order (mamba_context_parallel.py, pre_conv_ssm); on the way back ordered and sent.
Tensor TorchMixers::exchanged(Tensor input, TensorKind kind, std::int64_t bytes, int copies)
{
    Tensor result = input;
    for (int i = 0; m_shape.context > 1 && i < copies; ++i) {
        result = m_graph.apply({.kind = kind, .bytes = bytes, .reads = {result}});
    }
    return result;
}

Tensor TorchMixers::stateSpace(Tensor input)
{
    const Tensor packed = linear(input, MixerProjection, MixerIn, {m_hidden, m_own.projected(Mixer::Mamba2)});
    return m_shape.context > 1 ? exchangedScan(packed) : fusedScan(packed);
}

/// mamba_split_conv1d_scan_combined: convolution, scan, gated norm and the product behind it are one function, which
/// keeps what the product in front of it made, the scan's result and the norm's statistics, and makes everything else
/// again.
Tensor TorchMixers::fusedScan(Tensor packed)
{
    const StateSpaceScan scan{m_part, m_shape.sequences, m_shape.keys, m_shape.compute, m_shape.processors};
    const std::int64_t values = scan.bytes(m_part.values()), convolved = m_part.convolved(Mixer::Mamba2);
    Operation op{.kind = PartialOutput, .bytes = m_shape.tokens * m_hidden * m_shape.compute, .reads = {packed}};
    op.saves = {true};
    op.keeps = {{ScanOutput, values}, {NormStatistics, 4 * m_shape.tokens * m_part.groups}};
    const std::int64_t states = scan.stateElements();
    // Results of the convolution, time steps and their sums, states passed on; the norm's result at last.
    const std::int64_t held
        = scan.bytes(convolved) + 2 * scan.steps() + m_shape.compute * states + 4 * states / scan.chunks();
    op.forwardWork = held + std::max({values, scan.scores(), 4 * states - op.bytes - values});
    // The gradient in front of the product, that of the scan's result, and the norm's result again.
    op.backwardWork = 3 * values + mostTogether(scanBackwardTemporaries(scan, false));
    op.weight = ifTrained(MixerOut, m_part.values() * m_hidden) + ifTrained(MixerNorm, m_part.values())
        + ifTrained(MixerScan, 3 * m_part.heads) + convolutionWeight(convolved);
    op.isMatrixProduct = true;
    const Tensor result = m_graph.apply(std::move(op));
    m_modules.countProduct(result, true);
    return result;
}

/// Behind the scan tokens are spread again, so that its gate is within it and the norm and the product are apart
/// (mamba_mixer.py). It keeps what it reads and its result before the gate.
Tensor TorchMixers::exchangedScan(Tensor packed)
{
    const StateSpaceScan scan{m_part, m_shape.sequences, m_shape.keys, m_shape.compute, m_shape.processors};
    const std::int64_t values = scan.bytes(m_part.values()), states = scan.stateElements();
    m_graph.keepThroughForward(packed);
    const Tensor whole = exchanged(packed, MixerProjection, scan.bytes(m_part.projected(Mixer::Mamba2)), 3);
    Operation op{.kind = ScanOutput, .bytes = values, .reads = {whole}};
    op.saves = {true};
    op.keeps = {{ScanOutput, values}};
    op.forwardWork = scan.bytes(m_part.convolved(Mixer::Mamba2)) + 2 * scan.steps() + m_shape.compute * states
        + 4 * states / scan.chunks() + std::max(scan.scores(), 4 * states - 2 * values);
    op.backwardWork = mostTogether(scanBackwardTemporaries(scan, true));
    op.weight = ifTrained(MixerScan, 3 * m_own.heads) + convolutionWeight(m_own.convolved(Mixer::Mamba2));
    const Tensor scanned = exchanged(m_graph.apply(std::move(op)), ScanOutput, values, 2);
    Operation norm{.kind = NormOutput, .bytes = m_shape.tokens * m_own.values() * m_shape.compute, .reads = {scanned}};
    norm.saves = {true};
    norm.keeps = {{NormStatistics, 4 * m_shape.tokens * m_own.groups}};
    norm.weight = ifTrained(MixerNorm, m_own.values());
    return linear(m_graph.apply(std::move(norm)), PartialOutput, MixerOut, {m_own.values(), m_hidden});
}

/// JambaMambaMixer with its kernels: its norms between the products keep the fused mamba_inner_fn from it. The
/// convolution reads half of the projection as it is; the scan (SelectiveScanFn) wants every tensor with tokens
/// innermost, so that each is copied, and keeps fp32 states of every 2048 tokens. Over ranks channels are split, whose
/// time steps, B and C are sums over all of them.
Tensor TorchMixers::firstMamba(Tensor input)
{
    const std::int64_t inner = m_own.values(), tokens = m_shape.tokens, element = m_shape.compute;
    const auto copied = [&](Tensor tensor, TensorKind kind) {
        return m_graph.apply({.kind = kind, .bytes = tokens * inner * element, .reads = {tensor}});
    };
    const Tensor packed = linear(input, MixerProjection, MixerIn, {m_hidden, 2 * inner});
    Operation convolution{.kind = MixerProjection, .bytes = tokens * inner * element, .reads = {packed}};
    convolution.saves = {true};
    convolution.weight = convolutionWeight(inner);
    const Tensor convolved = m_graph.apply(std::move(convolution));
    const Tensor parameters = linear(convolved, MixerProjection, MixerSteps, {inner, m_own.timeRank + 2 * m_own.state});
    const auto normed = [&](std::int64_t width) { return m_modules.norm(parameters, tokens, width, MixerNorm); };
    const Tensor steps = linear(normed(m_own.timeRank), MixerProjection, MixerSteps, {m_own.timeRank, inner});
    // B and C, which the scan keeps as copies.
    const Tensor shared = m_graph.apply({.kind = MixerProjection,
                                         .bytes = 2 * tokens * m_own.state * element,
                                         .reads = {normed(m_own.state), normed(m_own.state)}});
    const Tensor delta = m_graph.apply(
        {.kind = MixerProjection, .bytes = tokens * inner * element, .reads = {steps, shared}, .saves = {false, true}});
    const std::int64_t blocks = (m_shape.keys + 2047) / 2048;
    const Tensor values = copied(convolved, MixerProjection), gate = copied(packed, ValueCopy);
    Operation scan{.kind = ScanOutput, .bytes = tokens * inner * element, .reads = {values, delta, gate}};
    scan.saves = {true, true, true};
    scan.keeps = {{ScanOutput, tokens * inner * element},
                  {ScanOutput, 4 * m_shape.sequences * inner * blocks * 2 * m_own.state}};
    scan.backwardWork = 2 * 4 * tokens * m_own.state;
    scan.weight = ifTrained(MixerScan, inner * (m_own.state + 1)) + ifTrained(MixerSteps, inner); // A, D; a bias
    return linear(m_graph.apply(std::move(scan)), PartialOutput, MixerOut, {inner, m_hidden});
}

/// Qwen3NextGatedDeltaNet: q, k and v are copied out of the projection, joined, and read by the convolution with
/// channels innermost. What the convolution made is a variable until the forward returns, as are repeated q and k.
/// Qwen3.5's projections are apart and need no copies.
Tensor TorchMixers::deltaNet(Tensor input)
{
    const std::int64_t channels = m_rule.bytes(m_part.convolved(Mixer::DeltaNet));
    const Tensor projected = linear(input, MixerProjection, MixerIn, {m_hidden, m_own.projected(Mixer::DeltaNet)});
    m_modules.countProduct(projected); // which are two, the second of two values a head
    m_graph.keepThroughForward(projected);
    const Tensor packed = exchanged(projected, MixerProjection, m_rule.bytes(m_part.projected(Mixer::DeltaNet)), 3);
    m_graph.keepThroughForward(packed);
    const Tensor joined
        = m_graph.apply({.kind = MixerProjection, .bytes = channels, .reads = {packed}, .forwardWork = channels});
    const Tensor gate = m_graph.apply({.kind = ValueCopy, .bytes = m_rule.values(), .reads = {packed}});
    Operation convolution{.kind = MixerProjection, .bytes = channels, .reads = {joined}};
    convolution.saves = {true};
    convolution.weight = convolutionWeight(m_own.convolved(Mixer::DeltaNet));
    const Tensor convolved = m_graph.apply(std::move(convolution));
    m_graph.keepThroughForward(convolved);
    const Tensor query = normalisedKeys(convolved), key = normalisedKeys(convolved);
    const Tensor value = m_graph.apply({.kind = ValueCopy, .bytes = m_rule.values(), .reads = {convolved}});
    const Tensor result = rule(query, key, value);
    Operation norm{.kind = NormOutput, .bytes = m_rule.values(), .reads = {result, gate}};
    norm.saves = {true, true};
    norm.keeps = {{NormStatistics, 4 * m_rule.rows() * m_part.heads}};
    norm.weight = ifTrained(MixerNorm, m_own.headDim);
    const Tensor normed = exchanged(m_graph.apply(std::move(norm)), NormOutput, m_rule.values(), 2);
    return linear(normed, PartialOutput, MixerOut, {m_own.values(), m_hidden});
}

/// chunk_gated_delta_rule.
Tensor TorchMixers::rule(Tensor query, Tensor key, Tensor value)
{
    Operation op{.kind = ScanOutput, .bytes = m_rule.values(), .reads = {query, key, value}};
    op.saves = {true, true, true};
    op.keeps = {{ScanOutput, m_rule.decay()}, {ScanOutput, m_rule.inverted()}};
    op.forwardWork = std::max(m_rule.scores(), m_rule.temporaries());
    // The forward's again, gradients of states, values, w, k once more, and of the decay.
    op.backwardWork = m_rule.temporaries() + m_rule.states() + m_rule.values() + 2 * m_rule.expandedKeys()
        + 4 * m_rule.rows() * m_part.heads;
    op.weight = ifTrained(MixerScan, 2 * m_own.heads);
    return m_graph.apply(std::move(op));
}

/// q or k of as many heads as the values have, repeated where they are fewer, and normalised within the rule.
Tensor TorchMixers::normalisedKeys(Tensor convolved)
{
    const bool isRepeated = m_part.heads > m_part.keyHeads;
    const Tensor whole = m_graph.apply(
        {.kind = isRepeated ? RepeatedKv : QkNormInput, .bytes = m_rule.expandedKeys(), .reads = {convolved}});
    if (isRepeated) {
        m_graph.keepThroughForward(whole);
    }
    return m_graph.apply({.kind = QkNormOutput,
                          .bytes = m_rule.expandedKeys(),
                          .reads = {whole},
                          .savesResult = true,
                          .keeps = {{NormStatistics, 4 * m_rule.rows() * m_part.heads}}});
}

std::int64_t mixerRanks(const TrainingPlan& plan, const TorchHabits& habits)
{
    return habits.supportsTensorParallel ? std::max<std::int64_t>(plan.parallel.tp.value, 1) : 1;
}

namespace {

/// Heads, and groups of a state space, of which fewer than ranks are repeated.
bool splitsEvenly(const Architecture& model, std::int64_t ranks)
{
    const LinearMixer& mixer = model.mixer;
    const auto has = [&model](Mixer kind) {
        return std::any_of(model.kinds.begin(), model.kinds.end(), [kind](LayerKind one) { return one.mixer == kind; });
    };
    const bool hasKeys = has(Mixer::DeltaNet), hasGroups = has(Mixer::Mamba2);
    const auto splits = [ranks](std::int64_t count) { return count % ranks == 0; };
    return (!(hasKeys || hasGroups || has(Mixer::Mamba)) || splits(mixer.heads)) && (!hasKeys || splits(mixer.keyHeads))
        && (!hasGroups || splits(mixer.groups) || ranks % mixer.groups == 0);
}

} // namespace

const char* undescribedHybrid(const TrainingPlan& plan, const TorchHabits& habits)
{
    if (habits.packsQkv && plan.model.attnGate.value) {
        return HEADROOM_TR("core",
                           "%1 has no gated attention: set implementation.profile to hf-sdpa, torchtitan or "
                           "megatron-te");
    }
    if (!isHybrid(plan)) {
        return nullptr;
    }
    const Architecture model = architectureOf(plan);
    const std::int64_t context = std::max<std::int64_t>(plan.parallel.cp.value, 1);
    const bool hasFirst = std::any_of(model.kinds.begin(), model.kinds.end(),
                                      [](LayerKind kind) { return kind.mixer == Mixer::Mamba; });
    for (const auto& [has, what] : {
             std::pair{habits.packsQkv,
                       HEADROOM_TR("core",
                                   "%1 has no hybrid layers: set implementation.profile to hf-sdpa, torchtitan or "
                                   "megatron-te")},
             std::pair{plan.model.parallelBlock.value,
                       HEADROOM_TR("core",
                                   "the halves of hybrid layers of %1 follow one another: leave model.parallel_block "
                                   "out")},
             std::pair{hasFirst && context > 1,
                       HEADROOM_TR("core",
                                   "the state spaces of the first Mamba read whole sequences under %1, which no "
                                   "framework spreads: set parallel.cp to 1")},
             std::pair{!splitsEvenly(model, mixerRanks(plan, habits) * context),
                       HEADROOM_TR("core",
                                   "under %1 the heads of mixers are split over parallel.tp × parallel.cp ranks: "
                                   "choose those so that they divide mixer.heads, mixer.key_heads and mixer.groups")},
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
            && isMixerComputable(model.mixer, shape.sequences * shape.keys, model.hidden, model.layers));
}

} // namespace headroom
