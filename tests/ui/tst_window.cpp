// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peaks_chart.h"
#include "charts/stages_chart.h"
#include "dialogs/export_dialog.h"
#include "footprint/estimate.h"
#include "panels/diff_panel.h"
#include "panels/finding_card.h"
#include "panels/findings_panel.h"
#include "panels/formula_panel.h"
#include "panels/gpu_chooser.h"
#include "panels/knob_row.h"
#include "panels/knob_slider.h"
#include "panels/knobs_panel.h"
#include "panels/log_panel.h"
#include "panels/notices.h"
#include "panels/peaks_panel.h"
#include "panels/problems_panel.h"
#include "panels/text_view.h"
#include "panels/verdict_bar.h"
#include "plan/fields.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/settings.h"
#include "window/workbench.h"
#include "workspace/knob_text.h"
#include "workspace/view_state.h"
#include "workspace/wording.h"

#include <QAction>
#include <QClipboard>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>

#include <algorithm>

using namespace headroom;

class WindowTest : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase();
    void init();
    void cleanup();

    void startsWithTheStartPage();
    void opensLogAndConfig();
    void sliderFollowsKeys_data();
    void sliderFollowsKeys();
    void oneDragIsOneStepOfUndo();
    void dragBackToTheStartLeavesNothing();
    void typedValueIsRefusedWithItsReason_data();
    void typedValueIsRefusedWithItsReason();
    void typedValueIsUndoneByKeys();
    void knobResets();
    void recomputeSwitches();
    void ownKIsTakenAndReset();
    void pipelineNeverChangesTheGlobalBatch();
    void mendButtonMends();
    void evidenceMovesTheCursor();
    void exportChangesOnlyWhatWasTurned();
    void exportOverwritesOnlyTheFileThatWasOpened();
    void exportRefusesWithTheReason();
    void closingAsksBeforeChangesAreLost();
    void dropOpensFiles();
    void brokenFilesGiveAMessage_data();
    void brokenFilesGiveAMessage();
    void folderIsOneRun();
    void modelFileIsRecognised();
    void reloadKeepsWhatWasTurned();
    void closingMidLoadIsSafe();
    void newestOpeningWins();
    void themeSwitches();
    void everyActionIsComplete();
    void layoutResets();
    void layoutIsRemembered();
    void gpuIsChosen();
    void tabsShowTheirContents();
    void problemsAreListed();
    void logIsSearched();
    void impossibleConfigSaysWhy_data();
    void impossibleConfigSaysWhy();
    void longNamesLeaveTheLayoutAlone();
    void oddModelFileIsAProblem();

private:
    KnobRow* row(Knob knob) { return m_fixture->window().workbench().knobs()->row(knob); }
    Workspace& workspace() { return m_fixture->workspace(); }
    Workbench& workbench() { return m_fixture->window().workbench(); }
    std::unique_ptr<WindowFixture> m_fixture;
};

void WindowTest::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("headroom-test"));
    QCoreApplication::setApplicationName(QStringLiteral("headroom-test"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QLocale::setDefault(QLocale::c());
    applyTheme(*qApp, ThemeChoice::Light);
}

void WindowTest::init()
{
    // What the offscreen platform cannot do is no fault of the window.
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support).*")));
    QSettings().clear();
    m_fixture = std::make_unique<WindowFixture>();
    m_fixture->window().files().setLossAnswer([] { return FileCommands::Answer::Discard; });
}

