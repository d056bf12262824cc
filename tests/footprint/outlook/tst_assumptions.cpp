// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the plan does not say is listed, with what it would change (theory.md 9.5).
#include "footprint/stated_plans.h"
#include "footprint/written_plan.h"

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
    void kernelsOfMixers_data();
    void kernelsOfMixers();
    void spreadMixers_data();
    void spreadMixers();
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

void TestAssumptions::kernelsOfMixers_data()
{
    QTest::addColumn<QByteArray>("own");
    QTest::addColumn<QString>("taken"); // empty: nothing
    const QByteArray space
        = "mixer.attention_layers=2 mixer.heads=128 mixer.groups=4 mixer.chunk=256 mixer.kind=mamba2 ";
    const QByteArray delta = "mixer.attention_every=4 mixer.heads=32 mixer.head_dim=128 mixer.key_heads=16 "
                             "mixer.key_dim=128 mixer.kind=gated_delta_net ";
    QTest::newRow("state spaces") << space + "implementation.profile=hf-sdpa"
                                  << QStringLiteral("mamba_ssm, causal_conv1d");
    QTest::newRow("delta nets") << delta + "implementation.profile=hf-sdpa"
                                << QStringLiteral("flash-linear-attention, causal_conv1d");
    QTest::newRow("attention alone") << QByteArray("implementation.profile=hf-sdpa") << QString();
    QTest::newRow("Megatron-LM needs its own") << space + "implementation.profile=megatron-te" << QString();
}

/// Without their libraries transformers' hybrids keep far more; no figure says how much, but it is said.
void TestAssumptions::kernelsOfMixers()
{
    QFETCH(QByteArray, own);
    QFETCH(QString, taken);
    const Described result
        = described(test::planOf("model.layers=4 model.hidden=4096 model.ffn=14336 model.heads=32 model.kv_heads=8 "
                                 "model.vocab=128256 batch.micro=1 batch.seq=2048 batch.accum=1 parallel.dp=1 "
                                     + own,
                                 "a.yaml"));
    const Assumption* found = assumption(result.uncertainty, "mixer.kind");
    QCOMPARE(found == nullptr ? QString() : QString::fromStdString(found->taken), taken);
    QVERIFY(found == nullptr || found->alternatives.empty());
}

void TestAssumptions::spreadMixers_data()
{
    QTest::addColumn<QByteArray>("own");
    QTest::addColumn<bool>("isAssumed");
    QTest::newRow("one rank") << QByteArray("implementation.profile=torchtitan") << false;
    QTest::newRow("heads over two") << QByteArray("implementation.profile=torchtitan parallel.tp=2") << true;
    QTest::newRow("whole on both") << QByteArray("implementation.profile=hf-sdpa parallel.tp=2") << false;
    QTest::newRow("sequences over two") << QByteArray("implementation.profile=hf-sdpa parallel.cp=2") << true;
    QTest::newRow("Megatron-LM's own") << QByteArray("implementation.profile=megatron-te parallel.tp=2") << false;
}

void TestAssumptions::spreadMixers()
{
    QFETCH(QByteArray, own);
    const Described result
        = described(test::planOf("model.layers=4 model.hidden=4096 model.ffn=14336 model.heads=32 model.kv_heads=8 "
                                 "model.vocab=128256 batch.micro=1 batch.seq=2048 batch.accum=1 parallel.dp=1 "
                                 "mixer.attention_layers=2 mixer.heads=128 mixer.groups=4 mixer.kind=mamba2 "
                                     + own,
                                 "a.yaml"));
    QTEST(assumption(result.uncertainty, "mixer.heads") != nullptr, "isAssumed");
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
    plan = statedPlan({{"parallel.pp", "1"},
                       {"parallel.dp", "8"},
                       {"shard.fsdp", "true"},
                       {"implementation.profile", "hf-flash"},
                       {"precision.recipe", "bf16-pure"},
                       {"precision.reduce", "fp32"}});
    // Between micro-batches whole gradients stand in the type of the reduction, not of the computation.
    QTest::newRow("version of FSDP") << plan << "shard.fsdp_version"
                                     << "1"
                                     << "2" << qint64{8'030'261'248} * 2 - gib(2).value
                                     << qint64{8'030'261'248} * 2 + gib(2).value;
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
