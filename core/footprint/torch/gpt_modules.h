// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/shape.h"
#include "footprint/torch/graph.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// What the two code bases on DeepSpeed's pipeline engine do differently, beside the shape.
struct GptHabits
{
    bool isNeox = false; ///< GPT-NeoX; else Megatron-LM 2.4 and Megatron-DeepSpeed
    bool hasFlash = false;
    bool isParallel = false; ///< attention and MLP read the block's input
    bool sharesNorm = false; ///< both read one norm's result

    [[nodiscard]] static GptHabits of(const TrainingPlan& plan);
};

/// The modules of a GPT on one rank; h is whole, the shape's heads, groups, f and vocabulary are the rank's share.
class GptModules
{
public:
    using Tensor = ModuleGraph::Tensor;

    GptModules(const RankShape& shape, const GptHabits& habits, ModuleGraph& moduleGraph);

    Tensor block(Tensor input);
    Tensor norm(Tensor input);
    /// Column-parallel: under sequence parallelism it gathers its input, keeps this rank's part and gathers it again in
    /// backward.
    Tensor linear(Tensor input, TensorKind kind, std::int64_t in, std::int64_t out, int shared = -1);

    /// Elements of each weight of a norm and of a block.
    [[nodiscard]] static std::vector<std::int64_t> normParameters(const RankShape& shape);
    [[nodiscard]] static std::vector<std::int64_t> blockParameters(const RankShape& shape, const GptHabits& habits);

private:
    struct Projected
    {
        Tensor query, key, value;
    };
    [[nodiscard]] Projected project(Tensor normed);
    [[nodiscard]] Tensor copied(Tensor packed, TensorKind kind, std::int64_t width);
    [[nodiscard]] Tensor rotated(Tensor packed, std::int64_t width);
    Tensor attention(Tensor normed);
    Tensor scores(const Projected& projected);
    Tensor flash(Projected projected);
    Tensor mlp(Tensor normed);
    Tensor reduced(Tensor input, std::int64_t in);
    Tensor dropped(Tensor branch);
    Tensor add(Tensor residual, Tensor branch);

    const RankShape& m_shape;
    const GptHabits m_habits;
    ModuleGraph& m_graph;
    const std::int64_t m_rows, m_local; ///< tokens, and those between tensor-parallel parts
    const std::int64_t m_stream; ///< bytes
    const std::int64_t m_width, m_keyWidth; ///< elements of a token
};

} // namespace headroom
