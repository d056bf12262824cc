// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window on a log: read while a config is opened, followed while it grows, its chart's switches and channels.
#include "charts/peaks_chart.h"
#include "charts/plot_message.h"
#include "charts/ranks_chart.h"
#include "panels/channels_panel.h"
#include "panels/log_panel.h"
#include "panels/peaks_panel.h"
#include "panels/text_view.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/view_state.h"

#include <QAction>
#include <QDir>
#include <QLineEdit>
#include <QTabWidget>
#include <QTableView>
#include <QtTest>

#include <algorithm>
#include <set>

using namespace headroom;

namespace {

/// What stands in the place of a chart; empty where there is one.
QString messageOf(const PeaksChart& chart)
{
    const auto* message = chart.findChild<PlotMessage*>();
    return message != nullptr ? message->message() : QStringLiteral("no message");
}

} // namespace

class WindowLogTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void configOpensWhileALogIsRead();
    void measuredPeaksTakeRoomOnceThereAreAny();
    void growingLogIsFollowed();
    void growingFolderIsFollowed();
    void largeLogBeginsAnew();
    void messageAloneIsExplained();
    void logCompletesTheConfig();
    void reservedAloneIsDrawn();
    void chartSwitchesAreActions();
    void channelsAreChosen();
    void logIsSearched();
};

void WindowLogTest::configOpensWhileALogIsRead()
{
    QByteArray text;
    while (text.size() < 48 * 1024 * 1024) {
        text += WindowFixture::logText();
    }
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("large.log"), text)});
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("train.yaml"), WindowFixture::configText)});
    QTRY_VERIFY(workspace().config() != nullptr);
    QTRY_VERIFY(workspace().log() != nullptr); // and the log has not been given up
    QTRY_VERIFY(!workspace().isOpening());
    QVERIFY(workspace().footprint() != nullptr);
}

/// A config alone leaves its charts the room; a log gets the share it had before.
void WindowLogTest::measuredPeaksTakeRoomOnceThereAreAny()
{
    QVERIFY(m_fixture->show());
    const auto share = [&] {
        const QWidget* measured = workbench().peaksChart();
        return 100 * measured->height() / measured->parentWidget()->height();
    };
    const QString config = m_fixture->write(QStringLiteral("train.yaml"), WindowFixture::configText);
    m_fixture->window().files().openPaths({config});
    QTRY_VERIFY(workspace().config() != nullptr);
    QTRY_VERIFY2(share() < 30, QByteArray::number(share()));
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("train.log"), WindowFixture::logText())});
    QTRY_VERIFY(workspace().log() != nullptr);
    QTRY_VERIFY2(share() > 45, QByteArray::number(share()));
    m_fixture->window().actions()[Command::Close]->trigger();
    m_fixture->window().files().openPaths({config});
    QTRY_VERIFY2(share() < 30, QByteArray::number(share()));
}

