// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/shape.h"

#include "footprint/recipe/state.h"
#include "footprint/schedule/schedule.h"
#include "footprint/torch/mixers.h"
#include "footprint/torch/recompute.h"
#include "footprint/torch/refusals.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/objective.h"
#include "plan/pipeline_split.h"
#include "plan/precision.h"
#include "plan/recomputed_share.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {

namespace {

std::int64_t atLeastOne(const Count& count)
{
    return std::max<std::int64_t>(count.value, 1);
}

std::int64_t wholeBytes(DataType type)
{
    return std::max<std::int64_t>(static_cast<std::int64_t>(bytesPerElement(type)), 1);
}

/// Composer wraps blocks in save_on_cpu (trainer/mosaic_fsdp.py), the others copy on streams of their own.
ModuleGraph::Offload offloadOf(const TrainingPlan& plan)
{
    using enum ModuleGraph::Offload;
    return !plan.shard.offloadActivations.value ? None : plan.framework.value == "llm-foundry" ? Plain : Streams;
}

/// Every tensor must stay far below 2^63 bytes.
bool isComputable(const TorchShape& shape)
{
    const Architecture& a = shape.model;
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double experts = real(a.topk) * (real(a.expertFfn) + real(a.hidden)) + real(a.sharedFfn) + real(a.experts);
    const double width = real(a.hidden) + real(a.heads) * real(a.headDim) + 4 * real(a.ffn)
        + real(a.heads) * real(shape.keys) + 4 * experts + real(a.kvLoraRank) + real(a.qLoraRank)
        + real(a.heads) * (real(a.nopeDim) + real(a.ropeDim) + real(a.valueDim));
    const double weights
        = real(a.layers) * (real(a.hidden) + real(a.qLoraRank) + real(a.kvLoraRank)) * 8 * width * (1 + real(a.experts))
        + 4 * real(a.vocab) * real(a.hidden);
    const double layers = real(a.layers) + real(a.encoderLayers),
                 tokens = real(shape.tokens) + real(shape.memoryTokens);
    const double keys = real(a.heads) * real(shape.memoryKeys);
    return (tokens * std::max(shape.load, 1.0) * ((width + keys) * layers + real(a.vocab) + real(a.audioBins))
            + weights * (1 + layers / std::max(real(a.layers), 1.0)))
        * 64
        < 4e18;
}

/// What was gathered for the forward is dropped after it, which ZeRO-2-like strategies do not.
bool reshards(const TrainingPlan& plan)
{
    const std::string& strategy = plan.shard.strategy.value;
    const std::string& reshard = plan.shard.reshardAfterForward.value;
    return strategy.find("grad_op") == std::string::npos && strategy.find("GRAD_OP") == std::string::npos
        && reshard != "never" && reshard != "false";
}

/// The same for an image encoder and what follows it.
bool isComputable(const TorchShape& language, const VisionTower& tower, const Projector& projector)
{
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double patches = real(language.sequences) * real(tower.images) * real(tower.tokens);
    const double merged = real(projector.in) * real(projector.merge) * real(projector.merge);
    const double pixels = 3 * real(tower.temporalPatch) * real(tower.patch) * real(tower.patch);
    const double width = 4 * (real(tower.hidden) + real(tower.ffn)) + real(tower.heads) * real(tower.tokens) + merged
        + real(projector.hidden) + real(projector.out) + pixels;
    return (patches + real(tower.hidden) + merged + real(projector.out) + real(projector.hidden)) * width
        * (real(tower.layers) + real(projector.layers) + 1) * 64
        < 4e18;
}

LossPath lossPath(const TrainingPlan& plan, const TorchHabits& habits)
{
    const std::string& name = plan.implementation.fusedLoss.value;
    if (trainsPolicyWithValue(plan)) { // from the logits themselves, and in fp32 where a value head is beside them
        return valueModel(plan) == ValueModel::Head ? LossPath::Upcast : LossPath::LogProbabilities;
    }
    if (name == "liger") {
        return LossPath::Liger;
    }
    if (name == "16bit") {
        return LossPath::Sixteen;
    }
    if (name == "chunked") {
        return habits.chunkedLoss;
    }
    // LLaMA-Factory's trainers upcast all logits first (train/dpo/trainer.py, concatenated_forward).
    if (takesLogProbabilities(plan) && plan.framework.value != "llama-factory") {
        return LossPath::LogProbabilities;
    }
    return plan.implementation.compiledLoss.valueOr(false) ? LossPath::Compiled : habits.loss;
}

TorchSharding shardingKind(const TrainingPlan& plan)
{
    if (plan.shard.fsdp.value) {
        return TorchSharding::Fsdp;
    }
    switch (plan.shard.zeroStage.value) {
    case 0:
        return dataParallelSize(plan) * atLeastOne(plan.parallel.cp) > 1 ? TorchSharding::Ddp : TorchSharding::None;
    case 1:
        return TorchSharding::Zero1;
    case 2:
        return TorchSharding::Zero2;
    default:
        return TorchSharding::Zero3;
    }
}

StepImplementation stepImplementation(const TrainingPlan& plan, const TorchHabits& habits)
{
    const std::string& name = plan.optimizer.impl.value;
    // bitsandbytes updates in place, one kernel a tensor.
    const bool isEightBit = plan.optimizer.name.value.find("8bit") != std::string::npos;
    return name == "fused" || isEightBit ? StepImplementation::Fused
        : name == "foreach"              ? StepImplementation::Foreach
        : name == "foreach2"             ? StepImplementation::ForeachTwice
        : name == "for-loop"             ? StepImplementation::ForLoop
        : name == "flat"                 ? StepImplementation::Flat
                                         : habits.step;
}

void readPrecision(const TrainingPlan& plan, TorchShape& shape)
{
    const PrecisionRecipe types = effectivePrecision(plan);
    const StateRecipe recipe = stateRecipe(plan);
    // Mixed precision of FSDP casts what it gathers; autocast casts in every module.
    const bool isMixed
        = plan.precision.autocast.value || (shape.sharding == TorchSharding::Fsdp && plan.precision.reduce.isKnown());
    shape.castsWeights = plan.precision.autocast.value && types.params == DataType::Fp32;
    shape.castsFrozen = shape.castsWeights && recipe.frozen == bytesPerElement(DataType::Fp32);
    shape.compute = types.params == DataType::Fp32 && !isMixed ? 4 : 2;
    shape.quantises = isQuantised(types.params);
    shape.unpacksWeights = types.params == DataType::Int4;
    shape.weight = shape.quantises ? recipe.otherParameter : recipe.parameter;
    shape.frozen = recipe.otherFrozen;
    shape.frozenMatrix = recipe.frozen;
    shape.gradient = wholeBytes(types.grads);
    shape.reduced = plan.precision.reduce.isKnown() ? wholeBytes(plan.precision.reduce.value) : shape.compute;
    shape.master = recipe.master;
    shape.moments = recipe.moments;
    shape.otherMoments = recipe.otherMoments;
    shape.factored = recipe.factored;
    if (types.optM == DataType::Int8 || plan.optimizer.name.value.find("8bit") != std::string::npos) {
        shape.smallMoments = recipe.moments / bytesPerElement(DataType::Int8) * bytesPerElement(DataType::Fp32);
    }
    shape.reduceBucket = std::max<std::int64_t>(plan.shard.reduceBucket.valueOr(0), 0);
}

void readTrained(const TrainingPlan& plan, TorchShape& shape)
{
    const Trainable trainable = trainableOf(plan);
    shape.trainsModel = trainable.language;
    if (shape.trainsModel) {
        shape.parts = trainedPartsOf(plan).value_or(TrainedParts{});
        shape.trained = shape.parts.outside;
    }
    shape.adapters = trainable.adapters ? adaptersOf(plan) : Adapters{};
    for (const std::string& name : plan.lora.targets.value) {
        shape.adaptsPackedQkv |= name == "c_attn" || name == "linear_qkv" || name == "qkv" || name == "qkv_proj"
            || name == "Wqkv" || name == "query_key_value";
    }
    shape.trainsEmbeddings = trainable.language || (trainable.adapters && plan.lora.trainsEmbeddings.value);
    shape.adapterElement = wholeBytes(plan.lora.adapterType.valueOr(shape.habits.adapterType));
    shape.adapterCompute = shape.sharding == TorchSharding::Fsdp && plan.precision.reduce.isKnown()
        ? shape.compute
        : shape.adapterElement;
    shape.adapterSlots = std::max<std::int64_t>(plan.lora.adapterSlots.valueOr(1), 1);
    shape.adapterSlots += rewardModel(plan) == RewardModel::Adapters ? 1 : 0;
    shape.adapterMoments = stateRecipe(plan).adapterMoments;
    shape.hasAdapterDropout = plan.lora.dropout.valueOr(0) > 0;
}

/// Experts of one rank. Expert parallelism takes its ranks from those that share the weights, and where experts stay
/// whole from tensor parallelism too, whose ranks then send a share of the tokens each (torchtitan
/// distributed/parallel_dims.py, _build_mesh_with_ep; expert_parallel.py, ReordererSequenceParallel; from memory).
void readExperts(const TrainingPlan& plan, TorchShape& shape)
{
    if (!shape.model.isMoe()) {
        return;
    }
    shape.expertRanks = std::clamp<std::int64_t>(plan.parallel.ep.value, 1, shape.model.experts);
    shape.expertTensor = splitOf(plan).expertTensor;
    shape.expertTokenShards = std::max<std::int64_t>(shape.tensor / shape.expertTensor, 1);
    shape.load = std::clamp(plan.moe.load.valueOr(1.0), 0.0, static_cast<double>(shape.model.experts));
}

/// Qwen3-Next multiplies by a norm's weight in fp32, as Nemotron-H does, whose layers are halves of others'
/// (modeling_qwen3_next.py, Qwen3NextRMSNorm; modeling_nemotron_h.py, NemotronHRMSNorm), and Gemma by one more than the
/// weight, which no other decoder with RMSNorm and a gated GELU does (modeling_gemma.py, GemmaRMSNorm).
void readKinds(const TrainingPlan& plan, TorchShape& shape)
{
    const std::vector<LayerKind>& kinds = shape.model.kinds;
    const bool isWide = std::any_of(kinds.begin(), kinds.end(), [](LayerKind kind) {
        return kind.mixer == Mixer::DeltaNet || kind.mixer == Mixer::None;
    });
    const bool isGemma = shape.habits.profile.starts_with("hf") && !shape.model.hasEncoder() && !shape.model.layerNorm
        && plan.model.activation.value == "geglu";
    constexpr std::int64_t fp32 = 4;
    shape.normElement = isWide || isGemma ? fp32 : shape.compute;
    const std::int64_t capability = computeCapability(plan.hardware);
    shape.processors = capability >= 10 ? 148 : capability == 9 ? 132 : 108;
}

void readEncoder(const TrainingPlan& plan, TorchShape& shape)
{
    shape.encoderStages = encoderStages(plan);
    shape.stages += shape.encoderStages;
    if (encoderPlacement(plan) != EncoderPlacement::FirstStage) {
        shape.encoderCopies = encoderCopies(plan);
        shape.encoderTensor = encoderTensorParallel(plan);
    }
}

} // namespace

