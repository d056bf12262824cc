// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/comparison.h"
#include "accuracy/megatron_flags.h"
#include "plan/layer_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <optional>

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
    if (isHybrid(plan)) {
        return "hybrid";
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

/// Why the figures of a run seem to be other settings'.
std::string_view doubtAbout(std::string_view title)
{
    struct Doubt
    {
        std::string_view name, reason;
    };
    constexpr std::string_view unfused
        = "to the byte that of a test without a resume whose flags ask for unfused attention";
    constexpr std::string_view flash = "that of lts a100, which has flash attention";
    constexpr std::string_view compiling = "reached in the first iteration, while the loss is compiled, and not again";
    constexpr std::string_view resumed = "after a resume, one more set of moments than others have";
    constexpr std::array doubts{
        Doubt{"tp1_pp4_resume_torch_dist_swiglu (lts a100)", unfused},
        Doubt{"tp1_pp4_resume_torch_dist_sequence_parallel (lts a100)", unfused},
        Doubt{"tp1_pp4_vp1_resume_torch_dist (lts a100)", unfused},
        Doubt{"reshard_8x1xNone ( golden_values_lts_dgxa100_dracooci", flash},
        Doubt{"gpt3_mcore_te_tp1_pp1_resume_torch_dist_dist_optimizer_no_mmap_bin_files (lts a100)", unfused},
        Doubt{"resume_torch_dist_te_8experts2parallel_groupedGEMM (lts a100)",
              "explicit scores, 5 bytes each in 12 layers, fill the difference"},
        Doubt{"15b_8t_release_sm_gb200 (lts a100)", "to the byte that of the test with eightfold tensor parallelism"},
        Doubt{"15b_8t_release_sm_gb200 (dev h100)", "close to that of the test with eightfold tensor parallelism"},
        Doubt{"cross_entropy_loss_fusion (dev a100)", compiling},
        Doubt{"cross_entropy_loss_fusion ( golden_values_lts_dgxa100_dracooci", compiling},
        Doubt{"resume_torch_dist_cross_entropy_loss_fusion (dev h100_2nd)", resumed},
        Doubt{"tp2_pp2_resume_torch_dist_cp2_nondeterministic (dev h100_2nd)", resumed},
        Doubt{"zp_z3_resume_torch_dist_te_8experts2parallel_top2router (dev h100_2nd)",
              "after a resume, 2 GB resident more than its siblings have"},
        Doubt{"tp4_pp1_resume_torch_dist_dist_optimizer_overlap_grad_reduce (lts a100_2nd)", resumed},
        Doubt{"hybrid_mr_mcore_te_tp2_pp1_cp1_dgx_a100_1N8G (lts a100)",
              "no room for gradients and moments between steps, which the other file of the test has"},
        Doubt{"cp1_dp8_seq_packing ( golden_values_dev.json)",
              "resident bytes of fp32: older than --bf16 among its flags"},
    };
    const auto found = std::find_if(doubts.begin(), doubts.end(),
                                    [title](const Doubt& doubt) { return title.find(doubt.name) != title.npos; });
    return found == doubts.end() ? std::string_view{} : found->reason;
}

/// Ranks that one copy of the dense layers takes.
std::int64_t denseRanks(const TrainingPlan& plan)
{
    const auto atLeastOne = [](const Count& count) { return std::max<std::int64_t>(count.value, 1); };
    return atLeastOne(plan.parallel.tp) * atLeastOne(plan.parallel.pp) * atLeastOne(plan.parallel.cp);
}

/// The fewest GPUs that hold one copy of everything.
std::int64_t smallestWorld(const TrainingPlan& plan)
{
    const auto size = [](const Count& count, std::int64_t otherwise) {
        return std::max<std::int64_t>(count.valueOr(otherwise), 1);
    };
    const std::int64_t experts
        = size(plan.parallel.ep, 1) * size(plan.parallel.etp, size(plan.parallel.tp, 1)) * size(plan.parallel.pp, 1);
    return plan.moe.experts.value > 0 ? std::lcm(denseRanks(plan), experts) : denseRanks(plan);
}

/// How many GPUs a run had. Megatron's tests take a node of eight, of four where their name says so, all that say how
/// many do; release tests take several nodes, and don't say. A batch must divide among the ranks, which leaves fewer.
std::optional<std::int64_t> worldOf(const std::string& name, const Json& run, const TrainingPlan& plan)
{
    const auto says = [&name](std::string_view word) { return name.find(word) != std::string::npos; };
    std::int64_t world = says("_1node") ? 4 : 8;
    if (run.contains("world") && run.at("world").is_number()) {
        world = run.at("world").get<std::int64_t>();
    } else if (says("release")) {
        return std::nullopt;
    }
    const std::int64_t model = smallestWorld(plan);
    const std::int64_t global = plan.batch.global.value, micro = std::max<std::int64_t>(plan.batch.micro.value, 1);
    while (global > 0 && world > model && global % (micro * (world / denseRanks(plan))) != 0) {
        world /= 2;
    }
    return world;
}

/// The hybrids' figures for the A100 are those of the H100, to the byte or to one KiB: they hold Hopper's workspaces.
std::string goldenPlatform(const std::string& name, const std::string& platform)
{
    return name.starts_with("hybrid/") && platform == "a100" ? "h100" : platform;
}

double peakWithLoad(TrainingPlan plan, double load)
{
    plan.moe.load = Real(load);
    ModelProgram program;
    return buildProgram(plan, program)
        ? static_cast<double>(replayStage(program, program.stages.back()).peakAllocated.value)
        : 0;
}

/// The words of a run's file, and where they name no GPU one that the test's other files name: its oldest kind.
std::string platformOf(const Json& entry, const Json& run)
{
    const auto wordsOf = [](const Json& of) {
        std::string words;
        for (const char* key : {"environment", "platform"}) {
            words += of.contains(key) && of.at(key).is_string() ? of.at(key).get<std::string>() + ' ' : std::string{};
        }
        return words;
    };
    const auto names
        = [&wordsOf](const Json& of, std::string_view gpu) { return wordsOf(of).find(gpu) != std::string::npos; };
    const std::string own = run.at("platform").get<std::string>();
    for (const char* gpu : {"a100", "h100", "b200"}) {
        if (names(run, gpu)) {
            return own;
        }
    }
    for (const char* gpu : {"a100", "h100"}) {
        for (const Json& other : entry.at("measured")) {
            if (names(other, gpu)) {
                return own + ' ' + gpu;
            }
        }
    }
    return own;
}

/// Since Megatron-Core 0.15, of 2025-10, deterministic runs keep what experts return. Files named after the older
/// cluster are from before, as are those of tests that no recipe lists any more, which tell no number of GPUs; Muon
/// came later. The A100's under FSDP are those of 0.13: its root's 16-bit gradients stay between steps, and it gathers
/// one layer ahead.
void applyAge(const Json& run, const std::string& platform, TrainingPlan& plan)
{
    const bool isUnlisted = !run.contains("world") || !run.at("world").is_number();
    const bool isOfOlderFsdp = plan.shard.fsdp.value && platform.find("a100") != std::string::npos;
    const bool isOld = platform.find("dracooci") != std::string::npos || isOfOlderFsdp
        || (isUnlisted && plan.optimizer.name.value != "muon");
    if (isOld) {
        plan.implementation.keptExpertOutput = Flag(false);
    }
    if (isOfOlderFsdp) {
        plan.shard.communicationUnit = Count(2);
    }
}

void compareRun(const Json& entry, const Json& run, Report& report)
{
    const std::string name = entry.at("case");
    const auto text = [&run](const char* key) {
        return run.contains(key) && run.at(key).is_string() ? run.at(key).get<std::string>() : std::string{};
    };
    const std::string title = fmt::format("{} ({} {})", name, text("environment"), text("platform"));
    const std::string platform = platformOf(entry, run);
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
    const Json& flags = entry.at("flags");
    if (flags.contains("--model-provider") && !flags.contains("--total-seq-length")) {
        report.notComputed["the lengths of the captions"].push_back(title);
        return;
    }
    const std::optional<std::int64_t> world = worldOf(name, run, plan);
    // Without the number of GPUs, what divides the optimizer's state is not known, but what the step adds is.
    const bool hasSteady = world.has_value() || !plan.shard.distOpt.value;
    applyRunFacts({text("environment"), goldenPlatform(name, platform), world.value_or(smallestWorld(plan)), name},
                  plan);
    applyAge(run, platform, plan);
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
    const Bytes resident{hasSteady ? replayed.steadyAllocated.value : run.at("steady_bytes").get<std::int64_t>()};
    const Bytes peak{resident.value + replayed.peakAllocated.value - replayed.steadyAllocated.value};
    report.comparisons.push_back({title, megatronGroup, hasSteady ? kind : "release, above resident bytes",
                                  error("steady_bytes", resident), error("peak_bytes", peak), largestTensors(replayed),
                                  closestTensors(replayed, static_cast<double>(peak.value) - measuredPeak),
                                  doubtAbout(title), hasSteady});
    report.comparisons.back().measuredResident = run.at("steady_bytes").get<std::int64_t>();
    report.comparisons.back().measuredPeak = run.at("peak_bytes").get<std::int64_t>();
    report.comparisons.back().replay = replayed;
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
