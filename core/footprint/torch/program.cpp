// SPDX-License-Identifier: GPL-3.0-or-later
#include "allocator/allocator_sizes.h"
#include "footprint/schedule/chunk_layers.h"
#include "footprint/torch/blocks.h"
#include "footprint/torch/encoder.h"
#include "footprint/torch/pipeline.h"
#include "footprint/torch/source.h"
#include "footprint/torch/tapes.h"
#include "footprint/torch/value.h"
#include "plan/batch.h"
#include "plan/pipeline_split.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace headroom {

namespace {

/// Which piece is which in ModelProgram::pieces.
enum PieceIndex : std::uint16_t {
    EmbeddingPiece,
    BlockPiece,
    HeadPiece,
    ExpertBlockPiece,
    SourcePiece, ///< of an encoder-decoder model's encoder, as the two after it
    SourceBlockPiece,
    SourceNormPiece,
    EncoderPieces,
    ValuePieces = EncoderPieces + TorchEncoder::PieceCount,
    PipelinePieces = ValuePieces + TorchValueModel::PieceCount
};

class TorchProgram
{
public:
    TorchProgram(const TrainingPlan& plan, const TorchShape& shape, ModelProgram& program)
        : m_plan(plan)
        , m_shape(shape)
        , m_program(program)
        , m_encoder(plan, shape, EncoderPieces, program)
        , m_blocks(shape, {BlockPiece, ExpertBlockPiece}, program)
        , m_pipeline(shape, PipelinePieces, program)
        , m_folded(plan, program.shape)
    {
        const bool hasValue = shape.value == ValueModel::Separate || shape.value == ValueModel::InTurn;
        if (hasValue || shape.reward == RewardModel::Separate) {
            m_value.emplace(shape, ValuePieces, program);
        }
    }

    /// `layers`: of the language model's stages.
    Result<void> build(const std::vector<std::int64_t>& layers)
    {
        if (isFolded(m_program.shape.schedule)) {
            if (auto placed = m_folded.place(layers); !placed) {
                return placed;
            }
        }
        m_program.hasOwnState = true;
        m_program.persistents.all.clear();
        m_program.pieces.resize(PipelinePieces + m_pipeline.pieceCount());
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
        return {};
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
        m_blocks.writePieces();
        if (hasSource()) {
            const TorchShape source = torchSourceShape(m_shape);
            writeTorchSource(source, persistents, pieces[SourcePiece]);
            writeTorchBlock(source, LayerKind{}, persistents, pieces[SourceBlockPiece]);
            writeTorchSourceNorm(source, persistents, pieces[SourceNormPiece]);
        }
        writeTorchHead(m_shape, persistents, pieces[HeadPiece],
                       m_shape.stages > 1 || m_blocks.needsGradient(m_shape.model.layers));
        if (m_value) {
            m_value->writePieces();
        }
    }

    [[nodiscard]] bool hasSource() const { return m_shape.memoryTokens > 0; }

    /// A chunk takes the layers in turn: all first chunks before the second ones.
    [[nodiscard]] TorchChunkLayers layersOf(const StageProgram& stage, std::int64_t chunk) const
    {
        if (isFolded(m_program.shape.schedule)) {
            const auto index = static_cast<std::size_t>(chunk);
            return {m_folded.first(stage.stage, index), m_folded.layers(stage.stage, index),
                    m_folded.isFirst(stage.stage, index), m_folded.isLast(stage.stage, index)};
        }
        const std::int64_t chunks = m_shape.chunks;
        const auto share = [chunks](std::int64_t layers, std::int64_t index) {
            return layers / chunks + (index < layers % chunks ? 1 : 0);
        };
        TorchChunkLayers result;
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
            m_pipeline.begin(chunk);
            if (isEncoders(stage)) {
                m_encoder.fillOwnStage(stage.stage, chunk, parts);
            } else if (i == own) {
                m_encoder.fillCopy(chunk, parts);
            } else {
                fillChunk(layersOf(stage, i), chunk, parts);
            }
            m_pipeline.end(chunk, std::span(parts).subspan(firstPart), i < own);
        }
        if (m_shape.accumulatesWhole) {
            addWholeGradients(stage.chunks.front(), parts);
        }
        if (m_shape.reward == RewardModel::Separate) {
            const std::vector<TorchPart> reward = m_value->partsOf(TorchPart::Model::Reward);
            parts.insert(parts.end(), reward.begin(), reward.end());
        }
        stage.tensors = torchState(m_shape, parts);
        if (m_shape.value == ValueModel::InTurn) {
            m_value->addState(stage.tensors);
        }
        stage.tensors.rollout = torchRollout(m_plan, m_shape);
    }

