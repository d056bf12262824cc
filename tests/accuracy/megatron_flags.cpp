// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/megatron_flags.h"

#include "config/read_plan.h"
#include "plan/batch.h"
#include "plan/fields.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace headroom::accuracy {

namespace {

using Json = nlohmann::json;

const ConfigFormat& megatronFormat()
{
    static const ConfigFormats formats = ConfigFormats::load();
    const auto found = std::find_if(formats.formats.begin(), formats.formats.end(),
                                    [](const ConfigFormat& format) { return format.id == "megatron-args"; });
    if (found == formats.formats.end()) {
        throw std::runtime_error("no format megatron-args");
    }
    return *found;
}

/// What these runs have in common that their flags don't say: BERT trains 512 tokens with 512 positions, images go
/// through pretrain_vlm.py, and the tokenizers' files hold these vocabularies (theory_dense.md rule 1).
Json completed(Json flags)
{
    const auto has = [&flags](const char* flag) { return flags.contains(flag); };
    const bool isT5 = has("--encoder-seq-length");
    const bool isBert
        = !isT5 && flags.value("--seq-length", 0) == 512 && flags.value("--max-position-embeddings", 0) == 512;
    if (isBert) {
        flags["script"] = "pretrain_bert.py";
    } else if (has("--img-h")) {
        flags["script"] = "pretrain_vlm.py";
    }
    const std::string tokenizer = flags.value("--tokenizer-type", std::string{});
    if (!has("--vocab-size")) {
        const bool isOther = isT5 || isBert;
        flags["--vocab-size"] = tokenizer == "GPTSentencePieceTokenizer" ? 256000
            : tokenizer == "Llama2Tokenizer"                             ? 32000
            : isOther                                                    ? 28996
                                                                         : 50257;
    }
    return flags;
}

} // namespace

FlagReading planFromMegatronFlags(const Json& flags)
{
    static const Catalog catalog;
    const auto document = ConfigDocument::parse(completed(flags).dump(), "flags.json");
    if (!document) {
        throw std::runtime_error(document.error().english());
    }
    PlanReading reading = readPlan(*document, megatronFormat(), catalog);
    for (const Problem& problem : reading.problems) {
        if (problem.severity == Severity::Error) {
            throw std::runtime_error(problem.english());
        }
    }
    return {std::move(reading.plan), std::move(reading.notEstimated)};
}

void applyRunFacts(const RunFacts& facts, TrainingPlan& plan)
{
    const auto set = [&plan](std::string_view field, std::string_view value) {
        if (auto done = setField(plan, field, value, Origin{OriginKind::Log, 0, nullptr}); !done) {
            throw std::runtime_error(done.error().english());
        }
    };
    const std::string words = facts.environment + ' ' + facts.platform;
    const auto says = [&words](std::string_view word) { return words.find(word) != std::string::npos; };
    set("parallel.world", std::to_string(facts.world));
    set("shard.rank",
        std::to_string(std::max<std::int64_t>(dataParallelSize(plan) * plan.parallel.cp.valueOr(1), 1) - 1));
    set("implementation.logs_parameter_norm", "true"); // all of these tests do
    const bool isBlackwell = says("gb200") || says("b200");
    set("hardware.gpu", isBlackwell ? "gb200" : says("h100") ? "h100-80gb" : "a100-80gb");
    const bool isOld = says("dracooci");
    const bool isCurrent = says("dev");
    set("implementation.placeholder_grads", isCurrent ? "true" : "false");
    set("implementation.saved_padding_mask", isCurrent ? "true" : "false");
    if (isOld && !isCurrent && (!plan.attention.impl.isKnown() || plan.attention.impl.value == "auto")) {
        set("attention.impl", "unfused"); // flash attention was switched off in those runs
    }
    // ENV_VARS of the tests' files (tests/functional_tests/test_cases), which are not among the flags.
    const auto isOneOf = [&facts](std::initializer_list<std::string_view> tests) {
        return std::any_of(tests.begin(), tests.end(),
                           [&facts](std::string_view test) { return facts.test.find(test) != facts.test.npos; });
    };
    if (isOneOf({"moe/gpt3_mcore_cp2_pp2_ep2", "fine_grained_offloading", "hybrid/"})) {
        set("implementation.cublas_workspace_bytes", "33554432"); // CUBLAS_WORKSPACE_CONFIG=:4096:8
    } else if (isBlackwell && !plan.implementation.deterministic.value) {
        set("implementation.cublas_workspace_bytes", "8519680"); // PyTorch before it knew Blackwell
    }
    if (isOneOf({"deepseek_proxy_fsdp", "deepseekv3_proxy", "8x22b", "8x7b_tp1", "tp2_pp2_ep4_etp1", "nemotron"})) {
        set("implementation.expandable_segments", "true"); // PYTORCH_CUDA_ALLOC_CONF
    }
}

} // namespace headroom::accuracy
