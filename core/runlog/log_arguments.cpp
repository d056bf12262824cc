// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_arguments.h"

#include "config/effective_settings.h"
#include "config/read_plan.h"
#include "config/yaml_tree.h"
#include "plan/fields.h"
#include "plan/fields_visit.h"
#include "units/number.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <unordered_set>

namespace headroom {
namespace {

constexpr std::string_view megatronRow = "megatron.args_row";

/// One argument for each field that a line of another form names.
struct NamedField
{
    std::string_view field;
    std::string_view key;
};
constexpr std::array<NamedField, 7> namedFields{{{"world_size", "world_size"},
                                                 {"dp", "data_parallel_size"},
                                                 {"cp", "context_parallel_size"},
                                                 {"tp", "tensor_model_parallel_size"},
                                                 {"pp", "pipeline_model_parallel_size"},
                                                 {"vocab", "vocab_size"},
                                                 {"padded_vocab", "padded_vocab_size"}}};

class Arguments
{
public:
    void add(std::string key, std::string value, const LogFact& fact)
    {
        if (!key.empty() && m_keys.insert(key).second) {
            list.push_back({std::move(key), std::move(value), fact.file, fact.line});
        }
    }

    /// A dump on one line, JSON or a Python dict: both are YAML in brackets.
    void addDump(const LogFact& fact)
    {
        const Result<YamlTree> tree = parseYaml(fact.text("json"), "");
        std::vector<Problem> problems;
        const auto settings = tree ? effectiveSettings(*tree, "", problems) : Result<std::vector<Setting>>();
        if (tree && settings) {
            for (const Setting& setting : *settings) {
                add(setting.key, setting.text, fact);
            }
        }
    }

    std::vector<LogArgument> list;

private:
    std::unordered_set<std::string> m_keys;
};

/// A value of the dotted list as one of a config: quoted, so that it stays one.
std::string inQuotes(std::string_view value)
{
    std::string text = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') {
            text += '\\';
        }
        if (static_cast<unsigned char>(c) >= 0x20) {
            text += c;
        }
    }
    return text + '"';
}

bool isPlain(std::string_view value)
{
    return std::ranges::all_of(value, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-'
            || c == '_' || c == '+';
    });
}

/// The flag of an argument's name, with the two whose name says the opposite.
std::string flagOf(const LogArgument& argument, std::string& value)
{
    if (argument.key == "add_bias_linear") {
        value = argument.value == "False" ? "true" : "false";
        return "--disable-bias-linear";
    }
    std::string flag = "--" + argument.key;
    std::ranges::replace(flag, '_', '-');
    value = argument.value == "True" ? "true" : argument.value == "False" ? "false" : argument.value;
    return flag;
}

/// The list as a file of arguments in which each stands on its line of the log, so that its origin is right; some
/// lines have several.
std::string asConfig(std::vector<LogArgument> arguments)
{
    constexpr std::int64_t furthestLine = 4 << 20;
    std::ranges::sort(arguments, {}, &LogArgument::line);
    std::string text = "{";
    std::int64_t line = 1;
    for (const LogArgument& argument : arguments) {
        std::string value;
        const std::string flag = flagOf(argument, value);
        if (argument.value == "None" || argument.value.empty() || argument.line > furthestLine
            || argument.line < line) {
            continue;
        }
        text.append(static_cast<std::size_t>(argument.line - line), '\n');
        text += inQuotes(flag) + ": " + (isPlain(value) ? value : inQuotes(value)) + ", ";
        line = argument.line;
    }
    return text + "}\n";
}

} // namespace

std::vector<LogArgument> argumentsOf(const Run& run)
{
    Arguments arguments;
    for (const LogFact& fact : run.facts) {
        if (fact.kind != LineKind::Arguments) {
            continue;
        }
        if (const LogFact::Field* const name = fact.find("name")) {
            arguments.add(name->text, std::string(fact.text("value")), fact);
        } else if (fact.find("json") != nullptr) {
            arguments.addDump(fact);
        } else if (fact.find("key") != nullptr) {
            arguments.add(std::string(fact.text("key")), std::string(fact.text("val")), fact);
        } else if (fact.find("what") != nullptr) {
            arguments.add(std::string(fact.text("what")), std::string(fact.text("elements")), fact);
        }
        for (const NamedField& named : namedFields) {
            if (const LogFact::Field* const field = fact.find(named.field)) {
                arguments.add(std::string(named.key), field->text, fact);
            }
        }
    }
    return std::move(arguments.list);
}

namespace {

/// What stands in a log is of the log, and a granularity of None is a statement: nothing was recomputed.
void takeAsLogged(TrainingPlan& plan, const std::optional<LogArgument>& granularity, const std::string& name)
{
    forEachField(plan, [](std::string_view /*key*/, auto& field) {
        if (field.origin.kind == OriginKind::ConfigFile) {
            field.origin.kind = OriginKind::Log;
        }
    });
    if (granularity && granularity->value == "None") {
        const Origin origin{OriginKind::Log, static_cast<std::int32_t>(granularity->line),
                            std::make_shared<const std::string>(name)};
        plan.recompute.enabled.set(false, origin);
        plan.recompute.granularity.set(Granularity::None, origin);
    }
}

} // namespace

