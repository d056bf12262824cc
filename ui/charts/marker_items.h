// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/readout_item.h"

#include <QString>

#include <array>
#include <optional>
#include <vector>

class QCPAxisRect;
class QCPItemStraightLine;
class QCPItemText;

namespace headroom {

class PlotCanvas;
struct Theme;

/// Two steps to compare: a line with a letter at each, and a box with the differences in the corner of an axis rect.
class MarkerItems
{
public:
    MarkerItems(PlotCanvas& plot, QCPAxisRect& rect);

    /// Where marker A (0) or B (1) stands, or that it is not there.
    void setStep(std::size_t which, std::optional<qint64> step);
    /// Without rows there is no box.
    void setDifferences(const QString& heading, std::vector<ReadoutItem::Row> rows);
    /// After the layout: the box keeps to the corner.
    void place();
    void applyTheme(const Theme& theme);
    [[nodiscard]] const ReadoutItem* box() const { return m_box; }

private:
    struct Marker
    {
        QCPItemStraightLine* line = nullptr;
        QCPItemText* letter = nullptr;
    };

    PlotCanvas& m_plot;
    QCPAxisRect& m_rect;
    std::array<Marker, 2> m_markers;
    ReadoutItem* m_box;
};

} // namespace headroom
