// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/programs.h"
#include "plan/training_plan.h"

#include <cstdint>
#include <vector>

namespace headroom::test {

/// A language model's sizes.
struct Shape
{
    std::int64_t layers, hidden, ffn, heads, groups, vocab;
    bool tied;
};
inline constexpr Shape llama2{32, 4096, 11008, 32, 32, 32000, false};
inline constexpr Shape llama3{32, 4096, 14336, 32, 8, 128256, false};
inline constexpr Shape llama32{28, 3072, 8192, 24, 8, 128256, true};

inline constexpr std::int64_t tokens = 4096;

inline TrainingPlan planOf(const Shape& shape, const char* profile)
{
    TrainingPlan plan;
    plan.model.layers = Count(shape.layers);
    plan.model.hidden = Count(shape.hidden);
    plan.model.ffn = Count(shape.ffn);
    plan.model.heads = Count(shape.heads);
    plan.model.kvHeads = Count(shape.groups);
    plan.model.vocab = Count(shape.vocab);
    plan.model.gatedMlp = Flag(true);
    plan.model.tiedEmbeddings = Flag(shape.tied);
    plan.batch.micro = Count(1);
    plan.batch.seq = Count(tokens);
    plan.implementation.profile = Name(profile);
    plan.precision.recipe = Name("bf16-pure");
    return plan;
}

inline void shardWithFsdp(TrainingPlan& plan, std::int64_t ranks)
{
    plan.shard.fsdp = Flag(true);
    plan.parallel.dp = Count(ranks);
    plan.precision.params = plan.precision.grads = plan.precision.optM = plan.precision.optV
        = Field<DataType>(DataType::Fp32);
    plan.precision.master = Field<DataType>(DataType::None);
    plan.precision.reduce = Field<DataType>(DataType::Fp32);
}

inline std::int64_t sumOf(const std::vector<Tape::Event>& events)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& event : events) {
        bytes += event.bytes;
    }
    return bytes;
}

/// Bytes per token that a piece keeps after its forward; the input counts where its backward frees it.
inline double keptPerToken(const ModelProgram& program, std::size_t piece = 1)
{
    const Tape& tape = program.pieces[piece].tape;
    std::int64_t bytes = 0;
    for (const Tape::Event& saved : tape.saved) {
        bytes += saved.bytes;
    }
    for (const Tape::Event& event : tape.backward) {
        bytes += event.op == Tape::Op::Free && event.slot == Tape::input ? event.bytes : 0;
    }
    return static_cast<double>(bytes) / static_cast<double>(tokens);
}

} // namespace headroom::test
