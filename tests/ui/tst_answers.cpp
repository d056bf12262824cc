// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the window answers beyond what it shows: the smallest change that fits, and the report.
#include "footprint/estimate.h"
#include "insight/plan_edits.h"
#include "panels/findings_panel.h"
#include "panels/fit_panel.h"
#include "panels/notices.h"
#include "replay/replay.h"
#include "ui/window_fixture.h"
#include "window/actions.h"
#include "window/file_commands.h"
#include "window/workbench.h"
#include "workspace/run_report.h"
#include "workspace/wording.h"

#include <QAction>
#include <QCheckBox>
#include <QDir>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QTableView>
#include <QtTest>

using namespace headroom;

class AnswersTest : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase();
    void init();
    void cleanup();

    void proposalIsOneEditThatFits();
    void everyProposalFits();
    void keptGpusAreKept();
    void largestMicroBatchIsTheLargest();
    void sentenceSaysHowItStands_data();
    void sentenceSaysHowItStands();
    void adaptersComeLast();
    void findingsFitTheirPanel_data();
    void findingsFitTheirPanel();
    void onlyTheNewestIsShown();
    void reportTellsWhatTheWindowShows_data();
    void reportTellsWhatTheWindowShows();
    void reportRepeatsWhatWasTurned();
    void reportSaysWhyItCannotBeSaved();

private:
    Workspace& workspace() { return m_fixture->workspace(); }
    FitPanel* fit() { return m_fixture->window().workbench().fit(); }
    /// Opens the fixture's files, which need more than `gibibytes`, and waits for the Fit tab.
    bool openFit(std::int64_t gibibytes);
    [[nodiscard]] std::optional<Bytes> peakWith(const std::vector<PlanEdit>& edits);

    std::unique_ptr<WindowFixture> m_fixture;
};

void AnswersTest::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("headroom-test"));
    QCoreApplication::setApplicationName(QStringLiteral("headroom-answers-test"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QLocale::setDefault(QLocale::c());
    applyTheme(*qApp, ThemeChoice::Light);
}

void AnswersTest::init()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support).*")));
    QSettings().clear();
    m_fixture = std::make_unique<WindowFixture>();
    m_fixture->window().files().setLossAnswer([] { return FileCommands::Answer::Discard; });
}

