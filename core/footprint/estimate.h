// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "units/problem.h"

#include <string_view>
#include <vector>

namespace headroom {

/// The footprint of every pipeline stage: workflow.md section 2 with layers as the model has them and micro-batches in
/// flight as the schedule holds them. Pure; reuses the storage of `footprint`, so that a slider tick allocates nothing.
/// Fails with the missing or impossible input named ("model.layers is not known"); `footprint` is then unspecified.
[[nodiscard]] Result<void> estimate(const TrainingPlan& plan, const Calibration& calibration, Footprint& footprint);

/// The detailed footprint of every stage: textbook and model figures as estimate() gives them, the stages from the
/// tapes. Where no tape describes the plan the stages stay the textbook's and `notExact` says why; a calibrated k asks
/// for the recipe too. Fails as estimate() does.
[[nodiscard]] Result<void> estimateInstantly(const TrainingPlan& plan, const Calibration& calibration,
                                             Footprint& footprint);

/// The canonical fields that have to be said before anything can be estimated: all of them, where estimate() names the
/// first. Empty where none is missing, which does not make the plan possible.
[[nodiscard]] std::vector<std::string_view> missingInputs(const TrainingPlan& plan);

enum class Unit : std::uint8_t { Size, Number, Factor };

/// One line of the working: name, formula in symbols, the same with the user's numbers, value, and what it is made of.
struct Term
{
    Text name;
    std::string formula; ///< "L·12h² + V·h"; one with words is a pattern of the catalogue, as names are
    std::string substituted; ///< "24 × 12 × 1,024² + 50,000 × 1,024"
    double value = 0;
    Unit unit = Unit::Size; ///< Size: bytes
    std::vector<Term> parts;
};

/// The working behind a stage's estimate, textbook and detailed figure side by side.
[[nodiscard]] std::vector<Term> explain(const TrainingPlan& plan, const Calibration& calibration,
                                        const Footprint& footprint, std::size_t stage);

} // namespace headroom
