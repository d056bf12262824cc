// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tensor_kind.h"

#include <array>

namespace headroom {

namespace {

constexpr std::array<std::string_view, tensorKindCount> names{
    "parameters",
    "gradients",
    "fp32 main gradients",
    "master weights",
    "moments",
    "residual stream",
    "norm output",
    "norm statistics",
    "qkv",
    "query projection",
    "key-value projection",
    "q/k norm input",
    "q/k norm output",
    "rotated q and k",
    "rotary tables",
    "value copy",
    "q, k, v copies",
    "repeated k and v",
    "attention softmax",
    "attention probabilities",
    "dropout mask",
    "attention context",
    "attention context copy",
    "softmax statistics",
    "random state",
    "attention mask",
    "fc1 output",
    "activation output",
    "fp8 inputs",
    "norm input in fp32",
    "activated gate",
    "adapter activations",
    "router scores",
    "routing map",
    "sort index",
    "routed probabilities",
    "permuted tokens",
    "dispatched tokens",
    "sorted tokens",
    "expert latents",
    "attention latents",
    "q, k, v from latents",
    "q, k, v for context parallelism",
    "ring buffers",
    "head states",
    "logits",
    "softmax of logits",
    "gradient of logits",
    "loss terms",
    "attention scores",
    "gradient of scores",
    "attention workspace",
    "partial contexts",
    "expert output",
    "unsorted tokens",
    "returned tokens",
    "gradient",
    "weight gradient",
    "gathered input",
    "output before the residual",
    "embedding temporary",
    "copies of weights",
    "temporaries of the optimizer",
    "cast",
    "boundary tensor",
    "batch",
    "attention mask of the loader",
    "cuBLAS workspace",
    "GEMM workspace",
    "global buffer",
    "placeholder gradients",
    "gathered parameters",
    "reduction buffer",
};

} // namespace

std::string_view nameOf(TensorKind kind)
{
    return names[static_cast<std::size_t>(kind)];
}

} // namespace headroom
