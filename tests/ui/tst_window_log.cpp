// SPDX-License-Identifier: GPL-3.0-or-later
//
// The window on a log: read while a config is opened, followed while it grows, its chart's switches and channels.
#include "charts/peaks_chart.h"
#include "charts/ranks_chart.h"
#include "panels/channels_panel.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/view_state.h"

#include <QAction>
#include <QLineEdit>
#include <QTabWidget>
#include <QTableView>
#include <QtTest>

using namespace headroom;

class WindowLogTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void configOpensWhileALogIsRead();
    void growingLogIsFollowed();
    void chartSwitchesAreActions();
    void channelsAreChosen();
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
    QVERIFY(!workspace().isOpening());
    QVERIFY(workspace().footprint() != nullptr);
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

QTEST_MAIN(WindowLogTest)
#include "tst_window_log.moc"
