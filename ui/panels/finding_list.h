// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"

#include <QScrollArea>

#include <vector>

class QVBoxLayout;

namespace headroom {

class FindingCard;

/// Findings of a question of its own, such as a comparison. They come without buttons: what they would mend may not be
/// the plan under the knobs.
class FindingList : public QScrollArea
{
    Q_OBJECT

public:
    explicit FindingList(QWidget* parent = nullptr);

    void setFindings(const std::vector<Finding>& findings);
    [[nodiscard]] const std::vector<FindingCard*>& cards() const { return m_cards; }

signals:
    void evidenceActivated(const QString& file, qint64 line);

private:
    QVBoxLayout* m_layout;
    std::vector<FindingCard*> m_cards;
};

} // namespace headroom
