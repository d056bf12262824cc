// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/format_rules.h"

#include "config/gated_width.h"
#include "config/megatron_defaults.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom {

namespace {

using Rule = void (*)(const ConfigDocument&, const ConfigFormat&, TrainingPlan&, std::vector<Problem>&);

constexpr std::array<std::pair<std::string_view, Rule>, 4> rules{{{"megatron", completeMegatronPlan},
                                                                  {"gpt-neox", completeGptNeoxPlan},
                                                                  {"hf-config", completeHuggingFacePlan},
                                                                  {"internevo", completeInternEvoPlan}}};

} // namespace

bool isFormatRule(std::string_view name)
{
    return std::any_of(rules.begin(), rules.end(), [name](const auto& rule) { return rule.first == name; });
}

void completePlan(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                  std::vector<Problem>& problems)
{
    for (const auto& [name, rule] : rules) {
        if (name == format.rules) {
            rule(document, format, plan, problems);
        }
    }
}

} // namespace headroom
