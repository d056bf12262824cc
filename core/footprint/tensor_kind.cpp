// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tensor_kind.h"

#include <array>

namespace headroom {

namespace {

struct KindRow
{
    Component component;
    std::string_view name;
};

using enum Component;

constexpr std::array<KindRow, tensorKindCount> kinds{{
    {Parameters, "parameters"},
    {Gradients, "gradients"},
    {Gradients, "fp32 main gradients"},
    {OptimizerState, "master weights"},
    {OptimizerState, "moments"},
    {Activations, "residual stream"},
    {Activations, "norm output"},
    {Activations, "norm statistics"},
    {Activations, "qkv"},
    {Activations, "query projection"},
    {Activations, "key-value projection"},
    {Activations, "q/k norm input"},
    {Activations, "q/k norm output"},
    {Activations, "rotated q and k"},
    {Activations, "rotary tables"},
    {Activations, "value copy"},
    {Activations, "q, k, v copies"},
    {Activations, "repeated k and v"},
    {Activations, "attention softmax"},
    {Activations, "attention probabilities"},
    {Activations, "dropout mask"},
    {Activations, "attention context"},
    {Activations, "attention context copy"},
    {Activations, "softmax statistics"},
    {Activations, "random state"},
    {Activations, "attention mask"},
    {Activations, "fc1 output"},
    {Activations, "activation output"},
    {Activations, "fp8 inputs"},
    {Activations, "head states"},
    {Logits, "logits"},
    {Logits, "softmax of logits"},
    {Logits, "gradient of logits"},
    {Logits, "loss terms"},
    {WorkingSet, "attention scores"},
    {WorkingSet, "gradient of scores"},
    {WorkingSet, "attention workspace"},
    {WorkingSet, "gradient"},
    {WorkingSet, "weight gradient"},
    {WorkingSet, "gathered input"},
    {WorkingSet, "output before the residual"},
    {WorkingSet, "embedding temporary"},
    {WorkingSet, "cast"},
    {Buffers, "boundary tensor"},
    {Buffers, "batch"},
    {Buffers, "attention mask of the loader"},
    {Buffers, "cuBLAS workspace"},
    {Buffers, "GEMM workspace"},
    {Buffers, "global buffer"},
    {Buffers, "placeholder gradients"},
}};

} // namespace

Component componentOf(TensorKind kind)
{
    return kinds[static_cast<std::size_t>(kind)].component;
}

std::string_view nameOf(TensorKind kind)
{
    return kinds[static_cast<std::size_t>(kind)].name;
}

} // namespace headroom
