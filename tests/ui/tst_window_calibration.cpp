// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/saved_calibration.h"
#include "panels/notices.h"
#include "plan/batch.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/calibration_commands.h"
#include "window/file_commands.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QAction>
#include <QtTest>

using namespace headroom;

class WindowCalibrationTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void measuredPeaksCorrectTheEstimate();
    void keptCalibrationIsUsedAgain();
    void saysWhyALogDoesNotDo();

private:
    /// Opens a config and a log whose passes hold `percent` more activations than theory says.
    [[nodiscard]] bool openMeasured(int percent);
    [[nodiscard]] QAction* action(const char* name) const
    {
        return m_fixture->window().findChild<QAction*>(QLatin1String(name));
    }
    [[nodiscard]] Bytes peak() const { return workspace().footprint()->stages.front().peakAllocated; }
};

bool WindowCalibrationTest::openMeasured(int percent)
{
    QByteArray config = WindowFixture::configText;
    config.replace("  data_parallel_size: 2\n", "  data_parallel_size: 2\n  schedule: 1f1b\n");
    const QString configPath = m_fixture->write(QStringLiteral("measured.yaml"), config);
    if (!m_fixture->show()) {
        return false;
    }
    m_fixture->window().files().openPaths({configPath});
    if (!QTest::qWaitFor([this] { return workspace().footprint() != nullptr; })) {
        return false;
    }
    QByteArray log;
    const auto& stages = workspace().footprint()->stages;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const qint64 rank = static_cast<qint64>(i) * worldSize(workspace().plan()) / std::ssize(stages);
        const qint64 more
            = (stages[i].component(Component::Activations) + stages[i].component(Component::InFlight)).value * percent
            / 100;
        for (const Phase phase : {Phase::Forward, Phase::Backward, Phase::Optimizer}) {
            log += QStringLiteral("rank=%1 phase=%2 step=2 peak_alloc=%3B\n")
                       .arg(rank)
                       .arg(phase == Phase::Forward        ? QStringLiteral("forward")
                                : phase == Phase::Backward ? QStringLiteral("backward")
                                                           : QStringLiteral("optimizer"))
                       .arg(stages[i].phase(phase).value + (phase == Phase::Optimizer ? 0 : more))
                       .toLatin1();
        }
    }
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("measured.log"), log)});
    return QTest::qWaitFor([this] { return workspace().log() != nullptr; });
}

void WindowCalibrationTest::measuredPeaksCorrectTheEstimate()
{
    QVERIFY(openMeasured(2));
    QAction* calibrating = action("calibrateAction");
    QVERIFY(calibrating->isEnabled() && !action("removeCalibrationAction")->isEnabled());
    const Bytes theory = peak();
    calibrating->trigger();
    QVERIFY2(workspace().draft().calibration.scalesTapes(),
             qPrintable(m_fixture->window().findChild<MessageBar*>()->text()));
    QVERIFY(peak() > theory);
    QVERIFY(workspace().verdict().exactness.contains(QStringLiteral("calibrated")));
    QCOMPARE(workspace().baseline()->stages.front().peakAllocated, theory); // side by side
    workspace().undoStack().undo();
    QCOMPARE(peak(), theory);
    workspace().undoStack().redo();
    action("removeCalibrationAction")->trigger();
    QCOMPARE(peak(), theory);
}

void WindowCalibrationTest::keptCalibrationIsUsedAgain()
{
    QVERIFY(openMeasured(2));
    auto* commands = m_fixture->window().findChild<CalibrationCommands*>();
    commands->calibrateOnLog();
    const Bytes calibrated = peak();
    QVERIFY(action("saveCalibrationAction")->isEnabled());
    const QString path = m_fixture->path(QStringLiteral("kept.yaml"));
    commands->save(path);
    const auto kept = readCalibration(toPath(path));
    QVERIFY(kept);
    QCOMPARE(kept->name, std::string("kept"));
    QCOMPARE(kept->logs, std::vector<std::string>{"measured.log"});
    commands->remove();
    QVERIFY(!action("saveCalibrationAction")->isEnabled());
    commands->use(path);
    QCOMPARE(peak(), calibrated);
    commands->use(m_fixture->path(QStringLiteral("measured.yaml")));
    QVERIFY(m_fixture->window().findChild<MessageBar*>()->text().contains(QStringLiteral("measured.yaml")));
    QCOMPARE(peak(), calibrated);
}

void WindowCalibrationTest::saysWhyALogDoesNotDo()
{
    QVERIFY(m_fixture->open()); // its config does not state the schedule of its two stages
    const Bytes theory = peak();
    action("calibrateAction")->trigger();
    QVERIFY(m_fixture->window().findChild<MessageBar*>()->text().contains(QStringLiteral("schedule")));
    QCOMPARE(peak(), theory);
}

QTEST_MAIN(WindowCalibrationTest)
#include "tst_window_calibration.moc"
