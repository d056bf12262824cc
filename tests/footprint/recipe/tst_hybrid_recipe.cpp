// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/hybrid_plans.h"

#include "footprint/estimate.h"
#include "footprint/working.h"
#include "plan/pipeline_split.h"

#include <QtTest>

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr LayerKind stateSpace{Mixer::Mamba2, FeedForward::None}, attention{Mixer::Attention, FeedForward::None},
    mlp{Mixer::None, FeedForward::Mlp}, deltaNet{Mixer::DeltaNet, FeedForward::Mlp},
    gatedAttention{Mixer::Attention, FeedForward::Mlp};

} // namespace
Q_DECLARE_METATYPE(headroom::LayerKind)

/// Layers whose mixer is a state space or a gated delta net, by the recipe. Expected figures are worked out here from
/// the papers' dimensions.
class HybridRecipeTest : public QObject
{
    Q_OBJECT

private slots:
    void weightsOfALayer_data();
    void weightsOfALayer();
    void bytesOfALayer_data();
    void bytesOfALayer();
    void stagesAddUp_data();
    void stagesAddUp();
};

void HybridRecipeTest::weightsOfALayer_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<LayerKind>("kind");
    QTest::addColumn<qint64>("parameters");
    const TrainingPlan mamba = mambaHybrid("M*-", "3");
    const TrainingPlan split = mambaHybrid("M*-", "3", {{"parallel.tp", "2"}});
    // Projections of 2 · 2048 + 2 · 8 · 128 + 32 = 6176 and back, a convolution of 4 and a bias over 4096 channels,
    // three values a head, the gated norm and the layer's.
    QTest::newRow("a state space") << mamba << stateSpace
                                   << qint64{1024 * 6176 + 4096 * 5 + 3 * 32 + 2048 + 2048 * 1024 + 1024};
    // All of it is split but the layer's norm.
    QTest::newRow("half of it") << split << stateSpace
                                << qint64{1024 * 3088 + 2048 * 5 + 3 * 16 + 1024 + 1024 * 1024 + 1024};
    QTest::newRow("attention alone") << mamba << attention << qint64{2 * 1024 * 1024 + 2 * 1024 * 512 + 1024};
    QTest::newRow("an MLP alone") << mamba << mlp << qint64{2 * 1024 * 4096 + 1024};
    // transformers: in_proj_qkvz 2048 × 12288, in_proj_ba 2048 × 64, conv1d 8192 × 4, dt_bias, A_log, norm, out_proj
    const qint64 gatedMlp = 3 * 2048 * 5120 + 2 * 2048;
    QTest::newRow("a delta net") << deltaHybrid() << deltaNet
                                 << qint64{25'165'824 + 131'072 + 32'768 + 64 + 128 + 8'388'608 + gatedMlp};
    // Queries with their gates, keys and values of two heads, the projection out.
    QTest::newRow("gated attention") << deltaHybrid() << gatedAttention
                                     << qint64{2048 * 8192 + 2 * 2048 * 512 + 4096 * 2048 + gatedMlp};
}

void HybridRecipeTest::weightsOfALayer()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(LayerKind, kind);
    const ModelWeights weights = weightsPerGpu(architectureOf(plan), {}, {}, splitOf(plan));
    const Weights* each = weights.ofKind(kind);
    QVERIFY(each != nullptr);
    QTEST(qint64{each->total().value()}, "parameters");
}

void HybridRecipeTest::bytesOfALayer_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<LayerKind>("kind");
    QTest::addColumn<double>("bytes");
    const TrainingPlan mamba = mambaHybrid("M*-", "3");
    // Norm's input, result and statistics; the projection; the scan's result before and behind the gate; the gated
    // norm's.
    QTest::newRow("a state space") << mamba << stateSpace << 2.0 * 1024 * 2 + 4 + 2 * 6176 + 2 * 2 * 2048 + 2 * 2048;
    QTest::newRow("half of it") << mambaHybrid("M*-", "3", {{"parallel.tp", "2"}}) << stateSpace
                                << 2.0 * 1024 * 2 + 4 + 2 * 3088 + 2 * 2 * 1024 + 2 * 1024;
    // q, k, v, the context, a statistic a head
    QTest::newRow("attention alone") << mamba << attention << 2.0 * 1024 * 2 + 4 + 2 * 2048 + 2 * 1024 + 4 * 16;
    QTest::newRow("an MLP alone") << mamba << mlp << 2.0 * 1024 * 2 + 4 + 2 * 2 * 4096;
    // What the convolution reads and the gate; q and k of 16 heads and again for 32, v, triangles of 64 rows for 32
    // heads; the rule's result and the norm's; the MLP.
    const double halves = 2.0 * 2048 * 4 + 8, gatedMlp = 2 * 3 * 5120;
    QTest::newRow("a delta net") << deltaHybrid() << deltaNet
                                 << halves + 2.0 * (8192 + 4096) + 2.0 * (2 * 2048 + 2 * 4096 + 4096 + 64 * 32)
            + 2.0 * 2 * 4096 + gatedMlp;
}

void HybridRecipeTest::bytesOfALayer()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(LayerKind, kind);
    const Working working = workingOf(plan, {});
    for (const auto& [other, layer] : working.activations.kinds) {
        if (other == kind) {
            QTEST(layer.whole, "bytes");
            return;
        }
    }
    QFAIL("no layer is of that kind");
}

void HybridRecipeTest::stagesAddUp_data()
{
    addHybridsOverStages();
}

/// Stages of different layers: their parameters are the model's, and each one's activations those of its own layers.
void HybridRecipeTest::stagesAddUp()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(int, stages);
    Footprint footprint;
    const auto done = estimate(plan, {}, footprint);
    QVERIFY2(done, done ? "" : done.error().english().c_str());
    QCOMPARE(static_cast<int>(footprint.stages.size()), stages);
    const Working working = workingOf(plan, {});
    const auto split = PipelineSplit::of(plan);
    QVERIFY(split);
    qint64 parameters = 0;
    double activations = 0, expected = 0;
    for (int i = 0; i < stages; ++i) {
        parameters += footprint.stages[static_cast<std::size_t>(i)].parameters;
        activations += stageWorking(working, *split, i).activations.kept;
    }
    for (const auto& [kind, count] : working.model.countKinds(0, working.model.layers)) {
        for (const auto& [other, layer] : working.activations.kinds) {
            expected += other == kind ? static_cast<double>(count) * layer.whole * 1024 : 0;
        }
    }
    QCOMPARE(parameters, qint64{footprint.modelParameters});
    QCOMPARE(activations, expected);
}

QTEST_APPLESS_MAIN(HybridRecipeTest)
#include "tst_hybrid_recipe.moc"
