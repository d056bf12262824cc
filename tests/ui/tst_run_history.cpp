// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/fields.h"
#include "workspace/run_history.h"

#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QUndoStack>
#include <QtTest>

#include <array>
#include <functional>

using namespace headroom;

namespace {

HistoryRun runOf(const char* name, std::int64_t allocated, const char* micro)
{
    HistoryRun run;
    run.figures.name = name;
    run.figures.allocated = gib(allocated);
    run.figures.reserved = gib(allocated + 4);
    run.figures.phases[1] = gib(allocated);
    run.figures.peakPhase = Phase::Backward;
    run.figures.stepSeconds = 1.25;
    run.figures.ranks = {0, 3};
    run.plan.emplace();
    for (const auto& [key, value] : {std::pair{"batch.micro", micro}, std::pair{"batch.accum", "8"},
                                     std::pair{"parallel.pp", "2"}, std::pair{"recompute.enabled", "true"}}) {
        const auto done = setField(*run.plan, key, value, {OriginKind::ConfigFile, 3, nullptr});
        Q_ASSERT(done.has_value());
    }
    return run;
}

QStringList namesOf(const RunHistory& history)
{
    QStringList names;
    for (const HistoryRun& run : history.runs()) {
        names.append(QString::fromStdString(run.figures.name));
    }
    return names;
}

} // namespace

