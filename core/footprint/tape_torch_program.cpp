// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/architecture.h"
#include "footprint/tape_torch.h"
#include "footprint/tape_torch_modules.h"
#include "footprint/tape_torch_vision.h"
#include "plan/batch.h"
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
    PatchesPiece,
    VisionBlockPiece,
    ProjectionPiece,
    StagePieces
};

/// Layers of a pipeline stage's chunk.
struct ChunkLayers
{
    std::int64_t first = 0, count = 0;
    bool isFirst = false, isLast = false;
};

class TorchProgram
{
public:
    TorchProgram(const TrainingPlan& plan, const TorchShape& shape, ModelProgram& program)
        : m_plan(plan)
        , m_shape(shape)
        , m_tower(visionTowerOf(plan))
        , m_projector(projectorOf(plan))
        , m_trainable(trainableOf(plan))
        , m_program(program)
    {
    }

    void build(const std::vector<std::int64_t>& layers)
    {
        m_program.hasOwnState = true;
        m_program.persistents.all.clear();
        const std::size_t chunks = static_cast<std::size_t>(m_shape.chunks) * layers.size();
        m_program.pieces.resize(StagePieces + (m_shape.stages > 1 ? 2 * chunks : 0));
        writePieces();
        m_program.stages.resize(layers.size());
        std::int64_t first = 0;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            StageProgram& stage = m_program.stages[i];
            stage.stage = static_cast<std::int64_t>(i);
            stage.layers = layers[i];
            stage.firstLayer = first;
            first += layers[i];
        }
        for (StageProgram& stage : m_program.stages) {
            fillStage(stage);
        }
    }

