// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/ranks_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_title.h"
#include "charts/gib_text.h"
#include "charts/ranks_plot.h"

#include <QComboBox>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>
#include <QtConcurrent>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr int settleMs = 80;
constexpr double mostGroups = 240; // columns of steps; more would be narrower than a pixel or two

} // namespace

RanksChart::RanksChart(ViewState& view, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
    , m_title(new ChartTitle(tr("Peak per rank"), this))
    , m_columns(new QComboBox(this))
    , m_plot(new RanksPlot(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Peak per rank"));
    m_columns->addItems({tr("by phase"), tr("by step")});
    m_columns->setAccessibleName(tr("Columns"));
    m_columns->setProperty(notInPictures, true);
    auto* head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_columns);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 6, 10, 6);
    layout->setSpacing(2);
    layout->addLayout(head);
    layout->addWidget(m_plot, 1);

    m_settle.setSingleShot(true);
    m_settle.setInterval(settleMs);
    connect(&m_settle, &QTimer::timeout, this, &RanksChart::prepare);
    connect(m_columns, &QComboBox::currentIndexChanged, this, [this](int index) { setBySteps(index == 1); });
    connect(m_plot, &RanksPlot::rankClicked, this, &RanksChart::chooseRank);
    connect(m_plot, &RanksPlot::recordActivated, this, &RanksChart::recordActivated);
    connect(&view, &ViewState::rankChanged, m_plot, &RanksPlot::setChosenRank);
    connect(&view, &ViewState::rangeChanged, this, &RanksChart::rangeChanged);
    connect(&view, &ViewState::switched, this, [this](ViewState::Switch which) {
        if (which == ViewState::Switch::Link)
            rangeChanged();
    });
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &RanksChart::adopt);
    updateTexts();
}

RanksChart::~RanksChart() = default;

void RanksChart::setRun(std::shared_ptr<const Run> run)
{
    m_run = std::move(run);
    m_isOutdated = true;
    if (isVisible() || !m_run)
        prepare();
}

void RanksChart::setCapacity(std::optional<Bytes> capacity)
{
    m_plot->setCapacity(capacity);
}

void RanksChart::setBySteps(bool isBySteps)
{
    if (isBySteps == m_isBySteps)
        return;
    m_isBySteps = isBySteps;
    m_columns->setCurrentIndex(isBySteps ? 1 : 0);
    m_isOutdated = true;
    prepare();
}

void RanksChart::rangeChanged()
{
    m_isOutdated = true;
    if (isVisible())
        m_settle.start();
}

void RanksChart::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_isOutdated)
        prepare();
}

GridOptions RanksChart::options() const
{
    GridOptions options;
    const StepRange range = m_view.isOn(ViewState::Switch::Link) ? m_view.range() : m_view.bounds();
    options.steps = range;
    if (m_isBySteps) {
        // Whole steps to a column, so that none has one more than its neighbours by rounding alone.
        options.steps = {std::floor(range.first), std::ceil(range.last)};
        const double perColumn = std::max(1.0, std::ceil(options.steps.span() / mostGroups));
        options.stepGroups = static_cast<std::size_t>(std::max(1.0, std::ceil(options.steps.span() / perColumn)));
        options.steps.last = options.steps.first + perColumn * static_cast<double>(options.stepGroups);
    }
    return options;
}

void RanksChart::prepare()
{
    if (m_watcher.isRunning())
        return; // done again when this one is
    m_isOutdated = false;
    if (!m_run) {
        m_grid.reset();
        m_plot->setGrid(nullptr, nullptr);
        updateTexts();
        return;
    }
    m_isPreparing = true;
    m_gathered = m_run;
    m_watcher.setFuture(QtConcurrent::run(
        [run = m_run, wanted = options()] { return std::make_shared<const PeakGrid>(makePeakGrid(*run, wanted)); }));
}

void RanksChart::adopt()
{
    m_isPreparing = false;
    if (m_isOutdated || m_gathered != m_run) {
        prepare();
        return;
    }
    m_grid = m_watcher.result();
    m_plot->setGrid(m_run, m_grid);
    m_plot->setChosenRank(m_view.rank());
    updateTexts();
}

void RanksChart::chooseRank(int rank)
{
    const bool isChosen = rank < 0 || m_view.rank() == rank;
    m_view.setRank(isChosen ? std::nullopt : std::optional(rank));
}

