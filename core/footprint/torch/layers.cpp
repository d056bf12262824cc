// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/mixers.h"

#include <algorithm>
#include <utility>

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

/// Of experts, which are no product of this kind.
static constexpr unsigned routedParts
    = TrainedParts::Router | TrainedParts::ExpertGate | TrainedParts::ExpertUp | TrainedParts::ExpertDown;

Tensor TorchModules::block(Tensor stream, LayerKind kind, bool attendsAcross)
{
    if (m_model.isParallel) {
        return parallelBlock(stream, kind);
    }
    const auto normed
        = [&](TrainedParts::Part part) { return norm(stream, m_shape.localTokens(), m_model.hidden, part); };
    if (kind.mixer != Mixer::None) {
        stream = add(stream, dropped(mixed(normed(TrainedParts::FirstNorm), kind.mixer)));
    }
    if (attendsAcross) {
        stream = add(stream, dropped(crossAttention(normed(TrainedParts::SecondNorm))));
    }
    if (kind.feedForward != FeedForward::None) {
        const bool isOnly = kind.mixer == Mixer::None;
        const Tensor input = normed(isOnly ? TrainedParts::FirstNorm : TrainedParts::SecondNorm);
        stream = add(stream, dropped(widened(input, kind.feedForward)));
    }
    return stream;
}

Tensor TorchModules::mixed(Tensor normed, Mixer mixer)
{
    if (mixer != Mixer::Attention) {
        return scatter(TorchMixers(m_shape, *this, m_graph).mix(columnInput(normed), mixer));
    }
    return m_model.isMla ? latentAttention(normed) : m_model.attnGate ? gatedAttention(normed) : attention(normed);
}

Tensor TorchModules::widened(Tensor normed, FeedForward feedForward)
{
    const bool hasExperts = feedForward == FeedForward::Experts;
    const Tensor input = hasExperts ? gather(normed) : columnInput(normed);
    const Linear in{m_shape.tokens, m_model.hidden, m_model.ffn / m_shape.tensor, Adapters::MlpIn};
    return scatter(hasExperts ? experts(input) : mlp(input, m_model.hidden, in, denseMlp));
}

/// transformers modeling_gpt_neox.py with two norms, modeling_falcon.py, modeling_phi.py and modeling_cohere.py with
/// one, whose result both halves keep.
Tensor TorchModules::parallelBlock(Tensor stream, LayerKind kind)
{
    const Tensor normed = norm(stream, m_shape.localTokens(), m_model.hidden);
    const Tensor other = m_model.blockNorms == 1
        ? normed
        : norm(stream, m_shape.localTokens(), m_model.hidden, TrainedParts::SecondNorm);
    const Tensor attended = dropped(mixed(normed, kind.mixer));
    return add(add(dropped(widened(other, kind.feedForward)), attended), stream);
}

Tensor TorchModules::norm(Tensor input, std::int64_t rows, std::int64_t width, TrainedParts::Part part)
{
    const bool isTrained = m_shape.trains(part);
    const bool isOfStream = part == TrainedParts::FirstNorm || part == TrainedParts::SecondNorm;
    const bool isLatent = m_model.isMla && (part == TrainedParts::QueryNorm || part == TrainedParts::KeyNorm);
    const bool hasMean = m_model.layerNorm && !isLatent && part != TrainedParts::MixerNorm;
    const ModuleGraph::Checkpoint checkpoint(isOfStream ? rebuilt(TorchShape::Norms) : nullptr);
    const std::int64_t elements = rows * width;
    Operation op{.kind = NormOutput, .bytes = elements * m_shape.compute, .reads = {input}};
    if (hasMean || m_shape.hasFusedNorm) {
        op.saves = {true};
        op.keeps = {{NormStatistics, rows * (hasMean ? 8 : 4)}};
    } else {
        op.keeps = {{NormCopy, elements * 4}, {NormStatistics, rows * 4}};
        if (isTrained) {
            op.keeps.push_back({NormOutput, elements * m_shape.normElement});
        }
        op.forwardWork = 4 * elements;
        op.backwardWork = 4 * elements;
    }
    op.weight = isTrained ? width * (hasMean ? 2 : 1) : 0;
    return m_graph.apply(std::move(op));
}

