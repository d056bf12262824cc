// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_program.h"

#include "footprint/block_size.h"
#include "footprint/chunk_layers.h"
#include "footprint/graph_inputs.h"
#include "footprint/schedule_order.h"
#include "footprint/tape_encoder.h"
#include "footprint/tape_gpt_pipeline.h"
#include "footprint/tape_megatron.h"
#include "footprint/tape_offload.h"
#include "footprint/tape_round_up.h"
#include "footprint/tape_torch.h"
#include "footprint/tape_units.h"
#include "plan/validity.h"
#include "units/bytes.h"
#include "units/number.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headroom {

namespace {

/// Which piece is which in ModelProgram::pieces.
enum PieceIndex : std::uint16_t {
    EmbeddingPiece,
    LayerPiece,
    HeadPiece,
    EncoderNormPiece, ///< of T5, as the two after it
    DecoderEmbeddingPiece,
    DecoderLayerPiece,
    EncoderPieces, ///< of an image encoder, from here on
    ExpertLayerPiece = EncoderNormPiece ///< of decoders
};

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

class ProgramBuilder
{
public:
    ProgramBuilder(const TrainingPlan& plan, ModelProgram& program)
        : m_plan(plan)
        , m_program(program)
        , m_shape(program.shape)
        , m_encoder(plan, EncoderPieces, program)
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
        writePieces();
        m_program.stages.resize(m_layers.stages() + static_cast<std::size_t>(m_shape.encoderStages));
        m_encoder.fillOwnStages();
        for (std::int64_t own = 0; own < m_shape.languageStages(); ++own) {
            StageProgram& stage = m_program.stages[static_cast<std::size_t>(m_shape.encoderStages + own)];
            stage.stage = m_shape.encoderStages + own;
            stage.layers = m_layers.layers(own);
            stage.firstLayer = m_layers.first(own);
            fillChunks(own, stage);
        }
        if (m_shape.shardsGradients) {
            gatherUnits(layerPieces(), m_program);
        }
        if (m_shape.offload.isOn) {
            const PieceIndex expert = m_shape.experts.isPresent() ? ExpertLayerPiece : LayerPiece;
            offloadActivations(LayerPiece, expert, m_program);
        }
        return {};
    }

private:
    void writePieces()
    {
        m_program.persistents.all.clear();
        const bool isT5 = m_shape.family == ModelFamily::T5;
        const PieceIndex decoderPieces = m_shape.experts.isPresent() ? DecoderEmbeddingPiece : EncoderNormPiece;
        const std::size_t count = isT5 ? EncoderPieces : decoderPieces;
        m_program.pieces.resize(m_encoder.isPresent() ? EncoderPieces + std::size_t{EncoderTapes::PieceCount} : count);
        if (m_shape.vocabularyShards > 1) {
            m_vocabulary = static_cast<std::uint16_t>(m_program.pieces.size());
            m_program.pieces.emplace_back();
        }
        auto& pieces = m_program.pieces;
        const bool ownsHead = !(m_shape.isTied && isTogether());
        const bool waitsForWords = !ownsHead && m_shape.languageStages() == 1 && m_shape.predictors == 0
            && !m_shape.fusesWeightGradients && !m_shape.isFrozen;
        MegatronTapes tapes(m_shape, m_program.persistents);
        MegatronTapes::Embedding words{m_shape.sequence, true, waitsForWords, 0, false, false};
        if (m_encoder.isPresent()) {
            m_encoder.writePieces();
            m_encoder.feed(words);
        }
        tapes.writeEmbedding(pieces[EmbeddingPiece], words);
        if (m_shape.hybrid.isPresent()) {
            pieces[LayerPiece] = {};
            writeKinds(tapes);
        } else if (m_shape.family == ModelFamily::Decoder) {
            tapes.writeDecoderLayer(pieces[LayerPiece], false);
        } else {
            tapes.writeLayer(pieces[LayerPiece], MegatronTapes::LayerKind::Encoder);
        }
        if (m_shape.experts.isPresent() && !m_shape.hybrid.isPresent()) {
            tapes.writeDecoderLayer(pieces[ExpertLayerPiece], true);
        }
        if (isT5) {
            tapes.writeEncoderNorm(pieces[EncoderNormPiece]);
            tapes.writeEmbedding(pieces[DecoderEmbeddingPiece],
                                 {m_shape.decoderSequence, false, false, 0, false, false});
            tapes.writeLayer(pieces[DecoderLayerPiece], MegatronTapes::LayerKind::CrossAttending);
        }
        writeHead(tapes, pieces[HeadPiece]);
        if (m_shape.graphs.isOn) {
            recordPieces();
        }
        if (m_vocabulary > 0) {
            spreadVocabulary();
        }
        if (splitsBackward(m_shape.schedule)) {
            splitPieces();
        }
        for (std::size_t i = 0; i < std::min<std::size_t>(pieces.size(), EncoderPieces); ++i) {
            pieces[i].isFrozen = m_shape.isFrozen && pieces[i].frozenParameters.empty();
        }
        for (std::size_t i = 0; i < m_kinds.size(); ++i) {
            Piece& piece = pieces[m_firstKind + i];
            piece.isFrozen = m_shape.isFrozen && piece.frozenParameters.empty();
        }
    }

