// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/diff_view.h"

#include "config/line_diff.h"
#include "theme/theme.h"
#include "workspace/wording.h"

#include <QEvent>
#include <QFontDatabase>
#include <QPaintEvent>
#include <QPainter>
#include <QTextBlock>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::size_t context = 3;
constexpr int numberWidth = 5;

QString numberText(std::int64_t line)
{
    return line > 0 ? QStringLiteral("%1").arg(line, numberWidth) : QString(numberWidth, QLatin1Char(' '));
}

QString plainLine(std::string_view line)
{
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
        line.remove_suffix(1);
    }
    return toQString(line);
}

QChar signOf(DiffKind kind)
{
    switch (kind) {
    case DiffKind::Removed:
        return QChar(0x2212);
    case DiffKind::Added:
        return QLatin1Char('+');
    case DiffKind::Same:
        break;
    }
    return QLatin1Char(' ');
}

/// Removed lines are taken for those that stand in their place.
int countChanges(const std::vector<DiffLine>& lines)
{
    int changed = 0, removed = 0, added = 0;
    for (const DiffLine& line : lines) {
        removed += line.kind == DiffKind::Removed ? 1 : 0;
        added += line.kind == DiffKind::Added ? 1 : 0;
        if (line.kind == DiffKind::Same) {
            changed += std::max(removed, added);
            removed = added = 0;
        }
    }
    return changed + std::max(removed, added);
}

/// Whether each line is a change or stands near one.
std::vector<bool> nearChanges(const std::vector<DiffLine>& lines)
{
    std::vector<bool> isNear(lines.size(), false);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].kind != DiffKind::Same) {
            const std::size_t begin = i - std::min(i, context);
            const std::size_t end = std::min(lines.size(), i + context + 1);
            std::fill(isNear.begin() + static_cast<std::ptrdiff_t>(begin),
                      isNear.begin() + static_cast<std::ptrdiff_t>(end), true);
        }
    }
    return isNear;
}

} // namespace

DiffView::DiffView(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setObjectName(QStringLiteral("diffView"));
    setReadOnly(true);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setFrameShape(QFrame::NoFrame);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setCursorWidth(0);
    setAccessibleName(tr("Changes to the config"));
}

void DiffView::setTexts(std::string before, std::string after)
{
    if (before == m_before && after == m_after) {
        return;
    }
    m_before = std::move(before);
    m_after = std::move(after);
    rebuild();
}

void DiffView::setReasons(std::map<std::int64_t, QString> reasons)
{
    if (reasons != m_reasons) {
        m_reasons = std::move(reasons);
        viewport()->update();
    }
}

QString DiffView::reasonAt(int shownLine) const
{
    const auto line = static_cast<std::size_t>(shownLine);
    const auto found = line < m_added.size() ? m_reasons.find(m_added[line]) : m_reasons.end();
    return found == m_reasons.end() ? QString() : found->second;
}

void DiffView::setWholeFile(bool whole)
{
    if (whole != m_isWhole) {
        m_isWhole = whole;
        rebuild();
    }
}

void DiffView::rebuild()
{
    const std::vector<DiffLine> lines = lineDiff(m_before, m_after);
    const std::vector<bool> isNear = nearChanges(lines);
    QStringList shown;
    m_marks.clear();
    m_added.clear();
    m_changed = countChanges(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!m_isWhole && !isNear[i]) {
            if (!m_marks.empty() && m_marks.back() != Mark::Gap) {
                shown.append(QString(numberWidth, QLatin1Char(' ')) + QStringLiteral("   ⋯"));
                m_marks.push_back(Mark::Gap);
                m_added.push_back(0);
            }
            continue;
        }
        const std::int64_t number = lines[i].kind == DiffKind::Removed ? lines[i].before : lines[i].after;
        shown.append(numberText(number) + QLatin1Char(' ') + signOf(lines[i].kind) + QLatin1Char(' ')
                     + plainLine(lines[i].text));
        const Mark changed = lines[i].kind == DiffKind::Removed ? Mark::Removed : Mark::Added;
        m_marks.push_back(lines[i].kind != DiffKind::Same ? changed : Mark::None);
        m_added.push_back(lines[i].kind == DiffKind::Added ? lines[i].after : 0);
    }
    if (!m_marks.empty() && m_marks.back() == Mark::Gap) {
        m_marks.pop_back();
        m_added.pop_back();
        shown.removeLast();
    }
    setPlainText(shown.join(QLatin1Char('\n')));
    colour();
}

void DiffView::colour()
{
    const Theme& theme = Theme::current();
    QList<QTextEdit::ExtraSelection> selections;
    for (std::size_t i = 0; i < m_marks.size(); ++i) {
        if (m_marks[i] == Mark::None) {
            continue;
        }
        QTextEdit::ExtraSelection line;
        line.cursor = QTextCursor(document()->findBlockByNumber(static_cast<int>(i)));
        line.format.setProperty(QTextFormat::FullWidthSelection, true);
        QTextEdit::ExtraSelection text;
        text.cursor = line.cursor;
        text.cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        if (m_marks[i] == Mark::Gap) {
            text.format.setForeground(theme.mutedText);
        } else {
            const Tone& tone = m_marks[i] == Mark::Removed ? theme.error : theme.ok;
            line.format.setBackground(tone.background); // across the view, which a selected text would not be
            text.format.setForeground(tone.text);
        }
        selections.append(line);
        selections.append(text);
    }
    setExtraSelections(selections);
}

/// The reasons are no part of the text, which is selected and copied.
void DiffView::paintEvent(QPaintEvent* event)
{
    QPlainTextEdit::paintEvent(event);
    QPainter painter(viewport());
    painter.setPen(Theme::current().mutedText);
    const QFontMetricsF metrics(font());
    const qreal gap = 3 * metrics.averageCharWidth();
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        const QRectF place = blockBoundingGeometry(block).translated(contentOffset());
        if (place.top() > event->rect().bottom()) {
            break;
        }
        if (const QString reason = reasonAt(block.blockNumber()); !reason.isEmpty()) {
            const qreal begin = place.left() + document()->documentMargin() + metrics.horizontalAdvance(block.text());
            painter.drawText(QPointF(begin + gap, place.top() + metrics.ascent()), reason);
        }
    }
}

void DiffView::changeEvent(QEvent* event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_marks.empty()) {
        colour();
    }
}

} // namespace headroom
