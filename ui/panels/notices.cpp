// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/notices.h"

#include "panels/styled.h"
#include "theme/icons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

namespace headroom {
namespace {

constexpr int glanceMs = 300;
constexpr int full = 1000;

} // namespace

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent)
    , m_icon(new QLabel(this))
    , m_text(new QLabel(this))
{
    setObjectName(QStringLiteral("messageBar"));
    m_text->setTextFormat(Qt::PlainText);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    QPushButton* close = makeLink(tr("Close"), this);
    close->setObjectName(QStringLiteral("closeMessageButton"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 6, 10, 6);
    layout->setSpacing(10);
    layout->addWidget(m_icon, 0, Qt::AlignTop);
    layout->addWidget(m_text, 1);
    layout->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QPushButton::clicked, this, &MessageBar::clear);
    hide();
}

void MessageBar::showMessage(Severity severity, const QString& sentence)
{
    m_sentences.removeAll(sentence);
    m_sentences.append(sentence);
    while (m_sentences.size() > mostLines) {
        m_sentences.removeFirst();
    }
    const bool isError = severity == Severity::Error;
    const bool isWarning = severity == Severity::Warning;
    setStyled(this, "banner",
              isError ? QStringLiteral("error") : (isWarning ? QStringLiteral("warning") : QStringLiteral("ok")));
    const int size = fontMetrics().height();
    m_icon->setPixmap(
        symbolIcon(isError ? Symbol::Error : (isWarning ? Symbol::Warning : Symbol::Ok)).pixmap(size, size));
    m_text->setText(m_sentences.join(QLatin1Char('\n')));
    setAccessibleName(m_text->text());
    show();
}

void MessageBar::clear()
{
    m_sentences.clear();
    hide();
}

QString MessageBar::text() const
{
    return m_sentences.join(QLatin1Char('\n'));
}

ProgressStrip::ProgressStrip(QWidget* parent)
    : QFrame(parent)
    , m_text(makeLabel(tr("Opening…"), "muted", this))
    , m_bar(new QProgressBar(this))
{
    setObjectName(QStringLiteral("progressStrip"));
    m_delay.setSingleShot(true);
    m_delay.setInterval(glanceMs);
    m_bar->setRange(0, full);
    m_bar->setTextVisible(false);
    auto* cancel = new QPushButton(tr("&Cancel"), this);
    cancel->setObjectName(QStringLiteral("cancelOpeningButton"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 6, 10, 6);
    layout->setSpacing(12);
    layout->addWidget(m_text);
    layout->addWidget(m_bar, 1);
    layout->addWidget(cancel);
    connect(&m_delay, &QTimer::timeout, this, &QWidget::show);
    connect(cancel, &QPushButton::clicked, this, &ProgressStrip::cancelRequested);
    hide();
}

void ProgressStrip::start()
{
    m_text->setText(tr("Opening…"));
    m_bar->setRange(0, full);
    m_bar->setValue(0);
    m_delay.start();
}

void ProgressStrip::setConcluding(const QString& name)
{
    m_bar->setRange(0, 0); // nobody knows how long
    m_text->setText(tr("drawing conclusions from %1…").arg(name));
}

void ProgressStrip::setProgress(int permille, const QString& name)
{
    m_bar->setRange(0, full);
    m_bar->setValue(permille);
    m_text->setText(tr("reading %1… %2 %").arg(name, QString::number(permille / 10)));
}

void ProgressStrip::finish()
{
    m_delay.stop();
    hide();
}

} // namespace headroom
