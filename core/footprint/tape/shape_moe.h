// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank sees of experts, latent attention and context parallelism: the parts of RankShape that few models have.
#pragma once

#include "plan/training_plan.h"
#include "units/problem.h"

#include <cstdint>

namespace headroom {

/// Routed and shared experts; symbols of theory.md 1.3 and 3.8. Widths are this rank's share.
struct ExpertShape
{
    enum class Dispatcher : std::uint8_t { AllGather, AllToAll, DeepEp, HybridEp };

    std::int64_t count = 0; ///< E; 0: every layer is dense
    std::int64_t local = 0, topk = 0, ffn = 0, sharedFfn = 0;
    std::int64_t latent = 0; ///< width of the routed tokens where it is not the model's
    std::int64_t firstDenseLayers = 0, every = 1;
    std::int64_t ranks = 1, tensor = 1; ///< ep, etp
    std::int64_t optimizerShards = 1;
    std::int64_t probability = 2; ///< bytes
    double capacityFactor = 0; ///< 0: nothing is dropped
    double load = 1; ///< rows that reach this rank, by those of balanced routing
    Dispatcher dispatcher = Dispatcher::AllGather;
    /// Rows go back to their tokens by index_add, whose derivative reads them (moe/moe_utils.py, unpermute).
    bool keepsOutput = false;
    bool padsToCapacity = false, isGrouped = false, fusesPermutation = false, fusesActivation = true;
    bool hasOwnBuffers = false; ///< other replicas than the dense weights, so other gradient buffers and shards
    bool overlapsCommunication = false;
    bool recomputesLayer = false, recomputesActivation = false, recomputesShared = false;

    [[nodiscard]] bool isPresent() const { return count > 0; }
    [[nodiscard]] bool hasLayer(std::int64_t layer) const
    {
        return isPresent() && layer >= firstDenseLayers && layer % every == 0;
    }
    /// Rows that the experts of this rank work on, those gathered over expert tensor parallelism included.
    [[nodiscard]] std::int64_t rows(std::int64_t localTokens) const;
    /// Tokens that this rank gets where each comes once, however many of its experts it has chosen: topk of E without
    /// repetition miss those of a rank with a probability of C(E - E_l, topk) / C(E, topk).
    [[nodiscard]] std::int64_t received(std::int64_t localTokens) const;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434 section 2.1); heads are in RankShape.
struct LatentShape
{
    std::int64_t query = 0, keyValue = 0; ///< r_q (0: queries are not compressed), r_kv
    std::int64_t plain = 0, rotary = 0, value = 0; ///< n, r, v: parts of a head
    bool hasNorms = false, recomputesUpProjection = false;

    [[nodiscard]] bool isPresent() const { return keyValue > 0; }
};

/// How the ranks of a context-parallel group let a query see every key.
enum class ContextExchange : std::uint8_t {
    Ring, ///< keys and values go round
    Gather, ///< every rank gathers all keys and values
    Heads, ///< all-to-all: whole sequences of fewer heads
    HeadsThenRing
};
struct ContextShape
{
    ContextExchange exchange = ContextExchange::Ring;
    std::int64_t ring = 1; ///< ranks that pass keys and values on
};

struct RankShape;

/// Fills in `shape.experts`, `shape.latentAttention` and `shape.contextShape`, whose other parts are there already.
/// Fails with the value that is missing, impossible or not described.
[[nodiscard]] Result<void> readSpecialLayers(const TrainingPlan& plan, RankShape& shape);

} // namespace headroom
