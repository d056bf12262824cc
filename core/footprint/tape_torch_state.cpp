// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch.h"

#include <algorithm>
#include <cmath>

namespace headroom {

using enum TensorKind;

namespace {

/// DeepSpeed's defaults, in elements (runtime/zero/config.py).
constexpr double reduceBucket = 5e8, subGroup = 1e9;
/// Smaller tensors keep fp32 states in an 8-bit optimizer (bitsandbytes optim/optimizer.py, min_8bit_size).
constexpr double smallestEightBit = 4096;

void add(std::vector<Tape::Event>& events, TensorKind kind, double bytes)
{
    if (bytes >= 1) {
        const std::int64_t size = (std::llround(bytes) + 511) & ~std::int64_t{511};
        events.push_back({size, Tape::Op::Allocate, kind, 0});
    }
}

class StateWriter
{
public:
    explicit StateWriter(const TorchShape& shape)
        : c(shape)
    {
    }

    void addPart(const TorchPart& part)
    {
        double elements = 0;
        for (const TorchWeights::Tensor& tensor : part.weights.tensors) {
            elements += part.isTrained ? static_cast<double>(tensor.elements()) : 0;
        }
        m_largestPart = std::max(m_largestPart, elements);
        for (std::int64_t i = 0; i < part.count; ++i) {
            for (const TorchWeights::Tensor& tensor : part.weights.tensors) {
                addTensor(tensor, part);
            }
        }
    }

    StageTensors finish()
    {
        if (isDeepSpeed() && !c.offloadsOptimizer) {
            // One flat fp32 partition of everything it trains (stage_1_and_2.py), stepped over by sub-groups in
            // stage 3.
            add(m_tensors.resident, Master, m_masters);
            add(m_tensors.resident, Moments, m_moments / 2);
            add(m_tensors.resident, Moments, m_moments / 2);
        }
        addBuffers();
        addStep();
        return std::move(m_tensors);
    }

private:
    void addTensor(const TorchWeights::Tensor& tensor, const TorchPart& part)
    {
        using enum TorchWeights::Kind;
        m_shards = tensor.isExpert ? std::max<std::int64_t>(c.shards / c.expertRanks, 1) : c.shards;
        const bool isAdapter = tensor.kind == Adapter;
        const bool trains = part.isTrained || isAdapter;
        const double elements = static_cast<double>(tensor.elements());
        const bool isPacked = part.isQuantised && tensor.kind == Matrix && c.quantises && !trains;
        const double frozen = isPacked ? c.frozenMatrix : c.frozen;
        const double own = isAdapter ? static_cast<double>(c.adapterElement) : c.weight;
        if (isPacked) {
            const double packed = frozen < 1 ? 0.5 : 1; // the constants of its groups are tensors of their own
            addParameter(elements * packed);
            addParameter(elements * (frozen - packed));
        } else {
            addParameter(elements * (trains ? own : frozen) * (isAdapter ? static_cast<double>(c.adapterSlots) : 1));
        }
        if (part.keepsOriginal && !isAdapter) {
            addParameter(elements * frozen);
        }
        if (trains) {
            addTrained(tensor, elements);
        }
    }

    [[nodiscard]] double stateShards() const
    {
        const bool isWhole = c.sharding == TorchSharding::None || c.sharding == TorchSharding::Ddp;
        return static_cast<double>(isWhole ? 1 : m_shards);
    }
    [[nodiscard]] bool isDeepSpeed() const
    {
        return c.sharding == TorchSharding::Zero1 || c.sharding == TorchSharding::Zero2
            || c.sharding == TorchSharding::Zero3;
    }

    void addParameter(double bytes)
    {
        if (!c.offloadsParameters) {
            add(m_tensors.resident, Parameters, bytes / static_cast<double>(c.gathers() ? m_shards : 1));
        }
    }

