// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peaks_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_legend.h"
#include "charts/chart_title.h"
#include "charts/gib_text.h"
#include "charts/peaks_plot.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "workspace/view_state.h"

#include <QContextMenuEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>
#include <QtConcurrent>

#include <algorithm>

namespace headroom {

namespace {

constexpr int reservedId = 256; // legend entries of phases have the phase's number
constexpr std::size_t preparedAtOnce = 50'000; // below, gathering is faster than a thread's round trip
constexpr double keyZoom = 0.7;

} // namespace

PeaksChart::PeaksChart(QWidget* parent)
    : QWidget(parent)
    , m_series(std::make_shared<const PeakSeries>())
    , m_ownView(new ViewState(this))
    , m_title(new ChartTitle(tr("Measured peak per phase"), this))
    , m_plot(new PeaksPlot(this))
    , m_legend(new ChartLegend(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Measured peak per phase"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 8, 14, 8);
    layout->setSpacing(4);
    layout->addWidget(m_title);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_legend);

    connect(m_plot, &PeaksPlot::recordActivated, this, &PeaksChart::recordActivated);
    connect(m_legend, &ChartLegend::toggled, this, [this](int id, bool isChecked) {
        if (id == reservedId)
            m_plot->setReservedVisible(isChecked);
        else
            m_plot->setPhaseVisible(static_cast<std::uint8_t>(id), isChecked);
    });
    connect(&m_watcher, &QFutureWatcherBase::finished, this, [this] {
        if (m_outdated)
            prepare();
        else if (m_isPreparing) // a smaller run may have been adopted at once since
            adopt(m_watcher.result());
    });
    setViewState(nullptr);
}

PeaksChart::~PeaksChart() = default;

void PeaksChart::setRun(std::shared_ptr<const Run> run)
{
    m_run = std::move(run);
    prepare();
}

void PeaksChart::setCapacity(std::optional<Bytes> capacity, const QString& label)
{
    if (m_plot->setCapacity(capacity, label))
        updateTexts();
}

void PeaksChart::setViewState(ViewState* view)
{
    if (!view)
        view = m_ownView;
    if (view == m_view)
        return;
    if (m_view)
        disconnect(m_view, nullptr, this, nullptr);
    m_view = view;
    m_plot->setViewState(view);
    connect(view, &ViewState::rankChanged, this, &PeaksChart::prepare);
    if (view != m_ownView)
        connect(view, &QObject::destroyed, this, [this] {
            m_view = nullptr;
            setViewState(nullptr);
        });
    prepare();
}

void PeaksChart::setPhaseVisible(std::uint8_t phase, bool visible)
{
    m_plot->setPhaseVisible(phase, visible);
    updateLegend();
}

void PeaksChart::setReservedVisible(bool visible)
{
    m_plot->setReservedVisible(visible);
    updateLegend();
}

void PeaksChart::prepare()
{
    m_outdated = m_watcher.isRunning();
    if (m_outdated)
        return; // done again when this one is
    const auto gather = [](std::shared_ptr<const Run> run, std::optional<int> rank) {
        auto series = std::make_shared<const PeakSeries>(run ? makePeakSeries(*run, rank) : PeakSeries());
        return Prepared{std::move(run), std::move(series)};
    };
    if (!m_run || m_run->size() < preparedAtOnce) {
        adopt(gather(m_run, m_view->rank()));
        return;
    }
    m_isPreparing = true;
    m_watcher.setFuture(QtConcurrent::run(gather, m_run, m_view->rank()));
    updateTexts();
}

void PeaksChart::adopt(const Prepared& prepared)
{
    m_isPreparing = false;
    m_shown = prepared.run;
    m_series = prepared.series;
    if (!m_series->isEmpty())
        m_view->setBounds({static_cast<double>(m_series->firstStep()), static_cast<double>(m_series->lastStep())});
    m_plot->setSeries(m_shown, m_series);
    updateLegend();
    updateTexts();
    emit seriesChanged();
}

void PeaksChart::keyPressEvent(QKeyEvent* event)
{
    const int points = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1;
    const double centre = m_view->cursor() ? static_cast<double>(*m_view->cursor()) : m_view->range().centre();
    switch (event->key()) {
    case Qt::Key_Left:
        return event->modifiers().testFlag(Qt::AltModifier) ? m_view->back() : moveCursor(-points);
    case Qt::Key_Right:
        return event->modifiers().testFlag(Qt::AltModifier) ? m_view->forward() : moveCursor(points);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return m_view->zoom(keyZoom, centre);
    case Qt::Key_Minus:
        return m_view->zoom(1 / keyZoom, centre);
    case Qt::Key_Home:
        return m_view->fit();
    case Qt::Key_Backspace:
        return m_view->back();
    case Qt::Key_Escape:
        if (!m_view->cursor())
            break;
        return m_plot->pinCursor({});
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return activateCursor();
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void PeaksChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, QStringLiteral("peaks.png"), [this] { return values(); });
    menu.addSeparator();
    menu.addAction(symbolIcon(Symbol::Fit), tr("Show &all steps"), m_view, &ViewState::fit)
        ->setEnabled(!m_view->isFitted());
    menu.addAction(tr("&Back"), m_view, &ViewState::back)->setEnabled(m_view->canGoBack());
    if (m_series->ranks.size() > 1) {
        QMenu* ranks = menu.addMenu(tr("&Rank"));
        const auto addRank = [&](const QString& text, std::optional<int> rank) {
            QAction* action = ranks->addAction(text, m_view, [this, rank] { m_view->setRank(rank); });
            action->setCheckable(true);
            action->setChecked(m_view->rank() == rank);
        };
        addRank(tr("All, maximum"), {});
        for (const std::int32_t rank : m_series->ranks)
            addRank(QString::number(rank), rank);
    }
    menu.exec(event->globalPos());
}

void PeaksChart::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        updateLegend();
}

