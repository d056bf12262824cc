// SPDX-License-Identifier: GPL-3.0-or-later
#include "log_report.h"

#include "inputs.h"
#include "names.h"
#include "report.h"
#include "table.h"
#include "wording.h"

#include "runlog/device_mesh.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace headroom::cli {

namespace {

std::optional<double> median(std::vector<float> values)
{
    if (values.empty()) {
        return std::nullopt;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
}

void addRecordRow(const Run& run, std::size_t index, Table& table)
{
    const Record record = run.record(index);
    table.addRow({run.phaseNames[record.phase], run.hasAllocated(index) ? formatGib(record.allocated, 3) : "",
                  record.reserved ? formatGib(*record.reserved, 3) : "", std::to_string(record.step),
                  record.rank < 0 ? "" : std::to_string(record.rank),
                  fmt::format("{}:{}", run.files[record.file], record.line)});
}

Table recordTable()
{
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "phase")), Table::Align::Left);
    for (const char* title : {HEADROOM_TR("cli", "allocated"), HEADROOM_TR("cli", "reserved"),
                              HEADROOM_TR("cli", "step"), HEADROOM_TR("cli", "rank")}) {
        table.addColumn(say(title));
    }
    table.addColumn(say(HEADROOM_TR("cli", "place")), Table::Align::Left);
    return table;
}

/// False where the log has none.
bool printPeaks(const LogReport& report, std::size_t count)
{
    const Run& run = *report.run;
    Table peaks = recordTable();
    bool any = false;
    for (std::size_t phase = 0; phase < run.phaseNames.size(); ++phase) {
        if (const auto index = run.peak(static_cast<std::uint8_t>(phase))) {
            addRecordRow(run, *index, peaks);
            any = true;
        }
    }
    if (any) {
        Table top = recordTable();
        for (const std::size_t index : run.largest(count)) {
            addRecordRow(run, index, top);
        }
        fmt::print("\n{}\n{}\n{}\n{}", say(HEADROOM_TR("cli", "Peak of each phase")), peaks.text(),
                   say(HEADROOM_TR("cli", "Largest %1"), {std::to_string(count)}), top.text());
    }
    if (report.summary.reservedPeak && !any) {
        Table reserved = recordTable();
        addRecordRow(run, *report.summary.reservedPeak, reserved);
        fmt::print("\n{}\n{}", say(HEADROOM_TR("cli", "Largest reserved (the log has no peaks of what was allocated)")),
                   reserved.text());
    }
    return any;
}

/// "1 rank", "8 ranks".
std::string counted(std::int64_t count, const char* one, const char* many)
{
    return say(count == 1 ? one : many, {formatCount(count)});
}

/// Parameters and what the framework itself calculated.
void printModel(const Run& run)
{
    const std::vector<LogParameters> all = parametersOf(run);
    const auto most = std::ranges::max_element(all, {}, &LogParameters::count);
    if (most != all.end()) {
        const std::string what = most->what.empty() ? "" : fmt::format(" ({})", most->what);
        const std::string place = fmt::format("{}:{}", run.files[most->file], most->line);
        fmt::print("{}\n",
                   all.size() == 1
                       ? say(HEADROOM_TR("cli", "Parameters: %1%2, from %3"), {formatCount(most->count), what, place})
                       : say(HEADROOM_TR("cli", "Parameters: %1%2, from %3; the largest of %4 counts"),
                             {formatCount(most->count), what, place, std::to_string(all.size())}));
    }
    const auto estimate = std::ranges::find_if(run.facts, [](const LogFact& fact) {
        return fact.kind == LineKind::Estimate && fact.number("est_weight_optimizer_bytes");
    });
    if (estimate != run.facts.end()) {
        const auto gib = [&](const char* field) { return formatGib(bytesFrom(*estimate->number(field))); };
        const std::string place = fmt::format("{}:{}", run.files[estimate->file], estimate->line);
        fmt::print("{}\n",
                   estimate->number("est_total_bytes")
                       ? say(HEADROOM_TR("cli",
                                         "The framework's own estimate: %1 of weights and optimizer, %2 with "
                                         "activations, from %3"),
                             {gib("est_weight_optimizer_bytes"), gib("est_total_bytes"), place})
                       : say(HEADROOM_TR("cli", "The framework's own estimate: %1 of weights and optimizer, from %2"),
                             {gib("est_weight_optimizer_bytes"), place}));
    }
}