void WindowLogTest::growingLogIsFollowed()
{
    QVERIFY(m_fixture->open());
    ViewState& view = workbench().viewState();
    view.setRange({3, 8});
    view.setCursor(5);
    workspace().turnKnob(Knob::MicroBatch, 1);
    const auto append = [&](int step) {
        QFile file(m_fixture->logPath());
        QVERIFY(file.open(QIODevice::Append));
        file.write(QStringLiteral("rank=0 phase=backward step=%1 peak_alloc=7000MiB\n").arg(step).toLatin1());
    };
    append(21);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().log()->run->size(), std::size_t{241}, 15'000);
    QCOMPARE(view.bounds().last, 21.0);
    QCOMPARE(view.range().last, 8.0); // a zoom stays
    QCOMPARE(view.cursor().value_or(-1), qint64{5});
    QCOMPARE(workspace().plan().batch.micro.value, 1); // and so does what was turned
    m_fixture->window().actions()[Command::Follow]->trigger();
    append(22);
    QTRY_COMPARE_WITH_TIMEOUT(view.bounds().last, 22.0, 15'000);
    QCOMPARE(view.range().last, 22.0);
    QCOMPARE(view.range().span(), 5.0);
}

/// Per-rank files that grow, stop inside a line, begin anew and make way for others: each record is there once.
void WindowLogTest::growingFolderIsFollowed()
{
    const auto path = [](int rank) { return QStringLiteral("ranks/rank%1.log").arg(rank); };
    const auto records = [](int rank, int first, int last) {
        QByteArray text;
        for (int step = first; step <= last; ++step) {
            text += QStringLiteral("phase=backward step=%1 peak_alloc=%2MiB\n")
                        .arg(step)
                        .arg(1000 * rank + step)
                        .toLatin1();
        }
        return text;
    };
    const QString folder = m_fixture->path(QStringLiteral("ranks"));
    QVERIFY(QDir().mkpath(folder));
    for (int rank = 0; rank < 4; ++rank) {
        m_fixture->write(path(rank), records(rank, 1, 10));
    }
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({folder});
    QTRY_VERIFY(workspace().log() != nullptr);
    QCOMPARE(workspace().log()->run->size(), std::size_t{40});
    const auto append = [&](int rank, const QByteArray& text) {
        QFile file(folder + QStringLiteral("/rank%1.log").arg(rank));
        QVERIFY(file.open(QIODevice::Append));
        file.write(text);
    };
    const auto size = [&] { return workspace().log()->run->size(); };
    append(1, records(1, 11, 12) + "phase=backward step=13 peak_al"); // killed
    QTRY_COMPARE_WITH_TIMEOUT(size(), std::size_t{42}, 15'000);
    m_fixture->write(path(2), records(2, 11, 13)); // truncated
    QTRY_COMPARE_WITH_TIMEOUT(size(), std::size_t{45}, 15'000);
    QVERIFY(QFile::rename(folder + QStringLiteral("/rank3.log"), folder + QStringLiteral("/rank3.log.1")));
    m_fixture->write(path(3), records(3, 11, 14)); // replaced
    append(1, "\n" + records(1, 13, 13));
    QTRY_COMPARE_WITH_TIMEOUT(size(), std::size_t{50}, 15'000);
    QTest::qWait(2500); // and no more of them come
    QCOMPARE(size(), std::size_t{50});
    const Run& run = *workspace().log()->run;
    std::set<std::int64_t> amounts(run.allocatedBytes.begin(), run.allocatedBytes.end());
    QCOMPARE(amounts.size(), std::size_t{50});
    QCOMPARE(run.ranks(), (std::vector<std::int32_t>{0, 1, 2, 3}));
}

/// The first change of a log too large to be read twice for nothing is that its writer truncates it.
void WindowLogTest::largeLogBeginsAnew()
{
    const auto record = [](int step) {
        return QStringLiteral("rank=0 phase=backward step=%1 peak_alloc=%2MiB\n").arg(step).arg(7000 + step).toLatin1();
    };
    QByteArray text = record(1) + record(2);
    while (text.size() < 66 * 1024 * 1024) {
        text += QByteArray(64 * 1024, '-') + '\n';
    }
    const QString path = m_fixture->write(QStringLiteral("large.log"), text);
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({path});
    QTRY_VERIFY(workspace().log() != nullptr);
    QTest::qWait(3000); // it is read meanwhile, of which nothing tells
    m_fixture->write(QStringLiteral("large.log"), record(3));
    QTRY_COMPARE_WITH_TIMEOUT(workspace().log()->run->size(), std::size_t{3}, 15'000);
    QCOMPARE(workspace().log()->run->step, (std::vector<std::uint32_t>{1, 2, 3}));
}

/// A log that ends before its first measurement: nothing to draw, but its message is why it was opened.
void WindowLogTest::messageAloneIsExplained()
{
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths(
        {m_fixture->write(QStringLiteral("short.log"),
                          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total "
                          "capacity of 79.11 GiB of "
                          "which 1.66 GiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 5.00 "
                          "GiB is reserved by "
                          "PyTorch but unallocated.\n")});
    QTRY_VERIFY(workspace().log() != nullptr);
    const auto isExplained = [&] {
        const std::vector<Finding>& findings = workspace().findings();
        return std::any_of(findings.begin(), findings.end(),
                           [](const Finding& finding) { return finding.id == "out-of-memory"; });
    };
    QTRY_VERIFY(isExplained());
    QVERIFY(workspace().problems().empty());
    QVERIFY(messageOf(*workbench().peaksChart())
                .contains(QStringLiteral("ran out of memory at line 1.\n70.00 GiB allocated")));
    // Without a plan the device is known all the same.
    QVERIFY(workspace().capacity());
    QCOMPARE(qRound(workspace().capacity()->gib() * 100), 7911);
}

/// What a config leaves to the launcher and the machine, the log of its run says; what was turned stays turned.
void WindowLogTest::logCompletesTheConfig()
{
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("qwen.yaml"),
                                                            "model_name_or_path: Qwen/Qwen2.5-14B-Instruct\n"
                                                            "stage: sft\nfinetuning_type: full\ncutoff_len: 4096\n"
                                                            "per_device_train_batch_size: 4\n"
                                                            "gradient_accumulation_steps: 2\nbf16: true\n")});
    QTRY_VERIFY(workspace().footprint() != nullptr);
    QVERIFY(!workspace().capacity());
    workspace().turnKnob(Knob::MicroBatch, 2);
    const QByteArray log = "  Instantaneous batch size per device = 4\n"
                           "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
                           "  Gradient Accumulation steps = 2\n"
                           "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total "
                           "capacity of 64.00 GiB of which 1.66 GiB is free.\n";
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("train.log"), log)});
    QTRY_VERIFY(workspace().log() != nullptr);
    QCOMPARE(workspace().original().plan.parallel.dp.value, std::int64_t{8}); // 64 / (4 × 2)
    QCOMPARE(workspace().capacity(), std::optional(Bytes{std::int64_t{64} << 30}));
    QCOMPARE(workspace().plan().batch.micro.value, std::int64_t{2});
    QVERIFY(workspace().verdict().sentence.contains(QStringLiteral("64.0 GiB")));
    const auto config = workspace().adjustedConfig();
    QVERIFY(config && QByteArray::fromStdString(config->bytes()).contains("per_device_train_batch_size: 2\n"));
    QVERIFY(!QByteArray::fromStdString(config->bytes()).contains("64"));
}