void PeaksChart::moveCursor(int points)
{
    const StepLine& line = m_series->overall;
    if (line.isEmpty())
        return;
    const auto last = static_cast<std::ptrdiff_t>(line.size()) - 1;
    const auto now = m_view->cursor() ? line.holdLast(*m_view->cursor()) : std::nullopt;
    const std::ptrdiff_t next = now ? static_cast<std::ptrdiff_t>(*now) + points : (points > 0 ? 0 : last);
    m_plot->pinCursor(line.steps[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(next, 0, last))]);
}

void PeaksChart::activateCursor()
{
    if (!m_view->cursor())
        return;
    if (const auto record = m_plot->recordAt(*m_view->cursor()))
        emit recordActivated(*record);
}

void PeaksChart::updateLegend()
{
    const Theme& theme = Theme::current();
    std::vector<ChartLegend::Entry> entries;
    for (const PhaseLine& phase : m_series->phases)
        entries.push_back({phase.phase, QString::fromStdString(phase.name), theme.phase(phase.phase),
                           ChartLegend::Mark::Line, true, m_plot->isPhaseVisible(phase.phase)});
    if (!m_series->reserved.isEmpty())
        entries.push_back({reservedId, tr("reserved"), theme.reserved, ChartLegend::Mark::DashedLine, true,
                           m_plot->isReservedVisible()});
    m_legend->setEntries(std::move(entries));
    m_legend->setVisible(!m_legend->entries().empty());
}

void PeaksChart::updateTexts()
{
    if (!m_run)
        m_plot->setMessage(tr("No log open.\nOpen a train.log, or drop one on the window."));
    else if (!m_shown)
        m_plot->setMessage(tr("Preparing the chart…"));
    else if (m_series->isEmpty())
        m_plot->setMessage(
            m_series->rank && !m_shown->isEmpty()
                ? tr("Rank %1 reports no peaks.").arg(*m_series->rank)
                : tr("No peaks found in this log.\nHeadroom looks for lines that say which phase and step\n"
                     "they are from and the memory allocated at the peak."));
    else
        m_plot->setMessage({});
    m_title->setSubtitle(subtitle());
    setAccessibleDescription(description());
}

QString PeaksChart::subtitle() const
{
    if (!m_shown || m_series->isEmpty())
        return {};
    QStringList parts;
    if (!m_shown->files.empty())
        parts += m_shown->files.size() == 1 ? QFileInfo(QString::fromStdString(m_shown->files.front())).fileName()
                                            : tr("%n files", nullptr, static_cast<int>(m_shown->files.size()));
    const auto rankCount = static_cast<int>(m_series->ranks.size());
    if (m_series->rank)
        parts += tr("rank %1").arg(*m_series->rank);
    if (rankCount > 1)
        parts += m_series->rank ? tr("%n ranks", nullptr, rankCount) : tr("maximum of %n ranks", nullptr, rankCount);
    parts += m_series->overall.size() == 1 ? tr("1 step")
                                           : tr("%1 steps").arg(countText(qint64(m_series->overall.size())));
    return parts.join(u" · "_qs);
}

QString PeaksChart::description() const
{
    if (m_series->isEmpty())
        return tr("No measurements.");
    QStringList peaks;
    for (const PhaseLine& phase : m_series->phases) {
        const std::size_t i = *phase.line.peak();
        peaks += tr("%1 %2 at step %3")
                     .arg(QString::fromStdString(phase.name), bytesText({phase.line.bytes[i]}),
                          countText(phase.line.steps[i]));
    }
    QString text = tr("Peaks: %1.").arg(peaks.join(QStringLiteral(", ")));
    if (m_plot->capacity())
        text += u' ' + tr("Capacity %1.").arg(bytesText(*m_plot->capacity(), 1));
    return text;
}

QString PeaksChart::values() const
{
    QString text = QStringLiteral("step");
    for (const PhaseLine& phase : m_series->phases)
        text += u"\t%1_bytes"_qs.arg(QString::fromStdString(phase.name));
    if (!m_series->reserved.isEmpty())
        text += u"\treserved_bytes"_qs;
    text += u"\tline\n"_qs;
    const StepRange range = m_view->range();
    for (std::size_t i = 0; i < m_series->overall.size(); ++i) {
        const std::uint32_t step = m_series->overall.steps[i];
        if (step < range.first || step > range.last)
            continue;
        text += QString::number(step);
        const auto addCell = [&](const StepLine& line) {
            text += u'\t';
            if (const auto at = line.holdLast(step); at && line.steps[*at] == step) // nothing made up in between
                text += QString::number(line.bytes[*at]);
        };
        for (const PhaseLine& phase : m_series->phases)
            addCell(phase.line);
        if (!m_series->reserved.isEmpty())
            addCell(m_series->reserved);
        text += u'\t' + QString::number(m_shown->line[m_series->overall.records[i]]) + u'\n';
    }
    return text;
}

QImage PeaksChart::image(double scale)
{
    return chartImage(*this, *m_plot, scale);
}

tl::expected<void, QString> PeaksChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
}

QSize PeaksChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(100, 40);
}

QSize PeaksChart::minimumSizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(40, 24);
}

} // namespace headroom
