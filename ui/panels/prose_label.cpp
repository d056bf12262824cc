// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/prose_label.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>

namespace headroom {
namespace {

constexpr QChar breakWithoutWidth(0x200B);
constexpr qsizetype longWord = 16; ///< characters: what fits into the narrowest panel

} // namespace

QString breakable(const QString& text)
{
    QString result;
    for (const QString& word : text.split(u' ')) {
        result += result.isEmpty() ? QString() : QStringLiteral(" ");
        for (qsizetype i = 0; i < word.size(); ++i) {
            result += word[i];
            const bool isBreak = QStringLiteral("._/=:-").contains(word[i]);
            if (isBreak && word.size() > longWord && i + 1 < word.size()) {
                result += breakWithoutWidth;
            }
        }
    }
    return result;
}

ProseLabel::ProseLabel(QWidget* parent)
    : QLabel(parent)
{
    setTextFormat(Qt::PlainText);
    setWordWrap(true);
    setMinimumWidth(1); // else that of its longest word
    setTextInteractionFlags(Qt::TextSelectableByMouse);
}

void ProseLabel::setWords(const QString& words)
{
    setText(breakable(words));
}

void ProseLabel::copy() const
{
    QString text = selectedText();
    QGuiApplication::clipboard()->setText(text.remove(breakWithoutWidth));
}

void ProseLabel::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        copy();
        event->accept();
    } else {
        QLabel::keyPressEvent(event);
    }
}

void ProseLabel::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    QAction* action = menu.addAction(tr("&Copy"));
    action->setEnabled(hasSelectedText());
    if (menu.exec(event->globalPos()) == action) {
        copy();
    }
}

} // namespace headroom
