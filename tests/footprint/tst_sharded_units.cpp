// SPDX-License-Identifier: GPL-3.0-or-later
//
// Megatron's FSDP: what it shards, and what is whole during a step (theory_moe_cp.md B7).
#include "footprint/programs.h"
#include "footprint/tape_state.h"
#include "footprint/written_plan.h"

#include <QTest>

using namespace headroom;
using test::planOf;
using test::programOf;

class TestShardedUnits : public QObject
{
    Q_OBJECT

private slots:
    void shardsByStrategy_data();
    void shardsByStrategy();
    void expertsByTheirOwnReplicas();
    void gathersTwoUnits();
    void refuses_data();
    void refuses();
};

namespace {

/// A layer has 12 h², without biases; norms one weight of h.
const QByteArray base = "implementation.profile=megatron-te model.layers=4 model.hidden=1024 model.ffn=4096 "
                        "model.heads=16 model.vocab=32768 model.tied_embeddings=false batch.micro=1 batch.seq=1024 "
                        "batch.accum=2 precision.recipe=megatron-bf16 shard.fsdp=true parallel.dp=4 ";
constexpr qint64 hidden = 1024, vocab = 32768;
constexpr qint64 layer = 12 * hidden * hidden + 2 * hidden;
constexpr qint64 all = 4 * layer + hidden + 2 * vocab * hidden; // every tensor a multiple of 64, all one of 128

} // namespace

void TestShardedUnits::shardsByStrategy_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<qint64>("parameters"); // bytes
    QTest::addColumn<qint64>("gradients");
    QTest::addColumn<qint64>("states");
    QTest::newRow("everything") << QByteArray() << 2 * all / 4 << 4 * all / 4 << 12 * all / 4;
    QTest::newRow("optim_grads_params") << QByteArray("shard.strategy=optim_grads_params") << 2 * all / 4 << 4 * all / 4
                                        << 12 * all / 4;
    QTest::newRow("optim_grads") << QByteArray("shard.strategy=optim_grads") << 2 * all << 4 * all / 4 << 12 * all / 4;
    QTest::newRow("optim") << QByteArray("shard.strategy=optim") << 2 * all << 4 * all << 12 * all / 4;
}

void TestShardedUnits::shardsByStrategy()
{
    QFETCH(QByteArray, settings);
    QFETCH(qint64, parameters);
    QFETCH(qint64, gradients);
    QFETCH(qint64, states);
    const ModelProgram program = programOf(planOf(base + settings));
    const StageState state = stageState(program, program.stages.front());
    QCOMPARE(qint64{state.parameters}, parameters);
    QCOMPARE(qint64{state.gradients}, gradients);
    QCOMPARE(qint64{state.master + state.moments}, states);
}

/// Over eight ranks experts of two groups have four replicas each.
void TestShardedUnits::expertsByTheirOwnReplicas()
{
    const ModelProgram program
        = programOf(planOf(base + "parallel.dp=8 moe.experts=8 moe.topk=2 moe.grouped_gemm=true parallel.ep=2"));
    const StageState state = stageState(program, program.stages.front());
    const qint64 experts = 4 * 4 * 2 * hidden * 4096; // of this rank
    const qint64 dense = all - 4 * 2 * hidden * 4096 + 4 * 8 * hidden; // with routers, without the MLP
    QCOMPARE(qint64{state.parameters}, 2 * dense / 8 + 2 * experts / 4);
}

void TestShardedUnits::gathersTwoUnits()
{
    const ModelProgram program = programOf(planOf(base));
    const auto first = [&program](std::size_t piece, bool isBackward) {
        const Tape& tape = program.pieces[piece].tape;
        return (isBackward ? tape.backward : tape.forward).front();
    };
    enum : std::size_t { Embedding, Layer, Head };
    QCOMPARE(qint64{first(Embedding, false).bytes}, 2 * vocab * hidden);
    QCOMPARE(qint64{first(Layer, false).bytes}, 2 * 2 * layer);
    QCOMPARE(qint64{first(Head, false).bytes}, 2 * (vocab * hidden + hidden));
    QCOMPARE(qint64{first(Head, true).bytes}, 2 * (vocab * hidden + hidden)); // its gradients in 16 bit
    for (const std::size_t piece : {Embedding, Layer, Head}) {
        QVERIFY(first(piece, false).kind == TensorKind::GatheredParameters);
        QVERIFY(program.persistents.all[first(piece, false).slot].endsWithStep);
    }
}

void TestShardedUnits::refuses_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::newRow("Megatron's own layers") << QByteArray("implementation.profile=megatron-local");
    QTest::newRow("Muon") << QByteArray("optimizer.name=muon");
    QTest::newRow("encoder and decoder") << QByteArray("model.family=t5");
}

void TestShardedUnits::refuses()
{
    QFETCH(QByteArray, settings);
    ModelProgram program;
    QVERIFY(!buildProgram(planOf(base + settings), program));
}

QTEST_APPLESS_MAIN(TestShardedUnits)
#include "tst_sharded_units.moc"
