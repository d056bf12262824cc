// SPDX-License-Identifier: GPL-3.0-or-later
#include "log_report.h"

#include "inputs.h"
#include "report.h"
#include "table.h"

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
    table.addColumn("phase", Table::Align::Left);
    for (const char* title : {"allocated", "reserved", "step", "rank"}) {
        table.addColumn(title);
    }
    table.addColumn("place", Table::Align::Left);
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
        fmt::print("\nPeak of each phase\n{}\nLargest {}\n{}", peaks.text(), count, top.text());
    }
    if (report.summary.reservedPeak && !any) {
        Table reserved = recordTable();
        addRecordRow(run, *report.summary.reservedPeak, reserved);
        fmt::print("\nLargest reserved (the log has no peaks of what was allocated)\n{}", reserved.text());
    }
    return any;
}

std::string counted(std::int64_t count, std::string_view what)
{
    return fmt::format("{} {}{}", formatCount(count), what, count == 1 ? "" : "s");
}

/// Parameters and what the framework itself calculated.
void printModel(const Run& run)
{
    const std::vector<LogParameters> all = parametersOf(run);
    const auto most = std::ranges::max_element(all, {}, &LogParameters::count);
    if (most != all.end()) {
        fmt::print("Parameters: {}{}, from {}:{}{}\n", formatCount(most->count),
                   most->what.empty() ? "" : fmt::format(" ({})", most->what), run.files[most->file], most->line,
                   all.size() > 1
                       ? fmt::format("; the largest of {}", counted(static_cast<std::int64_t>(all.size()), "count"))
                       : "");
    }
    const auto estimate = std::ranges::find_if(run.facts, [](const LogFact& fact) {
        return fact.kind == LineKind::Estimate && fact.number("est_weight_optimizer_bytes");
    });
    if (estimate != run.facts.end()) {
        const auto gib = [&](const char* field) { return formatGib(bytesFrom(*estimate->number(field))); };
        fmt::print("The framework's own estimate: {} of weights and optimizer{}, from {}:{}\n",
                   gib("est_weight_optimizer_bytes"),
                   estimate->number("est_total_bytes") ? fmt::format(", {} with activations", gib("est_total_bytes"))
                                                       : "",
                   run.files[estimate->file], estimate->line);
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
    table.addColumn("part of a step", Table::Align::Left);
    for (const char* title : {"median", "longest", "step", "line"}) {
        table.addColumn(title);
    }
    for (std::size_t i = 0; i < std::min(most, timers.size()); ++i) {
        const TimerSummary& timer = timers[i];
        const auto milliseconds
            = [](float seconds) { return fmt::format("{:.2f} ms", static_cast<double>(seconds) * 1000); };
        table.addRow({run.timerNames[timer.name], milliseconds(timer.median),
                      milliseconds(run.timers.seconds[timer.longest]), std::to_string(run.timers.step[timer.longest]),
                      std::to_string(run.timers.line[timer.longest])});
    }
    fmt::print("\nTimes\n{}", table.text());
    if (timers.size() > most) {
        fmt::print("{} more are in --json.\n", timers.size() - most);
    }
}

/// Amounts that are no peaks of what is allocated or reserved.
void printOtherAmounts(const Run& run, bool hasPeaks)
{
    Table table;
    table.addColumn("largest", Table::Align::Left);
    for (const char* title : {"amount", "step", "rank"}) {
        table.addColumn(title);
    }
    table.addColumn("place", Table::Align::Left);
    bool any = false;
    const auto add = [&](const char* what, const Sparse<std::int64_t>& column) {
        if (column.values.empty()) {
            return;
        }
        const auto most = std::ranges::max_element(column.values);
        const Record record = run.record(column.records[static_cast<std::size_t>(most - column.values.begin())]);
        table.addRow({what, formatGib(Bytes{*most}, 3), std::to_string(record.step),
                      record.rank < 0 ? "" : std::to_string(record.rank),
                      fmt::format("{}:{}", run.files[record.file], record.line)});
        any = true;
    };
    if (!hasPeaks) {
        add("allocated when the line was printed", run.currentBytes);
    }
    add("active, waiting for a stream included", run.activeBytes);
    add("taken on the device, all processes", run.deviceBytes);
    if (any) {
        fmt::print("\nOther amounts\n{}", table.text());
    }
}

/// "3.00 GiB asked for, 14.25 GiB allocated, …": what the message says.
std::string amountsOf(const OutOfMemory& oom)
{
    std::vector<std::string> parts;
    const auto add = [&](const std::optional<Bytes>& bytes, std::string_view what) {
        if (bytes) {
            parts.push_back(fmt::format("{} {}", formatBytes(*bytes), what));
        }
    };
    add(oom.requested, "asked for");
    add(oom.allocated, "allocated");
    add(oom.reserved, "reserved");
    add(oom.privatePools, "in private pools");
    add(oom.process, "taken by the process");
    add(oom.otherProcesses, "by other processes");
    add(oom.free, "free");
    add(oom.limit, "allowed");
    add(oom.capacity, "in the device");
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// What each message says, and what those after the first mean: a finding explains that one.
void printOutOfMemory(const LogReport& report)
{
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, report.outOfMemory.size()); ++i) {
        const OutOfMemory& oom = report.outOfMemory[i];
        fmt::print("\nOut of memory{} at {}:{}{}{}\n", i > 0 ? " again" : "", report.run->files[oom.file], oom.line,
                   oom.rank < 0 ? "" : fmt::format(", rank {}", oom.rank),
                   oom.phase ? fmt::format(", in {}", nameOf(*oom.phase)) : "");
        if (const std::string amounts = amountsOf(oom); !amounts.empty()) {
            fmt::print("{}", wrapped("  ", amounts));
        }
        if (i > 0) {
            fmt::print("{}", wrapped("  ", oom.meaning.english()));
        }
    }
    if (report.outOfMemory.size() > most) {
        fmt::print("\n{} more out-of-memory messages.\n", report.outOfMemory.size() - most);
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
    fmt::print("{}, {}", counted(run.lineCount, "line"), counted(static_cast<std::int64_t>(run.size()), "measurement"));
    if (const std::size_t ranks = run.ranks().size(); ranks > 0) {
        fmt::print(", {}", counted(static_cast<std::int64_t>(ranks), "rank"));
    }
    fmt::print("{}\n", run.formats.empty() ? "" : fmt::format("; formats: {}", fmt::join(run.formats, ", ")));
    if (report.capacity) {
        fmt::print("Memory of the device: {}\n", formatGib(*report.capacity));
    }
    if (report.stepSeconds) {
        fmt::print("Median step: {:.4g} s\n", *report.stepSeconds);
    }
    if (report.tokensPerSecond) {
        fmt::print("Median tokens per second: {}\n", formatCount(std::llround(*report.tokensPerSecond)));
    }
    if (report.lastLoss && std::isfinite(*report.lastLoss)) {
        fmt::print("Last loss: {:.5g}\n", *report.lastLoss);
    }
    printModel(run);
    if (!report.arguments.empty()) {
        fmt::print("Arguments in the log: {}, from {}:{}\n", report.arguments.size(),
                   run.files[report.arguments.front().file], report.arguments.front().line);
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
