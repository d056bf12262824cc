// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "log_report.h"
#include "wording.h"

#include "replay/replay.h"
#include "runlog/anchor_scan.h"
#include "runlog/followed_logs.h"
#include "runlog/read_log.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>

namespace headroom::cli {

namespace {

struct Options
{
    std::vector<std::string> paths;
    std::size_t top = 5;
    double interval = 0.5; ///< seconds between two looks at a followed log
    bool json = false;
    bool csv = false;
    bool follow = false;
};

std::vector<Finding> findingsOf(const LogReport& report)
{
    Situation situation;
    situation.run = report.run;
    situation.summary = &report.summary;
    Footprint footprint;
    // Few arguments do not describe a model: what the recipe makes of them is nothing to measure a log by.
    if (report.plan && estimateInstantly(*report.plan, {}, footprint) && footprint.engine != Engine::Textbook) {
        situation.plan = &*report.plan;
        situation.footprint = &footprint;
        situation.estimator = estimateInstantly;
        situation.exact = replayWithin;
    }
    return diagnose(situation);
}

/// Why a log says nothing: what was met in its files, or that it has only lines that nobody knows.
int failOf(const Run& log, const std::string& path)
{
    if (log.lineCount == 0 && !log.problems.empty()) {
        std::for_each(log.problems.begin(), log.problems.end(), fail);
        return BadInput;
    }
    printProblems(log.problems);
    return fail({Severity::Error, path, 0,
                 Text{HEADROOM_TR("core",
                                  "no line has phase=, step= and peak_alloc= or is of another log format that is "
                                  "known (lines read: %1)"),
                      {formatCount(log.lineCount)}}});
}

int run(const Options& options, const AnchorSet& anchors)
{
    const std::vector<std::filesystem::path> paths(options.paths.begin(), options.paths.end());
    ReadOptions reading;
    reading.formats = &anchors;
    const auto log = readLog(paths, reading);
    if (!log) {
        return fail(log.error());
    }
    if (log->isEmpty() && log->steps.size() == 0 && log->timers.size() == 0 && log->facts.empty()) {
        return failOf(*log, options.paths.front());
    }
    if (options.csv) {
        printProblems(log->problems);
        printLogCsv(*log, 0, true);
        return Holds;
    }
    const LogReport report = reportOf(*log);
    const std::vector<Finding> findings = findingsOf(report);
    if (options.json) {
        printJson(logJson(report, findings, options.top));
    } else {
        printProblems(log->problems);
        printLogReport(report, findings, options.top);
    }
    return Holds;
}

std::atomic<bool> interrupted{false};

/// Prints what is written to logs and to the files of folders, also to those that are still to come.
class Follower
{
public:
    Follower(const Options& options, const AnchorSet& anchors)
        : m_options(options)
        , m_logs({options.paths.begin(), options.paths.end()}, &anchors)
    {
    }

    Result<void> poll()
    {
        if (const auto isNew = m_logs.poll(); !isNew) {
            return tl::unexpected(isNew.error());
        }
        for (const FollowedLogs::File& file : m_logs.files()) {
            print(file);
        }
        std::fflush(stdout);
        return {};
    }

private:
    void print(const FollowedLogs::File& file)
    {
        const Run& known = file.run();
        std::size_t& told = m_problemsTold[file.name];
        told = std::min(told, known.problems.size()); // a file that was read again has its own
        printProblems({known.problems.begin() + static_cast<std::ptrdiff_t>(told), known.problems.end()});
        told = known.problems.size();
        if (!m_options.json) {
            printLogCsv(known, file.firstNew, !m_hasHeader);
            m_hasHeader = true;
            return;
        }
        for (std::size_t i = file.firstNew; i < known.size(); ++i) {
            Json record = recordJson(known, i);
            record["phase"] = known.phaseNames[known.phase[i]];
            fmt::print("{}\n", record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
        }
    }

    const Options& m_options;
    FollowedLogs m_logs;
    std::map<std::string, std::size_t> m_problemsTold; ///< by file
    bool m_hasHeader = false;
};

/// Until the user interrupts.
int follow(const Options& options, const AnchorSet& anchors)
{
    interrupted = false;
    std::signal(SIGINT, [](int) { interrupted = true; });
    std::signal(SIGTERM, [](int) { interrupted = true; });
    Follower follower(options, anchors);
    while (!interrupted) {
        if (const auto done = follower.poll(); !done) {
            return fail(done.error());
        }
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.interval);
        while (!interrupted && std::chrono::steady_clock::now() < until) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    return Holds;
}

int start(const Options& options)
{
    const LineFormats formats = LineFormats::load(userFolder());
    printProblems(formats.problems);
    const AnchorSet anchors(formats);
    return options.follow ? follow(options, anchors) : run(options, anchors);
}

} // namespace

void addLog(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand(
        "log", say(HEADROOM_TR("cli", "peaks per phase and the largest values of a training log")));
    const auto options = std::make_shared<Options>();
    command->add_option("FILE|DIR", options->paths, say(HEADROOM_TR("cli", "logs, or folders of per-rank logs")))
        ->required();
    command->add_option("--top", options->top, say(HEADROOM_TR("cli", "how many of the largest values to list")))
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    CLI::Option* json = command->add_flag("--json", options->json, say(HEADROOM_TR("cli", "print JSON")));
    command
        ->add_flag("--csv", options->csv, say(HEADROOM_TR("cli", "print every measurement as comma-separated values")))
        ->excludes(json);
    command->add_flag("--follow", options->follow,
                      say(HEADROOM_TR("cli", "print measurements as they are written, until interrupted")));
    command
        ->add_option("--interval", options->interval,
                     say(HEADROOM_TR("cli", "seconds between two looks at a followed log")))
        ->capture_default_str()
        ->check(CLI::Range(0.01, 3600.0));
    command->callback([options, &exitCode] { exitCode = start(*options); });
}

} // namespace headroom::cli
