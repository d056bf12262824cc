// SPDX-License-Identifier: GPL-3.0-or-later
//
// The history of runs in the window, by its commands.
#include "charts/overlay_chart.h"
#include "charts/overlay_plot.h"
#include "panels/compare_panel.h"
#include "panels/finding_card.h"
#include "panels/finding_list.h"
#include "panels/history_panel.h"
#include "panels/notices.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/history_commands.h"
#include "window/workbench.h"
#include "workspace/run_history.h"

#include <QAction>
#include <QLineEdit>
#include <QTableView>
#include <QtTest>

using namespace headroom;

class WindowHistoryTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void runsAreAddedAndToldApart();
    void commandsWorkOnTheChosenRun();
    void filesAreAddedWithoutOpeningThem();
    void whatIsWrongIsSaid();

private:
    HistoryPanel* panel() { return workbench().compare()->history(); }
    void trigger(Command command) { m_fixture->window().actions()[command]->trigger(); }
    [[nodiscard]] QAction* action(Command command) { return m_fixture->window().actions()[command]; }
    [[nodiscard]] QString cell(int row, int column)
    {
        return panel()->view()->model()->index(row, column).data().toString();
    }
    [[nodiscard]] int rows() { return panel()->view()->model()->rowCount(); }
};

void WindowHistoryTest::runsAreAddedAndToldApart()
{
    QVERIFY(m_fixture->open());
    QTRY_VERIFY(action(Command::AddRun)->isEnabled());
    trigger(Command::AddRun);
    QTRY_COMPARE(rows(), 1);
    QVERIFY(panel()->isVisible());
    // As the files have it the log is the run: 6403 MiB on rank 0.
    QCOMPARE(cell(0, HistoryPanel::Name), QStringLiteral("train.log"));
    QCOMPARE(cell(0, HistoryPanel::Allocated), QStringLiteral("6.25 GiB"));
    QCOMPARE(cell(0, HistoryPanel::Verdict), QStringLiteral("The first run"));
    QVERIFY(panel()->view()->isColumnHidden(HistoryPanel::Device)); // the log does not say

    // A knob turned: the estimate of the plan as it stands, exact.
    workspace().turnKnob(Knob::MicroBatch, 4);
    trigger(Command::AddRun);
    QTRY_COMPARE_WITH_TIMEOUT(rows(), 2, 20'000);
    QCOMPARE(workspace().footprint()->engine, Engine::Replay);
    QVERIFY2(cell(1, HistoryPanel::Changed).contains(QStringLiteral("batch.micro 2 → 4")),
             qPrintable(cell(1, HistoryPanel::Changed)));

    // Two at once: said, in the row and in the findings.
    workspace().turnKnob(Knob::MicroBatch, 2);
    workspace().turnKnob(Knob::SequenceLength, 2048);
    trigger(Command::AddRun);
    QTRY_COMPARE_WITH_TIMEOUT(rows(), 3, 20'000);
    QVERIFY2(cell(2, HistoryPanel::Verdict).startsWith(QStringLiteral("2 settings changed at once")),
             qPrintable(cell(2, HistoryPanel::Verdict)));
    QCOMPARE(panel()->chosen(), std::optional<std::size_t>(2));
    QCOMPARE(panel()->findings()->cards().front()->finding().id, std::string("several-variables-changed"));

    // The chart has them all on the same axes, allocated apart from device.
    const OverlayData& data = *panel()->chart()->data();
    QCOMPARE(data.runNames.size(), std::size_t{3});
    QCOMPARE(data.lines.front().keys, (std::vector<double>{0, 1, 2}));
    QCOMPARE(data.lines.front().values[0], 6403 / 1024.0);
    QCOMPARE(data.lines.front().values[2], workspace().footprint()->fullest().peakAllocated.gib());
    QCOMPARE(data.lines.back().keys, (std::vector<double>{1, 2}));
    panel()->chart()->plot()->setCursor(2);
    QVERIFY(panel()->chart()->plot()->readout()->heading().startsWith(QStringLiteral("3 · train.yaml")));
}

void WindowHistoryTest::commandsWorkOnTheChosenRun()
{
    QVERIFY(m_fixture->open());
    for (int count = 1; count <= 3; ++count) {
        QTRY_VERIFY(!workspace().isReplaying());
        trigger(Command::AddRun);
        QTRY_COMPARE_WITH_TIMEOUT(rows(), count, 20'000);
    }
    QCOMPARE(cell(2, HistoryPanel::Name), QStringLiteral("train.log 3"));
    QVERIFY(!action(Command::MoveRunDown)->isEnabled()); // it is the last
    trigger(Command::MoveRunUp);
    QCOMPARE(cell(1, HistoryPanel::Name), QStringLiteral("train.log 3"));
    QCOMPARE(panel()->chosen(), std::optional<std::size_t>(1));
    trigger(Command::MoveRunDown);
    QCOMPARE(panel()->chosen(), std::optional<std::size_t>(2));

    panel()->choose(0);
    trigger(Command::ReferenceRun);
    QCOMPARE(cell(0, HistoryPanel::Number), QStringLiteral("◆ 1"));
    QVERIFY(workbench().compare()->sentence().endsWith(QStringLiteral("figures against train.log")));
    QCOMPARE(panel()->chart()->data()->reference, std::optional<std::size_t>(0));
    trigger(Command::ReferenceRun);
    QVERIFY(workbench().compare()->sentence().endsWith(QStringLiteral("each against the one before")));

    trigger(Command::RenameRun);
    trigger(Command::RenameRun); // does not begin anew
    auto* editor = panel()->view()->findChild<QLineEdit*>();
    QVERIFY(editor != nullptr);
    editor->selectAll();
    QTest::keyClicks(editor, QStringLiteral("baseline"));
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_COMPARE(cell(0, HistoryPanel::Name), QStringLiteral("baseline"));
    QCOMPARE(workbench().history().runs()[0].figures.name, std::string("baseline"));

    trigger(Command::RemoveRun);
    QCOMPARE(rows(), 2);
    QCOMPARE(cell(0, HistoryPanel::Name), QStringLiteral("train.log 2"));
    QCOMPARE(action(Command::Undo)->text(), QStringLiteral("&Undo Remove run baseline"));
    workbench().showFit();
    trigger(Command::Undo); // shows what it does
    QVERIFY(panel()->isVisible());
    QCOMPARE(cell(0, HistoryPanel::Name), QStringLiteral("baseline"));
    QCOMPARE(panel()->chosen(), std::optional<std::size_t>(0));
    trigger(Command::Redo);
    QCOMPARE(rows(), 2);
    // Closing the files leaves the history; opening them again finds it.
    trigger(Command::Close);
    QCOMPARE(workbench().history().runs().size(), std::size_t{2});
    QVERIFY(!action(Command::AddRun)->isEnabled());
    trigger(Command::RemoveRun);
    trigger(Command::RemoveRun);
    QCOMPARE(rows(), 0);
    QVERIFY(!action(Command::RemoveRun)->isEnabled());
}

void WindowHistoryTest::filesAreAddedWithoutOpeningThem()
{
    QVERIFY(m_fixture->open());
    QByteArray config = WindowFixture::configText;
    config.replace("enabled: false", "enabled: true").replace("granularity: none", "granularity: full");
    m_fixture->window().runs().addFiles({m_fixture->configPath()});
    QTRY_COMPARE_WITH_TIMEOUT(rows(), 1, 20'000);
    m_fixture->window().runs().addFiles({m_fixture->write(QStringLiteral("full.yaml"), config)});
    QTRY_COMPARE_WITH_TIMEOUT(rows(), 2, 20'000);
    QCOMPARE(cell(1, HistoryPanel::Name), QStringLiteral("full.yaml"));
    QCOMPARE(cell(1, HistoryPanel::Changed), QStringLiteral("recompute"));
    QVERIFY2(cell(1, HistoryPanel::Allocated).contains(QStringLiteral("−")),
             qPrintable(cell(1, HistoryPanel::Allocated)));
    QCOMPARE(workspace().config()->path.filename(), std::filesystem::path("train.yaml"));
}

void WindowHistoryTest::whatIsWrongIsSaid()
{
    QVERIFY(m_fixture->open());
    m_fixture->window().runs().addFiles({m_fixture->write(QStringLiteral("notes.txt"), "nothing measured here\n")});
    QTRY_VERIFY(!m_fixture->window().runs().isBusy());
    QTRY_VERIFY2(m_fixture->window().messageBar().text().contains(QStringLiteral("notes.txt")),
                 qPrintable(m_fixture->window().messageBar().text()));
    QCOMPARE(rows(), 0);
}

QTEST_MAIN(WindowHistoryTest)
#include "tst_window_history.moc"
