// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/parameter_tensors.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// Bytes of a stage's static state on one rank.
struct StageState
{
    std::int64_t parameters = 0, gradients = 0, master = 0;
    std::int64_t reference = 0; ///< of the parameters: a frozen copy of the model, made once the buffers are there
    std::int64_t moments = 0; ///< from the first optimizer step on
    /// What blocks hold beyond them, were each a segment of its own: in parameters and master, but not in moments.
    std::int64_t parameterRests = 0, masterRests = 0, momentRests = 0;
    std::int64_t movingRests = 0; ///< of the parameters before they move into one buffer
    std::int64_t stepTemporaries = 0; ///< together alive at one time of every step
    std::int64_t mainGradients = 0; ///< fp32, from the step to the next step's zero_grad
};

/// A tensor of 10 MiB or more has a segment of its own of a multiple of 2 MiB, of which a rest of up to 1 MiB is not
/// split off, unless segments grow as they are needed (theory.md 6.3).
[[nodiscard]] StageState stageState(const ModelProgram& program, const StageProgram& stage);

/// Ranks that share a group's optimizer state.
[[nodiscard]] std::int64_t optimizerShards(const RankShape& shape, ParameterGroup group);
/// Ranks that share a group's parameters and gradients; 1 without Megatron's FSDP (theory_moe_cp.md B7).
[[nodiscard]] std::int64_t parameterShards(const RankShape& shape, ParameterGroup group);
[[nodiscard]] std::int64_t gradientShards(const RankShape& shape, ParameterGroup group);

/// The pieces of a group's tensors whose optimizer state this rank holds: all, or the contiguous 1/d of the last rank
/// of a distributed optimizer, or those it is dealt.
[[nodiscard]] std::vector<std::int64_t>
optimizerTensors(const RankShape& shape, const std::vector<std::int64_t>& parameters, ParameterGroup group);
/// Bytes of what frozen parameters lie in on this rank: of each tensor, or under Megatron's FSDP its share of all of
/// them (megatron_fsdp/param_and_grad_buffer.py makes a buffer of weights for every group, trained or not).
[[nodiscard]] std::vector<std::int64_t> frozenStorages(const ModelProgram& program, const StageProgram& stage);
/// Bytes of each tensor of the optimizer's moments on this rank.
[[nodiscard]] std::vector<std::int64_t> momentTensors(const ModelProgram& program, const StageProgram& stage);
/// What orthogonalising the largest matrix of the stage allocates: X, X·Xᵀ, its polynomial and the next X, in fp32
/// (theory.md 5.4; NVIDIA-NeMo/Emerging-Optimizers, muon_utils.py, newton_schulz). One matrix at a time; 0 without
/// Muon.
[[nodiscard]] std::vector<std::int64_t> orthogonalisation(const ModelProgram& program, const StageProgram& stage);
/// What is allocated together at the end of every step, whichever is most: the above, what dealt tensors are gathered
/// in (Megatron optimizer/layer_wise_optimizer.py, allgather_params), or the frozen weights' copies for the logged norm
/// (training/utils/common_utils.py, calc_params_l2_norm; theory_moe_cp.md section 3).
[[nodiscard]] std::vector<std::int64_t> stepTemporaries(const ModelProgram& program, const StageProgram& stage);
/// Elements of the contiguous parameter and gradient buffers of a distributed optimizer: every tensor starts at a
/// multiple of 64, the buffer ends at one of lcm(d, 128) (Megatron optimizer/param_layout.py).
[[nodiscard]] std::int64_t paddedElements(const RankShape& shape, const std::vector<std::int64_t>& parameters,
                                          ParameterGroup group);
/// Bytes of every copy that Transformer Engine keeps of a 16-bit weight it computes with in fp8: a byte an element, and
/// one more for the transposed copy before Blackwell or with scales by block, which are fp32 for every 128 by 128
/// (theory_moe_cp.md B3). Not of embedding, output layer and router.
[[nodiscard]] std::vector<std::int64_t> fp8WeightCopies(const ModelProgram& program, const StageProgram& stage);
/// fp8 parameters on Blackwell are one byte, where Hopper keeps a transposed copy too (theory_dense.md rule 8).
[[nodiscard]] std::int64_t fp8Savings(const RankShape& shape, const std::vector<std::int64_t>& parameters);

} // namespace headroom
