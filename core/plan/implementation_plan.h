// SPDX-License-Identifier: GPL-3.0-or-later
// What it is trained with: the groups of a plan about software, adapters and the GPU.
#pragma once

#include "plan/field.h"
#include "plan/vocabulary.h"

namespace headroom {

/// Which implementation runs and the facts about it that flags do not hold. Everything here changes memory.
struct ImplementationPlan
{
    Name profile; ///< megatron-te, megatron-local, …: which tapes describe the layers
    Name fusedLoss; ///< none, native, te, te-inplace (Transformer Engine up to 2.17), liger, chunked, 16bit (no upcast)
    Flag gradAccumFusion; ///< weight gradients are added to the gradient buffer by the matrix product itself
    Flag placeholderGrads; ///< with that fusion: one unused 16-bit gradient a weight shape stays (since 2025)
    Flag ropeFusion, maskedSoftmaxFusion, swigluFusion;
    Flag squaredReluFusion; ///< of experts, with the routing weight (Megatron-Core since late 2025)
    Flag loaderMask; ///< the data loader makes a b·s·s attention mask
    Flag savedPaddingMask; ///< unfused attention with padding keeps its mask (Transformer Engine since 2025)
    Flag keptExpertOutput; ///< deterministic runs keep what experts return until backward (Megatron-Core since 0.15)
    Flag logsParameterNorm; ///< after each step; bf16 weights without a master weight are copied to fp32 for it
    Flag deterministic, tpCommOverlap, expertCommOverlap;
    Count deferredWgrads; ///< micro-batches whose output layer gradient waits for the end of the step; 0: all
    Count cublasWorkspaceBytes; ///< one workspace; CUBLAS_WORKSPACE_CONFIG or the GPU decides when not given
    Flag compile; ///< torch.compile of the blocks
    Flag compiledLoss; ///< and of the loss
    Count lossChunks; ///< parts that a chunked loss works on one after the other
    Flag separateTables; ///< embedding and output layer are groups of FSDP, not the root's
    Flag keepsLogits; ///< the training loop still refers to the model's output while backward runs
    Name cudaGraphs; ///< none, local, transformer_engine, full_iteration: what records the layers' kernels
    Names cudaGraphModules; ///< attn, mlp, moe_router, …: what is recorded of a layer; all of it when not given
    Flag expandableSegments; ///< PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
    Count maxSplitMib; ///< max_split_size_mb there: larger blocks of the pool are not cut
    Count roundupDivisions; ///< roundup_power2_divisions there: requests are rounded up to parts of a power of two
    Flag repeatKv; ///< keys and values are expanded to all heads before attention
};

struct LoraPlan
{
    Count rank;
    Names targets; ///< modules with adapters, q_proj …; every linear layer of the blocks when not given
    Count adapterSlots; ///< adapters held at once, of which one is trained
    Field<DataType> adapterType; ///< of the adapters' weights
    Real dropout;
    Flag trainsEmbeddings{false}; ///< copies of embedding and output layer are trained too (modules_to_save)
};

struct HardwarePlan
{
    Name gpu;
    Count capacityBytes; ///< device memory of one GPU
    Count computeCapability; ///< major version: 8 Ampere and Ada, 9 Hopper, 10 Blackwell
};

} // namespace headroom