void WindowTest::cleanup()
{
    m_fixture.reset();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

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

void WindowTest::sliderFollowsKeys_data()
{
    QTest::addColumn<int>("knob");
    QTest::addColumn<qint64>("right"); // the stop after the config's value
    QTest::addColumn<bool>("changesPeak");
    QTest::newRow("pipeline stages: the divisors of 24 and the powers of two")
        << int(Knob::PipelineStages) << qint64{3} << true;
    QTest::newRow("tensor parallel: the divisors of 16 heads") << int(Knob::TensorParallel) << qint64{2} << true;
    QTest::newRow("data parallel") << int(Knob::DataParallel) << qint64{3} << false;
    QTest::newRow("micro-batch") << int(Knob::MicroBatch) << qint64{3} << true;
    QTest::newRow("accumulation") << int(Knob::Accumulation) << qint64{12} << false;
    QTest::newRow("sequence length") << int(Knob::SequenceLength) << qint64{1536} << true;
}

void WindowTest::sliderFollowsKeys()
{
    QFETCH(int, knob);
    QFETCH(qint64, right);
    QFETCH(bool, changesPeak);
    QVERIFY(m_fixture->open());
    KnobRow* turned = row(static_cast<Knob>(knob));
    const qint64 before = knobValue(static_cast<Knob>(knob), workspace().plan());
    const Bytes peakBefore = workspace().footprint()->fullest().peakAllocated;
    turned->slider()->setFocus();
    QTest::keyClick(turned->slider(), Qt::Key_Right);

    QCOMPARE(knobValue(static_cast<Knob>(knob), workspace().plan()), right);
    QCOMPARE(fieldText(workspace().plan(), knobField(static_cast<Knob>(knob))), std::to_string(right));
    QVERIFY(turned->isChanged());
    QCOMPARE(workspace().footprint()->fullest().peakAllocated != peakBefore, changesPeak);
    // The chart shows the footprint of the plan as it stands.
    Footprint expected;
    QVERIFY(estimateInstantly(workspace().plan(), {}, expected).has_value());
    QCOMPARE(workspace().footprint()->fullest().device.value, expected.fullest().device.value);
    QVERIFY(!workbench().stagesChart()->totalLabel(0).isEmpty());
    QCOMPARE(workbench().stagesChart()->values().count(QLatin1Char('\n')) >= static_cast<int>(expected.stages.size()),
             true);

    QVERIFY(m_fixture->window().actions()[Command::Undo]->isEnabled());
    m_fixture->window().actions()[Command::Undo]->trigger();
    QCOMPARE(knobValue(static_cast<Knob>(knob), workspace().plan()), before);
    QVERIFY(!turned->isChanged());
    m_fixture->window().actions()[Command::Redo]->trigger();
    QCOMPARE(knobValue(static_cast<Knob>(knob), workspace().plan()), right);
    QTRY_VERIFY(m_fixture->window().isWindowModified());
}

void WindowTest::oneDragIsOneStepOfUndo()
{
    QVERIFY(m_fixture->open());
    KnobSlider* slider = row(Knob::MicroBatch)->slider();
    const QPoint middle(0, slider->height() / 3);
    QTest::mousePress(slider, Qt::LeftButton, {}, QPoint(slider->width() / 2, 0) + middle);
    for (int x = slider->width() / 2; x < slider->width() - 4; x += 5) {
        QTest::mouseMove(slider, QPoint(x, 0) + middle);
    }
    QTest::mouseRelease(slider, Qt::LeftButton, {}, QPoint(slider->width() - 4, 0) + middle);
    QVERIFY(workspace().plan().batch.micro.value > 8);
    QCOMPARE(workspace().undoStack().count(), 1);
    // A second drag is a step of its own.
    QTest::mouseClick(slider, Qt::LeftButton, {}, QPoint(slider->width() / 3, 0) + middle);
    QCOMPARE(workspace().undoStack().count(), 2);
    workspace().undoStack().undo();
    workspace().undoStack().undo();
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{2});
}

void WindowTest::dragBackToTheStartLeavesNothing()
{
    QVERIFY(m_fixture->open());
    KnobSlider* slider = row(Knob::MicroBatch)->slider();
    slider->setFocus();
    QTest::keyPress(slider, Qt::Key_Right);
    QTest::keyPress(slider, Qt::Key_Right);
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{4});
    QTest::keyPress(slider, Qt::Key_Left);
    QTest::keyPress(slider, Qt::Key_Left);
    QTest::keyRelease(slider, Qt::Key_Left);
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{2});
    QCOMPARE(workspace().undoStack().count(), 0);
}

