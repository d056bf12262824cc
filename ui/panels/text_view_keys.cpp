// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a TextView is used: keys, pointer, selection, clipboard.
#include "panels/text_view.h"

#include "theme/icons.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QScrollBar>

#include <algorithm>

namespace headroom {

void TextView::moveCaret(Place place, bool extends)
{
    const qint64 count = m_file != nullptr ? std::max<qint64>(m_file->lineCount(), 1) : 1;
    place.line = std::clamp<qint64>(place.line, 1, count);
    m_caret = place;
    if (!extends) {
        m_anchor = place;
    }
    if (place.line < m_top) {
        scrollTo(place.line);
    } else if (place.line >= m_top + visibleLineCount()) {
        scrollTo(place.line - visibleLineCount() + 1);
    }
    const int at = fontMetrics().horizontalAdvance(textOf(place.line).left(place.column));
    const int column = at / std::max(1, fontMetrics().horizontalAdvance(u'0'));
    QScrollBar* bar = horizontalScrollBar();
    if (column < bar->value()) {
        bar->setValue(column);
    } else if (column > bar->value() + bar->pageStep() - 1) {
        bar->setValue(column - bar->pageStep() + 1);
    }
    viewport()->update();
}

void TextView::moveLines(qint64 lines, bool extends)
{
    const qint64 count = m_file != nullptr ? std::max<qint64>(m_file->lineCount(), 1) : 1;
    const qint64 line = std::clamp<qint64>(m_caret.line + lines, 1, count);
    moveCaret({line, std::min(m_caret.column, textOf(line).size())}, extends);
}

void TextView::moveColumns(int columns, bool extends)
{
    Place place = m_caret;
    place.column += columns;
    if (place.column < 0 && place.line > 1) {
        --place.line;
        place.column = textOf(place.line).size();
    } else if (place.column > textOf(place.line).size() && m_file != nullptr && place.line < m_file->lineCount()) {
        place = {place.line + 1, 0};
    }
    place.column = std::clamp<qsizetype>(place.column, 0, textOf(place.line).size());
    moveCaret(place, extends);
}

void TextView::keyPressEvent(QKeyEvent* event)
{
    const bool extends = event->modifiers().testFlag(Qt::ShiftModifier);
    const bool isControl = event->modifiers().testFlag(Qt::ControlModifier);
    const qint64 count = m_file != nullptr ? m_file->lineCount() : 0;
    if (event->matches(QKeySequence::Copy)) {
        return copy();
    }
    if (event->matches(QKeySequence::SelectAll)) {
        return selectAll();
    }
    switch (event->key()) {
    case Qt::Key_Up:
        return moveLines(-1, extends);
    case Qt::Key_Down:
        return moveLines(1, extends);
    case Qt::Key_PageUp:
        return moveLines(-visibleLineCount(), extends);
    case Qt::Key_PageDown:
        return moveLines(visibleLineCount(), extends);
    case Qt::Key_Left:
        return moveColumns(-1, extends);
    case Qt::Key_Right:
        return moveColumns(1, extends);
    case Qt::Key_Home:
        return moveCaret({isControl ? 1 : m_caret.line, 0}, extends);
    case Qt::Key_End: {
        const qint64 line = isControl ? std::max<qint64>(count, 1) : m_caret.line;
        return moveCaret({line, textOf(line).size()}, extends);
    }
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void TextView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) {
        moveCaret(placeAt(event->pos()), event->modifiers().testFlag(Qt::ShiftModifier));
    }
}

void TextView::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::LeftButton)) {
        moveCaret(placeAt(event->pos()), true);
    }
}

void TextView::mouseDoubleClickEvent(QMouseEvent* event)
{
    const Place place = placeAt(event->pos());
    const QString text = textOf(place.line);
    const auto isWord = [&](qsizetype at) {
        return at >= 0 && at < text.size() && (text[at].isLetterOrNumber() || text[at] == u'_');
    };
    qsizetype first = place.column, last = place.column;
    while (isWord(first - 1)) {
        --first;
    }
    while (isWord(last)) {
        ++last;
    }
    m_anchor = {place.line, first};
    moveCaret({place.line, last}, true);
}

void TextView::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    QAction* copying = menu.addAction(symbolIcon(Symbol::Copy), tr("&Copy"), QKeySequence::Copy, this, &TextView::copy);
    copying->setEnabled(m_anchor != m_caret);
    menu.addAction(tr("Select &all"), QKeySequence::SelectAll, this, &TextView::selectAll);
    menu.exec(event->globalPos());
}

void TextView::selectAll()
{
    const qint64 last = m_file != nullptr ? std::max<qint64>(m_file->lineCount(), 1) : 1;
    m_anchor = {};
    m_caret = {last, textOf(last).size()}; // without moving there
    viewport()->update();
}

QString TextView::selectedText() const
{
    const auto [first, last] = std::minmax(m_anchor, m_caret);
    if (m_file == nullptr || first == last) {
        return {};
    }
    const qint64 count = std::min(last.line - first.line + 1, mostCopiedLines);
    QStringList texts;
    for (const TextLine& line : m_file->lines(first.line, static_cast<int>(count))) {
        texts.append(line.text);
    }
    if (!texts.isEmpty() && first.line + texts.size() - 1 == last.line) {
        texts.last().truncate(last.column);
    }
    if (!texts.isEmpty()) {
        texts.first().remove(0, first.column);
    }
    return texts.join(u'\n');
}

void TextView::copy()
{
    const auto [first, last] = std::minmax(m_anchor, m_caret);
    if (first == last) {
        return;
    }
    QGuiApplication::clipboard()->setText(selectedText());
    if (last.line - first.line >= mostCopiedLines) {
        emit copyWasCut(mostCopiedLines);
    }
}

} // namespace headroom
