// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/verdict.h"

#include <QFrame>

class QLabel;

namespace headroom {

/// Icon, words and colour for the one sentence that matters.
class VerdictBar : public QFrame
{
    Q_OBJECT

public:
    explicit VerdictBar(QWidget* parent = nullptr);

    void setVerdict(const Verdict& verdict);
    [[nodiscard]] QString text() const { return m_verdict.sentence; }
    void copy() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void elide();

    Verdict m_verdict;
    QLabel* m_icon;
    QLabel* m_sentence;
};

} // namespace headroom
