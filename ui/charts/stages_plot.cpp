// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stages_plot.h"

#include "charts/bytes_ticker.h"
#include "charts/gib_text.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {

namespace {

constexpr std::size_t cachePart = stackPartCount - 1;
constexpr int labelRoom = 50; // pixels of the bytes axis' labels
constexpr Bytes leastCache = mib(1); // rounding is no cache

/// "stage 3" under a bar, or the number alone, thinned, where bars stand close.
class StageTicker : public QCPAxisTicker
{
public:
    explicit StageTicker(const PlotCanvas& plot)
        : m_plot(plot)
    {
    }

protected:
    double getTickStep(const QCPRange& range) override
    {
        const QFontMetricsF metrics(m_plot.smallFont());
        // Ticks are made before the layout, which gives the axis rect its width: the viewport's, less the labels.
        const double pixelsPerStage = std::max(m_plot.viewport().width() - labelRoom, 10) / range.size();
        m_isLong = metrics.horizontalAdvance(StagesPlot::tr("stage %1").arg(88)) + 8 < pixelsPerStage;
        const double needed = m_isLong ? 1 : (metrics.horizontalAdvance(QStringLiteral("888")) + 6) / pixelsPerStage;
        double step = 1;
        while (step < needed)
            step *= 2;
        return step;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale& locale, QChar, int) override
    {
        const QString number = locale.toString(static_cast<int>(std::lround(tick)));
        return m_isLong ? StagesPlot::tr("stage %1").arg(number) : number;
    }
    QVector<double> createTickVector(double step, const QCPRange& range) override
    {
        QVector<double> ticks = QCPAxisTicker::createTickVector(step, range);
        ticks.removeIf([&range](double tick) { return tick < range.lower || tick > range.upper; });
        return ticks;
    }

private:
    const PlotCanvas& m_plot;
    bool m_isLong = true;
};

/// Estimates of absurd plans are clamped to the largest number: their sum has to stay there.
Bytes sumOf(const StackParts& parts)
{
    Bytes sum;
    for (const Bytes part : parts) {
        if (__builtin_add_overflow(sum.value, part.value, &sum.value))
            return {std::numeric_limits<std::int64_t>::max()};
    }
    return sum;
}

} // namespace

QSharedPointer<QCPAxisTicker> makeStageTicker(const PlotCanvas& plot)
{
    return QSharedPointer<StageTicker>::create(plot);
}

StackParts stackParts(const StageFootprint& stage)
{
    StackParts parts{};
    std::copy(stage.components.begin(), stage.components.end(), parts.begin());
    const Bytes cache = stage.device - sumOf(parts);
    if (cache >= leastCache)
        parts[cachePart] = cache;
    return parts;
}

QString stackPartName(std::size_t part)
{
    const std::array<QString, stackPartCount> names{StagesPlot::tr("Parameters"),  StagesPlot::tr("Gradients"),
                                                    StagesPlot::tr("Optimizer"),   StagesPlot::tr("Activations"),
                                                    StagesPlot::tr("In flight"),   StagesPlot::tr("Logits"),
                                                    StagesPlot::tr("Working set"), StagesPlot::tr("Buffers"),
                                                    StagesPlot::tr("Context"),     StagesPlot::tr("Unused cache")};
    return names[part];
}

QColor stackPartColor(std::size_t part)
{
    const Theme& theme = Theme::current();
    return part < cachePart ? theme.components[part] : theme.border;
}

std::array<QCPBars*, stackPartCount> makeStackBars(QCPAxis* stageAxis, QCPAxis* bytesAxis)
{
    std::array<QCPBars*, stackPartCount> bars{};
    for (std::size_t part = 0; part < stackPartCount; ++part) {
        bars[part] = new QCPBars(stageAxis, bytesAxis);
        bars[part]->setAntialiased(false);
        bars[part]->setAntialiasedFill(false);
        bars[part]->setSelectable(QCP::stNone);
        bars[part]->setWidthType(QCPBars::wtAbsolute);
        bars[part]->setPen(Qt::NoPen);
        if (part > 0)
            bars[part]->moveAbove(bars[part - 1]);
    }
    return bars;
}

StagesPlot::StagesPlot(QWidget* parent)
    : PlotCanvas(parent)
    , m_capacityLine(*this, *axisRect())
    , m_marks(new StageMarks(this, axisRect()))
    , m_readout(new ReadoutItem(this))
    , m_unit(makeUnitText(this))
    , m_message(new PlotMessage(this))
{
    axisRect()->setMinimumMargins(QMargins(30, 16, 4, 0));
    bytesAxis()->setTicker(QSharedPointer<BytesTicker>::create());
    stageAxis()->setTicker(makeStageTicker(*this));
    m_bars = makeStackBars(stageAxis(), bytesAxis());
    m_marks->setLayer(QStringLiteral("axes"));
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(axisRect());
    m_readout->setVisible(false);
    connect(this, &QCustomPlot::afterLayout, this, &StagesPlot::fitBarWidth);
    StagesPlot::applyTheme(Theme::current());
}

