// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/architecture.h"
#include "footprint/block_size.h"
#include "footprint/tape_torch.h"
#include "footprint/tape_torch_encoder.h"
#include "footprint/tape_torch_mixers.h"
#include "footprint/tape_torch_modules.h"
#include "footprint/tape_torch_source.h"
#include "plan/batch.h"
#include "plan/recomputed_share.h"
#include "plan/validity.h"

#include <algorithm>

namespace headroom {

namespace {

/// Which piece is which in ModelProgram::pieces; `stagePieces` come two for every stage's chunk.
enum PieceIndex : std::uint16_t {
    EmbeddingPiece,
    BlockPiece,
    HeadPiece,
    ExpertBlockPiece,
    SourcePiece, ///< of an encoder-decoder model's encoder, as the two after it
    SourceBlockPiece,
    SourceNormPiece,
    EncoderPieces,
    StagePieces = EncoderPieces + TorchEncoder::PieceCount
};

/// A layer of a hybrid, or one of which only some parts are trained.
struct BlockKind
{
    LayerKind layer;
    bool needsGradient = false;
    std::uint32_t trained = TrainedParts::all;
    std::uint16_t piece = 0;

    [[nodiscard]] bool isOf(const BlockKind& other) const
    {
        return layer == other.layer && needsGradient == other.needsGradient && trained == other.trained;
    }
    /// What it runs or keeps.
    [[nodiscard]] bool hasBackward() const { return needsGradient || trained != 0; }
};

/// Layers of a pipeline stage's chunk.
struct ChunkLayers
{
    std::int64_t first = 0, count = 0;
    bool isFirst = false, isLast = false;
};

/// Of all stages; none where there is no pipeline.
std::int64_t chunkCount(const TorchShape& shape)
{
    const std::int64_t language = shape.stages - shape.encoderStages;
    return shape.stages > 1 ? shape.encoderStages + language * (shape.chunks + (shape.encoderCopies > 1 ? 1 : 0)) : 0;
}

class TorchProgram
{
public:
    TorchProgram(const TrainingPlan& plan, const TorchShape& shape, ModelProgram& program)
        : m_plan(plan)
        , m_shape(shape)
        , m_encoder(plan, shape, EncoderPieces, program)
        , m_program(program)
        , m_firstTrained(firstTrained())
    {
    }

    /// `layers`: of the language model's stages.
    void build(const std::vector<std::int64_t>& layers)
    {
        m_program.hasOwnState = true;
        m_program.persistents.all.clear();
        m_program.pieces.resize(StagePieces + 2 * static_cast<std::size_t>(chunkCount(m_shape)));
        writePieces();
        m_program.stages.resize(layers.size() + static_cast<std::size_t>(m_shape.encoderStages));
        std::int64_t first = 0;
        for (std::size_t i = 0; i < m_program.stages.size(); ++i) {
            StageProgram& stage = m_program.stages[i];
            stage.stage = static_cast<std::int64_t>(i);
            stage.layers = isEncoders(stage) ? 0 : layers[i - static_cast<std::size_t>(m_shape.encoderStages)];
            stage.firstLayer = first;
            first += stage.layers;
        }
        for (StageProgram& stage : m_program.stages) {
            fillStage(stage);
        }
    }

private:
    [[nodiscard]] bool isEncoders(const StageProgram& stage) const { return stage.stage < m_shape.encoderStages; }

    void writePieces()
    {
        auto& pieces = m_program.pieces;
        PersistentStorages& persistents = m_program.persistents;
        if (m_encoder.isPresent()) {
            m_encoder.writePieces();
        }
        writeTorchEmbedding(m_shape, m_encoder.featureBytes(), persistents, pieces[EmbeddingPiece]);
        const bool isHybrid = m_shape.model.isHybrid(); // whose layers are written where they stand
        if (!isHybrid) {
            writeTorchBlock(m_shape, false, persistents, pieces[BlockPiece], hasSource());
        }
        if (hasSource()) {
            const TorchShape source = torchSourceShape(m_shape);
            writeTorchSource(source, persistents, pieces[SourcePiece]);
            writeTorchBlock(source, false, persistents, pieces[SourceBlockPiece]);
            writeTorchSourceNorm(source, persistents, pieces[SourceNormPiece]);
        }
        if (m_shape.model.isMoe() && !isHybrid) {
            writeTorchBlock(m_shape, true, persistents, pieces[ExpertBlockPiece]);
        }
        writeTorchHead(m_shape, persistents, pieces[HeadPiece],
                       m_shape.stages > 1 || needsGradient(m_shape.model.layers));
    }

    /// Whether anything in front of a layer is trained.
    [[nodiscard]] bool needsGradient(std::int64_t layer) const
    {
        return m_shape.reachesEmbedding() || layer > m_firstTrained;
    }