Tensor TorchModules::add(Tensor x, Tensor y)
{
    return m_graph.apply({.kind = ResidualStream,
                          .bytes = std::max(m_graph.bytesOf(x), m_graph.bytesOf(y)),
                          .reads = {x, y},
                          .passesGradient = true});
}

Tensor TorchModules::gelu(Tensor input)
{
    return m_graph.apply(
        {.kind = ActivationOutput, .bytes = m_graph.bytesOf(input), .reads = {input}, .saves = {true}});
}

Tensor TorchModules::dropped(Tensor input)
{
    const std::int64_t bytes = m_graph.bytesOf(input);
    return !m_shape.hasHiddenDropout ? input
                                     : m_graph.apply({.kind = ResidualStream,
                                                      .bytes = bytes,
                                                      .reads = {input},
                                                      .keeps = {{DropoutMask, bytes / m_shape.compute}}});
}

/// Not the router, whose converters leave it out, nor experts, which are parameters of one grouped product.
bool TorchModules::computesInFloat8(const Linear& layer) const
{
    return (layer.part & routedParts) == 0 && m_shape.float8.computes(layer.in, layer.out);
}

bool TorchModules::trains(const Linear& layer) const
{
    return layer.part == TrainedParts::Part{} ? m_shape.trainsModel : m_shape.trains(layer.part);
}

/// A GEMM keeps its input only for the gradient of its weight.
Tensor TorchModules::product(Tensor input, TensorKind kind, const Linear& layer, bool trains)
{
    const std::int64_t weight = layer.in * layer.out * layer.count;
    Operation op{.kind = kind, .bytes = layer.rows * layer.out * m_shape.compute, .reads = {input}};
    op.saves = {trains || (m_shape.quantises && m_shape.habits.savesQuantisedInputs)};
    op.weight = trains ? weight : 0;
    op.weightShards = layer.shards;
    op.isMatrixProduct = true;
    if (input == m_memory) {
        op.backwardWork = m_shape.memoryBytes(); // its gradient, before it is added to that of the other layers
    } else if (m_shape.gathersAgain && m_graph.bytesOf(input) < layer.rows * layer.in * m_shape.compute) {
        op.backwardWork = layer.rows * layer.in * m_shape.compute; // the gradient of all tokens, before it is scattered
    }
    if (computesInFloat8(layer)) {
        const bool needsGradient = trains || m_graph.needsGradient(input);
        m_shape.float8.describe({layer.rows, layer.in, layer.out, m_shape.compute, trains, needsGradient}, op);
    } else if (trains ? m_shape.castsWeights : m_shape.castsFrozen) {
        op.keeps = {{WeightCopies, weight * m_shape.compute}}; // the autocast cache
    } else if (m_shape.unpacksWeights && !trains) {
        op.reads = {input, unpacked(layer.in * layer.out)};
        op.saves[1] = true;
    } else if (m_shape.quantises && !trains) {
        op.forwardWork = op.backwardWork = m_shape.unpackedBytes(layer.in * layer.out);
    }
    const Tensor result = m_graph.apply(std::move(op));
    if ((layer.part & routedParts) == 0) {
        countProduct(result, (layer.part & (TrainedParts::Down | TrainedParts::SharedDown)) != 0);
    }
    return result;
}

/// The policy stores every second product of a block in call order (torchtitan models/llama3/infra/parallelize.py,
/// _apply_op_sac): wq, wv, w1, w2. Routers are left out of the count (per_op_sac_force_recompute_mm_shapes_by_fqns),
/// grouped products are other operations.
void TorchModules::countProduct(Tensor result, bool isLast)
{
    if (m_shape.storesSelectively && m_products++ % 2 == 0
        && (!isLast || (m_shape.habits.cachesDeadResults && !m_shape.isCompiled))) {
        m_graph.store(result);
    }
}

/// auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py, forward: shifted copies in int32, their cast to int8, that less
/// the zero points, that times the scales. The product is PyTorch's own, which keeps its second factor for the gradient
/// of the first.
Tensor TorchModules::unpacked(std::int64_t elements)
{
    constexpr std::int64_t shifted = 4;
    const Tensor integers
        = m_graph.apply({.kind = WeightCopies, .bytes = elements, .reads = {}, .forwardWork = elements * shifted});
    return m_graph.apply(
        {.kind = WeightCopies, .bytes = elements * m_shape.compute, .reads = {integers}, .forwardWork = elements});
}

/// With an adapter: the input once more in its type, dropped out, through rank r and back, and added.
Tensor TorchModules::linear(Tensor input, TensorKind kind, const Linear& layer)
{
    const Tensor base = product(input, kind, layer, trains(layer));
    const bool isPacked = m_shape.adaptsPackedQkv && (layer.target == Adapters::Key || layer.target == Adapters::Value);
    if (!m_shape.hasAdapter(layer.target) || isPacked) {
        return base; // the packed adapter is written where the query is
    }
    const std::int64_t rank = m_shape.adapters.rank;
    const Tensor low = adapterHalf(adapterInput(input, layer), layer, rank, layer.in * rank);
    const Tensor high = adapterHalf(low, layer, layer.out, rank * layer.out);
    return m_graph.apply({.kind = kind,
                          .bytes = layer.rows * layer.out * m_shape.compute,
                          .reads = {base, high},
                          .passesGradient = true});
}

Tensor TorchModules::adapterInput(Tensor input, const Linear& layer)
{
    const std::int64_t element = m_shape.adapterCompute;
    Tensor x = input;
    if (element != m_shape.compute) {
        x = m_graph.apply({.kind = AdapterActivations, .bytes = layer.rows * layer.in * element, .reads = {x}});
    }
    if (m_shape.hasAdapterDropout) {
        x = m_graph.apply({.kind = AdapterActivations,
                           .bytes = layer.rows * layer.in * element,
                           .reads = {x},
                           .keeps = {{DropoutMask, layer.rows * layer.in}}});
    }
    return x;
}

Tensor TorchModules::adapterHalf(Tensor input, const Linear& layer, std::int64_t width, std::int64_t weight)
{
    const std::int64_t element = m_shape.adapterCompute;
    Operation op{.kind = AdapterActivations, .bytes = layer.rows * width * element, .reads = {input}};
    op.saves = {true};
    op.weight = weight * layer.count;
    op.weightElement = element;
    op.weightShards = layer.shards;
    op.isMatrixProduct = true;
    return m_graph.apply(std::move(op));
}

/// `in`: the first linear layer; the last one leads to `width`.
Tensor TorchModules::mlp(Tensor input, std::int64_t width, const Linear& in, const TorchMlpParts& names)
{
    const bool isWhole = names.gate != expertMlp.gate; // the block's own, not an expert's
    const ModuleGraph::Checkpoint checkpoint(isWhole ? rebuilt(TorchShape::Mlp) : nullptr);
    Linear first = in, second = in;
    first.part = m_model.gate == 1 ? names.up : names.gate;
    second.part = names.up;
    const Tensor gate = linear(input, Fc1Output, first);
    const std::int64_t bytes = m_graph.bytesOf(gate);
    const Tensor up = m_model.gate == 1 ? ModuleGraph::none : linear(input, Fc1Output, second);
    Tensor activated = ModuleGraph::none;
    {
        const ModuleGraph::Checkpoint activation(
            rebuilt(isWhole ? TorchShape::MlpActivation : TorchShape::ExpertActivation));
        activated = up == ModuleGraph::none ? gelu(gate)
            : m_shape.hasFusedGate
            ? m_graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {gate, up}, .saves = {true, true}})
            : pythonGate(gate, up, bytes);
    }
    const Linear last{in.rows, in.out, width, Adapters::MlpOut, in.count, in.shards, names.down};
    return linear(activated, isWhole ? PartialOutput : SortedTokens, last);
}

Tensor TorchModules::pythonGate(Tensor gate, Tensor up, std::int64_t bytes)
{
    const Tensor silu = m_graph.apply({.kind = GateProduct, .bytes = bytes, .reads = {gate}, .saves = {true}});
    return m_graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {silu, up}, .saves = {true, true}});
}

} // namespace headroom
