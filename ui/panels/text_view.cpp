// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/text_view.h"

#include "theme/icons.h"
#include "theme/theme.h"
#include "workspace/wording.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <limits>

namespace headroom {
namespace {

constexpr int gutterPadding = 10;
constexpr int leastDigits = 4;

/// Lines one step of the scroll bar stands for: an int cannot count the lines of every file.
qint64 linesPerStep(qint64 lineCount)
{
    return lineCount / std::numeric_limits<int>::max() + 1;
}

} // namespace

TextView::TextView(QWidget* parent)
    : QAbstractScrollArea(parent)
{
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Text of the file"));
    viewport()->setCursor(Qt::IBeamCursor);
    updateBars();
}

void TextView::setFile(TextFile* file)
{
    if (file == m_file) {
        return;
    }
    if (m_file != nullptr) {
        m_file->disconnect(this);
    }
    m_file = file;
    m_top = 1;
    m_marked = m_sought = m_knownLines = 0;
    m_anchor = m_caret = {};
    horizontalScrollBar()->setValue(0);
    if (file != nullptr) {
        connect(file, &TextFile::grew, this, &TextView::grow);
        connect(file, &TextFile::replaced, this, [this] {
            m_marked = m_sought = 0;
            grow();
        });
        connect(file, &QObject::destroyed, this, [this] {
            m_file = nullptr;
            grow();
        });
    }
    grow();
}

void TextView::grow()
{
    // As a terminal has it: who looks at the end sees what is added.
    const qint64 count = m_file != nullptr ? m_file->lineCount() : 0;
    const bool wasAtEnd = m_knownLines > 0 && m_top + visibleLineCount() > m_knownLines;
    if (wasAtEnd && count > m_knownLines && m_sought == 0) {
        m_top = std::max<qint64>(count - visibleLineCount() + 1, 1);
    }
    m_knownLines = m_file != nullptr && m_file->isComplete() ? count : 0;
    readLines();
    updateBars();
    if (m_sought > 0 && m_file != nullptr && (m_file->lineCount() >= m_sought || m_file->isComplete())) {
        showLine(std::min(m_sought, m_file->lineCount()));
    }
    viewport()->update();
}

void TextView::showLine(qint64 line)
{
    if (m_file == nullptr || line < 1) {
        return;
    }
    if (line > m_file->lineCount() && !m_file->isComplete()) {
        m_sought = line;
        return;
    }
    m_sought = 0;
    m_marked = std::clamp<qint64>(line, 1, std::max<qint64>(m_file->lineCount(), 1));
    m_anchor = m_caret = {m_marked, 0};
    if (m_marked < m_top || m_marked >= m_top + visibleLineCount()) {
        scrollTo(m_marked - visibleLineCount() / 2);
    }
    setAccessibleDescription(tr("Line %1: %2").arg(grouped(m_marked), textOf(m_marked)));
    viewport()->update();
    emit lineMarked(m_marked);
}

void TextView::setQuery(const TextQuery& query)
{
    m_query = query;
    viewport()->update();
}

int TextView::visibleLineCount() const
{
    return std::max(1, viewport()->height() / lineHeight());
}

int TextView::gutterWidth() const
{
    const qint64 most = m_file != nullptr ? std::max<qint64>(m_file->lineCount(), 1) : 1;
    const int digits = std::max<int>(leastDigits, static_cast<int>(grouped(most).size()));
    return fontMetrics().horizontalAdvance(u'0') * digits + 2 * gutterPadding;
}

int TextView::textLeft() const
{
    return gutterWidth() + gutterPadding - horizontalScrollBar()->value() * fontMetrics().horizontalAdvance(u'0');
}

void TextView::readLines()
{
    // Those that a horizontal bar would cover too: it must not go because it covers the line it came for.
    const int most = maximumViewportSize().height() / lineHeight() + 1;
    m_lines = m_file != nullptr ? m_file->lines(m_top, most) : std::vector<TextLine>();
}

int TextView::columnsIn(int width) const
{
    return std::max(1, (width - gutterWidth() - gutterPadding) / fontMetrics().horizontalAdvance(u'0'));
}

/// The viewport's size beside the bars that the text needs, told from the room for all of them: bars that came and went
/// with the room they take themselves would never come to rest.
QSize TextView::roomBesideBars(qint64 lineCount, qsizetype columns) const
{
    const QSize all = maximumViewportSize();
    QSize room = all;
    for (int pass = 0; pass < 2; ++pass) { // either bar may make the other needed
        if (lineCount > room.height() / lineHeight()) {
            room.setWidth(all.width() - verticalScrollBar()->sizeHint().width());
        }
        if (columns > columnsIn(room.width())) {
            room.setHeight(all.height() - horizontalScrollBar()->sizeHint().height());
        }
    }
    return room;
}

void TextView::updateBars()
{
    qsizetype longest = 0;
    for (const TextLine& line : m_lines) {
        longest = std::max(longest, line.text.size() + (line.hiddenBytes > 0 ? 30 : 0));
    }
    const qint64 count = m_file != nullptr ? m_file->lineCount() : 0;
    const qint64 step = linesPerStep(count);
    const QSize room = roomBesideBars(count, longest + 2);
    const int lines = std::max(1, room.height() / lineHeight());
    m_isAdjusting = true; // the bar follows the text now, not the text the bar
    verticalScrollBar()->setPageStep(lines);
    verticalScrollBar()->setRange(0, static_cast<int>(std::max<qint64>(count - lines, 0) / step));
    verticalScrollBar()->setValue(static_cast<int>((m_top - 1) / step));
    m_isAdjusting = false;
    const int columns = columnsIn(room.width());
    horizontalScrollBar()->setPageStep(columns);
    // A range that followed every line would throw the text to and fro: it only grows while one scrolls about.
    const int most = std::max(static_cast<int>(longest) - columns + 2, horizontalScrollBar()->value());
    horizontalScrollBar()->setRange(0, std::max(most, 0));
}

void TextView::scrollTo(qint64 top)
{
    const qint64 count = m_file != nullptr ? m_file->lineCount() : 0;
    m_top = std::clamp<qint64>(top, 1, std::max<qint64>(count - visibleLineCount() + 1, 1));
    readLines();
    updateBars();
    viewport()->update();
}

void TextView::scrollContentsBy(int, int dy)
{
    if (dy != 0 && m_file != nullptr && !m_isAdjusting) {
        m_top = verticalScrollBar()->value() * linesPerStep(m_file->lineCount()) + 1;
        readLines();
        updateBars();
    }
    viewport()->update();
}

void TextView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    scrollTo(m_top);
}

