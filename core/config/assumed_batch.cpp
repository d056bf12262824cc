// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/assumed_batch.h"

namespace headroom {

std::vector<std::string_view> assumeBatch(TrainingPlan& plan)
{
    constexpr std::int64_t usualSequence = 4096;
    std::vector<std::string_view> assumed;
    const auto assume = [&assumed](Count& field, std::string_view key, std::int64_t value) {
        if (!field.isKnown() && !field.isUnclear()) {
            field.set(value, {OriginKind::Default, 0, nullptr});
            assumed.push_back(key);
        }
    };
    if (plan.model.layers.isKnown()) {
        assume(plan.batch.micro, "batch.micro", 1);
        assume(plan.batch.seq, "batch.seq", usualSequence);
    }
    return assumed;
}

} // namespace headroom
