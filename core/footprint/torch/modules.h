// SPDX-License-Identifier: GPL-3.0-or-later
// What blocks, embedding and head of PyTorch frameworks share.
#pragma once

#include "footprint/torch/tapes.h"

namespace headroom {

/// The modules of a decoder or an image encoder, written as their forward functions are.
class TorchModules
{
public:
    using Tensor = ModuleGraph::Tensor;
    using Operation = ModuleGraph::Operation;

    TorchModules(const TorchShape& shape, ModuleGraph& moduleGraph)
        : m_shape(shape)
        , m_model(shape.model)
        , m_graph(moduleGraph)
        , m_keys(shape.keys)
    {
    }

    /// `attendsAcross`: to what an encoder made.
    Tensor block(Tensor stream, LayerKind kind, bool attendsAcross = false);
    /// Attention and MLP side by side: GPT-J, GPT-NeoX, Falcon, Phi, Command R.
    Tensor parallelBlock(Tensor stream, LayerKind kind);
    /// theory.md 3.3: written in Python a norm keeps an fp32 copy of its input, one number a row, and the normalised
    /// tensor for the product with a trained weight; as one kernel its input and that number.
    Tensor norm(Tensor input, std::int64_t rows, std::int64_t width, TrainedParts::Part part = TrainedParts::FirstNorm);
    Tensor add(Tensor x, Tensor y);
    Tensor gelu(Tensor input);
    /// PyTorch's own dropout keeps a byte an element.
    Tensor dropped(Tensor input);

    /// Linear layers: what they are called in adapter settings, and how many stand side by side (experts).
    struct Linear
    {
        std::int64_t rows = 0, in = 0, out = 0;
        Adapters::Target target = Adapters::Other;
        std::int64_t count = 1;
        std::int64_t shards = 0; ///< of its gradients, where not those of the rest
        TrainedParts::Part part{}; ///< what it is called where parts are frozen; 0: trained as the model is
    };
    Tensor linear(Tensor input, TensorKind kind, const Linear& layer);
    /// Selective recompute by a policy stores every second product. `isLast`: no backward reads this one's result.
    void countProduct(Tensor result, bool isLast = false);
    /// Of an image encoder's patches, a few tokens (perceiver.cpp).
    Tensor perceiver(Tensor patches, const Projector& projector);

private:
    [[nodiscard]] ModuleGraph* rebuilt(unsigned modules)
    {
        return (m_shape.rebuilt & modules) != 0 ? &m_graph : nullptr;
    }

    // layers.cpp
    Tensor mixed(Tensor normed, Mixer mixer);
    Tensor widened(Tensor normed, FeedForward feedForward);
    Tensor product(Tensor input, TensorKind kind, const Linear& layer, bool trains);
    Tensor unpacked(std::int64_t elements);
    [[nodiscard]] bool computesInFloat8(const Linear& layer) const;
    Tensor adapterInput(Tensor input, const Linear& layer);
    Tensor adapterHalf(Tensor input, const Linear& layer, std::int64_t width, std::int64_t weight);
    Tensor gather(Tensor input);
    Tensor columnInput(Tensor input);
    Tensor scatter(Tensor full);
    Tensor mlp(Tensor input, std::int64_t width, const Linear& in, const TorchMlpParts& names);
    [[nodiscard]] bool trains(const Linear& layer) const;
    Tensor pythonGate(Tensor gate, Tensor up, std::int64_t bytes);

    // attention.cpp
    Tensor packedProjection(Tensor input, std::int64_t width, std::int64_t keyWidth);
    Tensor rotated(Tensor input);
    Tensor perHeadNorm(Tensor input, std::int64_t heads, TrainedParts::Part part);
    Tensor repeated(Tensor input);
    Tensor attention(Tensor normed);
    Tensor tokensFirst(Tensor context);
    Tensor gatedAttention(Tensor normed);
    Tensor crossAttention(Tensor normed);
    Tensor attend(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width);
    Tensor fused(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width);
    Tensor scores(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width);

    // experts.cpp
    Tensor latentAttention(Tensor normed);
    Tensor experts(Tensor input);
    Tensor route(Tensor input);
    Tensor weighted(Tensor rows, Tensor scores, std::int64_t count);
    Tensor opened(Tensor input, Tensor shared);

    const TorchShape& m_shape;
    const Architecture& m_model;
    ModuleGraph& m_graph;
    std::int64_t m_keys; ///< that a query sees
    std::int64_t m_products = 0; ///< so far
    Tensor m_memory = ModuleGraph::none; ///< what the encoder made, which is not this module's
};

[[nodiscard]] GradientRule torchGradients(const TorchShape& shape);
/// Bytes of a tensor once gathered.
[[nodiscard]] double gatheredBytes(const TorchShape& shape, const TorchWeights::Tensor& tensor);
/// Bytes of a module's parameters once gathered; 0 where nothing is.
[[nodiscard]] std::int64_t torchGathered(const TorchShape& shape, const TorchWeights& weights);
/// FSDP2 gathers on a stream of its own, from a buffer with this rank's shard into one that is copied out
/// (_fsdp_collectives.py, foreach_all_gather).
void setTorchGathered(const TorchShape& shape, const TorchWeights& weights, ModuleGraph::Options& options);
/// How a layer of the model is run, whatever is in it.
[[nodiscard]] ModuleGraph::Options torchBlockOptions(const TorchShape& shape, const TorchWeights& weights);
void fillTorchParameters(const TorchWeights& weights, Piece& piece);
/// In two passes too where the schedule splits the backward.
void writeTorchTape(const TorchShape& shape, ModuleGraph& graph, const ModuleGraph::Options& options,
                    PersistentStorages& persistents, Tape& tape);
/// The tape and the parameters of a piece without a group of recomputation or a loss.
void writeTorchPiece(const TorchShape& shape, const TorchWeights& weights, ModuleGraph& graph,
                     PersistentStorages& persistents, Piece& piece);

/// The gradient of a tied matrix is one, whichever of the two modules makes it.
constexpr int tiedWeight = 0;
/// That of a table that encoder and decoder read, where the output layer has one of its own.
constexpr int sharedTable = 1;

} // namespace headroom
