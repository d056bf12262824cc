// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/program.h"

#include "allocator/allocator_sizes.h"
#include "footprint/megatron/encoder.h"
#include "footprint/megatron/pieces.h"
#include "footprint/schedule/chunk_layers.h"
#include "footprint/tape/offload.h"
#include "footprint/tape/units.h"
#include "plan/pipeline_split.h"

#include <algorithm>
#include <utility>

namespace headroom {

namespace {

void loadTensor(Chunk& chunk, TensorKind kind, std::int64_t bytes)
{
    chunk.loaded.push_back({blockSize(bytes), Tape::Op::Allocate, kind, 0});
}

/// What the data loader hands to a chunk with the embedding or the loss: tokens, labels, loss mask, positions, and an
/// attention mask where one is made (theory_dense.md rule 14).
void loadBatch(const RankShape& shape, bool hasEmbedding, Chunk& chunk)
{
    const std::int64_t tokens = shape.microBatch * shape.fullSequence / shape.context;
    if (hasEmbedding) {
        loadTensor(chunk, TensorKind::Batch, tokens * 8);
        loadTensor(chunk, TensorKind::Batch, tokens * 8);
    }
    loadTensor(chunk, TensorKind::Batch, tokens * 8);
    loadTensor(chunk, TensorKind::Batch, tokens * 4);
    const auto square = [&](std::int64_t queries, std::int64_t keys) {
        loadTensor(chunk, TensorKind::LoaderMask, shape.microBatch * queries * keys);
    };
    if (shape.family == ModelFamily::Decoder && shape.hasLoaderMask) {
        square(shape.sequence, shape.fullSequence);
    } else if (shape.family == ModelFamily::Bert && !shape.isTransformerEngine) {
        square(shape.fullSequence, shape.fullSequence);
    } else if (shape.family == ModelFamily::T5 && !shape.isTransformerEngine) {
        square(shape.sequence, shape.sequence);
        square(shape.decoderSequence, shape.decoderSequence);
        square(shape.decoderSequence, shape.sequence);
    }
}

/// `checkpointed`: the first so many of the chunk's layers, of which `done` come before these.
void addLayers(const RankShape& shape, std::uint16_t piece, std::int64_t count, Chunk& chunk, std::int64_t checkpointed,
               std::int64_t done = 0)
{
    checkpointed = std::clamp<std::int64_t>(checkpointed - done, 0, count);
    if (checkpointed > 0) {
        chunk.runs.push_back({piece, checkpointed, shape.checkpointGroup});
    }
    if (count > checkpointed) {
        chunk.runs.push_back({piece, count - checkpointed, 0});
    }
}

class MegatronProgram
{
public:
    MegatronProgram(const TrainingPlan& plan, ModelProgram& program)
        : m_plan(plan)
        , m_program(program)
        , m_shape(program.shape)
        , m_encoder(plan, MegatronPieces::ImageEncoder, program)
        , m_pieces(program)
        , m_layers(plan, program.shape)
    {
    }

    Result<void> build()
    {
        std::vector<std::int64_t> layers
            = m_shape.family == ModelFamily::T5 ? std::vector<std::int64_t>{m_shape.layers} : layersPerStage(m_plan);
        if (layers.empty()) {
            return failure(Text{HEADROOM_TR("core", "%1 layers cannot be split over %2 pipeline stages as asked"),
                                {std::to_string(m_shape.layers), std::to_string(m_shape.languageStages())}});
        }
        if (auto placed = m_layers.place(std::move(layers)); !placed) {
            return placed;
        }
        m_pieces.write(m_encoder, m_layers.predictsApart());
        m_program.stages.resize(m_layers.stages() + static_cast<std::size_t>(m_shape.encoderStages));
        m_encoder.fillOwnStages();
        for (std::int64_t own = 0; own < m_shape.languageStages(); ++own) {
            StageProgram& stage = m_program.stages[static_cast<std::size_t>(m_shape.encoderStages + own)];
            stage.stage = m_shape.encoderStages + own;
            stage.layers = m_layers.layers(own);
            stage.firstLayer = m_layers.first(own);
            fillStage(own, stage);
        }
        if (m_shape.shardsGradients) {
            std::vector<std::uint16_t> units;
            for (const LayerPiece& layer : m_pieces.layers()) {
                units.push_back(layer.piece);
            }
            gatherUnits(units, m_program);
        }
        if (m_shape.offload.isOn) {
            offloadActivations(m_pieces.layers(), m_program);
        }
        return {};
    }

private:
    /// `own`: the stage among those of the language model.
    void fillStage(std::int64_t own, StageProgram& stage)
    {
        const auto count = static_cast<std::size_t>(m_shape.chunks);
        stage.chunks.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            fillChunk(own, i, stage.chunks[i]);
        }
        m_encoder.addCopy(stage);
    }

