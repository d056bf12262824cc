// SPDX-License-Identifier: GPL-3.0-or-later
//
// What each knob of the plan can be turned to, what speaks against it, and what turns with it.
#include "insight/knobs.h"
#include "insight/plan_edits.h"
#include "plan/fields.h"
#include "runlog/read_log.h"
#include "workspace/knob_text.h"
#include "workspace/log_overview.h"
#include "workspace/wording.h"

#include <QtTest>

using namespace headroom;

namespace {

/// A plan from "field=value" pairs.
TrainingPlan planOf(const QStringList& fields)
{
    TrainingPlan plan;
    for (const QString& field : fields) {
        const QStringList parts = field.split(QLatin1Char('='));
        if (!setField(plan, parts[0].toStdString(), parts[1].toStdString(),
                      Origin{OriginKind::ConfigFile, 1, nullptr})) {
            qFatal("not a field: %s", qPrintable(field));
        }
    }
    return plan;
}

const QStringList model{QStringLiteral("model.layers=24"), QStringLiteral("model.hidden=1024"),
                        QStringLiteral("model.heads=16")};

QList<qint64> values(const std::vector<KnobStop>& stops)
{
    QList<qint64> list;
    for (const KnobStop& stop : stops) {
        list.append(stop.value);
    }
    return list;
}

} // namespace

class KnobsTest : public QObject
{
    Q_OBJECT

private slots:
    void legalValues_data();
    void legalValues();
    void unevenStagesAreMarked();
    void objections_data();
    void objections();
    void linkedKnobs_data();
    void linkedKnobs();
    void granularity();
    void asksForWhatIsMissing_data();
    void asksForWhatIsMissing();
    void editsBackToTheOriginalRestoreIt();
    void ranksBelongToStages_data();
    void ranksBelongToStages();
};

void KnobsTest::legalValues_data()
{
    QTest::addColumn<int>("knob");
    QTest::addColumn<QStringList>("fields");
    QTest::addColumn<QList<qint64>>("expected");
    QTest::newRow("stages: divisors of 24, powers of two and halves between")
        << int(Knob::PipelineStages) << model << QList<qint64>{1, 2, 3, 4, 6, 8, 12, 16, 24};
    QTest::newRow("stages of a prime number of layers")
        << int(Knob::PipelineStages) << QStringList{QStringLiteral("model.layers=7"), QStringLiteral("model.hidden=64")}
        << QList<qint64>{1, 2, 3, 4, 6, 7};
    QTest::newRow("the file's own odd value stays on offer")
        << int(Knob::PipelineStages) << model + QStringList{QStringLiteral("parallel.pp=5")}
        << QList<qint64>{1, 2, 3, 4, 5, 6, 8, 12, 16, 24};
    QTest::newRow("tensor parallel: divisors of the heads")
        << int(Knob::TensorParallel) << model << QList<qint64>{1, 2, 4, 8, 16};
    QTest::newRow("six key-value groups of twelve heads: divisors, or each repeated")
        << int(Knob::TensorParallel)
        << QStringList{QStringLiteral("model.layers=4"), QStringLiteral("model.hidden=768"),
                       QStringLiteral("model.heads=12"), QStringLiteral("model.kv_heads=6")}
        << QList<qint64>{1, 2, 3, 6, 12};
    QTest::newRow("two key-value groups of fourteen heads: seven would cut a group")
        << int(Knob::TensorParallel)
        << QStringList{QStringLiteral("model.layers=4"), QStringLiteral("model.hidden=896"),
                       QStringLiteral("model.heads=14"), QStringLiteral("model.kv_heads=2")}
        << QList<qint64>{1, 2, 14};
    QTest::newRow("recomputed layers: those of the larger stage")
        << int(Knob::RecomputedLayers) << model + QStringList{QStringLiteral("parallel.pp=5")}
        << QList<qint64>{1, 2, 3, 4, 5};
}

void KnobsTest::legalValues()
{
    QFETCH(int, knob);
    QFETCH(QStringList, fields);
    QFETCH(QList<qint64>, expected);
    const TrainingPlan plan = planOf(fields);
    QCOMPARE(values(knobStops(static_cast<Knob>(knob), plan, plan)), expected);
}

void KnobsTest::unevenStagesAreMarked()
{
    const TrainingPlan plan = planOf(model);
    for (const KnobStop& stop : knobStops(Knob::PipelineStages, plan, plan)) {
        QCOMPARE(stop.isUneven, 24 % stop.value != 0);
    }
}

