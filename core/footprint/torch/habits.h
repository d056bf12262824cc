// SPDX-License-Identifier: GPL-3.0-or-later
// In what frameworks that train with PyTorch's own modules differ.
#pragma once

#include "plan/vocabulary.h"

#include <cstdint>
#include <string_view>

namespace headroom {

enum class LossPath : std::uint8_t {
    Upcast, ///< logits.float(), then cross entropy
    Sixteen, ///< cross entropy in the compute type, after a shifted copy
    LogProbabilities, ///< log-softmax of one sequence at a time in the compute type (TRL, selective_log_softmax)
    Compiled, ///< 16-bit logits and their gradient only
    ChunkedLogits, ///< logits of all chunks are kept in 16 bit, one chunk of gradient
    ChunkedVocabulary, ///< logits exist for some tokens and some of the vocabulary at a time, in both directions
    ChunkedHead, ///< output layer and loss run chunk by chunk, forward and backward
    Liger ///< gradients of input and weight are made in the forward
};
enum class TorchSharding : std::uint8_t { None, Ddp, Zero1, Zero2, Zero3, Fsdp };
enum class StepImplementation : std::uint8_t { Fused, Foreach, ForeachTwice, ForLoop, Flat };

/// What a framework does unless told otherwise. Each profile's file has its own, with the sources.
struct TorchHabits
{
    std::string_view profile;
    bool hasPythonNorm = true; ///< a norm written out: fp32 copy, normalised tensor
    bool hasFusedGate = false; ///< the activation and the product with the gate are one kernel
    bool hasExplicitScores = false;
    bool repeatsKv = true;
    bool weighsInFp32 = false; ///< routed rows are multiplied by their scores in fp32
    bool weighsBeforeExperts = false; ///< before the experts, not after
    bool savesQuantisedInputs = false; ///< bitsandbytes up to July 2024 (autograd/_functions.py, MatMul4Bit)
    bool quantisesHead = false; ///< 4-bit weights: the output layer is packed like all others
    bool hasPlainConstants = false; ///< 4-bit weights: an fp32 one for every 64, unless told to quantise it in turn
    int unpackedCopies = 1; ///< 4-bit weights become so many 16-bit tensors, one after the other
    bool cachesDeadResults = false; ///< a selective checkpoint also stores results no backward needs
    bool keepsLastBlockGathered = false;
    bool hasFirstFsdp = false; ///< the first FSDP unless told otherwise, else the second
    bool gathersAhead
        = true; ///< it gathers the block in front while one's backward runs (BackwardPrefetch.BACKWARD_PRE)
    bool accumulatesWhole = false; ///< FSDP reduces the gradients of a step's last micro-batch only (no_sync)
    bool reshardsInPipelines = false; ///< a pipeline's stage gathers again for every pass
    bool gathersTablesAlone = false; ///< embedding and output layer are groups of FSDP, unless they are tied
    LossPath loss = LossPath::Upcast;
    LossPath chunkedLoss = LossPath::ChunkedHead; ///< where the plan says that it is chunked
    bool keepsUpcastLogits = false; ///< through backward, in fp32
    bool returnsFp32Logits = false; ///< what wraps the model converts what it returns
    bool packsQkv = false; ///< one product makes q, k and v; the value is a view of its result
    StepImplementation step = StepImplementation::Foreach;
    bool clipsInFp32 = false; ///< the gradients' norm is taken of fp32 copies of all of them
    bool hasOwnAdafactor = false; ///< that of transformers, not PyTorch's
    DataType adapterType = DataType::Fp32;
    bool supportsTensorParallel = false; ///< and pipelines
    bool splitsTensors = false; ///< tensor parallelism alone
    bool spreadsExperts = false; ///< expert parallelism takes ranks of tensor parallelism
    bool untiesTables = false; ///< what is trained has an output layer of its own, tied in the checkpoint or not
    bool holdsTableWhole = false; ///< every rank of it has the whole embedding
    bool gathersAgain = false; ///< column-parallel layers keep a rank's tokens, and gather all again in backward
    bool copiesContext = false; ///< attention wants sequences first, everything else tokens first
    bool spreadsTables = false; ///< embedding and output layer are data parallel over its ranks unless told otherwise
    bool gathersLogits = false; ///< to all ranks of it, before the loss
    bool receivesIntoBuffers = false; ///< a pipeline's, made for every micro-batch at the start (PyTorch's own runtime)
    bool setsExpandableSegments = false; ///< its launcher does
    bool castsToFloat8 = false; ///< torchao's linear layers take the place of PyTorch's where 8 bits are asked for
    bool hasEngineLayers = false; ///< Transformer Engine's do
};
/// Null when no such profile is known.
[[nodiscard]] const TorchHabits* torchHabits(std::string_view profile);
extern const TorchHabits hfEagerHabits, hfSdpaHabits, hfFlashHabits; // hf.cpp
extern const TorchHabits torchtitanHabits; // torchtitan.cpp
extern const TorchHabits torchtuneHabits; // torchtune.cpp
extern const TorchHabits primeRlHabits, litGptHabits, internEvoHabits, galvatronHabits,
    nanotronHabits; // others.cpp

} // namespace headroom
