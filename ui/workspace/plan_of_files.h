// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/open_files.h"

namespace headroom {

/// What config, model and log state together; null: not open. What a config leaves to the launcher is the log's, and
/// without a config a small batch is assumed.
[[nodiscard]] TrainingPlan planOfFiles(const LoadedConfig* config, const LoadedModel* model, const LoadedLog* log,
                                       const Library& library);

} // namespace headroom
