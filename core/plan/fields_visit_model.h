// SPDX-License-Identifier: GPL-3.0-or-later
// Part of the body of forEachField: the groups of model_plan.h. Include fields.h instead.
#pragma once

namespace headroom {

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
    visit("model.attn_gate", group.attnGate);
    visit("model.repeated_predictor", group.repeatedPredictor);
    visit("model.audio_bins", group.audioBins);
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
    visit("moe.shared_gate", group.sharedGate);
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
    visit("frozen.trained", group.trained);
    visit("frozen.trained_layers", group.trainedLayers);
    visit("frozen.trained_modules", group.trainedModules);
    visit("frozen.ratio", group.ratio);
}

} // namespace headroom
