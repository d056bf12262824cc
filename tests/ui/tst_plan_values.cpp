// SPDX-License-Identifier: GPL-3.0-or-later
#include "dialogs/export_as_dialog.h"
#include "models/plan_model.h"
#include "panels/log_panel.h"
#include "panels/plan_panel.h"
#include "support/folders.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTreeView>
#include <QUndoStack>
#include <QtTest>

using namespace headroom;

class PlanValuesTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void listsValuesWithTheirPlaces();
    void editsThroughTheUndoStack();
    void refusesWhatIsNoValue();
    void asksForWhatIsNotUnderstood();
    void searchFindsEveryColumn();
    void originShowsTheLine();
    void exportsInAnotherFormat();
    void exportsWithoutAConfig();

private:
    [[nodiscard]] QString text(const char* field, int column) const
    {
        const PlanModel& model = *workbench().planValues()->model();
        return model.indexOf(QString::fromLatin1(field), column).data().toString();
    }
    /// The rows on view below their groups.
    [[nodiscard]] int shownRows() const
    {
        const QAbstractItemModel& shown = *workbench().planValues()->view()->model();
        int rows = 0;
        for (int group = 0; group < shown.rowCount(); ++group) {
            rows += shown.rowCount(shown.index(group, 0));
        }
        return rows;
    }
};

void PlanValuesTest::listsValuesWithTheirPlaces()
{
    QVERIFY(m_fixture->open());
    workbench().showPlan();
    QCOMPARE(text("parallel.pp", PlanModel::Value), QStringLiteral("2"));
    QVERIFY(text("parallel.pp", PlanModel::From).startsWith(QStringLiteral("train.yaml:")));
    QCOMPARE(text("parallel.cp", PlanModel::From), PlanModel::tr("default"));
    // Terms of the batch that the others determine.
    workspace().edit({{"batch.accum", "7"}}, QStringLiteral("seven"));
    QVERIFY(text("batch.accum", PlanModel::From).contains(QStringLiteral("was")));
    QVERIFY(!workbench().planValues()->view()->model()->index(0, 0).data().toString().isEmpty());
}

void PlanValuesTest::editsThroughTheUndoStack()
{
    QVERIFY(m_fixture->open());
    workbench().showPlan();
    PlanModel& model = *workbench().planValues()->model();
    const QModelIndex micro = model.indexOf(QStringLiteral("batch.micro"), PlanModel::Value);
    QVERIFY(model.flags(micro).testFlag(Qt::ItemIsEditable));
    QVERIFY(!model.flags(micro.siblingAtColumn(PlanModel::From)).testFlag(Qt::ItemIsEditable));
    model.setData(micro, QStringLiteral("4"), Qt::EditRole);
    QCOMPARE(workspace().plan().batch.micro.value, 4);
    QCOMPARE(text("batch.micro", PlanModel::Value), QStringLiteral("4"));
    QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("batch.micro = 4"));
    model.setData(micro, QString(), Qt::EditRole);
    QCOMPARE(workspace().plan().batch.micro.value, 2);
    workspace().undoStack().undo();
    QCOMPARE(workspace().plan().batch.micro.value, 4);
}

void PlanValuesTest::refusesWhatIsNoValue()
{
    QVERIFY(m_fixture->open());
    workbench().showPlan();
    QSignalSpy raised(&workspace(), &Workspace::messageRaised);
    PlanModel& model = *workbench().planValues()->model();
    model.setData(model.indexOf(QStringLiteral("batch.micro"), PlanModel::Value), QStringLiteral("many"), Qt::EditRole);
    QCOMPARE(raised.count(), 1);
    QCOMPARE(workspace().plan().batch.micro.value, 2);
    QCOMPARE(workspace().undoStack().count(), 0);
}

void PlanValuesTest::asksForWhatIsNotUnderstood()
{
    QVERIFY(m_fixture->open());
    QCOMPARE(workbench().planValues()->askedCount(), 0);
    QByteArray config = WindowFixture::configText;
    config.replace("micro_batch_size: 2\n", "micro_batch_size: ${MBS}\n");
    const QString path = m_fixture->write(QStringLiteral("open.yaml"), config);
    workspace().open({path});
    QTRY_COMPARE(fileName(workspace().config()->path), QStringLiteral("open.yaml"));
    workbench().showPlan();
    QCOMPARE(workbench().planValues()->askedCount(), 1);
    QCOMPARE(workbench().planValues()->view()->currentIndex().data().toString(), PlanModel::tr("value?"));
    QCOMPARE(text("batch.micro", PlanModel::Value), PlanModel::tr("value?"));
    QVERIFY(text("batch.micro", PlanModel::From).startsWith(QStringLiteral("open.yaml:")));
    QTRY_VERIFY(workbench().tabs()->tabText(workbench().tabs()->indexOf(workbench().planValues())).endsWith("1"));
    // Given, it is asked for no longer.
    PlanModel& model = *workbench().planValues()->model();
    model.setData(model.indexOf(QStringLiteral("batch.micro"), PlanModel::Value), QStringLiteral("1"), Qt::EditRole);
    QCOMPARE(workbench().planValues()->askedCount(), 0);
}