/// The parts of a step that take longest.
void printTimers(const Run& run)
{
    constexpr std::size_t most = 8;
    std::vector<TimerSummary> timers = summarise(run.timers);
    std::ranges::stable_sort(timers, std::greater(), &TimerSummary::median);
    if (timers.empty()) {
        return;
    }
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "part of a step")), Table::Align::Left);
    for (const char* title : {HEADROOM_TR("cli", "median"), HEADROOM_TR("cli", "longest"), HEADROOM_TR("cli", "step"),
                              HEADROOM_TR("cli", "line")}) {
        table.addColumn(say(title));
    }
    for (std::size_t i = 0; i < std::min(most, timers.size()); ++i) {
        const TimerSummary& timer = timers[i];
        const auto milliseconds
            = [](float seconds) { return fmt::format("{:.2f} ms", static_cast<double>(seconds) * 1000); };
        table.addRow({run.timerNames[timer.name], milliseconds(timer.median),
                      milliseconds(run.timers.seconds[timer.longest]), std::to_string(run.timers.step[timer.longest]),
                      std::to_string(run.timers.line[timer.longest])});
    }
    fmt::print("\n{}\n{}", say(HEADROOM_TR("cli", "Times")), table.text());
    if (timers.size() > most) {
        fmt::print("{}\n", say(HEADROOM_TR("cli", "%1 more are in --json."), {std::to_string(timers.size() - most)}));
    }
}

/// Amounts that are no peaks of what is allocated or reserved.
void printOtherAmounts(const Run& run, bool hasPeaks)
{
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "largest")), Table::Align::Left);
    for (const char* title : {HEADROOM_TR("cli", "amount"), HEADROOM_TR("cli", "step"), HEADROOM_TR("cli", "rank")}) {
        table.addColumn(say(title));
    }
    table.addColumn(say(HEADROOM_TR("cli", "place")), Table::Align::Left);
    bool any = false;
    const auto add = [&](const char* what, const Sparse<std::int64_t>& column) {
        if (column.values.empty()) {
            return;
        }
        const auto most = std::ranges::max_element(column.values);
        const Record record = run.record(column.records[static_cast<std::size_t>(most - column.values.begin())]);
        table.addRow({say(what), formatGib(Bytes{*most}, 3), std::to_string(record.step),
                      record.rank < 0 ? "" : std::to_string(record.rank),
                      fmt::format("{}:{}", run.files[record.file], record.line)});
        any = true;
    };
    if (!hasPeaks) {
        add(HEADROOM_TR("cli", "allocated when the line was printed"), run.currentBytes);
    }
    add(HEADROOM_TR("cli", "active, waiting for a stream included"), run.activeBytes);
    add(HEADROOM_TR("cli", "taken on the device, all processes"), run.deviceBytes);
    if (any) {
        fmt::print("\n{}\n{}", say(HEADROOM_TR("cli", "Other amounts")), table.text());
    }
}