void AnswersTest::cleanup()
{
    m_fixture.reset();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

bool AnswersTest::openFit(std::int64_t gibibytes)
{
    if (!m_fixture->open()) {
        return false;
    }
    workspace().chooseCapacity(gib(gibibytes));
    m_fixture->window().actions()[Command::FindFit]->trigger();
    return fit()->isVisible() && QTest::qWaitFor([this] { return fit()->isCurrent(); }, 20'000);
}

std::optional<Bytes> AnswersTest::peakWith(const std::vector<PlanEdit>& edits)
{
    const auto plan = withEdits(workspace().plan(), workspace().original().plan, edits);
    Footprint footprint;
    return plan && estimateInstantly(*plan, workspace().draft().calibration, footprint)
        ? std::optional(footprint.fullest().device)
        : std::nullopt;
}

void AnswersTest::proposalIsOneEditThatFits()
{
    // 5 GiB less 5 % hold the state of 353 M parameters over two stages, 18 bytes each, but not all activations.
    QVERIFY(openFit(5));
    QVERIFY2(fit()->sentence().startsWith(QLatin1String("Does not fit")), qPrintable(fit()->sentence()));
    const int steps = workspace().undoStack().count();
    const QModelIndex first = fit()->view()->model()->index(0, FitPanel::Change);
    QVERIFY(first.isValid());
    const QString label = first.data().toString();
    QVERIFY(!label.isEmpty());
    const Bytes before = workspace().footprint()->fullest().device;

    emit fit()->view()->activated(first);
    QCOMPARE(workspace().undoStack().count(), steps + 1);
    QCOMPARE(workspace().undoStack().undoText(), label);
    QVERIFY(workspace().footprint()->fullest().device.value <= gib(5).value * 95 / 100);
    QTRY_VERIFY(fit()->sentence().startsWith(QLatin1String("Fits as it is")));
    QCOMPARE(fit()->view()->model()->rowCount(), 0);

    workspace().undoStack().undo();
    QCOMPARE(workspace().undoStack().count(), steps + 1);
    Footprint again;
    QVERIFY(estimateInstantly(workspace().plan(), {}, again).has_value());
    QCOMPARE(again.fullest().device.value > gib(5).value * 95 / 100, true);
    QVERIFY(before.value > 0);
    QTRY_VERIFY(fit()->sentence().startsWith(QLatin1String("Does not fit")));
}

void AnswersTest::everyProposalFits()
{
    QVERIFY(openFit(7));
    const QAbstractItemModel& rows = *fit()->view()->model();
    QVERIFY(rows.rowCount() > 1);
    const TrainingPlan start = workspace().plan();
    for (int row = 0; row < rows.rowCount(); ++row) {
        const QString shown = rows.index(row, FitPanel::Peak).data().toString();
        fit()->apply(row);
        QVERIFY(!difference(start, workspace().plan()).empty());
        Footprint instant, exact;
        QVERIFY(estimateInstantly(workspace().plan(), {}, instant).has_value());
        QVERIFY(replay(workspace().plan(), {}, exact).has_value());
        // The replay has the last word where half of what is there is taken.
        const bool isReplayed = instant.fullest().device.value > gib(7).value * 95 / 100 / 2;
        QCOMPARE(shown, gibText((isReplayed ? exact : instant).fullest().device));
        QVERIFY2(exact.fullest().device.value <= gib(7).value * 95 / 100,
                 qPrintable(rows.index(row, FitPanel::Change).data().toString()));
        workspace().undoStack().undo();
        QVERIFY(QTest::qWaitFor([this] { return fit()->isCurrent(); }, 20'000));
    }
}

void AnswersTest::keptGpusAreKept()
{
    QVERIFY(openFit(5));
    const auto gpus = [this] {
        QStringList all;
        for (int row = 0; row < fit()->view()->model()->rowCount(); ++row) {
            all.append(fit()->view()->model()->index(row, FitPanel::Gpus).data().toString());
        }
        return all;
    };
    QVERIFY(!gpus().isEmpty());
    QCOMPARE(gpus().count(QStringLiteral("4")), gpus().size()); // two stages in two copies
    for (auto* box : fit()->findChildren<QCheckBox*>()) {
        if (box->text() == QLatin1String("GPUs stay")) {
            box->click();
        }
    }
    // More stages with the same two copies: a change that only more GPUs allow.
    QTRY_VERIFY(fit()->isCurrent() && gpus().count(QStringLiteral("4")) < gpus().size());
}

void AnswersTest::largestMicroBatchIsTheLargest()
{
    QVERIFY(openFit(12));
    auto* link = fit()->findChild<QPushButton*>(QStringLiteral("fitMicroBatch"));
    QVERIFY(link->isEnabled());
    const qint64 largest = link->text().section(QLatin1String(": "), 1).toLongLong();
    QVERIFY2(largest >= 1, qPrintable(link->text()));
    const std::int64_t limit = gib(12).value * 95 / 100;
    link->click();
    QCOMPARE(workspace().plan().batch.micro.value, largest);
    QVERIFY(workspace().footprint()->fullest().device.value <= limit);
    const auto more = peakWith(
        {{"batch.micro", std::to_string(largest + 1)}, {"batch.global", std::to_string((largest + 1) * 16)}});
    QVERIFY(more.has_value());
    QVERIFY(more->value > limit);
}

/// 7 B parameters on one 24 GiB card: nothing of the same training fits, and the adapters say that they train less.
void AnswersTest::adaptersComeLast()
{
    const QByteArray config = "model: {num_layers: 32, hidden_size: 4096, num_attention_heads: 32, ffn_hidden_size: "
                              "11008, gated_mlp: true, vocab_size: 32000}\n"
                              "train: {micro_batch_size: 1, gradient_accumulation_steps: 8, seq_length: 4096}\n"
                              "hardware: {capacity: 24GiB}\n";
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("train.yaml"), config)});
    QTRY_VERIFY(workspace().config() != nullptr);
    m_fixture->window().actions()[Command::FindFit]->trigger();
    QTRY_VERIFY2_WITH_TIMEOUT(fit()->sentence().contains(QLatin1String("train less")), qPrintable(fit()->sentence()),
                              20'000);
    const QAbstractItemModel& rows = *fit()->view()->model();
    const QString last = rows.index(rows.rowCount() - 1, 0).data().toString();
    QVERIFY2(last.startsWith(QLatin1String("QLoRA")) && last.contains(QLatin1String("trains less")), qPrintable(last));
    QTRY_VERIFY(fit()->isCurrent());
    fit()->view()->setCurrentIndex(rows.index(rows.rowCount() - 1, 0));
    fit()->findChild<QPushButton*>(QStringLiteral("fitApplyButton"))->click();
    QCOMPARE(workspace().plan().lora.rank.value, std::int64_t{16});
    QVERIFY(workspace().footprint()->fits().value_or(false));
    workspace().undoStack().undo();
    QVERIFY(!workspace().plan().lora.rank.isStated());
}

void AnswersTest::findingsFitTheirPanel_data()
{
    QTest::addColumn<QSize>("size");
    QTest::newRow("wide") << QSize(1600, 1000);
    QTest::newRow("usual") << QSize(1280, 800);
    QTest::newRow("narrow") << QSize(1000, 700);
    QTest::newRow("narrowest") << QSize(800, 600);
}

/// Whatever the width, no line of a finding goes on behind the panel's edge, not even a file's long name.
void AnswersTest::findingsFitTheirPanel()
{
    QFETCH(QSize, size);
    m_fixture->window().resize(size);
    QVERIFY(m_fixture->show());
    const QString name = QStringLiteral("llama3_8b_pretraining_long_name_r0.log");
    m_fixture->window().files().openPaths({m_fixture->write(name, WindowFixture::logText()),
                                           m_fixture->write(QStringLiteral("train.yaml"), WindowFixture::configText)});
    QTRY_VERIFY(workspace().config() != nullptr && workspace().log() != nullptr);
    QTRY_VERIFY(!workspace().isOpening() && !workspace().findings().empty());
    const FindingsPanel* const panel = m_fixture->window().workbench().findings();
    QTRY_COMPARE(panel->widget()->width(), panel->viewport()->width());
    bool hasLongName = false;
    for (const QLabel* label : panel->widget()->findChildren<QLabel*>()) {
        if (!label->isVisible() || label->text().isEmpty()) {
            continue;
        }
        hasLongName = hasLongName || label->accessibleName().contains(name);
        const int right = label->mapTo(panel->widget(), QPoint(label->width(), 0)).x();
        QVERIFY2(right <= panel->viewport()->width(), qPrintable(label->text()));
        // All of it is there: it would not need more lines than it has.
        QVERIFY2(label->heightForWidth(label->width()) <= label->height() + 1, qPrintable(label->text()));
    }
    QVERIFY(hasLongName);
}

void AnswersTest::sentenceSaysHowItStands_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QString>("start");
    QTest::addColumn<bool>("hasRows");
    const QByteArray config = WindowFixture::configText;
    QByteArray without = config;
    without.replace("hardware:\n  capacity: 12GiB\n", "");
    QByteArray roomy = config;
    roomy.replace("12GiB", "80GiB");
    QByteArray tiny = config;
    tiny.replace("12GiB", "64MiB"); // less than the CUDA context alone
    QByteArray modelless = config;
    modelless.replace(0, modelless.indexOf("parallel:"), "");
    QTest::newRow("no GPU chosen") << without << QStringLiteral("Choose a GPU") << false;
    QTest::newRow("fits") << roomy << QStringLiteral("Fits as it is") << false;
    QTest::newRow("nothing fits") << tiny << QStringLiteral("Does not fit") << true;
    QTest::newRow("no model") << modelless << QStringLiteral("No estimate") << false;
}

void AnswersTest::sentenceSaysHowItStands()
{
    QFETCH(QByteArray, config);
    QFETCH(QString, start);
    QFETCH(bool, hasRows);
    QVERIFY(m_fixture->show());
    m_fixture->window().files().openPaths({m_fixture->write(QStringLiteral("train.yaml"), config)});
    QTRY_VERIFY(workspace().config() != nullptr);
    m_fixture->window().actions()[Command::FindFit]->trigger();
    QTRY_VERIFY2_WITH_TIMEOUT(fit()->sentence().startsWith(start), qPrintable(fit()->sentence()), 20'000);
    QCOMPARE(fit()->view()->model()->rowCount() > 0, hasRows);
    if (hasRows) {
        QVERIFY2(fit()->sentence().contains(QLatin1String("closest")), qPrintable(fit()->sentence()));
    }
}

void AnswersTest::onlyTheNewestIsShown()
{
    QVERIFY(openFit(5));
    for (const std::int64_t capacity : {4, 6, 80}) {
        workspace().chooseCapacity(gib(capacity));
        QTest::qWait(Workspace::settleMs + 5);
        QVERIFY(!fit()->isCurrent() || fit()->sentence().contains(gibText(gib(capacity))));
    }
    QTRY_VERIFY_WITH_TIMEOUT(fit()->isCurrent(), 20'000);
    QVERIFY2(fit()->sentence().contains(QStringLiteral("80.0 GiB")), qPrintable(fit()->sentence()));
}

void AnswersTest::reportTellsWhatTheWindowShows_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("isHtml");
    QTest::newRow("HTML") << QStringLiteral("run.html") << true;
    QTest::newRow("Markdown") << QStringLiteral("run.md") << false;
}

void AnswersTest::reportTellsWhatTheWindowShows()
{
    QFETCH(QString, name);
    QFETCH(bool, isHtml);
    QVERIFY(m_fixture->open());
    m_fixture->window().files().saveReport(m_fixture->path(name));
    const QString report = QString::fromUtf8(WindowFixture::read(m_fixture->path(name)));
    QCOMPARE(report.startsWith(QLatin1String("<!DOCTYPE html>")), isHtml);
    QCOMPARE(report.count(QLatin1String("<svg")), isHtml ? 2 : 0);
    QVERIFY(report.contains(QStringLiteral("train.yaml")));
    QVERIFY(report.contains(toQString(formatGib(workspace().footprint()->fullest().device))));
    // The fixture's backward peak: 6403 MiB on rank 0 of step 12, the log's line 134.
    QVERIFY(report.contains(QStringLiteral("6.253 GiB")));
    QVERIFY(report.contains(QStringLiteral("train.log:134")));
    QVERIFY(report.contains(QStringLiteral("headroom-cli estimate ")));
    QVERIFY(!report.contains(QLatin1String("http")) && !report.contains(QLatin1String("<script")));
    QVERIFY2(m_fixture->window().messageBar().text().contains(name),
             qPrintable(m_fixture->window().messageBar().text()));
    // Nothing but the report lies beside the files.
    QCOMPARE(QDir(m_fixture->path({})).entryList(QDir::Files | QDir::Hidden).size(), 3);
}

void AnswersTest::reportRepeatsWhatWasTurned()
{
    QVERIFY(m_fixture->open());
    workspace().turnKnob(Knob::MicroBatch, 4);
    workspace().chooseCapacity(gib(24));
    const auto commands = commandsOf(workspace());
    QCOMPARE(commands.size(), std::size_t{2});
    const QString estimate = toQString(commands.front());
    QVERIFY2(estimate.contains(m_fixture->configPath()), qPrintable(estimate));
    QVERIFY2(estimate.contains(QStringLiteral("--set batch.micro=4")), qPrintable(estimate));
    QVERIFY2(estimate.contains(QStringLiteral("--capacity %1B").arg(gib(24).value)), qPrintable(estimate));
    QCOMPARE(toQString(commands.back()), QStringLiteral("headroom-cli log %1").arg(m_fixture->logPath()));
}

void AnswersTest::reportSaysWhyItCannotBeSaved()
{
    QVERIFY(m_fixture->open());
    m_fixture->window().files().saveReport(m_fixture->path(QStringLiteral("no/such/folder/run.html")));
    const QString message = m_fixture->window().messageBar().text();
    QVERIFY2(message.contains(QStringLiteral("run.html")), qPrintable(message));
    QVERIFY(!message.contains(QStringLiteral("saved to")));
}

QTEST_MAIN(AnswersTest)
#include "tst_answers.moc"