void PlanValuesTest::searchFindsEveryColumn()
{
    QVERIFY(m_fixture->open());
    workbench().showPlan();
    PlanPanel& panel = *workbench().planValues();
    const int stated = shownRows();
    panel.all()->setChecked(true);
    QVERIFY(shownRows() > 2 * stated);
    panel.search()->setText(QStringLiteral("parallel.pp"));
    QCOMPARE(shownRows(), 2); // pp and pp_microbatches
    panel.search()->setText(QStringLiteral("train.yaml:"));
    QVERIFY(shownRows() > 3 && shownRows() < stated);
    panel.search()->setText(QStringLiteral("no such thing"));
    QCOMPARE(shownRows(), 0);
}

void PlanValuesTest::originShowsTheLine()
{
    QVERIFY(m_fixture->open());
    workbench().showPlan();
    PlanPanel& panel = *workbench().planValues();
    panel.search()->setText(QStringLiteral("batch.micro"));
    QSignalSpy place(&panel, &PlanPanel::placeActivated);
    const QAbstractItemModel& shown = *panel.view()->model();
    const QModelIndex micro = shown.index(0, PlanModel::From, shown.index(0, 0));
    QVERIFY(micro.isValid());
    emit panel.view()->doubleClicked(micro);
    QCOMPARE(place.count(), 1);
    QCOMPARE(QStringLiteral("train.yaml:%1").arg(place.front().at(1).toLongLong()), micro.data().toString());
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(workbench().logText()));
}

void PlanValuesTest::exportsInAnotherFormat()
{
    QVERIFY(m_fixture->open());
    workspace().turnKnob(Knob::MicroBatch, 1);
    ExportAsDialog dialog(workspace());
    QCOMPARE(dialog.format()->count(), 3);
    dialog.format()->setCurrentIndex(dialog.format()->findData(QStringLiteral("megatron-args")));
    QVERIFY2(dialog.preview()->toPlainText().contains(QStringLiteral("--micro-batch-size 1")),
             qPrintable(dialog.preview()->toPlainText()));
    QVERIFY(dialog.pathEdit()->text().endsWith(QStringLiteral("train.megatron-args.sh")));
    // The config names no optimizer; --optimizer is adam unless it is given (megatron/training/arguments.py).
    QVERIFY2(dialog.assumed()->toPlainText().contains(QStringLiteral("optimizer.name = adam")),
             qPrintable(dialog.assumed()->toPlainText()));
    QVERIFY(dialog.assumed()->isVisibleTo(&dialog));
    QTest::mouseClick(dialog.saveButton(), Qt::LeftButton);
    QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));
    QVERIFY(WindowFixture::read(pathText(dialog.savedPath())).startsWith("#!/bin/bash\n"));

    ExportAsDialog other(workspace());
    other.format()->setCurrentIndex(other.format()->findData(QStringLiteral("deepspeed-json")));
    QVERIFY(other.omitted()->toPlainText().contains(QStringLiteral("model.layers = 24")));
}

/// A plan that no config says yet: from the list of models, and from the arguments that a log prints.
void PlanValuesTest::exportsWithoutAConfig()
{
    QVERIFY(m_fixture->show());
    QAction* action = m_fixture->window().actions()[Command::ExportAs];
    QVERIFY(!action->isEnabled());
    const ModelPreset* preset = workspace().library().catalog.model("llama-3.1-8b");
    QVERIFY(preset != nullptr);
    workspace().useModel(preset->plan, QStringLiteral("Llama 3.1 8B"));
    QVERIFY(action->isEnabled());
    workspace().turnKnob(Knob::MicroBatch, 3);
    const ExportAsDialog ofModel(workspace());
    QVERIFY(ofModel.pathEdit()->text().endsWith(QStringLiteral("/llama-3.1-8b.base-yaml.yaml")));
    QVERIFY(ofModel.preview()->toPlainText().startsWith(QStringLiteral("# Written by Headroom from llama-3.1-8b.")));
    QVERIFY(ofModel.preview()->toPlainText().contains(QStringLiteral("micro_batch_size: 3")));
    m_fixture->window().actions()[Command::Close]->trigger();
    QVERIFY(!action->isEnabled());
    m_fixture->window().files().openPaths(
        {QString::fromStdString(sourcePath("resources/samples/llama3-8b-oom.log").string())});
    QTRY_VERIFY(workspace().log() != nullptr);
    QVERIFY(action->isEnabled());
    const ExportAsDialog ofLog(workspace());
    QVERIFY2(ofLog.preview()->toPlainText().contains(QStringLiteral("pipeline_parallel_size: 4")),
             qPrintable(ofLog.preview()->toPlainText()));
}

QTEST_MAIN(PlanValuesTest)
#include "tst_plan_values.moc"
