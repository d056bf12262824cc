// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a PeaksPlot reads out: under the pointer, at the cursor, between the markers.
#include "charts/gib_text.h"
#include "charts/peaks_plot.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {

namespace {

constexpr double clickReach = 14; // pixels from a point that still mean it
constexpr std::size_t mostAddedRows = 4; // a box of a hundred ranks would cover the chart

QString signedText(Metric metric, double difference)
{
    return (difference < 0 ? u"\u2212"_qs : u"+"_qs) + metricText(metric, std::fabs(difference));
}

} // namespace

void PeaksPlot::pinCursor(std::optional<qint64> step)
{
    m_pinned = step;
    if (!m_view)
        return;
    if (step) {
        const StepRange range = m_view->range();
        const auto at = static_cast<double>(*step);
        if (at < range.first || at > range.last)
            m_view->pan(at - range.centre());
    }
    m_view->setCursor(step);
}

std::optional<qint64> PeaksPlot::recordAt(std::int64_t step) const
{
    std::optional<qint64> record;
    std::int64_t most = -1;
    for (const Drawn& drawn : m_drawn) {
        const auto i = drawn.line->holdLast(step);
        if (i && isShown(drawn) && !drawn.channel.isReserved && drawn.line->bytes[*i] > most) {
            most = drawn.line->bytes[*i];
            record = drawn.line->records[*i];
        }
    }
    return record;
}

void PeaksPlot::showCursor()
{
    const std::optional<qint64> step = m_view ? m_view->cursor() : std::nullopt;
    const bool isShown = step && m_series && !m_series->isEmpty() && stepAxis()->range().contains(double(*step));
    m_cursorLine->setVisible(isShown);
    m_readout->setVisible(isShown);
    m_strips.setCursor(isShown ? static_cast<double>(*step) : std::numeric_limits<double>::quiet_NaN());
    if (!isShown)
        return;
    const auto at = static_cast<double>(*step);
    m_cursorLine->point1->setCoords(at, 1); // two heights that a logarithmic axis has as well
    m_cursorLine->point2->setCoords(at, 2);
    const auto record = recordAt(*step);
    m_readout->setContent(
        record
            ? tr("step %1 · line %2").arg(countText(*step), countText(m_run->line[static_cast<std::size_t>(*record)]))
            : tr("step %1").arg(countText(*step)),
        rowsAt(*step));
    m_readout->setAnchorPixel({stepAxis()->coordToPixel(at), m_rect->top() + m_rect->height() * 0.36});
}

void PeaksPlot::showMarkers()
{
    const auto a = m_view ? m_view->marker(ViewState::Marker::A) : std::nullopt;
    const auto b = m_view ? m_view->marker(ViewState::Marker::B) : std::nullopt;
    const bool hasChart = m_series && !m_series->isEmpty();
    m_markers.setStep(0, hasChart ? a : std::nullopt);
    m_markers.setStep(1, hasChart ? b : std::nullopt);
    if (hasChart && a && b)
        m_markers.setDifferences(
            tr("A %1 → B %2 · %n step(s)", nullptr,
               static_cast<int>(std::min<qint64>(std::abs(*b - *a), std::numeric_limits<int>::max())))
                .arg(countText(*a), countText(*b)),
            differenceRows(*a, *b));
    else
        m_markers.setDifferences({}, {});
    m_markers.place();
}

void PeaksPlot::hover(QPointF pixel)
{
    if (m_series && !m_series->isEmpty())
        m_view->setCursor(stepAt(pixel.x()));
}

void PeaksPlot::click(QPointF pixel)
{
    if (!m_series || m_series->isEmpty())
        return;
    const std::int64_t step = stepAt(pixel.x());
    pinCursor(step);
    const StepLine* nearest = nullptr;
    double least = clickReach;
    for (const Drawn& drawn : m_drawn) {
        const auto i = isShown(drawn) ? drawn.line->holdLast(step) : std::nullopt;
        const double distance
            = i ? std::fabs(bytesAxis()->coordToPixel(Bytes{drawn.line->bytes[*i]}.gib()) - pixel.y()) : least;
        if (distance < least) {
            least = distance;
            nearest = drawn.line;
        }
    }
    if (nearest)
        emit recordActivated(nearest->records[*nearest->holdLast(step)]);
}

