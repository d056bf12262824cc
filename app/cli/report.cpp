// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include "table.h"

#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::cli {

namespace {

const char* mark(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return "✗";
    case Severity::Warning:
        return "!";
    case Severity::Note:
        break;
    }
    return "·";
}

std::string placeText(const Evidence& evidence)
{
    if (evidence.file.empty()) {
        return evidence.text.english();
    }
    return fmt::format("{}:{}: {}", evidence.file, evidence.line, evidence.text.english());
}

std::string valueText(const Term& term)
{
    switch (term.unit) {
    case Unit::Size:
        return formatBytes(bytesFrom(term.value), 3);
    case Unit::Number:
        return formatCount(bytesFrom(term.value).value);
    case Unit::Factor:
        break;
    }
    return formatReal(term.value);
}

void addTerms(const std::vector<Term>& terms, std::size_t depth, Table& table)
{
    for (const Term& term : terms) {
        const bool showsNumbers = !term.substituted.empty() && term.substituted != term.formula;
        const std::string working
            = showsNumbers ? fmt::format("{} = {}", term.formula, term.substituted) : term.formula;
        table.addRow({std::string(2 * depth, ' ') + term.name.english(), working, valueText(term)});
        addTerms(term.parts, depth + 1, table);
    }
}

bool isUsed(const Footprint& footprint, Component component)
{
    return std::any_of(footprint.stages.begin(), footprint.stages.end(),
                       [component](const StageFootprint& stage) { return stage.component(component).value != 0; });
}

std::string titleOf(Component component)
{
    std::string title(nameOf(component));
    std::replace(title.begin(), title.end(), '_', ' ');
    return title;
}

} // namespace

std::string findingsText(const std::vector<Finding>& findings)
{
    std::string text;
    for (const Finding& finding : findings) {
        text += fmt::format("{} {}\n    {}\n", mark(finding.severity), finding.title.english(),
                            finding.explanation.english());
        for (const Evidence& evidence : finding.evidence) {
            text += fmt::format("    {}\n", placeText(evidence));
        }
        if (finding.mend) {
            text += fmt::format("    → {}", finding.mend->label.english());
            text += finding.mend->predictedPeak
                ? fmt::format(": estimate {}\n", formatGib(*finding.mend->predictedPeak, 1))
                : "\n";
        }
    }
    return text;
}

std::string stagesText(const Footprint& footprint)
{
    Table table;
    table.addColumn("stage");
    table.addColumn("layers");
    table.addColumn("params");
    table.addColumn("held");
    for (int i = 0; i < componentCount; ++i) {
        if (isUsed(footprint, static_cast<Component>(i))) {
            table.addColumn(titleOf(static_cast<Component>(i)));
        }
    }
    for (const char* title : {"forward", "backward", "optimizer", "peak", "device"}) {
        table.addColumn(title);
    }
    const auto size = [](Bytes bytes) { return fmt::format("{:.2f}", bytes.gib()); };
    for (const StageFootprint& stage : footprint.stages) {
        std::vector<std::string> row{std::to_string(stage.stage), std::to_string(stage.layers),
                                     formatCountShort(stage.parameters), std::to_string(stage.inFlight)};
        for (int i = 0; i < componentCount; ++i) {
            if (isUsed(footprint, static_cast<Component>(i))) {
                row.push_back(size(stage.components[static_cast<std::size_t>(i)]));
            }
        }
        for (const Bytes phase : stage.phases) {
            row.push_back(size(phase));
        }
        row.push_back(size(stage.peakAllocated));
        row.push_back(size(stage.device) + (stage.stage == footprint.fullest().stage ? " ←" : "  "));
        table.addRow(std::move(row));
    }
    return table.text()
        + "GiB on one GPU of each stage: allocated, and device with the context; held: micro-batches in flight; ← the "
          "fullest\n";
}

std::string workingText(const std::vector<Term>& terms)
{
    Table table;
    table.addColumn("working", Table::Align::Left);
    table.addColumn("formula", Table::Align::Left);
    table.addColumn("value");
    addTerms(terms, 0, table);
    return table.text();
}

std::string verdictText(const Footprint& footprint)
{
    const StageFootprint& stage = footprint.fullest();
    const std::string_view phase = nameOf(stage.peakPhase);
    if (!footprint.capacity) {
        return fmt::format(
            "Peaks at {} on stage {} in {}. No GPU is named, so nothing says whether that fits (--gpu, --capacity).",
            formatGib(stage.device), stage.stage, phase);
    }
    const Bytes rest = *footprint.capacity - stage.device;
    if (rest.value < 0) {
        return fmt::format("Does not fit: stage {} peaks at {} of {} in {}, {} over.", stage.stage,
                           formatGib(stage.device), formatGib(*footprint.capacity), phase,
                           formatGib(Bytes{-rest.value}));
    }
    return fmt::format("Fits: stage {} peaks at {} of {} in {}, {} left.", stage.stage, formatGib(stage.device),
                       formatGib(*footprint.capacity), phase, formatGib(rest));
}

} // namespace headroom::cli
