// SPDX-License-Identifier: GPL-3.0-or-later
//
// headroom_accuracy [FOLDER]: the replay against measured training runs. Prints per class how many runs there are, the
// median and worst error of the resident and of the peak bytes, the ten worst runs with what fills their peak, and what
// could not be computed and why. Returns 1 when a class misses its bar (dense: median 0.2 %, nine in ten within 1 %;
// context parallel: median 0.8 %; experts: median 2 %, the routing being unknown), 77 when the folder is not here.
#include "accuracy/megatron_flags.h"
#include "plan/batch.h"
#include "replay/replay.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

using namespace headroom;
using Json = nlohmann::json;

namespace {

struct Comparison
{
    std::string name, kind;
    double steadyError = 0, peakError = 0; ///< predicted / measured - 1
    std::string largest; ///< tensors that fill the peak
    bool isInsideRouting = false; ///< measured peak between those of the lowest and highest usual routing load

    [[nodiscard]] double worst() const { return std::max(std::abs(steadyError), std::abs(peakError)); }
};

struct Report
{
    std::vector<Comparison> comparisons;
    std::map<std::string, std::vector<std::string>> notComputed; ///< by reason
};

std::string classOf(const std::string& name, const TrainingPlan& plan)
{
    const std::string family = name.substr(0, name.find('/'));
    if (family == "bert" || family == "t5") {
        return family;
    }
    if (plan.moe.experts.value > 0) {
        return "experts";
    }
    if (plan.mla.kvLoraRank.isKnown()) {
        return "latent attention";
    }
    if (plan.precision.fp8.isKnown()) {
        return "fp8";
    }
    if (plan.parallel.cp.value > 1) {
        return "context parallel";
    }
    if (plan.recompute.granularity.value == Granularity::Full) {
        return "recompute";
    }
    if (plan.parallel.vpp.value > 1 || plan.parallel.layersPerVstage.isKnown()) {
        return "interleaved";
    }
    if (plan.implementation.profile.value == "megatron-local") {
        return "local";
    }
    const std::string& kernel = plan.attention.impl.value;
    return kernel.empty() ? "auto" : kernel;
}

std::string largestTensors(const StageReplay& replayed)
{
    std::vector<std::pair<std::int64_t, TensorKind>> all;
    for (int i = 0; i < tensorKindCount; ++i) {
        all.emplace_back(replayed.peakTensors[static_cast<std::size_t>(i)].value, static_cast<TensorKind>(i));
    }
    std::sort(all.rbegin(), all.rend());
    std::string text;
    for (std::size_t i = 0; i < 3; ++i) {
        text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", nameOf(all[i].second),
                            100.0 * static_cast<double>(all[i].first)
                                / static_cast<double>(replayed.peakAllocated.value));
    }
    return text;
}

/// Rows that reach one rank's experts, by those of balanced routing (theory_moe_cp.md section 4).
constexpr double lowestLoad = 0.5, highestLoad = 1.5;

double peakWithLoad(TrainingPlan plan, double load)
{
    plan.moe.load = Real(load);
    ModelProgram program;
    return buildProgram(plan, program)
        ? static_cast<double>(replayStage(program, program.stages.back()).peakAllocated.value)
        : 0;
}

void compareRun(const Json& entry, const Json& run, Report& report)
{
    const std::string name = entry.at("case");
    const auto text = [&run](const char* key) {
        return run.contains(key) && run.at(key).is_string() ? run.at(key).get<std::string>() : std::string{};
    };
    const std::string title = fmt::format("{} ({} {})", name, text("environment"), text("platform"));
    auto [plan, notUnderstood] = accuracy::planFromMegatronFlags(entry.at("flags"));
    const std::string kind = classOf(name, plan);
    if (!notUnderstood.empty()) {
        report.notComputed["not described: " + notUnderstood.front()].push_back(title);
        return;
    }
    const bool hasWorld = run.contains("world") && run.at("world").is_number();
    if (!hasWorld && plan.shard.distOpt.value) {
        report.notComputed["the number of GPUs, which divides the optimizer's state"].push_back(title);
        return;
    }
    const std::int64_t smallest = plan.parallel.tp.value * plan.parallel.pp.value * plan.parallel.cp.value;
    accuracy::applyRunFacts(
        {text("environment"), text("platform"), hasWorld ? run.at("world").get<std::int64_t>() : smallest}, plan);
    ModelProgram program;
    if (const auto built = buildProgram(plan, program); !built) {
        report.notComputed[built.error().english()].push_back(title);
        return;
    }
    // The last rank writes the log, so the figures are those of the last stage.
    const StageReplay replayed = replayStage(program, program.stages.back());
    const auto error = [&run](const char* key, Bytes predicted) {
        return static_cast<double>(predicted.value) / run.at(key).get<double>() - 1;
    };
    report.comparisons.push_back({title, kind, error("steady_bytes", replayed.steadyAllocated),
                                  error("peak_bytes", replayed.peakAllocated), largestTensors(replayed)});
    if (plan.moe.experts.value > 0) {
        const double measured = run.at("peak_bytes").get<double>();
        report.comparisons.back().isInsideRouting
            = peakWithLoad(plan, lowestLoad) <= measured && measured <= peakWithLoad(plan, highestLoad);
    }
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.empty() ? 0 : values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void printRow(const std::string& kind, const std::vector<const Comparison*>& rows)
{
    std::vector<double> steady, peak;
    std::size_t within = 0;
    for (const Comparison* row : rows) {
        steady.push_back(std::abs(row->steadyError));
        peak.push_back(std::abs(row->peakError));
        within += row->worst() <= 0.01 ? 1U : 0U;
    }
    fmt::print("| {:<17} | {:>4} | {:>6.2f} % | {:>6.2f} % | {:>6.2f} % | {:>6.2f} % | {:>5.1f} % |\n", kind,
               rows.size(), 100 * median(steady), 100 * *std::max_element(steady.begin(), steady.end()),
               100 * median(peak), 100 * *std::max_element(peak.begin(), peak.end()),
               100.0 * static_cast<double>(within) / static_cast<double>(rows.size()));
}

void print(const Report& report)
{
    std::map<std::string, std::vector<const Comparison*>> classes;
    std::vector<const Comparison*> all;
    for (const Comparison& comparison : report.comparisons) {
        classes[comparison.kind].push_back(&comparison);
        all.push_back(&comparison);
    }
    fmt::print("| class             | runs | resident median | worst | peak median | worst | both within 1 % |\n"
               "|-------------------|------|---|---|---|---|---|\n");
    for (const auto& [kind, rows] : classes) {
        printRow(kind, rows);
    }
    printRow("all", all);
    std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->worst() > b->worst(); });
    fmt::print("\nThe ten worst:\n");
    for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 10); ++i) {
        fmt::print("  {}: resident {:+.2f} %, peak {:+.2f} %; {}\n", all[i]->name, 100 * all[i]->steadyError,
                   100 * all[i]->peakError, all[i]->largest);
    }
    fmt::print("\nNot computed:\n");
    for (const auto& [reason, names] : report.notComputed) {
        fmt::print("  {} ({}):\n", reason, names.size());
        for (const std::string& name : names) {
            fmt::print("    {}\n", name);
        }
    }
}

