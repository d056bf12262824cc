// SPDX-License-Identifier: GPL-3.0-or-later
//
// Work and relative step time against the worked numbers of theory.md section 8 (cases F01 to F05) and what it says
// about two measured runs.
#include "footprint/outlook/flops.h"
#include "footprint/outlook/step_time.h"
#include "footprint/plans.h"

#include <QTest>

#include <cmath>

using namespace headroom;
using headroom::test::llama3Of8B;
using headroom::test::planOf;

namespace {

TrainingPlan gpt3Of175B()
{
    return planOf({{"model.layers", "96"},
                   {"model.hidden", "12288"},
                   {"model.heads", "96"},
                   {"model.ffn", "49152"},
                   {"model.vocab", "51200"},
                   {"batch.seq", "2048"},
                   {"batch.micro", "1"}});
}

/// Layers of one size over four stages, the head too small to count: what the worked ratios assume.
TrainingPlan fourStages()
{
    return planOf({{"model.layers", "16"},
                   {"model.hidden", "4096"},
                   {"model.vocab", "1"},
                   {"model.heads", "32"},
                   {"batch.seq", "1"},
                   {"batch.micro", "1"},
                   {"batch.accum", "16"},
                   {"parallel.pp", "4"}});
}

/// gpt3_7b of Megatron-LM's functional tests: eight GPUs, the same global batch.
TrainingPlan gpt7b(test::FieldTexts own)
{
    return planOf(own,
                  planOf({{"model.layers", "32"},
                          {"model.hidden", "4096"},
                          {"model.ffn", "16384"},
                          {"model.heads", "32"},
                          {"model.kv_heads", "8"},
                          {"model.vocab", "131200"},
                          {"model.tied_embeddings", "false"},
                          {"batch.seq", "8192"},
                          {"batch.global", "8"},
                          {"parallel.world", "8"},
                          {"shard.dist_opt", "true"},
                          {"precision.recipe", "megatron-bf16"}}));
}

double ratio(const TrainingPlan& before, const TrainingPlan& after)
{
    const auto result = relativeStepTime(before, after);
    if (!result) {
        qFatal("%s", result.error().english().c_str());
    }
    return result->ratio;
}

/// The parts that arithmetic decides.
double computeOf(const StepCost& cost)
{
    return (cost.part(StepPart::Compute) + cost.part(StepPart::Recompute) + cost.part(StepPart::Bubble)) / cost.samples;
}

bool isNear(double actual, double expected, double relative)
{
    return std::abs(actual - expected) <= relative * std::abs(expected);
}

} // namespace

class TestStepTime : public QObject
{
    Q_OBJECT

private slots:
    void countsFlops_data();
    void countsFlops();
    void closedForm();
    void frozenWeightsHaveNoGradients();
    void ranks_data();
    void ranks();
    void tensorTraffic_data();
    void tensorTraffic();
    void trafficNarrowsTheGap();
    void partsAddUp();
    void refuses_data();
    void refuses();
};

void TestStepTime::countsFlops_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("keys");
    QTest::addColumn<double>("scores");
    QTest::addColumn<double>("linear");
    QTest::addColumn<double>("logits");
    // F01a and F01b: forward, per token.
    QTest::newRow("Llama-3-8B, s 8192") << llama3Of8B() << 8192.0 << 4294967296.0 << 13958643712.0 << 1050673152.0;
    QTest::newRow("its causal half") << llama3Of8B() << 4096.0 << 4294967296.0 / 2 << 13958643712.0 << 1050673152.0;
    QTest::newRow("GPT-3, s 2048") << gpt3Of175B() << 2048.0 << 9663676416.0 << 347892350976.0 << 1258291200.0;
    // Mixtral's routed experts: 2 of 8, 3·h·f each; attention as in Llama-3-8B.
    const double mixtralMlp = 2.0 * 3 * 2 * 4096 * 14336 + 2.0 * 4096 * 8;
    const double attention = 2.0 * 4096 * (32 + 2 * 8 + 32) * 128;
    QTest::newRow("experts") << planOf({{"moe.experts", "8"}, {"moe.topk", "2"}, {"moe.ffn", "14336"}}, llama3Of8B())
                             << 8192.0 << 4294967296.0 << 32 * (mixtralMlp + attention) << 1050673152.0;
    // DeepSeek-V3's attention has 187,107,328 parameters, 2,048 of them norms (P08), and 320 = 128 + 64 + 128 numbers a
    // head and key.
    QTest::newRow("latent attention") << planOf({{"model.layers", "1"},
                                                 {"model.hidden", "7168"},
                                                 {"model.heads", "128"},
                                                 {"model.ffn", "18432"},
                                                 {"model.gated_mlp", "true"},
                                                 {"model.vocab", "129280"},
                                                 {"mla.q_lora_rank", "1536"},
                                                 {"mla.kv_lora_rank", "512"},
                                                 {"mla.qk_nope_dim", "128"},
                                                 {"mla.qk_rope_dim", "64"},
                                                 {"mla.v_dim", "128"},
                                                 {"batch.seq", "4096"},
                                                 {"batch.micro", "1"}})
                                      << 4096.0 << 2.0 * 4096 * 128 * 320
                                      << 2.0 * (187107328 - 2048) + 2.0 * 3 * 7168 * 18432 << 2.0 * 7168 * 129280;
}

