// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"

#include <QtGlobal>

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

} // namespace headroom::test
