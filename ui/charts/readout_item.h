// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include <vector>

namespace headroom {

/// The box beside the crosshair: a muted heading and rows of dot, name and value. Stays inside its axis rect.
class ReadoutItem : public QCPAbstractItem
{
    Q_OBJECT

public:
    struct Row
    {
        QColor color;
        QString name;
        QString value;
    };

    explicit ReadoutItem(QCustomPlot* plot);

    void setContent(const QString& heading, std::vector<Row> rows);
    void setFonts(const QFont& font, const QFont& valueFont);
    /// The point the box belongs to, in pixels of the plot.
    void setAnchorPixel(QPointF pixel) { m_anchor = pixel; }

    [[nodiscard]] const QString& heading() const { return m_heading; }
    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; }

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter* painter) override;

private:
    [[nodiscard]] QRectF placed(QSizeF size) const;

    QString m_heading;
    std::vector<Row> m_rows;
    QFont m_font;
    QFont m_valueFont;
    QPointF m_anchor;
};

} // namespace headroom