class RunHistoryTest : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("headroom-test"));
        QCoreApplication::setApplicationName(QStringLiteral("headroom-history-test"));
        QSettings::setDefaultFormat(QSettings::IniFormat);
    }

    static void init() { QSettings().clear(); }

    static void keepsOrderNamesAndReference()
    {
        QUndoStack undo;
        RunHistory history(undo);
        history.add(runOf("a", 60, "4"));
        history.add(runOf("b", 40, "2"));
        history.add(runOf("a", 30, "1"));
        QCOMPARE(namesOf(history), (QStringList{"a", "b", "a 2"}));
        history.toggleReference(2);
        history.move(2, false);
        QCOMPARE(namesOf(history), (QStringList{"a", "a 2", "b"}));
        QCOMPARE(history.reference(), std::optional<std::size_t>(1));
        history.move(0, false); // is first already
        history.move(2, true); // is last already
        history.rename(2, QStringLiteral("  flash  "));
        history.rename(2, QStringLiteral("   "));
        QCOMPARE(namesOf(history), (QStringList{"a", "a 2", "flash"}));
        history.remove(0);
        QCOMPARE(history.reference(), std::optional<std::size_t>(0));
        history.toggleReference(0);
        QVERIFY(!history.reference());
        history.toggleReference(1);
        history.remove(1);
        QVERIFY(!history.reference());
        history.remove(7);
        QCOMPARE(namesOf(history), QStringList{"a 2"});
    }

    static void effectsFollowTheOrder()
    {
        QUndoStack undo;
        RunHistory history(undo);
        history.add(runOf("a", 60, "4"));
        history.add(runOf("b", 30, "2"));
        QCOMPARE(history.steps()[1].change->before.allocated->value, gib(60).value);
        QCOMPARE(history.steps()[1].change->variables.size(), std::size_t{1});
        history.move(0, true);
        QVERIFY(!history.steps()[0].change);
        QCOMPARE(history.steps()[1].change->before.allocated->value, gib(30).value);
    }

    static void everyChangeIsTakenBack_data()
    {
        QTest::addColumn<int>("change");
        QTest::addColumn<QString>("text");
        QTest::newRow("add") << 0 << QStringLiteral("Add run c");
        QTest::newRow("remove") << 1 << QStringLiteral("Remove run a");
        QTest::newRow("rename") << 2 << QStringLiteral("Rename run a to flash");
        QTest::newRow("move") << 3 << QStringLiteral("Move run b up");
        QTest::newRow("reference") << 4 << QStringLiteral("Measure by run b");
        QTest::newRow("no reference") << 5 << QStringLiteral("Measure by the run before");
    }

    static void everyChangeIsTakenBack()
    {
        QFETCH(int, change);
        QFETCH(QString, text);
        QUndoStack undo;
        RunHistory history(undo);
        history.add(runOf("a", 60, "4"));
        history.add(runOf("b", 40, "2"));
        history.toggleReference(0);
        const std::array<std::function<void()>, 6> changes{[&] { history.add(runOf("c", 30, "1")); },
                                                           [&] { history.remove(0); },
                                                           [&] { history.rename(0, QStringLiteral("flash")); },
                                                           [&] { history.move(1, false); },
                                                           [&] { history.toggleReference(1); },
                                                           [&] { history.toggleReference(0); }};
        const QSignalSpy stepped(&history, &RunHistory::stepped);
        changes[static_cast<std::size_t>(change)]();
        QCOMPARE(undo.undoText(), text);
        QCOMPARE(stepped.count(), 0);
        const QStringList names = namesOf(history);
        const auto reference = history.reference();
        undo.undo();
        QCOMPARE(stepped.count(), 1);
        QCOMPARE(namesOf(history), (QStringList{"a", "b"}));
        QCOMPARE(history.reference(), std::optional<std::size_t>(0));
        QCOMPARE(history.steps().size(), std::size_t{2});
        QUndoStack other;
        QCOMPARE(namesOf(RunHistory(other)), (QStringList{"a", "b"})); // the next start sees it too
        undo.redo();
        QCOMPARE(namesOf(history), names);
        QCOMPARE(history.reference(), reference);
    }

    static void whatChangesNothingIsNoStep()
    {
        QUndoStack undo;
        RunHistory history(undo);
        history.add(runOf("a", 60, "4"));
        history.rename(0, QStringLiteral(" a "));
        history.rename(0, QStringLiteral("  "));
        history.move(0, true);
        history.remove(3);
        QCOMPARE(undo.count(), 1);
    }

    static void outlivesTheProgram()
    {
        {
            QUndoStack undo;
            RunHistory history(undo);
            history.add(runOf("a", 60, "4"));
            history.add(runOf("b", 30, "2"));
            history.toggleReference(0);
        }
        QUndoStack undo;
        const RunHistory again(undo);
        QCOMPARE(namesOf(again), (QStringList{"a", "b"}));
        QCOMPARE(again.reference(), std::optional<std::size_t>(0));
        const HistoryRun expected = runOf("b", 30, "2");
        const HistoryRun& read = again.runs()[1];
        QCOMPARE(read.figures.allocated->value, expected.figures.allocated->value);
        QCOMPARE(read.figures.reserved->value, expected.figures.reserved->value);
        QVERIFY(!read.figures.device && !read.figures.tokensPerSecond && !read.figures.phases[0]);
        QCOMPARE(read.figures.phases[1]->value, expected.figures.phases[1]->value);
        QCOMPARE(read.figures.peakPhase, expected.figures.peakPhase);
        QCOMPARE(*read.figures.stepSeconds, 1.25);
        QCOMPARE(read.figures.ranks, expected.figures.ranks);
        QVERIFY(difference(*read.plan, *expected.plan).empty());
        QCOMPARE(again.steps()[1].change->variables.size(), std::size_t{1});
    }

    static void brokenSettingsAreNoHistory_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("no JSON") << QByteArray("\x01\x02 not json");
        QTest::newRow("another shape") << QByteArray("[1, 2, 3]");
        QTest::newRow("runs of another shape") << QByteArray("{\"runs\": [1, null, \"a\"], \"reference\": 5}");
        QTest::newRow("odd fields") << QByteArray(
            "{\"runs\": [{\"name\": 4, \"allocated_bytes\": \"x\", \"phases\": 7, \"peak_phase\": 99, \"ranks\": {}, "
            "\"plan\": {\"no.such\": \"1\", \"batch.micro\": \"many\"}}], \"reference\": -4}");
    }

    static void brokenSettingsAreNoHistory()
    {
        QFETCH(QByteArray, bytes);
        QSettings().setValue(QStringLiteral("history"), bytes);
        QUndoStack undo;
        RunHistory history(undo);
        QVERIFY(history.runs().size() <= 1);
        QVERIFY(!history.reference());
        history.add(runOf("a", 60, "4"));
        QCOMPARE(history.runs().back().figures.name, std::string("a"));
    }

    static void theFirstGoesWhenThereAreTooMany()
    {
        QUndoStack undo;
        RunHistory history(undo);
        for (std::size_t i = 0; i <= RunHistory::limit; ++i) {
            history.add(runOf("run", 10 + static_cast<std::int64_t>(i), "1"));
        }
        QCOMPARE(history.runs().size(), RunHistory::limit);
        QCOMPARE(history.runs().front().figures.name, std::string("run 2"));
    }
};

QTEST_GUILESS_MAIN(RunHistoryTest)
#include "tst_run_history.moc"
