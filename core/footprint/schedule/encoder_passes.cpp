// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule/encoder_passes.h"

namespace headroom {

std::int64_t widthOf(StagePass::Kind kind)
{
    switch (kind) {
    case StagePass::Kind::Forward:
        return forwardWidth;
    case StagePass::Kind::Backward:
        return backwardWidth;
    case StagePass::Kind::InputGradient:
        return backwardWidth - weightsWidth;
    case StagePass::Kind::WeightGradient:
        break;
    }
    return weightsWidth;
}

std::vector<EncoderPass> encoderPasses(const RankShape& shape, std::int64_t microBatches)
{
    std::vector<EncoderPass> passes;
    std::int64_t time = 0;
    for (const StagePass& pass :
         stageOrder({shape.schedule, shape.stages, shape.chunks, microBatches, shape.chunkGroup}, 0)) {
        const std::int64_t end = time + widthOf(pass.kind);
        if (pass.chunk == 0 && pass.kind != StagePass::Kind::WeightGradient) {
            const bool isForward = pass.kind == StagePass::Kind::Forward;
            passes.push_back({isForward ? time : end, pass.microBatch, isForward});
        }
        time = end;
    }
    return passes;
}

} // namespace headroom
