// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/start_page.h"

#include "panels/styled.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "workspace/recent_files.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace headroom {

/// A dashed frame that lights up under dragged files.
class DropArea : public QWidget
{
public:
    using QWidget::QWidget;

    void setHighlighted(bool highlighted)
    {
        m_isHighlighted = highlighted;
        update();
    }

protected:
    void paintEvent(QPaintEvent* /*event*/) override
    {
        const Theme& theme = Theme::current();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(m_isHighlighted ? theme.accent : theme.border, m_isHighlighted ? 2 : 1.5, Qt::DashLine));
        painter.setBrush(m_isHighlighted ? theme.selection : theme.raised);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 8, 8);
    }

private:
    bool m_isHighlighted = false;
};

namespace {

constexpr int symbolSize = 40;

QPushButton* entryButton(const QString& text, QWidget* parent)
{
    QPushButton* button = makeLink(text, parent);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    return button;
}

} // namespace

StartPage::StartPage(RecentFiles& recent, const std::vector<Sample>& samples, QWidget* parent)
    : QWidget(parent)
    , m_recent(recent)
{
    setObjectName(QStringLiteral("startPage"));
    auto* content = new QWidget;
    content->setMaximumWidth(fontMetrics().averageCharWidth() * 110);
    auto* layout = new QVBoxLayout(content);
    layout->setContentsMargins(24, 32, 24, 24);
    layout->setSpacing(10);
    layout->addWidget(makeDropArea());
    layout->addSpacing(10);
    addSamples(samples, layout);
    layout->addSpacing(10);
    m_recentTitle = makeLabel(tr("RECENT"), "section");
    layout->addWidget(m_recentTitle);
    m_recentLayout = new QVBoxLayout;
    m_recentLayout->setSpacing(2);
    layout->addLayout(m_recentLayout);
    layout->addStretch();

    auto* centred = new QWidget;
    auto* centring = new QHBoxLayout(centred);
    centring->setContentsMargins(0, 0, 0, 0);
    centring->addStretch(1);
    centring->addWidget(content, 8);
    centring->addStretch(1);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(centred);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(scroll);
    connect(&recent, &RecentFiles::changed, this, &StartPage::showRecent);
    showRecent();
}

QWidget* StartPage::makeDropArea()
{
    m_drop = new DropArea(this);
    auto* layout = new QVBoxLayout(m_drop);
    layout->setContentsMargins(24, 36, 24, 36);
    layout->setSpacing(8);
    auto* symbol = new QLabel(m_drop);
    symbol->setPixmap(symbolIcon(Symbol::Drop).pixmap(symbolSize, symbolSize));
    symbol->setAlignment(Qt::AlignCenter);
    QLabel* title = makeLabel(tr("Drop a training log and its config here"), "title", m_drop);
    title->setAlignment(Qt::AlignCenter);
    QLabel* hint = makeLabel(
        tr("Headroom shows in which phase the memory peaks, recomputes the peak from the config, and lets you "
           "turn knobs until it fits. A folder opens as the logs of one run, one per rank."),
        "muted", m_drop);
    hint->setWordWrap(true);
    hint->setAlignment(Qt::AlignCenter);
    auto* open = new QPushButton(tr("&Open…"), m_drop);
    open->setObjectName(QStringLiteral("startOpenButton"));
    open->setProperty("role", QStringLiteral("primary"));
    connect(open, &QPushButton::clicked, this, &StartPage::openRequested);
    layout->addWidget(symbol);
    layout->addWidget(title);
    layout->addWidget(hint);
    layout->addSpacing(6);
    layout->addWidget(open, 0, Qt::AlignCenter);
    QPushButton* model = makeLink(tr("Or start from a model…"), m_drop);
    model->setObjectName(QStringLiteral("startModelButton"));
    connect(model, &QPushButton::clicked, this, &StartPage::modelRequested);
    layout->addWidget(model, 0, Qt::AlignCenter);
    return m_drop;
}

void StartPage::addSamples(const std::vector<Sample>& samples, QVBoxLayout* layout)
{
    if (samples.empty()) {
        return;
    }
    layout->addWidget(makeLabel(tr("SAMPLES"), "section"));
    for (const Sample& sample : samples) {
        auto* button = entryButton(sample.title, this);
        button->setObjectName(QStringLiteral("sample.") + sample.id);
        button->setAccessibleDescription(sample.description);
        connect(button, &QPushButton::clicked, this, [this, paths = sample.paths] { emit pathsChosen(paths); });
        QLabel* description = makeLabel(sample.description, "muted");
        description->setWordWrap(true);
        description->setContentsMargins(4, 0, 0, 0);
        auto* entry = new QVBoxLayout;
        entry->setSpacing(0);
        entry->addWidget(button);
        entry->addWidget(description);
        layout->addLayout(entry);
    }
}

void StartPage::showRecent()
{
    while (QLayoutItem* item = m_recentLayout->takeAt(0)) {
        if (item->widget() != nullptr) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    m_recentTitle->setVisible(!m_recent.entries().isEmpty());
    for (const QStringList& entry : m_recent.entries()) {
        auto* button = entryButton(RecentFiles::label(entry), this);
        const bool exists = RecentFiles::exists(entry);
        button->setEnabled(exists);
        button->setToolTip(exists ? entry.join(QLatin1Char('\n'))
                                  : tr("No longer there:") + QLatin1Char('\n') + entry.join(QLatin1Char('\n')));
        connect(button, &QPushButton::clicked, this, [this, entry] { emit pathsChosen(entry); });
        m_recentLayout->addWidget(button);
    }
}

void StartPage::setDropHighlighted(bool highlighted)
{
    m_drop->setHighlighted(highlighted);
}

} // namespace headroom
