// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/tapes.h"

#include <algorithm>
#include <cmath>

namespace headroom {

using enum TensorKind;

namespace {

/// DeepSpeed's default, in elements (runtime/zero/config.py).
constexpr std::int64_t defaultBucket = 500'000'000;
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
        : m_shape(shape)
    {
    }

    void addPart(const TorchPart& part)
    {
        double elements = 0;
        for (const TorchWeights::Tensor& tensor : part.weights.tensors) {
            elements += part.trains(tensor) ? static_cast<double>(tensor.elements()) : 0;
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
        if (m_shape.isDeepSpeed() && !m_shape.offloadsOptimizer) {
            // One flat fp32 partition of everything it trains (stage_1_and_2.py), stepped over by sub-groups in
            // stage 3.
            add(m_tensors.resident, Master, m_masters);
            add(m_tensors.resident, Moments, m_moments / 2);
            add(m_tensors.resident, Moments, m_moments / 2);
        }
        addSubGroups();
        addBuffers();
        if (m_shape.gathersAgain) {
            add(m_tensors.resident, GlobalBuffer, static_cast<double>(m_shape.streamBytes() * m_shape.sequenceShards));
        }
        addStep();
        return std::move(m_tensors);
    }

private:
    void addTensor(const TorchWeights::Tensor& tensor, const TorchPart& part)
    {
        using enum TorchWeights::Kind;
        m_shards = tensor.isExpert ? m_shape.expertShards()
            : tensor.kind == Table ? m_shape.tableShards()
                                   : m_shape.shards;
        const double elements = static_cast<double>(tensor.elements());
        if (part.model == TorchPart::Model::Reward) {
            addReference(elements * m_shape.frozen);
            return;
        }
        const bool isAdapter = tensor.kind == Adapter;
        const bool trains = part.trains(tensor) || isAdapter;
        const bool isPacked = part.isQuantised && tensor.kind == Matrix && m_shape.quantises && !trains;
        const double frozen = isPacked ? m_shape.frozenMatrix : m_shape.frozen;
        const double own = isAdapter ? static_cast<double>(m_shape.adapterElement) : m_shape.weight;
        if (isPacked) {
            const double packed = frozen < 1 ? 0.5 : 1; // the constants of its groups are tensors of their own
            addParameter(elements * packed);
            addParameter(elements * (frozen - packed));
        } else {
            addParameter(elements * (trains ? own : frozen)
                         * (isAdapter ? static_cast<double>(m_shape.adapterSlots) : 1));
        }
        if (part.keepsOriginal && !isAdapter) {
            addParameter(elements * frozen);
        }
        if (m_shape.reference == ReferenceModel::Separate && !isAdapter && part.model == TorchPart::Model::Policy) {
            addReference(elements * frozen);
        }
        if (trains) {
            addTrained(tensor, elements);
        }
    }

    void addReference(double bytes)
    {
        if (!m_shape.offloadsParameters) {
            add(m_tensors.resident, ReferenceParameters, bytes / static_cast<double>(m_shape.gathers() ? m_shards : 1));
        }
    }

    [[nodiscard]] double stateShards() const
    {
        const bool isWhole = m_shape.sharding == TorchSharding::None || m_shape.sharding == TorchSharding::Ddp;
        return static_cast<double>(isWhole ? 1 : m_shards);
    }

    void addParameter(double bytes)
    {
        if (!m_shape.offloadsParameters) {
            add(m_tensors.resident, Parameters, bytes / static_cast<double>(m_shape.gathers() ? m_shards : 1));
        }
    }

    void addTrained(const TorchWeights::Tensor& tensor, double elements)
    {
        using enum TorchWeights::Kind;
        const bool isAdapter = tensor.kind == Adapter;
        const double shards = stateShards();
        const bool isSmall = m_shape.smallMoments > 0 && elements / shards < smallestEightBit;
        const double moments = isSmall ? m_shape.smallMoments
            : isAdapter                ? m_shape.adapterMoments
            : tensor.kind == Matrix    ? m_shape.moments
                                       : m_shape.otherMoments;
        const double factored = static_cast<double>(tensor.factors()) * m_shape.factored;
        const double master = !isAdapter ? m_shape.master : m_shape.isDeepSpeed() && m_shape.adapterElement < 4 ? 4 : 0;
        const double bytes = elements * moments + factored;
        m_masters += elements * master / shards;
        m_moments += bytes / shards;
        m_share += elements / shards;
        if (m_shape.clipsInFp32 && !m_shape.offloadsOptimizer) {
            add(m_tensors.clipping, OptimizerTemporary, elements * 4 / shards);
        }
        const double gradient = elements * static_cast<double>(isAdapter ? m_shape.adapterElement : m_shape.gradient);
        m_gradients += gradient;
        m_gradientShare += gradient / shards;
        if (!m_shape.isDeepSpeed() && !m_shape.offloadsOptimizer) {
            add(m_tensors.resident, Master, elements * master / shards);
            addMoments(tensor, bytes / shards);
            m_largestTensor = std::max(m_largestTensor, elements / shards);
        }
    }

    /// Two of Adam's, whose square roots the step makes; one of Muon's matrices and of the other optimizers.
    void addMoments(const TorchWeights::Tensor& tensor, double bytes)
    {
        const bool isOrthogonalised
            = m_shape.optimizer == OptimizerKind::Muon && tensor.kind == TorchWeights::Kind::Matrix;
        const bool isAdam = m_shape.optimizer == OptimizerKind::Adam
            || (m_shape.optimizer == OptimizerKind::Muon && !isOrthogonalised);
        if (isOrthogonalised) {
            const std::int64_t many
                = tensor.isExpert ? std::max<std::int64_t>(m_shape.model.experts / m_shape.expertRanks, 1) : 1;
            noteMatrix(tensor.rows / many, tensor.columns);
        }
        if (!isAdam) {
            add(m_tensors.created, Moments, bytes);
            return;
        }
        add(m_tensors.created, Moments, bytes / 2);
        add(m_tensors.created, Moments, bytes / 2);
        m_lists.push_back(bytes / 2);
        m_largest = std::max(m_largest, bytes / 2);
    }

    /// What orthogonalising takes is largest for the largest matrix, which is gathered for it where it is sharded.
    void noteMatrix(std::int64_t rows, std::int64_t columns)
    {
        const double whole = static_cast<double>(rows) * static_cast<double>(columns);
        const auto side = static_cast<double>(std::min(rows, columns));
        if (whole + side * side > m_orthogonal + m_square) {
            m_orthogonal = whole;
            m_square = side * side;
        }
    }

    /// Of state that is offloaded in part whole sub-groups stay, each with its gradient in fp32, which PyTorch's AdamW
    /// reads (stage3.py, subgroup_to_device, initialize_optimizer_states and backup_optimizer).
    void addSubGroups()
    {
        if (m_shape.sharding != TorchSharding::Zero3 || !m_shape.offloadsOptimizer || m_share <= 0) {
            return;
        }
        const double groups = std::ceil(m_share / m_shape.subGroup);
        const double host = std::floor(m_shape.offloadedSubGroups * groups) * m_shape.subGroup;
        const double staying = std::max(m_share - host, 0.0);
        add(m_tensors.resident, Master, m_masters * staying / m_share);
        add(m_tensors.resident, Moments, m_moments / 2 * staying / m_share);
        add(m_tensors.resident, Moments, m_moments / 2 * staying / m_share);
        add(m_tensors.resident, Gradients, staying * 4);
        add(m_tensors.temporaries, OptimizerTemporary, std::min(staying, m_shape.subGroup) * 4);
    }

    void addBuffers()
    {
        if (m_shape.sharding == TorchSharding::Ddp) {
            add(m_tensors.resident, ReduceBuffer, m_gradients); // buckets beside .grad (theory.md 5.1)
        } else if (m_shape.sharding == TorchSharding::Zero3) {
            // Both from the start (stage3.py, _setup_for_real_optimizer), the gradients' share where the optimizer is.
            add(m_tensors.resident, ReduceBuffer, static_cast<double>(m_shape.bucketBytes()));
            add(m_tensors.resident, Gradients, m_shape.offloadsOptimizer ? 0 : m_gradientShare);
        }
    }

    void addStep()
    {
        if (m_shape.offloadsOptimizer) {
            return; // steps in the host's memory
        }
        if (m_shape.sharding == TorchSharding::Fsdp && m_shape.stages > 1) {
            // The last micro-batch's reduction: a module's input to it, and what this rank keeps of all.
            add(m_tensors.temporaries, ReduceBuffer, m_largestPart * static_cast<double>(m_shape.reduced));
            add(m_tensors.temporaries, Gradients, m_share * m_shape.weight);
        }
        if (m_shape.accumulatesWhole) {
            add(m_tensors.temporaries, Gradients, m_share * m_shape.weight); // what the last reductions left
        }
        if (m_shape.isDeepSpeed()) {
            // fp32 gradients of a sub-group and their flat copy (stage3.py, step); below stage 3 the share's flat
            // 16-bit gradient and its fp32 copy.
            const double share = m_share;
            const bool isThird = m_shape.sharding == TorchSharding::Zero3;
            const double group = isThird ? std::min(share, m_shape.subGroup) : share;
            add(m_tensors.temporaries, OptimizerTemporary,
                group * (isThird ? 4 : static_cast<double>(m_shape.gradient)));
            add(m_tensors.temporaries, OptimizerTemporary, group * 4);
            if (m_shape.step == StepImplementation::Flat) {
                addFlatRoots();
            }
            return;
        }
        addMatrixTemporaries();
        // Adam's square roots, in the type of the state (theory_frameworks.md 2.3).
        switch (m_shape.stepsInBackward ? StepImplementation::Fused : m_shape.step) {
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

    /// One tensor at a time, the largest. Muon: X, X·Xᵀ, its polynomial and the next X in bf16 (theory.md 5.4;
    /// torch/optim/_muon.py). Adafactor: PyTorch's estimate of the variance, which becomes the update
    /// (torch/optim/_adafactor.py); transformers' has two of them and fp32 copies of a 16-bit gradient and weight
    /// (optimization.py).
    void addMatrixTemporaries()
    {
        constexpr double bf16 = 2, fp32 = 4;
        for (const double elements : {m_orthogonal, m_square, m_square, m_orthogonal}) {
            add(m_tensors.temporaries, OptimizerTemporary, elements * bf16);
        }
        if (m_shape.optimizer == OptimizerKind::Adafactor) {
            const double stepped = m_shape.trainsModel ? m_shape.weight : static_cast<double>(m_shape.adapterElement);
            const int own = stepped < fp32 ? 4 : 2;
            for (int i = 0; i < (m_shape.habits.hasOwnAdafactor ? own : 1); ++i) {
                add(m_tensors.temporaries, OptimizerTemporary, m_largestTensor * fp32);
            }
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

    const TorchShape& m_shape;
    StageTensors m_tensors;
    std::vector<double> m_lists;
    std::int64_t m_shards = 1; ///< of the tensor at hand
    double m_masters = 0, m_moments = 0, m_share = 0; ///< on this rank
    double m_gradients = 0, m_gradientShare = 0, m_largest = 0, m_largestPart = 0, m_largestTensor = 0;
    double m_orthogonal = 0, m_square = 0; ///< elements of Muon's largest matrix and of its square
};

} // namespace

std::int64_t TorchShape::bucketBytes() const
{
    const bool hasBucket = isDeepSpeed() && step != StepImplementation::Flat;
    return hasBucket ? (reduceBucket > 0 ? reduceBucket : defaultBucket) * gradient : 0;
}

StageTensors torchState(const TorchShape& shape, const std::vector<TorchPart>& parts)
{
    StateWriter state(shape);
    for (const TorchPart& part : parts) {
        state.addPart(part);
    }
    return state.finish();
}

} // namespace headroom
