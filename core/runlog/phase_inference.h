// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

namespace headroom {

/// Finds forward, backward and optimizer behind the names that frameworks give points of a step ("engine after
/// backward", "post_forward"), and says so in Run::inferences. A peak that counts from the beginning of the step or of
/// the process is a phase's only where it rose in that phase; elsewhere the record stays about the whole step.
void inferPhases(Run& run);

} // namespace headroom
