// SPDX-License-Identifier: GPL-3.0-or-later
//
// Sources: Megatron-LM 2.4 and bigscience/Megatron-DeepSpeed, megatron/model/transformer.py, fused_softmax.py,
// optimizer/optimizer.py, model/distributed.py, schedules.py; DeepSpeed runtime/fp16/fused_optimizer.py,
// runtime/zero/stage_1_and_2.py, runtime/pipe/engine.py of early 2022 (theory_frameworks.md 3).
#include "footprint/torch/gpt_pipeline.h"

#include "allocator/allocator_sizes.h"
#include "footprint/recipe/architecture.h"
#include "footprint/schedule/schedule.h"
#include "footprint/torch/gpt_modules.h"
#include "footprint/torch/graph.h"
#include "plan/batch.h"
#include "plan/objective.h"
#include "plan/pipeline_split.h"
#include "plan/precision.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headroom {

using enum TensorKind;

namespace {

using Tensor = ModuleGraph::Tensor;
using Operation = ModuleGraph::Operation;

constexpr std::string_view plainProfile = "megatron-2.4", deepSpeedProfile = "deepspeed-pipeline";
enum PieceIndex : std::uint16_t { UnitPiece, EmbeddingPiece, BlockPiece, HeadPiece };
/// DeepSpeed's defaults, in elements (runtime/zero/config.py).
constexpr std::int64_t reduceBucket = 500'000'000, prefetched = 50'000'000;

class GptPipeline
{
public:
    GptPipeline(const TrainingPlan& plan, bool isPlain, ModelProgram& program)
        : m_plan(plan)
        , m_isPlain(isPlain)
        , m_program(program)
        , m_shape(program.shape)
        , m_habits(GptHabits::of(plan))
    {
    }

    void build(const std::vector<std::int64_t>& layers)
    {
        m_program.hasOwnState = true;
        m_program.persistents.all.clear();
        m_program.pieces.resize(4);
        writeBlock();
        writeUnit();
        writeEmbedding();
        writeHead();
        m_program.stages.resize(layers.size());
        std::int64_t first = 0;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            fillStage(i, layers.size(), layers[i], first, m_program.stages[i]);
            first += layers[i];
        }
    }

private:
    [[nodiscard]] ModuleGraph::Options options() const
    {
        ModuleGraph::Options result;
        result.gradients.element = m_shape.element;
        if (m_plan.shard.zeroStage.value >= 2) {
            result.gradients.kind = GradientRule::Kind::Partition;
            result.gradients.shard = m_shape.element;
            result.gradients.shards = m_shape.optimizerShards;
        }
        result.cublasWorkspace = m_shape.cublasWorkspace;
        return result;
    }

    /// ZeRO-3 gathers a module's weights around its forward and its backward, and the beginning of the next module's
    /// beside them (runtime/zero/config.py: prefetch_bucket_size).
    [[nodiscard]] ModuleGraph::Options gathering(ModuleGraph::Options base, const Piece& piece) const
    {
        if (m_plan.shard.zeroStage.value == 3) {
            base.gathered = m_shape.element
                * (elementsOf(piece) + std::min(prefetched, elementsOf(m_program.pieces[BlockPiece])));
        }
        return base;
    }

    static std::int64_t elementsOf(const Piece& piece)
    {
        return std::accumulate(piece.parameters.begin(), piece.parameters.end(), std::int64_t{0});
    }

    /// Stages 2 and 3 make the buckets of the reduction when a backward begins and drop them before the step; stage 3
    /// has two by default, whose reductions overlap (stage2.py and stage3.py of early 2022, ipg_buffer).
    [[nodiscard]] std::int64_t reduceBuckets() const
    {
        const std::int64_t zero = m_plan.shard.zeroStage.value;
        if (zero < 2 || m_shape.gradient == 4) {
            return 0;
        }
        const std::int64_t all
            = m_shape.layers * elementsOf(m_program.pieces[BlockPiece]) + elementsOf(m_program.pieces[EmbeddingPiece]);
        const std::int64_t bucket = m_plan.shard.reduceBucket.valueOr(zero == 3 ? 2 * reduceBucket : reduceBucket);
        return std::min(bucket, all) * m_shape.element;
    }

    [[nodiscard]] bool hasOwnHead() const { return m_shape.stages > 1 || !m_shape.isTied; }
    /// Tied embedding and output layer of a single stage are one matrix.
    [[nodiscard]] int tiedGradient() const { return hasOwnHead() ? -1 : 0; }

    /// What travels with every micro-batch: the attention mask, which DeepSpeed's pipeline hands on as a tensor of the
    /// model's type beside the logical one.
    void writeUnit()
    {
        Piece& piece = m_program.pieces[UnitPiece];
        TapeWriter w(piece.tape, m_program.persistents);
        const std::int64_t mask
            = (m_habits.isNeox ? 1 : m_shape.microBatch) * m_shape.sequence * m_shape.sequence; // one for all samples
        const Tape::Slot slot = w.allocate(PaddingMask, m_isPlain ? mask : 4 * mask);
        w.beginBackward(Tape::input);
        w.free(slot);
        const std::vector<std::int64_t>& matrices = m_program.pieces[BlockPiece].parameters;
        widenGradient(matrices.empty() ? 0 : *std::max_element(matrices.begin(), matrices.end()), w);
        piece.parameters.clear();
    }

