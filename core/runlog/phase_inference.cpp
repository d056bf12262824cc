// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/phase_inference.h"

#include "runlog/line_format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace headroom {
namespace {

struct Ending
{
    std::string_view words;
    Phase phase;
};

/// What has just ended at a point of the step; the peak since the point before is that phase's.
constexpr std::array<Ending, 9> endings{{{"after forward", Phase::Forward},
                                         {"post_forward", Phase::Forward},
                                         {"before backward", Phase::Forward},
                                         {"after backward", Phase::Backward},
                                         {"post_backward", Phase::Backward},
                                         {"before step", Phase::Backward},
                                         {"after step", Phase::Optimizer},
                                         {"after optimizer_step", Phase::Optimizer},
                                         {"after optimizer step", Phase::Optimizer}}};

std::optional<Phase> phaseBefore(std::string_view name)
{
    for (const Ending& ending : endings) {
        if (name.find(ending.words) != std::string_view::npos) {
            return ending.phase;
        }
    }
    return std::nullopt;
}

/// Whether the amounts of the named points accumulate over the step: Galvatron resets before the forward only,
/// ORTModule once.
bool isCumulative(const Run& run)
{
    return std::ranges::any_of(run.formats,
                               [](const std::string& id) { return id == "galvatron.stage" || id == "ort.memory"; });
}

std::uint8_t indexOfWholeStep(Run& run)
{
    const auto found = std::ranges::find(run.phaseNames, Run::wholeStep);
    if (found == run.phaseNames.end() && run.phaseNames.size() < 255) {
        run.phaseNames.emplace_back(Run::wholeStep);
        return static_cast<std::uint8_t>(run.phaseNames.size() - 1);
    }
    return static_cast<std::uint8_t>(found - run.phaseNames.begin());
}

void nameThePhases(Run& run)
{
    std::array<std::optional<Phase>, 256> phases{};
    std::string first;
    for (std::size_t i = phaseCount; i < std::min<std::size_t>(run.phaseNames.size(), 255); ++i) {
        phases[i] = phaseBefore(run.phaseNames[i]);
        first = phases[i] && first.empty() ? run.phaseNames[i] : first;
    }
    if (first.empty()) {
        return;
    }
    const bool cumulative = isCumulative(run);
    const std::uint8_t wholeStep = cumulative ? indexOfWholeStep(run) : std::uint8_t{0};
    // Of allocated and of reserved, by rank: step, amount.
    std::array<std::unordered_map<std::int16_t, std::pair<std::uint32_t, std::int64_t>>, 2> highest;
    for (std::size_t i = 0; i < run.size(); ++i) {
        if (!phases[run.phase[i]]) {
            continue;
        }
        bool rose = true;
        if (cumulative) {
            const bool isReserved = !run.hasAllocated(i) && !run.reservedBytes.empty();
            const std::int64_t own = isReserved ? run.reservedBytes[i] : run.allocatedBytes[i];
            auto& [step, amount] = highest[isReserved ? 1 : 0][run.rank[i]];
            const bool isNew = step != run.step[i] && run.formats.front() == "galvatron.stage";
            rose = isNew || own > amount;
            amount = isNew ? own : std::max(amount, own);
            step = run.step[i];
        }
        run.phase[i] = rose ? static_cast<std::uint8_t>(*phases[run.phase[i]]) : wholeStep;
    }
    run.inferences.emplace_back(
        cumulative ? Text{HEADROOM_TR("core",
                                      "Phases are inferred from points such as “%1”. The maximum there counts on over "
                                      "the step, so a phase has a peak of its own only where the maximum rose in it"),
                          {first}}
                   : Text{HEADROOM_TR("core",
                                      "Phases are inferred from points such as “%1”: the peak counts from the point "
                                      "before, so it is that of what ran in between"),
                          {first}});
}

} // namespace

void inferPhases(Run& run)
{
    nameThePhases(run);
}

} // namespace headroom
