// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/vocabulary_split.h"

#include "plan/pipeline_split.h"

namespace headroom {

VocabularySplit vocabularySplit(const TrainingPlan& plan)
{
    const std::string& name = plan.parallel.vocabSplit.value;
    if (name.empty() || plan.parallel.pp.value < 2 || chunksPerStage(plan) > 1
        || plan.parallel.schedule.value != Schedule::OneForwardOneBackward) {
        return VocabularySplit::None;
    }
    return name == "variant1"  ? VocabularySplit::TwoBarriers
        : name == "variant2"   ? VocabularySplit::OneBarrier
        : name == "interlaced" ? VocabularySplit::Interlaced
                               : VocabularySplit::None;
}

std::int64_t extraInFlight(VocabularySplit split, std::int64_t stages)
{
    switch (split) {
    case VocabularySplit::None:
        break;
    case VocabularySplit::TwoBarriers:
        return 2;
    case VocabularySplit::OneBarrier:
        return 1;
    case VocabularySplit::Interlaced:
        return (stages + 1) / 2;
    }
    return 0;
}

} // namespace headroom