    /// DeepSpeed's bf16 optimizer adds 16-bit gradients to its fp32 ones after a backward, through an fp32 copy of each
    /// tensor in turn, of which the largest counts (runtime/bf16_optimizer.py, update_hp_grads).
    void widenGradient(std::int64_t elements, TapeWriter& writer) const
    {
        if (!m_isPlain && m_shape.gradient == 4 && elements > 0) {
            writer.free(writer.allocate(OptimizerTemporary, elements * 4));
        }
    }

    void writeEmbedding()
    {
        Piece& piece = m_program.pieces[EmbeddingPiece];
        ModuleGraph graph(0, false);
        const std::int64_t rows = m_shape.localTokens();
        const std::int64_t bytes = rows * m_shape.hidden * m_shape.element;
        Operation lookup{.kind = ResidualStream, .bytes = bytes, .reads = {graph.input()}};
        lookup.weight = m_shape.vocab * m_shape.hidden;
        lookup.sharedWeight = tiedGradient();
        Tensor stream = graph.apply(std::move(lookup));
        if (m_shape.positions > 0) {
            stream = graph.apply({.kind = ResidualStream,
                                  .bytes = bytes,
                                  .reads = {stream},
                                  .passesGradient = true,
                                  .weight = m_shape.positions * m_shape.hidden});
        }
        if (m_shape.hasHiddenDropout) {
            stream = graph.apply({.kind = ResidualStream,
                                  .bytes = bytes,
                                  .reads = {stream},
                                  .keeps = {{DropoutMask, rows * m_shape.hidden}}});
        }
        TapeWriter writer(piece.tape, m_program.persistents);
        piece.parameters = {m_shape.vocab * m_shape.hidden};
        if (m_shape.positions > 0) {
            piece.parameters.push_back(m_shape.positions * m_shape.hidden);
        }
        graph.write(gathering(options(), piece), writer);
        widenGradient(m_shape.vocab * m_shape.hidden, writer);
    }

    void writeBlock()
    {
        Piece& piece = m_program.pieces[BlockPiece];
        ModuleGraph graph(m_shape.boundaryBytes(), true);
        GptModules(m_shape, m_habits, graph).block(graph.input());
        ModuleGraph::Options blockOptions = options();
        blockOptions.keepsInput = m_shape.checkpointGroup > 0;
        TapeWriter writer(piece.tape, m_program.persistents);
        piece.parameters = GptModules::blockParameters(m_shape, m_habits);
        graph.write(gathering(blockOptions, piece), writer);
    }

    /// Cross entropy of megatron/mpu: the logits once more in fp32, softmax and its gradient in their place.
    void writeHead()
    {
        Piece& piece = m_program.pieces[HeadPiece];
        ModuleGraph graph(m_shape.boundaryBytes(), true);
        GptModules modules(m_shape, m_habits, graph);
        const Tensor logits
            = modules.linear(modules.norm(graph.input()), Logits, m_shape.hidden, m_shape.vocab, tiedGradient());
        const Tensor softmax = graph.apply({.kind = LogitsSoftmax,
                                            .bytes = m_shape.tokens() * m_shape.vocab * 4,
                                            .reads = {logits},
                                            .savesResult = true});
        graph.apply({.kind = LossTerms, .bytes = m_shape.tokens() * 8, .reads = {softmax}, .passesGradient = true});
        ModuleGraph::Options headOptions = options();
        headOptions.hasOutput = false;
        headOptions.reduceBuckets = reduceBuckets();
        TapeWriter writer(piece.tape, m_program.persistents);
        piece.parameters = GptModules::normParameters(m_shape);
        if (hasOwnHead()) {
            piece.parameters.push_back(m_shape.vocab * m_shape.hidden); // of its own, or a copy of the embedding
        }
        graph.write(gathering(headOptions, piece), writer);
    }

