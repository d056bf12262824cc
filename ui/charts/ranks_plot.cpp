// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/ranks_plot.h"

#include "charts/bytes_ticker.h"
#include "charts/gib_text.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {

namespace {

constexpr std::size_t mostNumbers = 96; // cells that carry their number as text
constexpr double numberHeight = 1.3; // of the font: lower cells carry none

/// Rows are counted; this names the ranks they stand for.
class RankTicker : public QCPAxisTicker
{
public:
    explicit RankTicker(std::vector<std::int32_t> ranks)
        : m_ranks(std::move(ranks))
    {
        setTickCount(8);
    }

protected:
    double getTickStep(const QCPRange& range) override
    {
        return std::max(1.0, std::floor(QCPAxisTicker::getTickStep(range)));
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale& locale, QChar, int) override
    {
        const auto row = std::llround(tick);
        if (row < 0 || row >= static_cast<long long>(m_ranks.size()))
            return {};
        const std::int32_t rank = m_ranks[static_cast<std::size_t>(row)];
        return rank < 0 ? QStringLiteral("–") : locale.toString(rank);
    }

private:
    std::vector<std::int32_t> m_ranks;
};

/// Calm up to three quarters, then towards the colours of "tight" and "does not fit".
QCPColorGradient gradientOf(const Theme& theme)
{
    QCPColorGradient gradient;
    gradient.clearColorStops();
    gradient.setColorStopAt(0, theme.raised);
    gradient.setColorStopAt(0.75, theme.phase(0));
    gradient.setColorStopAt(0.9, theme.warning.mark);
    gradient.setColorStopAt(1, theme.error.mark);
    gradient.setNanHandling(QCPColorGradient::nhNanColor);
    gradient.setNanColor(theme.window);
    return gradient;
}

} // namespace

RanksPlot::RanksPlot(QWidget* parent)
    : PlotCanvas(parent)
    , m_map(new QCPColorMap(xAxis, yAxis))
    , m_scale(new QCPColorScale(this))
    , m_chosen(new QCPItemRect(this))
    , m_message(new PlotMessage(this))
    , m_readout(new ReadoutItem(this))
{
    setMouseTracking(true);
    axisRect()->setMinimumMargins(QMargins(30, 8, 10, 4));
    yAxis->setRangeReversed(true); // rank 0 on top, as in a list
    m_map->setInterpolate(false);
    m_map->setTightBoundary(false);
    plotLayout()->addElement(0, 1, m_scale);
    m_scale->setBarWidth(10);
    m_scale->axis()->setTicker(QSharedPointer<BytesTicker>::create());
    m_map->setColorScale(m_scale);
    auto* group = new QCPMarginGroup(this);
    axisRect()->setMarginGroup(QCP::msBottom | QCP::msTop, group);
    m_scale->setMarginGroup(QCP::msBottom | QCP::msTop, group);
    m_chosen->setSelectable(false);
    m_chosen->setVisible(false);
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(axisRect());
    m_readout->setClipToAxisRect(false);
    m_readout->setVisible(false);
    connect(this, &QCustomPlot::afterLayout, this, &RanksPlot::fitCells);
    RanksPlot::applyTheme(Theme::current());
}

void RanksPlot::setGrid(std::shared_ptr<const Run> run, std::shared_ptr<const PeakGrid> grid)
{
    m_run = std::move(run);
    m_grid = std::move(grid);
    read({}, {});
    fill();
}

void RanksPlot::setCapacity(std::optional<Bytes> capacity)
{
    if (capacity == m_capacity)
        return;
    m_capacity = capacity;
    fill();
}

void RanksPlot::setMessage(const QString& message)
{
    m_message->setMessage(message);
    const bool isChart = message.isEmpty();
    m_map->setVisible(isChart);
    m_scale->setVisible(isChart);
    for (QCPAxis* axis : {xAxis, yAxis, m_scale->axis()})
        axis->setTickLabels(isChart);
    scheduleReplot();
}

double RanksPlot::fullGib() const
{
    double full = m_capacity ? m_capacity->gib() : 0;
    if (full > 0 || !m_grid)
        return full > 0 ? full : 1;
    for (const std::int64_t record : m_grid->records) // nothing to measure by: by the largest
        full = record == PeakGrid::none
            ? full
            : std::max(full, Bytes{m_run->allocatedBytes[static_cast<std::size_t>(record)]}.gib());
    return full > 0 ? full : 1;
}

