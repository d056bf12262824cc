// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "runlog/run.h"

#include <cmath>
#include <cstdint>

namespace headroom::test {

/// A Run record by record.
class RunBuilder
{
public:
    RunBuilder& add(std::uint32_t step, int phase, int rank, Bytes allocated, std::int64_t reserved = Run::noReserved)
    {
        run.step.push_back(step);
        run.phase.push_back(static_cast<std::uint8_t>(phase));
        run.rank.push_back(static_cast<std::int16_t>(rank));
        run.allocatedBytes.push_back(allocated.value);
        run.reservedBytes.push_back(reserved);
        run.line.push_back(static_cast<std::uint32_t>(run.step.size() * 10));
        return *this;
    }

    Run run;
};

/// 400 steps on four ranks around 63, 75 and 42 GiB, with a spike in step 121.
inline Run typicalRun()
{
    RunBuilder builder;
    builder.run.files = {"runs/train.log"};
    std::uint32_t noise = 7;
    const auto jitter = [&noise] {
        noise = noise * 1664525U + 1013904223U;
        return static_cast<double>(noise >> 16U) / 65536.0 - 0.5;
    };
    for (std::uint32_t step = 0; step <= 400; ++step) {
        for (int rank = 0; rank < 4; ++rank) {
            const double spike = step == 121 && rank == 0 ? 3 : 0;
            const auto reserved = bytesFrom((81.2 + 0.2 * jitter() + spike / 10) * 0x1p30).value;
            builder.add(step, 0, rank, bytesFrom((62.8 + 0.8 * jitter() + spike) * 0x1p30));
            builder.add(step, 1, rank, bytesFrom((74.6 + 0.9 * jitter() + spike) * 0x1p30), reserved);
            builder.add(step, 2, rank, bytesFrom((41.9 + 0.2 * jitter() + spike) * 0x1p30));
        }
    }
    return builder.run;
}

/// Rank r at step s: forward 10 + r, backward 20 + r + s GiB, reserved 30 + r in backward; times and losses on rank 1.
inline Run fourRanks()
{
    RunBuilder builder;
    for (std::uint32_t step = 1; step <= 10; ++step) {
        for (int rank = 0; rank < 4; ++rank) {
            builder.add(step, 0, rank, gib(10 + rank));
            builder.add(step, 1, rank, gib(20 + rank + std::int64_t{step}), gib(30 + rank).value);
            if (rank == 1) {
                const auto record = static_cast<std::uint32_t>(builder.run.size() - 1);
                builder.run.stepSeconds.records.push_back(record);
                builder.run.stepSeconds.values.push_back(static_cast<float>(step) / 4);
                builder.run.loss.records.push_back(record);
                builder.run.loss.values.push_back(step == 3 ? std::nan("") : 3.0 - 0.125 * step);
            }
        }
    }
    builder.run.files = {"train.log"};
    return builder.run;
}

/// Stages with these components in GiB, in stacking order; device is their sum.
inline Footprint footprintOf(const std::vector<std::array<double, componentCount>>& stages)
{
    Footprint footprint;
    for (const auto& components : stages) {
        StageFootprint stage;
        stage.stage = static_cast<std::int64_t>(footprint.stages.size());
        for (std::size_t i = 0; i < components.size(); ++i) {
            stage.components[i] = bytesFrom(components[i] * 0x1p30);
            stage.device += stage.components[i];
        }
        footprint.stages.push_back(stage);
        if (stage.device > footprint.fullest().device)
            footprint.fullestStage = footprint.stages.size() - 1;
    }
    return footprint;
}

} // namespace headroom::test
