// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/choice_row.h"

#include "panels/change_mark.h"
#include "panels/styled.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QComboBox>
#include <QContextMenuEvent>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QStandardItemModel>

#include <functional>
#include <utility>

namespace headroom {
namespace {

constexpr int nameCharacters = 12;

/// Tells before its entries are looked at.
class ChoiceList : public QComboBox
{
public:
    ChoiceList(std::function<void()> refresh, QWidget* parent)
        : QComboBox(parent)
        , m_refresh(std::move(refresh))
    {
    }

    void showPopup() override
    {
        m_refresh();
        QComboBox::showPopup();
    }

protected:
    void focusInEvent(QFocusEvent* event) override
    {
        m_refresh(); // keys choose without opening the list
        QComboBox::focusInEvent(event);
    }

private:
    std::function<void()> m_refresh;
};

} // namespace

ChoiceRow::ChoiceRow(Workspace& workspace, Choice choice, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_choice(choice)
    , m_mark(new ChangeMark(this))
    , m_list(new ChoiceList([this] { showOptions(); }, this))
    , m_message(makeLabel({}, "muted", this))
{
    auto* label = new QLabel(choiceTitle(choice), this);
    label->setBuddy(m_list);
    setToolTip(choiceMeaning(choice));
    m_list->setAccessibleName(choiceTitle(choice));
    m_list->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_list->setFocusPolicy(Qt::StrongFocus);
    m_list->installEventFilter(this);
    m_message->setWordWrap(true);
    auto* layout = new QGridLayout(this);
    layout->setContentsMargins(0, 2, 0, 2);
    layout->setHorizontalSpacing(0);
    layout->setVerticalSpacing(3);
    layout->addWidget(m_mark, 0, 0);
    layout->addWidget(label, 0, 1);
    layout->addWidget(m_list, 0, 2);
    layout->addWidget(m_message, 1, 1, 1, 2);
    // One width for all names, so that the lists begin below each other.
    label->setMinimumWidth(label->fontMetrics().averageCharWidth() * nameCharacters);
    layout->setColumnStretch(2, 1);
    connect(m_list, &QComboBox::activated, this, &ChoiceRow::choose);
    connect(&workspace, &Workspace::draftChanged, this, &ChoiceRow::showValue);
    showOptions();
}

QString ChoiceRow::message() const
{
    return m_message->text();
}

bool ChoiceRow::isChanged() const
{
    return m_mark->isOn();
}

void ChoiceRow::choose(int index)
{
    chooseOption(m_list->itemData(index).toString().toStdString());
}

void ChoiceRow::chooseOption(const std::string& id)
{
    if (id != chosenOption(m_choice, m_workspace.plan())) {
        m_workspace.edit(choiceEdits(m_choice, m_workspace.plan(), m_workspace.original().plan, id),
                         QStringLiteral("%1 %2").arg(choiceTitle(m_choice), optionTitle(m_choice, id)));
    }
    showValue(); // also when nothing came of it
}

void ChoiceRow::showOptions()
{
    const auto options = choiceOptions(m_choice, m_workspace.plan(), m_workspace.original().plan);
    const std::string original = chosenOption(m_choice, m_workspace.original().plan);
    const QSignalBlocker blocker(m_list);
    m_list->clear();
    auto* model = qobject_cast<QStandardItemModel*>(m_list->model());
    for (const ChoiceOption& option : options) {
        m_list->addItem(option.title, toQString(option.id));
        QStandardItem* item = model->item(m_list->count() - 1);
        item->setEnabled(!option.objection);
        QFont font = m_list->font();
        font.setItalic(option.id == original && original != chosenOption(m_choice, m_workspace.plan()));
        item->setFont(font);
        const QString tip = option.objection ? tr("Not possible: %1").arg(translated(*option.objection))
            : option.caution                 ? tr("By the textbook recipe only: %1").arg(translated(*option.caution))
                                             : QString();
        item->setToolTip(tip);
        item->setAccessibleDescription(tip);
        if (option.caution) {
            item->setText(tr("%1 (recipe only)").arg(option.title));
        }
    }
    showValue();
}

void ChoiceRow::showValue()
{
    const std::string now = chosenOption(m_choice, m_workspace.plan());
    const std::string original = chosenOption(m_choice, m_workspace.original().plan);
    const auto idle = choiceIdle(m_choice, m_workspace.plan());
    {
        const QSignalBlocker blocker(m_list);
        if (m_list->findData(toQString(now)) < 0) {
            m_list->addItem(optionTitle(m_choice, now), toQString(now));
        }
        m_list->setCurrentIndex(m_list->findData(toQString(now)));
    }
    m_list->setEnabled(!idle || now != original);
    m_mark->setOn(now != original);
    m_message->setText(now != original ? tr("originally %1").arg(optionTitle(m_choice, original))
                           : idle      ? translated(*idle)
                                       : QString());
    m_message->setVisible(!m_message->text().isEmpty());
    m_list->setAccessibleDescription(
        QStringLiteral("%1. %2 %3").arg(m_list->currentText(), m_message->text(), choiceMeaning(m_choice)));
}

void ChoiceRow::contextMenuEvent(QContextMenuEvent* event)
{
    const std::string original = chosenOption(m_choice, m_workspace.original().plan);
    QMenu menu(this);
    QAction* reset = menu.addAction(tr("Reset to %1").arg(optionTitle(m_choice, original)), this,
                                    [this, original] { chooseOption(original); });
    reset->setEnabled(isChanged());
    menu.exec(event->globalPos());
}

void ChoiceRow::mouseDoubleClickEvent(QMouseEvent* /*event*/)
{
    chooseOption(chosenOption(m_choice, m_workspace.original().plan));
}

/// The wheel scrolls the panel; a list under the pointer must not change on the way.
bool ChoiceRow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_list && event->type() == QEvent::Wheel && !m_list->hasFocus()) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace headroom
