// SPDX-License-Identifier: GPL-3.0-or-later
//
// headroom_accuracy [FOLDER [WORD]]: the replay against measured training runs. Prints for every class how many runs
// there are, the median and worst error, its ten worst runs with the tensors that most likely explain them, and what
// could not be computed and why. Returns 1 when a class misses its bar without an explanation known here, 77 when the
// folder is not here. With WORD it prints the runs whose name holds it instead, with all that is alive at their peaks.
#include "accuracy/comparison.h"
#include "accuracy/pairs.h"
#include "support/folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

using namespace headroom;
using namespace headroom::accuracy;

namespace {

using Rows = std::vector<const Comparison*>;

/// A class's largest median error, and the share of runs that must be within 1 %; `known`: why it is missed so far.
struct Bar
{
    std::string_view name;
    double median = 0;
    double within = 0;
    std::string_view known{};
};

/// The bars: our own for Megatron-LM, images and experts, the medians of theory_frameworks.md section 1 for other
/// frameworks.
constexpr std::array bars{
    Bar{"Megatron-LM, dense", 0.002, 0.9},
    Bar{"Megatron-LM, context parallel", 0.008},
    Bar{"Megatron-LM, experts", 0.02},
    Bar{"multimodal", 0.03},
    Bar{"Megatron-DeepSpeed (BigScience BLOOM topology search)", 0.05},
    Bar{"Qwen finetune.py (HF + DeepSpeed)", 0.063},
    Bar{"prime-rl", 0.033},
    Bar{"Megatron-DeepSpeed (BigScience)", 0.116},
    Bar{"torchtitan", 0.03},
    Bar{"InternEvo", 0.052},
    Bar{"Hetu-Galvatron", 0.001},
    Bar{"torchtune", 0.015},
    Bar{"Megatron-LM 2.4-era / Megatron-DeepSpeed (BigScience)", 0.001},
    Bar{"HF PEFT method comparison", 0.105},
    Bar{"LitGPT", 0.085},
    Bar{"Megatron-LM fork (VocabularyParallelism, MLSys 2025 artifact)", 0.026},
    Bar{"ms-swift (transformers backend, DeepSpeed zero3)", 0.046},
    Bar{"Megatron-DeepSpeed 3D", 0.051},
    Bar{"torchtitan (run for comparison)", 0.03, 0,
        "one run with experts, 3.03 % high, 4 GiB that were not found (docs/accuracy.md)"},
};

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.empty() ? 0 : values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double medianOf(const Rows& rows)
{
    std::vector<double> errors;
    for (const Comparison* row : rows) {
        errors.push_back(std::abs(row->peakError));
    }
    return median(std::move(errors));
}

double shareWithin(const Rows& rows, double limit)
{
    const auto count = std::count_if(rows.begin(), rows.end(),
                                     [limit](const Comparison* row) { return std::abs(row->peakError) <= limit; });
    return rows.empty() ? 0 : static_cast<double>(count) / static_cast<double>(rows.size());
}

std::map<std::string, Rows> grouped(const Rows& rows, const std::function<std::string(const Comparison&)>& key)
{
    std::map<std::string, Rows> groups;
    for (const Comparison* row : rows) {
        groups[key(*row)].push_back(row);
    }
    return groups;
}

void printTable(std::string_view title, const std::map<std::string, Rows>& groups)
{
    fmt::print("\n| {:<53} | runs | resident median | peak median | worst | within 1 % | within 5 % |\n"
               "|{:-<55}|------|---|---|---|---|---|\n",
               title, "");
    for (const auto& [name, rows] : groups) {
        std::vector<double> steady;
        double worst = 0;
        for (const Comparison* row : rows) {
            steady.push_back(std::abs(row->steadyError));
            worst = std::max(worst, std::abs(row->peakError));
        }
        const bool hasSteady = rows.front()->group == megatronGroup && rows.front()->hasSteady;
        fmt::print("| {:<53} | {:>4} | {:>8} | {:>6.2f} % | {:>6.2f} % | {:>3.0f} % | {:>3.0f} % |\n", name,
                   rows.size(), hasSteady ? fmt::format("{:.2f} %", 100 * median(steady)) : "", 100 * medianOf(rows),
                   100 * worst, 100 * shareWithin(rows, 0.01), 100 * shareWithin(rows, 0.05));
    }
}

void printLine(const Comparison& row)
{
    fmt::print("  {}: peak {:+.2f} %{}; most of it {}; nearest the difference: {}{}{}\n", row.name, 100 * row.peakError,
               row.group == megatronGroup && row.hasSteady ? fmt::format(", resident {:+.2f} %", 100 * row.steadyError)
                                                           : "",
               row.largest, row.likely.empty() ? "the states" : row.likely,
               row.doubt.empty() ? "" : "; its figure: ", row.doubt);
}

void printWorst(const std::map<std::string, Rows>& groups)
{
    constexpr std::size_t most = 10;
    constexpr double worthALine = 0.01;
    for (auto [name, rows] : groups) {
        std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->worst() > b->worst(); });
        rows.resize(std::min(rows.size(), most));
        std::erase_if(rows, [](const Comparison* row) { return row->worst() < worthALine; });
        if (!rows.empty()) {
            fmt::print("\nWorst of {}, those of 1 % and more:\n", name);
        }
        for (const Comparison* row : rows) {
            printLine(*row);
        }
    }
}