void WindowTest::typedValueIsRefusedWithItsReason_data()
{
    QTest::addColumn<int>("knob");
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("reason");
    QTest::newRow("more stages than layers")
        << int(Knob::PipelineStages) << QStringLiteral("25") << QStringLiteral("24 layers");
    QTest::newRow("does not divide the heads")
        << int(Knob::TensorParallel) << QStringLiteral("3") << QStringLiteral("does not divide");
    QTest::newRow("zero") << int(Knob::MicroBatch) << QStringLiteral("0") << QStringLiteral("at least 1");
    QTest::newRow("negative") << int(Knob::Accumulation) << QStringLiteral("-4") << QStringLiteral("at least 1");
    QTest::newRow("a fraction") << int(Knob::MicroBatch) << QStringLiteral("1.5")
                                << QStringLiteral("not a whole number");
    QTest::newRow("words") << int(Knob::SequenceLength) << QStringLiteral("long")
                           << QStringLiteral("not a whole number");
    QTest::newRow("not a number") << int(Knob::DataParallel) << QStringLiteral("nan")
                                  << QStringLiteral("not a whole number");
}

void WindowTest::typedValueIsRefusedWithItsReason()
{
    QFETCH(int, knob);
    QFETCH(QString, typed);
    QFETCH(QString, reason);
    QVERIFY(m_fixture->open());
    KnobRow* turned = row(static_cast<Knob>(knob));
    const qint64 before = knobValue(static_cast<Knob>(knob), workspace().plan());
    turned->entry()->setFocus();
    turned->entry()->selectAll();
    QTest::keyClicks(turned->entry(), typed);
    QTest::keyClick(turned->entry(), Qt::Key_Return);
    QVERIFY2(turned->message().contains(reason), qPrintable(turned->message()));
    QCOMPARE(knobValue(static_cast<Knob>(knob), workspace().plan()), before);
    QCOMPARE(workspace().undoStack().count(), 0);
    // A possible one is taken, and clears the reason.
    turned->entry()->selectAll();
    QTest::keyClicks(turned->entry(), QStringLiteral("1"));
    QTest::keyClick(turned->entry(), Qt::Key_Return);
    QCOMPARE(knobValue(static_cast<Knob>(knob), workspace().plan()), qint64{1});
    QVERIFY(!turned->message().contains(reason));
}

void WindowTest::typedValueIsUndoneByKeys()
{
    QVERIFY(m_fixture->open());
    m_fixture->window().activateWindow(); // shortcuts belong to the active window
    QVERIFY(QTest::qWaitForWindowActive(&m_fixture->window()));
    QLineEdit* entry = row(Knob::MicroBatch)->entry();
    const qint64 before = workspace().plan().batch.micro.value;
    entry->setFocus();
    entry->selectAll();
    QTest::keyClicks(entry, QStringLiteral("16"));
    QTest::keyClick(entry, Qt::Key_Z, Qt::ControlModifier); // still typing: the text is undone, not the plan
    entry->selectAll();
    QTest::keyClicks(entry, QStringLiteral("16"));
    QTest::keyClick(entry, Qt::Key_Return);
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{16});
    QTest::keyClick(entry, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(workspace().plan().batch.micro.value, before);
    QCOMPARE(entry->text(), QString::number(before));
    QTest::keyClick(entry, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{16});
}

void WindowTest::knobResets()
{
    QVERIFY(m_fixture->open());
    KnobRow* turned = row(Knob::SequenceLength);
    turned->slider()->setFocus();
    QTest::keyClick(turned->slider(), Qt::Key_End);
    QVERIFY(workspace().plan().batch.seq.value > 65536);
    QTest::keyClick(turned->slider(), Qt::Key_Backspace);
    QCOMPARE(workspace().plan().batch.seq.value, std::int64_t{1024});
    QVERIFY(!turned->isChanged());
    QTest::keyClick(turned->slider(), Qt::Key_Right);
    QTest::mouseDClick(turned->slider(), Qt::LeftButton);
    QCOMPARE(workspace().plan().batch.seq.value, std::int64_t{1024});
    QTest::keyClick(turned->slider(), Qt::Key_Right);
    m_fixture->window().actions()[Command::ResetAll]->trigger();
    QVERIFY(workspace().draft().means(workspace().original()));
    QVERIFY(!m_fixture->window().actions()[Command::ResetAll]->isEnabled());
}

