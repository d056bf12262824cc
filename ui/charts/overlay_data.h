// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/bytes.h"

#include <QString>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headroom {

/// One line of an OverlayChart: something of a run over the steps, or of all runs over their places.
struct OverlayLine
{
    enum class Hue : std::uint8_t { Phase, Reserved, Device, Figure };

    QString run; ///< whose it is; empty: of every run
    QString name; ///< "forward"
    Hue hue = Hue::Figure;
    std::size_t phase = 0; ///< of a Hue::Phase, its place in the theme
    bool isEarlier = false; ///< of the run before: drawn thin and pale
    std::vector<double> keys, values; ///< keys ascending; values in GiB or in the unit of the chart
};

/// Lines on shared axes. What is drawn against steps holds its value until the next; what is drawn against runs is
/// known at each run only.
struct OverlayData
{
    QString title;
    std::vector<OverlayLine> lines;
    QString unit; ///< "s"; empty: GiB
    std::vector<QString> runNames; ///< at the keys 0, 1, …; empty: keys are steps
    std::optional<std::size_t> reference; ///< the run among them that others are measured by
    std::optional<Bytes> capacity;
    QString capacityLabel;

    [[nodiscard]] bool isBytes() const { return unit.isEmpty(); }
    [[nodiscard]] bool isOverRuns() const { return !runNames.empty(); }
};
using Overlay = std::shared_ptr<const OverlayData>;

} // namespace headroom
