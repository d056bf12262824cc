// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

namespace headroom {

/// Some frameworks print what was left free at the peak (fairseq) or the peak's share of the device (Lingua). With the
/// capacity that the log names elsewhere these become amounts; without it Run::inferences says what is missing.
void resolveShares(Run& run);

} // namespace headroom
