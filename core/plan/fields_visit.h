// SPDX-License-Identifier: GPL-3.0-or-later
// The body of forEachField, apart from fields.h because it is long; include fields.h instead.
#pragma once

namespace headroom {

/// One group at a time keeps the functions short; forEachField calls them all.
template <class Group, class Visitor> void visitModel(Group& group, Visitor&& visit)
{
    visit("model.name", group.name);
    visit("model.layers", group.layers);
    visit("model.hidden", group.hidden);
    visit("model.ffn", group.ffn);
    visit("model.gated_mlp", group.gatedMlp);
    visit("model.heads", group.heads);
    visit("model.kv_heads", group.kvHeads);
    visit("model.head_dim", group.headDim);
    visit("model.vocab", group.vocab);
    visit("model.vocab_pad_multiple", group.vocabPadMultiple);
    visit("model.padded_vocab", group.paddedVocab);
    visit("model.max_pos", group.maxPos);
    visit("model.tied_embeddings", group.tiedEmbeddings);
    visit("model.attn_bias", group.attnBias);
    visit("model.attn_out_bias", group.attnOutBias);
    visit("model.mlp_bias", group.mlpBias);
    visit("model.qk_norm", group.qkNorm);
    visit("model.learned_positions", group.learnedPositions);
    visit("model.layer_norm", group.layerNorm);
    visit("model.attn_window", group.attnWindow);
    visit("model.layer_pattern", group.layerPattern);
    visit("model.encoder_layers", group.encoderLayers);
    visit("model.decoder_layers", group.decoderLayers);
    visit("model.mtp_layers", group.mtpLayers);
    visit("model.family", group.family);
    visit("model.activation", group.activation);
    visit("model.rope", group.rope);
    visit("model.rotary_fraction", group.rotaryFraction);
    visit("model.attn_dropout", group.attnDropout);
    visit("model.hidden_dropout", group.hiddenDropout);
    visit("model.binary_head", group.binaryHead);
    visit("model.parallel_block", group.parallelBlock);
    visit("model.shared_norm", group.sharedNorm);
    visit("model.head_bias", group.headBias);
}

template <class Group, class Visitor> void visitMoe(Group& group, Visitor&& visit)
{
    visit("moe.experts", group.experts);
    visit("moe.topk", group.topk);
    visit("moe.ffn", group.ffn);
    visit("moe.shared_ffn", group.sharedFfn);
    visit("moe.shared_experts", group.sharedExperts);
    visit("moe.layer_freq", group.layerFreq);
    visit("moe.first_dense_layers", group.firstDenseLayers);
    visit("moe.capacity_factor", group.capacityFactor);
    visit("moe.latent", group.latent);
    visit("moe.dispatcher", group.dispatcher);
    visit("moe.pad_to_capacity", group.padToCapacity);
    visit("moe.grouped_gemm", group.groupedGemm);
    visit("moe.permute_fusion", group.permuteFusion);
    visit("moe.router_dtype", group.routerDtype);
    visit("moe.load", group.load);
}

template <class Group, class Visitor> void visitMla(Group& group, Visitor&& visit)
{
    visit("mla.q_lora_rank", group.qLoraRank);
    visit("mla.kv_lora_rank", group.kvLoraRank);
    visit("mla.qk_nope_dim", group.qkNopeDim);
    visit("mla.qk_rope_dim", group.qkRopeDim);
    visit("mla.v_dim", group.vDim);
}

template <class Group, class Visitor> void visitVision(Group& group, Visitor&& visit)
{
    visit("vision.type", group.type);
    visit("vision.layers", group.layers);
    visit("vision.hidden", group.hidden);
    visit("vision.ffn", group.ffn);
    visit("vision.gated_mlp", group.gatedMlp);
    visit("vision.heads", group.heads);
    visit("vision.image_size", group.imageSize);
    visit("vision.patch", group.patch);
    visit("vision.temporal_patch", group.temporalPatch);
    visit("vision.merge", group.merge);
    visit("vision.tokens_per_image", group.tokensPerImage);
    visit("vision.images_per_sample", group.imagesPerSample);
    visit("vision.max_tiles", group.maxTiles);
    visit("vision.window", group.window);
    visit("vision.feature_layer", group.featureLayer);
    visit("vision.drop_cls", group.dropCls);
    visit("vision.extra_layers", group.extraLayers);
    visit("vision.deepstack_layers", group.deepstackLayers);
    visit("vision.class_token", group.classToken);
    visit("vision.learned_positions", group.learnedPositions);
    visit("vision.patch_bias", group.patchBias);
    visit("vision.qkv_bias", group.qkvBias);
    visit("vision.layer_norm", group.layerNorm);
    visit("vision.extra_norms", group.extraNorms);
}

template <class Group, class Visitor> void visitProjector(Group& group, Visitor&& visit)
{
    visit("projector.type", group.type);
    visit("projector.in", group.in);
    visit("projector.hidden", group.hidden);
    visit("projector.out", group.out);
    visit("projector.layers", group.layers);
}

template <class Group, class Visitor> void visitFrozen(Group& group, Visitor&& visit)
{
    visit("frozen.llm", group.llm);
    visit("frozen.vision", group.vision);
    visit("frozen.projector", group.projector);
    visit("frozen.all", group.all);
    visit("frozen.patterns", group.patterns);
}

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
    visit("shard.dist_opt_instances", group.distOptInstances);
    visit("shard.reduce_bucket", group.reduceBucket);
    visit("shard.offload_optimizer", group.offloadOptimizer);
    visit("shard.offload_optimizer_fraction", group.offloadOptimizerFraction);
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

template <class Group, class Visitor> void visitImplementation(Group& group, Visitor&& visit)
{
    visit("implementation.profile", group.profile);
    visit("implementation.fused_loss", group.fusedLoss);
    visit("implementation.grad_accum_fusion", group.gradAccumFusion);
    visit("implementation.placeholder_grads", group.placeholderGrads);
    visit("implementation.rope_fusion", group.ropeFusion);
    visit("implementation.masked_softmax_fusion", group.maskedSoftmaxFusion);
    visit("implementation.swiglu_fusion", group.swigluFusion);
    visit("implementation.loader_mask", group.loaderMask);
    visit("implementation.saved_padding_mask", group.savedPaddingMask);
    visit("implementation.deterministic", group.deterministic);
    visit("implementation.tp_comm_overlap", group.tpCommOverlap);
    visit("implementation.expert_comm_overlap", group.expertCommOverlap);
    visit("implementation.deferred_wgrads", group.deferredWgrads);
    visit("implementation.cublas_workspace_bytes", group.cublasWorkspaceBytes);
    visit("implementation.compile", group.compile);
    visit("implementation.compiled_loss", group.compiledLoss);
    visit("implementation.loss_chunks", group.lossChunks);
    visit("implementation.keeps_logits", group.keepsLogits);
    visit("implementation.repeat_kv", group.repeatKv);
    visit("implementation.expandable_segments", group.expandableSegments);
}

template <class Group, class Visitor> void visitLora(Group& group, Visitor&& visit)
{
    visit("lora.rank", group.rank);
    visit("lora.targets", group.targets);
    visit("lora.slots", group.adapterSlots);
    visit("lora.adapter_type", group.adapterType);
    visit("lora.dropout", group.dropout);
    visit("lora.trains_embeddings", group.trainsEmbeddings);
}

template <class Group, class Visitor> void visitHardware(Group& group, Visitor&& visit)
{
    visit("hardware.gpu", group.gpu);
    visit("hardware.capacity_bytes", group.capacityBytes);
    visit("hardware.compute_capability", group.computeCapability);
}

template <class Plan, class Visitor> void forEachField(Plan& plan, Visitor&& visit)
{
    visit("framework", plan.framework);
    visitModel(plan.model, visit);
    visitMoe(plan.moe, visit);
    visitMla(plan.mla, visit);
    visitVision(plan.vision, visit);
    visitProjector(plan.projector, visit);
    visitFrozen(plan.frozen, visit);
    visitBatch(plan.batch, visit);
    visitParallel(plan.parallel, visit);
    visitShard(plan.shard, visit);
    visitPrecision(plan.precision, visit);
    visitOptimizer(plan.optimizer, visit);
    visitRecompute(plan.recompute, visit);
    visitAttention(plan.attention, visit);
    visitImplementation(plan.implementation, visit);
    visitLora(plan.lora, visit);
    visitHardware(plan.hardware, visit);
}

} // namespace headroom
