// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/shape.h"

#include "footprint/recipe/architecture.h"
#include "footprint/recipe/state.h"
#include "footprint/schedule/order.h"
#include "footprint/tape/refusals.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/objective.h"
#include "plan/pipeline_layout.h"
#include "plan/pipeline_split.h"
#include "plan/precision.h"
#include "plan/recomputed_share.h"
#include "plan/validity.h"
#include "plan/vocabulary_split.h"
#include "units/bytes.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

std::int64_t atLeastOne(const Count& count)
{
    return std::max<std::int64_t>(count.value, 1);
}

bool contains(const Names& names, std::string_view name)
{
    return std::find(names.value.begin(), names.value.end(), name) != names.value.end();
}

std::int64_t bytesOf(DataType type)
{
    return static_cast<std::int64_t>(std::ceil(bytesPerElement(type)));
}

/// What the backend "auto" ends up with: cuDNN has preference from Hopper on, but on Blackwell has no deterministic
/// backward with dropout (Transformer Engine, attention/dot_product_attention/utils.py, get_attention_backend).
AttentionKernel attentionKernel(const TrainingPlan& plan, const RankShape& shape)
{
    if (!shape.isTransformerEngine) {
        return AttentionKernel::Local;
    }
    const std::string& name = plan.attention.impl.value;
    if (name == "unfused" || shape.element == 4) {
        return AttentionKernel::Unfused;
    }
    if (shape.isKwai || name == "flash" || name == "flash_attention_2" || name == "flash_attention_3") {
        return AttentionKernel::Flash;
    }
    if (name == "fused") {
        return AttentionKernel::Fused;
    }
    const bool isImpossible = plan.implementation.deterministic.valueOr(false) && shape.hasAttentionDropout;
    return shape.capability == 9 || (shape.capability > 9 && !isImpossible) ? AttentionKernel::Fused
                                                                            : AttentionKernel::Flash;
}

/// theory_dense.md rules 3 and 4: PyTorch's default is :4096:2:16:8 before Hopper, 32 MiB from then on; a deterministic
/// run must set :4096:8, the same 32 MiB. Transformer Engine takes 4 MiB, from Hopper on 32 MiB and 1 KiB.
void readWorkspaces(const TrainingPlan& plan, RankShape& shape)
{
    shape.cublasWorkspace = cublasWorkspaceBytes(plan);
    shape.gemmWorkspace = shape.capability >= 9 ? mib(32).value + kib(1).value : mib(4).value;
}

void readModel(const TrainingPlan& plan, std::int64_t tensor, RankShape& shape)
{
    const ModelPlan& model = plan.model;
    const Architecture whole = architectureOf(plan);
    shape.hidden = whole.hidden;
    shape.headDim = whole.headDim;
    shape.heads = whole.heads / tensor;
    shape.groups = std::max<std::int64_t>(whole.groups / tensor, 1); // replicated when there are fewer than ranks
    shape.ffn = whole.ffn / tensor;
    shape.gates = whole.gate;
    shape.vocab = (whole.vocab + tensor - 1) / tensor;
    shape.positions = whole.positions;
    shape.hasLearnedPositions = whole.positions > 0;
    shape.isTied = whole.tied;
    shape.labels = whole.labels;
    shape.isRms = !whole.layerNorm;
    shape.hasQkNorm = whole.qkNorm;
    shape.hasQkvBias = whole.qkvBias;
    shape.hasAttentionOutputBias = whole.outBias;
    shape.hasMlpBias = whole.mlpBias;
    shape.isSquaredRelu = model.activation.value == "squared_relu";
    if (model.rope.valueOr(!shape.hasLearnedPositions)) {
        shape.rotaryDim
            = static_cast<std::int64_t>(static_cast<double>(shape.headDim) * model.rotaryFraction.valueOr(1.0));
    }
    shape.hasBinaryHead = model.binaryHead.valueOr(true);
    shape.hasHeadBias = whole.headBias;
    shape.hasAttentionDropout = model.attnDropout.valueOr(0) > 0;
    shape.hasHiddenDropout = model.hiddenDropout.valueOr(0) > 0;
    const bool hasDecoder = model.family.value == "t5" || model.decoderLayers.isKnown();
    shape.family = model.family.value == "bert" ? ModelFamily::Bert
        : hasDecoder                            ? ModelFamily::T5
                                                : ModelFamily::Decoder;
    shape.layers = whole.layers;
    shape.encoderLayers = whole.encoderLayers;
    shape.predictors = model.mtpLayers.valueOr(0);
}

