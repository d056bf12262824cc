// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/loss_plot.h"

#include "charts/gib_text.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr int wholePlot = 1 << 16; ///< pixels
constexpr double air = 0.06; ///< of the values' span, above and below

/// An axis that shows these values; around a constant one too.
void fit(QCPAxis& axis, QCPRange values)
{
    const double span = values.size();
    const double room = span > 0 ? span * air : std::max(std::abs(values.center()) * air, 1e-12);
    axis.setRange(values.lower - room, values.upper + room);
}

QString numberText(double value)
{
    return QLocale().toString(value, 'g', 6);
}

} // namespace

LossPlot::LossPlot(ViewState& range, QWidget* parent)
    : PlotCanvas(parent)
    , m_range(range)
    , m_differenceRect(new QCPAxisRect(this))
    , m_margins(new QCPMarginGroup(this))
    , m_gestures(*this, *axisRect())
    , m_readout(new ReadoutItem(this))
{
    plotLayout()->addElement(1, 0, m_differenceRect);
    plotLayout()->setRowStretchFactor(0, 1.7);
    plotLayout()->setRowSpacing(4);
    for (QCPAxisRect* rect : {axisRect(), m_differenceRect}) {
        rect->setMarginGroup(QCP::msLeft | QCP::msRight, m_margins);
        rect->axis(QCPAxis::atLeft)->setNumberFormat(QStringLiteral("g"));
        rect->axis(QCPAxis::atLeft)->setNumberPrecision(4);
        for (QCPAxis* axis : rect->axes()) {
            axis->setLayer(QStringLiteral("axes"));
            axis->grid()->setLayer(QStringLiteral("grid"));
        }
    }
    stepAxis()->setTickLabels(false);
    lowerStepAxis()->setNumberFormat(QStringLiteral("f"));
    lowerStepAxis()->setNumberPrecision(0);
    m_graphs = {addGraph(stepAxis(), lossAxis()), addGraph(stepAxis(), lossAxis()),
                addGraph(lowerStepAxis(), differenceAxis())};
    for (std::size_t side = 0; side < 2; ++side) {
        auto* line = m_tolerance[side] = new QCPItemStraightLine(this);
        auto* crosshair = m_crosshair[side] = new QCPItemStraightLine(this);
        for (QCPItemPosition* point : {line->point1, line->point2})
            point->setAxes(lowerStepAxis(), differenceAxis());
        QCPAxisRect* rect = side == 0 ? axisRect() : m_differenceRect;
        for (QCPItemPosition* point : {crosshair->point1, crosshair->point2})
            point->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
        line->setClipAxisRect(m_differenceRect);
        crosshair->setClipAxisRect(rect);
        crosshair->setLayer(cursorLayer());
        line->setSelectable(false);
        crosshair->setSelectable(false);
    }
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(axisRect());
    m_gestures.setViewState(&range);
    m_gestures.setReachBelow(wholePlot);
    connect(&range, &ViewState::rangeChanged, this, &LossPlot::showRange);
    connect(this, &QCustomPlot::beforeReplot, this, &LossPlot::fitTicks);
    connect(&m_gestures, &RangeGestures::hovered, this, &LossPlot::hover);
    connect(&m_gestures, &RangeGestures::left, this, [this] {
        setCursor({});
        emit cursorMoved();
    });
    LossPlot::applyTheme(Theme::current());
    showCursor();
}

/// As many numbers as stand above each other without touching; the ticker takes a few more than it is asked for.
void LossPlot::fitTicks()
{
    for (QCPAxisRect* rect : {axisRect(), m_differenceRect}) {
        const int room = rect->height() / (2 * fontMetrics().height());
        rect->axis(QCPAxis::atLeft)->ticker()->setTickCount(std::clamp(room, 1, 4));
        // Of two numbers on two lines of text none can be read.
        rect->axis(QCPAxis::atLeft)->setTickLabels(rect->height() > 2 * fontMetrics().height());
    }
}

std::array<QColor, 3> LossPlot::colors()
{
    const Theme& theme = Theme::current();
    return {theme.phase(0), theme.phase(1), theme.accent};
}

