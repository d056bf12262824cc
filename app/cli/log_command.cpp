// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "report.h"
#include "table.h"

#include "runlog/read_log.h"
#include "units/number.h"

#include <fmt/format.h>

#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    std::vector<std::string> paths;
    std::size_t top = 5;
    bool json = false;
};

void addRecordRow(const Run& run, std::size_t index, Table& table)
{
    const Record record = run.record(index);
    table.addRow({run.phaseNames[record.phase], formatGib(record.allocated, 3),
                  record.reserved ? formatGib(*record.reserved, 3) : "", std::to_string(record.step),
                  record.rank < 0 ? "" : std::to_string(record.rank),
                  fmt::format("{}:{}", run.files[record.file], record.line)});
}

Table recordTable()
{
    Table table;
    table.addColumn("phase", Table::Align::Left);
    for (const char* title : {"allocated", "reserved", "step", "rank"}) {
        table.addColumn(title);
    }
    table.addColumn("place", Table::Align::Left);
    return table;
}

void printForPeople(const Options& options, const Run& run, const std::vector<Finding>& findings)
{
    fmt::print("{} lines, {} measurements, {} ranks\n\nPeak of each phase\n", formatCount(run.lineCount),
               formatCount(static_cast<std::int64_t>(run.size())), run.ranks().size());
    Table peaks = recordTable();
    for (std::size_t phase = 0; phase < run.phaseNames.size(); ++phase) {
        if (const auto index = run.peak(static_cast<std::uint8_t>(phase))) {
            addRecordRow(run, *index, peaks);
        }
    }
    fmt::print("{}\nLargest {}\n", peaks.text(), options.top);
    Table top = recordTable();
    for (const std::size_t index : run.largest(options.top)) {
        addRecordRow(run, index, top);
    }
    fmt::print("{}\n{}", top.text(), findingsText(findings));
}

Json logJson(const Options& options, const Run& run, const RunSummary& summary, const std::vector<Finding>& findings)
{
    Json phases = Json::object();
    for (std::size_t phase = 0; phase < run.phaseNames.size(); ++phase) {
        if (const auto index = run.peak(static_cast<std::uint8_t>(phase))) {
            phases[run.phaseNames[phase]] = recordJson(run, *index);
        }
    }
    Json top = Json::array();
    for (const std::size_t index : run.largest(options.top)) {
        Json record = recordJson(run, index);
        record["phase"] = run.phaseNames[run.phase[index]];
        top.push_back(std::move(record));
    }
    const auto peakPhase = summary.peakPhase(run);
    return Json{{"schema", "headroom.log/1"},
                {"formats", run.formats},
                {"files", run.files},
                {"lines", run.lineCount},
                {"records", run.size()},
                {"phases", std::move(phases)},
                {"peak_phase", peakPhase ? Json(std::string(nameOf(*peakPhase))) : Json(nullptr)},
                {"top", std::move(top)},
                {"capacity_bytes", nullptr},
                {"out_of_memory", Json::array()},
                {"arguments", Json::object()},
                {"findings", toJson(findings)},
                {"problem_count", run.problemCount},
                {"problems", toJson(run.problems)}};
}

int run(const Options& options)
{
    const std::vector<std::filesystem::path> paths(options.paths.begin(), options.paths.end());
    const auto log = readLog(paths);
    if (!log) {
        return fail(log.error());
    }
    if (log->isEmpty()) {
        printProblems(log->problems);
        return fail(
            {Severity::Error, options.paths.front(), 0,
             Text{HEADROOM_TR("core",
                              "no line has phase=, step= and peak_alloc=, so there is no peak to find in %1 lines"),
                  {formatCount(log->lineCount)}}});
    }
    const RunSummary summary = summarise(*log);
    Situation situation;
    situation.run = &*log;
    situation.summary = &summary;
    const std::vector<Finding> findings = diagnose(situation);
    if (options.json) {
        printJson(logJson(options, *log, summary, findings));
    } else {
        printProblems(log->problems);
        printForPeople(options, *log, findings);
    }
    return Holds;
}

} // namespace

void addLog(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand("log", "peaks per phase and the largest values of a training log");
    const auto options = std::make_shared<Options>();
    command->add_option("FILE|DIR", options->paths, "logs, or folders of per-rank logs")->required();
    command->add_option("--top", options->top, "how many of the largest values to list")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
