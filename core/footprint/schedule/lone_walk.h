// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/stage_walk.h"

namespace headroom {

/// A step of the only stage, to which nothing comes from elsewhere.
template <class Reader> class LoneWalk : public StageWalk<Reader>
{
public:
    using Walk = StageWalk<Reader>;
    using Handle = typename Reader::Handle;
    using Walk::Walk;

    void run(std::int64_t microBatches)
    {
        for (std::int64_t i = 0; i < microBatches; ++i) {
            m_reader.enter(Phase::Forward);
            m_reader.forward(0, i, Handle{});
            m_reader.enter(Phase::Backward);
            m_reader.backward(0, i, Handle{});
            microBatches -= repeatable({}, microBatches - i - 1, 1);
        }
    }

private:
    using Walk::m_reader;
    using Walk::repeatable;
};

} // namespace headroom
