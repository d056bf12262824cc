// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// The dimensions over which PyTorch's frameworks spread the ranks, as torchtitan names them: pp, dp_replicate,
/// dp_shard (or its two parts with experts), cp, tp.
struct DeviceMesh
{
    std::vector<std::pair<std::string, std::int64_t>> dimensions;
    std::uint16_t file = 0; ///< index into Run::files
    std::int64_t line = 0;

    /// Ranks along a dimension; what a mesh does not name has one. "dp_shard" is the product of its parts.
    [[nodiscard]] std::int64_t size(std::string_view dimension) const;
    [[nodiscard]] bool names(std::string_view dimension) const;
    /// All ranks: the product of the dimensions that are no views of others.
    [[nodiscard]] std::int64_t ranks() const;
};

/// The first mesh of a log whose dimensions are understood; every rank prints the same.
[[nodiscard]] std::optional<DeviceMesh> deviceMeshOf(const Run& run);

} // namespace headroom
