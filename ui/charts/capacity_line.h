// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/bytes.h"

#include <QString>

#include <optional>

class QCPAxisRect;
class QCPItemStraightLine;
class QCPItemText;

namespace headroom {

class PlotCanvas;
struct Theme;

/// What one GPU has: a dashed line across an axis rect in GiB, its label at the right end.
class CapacityLine
{
public:
    CapacityLine(PlotCanvas& plot, QCPAxisRect& rect);

    /// False: this is what it shows already.
    bool set(std::optional<Bytes> capacity, const QString& label);
    /// Hides the line without forgetting the capacity.
    void setVisible(bool visible);
    /// The line alone says enough where its label would stand on other numbers.
    void setLabelVisible(bool visible);
    void applyTheme(const Theme& theme);
    [[nodiscard]] std::optional<Bytes> capacity() const { return m_capacity; }
    /// In pixels, from the right end.
    [[nodiscard]] double labelWidth() const;
    [[nodiscard]] bool showsLabel() const { return m_isLabelVisible; }

private:
    PlotCanvas& m_plot;
    QCPItemText* m_label; // before the line, which is drawn over the label's background
    QCPItemStraightLine* m_line;
    std::optional<Bytes> m_capacity;
    QString m_wantedLabel;
    bool m_isVisible = true;
    bool m_isLabelVisible = true;
};

} // namespace headroom
