// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/stage_pairs.h"

#include <qcustomplot.h>

namespace headroom {

/// One item for all marks of a StagePairsPlot, since hundreds of items cost more than the bars.
class PairMarks : public QCPAbstractItem
{
    Q_OBJECT

public:
    PairMarks(QCustomPlot* plot, QCPAxisRect* rect);

    void setPairs(std::shared_ptr<const StagePairs> pairs) { m_pairs = std::move(pairs); }
    void setFont(const QFont& font) { m_font = font; }
    /// Pixels.
    void setBarWidth(double width) { m_barWidth = width; }
    /// Where the middle of a run's bar is, in stages.
    [[nodiscard]] static double keyOf(const StagePairs& pairs, std::size_t stage, std::size_t side);

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter* painter) override;

private:
    void drawBar(QCPPainter& painter, const StageFootprint& stage, double x) const;
    void drawMeasured(QCPPainter& painter, Bytes bytes, double x, bool isEarlier) const;
    void drawUnplaced(QCPPainter& painter, Bytes bytes, bool isEarlier) const;
    [[nodiscard]] double pixelY(Bytes bytes) const;

    QCPAxisRect* m_rect;
    std::shared_ptr<const StagePairs> m_pairs;
    QFont m_font;
    double m_barWidth = 20;
};

} // namespace headroom
