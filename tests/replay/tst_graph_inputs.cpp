// SPDX-License-Identifier: GPL-3.0-or-later
//
// Inputs of CUDA graphs, counted by hand: a graph for every recorded layer of a pass that has run forward and not yet
// backward.
#include "footprint/instant/estimator.h"
#include "footprint/programs.h"
#include "footprint/tape/graph_inputs.h"
#include "footprint/written_plan.h"
#include "replay/replay.h"

#include <QTest>

#include <numeric>

using namespace headroom;
using test::planOf;
using test::programOf;

class TestGraphInputs : public QObject
{
    Q_OBJECT

private slots:
    void counts_data();
    void counts();
    void stays();
};

namespace {

/// Two sequences of 1024 tokens, split over four ranks: 1024 / 4 · 2 rows of 512 in 16 bit. The mask is not split.
const QByteArray base = "implementation.profile=megatron-te model.layers=4 model.hidden=512 model.ffn=2048 "
                        "model.heads=8 model.vocab=32768 batch.micro=2 batch.seq=1024 batch.accum=8 "
                        "precision.recipe=megatron-bf16 parallel.tp=4 parallel.sp=true attention.impl=fused ";
const QByteArray recorded = "implementation.cuda_graphs=transformer_engine ";
constexpr qint64 hidden = 1024 / 4 * 2 * 512 * 2, mask = qint64{2} * 1024 * 1024;

qint64 inputBytes(const ModelProgram& program, const StageProgram& stage)
{
    const std::vector<std::int64_t> inputs = graphInputs(program, stage);
    return std::accumulate(inputs.begin(), inputs.end(), std::int64_t{0});
}

} // namespace

void TestGraphInputs::counts_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<int>("stage");
    QTest::addColumn<qint64>("bytes");
    const QByteArray stages = recorded + "parallel.pp=2 ", chunks = stages + "parallel.vpp=2 ",
                     experts = recorded + "moe.experts=4 moe.topk=1 moe.first_dense_layers=1 ";
    const auto modules = [](const QByteArray& names) { return "implementation.cuda_graph_modules=" + names; };
    QTest::newRow("none") << QByteArray() << 0 << qint64{0};
    QTest::newRow("recorded by Megatron itself") << QByteArray("implementation.cuda_graphs=local") << 0 << qint64{0};
    QTest::newRow("one pass at a time") << recorded << 0 << 4 * (hidden + mask);
    QTest::newRow("MLPs alone have no mask") << recorded + modules("mlp") << 0 << 4 * hidden;
    // Two layers a stage; the first holds two passes, the last one.
    QTest::newRow("first of two stages") << stages << 0 << 2 * 2 * (hidden + mask);
    QTest::newRow("last of two stages") << stages << 1 << 2 * (hidden + mask);
    // One layer a chunk; 2 · 1 + 2 passes before the first that a backward follows, and none + 2.
    QTest::newRow("first of two stages, in chunks") << chunks << 0 << 5 * (hidden + mask);
    QTest::newRow("last of two stages, in chunks") << chunks << 1 << 3 * (hidden + mask);
    QTest::newRow("experts' routers, of three layers") << experts + modules("moe_router") << 0 << 3 * hidden;
    QTest::newRow("attention and routers share an input")
        << experts + modules("attn,moe_router") << 0 << 4 * (hidden + mask);
    QTest::newRow("a prediction's layer too") << recorded + "model.mtp_layers=1" << 0 << 5 * (hidden + mask);
}

void TestGraphInputs::counts()
{
    QFETCH(QByteArray, settings);
    QFETCH(int, stage);
    QFETCH(qint64, bytes);
    const ModelProgram program = programOf(planOf(base + settings));
    QCOMPARE(inputBytes(program, program.stages[static_cast<std::size_t>(stage)]), bytes);
}

/// For both readers they are there at the peak and between steps.
void TestGraphInputs::stays()
{
    const auto figures = [](const QByteArray& settings) {
        InstantEstimator estimator;
        std::vector<StageFootprint> stages;
        const auto done = estimator.run(planOf(settings), stages);
        const StageReplay replay = replayStage(estimator.program(), estimator.program().stages[0]);
        return std::tuple{done.has_value() ? stages[0].peakAllocated.value : 0, stages[0].steadyAllocated.value,
                          replay.peakAllocated.value, replay.steadyAllocated.value};
    };
    const auto with = figures(base + recorded), without = figures(base);
    const qint64 bytes = 4 * (hidden + mask);
    QCOMPARE(qint64{std::get<0>(with) - std::get<0>(without)}, bytes);
    QCOMPARE(qint64{std::get<1>(with) - std::get<1>(without)}, bytes);
    // In the replay each of them has a block, of up to 1 MiB more.
    const qint64 rounding = 8 << 20;
    QVERIFY(std::abs(std::get<2>(with) - std::get<2>(without) - bytes) <= rounding);
    QVERIFY(std::abs(std::get<3>(with) - std::get<3>(without) - bytes) <= rounding);
}

QTEST_APPLESS_MAIN(TestGraphInputs)
#include "tst_graph_inputs.moc"
