// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/report.h"

#include "units/number.h"

#include <fmt/format.h>

#include <array>

namespace headroom {

namespace {

/// A part of the report in a form that both HTML and Markdown can print.
struct Block
{
    enum class Kind { Heading, Subheading, Paragraph, List, Table, Code, Chart };
    Kind kind = Kind::Paragraph;
    std::string text; ///< of a chart: its SVG, the only text that is not escaped
    std::vector<std::string> items; ///< of a list
    std::vector<std::vector<std::string>> rows; ///< of a table; the first is its header
};

class Writer
{
public:
    Writer(const ReportContent& content, const Wording& wording)
        : m_content(content)
        , m_wording(wording)
    {
    }

    std::vector<Block> blocks()
    {
        paragraph(m_wording(m_content.verdict));
        changes();
        estimate();
        measurement();
        findings();
        working();
        commands();
        return std::move(m_blocks);
    }

private:
    void add(Block::Kind kind, std::string text) { m_blocks.push_back({kind, std::move(text), {}, {}}); }
    void heading(const char* text) { add(Block::Kind::Heading, m_wording(Text{text})); }
    void paragraph(std::string text) { add(Block::Kind::Paragraph, std::move(text)); }
    void chart(std::string svg) { add(Block::Kind::Chart, std::move(svg)); }
    std::vector<std::vector<std::string>>& table(const std::vector<const char*>& titles)
    {
        std::vector<std::string> header;
        header.reserve(titles.size());
        for (const char* title : titles) {
            header.push_back(*title == '\0' ? std::string{} : m_wording(Text{title}));
        }
        return m_blocks.emplace_back(Block{Block::Kind::Table, {}, {}, {std::move(header)}}).rows;
    }

    void changes()
    {
        if (m_content.plan == nullptr || m_content.original == nullptr) {
            return;
        }
        const auto differences = difference(*m_content.original, *m_content.plan);
        if (differences.empty()) {
            return;
        }
        heading(HEADROOM_TR("core", "Changed settings"));
        auto& rows
            = table({HEADROOM_TR("core", "setting"), HEADROOM_TR("core", "before"), HEADROOM_TR("core", "after")});
        for (const FieldDifference& one : differences) {
            rows.push_back({one.key, one.before, one.after});
        }
    }

    void estimate()
    {
        if (m_content.footprint == nullptr) {
            return;
        }
        const Footprint& footprint = *m_content.footprint;
        heading(HEADROOM_TR("core", "Estimate of each pipeline stage"));
        chart(stagesSvg(footprint, m_wording));
        auto& rows
            = table({HEADROOM_TR("core", "stage"), HEADROOM_TR("core", "layers"), HEADROOM_TR("core", "in flight"),
                     HEADROOM_TR("core", "forward"), HEADROOM_TR("core", "backward"), HEADROOM_TR("core", "optimizer"),
                     HEADROOM_TR("core", "allocated"), HEADROOM_TR("core", "reserved"), HEADROOM_TR("core", "device")});
        for (const StageFootprint& stage : footprint.stages) {
            rows.push_back({std::to_string(stage.stage), formatCount(stage.layers), formatCount(stage.inFlight),
                            formatGib(stage.phase(Phase::Forward)), formatGib(stage.phase(Phase::Backward)),
                            formatGib(stage.phase(Phase::Optimizer)), formatGib(stage.peakAllocated),
                            formatGib(stage.peakReserved), formatGib(stage.device)});
        }
        auto& parts
            = table({HEADROOM_TR("core", "component at the peak of the fullest stage"), HEADROOM_TR("core", "bytes")});
        for (std::size_t i = 0; i < footprint.fullest().components.size(); ++i) {
            if (const Bytes size = footprint.fullest().components[i]; size.value > 0) {
                parts.push_back({m_wording(titleOf(static_cast<Component>(i))), formatGib(size, 3)});
            }
        }
    }

    void measurement()
    {
        if (m_content.run == nullptr || m_content.run->isEmpty()) {
            return;
        }
        const Run& run = *m_content.run;
        heading(HEADROOM_TR("core", "Measured peaks"));
        chart(peaksSvg(run, m_content.footprint != nullptr ? m_content.footprint->capacity : std::nullopt, m_wording));
        auto& rows = table({HEADROOM_TR("core", "phase"), HEADROOM_TR("core", "allocated"), HEADROOM_TR("core", "step"),
                            HEADROOM_TR("core", "rank"), HEADROOM_TR("core", "place")});
        for (std::size_t phase = 0; phase < run.phaseNames.size(); ++phase) {
            if (const auto index = run.peak(static_cast<std::uint8_t>(phase))) {
                const Record record = run.record(*index);
                rows.push_back({run.phaseNames[phase], formatGib(record.allocated, 3), std::to_string(record.step),
                                record.rank < 0 ? "" : std::to_string(record.rank),
                                fmt::format("{}:{}", run.files[record.file], record.line)});
            }
        }
    }

