// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"
#include "insight/finding.h"
#include "insight/report_chart.h"
#include "plan/fields.h"

#include <string>
#include <vector>

namespace headroom {

/// What a report tells; null members are left out of it.
struct ReportContent
{
    std::string title; ///< of the run, such as the config's name
    std::string date; ///< "2026-11-30"
    std::string program; ///< "Headroom 0.1.0"
    std::string language = "en"; ///< of its wording, as HTML names it
    Text verdict;
    const TrainingPlan* plan = nullptr;
    const TrainingPlan* original = nullptr; ///< as the files have it, to list what was changed
    const Footprint* footprint = nullptr;
    const Run* run = nullptr;
    const RunSummary* summary = nullptr;
    std::vector<Finding> findings;
    std::vector<Term> working; ///< of the fullest stage
    std::vector<std::string> commands; ///< that give the same answers again
};

/// A word of a command line for people to paste; in quotes where a shell would read something else into it.
[[nodiscard]] std::string shellWord(const std::string& word);

[[nodiscard]] std::string inEnglish(const Text& text);

/// One HTML file with its style and charts (SVG) inside: it opens anywhere, without a network. Nothing from a file gets
/// into it unescaped.
[[nodiscard]] std::string reportHtml(const ReportContent& content, const Wording& wording = inEnglish);
/// The same for an issue or a chat, without charts.
[[nodiscard]] std::string reportMarkdown(const ReportContent& content, const Wording& wording = inEnglish);

} // namespace headroom