void WindowTest::recomputeSwitches()
{
    QVERIFY(m_fixture->open());
    const Bytes before = workspace().footprint()->fullest().peakAllocated;
    QTest::mouseClick(workbench().knobs()->granularityButton(Granularity::Full), Qt::LeftButton);
    QCOMPARE(effectiveGranularity(workspace().plan()), Granularity::Full);
    QVERIFY(workspace().footprint()->fullest().peakAllocated < before);
    QTest::mouseClick(workbench().knobs()->granularityButton(Granularity::Selective), Qt::LeftButton);
    QCOMPARE(effectiveGranularity(workspace().plan()), Granularity::Selective);
    QVERIFY(row(Knob::RecomputedLayers)->isVisible());
    QTest::mouseClick(workbench().knobs()->granularityButton(Granularity::None), Qt::LeftButton);
    QCOMPARE(workspace().footprint()->fullest().peakAllocated.value, before.value);
    QVERIFY(!row(Knob::RecomputedLayers)->isVisible());
}

void WindowTest::ownKIsTakenAndReset()
{
    QVERIFY(m_fixture->open());
    const double derived = workspace().footprint()->k;
    KnobRow* k = workbench().knobs()->kRow();
    k->entry()->setFocus();
    k->entry()->selectAll();
    QTest::keyClicks(k->entry(), QStringLiteral("21.5"));
    QTest::keyClick(k->entry(), Qt::Key_Return);
    QCOMPARE(workspace().draft().calibration.k.value_or(0), 21.5);
    QCOMPARE(workspace().footprint()->k, 21.5);
    QVERIFY(k->isChanged());
    k->slider()->setFocus();
    QTest::keyClick(k->slider(), Qt::Key_Backspace);
    QVERIFY(!workspace().draft().calibration.k.has_value());
    QCOMPARE(workspace().footprint()->k, derived);
}

void WindowTest::pipelineNeverChangesTheGlobalBatch()
{
    QVERIFY(m_fixture->open());
    // 2 × 8 × 2 = 32, but the config says 16.
    QVERIFY2(workbench().knobs()->equationText().contains(QStringLiteral("2 × 8 × 2 = 32")),
             qPrintable(workbench().knobs()->equationText()));
    QVERIFY(workbench().knobs()->equationText().contains(QStringLiteral("16 ✗")));
    row(Knob::PipelineStages)->slider()->setFocus();
    for (int i = 0; i < 5; ++i) {
        QTest::keyClick(row(Knob::PipelineStages)->slider(), Qt::Key_Right);
        QVERIFY(workbench().knobs()->equationText().contains(QStringLiteral("= 32")));
        QCOMPARE(workspace().plan().batch.global.value, std::int64_t{16});
    }
    row(Knob::Accumulation)->entry()->setFocus();
    row(Knob::Accumulation)->entry()->selectAll();
    QTest::keyClicks(row(Knob::Accumulation)->entry(), QStringLiteral("4"));
    QTest::keyClick(row(Knob::Accumulation)->entry(), Qt::Key_Return);
    QVERIFY(workbench().knobs()->equationText().contains(QStringLiteral("16 ✓")));
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
    workbench().showPlace(toQString(workspace().log()->run->files.front()), 135);
    QCOMPARE(workbench().viewState().cursor().value_or(-1), qint64{12});
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{135});
    workbench().showPlace(toQString(workspace().config()->opened.document.name()), 14);
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
    QCOMPARE(QFileInfo(workbench().logText()->file()->path()).fileName(), QStringLiteral("train.yaml"));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{14});
}

