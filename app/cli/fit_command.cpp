// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "table.h"

#include "insight/fit.h"
#include "plan/batch.h"
#include "replay/replay.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    PlanOptions plan;
    std::vector<std::string> keep{"global_batch", "gpus", "training"};
    std::string margin = "5%";
    bool json = false;
};

/// "5%" or "0.05", below one.
Result<double> parseMargin(std::string_view text)
{
    const bool isPercent = text.ends_with('%');
    const auto number = parseReal(isPercent ? text.substr(0, text.size() - 1) : text);
    const double margin = number ? *number / (isPercent ? 100 : 1) : -1;
    if (!(margin >= 0 && margin < 1)) {
        return failure(Text{HEADROOM_TR("core", "--margin %1 is not a share such as 5%"), {std::string(text)}});
    }
    return margin;
}

std::string labelOf(const FitProposal& proposal)
{
    std::string text;
    for (const Text& label : proposal.labels) {
        text += (text.empty() ? "" : "; ") + label.english();
    }
    return text;
}

std::string editsOf(const FitProposal& proposal)
{
    std::string text;
    for (const PlanEdit& edit : proposal.edits) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", edit.field, edit.value);
    }
    return text;
}

std::string timeOf(const FitProposal& proposal)
{
    const char* bound = proposal.isTimeLowerBound ? "> " : "";
    return proposal.stepTime ? fmt::format("{}{:.2f}×", bound, proposal.stepTime->ratio) : "";
}

Table proposalTable(const std::vector<FitProposal>& proposals, std::int64_t gpus)
{
    Table table;
    table.addColumn("change", Table::Align::Left);
    table.addColumn("peak");
    table.addColumn("step time");
    table.addColumn("GPUs");
    table.addColumn("set", Table::Align::Left);
    for (const FitProposal& proposal : proposals) {
        const double factor = proposal.stepTime ? proposal.stepTime->gpus : 1;
        table.addRow({labelOf(proposal), formatGib(proposal.peak, 2), timeOf(proposal),
                      fmt::format("{:.0f}", static_cast<double>(gpus) * factor), editsOf(proposal)});
    }
    return table;
}

struct Inverse
{
    std::optional<std::int64_t> microBatch, sequence;
    std::optional<FitProposal> fewestGpus;
};

void printForPeople(const FitQuestion& question, const FitAnswer& answer, const Inverse& inverse)
{
    const std::int64_t gpus = worldSize(*question.plan);
    fmt::print("{}: the fullest stage takes {} of {}, {:.3g}% of which stay free\n",
               answer.fits ? "Fits" : "Does not fit", formatGib(answer.peak, 2), formatGib(question.capacity, 2),
               question.margin * 100);
    if (const BatchEquation equation = batchEquation(*question.plan);
        equation.holds == false && question.constraints.keepGlobalBatch && !answer.fits) {
        fmt::print("Its batch does not add up ({} samples where {} are stated); every change below makes it {}\n",
                   formatCount(*equation.product), formatCount(*equation.global), formatCount(*equation.global));
    }
    if (!answer.singles.empty()) {
        fmt::print("\nOne change that makes it fit, cheapest first\n{}", proposalTable(answer.singles, gpus).text());
    }
    if (!answer.pairs.empty()) {
        fmt::print("\nNo single change is enough. Two that are, cheapest first\n{}",
                   proposalTable(answer.pairs, gpus).text());
    }
    if (answer.closest) {
        fmt::print("\nNo change of one or two settings makes it fit. The closest\n{}",
                   proposalTable({*answer.closest}, gpus).text());
    }
    const auto text = [](std::optional<std::int64_t> value) { return value ? formatCount(*value) : "none"; };
    fmt::print("\nLargest micro-batch that fits   {}\nLongest sequence that fits      {}\n", text(inverse.microBatch),
               text(inverse.sequence));
    if (inverse.fewestGpus) {
        fmt::print("Fewest GPUs                     {:.0f} ({})\n",
                   static_cast<double>(gpus) * (inverse.fewestGpus->stepTime ? inverse.fewestGpus->stepTime->gpus : 1),
                   editsOf(*inverse.fewestGpus).empty() ? "as it is" : editsOf(*inverse.fewestGpus));
    }
}