/// "3.00 GiB asked for, 14.25 GiB allocated, …": what the message says.
std::string amountsOf(const OutOfMemory& oom)
{
    std::vector<std::string> parts;
    const auto add = [&](const std::optional<Bytes>& bytes, const char* what) {
        if (bytes) {
            parts.push_back(say(what, {formatBytes(*bytes)}));
        }
    };
    add(oom.requested, HEADROOM_TR("cli", "%1 asked for"));
    add(oom.allocated, HEADROOM_TR("cli", "%1 allocated"));
    add(oom.reserved, HEADROOM_TR("cli", "%1 reserved"));
    add(oom.privatePools, HEADROOM_TR("cli", "%1 in private pools"));
    add(oom.process, HEADROOM_TR("cli", "%1 taken by the process"));
    add(oom.otherProcesses, HEADROOM_TR("cli", "%1 by other processes"));
    add(oom.free, HEADROOM_TR("cli", "%1 free"));
    add(oom.limit, HEADROOM_TR("cli", "%1 allowed"));
    add(oom.capacity, HEADROOM_TR("cli", "%1 in the device"));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// What each message says, and what those after the first mean: a finding explains that one.
void printOutOfMemory(const LogReport& report)
{
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, report.outOfMemory.size()); ++i) {
        const OutOfMemory& oom = report.outOfMemory[i];
        fmt::print(
            "\n{}{}{}\n",
            say(i > 0 ? HEADROOM_TR("cli", "Out of memory again at %1") : HEADROOM_TR("cli", "Out of memory at %1"),
                {fmt::format("{}:{}", report.run->files[oom.file], oom.line)}),
            oom.rank < 0 ? "" : say(HEADROOM_TR("cli", ", rank %1"), {std::to_string(oom.rank)}),
            oom.phase ? say(HEADROOM_TR("cli", ", in %1"), {phaseName(*oom.phase)}) : "");
        if (const std::string amounts = amountsOf(oom); !amounts.empty()) {
            fmt::print("{}", wrapped("  ", amounts));
        }
        if (i > 0) {
            fmt::print("{}", wrapped("  ", translated(oom.meaning)));
        }
    }
    if (report.outOfMemory.size() > most) {
        fmt::print("\n{}\n",
                   say(HEADROOM_TR("cli", "%1 more out-of-memory messages."),
                       {std::to_string(report.outOfMemory.size() - most)}));
    }
}

std::string number(double value)
{
    return std::isnan(value) ? std::string() : fmt::format("{}", value);
}

/// A text as a cell of comma-separated values (RFC 4180).
std::string cell(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + '"';
}

template <class T> class SparseCursor
{
public:
    SparseCursor(const Sparse<T>& column, std::size_t first)
        : m_column(column)
        , m_at(static_cast<std::size_t>(std::ranges::lower_bound(column.records, first) - column.records.begin()))
    {
    }

    /// The record's value; records have to be asked for in order.
    [[nodiscard]] std::string at(std::size_t record)
    {
        if (m_at < m_column.records.size() && m_column.records[m_at] == record) {
            const T value = m_column.values[m_at++];
            if constexpr (std::is_floating_point_v<T>) {
                return number(static_cast<double>(value));
            } else {
                return std::to_string(value);
            }
        }
        return {};
    }

private:
    const Sparse<T>& m_column;
    std::size_t m_at;
};

} // namespace

LogReport reportOf(const Run& run)
{
    LogReport report;
    report.run = &run;
    report.summary = summarise(run);
    report.arguments = argumentsOf(run);
    report.capacity = capacityOf(run);
    report.outOfMemory = outOfMemoryOf(run);
    if (!report.arguments.empty()) {
        const Knowledge knowledge;
        if (auto plan = planOfArguments(run, knowledge.formats, knowledge.catalog)) {
            report.plan = *std::move(plan);
        }
    }
    report.stepSeconds = median(run.allStepSeconds());
    report.tokensPerSecond = median(run.allTokensPerSecond());
    if (!run.steps.loss.empty()) {
        report.lastLoss = run.steps.loss.back();
    } else if (!run.loss.values.empty()) {
        report.lastLoss = run.loss.values.back();
    }
    return report;
}

