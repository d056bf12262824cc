// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peaks_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_legend.h"
#include "charts/chart_title.h"
#include "charts/gib_text.h"
#include "charts/peaks_plot.h"
#include "runlog/out_of_memory.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "workspace/view_state.h"

#include <QContextMenuEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtConcurrent>

#include <algorithm>

namespace headroom {

namespace {

constexpr std::size_t mostAddedEntries = 6; // of lines the user added; the channel list has them all
constexpr std::size_t preparedAtOnce = 50'000; // below, gathering is faster than a thread's round trip
constexpr double keyZoom = 0.7;

/// What a log without peaks tells all the same, or what was looked for.
QString textWithoutPeaks(const Run& run)
{
    const std::vector<OutOfMemory> messages = outOfMemoryOf(run);
    if (messages.empty())
        return PeaksChart::tr("No peaks found in this log.\nHeadroom looks for lines that say which phase and step\n"
                              "they are from and the memory allocated at the peak.");
    const OutOfMemory& message = messages.front();
    QString text
        = PeaksChart::tr("No peaks found in this log. It ran out of memory at line %1.").arg(countText(message.line));
    QStringList amounts;
    if (message.allocated)
        amounts += PeaksChart::tr("%1 allocated").arg(bytesText(*message.allocated));
    if (message.reserved)
        amounts += PeaksChart::tr("%1 reserved").arg(bytesText(*message.reserved));
    if (message.requested)
        amounts += PeaksChart::tr("%1 asked for").arg(bytesText(*message.requested));
    if (message.capacity)
        amounts += PeaksChart::tr("%1 in the device").arg(bytesText(*message.capacity));
    return amounts.isEmpty() ? text : text + u'\n' + amounts.join(u" · "_qs);
}

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
    m_foot = new QHBoxLayout;
    m_foot->setSpacing(2);
    m_foot->addWidget(m_legend, 1);
    layout->addLayout(m_foot);

    connect(m_plot, &PeaksPlot::recordActivated, this, &PeaksChart::recordActivated);
    connect(m_legend, &ChartLegend::toggled, this, [this](int id, bool isChecked) {
        m_view->setShown(m_plot->lines()[static_cast<std::size_t>(id)].channel, isChecked);
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
    connect(view, &ViewState::channelsChanged, this, &PeaksChart::updateChannels);
    connect(view, &ViewState::switched, this, &PeaksChart::updateGeometry);
    if (view != m_ownView)
        connect(view, &QObject::destroyed, this, [this] {
            m_view = nullptr;
            setViewState(nullptr);
        });
    prepare();
}

void PeaksChart::setPhaseVisible(std::uint8_t phase, bool visible)
{
    const Run names; // the usual ones, while nothing is open
    m_view->setShown({(m_run ? *m_run : names).phaseNames.at(phase), Channel::overRanks, false}, visible);
}

void PeaksChart::setReservedVisible(bool visible)
{
    m_view->setShown({{}, Channel::overRanks, true}, visible);
}

void PeaksChart::addSwitch(QAction* action)
{
    auto* button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    button->setProperty("quiet", true);
    button->setProperty(notInPictures, true);
    button->setVisible(!m_series->isEmpty());
    m_foot->addWidget(button, 0, Qt::AlignTop);
    m_switches.push_back(button);
}

void PeaksChart::toggleMarker(ViewState::Marker which)
{
    const auto cursor = m_view->cursor();
    if (!cursor || m_series->isEmpty())
        return;
    // A step that the log has: values are compared, not what is held between them.
    const auto at = m_series->overall.holdLast(*cursor);
    const qint64 step = at ? m_series->overall.steps[*at] : m_series->overall.steps.front();
    m_view->setMarker(which, m_view->marker(which) == step ? std::nullopt : std::optional(step));
}

void PeaksChart::updateChannels()
{
    if (m_view->addedChannels() != m_added)
        prepare();
    updateLegend();
}

void PeaksChart::prepare()
{
    m_outdated = m_watcher.isRunning();
    if (m_outdated)
        return; // done again when this one is
    m_added = m_view->addedChannels();
    const auto gather = [](std::shared_ptr<const Run> run, std::optional<int> rank, const std::vector<Channel>& added) {
        auto series = std::make_shared<const PeakSeries>(run ? makePeakSeries(*run, rank, added) : PeakSeries());
        return Prepared{std::move(run), std::move(series)};
    };
    if (!m_run || m_run->size() < preparedAtOnce) {
        adopt(gather(m_run, m_view->rank(), m_added));
        return;
    }
    m_isPreparing = true;
    m_watcher.setFuture(QtConcurrent::run(gather, m_run, m_view->rank(), m_added));
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
    updateGeometry();
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
    case Qt::Key_A:
    case Qt::Key_B:
        if (event->modifiers() != Qt::NoModifier)
            break;
        return toggleMarker(event->key() == Qt::Key_A ? ViewState::Marker::A : ViewState::Marker::B);
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void PeaksChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, QStringLiteral("peaks.png"), [this] { return values(); });
    menu.addAction(tr("Save &values…"), this, &PeaksChart::askAndSaveValues)->setEnabled(!m_series->isEmpty());
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
    std::vector<ChartLegend::Entry> entries;
    std::size_t added = 0;
    for (std::size_t i = 0; i < m_plot->lines().size(); ++i) {
        const PeaksPlot::Drawn& drawn = m_plot->lines()[i];
        if (!drawn.channel.isShownAtFirst() && (++added > mostAddedEntries || !m_plot->isShown(drawn)))
            continue;
        entries.push_back({static_cast<int>(i), drawn.name, drawn.color,
                           drawn.channel.isReserved ? ChartLegend::Mark::DashedLine : ChartLegend::Mark::Line, true,
                           m_plot->isShown(drawn)});
    }
    if (added > mostAddedEntries)
        entries.push_back({-1, tr("%n more", nullptr, static_cast<int>(added - mostAddedEntries)), Qt::transparent,
                           ChartLegend::Mark::Line, false, true});
    m_legend->setEntries(std::move(entries));
    m_legend->setVisible(!m_legend->entries().empty());
    for (QToolButton* button : m_switches)
        button->setVisible(!m_series->isEmpty());
}

void PeaksChart::updateTexts()
{
    if (!m_run)
        m_plot->setMessage(tr("No log open.\nOpen a train.log, or drop one on the window."));
    else if (!m_shown)
        m_plot->setMessage(tr("Preparing the chart…"));
    else if (m_series->isEmpty())
        m_plot->setMessage(m_series->rank && !m_shown->isEmpty() ? tr("Rank %1 reports no peaks.").arg(*m_series->rank)
                                                                 : textWithoutPeaks(*m_shown));
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
    if (m_series->isReservedOnly())
        parts += tr("reserved only, what was allocated is not logged");
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
    if (m_series->isReservedOnly()) {
        const std::size_t i = *m_series->overall.peak();
        peaks
            += tr("%1 %2 at step %3")
                   .arg(tr("reserved"), bytesText({m_series->overall.bytes[i]}), countText(m_series->overall.steps[i]));
    }
    QString text = tr("Peaks: %1.").arg(peaks.join(QStringLiteral(", ")));
    if (m_plot->capacity())
        text += u' ' + tr("Capacity %1.").arg(bytesText(*m_plot->capacity(), 1));
    return text;
}

QSize PeaksChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(100, 40);
}

QSize PeaksChart::minimumSizeHint() const
{
    // Each strip below the peaks wants room of its own, not the peaks'.
    return fontMetrics().averageCharWidth() * QSize(40, 24 + 8 * m_plot->stripCount());
}

} // namespace headroom