void StagesPlot::setFootprint(const Footprint* current, const Footprint* baseline)
{
    const auto take = [](const Footprint* footprint, std::vector<StackParts>& parts, std::vector<Bytes>& totals) {
        const std::size_t count = footprint ? footprint->stages.size() : 0;
        parts.resize(count);
        totals.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            parts[i] = stackParts(footprint->stages[i]);
            totals[i] = sumOf(parts[i]);
        }
    };
    take(current, m_stages, m_totals);
    take(baseline, m_baselineStages, m_baselineTotals);
    m_intervals.assign(m_stages.size(), std::nullopt);
    for (std::size_t i = 0; i < m_stages.size(); ++i) {
        if (const auto& intervals = current->stages[i].intervals)
            m_intervals[i] = intervals->device;
    }
    refill();
    updateMarks();
    fitValues();
    if (m_hovered && static_cast<std::size_t>(*m_hovered) >= m_stages.size())
        m_hovered.reset();
    showReadout();
    scheduleReplot();
}

void StagesPlot::setMeasured(std::vector<std::optional<Bytes>> perStage)
{
    m_measured = std::move(perStage);
    updateMarks();
    fitValues();
    scheduleReplot();
}

bool StagesPlot::setCapacity(std::optional<Bytes> capacity, const QString& label)
{
    if (!m_capacityLine.set(capacity, label))
        return false;
    m_marks->setCapacity(capacity);
    fitValues();
    scheduleReplot();
    return true;
}

void StagesPlot::setSelected(std::optional<int> stage)
{
    m_marks->setSelected(stage);
    scheduleReplot();
}

void StagesPlot::setMessage(const QString& message)
{
    m_message->setMessage(message);
    const bool isChart = message.isEmpty();
    for (QCPAxis* axis : {stageAxis(), bytesAxis()})
        axis->setTickLabels(isChart);
    bytesAxis()->grid()->setVisible(isChart);
    m_unit->setVisible(isChart);
    m_capacityLine.setVisible(isChart);
    scheduleReplot();
}

void StagesPlot::applyTheme(const Theme& theme)
{
    PlotCanvas::applyTheme(theme);
    styleAxes(theme, stageAxis(), bytesAxis());
    for (std::size_t part = 0; part < stackPartCount; ++part)
        m_bars[part]->setBrush(stackPartColor(part));
    m_capacityLine.applyTheme(theme);
    m_marks->setFont(smallBoldFont());
    m_readout->setFonts(smallFont(), smallBoldFont());
    m_unit->setColor(theme.mutedText);
    m_unit->setFont(smallFont());
    m_message->setColor(theme.mutedText);
    m_message->setFont(font());
    showReadout();
}

void StagesPlot::mouseMoveEvent(QMouseEvent* event)
{
    const std::optional<int> stage = stageAt(event->position());
    setCursor(stage ? Qt::PointingHandCursor : Qt::ArrowCursor);
    m_readout->setAnchorPixel(event->position());
    m_hovered = stage;
    showReadout();
    cursorLayer()->replot();
}

void StagesPlot::mousePressEvent(QMouseEvent* event)
{
    parentWidget()->setFocus(Qt::MouseFocusReason);
    const std::optional<int> stage = stageAt(event->position());
    if (stage && event->button() == Qt::LeftButton)
        emit stageClicked(*stage);
}

void StagesPlot::leaveEvent(QEvent* event)
{
    QCustomPlot::leaveEvent(event);
    m_hovered.reset();
    showReadout();
    cursorLayer()->replot();
}

void StagesPlot::refill()
{
    const auto count = static_cast<int>(m_stages.size());
    m_occurs.fill(false);
    for (std::size_t part = 0; part < stackPartCount; ++part) {
        QCPBarsDataContainer& values = *m_bars[part]->data();
        if (values.size() != count) {
            QVector<QCPBarsData> fresh(count);
            for (int i = 0; i < count; ++i)
                fresh[i].key = i;
            values.set(fresh, true);
        }
        auto bar = values.begin();
        for (const StackParts& parts : m_stages) {
            bar->value = parts[part].gib();
            m_occurs[part] = m_occurs[part] || parts[part].value > 0;
            ++bar;
        }
    }
}

