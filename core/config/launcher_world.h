// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/plan_product.h"

#include <optional>

namespace headroom {

/// The processes that a script's launcher starts on all nodes together: torchrun, deepspeed and accelerate launch,
/// below srun, mpirun or sbatch. One node where none is named. Nothing when one of the numbers stands in the script but
/// is known only when it runs, or there is no launcher.
[[nodiscard]] std::optional<ProductValue> launcherWorld(const ConfigDocument& document);

} // namespace headroom