void TextView::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        viewport()->update();
    }
}

void TextView::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme.window);
    int y = 0;
    for (std::size_t i = 0; i < m_lines.size(); ++i, y += lineHeight()) {
        paintLine(painter, m_lines[i], m_top + static_cast<qint64>(i), y);
    }
    painter.fillRect(QRect(gutterWidth(), 0, 1, viewport()->height()), theme.border);
}

void TextView::paintLine(QPainter& painter, const TextLine& line, qint64 number, int y) const
{
    const Theme& theme = Theme::current();
    const QRect row(0, y, viewport()->width(), lineHeight());
    const bool isMarked = number == m_marked;
    if (isMarked) {
        painter.fillRect(row, theme.selection);
    }
    const QRect textRect(gutterWidth() + 1, y, row.width() - gutterWidth() - 1, row.height());
    painter.save();
    painter.setClipRect(textRect);
    const auto x
        = [&](qsizetype column) { return textLeft() + fontMetrics().horizontalAdvance(line.text.left(column)); };
    const auto sensitivity = m_query.matchesCase ? Qt::CaseSensitive : Qt::CaseInsensitive;
    for (qsizetype at = 0; !m_query.needle.isEmpty() && (at = line.text.indexOf(m_query.needle, at, sensitivity)) >= 0;
         at += m_query.needle.size()) {
        painter.setPen(theme.warning.mark);
        painter.setBrush(theme.warning.background);
        painter.drawRect(QRect(QPoint(x(at), y), QPoint(x(at + m_query.needle.size()) - 1, y + lineHeight() - 2)));
    }
    painter.setPen(theme.text);
    const QPoint base(textLeft(), y + fontMetrics().ascent() + 1);
    painter.drawText(base, line.text);
    paintSelection(painter, line.text, number, row);
    if (line.hiddenBytes > 0) {
        painter.setPen(theme.mutedText);
        painter.drawText(
            QPoint(x(line.text.size()), base.y()),
            u" "_qs
                + tr("… %n more byte(s)", nullptr,
                     static_cast<int>(std::min<qint64>(line.hiddenBytes, std::numeric_limits<int>::max()))));
    }
    painter.restore();
    painter.setPen(isMarked ? theme.text : theme.mutedText);
    painter.drawText(QRect(0, y, gutterWidth() - gutterPadding, lineHeight()), Qt::AlignRight | Qt::AlignVCenter,
                     grouped(number));
}