    [[nodiscard]] std::int64_t firstTrained() const
    {
        const std::vector<std::uint32_t>& layers = m_shape.parts.layers;
        return std::find_if(layers.begin(), layers.end(), [](std::uint32_t trained) { return trained != 0; })
            - layers.begin();
    }

    [[nodiscard]] bool hasSource() const { return m_shape.memoryTokens > 0; }

    /// A chunk takes the layers in turn: all first chunks before the second ones.
    [[nodiscard]] ChunkLayers layersOf(const StageProgram& stage, std::int64_t chunk) const
    {
        const std::int64_t chunks = m_shape.chunks;
        const auto share = [chunks](std::int64_t layers, std::int64_t index) {
            return layers / chunks + (index < layers % chunks ? 1 : 0);
        };
        ChunkLayers result;
        result.count = share(stage.layers, chunk);
        for (const StageProgram& other : m_program.stages) {
            for (std::int64_t i = 0; i < chunks && (i < chunk || (i == chunk && other.stage < stage.stage)); ++i) {
                result.first += share(other.layers, i);
            }
        }
        result.isFirst = stage.stage == m_shape.encoderStages && chunk == 0;
        result.isLast = stage.stage + 1 == m_shape.stages && chunk + 1 == chunks;
        return result;
    }

    void fillStage(StageProgram& stage)
    {
        std::vector<TorchPart> parts;
        stage.hasEncoder = m_encoder.hasCopies() && !isEncoders(stage);
        const std::int64_t own = isEncoders(stage) ? 1 : m_shape.chunks;
        stage.chunks.assign(static_cast<std::size_t>(own + (stage.hasEncoder ? 1 : 0)), Chunk{});
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(stage.chunks.size()); ++i) {
            Chunk& chunk = stage.chunks[static_cast<std::size_t>(i)];
            const std::size_t firstPart = parts.size();
            const std::uint16_t stagePiece = m_nextStagePiece;
            if (m_shape.stages > 1) {
                chunk.runs.push_back({stagePiece, 1, 0});
                m_nextStagePiece = static_cast<std::uint16_t>(m_nextStagePiece + 2);
            }
            if (isEncoders(stage)) {
                m_encoder.fillOwnStage(stage.stage, chunk, parts);
            } else if (i == own) {
                m_encoder.fillCopy(chunk, parts);
            } else {
                fillChunk(layersOf(stage, i), chunk, parts);
            }
            if (m_shape.stages > 1) {
                writeGathering(stagePiece, {parts.begin() + static_cast<std::ptrdiff_t>(firstPart), parts.end()});
                addSending(static_cast<std::uint16_t>(stagePiece + 1), i < own, chunk);
            }
        }
        stage.tensors = torchState(m_shape, parts);
    }

    void fillChunk(const ChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts)
    {
        chunk.receives = !layers.isFirst;
        chunk.sends = !layers.isLast;
        if (layers.isFirst) {
            m_encoder.addToFirst(chunk, parts);
            if (hasSource()) {
                addSource(chunk, parts);
            }
            chunk.runs.push_back({EmbeddingPiece, 1, 0});
            parts.push_back(
                {embeddingWeights(m_shape), 1, m_shape.trainsEmbeddings, false, keepsOriginal(), m_shape.trained});
        }
        addBlocks(layers, chunk, parts);
        if (layers.isLast) {
            chunk.runs.push_back({HeadPiece, 1, 0});
            parts.push_back(
                {headWeights(m_shape), 1, m_shape.trainsEmbeddings, true, keepsOriginal(), m_shape.trained});
        }
        if (layers.isFirst || layers.isLast) {
            for (int i = 0; i < 2; ++i) { // tokens and labels
                chunk.loaded.push_back({blockSize(m_shape.tokens * 8), Tape::Op::Allocate, TensorKind::Batch, 0});
            }
        }
    }

    [[nodiscard]] bool keepsOriginal() const { return m_shape.trainsEmbeddings && !m_shape.trainsModel; }

    [[nodiscard]] std::int64_t recomputedOf(std::int64_t layers) const
    {
        const std::int64_t asked = m_shape.recomputedShare >= 0
            ? static_cast<std::int64_t>(layersOfShare(m_shape.recomputedShare, static_cast<double>(layers)))
            : m_shape.recomputedLayers < 0 ? layers
                                           : m_shape.recomputedLayers;
        return m_shape.checkpoints ? std::min(asked, layers) : 0;
    }

