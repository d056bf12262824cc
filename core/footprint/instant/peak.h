// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/instant/first_pass.h"
#include "footprint/instant/summary.h"
#include "footprint/tape/segments.h"
#include "footprint/tape/state.h"

#include <array>
#include <cstdint>
#include <optional>

namespace headroom {

/// What follows from a stage's chunks alone, whichever stage runs them: the middle ones of a pipeline run the same.
struct StageConstants
{
    StageState state;
    std::int64_t parameters = 0; ///< elements
    std::int64_t graphInputs = 0; ///< bytes
    std::int64_t persistents = 0; ///< bytes of all persistent storages, in the end
    std::int64_t stepPersistents = 0; ///< of them, those of vocabulary layers, which end before the optimizer's step
    std::array<std::optional<FirstPass>, 2> firstPasses; ///< of a stage with one chunk: forward, backward
    std::int64_t moving = 0; ///< tensors beside the buffer they move into while a distributed optimizer is built
    std::optional<Place> place; ///< of the chunk's bytes by component
    ComponentBytes components{};
    std::optional<Segments> segments; ///< of what is there before the first step, where tensors share some
};

/// The highest moment that the instant reader has met on a stage.
struct InstantPeak
{
    static constexpr std::size_t noChunk = ~std::size_t{0};

    Phase phase = Phase::Forward;
    std::size_t chunk = noChunk;
    const Place* place = nullptr; ///< of the chunk's summary
    std::int64_t kept = 0; ///< activations of other micro-batches
    std::int64_t walked = 0, gradients = 0; ///< tensors of the schedule
    std::int64_t bytes = 0;
    std::int64_t momentRests = 0; ///< what the blocks of the moments hold beyond them
    std::int64_t activationRests = 0; ///< and those of what is neither state nor gradients
    bool isConstruction = false; ///< before the first step
};

/// What the bytes of a peak are. Remembers in `constants` those of the only chunk of a stage.
[[nodiscard]] ComponentBytes peakComponents(const ModelProgram& program, const StageProgram& stage,
                                            StageConstants& constants, const InstantPeak& peak);

} // namespace headroom
