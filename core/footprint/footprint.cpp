// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/footprint.h"

#include "footprint/recipe/elements.h"

#include <algorithm>
#include <cmath>

namespace headroom {

Bytes CalibrationSpread::margin(Bytes activationBytes) const
{
    const double gib = activationBytes.gib();
    return bytesFrom(std::sqrt(std::max(activations * gib * gib + 2 * both * gib + offset, 0.0)) * 0x1p30);
}

Bytes StageFootprint::staticState() const
{
    const Elements sum = Elements(component(Component::Parameters).value) + component(Component::Gradients).value
        + component(Component::OptimizerState).value;
    return {sum.value()};
}

namespace {

/// Buffers are what theory knows least of; where less was measured than theory has there, others are less too.
void addOffset(StageFootprint& stage, std::int64_t offset)
{
    for (const Component which : {Component::Buffers, Component::WorkingSet, Component::Logits, Component::InFlight,
                                  Component::Activations, Component::OptimizerState}) {
        Bytes& part = stage.components[static_cast<std::size_t>(which)];
        const std::int64_t before = part.value;
        part.value = std::max<std::int64_t>(before + offset, 0);
        offset -= part.value - before;
    }
}

void calibrateStage(StageFootprint& stage, const Calibration& calibration)
{
    const auto at = [&stage](Component which) -> std::int64_t& {
        return stage.components[static_cast<std::size_t>(which)].value;
    };
    const bool peaksWithActivations = stage.peakPhase != Phase::Optimizer;
    const std::int64_t activations = at(Component::Activations) + at(Component::InFlight);
    // Where the peak is the optimizer's, its components do not say what the passes hold: all that comes and goes then.
    const Bytes passes = std::max(stage.phase(Phase::Forward), stage.phase(Phase::Backward));
    const std::int64_t scaled
        = peaksWithActivations ? activations : std::max<std::int64_t>(passes.value - stage.steadyAllocated.value, 0);
    const std::int64_t more = bytesFrom((calibration.activations - 1) * static_cast<double>(scaled)).value;
    const Bytes before = stage.peakAllocated;
    for (const Phase phase : {Phase::Forward, Phase::Backward, Phase::Optimizer}) {
        Bytes& peak = stage.phases[static_cast<std::size_t>(phase)];
        peak.value += calibration.offset.value + (phase == Phase::Optimizer ? 0 : more);
    }
    for (const Component which : {Component::Activations, Component::InFlight}) {
        if (peaksWithActivations) {
            at(which) = bytesFrom(static_cast<double>(at(which)) * calibration.activations).value;
        }
    }
    addOffset(stage, calibration.offset.value);
    stage.steadyAllocated.value += calibration.offset.value;
    stage.firstStepPeakAllocated.value += calibration.offset.value + more;
    stage.peakAllocated = *std::max_element(stage.phases.begin(), stage.phases.end());
    // What the allocator holds beyond what is allocated stays as it was.
    stage.peakReserved.value += stage.peakAllocated.value - before.value;
    stage.device.value += stage.peakAllocated.value - before.value;
}

} // namespace

void calibrate(Footprint& footprint, const Calibration& calibration)
{
    if (!calibration.scalesTapes() || footprint.stages.empty()) {
        return;
    }
    for (StageFootprint& stage : footprint.stages) {
        calibrateStage(stage, calibration);
    }
    footprint.fullestStage = fullestOf(footprint.stages);
}

std::size_t fullestOf(const std::vector<StageFootprint>& stages)
{
    const auto fuller = [](const StageFootprint& a, const StageFootprint& b) { return a.device < b.device; };
    return static_cast<std::size_t>(std::max_element(stages.begin(), stages.end(), fuller) - stages.begin());
}

std::optional<bool> Footprint::fits() const
{
    if (!capacity || stages.empty()) {
        return std::nullopt;
    }
    return fullest().device <= *capacity;
}

std::optional<Fit> Footprint::fit() const
{
    if (!capacity || stages.empty()) {
        return std::nullopt;
    }
    Fit result = Fit::Fits;
    for (const StageFootprint& stage : stages) {
        const Interval device = stage.intervals ? stage.intervals->device : Interval{stage.device, stage.device};
        const Fit own = device.high <= *capacity ? Fit::Fits
            : device.low > *capacity             ? Fit::DoesNotFit
                                                 : Fit::MayNotFit;
        result = std::max(result, own);
    }
    return result;
}

} // namespace headroom
