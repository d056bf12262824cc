// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_format.h"

#include <cstdint>
#include <string_view>

namespace headroom {

/// A record while its fields are being found.
class RecordDraft
{
public:
    LineRecord record;

    /// Takes a field that has a place in records; the names are those of resources/formats/log/README.md. Others, and
    /// values that mean nothing, are ignored.
    void set(std::string_view field, double value);
    /// Steps count anew in each epoch: with the epoch and the steps of one, which were set before, they become steps of
    /// the run.
    void countFromEpoch(int firstEpoch);
    /// The amounts that were set as allocated are the reserved ones.
    void becomeReserved();
    /// The capacity of the device, which records have no place for.
    [[nodiscard]] std::optional<double> capacity() const { return m_capacity; }
    /// Has something to tell.
    [[nodiscard]] bool isEmpty() const { return !m_isMeasured && !m_hasSeries && !record.step; }
    /// Gives the record to the sink: as one with amounts of memory, or as one about a step.
    void finish(LineSink& sink);

private:
    void setBytes(std::string_view field, double value);

    double m_reserved = -1; ///< the larger of what is called reserved: some frameworks round the peak
    std::optional<double> m_capacity, m_epoch, m_epochSteps, m_device;
    bool m_isMeasured = false; ///< has an amount of memory
    bool m_hasSeries = false; ///< has a loss, a time or a rate
};

} // namespace headroom
