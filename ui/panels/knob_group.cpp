// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/knob_group.h"

#include "panels/change_mark.h"

#include <QHBoxLayout>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

namespace headroom {

KnobGroup::KnobGroup(const QString& title, const QString& key, bool startsFolded, QWidget* parent)
    : QWidget(parent)
    , m_title(title)
    , m_key(QStringLiteral("knobs/folded/") + key)
    , m_mark(new ChangeMark(this))
    , m_header(new QToolButton(this))
    , m_content(new QWidget(this))
    , m_layout(new QVBoxLayout(m_content))
{
    m_header->setObjectName(QStringLiteral("knobGroup.") + key);
    m_header->setText(title);
    m_header->setProperty("foldable", true);
    m_header->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_header->setCheckable(true);
    m_header->setFocusPolicy(Qt::TabFocus);
    m_header->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(4);
    auto* line = new QHBoxLayout;
    line->setSpacing(0);
    line->addWidget(m_mark);
    line->addWidget(m_header, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 0, 0);
    layout->setSpacing(2);
    layout->addLayout(line);
    layout->addWidget(m_content);
    connect(m_header, &QToolButton::clicked, this, [this](bool isOpen) {
        setFolded(!isOpen);
        QSettings().setValue(m_key, !isOpen);
    });
    setFolded(QSettings().value(m_key, startsFolded).toBool());
}

bool KnobGroup::isFolded() const
{
    return !m_header->isChecked();
}

void KnobGroup::setFolded(bool folded)
{
    m_header->setChecked(!folded);
    m_header->setArrowType(folded ? Qt::RightArrow : Qt::DownArrow);
    m_content->setVisible(!folded);
    m_header->setToolTip(folded ? tr("Shows what is in %1").arg(m_title) : tr("Folds %1 away").arg(m_title));
    setChanged(m_isChanged);
}

void KnobGroup::setChanged(bool changed)
{
    m_isChanged = changed;
    m_mark->setOn(changed && isFolded());
    m_header->setAccessibleName(changed && isFolded() ? tr("%1, changed").arg(m_title) : m_title);
}

} // namespace headroom
