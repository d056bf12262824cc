// SPDX-License-Identifier: GPL-3.0-or-later
#include "allocator/allocator_sizes.h"
#include "footprint/tape/state.h"
#include "footprint/torch/gpt_pipeline.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

namespace {

/// DeepSpeed's default, in elements (runtime/zero/config.py).
constexpr std::int64_t reduceBucket = 500'000'000;

} // namespace

/// Megatron 2.4 keeps the fp32 main gradients until the next step replaces them and, through main_grad, the last
/// 16-bit gradients until the next reduction: 20 bytes a parameter between steps, 22 in backward. DeepSpeed makes
/// its moments before the first step (initialize_optimizer_states). Its fp16 optimizer makes a list of fp32
/// gradients and its flat copy in the step (24); the one it takes for optimizers that it does not know as fused,
/// until 2021 also Apex's, the list alone (20; runtime/fp16/unfused_optimizer.py); ZeRO-1 the flat 16-bit share and
/// its fp32 copy, and the bucket of a reduction; its bf16 optimizer accumulates in whole fp32 gradients, one flat
/// tensor that is reduced as a bf16 copy (engine.py, communication_data_type and allreduce_bucket; bf16_optimizer.py,
/// get_grads_for_reduction).
StageTensors gptPipelineState(const TrainingPlan& plan, bool isPlain, const ModelProgram& program,
                              const StageProgram& stage)
{
    const RankShape& c = program.shape;
    StageTensors tensors;
    const auto add = [](std::vector<Tape::Event>& events, TensorKind kind, std::int64_t bytes) {
        events.push_back({blockSize(bytes), Tape::Op::Allocate, kind, 0});
    };
    const std::int64_t zero = plan.shard.zeroStage.value;
    const bool isSharded = c.optimizerShards > 1 || zero > 0;
    const bool hasWholeGradients = !isPlain && c.gradient == 4;
    std::int64_t all = 0;
    for (const std::int64_t elements : parameterTensors(program, stage)) {
        all += elements;
        add(tensors.resident, Parameters, elements * c.element / (zero == 3 ? c.optimizerShards : 1));
        if (!isSharded) {
            add(tensors.resident, Master, elements * c.master);
            auto& moments = isPlain ? tensors.created : tensors.resident;
            add(moments, Moments, elements * c.firstMoment);
            add(moments, Moments, elements * c.secondMoment);
        }
        if (hasWholeGradients) {
            add(tensors.resident, Gradients, elements * 4);
        }
        if (isPlain) {
            add(tensors.created, MainGradients, elements * 4);
            add(tensors.created, Gradients, elements * c.element);
        } else if (!isSharded && !hasWholeGradients) {
            add(tensors.temporaries, OptimizerTemporary, elements * 4);
        }
    }
    if (hasWholeGradients && c.data * c.context > 1) {
        add(tensors.clipping, ReduceBuffer, all * c.element);
    }
    const std::int64_t share = all / c.optimizerShards;
    if (isSharded) {
        add(tensors.resident, Master, share * c.master);
        add(tensors.resident, Moments, share * (c.firstMoment + c.secondMoment));
    }
    if (isSharded && !hasWholeGradients) {
        // Stage 3 steps over sub-groups and makes their fp32 gradients as a list and once more flat.
        constexpr std::int64_t subGroup = 1'000'000'000;
        const std::int64_t stepped = zero == 3 ? std::min(share, subGroup) : share;
        add(tensors.temporaries, OptimizerTemporary, stepped * (zero == 3 ? 4 : c.element));
        add(tensors.temporaries, OptimizerTemporary, stepped * 4);
        if (zero == 1) {
            // The reduction makes its bucket and collects this rank's share, after which bucket and gradients go
            // (reduce_gradients, copy_grads_in_partition, independent_gradient_partition_epilogue).
            add(tensors.clipping, ReduceBuffer, std::min(reduceBucket, all) * c.element);
            add(tensors.clipping, Gradients, share * c.element);
            add(tensors.temporaries, Gradients, share * c.element);
            tensors.dropsGradients = true;
        }
    } else if (!isPlain && !hasWholeGradients && plan.optimizer.impl.value != "for-loop") {
        add(tensors.temporaries, OptimizerTemporary, all * 4);
    }
    return tensors;
}

} // namespace headroom
