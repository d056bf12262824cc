// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/timeline_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_title.h"
#include "charts/gib_text.h"
#include "charts/timeline_plot.h"
#include "theme/theme.h"
#include "workspace/view_state.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace headroom {

namespace {

constexpr double keyZoom = 0.7;
constexpr int patienceMs = 400;

} // namespace

TimelineChart::TimelineChart(QWidget* parent)
    : QWidget(parent)
    , m_range(new ViewState(this))
    , m_title(new ChartTitle(tr("One training step"), this))
    , m_plot(new TimelinePlot(*m_range, this))
    , m_caption(new QLabel(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("One training step"));
    m_caption->setProperty("role", QStringLiteral("muted"));
    m_caption->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); // no wider than the drawing
    m_title->setToolTip(tr("Work in the order of the schedule, not time: a backward is drawn twice as long as its "
                           "forward, and waiting for other stages does not show"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 8, 14, 8);
    layout->setSpacing(4);
    layout->addWidget(m_title);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_caption);
    m_patience.setSingleShot(true);
    m_patience.setInterval(patienceMs);
    connect(&m_patience, &QTimer::timeout, this, &TimelineChart::updateTexts);
    connect(m_plot, &TimelinePlot::cursorMoved, this, &TimelineChart::updateTexts);
    clear({});
}

TimelineChart::~TimelineChart() = default;

void TimelineChart::setTimeline(int stage, Timeline timeline, const QString& schedule)
{
    m_stage = stage;
    if (!timeline) {
        if (!m_plot->timeline()) { // nothing to keep
            m_reason.clear();
            m_plot->setMessage(tr("Replaying the step…"));
        }
        setBusy(true);
        return;
    }
    m_reason.clear();
    m_schedule = schedule;
    setBusy(false);
    m_plot->setMessage({});
    if (timeline != m_plot->timeline()) {
        m_plot->setTimeline(std::move(timeline));
        m_range->setBounds({0, m_plot->timeline()->width()});
    }
    updateTexts();
}

void TimelineChart::clear(const QString& reason)
{
    m_reason = reason;
    setBusy(false);
    m_plot->setTimeline(nullptr);
    m_plot->setMessage(reason);
    updateTexts();
}

void TimelineChart::setCapacity(std::optional<Bytes> capacity, const QString& label)
{
    m_plot->setCapacity(capacity, label);
}

void TimelineChart::setBusy(bool busy)
{
    if (busy && !m_isBusy)
        m_patience.start();
    else if (!busy)
        m_patience.stop();
    m_isBusy = busy;
    m_plot->setFaint(busy);
    updateTexts();
}

QString TimelineChart::title() const
{
    return m_title->title();
}

QString TimelineChart::caption() const
{
    return peakText();
}

void TimelineChart::keyPressEvent(QKeyEvent* event)
{
    if (!m_plot->timeline() || m_plot->timeline()->spans.empty())
        return QWidget::keyPressEvent(event);
    const auto cursor = m_plot->cursorSpan();
    const auto& spans = m_plot->timeline()->spans;
    const double centre = cursor ? spans[*cursor].begin : m_range->range().centre();
    const bool isAlt = event->modifiers().testFlag(Qt::AltModifier);
    const bool byPass = event->modifiers().testFlag(Qt::ControlModifier);
    switch (event->key()) {
    case Qt::Key_Left:
        return isAlt ? m_range->back() : moveCursor(-1, byPass);
    case Qt::Key_Right:
        return isAlt ? m_range->forward() : moveCursor(1, byPass);
    case Qt::Key_P:
        return showCursorAt(m_plot->timeline()->peak);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return m_range->zoom(keyZoom, centre);
    case Qt::Key_Minus:
        return m_range->zoom(1 / keyZoom, centre);
    case Qt::Key_Home:
        return m_range->fit();
    case Qt::Key_Backspace:
        return m_range->back();
    case Qt::Key_Escape:
        if (!cursor)
            break;
        return showCursorAt({});
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void TimelineChart::moveCursor(int direction, bool byPass)
{
    const auto& spans = m_plot->timeline()->spans;
    const auto last = static_cast<std::ptrdiff_t>(spans.size()) - 1;
    if (!m_plot->cursorSpan())
        return showCursorAt(m_plot->timeline()->spanAt(m_range->range().centre()));
    auto span = static_cast<std::ptrdiff_t>(*m_plot->cursorSpan());
    const auto passOf = [&spans](std::ptrdiff_t index) { return spans[static_cast<std::size_t>(index)].pass; };
    const auto from = passOf(span);
    do {
        span += direction;
    } while (byPass && span >= 0 && span <= last && passOf(span) == from);
    showCursorAt(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(span, 0, last)));
}

void TimelineChart::showCursorAt(std::optional<std::size_t> span)
{
    m_plot->setCursorSpan(span);
    if (span) {
        const StepTimeline::Span& place = m_plot->timeline()->spans[*span];
        const StepRange shown = m_range->range();
        if (place.begin < shown.first)
            m_range->pan(place.begin - shown.first, ViewState::Gesture::Continued);
        else if (place.end > shown.last)
            m_range->pan(place.end - shown.last, ViewState::Gesture::Continued);
    }
    updateTexts();
}

void TimelineChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, QStringLiteral("step.png"), [this] { return values(); });
    menu.exec(event->globalPos());
}

void TimelineChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    layout()->activate();
    updateTexts();
}

void TimelineChart::updateTexts()
{
    m_title->setTitle(m_reason.isEmpty() && (m_plot->timeline() || m_isBusy)
                          ? tr("One training step, stage %1").arg(m_stage)
                          : tr("One training step"));
    m_title->setSubtitle(subtitle());
    const QString text = peakText();
    const QString shown = fontMetrics().elidedText(text, Qt::ElideRight, m_caption->width());
    m_caption->setText(shown);
    m_caption->setToolTip(shown == text ? QString() : text);
    QString description = m_reason.isEmpty() ? m_title->subtitle() + QLatin1Char(' ') + text : m_reason;
    if (const auto cursor = m_plot->cursorSpan()) {
        const StepTimeline::Span& span = m_plot->timeline()->spans[*cursor];
        description += QLatin1Char(' ')
            + tr("Cursor: %1, %2 allocated.")
                  .arg(m_plot->passText(m_plot->timeline()->passes[span.pass]), bytesText(span.allocated()));
    }
    setAccessibleDescription(description);
}

QString TimelineChart::subtitle() const
{
    if (m_isBusy && !m_patience.isActive())
        return tr("replaying the step…");
    const auto& timeline = m_plot->timeline();
    if (!timeline)
        return {};
    const auto count
        = static_cast<int>(std::min<std::int64_t>(timeline->microBatches, std::numeric_limits<int>::max()));
    const QString batches = timeline->walkedMicroBatches < timeline->microBatches
        ? tr("%1 of %2 micro-batches, the rest repeats").arg(countText(timeline->walkedMicroBatches), countText(count))
        : tr("%n micro-batches", nullptr, count);
    QStringList parts{m_schedule, batches, tr("allocated")};
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

QString TimelineChart::peakText() const
{
    const auto& timeline = m_plot->timeline();
    if (!timeline || timeline->spans.empty())
        return {};
    const StepTimeline::Span& peak = timeline->spans[timeline->peak];
    const QString text
        = tr("Peak %1 in %2").arg(bytesText(peak.allocated(), 1), m_plot->passText(timeline->passes[peak.pass]));
    return timeline->inFlight > 0 ? tr("%1, %2 in flight").arg(text, countText(timeline->inFlight)) : text;
}

QString TimelineChart::values() const
{
    QString text = QStringLiteral("phase\tmicro_batch\tchunk\trecomputing\tbegin\tend");
    for (int component = 0; component < componentCount; ++component) {
        const std::string_view name = nameOf(static_cast<Component>(component));
        text += u'\t' + QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())) + u"_bytes";
    }
    text += u"\tallocated_bytes\n"_qs;
    if (!m_plot->timeline())
        return text;
    for (const StepTimeline::Span& span : m_plot->timeline()->spans) {
        const StepTimeline::Pass& pass = m_plot->timeline()->passes[span.pass];
        const std::string_view phase = nameOf(pass.phase);
        const bool isOptimizer = pass.microBatch < 0;
        text += QString::fromUtf8(phase.data(), static_cast<qsizetype>(phase.size())) + u'\t'
            + (isOptimizer ? QString() : QString::number(pass.microBatch + 1)) + u'\t'
            + (isOptimizer          ? QString()
                   : pass.isEncoder ? u"encoder"_qs
                                    : QString::number(pass.chunk + 1))
            + u'\t' + (span.isRebuilding ? u'1' : u'0') + u'\t' + QString::number(span.begin) + u'\t'
            + QString::number(span.end);
        for (const Bytes bytes : span.components)
            text += u'\t' + QString::number(bytes.value);
        text += u'\t' + QString::number(span.allocated().value) + u'\n';
    }
    return text;
}

QImage TimelineChart::image(double scale)
{
    return chartImage(*this, *m_plot, scale);
}

tl::expected<void, QString> TimelineChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
}

QSize TimelineChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(60, 40);
}

QSize TimelineChart::minimumSizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(30, 26);
}

} // namespace headroom
