// SPDX-License-Identifier: GPL-3.0-or-later
// What the allocator's blocks hold beyond the tensors in them where tensors of 1 to 10 MiB share segments (theory.md
// 6.3). It depends on all of them, so they are placed one after the other as a run places them.
#pragma once

#include "footprint/instant/summary.h"
#include "footprint/tape/program.h"
#include "footprint/tape/segments.h"
#include "footprint/tape/state.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace headroom {

/// Whether any tensor of a program leaves such rests.
[[nodiscard]] bool leavesRests(const ModelProgram& program);
/// Whether any of a stage's tensors does, and they are not too many to be placed.
[[nodiscard]] bool sharesSegments(const ModelProgram& program, const StageProgram& stage);

/// Places what Megatron constructs before the first step, and takes the rests into `state`.
[[nodiscard]] Segments placeState(const ModelProgram& program, const StageProgram& stage, StageState& state);

/// Of what the first step places beside the state.
struct StepRests
{
    double activations = 0; ///< share of their bytes
    std::int64_t reach = 0; ///< so many bytes of activations have them, what is worked on not
    std::int64_t moments = 0; ///< bytes

    /// Of what is alive beside so much state.
    [[nodiscard]] std::int64_t ofActivations(std::int64_t alive, std::int64_t state) const
    {
        const std::int64_t bytes = std::clamp(alive - state, std::int64_t{0}, reach);
        return static_cast<std::int64_t>(activations * static_cast<double>(bytes));
    }
};

/// `cached`: bytes that activations leave free for what the optimizer's first step makes: `moments`.
[[nodiscard]] StepRests placeStep(const ModelProgram& program, const StageProgram& stage, const Segments& state,
                                  std::int64_t cached, const std::vector<Tape::Event>& moments);
/// The moments of Megatron's optimizer, and fp32 copies of gradients before them.
[[nodiscard]] StepRests placeMegatronStep(const ModelProgram& program, const StageProgram& stage, const Segments& state,
                                          std::int64_t cached);

/// Gives each component but the state its share of the rests of activations.
void addActivationRests(std::int64_t rests, ComponentBytes& components);

} // namespace headroom
