// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two runs side by side in the window: their memory and speed.
#include "charts/gib_text.h"
#include "charts/overlay_chart.h"
#include "charts/overlay_plot.h"
#include "charts/stage_pairs_chart.h"
#include "charts/stage_pairs_plot.h"
#include "panels/compare_panel.h"
#include "panels/finding_card.h"
#include "panels/finding_list.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/wording.h"

#include <QAction>
#include <QSettings>
#include <QStandardPaths>
#include <QTableView>
#include <QtTest>

using namespace headroom;

class ComparisonsTest : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase();
    void init();
    void cleanup();

    void settingsComeFirst();
    void estimateFollowsTheKnobs();
    void logsAreCompared();
    void severalChangesAreSaid();
    void runSaysWhatIsWrong();
    void logsLieOverEachOther();
    void plansStandSideBySide();
    void measuredMarksStandOverTheEstimate();

private:
    Workspace& workspace() { return m_fixture->workspace(); }
    Workbench& workbench() { return m_fixture->window().workbench(); }
    ComparePanel* compare() { return workbench().compare(); }
    /// Compares with these files and waits for the table.
    bool compareWith(const QStringList& paths);
    /// Twenty steps of forward, backward and optimizer on rank 0, in MiB; step times of `milliseconds`.
    [[nodiscard]] static QByteArray log(int forward, int backward, int optimizer, int milliseconds);
    [[nodiscard]] QStringList row(const QString& name);

    std::unique_ptr<WindowFixture> m_fixture;
};

void ComparisonsTest::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("headroom-test"));
    QCoreApplication::setApplicationName(QStringLiteral("headroom-comparisons-test"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QLocale::setDefault(QLocale::c());
    applyTheme(*qApp, ThemeChoice::Light);
}

void ComparisonsTest::init()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support).*")));
    QSettings().clear();
    m_fixture = std::make_unique<WindowFixture>();
    m_fixture->window().files().setLossAnswer([] { return FileCommands::Answer::Discard; });
}

