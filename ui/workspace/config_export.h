// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/open_files.h"

#include <string>
#include <vector>

namespace headroom {

/// The config with the values in which `draft` differs from `original`, every other byte as it was. The batch, the
/// split, recompute and what is frozen are written even where the file was silent, and so are optimizer, precision,
/// sharding, attention and adapters where the format has a key for them; a model or GPU that the file does not state
/// stays the user's own choice of view and is not written.
[[nodiscard]] Result<ConfigDocument> adjustedConfig(const LoadedConfig& config, const TrainingPlan& original,
                                                    const TrainingPlan& draft);

/// Fields, the GPU's apart, in which the draft differs without the adjusted config saying so.
[[nodiscard]] std::vector<std::string> unwrittenFields(const LoadedConfig& config, const TrainingPlan& original,
                                                       const TrainingPlan& draft);

/// The file no longer holds the bytes that were opened, or is gone.
[[nodiscard]] bool changedOnDisk(const LoadedConfig& config);

/// "dir/train.yaml" -> "dir/train.headroom.yaml"; with `number` above 1 "dir/train.headroom-2.yaml".
[[nodiscard]] std::filesystem::path exportPath(const std::filesystem::path& original, int number = 1);
/// The first exportPath at which there is no file.
[[nodiscard]] std::filesystem::path freeExportPath(const std::filesystem::path& original);

} // namespace headroom