void readParallel(const TrainingPlan& plan, RankShape& shape)
{
    const ParallelPlan& parallel = plan.parallel;
    shape.tensor = atLeastOne(parallel.tp);
    shape.stages = atLeastOne(parallel.pp);
    shape.context = atLeastOne(parallel.cp);
    shape.sequenceShards = parallel.sp.value ? shape.tensor : 1;
    shape.chunks = chunksPerStage(plan);
    if (parallel.layout.isKnown() && !plan.model.mtpLayers.isKnown()) {
        const auto layout = PipelineLayout::parse(parallel.layout.value, shape.stages);
        shape.predictors = layout ? layout->mtpLayers() : 0;
    }
    shape.chunkGroup = std::max<std::int64_t>(parallel.vppGroup.valueOr(shape.stages), 1);
    shape.chunks = shape.stages > 1 ? shape.chunks : 1; // interleaving needs stages to interleave
    if (splitsBackward(parallel.schedule.value)) {
        shape.schedule = shape.stages > 1 ? parallel.schedule.value : Schedule::OneForwardOneBackward;
        shape.chunks = isFolded(shape.schedule) || layerCopies(shape.schedule) > 1 ? 2 : 1;
    } else {
        shape.schedule = shape.chunks > 1 ? Schedule::Interleaved : parallel.schedule.value;
    }
    const VocabularySplit vocabulary = vocabularySplit(plan);
    shape.vocabularyShards = vocabulary == VocabularySplit::None ? 1 : shape.stages;
    shape.extraInFlight = extraInFlight(vocabulary, shape.stages);
    shape.encoderStages = encoderStages(plan);
    shape.stages += shape.encoderStages;
    shape.encoderCopies = encoderCopies(plan);
    shape.data = dataParallelSize(plan);
    shape.microBatches = microBatchesPerStep(plan);
    shape.microBatch = sequencesPerMicroBatch(plan);
    shape.fullSequence = plan.batch.seq.value;
    shape.sequence = shape.fullSequence / shape.context;
    shape.decoderSequence = plan.batch.decoderSeq.valueOr(shape.fullSequence) / shape.context;
    const ShardedParts parts = plan.shard.fsdp.value ? shardedParts(plan.shard) : ShardedParts{};
    shape.isDistributedOptimizer = plan.shard.fsdp.value ? parts.optimizer : plan.shard.distOpt.value;
    shape.shardsGradients = parts.gradients;
    shape.shardsParameters = parts.parameters;
    shape.movesFrozen = plan.shard.fsdp.value && parts.optimizer;
    shape.communicationUnit = plan.shard.communicationUnit.valueOr(0);
    shape.optimizerShards = shardingRanks(plan, shape.data * shape.context);
}

