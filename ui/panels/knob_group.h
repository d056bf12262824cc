// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QToolButton;
class QVBoxLayout;

namespace headroom {

class ChangeMark;

/// Knobs under a heading that folds them away; whether it does is remembered between starts. A folded group shows by
/// its mark that something in it was turned.
class KnobGroup : public QWidget
{
    Q_OBJECT

public:
    /// `key` names it in the settings.
    KnobGroup(const QString& title, const QString& key, bool startsFolded, QWidget* parent = nullptr);

    [[nodiscard]] QVBoxLayout* body() const { return m_layout; }
    [[nodiscard]] QToolButton* header() const { return m_header; }
    [[nodiscard]] bool isFolded() const;
    void setFolded(bool folded);
    void setChanged(bool changed);

private:
    QString m_title;
    QString m_key;
    ChangeMark* m_mark;
    QToolButton* m_header;
    QWidget* m_content;
    QVBoxLayout* m_layout;
    bool m_isChanged = false;
};

} // namespace headroom