void WindowTest::exportChangesOnlyWhatWasTurned()
{
    QVERIFY(m_fixture->open());
    workspace().turnKnob(Knob::PipelineStages, 4);
    workspace().turnKnob(Knob::MicroBatch, 1);
    ExportDialog dialog(workspace());
    QVERIFY2(dialog.objection().isEmpty(), qPrintable(dialog.objection()));
    QCOMPARE(dialog.pathEdit()->text(), m_fixture->path(QStringLiteral("train.headroom.yaml")));
    QTest::mouseClick(dialog.saveButton(), Qt::LeftButton);
    QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));

    QByteArray expected = WindowFixture::configText;
    expected.replace("pipeline_parallel_size: 2 ", "pipeline_parallel_size: 4 ");
    expected.replace("micro_batch_size: 2\n", "micro_batch_size: 1\n");
    QCOMPARE(WindowFixture::read(pathText(dialog.savedPath())), expected);
    QCOMPARE(WindowFixture::read(m_fixture->configPath()), WindowFixture::configText);
    QVERIFY(!workspace().isModified());
    QVERIFY(!m_fixture->window().isWindowModified());

    // What was exported, opened again, states the draft.
    const TrainingPlan exported = workspace().plan();
    m_fixture->window().files().openPaths({pathText(dialog.savedPath())});
    QTRY_COMPARE(fileName(workspace().config()->path), QStringLiteral("train.headroom.yaml"));
    QVERIFY(difference(workspace().plan(), exported).empty());
    QCOMPARE(workspace().undoStack().count(), 0);
}

void WindowTest::exportOverwritesOnlyTheFileThatWasOpened()
{
    QVERIFY(m_fixture->open());
    workspace().turnKnob(Knob::MicroBatch, 1);
    ExportDialog dialog(workspace());
    dialog.pathEdit()->setText(m_fixture->configPath());
    QVERIFY(dialog.saveButton()->text().contains(QStringLiteral("Overwrite")));
    QVERIFY(!dialog.keepBothButton()->isHidden());
    // Somebody else changes the file meanwhile: not overwritten.
    m_fixture->write(QStringLiteral("train.yaml"), WindowFixture::configText + "# edited\n");
    QVERIFY(!workspace().exportConfig(toPath(m_fixture->configPath())).has_value());
    QVERIFY(WindowFixture::read(m_fixture->configPath()).endsWith("# edited\n"));
    m_fixture->write(QStringLiteral("train.yaml"), WindowFixture::configText);
    QTest::mouseClick(dialog.saveButton(), Qt::LeftButton);
    QVERIFY(WindowFixture::read(m_fixture->configPath()).contains("micro_batch_size: 1\n"));
    // The file is the new starting point, and undo still goes back behind it.
    QVERIFY(!workspace().isModified());
    QCOMPARE(workspace().original().plan.batch.micro.value, std::int64_t{1});
    workspace().undoStack().undo();
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{2});
    QTRY_VERIFY(workspace().isModified());
}

void WindowTest::exportRefusesWithTheReason()
{
    QVERIFY(m_fixture->open());
    {
        ExportDialog dialog(workspace());
        QVERIFY(dialog.objection().contains(QStringLiteral("Nothing changed")));
        QVERIFY(!dialog.saveButton()->isEnabled());
    }
    workspace().turnKnob(Knob::MicroBatch, 1);
    ExportDialog dialog(workspace());
    dialog.pathEdit()->setText(m_fixture->path(QStringLiteral("none/train.yaml")));
    QVERIFY(dialog.objection().contains(QStringLiteral("no folder")));
    dialog.pathEdit()->setText(m_fixture->path(QString()));
    QVERIFY(dialog.objection().contains(QStringLiteral("is a folder")));
    dialog.pathEdit()->clear();
    QVERIFY(!dialog.saveButton()->isEnabled());
}

void WindowTest::closingAsksBeforeChangesAreLost()
{
    QVERIFY(m_fixture->open());
    int asked = 0;
    auto answer = FileCommands::Answer::Cancel;
    m_fixture->window().files().setLossAnswer([&] {
        ++asked;
        return answer;
    });
    workspace().turnKnob(Knob::MicroBatch, 1);
    QTRY_VERIFY(workspace().isModified());
    QVERIFY(!m_fixture->window().close());
    QCOMPARE(asked, 1);
    workspace().undoStack().undo();
    QTRY_VERIFY(!workspace().isModified());
    QVERIFY(m_fixture->window().close());
    QCOMPARE(asked, 1);
}

void WindowTest::dropOpensFiles()
{
    QVERIFY(m_fixture->show());
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(m_fixture->write(QStringLiteral("train.log"), WindowFixture::logText())),
                  QUrl::fromLocalFile(m_fixture->write(QStringLiteral("train.yaml"), WindowFixture::configText))});
    MainWindow& window = m_fixture->window();
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &drop);
    QTRY_VERIFY(workspace().log() != nullptr && workspace().config() != nullptr);
}