    void addTrained(const TorchWeights::Tensor& tensor, double elements)
    {
        using enum TorchWeights::Kind;
        const bool isAdapter = tensor.kind == Adapter;
        const double shards = stateShards();
        const bool isSmall = c.smallMoments > 0 && elements / shards < smallestEightBit;
        const double moments = isAdapter ? (isDeepSpeed() ? 8 : c.adapterMoments)
            : isSmall                    ? c.smallMoments
            : tensor.kind == Matrix      ? c.moments
                                         : c.otherMoments;
        const double factored = isAdapter ? 0 : static_cast<double>(tensor.factors()) * c.factored;
        const double master = !isAdapter ? c.master : isDeepSpeed() && c.adapterElement < 4 ? 4 : 0;
        const double bytes = elements * moments + factored;
        m_masters += elements * master / shards;
        m_moments += bytes / shards;
        m_elements += elements;
        m_share += elements / shards;
        if (c.clipsInFp32 && !c.offloadsOptimizer) {
            add(m_tensors.clipping, OptimizerTemporary, elements * 4 / shards);
        }
        m_gradients += elements * static_cast<double>(isAdapter ? c.adapterElement : c.gradient);
        m_largest = std::max(m_largest, bytes / 2 / shards);
        if (!isDeepSpeed() && !c.offloadsOptimizer) {
            add(m_tensors.resident, Master, elements * master / shards);
            add(m_tensors.created, Moments, bytes / 2 / shards);
            add(m_tensors.created, Moments, bytes / 2 / shards);
            m_lists.push_back(bytes / 2 / shards);
        }
    }

    void addBuffers()
    {
        if (c.sharding == TorchSharding::Ddp) {
            add(m_tensors.resident, ReduceBuffer, m_gradients); // buckets beside .grad (theory.md 5.1)
        } else if (isDeepSpeed() && c.step != StepImplementation::Flat) {
            const double elements
                = c.reduceBucket > 0 ? static_cast<double>(c.reduceBucket) : std::min(reduceBucket, m_elements);
            const double bucket = elements * static_cast<double>(c.gradient);
            // Stage 1 makes it for the reduction and drops it.
            add(c.sharding == TorchSharding::Zero1 ? m_tensors.temporaries : m_tensors.resident, ReduceBuffer, bucket);
        }
    }

    void addStep()
    {
        if (c.offloadsOptimizer) {
            return; // steps in the host's memory
        }
        if (c.sharding == TorchSharding::Fsdp && c.stages > 1) {
            // The last micro-batch's reduction: a module's input to it, and what this rank keeps of all.
            add(m_tensors.temporaries, ReduceBuffer, m_largestPart * static_cast<double>(c.reduced));
            add(m_tensors.temporaries, Gradients, m_share * c.weight);
        }
        if (isDeepSpeed()) {
            // fp32 gradients of a sub-group and their flat copy (stage3.py, step); below stage 3 the share's flat
            // 16-bit gradient and its fp32 copy.
            const double share = m_share;
            const bool isThird = c.sharding == TorchSharding::Zero3;
            const double group = isThird ? std::min(share, subGroup) : share;
            add(m_tensors.temporaries, OptimizerTemporary, group * (isThird ? 4 : static_cast<double>(c.gradient)));
            add(m_tensors.temporaries, OptimizerTemporary, group * 4);
            if (c.step == StepImplementation::Flat) {
                addFlatRoots();
            }
            return;
        }
        // Adam's square roots, in the type of the state (theory_frameworks.md 2.3).
        switch (c.stepsInBackward ? StepImplementation::Fused : c.step) {
        case StepImplementation::Fused:
            break;
        case StepImplementation::ForeachTwice:
            addLists();
            [[fallthrough]];
        case StepImplementation::Foreach:
            addLists();
            break;
        case StepImplementation::ForLoop:
            add(m_tensors.temporaries, OptimizerTemporary, 2 * m_largest);
            break;
        case StepImplementation::Flat:
            add(m_tensors.temporaries, OptimizerTemporary, m_masters > 0 ? m_share * 4 : 0); // the gradient in fp32
            addFlatRoots();
            break;
        }
    }

    /// sqrt() and the division of one tensor with everything in it (torch/optim/adamw.py, _single_tensor_adamw).
    void addFlatRoots()
    {
        add(m_tensors.temporaries, OptimizerTemporary, m_moments / 2);
        add(m_tensors.temporaries, OptimizerTemporary, m_moments / 2);
    }

    void addLists()
    {
        for (const double bytes : m_lists) {
            add(m_tensors.temporaries, OptimizerTemporary, bytes);
        }
    }

    const TorchShape& c;
    StageTensors m_tensors;
    std::vector<double> m_lists;
    std::int64_t m_shards = 1; ///< of the tensor at hand
    double m_masters = 0, m_moments = 0, m_share = 0; ///< on this rank
    double m_elements = 0, m_gradients = 0, m_largest = 0, m_largestPart = 0;
};

} // namespace

StageTensors torchState(const TorchShape& shape, const std::vector<TorchPart>& parts)
{
    StateWriter state(shape);
    for (const TorchPart& part : parts) {
        state.addPart(part);
    }
    return state.finish();
}

} // namespace headroom
