// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

namespace headroom {

/// torchtune wrote 10^9 bytes as its unit until 2024-08-15 and 2^30 since, under the same keys: records of a file whose
/// first lines say GB are made decimal ones; of a file that does not say, it is said that GiB was taken.
void resolveTorchtuneUnits(Run& run);

/// Hugging Face's Trainer prints its peak as differences: what was there before, what each stage added, and what its
/// peak was beyond that (transformers, trainer_utils.py, TrainerMemoryTracker). Their sum becomes a sentence.
void inferTrainerPeak(Run& run);

} // namespace headroom
