// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "table.h"
#include "wording.h"

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
    table.addColumn(say(HEADROOM_TR("cli", "change")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "peak")));
    table.addColumn(say(HEADROOM_TR("cli", "step time")));
    table.addColumn(say(HEADROOM_TR("cli", "GPUs")));
    table.addColumn(say(HEADROOM_TR("cli", "set")), Table::Align::Left);
    for (const FitProposal& proposal : proposals) {
        const double factor = proposal.stepTime ? proposal.stepTime->gpus : 1;
        table.addRow({inWords(proposal.labels, inOwnWords), formatGib(proposal.peak, 2), timeOf(proposal),
                      fmt::format("{:.0f}", static_cast<double>(gpus) * factor), editsOf(proposal)});
    }
    return table;
}

struct Inverse
{
    std::optional<std::int64_t> microBatch, sequence;
    std::optional<FitProposal> fewestGpus;
};

void printLimits(const Inverse& inverse, std::int64_t gpus)
{
    const auto text = [](std::optional<std::int64_t> value) {
        return value ? formatCount(*value) : say(HEADROOM_TR("cli", "none"));
    };
    const auto line = [](const std::string& what, const std::string& value) {
        fmt::print("{}{}  {}\n", what, std::string(std::max<std::size_t>(30, width(what)) - width(what), ' '), value);
    };
    fmt::print("\n");
    line(say(HEADROOM_TR("cli", "Largest micro-batch that fits")), text(inverse.microBatch));
    line(say(HEADROOM_TR("cli", "Longest sequence that fits")), text(inverse.sequence));
    if (inverse.fewestGpus) {
        const std::string edits = editsOf(*inverse.fewestGpus);
        const double factor = inverse.fewestGpus->stepTime ? inverse.fewestGpus->stepTime->gpus : 1;
        line(say(HEADROOM_TR("cli", "Fewest GPUs")),
             fmt::format("{:.0f} ({})", static_cast<double>(gpus) * factor,
                         edits.empty() ? say(HEADROOM_TR("cli", "as it is")) : edits));
    }
}

void printForPeople(const FitQuestion& question, const FitAnswer& answer, const Inverse& inverse)
{
    const std::int64_t gpus = worldSize(*question.plan);
    const auto block = [](const std::string& title, const std::string& table) { fmt::print("\n{}\n{}", title, table); };
    fmt::print("{}\n",
               say(answer.fits ? HEADROOM_TR("cli", "Fits: the fullest stage takes %1 of %2, %3% of which stay free")
                               : HEADROOM_TR("cli",
                                             "Does not fit: the fullest stage takes %1 of %2, %3% of which "
                                             "stay free"),
                   {formatGib(answer.peak, 2), formatGib(question.capacity, 2),
                    fmt::format("{:.3g}", question.margin * 100)}));
    if (const BatchEquation equation = batchEquation(*question.plan);
        equation.holds == false && question.constraints.keepGlobalBatch && !answer.fits) {
        fmt::print("{}\n",
                   say(HEADROOM_TR("cli",
                                   "Its batch does not add up (%1 samples where %2 are stated); every change "
                                   "below makes it %2"),
                       {formatCount(*equation.product), formatCount(*equation.global)}));
    }
    if (!answer.singles.empty()) {
        block(say(HEADROOM_TR("cli", "One change that makes it fit, cheapest first")),
              proposalTable(answer.singles, gpus).text());
    }
    if (!answer.pairs.empty()) {
        block(say(HEADROOM_TR("cli", "No single change is enough. Two that are, cheapest first")),
              proposalTable(answer.pairs, gpus).text());
    }
    if (answer.closest) {
        block(say(HEADROOM_TR("cli", "No change of one or two settings makes it fit. The closest")),
              proposalTable({*answer.closest}, gpus).text());
    }
    if (!answer.adapters.empty()) {
        block(say(HEADROOM_TR("cli", "Adapters would fit; they train less than the config asks for")),
              proposalTable(answer.adapters, gpus).text());
    }
    printLimits(inverse, gpus);
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
    return Json{{"label", inWords(proposal.labels, &Text::english)},
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
                {"adapters", toJson(answer.adapters)},
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
    CLI::App* command
        = app.add_subcommand("fit", say(HEADROOM_TR("cli", "the smallest change with which every stage fits the GPU")));
    const auto options = std::make_shared<Options>();
    addPlanOptions(*command, options->plan);
    command
        ->add_option("--keep", options->keep,
                     say(HEADROOM_TR("cli", "what stays as it is: global_batch, gpus, training (all three), or none")))
        ->delimiter(',')
        ->check(CLI::IsMember({"global_batch", "gpus", "training", "none"}));
    command
        ->add_option("--margin", options->margin,
                     say(HEADROOM_TR("cli", "share of the GPU's memory that has to stay free")))
        ->capture_default_str();
    command->add_flag("--json", options->json, say(HEADROOM_TR("cli", "print JSON")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
