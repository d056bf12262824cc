// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_format.h"
#include "runlog/run.h"

#include <span>

namespace headroom {

/// One Run of the files of several, in their order, as if they had been read together. None may have been concluded.
[[nodiscard]] Run joinRuns(std::span<const Run* const> runs, const LineFormats& formats);

} // namespace headroom