void TextView::paintSelection(QPainter& painter, const QString& text, qint64 number, QRect row) const
{
    const auto [first, last] = std::minmax(m_anchor, m_caret);
    if (first == last) {
        if (hasFocus() && m_caret.line == number) { // the caret
            const int at = textLeft() + fontMetrics().horizontalAdvance(text.left(m_caret.column));
            painter.fillRect(QRect(at, row.top() + 1, 1, row.height() - 2), Theme::current().text);
        }
        return;
    }
    if (number < first.line || number > last.line) {
        return;
    }
    const auto x = [&](qsizetype column) { return textLeft() + fontMetrics().horizontalAdvance(text.left(column)); };
    const int left = x(number == first.line ? first.column : 0);
    // A chosen line end shows as one column more.
    const int right = number == last.line ? x(last.column) : x(text.size()) + fontMetrics().horizontalAdvance(u' ');
    painter.save();
    painter.setClipRect(QRect(left, row.top(), right - left, row.height()), Qt::IntersectClip);
    painter.fillRect(row, Theme::current().accent);
    painter.setPen(Theme::current().onAccent);
    painter.drawText(QPoint(textLeft(), row.top() + fontMetrics().ascent() + 1), text);
    painter.restore();
}

const TextLine* TextView::lineAt(qint64 number) const
{
    const qint64 at = number - m_top;
    return at >= 0 && at < static_cast<qint64>(m_lines.size()) ? &m_lines[static_cast<std::size_t>(at)] : nullptr;
}

QString TextView::textOf(qint64 number) const
{
    if (const TextLine* line = lineAt(number)) {
        return line->text;
    }
    const auto lines = m_file != nullptr ? m_file->lines(number, 1) : std::vector<TextLine>();
    return lines.empty() ? QString() : lines.front().text;
}

TextView::Place TextView::placeAt(QPoint pixel) const
{
    const qint64 rows = pixel.y() < 0 ? -1 : pixel.y() / lineHeight();
    const qint64 count = m_file != nullptr ? m_file->lineCount() : 0;
    const qint64 line = std::clamp<qint64>(m_top + rows, 1, std::max<qint64>(count, 1));
    const QString text = textOf(line);
    // The first column whose middle is right of the pixel.
    qsizetype low = 0, high = text.size();
    while (low < high) {
        const qsizetype middle = (low + high) / 2;
        const int left = fontMetrics().horizontalAdvance(text.left(middle));
        const int right = fontMetrics().horizontalAdvance(text.left(middle + 1));
        if (textLeft() + (left + right) / 2 < pixel.x()) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return {line, low};
}

} // namespace headroom
