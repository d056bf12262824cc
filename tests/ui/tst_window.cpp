// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peaks_chart.h"
#include "charts/stages_chart.h"
#include "charts/timeline_chart.h"
#include "panels/diff_panel.h"
#include "panels/diff_view.h"
#include "panels/finding_card.h"
#include "panels/findings_panel.h"
#include "panels/formula_panel.h"
#include "panels/knobs_panel.h"
#include "panels/log_panel.h"
#include "panels/peaks_panel.h"
#include "panels/text_view.h"
#include "panels/timeline_panel.h"
#include "panels/verdict_bar.h"
#include "plan/fields.h"
#include "replay/replay.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/places.h"
#include "window/settings.h"
#include "window/workbench.h"
#include "workspace/view_state.h"
#include "workspace/wording.h"

#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>

using namespace headroom;

namespace {

void collectActions(const QMenu& menu, QList<QAction*>& actions)
{
    for (QAction* action : menu.actions()) {
        if (action->menu() != nullptr) {
            collectActions(*action->menu(), actions);
        } else if (!action->isSeparator()) {
            actions.append(action);
        }
    }
}

} // namespace

class WindowTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void startsWithTheStartPage();
    void opensLogAndConfig();
    void mendButtonMends();
    void evidenceMovesTheCursor();
    void themeSwitches();
    void everyActionIsComplete();
    void detailsTakeTheRoomOfTheCharts();
    void layoutResets();
    void layoutIsRemembered();
    void tabsShowTheirContents();
    void longNamesLeaveTheLayoutAlone();
    void mnemonicsAreUnique();
    void exactFiguresFollow();
    void timelineFollowsTheStage();
    void timelineSaysWhyThereIsNone();
    void formulaTabHasBothWorkings();
};

void WindowTest::startsWithTheStartPage()
{
    QVERIFY(m_fixture->show());
    QVERIFY(m_fixture->window().showsStartPage());
    QCOMPARE(m_fixture->window().windowTitle(), QStringLiteral("Headroom"));
    QVERIFY(!m_fixture->window().actions()[Command::Export]->isEnabled());
    QVERIFY(m_fixture->window().findChild<QPushButton*>(QStringLiteral("startOpenButton")) != nullptr);
}

void WindowTest::opensLogAndConfig()
{
    QVERIFY(m_fixture->open());
    QVERIFY(!m_fixture->window().showsStartPage());
    QCOMPARE(m_fixture->window().windowTitle(), QStringLiteral("train.log — train.yaml[*] — Headroom"));
    QVERIFY(!m_fixture->window().isWindowModified());
    QCOMPARE(workspace().log()->run->size(), std::size_t{240});
    QTRY_VERIFY(!workbench().peaksChart()->isPreparing());
    QCOMPARE(workbench().peaksChart()->series().phases.size(), std::size_t{3});
    // Two stages of a model that the recipe puts at 353,189,888 parameters.
    QCOMPARE(workspace().footprint()->stages.size(), std::size_t{2});
    QCOMPARE(workspace().footprint()->textbook.parameters, std::int64_t{353'189'888});
    // Ranks 0 and 1 hold stage 0, 2 and 3 stage 1.
    const auto measured = workspace().measuredStages();
    QCOMPARE(measured.size(), std::size_t{2});
    QCOMPARE(measured[0]->value, mib(6403).value);
    QCOMPARE(measured[1]->value, mib(6200).value);
    QVERIFY(!m_fixture->window().verdictBar().text().isEmpty());
    QCOMPARE(workspace().capacity()->value, gib(12).value);
}

void WindowTest::mendButtonMends()
{
    QVERIFY(m_fixture->open());
    FindingCard* withMend = nullptr;
    for (FindingCard* card : workbench().findings()->cards()) {
        withMend = withMend == nullptr && card->mendButton() != nullptr ? card : withMend;
    }
    QVERIFY(withMend != nullptr);
    const Mend mend = *withMend->finding().mend;
    const auto* cost = withMend->findChild<QLabel*>(QStringLiteral("mendCost"));
    QVERIFY(cost != nullptr && cost->text().contains(QStringLiteral("for the same samples")));
    withMend->mendButton()->setFocus();
    QTest::keyClick(withMend->mendButton(), Qt::Key_Space);
    for (const PlanEdit& edit : mend.edits) {
        QCOMPARE(fieldText(workspace().plan(), edit.field), edit.value);
    }
    if (mend.predictedPeak) {
        QCOMPARE(workspace().footprint()->fullest().device.value, mend.predictedPeak->value);
    }
    QCOMPARE(workspace().undoStack().count(), 1);
    QTest::qWait(Workspace::settleMs * 3); // the findings follow; the card pressed is gone or rewritten
    workspace().undoStack().undo();
    QVERIFY(workspace().draft().means(workspace().original()));
}