void WindowTest::brokenFilesGiveAMessage_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("empty log") << QByteArray() << QStringLiteral("train.log") << QStringLiteral("empty");
    QTest::newRow("empty config") << QByteArray() << QStringLiteral("train.yaml") << QStringLiteral("empty");
    QTest::newRow("binary") << QByteArray("\x7f"
                                          "ELF\0\0\0\x01\x02",
                                          9)
                            << QStringLiteral("core") << QStringLiteral("binary");
    QTest::newRow("binary config") << QByteArray("a: \0\0\x01", 6) << QStringLiteral("x.yaml")
                                   << QStringLiteral("x.yaml");
    QTest::newRow("no measurements") << QByteArray("loss 3.2\nloss 3.1\n") << QStringLiteral("train.log")
                                     << QStringLiteral("phase=");
    QTest::newRow("yaml of something else")
        << QByteArray("services:\n  web: nginx\n") << QStringLiteral("compose.yaml") << QStringLiteral("compose.yaml");
    QTest::newRow("broken yaml") << QByteArray("train: [1, 2\n") << QStringLiteral("t.yaml")
                                 << QStringLiteral("t.yaml");
}

void WindowTest::brokenFilesGiveAMessage()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, name);
    QFETCH(QString, sentence);
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(name, bytes)});
    MessageBar& bar = m_fixture->window().messageBar();
    QTRY_VERIFY(bar.isVisible());
    QVERIFY2(bar.text().contains(sentence), qPrintable(bar.text()));
    QVERIFY(m_fixture->window().showsStartPage());
    // An empty folder and a file that is not there say so too.
    m_fixture->window().files().openPaths({m_fixture->path(QStringLiteral("nowhere.log"))});
    QTRY_VERIFY2(bar.text().contains(QStringLiteral("no such file")), qPrintable(bar.text()));
    QVERIFY(QDir(m_fixture->path(QString())).mkdir(QStringLiteral("nothing")));
    m_fixture->window().files().openPaths({m_fixture->path(QStringLiteral("nothing"))});
    QTRY_VERIFY2(bar.text().contains(QStringLiteral("nothing")), qPrintable(bar.text()));
}

void WindowTest::folderIsOneRun()
{
    QVERIFY(m_fixture->show());
    QVERIFY(QDir(m_fixture->path(QString())).mkdir(QStringLiteral("logs")));
    m_fixture->write(QStringLiteral("logs/rank0.log"), "rank=0 phase=forward step=1 peak_alloc=1GiB\n");
    m_fixture->write(QStringLiteral("logs/rank1.log"), "rank=1 phase=forward step=1 peak_alloc=2GiB\n");
    m_fixture->window().files().openPaths({m_fixture->path(QStringLiteral("logs"))});
    QTRY_VERIFY(workspace().log() != nullptr);
    QCOMPARE(workspace().log()->run->ranks().size(), std::size_t{2});
    workspace().reload();
    QTRY_VERIFY(!workspace().isOpening());
    QCOMPARE(workspace().log()->run->size(), std::size_t{2});
}

void WindowTest::modelFileIsRecognised()
{
    QVERIFY(m_fixture->show());
    const QString config = m_fixture->write(
        QStringLiteral("run.yaml"),
        "parallel:\n  pipeline_parallel_size: 2\ntrain:\n  micro_batch_size: 1\n  seq_length: 2048\n");
    const QString model = m_fixture->write(
        QStringLiteral("config.json"),
        R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
                                               "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})");
    m_fixture->window().files().openPaths({config});
    QTRY_VERIFY(workspace().config() != nullptr);
    QVERIFY(workspace().footprint() == nullptr);
    QVERIFY(m_fixture->window().verdictBar().text().contains(QStringLiteral("No estimate")));
    m_fixture->window().files().openPaths({model});
    QTRY_VERIFY(workspace().footprint() != nullptr);
    QCOMPARE(workspace().plan().model.layers.value, std::int64_t{32});
    QCOMPARE(workspace().plan().parallel.pp.value, std::int64_t{2});
    // Nothing of the model is written into the config.
    QTest::qWait(Workspace::settleMs * 3);
    QVERIFY(!workspace().isModified());
    workspace().undoStack().undo();
    QVERIFY(workspace().footprint() == nullptr);
}

