// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/record_draft.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr double largestAmount = 1125899906842624.0; // 2^50
constexpr double longestTime = 1e12; // milliseconds; more is a broken line
constexpr double fastest = 1e15; // tokens per second

} // namespace

void RecordDraft::set(std::string_view field, double value)
{
    if (field == "loss") { // a loss may diverge
        record.loss = record.loss ? record.loss : value;
        m_hasSeries = true;
        return;
    }
    const bool isTime = field == "step_time_ms" || field == "train_time_ms";
    if (!(value >= 0) || !std::isfinite(value) || (isTime && value > longestTime)) {
        return;
    }
    if (field == "step") {
        if (value <= std::numeric_limits<std::uint32_t>::max()) {
            record.step = static_cast<std::uint32_t>(value);
        }
    } else if (field == "epoch") {
        m_epoch = value;
    } else if (field == "total_steps") {
        m_epochSteps = value;
    } else if (field == "rank") {
        if (value <= std::numeric_limits<std::int16_t>::max()) {
            record.rank = static_cast<std::int32_t>(value);
        }
    } else if (field == "device_index") {
        m_device = value;
    } else if (field == "train_time_ms") {
        record.elapsedSeconds = value / 1000;
        m_hasSeries = true;
    } else if (field == "steps_per_s") {
        record.stepSeconds = value > 0 ? std::optional(static_cast<float>(1 / value)) : record.stepSeconds;
        m_hasSeries = m_hasSeries || value > 0;
    } else if (field == "step_time_ms") {
        record.stepSeconds = static_cast<float>(value / 1000);
        m_hasSeries = true;
    } else if (field == "tokens_per_s" || (field == "tokens_per_s_per_gpu" && !record.tokensPerSecond)) {
        if (value > fastest) {
            return;
        }
        record.tokensPerSecond = static_cast<float>(value);
        m_hasSeries = true;
    } else if (value <= largestAmount) {
        setBytes(field, value);
    }
}

void RecordDraft::setBytes(std::string_view field, double value)
{
    const auto bytes = static_cast<std::int64_t>(value);
    if (field == "peak_alloc_bytes" || field == "peak_alloc_old_bytes") {
        record.allocatedBytes = bytes;
    } else if (field == "alloc_bytes") {
        record.currentBytes = bytes;
    } else if (field == "peak_reserved_bytes" || field == "reserved_bytes" || field == "model_reserved_bytes") {
        m_reserved = std::max(m_reserved, value);
    } else if (field == "peak_active_bytes") {
        record.activeBytes = bytes;
    } else if (field == "device_used_bytes") {
        record.deviceBytes = bytes;
    } else if (field == "free_gib") {
        record.freeBytes = std::llround(value * 0x1p30);
    } else if (field == "peak_active_pct") {
        record.activePercent = static_cast<float>(value);
    } else {
        m_capacity = field == "capacity_bytes" ? std::optional(value) : m_capacity;
        return;
    }
    m_isMeasured = true;
}

void RecordDraft::countFromEpoch(int firstEpoch)
{
    if (record.step && m_epoch && m_epochSteps && *m_epoch >= firstEpoch) {
        const double step = (*m_epoch - firstEpoch) * *m_epochSteps + static_cast<double>(*record.step);
        set("step", step);
        m_epoch.reset();
    }
}

void RecordDraft::becomeReserved()
{
    m_reserved = std::max(m_reserved, static_cast<double>(record.allocatedBytes));
    record.allocatedBytes = Run::noAllocated;
    record.currentBytes.reset();
}

void RecordDraft::finish(LineSink& sink)
{
    if (record.rank < 0 && m_device && *m_device <= std::numeric_limits<std::int16_t>::max()) {
        record.rank = static_cast<std::int32_t>(*m_device); // as launchers number the processes of a machine
    }
    if (m_reserved >= 0) {
        record.reservedBytes = static_cast<std::int64_t>(m_reserved);
    }
    if (m_isMeasured) {
        record.phase = record.phase.empty() ? Run::wholeStep : record.phase;
        sink.record(record);
    } else if (!isEmpty()) {
        sink.step(record);
    }
}

} // namespace headroom
