// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"
#include "footprint/footprint.h"
#include "footprint/tape/program.h"

#include <memory>
#include <vector>

namespace headroom {

/// The tapes of a plan summed and maximised in closed form, microseconds for all stages: what a slider or a search
/// asks. Blocks are taken to be as large as the request rounded to 512 bytes, so that the replay differs by the
/// allocator's rounding only. Reuses its storage: a tick allocates nothing.
class InstantEstimator
{
public:
    InstantEstimator();
    ~InstantEstimator();
    InstantEstimator(const InstantEstimator&) = delete;
    InstantEstimator& operator=(const InstantEstimator&) = delete;

    /// The figures of every stage; fails with the value that is missing or the part that no tape describes.
    [[nodiscard]] Result<void> run(const TrainingPlan& plan, std::vector<StageFootprint>& stages);
    /// The program of the last run.
    [[nodiscard]] const ModelProgram& program() const { return m_program; }

private:
    struct Scratch;

    void fillStage(const StageProgram& stage, StageFootprint& result);
    void describe(const StageProgram& stage, std::int64_t parameters, StageFootprint& result) const;

    ModelProgram m_program;
    std::unique_ptr<Scratch> m_scratch;
};

} // namespace headroom
