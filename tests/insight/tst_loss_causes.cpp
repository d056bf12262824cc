// SPDX-License-Identifier: GPL-3.0-or-later
//
// What two plans say about losses that part: each cause where it is one, and where it is not.
#include "insight/loss_check.h"
#include "plan/fields.h"

#include <QTest>

#include <algorithm>

using namespace headroom;

namespace {

TrainingPlan planOf(const QByteArray& settings)
{
    TrainingPlan plan;
    for (const QByteArray& setting : settings.simplified().split(' ')) {
        const auto at = setting.indexOf('=');
        const auto done = setField(plan, setting.left(at).toStdString(), setting.mid(at + 1).toStdString(),
                                   {OriginKind::ConfigFile, 7, std::make_shared<const std::string>("train.yaml")});
        Q_ASSERT(done.has_value());
    }
    return plan;
}

LossComparison comparisonOf(LossVerdict verdict, double factor = 1)
{
    LossComparison comparison;
    comparison.verdict = verdict;
    comparison.factor = factor;
    comparison.steps = {1, 2};
    comparison.first = {2, 2};
    comparison.second = {2.5, 2.6};
    return comparison;
}

std::vector<Finding> findingsOf(const LossComparison& comparison, const TrainingPlan& first, const TrainingPlan& second)
{
    const LossSeries series = LossSeries::of("a.jsonl", {1, 2}, {2, 2}, {1, 2});
    return lossFindings(series, series, comparison, &first, &second);
}

const Finding* find(const std::vector<Finding>& findings, const QString& id)
{
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding& finding) { return finding.id == id.toStdString(); });
    return found != findings.end() ? &*found : nullptr;
}

const QByteArray base = "parallel.pp=1 parallel.dp=4 batch.micro=2 batch.accum=8 batch.global=64 batch.seq=1024 ";

} // namespace

class TestLossCauses : public QObject
{
    Q_OBJECT

private slots:
    void causes_data()
    {
        QTest::addColumn<LossVerdict>("verdict");
        QTest::addColumn<QByteArray>("changes");
        QTest::addColumn<QString>("id");
        QTest::addColumn<bool>("fires");
        const auto row = [](const char* name, LossVerdict verdict, const char* changes, const char* id, bool fires) {
            QTest::newRow(name) << verdict << QByteArray(changes) << QString::fromLatin1(id) << fires;
        };
        const char* halfStages = "parallel.pp=2 parallel.dp=2 batch.accum=16";
        row("fewer copies, batch not kept", LossVerdict::Drift, "parallel.pp=2 parallel.dp=2 batch.global=32",
            "loss-global-batch-differs", true);
        row("fewer copies, batch kept", LossVerdict::Drift, halfStages, "loss-global-batch-differs", false);
        row("losses agree", LossVerdict::Noise, "batch.accum=4 batch.global=32", "loss-global-batch-differs", false);
        row("losses one step apart", LossVerdict::Shifted, "batch.accum=4 batch.global=32", "loss-global-batch-differs",
            false);
        row("accumulates more", LossVerdict::Drift, halfStages, "loss-accumulation-differs", true);
        row("accumulates the same", LossVerdict::Drift, "parallel.tp=2 parallel.dp=4", "loss-accumulation-differs",
            false);
        row("smaller micro-batch", LossVerdict::Drift, "batch.micro=1 batch.accum=16", "loss-micro-batch-differs",
            true);
        row("same micro-batch", LossVerdict::Drift, halfStages, "loss-micro-batch-differs", false);
        row("stated batch overridden", LossVerdict::OtherBatch, "batch.global=128", "loss-batch-equation", true);
        row("stated batch holds", LossVerdict::OtherBatch, halfStages, "loss-batch-equation", false);
        row("other ranks, other samples", LossVerdict::OtherData, halfStages, "loss-data-parallel-differs", true);
        row("other ranks, same samples", LossVerdict::Drift, halfStages, "loss-data-parallel-differs", false);
        row("same ranks", LossVerdict::OtherData, "batch.micro=1 batch.accum=16", "loss-data-parallel-differs", false);
        row("longer samples", LossVerdict::Different, "batch.seq=2048", "loss-settings-differ", true);
        row("split alone", LossVerdict::Different, halfStages, "loss-settings-differ", false);
        row("recompute alone", LossVerdict::Different, "recompute.enabled=true recompute.granularity=full",
            "loss-settings-differ", false);
        row("what is the same", LossVerdict::Drift, "parallel.tp=2", "loss-causes-ruled-out", true);
        row("nothing is the same", LossVerdict::Drift, "batch.micro=1 batch.accum=4 batch.global=16",
            "loss-causes-ruled-out", false);
    }

