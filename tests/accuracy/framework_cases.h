// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::accuracy {

/// One published run of a framework other than Megatron-LM, from measured/cases.yaml.
struct FrameworkCase
{
    std::string id, framework, publisher, kind, metric;
    double measuredGib = 0; ///< 2^30; 0: no peak is published
    double decimalGib = 0; ///< the same figure where its GB may be 10^9; 0: they are not
    std::vector<std::string> pairs; ///< groups of runs that differ in few settings
    std::vector<double> stagesGib; ///< peaks of all stages, where published
    bool endedOutOfMemory = false;
    bool isLossAlone = false; ///< its figure is what the loss adds
    bool isFirstStep = false; ///< measured before the optimizer had moments
    bool isLastStage = false; ///< only the last stage's rank logs
    bool isResident = false; ///< its counter was reset after the step: what stays between steps
    std::string goldenCase; ///< of Megatron-LM's own tests, which this is
    std::int64_t goldenBytes = 0; ///< its peak
    TrainingPlan plan;
    std::string_view doubt; ///< why its figure seems to be another setting's, literal; empty: it does not
    std::string missing; ///< what the case does not say, or what no field of a plan says; empty: the plan is complete
};

/// All cases of the file, those that can't be computed with what is missing; empty without the file.
[[nodiscard]] std::vector<FrameworkCase> frameworkCases(const std::string& file);

} // namespace headroom::accuracy
