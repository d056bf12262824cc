// SPDX-License-Identifier: GPL-3.0-or-later
#include "compare_report.h"

#include "names.h"
#include "report.h"
#include "table.h"
#include "wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headroom::cli {

namespace {

double relative(double before, double after)
{
    return before > 0 ? after / before - 1 : 0;
}

Table figuresTable(const RunComparison& comparison)
{
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "peaks")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "before")));
    table.addColumn(say(HEADROOM_TR("cli", "after")));
    table.addColumn(say(HEADROOM_TR("cli", "change")));
    const auto addBytes = [&table](const std::string& name, std::optional<Bytes> a, std::optional<Bytes> b) {
        if (a || b) {
            table.addRow(
                {name, a ? formatGib(*a, 3) : "", b ? formatGib(*b, 3) : "",
                 a && b ? fmt::format("{:+.3f} GiB, {:+.1f} %", static_cast<double>(b->value - a->value) / (1 << 30),
                                      100 * relative(static_cast<double>(a->value), static_cast<double>(b->value)))
                        : ""});
        }
    };
    const auto addReal = [&table](const char* name, std::optional<double> a, std::optional<double> b) {
        if (a || b) {
            table.addRow({say(name), a ? fmt::format("{:.6g}", *a) : "", b ? fmt::format("{:.6g}", *b) : "",
                          a && b ? fmt::format("{:+.1f} %", 100 * relative(*a, *b)) : ""});
        }
    };
    const RunFigures& before = comparison.before;
    const RunFigures& after = comparison.after;
    addBytes(say(HEADROOM_TR("cli", "allocated peak")), before.allocated, after.allocated);
    for (std::size_t phase = 0; phase < before.phases.size(); ++phase) {
        addBytes("  " + phaseName(static_cast<Phase>(phase)), before.phases[phase], after.phases[phase]);
    }
    addBytes(say(HEADROOM_TR("cli", "reserved peak")), before.reserved, after.reserved);
    addBytes(say(HEADROOM_TR("cli", "device")), before.device, after.device);
    addReal(HEADROOM_TR("cli", "step time, s"), before.stepSeconds, after.stepSeconds);
    addReal(HEADROOM_TR("cli", "tokens/s"), before.tokensPerSecond, after.tokensPerSecond);
    return table;
}

void printSettings(const std::vector<ChangedVariable>& variables)
{
    const std::string notSet = say(HEADROOM_TR("cli", "not set"));
    for (const ChangedVariable& variable : variables) {
        for (const FieldDifference& one : variable.differences) {
            fmt::print("  {}: {} → {}\n", one.key, one.before.empty() ? notSet : one.before,
                       one.after.empty() ? notSet : one.after);
        }
    }
}

std::string titleOf(const RunFigures& figures)
{
    return figures.isEstimate ? say(HEADROOM_TR("cli", "%1 (estimate)"), {figures.name}) : figures.name;
}

/// A figure with its change against the run it is compared with.
std::string sizeCell(std::optional<Bytes> before, std::optional<Bytes> after)
{
    if (!after) {
        return "";
    }
    const std::string size = fmt::format("{:.2f}", after->gib());
    return before && before->value > 0
        ? fmt::format("{} {:+.1f} %", size,
                      100 * relative(static_cast<double>(before->value), static_cast<double>(after->value)))
        : size;
}

std::string realCell(std::optional<double> before, std::optional<double> after)
{
    if (!after) {
        return "";
    }
    const std::string number = fmt::format("{:.4g}", *after);
    return before && *before > 0 ? fmt::format("{} {:+.1f} %", number, 100 * relative(*before, *after)) : number;
}

/// One column of a history: what a run has of it, with the change against another.
struct FigureColumn
{
    const char* title;
    std::string (*cell)(const RunFigures& before, const RunFigures& now);
};

constexpr std::array<FigureColumn, 5> figureColumns{
    {{HEADROOM_TR("cli", "allocated"),
      [](const RunFigures& a, const RunFigures& b) { return sizeCell(a.allocated, b.allocated); }},
     {HEADROOM_TR("cli", "reserved"),
      [](const RunFigures& a, const RunFigures& b) { return sizeCell(a.reserved, b.reserved); }},
     {HEADROOM_TR("cli", "device"),
      [](const RunFigures& a, const RunFigures& b) { return sizeCell(a.device, b.device); }},
     {HEADROOM_TR("cli", "step, s"),
      [](const RunFigures& a, const RunFigures& b) { return realCell(a.stepSeconds, b.stepSeconds); }},
     {HEADROOM_TR("cli", "tokens/s"),
      [](const RunFigures& a, const RunFigures& b) { return realCell(a.tokensPerSecond, b.tokensPerSecond); }}}};