void WindowTest::reloadKeepsWhatWasTurned()
{
    QVERIFY(m_fixture->open());
    workspace().turnKnob(Knob::MicroBatch, 4);
    QByteArray changed = WindowFixture::configText;
    changed.replace("seq_length: 1024", "seq_length: 2048");
    m_fixture->write(QStringLiteral("train.yaml"), changed);
    m_fixture->window().actions()[Command::Reload]->trigger();
    QTRY_COMPARE(workspace().plan().batch.seq.value, std::int64_t{2048});
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{4});
    QCOMPARE(workspace().original().plan.batch.micro.value, std::int64_t{2});
    QVERIFY(workspace().isModified());
}

void WindowTest::closingMidLoadIsSafe()
{
    QByteArray text;
    while (text.size() < 48 * 1024 * 1024) {
        text += WindowFixture::logText();
    }
    const QString path = m_fixture->write(QStringLiteral("large.log"), text);
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({path});
    QVERIFY(workspace().isOpening());
    m_fixture->window().close();
    m_fixture = std::make_unique<WindowFixture>(); // the one before is destroyed while its job runs
    QVERIFY(m_fixture->show());
    const QString again = m_fixture->write(QStringLiteral("large.log"), text);
    m_fixture->window().files().openPaths({again});
    workspace().cancelOpening();
    QTRY_VERIFY(!workspace().isOpening());
    QTest::qWait(50);
    QVERIFY(workspace().log() == nullptr);
    QVERIFY(m_fixture->window().showsStartPage());
}

void WindowTest::newestOpeningWins()
{
    QByteArray text;
    while (text.size() < 16 * 1024 * 1024) {
        text += WindowFixture::logText();
    }
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("large.log"), text)});
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("train.log"), WindowFixture::logText())});
    QTRY_VERIFY(workspace().log() != nullptr);
    QTest::qWait(200);
    QCOMPARE(workspace().log()->run->size(), std::size_t{240});
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
    }
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

void WindowTest::gpuIsChosen()
{
    QVERIFY(m_fixture->open());
    auto* chooser = m_fixture->window().findChild<GpuChooser*>();
    QVERIFY(chooser != nullptr);
    const Gpu* gpu = workspace().library().catalog.gpu("h100-80gb");
    QVERIFY(gpu != nullptr);
    workspace().chooseGpu(*gpu);
    QCOMPARE(workspace().capacity()->value, gpu->capacity.value);
    QVERIFY(chooser->text().contains(QStringLiteral("H100")));
    QVERIFY(m_fixture->window().verdictBar().text().startsWith(QStringLiteral("Fits")));
    QVERIFY(chooser->chooseCapacity(QStringLiteral("1")));
    QCOMPARE(workspace().capacity()->value, gib(1).value);
    QVERIFY(m_fixture->window().verdictBar().text().startsWith(QStringLiteral("Does not fit")));
    QString reason;
    QVERIFY(!chooser->chooseCapacity(QStringLiteral("plenty"), &reason));
    QVERIFY(!reason.isEmpty());
    m_fixture->window().actions()[Command::CopyVerdict]->trigger();
    QCOMPARE(QGuiApplication::clipboard()->text(), m_fixture->window().verdictBar().text());
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
    QCOMPARE(peaks->model()->index(0, 6).data().toString(), QStringLiteral("train.log:134"));
    emit peaks->activated(peaks->model()->index(0, 2));
    QCOMPARE(workbench().viewState().cursor().value_or(-1), qint64{12});
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{134});

    workbench().tabs()->setCurrentWidget(workbench().formula());
    QVERIFY(workbench().formula()->view()->model()->rowCount() > 0);
    workbench().viewState().setStage(1);
    QVERIFY(workbench().formula()->view()->model()->rowCount() > 0);

    workspace().turnKnob(Knob::MicroBatch, 1);
    QTRY_COMPARE(workbench().diff()->changedLines(), 2);
    QCOMPARE(workbench().tabs()->tabText(workbench().tabs()->indexOf(workbench().diff())),
             QStringLiteral("Config diff 2"));
}

