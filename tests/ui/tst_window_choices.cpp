// SPDX-License-Identifier: GPL-3.0-or-later
//
// Knobs that are not numbers: recompute, schedule, GPU, modules, groups that fold.
#include "footprint/estimate.h"
#include "insight/plan_edits.h"
#include "panels/choice_row.h"
#include "panels/gpu_chooser.h"
#include "panels/knob_group.h"
#include "panels/knob_row.h"
#include "panels/knob_slider.h"
#include "panels/knobs_panel.h"
#include "panels/recompute_section.h"
#include "panels/toggle_row.h"
#include "panels/verdict_bar.h"
#include "plan/fields.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/wording.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QtTest>

using namespace headroom;

class WindowChoicesTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void recomputeSwitches();
    void gpuIsChosen();
    void chunksAndSchedulesGoTogether();
    void expertsHaveAKnob();
    void choicesAreUndone_data();
    void choicesAreUndone();
    void modulesAreRecomputed();
    void sequenceParallelNeedsTensorParallel();
    void foldedGroupsAreRemembered();
};

void WindowChoicesTest::recomputeSwitches()
{
    QVERIFY(m_fixture->open());
    Footprint instant;
    QVERIFY(estimateInstantly(workspace().plan(), {}, instant));
    const Bytes before = instant.fullest().peakAllocated;
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

void WindowChoicesTest::gpuIsChosen()
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

void WindowChoicesTest::chunksAndSchedulesGoTogether()
{
    QVERIFY(m_fixture->open());
    ChoiceRow* schedule = workbench().knobs()->choice(Choice::Schedule);
    KnobRow* chunks = row(Knob::VirtualChunks);
    // Twelve layers on each of two stages: its divisors.
    QCOMPARE(chunks->stops(), (std::vector<double>{1, 2, 3, 4, 6, 12}));
    chunks->slider()->setFocus();
    QTest::keyClick(chunks->slider(), Qt::Key_Right);
    QCOMPARE(workspace().plan().parallel.vpp.value, std::int64_t{2});
    QCOMPARE(schedule->list()->currentText(), QStringLiteral("Interleaved 1F1B"));
    QCOMPARE(schedule->message(), QStringLiteral("originally 1F1B"));
    QVERIFY(chunks->isChanged() && schedule->isChanged());
    choose(schedule, QStringLiteral("gpipe"));
    QCOMPARE(workspace().plan().parallel.vpp.value, std::int64_t{1});
    QCOMPARE(workspace().plan().parallel.schedule.value, Schedule::GPipe);
    QCOMPARE(workspace().footprint()->stages[0].inFlight, std::int64_t{8});
    choose(schedule, QStringLiteral("1f1b"));
    QVERIFY(workspace().draft().means(workspace().original()));
    // One stage has nothing to interleave or to schedule, and says so.
    workspace().turnKnob(Knob::PipelineStages, 1);
    QVERIFY(!chunks->entry()->isEnabled() && !schedule->list()->isEnabled());
    QVERIFY(chunks->message().contains(QStringLiteral("one stage")));
    QVERIFY(schedule->message().contains(QStringLiteral("one stage")));
}

void WindowChoicesTest::expertsHaveAKnob()
{
    QVERIFY(m_fixture->open());
    QVERIFY(!row(Knob::ExpertParallel)->isVisible()); // a dense model
    workspace().edit({{"moe.experts", "8"}, {"moe.topk", "2"}}, QStringLiteral("experts"));
    QVERIFY(row(Knob::ExpertParallel)->isVisible());
    // Two copies of a stage: 8 experts are shared by two at most.
    QTRY_COMPARE(row(Knob::ExpertParallel)->stops(), (std::vector<double>{1, 2}));
    row(Knob::ExpertParallel)->entry()->setFocus();
    row(Knob::ExpertParallel)->entry()->selectAll();
    QTest::keyClicks(row(Knob::ExpertParallel)->entry(), QStringLiteral("4"));
    QTest::keyClick(row(Knob::ExpertParallel)->entry(), Qt::Key_Return);
    QVERIFY2(row(Knob::ExpertParallel)->message().contains(QStringLiteral("expert groups of 4")),
             qPrintable(row(Knob::ExpertParallel)->message()));
}

void WindowChoicesTest::choicesAreUndone_data()
{
    QTest::addColumn<int>("choice");
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    // Adam's two fp32 moments are 8 bytes a parameter, SGD with momentum keeps one of them (theory.md 2.1).
    QTest::newRow("optimizer") << int(Choice::Optimizer) << QStringLiteral("sgd_momentum")
                               << QStringLiteral("optimizer.name") << QStringLiteral("sgd_momentum");
    QTest::newRow("precision") << int(Choice::Precision) << QStringLiteral("bf16-pure")
                               << QStringLiteral("precision.recipe") << QStringLiteral("bf16-pure");
    QTest::newRow("sharding") << int(Choice::Sharding) << QStringLiteral("dist_opt") << QStringLiteral("shard.dist_opt")
                              << QStringLiteral("true");
}

void WindowChoicesTest::choicesAreUndone()
{
    QFETCH(int, choice);
    QFETCH(QString, id);
    QFETCH(QString, field);
    QFETCH(QString, value);
    QVERIFY(m_fixture->open());
    ChoiceRow* chosen = workbench().knobs()->choice(static_cast<Choice>(choice));
    // By the recipe, which knows every optimizer; Megatron's tapes have Adam's state whatever is chosen.
    const auto state = [this] {
        Footprint recipe;
        return estimate(workspace().plan(), {}, recipe) ? recipe.fullest().component(Component::OptimizerState)
                                                        : Bytes{};
    };
    const Bytes before = state();
    const QString original = chosen->list()->currentData().toString();
    choose(chosen, id);
    QCOMPARE(toQString(fieldText(workspace().plan(), field.toStdString())), value);
    QVERIFY(state().value > 0 && state() < before);
    QVERIFY(chosen->isChanged());
    QVERIFY(chosen->message().startsWith(QStringLiteral("originally ")));
    QCOMPARE(workspace().undoStack().count(), 1);
    workspace().undoStack().undo();
    QCOMPARE(chosen->list()->currentData().toString(), original);
    QVERIFY(!chosen->isChanged() && chosen->message().isEmpty());
    workspace().undoStack().redo();
    QTest::mouseDClick(chosen, Qt::LeftButton, {}, QPoint(4, 4)); // resets
    QVERIFY(workspace().draft().means(workspace().original()));
}

void WindowChoicesTest::modulesAreRecomputed()
{
    QVERIFY(m_fixture->open());
    RecomputeSection* section = workbench().knobs()->recompute();
    QTest::mouseClick(section->granularityButton(Granularity::Selective), Qt::LeftButton);
    const Bytes layers = workspace().footprint()->fullest().peakAllocated;
    QVERIFY(section->moduleBox("mlp")->isVisible());
    section->moduleBox("mlp")->click();
    QCOMPARE(workspace().plan().recompute.modules.value, std::vector<std::string>{"mlp"});
    QVERIFY(!row(Knob::RecomputedLayers)->isVisible());
    QVERIFY(workspace().footprint()->fullest().peakAllocated != layers);
    section->moduleBox("layernorm")->click();
    QCOMPARE(workspace().plan().recompute.modules.value, (std::vector<std::string>{"mlp", "layernorm"}));
    section->moduleBox("mlp")->click();
    section->moduleBox("layernorm")->click();
    QVERIFY(workspace().plan().recompute.modules.value.empty());
    QVERIFY(row(Knob::RecomputedLayers)->isVisible());
}

void WindowChoicesTest::sequenceParallelNeedsTensorParallel()
{
    QVERIFY(m_fixture->open());
    ToggleRow* toggle = workbench().knobs()->toggle("parallel.sp");
    QVERIFY(!toggle->box()->isEnabled());
    workspace().turnKnob(Knob::TensorParallel, 2);
    QVERIFY(toggle->box()->isEnabled());
    const Bytes before = workspace().footprint()->fullest().peakAllocated;
    toggle->box()->click();
    QVERIFY(workspace().plan().parallel.sp.value && toggle->isChanged());
    QVERIFY(workspace().footprint()->fullest().peakAllocated < before);
    workspace().undoStack().undo();
    QVERIFY(!toggle->box()->isChecked() && !toggle->isChanged());
}

void WindowChoicesTest::foldedGroupsAreRemembered()
{
    QVERIFY(m_fixture->open());
    KnobGroup* batch = workbench().knobs()->group(QStringLiteral("batch"));
    QVERIFY(!batch->isFolded() && row(Knob::MicroBatch)->isVisible());
    batch->header()->click();
    QVERIFY(batch->isFolded() && !row(Knob::MicroBatch)->isVisible());
    workspace().turnKnob(Knob::MicroBatch, 1);
    QCOMPARE(batch->header()->accessibleName(), QStringLiteral("BATCH, changed"));
    m_fixture = std::make_unique<WindowFixture>();
    m_fixture->window().files().setLossAnswer([] { return FileCommands::Answer::Discard; });
    QVERIFY(workbench().knobs()->group(QStringLiteral("batch"))->isFolded());
    QVERIFY(!workbench().knobs()->group(QStringLiteral("parallel"))->isFolded());
}

QTEST_MAIN(WindowChoicesTest)
#include "tst_window_choices.moc"