Json toJson(const FitProposal& proposal)
{
    Json edits = Json::object();
    for (const PlanEdit& edit : proposal.edits) {
        edits[edit.field] = edit.value;
    }
    Json stages = Json::array();
    for (const Bytes bytes : proposal.stages) {
        stages.push_back(bytes.value);
    }
    return Json{{"label", labelOf(proposal)},
                {"edits", std::move(edits)},
                {"device_bytes", proposal.peak.value},
                {"stages_device_bytes", std::move(stages)},
                {"step_time_ratio", proposal.stepTime ? Json(proposal.stepTime->ratio) : Json(nullptr)},
                {"step_time_is_lower_bound", proposal.isTimeLowerBound},
                {"gpu_ratio", proposal.stepTime ? Json(proposal.stepTime->gpus) : Json(nullptr)}};
}

Json toJson(const std::vector<FitProposal>& proposals)
{
    Json array = Json::array();
    for (const FitProposal& proposal : proposals) {
        array.push_back(toJson(proposal));
    }
    return array;
}

Json answerJson(const FitQuestion& question, const FitAnswer& answer, const Inverse& inverse)
{
    const auto number = [](std::optional<std::int64_t> value) { return value ? Json(*value) : Json(nullptr); };
    return Json{{"schema", "headroom.fit/1"},
                {"capacity_bytes", question.capacity.value},
                {"margin", question.margin},
                {"fits", answer.fits},
                {"device_bytes", answer.peak.value},
                {"single_changes", toJson(answer.singles)},
                {"pairs_of_changes", toJson(answer.pairs)},
                {"closest", answer.closest ? toJson(*answer.closest) : Json(nullptr)},
                {"largest_micro_batch", number(inverse.microBatch)},
                {"longest_sequence", number(inverse.sequence)},
                {"fewest_gpus", inverse.fewestGpus ? toJson(*inverse.fewestGpus) : Json(nullptr)},
                {"estimates", answer.estimates}};
}

Result<FitQuestion> questionOf(const Options& options, const Inputs& inputs)
{
    const auto margin = parseMargin(options.margin);
    if (!margin) {
        return tl::unexpected(margin.error());
    }
    if (!inputs.plan.hardware.capacityBytes.isKnown()) {
        return failure(Text{HEADROOM_TR("core", "name the GPU (--gpu) or its memory (--capacity) that it has to fit")});
    }
    const auto keeps = [&options](const char* what) {
        return std::find(options.keep.begin(), options.keep.end(), what) != options.keep.end();
    };
    FitQuestion question;
    question.plan = &inputs.plan;
    question.capacity = Bytes{inputs.plan.hardware.capacityBytes.value};
    question.margin = *margin;
    question.constraints = {keeps("global_batch"), keeps("gpus"), keeps("training"), lackingOf(inputs)};
    question.calibration = inputs.calibration;
    question.exact = replayWithin;
    return question;
}

int run(const Options& options)
{
    const Knowledge knowledge;
    const auto inputs = openInputs(options.plan, knowledge);
    if (!inputs) {
        return fail(inputs.error());
    }
    const auto question = questionOf(options, *inputs);
    if (!question) {
        return fail(question.error());
    }
    const auto answer = smallestChangeThatFits(*question);
    if (!answer) {
        printProblems(inputs->problems);
        return fail(answer.error());
    }
    const Inverse inverse{largestMicroBatch(*question), longestSequence(*question), fewestGpus(*question)};
    if (options.json) {
        printJson(answerJson(*question, *answer, inverse));
    } else {
        printProblems(inputs->problems);
        printForPeople(*question, *answer, inverse);
    }
    return answer->fits || !answer->singles.empty() || !answer->pairs.empty() ? Holds : DoesNotHold;
}

} // namespace

void addFit(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand("fit", "the smallest change with which every stage fits the GPU");
    const auto options = std::make_shared<Options>();
    addPlanOptions(*command, options->plan);
    command
        ->add_option("--keep", options->keep, "what stays as it is: global_batch, gpus, training (all three), or none")
        ->delimiter(',')
        ->check(CLI::IsMember({"global_batch", "gpus", "training", "none"}));
    command->add_option("--margin", options->margin, "share of the GPU's memory that has to stay free")
        ->capture_default_str();
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