/// theory_dense.md section 1: auto, flash, fused, unfused, local, interleaved, recompute.
bool meetsDenseBar(const Report& report)
{
    std::vector<double> errors;
    for (const Comparison& comparison : report.comparisons) {
        constexpr std::array dense{"auto", "flash", "fused", "unfused", "local", "interleaved", "recompute"};
        if (std::find(dense.begin(), dense.end(), comparison.kind) != dense.end()) {
            errors.push_back(std::abs(comparison.peakError));
        }
    }
    const auto within = std::count_if(errors.begin(), errors.end(), [](double error) { return error <= 0.01; });
    const double share = errors.empty() ? 0 : static_cast<double>(within) / static_cast<double>(errors.size());
    fmt::print("\nDense peaks: median {:.2f} % (bar 0.20 %), within 1 % {:.1f} % of {} (bar 90 %)\n",
               100 * median(errors), 100 * share, errors.size());
    return !errors.empty() && median(errors) <= 0.002 && share >= 0.9;
}

std::vector<double> peakErrors(const Report& report, std::string_view kind)
{
    std::vector<double> errors;
    for (const Comparison& comparison : report.comparisons) {
        if (comparison.kind == kind) {
            errors.push_back(std::abs(comparison.peakError));
        }
    }
    return errors;
}

bool meetsContextBar(const Report& report)
{
    const double middle = median(peakErrors(report, "context parallel"));
    fmt::print("Context-parallel peaks: median {:.2f} % (bar 0.80 %)\n", 100 * middle);
    return middle <= 0.008;
}

bool meetsExpertsBar(const Report& report)
{
    const double middle = median(peakErrors(report, "experts"));
    std::int64_t runs = 0, explained = 0;
    for (const Comparison& comparison : report.comparisons) {
        runs += comparison.kind == "experts" ? 1 : 0;
        const bool isExplained = std::abs(comparison.peakError) <= 0.02 || comparison.isInsideRouting;
        explained += comparison.kind == "experts" && isExplained ? 1 : 0;
    }
    fmt::print(
        "Peaks with experts: median {:.2f} % (bar 2.00 %); {} of {} within 2 % or explained by routing loads from "
        "{} to {}\n",
        100 * middle, explained, runs, lowestLoad, highestLoad);
    return middle <= 0.02;
}

void listOtherCases(const std::filesystem::path& file, Report& report)
{
    if (!std::filesystem::exists(file)) {
        return;
    }
    for (const YAML::Node& entry : YAML::LoadFile(file.string())) {
        const auto framework = entry["framework"].as<std::string>("");
        report.notComputed["no tapes for " + framework].push_back(entry["id"].as<std::string>(""));
    }
}

} // namespace

int main(int argc, char** argv)
{
    const std::filesystem::path folder = argc > 1 ? argv[1] : HEADROOM_SHARED "/measured";
    std::ifstream file(folder / "megatron_ci.json");
    if (!file) {
        fmt::print("{} is not here\n", (folder / "megatron_ci.json").string());
        return 77;
    }
    Report report;
    for (const Json& entry : Json::parse(file)) {
        for (const Json& run : entry.at("measured")) {
            compareRun(entry, run, report);
        }
    }
    listOtherCases(folder / "cases.yaml", report);
    print(report);
    const std::array meets{meetsDenseBar(report), meetsContextBar(report), meetsExpertsBar(report)};
    return std::all_of(meets.begin(), meets.end(), [](bool isMet) { return isMet; }) ? 0 : 1;
}
