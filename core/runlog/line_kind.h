// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace headroom {

/// What the lines of a format are.
enum class LineKind : std::uint8_t {
    Memory, ///< measured amounts
    Iteration, ///< step, loss, time of a step
    Timers,
    Phase, ///< names what the next memory line is about
    Stage, ///< amounts of a whole stage (initialisation, training)
    Arguments,
    Parameters,
    Estimate, ///< amounts that were calculated, not measured
    Capacity,
    Device, ///< what the driver says
    Host,
    Table, ///< memory_summary()
    OutOfMemory,
    Marker,
    Prefix, ///< what launchers put before a line
    Value
};

} // namespace headroom