    void addSource(Chunk& chunk, std::vector<TorchPart>& parts) const
    {
        const TorchShape source = torchSourceShape(m_shape);
        const std::int64_t layers = source.model.layers, recomputed = recomputedOf(layers);
        chunk.runs.push_back({SourcePiece, 1, 0});
        for (const auto& [count, group] : {std::pair{recomputed, 1}, std::pair{layers - recomputed, 0}}) {
            if (count > 0) {
                PieceRun run{SourceBlockPiece, count, group};
                run.offloadsInput = group > 0 && m_shape.offloadsInputs;
                chunk.runs.push_back(run);
            }
        }
        chunk.runs.push_back({SourceNormPiece, 1, 0});
        parts.push_back({sourceWeights(source), 1, m_shape.trainsModel});
        parts.push_back({sourcePositions(source), 1, false});
        parts.push_back({blockWeights(source, false), layers, m_shape.trainsModel, true});
        parts.push_back({sourceNormWeights(source), 1, m_shape.trainsModel});
    }

    /// Runs of layers of one kind, of which the first so many are recomputed.
    void addBlocks(const ChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts)
    {
        if (!m_shape.parts.isAll() || m_shape.model.isHybrid()) {
            return addKinds(layers, chunk, parts);
        }
        const std::int64_t recomputed = recomputedOf(layers.count);
        for (std::int64_t done = 0; done < layers.count;) {
            const bool hasExperts = m_shape.model.moeLayers(layers.first + done, 1) > 0;
            const bool isRecomputed = done < recomputed;
            std::int64_t end = done + 1;
            while (end < layers.count && (m_shape.model.moeLayers(layers.first + end, 1) > 0) == hasExperts
                   && (end < recomputed) == isRecomputed) {
                ++end;
            }
            PieceRun run{static_cast<std::uint16_t>(hasExperts ? ExpertBlockPiece : BlockPiece), end - done,
                         isRecomputed ? 1 : 0};
            run.offloadsInput = isRecomputed && m_shape.offloadsInputs;
            chunk.runs.push_back(run);
            parts.push_back({blockWeights(m_shape, hasExperts, hasSource()), end - done, m_shape.trainsModel, true});
            done = end;
        }
    }

    /// The same where layers are of several kinds or parts of them frozen. What keeps nothing is not recomputed: a
    /// checkpoint without a gradient to come stores no input (torch/utils/checkpoint.py).
    void addKinds(const ChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts)
    {
        const std::int64_t recomputed = recomputedOf(layers.count);
        chunk.isFrozen = layers.isFirst && !m_shape.reachesEmbedding();
        for (std::int64_t i = 0; i < layers.count; ++i) {
            const std::int64_t layer = layers.first + i;
            BlockKind kind;
            kind.layer = kindOf(layer);
            kind.needsGradient = !layers.isFirst || needsGradient(layer);
            kind.trained = m_shape.parts.of(layer);
            const std::uint16_t piece = pieceOf(kind);
            const bool isRecomputed = i < recomputed && kind.hasBackward();
            chunk.isFrozen &= !kind.hasBackward();
            if (PieceRun* last = chunk.runs.empty() ? nullptr : &chunk.runs.back();
                last != nullptr && last->piece == piece && (last->checkpointGroup > 0) == isRecomputed) {
                ++last->count;
                ++parts.back().count;
                continue;
            }
            PieceRun run{piece, 1, isRecomputed ? 1 : 0};
            run.offloadsInput = isRecomputed && m_shape.offloadsInputs;
            chunk.runs.push_back(run);
            parts.push_back({layerWeights(m_shape, layer), 1, m_shape.trainsModel, true, false, kind.trained});
        }
        chunk.isFrozen &= !layers.isLast;
    }

    [[nodiscard]] LayerKind kindOf(std::int64_t layer) const
    {
        const bool hasExperts = m_shape.model.moeLayers(layer, 1) > 0;
        return m_shape.model.isHybrid()
            ? m_shape.model.kinds[static_cast<std::size_t>(layer)]
            : LayerKind{Mixer::Attention, hasExperts ? FeedForward::Experts : FeedForward::Mlp};
    }

    [[nodiscard]] std::uint16_t pieceOf(BlockKind kind)
    {
        const auto known = std::find_if(m_kinds.begin(), m_kinds.end(),
                                        [&kind](const BlockKind& other) { return other.isOf(kind); });
        if (known != m_kinds.end()) {
            return known->piece;
        }
        kind.piece = static_cast<std::uint16_t>(m_program.pieces.size());
        m_kinds.push_back(kind);
        TorchShape shape = m_shape;
        shape.trained = kind.trained;
        m_program.pieces.emplace_back();
        if (shape.model.isHybrid()) {
            writeTorchKind(shape, kind.layer, m_program.persistents, m_program.pieces.back());
        } else {
            writeTorchBlock(shape, kind.layer.feedForward == FeedForward::Experts, m_program.persistents,
                            m_program.pieces.back(), false, kind.needsGradient);
        }
        return kind.piece;
    }

