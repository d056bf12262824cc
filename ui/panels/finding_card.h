// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"

#include <QFrame>

#include <functional>
#include <memory>

class QLabel;
class QPushButton;

namespace headroom {

/// One finding: what, why, where it is seen, and the button that mends it.
class FindingCard : public QFrame
{
    Q_OBJECT

public:
    explicit FindingCard(Finding finding, QWidget* parent = nullptr);
    ~FindingCard() override;
    FindingCard(const FindingCard&) = delete;
    FindingCard& operator=(const FindingCard&) = delete;

    /// Shows another finding in the same widgets; false where it needs other ones.
    [[nodiscard]] bool take(const Finding& finding);
    [[nodiscard]] const Finding& finding() const { return m_finding; }
    /// Null when there is nothing to press.
    [[nodiscard]] QPushButton* mendButton() const;

signals:
    void evidenceActivated(const QString& file, qint64 line);
    void mendRequested(const headroom::Mend& mend);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Lines;

    QLabel* addLabel(const char* role);
    void addEvidence(std::size_t index);
    void addMend(std::function<Mend()> mend);
    void fill();

    Finding m_finding;
    std::unique_ptr<Lines> m_lines;
};

} // namespace headroom
