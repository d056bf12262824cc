// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stages_chart.h"
#include "dialogs/model_dialog.h"
#include "footprint/estimate.h"
#include "panels/finding_card.h"
#include "panels/findings_panel.h"
#include "panels/knob_group.h"
#include "panels/knob_row.h"
#include "panels/knob_slider.h"
#include "panels/knobs_panel.h"
#include "panels/verdict_bar.h"
#include "plan/fields.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/run_report.h"
#include "workspace/wording.h"

#include <QApplication>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QTimer>
#include <QtTest>

using namespace headroom;

class WindowKnobsTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void startsFromAModel();
    void sliderFollowsKeys_data();
    void sliderFollowsKeys();
    void oneDragIsOneStepOfUndo();
    void dragBackToTheStartLeavesNothing();
    void typedValueIsRefusedWithItsReason_data();
    void typedValueIsRefusedWithItsReason();
    void asksForWhatIsMissing();
    void typedValueIsUndoneByKeys();
    void knobResets();
    void ownKIsTakenAndReset();
    void pipelineNeverChangesTheGlobalBatch();
    void findingsKeepTheirCards();
};

/// Before there is a config: a model of the list, with a batch that is said to be assumed.
void WindowKnobsTest::startsFromAModel()
{
    QVERIFY(m_fixture->show());
    const QSignalSpy notes(&workspace(), &Workspace::messageRaised);
    auto* button = m_fixture->window().findChild<QPushButton*>(QStringLiteral("startModelButton"));
    QVERIFY(button != nullptr);
    QTimer::singleShot(0, this, [] {
        auto* dialog = qobject_cast<ModelDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog != nullptr);
        dialog->findChild<QLineEdit*>()->setText(QStringLiteral("llama 3 8b"));
        dialog->accept();
    });
    button->click();
    QVERIFY(!m_fixture->window().showsStartPage());
    QCOMPARE(workspace().plan().model.name.value, std::string("llama-3-8b"));
    QTRY_VERIFY(workspace().footprint() != nullptr);
    QCOMPARE(workspace().plan().batch.micro.origin.kind, OriginKind::Default);
    QCOMPARE(workspace().plan().batch.seq.value, std::int64_t{4096});
    QCOMPARE(notes.count(), 1);
    const QString note = notes.front().at(1).toString();
    QVERIFY2(note.contains(QStringLiteral("micro-batch 1 and ")) && note.contains(QStringLiteral("assumed")),
             qPrintable(note));
    QVERIFY(workspace().openPaths().isEmpty());
    workspace().turnKnob(Knob::MicroBatch, 2);
    QCOMPARE(workspace().footprint()->stages[0].parameters, std::int64_t{8'030'261'248});
    QCOMPARE(commandsOf(workspace()).front(),
             std::string("headroom-cli estimate --model llama-3-8b "
                         "--set batch.micro=2"));
    m_fixture->window().actions()[Command::Undo]->trigger();
    m_fixture->window().actions()[Command::Close]->trigger();
    QVERIFY(m_fixture->window().showsStartPage());
}

void WindowKnobsTest::sliderFollowsKeys_data()
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

void WindowKnobsTest::sliderFollowsKeys()
{
    QFETCH(int, knob);
    QFETCH(qint64, right);
    QFETCH(bool, changesPeak);
    QVERIFY(m_fixture->open());
    KnobRow* turned = row(static_cast<Knob>(knob));
    const qint64 before = knobValue(static_cast<Knob>(knob), workspace().plan());
    // By the instant reader on both sides: the exact figures may have come meanwhile.
    Footprint expected;
    QVERIFY(estimateInstantly(workspace().plan(), {}, expected).has_value());
    const Bytes peakBefore = expected.fullest().peakAllocated;
    turned->slider()->setFocus();
    QTest::keyClick(turned->slider(), Qt::Key_Right);

    QCOMPARE(knobValue(static_cast<Knob>(knob), workspace().plan()), right);
    QCOMPARE(fieldText(workspace().plan(), knobField(static_cast<Knob>(knob))), std::to_string(right));
    QVERIFY(turned->isChanged());
    QCOMPARE(workspace().footprint()->fullest().peakAllocated != peakBefore, changesPeak);
    // The chart shows the footprint of the plan as it stands.
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

void WindowKnobsTest::oneDragIsOneStepOfUndo()
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

void WindowKnobsTest::dragBackToTheStartLeavesNothing()
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

void WindowKnobsTest::typedValueIsRefusedWithItsReason_data()
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

void WindowKnobsTest::typedValueIsRefusedWithItsReason()
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

/// A config that leaves the batch open: the window asks for it by the names on its knobs.
void WindowKnobsTest::asksForWhatIsMissing()
{
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths(
        {m_fixture->write(QStringLiteral("open.yaml"),
                          "model: {num_layers: 4, hidden_size: 1024, num_heads: 16, vocab_size: 32000}\nparallel: "
                          "{tensor_parallel_size: 2}\n")});
    QTRY_VERIFY(!workspace().isEmpty());
    QCOMPARE(workspace().verdict().sentence,
             QStringLiteral("No estimate: set Micro-batch size, Sequence length on the left"));
    const auto type = [this](Knob knob, const QString& text) {
        QLineEdit* entry = row(knob)->entry();
        QCOMPARE(entry->text(), QStringLiteral("–"));
        entry->setFocus();
        entry->selectAll();
        QTest::keyClicks(entry, text);
        QTest::keyClick(entry, Qt::Key_Return);
        QVERIFY(row(knob)->isChanged());
    };
    type(Knob::SequenceLength, QStringLiteral("2048"));
    QVERIFY(workspace().footprint() == nullptr);
    type(Knob::MicroBatch, QStringLiteral("1"));
    QTRY_VERIFY(workspace().footprint() != nullptr);
    workspace().undoStack().undo();
    QTRY_VERIFY(workspace().footprint() == nullptr);
    QCOMPARE(row(Knob::MicroBatch)->entry()->text(), QStringLiteral("–"));
}

void WindowKnobsTest::typedValueIsUndoneByKeys()
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

void WindowKnobsTest::knobResets()
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

void WindowKnobsTest::ownKIsTakenAndReset()
{
    QVERIFY(m_fixture->open());
    const double derived = workspace().footprint()->k;
    workbench().knobs()->group(QStringLiteral("implementation"))->setFolded(false);
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

void WindowKnobsTest::pipelineNeverChangesTheGlobalBatch()
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

/// Figures of a finding change while a slider moves; the button under the user's finger does not.
void WindowKnobsTest::findingsKeepTheirCards()
{
    QVERIFY(m_fixture->open());
    const auto mending = [this] {
        const auto& cards = workbench().findings()->cards();
        const auto card = std::find_if(cards.begin(), cards.end(),
                                       [](const FindingCard* one) { return one->mendButton() != nullptr; });
        return card != cards.end() ? *card : nullptr;
    };
    const QPointer<FindingCard> card = mending();
    QVERIFY(card != nullptr && card->finding().mend->predictedPeak);
    const QPointer<QPushButton> button = card->mendButton();
    const QString words = button->accessibleName();
    button->setFocus();
    workspace().turnKnob(Knob::SequenceLength, workspace().plan().batch.seq.value + 128);
    QTRY_VERIFY(button != nullptr && button->accessibleName() != words);
    QCOMPARE(mending(), card.data());
    QVERIFY(button->accessibleName().contains(translated(card->finding().mend->label)));
    QVERIFY(button->hasFocus());
}

QTEST_MAIN(WindowKnobsTest)
#include "tst_window_knobs.moc"