void WindowTest::evidenceMovesTheCursor()
{
    QVERIFY(m_fixture->open());
    workbench().places().show(toQString(workspace().log()->run->files.front()), 135);
    QCOMPARE(workbench().viewState().cursor().value_or(-1), qint64{12});
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{135});
    workbench().places().show(toQString(workspace().config()->opened.document.name()), 14);
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
    QCOMPARE(QFileInfo(workbench().logText()->file()->path()).fileName(), QStringLiteral("train.yaml"));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{14});
}

void WindowTest::themeSwitches()
{
    QVERIFY(m_fixture->open());
    m_fixture->window().actions()[Command::ThemeDark]->trigger();
    QVERIFY(Theme::current().isDark);
    QVERIFY(m_fixture->window().palette().color(QPalette::Window).lightness() < 128);
    const QImage dark = m_fixture->window().grab().toImage();
    QVERIFY(dark.pixelColor(dark.width() / 2, dark.height() / 2).lightness() < 128);
    QCOMPARE(Settings::value(Preference::Theme).toString(), QStringLiteral("dark"));
    m_fixture->window().actions()[Command::ThemeLight]->trigger();
    QVERIFY(!Theme::current().isDark);
    QVERIFY(m_fixture->window().actions()[Command::ThemeLight]->isChecked());
}

void WindowTest::everyActionIsComplete()
{
    QVERIFY(m_fixture->open());
    QList<QAction*> inMenus;
    for (QAction* action : m_fixture->window().menuBar()->actions()) {
        QVERIFY2(action->text().contains(QLatin1Char('&')), qPrintable(action->text()));
        collectActions(*action->menu(), inMenus);
    }
    QStringList shortcuts;
    for (QAction* action : inMenus) {
        QVERIFY(!action->text().isEmpty());
        QVERIFY2(!action->statusTip().isEmpty(), qPrintable(action->text()));
        for (const QKeySequence& sequence : action->shortcuts()) {
            QVERIFY2(!shortcuts.contains(sequence.toString()), qPrintable(action->text() + sequence.toString()));
            shortcuts.append(sequence.toString());
        }
    }
    for (const auto& [command, action] : m_fixture->window().actions().all()) {
        QVERIFY2(inMenus.contains(action), qPrintable(action->objectName()));
        QVERIFY2(action->text().contains(QLatin1Char('&')), qPrintable(action->text()));
        QVERIFY2(!action->shortcut().isEmpty(), qPrintable(action->objectName()));
    }
}

void WindowTest::detailsTakeTheRoomOfTheCharts()
{
    QVERIFY(m_fixture->open());
    const QAction* enlarge = m_fixture->window().actions()[Command::EnlargeDetails];
    const int before = workbench().tabs()->height();
    emit workbench().tabs()->tabBarDoubleClicked(0);
    QVERIFY(enlarge->isChecked());
    QVERIFY(!workbench().peaksChart()->isVisible());
    QTRY_VERIFY(workbench().tabs()->height() > 2 * before);
    // Hiding the details brings the charts back.
    workbench().panelActions().last()->trigger();
    QTRY_VERIFY(!enlarge->isChecked());
    QVERIFY(workbench().peaksChart()->isVisible());
    // The panels beside them keep their width.
    QTRY_VERIFY(workbench().peaksChart()->height() > before);
    const int besides = workbench().findings()->width();
    m_fixture->window().actions()[Command::EnlargeDetails]->trigger();
    QTRY_VERIFY(workbench().tabs()->height() > 2 * before);
    QCOMPARE(workbench().findings()->width(), besides);
    m_fixture->window().actions()[Command::EnlargeDetails]->trigger();
    QTRY_COMPARE(workbench().tabs()->height(), before);
    m_fixture->window().actions()[Command::EnlargeDetails]->trigger();
    QVERIFY(workbench().tabs()->isVisible());
    m_fixture->window().actions()[Command::ResetLayout]->trigger();
    QVERIFY(!enlarge->isChecked());
    QVERIFY(workbench().peaksChart()->isVisible());
    QTRY_VERIFY(workbench().tabs()->height() < 2 * before);
}

void WindowTest::layoutResets()
{
    QVERIFY(m_fixture->open());
    const auto docks = workbench().findChildren<QDockWidget*>();
    QCOMPARE(docks.size(), 3);
    for (QDockWidget* dock : docks) {
        QVERIFY(!dock->objectName().isEmpty());
        dock->setFloating(true);
        dock->hide();
    }
    m_fixture->window().actions()[Command::ResetLayout]->trigger();
    for (const QDockWidget* dock : docks) {
        QVERIFY(dock->isVisible());
        QVERIFY(!dock->isFloating());
    }
    QCOMPARE(workbench().dockWidgetArea(workbench().findChild<QDockWidget*>(QStringLiteral("knobsDock"))),
             Qt::LeftDockWidgetArea);
}

