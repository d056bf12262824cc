// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/pairs.h"

#include "accuracy/comparison.h"
#include "accuracy/framework_cases.h"
#include "footprint/instant/estimator.h"
#include "insight/calibrate.h"

#include <map>
#include <optional>

namespace headroom::accuracy {

namespace {

/// A run with what its counter shows beyond the live blocks, by the replay: the rest of its segments, the context.
struct Member
{
    const FrameworkCase* entry = nullptr;
    std::size_t stage = 0;
    double beyondGib = 0;
    double theoryGib = 0; ///< what the counter should show
};

std::optional<Member> memberOf(const FrameworkCase& entry)
{
    ModelProgram program;
    if (!entry.missing.empty() || entry.measuredGib <= 0 || !buildProgram(entry.plan, program)) {
        return std::nullopt;
    }
    const FullestStage fullest = fullestStage(entry, program);
    const double predicted = predictedGib(entry, fullest.replay);
    return Member{&entry, fullest.index, predicted - fullest.replay.peakAllocated.gib(), predicted};
}

std::optional<double> calibratedGib(const Member& member, const Calibration& calibration)
{
    Footprint footprint;
    if (!estimateInstantly(member.entry->plan, calibration, footprint) || member.stage >= footprint.stages.size()) {
        return std::nullopt;
    }
    return footprint.stages[member.stage].peakAllocated.gib() + member.beyondGib;
}

void predictOthers(const std::string& group, const std::vector<Member>& members, const Member& from,
                   std::vector<PairPrediction>& predictions)
{
    CalibrationPoint point;
    point.plan = from.entry->plan;
    point.stage = from.stage;
    point.allocated = bytesFrom((from.entry->measuredGib - from.beyondGib) * 0x1p30);
    const auto calibrated = calibrate(std::span(&point, 1));
    if (!calibrated) {
        return;
    }
    for (const Member& to : members) {
        const std::optional<double> gib = &to == &from ? std::nullopt : calibratedGib(to, calibrated->calibration);
        if (gib) {
            predictions.push_back({group, from.entry->id, to.entry->id, to.theoryGib / to.entry->measuredGib - 1,
                                   *gib / to.entry->measuredGib - 1, calibrated->calibration.activations,
                                   !calibrated->suspects.empty()});
        }
    }
}

} // namespace

std::vector<PairPrediction> predictPairs(const std::filesystem::path& folder)
{
    const std::vector<FrameworkCase> cases = frameworkCases((folder / "cases.yaml").string());
    std::map<std::string, std::vector<Member>> groups;
    for (const FrameworkCase& entry : cases) {
        const std::optional<Member> member = entry.pairs.empty() ? std::nullopt : memberOf(entry);
        for (std::size_t i = 0; member && i < entry.pairs.size(); ++i) {
            groups[entry.pairs[i]].push_back(*member);
        }
    }
    std::vector<PairPrediction> predictions;
    for (const auto& [group, members] : groups) {
        for (const Member& from : members) {
            predictOthers(group, members, from, predictions);
        }
    }
    return predictions;
}

} // namespace headroom::accuracy
