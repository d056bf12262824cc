// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch_modules.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

namespace {

using Tensor = ModuleGraph::Tensor;
using Operation = ModuleGraph::Operation;

class TorchHead
{
public:
    TorchHead(const TorchShape& shape, ModuleGraph& moduleGraph)
        : c(shape)
        , m_graph(moduleGraph)
        , m_logits(shape.tokens * shape.model.vocab / shape.tensor)
        , m_weight(shape.model.vocab / shape.tensor * shape.model.hidden)
    {
    }

    void apply(Tensor states)
    {
        switch (c.loss) {
        case LossPath::Upcast: {
            const Tensor made = logits(states);
            const Tensor wide
                = c.compute == 4 ? made : m_graph.apply({.kind = Logits, .bytes = m_logits * 4, .reads = {made}});
            if (c.habits.keepsUpcastLogits) {
                m_graph.hold(wide);
            }
            return crossEntropy(wide, 4);
        }
        case LossPath::Sixteen: {
            const Tensor shifted
                = m_graph.apply({.kind = Logits, .bytes = m_logits * c.compute, .reads = {logits(states)}});
            return crossEntropy(shifted, c.compute);
        }
        case LossPath::Compiled:
            return finish({.kind = LossTerms, .bytes = c.tokens * 4, .reads = {logits(states)}, .saves = {true}});
        case LossPath::ChunkedLogits:
            return chunkedLogits(states);
        case LossPath::ChunkedVocabulary:
            return chunkedVocabulary(states);
        case LossPath::ChunkedHead:
            return chunkedHead(states);
        case LossPath::Liger:
            return liger(states);
        }
    }

private:
    Tensor logits(Tensor states)
    {
        Operation op{.kind = Logits, .bytes = m_logits * c.compute, .reads = {states}};
        op.saves = {c.trainsEmbeddings};
        op.weight = c.trainsEmbeddings ? m_weight : 0;
        op.sharedWeight = c.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        if (c.castsWeights) {
            op.keeps = {{WeightCopies, m_weight * c.compute}}; // the autocast cache
        }
        const Tensor result = m_graph.apply(std::move(op));
        m_graph.keepThroughForward(result); // the loop's own variable, deleted once the loss is there
        if (c.keepsLogits) {
            m_graph.hold(result);
        }
        return result;
    }

    void finish(Operation op) { m_graph.apply(std::move(op)); }

    /// log_softmax keeps its result, nll_loss reads it; each makes a gradient of that size.
    void crossEntropy(Tensor input, std::int64_t element)
    {
        const Tensor logSoftmax = m_graph.apply(
            {.kind = LogitsSoftmax, .bytes = m_logits * element, .reads = {input}, .savesResult = true});
        finish({.kind = LossTerms, .bytes = c.tokens * 8, .reads = {logSoftmax}, .saves = {true}});
    }

    /// The logits of every chunk are tensors of their own and stay; backward makes the gradient of one chunk at a time,
    /// and each its own gradient of the output layer (modules/loss/ce_chunked_output_loss.py).
    void chunkedLogits(Tensor states)
    {
        const std::int64_t bytes = m_logits * c.compute;
        Operation op{.kind = LossTerms, .bytes = c.tokens * 4, .reads = {states}, .saves = {c.trainsEmbeddings}};
        op.keeps = {{Logits, bytes}};
        if (c.keepsLogits) {
            op.keeps.push_back({LogitsSoftmax, bytes}); // log-softmax of every chunk beside the list of logits
        }
        op.backwardWork = bytes / c.lossChunks + (c.trainsEmbeddings ? m_weight * c.compute : 0);
        op.weight = c.trainsEmbeddings ? m_weight : 0;
        op.sharedWeight = c.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        finish(std::move(op));
    }

    /// prime-rl trainer/models/layers/lm_head.py: 8192 tokens by 8192 entries of the vocabulary at a time, in the type
    /// of the weights and five times in fp32; backward makes them again.
    void chunkedVocabulary(Tensor states)
    {
        constexpr std::int64_t chunk = 8192;
        const std::int64_t rows = std::min(c.tokens, chunk);
        Operation op{.kind = LossTerms, .bytes = c.tokens * 4, .reads = {states}, .saves = {true}};
        op.forwardWork = op.backwardWork = rows * std::min(c.model.vocab / c.tensor, chunk) * (c.compute + 5 * 4);
        op.weight = c.trainsEmbeddings ? m_weight : 0;
        op.sharedWeight = c.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        finish(std::move(op));
    }