    /// Layers within predictions too; hybrids' predictions are stacks, which are not recorded.
    void recordPieces()
    {
        auto& pieces = m_program.pieces;
        for (std::size_t i = 0; i < m_kinds.size(); ++i) {
            recordGraphs(m_shape, m_kinds[i], 1, pieces[m_firstKind + i]);
        }
        if (!m_kinds.empty()) {
            return;
        }
        constexpr LayerKind dense{Mixer::Attention, FeedForward::Mlp}, expert{Mixer::Attention, FeedForward::Experts};
        recordGraphs(m_shape, dense, 1, pieces[LayerPiece]);
        if (m_shape.experts.isPresent()) {
            recordGraphs(m_shape, expert, 1, pieces[ExpertLayerPiece]);
        }
        const bool predictsByExperts = m_shape.experts.hasLayer(m_shape.layers - 1);
        recordGraphs(m_shape, predictsByExperts ? expert : dense, m_shape.predictors, pieces[HeadPiece]);
    }

    /// A piece for every kind of layer of a hybrid, behind all others.
    void writeKinds(const MegatronTapes& tapes)
    {
        if (m_shape.experts.isPresent()) {
            m_program.pieces[ExpertLayerPiece] = {};
        }
        m_firstKind = m_program.pieces.size();
        for (const LayerKind kind : m_shape.hybrid.layers) {
            if (std::find(m_kinds.begin(), m_kinds.end(), kind) == m_kinds.end()) {
                m_kinds.push_back(kind);
                m_program.pieces.emplace_back();
                tapes.writeHybridLayer(m_program.pieces.back(), kind);
            }
        }
    }

    [[nodiscard]] std::vector<std::uint16_t> layerPieces() const
    {
        std::vector<std::uint16_t> pieces{LayerPiece};
        if (m_shape.experts.isPresent() && m_kinds.empty()) {
            pieces.push_back(ExpertLayerPiece);
        }
        for (std::size_t i = 0; i < m_kinds.size(); ++i) {
            pieces.push_back(static_cast<std::uint16_t>(m_firstKind + i));
        }
        return pieces;
    }

    /// Embedding and head are on the same GPU, so that a tied matrix, or that of predictions, stands once.
    [[nodiscard]] bool isTogether() const
    {
        return m_shape.languageStages() == 1 || isFolded(m_shape.schedule) || layerCopies(m_shape.schedule) > 1;
    }

    void writeHead(const MegatronTapes& tapes, Piece& piece) const
    {
        const bool ownsHead = !(m_shape.isTied && isTogether());
        if (m_shape.labels > 0) {
            tapes.writeClassifier(piece);
        } else if (m_shape.predictors > 0) {
            const bool ownsWords = !isTogether();
            tapes.writePredictingHead(piece, ownsHead && !(m_shape.isTied && ownsWords), ownsWords);
        } else {
            const bool isT5 = m_shape.family == ModelFamily::T5;
            tapes.writeHead(piece, isT5 ? m_shape.decoderSequence : m_shape.sequence, ownsHead);
        }
    }

    /// Of the embedding the positions stay on the first stage, of the head the norm on the last one.
    void spreadVocabulary()
    {
        auto& pieces = m_program.pieces;
        RankShape ends = m_shape;
        ends.vocab = 0;
        MegatronTapes(ends, m_program.persistents).writeEmbedding(pieces[EmbeddingPiece], {ends.sequence});
        std::erase(pieces[EmbeddingPiece].parameters, 0);
        MegatronTapes tapes(m_shape, m_program.persistents);
        tapes.writeFinalNorm(pieces[HeadPiece]);
        tapes.writeVocabularyShare(pieces[m_vocabulary]);
    }

