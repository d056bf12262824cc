// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/state.h"

#include "footprint/tape/shape.h"
#include "footprint/torch/habits.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/objective.h"
#include "plan/precision.h"

#include <algorithm>
#include <cctype>

namespace headroom {

namespace {

/// Whether `name` has `word` in it, whatever the case of its letters.
bool mentions(std::string_view name, std::string_view word)
{
    const auto sameLetter = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::search(name.begin(), name.end(), word.begin(), word.end(), sameLetter) != name.end();
}

bool is16Bit(DataType type)
{
    return type == DataType::Bf16 || type == DataType::Fp16;
}

/// Data types of the moments as the optimizer's name decides them, where the plan does not state them.
void applyOptimizer(const TrainingPlan& plan, OptimizerKind kind, PrecisionRecipe& types)
{
    const std::string_view name = plan.optimizer.name.isKnown() ? plan.optimizer.name.value : std::string_view{};
    const bool isMomentStated = plan.precision.optM.isKnown();
    if (mentions(name, "8bit") || mentions(name, "8-bit")) {
        types.optM = isMomentStated ? types.optM : DataType::Int8;
        types.optV = plan.precision.optV.isKnown() ? types.optV : DataType::Int8;
    }
    if (kind == OptimizerKind::Sgd) {
        // A recipe without a second moment is one made for SGD and knows whether there is momentum.
        const bool isSgdRecipe = types.optV == DataType::None;
        types.optM = isMomentStated || isSgdRecipe ? types.optM : DataType::None;
        types.optV = DataType::None;
    } else if (kind == OptimizerKind::Momentum || kind == OptimizerKind::Muon) {
        types.optM = types.optM == DataType::None && !isMomentStated ? DataType::Fp32 : types.optM;
    }
}

/// Beside 16-bit weights Transformer Engine keeps 8-bit ones, and transposed ones where the GPU or scales by block want
/// them (theory_moe_cp.md B3).
double eightBitCopies(const TrainingPlan& plan)
{
    const bool usesFp8 = plan.precision.fp8.isKnown() && !plan.precision.fp8.value.empty();
    const std::string_view profile = profileOf(plan);
    if (!usesFp8 || plan.precision.fp8Params.value || (profile != "megatron-te" && profile != "megatron-kwai")) {
        return 0;
    }
    const bool isByBlock = plan.precision.fp8.value == "blockwise";
    return computeCapability(plan.hardware) < 10 || isByBlock ? 2 : 1;
}

/// An fp32 constant for every 64 weights (arXiv:2305.14314 section 3, before double quantisation).
constexpr double plainNf4 = (4.0 + 32.0 / 64.0) / 8.0;

struct Share
{
    double parameters, gradients, optimizer;
};

void addTrained(StateBytes& result, const Weights& weights, const StateRecipe& recipe, const Share& share)
{
    const double matrices = weights.matrices.real();
    const double others = weights.tables.real() + weights.vectors.real();
    result.parameters += (matrices * recipe.parameter + others * recipe.otherParameter) * share.parameters;
    result.parameters += matrices * recipe.eightBitCopies;
    result.gradients += (matrices + others) * recipe.gradient * share.gradients;
    result.gradientCopies += (matrices + others) * recipe.gradientCopy * share.gradients;
    result.master += (matrices + others) * recipe.master * share.optimizer;
    double moments = matrices * recipe.moments + others * recipe.otherMoments;
    if (recipe.factored > 0) {
        moments += recipe.factored * (weights.factors.real() + weights.vectors.real());
    }
    result.moments += moments * share.optimizer;
}

void addFrozen(StateBytes& result, const Weights& weights, const StateRecipe& recipe, const Share& share)
{
    result.parameters += (weights.matrices.real() * recipe.frozen
                          + (weights.tables.real() + weights.vectors.real()) * recipe.otherFrozen)
        * share.parameters;
    result.parameters += weights.matrices.real() * recipe.eightBitCopies;
}

/// LoRA adapters train in fp32 unless the framework makes them 16-bit: 4 + 4 bytes and their moments (theory.md 2.1,
/// S06). In Megatron they are parameters like all others (ms-swift 4.6, megatron_lm_utils.py, wrap_model).
void addAdapters(StateBytes& result, const Weights& weights, const StateRecipe& recipe, const Share& share)
{
    if (recipe.gradientsPersist) {
        result.parameters += weights.adapters.real() * recipe.parameter * share.parameters;
        result.gradients += weights.adapters.real() * recipe.gradient * share.gradients;
        result.master += weights.adapters.real() * recipe.master * share.optimizer;
        result.moments += weights.adapters.real() * recipe.moments * share.optimizer;
        return;
    }
    result.parameters += weights.adapters.real() * recipe.adapter * share.parameters;
    result.gradients += weights.adapters.real() * recipe.adapter * share.gradients;
    result.moments += weights.adapters.real() * recipe.adapterMoments * share.optimizer;
}

/// Copies of the state among the data parallel ranks: those of hybrid FSDP, which Megatron calls instances.
std::int64_t stateCopies(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    const std::int64_t instances = std::max<std::int64_t>(plan.shard.distOptInstances.valueOr(1), 1);
    if (!plan.shard.fsdp.value) {
        return instances;
    }
    const std::int64_t copies
        = parallel.dpShard.value > 0 ? dataParallelSize(plan) / parallel.dpShard.value : parallel.dpReplicate.value;
    return std::max(copies, instances);
}

} // namespace

std::int64_t shardingRanks(const TrainingPlan& plan, std::int64_t replicas)
{
    return std::max<std::int64_t>(replicas / stateCopies(plan), 1);
}

ShardedParts shardedParts(const ShardPlan& shard)
{
    std::int64_t level = std::clamp<std::int64_t>(shard.zeroStage.value, 0, 3);
    if (shard.distOpt.value && !shard.fsdp.value) { // Megatron's FSDP asks for it, whatever it shards
        level = std::max<std::int64_t>(level, 1);
    }
    if (shard.fsdp.value) {
        const std::string_view strategy = shard.strategy.isKnown() ? shard.strategy.value : std::string_view{};
        const bool isOff = mentions(strategy, "no_shard") || mentions(strategy, "ddp");
        // SHARD_GRAD_OP keeps whole parameters from forward to backward, where the peak is. Megatron's own FSDP has
        // optim, optim_grads and optim_grads_params.
        const std::int64_t named = isOff                                 ? 0
            : strategy == "optim"                                        ? 1
            : mentions(strategy, "grad_op") || strategy == "optim_grads" ? 2
                                                                         : 3;
        level = std::max(level, named);
    }
    return {level >= 1, level >= 2, level >= 3};
}

OptimizerKind optimizerKind(std::string_view name)
{
    if (mentions(name, "adafactor")) {
        return OptimizerKind::Adafactor;
    }
    if (mentions(name, "muon")) {
        return OptimizerKind::Muon;
    }
    // One state of the parameters' size: SGD with momentum, Lion's momentum, the squares of Adagrad and RMSprop.
    if (mentions(name, "momentum") || mentions(name, "sgdm") || mentions(name, "lion") || mentions(name, "adagrad")
        || mentions(name, "rmsprop")) {
        return OptimizerKind::Momentum;
    }
    return mentions(name, "sgd") ? OptimizerKind::Sgd : OptimizerKind::Adam;
}

OptimizerKind optimizerOf(const TrainingPlan& plan)
{
    if (plan.precision.recipe.value == "megatron-bf16-muon") {
        return OptimizerKind::Muon;
    }
    return optimizerKind(plan.optimizer.name.isKnown() ? plan.optimizer.name.value : std::string_view{});
}

namespace {

/// Bytes per element: PyTorch's optimizers keep their states in the type of what they step, `own` bytes, unless they
/// are made for 8 bits; the types of a recipe are those of the model's own weights.
double adapterMoments(const PrecisionRecipe& types, OptimizerKind kind, bool isInPyTorch, double own)
{
    const bool followsParameters = isInPyTorch && types.optM != DataType::Int8;
    const auto bytesOf
        = [&](DataType type) { return followsParameters && type != DataType::None ? own : bytesPerElement(type); };
    switch (kind) {
    case OptimizerKind::Adafactor:
        return 0;
    case OptimizerKind::Momentum:
    case OptimizerKind::Muon:
        return bytesOf(types.optM);
    default:
        return bytesOf(types.optM) + bytesOf(types.optV);
    }
}

} // namespace

StateRecipe stateRecipe(const TrainingPlan& plan)
{
    PrecisionRecipe types = effectivePrecision(plan);
    const OptimizerKind kind = optimizerOf(plan);
    applyOptimizer(plan, kind, types);
    const double first = bytesPerElement(types.optM);
    const double second = bytesPerElement(types.optV);
    StateRecipe recipe;
    recipe.keepsReference = referenceModel(plan) == ReferenceModel::Separate;
    const TorchHabits* habits = torchHabits(profileOf(plan));
    const bool isPlain = !plan.precision.doubleQuantised.valueOr(habits == nullptr || !habits->hasPlainConstants);
    recipe.parameter = types.params == DataType::Nf4 && isPlain ? plainNf4 : bytesPerElement(types.params);
    const bool hasOtherType = isQuantised(types.params) || types.params == DataType::Fp8;
    recipe.otherParameter = hasOtherType ? bytesPerElement(DataType::Bf16) : recipe.parameter;
    const bool hasFrozenType = plan.precision.frozen.isKnown();
    recipe.otherFrozen = hasFrozenType ? bytesPerElement(plan.precision.frozen.value) : recipe.otherParameter;
    recipe.frozen = hasFrozenType && !isQuantised(types.params) ? recipe.otherFrozen : recipe.parameter;
    recipe.copiesTables = plan.lora.trainsEmbeddings.value;
    recipe.eightBitCopies = eightBitCopies(plan);
    recipe.gradient = bytesPerElement(types.grads);
    const bool copiesGradients = types.id == "megatron-fp16" && !isPrecisionAware(plan);
    recipe.gradientCopy = copiesGradients && is16Bit(types.grads) ? bytesPerElement(DataType::Fp32) : 0.0;
    recipe.master = bytesPerElement(types.master);
    recipe.adapter = bytesPerElement(plan.lora.adapterType.valueOr(habits ? habits->adapterType : DataType::Fp32));
    // DeepSpeed hands the optimizer fp32 masters.
    const double stepped = plan.shard.zeroStage.value > 0 ? bytesPerElement(DataType::Fp32) : recipe.adapter;
    recipe.adapterMoments = adapterMoments(types, kind, habits != nullptr, stepped);
    recipe.moments = first + second;
    recipe.otherMoments = recipe.moments;
    if (kind == OptimizerKind::Momentum || kind == OptimizerKind::Muon) {
        recipe.moments = first;
        recipe.otherMoments = kind == OptimizerKind::Muon ? 2 * first : first;
    } else if (kind == OptimizerKind::Adafactor) {
        recipe.moments = recipe.otherMoments = 0;
        recipe.factored = bytesPerElement(DataType::Fp32);
    }
    const bool isMainGradient = is16Bit(types.params) && types.grads == DataType::Fp32;
    recipe.gradientsPersist = isMainGradient || recipe.gradientCopy > 0 || plan.shard.distOpt.value;
    return recipe;
}

Sharding shardingOf(const TrainingPlan& plan, const Split& split)
{
    const ShardedParts parts = shardedParts(plan.shard);
    const std::int64_t replicas = (Elements(split.data) * split.context).value();
    const auto ranks = static_cast<double>(shardingRanks(plan, replicas));
    const auto expertRanks = static_cast<double>(shardingRanks(plan, split.expertData()));
    Sharding result;
    result.optimizer = parts.optimizer ? ranks : 1;
    result.gradients = parts.gradients ? ranks : 1;
    result.parameters = parts.parameters ? ranks : 1;
    // Copies of an encoder on every stage are replicas of one another.
    const std::int64_t visionReplicas = (Elements(replicas) * encoderCopies(plan)).value();
    const auto visionRanks = static_cast<double>(shardingRanks(plan, visionReplicas));
    result.visionOptimizer = parts.optimizer ? visionRanks : 1;
    result.visionGradients = parts.gradients ? visionRanks : 1;
    result.visionParameters = parts.parameters ? visionRanks : 1;
    result.expertOptimizer = parts.optimizer ? expertRanks : 1;
    result.expertGradients = parts.gradients ? expertRanks : 1;
    result.expertParameters = parts.parameters ? expertRanks : 1;
    if (plan.shard.offloadOptimizer.value) {
        result.optimizerOnGpu = 1 - std::clamp(plan.shard.offloadOptimizerFraction.valueOr(1.0), 0.0, 1.0);
        // DeepSpeed reduces gradients straight into host memory when it offloads the optimizer.
        result.gradientsOnGpu = parts.gradients ? result.optimizerOnGpu : 1;
    }
    if (plan.shard.offloadParams.value) {
        // Where the weights are, their optimizer is.
        result.parametersOnGpu = result.optimizerOnGpu = 0;
        result.gradientsOnGpu = parts.gradients ? 0 : result.gradientsOnGpu;
    }
    return result;
}

StateBytes stateBytes(const StageWeights& weights, const StateRecipe& recipe, const Sharding& sharding,
                      const Trainable& trainable, double trainedShare)
{
    StateBytes result;
    const Share dense{sharding.parametersOnGpu / sharding.parameters, sharding.gradientsOnGpu / sharding.gradients,
                      sharding.optimizerOnGpu / sharding.optimizer};
    const Share expert{sharding.parametersOnGpu / sharding.expertParameters,
                       sharding.gradientsOnGpu / sharding.expertGradients,
                       sharding.optimizerOnGpu / sharding.expertOptimizer};
    const Share vision{sharding.parametersOnGpu / sharding.visionParameters,
                       sharding.gradientsOnGpu / sharding.visionGradients,
                       sharding.optimizerOnGpu / sharding.visionOptimizer};
    const auto add = [&](const Weights& part, bool isTrained, const Share& share) {
        isTrained ? addTrained(result, part, recipe, share) : addFrozen(result, part, recipe, share);
    };
    const auto addLanguage = [&](const Weights& part, const Share& share) {
        const auto scaled = [&share](double by) {
            return Share{share.parameters * by, share.gradients * by, share.optimizer * by};
        };
        const double trained = trainable.language ? trainedShare : 0;
        if (trained > 0) {
            addTrained(result, part, recipe, scaled(trained));
        }
        if (trained < 1) {
            addFrozen(result, part, recipe, scaled(1 - trained));
        }
    };
    addLanguage(weights.language, dense);
    addLanguage(weights.experts, expert);
    add(weights.vision, trainable.vision, vision);
    add(weights.projector, trainable.projector, vision);
    if (recipe.keepsReference) {
        addFrozen(result, weights.language, recipe, dense);
        addFrozen(result, weights.experts, recipe, expert);
        addFrozen(result, weights.vision, recipe, vision);
        addFrozen(result, weights.projector, recipe, vision);
    }
    if (trainable.adapters) {
        addAdapters(result, weights.language, recipe, dense);
        addAdapters(result, weights.experts, recipe, expert);
        if (recipe.copiesTables) {
            Weights tables;
            tables.tables = weights.language.tables;
            addTrained(result, tables, recipe, dense);
        }
    }
    return result;
}

} // namespace headroom
