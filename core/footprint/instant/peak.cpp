// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/peak.h"

#include "footprint/instant/rests.h"

#include <numeric>

namespace headroom {

namespace {

constexpr std::size_t at(Component component)
{
    return static_cast<std::size_t>(component);
}

void addOwn(const ModelProgram& program, const StageProgram& stage, StageConstants& constants, const InstantPeak& peak,
            ComponentBytes& components)
{
    const bool isAlone = stage.chunks.size() == 1;
    if (!isAlone || constants.place != *peak.place) {
        constants.components.fill(0);
        addComponents(program, stage.chunks[peak.chunk], *peak.place, constants.components);
        constants.place = isAlone ? std::optional(*peak.place) : std::nullopt;
    }
    for (std::size_t i = 0; i < components.size(); ++i) {
        components[i] += constants.components[i];
    }
}

} // namespace

ComponentBytes peakComponents(const ModelProgram& program, const StageProgram& stage, StageConstants& constants,
                              const InstantPeak& peak)
{
    const StageState& state = constants.state;
    ComponentBytes components{};
    if (peak.isConstruction) {
        components[at(Component::Parameters)] = state.parameters - state.reference + constants.moving;
        components[at(Component::Gradients)] = state.gradients;
        return components;
    }
    components[at(Component::Parameters)] = state.parameters;
    const bool isInStep = peak.phase == Phase::Optimizer;
    components[at(Component::Gradients)] = state.gradients + (isInStep ? state.mainGradients : 0);
    components[at(Component::OptimizerState)] = state.master + state.moments + peak.momentRests;
    components[at(Component::InFlight)] = peak.kept;
    components[at(Component::Buffers)]
        = peak.walked + constants.graphInputs + constants.persistents - constants.stepPersistents;
    components[at(Component::WorkingSet)] = peak.gradients + (isInStep ? state.stepTemporaries : 0);
    if (peak.chunk != InstantPeak::noChunk) {
        addOwn(program, stage, constants, peak, components);
    }
    // What waits for the end of the step: gradients of logits, mostly, or what a vocabulary layer keeps, or parameters
    // and gradients that are whole.
    if (program.shape.deferredWgrads >= 0 || constants.stepPersistents > 0) {
        components[at(program.shape.shardsGradients ? Component::WorkingSet : Component::Logits)] += peak.bytes
            - peak.activationRests - std::accumulate(components.begin(), components.end(), std::int64_t{0});
    }
    addActivationRests(peak.activationRests, components);
    return components;
}

} // namespace headroom
