// SPDX-License-Identifier: GPL-3.0-or-later
// What the accuracy report is made of: predictions beside measured runs.
#pragma once

#include "accuracy/framework_cases.h"
#include "replay/replay.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::accuracy {

struct Comparison
{
    std::string name, group, kind; ///< group: who published it; kind: what sort of run it is
    double steadyError = 0; ///< predicted / measured - 1; 0 where no resident figure is published
    double peakError = 0;
    std::string largest; ///< tensors that fill the peak
    std::string likely; ///< those whose size is closest to the difference
    std::string_view doubt{}; ///< about its figure
    bool hasSteady = true; ///< predicted; otherwise the peak is that above the published resident bytes
    bool isInsideRouting = false; ///< measured peak between those of the lowest and highest usual routing load
    std::int64_t measuredResident = 0, measuredPeak = 0; ///< bytes; Megatron-LM's own tests only
    StageReplay replay{}; ///< of those

    [[nodiscard]] double worst() const { return std::max(std::abs(steadyError), std::abs(peakError)); }
};

struct Report
{
    std::vector<Comparison> comparisons;
    std::map<std::string, std::vector<std::string>> notComputed; ///< by reason
    std::multimap<std::string, std::int64_t> goldenPeaks; ///< bytes, by test of Megatron-LM
    std::size_t countedThere = 0; ///< runs of cases.yaml that are among them, with the same figure
    std::size_t ranOut = 0; ///< runs that ended out of memory
    std::vector<std::string> estimatedToFit; ///< of these
};

/// Rows that reach one rank's experts, by those of balanced routing (theory_moe_cp.md section 4).
constexpr double lowestLoad = 0.5, highestLoad = 1.5;

inline const char* const megatronGroup = "Megatron-LM CI";

/// Runs of Megatron-LM's own tests: megatron_ci.json of the folder. False without the file.
[[nodiscard]] bool addMegatronRuns(const std::filesystem::path& folder, Report& report);
/// Published runs of other frameworks: cases.yaml of the folder.
void addFrameworkRuns(const std::filesystem::path& folder, Report& report);

struct FullestStage
{
    std::size_t index = 0;
    StageReplay replay;
};
/// The stage with the highest peak, of those that are measured.
[[nodiscard]] FullestStage fullestStage(const FrameworkCase& entry, const ModelProgram& program);
/// What the case's counter shows: live blocks, segments of all pools, or the whole device.
[[nodiscard]] double predictedGib(const FrameworkCase& entry, const StageReplay& replay);

/// "fc1 output 31.2 %, …": what fills the peak.
[[nodiscard]] std::string largestTensors(const StageReplay& replayed);
/// The tensors, other than parameters and states, whose bytes come closest to `difference`.
[[nodiscard]] std::string closestTensors(const StageReplay& replayed, double difference);

/// Prints the framework runs whose name holds `word`: both figures, and in GiB what is alive at the peak of the fullest
/// stage. How many there are.
int printBreakdowns(const std::filesystem::path& folder, std::string_view word);
/// The same in bytes for a run of Megatron-LM's own tests, with what stays between steps.
void printBreakdown(const Comparison& row);

} // namespace headroom::accuracy
