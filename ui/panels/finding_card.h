// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"

#include <QFrame>

class QPushButton;
class QVBoxLayout;

namespace headroom {

/// One finding: what, why, where it is seen, and the button that mends it.
class FindingCard : public QFrame
{
    Q_OBJECT

public:
    explicit FindingCard(Finding finding, QWidget* parent = nullptr);

    [[nodiscard]] const Finding& finding() const { return m_finding; }
    /// Null when there is nothing to press.
    [[nodiscard]] QPushButton* mendButton() const { return m_mend; }

signals:
    void evidenceActivated(const QString& file, qint64 line);
    void mendRequested(const headroom::Mend& mend);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void addEvidence(const Evidence& evidence, QVBoxLayout* layout);
    QPushButton* addMend(const Mend& mend, QVBoxLayout* layout);
    void addCost(const RelativeStepTime& time, QVBoxLayout* layout);

    Finding m_finding;
    QPushButton* m_mend = nullptr;
};

} // namespace headroom