    void causes()
    {
        QFETCH(LossVerdict, verdict);
        QFETCH(QByteArray, changes);
        QFETCH(QString, id);
        QFETCH(bool, fires);
        const auto findings = findingsOf(comparisonOf(verdict), planOf(base), planOf(base + changes));
        QCOMPARE(find(findings, id) != nullptr, fires);
    }

    /// A loss summed over 16 micro-batches where it was summed over 8, or summed where it was averaged.
    void factorsAreNamed_data()
    {
        QTest::addColumn<double>("factor");
        QTest::addColumn<QString>("part");
        QTest::newRow("both sum over the micro-batches") << 2.0 << "batch.accum, 8 to 16";
        QTest::newRow("only the first averages over them") << 16.0 << "batch.accum = 16 of the second run";
        QTest::newRow("only the second averages over them") << 0.125 << "batch.accum = 8 of the first run";
        QTest::newRow("only the second averages over the ranks") << 0.25 << "parallel.dp = 4 of the first run";
        QTest::newRow("as printed with four digits") << 2.004 << "batch.accum, 8 to 16";
        QTest::newRow("none of them") << 3.3 << "";
    }

    void factorsAreNamed()
    {
        QFETCH(double, factor);
        QFETCH(QString, part);
        const auto findings = findingsOf(comparisonOf(LossVerdict::Scaled, factor), planOf(base),
                                         planOf(base + "parallel.pp=2 parallel.dp=2 batch.accum=16"));
        const Finding* explained = find(findings, "loss-factor-explained");
        QCOMPARE(explained != nullptr, !part.isEmpty());
        if (explained != nullptr) {
            const QString title = QString::fromStdString(explained->title.english());
            QVERIFY2(title.contains(part), qPrintable(title));
        }
    }

    void evidenceNamesFileAndLine()
    {
        const auto findings
            = findingsOf(comparisonOf(LossVerdict::Drift), planOf(base), planOf(base + "batch.micro=1"));
        const Finding* finding = find(findings, "loss-micro-batch-differs");
        QVERIFY(finding != nullptr);
        QCOMPARE(finding->evidence.size(), std::size_t{2});
        for (const Evidence& evidence : finding->evidence) {
            QCOMPARE(QString::fromStdString(evidence.file), QStringLiteral("train.yaml"));
            QCOMPARE(evidence.line, 7);
        }
    }

    void expertsAreNamed()
    {
        const QByteArray experts = base + "moe.experts=8 moe.topk=2 ";
        const auto findings = findingsOf(comparisonOf(LossVerdict::Drift), planOf(experts),
                                         planOf(experts + "batch.micro=1 batch.accum=16"));
        const Finding* finding = find(findings, "loss-micro-batch-differs");
        QVERIFY(finding != nullptr);
        QVERIFY(QString::fromStdString(finding->explanation.english()).contains("experts"));
    }

    void unknownPlansSayNothing()
    {
        const LossSeries series = LossSeries::of("a.jsonl", {1, 2}, {2, 2}, {1, 2});
        const TrainingPlan plan = planOf(base);
        QCOMPARE(lossFindings(series, series, comparisonOf(LossVerdict::Drift), &plan, nullptr).size(), std::size_t{1});
    }
};

QTEST_APPLESS_MAIN(TestLossCauses)
#include "tst_loss_causes.moc"