std::int64_t TorchShape::expertRows() const
{
    return std::llround(static_cast<double>(tokens * model.topk / expertTokenShards) * load);
}

std::int64_t TorchShape::recomputedOf(std::int64_t layers) const
{
    const std::int64_t asked = recomputedShare >= 0
        ? static_cast<std::int64_t>(layersOfShare(recomputedShare, static_cast<double>(layers)))
        : recomputedLayers < 0 ? layers
                               : recomputedLayers;
    return checkpoints ? std::min(asked, layers) : 0;
}

bool usesFirstFsdp(const TrainingPlan& plan, const TorchHabits& habits)
{
    const Count& version = plan.shard.fsdpVersion;
    return plan.shard.fsdp.value && (version.isKnown() ? version.value < 2 : habits.hasFirstFsdp);
}

bool accumulatesWhole(const TrainingPlan& plan, const TorchHabits& habits)
{
    const std::string& framework = plan.framework.value;
    const bool hasOwnLoop = framework == "olmo" || framework == "verl" || framework == "llm-foundry"
        || framework == "llama-factory-v1" || framework.starts_with("xtuner");
    const bool isUsual = habits.accumulatesWhole && !hasOwnLoop;
    return plan.shard.fsdp.value && !plan.shard.syncEachBatch.valueOr(!isUsual) && microBatchesPerStep(plan) > 1
        && plan.parallel.pp.value < 2;
}

