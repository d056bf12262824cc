// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/megatron/modules.h"

namespace headroom {

/// One half of a transformer layer, written as recorded operations: norm, branch, residual add.
class RecordedBlock : protected MegatronModules
{
public:
    using MegatronModules::MegatronModules;
    RecordedBlock(const RecordedBlock&) = delete;
    RecordedBlock& operator=(const RecordedBlock&) = delete;
    virtual ~RecordedBlock() = default;

    /// From one residual stream to the next; `input` stays the caller's.
    Tape::Slot forward(Tape::Slot input);
    void backward();
    /// The same as a recorded operation: the stream with this half added to it.
    Tensor addTo(const Tensor& stream);
    /// The pass of the weights' gradients.
    using MegatronModules::writeDelayedGradients;

protected:
    virtual Tensor branch(const Tensor& input) = 0;
    /// `branch` behind a norm of its own, which is made anew in the backward where the plan says so.
    Tensor behindNorm(const Tensor& input, const TapeRecorder::Function& following);

private:
    int m_result = -1;
    Tape::Slot m_dropoutMask = Tape::none;
};

/// Multi- or grouped-query attention on a part of the sequence.
class MegatronContextAttention : public RecordedBlock
{
public:
    using RecordedBlock::RecordedBlock;

private:
    Tensor branch(const Tensor& input) override;
    void prepare(Tensor& packed, Tensors& qkv);
};

/// A dense MLP.
class MegatronDenseBlock : public RecordedBlock
{
public:
    using RecordedBlock::RecordedBlock;

private:
    Tensor branch(const Tensor& input) override;
};

/// Multi-head latent attention.
class MegatronLatentAttention : public RecordedBlock
{
public:
    using RecordedBlock::RecordedBlock;

private:
    Tensor branch(const Tensor& input) override;
    Tensor attention(const Tensor& normed);
    Tensors expand(const Tensors& latents);
};

/// Router, dispatch, experts, shared experts, combination.
class MegatronExperts : public RecordedBlock
{
public:
    using RecordedBlock::RecordedBlock;

private:
    struct Routing
    {
        Tensor probabilities;
        Storage map, indices;
    };

    Tensor branch(const Tensor& input) override;
    Tensor mixture(const Tensor& normed);
    Routing route(const Tensor& normed);
    Tensor dispatchGathered(const Tensor& tokens, const Routing& routing);
    Tensor dispatchExchanged(const Tensor& tokens, const Routing& routing);
    Tensor dispatchFused(const Tensor& tokens, const Routing& routing);
    /// What un-permuting them keeps for its backward, if it does.
    [[nodiscard]] Storage keptOutput(const Tensor& rows) const;
    Tensor combineExchanged(Tensor output, std::int64_t rows, std::int64_t exchangedRows);
    Tensor experts(const Tensor& tokens, const Tensor& probabilities, std::int64_t rows);
    Tensor expertGroup(const Tensor& tokens, const Tensor& probabilities, std::int64_t rows, std::int64_t count);
    struct ExpertLinear
    {
        std::int64_t rows, inputs, outputs, count; ///< count: experts of one call
        TensorKind kind;
    };
    Tensor expertLinear(const Tensor& input, const ExpertLinear& linear);
    void expertWorkspaces();
    [[nodiscard]] std::int64_t width() const
    {
        return m_shape.experts.latent > 0 ? m_shape.experts.latent : m_shape.hidden;
    }
};

} // namespace headroom
