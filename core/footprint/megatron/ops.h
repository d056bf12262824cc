// SPDX-License-Identifier: GPL-3.0-or-later
// Operations that Megatron's attention, MLP, embedding and head share.
#pragma once

#include "footprint/tape/shape.h"
#include "footprint/tape/slot_list.h"
#include "footprint/tape/writer.h"

#include <array>
#include <vector>

namespace headroom {

/// Keys of persistent storages; weights' placeholders use rows and columns.
enum : std::uint64_t {
    CublasForwardKey = 1,
    CublasBackwardKey,
    GemmKey,
    UserBufferKey,
    GlobalBufferKey,
    GroupedGemmKey,
    OverlapCublasKey
};
constexpr std::uint64_t placeholderKey(std::int64_t rows, std::int64_t columns)
{
    return (static_cast<std::uint64_t>(rows) << 32) | static_cast<std::uint64_t>(columns);
}

class MegatronOps
{
public:
    struct Norm
    {
        Tape::Slot output = Tape::none;
        SlotList statistics;
    };
    /// A weight's gradient that a later pass computes: what stays until then.
    struct DelayedGradient
    {
        Tape::Slot input = Tape::none, outputGradient = Tape::none;
        std::int64_t rows = 0, columns = 0;
        std::int64_t gatheredBytes = 0; ///< of Megatron's own layers: the input is gathered again
    };
    struct Gradients
    {
        Tape::Slot input = Tape::none;
        Tape::Slot weight = Tape::none; ///< without fusion: lives until the hook of its parameter ran
    };

    MegatronOps(const RankShape& rank, Tape& tape, PersistentStorages& persistents)
        : shape(rank)
        , writer(tape, persistents)
    {
    }

    void cublas(); ///< PyTorch's workspace of the thread that runs now: one for forward, one for backward
    void gemm(); ///< the workspaces of a matrix product of a transformer layer
    /// Megatron's buffer for what its own layers gather; it keeps its largest size.
    void growGlobalBuffer(std::int64_t bytes) { writer.grow(GlobalBufferKey, TensorKind::GlobalBuffer, bytes); }
    /// A GEMM of a transformer layer; local layers add their bias out of place.
    Tape::Slot linear(TensorKind kind, std::int64_t bytes, bool hasBias = false);
    Gradients linearBackward(std::int64_t inputBytes, std::int64_t rows, std::int64_t columns,
                             std::uint32_t parts = TrainedParts::all);
    /// The gradient of one weight, in the pass that computes it.
    void delayedGradient(std::int64_t rows, std::int64_t columns, std::int64_t gatheredBytes);
    /// The pass of the weights' gradients: everything delayed, in the order of the backward.
    void writeDelayedGradients();
    [[nodiscard]] bool delays(std::uint32_t parts = TrainedParts::all) const
    {
        return shape.delaysWeightGradients && shape.trains(parts);
    }
    /// After a linear layer's forward: what it read, unless its weight is trained.
    void dropInput(Tape::Slot& slot, std::uint32_t parts = TrainedParts::all);
    void placeholder(std::int64_t rows, std::int64_t columns);
    /// The sequence-parallel input of a column-parallel layer in full length: a temporary in Transformer Engine.
    Tape::Slot gather(std::int64_t tokens);
    /// The same for the input of a column-parallel layer, which Megatron's own layers gather into the global buffer.
    Tape::Slot gatherInput(std::int64_t tokens);
    /// Reduce-scatter of a full-length result; the all-reduce without sequence parallelism is in place.
    Tape::Slot scatter(Tape::Slot full, TensorKind kind, std::int64_t tokens);
    Norm norm(std::int64_t rows, std::int64_t width, bool feedsGemm);
    Tape::Slot normOutput(std::int64_t rows, std::int64_t width, bool feedsGemm);
    /// What a norm made is freed once the linear layer behind it has run, and made again for its backward. In
    /// Transformer Engine the two are one module, which keeps it.
    [[nodiscard]] bool dropsNorm() const { return shape.isKwai && shape.recomputesNorms; }
    /// fp8 GEMMs keep their input quantised; `isKept`: the 16-bit tensor has other readers.
    Tape::Slot quantised(Tape::Slot slot, std::int64_t elements, bool isKept = false);
    /// Bias, dropout and residual add; hands out the new stream and the dropout mask.
    std::pair<Tape::Slot, Tape::Slot> addResidual(Tape::Slot branch, std::int64_t rows);
    /// Backward of dropout and of the row-parallel GEMM before it; returns the gradient of its input.
    Tape::Slot rowLinearBackward(Tape::Slot mask, Tape::Slot savedInput, std::int64_t tokens, std::int64_t inputBytes,
                                 std::int64_t columns, std::uint32_t parts);
    /// Backward of a norm and the column-parallel GEMM after it, added to the residual gradient in place.
    void normLinearBackward(const Norm& norm, std::int64_t tokens, std::int64_t rows, Tape::Slot outputGradient,
                            std::uint32_t parts);
    /// The residual stream that flows in, and its gradient.
    void declareStream(std::int64_t sequence);
    [[nodiscard]] std::int64_t streamBytes(std::int64_t rows) const { return rows * shape.hidden * shape.element; }

    const RankShape& shape;
    TapeWriter writer;

private:
    std::vector<DelayedGradient> m_delayed;
    bool m_holdsStream = false; ///< the residual stream's gradient is a linear layer's output gradient that stays
};

} // namespace headroom
