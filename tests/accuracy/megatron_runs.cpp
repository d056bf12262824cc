// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/comparison.h"
#include "accuracy/megatron_flags.h"

#include <fmt/format.h>

#include <fstream>

namespace headroom::accuracy {

namespace {

using Json = nlohmann::json;

std::string classOf(const std::string& name, const TrainingPlan& plan)
{
    const std::string family = name.substr(0, name.find('/'));
    if (family == "bert" || family == "t5") {
        return family;
    }
    if (plan.vision.layers.isKnown()) {
        return "multimodal";
    }
    if (plan.moe.experts.value > 0) {
        return "experts";
    }
    if (plan.mla.kvLoraRank.isKnown()) {
        return "latent attention";
    }
    if (plan.precision.fp8.isKnown()) {
        return "fp8";
    }
    if (plan.parallel.cp.value > 1) {
        return "context parallel";
    }
    if (plan.recompute.granularity.value == Granularity::Full) {
        return "recompute";
    }
    if (plan.parallel.vpp.value > 1 || plan.parallel.layersPerVstage.isKnown()) {
        return "interleaved";
    }
    if (plan.implementation.profile.value == "megatron-local") {
        return "local";
    }
    const std::string& kernel = plan.attention.impl.value;
    return kernel.empty() ? "auto" : kernel;
}

double peakWithLoad(TrainingPlan plan, double load)
{
    plan.moe.load = Real(load);
    ModelProgram program;
    return buildProgram(plan, program)
        ? static_cast<double>(replayStage(program, program.stages.back()).peakAllocated.value)
        : 0;
}

void compareRun(const Json& entry, const Json& run, Report& report)
{
    const std::string name = entry.at("case");
    const auto text = [&run](const char* key) {
        return run.contains(key) && run.at(key).is_string() ? run.at(key).get<std::string>() : std::string{};
    };
    const std::string title = fmt::format("{} ({} {})", name, text("environment"), text("platform"));
    auto [plan, notUnderstood] = planFromMegatronFlags(entry.at("flags"));
    if (name.find("fine_grained_offloading") != std::string::npos) { // its model_config.yaml; the file leaves them out
        plan.shard.offloadActivations = Flag(true);
        plan.shard.offloadActivationModules
            = Names({"expert_fc1", "moe_act", "attn_norm", "mlp_norm", "qkv_linear", "core_attn", "attn_proj"});
    }
    const std::string kind = classOf(name, plan);
    if (!notUnderstood.empty()) {
        report.notComputed["not described: " + notUnderstood.front()].push_back(title);
        return;
    }
    const bool hasWorld = run.contains("world") && run.at("world").is_number();
    if (!hasWorld && plan.shard.distOpt.value) {
        report.notComputed["the number of GPUs, which divides the optimizer's state"].push_back(title);
        return;
    }
    const std::int64_t smallest = plan.parallel.tp.value * plan.parallel.pp.value * plan.parallel.cp.value;
    applyRunFacts({text("environment"), text("platform"), hasWorld ? run.at("world").get<std::int64_t>() : smallest},
                  plan);
    ModelProgram program;
    if (const auto built = buildProgram(plan, program); !built) {
        report.notComputed[built.error().english()].push_back(title);
        return;
    }
    // The last rank writes the log, so the figures are those of the last stage.
    const StageReplay replayed = replayStage(program, program.stages.back());
    const auto error = [&run](const char* key, Bytes predicted) {
        return static_cast<double>(predicted.value) / run.at(key).get<double>() - 1;
    };
    const double measuredPeak = run.at("peak_bytes").get<double>();
    report.comparisons.push_back(
        {title, megatronGroup, kind, error("steady_bytes", replayed.steadyAllocated),
         error("peak_bytes", replayed.peakAllocated), largestTensors(replayed),
         closestTensors(replayed, static_cast<double>(replayed.peakAllocated.value) - measuredPeak)});
    if (plan.moe.experts.value > 0) {
        report.comparisons.back().isInsideRouting
            = peakWithLoad(plan, lowestLoad) <= measuredPeak && measuredPeak <= peakWithLoad(plan, highestLoad);
    }
}

} // namespace

bool addMegatronRuns(const std::filesystem::path& folder, Report& report)
{
    std::ifstream file(folder / "megatron_ci.json");
    if (!file) {
        return false;
    }
    for (const Json& entry : Json::parse(file)) {
        for (const Json& run : entry.at("measured")) {
            report.goldenPeaks.emplace(entry.at("case").get<std::string>(), run.at("peak_bytes").get<std::int64_t>());
            compareRun(entry, run, report);
        }
    }
    return true;
}

} // namespace headroom::accuracy