const TorchHabits* torchHabits(std::string_view profile)
{
    for (const TorchHabits* habits :
         {&hfEagerHabits, &hfSdpaHabits, &hfFlashHabits, &torchtitanHabits, &torchtuneHabits, &primeRlHabits,
          &litGptHabits, &internEvoHabits, &galvatronHabits, &nanotronHabits}) {
        if (habits->profile == profile) {
            return habits;
        }
    }
    return nullptr;
}

Result<TorchShape> torchShape(const TrainingPlan& plan, const TorchHabits& habits)
{
    if (auto described = checkTorchDescribed(plan, habits); !described) {
        return tl::unexpected(std::move(described.error()));
    }
    TorchShape shape;
    shape.habits = habits;
    shape.model = architectureOf(plan);
    shape.model.tied = shape.model.tied && !habits.untiesTables;
    const std::int64_t context = atLeastOne(plan.parallel.cp);
    shape.sequences = sequencesPerMicroBatch(plan);
    shape.tokens = shape.sequences * layerSequence(plan) / context;
    shape.reference = referenceModel(plan);
    shape.comparesInStep = comparesInStep(plan);
    shape.value = valueModel(plan);
    shape.reward = rewardModel(plan);
    if (plan.objective.response.isKnown()) {
        shape.responseShare = std::min(
            static_cast<double>(plan.objective.response.value) / static_cast<double>(plan.batch.seq.value), 1.0);
    }
    shape.returnsLogits = takesLogProbabilities(plan) || trainsPolicyWithValue(plan);
    shape.keys = layerSequence(plan);
    if (shape.model.hasEncoder()) {
        shape.memoryTokens = shape.sequences * plan.batch.seq.value / context;
        shape.memoryKeys = plan.batch.seq.value;
    }
    shape.hasHiddenDropout = plan.model.hiddenDropout.valueOr(0) > 0;
    shape.hasAttentionDropout = plan.model.attnDropout.valueOr(0) > 0;
    shape.context = context;
    shape.tensor = atLeastOne(plan.parallel.tp);
    shape.mixer = shape.model.mixer.splitOver(mixerRanks(plan, habits));
    shape.spreadsTables = habits.spreadsTables && plan.parallel.vocabTp.valueOr(1) == 1 && shape.tensor > 1;
    shape.tableRanks = habits.holdsTableWhole || shape.spreadsTables ? 1 : shape.tensor;
    shape.outputRanks = shape.model.tied || shape.spreadsTables ? shape.tableRanks : shape.tensor;
    shape.sequenceShards = plan.parallel.sp.value ? shape.tensor : 1;
    shape.gathersAgain = habits.gathersAgain && shape.sequenceShards > 1;
    shape.sharding = shardingKind(plan);
    const std::int64_t replicas = dataParallelSize(plan) * context;
    shape.shards = std::max<std::int64_t>(
        plan.parallel.dpShard.isKnown() && plan.parallel.dpShard.value > 0
            ? plan.parallel.dpShard.value * context
            : replicas / (shape.sharding == TorchSharding::Fsdp ? atLeastOne(plan.parallel.dpReplicate) : 1),
        1);
    if (plan.shard.fsdp.value && !shardedParts(plan.shard).optimizer) {
        shape.shards = 1; // NO_SHARD: casts to the compute type where the others gather
    }
    const bool isLiger = plan.implementation.fusedLoss.value == "liger";
    shape.isCompiled = plan.implementation.compile.valueOr(false);
    shape.hasFusedNorm = shape.isCompiled || isLiger || !habits.hasPythonNorm;
    shape.hasFusedGate = shape.isCompiled || isLiger || habits.hasFusedGate;
    // T5 adds relative positions to its scores (transformers modeling_t5.py, no fused attention).
    shape.hasExplicitScores = habits.hasExplicitScores || shape.model.relativePositions > 0;
    shape.rotates = plan.model.rope.valueOr(!plan.model.learnedPositions.valueOr(false));
    shape.reshards = reshards(plan);
    shape.isFirstFsdp = usesFirstFsdp(plan, habits);
    shape.accumulatesWhole = accumulatesWhole(plan, habits);
    shape.repeatsKv = plan.implementation.repeatKv.valueOr(habits.repeatsKv);
    shape.loss = lossPath(plan, habits);
    shape.isLossCompiled = plan.implementation.compiledLoss.valueOr(false);
    shape.gathersHeadAlone = plan.implementation.separateTables.valueOr(habits.gathersTablesAlone) && !shape.model.tied;
    shape.keepsLogits = plan.implementation.keepsLogits.valueOr(false);
    shape.lossChunks = std::max<std::int64_t>(plan.implementation.lossChunks.valueOr(8), 1);
    shape.optimizer = optimizerOf(plan);
    shape.step = stepImplementation(plan, habits);
    shape.clipsInFp32 = habits.clipsInFp32;
    shape.stepsInBackward = plan.optimizer.inBackward.value;
    shape.float8 = torchFloat8(plan, habits).value_or(TorchFloat8{});
    readPrecision(plan, shape);
    readTrained(plan, shape);
    if (isRecomputed(plan.recompute)) {
        const bool isSelective = plan.recompute.granularity.value == Granularity::Selective;
        shape.checkpoints = plan.recompute.granularity.value == Granularity::Full || recomputesLayers(plan.recompute);
        shape.storesSelectively = isSelective && !shape.checkpoints && followsPolicy(plan, habits);
        shape.rebuilt = isSelective && !shape.checkpoints && !shape.storesSelectively
            ? modulesNamed(plan.recompute.modules.value).value_or(0)
            : std::uint8_t{0};
        shape.storesAttention = shape.storesSelectively && !recomputesAttention(plan.recompute);
        if ((isSelective || plan.recompute.method.value == "block") && plan.recompute.numLayers.isKnown()) {
            shape.recomputedLayers = std::max<std::int64_t>(plan.recompute.numLayers.value, 0);
        }
        shape.recomputedShare = recomputedShare(plan.recompute).value_or(-1);
        // A checkpoint saves nothing but its input.
        shape.offloadsInputs
            = shape.checkpoints && (plan.recompute.offloadInputs.value || plan.shard.offloadActivations.value);
    }
    shape.offload = offloadOf(plan);
    shape.checkpointsVision = plan.recompute.vision.value;
    readExperts(plan, shape);
    if (plan.parallel.pp.value > 1) {
        shape.stages = plan.parallel.pp.value;
        const Schedule schedule = plan.parallel.schedule.value;
        shape.splitsBackward = splitsBackward(schedule);
        shape.chunks = isFolded(schedule) ? 2 : shape.splitsBackward ? 1 : chunksPerStage(plan);
        shape.model.tied = false; // the last stage has a copy
    }
    readEncoder(plan, shape);
    shape.offloadsParameters = plan.shard.offloadParams.value;
    shape.offloadsOptimizer = plan.shard.offloadOptimizer.value || plan.shard.offloadParams.value;
    // Below stage 3 DeepSpeed has no partial offload; with weights in the host's memory their state is there too.
    shape.offloadedSubGroups
        = plan.shard.offloadParams.value ? 1 : std::clamp(plan.shard.offloadOptimizerFraction.valueOr(1.0), 0.0, 1.0);
    shape.subGroup = static_cast<double>(std::max<std::int64_t>(plan.shard.subGroup.valueOr(1'000'000'000), 1));
    shape.cublasWorkspace = cublasWorkspaceBytes(plan);
    const Trainable trainable = trainableOf(plan);
    // What another stage sent always wants a gradient (torch/distributed/pipelining/stage.py, requires_grad_).
    shape.trainsImages = trainable.vision || trainable.projector || shape.encoderStages > 0;
    const VisionTower tower = visionTowerOf(plan);
    readKinds(plan, shape);
    if (!isComputable(shape) || !areMixersComputable(shape)
        || (tower.isPresent() && !isComputable(shape, tower, projectorOf(plan)))) {
        return failure(Text{HEADROOM_TR("core", "the sizes of the plan are beyond what any machine holds")});
    }
    return shape;
}

} // namespace headroom
