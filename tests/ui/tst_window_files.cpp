// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stages_chart.h"
#include "dialogs/export_dialog.h"
#include "panels/log_panel.h"
#include "panels/notices.h"
#include "panels/problems_panel.h"
#include "panels/text_view.h"
#include "panels/verdict_bar.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/wording.h"

#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QtTest>

#include <algorithm>

using namespace headroom;

class WindowFilesTest : public WindowTestBase
{
    Q_OBJECT

private slots:
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
    void oddModelFileIsAProblem();
    void problemsAreListed();
    void impossibleConfigSaysWhy_data();
    void impossibleConfigSaysWhy();
};

void WindowFilesTest::exportChangesOnlyWhatWasTurned()
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

void WindowFilesTest::exportOverwritesOnlyTheFileThatWasOpened()
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

void WindowFilesTest::exportRefusesWithTheReason()
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

void WindowFilesTest::closingAsksBeforeChangesAreLost()
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

void WindowFilesTest::dropOpensFiles()
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

void WindowFilesTest::brokenFilesGiveAMessage_data()
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

void WindowFilesTest::brokenFilesGiveAMessage()
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

void WindowFilesTest::folderIsOneRun()
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

void WindowFilesTest::modelFileIsRecognised()
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

void WindowFilesTest::reloadKeepsWhatWasTurned()
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

void WindowFilesTest::closingMidLoadIsSafe()
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

void WindowFilesTest::newestOpeningWins()
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

void WindowFilesTest::oddModelFileIsAProblem()
{
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(
        QStringLiteral("config.json"),
        R"({"model_type": "marabou", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 65536})")});
    QTRY_VERIFY(workspace().model() != nullptr);
    QCOMPARE(workspace().problems().size(), std::size_t{1});
    QVERIFY(workspace().problems().front().english().find("marabou") != std::string::npos);
}

void WindowFilesTest::problemsAreListed()
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

void WindowFilesTest::impossibleConfigSaysWhy_data()
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
    row("absurd sequence", "seq_length: 1024", "seq_length: 9223372036854775807", "must be between",
        "set Sequence length");
}

void WindowFilesTest::impossibleConfigSaysWhy()
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

QTEST_MAIN(WindowFilesTest)
#include "tst_window_files.moc"