void RanksChart::moveRank(int rows)
{
    if (!m_grid || m_grid->ranks.empty())
        return;
    const auto& ranks = m_grid->ranks;
    const auto last = static_cast<std::ptrdiff_t>(ranks.size()) - 1;
    const auto found = m_view.rank() ? std::find(ranks.begin(), ranks.end(), *m_view.rank()) : ranks.end();
    const std::ptrdiff_t row = found == ranks.end() ? (rows > 0 ? 0 : last)
                                                    : std::clamp<std::ptrdiff_t>(found - ranks.begin() + rows, 0, last);
    const std::int32_t rank = ranks[static_cast<std::size_t>(row)];
    m_view.setRank(rank < 0 ? std::nullopt : std::optional<int>(rank));
}

void RanksChart::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Up:
        return moveRank(-1);
    case Qt::Key_Down:
        return moveRank(1);
    case Qt::Key_Escape:
        return m_view.setRank({});
    case Qt::Key_Return:
    case Qt::Key_Enter:
        for (std::size_t row = 0; m_grid && row < m_grid->ranks.size(); ++row) {
            const std::int64_t record = m_grid->peakOfRow(row, m_run->allocatedBytes);
            if (m_grid->ranks[row] == m_view.rank().value_or(-1) && record != PeakGrid::none)
                emit recordActivated(record);
        }
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

void RanksChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, QStringLiteral("ranks.png"), [this] { return values(); });
    menu.addAction(tr("Save &values…"), this,
                   [this] { askAndSaveText(*this, values().replace(u'\t', u','), QStringLiteral("ranks.csv")); });
    menu.exec(event->globalPos());
}

void RanksChart::updateTexts()
{
    const bool hasGrid = m_grid && !m_grid->records.empty();
    m_plot->setMessage(hasGrid ? QString() : tr("No log open.\nOpen the logs of a run to compare its ranks."));
    m_columns->setVisible(hasGrid);
    if (!hasGrid) {
        m_title->setSubtitle({});
        setAccessibleDescription({});
        return;
    }
    std::int64_t most = PeakGrid::none;
    for (std::size_t row = 0; row < m_grid->ranks.size(); ++row) {
        const std::int64_t record = m_grid->peakOfRow(row, m_run->allocatedBytes);
        const auto bytesOf = [&](std::int64_t which) { return m_run->allocatedBytes[static_cast<std::size_t>(which)]; };
        if (record != PeakGrid::none && (most == PeakGrid::none || bytesOf(record) > bytesOf(most)))
            most = record;
    }
    const bool isWhole = !m_view.isOn(ViewState::Switch::Link) || m_view.isFitted();
    QStringList parts{tr("%n rank(s)", nullptr, static_cast<int>(m_grid->ranks.size())),
                      isWhole ? tr("all steps") : tr("the steps in view")};
    if (most != PeakGrid::none) {
        const Record peak = m_run->record(static_cast<std::size_t>(most));
        parts.append(peak.rank < 0 ? tr("most %1").arg(bytesText(peak.allocated))
                                   : tr("most %1 on rank %2").arg(bytesText(peak.allocated)).arg(peak.rank));
    }
    m_title->setSubtitle(parts.join(u" · "_qs));
    setAccessibleDescription(parts.join(u", "_qs));
}

QString RanksChart::values() const
{
    QString text
        = m_isBySteps ? u"rank\tfirst_step\tallocated_bytes\tline\n"_qs : u"rank\tphase\tallocated_bytes\tline\n"_qs;
    for (std::size_t i = 0; m_grid && i < m_grid->records.size(); ++i) {
        if (m_grid->records[i] == PeakGrid::none)
            continue;
        const auto record = static_cast<std::size_t>(m_grid->records[i]);
        const std::size_t row = i / m_grid->columns, column = i % m_grid->columns;
        const double width = m_grid->steps.span() / static_cast<double>(m_grid->columns);
        const QString place = m_isBySteps
            ? QString::number(std::llround(m_grid->steps.first + width * static_cast<double>(column)))
            : QString::fromStdString(m_run->phaseNames[m_grid->phases[column]]);
        const std::int32_t rank = m_grid->ranks[row];
        text += (rank < 0 ? QString() : QString::number(rank)) + u'\t' + place + u'\t'
            + QString::number(m_run->allocatedBytes[record]) + u'\t' + QString::number(m_run->line[record]) + u'\n';
    }
    return text;
}

tl::expected<void, QString> RanksChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
}

QSize RanksChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(70, 30);
}

QSize RanksChart::minimumSizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(30, 12);
}

} // namespace headroom
