// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/history.h"

#include <QTest>

#include <algorithm>

using namespace headroom;

namespace {

/// A measured run with these settings and peaks in GiB.
HistoryRun runOf(const char* name, const QByteArray& settings, std::int64_t allocated, std::int64_t reserved)
{
    HistoryRun run;
    run.figures.name = name;
    run.figures.allocated = gib(allocated);
    run.figures.reserved = gib(reserved);
    run.figures.ranks = {0};
    run.plan.emplace();
    for (const QByteArray& setting : settings.simplified().split(' ')) {
        const auto at = setting.indexOf('=');
        const auto done = setField(*run.plan, setting.left(at).toStdString(), setting.mid(at + 1).toStdString(),
                                   {OriginKind::ConfigFile, 1, nullptr});
        Q_ASSERT(done.has_value());
    }
    return run;
}

const QByteArray base = "parallel.pp=2 parallel.dp=4 batch.micro=2 batch.accum=8 batch.global=64 batch.seq=1024 ";
const QByteArray recomputed = "recompute.enabled=true recompute.granularity=full ";
const QByteArray halved = "batch.micro=1 batch.accum=16 ";

bool has(const HistoryStep& step, const char* id)
{
    return std::any_of(step.change->findings.begin(), step.change->findings.end(),
                       [id](const Finding& finding) { return finding.id == id; });
}

} // namespace

class TestHistory : public QObject
{
    Q_OBJECT

private slots:
    void eachRunStandsBesideTheOneBefore()
    {
        const std::vector runs{runOf("a", base, 60, 70), runOf("b", base + halved, 45, 69),
                               runOf("c", base + halved + recomputed, 30, 68)};
        const auto steps = historyOf(runs);
        QCOMPARE(steps.size(), std::size_t{3});
        QVERIFY(!steps[0].change);
        QCOMPARE(QString::fromStdString(steps[0].verdict().english()), QStringLiteral("The first run"));
        // Accumulation follows the micro-batch: one setting.
        QCOMPARE(steps[1].change->variables.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(steps[1].change->variables[0].id), QStringLiteral("batch.micro"));
        QVERIFY(!steps[1].isMixed());
        QCOMPARE(QString::fromStdString(steps[2].change->variables[0].id), QStringLiteral("recompute"));
        QCOMPARE(steps[2].change->before.allocated->value, gib(45).value);
        QVERIFY(has(steps[2], "peak-fell"));
        QVERIFY(!steps[1].fromReference && !steps[2].fromReference);
    }

    void aReferenceIsComparedWithAllOthers()
    {
        const std::vector runs{runOf("a", base, 60, 70), runOf("b", base + halved, 45, 69),
                               runOf("c", base + halved + recomputed, 30, 68)};
        const auto steps = historyOf(runs, 0);
        QVERIFY(!steps[0].fromReference);
        QCOMPARE(steps[2].fromReference->before.allocated->value, gib(60).value);
        QCOMPARE(steps[2].fromReference->variables.size(), std::size_t{2});
        QVERIFY(!historyOf(runs, 3)[2].fromReference); // there is no fourth
    }

    void severalChangesAreSaidAndToldApartElsewhere()
    {
        // From a to b two settings; c is b without the recompute, so a to c is the micro-batch alone and c to b the
        // recompute alone: 60 to 48 is -20 %, 48 to 30 is -37.5 %.
        std::vector runs{runOf("a", base, 60, 70), runOf("b", base + halved + recomputed, 30, 69)};
        const auto alone = historyOf(runs);
        QVERIFY(alone[1].isMixed());
        QVERIFY(has(alone[1], "several-variables-changed"));
        QVERIFY(!has(alone[1], "told-apart-elsewhere"));
        QVERIFY(QString::fromStdString(alone[1].verdict().english()).startsWith("2 settings changed at once"));
        QCOMPARE(alone[1].severity(), Severity::Warning);

        runs.push_back(runOf("c", base + halved, 48, 69));
        const auto steps = historyOf(runs);
        QStringList told;
        for (const Finding& finding : steps[1].change->findings) {
            if (finding.id == "told-apart-elsewhere") {
                told.append(QString::fromStdString(finding.title.english()));
            }
        }
        QVERIFY(steps[1].isToldApart && !alone[1].isToldApart);
        QVERIFY(steps[1].verdict() != alone[1].verdict());
        told.sort();
        QCOMPARE(told,
                 (QStringList{"batch.micro alone: allocated peak -20.0 %", "recompute alone: allocated peak -37.5 %"}));
    }

    void anEstimateIsNotTakenForAMeasurement()
    {
        std::vector runs{runOf("a", base, 60, 70), runOf("b", base + halved + recomputed, 30, 69),
                         runOf("c", base + halved, 48, 69)};
        runs[2].figures.isEstimate = true;
        const auto steps = historyOf(runs);
        QVERIFY(!has(steps[1], "told-apart-elsewhere"));
        QVERIFY(has(steps[2], "estimate-beside-measurement"));
        QVERIFY(!has(steps[1], "estimate-beside-measurement"));
    }

    void saysHowFarAnEstimateIsOff_data()
    {
        QTest::addColumn<int>("estimate");
        QTest::addColumn<QString>("percent");
        QTest::addColumn<int>("severity");
        QTest::newRow("close") << 61 << "+1.7 %" << static_cast<int>(Severity::Note);
        QTest::newRow("far") << 45 << "-25.0 %" << static_cast<int>(Severity::Warning);
    }

    void saysHowFarAnEstimateIsOff()
    {
        QFETCH(int, estimate);
        QFETCH(QString, percent);
        QFETCH(int, severity);
        std::vector runs{runOf("a.log", base, 60, 70), runOf("a.yaml", base, estimate, 70)};
        runs[1].figures.isEstimate = true;
        const auto steps = historyOf(runs);
        const Finding& finding = steps[1].change->findings.front();
        QCOMPARE(QString::fromStdString(finding.id), QStringLiteral("estimate-error"));
        QVERIFY(QString::fromStdString(finding.title.english()).contains(percent));
        QCOMPARE(static_cast<int>(finding.severity), severity);
        QVERIFY(!has(steps[1], "peak-fell") && !has(steps[1], "no-effect"));
    }

    void unknownPlansAreNoReasonToFail()
    {
        std::vector runs{runOf("a", base, 60, 70), runOf("b", base, 45, 60)};
        runs[0].plan.reset();
        runs[1].figures.allocated.reset();
        const auto steps = historyOf(runs, 1);
        QVERIFY(!steps[1].change->hasPlans);
        QVERIFY(!steps[1].isMixed());
        QVERIFY(historyOf({}).empty());
    }
};

QTEST_APPLESS_MAIN(TestHistory)
#include "tst_history.moc"
