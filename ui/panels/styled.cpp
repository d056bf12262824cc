// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/styled.h"

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>
#include <QVariant>

namespace headroom {

QLabel* makeLabel(const QString& text, const char* role, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setProperty("role", QString::fromLatin1(role));
    label->setTextFormat(Qt::PlainText);
    return label;
}

QPushButton* makeLink(const QString& text, QWidget* parent)
{
    auto* link = new QPushButton(text, parent);
    link->setProperty("role", QStringLiteral("link"));
    link->setFlat(true);
    link->setAutoDefault(false);
    link->setCursor(Qt::PointingHandCursor);
    return link;
}

QWidget* makeStart(QLabel* sentence, QPushButton* link, QWidget* parent)
{
    auto* page = new QWidget(parent);
    auto* layout = new QVBoxLayout(page);
    sentence->setAlignment(Qt::AlignCenter);
    sentence->setWordWrap(true);
    layout->addStretch();
    layout->addWidget(sentence);
    layout->addWidget(link, 0, Qt::AlignCenter);
    layout->addStretch();
    return page;
}

QFrame* makeRule(QWidget* parent)
{
    auto* rule = new QFrame(parent);
    rule->setFrameShape(QFrame::HLine);
    rule->setFrameShadow(QFrame::Plain);
    return rule;
}

void setStyled(QWidget* widget, const char* property, const QString& value)
{
    if (widget->property(property).toString() == value) {
        return;
    }
    widget->setProperty(property, value);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
    widget->update();
}

} // namespace headroom