    /// Layers and head once more with the weights' gradients apart; the others compute theirs in the backward.
    void splitPieces()
    {
        RankShape shape = m_shape;
        shape.delaysWeightGradients = true;
        MegatronTapes tapes(shape, m_program.persistents);
        auto& pieces = m_program.pieces;
        for (Piece& piece : pieces) {
            piece.tape.inputBackward = piece.tape.backward;
            piece.tape.inputBackwardNeeds = piece.tape.backwardNeeds;
        }
        Piece split;
        for (std::size_t i = 0; i < m_kinds.size(); ++i) {
            tapes.writeHybridLayer(split, m_kinds[i]);
            pieces[m_firstKind + i].tape.takeSplitBackward(split.tape);
        }
        if (!m_kinds.empty()) {
            writeHead(tapes, split);
            pieces[HeadPiece].tape.takeSplitBackward(split.tape);
            return;
        }
        if (m_shape.family == ModelFamily::Decoder) {
            tapes.writeDecoderLayer(split, false);
        } else {
            tapes.writeLayer(split, MegatronTapes::LayerKind::Encoder);
        }
        pieces[LayerPiece].tape.takeSplitBackward(split.tape);
        if (m_shape.experts.isPresent()) {
            tapes.writeDecoderLayer(split, true);
            pieces[ExpertLayerPiece].tape.takeSplitBackward(split.tape);
        }
        writeHead(tapes, split);
        pieces[HeadPiece].tape.takeSplitBackward(split.tape);
    }

    /// `own`: the stage among those of the language model.
    void fillChunks(std::int64_t own, StageProgram& stage)
    {
        const auto count = static_cast<std::size_t>(m_shape.chunks);
        stage.chunks.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            Chunk& chunk = stage.chunks[i];
            const bool isFirst = m_layers.isFirst(own, i);
            const bool isLast = m_layers.isLast(own, i);
            chunk.runs.clear();
            chunk.loaded.clear();
            chunk.receives = !isFirst;
            chunk.sends = !isLast;
            chunk.receivedBytes = chunk.sentBytes = 0;
            chunk.isFrozen = false;
            if (isFirst || isLast) {
                loadBatch(m_shape, isFirst || m_shape.predictors > 0, chunk);
            }
            if (m_vocabulary > 0) {
                chunk.runs.push_back({m_vocabulary, 1, 0});
            }
            if (isFirst && m_encoder.isPresent()) {
                m_encoder.addToFirst(chunk);
            }
            if (isFirst) {
                chunk.runs.push_back({EmbeddingPiece, 1, 0});
            }
            if (m_shape.family == ModelFamily::T5) {
                addLayers(m_shape, LayerPiece, m_shape.encoderLayers, chunk,
                          m_shape.checkpointedOf(m_shape.encoderLayers));
                chunk.runs.push_back({EncoderNormPiece, 1, 0});
                chunk.runs.push_back({DecoderEmbeddingPiece, 1, 0});
                addLayers(m_shape, DecoderLayerPiece, m_shape.layers, chunk, m_shape.checkpointedOf(m_shape.layers));
            } else {
                addDecoderLayers(own, i, chunk);
            }
            if (isLast) {
                chunk.runs.push_back({HeadPiece, 1, 0});
            }
        }
        m_encoder.addCopy(stage);
    }

    /// Runs of layers of one kind.
    void addDecoderLayers(std::int64_t own, std::size_t index, Chunk& chunk) const
    {
        const std::int64_t count = m_layers.layers(own, index);
        if (!m_kinds.empty()) {
            addKinds(m_layers.first(own, index), count, chunk);
            return;
        }
        if (!m_shape.experts.isPresent()) {
            addLayers(m_shape, LayerPiece, count, chunk, m_shape.checkpointedOf(count));
            return;
        }
        const std::int64_t first = m_layers.first(own, index);
        for (std::int64_t done = 0; done < count;) {
            const bool hasExperts = m_shape.experts.hasLayer(first + done);
            std::int64_t end = done + 1;
            while (end < count && m_shape.experts.hasLayer(first + end) == hasExperts) {
                ++end;
            }
            addLayers(m_shape, hasExperts ? ExpertLayerPiece : LayerPiece, end - done, chunk,
                      m_shape.checkpointedOf(count), done);
            done = end;
        }
    }

    void addKinds(std::int64_t first, std::int64_t count, Chunk& chunk) const
    {
        const auto kindOf = [this, first](std::int64_t layer) {
            return m_shape.hybrid.layers[static_cast<std::size_t>(first + layer)];
        };
        for (std::int64_t done = 0; done < count;) {
            std::int64_t end = done + 1;
            while (end < count && kindOf(end) == kindOf(done)) {
                ++end;
            }
            const auto kind = std::find(m_kinds.begin(), m_kinds.end(), kindOf(done)) - m_kinds.begin();
            addLayers(m_shape, static_cast<std::uint16_t>(m_firstKind + static_cast<std::size_t>(kind)), end - done,
                      chunk, m_shape.checkpointedOf(count), done);
            done = end;
        }
    }

    const TrainingPlan& m_plan;
    ModelProgram& m_program;
    const RankShape& m_shape;
    EncoderTapes m_encoder;
    ChunkLayers m_layers;
    std::vector<LayerKind> m_kinds; ///< of a hybrid; their pieces stand behind the others
    std::size_t m_firstKind = 0;
    std::uint16_t m_vocabulary = 0; ///< the piece of a stage's share of the vocabulary; 0: none
};

