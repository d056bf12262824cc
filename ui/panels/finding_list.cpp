// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/finding_list.h"

#include "panels/finding_card.h"

#include <QVBoxLayout>

namespace headroom {
namespace {

constexpr int narrowest = 34; ///< characters

} // namespace

FindingList::FindingList(QWidget* parent)
    : QScrollArea(parent)
{
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setMinimumWidth(fontMetrics().averageCharWidth() * narrowest); // beside a chart or table that wants all it can get
    setAccessibleName(tr("Findings"));
    auto* content = new QWidget;
    content->setAutoFillBackground(false);
    m_layout = new QVBoxLayout(content);
    m_layout->setContentsMargins(8, 2, 12, 8);
    m_layout->setSpacing(8);
    m_layout->addStretch();
    setWidget(content);
}

void FindingList::setFindings(const std::vector<Finding>& findings)
{
    for (FindingCard* card : m_cards) {
        m_layout->removeWidget(card);
        card->hide();
        card->deleteLater();
    }
    m_cards.clear();
    for (Finding finding : findings) {
        finding.mend.reset();
        finding.alternatives.clear();
        auto* card = new FindingCard(std::move(finding), widget());
        connect(card, &FindingCard::evidenceActivated, this, &FindingList::evidenceActivated);
        m_layout->insertWidget(static_cast<int>(m_cards.size()), card);
        m_cards.push_back(card);
    }
}

} // namespace headroom
