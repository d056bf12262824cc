// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the plan does not say is listed, with what it would change (theory.md 9.5).
#include "footprint/stated_plans.h"

#include <QTest>

#include <algorithm>

using namespace headroom;
using test::Described;
using test::described;
using test::statedPlan;

namespace {

const Assumption* assumption(const Uncertainty& uncertainty, std::string_view field)
{
    const auto found = std::find_if(uncertainty.assumptions.begin(), uncertainty.assumptions.end(),
                                    [field](const Assumption& assumption) { return assumption.field == field; });
    return found == uncertainty.assumptions.end() ? nullptr : &*found;
}

} // namespace

class TestAssumptions : public QObject
{
    Q_OBJECT

private slots:
    void statedPlanAssumesNothing();
    void listsWhatWasAssumed_data();
    void listsWhatWasAssumed();
};

void TestAssumptions::statedPlanAssumesNothing()
{
    const Described result = described(statedPlan());
    QVERIFY2(result.uncertainty.assumptions.empty(),
             result.uncertainty.assumptions.empty() ? ""
                                                    : result.uncertainty.assumptions.front().text.english().c_str());
}

void TestAssumptions::listsWhatWasAssumed_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("taken");
    QTest::addColumn<QString>("instead");
    QTest::addColumn<qint64>("least");
    QTest::addColumn<qint64>("most");
    constexpr qint64 none = 0;
    TrainingPlan plan = statedPlan();
    plan.batch.accum = {};
    // Three more micro-batches in flight on the first stage, eight layers each, k about 17 (theory.md 3.2).
    const qint64 layer = 8192 * 4096 * 2LL;
    QTest::newRow("accumulation") << plan << "batch.accum"
                                  << "1"
                                  << "64" << 3 * 8 * 16 * layer << 3 * 8 * 18 * layer;
    plan = statedPlan({{"parallel.pp", "1"}});
    plan.precision.recipe = {};
    // 16 bytes a parameter are taken, 18 are Megatron's.
    QTest::newRow("precision") << plan << "precision.recipe"
                               << "bf16-mixed"
                               << "bf16-pure" << -qint64{9'000'000'000} * 8 << none;
    plan = statedPlan({{"parallel.pp", "1"}, {"parallel.dp", "8"}});
    plan.shard.distOpt = TrainingPlan{}.shard.distOpt;
    // 12 of 18 bytes a parameter over eight ranks.
    QTest::newRow("distributed optimizer")
        << plan << "shard.dist_opt"
        << "false"
        << "true" << -qint64{8'030'261'248} * 21 / 2 - mib(64).value << -qint64{8'030'261'248} * 21 / 2 + gib(2).value;
    plan = statedPlan();
    plan.model.tiedEmbeddings = {};
    // A single stage: the output layer is then a matrix of its own, 18 bytes an element.
    plan.parallel.pp = Count(1);
    QTest::newRow("tied embeddings") << plan << "model.tied_embeddings"
                                     << "true"
                                     << "false" << qint64{18} * 128256 * 4096 - gib(1).value
                                     << qint64{18} * 128256 * 4096 + gib(1).value;
}

void TestAssumptions::listsWhatWasAssumed()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, field);
    QFETCH(QString, taken);
    QFETCH(QString, instead);
    QFETCH(qint64, least);
    QFETCH(qint64, most);
    const Described result = described(plan);
    const Assumption* found = assumption(result.uncertainty, field.toStdString());
    QVERIFY(found != nullptr);
    QCOMPARE(QString::fromStdString(found->taken), taken);
    const auto alternative
        = std::find_if(found->alternatives.begin(), found->alternatives.end(),
                       [&](const Alternative& choice) { return choice.value == instead.toStdString(); });
    QVERIFY(alternative != found->alternatives.end());
    const qint64 change = alternative->changes[0].value;
    QVERIFY2(least <= change && change <= most, qPrintable(QString::number(change)));
}

QTEST_GUILESS_MAIN(TestAssumptions)
#include "tst_assumptions.moc"