/// Chunk passes that a step of every stage has, as far as they differ from each other.
double turnsOfAllStages(const RankShape& shape)
{
    const auto real = [](std::int64_t count) { return static_cast<double>(count); };
    const double waiting
        = shape.deferredWgrads == 0 ? real(shape.microBatches) : real(std::max<std::int64_t>(shape.deferredWgrads, 0));
    const double distinct = splitsBackward(shape.schedule) ? 6 * (real(shape.stages) + 2)
        : shape.schedule == Schedule::GPipe                ? real(shape.microBatches)
        : shape.chunks == 1                                ? real(shape.stages) + 1 + waiting
                                                           : 5 * real(shape.chunkGroup) + waiting;
    return real(shape.stages) * real(shape.chunks) * std::min(distinct, real(shape.microBatches));
}

} // namespace

Result<void> checkWalkable(const RankShape& shape)
{
    constexpr double mostTurns = 4e6; // whatever the input, an answer takes a second at worst
    if (turnsOfAllStages(shape) > mostTurns) {
        return failure(Text{HEADROOM_TR("core", "%1 stages with %2 chunks and %3 micro-batches are too many to walk"),
                            {formatCount(shape.stages), formatCount(shape.chunks), formatCount(shape.microBatches)}});
    }
    return {};
}

namespace {

Result<void> buildTapes(const TrainingPlan& plan, ModelProgram& program)
{
    program.usesExpandableSegments = plan.implementation.expandableSegments.valueOr(false);
    program.maxSplitBytes = mib(plan.implementation.maxSplitMib.valueOr(0)).value;
    program.roundupDivisions = plan.implementation.roundupDivisions.valueOr(0);
    for (Piece& piece : program.pieces) {
        piece.expertParameters.clear(); // few profiles have any
        piece.frozenParameters.clear();
        piece.matrices.clear();
        piece.expertMatrices.clear();
        piece.graphs = 0;
        piece.isFrozen = piece.isOnEveryStage = false;
    }
    for (StageProgram& stage : program.stages) {
        stage.hasEncoder = false;
    }
    if (const TorchHabits* habits = torchHabits(profileOf(plan))) {
        return buildTorchProgram(plan, *habits, program);
    }
    if (isGptPipeline(profileOf(plan))) {
        return buildGptPipeline(plan, profileOf(plan), program);
    }
    program.hasOwnState = false;
    if (auto read = readRankShape(plan, program.shape); !read) {
        return read;
    }
    if (auto walkable = checkWalkable(program.shape); !walkable) {
        return walkable;
    }
    return ProgramBuilder(plan, program).build();
}

} // namespace

Result<void> buildProgram(const TrainingPlan& plan, ModelProgram& program)
{
    auto built = buildTapes(plan, program);
    if (built && program.roundupDivisions > 1) {
        roundUpTapes(program);
    }
    return built;
}

std::int64_t parameterCount(const ModelProgram& program, const StageProgram& stage)
{
    std::int64_t count = 0;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Piece& piece = program.pieces[run.piece];
            for (const auto* tensors : {&piece.parameters, &piece.expertParameters, &piece.frozenParameters}) {
                count += run.count * std::accumulate(tensors->begin(), tensors->end(), std::int64_t{0});
            }
        }
    }
    return count;
}

} // namespace headroom