void WindowTest::problemsAreListed()
{
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(
        QStringLiteral("train.log"), WindowFixture::logText() + "phase=forward step=21 peak_alloc=muchGiB\n")});
    QTRY_VERIFY(workspace().log() != nullptr);
    QCOMPARE(workspace().problemCount(), qint64{1});
    auto* link = m_fixture->window().findChild<QPushButton*>(QStringLiteral("problemsLink"));
    QVERIFY(link->isVisible());
    QTest::mouseClick(link, Qt::LeftButton);
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().problems()));
    QVERIFY(workbench().problems()->view()->model()->index(0, 1).data().toString().contains(
        QStringLiteral("train.log:241")));
    emit workbench().problems()->view()->activated(workbench().problems()->view()->model()->index(0, 1));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{241});
}

void WindowTest::logIsSearched()
{
    QVERIFY(m_fixture->open());
    m_fixture->window().actions()[Command::Find]->trigger();
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
    auto* needle = workbench().logText()->findChild<QLineEdit*>(QStringLiteral("logNeedle"));
    QTRY_VERIFY(needle->hasFocus());
    QTest::keyClicks(needle, QStringLiteral("STEP=12 PEAK_ALLOC=6403"));
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{134});
    QTest::keyClick(needle, Qt::Key_Return); // no other: round to the same
    QTest::keyClick(needle, Qt::Key_Escape);
    QVERIFY(workbench().logText()->view()->hasFocus());
    m_fixture->window().actions()[Command::GoToLine]->trigger();
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("7"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{7});
    needle->setText(QStringLiteral("rank=3"));
    m_fixture->window().actions()[Command::FindPrevious]->trigger();
    QTRY_COMPARE(workbench().logText()->view()->markedLine(), qint64{240});
}

void WindowTest::impossibleConfigSaysWhy_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<QString>("problem");
    QTest::addColumn<QString>("reason");
    const auto row
        = [](const char* name, const char* before, const char* after, const char* problem, const char* reason) {
              QTest::newRow(name) << QByteArray(before) << QByteArray(after) << QString(problem) << QString(reason);
          };
    row("stages", "pipeline_parallel_size: 2", "pipeline_parallel_size: 48", "cannot be split over 48",
        "cannot be split");
    row("absurd layers", "layers: 24", "layers: 1000000000000", "must be between", "choose one");
    row("absurd sequence", "seq_length: 1024", "seq_length: 9223372036854775807", "must be between", "batch.seq");
}

void WindowTest::impossibleConfigSaysWhy()
{
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(QString, problem);
    QFETCH(QString, reason);
    QVERIFY(WindowFixture::configText.contains(before));
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths(
        {m_fixture->write(QStringLiteral("train.log"), WindowFixture::logText()),
         m_fixture->write(QStringLiteral("train.yaml"), QByteArray(WindowFixture::configText).replace(before, after))});
    QTRY_VERIFY(workspace().config() != nullptr && workspace().log() != nullptr);
    QVERIFY(workspace().footprint() == nullptr);
    const auto problems = workspace().problems();
    QVERIFY(std::any_of(problems.begin(), problems.end(), [&](const Problem& each) {
        return each.line > 0 && QString::fromStdString(each.english()).contains(problem);
    }));
    // The verdict speaks of the log; the empty chart says what keeps the estimate away.
    const auto* chart = m_fixture->window().findChild<StagesChart*>();
    QVERIFY2(chart->accessibleDescription().contains(reason), qPrintable(chart->accessibleDescription()));
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

void WindowTest::oddModelFileIsAProblem()
{
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(
        QStringLiteral("config.json"),
        R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "vocab_size": 129280})")});
    QTRY_VERIFY(workspace().model() != nullptr);
    QCOMPARE(workspace().problems().size(), std::size_t{1});
    QVERIFY(workspace().problems().front().english().find("deepseek_v3") != std::string::npos);
}

QTEST_MAIN(WindowTest)
#include "tst_window.moc"
