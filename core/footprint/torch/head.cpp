// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/modules.h"

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
        : m_shape(shape)
        , m_graph(moduleGraph)
        , m_logits(shape.headTokens() * (shape.gathersOutputs() ? shape.model.vocab : shape.outputs()))
        , m_weight(shape.outputs() * shape.model.hidden)
    {
    }

    void apply(Tensor states)
    {
        m_values = m_shape.value == ValueModel::Head ? values(states) : ModuleGraph::none;
        switch (m_shape.loss) {
        case LossPath::Upcast: {
            const Tensor made = m_shape.returnsLogits ? product(states) : logits(states);
            const Tensor wide
                = m_shape.compute == 4 ? made : m_graph.apply({.kind = Logits, .bytes = m_logits * 4, .reads = {made}});
            if (m_shape.habits.keepsUpcastLogits || m_shape.value == ValueModel::Head) {
                m_graph.hold(wide);
            }
            if (m_shape.returnsLogits) {
                m_graph.keepThroughForward(wide);
            }
            return crossEntropy(wide, 4);
        }
        case LossPath::Sixteen: {
            const Tensor shifted
                = m_graph.apply({.kind = Logits, .bytes = m_logits * m_shape.compute, .reads = {logits(states)}});
            return crossEntropy(shifted, m_shape.compute);
        }
        case LossPath::LogProbabilities: {
            const Tensor made = product(states);
            if (m_shape.value == ValueModel::Separate) {
                m_graph.hold(made); // for the entropy, which is taken after the step (trl/trainer/ppo_trainer.py)
            }
            const auto responses = static_cast<std::int64_t>(static_cast<double>(m_logits) * m_shape.responseShare);
            const Tensor logSoftmax = m_graph.apply({.kind = LogitsSoftmax,
                                                     .bytes = responses * m_shape.compute,
                                                     .reads = {made},
                                                     .savesResult = true,
                                                     .backwardWork = m_logits * m_shape.compute / m_shape.sequences});
            return compare(logSoftmax);
        }
        case LossPath::Compiled:
            return finish({.kind = LossTerms, .bytes = m_shape.tokens * 4, .reads = {logits(states)}, .saves = {true}});
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
        const Tensor result = product(states);
        m_graph.keepThroughForward(result); // the loop's own variable, deleted once the loss is there
        if (m_shape.keepsLogits) {
            m_graph.hold(result);
        }
        return result;
    }

    Tensor product(Tensor states)
    {
        Operation op{
            .kind = Logits, .bytes = m_shape.headTokens() * m_shape.outputs() * m_shape.compute, .reads = {states}};
        op.saves = {m_shape.trainsHead()};
        op.backwardWork = m_gatheredGradient;
        op.weight = m_shape.trainsHead() ? m_weight : 0;
        op.sharedWeight = m_shape.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        if (m_shape.float8.kind == TorchFloat8::Kind::Engine
            && m_shape.float8.computes(m_shape.model.hidden, m_shape.outputs())) { // torchao leaves the last layer out
            const bool needsGradient = m_shape.trainsHead() || m_graph.needsGradient(states);
            m_shape.float8.describe({m_shape.headTokens(), m_shape.model.hidden, m_shape.outputs(), m_shape.compute,
                                     m_shape.trainsHead(), needsGradient},
                                    op);
        } else if (m_shape.trainsHead() ? m_shape.castsWeights : m_shape.castsFrozen) {
            op.keeps = {{WeightCopies, m_weight * m_shape.compute}}; // the autocast cache
        }
        const Tensor own = m_graph.apply(std::move(op));
        return m_shape.gathersOutputs()
            ? m_graph.apply({.kind = Logits, .bytes = m_logits * m_shape.compute, .reads = {own}})
            : own;
    }

    /// trl/models/modeling_value_head.py, ValueHead, from memory: dropout, and a product in fp32 whatever the model's
    /// type.
    Tensor values(Tensor states)
    {
        constexpr std::int64_t fp32 = 4;
        const std::int64_t elements = m_shape.headTokens() * m_shape.model.hidden;
        const Tensor dropped = m_graph.apply({.kind = HeadStates,
                                              .bytes = elements * m_shape.compute,
                                              .reads = {states},
                                              .keeps = {{DropoutMask, elements}}});
        const Tensor wide = m_shape.compute == fp32
            ? dropped
            : m_graph.apply({.kind = HeadStates, .bytes = elements * fp32, .reads = {dropped}});
        return m_graph.apply({.kind = LossTerms,
                              .bytes = m_shape.headTokens() * fp32,
                              .reads = {wide},
                              .saves = {true},
                              .weight = m_shape.model.hidden + 1,
                              .weightElement = fp32});
    }

    /// The entropy of the policy, a figure for the log: softmax, and its product with the logits (trl 0.11,
    /// core.py, entropy_from_logits, from memory).
    [[nodiscard]] std::int64_t entropy() const { return m_shape.value == ValueModel::Head ? m_logits * 8 : 0; }

    /// Reads what the labels' log-probabilities are taken of; then the reference model's forward runs, without
    /// gradients, while all that the trained model's backward needs waits.
    void compare(Tensor logSoftmax)
    {
        finish({.kind = LossTerms,
                .bytes = m_shape.tokens * 8,
                .reads = {logSoftmax, m_values},
                .saves = {true},
                .forwardWork = m_shape.comparesInStep ? std::max(referenceHead(), blockWork()) : entropy()});
    }

    [[nodiscard]] std::int64_t referenceHead() const
    {
        return m_shape.loss == LossPath::LogProbabilities
            ? m_logits * m_shape.compute + m_logits * m_shape.compute / m_shape.sequences
            : m_logits * 8; // upcast, and log-softmax of that
    }

    /// Of a block that keeps nothing: at the product with the gate, beside the stream and what the norm made.
    [[nodiscard]] std::int64_t blockWork() const
    {
        const Architecture& model = m_shape.model;
        const std::int64_t dense = (1 + model.gate) * model.ffn / m_shape.tensor;
        const std::int64_t routed = model.topk * ((1 + model.gate) * model.expertFfn + 2 * model.hidden);
        return m_shape.tokens * m_shape.compute * (2 * model.hidden + std::max(dense, routed));
    }

    void finish(Operation op) { m_graph.apply(std::move(op)); }

    /// log_softmax keeps its result, nll_loss reads it; each makes a gradient of that size.
    void crossEntropy(Tensor input, std::int64_t element)
    {
        const Tensor logSoftmax = m_graph.apply(
            {.kind = LogitsSoftmax, .bytes = m_logits * element, .reads = {input}, .savesResult = true});
        compare(logSoftmax);
    }

    /// The logits of every chunk are tensors of their own and stay; backward makes the gradient of one chunk at a time,
    /// and each its own gradient of the output layer (modules/loss/ce_chunked_output_loss.py).
    void chunkedLogits(Tensor states)
    {
        const std::int64_t bytes = m_logits * (m_shape.habits.returnsFp32Logits ? 4 : m_shape.compute);
        Operation op{
            .kind = LossTerms, .bytes = m_shape.tokens * 4, .reads = {states}, .saves = {m_shape.trainsHead()}};
        op.keeps = {{Logits, bytes}};
        if (m_shape.keepsLogits) {
            op.keeps.push_back({LogitsSoftmax, bytes}); // log-softmax of every chunk beside the list of logits
        }
        op.backwardWork = bytes / m_shape.lossChunks + (m_shape.trainsHead() ? m_weight * m_shape.compute : 0);
        if (m_shape.quantisesHead()) {
            op.forwardWork = m_shape.unpackedBytes(m_weight);
            op.backwardWork += m_shape.unpackedBytes(m_weight);
            op.saves = {m_shape.habits.savesQuantisedInputs};
        }
        op.weight = m_shape.trainsHead() ? m_weight : 0;
        op.sharedWeight = m_shape.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        finish(std::move(op));
    }

    /// prime-rl trainer/models/layers/lm_head.py: 8192 tokens by 8192 entries of the vocabulary at a time, in the type
    /// of the weights and five times in fp32; backward makes them again.
    void chunkedVocabulary(Tensor states)
    {
        constexpr std::int64_t chunk = 8192;
        const std::int64_t rows = std::min(m_shape.tokens, chunk);
        Operation op{.kind = LossTerms, .bytes = m_shape.tokens * 4, .reads = {states}, .saves = {true}};
        op.forwardWork = op.backwardWork = rows * std::min(m_shape.outputs(), chunk) * (m_shape.compute + 5 * 4);
        op.weight = m_shape.trainsHead() ? m_weight : 0;
        op.sharedWeight = m_shape.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        finish(std::move(op));
    }

    /// Each chunk's output layer, loss and their backward run before the next one's; hidden states and their gradient
    /// stay whole, the weight gradient is made once and added to.
    void chunkedHead(Tensor states)
    {
        const std::int64_t chunk = m_logits / std::max<std::int64_t>(m_shape.lossChunks, 1);
        Operation op{.kind = LossTerms, .bytes = m_shape.tokens * 4, .reads = {states}, .saves = {true}};
        op.keeps = {{HeadStates, m_graph.bytesOf(states)}};
        // Logits and their gradient where the loss is compiled, else both and log-softmax in fp32 too.
        op.forwardWork = chunk * (m_shape.isLossCompiled ? 2 * m_shape.compute : 12);
        op.weight = m_shape.trainsHead() ? m_weight : 0;
        op.sharedWeight = m_shape.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = true;
        finish(std::move(op));
    }

    /// Liger ops/fused_linear_cross_entropy.py: the chunk is the next power of two of T/⌈V/h⌉ tokens; gradients of
    /// states and weight are made in the forward.
    void liger(Tensor states)
    {
        const std::int64_t vocab = m_shape.gathersOutputs() ? m_shape.model.vocab : m_shape.outputs();
        const std::int64_t parts = std::max<std::int64_t>((vocab + m_shape.model.hidden - 1) / m_shape.model.hidden, 1);
        std::int64_t rows = 1;
        while (rows * parts < m_shape.tokens) {
            rows *= 2;
        }
        Operation op{.kind = LossTerms, .bytes = m_shape.tokens * 4, .reads = {states}};
        op.keeps = {{HeadStates, m_graph.bytesOf(states)}};
        if (m_shape.trainsHead()) {
            op.keeps.push_back({WeightGradient, m_weight * m_shape.compute});
        }
        op.forwardWork = std::min(rows, m_shape.tokens) * vocab * (m_shape.compute + 4);
        op.weight = m_shape.trainsHead() ? m_weight : 0;
        op.sharedWeight = m_shape.model.tied ? tiedWeight : -1;
        op.isMatrixProduct = op.keepsGradients = true;
        finish(std::move(op));
    }

    const TorchShape& m_shape;
    ModuleGraph& m_graph;
    const std::int64_t m_logits, m_weight;
    Tensor m_values = ModuleGraph::none;
    /// Of states that were gathered without being kept.
    const std::int64_t m_gatheredGradient
        = m_shape.gathersAgain && !m_shape.spreadsTables ? m_shape.streamBytes() * m_shape.sequenceShards : 0;
};

} // namespace

