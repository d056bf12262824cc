// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"

#include <QString>

namespace headroom::test {

/// The tapes of a plan that a profile describes. Another plan is a mistake of the test.
inline ModelProgram programOf(const TrainingPlan& plan)
{
    ModelProgram program;
    if (const auto built = buildProgram(plan, program); !built) {
        qFatal("%s", built.error().english().c_str());
    }
    return program;
}

/// Why the plan's tapes are not written, in English; empty where they are.
inline QString refusalOf(const TrainingPlan& plan)
{
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    return built ? QString() : QString::fromStdString(built.error().english());
}

} // namespace headroom::test