    /// Each chunk's output layer, loss and their backward run before the next one's; hidden states and their gradient
    /// stay whole, the weight gradient is made once and added to.
    void chunkedHead(Tensor states)
    {
        const std::int64_t chunk = m_logits / std::max<std::int64_t>(c.lossChunks, 1);
        Operation op{.kind = LossTerms, .bytes = c.tokens * 4, .reads = {states}, .saves = {true}};
        op.keeps = {{HeadStates, m_graph.bytesOf(states)}};
        // Logits and their gradient where the loss is compiled, else both and log-softmax in fp32 too.
        op.forwardWork = chunk * (c.isLossCompiled ? 2 * c.compute : 12);
        op.weight = c.trainsEmbeddings ? m_weight : 0;
        op.sharedWeight = c.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        finish(std::move(op));
    }

    /// Liger ops/fused_linear_cross_entropy.py: the chunk is the next power of two of T/⌈V/h⌉ tokens; gradients of
    /// states and weight are made in the forward.
    void liger(Tensor states)
    {
        const std::int64_t vocab = c.model.vocab / c.tensor;
        const std::int64_t parts = std::max<std::int64_t>((vocab + c.model.hidden - 1) / c.model.hidden, 1);
        std::int64_t rows = 1;
        while (rows * parts < c.tokens) {
            rows *= 2;
        }
        Operation op{.kind = LossTerms, .bytes = c.tokens * 4, .reads = {states}};
        op.keeps = {{HeadStates, m_graph.bytesOf(states)}};
        if (c.trainsEmbeddings) {
            op.keeps.push_back({WeightGradient, m_weight * c.compute});
        }
        op.forwardWork = std::min(rows, c.tokens) * vocab * (c.compute + 4);
        op.weight = c.trainsEmbeddings ? m_weight : 0;
        op.sharedWeight = c.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        finish(std::move(op));
    }

    const TorchShape& c;
    ModuleGraph& m_graph;
    const std::int64_t m_logits, m_weight;
};

} // namespace

/// FSDP gathers embedding, final norm and output layer together and keeps them so through the step (theory_frameworks
/// 2.2); their gradients are reduced together at its end.
void writeTorchEmbedding(const TorchShape& shape, std::int64_t imageBytes, PersistentStorages& persistents,
                         Piece& piece)
{
    ModuleGraph graph(imageBytes, imageBytes > 0 && shape.trainsImages);
    const bool trains = shape.trainsEmbeddings;
    const TorchWeights weights = embeddingWeights(shape);
    Operation lookup{.kind = ResidualStream, .bytes = shape.streamBytes(), .reads = {}};
    lookup.weight = trains ? weights.total(TorchWeights::Kind::Table) : 0;
    lookup.sharedWeight = shape.model.tied ? tiedWeight : -1;
    const Tensor words = graph.apply(std::move(lookup));
    if (imageBytes > 0) { // masked_scatter keeps its mask
        graph.apply({.kind = ResidualStream,
                     .bytes = shape.streamBytes(),
                     .reads = {words, graph.input()},
                     .keeps = {{PaddingMask, shape.localTokens()}}});
    }

    ModuleGraph::Options options;
    options.gradients = torchGradients(shape);
    TorchWeights root = weights;
    const TorchWeights head = headWeights(shape);
    const bool isRoot = !shape.gathersHeadAlone && shape.stages == 1;
    if (isRoot) {
        root.tensors.insert(root.tensors.end(), head.tensors.begin(), head.tensors.end());
    }
    setTorchGathered(shape, root, options);
    options.keepsGathered = isRoot;
    if (options.gradients.kind == GradientRule::Kind::Reduce && trains && isRoot) {
        options.foundGradient = shape.model.vocab / shape.tensor * shape.model.hidden;
    }
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(weights, piece);
}

void writeTorchHead(const TorchShape& shape, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(shape.streamBytes(), true);
    Tensor states = TorchModules(shape, graph).norm(graph.input(), shape.localTokens(), shape.model.hidden);
    if (shape.sequenceShards > 1) {
        states = graph.apply(
            {.kind = GatheredInput, .bytes = graph.bytesOf(states) * shape.sequenceShards, .reads = {states}});
    }
    TorchHead(shape, graph).apply(states);

    ModuleGraph::Options options;
    options.hasOutput = false;
    options.gradients = torchGradients(shape);
    options.leavesGradient = options.gradients.kind == GradientRule::Kind::Reduce && !shape.gathersHeadAlone;
    options.cublasWorkspace = shape.cublasWorkspace;
    // Below stage 3 DeepSpeed makes its bucket when the backward begins and drops it once all is reduced
    // (stage_1_and_2.py, backward and independent_gradient_partition_epilogue), however few weights are trained.
    options.reduceBuckets = shape.sharding == TorchSharding::Zero3 ? 0 : shape.bucketBytes();
    if (shape.habits.keepsLastBlockGathered) {
        options.gathered
            = torchGathered(shape, blockWeights(shape, shape.model.moeLayers(shape.model.layers - 1, 1) > 0));
        options.keepsGathered = true;
    }
    if (shape.gathersHeadAlone) {
        options.gathered += torchGathered(shape, headWeights(shape));
    }
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(headWeights(shape), piece);
}

} // namespace headroom
