// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

#include <vector>

class QLabel;
class QVBoxLayout;

namespace headroom {

class FindingCard;
struct Finding;
class Workspace;

/// The right side of the window: what was found, with what would mend it.
class FindingsPanel : public QScrollArea
{
    Q_OBJECT

public:
    explicit FindingsPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] const std::vector<FindingCard*>& cards() const { return m_cards; }

signals:
    void evidenceActivated(const QString& file, qint64 line);

protected:
    void changeEvent(QEvent* event) override;

private:
    void refresh();
    void rebuild();
    FindingCard* addCard(const Finding& finding);
    [[nodiscard]] QString focusedFinding() const;

    Workspace& m_workspace;
    QVBoxLayout* m_layout;
    QLabel* m_empty;
    std::vector<FindingCard*> m_cards;
};

} // namespace headroom
