// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/toggle_row.h"

#include "panels/change_mark.h"
#include "plan/fields.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QSignalBlocker>

namespace headroom {

ToggleRow::ToggleRow(Workspace& workspace, const std::string& field, const QString& title, const QString& meaning,
                     Idle idle, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_field(field)
    , m_meaning(meaning)
    , m_idle(std::move(idle))
    , m_mark(new ChangeMark(this))
    , m_box(new QCheckBox(title, this))
{
    m_box->setObjectName(QStringLiteral("toggle.") + toQString(field));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 2, 0, 2);
    layout->setSpacing(0);
    layout->addWidget(m_mark);
    layout->addWidget(m_box, 1);
    connect(m_box, &QCheckBox::toggled, this, [this](bool isOn) {
        m_workspace.edit({{m_field, isOn ? "true" : "false"}}, isOn ? m_box->text() : tr("%1 off").arg(m_box->text()));
    });
    connect(&workspace, &Workspace::draftChanged, this, &ToggleRow::refresh);
    refresh();
}

bool ToggleRow::isChanged() const
{
    return m_mark->isOn();
}

void ToggleRow::refresh()
{
    const QSignalBlocker blocker(m_box);
    const bool isOn = fieldText(m_workspace.plan(), m_field) == "true";
    const bool was = fieldText(m_workspace.original().plan, m_field) == "true";
    const auto idle = m_idle ? m_idle(m_workspace.plan()) : std::nullopt;
    m_box->setChecked(isOn);
    m_box->setEnabled(!idle || isOn);
    m_mark->setOn(isOn != was);
    QString tip = m_meaning;
    if (idle) {
        tip = QStringLiteral("%1 (%2)").arg(m_meaning, translated(*idle));
    }
    m_box->setToolTip(tip);
    m_box->setAccessibleDescription(isOn != was ? (was ? tr("Originally on. %1") : tr("Originally off. %1")).arg(tip)
                                                : tip);
}

} // namespace headroom
