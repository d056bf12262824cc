// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/choices.h"

#include <QWidget>

class QComboBox;
class QLabel;

namespace headroom {

class ChangeMark;
class Workspace;

/// One thing picked from a list: its name, the list, and below it what the files say when something else is chosen.
/// What can't be chosen is in the list but disabled, its reason in the tip; that is found out when the list is looked
/// at, since it takes an estimate for each entry.
class ChoiceRow : public QWidget
{
    Q_OBJECT

public:
    ChoiceRow(Workspace& workspace, Choice choice, QWidget* parent = nullptr);

    [[nodiscard]] QComboBox* list() const { return m_list; }
    [[nodiscard]] QString message() const;
    [[nodiscard]] bool isChanged() const;

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void choose(int index);
    void chooseOption(const std::string& id);
    void showOptions();
    void showValue();

    Workspace& m_workspace;
    Choice m_choice;
    ChangeMark* m_mark;
    QComboBox* m_list;
    QLabel* m_message;
};

} // namespace headroom
