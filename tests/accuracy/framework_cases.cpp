// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/framework_cases.h"

#include "accuracy/case_reader.h"
#include "accuracy/hybrid_cases.h"
#include "accuracy/loss_cases.h"
#include "accuracy/megatron_core_cases.h"
#include "accuracy/missing_inputs.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

namespace headroom::accuracy {

namespace {

bool hasProfile(std::string_view framework)
{
    const bool isBigScience = framework.find("BigScience") != std::string_view::npos
        || framework.starts_with("Megatron-DeepSpeed 3D") || framework == "Megatron-LM";
    return isBigScience || framework == "Megatron-DeepSpeed (Argonne)" || framework.starts_with("torchtitan")
        || framework == "torchtune" || framework == "prime-rl" || framework == "LitGPT" || framework == "InternEvo"
        || framework.find("VocabularyParallelism") != std::string_view::npos
        || framework.find("Kwai") != std::string_view::npos || framework.find("Galvatron") != std::string_view::npos
        || framework.starts_with("Qwen") || framework.starts_with("HF PEFT")
        || framework.starts_with("ms-swift (transformers");
}

/// Rows that other rows of their own tables contradict. They count like the others.
std::string_view doubtAbout(std::string_view id)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> doubts{{
        {"torchtune-8b-lora-a6000",
         "22.9 GiB above the 4-bit run of its table, whose weights are 9.7 GiB smaller: likely without recomputation"},
        {"bloom-196b-l84h13824a64-dp8tp8pp6-mbs2", "9 GiB above the same run with twice the micro-batch"},
        {"bs-gpt2md-meg-gbs1024", "the whole card, which is what the allocator has kept"},
        {"bs-tr8-104b-stage-split", "8 GiB below another run of the same model and topology"},
        {"prime-4xa6000-qwen-qwen3-0-6b-rl-full-4gpu-recompute-flash-attention-2-65536-cp1-ep1",
         "its file was refreshed when state and stored inputs were offloaded by default; which settings it ran with is "
         "not said"},
    }};
    const auto* found
        = std::find_if(doubts.begin(), doubts.end(), [id](const auto& doubt) { return doubt.first == id; });
    return found == doubts.end() ? std::string_view{} : found->second;
}

/// "https://github.com/OWNER/…" without what follows the owner.
std::string publisherOf(const std::string& source)
{
    std::size_t end = 0;
    for (int slashes = 0; slashes < 4 && end != std::string::npos; ++slashes) {
        end = source.find('/', end + (slashes > 0 ? 1 : 0));
    }
    return source.substr(0, end);
}

/// The other reading of the primary figure, where the source does not tell its divisor.
double decimalReading(const YAML::Node& node)
{
    for (const YAML::Node& figure : node["measured"]) {
        if (text(figure["metric"]) == text(node["primary"]["metric"])
            && text(figure["gib"]) == text(node["primary"]["gib"]) && figure["gib_if_decimal"]) {
            return figure["gib_if_decimal"].as<double>();
        }
    }
    return 0;
}

/// Who publishes in one place counts in one unit. Where a row would exceed its card in GiB, GB are 10^9 bytes.
void chooseUnits(std::vector<FrameworkCase>& cases)
{
    std::set<std::string> decimal;
    for (const FrameworkCase& entry : cases) {
        const Count& capacity = entry.plan.hardware.capacityBytes;
        if (entry.decimalGib > 0 && capacity.isKnown()
            && entry.measuredGib * (1 << 30) > static_cast<double>(capacity.value)) {
            decimal.insert(entry.publisher);
        }
    }
    for (FrameworkCase& entry : cases) {
        if (decimal.contains(entry.publisher) && entry.decimalGib > 0) {
            entry.measuredGib = entry.decimalGib;
        }
    }
}

void readFigures(const YAML::Node& node, FrameworkCase& entry)
{
    entry.endedOutOfMemory = text(node["outcome"]) == "oom";
    if (const YAML::Node primary = node["primary"];
        primary && primary.IsMap() && primary["gib"] && !primary["gib"].IsNull()) {
        entry.metric = text(primary["metric"]);
        entry.measuredGib = primary["gib"].as<double>();
        entry.decimalGib = decimalReading(node);
    }
    for (const YAML::Node& group : node["pairs"]) {
        entry.pairs.push_back(text(group));
    }
    for (const YAML::Node& stage : node["per_stage"]) {
        if (stage.IsMap() && stage["max_allocated_gib"]) {
            entry.stagesGib.push_back(stage["max_allocated_gib"].as<double>());
        }
    }
}

/// Megatron-LM's tests stand in megatron_ci.json with all their flags.
bool readGolden(const YAML::Node& node, FrameworkCase& entry)
{
    constexpr std::string_view folder = "/test_cases/";
    const std::string source = text(node["source"]);
    const std::size_t start = source.find(folder);
    if (!entry.id.starts_with("mlm-golden-") || start == std::string::npos) {
        return false;
    }
    entry.goldenCase = source.substr(start + folder.size());
    entry.goldenBytes = node["measured"][0]["value"].as<std::int64_t>();
    return true;
}

/// What these leave out follows from elsewhere in their paper, from their profiler, which runs one micro-batch, or is a
/// default of their framework.
bool isComputedAllTheSame(std::string_view id)
{
    const bool isHub = id.starts_with("litgpt-hub-") && id.ends_with("lora");
    return isHub || id.starts_with("zbpaper-") || id.starts_with("vmp-qwen35-") || id.starts_with("galvatron-pp")
        || id == "oom-titan620-llama3-8b-2gpu";
}

FrameworkCase readCase(const YAML::Node& node)
{
    FrameworkCase entry;
    entry.id = text(node["id"]);
    entry.doubt = doubtAbout(entry.id);
    entry.framework = text(node["framework"]);
    entry.kind = text(node["task"]);
    entry.publisher = publisherOf(text(node["source"]));
    readFigures(node, entry);
    if (readGolden(node, entry)) {
        return entry;
    }
    if (LossReader::reads(entry.id)) {
        LossReader(node, entry).read();
    } else if (std::string missing = missingInput(node); !missing.empty() && !isComputedAllTheSame(entry.id)) {
        entry.missing = std::move(missing);
    } else if (HybridReader::reads(entry.id)) {
        HybridReader(node, entry).read();
    } else if (MegatronCoreReader::reads(entry.framework, entry.id)) {
        MegatronCoreReader(node, entry).read();
    } else if (hasProfile(entry.framework)) {
        CaseReader(node, entry).read();
    } else {
        entry.missing = "a reader of the settings of " + entry.framework;
    }
    return entry;
}

} // namespace

std::vector<FrameworkCase> frameworkCases(const std::string& file)
{
    std::vector<FrameworkCase> cases;
    if (!std::ifstream(file)) {
        return cases;
    }
    for (const YAML::Node& node : YAML::LoadFile(file)) {
        cases.push_back(readCase(node));
    }
    chooseUnits(cases);
    return cases;
}

} // namespace headroom::accuracy