void readPrecision(const TrainingPlan& plan, RankShape& shape)
{
    const PrecisionRecipe types = effectivePrecision(plan);
    shape.element = std::max<std::int64_t>(bytesOf(types.params), 1);
    shape.gradient = bytesOf(types.grads);
    shape.master = bytesOf(types.master);
    shape.firstMoment = bytesOf(types.optM);
    shape.secondMoment = bytesOf(types.optV);
    const OptimizerKind optimizer = optimizerOf(plan);
    if (optimizer == OptimizerKind::Sgd || optimizer == OptimizerKind::Momentum) {
        shape.secondMoment = 0;
        shape.firstMoment = optimizer == OptimizerKind::Sgd ? 0 : shape.firstMoment;
    }
    shape.orthogonalises = optimizer == OptimizerKind::Muon;
    if (shape.orthogonalises) {
        shape.firstMoment = shape.firstMoment > 0 ? shape.firstMoment : 4;
        shape.secondMoment = 0;
    }
    shape.dealsTensors = shape.orthogonalises && plan.shard.distOpt.value && plan.shard.wholeTensors.value;
    shape.isDistributedOptimizer = shape.isDistributedOptimizer && !shape.dealsTensors; // buffers are whole
    shape.optimizerRank = plan.shard.rank.valueOr(-1);
    shape.copiesForNorm = plan.implementation.logsParameterNorm.value && types.params == DataType::Bf16;
    shape.otherSecondMoment = shape.orthogonalises ? shape.firstMoment : shape.secondMoment;
    if (plan.shard.offloadOptimizer.value) {
        shape.optimizerOnGpu = 1 - std::clamp(plan.shard.offloadOptimizerFraction.valueOr(1.0), 0.0, 1.0);
    }
    // A 16-bit gradient buffer is copied to fp32 in the step; the copies live until zero_grad (theory_dense.md rule 7).
    shape.hasMainGradients = shape.master > 0 && shape.gradient < 4 && !isPrecisionAware(plan);
    shape.usesFp8 = plan.precision.fp8.isKnown() && !plan.precision.fp8.value.empty();
    shape.scalesFp8ByBlock = plan.precision.fp8.value == "blockwise";
    shape.hasFp8Parameters = shape.usesFp8 && plan.precision.fp8Params.value;
}

void readImplementation(const TrainingPlan& plan, RankShape& shape)
{
    const ImplementationPlan& facts = plan.implementation;
    if (facts.cudaGraphs.isKnown()) {
        shape.graphs = graphShapeOf(facts);
    }
    shape.isKwai = profileOf(plan) == "megatron-kwai";
    shape.isTransformerEngine = shape.isKwai || profileOf(plan) == "megatron-te";
    shape.capability = computeCapability(plan.hardware);
    shape.kernel = attentionKernel(plan, shape);
    if (!plan.mla.kvLoraRank.isKnown()) {
        shape.requireKernel();
    }
    shape.isThirdFlash = plan.attention.impl.value == "flash_attention_3";
    const std::string& loss = facts.fusedLoss.value;
    shape.fusedLoss = loss == "native" ? FusedLoss::Native
        : loss == "te-inplace"         ? FusedLoss::InPlace
                                       : FusedLoss::None;
    shape.fusesWeightGradients = facts.gradAccumFusion.valueOr(true);
    shape.keepsPlaceholderGradients
        = shape.isTransformerEngine && shape.fusesWeightGradients && facts.placeholderGrads.valueOr(!shape.isKwai);
    shape.fusesRope = facts.ropeFusion.valueOr(true);
    shape.fusesMaskedSoftmax = facts.maskedSoftmaxFusion.valueOr(true);
    shape.hasLoaderMask = facts.loaderMask.valueOr(true);
    shape.savesPaddingMask = facts.savedPaddingMask.valueOr(true);
    shape.overlapsTensorParallel = facts.tpCommOverlap.valueOr(false) && shape.tensor > 1;
    shape.deferredWgrads = facts.deferredWgrads.valueOr(-1);
    readWorkspaces(plan, shape);
}

void readRecompute(const RecomputePlan& recompute, RankShape& shape)
{
    if (!recompute.enabled.value && recompute.enabled.isStated()) {
        return;
    }
    const bool namesModules = recompute.modules.isKnown() && !recompute.modules.value.empty();
    if (const auto share = recomputedShare(recompute)) {
        shape.checkpointGroup = 1;
        shape.checkpointedShare = *share;
    } else if (recompute.granularity.value == Granularity::Full) {
        const bool isBlock = recompute.method.value == "block";
        shape.checkpointGroup = isBlock ? 1 : std::max<std::int64_t>(recompute.numLayers.valueOr(1), 1);
        shape.checkpointedLayers = isBlock ? recompute.numLayers.valueOr(-1) : -1;
    } else if (recompute.granularity.value == Granularity::Selective && recompute.numLayers.isKnown()
               && !namesModules) {
        shape.checkpointGroup = 1;
        shape.checkpointedLayers = recompute.numLayers.value;
    } else if (recompute.granularity.value == Granularity::Selective) {
        shape.recomputesAttention = !namesModules || contains(recompute.modules, "core_attn");
        shape.recomputesMlp = contains(recompute.modules, "mlp");
        shape.recomputesNorms = contains(recompute.modules, "layernorm");
        shape.recomputesActivation = contains(recompute.modules, "mlp_act");
    }
}