std::int64_t PeaksPlot::stepAt(double pixelX) const
{
    // Where several steps share a pixel, the highest of them is meant: no spike hides from the pointer.
    const StepLine& line = m_series->overall;
    const auto first = line.holdLast(static_cast<std::int64_t>(std::floor(stepAxis()->pixelToCoord(pixelX))));
    const auto last = line.holdLast(static_cast<std::int64_t>(std::floor(stepAxis()->pixelToCoord(pixelX + 1) - 1e-9)));
    if (!last || !first)
        return line.steps.front();
    const auto begin = line.bytes.begin();
    const auto highest = std::max_element(begin + static_cast<std::ptrdiff_t>(*first),
                                          begin + static_cast<std::ptrdiff_t>(std::max(*first, *last)) + 1);
    return line.steps[static_cast<std::size_t>(highest - begin)];
}

std::vector<ReadoutItem::Row> PeaksPlot::rowsAt(std::int64_t step) const
{
    struct Value
    {
        std::int64_t bytes;
        ReadoutItem::Row row;
    };
    std::vector<Value> phases, added;
    std::vector<ReadoutItem::Row> rows, reserved;
    for (const Drawn& drawn : m_drawn) {
        const auto i = isShown(drawn) ? drawn.line->holdLast(step) : std::nullopt;
        if (!i)
            continue;
        const std::int64_t bytes = drawn.line->bytes[*i];
        ReadoutItem::Row row{drawn.color, drawn.name, bytesText({bytes})};
        if (!drawn.channel.isShownAtFirst())
            added.push_back({bytes, std::move(row)});
        else if (drawn.channel.isReserved)
            reserved.push_back(std::move(row));
        else
            phases.push_back({bytes, std::move(row)});
    }
    for (std::vector<Value>* values : {&phases, &added})
        std::stable_sort(values->begin(), values->end(),
                         [](const Value& a, const Value& b) { return a.bytes > b.bytes; });
    for (Value& value : phases)
        rows.push_back(std::move(value.row));
    rows.insert(rows.end(), reserved.begin(), reserved.end());
    for (std::size_t i = 0; i < std::min(added.size(), mostAddedRows); ++i)
        rows.push_back(std::move(added[i].row));
    if (added.size() > mostAddedRows)
        rows.push_back({Qt::transparent, tr("%n more", nullptr, static_cast<int>(added.size() - mostAddedRows)), {}});
    const auto metrics = m_strips.rowsAt(step);
    rows.insert(rows.end(), metrics.begin(), metrics.end());
    return rows;
}

std::vector<ReadoutItem::Row> PeaksPlot::differenceRows(std::int64_t a, std::int64_t b) const
{
    std::vector<ReadoutItem::Row> rows;
    std::size_t added = 0;
    for (const Drawn& drawn : m_drawn) {
        const auto i = isShown(drawn) ? drawn.line->holdLast(a) : std::nullopt;
        const auto k = i ? drawn.line->holdLast(b) : std::nullopt;
        if (k && (drawn.channel.isShownAtFirst() || added++ < mostAddedRows))
            rows.push_back({drawn.color, drawn.name, differenceText({drawn.line->bytes[*k] - drawn.line->bytes[*i]})});
    }
    // Also while their strips are put away: a change of speed is half the answer.
    for (const std::vector<MetricLine>* lines : {&m_series->metrics, &m_series->timers}) {
        for (const MetricLine& line : *lines) {
            const auto i = line.holdLast(a), k = line.holdLast(b);
            if (i && k)
                rows.push_back({Theme::current().mutedText, metricName(line),
                                signedText(line.metric, line.values[*k] - line.values[*i])});
        }
    }
    return rows;
}

} // namespace headroom
