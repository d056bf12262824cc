// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/size_limits.h"

#include "units/number.h"

#include <algorithm>
#include <array>
#include <string>

namespace headroom {

namespace {

/// Far beyond any real run, yet small enough that products of a few of them stay finite in double.
struct Limit
{
    std::string_view key;
    std::int64_t least;
    std::int64_t most;
};

constexpr std::int64_t million = 1'000'000;
constexpr auto limits = std::to_array<Limit>({
    {"model.layers", 1, 100'000},
    {"model.hidden", 1, 16 * million},
    {"model.ffn", 1, 64 * million},
    {"model.heads", 1, million},
    {"model.kv_heads", 1, million},
    {"model.head_dim", 1, million},
    {"model.vocab", 1, 1000 * million},
    {"model.padded_vocab", 1, 1000 * million},
    {"model.vocab_pad_multiple", 1, 1000 * million},
    {"model.max_pos", 1, 1000 * million},
    {"model.mtp_layers", 0, 1000},
    {"moe.experts", 0, million},
    {"moe.topk", 0, million},
    {"moe.ffn", 0, 64 * million},
    {"mixer.heads", 1, million},
    {"mixer.head_dim", 1, million},
    {"mixer.key_heads", 1, million},
    {"mixer.key_dim", 1, million},
    {"mixer.state_dim", 1, million},
    {"mixer.groups", 1, million},
    {"mixer.conv", 0, 1000},
    {"mixer.chunk", 1, million},
    {"mixer.expand", 1, 1000},
    {"vision.layers", 0, 100'000},
    {"vision.hidden", 1, 16 * million},
    {"vision.ffn", 1, 64 * million},
    {"vision.tokens_per_image", 0, 100 * million},
    {"vision.images_per_sample", 0, million},
    {"vision.image_size", 1, million},
    {"vision.patch", 1, million},
    {"batch.micro", 1, 100 * million},
    {"batch.accum", 1, 100 * million},
    {"batch.global", 1, 1000 * million},
    {"batch.seq", 1, 1000 * million},
    {"objective.labels", 1, 1000 * million},
    {"objective.response", 1, 1000 * million},
    {"objective.rollout", 1, 1000 * million},
    {"parallel.world", 1, 10 * million},
    {"parallel.dp", 1, 10 * million},
    {"parallel.tp", 1, 100'000},
    {"parallel.pp", 1, 100'000},
    {"parallel.encoder_pp", 0, 100'000},
    {"parallel.encoder_tp", 0, 100'000},
    {"parallel.vpp", 1, 100'000},
    {"parallel.cp", 1, 100'000},
    {"parallel.ep", 1, 100'000},
    {"parallel.vpp_group", 1, million},
    {"parallel.vocab_tp", 1, 100'000},
    {"recompute.num_layers", 0, 100'000},
    {"shard.dist_opt_instances", 1, million},
    {"shard.rank", 0, million},
    {"shard.sub_group", 1, 1'000'000 * million},
    {"implementation.deferred_wgrads", 0, million},
    {"implementation.cublas_workspace_bytes", 0, 1000 * million},
    {"implementation.max_split_mib", 21, million}, // PyTorch refuses what would leave large blocks of 20 MiB whole
    {"implementation.roundup_divisions", 1, 64},
});

static_assert(
    std::min_element(limits.begin(), limits.end(), [](const Limit& a, const Limit& b) { return a.most < b.most; })->most
    == leastUpperLimit);

} // namespace

std::optional<Text> sizeObjection(std::string_view key, std::int64_t value)
{
    const auto* limit = std::find_if(limits.begin(), limits.end(), [key](const Limit& row) { return row.key == key; });
    if (limit == limits.end() || (value >= limit->least && value <= limit->most)) {
        return std::nullopt;
    }
    return Text{HEADROOM_TR("core", "%1 is %2; it must be between %3 and %4"),
                {std::string(key), formatCount(value), formatCount(limit->least), formatCount(limit->most)}};
}

} // namespace headroom