    void findings()
    {
        if (m_content.findings.empty()) {
            return;
        }
        heading(HEADROOM_TR("core", "Findings"));
        for (const Finding& finding : m_content.findings) {
            constexpr std::array<const char*, 3> marks{"✗ ", "! ", ""}; // by severity, the worst first
            add(Block::Kind::Subheading, marks[static_cast<std::size_t>(finding.severity)] + m_wording(finding.title));
            paragraph(m_wording(finding.explanation));
            add(Block::Kind::List, {});
            std::vector<std::string>& items = m_blocks.back().items;
            for (const Evidence& evidence : finding.evidence) {
                const std::string line = evidence.line > 0 ? fmt::format(":{}", evidence.line) : std::string{};
                items.push_back(evidence.file.empty()
                                    ? m_wording(evidence.text)
                                    : fmt::format("{}{}: {}", evidence.file, line, m_wording(evidence.text)));
            }
            if (finding.mend) {
                items.push_back(wordsOf(*finding.mend));
            }
            for (const Mend& other : finding.alternatives) {
                items.push_back(wordsOf(other));
            }
        }
    }

    [[nodiscard]] std::string wordsOf(const Mend& mend) const
    {
        std::string words = "→ " + mend.words(m_wording);
        if (mend.predictedPeak) {
            words += "; " + m_wording(Text{HEADROOM_TR("core", "estimate %1"), {formatGib(*mend.predictedPeak, 1)}});
        }
        if (mend.stepTime && mend.stepTime->isClear()) {
            words += ", "
                + m_wording(Text{HEADROOM_TR("core", "%1 × the time for the same samples"),
                                 {fmt::format("{:.2f}", mend.stepTime->ratio)}});
        }
        return words;
    }

    void working()
    {
        if (m_content.working.empty()) {
            return;
        }
        heading(HEADROOM_TR("core", "Formulas with the numbers in them"));
        auto& rows = table({HEADROOM_TR("core", "term"), HEADROOM_TR("core", "formula"), HEADROOM_TR("core", "numbers"),
                            HEADROOM_TR("core", "value")});
        addTerms(m_content.working, 0, rows);
    }

    void addTerms(const std::vector<Term>& terms, std::size_t depth, std::vector<std::vector<std::string>>& rows) const
    {
        for (const Term& term : terms) {
            const std::string value = term.unit == Unit::Size ? formatBytes(bytesFrom(term.value), 3)
                : term.unit == Unit::Number                   ? formatCount(bytesFrom(term.value).value)
                                                              : formatReal(term.value);
            std::string indent;
            for (std::size_t i = 0; i < depth; ++i) {
                indent += "· ";
            }
            rows.push_back({indent + m_wording(term.name), term.formula, term.substituted, value});
            addTerms(term.parts, depth + 1, rows);
        }
    }

    void commands()
    {
        if (m_content.commands.empty()) {
            return;
        }
        heading(HEADROOM_TR("core", "The same at the terminal"));
        std::string text;
        for (const std::string& command : m_content.commands) {
            text += command + "\n";
        }
        add(Block::Kind::Code, std::move(text));
    }

    const ReportContent& m_content;
    const Wording& m_wording;
    std::vector<Block> m_blocks;
};

std::string escapedHtml(std::string_view text)
{
    constexpr std::string_view marks = "&<>\"";
    constexpr std::array<const char*, 4> names{"&amp;", "&lt;", "&gt;", "&quot;"};
    std::string result;
    for (const char c : text) {
        const std::size_t which = marks.find(c);
        which == std::string_view::npos ? result += c : result += names[which];
    }
    return result;
}

/// Marks that would start something are kept from doing so.
std::string escapedMarkdown(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) {
            result += '\\';
        }
        result += c == '\n' ? ' ' : c;
    }
    return result;
}

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --text: #1d2330; --muted: #5b6678; --line: #d9dde3; --back: #ffffff; --capacity: #c62f3b; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ef; --muted: #a3acbb; --line: #3a414c; --back: #23272e; --capacity: #ff6b74; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: 1rem; margin: 1.2rem 0 0; }
h3 + p { margin: 0.2rem 0; } ul { margin: 0.2rem 0; padding-left: 1.2rem; } h1, td, li { overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: 0.5rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th, .label, footer { color: var(--muted); fill: var(--muted); font-weight: normal; }
pre { border: 1px solid var(--line); padding: 0.6rem; overflow-x: auto; }
svg { width: 100%; height: auto; } .grid { stroke: var(--line); } .capacity { stroke: var(--capacity); stroke-dasharray: 6 4; }
@media print { body { max-width: none; margin: 0; } pre { white-space: pre-wrap; } h2, h3 { break-after: avoid; } svg, tr { break-inside: avoid; } }
)";

