// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"

namespace headroom {

/// The pieces of Megatron-LM's dense models, with Transformer Engine or with its own local layers (theory_dense.md; the
/// sources are named where a rule is used). Each function writes one piece on the stage's rank.
class MegatronTapes
{
public:
    MegatronTapes(const RankShape& shape, PersistentStorages& persistents)
        : m_shape(shape)
        , m_persistents(persistents)
    {
    }

    enum class LayerKind : std::uint8_t { Causal, Encoder, CrossAttending };

    struct Embedding
    {
        std::int64_t sequence = 0;
        bool hasParameters = true;
        bool endsTiedGradient = false; ///< the head's weight gradient waits for this one
        std::int64_t imageBytes = 0; ///< image features that flow in and take their place among the words
        bool trainsImages = false; ///< and want their gradient
        bool receivesImages = false; ///< from other ranks, whose schedule frees them
    };
    void writeEmbedding(Piece& piece, const Embedding& embedding) const;
    /// Attention as MegatronAttention describes it, and a dense MLP.
    void writeLayer(Piece& piece, LayerKind kind) const;
    /// Of a language model: attention of any kind, a dense MLP or experts.
    void writeDecoderLayer(Piece& piece, bool hasExperts) const;
    /// Of a hybrid: a mixer, an MLP or experts, or both.
    void writeHybridLayer(Piece& piece, headroom::LayerKind kind) const;
    /// T5's norm between encoder and decoder.
    void writeEncoderNorm(Piece& piece) const;
    /// Final norm, output layer and loss. `hasOwnWeight`: not tied, or tied to a copy on another stage.
    void writeHead(Piece& piece, std::int64_t sequence, bool hasOwnWeight) const;
    /// Final norm and a classifier of every token.
    void writeClassifier(Piece& piece) const;
    /// The same with multi-token prediction layers in front of it, which also predict. `hasOwnWords`: they need a copy
    /// of the embedding.
    void writePredictingHead(Piece& piece, bool hasOwnWeight, bool hasOwnWords) const;
    /// The three parts of it where a layout has them in chunks of their own: the norm behind the decoder's last layer,
    /// the prediction layers, which hand on the model's states and their own in one tensor, and the losses.
    void writeDecoderNorm(Piece& piece) const;
    void writePredictions(Piece& piece) const;
    void writePredictedHead(Piece& piece, bool hasOwnWeight) const;

    /// A stage's share of the embedding and of the output layer, whose passes run between those of its layers.
    void writeVocabularyShare(Piece& piece) const;
    /// The last stage's final norm, whose result all stages get.
    void writeFinalNorm(Piece& piece) const;

private:
    const RankShape& m_shape;
    PersistentStorages& m_persistents;
};

} // namespace headroom