Result<TrainingPlan> planOfArguments(const Run& run, const ConfigFormats& formats, const Catalog& catalog)
{
    std::vector<LogArgument> arguments = argumentsOf(run);
    const std::uint16_t file = arguments.empty() ? std::uint16_t{0} : arguments.front().file;
    std::erase_if(arguments, [&](const LogArgument& argument) { return argument.file != file; });
    const std::string name = run.files.empty() ? std::string() : run.files[file];
    const auto argument = [&arguments](std::string_view key) {
        const auto found = std::ranges::find(arguments, key, &LogArgument::key);
        return found == arguments.end() ? std::nullopt : std::optional(*found);
    };
    const std::optional<LogArgument> worldArgument = argument("world_size");
    const std::optional<LogArgument> granularity = argument("recompute_granularity");
    const bool isMegatron = std::ranges::any_of(
        run.facts, [](const LogFact& fact) { return fact.format == megatronRow || fact.format == "megatron.world"; });
    if (!isMegatron) {
        return failure(Text{HEADROOM_TR("core", "the log lists no arguments that are understood")}, name);
    }
    const Result<ConfigDocument> document = ConfigDocument::parse(asConfig(std::move(arguments)), name);
    if (!document) {
        return tl::unexpected(document.error());
    }
    const ConfigFormat* const format = formats.detect(*document);
    if (format == nullptr) {
        return failure(Text{HEADROOM_TR("core", "the log lists no arguments that are understood")}, name);
    }
    TrainingPlan plan = readPlan(*document, *format, catalog).plan;
    takeAsLogged(plan, granularity, name);
    // The launcher's number, which no argument of Megatron sets.
    const std::optional<std::int64_t> world = worldArgument ? parseInteger(worldArgument->value) : std::nullopt;
    if (world && *world > 0 && !plan.parallel.world.isStated()) {
        plan.parallel.world.set(*world,
                                {OriginKind::Log, static_cast<std::int32_t>(worldArgument->line),
                                 std::make_shared<const std::string>(name)});
    }
    return plan;
}

std::vector<std::string> fieldsLeftToDefaults(const Run& run, const TrainingPlan& plan)
{
    struct Usual
    {
        std::string_view argument, field;
        bool isOld; ///< in every list since 2021 (megatron/training/arguments.py)
    };
    static constexpr std::array<Usual, 18> usual{
        {{"tensor_model_parallel_size", "parallel.tp", true},
         {"pipeline_model_parallel_size", "parallel.pp", true},
         {"micro_batch_size", "batch.micro", true},
         {"global_batch_size", "batch.accum", true},
         {"ffn_hidden_size", "model.ffn", true},
         {"make_vocab_size_divisible_by", "model.vocab_pad_multiple", true},
         {"attention_dropout", "model.attn_dropout", true},
         {"hidden_dropout", "model.hidden_dropout", true},
         {"bf16", "precision.recipe", true},
         {"sequence_parallel", "parallel.sp", false},
         {"context_parallel_size", "parallel.cp", false},
         {"use_distributed_optimizer", "shard.dist_opt", false},
         {"recompute_granularity", "recompute.granularity", false},
         {"untie_embeddings_and_output_weights", "model.tied_embeddings", false},
         {"swiglu", "model.gated_mlp", false},
         {"normalization", "model.layer_norm", false},
         {"add_bias_linear", "model.mlp_bias", false},
         {"group_query_attention", "model.kv_heads", false}}};
    constexpr std::ptrdiff_t fewest = 3; // a line or two may be lost to another process's
    const std::vector<LogArgument> arguments = argumentsOf(run);
    const auto isLeftOut = [&](const Usual& one) {
        const OriginKind kind = fieldOrigin(plan, one.field).kind;
        const bool isOpen = kind == OriginKind::Unknown || kind == OriginKind::Default || kind == OriginKind::Derived;
        return isOpen && std::ranges::find(arguments, one.argument, &LogArgument::key) == arguments.end();
    };
    if (std::ranges::count_if(usual, [&](const Usual& one) { return one.isOld && isLeftOut(one); }) < fewest) {
        return {};
    }
    std::vector<std::string> fields;
    for (const Usual& one : usual) {
        if (isLeftOut(one) && !fieldText(plan, one.field).empty()) {
            fields.emplace_back(one.field);
        }
    }
    return fields;
}

std::optional<Bytes> capacityOf(const Run& run)
{
    constexpr double mostOfADevice = 0x1p50;
    double largest = 0;
    for (const LogFact& fact : run.facts) {
        const double capacity = fact.number("capacity_bytes").value_or(0);
        largest = capacity <= mostOfADevice ? std::max(largest, capacity) : largest; // more is a broken line
    }
    return largest >= 1 ? std::optional(Bytes{static_cast<std::int64_t>(largest)}) : std::nullopt;
}

std::vector<LogParameters> parametersOf(const Run& run)
{
    struct Source
    {
        std::string_view field;
        double factor;
        std::string_view what;
    };
    static constexpr std::array<Source, 9> sources{{{"params", 1, ""},
                                                    {"params_old", 1, ""},
                                                    {"params_trainable", 1, "trainable"},
                                                    {"params_non_embedding", 1, "non-embedding"},
                                                    {"params_billion", 1e9, ""},
                                                    {"params_million", 1e6, ""},
                                                    {"stage_params", 1, "stage"},
                                                    {"total_params", 1, "total"},
                                                    {"unique_params", 1, "unique"}}};
    std::vector<LogParameters> result;
    for (const LogFact& fact : run.facts) {
        if (fact.kind != LineKind::Parameters) {
            continue;
        }
        for (const Source& source : sources) {
            const double billions = fact.find("billions") != nullptr ? 1e9 : 1;
            const double count = fact.number(source.field).value_or(0) * source.factor * billions;
            if (!(count >= 1) || !(count < 1e18)) {
                continue;
            }
            std::string what(source.what.empty() ? fact.text("what") : source.what);
            if (fact.find("pos") != nullptr) {
                what = std::string(fact.text("axes")) + " (" + std::string(fact.text("pos")) + ")";
            }
            result.push_back({std::move(what), std::llround(count), fact.rank, fact.file, fact.line});
        }
    }
    return result;
}

} // namespace headroom
