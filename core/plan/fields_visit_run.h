// SPDX-License-Identifier: GPL-3.0-or-later
// Part of the body of forEachField: the groups of run_plan.h. Include fields.h instead.
#pragma once

namespace headroom {

template <class Group, class Visitor> void visitBatch(Group& group, Visitor&& visit)
{
    visit("batch.micro", group.micro);
    visit("batch.accum", group.accum);
    visit("batch.global", group.global);
    visit("batch.seq", group.seq);
    visit("batch.decoder_seq", group.decoderSeq);
    visit("batch.tokens_per_microbatch", group.tokensPerMicrobatch);
    visit("batch.tokens_per_step", group.tokensPerStep);
    visit("batch.rampup", group.rampup);
    visit("batch.packing", group.packing);
}

template <class Group, class Visitor> void visitObjective(Group& group, Visitor&& visit)
{
    visit("objective.type", group.type);
    visit("objective.reference", group.reference);
    visit("objective.head", group.head);
    visit("objective.labels", group.labels);
    visit("objective.value", group.value);
    visit("objective.reward", group.reward);
    visit("objective.response", group.response);
    visit("objective.rollout", group.rollout);
}

template <class Group, class Visitor> void visitParallel(Group& group, Visitor&& visit)
{
    visit("parallel.world", group.world);
    visit("parallel.dp", group.dp);
    visit("parallel.dp_replicate", group.dpReplicate);
    visit("parallel.dp_shard", group.dpShard);
    visit("parallel.tp", group.tp);
    visit("parallel.pp", group.pp);
    visit("parallel.vpp", group.vpp);
    visit("parallel.layers_per_vstage", group.layersPerVstage);
    visit("parallel.cp", group.cp);
    visit("parallel.ep", group.ep);
    visit("parallel.etp", group.etp);
    visit("parallel.cp_comm", group.cpComm);
    visit("parallel.cp_inner", group.cpInner);
    visit("parallel.sp", group.sp);
    visit("parallel.schedule", group.schedule);
    visit("parallel.layout", group.layout);
    visit("parallel.first_stage_layers", group.firstStageLayers);
    visit("parallel.last_stage_layers", group.lastStageLayers);
    visit("parallel.embed_in_split", group.embedInSplit);
    visit("parallel.loss_in_split", group.lossInSplit);
    visit("parallel.pp_microbatches", group.ppMicrobatches);
    visit("parallel.vpp_group", group.vppGroup);
    visit("parallel.vocab_tp", group.vocabTp);
    visit("parallel.vocab_split", group.vocabSplit);
    visit("parallel.encoder_placement", group.encoderPlacement);
    visit("parallel.encoder_pp", group.encoderPp);
    visit("parallel.encoder_tp", group.encoderTp);
}

template <class Group, class Visitor> void visitShard(Group& group, Visitor&& visit)
{
    visit("shard.zero_stage", group.zeroStage);
    visit("shard.dist_opt", group.distOpt);
    visit("shard.fsdp", group.fsdp);
    visit("shard.fsdp_version", group.fsdpVersion);
    visit("shard.strategy", group.strategy);
    visit("shard.reshard_after_forward", group.reshardAfterForward);
    visit("shard.sync_each_batch", group.syncEachBatch);
    visit("shard.dist_opt_instances", group.distOptInstances);
    visit("shard.whole_tensors", group.wholeTensors);
    visit("shard.rank", group.rank);
    visit("shard.communication_unit", group.communicationUnit);
    visit("shard.reduce_bucket", group.reduceBucket);
    visit("shard.offload_optimizer", group.offloadOptimizer);
    visit("shard.offload_optimizer_fraction", group.offloadOptimizerFraction);
    visit("shard.sub_group", group.subGroup);
    visit("shard.offload_params", group.offloadParams);
    visit("shard.offload_activations", group.offloadActivations);
    visit("shard.offload_activation_layers", group.offloadActivationLayers);
    visit("shard.offload_activation_modules", group.offloadActivationModules);
    visit("shard.offload_activation_fraction", group.offloadActivationFraction);
}

template <class Group, class Visitor> void visitPrecision(Group& group, Visitor&& visit)
{
    visit("precision.recipe", group.recipe);
    visit("precision.params", group.params);
    visit("precision.grads", group.grads);
    visit("precision.master", group.master);
    visit("precision.opt_m", group.optM);
    visit("precision.opt_v", group.optV);
    visit("precision.frozen", group.frozen);
    visit("precision.double_quantised", group.doubleQuantised);
    visit("precision.autocast", group.autocast);
    visit("precision.fp8", group.fp8);
    visit("precision.fp8_params", group.fp8Params);
    visit("precision.reduce", group.reduce);
}

template <class Group, class Visitor> void visitOptimizer(Group& group, Visitor&& visit)
{
    visit("optimizer.name", group.name);
    visit("optimizer.impl", group.impl);
    visit("optimizer.in_backward", group.inBackward);
}

template <class Group, class Visitor> void visitRecompute(Group& group, Visitor&& visit)
{
    visit("recompute.enabled", group.enabled);
    visit("recompute.granularity", group.granularity);
    visit("recompute.method", group.method);
    visit("recompute.num_layers", group.numLayers);
    visit("recompute.modules", group.modules);
    visit("recompute.fraction", group.fraction);
    visit("recompute.distribute", group.distribute);
    visit("recompute.vision", group.vision);
    visit("recompute.reentrant", group.reentrant);
    visit("recompute.pattern", group.pattern);
    visit("recompute.offload_inputs", group.offloadInputs);
}

template <class Group, class Visitor> void visitAttention(Group& group, Visitor&& visit)
{
    visit("attention.impl", group.impl);
}

} // namespace headroom