/// torchtitan and others log what is reserved only.
void WindowLogTest::reservedAloneIsDrawn()
{
    QVERIFY(m_fixture->show());
    QByteArray text;
    for (int step = 1; step <= 30; ++step) {
        text
            += QStringLiteral("[rank0]:[titan] 2026-01-01 10:00:00,000 - root - INFO - step: %1  loss: 9.5  grad_norm: "
                              "1.0  memory: %2.50GiB(70.00%)  tps: 110  tflops: 54.1  mfu: 17.3%\n")
                   .arg(step)
                   .arg(step == 20 ? 62 : 50)
                   .toLatin1();
    }
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("titan.log"), text)});
    QTRY_VERIFY(workspace().log() != nullptr);
    PeaksChart& chart = *workbench().peaksChart();
    QTRY_VERIFY(chart.accessibleDescription().contains(QStringLiteral("reserved 62.50 GiB at step 20")));
    QVERIFY(messageOf(chart).isEmpty());
    QCOMPARE(chart.values().count(QLatin1Char('\n')), 31);
    QCOMPARE(workbench().peaks()->view()->model()->rowCount(), 30);
}

void WindowLogTest::chartSwitchesAreActions()
{
    QVERIFY(m_fixture->open());
    const Actions& actions = m_fixture->window().actions();
    ViewState& view = workbench().viewState();
    view.setRange({3, 8});
    actions[Command::Follow]->trigger();
    QVERIFY(view.isOn(ViewState::Switch::Follow));
    QCOMPARE(view.range().last, view.bounds().last);
    view.pan(-3);
    QVERIFY(!actions[Command::Follow]->isChecked());
    view.setCursor(4);
    actions[Command::MarkerA]->trigger();
    view.setCursor(12);
    actions[Command::MarkerB]->trigger();
    QCOMPARE(view.marker(ViewState::Marker::B).value_or(-1), qint64{12});
    actions[Command::ClearMarkers]->trigger();
    QVERIFY(!view.marker(ViewState::Marker::A));
}

void WindowLogTest::channelsAreChosen()
{
    QVERIFY(m_fixture->open());
    m_fixture->window().actions()[Command::Channels]->trigger();
    ChannelsPanel* panel = workbench().channels();
    QCOMPARE(workbench().tabs()->currentWidget(), static_cast<QWidget*>(panel));
    QTRY_COMPARE(panel->model()->rowCount(), 3 + 4 * 3); // three phases over ranks and on four ranks, none reserved
    auto* filter = panel->findChild<QLineEdit*>(QStringLiteral("channelFilter"));
    filter->setText(QStringLiteral("3 back"));
    QAbstractItemModel* listed = panel->view()->model();
    QCOMPARE(listed->rowCount(), 1);
    QCOMPARE(listed->index(0, ChannelsModel::Peak).data().toString(), QStringLiteral("5.96 GiB")); // 6100 MiB
    QVERIFY(listed->setData(listed->index(0, 0), Qt::Checked, Qt::CheckStateRole));
    QCOMPARE(workbench().viewState().addedChannels(), (std::vector<Channel>{{"backward", 3, false}}));
    QCOMPARE(workbench().peaksChart()->series().added.size(), std::size_t{1});
    QTRY_VERIFY(panel->ranks()->grid() != nullptr);
    QCOMPARE(panel->ranks()->grid()->ranks.size(), std::size_t{4});
}

void WindowLogTest::logIsSearched()
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

QTEST_MAIN(WindowLogTest)
#include "tst_window_log.moc"
