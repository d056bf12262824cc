// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/field_kinds.h"

#include "plan/fields.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>
#include <utility>

namespace headroom {

namespace {

struct FieldWords
{
    std::string_view key;
    std::vector<std::string> words;
};

/// Of the fields that hold text.
const std::vector<FieldWords>& writtenWords()
{
    static const std::vector<FieldWords> all{
        {"objective.type", {"pretrain", "sft", "dpo", "kto", "orpo", "simpo", "cpo", "rm", "ppo", "grpo"}},
        {"objective.reference", {"none", "separate", "adapters_off"}},
        {"objective.head", {"lm", "classifier"}},
        {"objective.value", {"none", "head", "separate", "in_turn"}},
        {"objective.reward", {"none", "separate", "adapters"}},
        {"model.family", {"decoder", "bert", "t5"}},
        {"parallel.cp_comm", {"p2p", "all_gather", "a2a", "a2a+p2p"}},
        {"parallel.encoder_placement", {"first_stage", "own_stages", "every_stage"}},
        {"parallel.vocab_split", {"none", "variant1", "variant2", "interlaced"}},
        {"attention.impl", {"auto", "flash", "fused", "unfused", "local", "sdpa", "eager"}},
        {"optimizer.name", {"adamw", "adamw_8bit", "adafactor", "muon", "sgd_momentum", "sgd", "lion"}},
        {"implementation.profile",
         {"megatron-te", "megatron-local", "megatron-2.4", "megatron-kwai", "deepspeed-pipeline", "hf-eager", "hf-sdpa",
          "hf-flash", "torchtitan", "torchtune", "prime-rl", "litgpt", "internevo", "galvatron", "nanotron"}},
        {"implementation.fused_loss", {"none", "native", "te", "te-inplace", "liger", "chunked", "16bit"}},
        {"implementation.cuda_graphs", {"none", "local", "transformer_engine", "full_iteration"}},
    };
    return all;
}

template <class T> FieldKind::Takes taken(std::string_view key)
{
    using enum FieldKind::Takes;
    if constexpr (std::is_same_v<T, std::int64_t>) {
        return key.ends_with("_bytes") ? Size : WholeNumber;
    } else if constexpr (std::is_same_v<T, double>) {
        return Number;
    } else if constexpr (std::is_same_v<T, bool>) {
        return YesOrNo;
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        return List;
    } else {
        return Word;
    }
}

template <class T> std::vector<std::string> wordsOf(std::string_view key)
{
    if constexpr (std::is_enum_v<T>) {
        const auto names = namesOf<T>();
        return {names.begin(), names.end()};
    }
    const auto found = std::ranges::find(writtenWords(), key, &FieldWords::key);
    return found != writtenWords().end() ? found->words : std::vector<std::string>{};
}

/// Letters to change, add, drop or swap with their neighbour (Damerau and Levenshtein's distance).
std::size_t distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = std::min(now[j], before[j - 2] + 1);
            }
        }
        before = std::exchange(last, now);
    }
    return last.back();
}

std::string_view nameWithin(std::string_view key)
{
    return key.substr(key.rfind('.') + 1);
}

/// Up to its last dot.
std::string_view groupOf(std::string_view key)
{
    return key.substr(0, key.rfind('.') + 1);
}

} // namespace

std::vector<FieldKind> fieldKinds()
{
    std::vector<FieldKind> kinds;
    const TrainingPlan plan;
    forEachField(plan, [&]<class T>(std::string_view key, const Field<T>& /*field*/) {
        kinds.push_back({std::string(key), taken<T>(key), wordsOf<T>(key), fieldText(plan, key)});
    });
    return kinds;
}

std::vector<std::string> fieldWords(std::string_view key)
{
    std::vector<std::string> words;
    const TrainingPlan plan;
    forEachField(plan, [&]<class T>(std::string_view name, const Field<T>& /*field*/) {
        if (name == key) {
            words = wordsOf<T>(key);
        }
    });
    return words;
}

bool isModelField(std::string_view key)
{
    constexpr std::array groups{"model.", "moe.", "mixer.", "mla.", "vision.", "projector."};
    return std::any_of(groups.begin(), groups.end(), [key](const char* group) { return key.starts_with(group); });
}

std::string nearestField(std::string_view key)
{
    constexpr std::size_t longest = 100; // whatever was written, an answer comes at once
    if (key.size() > longest) {
        return {};
    }
    const std::string_view written = nameWithin(key);
    std::string nearest;
    std::size_t least = std::clamp<std::size_t>(written.size() / 3, 1, 3) + 1;
    for (const FieldKind& field : fieldKinds()) {
        // A right name in a wrong group is nearer than a slip of the pen in both.
        const bool isInGroup = groupOf(key) == groupOf(field.key);
        const std::size_t own = distance(written, nameWithin(field.key));
        const std::size_t apart = std::min(distance(key, field.key), own == 0 || isInGroup ? own : least);
        if (apart < least) {
            least = apart;
            nearest = field.key;
        }
    }
    return nearest;
}

} // namespace headroom
