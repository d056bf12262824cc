// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/refusals.h"

#include "footprint/recipe/architecture.h"
#include "footprint/recipe/state.h"
#include "footprint/recipe/trained_parts.h"
#include "footprint/schedule/order.h"
#include "footprint/tape/shape.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/layer_pattern.h"
#include "plan/objective.h"
#include "plan/pipeline_split.h"
#include "plan/vocabulary_split.h"

namespace headroom {

namespace {

tl::unexpected<Problem> missing(std::string_view key)
{
    return failure(Text{HEADROOM_TR("core", "%1 is not known"), {std::string(key)}});
}

tl::unexpected<Problem> notDescribed(std::string_view what)
{
    return failure(Text{HEADROOM_TR("core", "the tapes do not describe %1"), {std::string(what)}});
}

/// A decoder alone, on a 1F1B pipeline; one stage has nothing to split.
bool cannotSplitVocabulary(const TrainingPlan& plan)
{
    return plan.parallel.pp.value > 1
        && (vocabularySplit(plan) == VocabularySplit::None || plan.vision.layers.value > 0
            || plan.model.mtpLayers.value > 0 || plan.parallel.layout.isKnown() || plan.model.family.value == "bert"
            || plan.implementation.deferredWgrads.isKnown());
}

/// Megatron refuses recomputed layers beside it (transformer_config.py).
bool cannotOffload(const TrainingPlan& plan)
{
    const bool recomputesLayers = (plan.recompute.enabled.value || !plan.recompute.enabled.isStated())
        && (plan.recompute.granularity.value == Granularity::Full || plan.recompute.numLayers.value > 0);
    return recomputesLayers || splitsBackward(plan.parallel.schedule.value) || plan.model.family.value == "t5"
        || plan.model.decoderLayers.isKnown() || plan.implementation.deferredWgrads.isKnown();
}

bool isNoDecoder(const TrainingPlan& plan)
{
    return plan.model.family.value == "bert" || plan.model.family.value == "t5" || plan.model.decoderLayers.isKnown();
}

/// mcore-bridge's wrap Transformer Engine's layers (tuners/lora.py).
bool describesAdapters(const TrainingPlan& plan)
{
    const bool isOther = plan.model.mtpLayers.value > 0 || isNoDecoder(plan) || plan.parallel.vocabSplit.isKnown();
    return profileOf(plan) == "megatron-te" && !isOther && optimizerOf(plan) != OptimizerKind::Muon
        && (!plan.precision.fp8.isKnown() || plan.precision.fp8.value.empty())
        && !splitsBackward(plan.parallel.schedule.value) && !plan.lora.trainsEmbeddings.value
        && plan.lora.adapterSlots.valueOr(1) < 2 && !plan.shard.offloadActivations.value;
}

bool trainsNothing(const TrainingPlan& plan)
{
    const Trainable trainable = trainableOf(plan);
    return !trainable.language && !trainable.adapters && !trainable.vision && !trainable.projector;
}

/// bitsandbytes' optimizers: "adamw_8bit", "paged_adamw_8bit", "AdamW8bit".
bool hasEightBitName(const OptimizerPlan& optimizer)
{
    return optimizer.name.value.find("8bit") != std::string::npos;
}

/// What Megatron does not do, and what it does in its place.
Result<void> checkPossible(const TrainingPlan& plan)
{
    const ShardPlan& shard = plan.shard;
    for (const auto& [has, sentence] : {
             std::pair{shard.zeroStage.value == 1 && !shard.distOpt.value && !shard.fsdp.value,
                       HEADROOM_TR("core",
                                   "ZeRO's stage 1 is Megatron's distributed optimizer: set shard.dist_opt in "
                                   "place of shard.zero_stage")},
             std::pair{shard.zeroStage.value > 1 && !shard.fsdp.value,
                       HEADROOM_TR("core",
                                   "Megatron shards gradients and weights by its FSDP: set shard.fsdp in place "
                                   "of shard.zero_stage")},
             std::pair{shard.fsdp.value && profileOf(plan) != "megatron-te",
                       HEADROOM_TR("core",
                                   "Megatron's FSDP is described for Transformer Engine's layers: set "
                                   "implementation.profile to megatron-te")},
             std::pair{
                 valueModel(plan) != ValueModel::None || rewardModel(plan) != RewardModel::None,
                 HEADROOM_TR("core",
                             "under Megatron value and reward models are on GPUs of their own: set objective.value "
                             "and objective.reward to none")},
             std::pair{shard.offloadParams.value,
                       HEADROOM_TR("core", "Megatron keeps its weights on the GPU: leave shard.offload_params out")},
             std::pair{
                 optimizerOf(plan) == OptimizerKind::Adafactor || hasEightBitName(plan.optimizer),
                 HEADROOM_TR("core",
                             "Megatron has neither Adafactor nor 8-bit optimizers: set optimizer.name to adam, sgd or "
                             "muon")},
             // prepare_mcore_model in ms-swift's megatron/utils/utils.py freezes; its models are decoders, from memory.
             std::pair{freezesParts(plan) && isNoDecoder(plan),
                       HEADROOM_TR("core",
                                   "ms-swift freezes parts by name, layer or share under Megatron, and has neither "
                                   "BERT nor encoder-decoder models there: see frozen.patterns, frozen.trained, "
                                   "frozen.trained_layers and frozen.ratio")},
             std::pair{freezesParts(plan) && profileOf(plan) == "megatron-kwai",
                       HEADROOM_TR("core",
                                   "Megatron-Kwai trains all of a model: see frozen.patterns, frozen.trained, "
                                   "frozen.trained_layers and frozen.ratio")},
             std::pair{freezesParts(plan) && isHybrid(plan) && architectureOf(plan).mtpLayers > 0,
                       HEADROOM_TR("core",
                                   "parts frozen by name, layer or share are described on Megatron's hybrids that "
                                   "predict one token: set frozen.llm, or model.mtp_layers to 0")},
             std::pair{plan.frozen.ratio.value > 0 && plan.frozen.ratio.value < 1 && plan.parallel.pp.value > 1,
                       HEADROOM_TR("core",
                                   "ms-swift freezes a share of the parameters on one pipeline stage alone: set "
                                   "parallel.pp to 1, or name layers in frozen.patterns")},
             std::pair{freezesParts(plan) && trainsNothing(plan),
                       HEADROOM_TR("core",
                                   "nothing is left to train: see frozen.patterns, frozen.trained, "
                                   "frozen.trained_layers and frozen.ratio")},
             std::pair{plan.lora.rank.value > 0 && !describesAdapters(plan),
                       HEADROOM_TR("core",
                                   "LoRA under Megatron is described for Transformer Engine's layers "
                                   "(megatron-te) in 16 or 32 bits, without multi-token prediction, split "
                                   "backward passes and adapters of the embedding")},
         }) {
        if (has) {
            return failure(Text{sentence});
        }
    }
    return {};
}

} // namespace

Result<void> checkDescribed(const TrainingPlan& plan)
{
    if (profileOf(plan).empty()) {
        return notDescribed(plan.implementation.profile.isKnown() ? plan.implementation.profile.value
                                                                  : plan.framework.value);
    }
    if (auto possible = checkPossible(plan); !possible) {
        return possible;
    }
    const ModelPlan& model = plan.model;
    for (const auto& [field, key] : {std::pair{&model.layers, "model.layers"}, std::pair{&model.hidden, "model.hidden"},
                                     std::pair{&model.heads, "model.heads"}, std::pair{&model.vocab, "model.vocab"},
                                     std::pair{&plan.batch.seq, "batch.seq"}}) {
        const bool isPadded = field == &model.vocab && model.paddedVocab.isKnown();
        if ((!field->isKnown() || field->value < 1) && !isPadded) {
            return missing(key);
        }
    }
    const VisionTower tower = visionTowerOf(plan);
    const Trainable trainable = trainableOf(plan);
    if (tower.isPresent() && (tower.tokens == 0 || projectorOf(plan).tokens == 0)) {
        return missing("vision.tokens_per_image");
    }
    const Projector::Kind projector = tower.isPresent() ? projectorOf(plan).kind : Projector::Kind::None;
    const bool hasOtherVision = tower.isPresent()
        && (projector == Projector::Kind::None || projector == Projector::Kind::Resampler
            || projector == Projector::Kind::Perceiver);
    const Schedule schedule = plan.parallel.schedule.value;
    const OptimizerKind optimizer = optimizerOf(plan);
    const bool isTwoHalves = model.decoderLayers.isKnown() || model.family.value == "t5";
    const bool isOther = isTwoHalves || model.family.value == "bert";
    for (const auto& [has, sentence] : {
             std::pair{hasOtherVision,
                       HEADROOM_TR("core",
                                   "Megatron's tapes describe projectors of linear layers, no resamplers and "
                                   "perceivers: set projector.type to linear, mlp, patch_merger or pixel_shuffle")},
             std::pair{tower.isPresent() && encoderStages(plan) > 0
                           && (splitsBackward(schedule) || chunksPerStage(plan) > 1),
                       HEADROOM_TR("core",
                                   "an encoder on stages of its own is described with 1f1b and gpipe and one chunk a "
                                   "stage: see parallel.encoder_pp, parallel.schedule and parallel.vpp")},
             std::pair{tower.isPresent() && encoderStages(plan) > 1 && projectorOf(plan).deepstack > 0,
                       HEADROOM_TR("core",
                                   "features of inner layers come from one stage of the encoder: set "
                                   "parallel.encoder_pp to 1")},
             std::pair{tower.isPresent() && encoderCopies(plan) > 1 && plan.parallel.pp.value > 1
                           && layerCopies(schedule) > 1,
                       HEADROOM_TR("core",
                                   "an encoder on every stage is not described under schedules that hold the layers "
                                   "twice: set parallel.schedule to another, or leave parallel.encoder_placement out")},
             std::pair{
                 trainsNothing(plan),
                 HEADROOM_TR("core", "nothing is left to train: see frozen.llm, frozen.vision and frozen.projector")},
             std::pair{!trainable.language && !trainable.adapters && !tower.isPresent(),
                       HEADROOM_TR("core",
                                   "a frozen language model has nothing to train without adapters or an encoder: see "
                                   "frozen.llm and lora.rank")},
             std::pair{optimizer == OptimizerKind::Muon && plan.shard.offloadOptimizer.value,
                       HEADROOM_TR("core",
                                   "Muon's state is described on the GPU: leave shard.offload_optimizer out, or set "
                                   "optimizer.name to adam")},
             std::pair{plan.parallel.vocabSplit.isKnown() && cannotSplitVocabulary(plan),
                       HEADROOM_TR("core",
                                   "a vocabulary over the stages is described for decoders on 1f1b pipelines, without "
                                   "images, multi-token prediction, explicit layouts and deferred gradients of "
                                   "weights: leave parallel.vocab_split out")},
             std::pair{plan.parallel.vocabTp.isKnown() && plan.parallel.vocabTp.value != plan.parallel.tp.value,
                       HEADROOM_TR("core",
                                   "Megatron splits the vocabulary over the ranks of tensor parallelism: leave "
                                   "parallel.vocab_tp out")},
             std::pair{plan.recompute.offloadInputs.value,
                       HEADROOM_TR("core",
                                   "Megatron keeps the inputs of recomputed layers on the GPU: leave "
                                   "recompute.offload_inputs out")},
             std::pair{plan.shard.offloadActivations.value && cannotOffload(plan),
                       HEADROOM_TR("core",
                                   "Megatron offloads activations of decoders whose layers are not recomputed and "
                                   "whose backward is one pass: leave shard.offload_activations out, or see "
                                   "recompute.granularity and parallel.schedule")},
             std::pair{model.mtpLayers.value > 0 && profileOf(plan) == "megatron-local",
                       HEADROOM_TR("core",
                                   "multi-token prediction is described for Transformer Engine's layers: set "
                                   "implementation.profile to megatron-te")},
             std::pair{model.mtpLayers.value > 0 && (tower.isPresent() || isOther),
                       HEADROOM_TR("core",
                                   "multi-token prediction is described for decoders without images: set "
                                   "model.mtp_layers to 0")},
             std::pair{classifierLabels(plan).has_value()
                           && (model.mtpLayers.value > 0 || plan.parallel.vocabSplit.isKnown() || isOther),
                       HEADROOM_TR("core",
                                   "a classifier is described on decoders without multi-token prediction and a split "
                                   "vocabulary: see objective.type, model.mtp_layers and parallel.vocab_split")},
             std::pair{model.parallelBlock.value,
                       HEADROOM_TR("core",
                                   "Megatron runs the MLP behind attention, not beside it: leave model.parallel_block "
                                   "out")},
             std::pair{isTwoHalves && plan.parallel.pp.value > 1,
                       HEADROOM_TR("core",
                                   "encoder-decoder models are described on one pipeline stage: set parallel.pp to 1")},
             std::pair{splitsBackward(schedule) && plan.parallel.layout.isKnown(),
                       HEADROOM_TR("core",
                                   "explicit layouts are described where the backward is one pass: leave "
                                   "parallel.layout out, or set parallel.schedule to 1f1b or interleaved")},
             std::pair{plan.shard.fsdp.value && optimizer == OptimizerKind::Muon,
                       HEADROOM_TR("core",
                                   "Muon is not described under Megatron's FSDP: set optimizer.name to adam, or "
                                   "shard.dist_opt in place of shard.fsdp")},
             std::pair{plan.shard.fsdp.value && plan.precision.fp8Params.value,
                       HEADROOM_TR("core",
                                   "weights in 8 bits are not described under Megatron's FSDP: leave "
                                   "precision.fp8_params out, or set shard.dist_opt in place of shard.fsdp")},
             std::pair{plan.shard.fsdp.value && plan.lora.rank.value > 0 && plan.moe.experts.value > 0,
                       HEADROOM_TR("core",
                                   "adapters on experts are not described under Megatron's FSDP: set shard.dist_opt in "
                                   "place of shard.fsdp")},
             std::pair{plan.shard.fsdp.value && isTwoHalves,
                       HEADROOM_TR("core",
                                   "encoder-decoder models are not described under Megatron's FSDP: set "
                                   "shard.dist_opt in place of shard.fsdp")},
         }) {
        if (has) {
            return failure(Text{sentence});
        }
    }
    return {};
}

} // namespace headroom
