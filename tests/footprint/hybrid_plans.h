// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/plans.h"

#include <QTest>

namespace headroom::test {

/// h = 1024; 32 heads of 64 values: 2048 inner; 8 groups of 128 states.
inline TrainingPlan mambaHybrid(const char* pattern, const char* layers, FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"model.layers", layers},
                          {"model.layer_pattern", pattern},
                          {"model.hidden", "1024"},
                          {"model.heads", "16"},
                          {"model.kv_heads", "8"},
                          {"model.ffn", "4096"},
                          {"model.vocab", "32000"},
                          {"batch.seq", "1024"},
                          {"batch.micro", "1"}}));
}

/// Qwen3-Next's attention: h = 2048, 16 heads of 256 values with gates.
inline TrainingPlan gatedDecoder(FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"model.layers", "1"},
                          {"model.hidden", "2048"},
                          {"model.heads", "16"},
                          {"model.kv_heads", "2"},
                          {"model.head_dim", "256"},
                          {"model.attn_gate", "true"},
                          {"model.ffn", "5120"},
                          {"model.gated_mlp", "true"},
                          {"model.vocab", "32000"},
                          {"batch.seq", "1024"},
                          {"batch.micro", "1"}}));
}

/// And its mixers: 32 value and 16 key heads of 128.
inline TrainingPlan deltaHybrid(FieldTexts more = {})
{
    return planOf(more,
                  gatedDecoder({{"model.layers", "8"},
                                {"mixer.kind", "gated_delta_net"},
                                {"mixer.attention_every", "4"},
                                {"mixer.heads", "32"},
                                {"mixer.head_dim", "128"},
                                {"mixer.key_heads", "16"},
                                {"mixer.key_dim", "128"}}));
}

/// Rows of plans over several stages, and how many.
inline void addHybridsOverStages()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<int>("stages");
    QTest::newRow("even") << mambaHybrid("M*-M*-M*-M*-", "12",
                                         {{"parallel.pp", "4"}, {"model.tied_embeddings", "false"}})
                          << 4;
    QTest::newRow("uneven") << mambaHybrid("MMMM-M*-", "8", {{"parallel.pp", "3"}, {"model.tied_embeddings", "false"}})
                            << 3;
    QTest::newRow("delta nets") << deltaHybrid({{"parallel.pp", "2"}, {"model.tied_embeddings", "false"}}) << 2;
}

} // namespace headroom::test
