// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/plans.h"
#include "footprint/tape/program.h"

#include <algorithm>
#include <cstdint>

namespace headroom::test {

inline TrainingPlan small(FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"model.layers", "4"},
                          {"model.hidden", "1024"},
                          {"model.heads", "16"},
                          {"model.ffn", "4096"},
                          {"model.vocab", "32768"},
                          {"model.tied_embeddings", "false"},
                          {"batch.seq", "128"},
                          {"batch.micro", "1"}}));
}

constexpr std::int64_t h = 1024, layers = 4, vocab = 32'768, sequence = 128;
/// 4h² of attention and 8h² of the MLP in each layer, embedding and output layer, two norms a layer and the last one.
constexpr std::int64_t parameters = layers * 12 * h * h + 2 * vocab * h + 9 * h;

inline std::int64_t residentOf(const ModelProgram& program)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& tensor : program.stages[0].tensors.resident) {
        bytes += tensor.bytes;
    }
    return bytes;
}

/// Highest level of the forward of the last piece, the head.
inline std::int64_t headPeak(const ModelProgram& program)
{
    std::int64_t level = 0, highest = 0;
    for (const Tape::Event& event : program.pieces[program.stages[0].chunks[0].runs.back().piece].tape.forward) {
        level += event.op == Tape::Op::Allocate ? event.bytes : event.op == Tape::Op::Free ? -event.bytes : 0;
        highest = std::max(highest, level);
    }
    return highest;
}

} // namespace headroom::test
