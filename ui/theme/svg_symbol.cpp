// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme/svg_symbol.h"

#include <QFile>
#include <QPainter>
#include <QXmlStreamReader>

using namespace Qt::StringLiterals;

namespace headroom {

namespace {

/// Reads the commands and numbers of a path's data.
class PathReader
{
public:
    explicit PathReader(QStringView data)
        : m_data(data)
    {
    }

    [[nodiscard]] std::optional<QPainterPath> read()
    {
        while (skipSeparators(), m_position < m_data.size()) {
            if (m_data[m_position].isLetter())
                m_command = m_data[m_position++];
            else if (m_command.toUpper() == u'Z')
                return std::nullopt;
            if (!step())
                return std::nullopt;
        }
        return m_path;
    }

private:
    bool step()
    {
        const bool isRelative = m_command.isLower();
        const QPointF origin = isRelative ? m_path.currentPosition() : QPointF();
        switch (m_command.toUpper().unicode()) {
        case u'M': {
            const auto to = point(origin);
            if (!to)
                return false;
            m_path.moveTo(*to);
            m_command = isRelative ? u'l' : u'L'; // further pairs are lines
            return true;
        }
        case u'L':
            return line(point(origin));
        case u'H': {
            const auto x = number();
            return x && line(QPointF(origin.x() + *x, m_path.currentPosition().y()));
        }
        case u'V': {
            const auto y = number();
            return y && line(QPointF(m_path.currentPosition().x(), origin.y() + *y));
        }
        case u'C': {
            const auto first = point(origin), second = point(origin), to = point(origin);
            if (to)
                m_path.cubicTo(*first, *second, *to);
            return to.has_value();
        }
        case u'Q': {
            const auto control = point(origin), to = point(origin);
            if (to)
                m_path.quadTo(*control, *to);
            return to.has_value();
        }
        case u'Z':
            m_path.closeSubpath();
            return true;
        default:
            return false;
        }
    }

    bool line(std::optional<QPointF> to)
    {
        if (to)
            m_path.lineTo(*to);
        return to.has_value();
    }

    std::optional<QPointF> point(QPointF origin)
    {
        const auto x = number();
        const auto y = number();
        if (!x || !y)
            return std::nullopt;
        return origin + QPointF(*x, *y);
    }

    std::optional<double> number()
    {
        skipSeparators();
        qsizetype end = m_position;
        bool hasDot = false;
        while (end < m_data.size()
               && (m_data[end].isDigit() || (m_data[end] == u'-' && end == m_position)
                   || (m_data[end] == u'.' && !hasDot)))
            hasDot |= m_data[end++] == u'.';
        bool isNumber = false;
        const double value = m_data.mid(m_position, end - m_position).toDouble(&isNumber);
        m_position = end;
        return isNumber ? std::optional(value) : std::nullopt;
    }

    void skipSeparators()
    {
        while (m_position < m_data.size() && (m_data[m_position].isSpace() || m_data[m_position] == u','))
            ++m_position;
    }

    QStringView m_data;
    qsizetype m_position = 0;
    QChar m_command;
    QPainterPath m_path;
};

std::optional<QPainterPath> pathOf(QStringView element, const QXmlStreamAttributes& attributes)
{
    if (element == u"path")
        return parseSvgPath(attributes.value("d"_L1));
    if (element == u"circle") {
        QPainterPath path;
        const double radius = attributes.value("r"_L1).toDouble();
        path.addEllipse({attributes.value("cx"_L1).toDouble(), attributes.value("cy"_L1).toDouble()}, radius, radius);
        return path;
    }
    return std::nullopt;
}

} // namespace

std::optional<QPainterPath> parseSvgPath(QStringView data)
{
    return PathReader(data).read();
}

SvgSymbol SvgSymbol::load(const QString& path)
{
    SvgSymbol symbol;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return symbol;
    QXmlStreamReader xml(&file);
    while (xml.readNextStartElement() || !xml.atEnd()) {
        if (!xml.isStartElement())
            continue;
        const QXmlStreamAttributes attributes = xml.attributes();
        if (xml.name() == u"svg")
            symbol.m_side = attributes.value("viewBox"_L1).split(u' ').last().toDouble();
        if (const auto shape = pathOf(xml.name(), attributes)) {
            const bool isFilled = attributes.value("fill"_L1) != u"none";
            symbol.m_shapes.push_back({*shape, isFilled, attributes.value("stroke-width"_L1).toDouble()});
        }
    }
    return symbol;
}

void SvgSymbol::paint(QPainter& painter, const QRectF& rect, const QColor& color) const
{
    const double scale = std::min(rect.width(), rect.height()) / m_side;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(rect.center());
    painter.scale(scale, scale);
    painter.translate(-m_side / 2, -m_side / 2);
    for (const Shape& shape : m_shapes) {
        const QPen pen(color, shape.strokeWidth, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
        painter.setPen(shape.strokeWidth > 0 ? pen : QPen(Qt::NoPen));
        painter.setBrush(shape.isFilled ? QBrush(color) : QBrush(Qt::NoBrush));
        painter.drawPath(shape.path);
    }
    painter.restore();
}

} // namespace headroom