void readOffload(const ShardPlan& shard, RankShape& shape)
{
    OffloadShape& offload = shape.offload;
    offload.isOn = shard.offloadActivations.value;
    offload.isByChunk = shape.isKwai;
    offload.layers = shard.offloadActivationLayers.valueOr(-1);
    offload.fraction = std::clamp(shard.offloadActivationFraction.valueOr(1.0), 0.0, 1.0);
    if (shard.offloadActivationModules.value.empty()) {
        return;
    }
    offload.modules = 0;
    struct Named
    {
        const char* name;
        unsigned modules;
    };
    for (const auto& [name, modules] :
         {Named{"attn_norm", OffloadShape::AttentionNorm}, Named{"qkv_linear", OffloadShape::QkvLinear},
          Named{"core_attn", OffloadShape::CoreAttention | OffloadShape::Scores},
          Named{"attn_proj", OffloadShape::AttentionProjection}, Named{"mlp_norm", OffloadShape::MlpNorm},
          Named{"expert_fc1", OffloadShape::ExpertInputs}, Named{"moe_act", OffloadShape::ExpertActivation}}) {
        offload.modules |= contains(shard.offloadActivationModules, name) ? modules : 0U;
    }
}

/// The largest tensor times everything that multiplies it must stay far below 2^63.
bool isComputable(const TrainingPlan& plan)
{
    const ModelPlan& model = plan.model;
    const double tokens = static_cast<double>(sequencesPerMicroBatch(plan)) * static_cast<double>(plan.batch.seq.value);
    const double heads = static_cast<double>(model.heads.value);
    const double hidden = static_cast<double>(model.hidden.value);
    const double attention = heads * static_cast<double>(model.headDim.valueOr(1));
    const double width = hidden + attention + 2.0 * static_cast<double>(model.ffn.value)
        + heads * static_cast<double>(plan.batch.seq.value);
    const double vocab = static_cast<double>(std::max(model.vocab.value, model.paddedVocab.value)) + 1e6;
    const double layers = static_cast<double>(model.layers.value) + static_cast<double>(model.encoderLayers.value) + 1;
    const double weights = layers * hidden * (4 * width) + 2 * vocab * hidden;
    return (tokens * width * layers * static_cast<double>(std::max<std::int64_t>(plan.parallel.pp.value, 1))
            + tokens * vocab + weights)
        * 64
        < 4e18;
}

/// The same for an image encoder and what follows it.
bool isComputable(const TrainingPlan& plan, const VisionTower& tower, const Projector& projector)
{
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double patches = real(sequencesPerMicroBatch(plan)) * real(tower.images) * real(tower.tokens);
    const double merged = real(projector.in) * real(projector.merge) * real(projector.merge);
    const double pixels = 3 * real(tower.temporalPatch) * real(tower.patch) * real(tower.patch);
    const double width = 4 * (real(tower.hidden) + real(tower.ffn)) + real(tower.heads) * real(tower.tokens) + merged
        + real(projector.hidden) + real(projector.out) + pixels;
    const double layers = real(tower.layers) + real(std::clamp<std::int64_t>(projector.layers, 0, 64)) + 65;
    return (patches + real(tower.positions) + real(tower.hidden) + merged + real(projector.out)
            + real(projector.hidden))
        * width * layers * 64
        < 4e18;
}

/// Query, key and value are rows of one weight, as are gate and up projection (transformer/attention.py and mlp.py).
bool partsAWeight(const RankShape& shape, std::uint32_t trained)
{
    using enum TrainedParts::Part;
    const bool isPacked = !shape.latentAttention.isPresent(), isGated = shape.gates == 2;
    const auto divides
        = [trained](std::uint32_t weight) { return (trained & weight) != 0 && (trained & weight) != weight; };
    return (isPacked && divides(Query | Key | Value))
        || (isGated && (divides(Gate | Up) || divides(ExpertGate | ExpertUp) || divides(SharedGate | SharedUp)));
}