void WindowTest::layoutIsRemembered()
{
    QVERIFY(m_fixture->open());
    workbench().findChild<QDockWidget*>(QStringLiteral("findingsDock"))->hide();
    QVERIFY(m_fixture->window().close());
    m_fixture = std::make_unique<WindowFixture>();
    QVERIFY(m_fixture->open());
    QVERIFY(!workbench().findChild<QDockWidget*>(QStringLiteral("findingsDock"))->isVisible());
    QVERIFY(workbench().findChild<QDockWidget*>(QStringLiteral("knobsDock"))->isVisible());
}

void WindowTest::tabsShowTheirContents()
{
    QVERIFY(m_fixture->open());
    workbench().tabs()->setCurrentWidget(workbench().peaks());
    QTableView* peaks = workbench().peaks()->view();
    QVERIFY(peaks->model()->rowCount() >= 100);
    // Sorted by the value, not by its text: 6403 MiB is the largest.
    peaks->sortByColumn(2, Qt::DescendingOrder);
    QCOMPARE(peaks->model()->index(0, 2).data().toString(), QStringLiteral("6.25 GiB"));
    QCOMPARE(peaks->model()->index(0, 6).data().toString(), QStringLiteral("134"));
    emit peaks->activated(peaks->model()->index(0, 2));
    QCOMPARE(workbench().viewState().cursor().value_or(-1), qint64{12});
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{134});

    workbench().tabs()->setCurrentWidget(workbench().formula());
    QVERIFY(workbench().formula()->view()->model()->rowCount() > 0);
    workbench().viewState().setStage(1);
    QVERIFY(workbench().formula()->view()->model()->rowCount() > 0);

    workspace().turnKnob(Knob::MicroBatch, 1);
    QTRY_COMPARE(workbench().diff()->changedLines(), 1);
    QCOMPARE(workbench().tabs()->tabText(workbench().tabs()->indexOf(workbench().diff())),
             QStringLiteral("Config diff 1"));
    const DiffView* diff = workbench().diff()->view();
    const auto added = static_cast<int>(
        diff->toPlainText().split(u'\n').indexOf(QRegularExpression(QStringLiteral("^ *\\d+ \\+ .*"))));
    QVERIFY2(diff->reasonAt(added).startsWith(QStringLiteral("Micro-batch size ")), qPrintable(diff->reasonAt(added)));
    QCOMPARE(diff->reasonAt(added - 1), QString());
}

void WindowTest::longNamesLeaveTheLayoutAlone()
{
    const QString name = QString(200, u'x') + QStringLiteral("-end");
    QVERIFY(m_fixture->show());
    const QSize size = m_fixture->window().size();
    m_fixture->window().files().openPaths(
        {m_fixture->write(name + QStringLiteral(".log"), WindowFixture::logText()),
         m_fixture->write(name + QStringLiteral(".yaml"), WindowFixture::configText)});
    QTRY_VERIFY(workspace().config() != nullptr && workspace().log() != nullptr);
    QTest::qWait(Workspace::settleMs * 2);
    QCOMPARE(m_fixture->window().size(), size);
    QVERIFY2(workbench().knobs()->width() < size.width() / 2,
             qPrintable(QString::number(workbench().knobs()->width())));
    QVERIFY(m_fixture->window().windowTitle().contains(QStringLiteral("-end.yaml")));
}

void WindowTest::mnemonicsAreUnique()
{
    QVERIFY(m_fixture->show());
    QList<QMenu*> menus = m_fixture->window().menuBar()->findChildren<QMenu*>();
    QVERIFY(menus.size() > 5);
    for (const QMenu* menu : menus) {
        QMap<QString, QString> seen;
        for (const QAction* action : menu->actions()) {
            const QString key = QKeySequence::mnemonic(action->text()).toString();
            if (!key.isEmpty()) {
                QVERIFY2(!seen.contains(key),
                         qPrintable(QStringLiteral("%1: %2, %3").arg(menu->title(), seen.value(key), action->text())));
                seen.insert(key, action->text());
            }
        }
    }
}

