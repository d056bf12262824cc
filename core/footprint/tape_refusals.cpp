// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_refusals.h"

#include "footprint/architecture.h"
#include "footprint/schedule_order.h"
#include "footprint/state.h"
#include "footprint/tape_shape.h"
#include "footprint/trained_parts.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"
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

/// mcore-bridge's wrap Transformer Engine's layers (tuners/lora.py).
bool describesAdapters(const TrainingPlan& plan)
{
    const bool isOther = plan.model.mtpLayers.value > 0 || plan.model.family.value == "bert"
        || plan.model.family.value == "t5" || plan.model.decoderLayers.isKnown() || plan.parallel.vocabSplit.isKnown();
    return profileOf(plan) == "megatron-te" && !isOther && optimizerOf(plan) != OptimizerKind::Muon
        && (!plan.precision.fp8.isKnown() || plan.precision.fp8.value.empty())
        && !splitsBackward(plan.parallel.schedule.value) && !plan.lora.trainsEmbeddings.value
        && plan.lora.adapterSlots.valueOr(1) < 2 && !plan.shard.offloadActivations.value;
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
             std::pair{shard.offloadParams.value,
                       HEADROOM_TR("core", "Megatron keeps its weights on the GPU: leave shard.offload_params out")},
             std::pair{
                 optimizerOf(plan) == OptimizerKind::Adafactor || hasEightBitName(plan.optimizer),
                 HEADROOM_TR("core",
                             "Megatron has neither Adafactor nor 8-bit optimizers: set optimizer.name to adam, sgd or "
                             "muon")},
             std::pair{freezesParts(plan),
                       HEADROOM_TR("core",
                                   "Megatron's tapes freeze whole parts (frozen.llm, frozen.vision, "
                                   "frozen.projector), none by name, layer or share")},
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
    const bool trainsNothing = !trainable.language && !trainable.adapters && !trainable.vision && !trainable.projector;
    const Schedule schedule = plan.parallel.schedule.value;
    const OptimizerKind optimizer = optimizerOf(plan);
    for (const auto& [has, what] :
         {std::pair{hasOtherVision, "this projector"},
          std::pair{tower.isPresent() && encoderStages(plan) > 0
                        && (splitsBackward(schedule) || chunksPerStage(plan) > 1),
                    "an encoder on stages of its own under this pipeline schedule"},
          std::pair{tower.isPresent() && encoderStages(plan) > 1 && projectorOf(plan).deepstack > 0,
                    "features of inner layers from several stages"},
          std::pair{tower.isPresent() && encoderCopies(plan) > 1 && plan.parallel.pp.value > 1
                        && layerCopies(schedule) > 1,
                    "an encoder on every stage under this pipeline schedule"},
          std::pair{trainsNothing, "a run that trains nothing"},
          std::pair{!trainable.language && !trainable.adapters && !tower.isPresent(),
                    "a frozen language model without an encoder"},
          std::pair{optimizer == OptimizerKind::Muon && plan.shard.offloadOptimizer.value,
                    "the Muon optimizer with offloaded state"},
          std::pair{plan.parallel.vocabSplit.isKnown() && cannotSplitVocabulary(plan), "this split of the vocabulary"},
          std::pair{plan.parallel.vocabTp.isKnown() && plan.parallel.vocabTp.value != plan.parallel.tp.value,
                    "a vocabulary split over other ranks than the layers"},
          std::pair{plan.recompute.offloadInputs.value, "inputs of recomputed layers in the host's memory"},
          std::pair{plan.shard.offloadActivations.value && cannotOffload(plan), "these offloaded activations"},
          std::pair{model.mtpLayers.value > 0 && profileOf(plan) == "megatron-local",
                    "multi-token prediction in Megatron's own layers"},
          std::pair{model.mtpLayers.value > 0
                        && (tower.isPresent() || model.family.value == "bert" || model.family.value == "t5"),
                    "multi-token prediction of this model"},
          std::pair{classifierLabels(plan).has_value()
                        && (model.mtpLayers.value > 0 || plan.parallel.vocabSplit.isKnown()
                            || model.family.value == "bert" || model.family.value == "t5"),
                    "a classifier on this model"},
          std::pair{model.parallelBlock.value, "attention and MLP side by side"},
          std::pair{(model.decoderLayers.isKnown() || model.family.value == "t5") && plan.parallel.pp.value > 1,
                    "encoder-decoder models over several pipeline stages"},
          std::pair{splitsBackward(plan.parallel.schedule.value) && plan.parallel.layout.isKnown(),
                    "explicit layouts under this pipeline schedule"},
          std::pair{plan.shard.fsdp.value && optimizer == OptimizerKind::Muon, "the Muon optimizer under FSDP"},
          std::pair{plan.shard.fsdp.value && plan.precision.fp8Params.value, "8-bit parameters under FSDP"},
          std::pair{plan.shard.fsdp.value && plan.lora.rank.value > 0 && plan.moe.experts.value > 0,
                    "adapters on experts under FSDP"},
          std::pair{plan.shard.fsdp.value && (model.family.value == "t5" || model.decoderLayers.isKnown()),
                    "encoder-decoder models under FSDP"}}) {
        if (has) {
            return notDescribed(what);
        }
    }
    return {};
}

} // namespace headroom
