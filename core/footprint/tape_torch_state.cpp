// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch.h"

#include <algorithm>
#include <cmath>

namespace headroom {

using enum TensorKind;

namespace {

/// DeepSpeed's defaults, in elements (runtime/zero/config.py).
constexpr double reduceBucket = 5e8, subGroup = 1e9;

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

    void addModule(const TorchWeights& weights, bool isEmbedding)
    {
        const bool trainsModule = isEmbedding ? c.trainsEmbeddings : c.trainsModel;
        for (const TorchWeights::Tensor& tensor : weights.tensors) {
            using enum TorchWeights::Kind;
            const bool isAdapter = tensor.kind == Adapter;
            const bool trains = trainsModule || isAdapter;
            const double elements = static_cast<double>(tensor.elements());
            const double frozen = tensor.kind == Matrix ? c.frozenMatrix : c.frozen;
            const double own = isAdapter ? static_cast<double>(c.adapterElement) : c.weight;
            if (c.quantises && !trains && tensor.kind == Matrix) {
                const double packed = frozen < 1 ? 0.5 : 1; // the constants of its groups are tensors of their own
                addParameter(elements * packed);
                addParameter(elements * (frozen - packed));
            } else {
                addParameter(elements * (trains ? own : frozen));
            }
            if (trains && !c.trainsModel && !isAdapter) {
                addParameter(elements * frozen); // the original stays beside its trained copy
            }
            if (trains) {
                addTrained(tensor, elements);
            }
        }
    }

    StageTensors finish()
    {
        const double shards = stateShards();
        if (isDeepSpeed()) {
            // One flat fp32 partition of everything it trains (stage_1_and_2.py), stepped over by sub-groups in
            // stage 3.
            add(m_tensors.resident, Master, m_masters / shards);
            add(m_tensors.resident, Moments, m_moments / 2 / shards);
            add(m_tensors.resident, Moments, m_moments / 2 / shards);
        }
        addBuffers();
        addStep();
        return std::move(m_tensors);
    }

private:
    [[nodiscard]] double stateShards() const
    {
        return static_cast<double>(c.sharding == TorchSharding::None || c.sharding == TorchSharding::Ddp ? 1
                                                                                                         : c.shards);
    }
    [[nodiscard]] bool isDeepSpeed() const
    {
        return c.sharding == TorchSharding::Zero1 || c.sharding == TorchSharding::Zero2
            || c.sharding == TorchSharding::Zero3;
    }

    void addParameter(double bytes)
    {
        add(m_tensors.resident, Parameters, bytes / static_cast<double>(c.gathers() ? c.shards : 1));
    }

    void addTrained(const TorchWeights::Tensor& tensor, double elements)
    {
        using enum TorchWeights::Kind;
        const bool isAdapter = tensor.kind == Adapter;
        const double moments = isAdapter ? (isDeepSpeed() ? 8 : c.adapterMoments)
            : tensor.kind == Matrix      ? c.moments
                                         : c.otherMoments;
        const double factored = isAdapter ? 0 : static_cast<double>(tensor.factors()) * c.factored;
        const double master = !isAdapter ? c.master : isDeepSpeed() && c.adapterElement < 4 ? 4 : 0;
        const double bytes = elements * moments + factored;
        m_masters += elements * master;
        m_moments += bytes;
        m_elements += elements;
        m_gradients += elements * static_cast<double>(isAdapter ? c.adapterElement : c.gradient);
        m_largest = std::max(m_largest, bytes / 2);
        if (!isDeepSpeed()) {
            const double shards = stateShards();
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
        } else if (isDeepSpeed()) {
            const double elements
                = c.reduceBucket > 0 ? static_cast<double>(c.reduceBucket) : std::min(reduceBucket, m_elements);
            const double bucket = elements * static_cast<double>(c.gradient);
            // Stage 1 makes it for the reduction and drops it.
            add(c.sharding == TorchSharding::Zero1 ? m_tensors.temporaries : m_tensors.resident, ReduceBuffer, bucket);
        }
    }

    void addStep()
    {
        if (isDeepSpeed()) {
            // fp32 gradients of a sub-group and their flat copy (stage3.py, step); below stage 3 the share's flat
            // 16-bit gradient and its fp32 copy.
            const double share = m_elements / stateShards();
            const bool isThird = c.sharding == TorchSharding::Zero3;
            const double group = isThird ? std::min(share, subGroup) : share;
            add(m_tensors.temporaries, OptimizerTemporary, group * (isThird ? 4 : static_cast<double>(c.gradient)));
            add(m_tensors.temporaries, OptimizerTemporary, group * 4);
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
            add(m_tensors.temporaries, OptimizerTemporary, 2 * m_largest / stateShards());
            break;
        case StepImplementation::Flat:
            add(m_tensors.temporaries, OptimizerTemporary, m_moments / 2 / stateShards());
            add(m_tensors.temporaries, OptimizerTemporary, m_moments / 2 / stateShards());
            break;
        }
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
    double m_masters = 0, m_moments = 0, m_elements = 0, m_gradients = 0, m_largest = 0;
};

} // namespace

StageTensors torchState(const TorchShape& shape, std::int64_t layers)
{
    StateWriter state(shape);
    state.addModule(embeddingWeights(shape), true);
    const TorchWeights block = blockWeights(shape);
    for (std::int64_t i = 0; i < layers; ++i) {
        state.addModule(block, false);
    }
    state.addModule(headWeights(shape), true);
    return state.finish();
}

} // namespace headroom