    /// They are there when the first micro-batch's backward is done, unreduced: the first FSDP's in the type of the
    /// computation, the second's in that of the reduction (torch/distributed/fsdp/_fully_shard/_fsdp_param.py,
    /// to_accumulated_grad_if_needed). The last micro-batch's reductions take them, before the step.
    void addWholeGradients(Chunk& chunk, const std::vector<TorchPart>& parts)
    {
        constexpr std::uint64_t wholeKey = 0x77686f6c65; // apart from the other profiles' keys
        double elements = 0;
        for (const TorchPart& part : parts) {
            for (const TorchWeights::Tensor& tensor : part.weights.tensors) {
                const bool isTrained = part.trains(tensor) || tensor.kind == TorchWeights::Kind::Adapter;
                elements += isTrained ? static_cast<double>(tensor.elements()) * static_cast<double>(part.count) : 0;
            }
        }
        const std::int64_t element = m_shape.isFirstFsdp ? m_shape.compute : m_shape.reduced;
        chunk.runs.insert(chunk.runs.begin(), {static_cast<std::uint16_t>(m_program.pieces.size()), 1, 0});
        Piece& piece = m_program.pieces.emplace_back();
        TapeWriter writer(piece.tape, m_program.persistents);
        writer.beginBackward(Tape::input);
        writer.ensureForStep(wholeKey, TensorKind::Gradients, std::llround(elements) * element);
        piece.parameters.clear();
    }

    void fillChunk(const TorchChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts)
    {
        chunk.receives = !layers.isFirst;
        chunk.sends = !layers.isLast;
        if (layers.isFirst) {
            m_encoder.addToFirst(chunk, parts);
            if (hasSource()) {
                addSource(chunk, parts);
            }
            if (m_shape.value == ValueModel::Separate) {
                m_value->addTo(chunk, parts);
            }
            chunk.runs.push_back({EmbeddingPiece, 1, 0});
            parts.push_back(
                {embeddingWeights(m_shape), 1, m_shape.trainsEmbeddings, false, keepsOriginal(), m_shape.trained});
        }
        m_blocks.add(layers, chunk, parts);
        if (layers.isLast) {
            chunk.runs.push_back({HeadPiece, 1, 0});
            parts.push_back(
                {headWeights(m_shape), 1, m_shape.trainsEmbeddings, true, keepsOriginal(), m_shape.trained});
            if (m_shape.value == ValueModel::Head) {
                parts.push_back({valueHeadWeights(m_shape), 1});
            }
        }
        if (layers.isFirst || layers.isLast) {
            for (int i = 0; i < 2; ++i) { // tokens and labels
                chunk.loaded.push_back({blockSize(m_shape.tokens * 8), Tape::Op::Allocate, TensorKind::Batch, 0});
            }
        }
    }

    [[nodiscard]] bool keepsOriginal() const { return m_shape.trainsEmbeddings && !m_shape.trainsModel; }

    void addSource(Chunk& chunk, std::vector<TorchPart>& parts) const
    {
        const TorchShape source = torchSourceShape(m_shape);
        const std::int64_t layers = source.model.layers, recomputed = m_shape.recomputedOf(layers);
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
        parts.push_back({blockWeights(source, LayerKind{}), layers, m_shape.trainsModel, true});
        parts.push_back({sourceNormWeights(source), 1, m_shape.trainsModel});
    }

    const TrainingPlan& m_plan;
    const TorchShape& m_shape;
    ModelProgram& m_program;
    TorchEncoder m_encoder;
    TorchBlocks m_blocks;
    TorchPipeline m_pipeline;
    std::optional<TorchValueModel> m_value; ///< or the reward model, which has its layers
    ChunkLayers m_folded; ///< of the schedules that fold the model
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
    const Schedule schedule = plan.parallel.schedule.value;
    rank.schedule = shape.splitsBackward || !splitsBackward(schedule) ? schedule : Schedule::OneForwardOneBackward;
    rank.holdsGraphs = shape.splitsBackward;
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
    if (known->stages * known->chunks > mostChunks || TorchPipeline::chunks(*known) > mostChunks) {
        return failure(Text{HEADROOM_TR("core", "the sizes of the plan are beyond what any machine holds")});
    }
    if (auto walkable = checkWalkable(program.shape); !walkable) {
        return walkable;
    }
    return TorchProgram(plan, *known, program).build(layers);
}

} // namespace headroom
