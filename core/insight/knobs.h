// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"
#include "plan/training_plan.h"
#include "units/text.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom {

/// What the user can turn. Every knob stands for one canonical field; none of them touches the global batch.
enum class Knob : std::uint8_t {
    PipelineStages,
    VirtualChunks,
    TensorParallel,
    ContextParallel,
    ExpertParallel,
    DataParallel,
    MicroBatch,
    Accumulation,
    SequenceLength,
    RecomputedLayers
};
inline constexpr std::array allKnobs{
    Knob::PipelineStages, Knob::VirtualChunks, Knob::TensorParallel, Knob::ContextParallel, Knob::ExpertParallel,
    Knob::DataParallel,   Knob::MicroBatch,    Knob::Accumulation,   Knob::SequenceLength,  Knob::RecomputedLayers};

/// What follows when a knob turns.
struct KnobLinks
{
    bool keepGlobalBatch = false; ///< micro-batch and data-parallel size adjust the accumulation
    bool keepGpuCount = false; ///< pipeline, tensor and context parallelism adjust the data-parallel size
};

struct KnobStop
{
    std::int64_t value = 0;
    bool isUneven = false; ///< layers are not divisible by this number of stages

    friend bool operator==(const KnobStop&, const KnobStop&) = default;
};

[[nodiscard]] std::string_view knobField(Knob knob);

/// Every value that a search has to try, ascending; the plan may object to some. Of the micro-batch and the sequence
/// those up to the present one, of the stages those that divide the layers (all where the present number does not:
/// whoever runs that supports uneven splits).
[[nodiscard]] std::vector<std::int64_t> knobValues(Knob knob, const TrainingPlan& plan);

/// The value in effect: stated, or what the plan derives for it.
[[nodiscard]] std::int64_t knobValue(Knob knob, const TrainingPlan& plan);

/// Nothing can be estimated before somebody says its value, so what it falls back to is not in effect.
[[nodiscard]] bool knobIsAsked(Knob knob, const TrainingPlan& plan);

/// Whether the model has what the knob turns: experts.
[[nodiscard]] bool knobApplies(Knob knob, const TrainingPlan& plan);
/// Why turning it would change nothing as the plan stands.
[[nodiscard]] std::optional<Text> knobIdle(Knob knob, const TrainingPlan& plan);

/// Why this value is impossible for the plan; empty when it is not.
[[nodiscard]] std::optional<Text> knobObjection(Knob knob, const TrainingPlan& plan, std::int64_t value,
                                                KnobLinks links = {});

/// The values a slider offers, ascending: those people use (divisors of the layers and heads, powers of two and their
/// halves between), the original one and the present one, without those that are impossible.
[[nodiscard]] std::vector<KnobStop> knobStops(Knob knob, const TrainingPlan& plan, const TrainingPlan& original,
                                              KnobLinks links = {});

/// Layers of the fullest stage; 0 where unknown.
[[nodiscard]] std::int64_t mostLayersOfAStage(const TrainingPlan& plan);

/// The edits with those that follow from `links` and keep a stated number of GPUs true: data-parallel size, GPUs and
/// accumulation, as far as the plan states them. `samples`: of the global batch to keep. Null where GPUs or samples do
/// not come out even, or an edit is no legal value.
[[nodiscard]] std::optional<std::vector<PlanEdit>> withFollowers(const TrainingPlan& plan, std::vector<PlanEdit> edits,
                                                                 KnobLinks links, std::int64_t samples);

/// The edits that give the knob this value, with what follows from `links`.
[[nodiscard]] std::vector<PlanEdit> knobEdits(Knob knob, const TrainingPlan& plan, std::int64_t value,
                                              KnobLinks links = {});

} // namespace headroom
