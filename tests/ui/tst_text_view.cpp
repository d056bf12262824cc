// SPDX-License-Identifier: GPL-3.0-or-later
//
// The view on a text of any length.
#include "panels/text_view.h"
#include "theme/theme.h"
#include "ui/text_files.h"

#include <QApplication>
#include <QClipboard>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace headroom;
using namespace headroom::test;

class TextViewTest : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase()
    {
        QLocale::setDefault(QLocale::c());
        applyTheme(*qApp, ThemeChoice::Light);
    }
    void viewShowsTheLine();
    void viewIsUsedByKeys();
    void viewCopies();
    void longLinesAreCut();
    void barsComeToRest();
    void viewFollowsTheTheme();

private:
    [[nodiscard]] QString write(const QByteArray& text) const
    {
        return writeText(m_folder.filePath(QStringLiteral("train.log")), text);
    }
    QTemporaryDir m_folder;
};

void TextViewTest::viewShowsTheLine()
{
    TextFile file(write(numbered(50'000)));
    TextView view;
    view.resize(600, 300);
    view.setFile(&file);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.showLine(40'000); // may not have been read yet
    QTRY_COMPARE(view.markedLine(), qint64{40'000});
    QVERIFY(view.firstVisibleLine() <= 40'000 && 40'000 < view.firstVisibleLine() + view.visibleLineCount());
    view.showLine(60'000); // there are fewer: the last one
    QTRY_COMPARE(view.markedLine(), qint64{50'000});
    QVERIFY(isRead(file));
    view.verticalScrollBar()->setValue(0);
    QCOMPARE(view.firstVisibleLine(), qint64{1});
    view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum());
    QCOMPARE(view.firstVisibleLine() + view.visibleLineCount(), qint64{50'001});
    view.setFile(nullptr);
    QCOMPARE(view.selectedText(), QString());
}

void TextViewTest::viewIsUsedByKeys()
{
    TextFile file(write(numbered(1000)));
    TextView view;
    view.resize(600, 300);
    view.setFile(&file);
    view.show();
    QVERIFY(QTest::qWaitForWindowActive(&view));
    QVERIFY(isRead(file));
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_End, Qt::ControlModifier);
    QCOMPARE(view.caretLine(), qint64{1000});
    QVERIFY(view.firstVisibleLine() > 900);
    QTest::keyClick(&view, Qt::Key_PageUp);
    QCOMPARE(view.caretLine(), qint64{1000} - view.visibleLineCount());
    QTest::keyClick(&view, Qt::Key_Home, Qt::ControlModifier);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Left); // before the start is the end of the line above
    QCOMPARE(view.caretLine(), qint64{1});
    QTest::keyClick(&view, Qt::Key_Home, Qt::ShiftModifier);
    QCOMPARE(view.selectedText(), QStringLiteral("line 1"));
    QTest::keyClick(&view, Qt::Key_Home);
    QTest::keyClick(&view, Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(&view, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(view.selectedText(), QStringLiteral("line 1\nl"));
}

void TextViewTest::viewCopies()
{
    TextFile file(write("\x1b[31mred\x1b[0m alert\r\nnext line\n"));
    TextView view;
    view.resize(600, 300);
    view.setFile(&file);
    view.show();
    QVERIFY(QTest::qWaitForWindowActive(&view));
    QVERIFY(isRead(file));
    QTest::mouseDClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, QPoint(view.viewport()->width() / 2, 4));
    QTest::keyClick(&view, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("red alert\nnext line"));
}

void TextViewTest::longLinesAreCut()
{
    TextFile file(write("short\n" + QByteArray(10'000, 'x') + "\n"));
    QVERIFY(isRead(file));
    const auto lines = file.lines(1, 2);
    QCOMPARE(lines[0].hiddenBytes, qint64{0});
    QCOMPARE(lines[1].text.size(), qsizetype{4096});
    QCOMPARE(lines[1].hiddenBytes, qint64{10'000 - 4096});
}

/// Where the last line is the one that is too long, the bar for it covers it; and where all lines just fit, a bar makes
/// the other needed. Each height and width around that is tried.
void TextViewTest::barsComeToRest()
{
    TextFile file(write("short\n" + numbered(8) + "a line that is a little longer than the others are\n"));
    QVERIFY(isRead(file));
    TextView view;
    view.setFile(&file);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    int shown = 0;
    QSignalSpy ranges(view.verticalScrollBar(), &QScrollBar::rangeChanged);
    for (int height = 120; height < 260; height += 3) {
        for (int width = 300; width < 560; width += 20) {
            view.resize(width, height);
            for (int i = 0; i < 12; ++i) {
                QCoreApplication::processEvents();
            }
            ranges.clear();
            QCoreApplication::processEvents();
            QVERIFY2(ranges.isEmpty(), qPrintable(QStringLiteral("%1 × %2").arg(width).arg(height)));
            shown += view.horizontalScrollBar()->isVisible() ? 1 : 0;
        }
    }
    QVERIFY(shown > 0);
}

void TextViewTest::viewFollowsTheTheme()
{
    TextFile file(write(numbered(10)));
    TextView view;
    view.resize(400, 200);
    view.setFile(&file);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QVERIFY(isRead(file));
    view.showLine(2);
    for (const ThemeChoice choice : {ThemeChoice::Dark, ThemeChoice::Light}) {
        applyTheme(*qApp, choice);
        const QImage picture = view.viewport()->grab().toImage();
        const int right = picture.width() - 3;
        const int height = picture.height();
        QCOMPARE(picture.pixelColor(right, height - 2), Theme::current().window);
        bool hasMark = false;
        for (int y = 0; y < height; ++y) {
            hasMark = hasMark || picture.pixelColor(right, y) == Theme::current().selection;
        }
        QVERIFY(hasMark);
    }
}

QTEST_MAIN(TextViewTest)
#include "tst_text_view.moc"
