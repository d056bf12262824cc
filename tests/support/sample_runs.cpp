// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/sample_log.h"

#include <array>

namespace headroom::samples {

namespace {

// Dense bf16 peaks of the data sheets, 40 % of them used: H100 989, A100 312, L40S 362, RTX 3060 51 TFLOP/s.
constexpr double h100 = 0.4 * 989e12;
constexpr double a100 = 0.4 * 312e12;
constexpr double l40s = 0.4 * 362e12;
constexpr double rtx3060 = 0.4 * 51e12;

constexpr std::array<SampleRun, 5> runs{{
    {"llama3-8b-oom",
     11,
     400,
     0.76,
     0.845,
     {4, false},
     LineStyle::RankPrefix,
     h100,
     2.35,
     1.12,
     Failure{371, 0.865, 79.11}},
    {"qwen2-vl-7b-forward", 22, 400, 0.97, 1, {4, true}, LineStyle::Plain, l40s, 3.1, 1.46},
    {"llama2-7b-optimizer", 33, 400, 0.99, 1, {4, false}, LineStyle::Timestamped, a100, 10.7, 3.2},
    {"qwen2.5-7b-recompute-off", 44, 400, 0.98, 1, {4, false}, LineStyle::Plain, h100, 11.9, 3.0},
    {"small-gpt", 55, 400, 0.98, 1, {}, LineStyle::RankPrefix, rtx3060, 10.9, 4.1},
}};

} // namespace

std::span<const SampleRun> sampleRuns()
{
    return runs;
}

} // namespace headroom::samples
