// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "wording.h"

#include "config/line_diff.h"
#include "config/read_plan.h"
#include "plan/fields.h"
#include "plan/validity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    std::string config;
    std::vector<std::string> assignments;
    std::string output;
    bool diff = false;
    bool inPlace = false;
    bool asJson = false;
};

/// The file's own keys are taken as they are; canonical ones go through the plan, so that a format may have another
/// name or another meaning (an inverted flag) for them.
Result<std::vector<ConfigEdit>> editsOf(const Options& options, const OpenedConfig& config, const Knowledge& knowledge)
{
    std::vector<ConfigEdit> edits;
    TrainingPlan changed = config.plan;
    for (const std::string& text : options.assignments) {
        const auto assignment = parseAssignment(text);
        if (!assignment) {
            return tl::unexpected(assignment.error());
        }
        if (config.document.find(assignment->key) != nullptr) {
            edits.push_back({assignment->key, assignment->value});
            continue;
        }
        const std::string field = fieldOf(assignment->key, knowledge.formats);
        if (field.empty()) {
            return failure(Text{HEADROOM_TR("core", "“%1” is neither a key of this file nor a field Headroom knows"),
                                {assignment->key}},
                           config.document.name());
        }
        if (auto done = setField(changed, field, assignment->value, {OriginKind::CommandLine, 0, nullptr}); !done) {
            return tl::unexpected(done.error());
        }
    }
    auto canonical = editsFor(config.document, *config.format, config.plan, changed);
    if (!canonical) {
        return tl::unexpected(canonical.error());
    }
    edits.insert(edits.end(), canonical->begin(), canonical->end());
    return edits;
}

/// An error that the changed file has and the file as it was had not: a value its key doesn't take, or one that makes
/// no sense with the others.
Result<void> checkChanged(const ConfigDocument& changed, const OpenedConfig& before, const Knowledge& knowledge)
{
    const auto after = openConfig(changed, knowledge.formats, knowledge.catalog);
    if (!after) {
        return tl::unexpected(after.error());
    }
    const auto problemsOf = [](const OpenedConfig& config) {
        std::vector<Problem> problems = config.problems;
        const std::vector<Problem> invalid = validate(config.plan);
        problems.insert(problems.end(), invalid.begin(), invalid.end());
        return problems;
    };
    const std::vector<Problem> known = problemsOf(before);
    for (const Problem& problem : problemsOf(*after)) {
        const bool isNew = std::none_of(known.begin(), known.end(),
                                        [&](const Problem& other) { return other.text == problem.text; });
        if (isNew && problem.severity == Severity::Error) {
            return tl::unexpected(problem);
        }
    }
    return {};
}

/// The settings that mean something else than before, with their lines in the changed file.
Json changesJson(const ConfigDocument& before, const ConfigDocument& after)
{
    Json changes = Json::array();
    for (const Setting& setting : after.settings()) {
        const Setting* old = before.find(setting.key);
        if (old == nullptr || old->text != setting.text) {
            changes.push_back({{"key", setting.key},
                               {"line", setting.line},
                               {"before", old == nullptr ? Json() : Json(old->text)},
                               {"after", setting.text}});
        }
    }
    return changes;
}

int write(const Options& options, const OpenedConfig& config, const ConfigDocument& changed)
{
    const bool isWritten = options.inPlace || !options.output.empty();
    const std::string target = options.output.empty() ? options.config : options.output;
    if (isWritten) {
        if (const auto saved = changed.save(target); !saved) {
            return fail(saved.error());
        }
    }
    const std::string diff = unifiedDiff(config.document.bytes(), changed.bytes(), options.config, target);
    if (options.asJson) {
        printJson({{"schema", "headroom.set/1"},
                   {"written", isWritten ? Json(target) : Json()},
                   {"changes", changesJson(config.document, changed)},
                   {"diff", diff},
                   {"text", changed.bytes()}});
    } else if (options.diff) {
        fmt::print("{}", diff);
    } else if (!isWritten) {
        std::fwrite(changed.bytes().data(), 1, changed.bytes().size(), stdout);
    }
    return Holds;
}

int run(const Options& options)
{
    const Knowledge knowledge;
    const auto config = openConfig(options.config, knowledge.formats, knowledge.catalog);
    if (!config) {
        return fail(config.error());
    }
    const auto edits = editsOf(options, *config, knowledge);
    if (!edits) {
        return fail(edits.error());
    }
    const auto changed = config->document.set(*edits);
    if (!changed) {
        return fail(changed.error());
    }
    if (const auto legal = checkChanged(*changed, *config, knowledge); !legal) {
        return fail(legal.error());
    }
    return write(options, *config, *changed);
}

} // namespace

void addSet(CLI::App& app, int& exitCode)
{
    CLI::App* command
        = app.add_subcommand("set", say(HEADROOM_TR("cli", "change values of a config and nothing else of the file")));
    const auto options = std::make_shared<Options>();
    command->add_option("CONFIG", options->config, say(HEADROOM_TR("cli", "the config file")))->required();
    command
        ->add_option("key=value", options->assignments,
                     say(HEADROOM_TR("cli", "keys canonical (parallel.pipeline_parallel_size) or the file's own")))
        ->required();
    CLI::Option* output
        = command->add_option("-o,--output", options->output, say(HEADROOM_TR("cli", "write the changed file here")));
    command
        ->add_flag("--in-place", options->inPlace,
                   say(HEADROOM_TR("cli", "write the changed file over the old one, atomically")))
        ->excludes(output);
    command->add_flag("--diff", options->diff,
                      say(HEADROOM_TR("cli", "print the difference; without -o or --in-place nothing is written")));
    command->add_flag("--json", options->asJson,
                      say(HEADROOM_TR("cli", "print the changes, the difference and the changed file as JSON")));
    command->footer(say(HEADROOM_TR("cli", "Without --diff, -o or --in-place the changed file is printed.")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