void TestStepTime::countsFlops()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, keys);
    const Architecture model = architectureOf(plan);
    const LayerFlops layer = model.isMoe() ? expertLayerFlops(model, keys) : denseLayerFlops(model, keys);
    const auto layers = static_cast<double>(model.layers);
    QTEST(layers * layer.scores, "scores");
    QTEST(layers * (layer.projections + layer.mlp + layer.routed), "linear");
    QTEST(headFlops(model), "logits");
}

/// F02: 72·b·s·L·h²·(1 + s/(6h) + V/(12hL)), and 96·(… V/(16hL)) with full recomputation; arXiv:2104.04473 counts every
/// key, so the mask's other half is asked for.
void TestStepTime::closedForm()
{
    for (const bool recomputes : {false, true}) {
        TrainingPlan plan = planOf({{"attention.impl", "unfused"}}, gpt3Of175B());
        if (recomputes) {
            plan = planOf({{"recompute.enabled", "true"}, {"recompute.granularity", "full"}}, plan);
        }
        const StageFlops work = stageFlops(plan, workingOf(plan, {}), stageLayers(*PipelineSplit::of(plan), 0, {}));
        const double expected = recomputes ? 2936829917528064.0 : 2204555173429247.8;
        QVERIFY2(isNear(work.total(), expected, 1e-12), qPrintable(QString::number(work.total(), 'g', 17)));
    }
}

/// theory.md 2.5: gradients pass through a frozen model, but its weights have none.
void TestStepTime::frozenWeightsHaveNoGradients()
{
    const TrainingPlan trained = planOf({{"batch.seq", "1"}}, llama3Of8B());
    const TrainingPlan adapted = planOf({{"lora.rank", "16"}}, trained);
    const auto work = [](const TrainingPlan& plan) {
        return stageFlops(plan, workingOf(plan, {}), stageLayers(*PipelineSplit::of(plan), 0, {}));
    };
    QVERIFY(isNear(work(trained).total(), 3 * work(trained).forward, 1e-4)); // one key: hardly any scores
    QCOMPARE(work(adapted).weightGradients, 0.0);
    QCOMPARE(work(adapted).inputGradients, work(trained).inputGradients);
}

void TestStepTime::ranks_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("expected");
    // F04: p 4, m 16, backward twice the forward.
    QTest::newRow("the same") << fourStages() << 1.0;
    QTest::newRow("full recompute") << planOf({{"recompute.enabled", "true"}, {"recompute.granularity", "full"}},
                                              fourStages())
                                    << 4.0 / 3;
    QTest::newRow("four chunks") << planOf({{"parallel.vpp", "4"}}, fourStages()) << 0.881578947368421;
    QTest::newRow("half as many, twice as large")
        << planOf({{"batch.micro", "2"}, {"batch.accum", "8"}}, fourStages()) << 1.1578947368421053;
    QTest::newRow("ZB-H1") << planOf({{"parallel.schedule", "zb-h1"}}, fourStages()) << 0.8947368421052632;
    // 16 + 3 of four stages against 16 of one with four times the layers.
    QTest::newRow("one stage") << planOf({{"parallel.pp", "1"}}, fourStages()) << 4 * 16.0 / 19;
}

void TestStepTime::ranks()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, expected);
    const auto before = stepCost(fourStages());
    const auto after = stepCost(plan);
    QVERIFY(before && after);
    // A token is sent on in no time, but in some.
    const double actual = computeOf(*after) / computeOf(*before);
    QVERIFY2(isNear(actual, expected, 0.002), qPrintable(QString::number(actual)));
}

