// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/text_file.h"
#include "workspace/text_finder.h"

#include <QAbstractScrollArea>

#include <vector>

namespace headroom {

/// The text of a TextFile with line numbers: only the lines in sight are read. One line can be marked, text can be
/// chosen with the pointer or the keys and copied.
class TextView : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit TextView(QWidget* parent = nullptr);

    /// Null: nothing. The file must live until another one is set.
    void setFile(TextFile* file);
    /// Marks the line and brings it into sight, now or as soon as it has been found.
    void showLine(qint64 line);
    [[nodiscard]] qint64 markedLine() const { return m_marked; }
    /// The line is not in sight because the file has not been read that far.
    [[nodiscard]] bool isSeeking() const { return m_sought > 0; }
    /// Marks what it finds in the lines in sight; an empty needle nothing.
    void setQuery(const TextQuery& query);

    [[nodiscard]] qint64 firstVisibleLine() const { return m_top; }
    [[nodiscard]] int visibleLineCount() const;
    /// Where the caret is: searches start from there.
    [[nodiscard]] qint64 caretLine() const { return m_caret.line; }
    [[nodiscard]] QString selectedText() const;
    void copy();
    void selectAll();

    static constexpr qint64 mostCopiedLines = 100'000;

signals:
    void lineMarked(qint64 line);
    /// More was chosen than is copied at once: only so many lines were.
    void copyWasCut(qint64 lines);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    struct Place
    {
        qint64 line = 1;
        qsizetype column = 0;
        friend auto operator<=>(const Place&, const Place&) = default;
    };

    void readLines();
    [[nodiscard]] int columnsIn(int width) const;
    [[nodiscard]] QSize roomBesideBars(qint64 lineCount, qsizetype columns) const;
    void updateBars();
    void scrollTo(qint64 top);
    void grow();
    void moveCaret(Place place, bool extends);
    void moveLines(qint64 lines, bool extends);
    void moveColumns(int columns, bool extends);
    void paintLine(QPainter& painter, const TextLine& line, qint64 number, int y) const;
    void paintSelection(QPainter& painter, const QString& text, qint64 number, QRect row) const;
    [[nodiscard]] const TextLine* lineAt(qint64 number) const;
    [[nodiscard]] QString textOf(qint64 number) const;
    [[nodiscard]] Place placeAt(QPoint pixel) const;
    [[nodiscard]] int lineHeight() const { return fontMetrics().height() + 3; }
    [[nodiscard]] int gutterWidth() const;
    [[nodiscard]] int textLeft() const;

    TextFile* m_file = nullptr;
    std::vector<TextLine> m_lines; ///< from m_top on
    qint64 m_top = 1;
    qint64 m_marked = 0;
    qint64 m_sought = 0;
    qint64 m_knownLines = 0; ///< of the file when it had been read to its end
    bool m_isAdjusting = false;
    Place m_anchor, m_caret;
    TextQuery m_query;
};

} // namespace headroom