void KnobsTest::objections_data()
{
    QTest::addColumn<int>("knob");
    QTest::addColumn<qint64>("value");
    QTest::addColumn<bool>("isPossible");
    QTest::newRow("as many stages as layers") << int(Knob::PipelineStages) << qint64{24} << true;
    QTest::newRow("one stage more") << int(Knob::PipelineStages) << qint64{25} << false;
    QTest::newRow("an uneven split") << int(Knob::PipelineStages) << qint64{7} << true;
    QTest::newRow("tensor parallel 8") << int(Knob::TensorParallel) << qint64{8} << true;
    QTest::newRow("tensor parallel 5") << int(Knob::TensorParallel) << qint64{5} << false;
    QTest::newRow("micro-batch 0") << int(Knob::MicroBatch) << qint64{0} << false;
    QTest::newRow("micro-batch -1") << int(Knob::MicroBatch) << qint64{-1} << false;
    QTest::newRow("micro-batch 7") << int(Knob::MicroBatch) << qint64{7} << true;
    QTest::newRow("an absurd sequence") << int(Knob::SequenceLength) << qint64{1} << true;
    QTest::newRow("an endless sequence") << int(Knob::SequenceLength) << (qint64{1} << 50) << false;
    QTest::newRow("more recomputed layers than a stage has") << int(Knob::RecomputedLayers) << qint64{25} << false;
}

void KnobsTest::objections()
{
    QFETCH(int, knob);
    QFETCH(qint64, value);
    QFETCH(bool, isPossible);
    const auto objection = knobObjection(static_cast<Knob>(knob), planOf(model), value);
    QCOMPARE(!objection.has_value(), isPossible);
    QVERIFY(isPossible || !objection->isEmpty());
}

void KnobsTest::linkedKnobs_data()
{
    QTest::addColumn<QStringList>("fields");
    QTest::addColumn<int>("knob");
    QTest::addColumn<qint64>("value");
    QTest::addColumn<bool>("keepBatch");
    QTest::addColumn<bool>("keepGpus");
    QTest::addColumn<QStringList>("edits"); ///< empty: refused
    const QStringList run = model
        + QStringList{QStringLiteral("parallel.pp=2"), QStringLiteral("parallel.dp=4"), QStringLiteral("batch.micro=2"),
                      QStringLiteral("batch.accum=6")};
    QTest::newRow("alone") << run << int(Knob::PipelineStages) << qint64{4} << false << false
                           << QStringList{QStringLiteral("parallel.pp=4")};
    QTest::newRow("8 GPUs: twice the stages, half the copies")
        << run << int(Knob::PipelineStages) << qint64{4} << false << true
        << QStringList{QStringLiteral("parallel.pp=4"), QStringLiteral("parallel.dp=2")};
    QTest::newRow("8 GPUs and 48 samples: half the copies accumulate twice")
        << run << int(Knob::PipelineStages) << qint64{4} << true << true
        << QStringList{QStringLiteral("parallel.pp=4"), QStringLiteral("parallel.dp=2"),
                       QStringLiteral("batch.accum=12")};
    QTest::newRow("8 GPUs cannot hold 3 stages")
        << run << int(Knob::PipelineStages) << qint64{3} << false << true << QStringList();
    QTest::newRow("48 samples: half the micro-batch accumulates twice")
        << run << int(Knob::MicroBatch) << qint64{1} << true << false
        << QStringList{QStringLiteral("batch.micro=1"), QStringLiteral("batch.accum=12")};
    QTest::newRow("48 samples are no multiple of 5 × 4")
        << run << int(Knob::MicroBatch) << qint64{5} << true << false << QStringList();
    QTest::newRow("a stated number of GPUs follows")
        << run + QStringList{QStringLiteral("parallel.world=8")} << int(Knob::DataParallel) << qint64{8} << false
        << false << QStringList{QStringLiteral("parallel.dp=8"), QStringLiteral("parallel.world=16")};
}

void KnobsTest::linkedKnobs()
{
    QFETCH(QStringList, fields);
    QFETCH(int, knob);
    QFETCH(qint64, value);
    QFETCH(bool, keepBatch);
    QFETCH(bool, keepGpus);
    QFETCH(QStringList, edits);
    const TrainingPlan plan = planOf(fields);
    const KnobLinks links{keepBatch, keepGpus};
    QCOMPARE(knobObjection(static_cast<Knob>(knob), plan, value, links).has_value(), edits.isEmpty());
    if (edits.isEmpty()) {
        return;
    }
    QStringList made;
    for (const PlanEdit& edit : knobEdits(static_cast<Knob>(knob), plan, value, links)) {
        made.append(toQString(edit.field) + QLatin1Char('=') + toQString(edit.value));
    }
    QCOMPARE(made, edits);
}

