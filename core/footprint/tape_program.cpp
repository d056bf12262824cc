// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_program.h"

#include "footprint/schedule_order.h"
#include "footprint/tape_gpt_pipeline.h"
#include "footprint/tape_megatron.h"
#include "footprint/tape_torch.h"
#include "footprint/tape_vision.h"
#include "plan/pipeline_layout.h"
#include "plan/validity.h"
#include "units/number.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace headroom {

namespace {

/// Which piece is which in ModelProgram::pieces.
enum PieceIndex : std::uint16_t {
    embedding,
    layer,
    head,
    encoderNorm, ///< of T5, as the two after it
    decoderEmbedding,
    decoderLayer,
    patches, ///< of an image encoder
    visionLayer,
    projection,
    pieceCount,
    expertLayer = encoderNorm ///< of decoders
};

void loadTensor(Chunk& chunk, TensorKind kind, std::int64_t bytes)
{
    chunk.loaded.push_back(
        {std::max<std::int64_t>((bytes + 511) & ~std::int64_t{511}, 512), Tape::Op::Allocate, kind, 0});
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

/// `done` layers of the chunk come before these.
void addLayers(const RankShape& shape, std::uint16_t piece, std::int64_t count, Chunk& chunk, std::int64_t done = 0)
{
    const std::int64_t checkpointed = shape.checkpointGroup == 0 ? 0
        : shape.checkpointedLayers < 0                           ? count
                                       : std::clamp<std::int64_t>(shape.checkpointedLayers - done, 0, count);
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
        , m_tower(visionTowerOf(plan))
        , m_projector(m_tower.isPresent() ? projectorOf(plan) : Projector{})
        , m_trainable(trainableOf(plan))
    {
    }

    Result<void> build()
    {
        const std::vector<std::int64_t> layers
            = m_shape.family == ModelFamily::T5 ? std::vector<std::int64_t>{m_shape.layers} : layersPerStage(m_plan);
        if (layers.empty()) {
            return failure(Text{HEADROOM_TR("core", "%1 layers cannot be split over %2 pipeline stages as asked"),
                                {std::to_string(m_shape.layers), std::to_string(m_shape.stages)}});
        }
        if (m_plan.parallel.layout.isKnown()) {
            auto layout = PipelineLayout::parse(m_plan.parallel.layout.value, m_shape.stages);
            if (!layout) {
                return tl::unexpected(std::move(layout.error()));
            }
            m_layout = std::move(*layout);
            if (m_layout->cell(m_shape.stages - 1, m_shape.chunks - 1).mtpLayers != m_shape.predictors) {
                return failure(
                    Text{HEADROOM_TR("core",
                                     "the tapes describe multi-token prediction in the last chunk only, where "
                                     "the loss is")});
            }
        }
        writePieces();
        m_program.stages.resize(layers.size());
        if (hasOwnPlaces()) {
            placeChunks(layers);
        }
        std::int64_t first = 0;
        for (std::size_t stage = 0; stage < layers.size(); ++stage) {
            StageProgram& program = m_program.stages[stage];
            program.stage = static_cast<std::int64_t>(stage);
            program.layers = layers[stage];
            program.firstLayer = m_layout ? m_layout->cell(program.stage, 0).firstLayer : first;
            first += layers[stage];
            if (hasOwnPlaces()) {
                const Place& upper = placeOf(program, 0);
                program.layers = upper.layers + placeOf(program, 1).layers;
                program.firstLayer = upper.firstLayer;
            }
        }
        for (StageProgram& stage : m_program.stages) {
            fillChunks(stage);
        }
        return {};
    }

private:
    void writePieces()
    {
        m_program.persistents.all.clear();
        const bool isT5 = m_shape.family == ModelFamily::T5;
        const PieceIndex decoderPieces = m_shape.experts.isPresent() ? decoderEmbedding : encoderNorm;
        m_program.pieces.resize(m_tower.isPresent() ? pieceCount : isT5 ? patches : decoderPieces);
        auto& pieces = m_program.pieces;
        const bool ownsHead = !(m_shape.isTied && isTogether());
        const bool waitsForWords = !ownsHead && m_shape.stages == 1 && m_shape.predictors == 0
            && !m_shape.fusesWeightGradients && !m_shape.isFrozen;
        MegatronTapes tapes(m_shape, m_program.persistents);
        MegatronTapes::Embedding words{m_shape.sequence, true, waitsForWords, 0, false};
        if (m_tower.isPresent()) {
            writeVision();
            words.imageBytes = featureBytes(m_program.projector, m_tower, m_projector);
            words.trainsImages = m_trainable.vision || m_trainable.projector;
        }
        tapes.writeEmbedding(pieces[embedding], words);
        if (m_shape.family == ModelFamily::Decoder) {
            tapes.writeDecoderLayer(pieces[layer], false);
        } else {
            tapes.writeLayer(pieces[layer], MegatronTapes::LayerKind::Encoder);
        }
        if (m_shape.experts.isPresent()) {
            tapes.writeDecoderLayer(pieces[expertLayer], true);
        }
        if (isT5) {
            tapes.writeEncoderNorm(pieces[encoderNorm]);
            tapes.writeEmbedding(pieces[decoderEmbedding], {m_shape.decoderSequence, false, false, 0, false});
            tapes.writeLayer(pieces[decoderLayer], MegatronTapes::LayerKind::CrossAttending);
        }
        writeHead(tapes, pieces[head]);
        if (splitsBackward(m_shape.schedule)) {
            splitPieces();
        }
        for (std::size_t i = 0; i < std::min<std::size_t>(pieces.size(), patches); ++i) {
            pieces[i].isFrozen = m_shape.isFrozen;
        }
    }

    /// Embedding and head are on the same GPU, so that a tied matrix, or that of predictions, stands once.
    [[nodiscard]] bool isTogether() const
    {
        return m_shape.stages == 1 || isFolded(m_shape.schedule) || layerCopies(m_shape.schedule) > 1;
    }

    void writeHead(const MegatronTapes& tapes, Piece& piece) const
    {
        const bool ownsHead = !(m_shape.isTied && isTogether());
        if (m_shape.predictors > 0) {
            const bool ownsWords = !isTogether();
            tapes.writePredictingHead(piece, ownsHead && !(m_shape.isTied && ownsWords), ownsWords);
        } else {
            const bool isT5 = m_shape.family == ModelFamily::T5;
            tapes.writeHead(piece, isT5 ? m_shape.decoderSequence : m_shape.sequence, ownsHead);
        }
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
        if (m_shape.family == ModelFamily::Decoder) {
            tapes.writeDecoderLayer(split, false);
        } else {
            tapes.writeLayer(split, MegatronTapes::LayerKind::Encoder);
        }
        pieces[layer].tape.takeSplitBackward(split.tape);
        if (m_shape.experts.isPresent()) {
            tapes.writeDecoderLayer(split, true);
            pieces[expertLayer].tape.takeSplitBackward(split.tape);
        }
        writeHead(tapes, split);
        pieces[head].tape.takeSplitBackward(split.tape);
    }

    /// Encoder and projector, on the stage of the embedding. What has nothing trained upstream keeps nothing.
    void writeVision()
    {
        auto& pieces = m_program.pieces;
        m_program.vision = visionShape(m_shape, m_tower, m_trainable.vision);
        m_program.projector = projectorShape(m_program.vision, m_trainable.projector);
        writePatches(m_program.vision, m_tower, m_program.persistents, pieces[patches]);
        MegatronTapes(m_program.vision, m_program.persistents)
            .writeLayer(pieces[visionLayer], MegatronTapes::LayerKind::Causal);
        writeProjector(m_program.projector, m_tower, m_projector, m_trainable.vision, m_program.persistents,
                       pieces[projection]);
        pieces[patches].isFrozen = pieces[visionLayer].isFrozen = !m_trainable.vision;
        pieces[projection].isFrozen = !m_trainable.projector;
        if (!m_trainable.vision) {
            pieces[patches].tape.dropBackward();
            pieces[visionLayer].tape.dropBackward();
            if (!m_trainable.projector) {
                pieces[projection].tape.dropBackward();
            }
        }
    }

    void fillChunks(StageProgram& stage)
    {
        const auto count = static_cast<std::size_t>(m_shape.chunks);
        stage.chunks.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            Chunk& chunk = stage.chunks[i];
            const bool isFirst = hasOwnPlaces() ? positionOf(stage, i) == 0 : stage.stage == 0 && i == 0;
            const bool isLast = hasOwnPlaces() ? positionOf(stage, i) + 1 == m_places.size()
                                               : stage.stage == m_shape.stages - 1 && i + 1 == count;
            chunk.runs.clear();
            chunk.loaded.clear();
            chunk.receives = !isFirst;
            chunk.sends = !isLast;
            if (isFirst || isLast) {
                loadBatch(m_shape, isFirst || m_shape.predictors > 0, chunk);
            }
            if (isFirst && m_tower.isPresent()) {
                chunk.runs.push_back({patches, 1, 0});
                chunk.runs.push_back(
                    {visionLayer, m_tower.layers, m_plan.recompute.vision.value && m_trainable.vision ? 1 : 0});
                chunk.runs.push_back({projection, 1, 0});
            }
            if (isFirst) {
                chunk.runs.push_back({embedding, 1, 0});
            }
            if (m_shape.family == ModelFamily::T5) {
                addLayers(m_shape, layer, m_shape.encoderLayers, chunk);
                chunk.runs.push_back({encoderNorm, 1, 0});
                chunk.runs.push_back({decoderEmbedding, 1, 0});
                addLayers(m_shape, decoderLayer, m_shape.layers, chunk);
            } else {
                addDecoderLayers(stage, i, chunk);
            }
            if (isLast) {
                chunk.runs.push_back({head, 1, 0});
            }
        }
    }

    /// Runs of layers of one kind.
    void addDecoderLayers(const StageProgram& stage, std::size_t index, Chunk& chunk) const
    {
        const std::int64_t count = layersOfChunk(stage, index);
        if (!m_shape.experts.isPresent()) {
            addLayers(m_shape, layer, count, chunk);
            return;
        }
        const std::int64_t first = firstLayerOfChunk(stage, index);
        for (std::int64_t done = 0; done < count;) {
            const bool hasExperts = m_shape.experts.hasLayer(first + done);
            std::int64_t end = done + 1;
            while (end < count && m_shape.experts.hasLayer(first + end) == hasExperts) {
                ++end;
            }
            addLayers(m_shape, hasExperts ? expertLayer : layer, end - done, chunk, done);
            done = end;
        }
    }

    /// A micro-batch passes the first chunks of all stages before the second ones.
    [[nodiscard]] std::int64_t firstLayerOfChunk(const StageProgram& stage, std::size_t chunk) const
    {
        if (m_layout) {
            return m_layout->cell(stage.stage, static_cast<std::int64_t>(chunk)).firstLayer;
        }
        if (hasOwnPlaces()) {
            return placeOf(stage, chunk).firstLayer;
        }
        std::int64_t first = 0;
        for (const StageProgram& other : m_program.stages) {
            const std::size_t before = other.stage < stage.stage ? chunk + 1 : chunk;
            for (std::size_t i = 0; i < before; ++i) {
                first += layersOfChunk(other, i);
            }
        }
        return first;
    }

    /// Every chunk holds as many, the embedding and the loss taking the place of a layer where they are counted; a rest
    /// is missing in the last chunk (Megatron transformer_block.py, get_num_layers_to_build).
    [[nodiscard]] std::int64_t layersOfChunk(const StageProgram& stage, std::size_t chunk) const
    {
        if (m_layout) {
            return m_layout->cell(stage.stage, static_cast<std::int64_t>(chunk)).layers;
        }
        if (hasOwnPlaces()) {
            return placeOf(stage, chunk).layers;
        }
        const bool countsEmbedding = m_plan.parallel.embedInSplit.value && stage.stage == 0;
        const bool countsLoss = m_plan.parallel.lossInSplit.value && stage.stage == m_shape.stages - 1;
        const std::int64_t slots = stage.layers + (countsEmbedding ? 1 : 0) + (countsLoss ? 1 : 0);
        const std::int64_t each = (slots + m_shape.chunks - 1) / m_shape.chunks;
        const std::int64_t before = static_cast<std::int64_t>(chunk) * each - (countsEmbedding && chunk > 0 ? 1 : 0);
        const std::int64_t wanted = each - (countsEmbedding && chunk == 0 ? 1 : 0);
        return std::clamp<std::int64_t>(stage.layers - before, 0, wanted);
    }

    // Schedules whose stages hold two pieces of the model: folded ones, and those that run it from both ends.

    struct Place
    {
        std::int64_t firstLayer = 0, layers = 0;
    };

    [[nodiscard]] bool hasOwnPlaces() const { return isFolded(m_shape.schedule) || layerCopies(m_shape.schedule) > 1; }

    /// By position in the pipeline. A folded stage's layers are halved, the larger half coming first.
    void placeChunks(const std::vector<std::int64_t>& layers)
    {
        m_places.clear();
        for (const std::int64_t count : layers) {
            m_places.push_back({0, isFolded(m_shape.schedule) ? (count + 1) / 2 : count});
        }
        for (std::size_t i = layers.size(); isFolded(m_shape.schedule) && i-- > 0;) {
            m_places.push_back({0, layers[i] / 2});
        }
        std::int64_t first = 0;
        for (Place& place : m_places) {
            place.firstLayer = first;
            first += place.layers;
        }
    }

    [[nodiscard]] std::size_t positionOf(const StageProgram& stage, std::size_t chunk) const
    {
        const auto index = static_cast<std::size_t>(stage.stage);
        const std::size_t mirrored = m_places.size() - 1 - index;
        const std::size_t upper = std::min(index, mirrored);
        return chunk == 0 ? upper : m_places.size() - 1 - upper;
    }
    [[nodiscard]] const Place& placeOf(const StageProgram& stage, std::size_t chunk) const
    {
        return m_places[positionOf(stage, chunk)];
    }

    const TrainingPlan& m_plan;
    ModelProgram& m_program;
    const RankShape& m_shape;
    const VisionTower m_tower;
    const Projector m_projector;
    const Trainable m_trainable;
    std::optional<PipelineLayout> m_layout;
    std::vector<Place> m_places;
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

Result<void> buildProgram(const TrainingPlan& plan, ModelProgram& program)
{
    program.usesExpandableSegments = plan.implementation.expandableSegments.valueOr(false);
    for (Piece& piece : program.pieces) {
        piece.expertParameters.clear(); // few profiles have any
        piece.matrices.clear();
        piece.expertMatrices.clear();
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

std::int64_t parameterCount(const ModelProgram& program, const StageProgram& stage)
{
    std::int64_t count = 0;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Piece& piece = program.pieces[run.piece];
            for (const auto* tensors : {&piece.parameters, &piece.expertParameters}) {
                count += run.count * std::accumulate(tensors->begin(), tensors->end(), std::int64_t{0});
            }
        }
    }
    return count;
}

} // namespace headroom
