// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/tensor_kind.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace headroom {

/// What becomes of the weight gradients that a module's backward makes.
struct GradientRule
{
    enum class Kind : std::uint8_t {
        Keep, ///< one a weight, until the optimizer has stepped
        Release, ///< none: the optimizer steps at once, or a buffer that is there anyway takes it in
        Reduce, ///< all of the module together, reduced and sharded when its backward ends (FSDP)
        Whole, ///< one a weight in the type of the reduction, until the step ends (FSDP that does not synchronise)
        Partition ///< each at once into a bucket, of which this rank keeps its share (ZeRO-2, ZeRO-3)
    };
    Kind kind = Kind::Keep;
    std::int64_t element = 2; ///< bytes of an unsharded gradient's element
    std::int64_t reduced = 4; ///< of the reduction's input
    std::int64_t shard = 4; ///< of what this rank keeps
    std::int64_t shards = 1;
    bool isFlat = false; ///< Reduce: they are joined to one tensor first (the first FSDP)
};

/// An operation of a module as autograd sees it.
struct ModuleOperation
{
    using Tensor = std::int16_t;
    static constexpr Tensor none = -1;

    struct Extra
    {
        TensorKind kind;
        std::int64_t bytes;
    };
    /// Up to three tensors; those not given are none.
    class Reads
    {
    public:
        Reads() = default;
        Reads(std::initializer_list<Tensor> given) // NOLINT(google-explicit-constructor): written as a list
        {
            std::copy(given.begin(), given.end(), m_tensors.begin());
        }
        [[nodiscard]] Tensor operator[](std::size_t which) const { return m_tensors[which]; }
        [[nodiscard]] std::size_t size() const { return m_tensors.size(); }
        [[nodiscard]] const Tensor* begin() const { return m_tensors.data(); }
        [[nodiscard]] const Tensor* end() const { return m_tensors.data() + m_tensors.size(); }

    private:
        std::array<Tensor, 3> m_tensors{none, none, none};
    };

    TensorKind kind{}; ///< of the result
    std::int64_t bytes = 0; ///< of the result; 0: it shares the storage of the first tensor read
    Reads reads;
    std::array<bool, 3> saves{}; ///< which of them backward needs
    bool savesResult = false;
    bool passesGradient = false; ///< the gradient of the result is that of what was read
    std::vector<Extra> keeps{}; ///< further storages that backward needs
    std::int64_t forwardWork = 0, backwardWork = 0; ///< temporaries
    std::int64_t weight = 0; ///< elements of a trainable weight, 0: none
    std::int64_t weightElement = 0; ///< bytes of its gradient's element, where not those of the rule
    std::int64_t weightShards = 0; ///< ranks that share its gradient, where not those of the rule
    int sharedWeight = -1; ///< number of a weight that other modules use too
    bool isMatrixProduct = false;
    bool keepsGradients = false; ///< made in the forward: what it keeps is what its backward hands on
    Tensor result = none; ///< filled in
};

} // namespace headroom
