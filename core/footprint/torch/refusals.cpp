// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/refusals.h"

#include "footprint/schedule/schedule.h"
#include "footprint/torch/float8.h"
#include "footprint/torch/mixers.h"
#include "footprint/torch/recompute.h"
#include "plan/encoder_placement.h"
#include "plan/objective.h"
#include "plan/precision.h"
#include "plan/validity.h"

#include <utility>

namespace headroom {

namespace {

bool trainsNothing(const TrainingPlan& plan)
{
    const Trainable trainable = trainableOf(plan);
    return !trainable.language && !trainable.adapters && !trainable.vision && !trainable.projector;
}

Result<void> checkKnown(const TrainingPlan& plan)
{
    const ModelPlan& model = plan.model;
    for (const auto& [field, key] : {std::pair{&model.layers, "model.layers"}, std::pair{&model.hidden, "model.hidden"},
                                     std::pair{&model.heads, "model.heads"}, std::pair{&model.vocab, "model.vocab"},
                                     std::pair{&plan.batch.seq, "batch.seq"}}) {
        const bool isPadded = field == &model.vocab && model.paddedVocab.isKnown();
        if ((!field->isKnown() || field->value < 1) && !isPadded) {
            return failure(Text{HEADROOM_TR("core", "%1 is not known"), {key}});
        }
    }
    if (auto parts = trainedPartsOf(plan); !parts) {
        return tl::unexpected(std::move(parts.error()));
    }
    for (const Problem& problem : validate(plan)) {
        if (problem.severity == Severity::Error) {
            return tl::unexpected(problem);
        }
    }
    return {};
}

bool offloadsPart(const ShardPlan& shard)
{
    return shard.offloadActivationLayers.isKnown() || shard.offloadActivationFraction.valueOr(1) < 1
        || !shard.offloadActivationModules.value.empty();
}

/// None of these frameworks trains the layers of multi-token prediction that a model's config may name (transformers
/// modeling_deepseek_v3.py leaves their weights out), so the tapes have none.
Result<void> checkModel(const TrainingPlan& plan, const TorchHabits& habits)
{
    const ModelPlan& model = plan.model;
    const bool hasDecoder = model.decoderLayers.isKnown() || model.family.value == "t5";
    const Projector projector = projectorOf(plan);
    if (const char* what = undescribedHybrid(plan, habits); what != nullptr) {
        return failure(Text{what, {std::string(habits.profile)}});
    }
    for (const auto& [has, sentence] : {
             std::pair{model.family.value == "bert",
                       HEADROOM_TR("core",
                                   "the profile %1 describes no encoder models; megatron-te does "
                                   "(implementation.profile)")},
             std::pair{hasDecoder
                           && (plan.parallel.pp.value > 1 || plan.vision.layers.value > 0 || plan.parallel.sp.value
                               || model.parallelBlock.value || plan.mla.kvLoraRank.value > 0
                               || plan.moe.experts.value > 0),
                       HEADROOM_TR("core",
                                   "the profile %1 describes encoder-decoder models without pipelines, sequence "
                                   "parallelism, images, experts, latent attention and parallel blocks")},
             std::pair{plan.vision.layers.value > 0 && visionTowerOf(plan).tokens == 0,
                       HEADROOM_TR("core",
                                   "the profile %1 does not describe images of unknown size: give "
                                   "vision.tokens_per_image")},
             std::pair{plan.vision.layers.value > 0 && projector.kind == Projector::Kind::None,
                       HEADROOM_TR("core",
                                   "the profile %1 does not describe an image encoder without a projector: give "
                                   "projector.type")},
             std::pair{
                 projector.kind == Projector::Kind::Resampler && projector.layers > 1,
                 HEADROOM_TR("core", "the profile %1 describes resamplers of one layer: set projector.layers to 1")},
             std::pair{encoderStages(plan) > 1 && projector.deepstack > 0,
                       HEADROOM_TR("core",
                                   "the profile %1 does not describe features of inner layers from several "
                                   "stages: set parallel.encoder_pp to 1")},
             std::pair{plan.moe.capacityFactor.value > 0,
                       HEADROOM_TR("core",
                                   "the experts of %1 have no capacity that drops tokens: unset "
                                   "moe.capacity_factor")},
             std::pair{freezesParts(plan) && hasDecoder,
                       HEADROOM_TR("core",
                                   "the profile %1 freezes an encoder-decoder model as a whole (frozen.llm), not by "
                                   "name, layer or share")},
             std::pair{freezesParts(plan) && trainsNothing(plan),
                       HEADROOM_TR("core",
                                   "nothing is left to train: see frozen.patterns, frozen.trained, "
                                   "frozen.trained_layers and frozen.ratio")},
         }) {
        if (has) {
            return failure(Text{sentence, {std::string(habits.profile)}});
        }
    }
    return {};
}

bool recomputesAny(const RecomputePlan& recompute)
{
    return isRecomputed(recompute)
        && (recompute.granularity.valueOr(Granularity::None) != Granularity::None || recomputesLayers(recompute));
}

/// How the run is spread, sharded and offloaded. With checkpoints every weight's turn of a split backward is a pass of
/// its own through the graph, each of which rebuilds what it needs (torch/utils/checkpoint.py keeps what is rebuilt by
/// pass; from memory): not described.
Result<void> checkSpread(const TrainingPlan& plan, const TorchHabits& habits)
{
    const ParallelPlan& parallel = plan.parallel;
    const Schedule schedule = parallel.schedule.value;
    const bool isSplit = parallel.pp.value > 1 && splitsBackward(schedule);
    const ShardPlan& shard = plan.shard;
    for (const auto& [has, sentence] : {
             std::pair{
                 (parallel.pp.value > 1 || encoderStages(plan) > 0) && !habits.supportsTensorParallel,
                 HEADROOM_TR("core",
                             "%1 has no pipeline parallelism: set parallel.pp to 1, or implementation.profile to one "
                             "that has (torchtitan, nanotron, internevo, galvatron, megatron-te)")},
             std::pair{isSplit && (!habits.receivesIntoBuffers || layerCopies(schedule) > 1),
                       HEADROOM_TR("core",
                                   "the profile %1 describes 1f1b, gpipe and interleaved pipelines, not this "
                                   "schedule: set parallel.schedule to one of them")},
             std::pair{isSplit && parallel.layout.isKnown(),
                       HEADROOM_TR("core",
                                   "explicit layouts are described where the backward is one pass: leave "
                                   "parallel.layout out, or set parallel.schedule to 1f1b or interleaved")},
             std::pair{isSplit
                           && (recomputesAny(plan.recompute) || plan.implementation.compile.valueOr(false)
                               || shard.offloadActivations.value),
                       HEADROOM_TR("core",
                                   "the profile %1 describes this schedule without recomputation, torch.compile and "
                                   "offloaded activations: leave them out, or set parallel.schedule to 1f1b or "
                                   "interleaved")},
             std::pair{parallel.tp.value > 1 && !habits.supportsTensorParallel && !habits.splitsTensors,
                       HEADROOM_TR("core",
                                   "%1 does not split tensors: set parallel.tp to 1 and shard the weights "
                                   "(shard.fsdp, shard.zero_stage)")},
             std::pair{parallel.vocabTp.isKnown() && parallel.vocabTp.value != parallel.tp.value
                           && !(habits.spreadsTables && parallel.vocabTp.value == 1),
                       HEADROOM_TR("core",
                                   "the profile %1 does not describe a vocabulary split over other ranks than "
                                   "the layers: leave parallel.vocab_tp out")},
             std::pair{shard.distOpt.value,
                       HEADROOM_TR("core",
                                   "shard.dist_opt is Megatron's optimizer, which %1 does not have: set "
                                   "shard.zero_stage or shard.fsdp")},
             std::pair{shard.offloadOptimizerFraction.valueOr(1) < 1 && shard.zeroStage.value == 0,
                       HEADROOM_TR("core",
                                   "under %1 only DeepSpeed's stage 3 offloads a part of the state: set "
                                   "shard.zero_stage to 3, or leave shard.offload_optimizer_fraction out")},
             std::pair{shard.offloadActivations.value && offloadsPart(shard),
                       HEADROOM_TR("core",
                                   "%1 offloads all that the blocks save: leave "
                                   "shard.offload_activation_layers, …_modules and …_fraction out")},
         }) {
        if (has) {
            return failure(Text{sentence, {std::string(habits.profile)}});
        }
    }
    return {};
}

Result<void> checkExperts(const TrainingPlan& plan, const TorchHabits& habits)
{
    const ParallelPlan& parallel = plan.parallel;
    if (plan.moe.experts.value < 1) {
        return {};
    }
    for (const auto& [has, sentence] : {
             std::pair{plan.moe.latent.value > 0 && parallel.tp.value > 1,
                       HEADROOM_TR("core",
                                   "the profile %1 does not split experts in a narrower space: set parallel.tp to 1")},
             std::pair{parallel.tp.value > 1 && parallel.ep.value > 1 && !habits.spreadsExperts,
                       HEADROOM_TR("core",
                                   "the profile %1 does not describe tensor parallelism beside experts that are spread "
                                   "over ranks: set parallel.tp or parallel.ep to 1")},
             std::pair{parallel.ep.value > 1 && parallel.etp.valueOr(1) != 1 && parallel.etp.value != parallel.tp.value,
                       HEADROOM_TR("core",
                                   "%1 leaves experts whole or splits them over all ranks of tensor parallelism: set "
                                   "parallel.etp to 1 or to parallel.tp")},
             std::pair{parallel.ep.value <= 1 && parallel.etp.isKnown() && parallel.etp.value != parallel.tp.value
                           && !habits.spreadsExperts,
                       HEADROOM_TR("core", "%1 splits experts as all other layers: leave parallel.etp out")},
         }) {
        if (has) {
            return failure(Text{sentence, {std::string(habits.profile)}});
        }
    }
    return {};
}

/// What stands beside a policy.
Result<void> checkObjective(const TrainingPlan& plan, const TorchHabits& habits)
{
    const ValueModel value = valueModel(plan);
    const bool isCopied = value == ValueModel::Separate || value == ValueModel::InTurn;
    const bool hasOther = plan.vision.layers.value > 0 || plan.model.decoderLayers.isKnown()
        || plan.model.family.value == "t5" || classifierLabels(plan).has_value();
    const bool isOfPpo = isCopied || value == ValueModel::Head || rewardModel(plan) == RewardModel::Separate;
    for (const auto& [has, sentence] : {
             std::pair{isOfPpo && !habits.profile.starts_with("hf"),
                       HEADROOM_TR("core",
                                   "the profile %1 describes no value and reward models: set objective.value and "
                                   "objective.reward to none, or implementation.profile to hf-sdpa or hf-flash")},
             std::pair{isOfPpo && hasOther,
                       HEADROOM_TR("core",
                                   "value and reward models are described beside decoders without images, with an "
                                   "output layer: set objective.value and objective.reward to none")},
             std::pair{isCopied && isQuantised(effectivePrecision(plan).params),
                       HEADROOM_TR("core",
                                   "a value model of its own trains as a whole, which quantised weights do not: set "
                                   "objective.value to head, or precision.params to another type")},
             std::pair{isCopied && freezesParts(plan),
                       HEADROOM_TR("core",
                                   "a value model of its own is described beside a policy that trains as a whole or by "
                                   "adapters: leave frozen.patterns, frozen.trained, frozen.trained_layers and "
                                   "frozen.ratio out")},
             std::pair{rewardModel(plan) == RewardModel::Adapters && plan.lora.rank.value < 1,
                       HEADROOM_TR("core",
                                   "a reward model of adapters needs a policy with adapters: give lora.rank, or set "
                                   "objective.reward to separate")},
         }) {
        if (has) {
            return failure(Text{sentence, {std::string(habits.profile)}});
        }
    }
    return {};
}

Result<void> checkRecompute(const TrainingPlan& plan, const TorchHabits& habits)
{
    const RecomputePlan& recompute = plan.recompute;
    const bool isSelective = isRecomputed(recompute) && recompute.granularity.value == Granularity::Selective
        && !recomputesLayers(recompute);
    const bool isByModules = isSelective && !followsPolicy(plan, habits);
    const std::string& loss = plan.implementation.fusedLoss.value;
    for (const auto& [has, sentence] : {
             std::pair{plan.shard.offloadActivations.value && isSelective,
                       HEADROOM_TR("core",
                                   "%1 offloads what blocks save or recomputes some of it, not both: leave "
                                   "shard.offload_activations or the selective recompute out")},
             std::pair{isByModules && recompute.modules.value.empty(),
                       HEADROOM_TR("core",
                                   "%1 has no policy for selective recompute: name recompute.modules, or give "
                                   "recompute.num_layers or recompute.fraction")},
             std::pair{isByModules && !modulesNamed(recompute.modules.value),
                       HEADROOM_TR("core",
                                   "the profile %1 recomputes core_attn, self_attn, mlp, norm, moe, mlp_act and "
                                   "moe_act; recompute.modules names something else")},
             std::pair{isRecomputed(recompute) && recompute.granularity.value == Granularity::Full
                           && recompute.method.value != "block" && recompute.numLayers.valueOr(1) > 1,
                       HEADROOM_TR("core",
                                   "%1 recomputes layer by layer, not several together: leave "
                                   "recompute.num_layers out, or set recompute.method to block for so many "
                                   "layers")},
             std::pair{loss == "native" || loss == "te" || loss == "te-inplace",
                       HEADROOM_TR("core",
                                   "this loss is Megatron's: %1 has none, liger, chunked and 16bit "
                                   "(implementation.fused_loss)")},
         }) {
        if (has) {
            return failure(Text{sentence, {std::string(habits.profile)}});
        }
    }
    return {};
}

} // namespace

Result<void> checkTorchDescribed(const TrainingPlan& plan, const TorchHabits& habits)
{
    if (auto known = checkKnown(plan); !known) {
        return known;
    }
    if (auto float8 = torchFloat8(plan, habits); !float8) {
        return tl::unexpected(std::move(float8.error()));
    }
    for (const auto& check : {&checkModel, &checkSpread, &checkExperts, &checkObjective, &checkRecompute}) {
        if (auto described = check(plan, habits); !described) {
            return described;
        }
    }
    return {};
}

} // namespace headroom
