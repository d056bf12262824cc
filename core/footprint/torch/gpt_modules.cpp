// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sources: Megatron-LM 2.4 and Megatron-DeepSpeed, megatron/model/transformer.py, fused_softmax.py
// (theory_frameworks.md 3; what Llama models add is from Microsoft's main branch of 2024); GPT-NeoX 2.0,
// megatron/model/transformer.py, norms.py, positional_embeddings.py.
#include "footprint/torch/gpt_modules.h"

namespace headroom {

using enum TensorKind;
using Tensor = GptModules::Tensor;

namespace {

/// Views of one product are one storage, saved once and with one gradient.
ModuleGraph::Operation::Reads factors(Tensor query, Tensor key, Tensor value = ModuleGraph::none)
{
    if (query == key) {
        return {query};
    }
    return {query, key, value};
}

} // namespace

GptHabits GptHabits::of(const TrainingPlan& plan)
{
    return {plan.framework.value.find("neox") != std::string::npos, plan.attention.impl.value.starts_with("flash"),
            plan.model.parallelBlock.value, plan.model.sharedNorm.value};
}

GptModules::GptModules(const RankShape& shape, const GptHabits& habits, ModuleGraph& moduleGraph)
    : m_shape(shape)
    , m_habits(habits)
    , m_graph(moduleGraph)
    , m_rows(shape.tokens())
    , m_local(shape.localTokens())
    , m_stream(m_local * shape.hidden * shape.element)
    , m_width(shape.heads * shape.headDim)
    , m_keyWidth(shape.groups * shape.headDim)
{
}

std::vector<std::int64_t> GptModules::normParameters(const RankShape& shape)
{
    return std::vector<std::int64_t>(shape.isRms ? 1 : 2, shape.hidden);
}

std::vector<std::int64_t> GptModules::blockParameters(const RankShape& shape, const GptHabits& habits)
{
    const std::int64_t h = shape.hidden, width = shape.heads * shape.headDim;
    const std::int64_t packed = width + 2 * shape.groups * shape.headDim;
    std::vector<std::int64_t> all;
    for (int i = 0; i < (habits.isParallel && habits.sharesNorm ? 1 : 2); ++i) {
        const std::vector<std::int64_t> norm = normParameters(shape);
        all.insert(all.end(), norm.begin(), norm.end());
    }
    const auto add = [&all](std::int64_t weight, std::int64_t bias, bool hasBias) {
        all.push_back(weight);
        if (hasBias) {
            all.push_back(bias);
        }
    };
    add(packed * h, packed, shape.hasQkvBias);
    add(width * h, h, shape.hasAttentionOutputBias);
    add(shape.gates * shape.ffn * h, shape.gates * shape.ffn, shape.hasMlpBias);
    add(shape.ffn * h, h, shape.hasMlpBias);
    return all;
}

Tensor GptModules::block(Tensor input)
{
    if (!m_habits.isParallel) {
        const Tensor middle = add(input, dropped(attention(norm(input))));
        return add(middle, dropped(mlp(norm(middle))));
    }
    const Tensor first = norm(input);
    const Tensor second = m_habits.sharesNorm ? first : norm(input);
    const Tensor attended = dropped(attention(first));
    return add(input, add(attended, dropped(mlp(second))));
}

/// Apex's fused norms. GPT-NeoX divides by the root mean square in Python and keeps the quotient for the product with
/// the weight.
Tensor GptModules::norm(Tensor input)
{
    ModuleGraph::Operation op{.kind = NormOutput,
                              .bytes = m_stream,
                              .reads = {input},
                              .saves = {true},
                              .keeps = {{NormStatistics, m_local * (m_shape.isRms ? 4 : 8)}},
                              .weight = (m_shape.isRms ? 1 : 2) * m_shape.hidden};
    if (m_shape.isRms && m_habits.isNeox) {
        op.keeps = {{NormStatistics, 2 * m_local * m_shape.element}, {NormCopy, m_stream}};
    }
    return m_graph.apply(std::move(op));
}

Tensor GptModules::linear(Tensor input, TensorKind kind, std::int64_t in, std::int64_t out, int shared)
{
    const std::int64_t gathered = m_local < m_rows ? m_rows * in * m_shape.element : 0;
    return m_graph.apply({.kind = kind,
                          .bytes = m_rows * out * m_shape.element,
                          .reads = {input},
                          .saves = {true},
                          .forwardWork = gathered,
                          .backwardWork = gathered,
                          .weight = in * out,
                          .sharedWeight = shared,
                          .isMatrixProduct = true});
}

/// Row-parallel: every rank's sum of all tokens, of which this rank gets its part.
Tensor GptModules::reduced(Tensor input, std::int64_t in)
{
    const std::int64_t bytes = m_rows * m_shape.hidden * m_shape.element;
    const Tensor partial = m_graph.apply({.kind = PartialOutput,
                                          .bytes = bytes,
                                          .reads = {input},
                                          .saves = {true},
                                          .weight = in * m_shape.hidden,
                                          .isMatrixProduct = true});
    return m_local == m_rows ? partial : m_graph.apply({.kind = PartialOutput, .bytes = m_stream, .reads = {partial}});
}

Tensor GptModules::copied(Tensor packed, TensorKind kind, std::int64_t width)
{
    return m_graph.apply({.kind = kind, .bytes = m_rows * width * m_shape.element, .reads = {packed}});
}

/// New q and k, in part rotated and joined again; cosine and sine are constants.
Tensor GptModules::rotated(Tensor packed, std::int64_t width)
{
    const std::int64_t bytes = m_rows * width * m_shape.element;
    return m_graph.apply(
        {.kind = RotatedQk, .bytes = bytes, .reads = {packed}, .forwardWork = bytes, .backwardWork = bytes});
}

/// q, k and v are views of one product. Grouped ones are taken apart into copies: by Megatron-DeepSpeed with keys and
/// values for every head (split_tensor, repeat_kv), by GPT-NeoX as they are (gqa_project), repeated where scores are
/// written out.
GptModules::Projected GptModules::project(Tensor normed)
{
    const Tensor packed = linear(normed, Qkv, m_shape.hidden, m_width + 2 * m_keyWidth);
    Projected result{packed, packed, packed};
    const bool repeats = m_shape.groups < m_shape.heads && !(m_habits.isNeox && m_habits.hasFlash);
    std::int64_t keyWidth = m_keyWidth;
    if (m_shape.groups < m_shape.heads) {
        keyWidth = repeats ? m_width : m_keyWidth;
        result = {copied(packed, QueryProjection, m_width), copied(packed, RepeatedKv, keyWidth),
                  copied(packed, RepeatedKv, keyWidth)};
    }
    if (m_shape.rotaryDim > 0) {
        result.query = rotated(result.query, m_width);
        result.key = rotated(result.key, keyWidth);
    }
    return result;
}

Tensor GptModules::attention(Tensor normed)
{
    const Projected projected = project(normed);
    const Tensor context = m_habits.hasFlash ? flash(projected) : scores(projected);
    return reduced(context, m_width);
}

Tensor GptModules::scores(const Projected& projected)
{
    const std::int64_t count = m_rows * m_shape.heads * m_shape.sequence;
    const Tensor raw = m_graph.apply({.kind = AttentionScores,
                                      .bytes = count * m_shape.element,
                                      .reads = factors(projected.query, projected.key),
                                      .saves = {true, true},
                                      .isMatrixProduct = true});
    Tensor weights = m_graph.apply(
        {.kind = AttentionSoftmax, .bytes = count * m_shape.element, .reads = {raw}, .savesResult = true});
    if (m_shape.hasAttentionDropout) {
        weights = m_graph.apply({.kind = AttentionProbabilities,
                                 .bytes = count * m_shape.element,
                                 .reads = {weights},
                                 .keeps = {{DropoutMask, count}}});
    }
    const Tensor context = m_graph.apply({.kind = Context,
                                          .bytes = m_rows * m_width * m_shape.element,
                                          .reads = {weights, projected.value},
                                          .saves = {true, true},
                                          .isMatrixProduct = true});
    return m_graph.apply(
        {.kind = ContextCopy, .bytes = m_graph.bytesOf(context), .reads = {context}, .passesGradient = true});
}

/// The kernel wants the batch first: Megatron-DeepSpeed copies q, k, v for it and its result (FlashSelfAttentionTriton,
/// FlashSelfAttention), where there is more than one sample to reorder; GPT-NeoX hands on views and copies the result.
Tensor GptModules::flash(Projected projected)
{
    const bool reorders = m_shape.microBatch > 1;
    if (reorders && !m_habits.isNeox) {
        const std::int64_t keyWidth
            = m_shape.groups < m_shape.heads ? m_width : m_keyWidth; // repeated already where they are grouped
        projected = {copied(projected.query, QkvCopies, m_width), copied(projected.key, QkvCopies, keyWidth),
                     copied(projected.value, QkvCopies, keyWidth)};
    }
    const bool isGrouped = m_habits.isNeox && m_shape.groups < m_shape.heads;
    const std::int64_t statistics = m_rows * m_shape.heads * 4;
    const Tensor context
        = m_graph.apply({.kind = Context,
                         .bytes = m_rows * m_width * m_shape.element,
                         .reads = factors(projected.query, projected.key, projected.value),
                         .saves = {true, true, true},
                         .savesResult = true,
                         .keeps = {{SoftmaxStatistics, statistics}},
                         .backwardWork = m_rows * m_width * (4 + (isGrouped ? 2 * m_shape.element : 0)) + statistics});
    return !reorders
        ? context
        : m_graph.apply(
            {.kind = ContextCopy, .bytes = m_graph.bytesOf(context), .reads = {context}, .passesGradient = true});
}

/// A gate is the first half of one product's result.
Tensor GptModules::mlp(Tensor normed)
{
    const Tensor fc1 = linear(normed, Fc1Output, m_shape.hidden, m_shape.gates * m_shape.ffn);
    const std::int64_t bytes = m_rows * m_shape.ffn * m_shape.element;
    Tensor activated = m_graph.apply(
        {.kind = m_shape.gates > 1 ? GateProduct : ActivationOutput, .bytes = bytes, .reads = {fc1}, .saves = {true}});
    if (m_shape.gates > 1) {
        activated = m_graph.apply(
            {.kind = ActivationOutput, .bytes = bytes, .reads = {activated, fc1}, .saves = {true, true}});
    }
    return reduced(activated, m_shape.ffn);
}

/// Bias, dropout and residual add are one compiled function: its backward makes the gradient of the branch.
Tensor GptModules::dropped(Tensor branch)
{
    return !m_shape.hasHiddenDropout ? branch
                                     : m_graph.apply({.kind = PartialOutput,
                                                      .bytes = m_stream,
                                                      .reads = {branch},
                                                      .keeps = {{DropoutMask, m_local * m_shape.hidden}}});
}

Tensor GptModules::add(Tensor residual, Tensor branch)
{
    return m_graph.apply(
        {.kind = ResidualStream, .bytes = m_stream, .reads = {residual, branch}, .passesGradient = true});
}

} // namespace headroom