void WindowTest::exactFiguresFollow()
{
    QVERIFY(m_fixture->open());
    QTRY_COMPARE(workspace().footprint()->engine, Engine::Replay);
    Footprint expected;
    QVERIFY(replay(workspace().plan(), {}, expected));
    for (std::size_t stage = 0; stage < expected.stages.size(); ++stage) {
        QCOMPARE(workspace().footprint()->stages[stage].peakAllocated, expected.stages[stage].peakAllocated);
        QCOMPARE(workspace().footprint()->stages[stage].peakReserved, expected.stages[stage].peakReserved);
    }
    QVERIFY(workspace().verdict().exactness.contains(QStringLiteral("one step replayed")));
    // A turned knob shows instant figures at once, and only the newest plan's exact ones later.
    for (const qint64 micro : {1, 2, 3, 4}) {
        workspace().turnKnob(Knob::MicroBatch, micro);
        QCOMPARE(workspace().footprint()->engine, Engine::Instant);
        QVERIFY(workspace().isReplaying());
    }
    QTRY_COMPARE(workspace().footprint()->engine, Engine::Replay);
    QVERIFY(replay(workspace().plan(), {}, expected));
    QCOMPARE(workspace().footprint()->fullest().peakAllocated, expected.fullest().peakAllocated);
    // What it is compared with is exact too.
    QTRY_COMPARE(workspace().baseline()->engine, Engine::Replay);
    QVERIFY(replay(workspace().original().plan, {}, expected));
    QCOMPARE(workspace().baseline()->fullest().peakAllocated, expected.fullest().peakAllocated);
}

void WindowTest::timelineFollowsTheStage()
{
    QVERIFY(m_fixture->open());
    TimelineChart* chart = workbench().timeline()->chart();
    QTRY_VERIFY(!chart->isBusy() && !chart->caption().isEmpty());
    // The fullest, which may be another by the exact figures than by the instant ones.
    QTRY_COMPARE(workspace().footprint()->engine, Engine::Replay);
    QCOMPARE(chart->title(), QStringLiteral("One training step, stage %1").arg(workspace().footprint()->fullestStage));
    workbench().stagesChart()->setFocus();
    QTest::keyClick(workbench().stagesChart(), Qt::Key_Home);
    QCOMPARE(chart->title(), QStringLiteral("One training step, stage 0"));
    QTRY_VERIFY(!chart->isBusy());
    // Of 8 micro-batches the first of two stages holds two: F1 F2 B1 F3 B2 …
    QVERIFY2(chart->caption().endsWith(QStringLiteral("2 in flight")), qPrintable(chart->caption()));
    QTest::keyClick(workbench().stagesChart(), Qt::Key_End);
    QCOMPARE(chart->title(), QStringLiteral("One training step, stage 1"));
    QTRY_VERIFY(!chart->isBusy());
    QVERIFY2(chart->caption().endsWith(QStringLiteral("1 in flight")), qPrintable(chart->caption()));
    workspace().turnKnob(Knob::PipelineStages, 4);
    QVERIFY(chart->isBusy());
    QTRY_VERIFY(!chart->isBusy());
    QVERIFY2(chart->caption().endsWith(QStringLiteral("3 in flight")), qPrintable(chart->caption()));
    QVERIFY(chart->values().startsWith(QStringLiteral("phase\tmicro_batch")));
}

void WindowTest::timelineSaysWhyThereIsNone()
{
    QVERIFY(m_fixture->open());
    TimelineChart* chart = workbench().timeline()->chart();
    QTRY_VERIFY(!chart->isBusy() && !chart->caption().isEmpty());
    workspace().setK(20);
    QVERIFY(!chart->isBusy());
    QVERIFY(chart->accessibleDescription().contains(QStringLiteral("k is set by hand")));
    workspace().setK(std::nullopt);
    QTRY_VERIFY(!chart->caption().isEmpty());
    workspace().edit({{"implementation.profile", "torchtune"}}, QStringLiteral("profile"));
    QVERIFY2(chart->accessibleDescription().contains(QStringLiteral("pipeline parallelism")),
             qPrintable(chart->accessibleDescription()));
}

void WindowTest::formulaTabHasBothWorkings()
{
    QVERIFY(m_fixture->open());
    workbench().tabs()->setCurrentWidget(workbench().formula());
    QTreeView* exact = workbench().formula()->exactView();
    QTRY_COMPARE(workspace().footprint()->engine, Engine::Replay);
    QVERIFY(exact->isVisible());
    const auto valueOf = [exact](const QString& name) {
        const auto found
            = exact->model()->match(exact->model()->index(0, 0), Qt::DisplayRole, name, 1, Qt::MatchExactly);
        return found.isEmpty() ? QString() : found.front().siblingAtColumn(2).data().toString();
    };
    const StageFootprint& stage = workspace().footprint()->fullest();
    QCOMPARE(valueOf(QStringLiteral("Peak, allocated")), gibText(stage.peakAllocated, 2));
    QCOMPARE(valueOf(QStringLiteral("Device")), gibText(stage.device, 2));
    QCOMPARE(valueOf(QStringLiteral("Optimizer state")), gibText(stage.component(Component::OptimizerState), 2));
    workspace().setK(20); // no tape takes a k
    QVERIFY(!exact->isVisible());
    QVERIFY(workbench().formula()->view()->isVisible());
}

QTEST_MAIN(WindowTest)
#include "tst_window.moc"
