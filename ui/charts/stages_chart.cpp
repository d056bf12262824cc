// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stages_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_legend.h"
#include "charts/chart_title.h"
#include "charts/gib_text.h"
#include "charts/stages_plot.h"
#include "theme/theme.h"
#include "workspace/view_state.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {

namespace {

constexpr int leastBarLines = 11; // of text, for title and bars

} // namespace

StagesChart::StagesChart(QWidget* parent)
    : QWidget(parent)
    , m_ownView(new ViewState(this))
    , m_title(new ChartTitle(tr("Estimated peak per stage"), this))
    , m_plot(new StagesPlot(this))
    , m_legend(new ChartLegend(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Estimated peak per stage"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 8, 14, 8);
    layout->setSpacing(4);
    layout->addWidget(m_title);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_legend);
    connect(m_plot, &StagesPlot::stageClicked, this, &StagesChart::selectStage);
    setViewState(nullptr);
    clear();
}

StagesChart::~StagesChart() = default;

void StagesChart::setFootprint(const Footprint& current, const Footprint* baseline)
{
    m_plot->setFootprint(&current, baseline);
    m_fullest = static_cast<int>(current.fullestStage);
    markStage();
    updateLegend();
    updateTexts();
}

void StagesChart::clear(const QString& reason)
{
    m_reason = reason;
    m_plot->setFootprint(nullptr, nullptr);
    updateLegend();
    updateTexts();
}

void StagesChart::setMeasured(std::vector<std::optional<Bytes>> perStage)
{
    m_plot->setMeasured(std::move(perStage));
    updateLegend();
    updateTexts();
}

void StagesChart::setCapacity(std::optional<Bytes> capacity, const QString& label)
{
    if (m_plot->setCapacity(capacity, label))
        updateTexts();
}

void StagesChart::setBaselineName(const QString& name)
{
    m_baselineName = name;
    updateTexts();
}

void StagesChart::setViewState(ViewState* view)
{
    if (!view)
        view = m_ownView;
    if (view == m_view)
        return;
    if (m_view)
        disconnect(m_view, nullptr, this, nullptr);
    m_view = view;
    connect(view, &ViewState::stageChanged, this, [this](std::optional<int> stage) {
        markStage();
        updateTexts();
        if (stage)
            emit stageSelected(*stage);
    });
    if (view != m_ownView)
        connect(view, &QObject::destroyed, this, [this] {
            m_view = nullptr;
            setViewState(nullptr);
        });
    markStage();
}

std::optional<int> StagesChart::selectedStage() const
{
    return m_view->stage();
}

void StagesChart::selectStage(std::optional<int> stage)
{
    m_view->setStage(stage);
}

void StagesChart::keyPressEvent(QKeyEvent* event)
{
    const auto count = static_cast<int>(m_plot->stageCount());
    if (count > 0 && event->modifiers() == Qt::NoModifier) {
        const int now = selectedStage().value_or(-1);
        switch (event->key()) {
        case Qt::Key_Left:
            return selectStage(now < 0 ? count - 1 : std::max(now - 1, 0));
        case Qt::Key_Right:
            return selectStage(std::min(now + 1, count - 1));
        case Qt::Key_Home:
            return selectStage(0);
        case Qt::Key_End:
            return selectStage(count - 1);
        default:
            break;
        }
    }
    QWidget::keyPressEvent(event);
}

void StagesChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, QStringLiteral("stages.png"), [this] { return values(); });
    menu.exec(event->globalPos());
}

void StagesChart::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        updateLegend();
}

void StagesChart::updateLegend()
{
    const Theme& theme = Theme::current();
    std::vector<ChartLegend::Entry> entries;
    for (std::size_t part = 0; part < stackPartCount; ++part) {
        if (m_plot->occurs(part))
            entries.push_back(
                {static_cast<int>(part), stackPartName(part), stackPartColor(part), ChartLegend::Mark::Square});
    }
    const auto& marks = m_plot->marks();
    if (std::any_of(marks.begin(), marks.end(), [](const auto& mark) { return mark.measured.has_value(); }))
        entries.push_back({-1, tr("Measured"), theme.text, ChartLegend::Mark::Diamond});
    m_legend->setEntries(std::move(entries));
    fitLegend();
}

void StagesChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitLegend();
}

/// Where room is scarce the bars need it more: the readout names the parts too.
void StagesChart::fitLegend()
{
    const int bars = fontMetrics().height() * leastBarLines;
    const int width = contentsRect().width() - layout()->contentsMargins().left() - layout()->contentsMargins().right();
    m_legend->setVisible(!m_legend->entries().empty() && height() - m_legend->heightForWidth(width) > bars);
}

/// The stage that timeline and formulas speak of.
void StagesChart::markStage()
{
    const auto chosen = m_view->stage();
    const bool exists = chosen && *chosen >= 0 && static_cast<std::size_t>(*chosen) < m_plot->stageCount();
    m_plot->setSelected(exists ? chosen : m_plot->stageCount() > 0 ? std::optional(m_fullest) : std::nullopt);
}

void StagesChart::updateTexts()
{
    const bool isEmpty = m_plot->stageCount() == 0;
    m_plot->setMessage(!isEmpty                 ? QString()
                           : m_reason.isEmpty() ? tr("No estimate yet.\nOpen a config, or choose a model.")
                                                : m_reason);
    const auto& marks = m_plot->marks();
    const bool hasBaseline
        = std::any_of(marks.begin(), marks.end(), [](const auto& mark) { return mark.baseline.has_value(); });
    m_title->setSubtitle(!hasBaseline                   ? QString()
                             : m_baselineName.isEmpty() ? tr("thin outline: before the changes")
                                                        : tr("thin outline: %1").arg(m_baselineName));
    setAccessibleDescription(description());
}

QString StagesChart::description() const
{
    if (m_plot->stageCount() == 0)
        return m_reason.isEmpty() ? tr("No estimate.") : m_reason;
    std::size_t fullest = 0;
    for (std::size_t i = 1; i < m_plot->stageCount(); ++i)
        fullest = m_plot->mark(i).total > m_plot->mark(fullest).total ? i : fullest;
    const auto count = static_cast<int>(m_plot->stageCount());
    const QString total = bytesText(*m_plot->mark(fullest).total);
    QString text = count == 1
        ? tr("One stage with %1.").arg(total)
        : tr("%n stages; the fullest is stage %1 with %2.", nullptr, count).arg(fullest).arg(total);
    if (m_plot->capacity())
        text += u' ' + tr("Capacity %1.").arg(bytesText(*m_plot->capacity(), 1));
    const std::optional<int> selected = selectedStage();
    if (selected && *selected >= 0 && static_cast<std::size_t>(*selected) < m_plot->stageCount())
        text += u' '
            + tr("Selected: stage %1 with %2.")
                  .arg(*selected)
                  .arg(bytesText(*m_plot->mark(static_cast<std::size_t>(*selected)).total));
    return text;
}

QString StagesChart::values() const
{
    QString text = QStringLiteral("stage");
    for (int component = 0; component < componentCount; ++component) {
        const std::string_view name = nameOf(static_cast<Component>(component));
        text += u'\t' + QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())) + u"_bytes";
    }
    text += u"\tunused_cache_bytes\tdevice_bytes\tbaseline_device_bytes\tmeasured_bytes\n"_qs;
    const auto cell = [](const std::optional<Bytes>& bytes) -> QString {
        return u'\t' + (bytes ? QString::number(bytes->value) : QString());
    };
    for (std::size_t stage = 0; stage < m_plot->stageCount(); ++stage) {
        text += QString::number(stage);
        for (const Bytes part : m_plot->stages()[stage])
            text += cell(part);
        const StageMarks::Mark& mark = m_plot->mark(stage);
        text += cell(mark.total) + cell(mark.baseline) + cell(mark.measured) + u'\n';
    }
    return text;
}

QString StagesChart::totalLabel(int stage) const
{
    if (stage < 0 || static_cast<std::size_t>(stage) >= m_plot->stageCount())
        return {};
    return gibNumber(*m_plot->mark(static_cast<std::size_t>(stage)).total);
}

QImage StagesChart::image(double scale)
{
    return chartImage(*this, *m_plot, scale);
}

tl::expected<void, QString> StagesChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
}

QSize StagesChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(60, 40);
}

QSize StagesChart::minimumSizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(30, 26);
}

} // namespace headroom