private:
    void writePieces()
    {
        auto& pieces = m_program.pieces;
        PersistentStorages& persistents = m_program.persistents;
        std::int64_t imageBytes = 0;
        if (m_tower.isPresent()) {
            writeVision();
            imageBytes = torchFeatureBytes(m_vision, m_tower, m_projector);
        }
        writeTorchEmbedding(m_shape, imageBytes, persistents, pieces[EmbeddingPiece]);
        writeTorchBlock(m_shape, false, persistents, pieces[BlockPiece]);
        if (m_shape.model.isMoe()) {
            writeTorchBlock(m_shape, true, persistents, pieces[ExpertBlockPiece]);
        }
        writeTorchHead(m_shape, persistents, pieces[HeadPiece]);
    }

    void writeVision()
    {
        auto& pieces = m_program.pieces;
        PersistentStorages& persistents = m_program.persistents;
        m_vision = torchVisionShape(m_shape, m_tower, m_trainable.vision);
        TorchShape projector = m_vision;
        projector.trainsModel = m_trainable.projector;
        writeTorchPatches(m_vision, m_tower, persistents, pieces[PatchesPiece]);
        writeTorchBlock(m_vision, false, persistents, pieces[VisionBlockPiece]);
        writeTorchProjector(projector, m_tower, m_projector, m_trainable.vision, persistents, pieces[ProjectionPiece]);
        if (!m_trainable.vision) {
            pieces[PatchesPiece].tape.dropBackward();
            pieces[VisionBlockPiece].tape.dropBackward();
            if (!m_trainable.projector) {
                pieces[ProjectionPiece].tape.dropBackward();
            }
        }
    }

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
        result.isFirst = stage.stage == 0 && chunk == 0;
        result.isLast = stage.stage + 1 == m_shape.stages && chunk + 1 == chunks;
        return result;
    }

    void fillStage(StageProgram& stage)
    {
        std::vector<TorchPart> parts;
        stage.chunks.assign(static_cast<std::size_t>(m_shape.chunks), Chunk{});
        for (std::int64_t i = 0; i < m_shape.chunks; ++i) {
            fillChunk(stage, i, stage.chunks[static_cast<std::size_t>(i)], parts);
        }
        stage.tensors = torchState(m_shape, parts);
    }

    void fillChunk(const StageProgram& stage, std::int64_t index, Chunk& chunk, std::vector<TorchPart>& parts)
    {
        const ChunkLayers layers = layersOf(stage, index);
        const std::size_t firstPart = parts.size();
        chunk.receives = !layers.isFirst;
        chunk.sends = !layers.isLast;
        const auto stagePiece = static_cast<std::uint16_t>(StagePieces + 2 * (stage.stage * m_shape.chunks + index));
        if (m_shape.stages > 1) {
            chunk.runs.push_back({stagePiece, 1, 0});
        }
        if (layers.isFirst) {
            addFirst(chunk, parts);
        }
        addBlocks(layers, chunk, parts);
        if (layers.isLast) {
            chunk.runs.push_back({HeadPiece, 1, 0});
            parts.push_back({headWeights(m_shape), 1, m_shape.trainsEmbeddings, false, keepsOriginal()});
        }
        if (layers.isFirst || layers.isLast) {
            for (int i = 0; i < 2; ++i) { // tokens and labels
                chunk.loaded.push_back(
                    {(m_shape.tokens * 8 + 511) & ~std::int64_t{511}, Tape::Op::Allocate, TensorKind::Batch, 0});
            }
        }
        if (m_shape.stages > 1) {
            writeStagePieces(stagePiece, {parts.begin() + static_cast<std::ptrdiff_t>(firstPart), parts.end()});
            if (chunk.sends) {
                chunk.runs.push_back({static_cast<std::uint16_t>(stagePiece + 1), 1, 0});
            }
        }
    }

    [[nodiscard]] bool keepsOriginal() const { return m_shape.trainsEmbeddings && !m_shape.trainsModel; }

    void addFirst(Chunk& chunk, std::vector<TorchPart>& parts) const
    {
        if (m_tower.isPresent()) {
            chunk.runs.push_back({PatchesPiece, 1, 0});
            chunk.runs.push_back({VisionBlockPiece, m_tower.layers, m_vision.checkpoints ? 1 : 0});
            chunk.runs.push_back({ProjectionPiece, 1, 0});
            parts.push_back({patchWeights(m_tower), 1, m_trainable.vision});
            parts.push_back({blockWeights(m_vision, false), m_tower.layers, m_trainable.vision});
            parts.push_back({projectorWeights(m_tower, m_projector), 1, m_trainable.projector});
        }
        chunk.runs.push_back({EmbeddingPiece, 1, 0});
        parts.push_back({embeddingWeights(m_shape), 1, m_shape.trainsEmbeddings, false, keepsOriginal()});
    }

    /// Runs of layers of one kind, of which the first so many are recomputed.
    void addBlocks(const ChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts) const
    {
        const std::int64_t recomputed = m_shape.recomputedLayers < 0 ? layers.count : m_shape.recomputedLayers;
        for (std::int64_t done = 0; done < layers.count;) {
            const bool hasExperts = m_shape.model.moeLayers(layers.first + done, 1) > 0;
            const bool isRecomputed = m_shape.checkpoints && done < recomputed;
            std::int64_t end = done + 1;
            while (end < layers.count && (m_shape.model.moeLayers(layers.first + end, 1) > 0) == hasExperts
                   && (m_shape.checkpoints && end < recomputed) == isRecomputed) {
                ++end;
            }
            PieceRun run{static_cast<std::uint16_t>(hasExperts ? ExpertBlockPiece : BlockPiece), end - done,
                         isRecomputed ? 1 : 0};
            run.offloadsInput = isRecomputed && m_shape.offloadsInputs;
            chunk.runs.push_back(run);
            parts.push_back({blockWeights(m_shape, hasExperts), end - done, m_shape.trainsModel, true});
            done = end;
        }
    }

    /// What a pipeline's runtime adds (torch/distributed/pipelining/stage.py): FSDP gathers a stage's weights once a
    /// step, what a stage sends stays until its backward (fwd_cache), and each micro-batch has a buffer of its own for
    /// the gradient of that (_prepare_backward_infra).
    void writeStagePieces(std::uint16_t index, const std::vector<TorchPart>& parts)
    {
        PersistentStorages& persistents = m_program.persistents;
        Piece& gathering = m_program.pieces[index];
        std::int64_t gathered = 0;
        for (const TorchPart& part : parts) {
            for (const TorchWeights::Tensor& tensor : part.weights.tensors) {
                gathered += tensor.elements() * part.count * m_shape.compute;
            }
        }
        TapeWriter w(gathering.tape, persistents);
        if (m_shape.gathers()) {
            w.ensureForStep(gatheredKey + index, TensorKind::GatheredParameters, gathered);
        }
        w.beginBackward(Tape::input);
        gathering.parameters.clear();
        Piece& sent = m_program.pieces[index + 1U];
        TapeWriter s(sent.tape, persistents);
        s.declare(Tape::input, TensorKind::ResidualStream, m_shape.streamBytes());
        if (m_shape.habits.receivesIntoBuffers) {
            constexpr double most = 1e18; // beyond any machine, and summable
            const double bytes
                = static_cast<double>(m_shape.streamBytes()) * static_cast<double>(microBatchesPerStep(m_plan));
            s.ensure(receivedKey + index, TensorKind::Boundary, static_cast<std::int64_t>(std::min(bytes, most)));
        }
        const Tape::Slot kept = s.allocate(TensorKind::Boundary, m_shape.streamBytes());
        s.beginBackward(Tape::input);
        s.free(kept);
        sent.parameters.clear();
    }

    static constexpr std::uint64_t gatheredKey = 0x6761746865726564; // apart from the other profiles' keys
    static constexpr std::uint64_t receivedKey = 0x7265636569766564;

    const TrainingPlan& m_plan;
    const TorchShape& m_shape;
    const VisionTower m_tower;
    const Projector m_projector;
    const Trainable m_trainable;
    ModelProgram& m_program;
    TorchShape m_vision;
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
    constexpr std::int64_t mostPieces = 30'000; // each chunk of a stage has two of its own
    if (known->stages * known->chunks > mostPieces) {
        return failure(Text{HEADROOM_TR("core", "the sizes of the plan are beyond what any machine holds")});
    }
    if (auto walkable = checkWalkable(program.shape); !walkable) {
        return walkable;
    }
    TorchProgram(plan, *known, program).build(layers);
    return {};
}

} // namespace headroom