    void fillStage(std::size_t index, std::size_t count, std::int64_t layers, std::int64_t first, StageProgram& stage)
    {
        stage.stage = static_cast<std::int64_t>(index);
        stage.layers = layers;
        stage.firstLayer = first;
        stage.chunks.assign(1, Chunk{});
        Chunk& chunk = stage.chunks.front();
        chunk.receives = index > 0;
        chunk.sends = index + 1 < count;
        chunk.runs.push_back({UnitPiece, 1, 0});
        if (!chunk.receives) {
            chunk.runs.push_back({EmbeddingPiece, 1, 0});
        }
        const std::int64_t checkpointed = m_shape.checkpointedOf(layers);
        if (checkpointed > 0) {
            chunk.runs.push_back({BlockPiece, checkpointed, m_shape.checkpointGroup,
                                  m_plan.recompute.offloadInputs.value || m_plan.shard.offloadActivations.value});
        }
        if (layers > checkpointed) {
            chunk.runs.push_back({BlockPiece, layers - checkpointed, 0});
        }
        if (!chunk.sends) {
            chunk.runs.push_back({HeadPiece, 1, 0});
        }
        if (!chunk.sends || !chunk.receives) {
            for (int i = 0; i < 2; ++i) { // tokens, labels
                chunk.loaded.push_back({blockSize(m_shape.tokens() * 8), Tape::Op::Allocate, Batch, 0});
            }
        }
        stage.tensors = gptPipelineState(m_plan, m_isPlain, m_program, stage);
    }

    const TrainingPlan& m_plan;
    const bool m_isPlain;
    ModelProgram& m_program;
    RankShape& m_shape;
    const GptHabits m_habits;
};

Result<void> checkPlan(const TrainingPlan& plan, std::string_view profile, const RankShape& shape)
{
    const ModelPlan& model = plan.model;
    const bool isPlain = profile == plainProfile;
    const bool isRecomputed = plan.recompute.enabled.value || !plan.recompute.enabled.isStated();
    const bool isGated = model.gatedMlp.value;
    const bool isGrouped = shape.groups != shape.heads;
    for (const auto& [has, what] : {
             std::pair{isPlain && (isGated || !model.layerNorm.valueOr(true) || isGrouped || model.parallelBlock.value),
                       "models other than GPT"},
             std::pair{isPlain && !model.tiedEmbeddings.valueOr(true), "an output layer of its own"},
             std::pair{shape.hasQkNorm, "norms of queries and keys"},
             std::pair{plan.moe.experts.value > 0, "experts"},
             std::pair{plan.parallel.vpp.value > 1, "interleaved pipelines"},
             std::pair{splitsBackward(plan.parallel.schedule.value), "this pipeline schedule"},
             std::pair{plan.vision.layers.value > 0, "image encoders"},
             std::pair{isPlain && plan.parallel.sp.value, "sequence parallelism"},
             std::pair{plan.parallel.cp.value > 1, "context parallelism"},
             std::pair{plan.shard.zeroStage.value > (isPlain                          ? 0
                                                         : plan.parallel.pp.value > 1 ? 1
                                                                                      : 3),
                       "this ZeRO stage"},
             std::pair{plan.shard.fsdp.value || plan.shard.distOpt.value, "this sharding"},
             std::pair{shape.element != 2, "training in fp32"},
             std::pair{shape.hasReference || shape.labels > 0 || valueModel(plan) != ValueModel::None
                           || rewardModel(plan) != RewardModel::None,
                       "this objective"},
             std::pair{isRecomputed && plan.recompute.granularity.value == Granularity::Selective,
                       "selective recomputation"},
             std::pair{isPlain && GptHabits::of(plan).hasFlash, "flash attention"},
         }) {
        if (has) {
            return failure(
                Text{HEADROOM_TR("core", "the profile %1 does not describe %2"), {std::string(profile), what}});
        }
    }
    return {};
}

} // namespace

bool isGptPipeline(std::string_view profile)
{
    return profile == plainProfile || profile == deepSpeedProfile;
}

Result<void> buildGptPipeline(const TrainingPlan& plan, std::string_view profile, ModelProgram& program)
{
    // The dimensions are those of Megatron's local layers; what ZeRO shards and checkpoints move to the host is read
    // here.
    TrainingPlan local = plan;
    local.implementation.profile = Name("megatron-local");
    local.shard.zeroStage = Count(0);
    local.shard.offloadActivations = Flag(false);
    local.recompute.offloadInputs = Flag(false);
    local.model.parallelBlock = Flag(false);
    RankShape& shape = program.shape;
    if (auto read = readRankShape(local, shape); !read) {
        return read;
    }
    if (plan.shard.offloadActivations.value && shape.checkpointGroup == 0) {
        return failure(Text{HEADROOM_TR("core", "the tapes do not describe %1"), {"offloaded activations"}});
    }
    if (auto checked = checkPlan(plan, profile, shape); !checked) {
        return checked;
    }
    const std::vector<std::int64_t> layers = layersPerStage(plan);
    if (layers.empty()) {
        return failure(Text{HEADROOM_TR("core", "%1 layers cannot be split over %2 pipeline stages as asked"),
                            {std::to_string(shape.layers), std::to_string(shape.stages)}});
    }
    if (auto walkable = checkWalkable(shape); !walkable) {
        return walkable;
    }
    shape.optimizerShards = plan.shard.zeroStage.value >= 1 ? shape.data : 1;
    shape.keepsStageOutputs = profile == plainProfile;
    GptPipeline(plan, profile == plainProfile, program).build(layers);
    return {};
}

} // namespace headroom
