// SPDX-License-Identifier: GPL-3.0-or-later
// torchtitan: FSDP2 with fp32 shards, bf16 compute and fp32 reduction, fused AdamW (train.py, optimizer.py); the norm
// in Python (models/norms.py), keys and values expanded (models/llama/model.py); the output dropped before the loss is
// differentiated (train.py, del pred). The selective policy of parallelize_llama.py stores attention and every second
// product in call order: wq, wv, w1, w2; the eager cache keeps w2's although no backward reads it.
// run_train.sh sets expandable segments. Since the middle of 2025 embedding and output layer are groups of FSDP of
// their own, the latter gathered from its forward to its backward (llama3/infra/parallelize.py of release 0.2.0,
// apply_fsdp); before, both were the root's and the last block stayed gathered (0.1.0).
#include "footprint/torch/tapes.h"

namespace headroom {

const TorchHabits torchtitanHabits{.profile = "torchtitan",
                                   .weighsInFp32 = true,
                                   .weighsBeforeExperts = true,
                                   .cachesDeadResults = true,
                                   .keepsLastBlockGathered = true,
                                   .gathersTablesAlone = true,
                                   .step = StepImplementation::Fused,
                                   .supportsTensorParallel = true,
                                   .spreadsExperts = true,
                                   .receivesIntoBuffers = true,
                                   .setsExpandableSegments = true,
                                   .castsToFloat8 = true};

} // namespace headroom
