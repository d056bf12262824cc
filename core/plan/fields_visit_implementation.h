// SPDX-License-Identifier: GPL-3.0-or-later
// Part of the body of forEachField: the groups of implementation_plan.h. Include fields.h instead.
#pragma once

namespace headroom {

template <class Group, class Visitor> void visitImplementation(Group& group, Visitor&& visit)
{
    visit("implementation.profile", group.profile);
    visit("implementation.fused_loss", group.fusedLoss);
    visit("implementation.grad_accum_fusion", group.gradAccumFusion);
    visit("implementation.placeholder_grads", group.placeholderGrads);
    visit("implementation.rope_fusion", group.ropeFusion);
    visit("implementation.masked_softmax_fusion", group.maskedSoftmaxFusion);
    visit("implementation.swiglu_fusion", group.swigluFusion);
    visit("implementation.squared_relu_fusion", group.squaredReluFusion);
    visit("implementation.loader_mask", group.loaderMask);
    visit("implementation.saved_padding_mask", group.savedPaddingMask);
    visit("implementation.kept_expert_output", group.keptExpertOutput);
    visit("implementation.logs_parameter_norm", group.logsParameterNorm);
    visit("implementation.deterministic", group.deterministic);
    visit("implementation.tp_comm_overlap", group.tpCommOverlap);
    visit("implementation.expert_comm_overlap", group.expertCommOverlap);
    visit("implementation.deferred_wgrads", group.deferredWgrads);
    visit("implementation.cublas_workspace_bytes", group.cublasWorkspaceBytes);
    visit("implementation.compile", group.compile);
    visit("implementation.compiled_loss", group.compiledLoss);
    visit("implementation.loss_chunks", group.lossChunks);
    visit("implementation.separate_tables", group.separateTables);
    visit("implementation.keeps_logits", group.keepsLogits);
    visit("implementation.repeat_kv", group.repeatKv);
    visit("implementation.cuda_graphs", group.cudaGraphs);
    visit("implementation.cuda_graph_modules", group.cudaGraphModules);
    visit("implementation.expandable_segments", group.expandableSegments);
    visit("implementation.max_split_mib", group.maxSplitMib);
    visit("implementation.roundup_divisions", group.roundupDivisions);
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

} // namespace headroom