Result<void> readTrainedParts(const TrainingPlan& plan, RankShape& shape)
{
    auto parts = trainedPartsOf(plan);
    if (!parts) {
        return tl::unexpected(std::move(parts.error()));
    }
    shape.parts = std::move(*parts);
    shape.trained = shape.parts.outside;
    if (shape.predictors > 0) { // the head's piece has them
        constexpr std::uint32_t outside = TrainedParts::outsideBlocks;
        shape.trained = (shape.trained & outside) | (shape.parts.prediction & ~outside);
    }
    const auto divides = [&shape](std::uint32_t trained) { return partsAWeight(shape, trained); };
    if (divides(shape.parts.prediction) || std::any_of(shape.parts.layers.begin(), shape.parts.layers.end(), divides)) {
        return failure(Text{HEADROOM_TR("core",
                                        "Megatron packs query, key and value in one weight, and gate and up projection "
                                        "in another: freeze all of a weight or nothing of it (see frozen.patterns, "
                                        "frozen.trained and frozen.trained_modules)")});
    }
    return {};
}

} // namespace

void RankShape::requireKernel()
{
    const bool isTransformerEngines = isTransformerEngine && !isKwai;
    if (isTransformerEngines && headDim % 8 != 0) {
        kernel = AttentionKernel::Unfused;
    }
}

std::int64_t RankShape::checkpointedOf(std::int64_t chunkLayers) const
{
    return checkpointGroup == 0 ? 0
        : checkpointedShare >= 0
        ? static_cast<std::int64_t>(layersOfShare(checkpointedShare, static_cast<double>(chunkLayers)))
        : checkpointedLayers < 0 ? chunkLayers
                                 : std::min(checkpointedLayers, chunkLayers);
}

Result<void> readRankShape(const TrainingPlan& plan, RankShape& shape)
{
    if (auto described = checkDescribed(plan); !described) {
        return described;
    }
    const std::int64_t tensor = atLeastOne(plan.parallel.tp);
    const bool divides
        = plan.model.heads.value % tensor == 0 && plan.batch.seq.value % atLeastOne(plan.parallel.cp) == 0;
    const VisionTower tower = visionTowerOf(plan);
    const bool hasSizes = isComputable(plan) && (!tower.isPresent() || isComputable(plan, tower, projectorOf(plan)));
    if (!divides || !hasSizes) {
        for (const Problem& problem : validate(plan)) {
            if (problem.severity == Severity::Error) {
                return tl::unexpected(problem);
            }
        }
        return failure(Text{HEADROOM_TR("core", "the sizes of the plan are beyond what any machine holds")});
    }
    shape = {};
    readModel(plan, tensor, shape);
    readParallel(plan, shape);
    readPrecision(plan, shape);
    readImplementation(plan, shape);
    readRecompute(plan.recompute, shape);
    readOffload(plan.shard, shape);
    if (!canRun({shape.schedule, shape.stages, shape.chunks, shape.microBatches, 0})) {
        return failure(Text{HEADROOM_TR("core",
                                        "DualPipe needs an even number of stages, and micro-batches at least twice as "
                                        "many and in pairs")});
    }
    shape.hasReference = referenceModel(plan) == ReferenceModel::Separate;
    shape.isFrozen = !trainableOf(plan).language;
    shape.adapters = adaptersOf(plan);
    shape.hasAdapterDropout = plan.lora.dropout.valueOr(0) > 0;
    if (auto special = readSpecialLayers(plan, shape); !special) {
        return special;
    }
    if (freezesParts(plan) && shape.adapters.rank == 0) { // beside adapters all is frozen
        if (auto frozen = readTrainedParts(plan, shape); !frozen) {
            return frozen;
        }
    }
    return readHybrid(plan, shape);
}

} // namespace headroom