/// Columns that no run has anything for are left out.
Table historyTable(std::span<const HistoryRun> runs, std::optional<std::size_t> reference)
{
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        rows.push_back({fmt::format("{}{}", i + 1, reference == i ? " ←" : "  "), titleOf(runs[i].figures)});
    }
    Table table;
    table.addColumn("");
    table.addColumn(say(HEADROOM_TR("cli", "run")), Table::Align::Left);
    for (const FigureColumn& column : figureColumns) {
        std::vector<std::string> cells;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const std::size_t other = reference.value_or(i > 0 ? i - 1 : 0);
            cells.push_back(column.cell(other != i ? runs[other].figures : RunFigures{}, runs[i].figures));
        }
        if (std::any_of(cells.begin(), cells.end(), [](const std::string& cell) { return !cell.empty(); })) {
            table.addColumn(say(column.title));
            for (std::size_t i = 0; i < runs.size(); ++i) {
                rows[i].push_back(std::move(cells[i]));
            }
        }
    }
    for (std::vector<std::string>& row : rows) {
        table.addRow(std::move(row));
    }
    return table;
}

Json figuresJson(const RunFigures& figures)
{
    const auto bytes = [](std::optional<Bytes> value) { return value ? Json(value->value) : Json(nullptr); };
    const auto real = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
    Json phases = Json::object();
    for (std::size_t phase = 0; phase < figures.phases.size(); ++phase) {
        phases[std::string(nameOf(static_cast<Phase>(phase)))] = {{"allocated_bytes", bytes(figures.phases[phase])}};
    }
    return Json{{"name", figures.name},
                {"is_estimate", figures.isEstimate},
                {"peak_allocated_bytes", bytes(figures.allocated)},
                {"peak_reserved_bytes", bytes(figures.reserved)},
                {"device_bytes", bytes(figures.device)},
                {"phases", std::move(phases)},
                {"step_time_seconds", real(figures.stepSeconds)},
                {"tokens_per_second", real(figures.tokensPerSecond)}};
}

Json changesJson(const std::vector<ChangedVariable>& variables)
{
    Json changes = Json::array();
    for (const ChangedVariable& variable : variables) {
        Json fields = Json::object();
        for (const FieldDifference& one : variable.differences) {
            fields[one.key] = {{"before", one.before}, {"after", one.after}};
        }
        changes.push_back({{"variable", variable.id}, {"fields", std::move(fields)}});
    }
    return changes;
}

} // namespace

void printComparison(const RunComparison& comparison)
{
    fmt::print("{}\n{}\n\n", say(HEADROOM_TR("cli", "before: %1"), {titleOf(comparison.before)}),
               say(HEADROOM_TR("cli", "after:  %1"), {titleOf(comparison.after)}));
    if (comparison.hasPlans) {
        fmt::print("{}\n",
                   say(comparison.variables.empty() ? HEADROOM_TR("cli", "Same settings")
                                                    : HEADROOM_TR("cli", "What changed")));
        printSettings(comparison.variables);
        fmt::print("\n");
    }
    fmt::print("{}", figuresTable(comparison).text());
    if (!comparison.findings.empty()) {
        fmt::print("\n{}", findingsText(comparison.findings));
    }
}

Json comparisonJson(const RunComparison& comparison)
{
    return Json{{"schema", "headroom.compare/1"},
                {"before", figuresJson(comparison.before)},
                {"after", figuresJson(comparison.after)},
                {"plans_known", comparison.hasPlans},
                {"changes", changesJson(comparison.variables)},
                {"findings", toJson(comparison.findings)}};
}

void printHistory(std::span<const HistoryRun> runs, std::optional<std::size_t> reference)
{
    const std::vector<HistoryStep> steps = historyOf(runs, reference);
    fmt::print("{}\n{}",
               reference ? say(HEADROOM_TR("cli", "Peaks in GiB, with the change against run %1 (←)"),
                               {std::to_string(*reference + 1)})
                         : say(HEADROOM_TR("cli", "Peaks in GiB, with the change against the run before")),
               historyTable(runs, reference).text());
    for (std::size_t i = 1; i < runs.size(); ++i) {
        const RunComparison& change = *steps[i].change;
        fmt::print("\n{}\n", say(HEADROOM_TR("cli", "%1, after %2"), {titleOf(change.after), titleOf(change.before)}));
        if (change.hasPlans) {
            fmt::print("{}", change.variables.empty() ? "  " + say(HEADROOM_TR("cli", "same settings")) + '\n' : "");
            printSettings(change.variables);
        }
        fmt::print("{}",
                   change.findings.empty() ? wrapped("· ", translated(steps[i].verdict()))
                                           : findingsText(change.findings));
    }
}

Json historyJson(std::span<const HistoryRun> runs, std::optional<std::size_t> reference)
{
    const std::vector<HistoryStep> steps = historyOf(runs, reference);
    Json all = Json::array();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        Json run = figuresJson(runs[i].figures);
        run["verdict"] = steps[i].verdict().english();
        run["several_changed"] = steps[i].isMixed();
        if (const auto& change = steps[i].change) {
            run["plans_known"] = change->hasPlans;
            run["changes"] = changesJson(change->variables);
            run["findings"] = toJson(change->findings);
        }
        if (const auto& change = steps[i].fromReference) {
            run["from_reference"]
                = {{"changes", changesJson(change->variables)}, {"findings", toJson(change->findings)}};
        }
        all.push_back(std::move(run));
    }
    return Json{{"schema", "headroom.history/1"},
                {"reference", reference ? Json(*reference + 1) : Json(nullptr)},
                {"runs", std::move(all)}};
}

} // namespace headroom::cli
