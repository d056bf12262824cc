// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/findings_panel.h"

#include "panels/finding_card.h"
#include "panels/styled.h"
#include "workspace/workspace.h"

#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

bool sameEvidence(const Evidence& a, const Evidence& b)
{
    return a.text == b.text && a.file == b.file && a.line == b.line;
}

bool sameMend(const Mend& a, const Mend& b)
{
    return a.label == b.label && a.further == b.further && a.predictedPeak == b.predictedPeak;
}

bool sameFinding(const Finding& a, const Finding& b)
{
    const bool hasSameMends = a.mend.has_value() == b.mend.has_value() && (!a.mend || sameMend(*a.mend, *b.mend))
        && std::ranges::equal(a.alternatives, b.alternatives, sameMend);
    return a.id == b.id && a.severity == b.severity && a.title == b.title && a.explanation == b.explanation
        && hasSameMends
        && std::equal(a.evidence.begin(), a.evidence.end(), b.evidence.begin(), b.evidence.end(), sameEvidence);
}

} // namespace

FindingsPanel::FindingsPanel(Workspace& workspace, QWidget* parent)
    : QScrollArea(parent)
    , m_workspace(workspace)
    , m_empty(makeLabel({}, "muted"))
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    auto* content = new QWidget;
    content->setAutoFillBackground(false);
    m_layout = new QVBoxLayout(content);
    m_layout->setContentsMargins(12, 2, 12, 12);
    m_layout->setSpacing(12);
    m_empty->setWordWrap(true);
    m_empty->setContentsMargins(6, 0, 6, 0);
    m_layout->addWidget(m_empty);
    m_layout->addStretch();
    setWidget(content);
    setAccessibleName(tr("Findings"));
    connect(&workspace, &Workspace::findingsChanged, this, &FindingsPanel::refresh);
    rebuild();
}

void FindingsPanel::refresh()
{
    const auto& findings = m_workspace.findings();
    const bool hasEstimate = m_workspace.footprint() != nullptr;
    const bool hasLog = m_workspace.log() != nullptr;
    m_empty->setText(hasEstimate && hasLog ? tr("Nothing to find fault with.")
                         : hasEstimate || hasLog
                         ? tr("Nothing to find fault with.\nOpen a log and its config to have both compared.")
                         : tr("Findings come with an estimate or a log."));
    const bool isSame = std::equal(
        m_cards.begin(), m_cards.end(), findings.begin(), findings.end(),
        [](const FindingCard* card, const Finding& finding) { return sameFinding(card->finding(), finding); });
    if (!isSame) {
        rebuild();
    }
}

QString FindingsPanel::focusedFinding() const
{
    for (const FindingCard* card : m_cards) {
        if (card->isAncestorOf(focusWidget())) {
            return card->objectName();
        }
    }
    return {};
}

void FindingsPanel::rebuild()
{
    const QString focused = focusedFinding();
    std::vector<FindingCard*> old = std::exchange(m_cards, {});
    for (const Finding& finding : m_workspace.findings()) {
        const auto same = std::ranges::find_if(
            old, [&](const FindingCard* card) { return card != nullptr && card->finding().id == finding.id; });
        const bool isTaken = same != old.end() && (*same)->take(finding);
        FindingCard* card = isTaken ? std::exchange(*same, nullptr) : addCard(finding);
        const auto place = static_cast<int>(m_cards.size());
        if (m_layout->indexOf(card) != place) {
            m_layout->removeWidget(card);
            m_layout->insertWidget(place, card);
        }
        card->show();
        m_cards.push_back(card);
        if (card->objectName() == focused && !isTaken && card->mendButton() != nullptr) {
            card->mendButton()->setFocus();
        }
    }
    for (FindingCard* card : old) {
        if (card != nullptr) {
            // Not deleted at once: the click on its button may be what led here.
            m_layout->removeWidget(card);
            card->hide();
            card->deleteLater();
        }
    }
    m_empty->setVisible(m_cards.empty());
}

FindingCard* FindingsPanel::addCard(const Finding& finding)
{
    auto* card = new FindingCard(finding, widget());
    connect(card, &FindingCard::evidenceActivated, this, &FindingsPanel::evidenceActivated);
    connect(card, &FindingCard::mendRequested, &m_workspace, &Workspace::mend);
    return card;
}

void FindingsPanel::changeEvent(QEvent* event)
{
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_cards.empty()) {
        rebuild(); // links carry their colour in the text
    }
}

} // namespace headroom