void RanksPlot::fill()
{
    const std::size_t rows = m_grid ? m_grid->ranks.size() : 0;
    const std::size_t columns = m_grid ? m_grid->columns : 0;
    m_map->data()->setSize(static_cast<int>(columns), static_cast<int>(rows));
    if (rows > 0 && columns > 0) {
        // Cells stand around their keys: the outer ones reach half a cell further.
        const double width = isByPhase() ? 1 : m_grid->steps.span() / static_cast<double>(columns);
        const double first = isByPhase() ? 0 : m_grid->steps.first + width / 2;
        m_map->data()->setRange(QCPRange(first, first + width * static_cast<double>(columns - 1)),
                                QCPRange(0, static_cast<double>(rows - 1)));
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t column = 0; column < columns; ++column) {
                const std::int64_t record = m_grid->at(row, column);
                m_map->data()->setCell(static_cast<int>(column), static_cast<int>(row),
                                       record == PeakGrid::none
                                           ? std::numeric_limits<double>::quiet_NaN()
                                           : Bytes{m_run->allocatedBytes[static_cast<std::size_t>(record)]}.gib());
            }
        }
        xAxis->setRange(first - width / 2, first + width * (static_cast<double>(columns) - 0.5));
        yAxis->setRange(-0.5, static_cast<double>(rows) - 0.5);
    }
    m_map->setDataRange(QCPRange(0, fullGib()));
    setTicks();
    outline();
    scheduleReplot();
}

void RanksPlot::setTicks()
{
    if (!m_grid)
        return;
    yAxis->setTicker(QSharedPointer<RankTicker>::create(m_grid->ranks));
    if (!isByPhase()) {
        xAxis->setTicker(QSharedPointer<StepTicker>::create());
        return;
    }
    m_names = phaseNames();
    const auto names = QSharedPointer<QCPAxisTickerText>::create();
    for (std::size_t column = 0; column < m_grid->columns; ++column)
        names->addTick(static_cast<double>(column), m_names[static_cast<qsizetype>(column)]);
    xAxis->setTicker(names);
}

/// As far as there is room for them below their columns.
QStringList RanksPlot::phaseNames() const
{
    constexpr int gap = 2;
    const QFontMetrics metrics(xAxis->tickLabelFont());
    const auto width = axisRect()->width() / static_cast<int>(std::max<std::size_t>(m_grid->columns, 1)) - gap;
    QStringList names;
    for (std::size_t column = 0; column < m_grid->columns; ++column)
        names.append(metrics.elidedText(columnName(column), Qt::ElideRight, std::max(width, 0)));
    return names;
}

/// What depends on the size of the cells.
void RanksPlot::fitCells()
{
    if (isByPhase() && m_grid && phaseNames() != m_names) {
        setTicks();
        scheduleReplot(); // the labels of this one are laid out
    }
    setNumbers();
}

bool RanksPlot::hasRoomForNumbers() const
{
    if (!m_grid || m_grid->ranks.empty() || m_grid->columns == 0)
        return false;
    const QFontMetricsF metrics(smallFont());
    const double height = axisRect()->height() / static_cast<double>(m_grid->ranks.size());
    const double width = axisRect()->width() / static_cast<double>(m_grid->columns);
    return height > numberHeight * metrics.height() && width > metrics.horizontalAdvance(bytesText(gib(100), 1));
}

void RanksPlot::setNumbers()
{
    const std::size_t cells = m_grid ? m_grid->records.size() : 0;
    const bool hasNumbers
        = isByPhase() && cells <= mostNumbers && m_message->message().isEmpty() && hasRoomForNumbers();
    while (m_numbers.size() > (hasNumbers ? cells : 0)) {
        removeItem(m_numbers.back());
        m_numbers.pop_back();
    }
    while (hasNumbers && m_numbers.size() < cells) {
        m_numbers.push_back(makePlotText(this));
        m_numbers.back()->position->setAxes(xAxis, yAxis);
        m_numbers.back()->position->setType(QCPItemPosition::ptPlotCoords);
    }
    for (std::size_t i = 0; i < m_numbers.size(); ++i) {
        const std::int64_t record = m_grid->records[i];
        m_numbers[i]->setVisible(record != PeakGrid::none);
        if (record == PeakGrid::none)
            continue;
        const Bytes bytes{m_run->allocatedBytes[static_cast<std::size_t>(record)]};
        const std::size_t row = i / m_grid->columns, column = i % m_grid->columns;
        m_numbers[i]->position->setCoords(static_cast<double>(column), static_cast<double>(row));
        m_numbers[i]->setText(bytesText(bytes, 1));
        m_numbers[i]->setFont(smallFont());
        const QColor below = colorOf(bytes);
        m_numbers[i]->setColor(contrastRatio(below, Qt::white) > contrastRatio(below, Qt::black) ? Qt::white
                                                                                                 : Qt::black);
    }
}

void RanksPlot::applyTheme(const Theme& theme)
{
    PlotCanvas::applyTheme(theme);
    styleAxes(theme, xAxis, yAxis);
    yAxis->grid()->setVisible(false);
    styleAxes(theme, m_scale->axis(), m_scale->axis());
    for (QCPAxis* axis : m_scale->axis()->axisRect()->axes())
        axis->setBasePen(QPen(theme.border, 1)); // the bar's frame
    m_map->setGradient(gradientOf(theme));
    m_scale->setGradient(m_map->gradient());
    m_chosen->setPen(QPen(theme.text, 2));
    m_chosen->setBrush(Qt::NoBrush);
    m_message->setColor(theme.mutedText);
    m_message->setFont(font());
    m_readout->setFonts(smallFont(), smallBoldFont());
}