void printLogReport(const LogReport& report, const std::vector<Finding>& findings, std::size_t count)
{
    const Run& run = *report.run;
    fmt::print("{}, {}", counted(run.lineCount, HEADROOM_TR("cli", "%1 line"), HEADROOM_TR("cli", "%1 lines")),
               counted(static_cast<std::int64_t>(run.size()), HEADROOM_TR("cli", "%1 measurement"),
                       HEADROOM_TR("cli", "%1 measurements")));
    if (const std::size_t ranks = run.ranks().size(); ranks > 0) {
        fmt::print(
            ", {}",
            counted(static_cast<std::int64_t>(ranks), HEADROOM_TR("cli", "%1 rank"), HEADROOM_TR("cli", "%1 ranks")));
    }
    fmt::print("{}\n",
               run.formats.empty()
                   ? ""
                   : say(HEADROOM_TR("cli", "; formats: %1"), {fmt::format("{}", fmt::join(run.formats, ", "))}));
    const auto line = [](const char* text, std::vector<std::string> arguments) {
        fmt::print("{}\n", say(text, std::move(arguments)));
    };
    if (report.capacity) {
        line(HEADROOM_TR("cli", "Memory of the device: %1"), {formatGib(*report.capacity)});
    }
    if (report.stepSeconds) {
        line(HEADROOM_TR("cli", "Median step: %1 s"), {fmt::format("{:.4g}", *report.stepSeconds)});
    }
    if (report.tokensPerSecond) {
        line(HEADROOM_TR("cli", "Median tokens per second: %1"), {formatCount(std::llround(*report.tokensPerSecond))});
    }
    if (report.lastLoss && std::isfinite(*report.lastLoss)) {
        line(HEADROOM_TR("cli", "Last loss: %1"), {fmt::format("{:.5g}", *report.lastLoss)});
    }
    printModel(run);
    if (!report.arguments.empty()) {
        line(HEADROOM_TR("cli", "Arguments in the log: %1, from %2"),
             {std::to_string(report.arguments.size()),
              fmt::format("{}:{}", run.files[report.arguments.front().file], report.arguments.front().line)});
    }
    if (const auto mesh = deviceMeshOf(run)) {
        std::vector<std::string> sizes;
        for (const auto& [name, size] : mesh->dimensions) {
            sizes.push_back(fmt::format("{} {}", name, size));
        }
        line(HEADROOM_TR("cli", "Device mesh: %1, from %2"),
             {fmt::format("{}", fmt::join(sizes, ", ")), fmt::format("{}:{}", run.files[mesh->file], mesh->line)});
    }
    printOtherAmounts(run, printPeaks(report, count));
    printTimers(run);
    printOutOfMemory(report);
    fmt::print("\n{}", findingsText(findings));
}

void printLogCsv(const Run& run, std::size_t first, bool header)
{
    if (header) {
        fmt::print("file,line,step,phase,rank,allocated_bytes,reserved_bytes,current_bytes,active_bytes,device_bytes,"
                   "step_seconds,tokens_per_second,loss\n");
    }
    SparseCursor current(run.currentBytes, first);
    SparseCursor active(run.activeBytes, first);
    SparseCursor device(run.deviceBytes, first);
    SparseCursor seconds(run.stepSeconds, first);
    SparseCursor tokens(run.tokensPerSecond, first);
    SparseCursor loss(run.loss, first);
    std::string lines;
    for (std::size_t i = first; i < run.size(); ++i) {
        const Record record = run.record(i);
        fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       cell(run.files[record.file]), record.line, record.step, cell(run.phaseNames[record.phase]),
                       record.rank < 0 ? "" : std::to_string(record.rank),
                       run.hasAllocated(i) ? std::to_string(record.allocated.value) : "",
                       record.reserved ? std::to_string(record.reserved->value) : "", current.at(i), active.at(i),
                       device.at(i), seconds.at(i), tokens.at(i), loss.at(i));
        if (lines.size() > (1U << 16U)) {
            fmt::print("{}", lines);
            lines.clear();
        }
    }
    fmt::print("{}", lines);
}

} // namespace headroom::cli
