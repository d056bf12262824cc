// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/verdict_bar.h"

#include "panels/styled.h"
#include "theme/icons.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>

#include <algorithm>

namespace headroom {
namespace {

struct Look
{
    const char* tone;
    Symbol symbol;
};

Look lookOf(Verdict::Level level)
{
    switch (level) {
    case Verdict::Level::DoesNotFit:
        return {"error", Symbol::Error};
    case Verdict::Level::Tight:
        return {"warning", Symbol::Warning};
    case Verdict::Level::Fits:
        return {"ok", Symbol::Ok};
    default:
        return {"note", Symbol::Info};
    }
}

constexpr int margin = 10;
constexpr int leastHeight = 30; ///< the style's rounded ends need twice their radius

} // namespace

VerdictBar::VerdictBar(QWidget* parent)
    : QFrame(parent)
    , m_icon(new QLabel(this))
    , m_sentence(makeLabel({}, "strong", this))
{
    setObjectName(QStringLiteral("verdictBar"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(margin, 4, margin, 4);
    layout->setSpacing(8);
    layout->addWidget(m_icon);
    layout->addWidget(m_sentence, 1);
    m_sentence->setMinimumWidth(0);
    m_sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    setVerdict({});
}

void VerdictBar::setVerdict(const Verdict& verdict)
{
    const bool isSameLook = lookOf(m_verdict.level).symbol == lookOf(verdict.level).symbol;
    m_verdict = verdict;
    const Look look = lookOf(verdict.level);
    setStyled(this, "banner", QString::fromLatin1(look.tone));
    if (!isSameLook || m_icon->pixmap(Qt::ReturnByValue).isNull()) {
        const int size = fontMetrics().height();
        m_icon->setPixmap(symbolIcon(look.symbol).pixmap(size, size));
    }
    setToolTip(
        verdict.sentence + QLatin1String("\n\n")
        + tr("Device memory of the fullest GPU: tensors, what the allocator keeps beside them, and the CUDA context."));
    setAccessibleName(tr("Verdict"));
    setAccessibleDescription(verdict.sentence);
    elide();
}

void VerdictBar::elide()
{
    m_sentence->setText(m_sentence->fontMetrics().elidedText(m_verdict.sentence, Qt::ElideRight, m_sentence->width()));
}

void VerdictBar::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    elide();
}

void VerdictBar::copy() const
{
    if (!m_verdict.sentence.isEmpty()) {
        QGuiApplication::clipboard()->setText(m_verdict.sentence);
    }
}

void VerdictBar::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    menu.addAction(symbolIcon(Symbol::Copy), tr("&Copy verdict"), this, &VerdictBar::copy);
    menu.exec(event->globalPos());
}

QSize VerdictBar::sizeHint() const
{
    return {fontMetrics().averageCharWidth() * 90, std::max(fontMetrics().height() + 14, leastHeight)};
}

QSize VerdictBar::minimumSizeHint() const
{
    return {fontMetrics().averageCharWidth() * 24, sizeHint().height()};
}

} // namespace headroom