void LossPlot::setCurves(LossChart::Curves curves)
{
    m_curves = std::move(curves);
    m_cursor.reset();
    const auto count = m_curves ? static_cast<qsizetype>(m_curves->steps.size()) : 0;
    QVector<double> steps(count), first(count), second(count), difference(count);
    for (qsizetype i = 0; i < count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        steps[i] = m_curves->steps[place];
        first[i] = m_curves->first[place];
        second[i] = m_curves->second[place];
        difference[i] = second[i] - first[i];
    }
    m_graphs[0]->setData(steps, first, true);
    m_graphs[1]->setData(steps, second, true);
    m_graphs[2]->setData(steps, difference, true);
    const double tolerance = m_curves ? m_curves->tolerance : 0;
    for (std::size_t side = 0; side < 2; ++side) {
        const double value = side == 0 ? tolerance : -tolerance;
        m_tolerance[side]->point1->setCoords(0, value);
        m_tolerance[side]->point2->setCoords(1, value);
        m_tolerance[side]->setVisible(tolerance > 0);
    }
    showRange();
    showCursor();
}

void LossPlot::showRange()
{
    const StepRange shown = m_range.range();
    stepAxis()->setRange(shown.first, shown.last);
    lowerStepAxis()->setRange(shown.first, shown.last);
    fitValues();
    scheduleReplot();
}

void LossPlot::fitValues()
{
    const QCPRange keys = stepAxis()->range();
    bool hasFirst = false, hasSecond = false, hasDifference = false;
    QCPRange losses = m_graphs[0]->getValueRange(hasFirst, QCP::sdBoth, keys);
    const QCPRange second = m_graphs[1]->getValueRange(hasSecond, QCP::sdBoth, keys);
    QCPRange difference = m_graphs[2]->getValueRange(hasDifference, QCP::sdBoth, keys);
    if (hasFirst && hasSecond) {
        losses.expand(second);
        fit(*lossAxis(), losses);
    }
    if (hasDifference) {
        difference.expand(QCPRange(-m_curves->tolerance, m_curves->tolerance)); // what it is measured by
        fit(*differenceAxis(), difference);
    }
}

void LossPlot::hover(QPointF pixel)
{
    if (!m_curves || m_curves->steps.empty())
        return;
    const double step = stepAxis()->pixelToCoord(pixel.x());
    const auto& steps = m_curves->steps;
    auto after = std::lower_bound(steps.begin(), steps.end(), step);
    if (after == steps.end() || (after != steps.begin() && step - *(after - 1) < *after - step))
        --after;
    m_readout->setAnchorPixel(pixel);
    setCursor(static_cast<std::size_t>(after - steps.begin()));
    emit cursorMoved();
}

void LossPlot::setCursor(std::optional<std::size_t> place)
{
    m_cursor = place && m_curves && *place < m_curves->steps.size() ? place : std::nullopt;
    showCursor();
    cursorLayer()->replot();
}

void LossPlot::showCursor()
{
    m_readout->setVisible(m_cursor.has_value());
    for (QCPItemStraightLine* line : m_crosshair) {
        line->setVisible(m_cursor.has_value());
        if (m_cursor) {
            line->point1->setCoords(m_curves->steps[*m_cursor], 0);
            line->point2->setCoords(m_curves->steps[*m_cursor], 1);
        }
    }
    if (!m_cursor)
        return;
    const std::size_t place = *m_cursor;
    if (!underMouse()) // moved by keys: beside the line, not where the pointer was
        m_readout->setAnchorPixel({stepAxis()->coordToPixel(m_curves->steps[place]), axisRect()->top() + 8.0});
    const auto color = colors();
    m_readout->setContent(tr("step %1").arg(countText(static_cast<qint64>(m_curves->steps[place]))),
                          {{color[0], m_curves->firstName, numberText(m_curves->first[place])},
                           {color[1], m_curves->secondName, numberText(m_curves->second[place])},
                           {color[2], tr("Difference"), numberText(m_curves->second[place] - m_curves->first[place])}});
}

void LossPlot::applyTheme(const Theme& theme)
{
    PlotCanvas::applyTheme(theme);
    styleAxes(theme, stepAxis(), lossAxis());
    styleAxes(theme, lowerStepAxis(), differenceAxis());
    const auto color = colors();
    for (std::size_t i = 0; i < m_graphs.size(); ++i)
        m_graphs[i]->setPen(QPen(color[i], 1.5));
    for (QCPItemStraightLine* line : m_tolerance)
        line->setPen(QPen(theme.capacity, 1, Qt::DashLine));
    for (QCPItemStraightLine* line : m_crosshair)
        line->setPen(QPen(theme.mutedText, 1, Qt::DotLine));
    m_gestures.applyTheme(theme);
    m_readout->setFonts(smallFont(), smallBoldFont());
    showCursor();
}

} // namespace headroom
