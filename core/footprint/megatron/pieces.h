// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/megatron/encoder.h"
#include "footprint/megatron/tapes.h"
#include "footprint/tape/offload.h"
#include "footprint/tape/program.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// Which piece is which in a program of Megatron-LM's, and their tapes. The program's shape is read already.
class MegatronPieces
{
public:
    enum Index : std::uint16_t {
        Embedding,
        Layer,
        Head,
        EncoderNorm, ///< of T5, as the two after it
        DecoderEmbedding,
        DecoderLayer,
        ImageEncoder, ///< its pieces, from here on
        ExpertLayer = EncoderNorm ///< of decoders
    };

    explicit MegatronPieces(ModelProgram& program);

    /// `predictsApart`: multi-token prediction has pieces of its own.
    void write(EncoderTapes& encoder, bool predictsApart);

    /// Decoder layers that differ: some have experts, or they are a hybrid's.
    [[nodiscard]] bool haveLayersOfSeveralKinds() const { return m_shape.experts.isPresent() || !m_kinds.empty(); }
    /// Of a decoder's layer.
    [[nodiscard]] std::uint16_t ofLayer(std::int64_t layer) const;
    /// All that are layers.
    [[nodiscard]] std::vector<LayerPiece> layers() const;
    /// Of a stage's share of the vocabulary; 0: none.
    [[nodiscard]] std::uint16_t vocabularyShare() const { return m_vocabulary; }
    /// Where multi-token prediction is apart: the norm behind the last layer, and the predictions.
    [[nodiscard]] std::uint16_t decoderNorm() const { return m_decoderNorm; }
    [[nodiscard]] std::uint16_t predictions() const { return static_cast<std::uint16_t>(m_decoderNorm + 1); }

private:
    void makeRoom(bool hasEncoder, bool predictsApart);
    void writeLayers(const MegatronTapes& tapes);
    void writeKinds();
    void writeHead(const MegatronTapes& tapes, Piece& piece) const;
    void recordPieces();
    void spreadVocabulary();
    void splitBackwards();
    void freeze();
    [[nodiscard]] bool isTogether() const;
    [[nodiscard]] bool ownsHead() const { return !(m_shape.isTied && isTogether()); }

    struct Kind
    {
        LayerKind layer;
        std::uint32_t trained = TrainedParts::all;

        bool operator==(const Kind&) const = default;
    };

    [[nodiscard]] Kind kindOf(std::int64_t layer) const;
    void writeKind(const Kind& kind, const RankShape& shape, Piece& piece);

    ModelProgram& m_program;
    const RankShape& m_shape;
    std::vector<Kind> m_kinds; ///< of a hybrid, or of layers some of whose parts are frozen; behind the others
    std::size_t m_firstKind = 0;
    std::uint16_t m_vocabulary = 0;
    std::uint16_t m_decoderNorm = 0; ///< 0: multi-token prediction is the head's
};

} // namespace headroom
