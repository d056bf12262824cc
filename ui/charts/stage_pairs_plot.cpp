// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stage_pairs_plot.h"

#include "charts/bytes_ticker.h"
#include "charts/gib_text.h"
#include "charts/pair_marks.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double air = 1.1; ///< above the highest bar, for its number
constexpr int paleAlpha = 130;

} // namespace

StagePairsPlot::StagePairsPlot(QWidget* parent)
    : PlotCanvas(parent)
    , m_capacity(*this, *axisRect())
    , m_marks(new PairMarks(this, axisRect()))
    , m_unit(makeUnitText(this))
    , m_readout(new ReadoutItem(this))
{
    axisRect()->setMinimumMargins(QMargins(30, 16, 8, 0));
    bytesAxis()->setTicker(QSharedPointer<BytesTicker>::create());
    stageAxis()->setTicker(makeStageTicker(*this));
    for (auto& stack : m_bars)
        stack = makeStackBars(stageAxis(), bytesAxis());
    m_marks->setLayer(QStringLiteral("axes"));
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(axisRect());
    m_readout->setVisible(false);
    connect(this, &QCustomPlot::afterLayout, this, &StagePairsPlot::fitBarWidth);
    StagePairsPlot::applyTheme(Theme::current());
}

void StagePairsPlot::setPairs(std::shared_ptr<const StagePairs> pairs)
{
    m_pairs = std::move(pairs);
    m_marks->setPairs(m_pairs);
    m_occurs.fill(false);
    for (std::size_t side = 0; side < m_bars.size(); ++side) {
        const std::size_t count = m_pairs ? m_pairs->sides[side].stages.size() : 0;
        std::array<QVector<QCPBarsData>, stackPartCount> values;
        for (std::size_t stage = 0; stage < count; ++stage) {
            const StackParts parts = stackParts(m_pairs->sides[side].stages[stage]);
            for (std::size_t part = 0; part < stackPartCount; ++part) {
                values[part].append({PairMarks::keyOf(*m_pairs, stage, side), parts[part].gib()});
                m_occurs[part] = m_occurs[part] || parts[part].value > 0;
            }
        }
        for (std::size_t part = 0; part < stackPartCount; ++part)
            m_bars[side][part]->data()->set(values[part], true);
    }
    if (m_cursor && (!m_pairs || static_cast<std::size_t>(*m_cursor) >= m_pairs->stageCount()))
        m_cursor.reset();
    fitValues();
    showReadout();
    scheduleReplot();
}

QColor StagePairsPlot::colorOf(std::size_t part, std::size_t side) const
{
    QColor color = stackPartColor(part);
    if (side == 0 && m_pairs && m_pairs->sides[1].isEstimated())
        color.setAlpha(paleAlpha);
    return color;
}

void StagePairsPlot::applyTheme(const Theme& theme)
{
    PlotCanvas::applyTheme(theme);
    styleAxes(theme, stageAxis(), bytesAxis());
    for (std::size_t side = 0; side < m_bars.size(); ++side) {
        for (std::size_t part = 0; part < stackPartCount; ++part)
            m_bars[side][part]->setBrush(colorOf(part, side));
    }
    m_capacity.applyTheme(theme);
    m_marks->setFont(smallBoldFont());
    m_readout->setFonts(smallFont(), smallBoldFont());
    m_unit->setColor(theme.mutedText);
    m_unit->setFont(smallFont());
    showReadout();
}

void StagePairsPlot::fitValues()
{
    Bytes most;
    if (m_pairs) {
        m_capacity.set(m_pairs->capacity, m_pairs->capacityLabel);
        most = m_pairs->capacity.value_or(Bytes{});
        for (const StagePairs::Side& side : m_pairs->sides) {
            for (const StageFootprint& stage : side.stages)
                most = std::max(most, stage.device);
            for (const std::optional<Bytes>& measured : side.measured)
                most = std::max(most, measured.value_or(Bytes{}));
            most = std::max(most, side.peak.value_or(Bytes{}));
        }
        for (std::size_t side = 0; side < m_bars.size(); ++side) {
            for (std::size_t part = 0; part < stackPartCount; ++part)
                m_bars[side][part]->setBrush(colorOf(part, side));
        }
    }
    const double upper = most.value > 0 ? most.gib() * air : 1;
    bytesAxis()->setRange(0, upper);
    m_unit->setText(QString::fromUtf16(BytesTicker::unitFor(upper).name));
    stageAxis()->setRange(-0.6,
                          static_cast<double>(std::max<std::size_t>(m_pairs ? m_pairs->stageCount() : 1, 1)) - 0.4);
}

void StagePairsPlot::fitBarWidth()
{
    const double perStage = axisRect()->width() / stageAxis()->range().size();
    const double width = std::max(1.0, std::floor(std::min(perStage * 0.34, 56.0)));
    for (auto& stack : m_bars) {
        for (QCPBars* bars : stack)
            bars->setWidth(width);
    }
    m_marks->setBarWidth(width);
    fitTickCount(*bytesAxis());
}

void StagePairsPlot::mouseMoveEvent(QMouseEvent* event)
{
    const double stage = std::round(stageAxis()->pixelToCoord(event->position().x()));
    const bool isIn = m_pairs && QRectF(axisRect()->outerRect()).contains(event->position()) && stage >= 0
        && stage < static_cast<double>(m_pairs->stageCount());
    m_readout->setAnchorPixel(event->position());
    setCursor(isIn ? std::optional(static_cast<int>(stage)) : std::nullopt);
    emit cursorMoved();
}

void StagePairsPlot::leaveEvent(QEvent* event)
{
    QCustomPlot::leaveEvent(event);
    setCursor({});
    emit cursorMoved();
}

void StagePairsPlot::setCursor(std::optional<int> stage)
{
    m_cursor = stage;
    showReadout();
    cursorLayer()->replot();
}

void StagePairsPlot::showReadout()
{
    const bool isShown = m_cursor && m_pairs;
    m_readout->setVisible(isShown);
    if (!isShown)
        return;
    if (!underMouse())
        m_readout->setAnchorPixel({stageAxis()->coordToPixel(*m_cursor), axisRect()->top() + 8.0});
    m_readout->setContent(tr("stage %1").arg(*m_cursor), rowsOf(static_cast<std::size_t>(*m_cursor)));
}

/// Every kind of bytes by its name, of each run; parts only where both are estimated alike.
std::vector<ReadoutItem::Row> StagePairsPlot::rowsOf(std::size_t stage) const
{
    const Theme& theme = Theme::current();
    std::vector<ReadoutItem::Row> rows;
    const auto add = [&](const QString& run, const QString& what, Bytes bytes, const QColor& color) {
        rows.push_back({color, QStringLiteral("%1 · %2").arg(run, what), bytesText(bytes)});
    };
    for (std::size_t side = 0; side < m_pairs->sides.size(); ++side) {
        const StagePairs::Side& run = m_pairs->sides[side];
        const QColor color = side == 0 ? theme.mutedText : theme.text;
        if (stage < run.stages.size()) {
            const StageFootprint& estimate = run.stages[stage];
            add(run.name, tr("allocated"), estimate.peakAllocated, color);
            if (estimate.peakReserved.value > 0)
                add(run.name, tr("reserved"), estimate.peakReserved, color);
            add(run.name, tr("device"), estimate.device, color);
        }
        if (stage < run.measured.size() && run.measured[stage])
            add(run.name, tr("measured, allocated"), *run.measured[stage], color);
        else if (run.peak)
            add(run.name, tr("measured on some stage"), *run.peak, color);
    }
    return rows;
}

} // namespace headroom
