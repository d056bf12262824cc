// SPDX-License-Identifier: GPL-3.0-or-later
// Weight tensors of PyTorch frameworks.
#pragma once

#include "footprint/recipe/trained_parts.h"

#include <cstdint>
#include <vector>

namespace headroom {

struct TorchShape;

/// What the layers of an MLP are called where parts are frozen.
struct TorchMlpParts
{
    TrainedParts::Part gate, up, down;
};
inline constexpr TorchMlpParts denseMlp{TrainedParts::Gate, TrainedParts::Up, TrainedParts::Down};
inline constexpr TorchMlpParts expertMlp{TrainedParts::ExpertGate, TrainedParts::ExpertUp, TrainedParts::ExpertDown};
inline constexpr TorchMlpParts sharedMlp{TrainedParts::SharedGate, TrainedParts::SharedUp, TrainedParts::SharedDown};

/// Elements on one rank before sharding, by what is done with them.
struct TorchWeights
{
    enum class Kind : std::uint8_t { Matrix, Table, Vector, Adapter };
    struct Tensor
    {
        Kind kind = Kind::Matrix;
        std::int64_t rows = 0, columns = 1;
        bool isExpert = false; ///< sharded over the replicas of this rank's experts
        std::uint32_t part = TrainedParts::all; ///< any of them trains it
        bool isLinear = false; ///< of a layer that may compute in 8 bits

        [[nodiscard]] std::int64_t elements() const { return rows * columns; }
        /// What Adafactor keeps a number for.
        [[nodiscard]] std::int64_t factors() const { return columns > 1 ? rows + columns : rows; }
    };
    std::vector<Tensor> tensors;

    [[nodiscard]] std::int64_t total(Kind kind) const;
};
/// Of a layer by what is in it. `attendsAcross`: a decoder's, to what an encoder made.
[[nodiscard]] TorchWeights blockWeights(const TorchShape& shape, LayerKind kind, bool attendsAcross = false);
[[nodiscard]] TorchWeights embeddingWeights(const TorchShape& shape);
[[nodiscard]] TorchWeights headWeights(const TorchShape& shape);
/// The value head's, with its bias.
[[nodiscard]] TorchWeights valueHeadWeights(const TorchShape& shape);

/// Parts of a model on one rank, each with how often it stands there.
struct TorchPart
{
    enum class Model : std::uint8_t { Policy, Value, Reward };

    TorchWeights weights;
    std::int64_t count = 1;
    bool isTrained = true;
    bool isQuantised = false; ///< its matrices are, where the plan says so
    bool keepsOriginal = false; ///< what is trained is a copy (modules_to_save)
    std::uint32_t trained = TrainedParts::all;
    Model model = Model::Policy; ///< whose part it is

    [[nodiscard]] bool trains(const TorchWeights::Tensor& tensor) const
    {
        return isTrained && (tensor.part & trained) != 0;
    }
};

} // namespace headroom
