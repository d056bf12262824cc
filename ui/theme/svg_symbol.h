// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPainterPath>
#include <QString>

#include <optional>
#include <vector>

class QPainter;

namespace headroom {

/// A one-colour drawing read from the small part of SVG our symbols are written in: a square viewBox, <path d> with
/// M L H V C Q Z in either case, <circle>, fill="currentColor" or none, stroke-width. Other elements are ignored.
class SvgSymbol
{
public:
    /// Empty when the file cannot be read.
    [[nodiscard]] static SvgSymbol load(const QString& path);

    [[nodiscard]] bool isEmpty() const { return m_shapes.empty(); }
    /// Fitted into `rect`, strokes scaled along.
    void paint(QPainter& painter, const QRectF& rect, const QColor& color) const;

private:
    struct Shape
    {
        QPainterPath path;
        bool isFilled = false;
        double strokeWidth = 0; ///< in units of the view box; 0: no stroke
    };

    double m_side = 16;
    std::vector<Shape> m_shapes;
};

/// The path of a `d` attribute; none when it isn't made of the commands above.
[[nodiscard]] std::optional<QPainterPath> parseSvgPath(QStringView data);

} // namespace headroom
