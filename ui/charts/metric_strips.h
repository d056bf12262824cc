// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/peak_series.h"
#include "charts/readout_item.h"

#include <QObject>

#include <vector>

class QCPAxis;
class QCPAxisRect;
class QCPGraph;
class QCPItemStraightLine;
class QCPItemText;
class QCPMarginGroup;
class QCPRange;

namespace headroom {

class PlotCanvas;
struct Theme;

[[nodiscard]] QString metricName(Metric metric);
/// Of a timer its own, with the rank where it has one.
[[nodiscard]] QString metricName(const MetricLine& line);
/// "1.34 s", "306.6 ms" of a timer, "12 345", "2.0813" in the user's locale.
[[nodiscard]] QString metricText(Metric metric, double value);

/// Step time, tokens per second and loss in low axis rects of their own under a chart, and timers together in one, over
/// the same steps and aligned with it by `margins`.
class MetricStrips : public QObject
{
    Q_OBJECT

public:
    /// Rows are put into `plot`'s layout from `firstRow` on.
    MetricStrips(PlotCanvas& plot, QCPMarginGroup& margins, int firstRow);

    /// Empty: no strips. Timers come last.
    void setLines(const std::vector<MetricLine>& lines);
    void setRange(const QCPRange& steps);
    /// NaN: none.
    void setCursor(double step);
    void applyTheme(const Theme& theme);
    [[nodiscard]] int stripCount() const { return static_cast<int>(m_strips.size()); }
    /// Pixels from the top of the first strip to the bottom of the last.
    [[nodiscard]] QRect area() const;
    [[nodiscard]] std::vector<ReadoutItem::Row> rowsAt(std::int64_t step) const;

private:
    struct Strip
    {
        std::vector<MetricLine> lines; ///< several of timers only
        QCPAxisRect* rect = nullptr;
        std::vector<QCPGraph*> graphs; ///< one a line
        QCPItemText* name = nullptr;
        QCPItemStraightLine* cursor = nullptr;
    };

    [[nodiscard]] Strip makeStrip(int row, const std::vector<MetricLine>& lines);
    void remove(const Strip& strip);
    void fill(Strip& strip) const;

    PlotCanvas& m_plot;
    QCPMarginGroup& m_margins;
    int m_firstRow;
    std::vector<Strip> m_strips;
};

} // namespace headroom