void KnobsTest::granularity()
{
    const TrainingPlan plan = planOf(
        model + QStringList{QStringLiteral("recompute.enabled=false"), QStringLiteral("recompute.granularity=full")});
    QCOMPARE(effectiveGranularity(plan), Granularity::None); // enabled: false wins
    auto full = withEdits(plan, plan, granularityEdits(plan, plan, Granularity::Full));
    QVERIFY(full.has_value());
    QCOMPARE(effectiveGranularity(*full), Granularity::Full);
    QCOMPARE(difference(plan, *full).size(), std::size_t{1}); // only the switch
    auto back = withEdits(*full, plan, granularityEdits(*full, plan, Granularity::None));
    QVERIFY(back.has_value());
    QVERIFY(difference(plan, *back).empty());
    auto selective = withEdits(plan, plan, granularityEdits(plan, plan, Granularity::Selective));
    QVERIFY(selective.has_value());
    QCOMPARE(selective->recompute.numLayers.value, std::int64_t{12}); // half of the stage's 24
}

void KnobsTest::asksForWhatIsMissing_data()
{
    QTest::addColumn<QStringList>("fields");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const QStringList& fields, const char* sentence) {
        QTest::newRow(name) << fields << QString::fromUtf8(sentence);
    };
    const QString micro = QStringLiteral("batch.micro");
    const QString length = QStringLiteral("batch.seq");
    const QString vocabulary = QStringLiteral("model.vocab");
    row("a knob", {micro}, "set Micro-batch size on the left");
    row("two knobs", {micro, length}, "set Micro-batch size and Sequence length on the left");
    row("a value without a knob", {vocabulary}, "set model.vocab in the tab Plan");
    row("one of each", {vocabulary, micro}, "set model.vocab and Micro-batch size in the tab Plan");
}

/// By the titles of knobs where all of them have one, and else where every value can be given.
void KnobsTest::asksForWhatIsMissing()
{
    QFETCH(QStringList, fields);
    QFETCH(QString, sentence);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    std::vector<std::string> keys;
    for (const QString& field : fields) {
        keys.push_back(field.toStdString());
    }
    QCOMPARE(askingText({keys.begin(), keys.end()}), sentence);
}

void KnobsTest::editsBackToTheOriginalRestoreIt()
{
    const TrainingPlan original = planOf(model + QStringList{QStringLiteral("batch.micro=2")});
    auto changed = withEdits(original, original, {{"batch.micro", "4"}, {"batch.accum", "3"}});
    QVERIFY(changed.has_value());
    QCOMPARE(changed->batch.micro.origin.kind, OriginKind::Edited);
    auto back = withEdits(*changed, original, {{"batch.micro", "2"}, {"batch.accum", ""}});
    QVERIFY(back.has_value());
    QCOMPARE(back->batch.micro.origin.kind, OriginKind::ConfigFile);
    QVERIFY(!back->batch.accum.isKnown());
    QVERIFY(!withEdits(original, original, {{"batch.micro", "many"}}).has_value());
    QVERIFY(!withEdits(original, original, {{"no.such.field", "1"}}).has_value());
}

void KnobsTest::ranksBelongToStages_data()
{
    QTest::addColumn<QStringList>("fields");
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<QList<double>>("gib"); ///< per stage, -1: not measured
    const auto line = [](int rank, int value) {
        return QStringLiteral("rank=%1 phase=forward step=1 peak_alloc=%2GiB\n").arg(rank).arg(value).toLatin1();
    };
    QTest::newRow("one stage, no rank") << QStringList() << QByteArray("phase=forward step=1 peak_alloc=7GiB\n")
                                        << QList<double>{7};
    QTest::newRow("two stages, no rank") << QStringList{QStringLiteral("parallel.pp=2")}
                                         << QByteArray("phase=forward step=1 peak_alloc=7GiB\n")
                                         << QList<double>{-1, -1};
    QTest::newRow("two stages, two copies: the pipeline is the outermost group")
        << QStringList{QStringLiteral("parallel.pp=2"), QStringLiteral("parallel.dp=2")}
        << line(0, 5) + line(1, 6) + line(2, 3) + line(3, 2) << QList<double>{6, 3};
    QTest::newRow("only the first rank was logged")
        << QStringList{QStringLiteral("parallel.pp=2"), QStringLiteral("parallel.dp=2")} << line(0, 5)
        << QList<double>{5, -1};
    QTest::newRow("more ranks than GPUs: another run's log")
        << QStringList{QStringLiteral("parallel.pp=2")} << line(0, 5) + line(7, 6) << QList<double>();
}

void KnobsTest::ranksBelongToStages()
{
    QFETCH(QStringList, fields);
    QFETCH(QByteArray, log);
    QFETCH(QList<double>, gib);
    const Run run = readLogText(log.toStdString(), "train.log");
    QList<double> measured;
    for (const auto& peak : measuredPerStage(overviewOf(run), planOf(fields))) {
        measured.append(peak ? peak->gib() : -1);
    }
    QCOMPARE(measured, gib);
}

QTEST_MAIN(KnobsTest)
#include "tst_knobs.moc"