static bool leavesTiedGradient(const TorchShape& shape)
{
    return torchGradients(shape).kind == GradientRule::Kind::Reduce && !shape.gathersHeadAlone
        && shape.reachesEmbedding();
}

/// That of what the encoder made stands from the decoder's last layer to its first; a tape leaves one tensor at most.
static bool leavesMemoryGradient(const TorchShape& shape)
{
    return shape.memoryTokens > 0 && !leavesTiedGradient(shape);
}

/// FSDP gathers embedding, final norm and output layer together and keeps them so through the step (theory_frameworks
/// 2.2); their gradients are reduced together at its end.
void writeTorchEmbedding(const TorchShape& shape, std::int64_t imageBytes, PersistentStorages& persistents,
                         Piece& piece)
{
    // An encoder-decoder model's decoder stands behind what its encoder made, which its layers read, a policy behind
    // the values that its loss does.
    const std::int64_t inputBytes = imageBytes > 0 ? imageBytes : shape.besideBytes();
    ModuleGraph graph(inputBytes, imageBytes > 0 ? shape.trainsImages : inputBytes > 0);
    const bool trains = shape.trainsTable();
    const TorchWeights weights = embeddingWeights(shape);
    Operation lookup{.kind = ResidualStream, .bytes = shape.streamBytes(), .reads = {}};
    lookup.weight = trains ? weights.total(TorchWeights::Kind::Table) : 0;
    lookup.sharedWeight = shape.model.tied ? tiedWeight : shape.memoryTokens > 0 ? sharedTable : -1;
    const Tensor words = graph.apply(std::move(lookup));
    TorchModules(shape, graph).dropped(words);
    if (imageBytes > 0) { // masked_scatter keeps its mask
        graph.apply({.kind = ResidualStream,
                     .bytes = shape.streamBytes(),
                     .reads = {words, graph.input()},
                     .keeps = {{PaddingMask, shape.localTokens()}}});
    }

    ModuleGraph::Options options;
    options.gradients = torchGradients(shape);
    options.gradients.shards = shape.tableShards();
    TorchWeights root = weights;
    const TorchWeights head = headWeights(shape);
    const bool isRoot = !shape.gathersHeadAlone && shape.stages == 1;
    if (isRoot) {
        root.tensors.insert(root.tensors.end(), head.tensors.begin(), head.tensors.end());
    }
    ModuleGraph::Options firstBlock;
    setTorchGathered(shape, blockWeights(shape, shape.model.kindOf(0), shape.memoryTokens > 0), firstBlock);
    setTorchGathered(shape, root, options);
    options.followingBuffer = firstBlock.gatherBuffer;
    options.keepsGathered = isRoot;
    options.keepsInput
        = imageBytes > 0 && (shape.encoderStages > 0 || shape.encoderCopies > 1); // the schedule frees it
    options.keepsInput |= shape.besideBytes() > 0;
    if (options.gradients.kind == GradientRule::Kind::Reduce && shape.trainsHead() && isRoot) {
        options.foundGradient = shape.outputs() * shape.model.hidden;
    }
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    if (leavesMemoryGradient(shape)) { // all layers have added to it
        writer.declare(Tape::carried, ActivationGradient, shape.memoryBytes());
        writer.free(Tape::carried);
    }
    if (shape.besideBytes() > 0) {
        writer.allocateInto(Tape::gradient, ActivationGradient, shape.besideBytes());
    }
    fillTorchParameters(weights, piece);
    if (!shape.reachesEmbedding()) {
        piece.tape.dropBackward();
    }
}

