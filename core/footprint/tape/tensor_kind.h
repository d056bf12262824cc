// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// What a storage holds, in stacking order of the components: which tensors fill the peak.
enum class TensorKind : std::uint8_t {
    Parameters,
    ReferenceParameters, ///< of a frozen copy of the model
    Gradients,
    MainGradients, ///< fp32 copies that a 16-bit gradient buffer needs in the step
    Master,
    Moments,
    ResidualStream,
    NormOutput,
    NormStatistics,
    Qkv,
    QueryProjection,
    KeyValueProjection,
    QkNormInput,
    QkNormOutput,
    RotatedQk,
    RotaryTables,
    ValueCopy,
    QkvCopies, ///< batch-first copies for flash attention
    RepeatedKv,
    AttentionSoftmax,
    AttentionProbabilities,
    DropoutMask,
    Context, ///< result of attention
    ContextCopy,
    SoftmaxStatistics,
    RandomState,
    PaddingMask,
    Fc1Output,
    ActivationOutput,
    Fp8Inputs,
    NormCopy, ///< fp32 copy of a norm's input where the norm is written in Python
    GateProduct, ///< silu(gate), a factor of its own without fusion
    AdapterActivations,
    RouterScores,
    RoutingMap,
    SortIndex,
    RoutedProbabilities,
    PermutedTokens,
    DispatchedTokens, ///< after the exchange between expert ranks
    SortedTokens, ///< by expert
    ExpertLatent, ///< of experts that work in a narrower space
    AttentionLatent,
    LatentQkv, ///< q, k and v made from attention latents
    ContextQkv, ///< q, k and v as context parallelism wants them
    RingBuffers,
    MixerProjection, ///< of a state space or a delta net, and copies in its layout
    ScanOutput,
    GenerationCache, ///< keys and values of what is being generated
    HeadStates,
    Logits,
    LogitsSoftmax,
    LogitsGradient,
    LossTerms,
    AttentionScores,
    ScoresGradient,
    AttentionWorkspace,
    ScanWorkspace, ///< of a state space or a delta net
    PartialContexts, ///< of one step around the ring
    ExpertOutput,
    UnsortedTokens,
    ReturnedTokens, ///< back on the rank they came from
    ActivationGradient,
    WeightGradient,
    GatheredInput, ///< sequence parallel input in full length
    PartialOutput, ///< before the residual add
    EmbeddingTemporary,
    WeightCopies, ///< 16-bit copies of fp32 weights under autocast, dequantised weights
    OptimizerTemporary,
    Cast,
    Boundary,
    Batch,
    LoaderMask,
    CublasWorkspace,
    GemmWorkspace,
    GlobalBuffer,
    PlaceholderGradients,
    GatheredParameters,
    GraphInput, ///< that a CUDA graph reads from
    OffloadBuffer, ///< that activations come back into from the host's memory
    ReduceBuffer
};
inline constexpr int tensorKindCount = static_cast<int>(TensorKind::ReduceBuffer) + 1;

/// By kind; they stand in the order of their components.
inline constexpr auto kindComponents = [] {
    using enum TensorKind;
    std::array<Component, tensorKindCount> components{};
    for (std::size_t i = 0; i < components.size(); ++i) {
        const auto kind = static_cast<TensorKind>(i);
        components[i] = kind <= ReferenceParameters ? Component::Parameters
            : kind <= MainGradients                 ? Component::Gradients
            : kind <= Moments                       ? Component::OptimizerState
            : kind <= HeadStates                    ? Component::Activations
            : kind <= LossTerms                     ? Component::Logits
            : kind <= Cast                          ? Component::WorkingSet
                                                    : Component::Buffers;
    }
    return components;
}();
[[nodiscard]] constexpr Component componentOf(TensorKind kind)
{
    return kindComponents[static_cast<std::size_t>(kind)];
}
[[nodiscard]] std::string_view nameOf(TensorKind kind); ///< "norm output"

} // namespace headroom