void printNotComputed(const Report& report)
{
    fmt::print("\nNot computed, by what is missing:\n");
    for (const auto& [reason, names] : report.notComputed) {
        fmt::print("  {} ({}):\n", reason, names.size());
        for (const std::string& name : names) {
            fmt::print("    {}\n", name);
        }
    }
    fmt::print("\n{} runs of cases.yaml are those of megatron_ci.json, with the same figures.\n", report.countedThere);
    fmt::print("Of {} runs that ended out of memory {} are estimated not to fit{}\n", report.ranOut,
               report.ranOut - report.estimatedToFit.size(), report.estimatedToFit.empty() ? "." : ", and to fit:");
    for (const std::string& name : report.estimatedToFit) {
        fmt::print("    {}\n", name);
    }
}

/// Runs predicted from another one of their group, with and without what that one's measurement tells.
/// False when their median misses its bar.
bool checkPairs(const std::vector<PairPrediction>& predictions)
{
    constexpr double bar = 0.02;
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> groups;
    for (const PairPrediction& pair : predictions) {
        for (const std::string& name : {pair.group, std::string("all")}) {
            groups[name].first.push_back(std::abs(pair.theoryError));
            groups[name].second.push_back(std::abs(pair.calibratedError));
        }
    }
    fmt::print("\nPredicted from another run of the group (median error by theory, and calibrated on that run):\n");
    for (const auto& [name, errors] : groups) {
        fmt::print("  {}: {} predictions, {:.2f} %, {:.2f} %\n", name, errors.first.size(), 100 * median(errors.first),
                   100 * median(errors.second));
    }
    return predictions.empty() || median(groups["all"].second) <= bar;
}

/// The rows that a bar is about.
Rows rowsOf(const Report& report, std::string_view bar)
{
    // theory_dense.md section 1.
    constexpr std::array<std::string_view, 7> dense{"auto",  "flash",       "fused",    "unfused",
                                                    "local", "interleaved", "recompute"};
    Rows rows;
    for (const Comparison& row : report.comparisons) {
        const bool isMegatron = row.group == megatronGroup;
        const bool isDense = std::find(dense.begin(), dense.end(), row.kind) != dense.end();
        const bool isAsked = bar == "Megatron-LM, dense" ? isMegatron && isDense
            : bar == "Megatron-LM, context parallel"     ? isMegatron && row.kind == "context parallel"
            : bar == "Megatron-LM, experts"              ? isMegatron && row.kind == "experts"
            : bar == "multimodal"                        ? row.kind == bar
                                                         : row.group == bar;
        if (isAsked) {
            rows.push_back(&row);
        }
    }
    return rows;
}

/// False when a bar is missed that has no explanation.
bool checkBars(const Report& report)
{
    bool isGood = true;
    fmt::print("\nBars:\n");
    for (const Bar& bar : bars) {
        const Rows rows = rowsOf(report, bar.name);
        // As printed, with two decimals.
        const bool isMet
            = std::round(1e4 * medianOf(rows)) <= std::round(1e4 * bar.median) && shareWithin(rows, 0.01) >= bar.within;
        isGood &= rows.empty() || isMet || !bar.known.empty();
        fmt::print("  {}: {} runs, median {:.2f} % of {:.2f} %{}{}\n", bar.name, rows.size(), 100 * medianOf(rows),
                   100 * bar.median,
                   bar.within > 0 ? fmt::format(", {:.1f} % within 1 % of {:.0f} %", 100 * shareWithin(rows, 0.01),
                                                100 * bar.within)
                                  : "",
                   rows.empty() ? ": none here"
                       : isMet  ? ""
                                : fmt::format(": missed{}{}", bar.known.empty() ? "" : ", ", bar.known));
    }
    std::size_t explained = 0;
    const Rows experts = rowsOf(report, "Megatron-LM, experts");
    for (const Comparison* row : experts) {
        explained += std::abs(row->peakError) <= 0.02 || row->isInsideRouting ? 1U : 0U;
    }
    fmt::print("  Of the runs with experts {} of {} are within 2 % or explained by routing loads from {} to {}\n",
               explained, experts.size(), lowestLoad, highestLoad);
    return isGood;
}

} // namespace

int main(int argc, char** argv)
{
    const std::filesystem::path folder = argc > 1 ? std::filesystem::path(argv[1]) : sharedPath("measured");
    Report report;
    if (!addMegatronRuns(folder, report)) {
        fmt::print("{} is not here\n", (folder / "megatron_ci.json").string());
        return 77;
    }
    if (argc > 2) {
        int found = printBreakdowns(folder, argv[2]);
        for (const Comparison& row : report.comparisons) {
            if (row.name.find(argv[2]) != std::string::npos) {
                printLine(row);
                printBreakdown(row);
                ++found;
            }
        }
        return found > 0 ? 0 : 1;
    }
    addFrameworkRuns(folder, report);
    Rows megatron, others;
    for (const Comparison& row : report.comparisons) {
        (row.group == megatronGroup ? megatron : others).push_back(&row);
    }
    const auto kind = [](const Comparison& row) { return row.kind; };
    const auto group = [](const Comparison& row) { return row.group; };
    printTable("Megatron-LM CI", grouped(megatron, kind));
    printTable("Other frameworks", grouped(others, group));
    printTable("The same by kind", grouped(others, kind));
    printWorst(grouped(megatron, kind));
    printWorst(grouped(others, group));
    printNotComputed(report);
    const bool arePairsGood = checkPairs(predictPairs(folder));
    return checkBars(report) && arePairsGood ? 0 : 1;
}
