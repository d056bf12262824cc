// SPDX-License-Identifier: GPL-3.0-or-later
// Modules of Megatron-LM and Transformer Engine as recorded operations, for the layers whose tensors branch and meet
// again: experts, latent attention, context parallelism.
#pragma once

#include "footprint/megatron/ops.h"
#include "footprint/tape/recorder.h"

#include <memory>

namespace headroom {

class MegatronModules
{
    std::unique_ptr<TapeRecorder> m_own; // before the reference to it

public:
    using Tensor = TapeRecorder::Tensor;
    using Storage = TapeRecorder::Storage;
    using Storages = TapeRecorder::Storages;
    using Tensors = TapeRecorder::Tensors;

    struct Linear
    {
        std::int64_t tokens = 0, inputs = 0, outputs = 0; ///< tokens before sequence parallelism, widths on this rank
        TensorKind kind = TensorKind::Fc1Output;
        bool hasNorm = false; ///< fused in front of it
        bool savesInput = true;
        unsigned target = 0; ///< what adapters call it
        std::uint32_t parts = TrainedParts::all; ///< that its weight is
    };

    explicit MegatronModules(MegatronOps& ops)
        : m_own(std::make_unique<TapeRecorder>(ops.writer))
        , recorder(*m_own)
        , m_ops(ops)
        , m_shape(ops.shape)
    {
    }
    /// Part of what `shared` records.
    MegatronModules(MegatronOps& ops, TapeRecorder& shared)
        : recorder(shared)
        , m_ops(ops)
        , m_shape(ops.shape)
    {
    }

    /// A norm of its own.
    Tensor norm(const Tensor& input, std::int64_t width);
    Tensor columnParallel(const Tensor& input, const Linear& linear);
    Tensor rowParallel(const Tensor& input, const Linear& linear);
    /// Not split over tensor parallelism, on this rank's part of the sequence.
    Tensor replicated(const Tensor& input, const Linear& linear);
    /// Gate, activation and, for experts, the routing weight. `rows` × `width` come out.
    Tensor activation(const Tensor& input, std::int64_t rows, std::int64_t width, bool isFused,
                      const Tensor* probabilities = nullptr);
    /// fc1, activation, fc2 behind a norm of its own. `width` is this rank's share.
    Tensor mlp(const Tensor& input, std::int64_t width);

    struct Heads
    {
        std::int64_t queries, keys; ///< on this rank
        std::int64_t keyDim, valueDim;
        bool isPacked; ///< query, key and value are views of one tensor
    };
    /// Core attention; hands out the context of all query heads.
    Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Heads& heads);

    /// `base`, the result of a linear layer, with what its adapter makes of its input: `rows` go through the rank.
    Tensor adapted(const Tensor& input, Tensor base, std::int64_t rows, unsigned target);
    /// The weight gradient that only lives until it is added; none when the matrix product adds it itself.
    Storage weightGradient(std::int64_t rows, std::int64_t columns, std::uint32_t parts = TrainedParts::all);
    /// Computes the weights' gradients that were delayed, in the order of the backward, and lets go of what they need.
    void writeDelayedGradients();
    [[nodiscard]] std::int64_t statisticsBytes() const { return m_shape.isRms ? 4 : 8; } ///< a row

protected:
    /// What a linear layer keeps of its input: the tensor, or the one-byte copy that it computes with in fp8
    /// (Transformer Engine module/linear.py and grouped_linear.py; transposed for the weight's gradient).
    [[nodiscard]] Storage keptInput(const Storage& input, std::int64_t bytes);
    /// Keeps what a weight's gradient needs for later.
    void delay(Storage input, Storage outputGradient, const Linear& linear, std::int64_t gatheredBytes = 0);
    /// The residual stream's gradient can't be added to in place while a delayed gradient needs it.
    void keepStream();

    TapeRecorder& recorder;
    MegatronOps& m_ops;
    const RankShape& m_shape;

private:
    /// Bytes of what attention reads and makes.
    struct AttentionBytes
    {
        std::int64_t query, key, value, context;
    };

    struct DelayedGradient
    {
        Storage input, outputGradient;
        std::int64_t rows = 0, columns = 0, gatheredBytes = 0;
    };

    [[nodiscard]] AttentionBytes bytesOf(const Heads& heads) const;
    Tensor attendUnsplit(const Tensor& query, const Tensor& key, const Tensor& value, const Heads& heads);
    Tensor attendFused(const Tensors& qkv, const Heads& heads);
    Tensor attendFlash(Tensors qkv, const Heads& heads);
    Tensor attendScores(const Tensors& qkv, const Heads& heads);
    Tensor attendSplit(const Tensor& query, const Tensor& key, const Tensor& value, const Heads& heads);
    Tensors contextInputs(const Tensor& query, const Tensor& key, const Tensor& value, const Heads& heads);
    Tensor ring(const Tensors& qkv, const Heads& heads, Storage statistics);
    Tensor gathered(const Tensors& qkv, const Heads& heads, Storage statistics);
    Tensor exchanged(const Tensors& qkv, const Heads& heads, Storage statistics);

    std::vector<DelayedGradient> m_delayed;
    bool m_holdsStream = false;
};

} // namespace headroom