void writeTorchHead(const TorchShape& shape, PersistentStorages& persistents, Piece& piece, bool needsGradient)
{
    ModuleGraph graph(shape.streamBytes(), needsGradient);
    Tensor states = TorchModules(shape, graph)
                        .norm(graph.input(), shape.localTokens(), shape.model.hidden, TrainedParts::FinalNorm);
    if (shape.sequenceShards > 1 && !shape.gathersAgain && !shape.spreadsTables) {
        states = graph.apply(
            {.kind = GatheredInput, .bytes = graph.bytesOf(states) * shape.sequenceShards, .reads = {states}});
    }
    TorchHead(shape, graph).apply(states);

    ModuleGraph::Options options;
    options.hasOutput = false;
    options.gradients = torchGradients(shape);
    options.gradients.shards = shape.tableShards();
    options.leavesGradient = leavesTiedGradient(shape);
    options.carriedGradient = leavesMemoryGradient(shape) ? shape.memoryBytes() : 0;
    options.cublasWorkspace = shape.cublasWorkspace;
    // Below stage 3 DeepSpeed makes its bucket when the backward begins and drops it once all is reduced
    // (stage_1_and_2.py, backward and independent_gradient_partition_epilogue), however few weights are trained.
    options.reduceBuckets = shape.sharding == TorchSharding::Zero3 ? 0 : shape.bucketBytes();
    if (shape.gathersHeadAlone) {
        setTorchGathered(shape, headWeights(shape), options);
        options.followingBuffer = 0;
        options.keepsGathered = true;
    } else if (shape.habits.keepsLastBlockGathered) {
        options.gathered = torchGathered(
            shape, blockWeights(shape, shape.model.kindOf(shape.model.layers - 1), shape.memoryTokens > 0));
        options.keepsGathered = true;
    }
    writeTorchTape(shape, graph, options, persistents, piece.tape);
    fillTorchParameters(headWeights(shape), piece);
}

void writeTorchScore(const TorchShape& shape, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(shape.streamBytes(), true);
    TorchModules modules(shape, graph);
    const Tensor states = modules.norm(graph.input(), shape.localTokens(), shape.model.hidden, TrainedParts::FinalNorm);
    modules.linear(states, LossTerms, {shape.tokens, shape.model.hidden, shape.outputs()});
    ModuleGraph::Options options;
    options.gradients = torchGradients(shape);
    options.leavesGradient = leavesTiedGradient(shape);
    options.cublasWorkspace = shape.cublasWorkspace;
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(headWeights(shape), piece);
}

} // namespace headroom
