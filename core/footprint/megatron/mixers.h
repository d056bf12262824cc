// SPDX-License-Identifier: GPL-3.0-or-later
// Mixers of Megatron's hybrids that are no attention.
#pragma once

#include "footprint/megatron/blocks.h"
#include "footprint/recipe/delta_rule.h"
#include "footprint/recipe/state_space_scan.h"

namespace headroom {

/// What both kinds have in common: whole sequences of fewer heads where the sequence is spread over ranks
/// (megatron/core/ssm/mamba_context_parallel.py).
class MegatronMixer : public RecordedBlock
{
public:
    using RecordedBlock::RecordedBlock;

protected:
    /// Sizes on this rank while it works on whole sequences.
    [[nodiscard]] LinearMixer share() const { return m_shape.hybrid.mixer.splitOver(m_shape.context); }
    [[nodiscard]] std::int64_t rows() const { return m_shape.microBatch * m_shape.fullSequence; }
    /// `width`: values of a token.
    [[nodiscard]] std::int64_t bytes(std::int64_t width) const { return rows() * width * m_shape.element; }
    /// From a part of the sequence with all heads to the sequence with a part of them, and back.
    Tensor toHeads(const Tensor& input, std::int64_t width);
    Tensor fromHeads(const Tensor& input, std::int64_t width);
};

/// Mamba-2 (megatron/core/ssm/mamba_mixer.py) with the fused scan of mamba_ssm, whose backward makes the convolution
/// and the states of the chunks again (ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn).
class MegatronStateSpace : public MegatronMixer
{
public:
    using MegatronMixer::MegatronMixer;

private:
    Tensor branch(const Tensor& input) override;
    Tensor scan(const Tensor& packed);
    Storages scanTemporaries();
    Storage scanBackward(std::int64_t packedBytes);
    [[nodiscard]] StateSpaceScan sizes() const;
};

/// Gated delta net (megatron/core/ssm/gated_delta_net.py) with the chunked rule of flash-linear-attention
/// (fla/ops/gated_delta_rule/chunk.py).
class MegatronDeltaNet : public MegatronMixer
{
public:
    using MegatronMixer::MegatronMixer;

private:
    Tensor branch(const Tensor& input) override;
    Tensor normalised(const Tensor& convolved);
    Tensor rule(const Tensor& query, const Tensor& key, const Tensor& value);
    [[nodiscard]] DeltaRule sizes() const;
    Storages ruleTemporaries();
    Storages ruleBackward();
};

/// The block of a half of a layer: a mixer other than attention.
[[nodiscard]] std::unique_ptr<RecordedBlock> recordedMixer(Mixer mixer, MegatronOps& ops);

} // namespace headroom
