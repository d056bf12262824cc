// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/tensor_kind.h"

#include "units/text.h"

#include <array>

namespace headroom {

namespace {

constexpr std::array<std::string_view, tensorKindCount> names{
    HEADROOM_TR("core", "parameters"),
    HEADROOM_TR("core", "reference model"),
    HEADROOM_TR("core", "gradients"),
    HEADROOM_TR("core", "fp32 main gradients"),
    HEADROOM_TR("core", "master weights"),
    HEADROOM_TR("core", "moments"),
    HEADROOM_TR("core", "residual stream"),
    HEADROOM_TR("core", "norm output"),
    HEADROOM_TR("core", "norm statistics"),
    HEADROOM_TR("core", "qkv"),
    HEADROOM_TR("core", "query projection"),
    HEADROOM_TR("core", "key-value projection"),
    HEADROOM_TR("core", "q/k norm input"),
    HEADROOM_TR("core", "q/k norm output"),
    HEADROOM_TR("core", "rotated q and k"),
    HEADROOM_TR("core", "rotary tables"),
    HEADROOM_TR("core", "value copy"),
    HEADROOM_TR("core", "q, k, v copies"),
    HEADROOM_TR("core", "repeated k and v"),
    HEADROOM_TR("core", "attention softmax"),
    HEADROOM_TR("core", "attention probabilities"),
    HEADROOM_TR("core", "dropout mask"),
    HEADROOM_TR("core", "attention context"),
    HEADROOM_TR("core", "attention context copy"),
    HEADROOM_TR("core", "softmax statistics"),
    HEADROOM_TR("core", "random state"),
    HEADROOM_TR("core", "attention mask"),
    HEADROOM_TR("core", "fc1 output"),
    HEADROOM_TR("core", "activation output"),
    HEADROOM_TR("core", "fp8 inputs"),
    HEADROOM_TR("core", "norm input in fp32"),
    HEADROOM_TR("core", "activated gate"),
    HEADROOM_TR("core", "adapter activations"),
    HEADROOM_TR("core", "router scores"),
    HEADROOM_TR("core", "routing map"),
    HEADROOM_TR("core", "sort index"),
    HEADROOM_TR("core", "routed probabilities"),
    HEADROOM_TR("core", "permuted tokens"),
    HEADROOM_TR("core", "dispatched tokens"),
    HEADROOM_TR("core", "sorted tokens"),
    HEADROOM_TR("core", "expert latents"),
    HEADROOM_TR("core", "attention latents"),
    HEADROOM_TR("core", "q, k, v from latents"),
    HEADROOM_TR("core", "q, k, v for context parallelism"),
    HEADROOM_TR("core", "ring buffers"),
    HEADROOM_TR("core", "mixer projection"),
    HEADROOM_TR("core", "scan output"),
    HEADROOM_TR("core", "keys and values of generated text"),
    HEADROOM_TR("core", "head states"),
    HEADROOM_TR("core", "logits"),
    HEADROOM_TR("core", "softmax of logits"),
    HEADROOM_TR("core", "gradient of logits"),
    HEADROOM_TR("core", "loss terms"),
    HEADROOM_TR("core", "attention scores"),
    HEADROOM_TR("core", "gradient of scores"),
    HEADROOM_TR("core", "attention workspace"),
    HEADROOM_TR("core", "scan workspace"),
    HEADROOM_TR("core", "partial contexts"),
    HEADROOM_TR("core", "expert output"),
    HEADROOM_TR("core", "unsorted tokens"),
    HEADROOM_TR("core", "returned tokens"),
    HEADROOM_TR("core", "gradient"),
    HEADROOM_TR("core", "weight gradient"),
    HEADROOM_TR("core", "gathered input"),
    HEADROOM_TR("core", "output before the residual"),
    HEADROOM_TR("core", "embedding temporary"),
    HEADROOM_TR("core", "copies of weights"),
    HEADROOM_TR("core", "temporaries of the optimizer"),
    HEADROOM_TR("core", "cast"),
    HEADROOM_TR("core", "boundary tensor"),
    HEADROOM_TR("core", "batch"),
    HEADROOM_TR("core", "attention mask of the loader"),
    HEADROOM_TR("core", "cuBLAS workspace"),
    HEADROOM_TR("core", "GEMM workspace"),
    HEADROOM_TR("core", "global buffer"),
    HEADROOM_TR("core", "placeholder gradients"),
    HEADROOM_TR("core", "gathered parameters"),
    HEADROOM_TR("core", "input of a CUDA graph"),
    HEADROOM_TR("core", "buffer for offloaded activations"),
    HEADROOM_TR("core", "reduction buffer"),
};

} // namespace

std::string_view nameOf(TensorKind kind)
{
    return names[static_cast<std::size_t>(kind)];
}

} // namespace headroom