void ComparisonsTest::cleanup()
{
    m_fixture.reset();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

bool ComparisonsTest::compareWith(const QStringList& paths)
{
    workbench().compareRuns(paths);
    return QTest::qWaitFor([this] { return !compare()->isBusy() && compare()->view()->model()->rowCount() > 0; },
                           20'000);
}

QStringList ComparisonsTest::row(const QString& name)
{
    const QAbstractItemModel& rows = *compare()->view()->model();
    for (int row = 0; row < rows.rowCount(); ++row) {
        if (rows.index(row, ComparePanel::Name).data().toString() == name) {
            return {rows.index(row, ComparePanel::Before).data().toString(),
                    rows.index(row, ComparePanel::After).data().toString(),
                    rows.index(row, ComparePanel::Change).data().toString()};
        }
    }
    return {};
}

void ComparisonsTest::settingsComeFirst()
{
    QVERIFY(m_fixture->open());
    QByteArray config = WindowFixture::configText;
    config.replace("micro_batch_size: 2", "micro_batch_size: 1");
    QVERIFY(compareWith({m_fixture->write(QStringLiteral("before.yaml"), config)}));
    QVERIFY2(compare()->sentence().contains(QStringLiteral("before.yaml")), qPrintable(compare()->sentence()));
    const QAbstractItemModel& rows = *compare()->view()->model();
    QCOMPARE(rows.index(0, ComparePanel::Name).data().toString(), QStringLiteral("batch.micro"));
    QCOMPARE(rows.index(0, ComparePanel::Before).data().toString(), QStringLiteral("1"));
    QCOMPARE(rows.index(0, ComparePanel::After).data().toString(), QStringLiteral("2"));
    // Twice the samples at once: more activations, and nothing else that could fall.
    QVERIFY2(row(QStringLiteral("Allocated peak")).value(2).startsWith(QLatin1Char('+')),
             qPrintable(row(QStringLiteral("Allocated peak")).join(QLatin1Char(' '))));
}

void ComparisonsTest::estimateFollowsTheKnobs()
{
    QVERIFY(m_fixture->open());
    QVERIFY(compareWith({m_fixture->write(QStringLiteral("before.yaml"), WindowFixture::configText)}));
    QVERIFY(row(QStringLiteral("batch.micro")).isEmpty());
    workspace().turnKnob(Knob::MicroBatch, 4);
    QTRY_COMPARE(row(QStringLiteral("batch.micro")).value(1), QStringLiteral("4"));
    QTRY_VERIFY(row(QStringLiteral("Device")).value(2).startsWith(QLatin1Char('+')));
    workspace().undoStack().undo();
    QTRY_VERIFY(row(QStringLiteral("batch.micro")).isEmpty());
    // The same plan by the same engine: not a byte apart.
    QTRY_VERIFY2(row(QStringLiteral("Device")).value(2).contains(QStringLiteral("0.0 %")),
                 qPrintable(row(QStringLiteral("Device")).join(QLatin1Char(' '))));
}

void ComparisonsTest::logsAreCompared()
{
    QVERIFY(m_fixture->open());
    QByteArray before;
    for (int step = 1; step <= 20; ++step) {
        for (const auto& [phase, mebibytes] :
             {std::pair{"forward", 4400}, std::pair{"backward", 5403}, std::pair{"optimizer", 4400}}) {
            before += QStringLiteral("rank=0 phase=%1 step=%2 peak_alloc=%3MiB\n")
                          .arg(QLatin1String(phase))
                          .arg(step)
                          .arg(mebibytes)
                          .toLatin1();
        }
    }
    QVERIFY(compareWith({m_fixture->write(QStringLiteral("before.log"), before)}));
    // 5403 MiB before and 6403 MiB now: 5.28 and 6.25 GiB, 1000 MiB or 18.5 % more.
    const QStringList peak = row(QStringLiteral("Allocated peak"));
    QCOMPARE(peak.value(0), QStringLiteral("5.28 GiB"));
    QCOMPARE(peak.value(1), QStringLiteral("6.25 GiB"));
    QVERIFY2(peak.value(2).startsWith(QStringLiteral("+18.5 %")), qPrintable(peak.value(2)));
    QVERIFY(row(QStringLiteral("Allocated in optimizer")).value(2).startsWith(QStringLiteral("+0.0 %")));
    QVERIFY(row(QStringLiteral("Device")).isEmpty()); // neither log says
    m_fixture->window().actions()[Command::Close]->trigger();
    QVERIFY(compare()->view()->model()->rowCount() == 0);
}

void ComparisonsTest::severalChangesAreSaid()
{
    QVERIFY(m_fixture->open());
    QByteArray config = WindowFixture::configText;
    config.replace("micro_batch_size: 2", "micro_batch_size: 1").replace("seq_length: 1024", "seq_length: 2048");
    QVERIFY(compareWith({m_fixture->write(QStringLiteral("before.yaml"), config)}));
    const auto& cards = compare()->findings()->cards();
    QVERIFY(std::any_of(cards.begin(), cards.end(), [](const FindingCard* card) {
        return translated(card->finding().title) == QStringLiteral("2 settings changed at once");
    }));
}

void ComparisonsTest::runSaysWhatIsWrong()
{
    QVERIFY(m_fixture->open());
    workbench().compareRuns({m_fixture->write(QStringLiteral("notes.txt"), "nothing measured here\n")});
    QTRY_VERIFY2(compare()->sentence().contains(QStringLiteral("notes.txt")), qPrintable(compare()->sentence()));
    QTRY_VERIFY(!compare()->isBusy());
    QTRY_VERIFY(!compare()->sentence().startsWith(QStringLiteral("Opening")));
    QCOMPARE(compare()->view()->model()->rowCount(), 0);
}

QByteArray ComparisonsTest::log(int forward, int backward, int optimizer, int milliseconds)
{
    QByteArray text;
    for (int step = 1; step <= 20; ++step) {
        for (const auto& [phase, mebibytes] :
             {std::pair{"forward", forward}, std::pair{"backward", backward}, std::pair{"optimizer", optimizer}}) {
            text += QStringLiteral("rank=0 phase=%1 step=%2 peak_alloc=%3MiB peak_reserved=%4MiB step_time=%5\n")
                        .arg(QLatin1String(phase))
                        .arg(step)
                        .arg(mebibytes)
                        .arg(mebibytes + 512)
                        .arg(milliseconds / 1000.0)
                        .toLatin1();
        }
    }
    return text;
}

void ComparisonsTest::logsLieOverEachOther()
{
    QVERIFY(m_fixture->open());
    QVERIFY(compareWith({m_fixture->write(QStringLiteral("before.log"), log(3072, 4096, 2048, 1500))}));
    compare()->showView(ComparePanel::View::Chart);
    QVERIFY(compare()->overlay()->isVisible());
    const OverlayData data = *compare()->overlay()->data();
    // Three phases of each run, on the same axes; the open run's are those of its log.
    QCOMPARE(data.lines.size(), std::size_t{6});
    QCOMPARE(data.lines[1].run, QStringLiteral("before.log"));
    QCOMPARE(data.lines[1].name, QStringLiteral("backward"));
    QVERIFY(data.lines[1].isEarlier && !data.lines[4].isEarlier);
    QCOMPARE(data.lines[1].values, std::vector<double>(20, 4.0));
    QCOMPARE(data.lines[4].run, QStringLiteral("train.log"));
    QCOMPARE(*std::max_element(data.lines[4].values.begin(), data.lines[4].values.end()), 6403 / 1024.0);
    QCOMPARE(data.lines[1].phase, data.lines[4].phase); // one colour for one phase
    // The readout names run, step and value.
    QTest::keyClick(compare()->overlay(), Qt::Key_Right);
    const ReadoutItem* readout = compare()->overlay()->plot()->readout();
    QVERIFY(readout->heading().startsWith(QStringLiteral("step ")));
    QCOMPARE(readout->rows().size(), std::size_t{6});
    QCOMPARE(readout->rows()[1].name, QStringLiteral("before.log · backward"));
    QCOMPARE(readout->rows()[1].value, QStringLiteral("4.00 GiB"));
    // Reserved and step time are charts of their own, never mixed with allocated.
    compare()->showQuantity(ComparedQuantity::Reserved);
    QCOMPARE(compare()->overlay()->data()->lines[0].values, std::vector<double>(20, 4.5));
    compare()->showQuantity(ComparedQuantity::StepTime);
    QCOMPARE(compare()->overlay()->data()->lines.size(), std::size_t{1}); // the open log has none
    QCOMPARE(compare()->overlay()->data()->lines[0].values.front(), 1.5);
    QVERIFY(!compare()->overlay()->data()->isBytes());
    QVERIFY(compare()->overlay()->values().contains(QStringLiteral("before.log\tStep time\t20\t1.5")));
}

void ComparisonsTest::plansStandSideBySide()
{
    QVERIFY(m_fixture->open());
    QByteArray config = WindowFixture::configText;
    config.replace("micro_batch_size: 2", "micro_batch_size: 1").replace("steps: 8", "steps: 16");
    QVERIFY(compareWith({m_fixture->write(QStringLiteral("before.yaml"), config)}));
    compare()->showView(ComparePanel::View::Chart);
    QVERIFY(compare()->stages()->isVisible());
    QTRY_VERIFY(!workspace().isReplaying());
    const StagePairs& pairs = *compare()->stages()->pairs();
    QCOMPARE(pairs.stageCount(), std::size_t{2});
    for (std::size_t stage = 0; stage < 2; ++stage) {
        // The bars on the right are the estimate of the open plan, to the byte.
        QCOMPARE(pairs.sides[1].stages[stage].device.value, workspace().footprint()->stages[stage].device.value);
        QVERIFY(pairs.sides[0].stages[stage].peakAllocated < pairs.sides[1].stages[stage].peakAllocated);
        QVERIFY(pairs.sides[1].stages[stage].peakAllocated < pairs.sides[1].stages[stage].device);
    }
    QTest::keyClick(compare()->stages(), Qt::Key_Right);
    const ReadoutItem* readout = compare()->stages()->plot()->readout();
    QCOMPARE(readout->heading(), QStringLiteral("stage 0"));
    QVERIFY(readout->rows().front().name.startsWith(QStringLiteral("before.yaml · allocated")));
    const QString device = bytesText(workspace().footprint()->stages[0].device);
    QCOMPARE(readout->rows().back().value, device);
    // Both stand in the picture and in the values.
    QVERIFY(compare()->stages()->values().contains(
        QString::number(workspace().footprint()->stages[1].peakAllocated.value)));
    QCOMPARE(compare()->stages()->image(1).size(), compare()->stages()->size());
}

void ComparisonsTest::measuredMarksStandOverTheEstimate()
{
    QVERIFY(m_fixture->show());
    const QString config = m_fixture->write(QStringLiteral("train.yaml"), WindowFixture::configText);
    m_fixture->window().files().openPaths({config});
    QTRY_VERIFY(workspace().footprint() != nullptr);
    QVERIFY(compareWith({m_fixture->write(QStringLiteral("run.log"), WindowFixture::logText()), config}));
    compare()->showView(ComparePanel::View::Chart);
    compare()->showQuantity(ComparedQuantity::Stages);
    const StagePairs& pairs = *compare()->stages()->pairs();
    QVERIFY(!pairs.sides[0].isEstimated() && pairs.sides[1].isEstimated());
    // Ranks 0 and 1 are the first of two stages: 6403 MiB; ranks 2 and 3 the second: 6200 MiB.
    QCOMPARE(pairs.sides[0].measured.size(), std::size_t{2});
    QCOMPARE(pairs.sides[0].measured[0]->value, qint64{6403} << 20);
    QCOMPARE(pairs.sides[0].measured[1]->value, qint64{6200} << 20);
    const auto& cards = compare()->findings()->cards();
    QVERIFY(std::any_of(cards.begin(), cards.end(),
                        [](const FindingCard* card) { return card->finding().id == "estimate-error"; }));
    // Over the steps the estimate is a level line in the phase's colour.
    compare()->showQuantity(ComparedQuantity::Allocated);
    const OverlayData& data = *compare()->overlay()->data();
    QCOMPARE(data.lines.size(), std::size_t{6});
    QCOMPARE(data.lines[3].keys, (std::vector<double>{1, 20}));
    QCOMPARE(data.lines[3].values[0], workspace().footprint()->fullest().phases[0].gib());
}

QTEST_MAIN(ComparisonsTest)
#include "tst_comparisons.moc"