std::string tableHtml(const std::vector<std::vector<std::string>>& rows)
{
    std::string html = "<table>\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        html += "<tr>";
        for (const std::string& cell : rows[i]) {
            const char* tag = i == 0 ? "th" : "td";
            html += fmt::format("<{0}>{1}</{0}>", tag, escapedHtml(cell));
        }
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

std::string listHtml(const std::vector<std::string>& items)
{
    std::string html;
    for (const std::string& item : items) {
        html += fmt::format("<li>{}</li>\n", escapedHtml(item));
    }
    return html.empty() ? html : "<ul>\n" + html + "</ul>\n";
}

std::string blockHtml(const Block& block)
{
    switch (block.kind) {
    case Block::Kind::Heading:
        return fmt::format("<h2>{}</h2>\n", escapedHtml(block.text));
    case Block::Kind::Subheading:
        return fmt::format("<h3>{}</h3>\n", escapedHtml(block.text));
    case Block::Kind::List:
        return listHtml(block.items);
    case Block::Kind::Table:
        return tableHtml(block.rows);
    case Block::Kind::Code:
        return fmt::format("<pre>{}</pre>\n", escapedHtml(block.text));
    case Block::Kind::Chart:
        return block.text;
    case Block::Kind::Paragraph:
        break;
    }
    return fmt::format("<p>{}</p>\n", escapedHtml(block.text));
}

std::string tableMarkdown(const std::vector<std::vector<std::string>>& rows)
{
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        text += '|';
        for (const std::string& cell : rows[i]) {
            text += fmt::format(" {} |", escapedMarkdown(cell));
        }
        text += '\n';
        if (i == 0) {
            text += '|';
            for (std::size_t column = 0; column < rows[i].size(); ++column) {
                text += "---|";
            }
            text += '\n';
        }
    }
    return text + "\n";
}

/// A fence that is longer than any run of backticks inside.
std::string codeMarkdown(const std::string& code)
{
    std::string fence = "```";
    while (code.find(fence) != std::string::npos) {
        fence += '`';
    }
    return fmt::format("{}\n{}{}\n\n", fence, code, fence);
}

std::string listMarkdown(const std::vector<std::string>& items)
{
    std::string text;
    for (const std::string& item : items) {
        text += fmt::format("- {}\n", escapedMarkdown(item));
    }
    return text.empty() ? text : text + "\n";
}

std::string blockMarkdown(const Block& block)
{
    switch (block.kind) {
    case Block::Kind::Heading:
        return fmt::format("## {}\n\n", escapedMarkdown(block.text));
    case Block::Kind::Subheading:
        return fmt::format("**{}**\n\n", escapedMarkdown(block.text));
    case Block::Kind::List:
        return listMarkdown(block.items);
    case Block::Kind::Table:
        return tableMarkdown(block.rows);
    case Block::Kind::Code:
        return codeMarkdown(block.text);
    case Block::Kind::Chart:
        return {};
    case Block::Kind::Paragraph:
        break;
    }
    return escapedMarkdown(block.text) + "\n\n";
}

} // namespace

std::string shellWord(const std::string& word)
{
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/=:+,@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
        return word;
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

std::string inEnglish(const Text& text)
{
    return text.english();
}

std::string reportHtml(const ReportContent& content, const Wording& wording)
{
    std::string html = fmt::format("<!DOCTYPE html>\n<html lang=\"{2}\">\n<head>\n<meta charset=\"utf-8\">\n"
                                   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
                                   "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
                                   escapedHtml(content.title), style, escapedHtml(content.language));
    for (const Block& block : Writer(content, wording).blocks()) {
        html += blockHtml(block);
    }
    return html
        + fmt::format("<footer>{}, {}</footer>\n</body>\n</html>\n", escapedHtml(content.program),
                      escapedHtml(content.date));
}

std::string reportMarkdown(const ReportContent& content, const Wording& wording)
{
    std::string text = fmt::format("# {}\n\n", escapedMarkdown(content.title));
    for (const Block& block : Writer(content, wording).blocks()) {
        text += blockMarkdown(block);
    }
    return text + fmt::format("{}, {}\n", escapedMarkdown(content.program), escapedMarkdown(content.date));
}

} // namespace headroom