void TestStepTime::tensorTraffic_data()
{
    QTest::addColumn<bool>("isSequence");
    QTest::addColumn<bool>("isRecomputed");
    QTest::addColumn<double>("bytes");
    // F05: T 8192, h 4096, t 8; an all-reduce is 117,440,512 bytes.
    QTest::newRow("four all-reduces") << false << false << 469762048.0;
    QTest::newRow("six with recompute") << false << true << 704643072.0;
    QTest::newRow("sequence parallel") << true << false << 469762048.0 + 2 * 58720256.0;
}

void TestStepTime::tensorTraffic()
{
    QFETCH(bool, isSequence);
    QFETCH(bool, isRecomputed);
    QTEST(tensorTrafficBytes(8192, 4096, 8, isSequence, isRecomputed), "bytes");
    QCOMPARE(tensorTrafficBytes(8192, 4096, 1, isSequence, isRecomputed), 0.0);
}

/// theory.md 8.4: four interleaved stages against four tensor-parallel ranks are 1.28 by arithmetic alone (attention
/// over groups makes it a little more) and were measured at 1.14 (A100) and 1.03 (H100): the tensor-parallel traffic
/// takes back a part, more of it where the GPU is faster.
void TestStepTime::trafficNarrowsTheGap()
{
    const auto onGpu = [](const char* gpu) {
        const TrainingPlan tensor = gpt7b({{"batch.micro", "2"}, {"parallel.tp", "4"}, {"hardware.gpu", gpu}});
        const TrainingPlan pipeline
            = gpt7b({{"batch.micro", "1"}, {"parallel.pp", "4"}, {"parallel.vpp", "8"}, {"hardware.gpu", gpu}});
        return std::pair{stepCost(tensor), stepCost(pipeline)};
    };
    const auto ampere = onGpu("a100-80gb");
    const auto hopper = onGpu("h100-80gb");
    QVERIFY(ampere.first && ampere.second && hopper.first && hopper.second);
    const double arithmetic = computeOf(*ampere.second) / computeOf(*ampere.first);
    QVERIFY2(isNear(arithmetic, 1.28, 0.06), qPrintable(QString::number(arithmetic)));
    const double a100 = relativeStepTime(*ampere.first, *ampere.second).ratio;
    const double h100 = relativeStepTime(*hopper.first, *hopper.second).ratio;
    QVERIFY2(a100 < arithmetic && isNear(a100, 1.14, 0.1), qPrintable(QString::number(a100)));
    QVERIFY2(h100 < a100 && isNear(h100, 1.03, 0.15), qPrintable(QString::number(h100)));
}

void TestStepTime::partsAddUp()
{
    const TrainingPlan before
        = planOf({{"parallel.tp", "4"}, {"parallel.world", "8"}, {"batch.accum", "32"}}, llama3Of8B());
    const TrainingPlan after
        = planOf({{"parallel.pp", "2"}, {"recompute.enabled", "true"}, {"recompute.granularity", "full"}}, before);
    const auto relative = relativeStepTime(before, after);
    QVERIFY(relative);
    double sum = 1;
    for (const double change : relative->changes) {
        sum += change;
    }
    QVERIFY(isNear(sum, relative->ratio, 1e-12));
    QVERIFY(isNear(ratio(after, before), 1 / relative->ratio, 1e-12));
    QCOMPARE(relative->gpus, 1.0);
    const auto onMore = relativeStepTime(before, planOf({{"parallel.world", "16"}}, before));
    QVERIFY(onMore);
    QCOMPARE(onMore->gpus, 2.0);
    // Twice the replicas take half the time for the same samples, and some traffic.
    QVERIFY2(onMore->ratio > 0.5 && onMore->ratio < 0.6, qPrintable(QString::number(onMore->ratio)));
}

void TestStepTime::refuses_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("nothing known") << TrainingPlan{};
    QTest::newRow("no sequence") << planOf({{"model.layers", "2"}, {"model.hidden", "64"}, {"model.vocab", "100"}});
    QTest::newRow("more stages than layers") << planOf({{"parallel.pp", "64"}}, llama3Of8B());
}

void TestStepTime::refuses()
{
    QFETCH(TrainingPlan, plan);
    const auto cost = stepCost(plan);
    QVERIFY(!cost);
    QVERIFY(!cost.error().english().empty());
}

QTEST_GUILESS_MAIN(TestStepTime)
#include "tst_step_time.moc"
