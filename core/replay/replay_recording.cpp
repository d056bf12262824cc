// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a replay notes down on its way: the peak's tensors, the spans of the timeline, the figures at its end.
#include "replay/replay_reader.h"

namespace headroom {

namespace {

constexpr auto activationsIndex = static_cast<std::size_t>(Component::Activations);
constexpr auto inFlightIndex = static_cast<std::size_t>(Component::InFlight);

} // namespace

/// The components as they stand, the activations split into this micro-batch's and the others'.
void ReplayReader::takeSnapshot()
{
    std::array<Bytes, componentCount> components{};
    for (std::size_t i = 0; i < components.size(); ++i) {
        components[i] = Bytes{m_components[i]};
    }
    // m_activations counts those of the chunk that runs now.
    components[inFlightIndex] = Bytes{m_components[activationsIndex] - m_activations};
    components[activationsIndex] = Bytes{m_activations};
    if (m_hasUnseenSpan) {
        m_span.components = components;
        m_hasUnseenSpan = false;
    }
    if (!m_hasUnseenPeak) {
        return;
    }
    m_hasUnseenPeak = false;
    m_result.components = components;
    m_result.peakPhase = m_phase;
    m_result.peakRounding = Bytes{m_rounding};
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        m_result.peakTensors[i] = Bytes{m_tensors[i]};
    }
}

void ReplayReader::endSpan()
{
    if (m_isRecording) {
        if (m_hasUnseenSpan) {
            takeSnapshot();
        }
        if (m_spanPeak > 0) {
            m_span.phase = m_phase;
            m_span.chunk = m_chunk;
            m_span.microBatch = m_microBatch;
            m_span.isRebuilding = m_isRebuilding;
            m_result.timeline.push_back(m_span);
        }
    }
    m_spanPeak = 0;
}

StageReplay ReplayReader::finish()
{
    takeSnapshot();
    const AllocatorStatistics& now = m_allocator.statistics();
    m_result.steadyAllocated = Bytes{now.allocated};
    m_result.peakAllocated = Bytes{m_peak};
    m_result.peakReserved = Bytes{now.peakReserved};
    m_result.reservedAtEnd = Bytes{now.reserved};
    m_result.largestFreeBlock = Bytes{m_allocator.largestFreeBlock()};
    m_result.steadyRounding = Bytes{m_rounding};
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        m_result.steadyTensors[i] = Bytes{m_tensors[i]};
    }
    for (std::size_t i = 0; i < m_phasePeaks.size(); ++i) {
        m_result.phases[i] = Bytes{m_phasePeaks[i]};
    }
    return std::move(m_result);
}

} // namespace headroom