void StagesPlot::updateMarks()
{
    const std::size_t count = m_stages.empty() ? 0 : std::max(m_stages.size(), m_baselineStages.size());
    std::vector<StageMarks::Mark> marks(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (i < m_totals.size())
            marks[i].total = m_totals[i];
        if (i < m_intervals.size())
            marks[i].interval = m_intervals[i];
        if (i < m_baselineTotals.size())
            marks[i].baseline = m_baselineTotals[i];
        if (i < m_measured.size() && i < m_stages.size())
            marks[i].measured = m_measured[i];
    }
    m_marks->setMarks(std::move(marks));
}

void StagesPlot::fitValues()
{
    Bytes most = m_capacityLine.capacity().value_or(Bytes{});
    for (const StageMarks::Mark& mark : m_marks->marks()) {
        for (const std::optional<Bytes>& bytes : {mark.total, mark.baseline, mark.measured})
            most = std::max(most, bytes.value_or(Bytes{}));
        most = mark.interval ? std::max(most, mark.interval->high) : most;
    }
    const double upper = most.value > 0 ? most.gib() * 1.08 : 1;
    bytesAxis()->setRange(0, upper);
    m_capacityLine.setLabelVisible(!isCapacityLabelCrowded(upper));
    m_unit->setText(QString::fromUtf16(BytesTicker::unitFor(upper).name));
    const auto count = static_cast<double>(std::max<std::size_t>(m_marks->marks().size(), 1));
    stageAxis()->setRange(-0.6, count - 0.4);
}

bool StagesPlot::isCapacityLabelCrowded(double upperGib) const
{
    if (!m_capacityLine.capacity())
        return false;
    // The label stands over the right half of the bars, as high as the numbers above them are.
    const double height = 0.12 * upperGib;
    const auto& marks = m_marks->marks();
    return std::any_of(marks.begin() + static_cast<std::ptrdiff_t>(marks.size() / 2), marks.end(),
                       [&](const StageMarks::Mark& mark) {
                           Bytes top = mark.total.value_or(Bytes{});
                           top = mark.interval ? std::max(top, mark.interval->high) : top;
                           return std::abs(top.gib() - m_capacityLine.capacity()->gib()) < height;
                       });
}

void StagesPlot::fitBarWidth()
{
    const double perStage = axisRect()->width() / stageAxis()->range().size();
    const double width = std::max(1.0, std::floor(std::min(perStage * 0.62, 64.0)));
    for (QCPBars* bars : m_bars)
        bars->setWidth(width);
    m_marks->setBarWidth(width);
}

void StagesPlot::showReadout()
{
    m_readout->setVisible(m_hovered.has_value());
    if (m_hovered)
        m_readout->setContent(tr("stage %1").arg(*m_hovered), rowsOf(static_cast<std::size_t>(*m_hovered)));
}

std::optional<int> StagesPlot::stageAt(QPointF pixel) const
{
    if (!QRectF(axisRect()->outerRect()).contains(pixel))
        return std::nullopt;
    const double stage = std::round(stageAxis()->pixelToCoord(pixel.x()));
    if (stage < 0 || stage >= static_cast<double>(m_stages.size()))
        return std::nullopt;
    return static_cast<int>(stage);
}

std::vector<ReadoutItem::Row> StagesPlot::rowsOf(std::size_t stage) const
{
    const Theme& theme = Theme::current();
    const bool hasBaseline = stage < m_baselineStages.size();
    const auto value = [&](Bytes now, Bytes before) {
        return hasBaseline && now != before ? bytesText(now) + u"  " + differenceText(now - before) : bytesText(now);
    };
    std::vector<ReadoutItem::Row> rows;
    for (std::size_t part = stackPartCount; part-- > 0;) { // as the eye meets them, from the top
        const Bytes now = m_stages[stage][part];
        const Bytes before = hasBaseline ? m_baselineStages[stage][part] : Bytes{};
        if (now.value != 0 || before.value != 0)
            rows.push_back({stackPartColor(part), stackPartName(part), value(now, before)});
    }
    rows.push_back({theme.text, tr("Total on the device"),
                    value(m_totals[stage], hasBaseline ? m_baselineTotals[stage] : Bytes{})});
    if (const auto& interval = mark(stage).interval)
        rows.push_back(
            {theme.text, tr("Between"), tr("%1 and %2").arg(bytesText(interval->low), bytesText(interval->high))});
    if (mark(stage).measured)
        rows.push_back({theme.text, tr("Measured peak"), bytesText(*mark(stage).measured)});
    return rows;
}

} // namespace headroom