    /// FSDP gathers a pipeline stage's weights once a step (torch/distributed/pipelining/stage.py).
    void writeGathering(std::uint16_t index, const std::vector<TorchPart>& parts)
    {
        Piece& piece = m_program.pieces[index];
        std::int64_t gathered = 0;
        for (const TorchPart& part : parts) {
            for (const TorchWeights::Tensor& tensor : part.weights.tensors) {
                gathered += tensor.elements() * part.count * m_shape.compute;
            }
        }
        TapeWriter writer(piece.tape, m_program.persistents);
        if (m_shape.gathers() && !m_shape.habits.reshardsInPipelines) {
            writer.ensureForStep(gatheredKey + index, TensorKind::GatheredParameters, gathered);
        }
        writer.beginBackward(Tape::input);
        piece.parameters.clear();
    }

    /// What else a pipeline's runtime adds (stage.py): what a stage sends stays until its backward (fwd_cache), and
    /// each micro-batch has a buffer of its own for the gradient of that (_prepare_backward_infra). `isStages`: not the
    /// features of a copy of the encoder, which no runtime sends.
    void addSending(std::uint16_t index, bool isStages, Chunk& chunk)
    {
        if (!chunk.sends || !isStages || chunk.isFrozen) {
            return;
        }
        Piece& piece = m_program.pieces[index];
        const std::int64_t bytes = chunk.sentBytes > 0 ? chunk.sentBytes : m_shape.streamBytes();
        TapeWriter writer(piece.tape, m_program.persistents);
        writer.declare(Tape::input, TensorKind::ResidualStream, bytes);
        if (m_shape.habits.receivesIntoBuffers) {
            constexpr double most = 1e18; // beyond any machine, and summable
            const double all = static_cast<double>(bytes) * static_cast<double>(microBatchesPerStep(m_plan));
            writer.ensure(receivedKey + index, TensorKind::Boundary, static_cast<std::int64_t>(std::min(all, most)));
        }
        const Tape::Slot kept = writer.allocate(TensorKind::Boundary, bytes);
        writer.beginBackward(Tape::input);
        writer.free(kept);
        piece.parameters.clear();
        chunk.runs.push_back({index, 1, 0});
    }

    static constexpr std::uint64_t gatheredKey = 0x6761746865726564; // apart from the other profiles' keys
    static constexpr std::uint64_t receivedKey = 0x7265636569766564;

    const TrainingPlan& m_plan;
    const TorchShape& m_shape;
    TorchEncoder m_encoder;
    ModelProgram& m_program;
    std::uint16_t m_nextStagePiece = StagePieces;
    std::vector<BlockKind> m_kinds; ///< where layers differ; their pieces stand behind the others
    const std::int64_t m_firstTrained; ///< layer, where parts are frozen
};

/// What the schedule's walk needs to know.
RankShape walkedShape(const TrainingPlan& plan, const TorchShape& shape)
{
    RankShape rank;
    rank.hidden = shape.model.hidden;
    rank.layers = shape.model.layers;
    rank.element = shape.compute;
    rank.sequence = shape.tokens;
    rank.sequenceShards = shape.sequenceShards;
    rank.microBatches = microBatchesPerStep(plan);
    rank.stages = shape.stages;
    rank.encoderStages = shape.encoderStages;
    rank.encoderCopies = shape.encoderCopies;
    rank.chunks = shape.chunks;
    rank.schedule = plan.parallel.schedule.value;
    rank.chunkGroup = std::clamp<std::int64_t>(plan.parallel.vppGroup.valueOr(shape.stages), 1, rank.microBatches);
    return rank;
}

} // namespace

Result<void> buildTorchProgram(const TrainingPlan& plan, const TorchHabits& habits, ModelProgram& program)
{
    auto known = torchShape(plan, habits);
    if (!known) {
        return tl::unexpected(std::move(known.error()));
    }
    const std::vector<std::int64_t> layers = layersPerStage(plan);
    if (layers.empty()) {
        return failure(Text{HEADROOM_TR("core", "%1 layers cannot be split over %2 pipeline stages as asked"),
                            {std::to_string(known->model.layers), std::to_string(known->stages)}});
    }
    program.shape = walkedShape(plan, *known);
    program.usesExpandableSegments = plan.implementation.expandableSegments.valueOr(habits.setsExpandableSegments);
    constexpr std::int64_t mostChunks = 30'000; // each has two pieces of its own
    if (known->stages * known->chunks > mostChunks || chunkCount(*known) > mostChunks) {
        return failure(Text{HEADROOM_TR("core", "the sizes of the plan are beyond what any machine holds")});
    }
    if (auto walkable = checkWalkable(program.shape); !walkable) {
        return walkable;
    }
    TorchProgram(plan, *known, program).build(layers);
    return {};
}

} // namespace headroom