void RanksPlot::setChosenRank(std::optional<int> rank)
{
    if (rank == m_chosenRank)
        return;
    m_chosenRank = rank;
    outline();
    scheduleReplot();
}

void RanksPlot::outline()
{
    const auto found = m_grid && m_chosenRank ? std::find(m_grid->ranks.begin(), m_grid->ranks.end(), *m_chosenRank)
                                              : std::vector<std::int32_t>::const_iterator();
    const bool isShown = m_grid && m_chosenRank && found != m_grid->ranks.end();
    m_chosen->setVisible(isShown);
    if (isShown) {
        const auto row = static_cast<double>(found - m_grid->ranks.begin());
        m_chosen->topLeft->setCoords(xAxis->range().lower, row - 0.5);
        m_chosen->bottomRight->setCoords(xAxis->range().upper, row + 0.5);
    }
}

QColor RanksPlot::colorOf(Bytes bytes) const
{
    return QColor::fromRgba(gradientOf(Theme::current()).color(bytes.gib(), QCPRange(0, fullGib())));
}

QPointF RanksPlot::centreOf(std::size_t row, std::size_t column) const
{
    double key = 0, value = 0;
    m_map->data()->cellToCoord(static_cast<int>(column), static_cast<int>(row), &key, &value);
    return {xAxis->coordToPixel(key), yAxis->coordToPixel(value)};
}

QString RanksPlot::columnName(std::size_t column) const
{
    if (isByPhase())
        return QString::fromStdString(m_run->phaseNames[m_grid->phases[column]]);
    const double width = m_grid->steps.span() / static_cast<double>(m_grid->columns);
    const double first = m_grid->steps.first + width * static_cast<double>(column);
    const auto from = std::llround(std::ceil(first)), to = std::llround(std::ceil(first + width)) - 1;
    return to > from ? tr("steps %1 to %2").arg(countText(from), countText(to)) : tr("step %1").arg(countText(from));
}

std::optional<RanksPlot::Cell> RanksPlot::cellAt(QPointF pixel) const
{
    if (!m_grid || m_grid->records.empty() || !axisRect()->rect().contains(pixel.toPoint()))
        return {};
    int column = 0, row = 0;
    m_map->data()->coordToCell(xAxis->pixelToCoord(pixel.x()), yAxis->pixelToCoord(pixel.y()), &column, &row);
    if (row < 0 || column < 0 || static_cast<std::size_t>(row) >= m_grid->ranks.size()
        || static_cast<std::size_t>(column) >= m_grid->columns)
        return {};
    return Cell{static_cast<std::size_t>(row), static_cast<std::size_t>(column)};
}

void RanksPlot::read(std::optional<Cell> cell, QPointF pixel)
{
    const std::int64_t record = cell ? m_grid->at(cell->row, cell->column) : PeakGrid::none;
    m_readout->setVisible(cell.has_value());
    if (cell) {
        const std::int32_t rank = m_grid->ranks[cell->row];
        std::vector<ReadoutItem::Row> rows;
        if (record == PeakGrid::none) {
            rows.push_back({Qt::transparent, tr("no measurement"), {}});
        } else {
            const Record measured = m_run->record(static_cast<std::size_t>(record));
            rows.push_back({colorOf(measured.allocated), tr("allocated"), bytesText(measured.allocated)});
            if (m_capacity)
                rows.push_back(
                    {Qt::transparent, tr("of capacity"),
                     tr("%1 %").arg(QLocale().toString(100 * measured.allocated.gib() / m_capacity->gib(), 'f', 1))});
            rows.push_back({Qt::transparent, tr("step %1").arg(countText(measured.step)),
                            tr("line %1").arg(countText(measured.line))});
        }
        m_readout->setContent((rank < 0 ? QString() : tr("rank %1").arg(rank) + u" · "_qs) + columnName(cell->column),
                              std::move(rows));
        m_readout->setAnchorPixel(pixel);
    }
    cursorLayer()->replot();
}

void RanksPlot::mouseMoveEvent(QMouseEvent* event)
{
    read(cellAt(event->position()), event->position());
}

void RanksPlot::mousePressEvent(QMouseEvent* event)
{
    parentWidget()->setFocus(Qt::MouseFocusReason);
    const auto cell = event->button() == Qt::LeftButton ? cellAt(event->position()) : std::nullopt;
    if (cell)
        emit rankClicked(m_grid->ranks[cell->row]);
}

void RanksPlot::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto cell = cellAt(event->position());
    if (cell && m_grid->at(cell->row, cell->column) != PeakGrid::none)
        emit recordActivated(m_grid->at(cell->row, cell->column));
}

void RanksPlot::leaveEvent(QEvent* event)
{
    read({}, {});
    PlotCanvas::leaveEvent(event);
}

} // namespace headroom