    void fillChunk(std::int64_t own, std::size_t index, Chunk& chunk) const
    {
        const bool isFirst = m_layers.isFirst(own, index);
        const bool isLast = m_layers.isLast(own, index);
        chunk.runs.clear();
        chunk.loaded.clear();
        chunk.receives = !isFirst;
        chunk.sends = !isLast;
        chunk.receivedBytes = chunk.sentBytes = 0;
        chunk.isFrozen = false;
        const bool isApart = m_layers.predictsApart();
        const bool predicts = isApart ? m_layers.fromPrediction(own, index) == 0 : isLast && m_shape.predictors > 0;
        if (isFirst || isLast || predicts) {
            loadBatch(m_shape, isFirst || predicts, chunk);
        }
        if (m_pieces.vocabularyShare() > 0) {
            chunk.runs.push_back({m_pieces.vocabularyShare(), 1, 0});
        }
        if (isFirst && m_encoder.isPresent()) {
            m_encoder.addToFirst(chunk);
        }
        if (isFirst) {
            chunk.runs.push_back({MegatronPieces::Embedding, 1, 0});
        }
        if (m_shape.family == ModelFamily::T5) {
            addSource(chunk);
            addLayers(m_shape, MegatronPieces::DecoderLayer, m_shape.layers, chunk,
                      m_shape.checkpointedOf(m_shape.layers));
        } else {
            addDecoderLayers(own, index, chunk);
        }
        if (isApart) {
            addPredictions(own, index, chunk);
        }
        if (isLast) {
            chunk.runs.push_back({MegatronPieces::Head, 1, 0});
        }
    }

    /// In front of the loss's chunk, to which their states go beside the model's.
    void addPredictions(std::int64_t own, std::size_t index, Chunk& chunk) const
    {
        const std::int64_t behind = m_layers.fromPrediction(own, index);
        if (m_layers.endsDecoder(own, index)) {
            chunk.runs.push_back({m_pieces.decoderNorm(), 1, 0});
        }
        if (behind == 0) {
            chunk.runs.push_back({m_pieces.predictions(), 1, 0});
        }
        chunk.receivedBytes = behind > 0 ? m_shape.predictedBytes() : 0;
        chunk.sentBytes = behind >= 0 && chunk.sends ? m_shape.predictedBytes() : 0;
    }

    /// What comes before the layers of T5's decoder.
    void addSource(Chunk& chunk) const
    {
        addLayers(m_shape, MegatronPieces::Layer, m_shape.encoderLayers, chunk,
                  m_shape.checkpointedOf(m_shape.encoderLayers));
        chunk.runs.push_back({MegatronPieces::EncoderNorm, 1, 0});
        chunk.runs.push_back({MegatronPieces::DecoderEmbedding, 1, 0});
    }

    /// Runs of layers of one kind.
    void addDecoderLayers(std::int64_t own, std::size_t index, Chunk& chunk) const
    {
        const std::int64_t count = m_layers.layers(own, index);
        const std::int64_t checkpointed = m_shape.checkpointedOf(count);
        if (!m_pieces.haveLayersOfSeveralKinds()) {
            return addLayers(m_shape, MegatronPieces::Layer, count, chunk, checkpointed);
        }
        const std::int64_t first = m_layers.first(own, index);
        for (std::int64_t done = 0; done < count;) {
            const std::uint16_t piece = m_pieces.ofLayer(first + done);
            std::int64_t end = done + 1;
            while (end < count && m_pieces.ofLayer(first + end) == piece) {
                ++end;
            }
            addLayers(m_shape, piece, end - done, chunk, checkpointed, done);
            done = end;
        }
    }

    const TrainingPlan& m_plan;
    ModelProgram& m_program;
    const RankShape& m_shape;
    EncoderTapes m_encoder;
    MegatronPieces m_pieces;
    ChunkLayers m_layers;
};

} // namespace

Result<void> buildMegatronProgram(const TrainingPlan& plan, ModelProgram& program)
{
    program.hasOwnState = false;
    if (auto read = readRankShape(plan, program.shape); !read) {
        return read;
    }
    if (auto walkable = checkWalkable(program.shape); !walkable) {
        return walkable;
    }
    return MegatronProgram(plan, program).build();
}

} // namespace headroom
