// SPDX-License-Identifier: GPL-3.0-or-later
//
// Megatron's FSDP: what it shards, and what is whole during a step (theory_moe_cp.md B7).
#include "footprint/instant/estimator.h"
#include "footprint/programs.h"
#include "footprint/tape/state.h"
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
    void shardsFrozenWeights();
    void shardsPartsFrozenByName_data();
    void shardsPartsFrozenByName();
    void frozenWeightsStandBesideTheirBuffers();
    void gathersRoots();
    void gathersUnitsOfAHybrid_data();
    void gathersUnitsOfAHybrid();
    void gathersAhead_data();
    void gathersAhead();
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
    QTest::newRow("no_shard") << QByteArray("shard.strategy=no_shard shard.dist_opt=true") << 2 * all << 4 * all
                              << 12 * all;
    for (const char* copies : {"parallel.dp_replicate=2", "parallel.dp_shard=2", "shard.dist_opt_instances=2"}) {
        QTest::newRow(copies) << QByteArray(copies) << 2 * all / 2 << 4 * all / 2 << 12 * all / 2;
    }
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

/// Adapters of rank 8 on all of a layer's matrices; the weights below them are shared out and gathered like trained
/// ones.
void TestShardedUnits::shardsFrozenWeights()
{
    const ModelProgram program = programOf(planOf(base + "lora.rank=8"));
    const StageState state = stageState(program, program.stages.front());
    // q, k and v in one product, the output, and the two of the MLP: rank times width in and out.
    constexpr qint64 rank = 8, adapters = 4 * rank * ((1 + 3) + (1 + 1) + (1 + 4) + (4 + 1)) * hidden;
    QCOMPARE(qint64{state.parameters}, 2 * all / 4 + 2 * adapters / 4);
    QCOMPARE(qint64{state.gradients}, 4 * adapters / 4);
    // All four layers are less than half a communication unit.
    const auto& storages = program.persistents.all;
    QVERIFY(std::any_of(storages.begin(), storages.end(), [](const PersistentStorages::Storage& storage) {
        return storage.kind == TensorKind::GatheredParameters && storage.bytes == 2 * (4 * layer + adapters);
    }));
}

void TestShardedUnits::shardsPartsFrozenByName_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<qint64>("parameters"); // bytes
    QTest::addColumn<qint64>("gradients");
    QTest::addColumn<qint64>("states");
    QTest::addColumn<qint64>("rootGradients"); // elements, of the head's
    const qint64 mlps = 4 * (2 * hidden * 4096 + hidden), trained = all - mlps; // with the norm that is fused
    const QByteArray names = "frozen.patterns=mlp ";
    QTest::newRow("MLPs, everything sharded")
        << names << 2 * all / 4 << 4 * trained / 4 << 12 * trained / 4 << vocab * hidden + hidden;
    QTest::newRow("MLPs, whole weights") << names + "shard.strategy=optim_grads" << 2 * all << 4 * trained / 4
                                         << 12 * trained / 4 << vocab * hidden + hidden;
    QTest::newRow("MLPs, whole gradients")
        << names + "shard.strategy=optim" << 2 * all << 4 * trained << 12 * trained / 4 << qint64{0};
    QTest::newRow("output layer") << QByteArray("frozen.patterns=output_layer") << 2 * all / 4
                                  << 4 * (all - vocab * hidden) / 4 << 12 * (all - vocab * hidden) / 4 << hidden;
    QTest::newRow("all but a norm") << QByteArray("frozen.trained=final_layernorm") << 2 * all / 4 << 4 * hidden / 4
                                    << 12 * hidden / 4 << hidden;
}

/// Of frozen weights every rank has its share, as of trained ones, and neither gradients nor state.
void TestShardedUnits::shardsPartsFrozenByName()
{
    QFETCH(QByteArray, settings);
    QFETCH(qint64, rootGradients);
    const ModelProgram program = programOf(planOf(base + settings));
    const StageState state = stageState(program, program.stages.front());
    QTEST(qint64{state.parameters}, "parameters");
    QTEST(qint64{state.gradients}, "gradients");
    QTEST(qint64{state.master + state.moments}, "states");
    QCOMPARE(qint64{parameterCount(program, program.stages.front())}, all);
    const Tape::Event first = program.pieces[2].tape.backward.front(); // of the head
    const bool isWhole = first.op == Tape::Op::Ensure && first.kind == TensorKind::WeightGradient;
    QCOMPARE(isWhole ? qint64{first.bytes} : 0, 2 * rootGradients);
}

/// The whole model is on the GPU until its buffers are made, which is the peak where hardly anything is trained and
/// one layer is gathered at a time.
void TestShardedUnits::frozenWeightsStandBesideTheirBuffers()
{
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    const auto peakOf = [&](const char* strategy) {
        return estimator.run(planOf(base
                                    + "model.layers=16 frozen.trained=final_layernorm batch.seq=64 "
                                      "shard.communication_unit=1 implementation.expandable_segments=true "
                                      "shard.strategy="
                                    + strategy),
                             stages)
            ? qint64{stages.front().peakAllocated.value}
            : 0;
    };
    constexpr qint64 weights = 2 * (all + 12 * layer);
    QCOMPARE(peakOf("optim_grads_params"), weights + weights / 4 + 4 * hidden / 4);
    QCOMPARE(peakOf("optim_grads"), weights + weights + 4 * hidden / 4);
    QCOMPARE(peakOf("optim"), weights + weights + 4 * hidden);
}

void TestShardedUnits::gathersRoots()
{
    const ModelProgram program = programOf(planOf(base));
    const auto first = [&program](std::size_t piece, bool isBackward) {
        const Tape& tape = program.pieces[piece].tape;
        return (isBackward ? tape.backward : tape.forward).front();
    };
    enum : std::size_t { Embedding, Layer, Head };
    QCOMPARE(qint64{first(Embedding, false).bytes}, 2 * vocab * hidden);
    QCOMPARE(qint64{first(Head, false).bytes}, 2 * (vocab * hidden + hidden));
    QCOMPARE(qint64{first(Head, true).bytes}, 2 * (vocab * hidden + hidden)); // its gradients in 16 bit
    for (const std::size_t piece : {Embedding, Layer, Head}) {
        QVERIFY(first(piece, false).kind == TensorKind::GatheredParameters);
        QVERIFY(program.persistents.all[first(piece, false).slot].endsWithStep);
    }
}

void TestShardedUnits::gathersUnitsOfAHybrid_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<qint64>("gathered"); // elements
    // Projections of 2 · 2048 + 2 · 8 · 128 + 32 columns and back, a convolution of 4 and a bias over 4096 channels,
    // three values a head, both norms.
    const qint64 scan = hidden * 6176 + 5 * 4096 + 3 * 32 + 2048 + 2048 * hidden + hidden;
    const qint64 mlp = 2 * hidden * 4096 + hidden, attention = 4 * hidden * hidden + hidden;
    QTest::newRow("the largest pair") << QByteArray("model.layers=4 model.layer_pattern=M-*-") << scan + mlp;
    QTest::newRow("a pair of one kind") << QByteArray("model.layers=5 model.layer_pattern=*MM*-") << 2 * scan;
    QTest::newRow("the other order") << QByteArray("model.layers=3 model.layer_pattern=*-*") << mlp + attention;
    QTest::newRow("the fuller stage") << QByteArray("model.layers=4 model.layer_pattern=**-M parallel.pp=2")
                                      << scan + mlp;
    QTest::newRow("alone on its stage") << QByteArray("model.layers=2 model.layer_pattern=M* parallel.pp=2") << scan;
}

/// Of layers that differ in size those are together that follow each other; of this communication unit, two.
void TestShardedUnits::gathersUnitsOfAHybrid()
{
    QFETCH(QByteArray, settings);
    QFETCH(qint64, gathered);
    const ModelProgram program = programOf(planOf(base + settings + " shard.communication_unit=2"));
    qint64 units = 0;
    int layers = 0;
    for (const StageProgram& stage : program.stages) {
        for (const PieceRun& run : stage.chunks.front().runs) {
            const Tape& tape = program.pieces[run.piece].tape;
            const qint64 bytes = tape.forward.front().bytes;
            const bool isRoot = tape.backward.front().op == Tape::Op::Ensure
                && tape.backward.front().kind == TensorKind::WeightGradient;
            if (!isRoot) {
                QVERIFY(tape.forward.front().kind == TensorKind::GatheredParameters);
                units = bytes;
                ++layers;
            }
        }
    }
    QVERIFY(layers > 0);
    QCOMPARE(units, (2 * gathered + 511) / 512 * 512);
}

/// Layers are taken along until half a communication unit is gathered beside the one that is asked for: all of a small
/// model, one more of layers that are larger.
void TestShardedUnits::gathersAhead_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<qint64>("elements");
    const qint64 wide = 8192, large = 12 * wide * wide + 2 * wide; // 8e8
    const auto unit = [](qint64 elements) { return "shard.communication_unit=" + QByteArray::number(elements); };
    QTest::newRow("a small model") << QByteArray() << 4 * layer;
    QTest::newRow("half of it is one layer") << unit(2 * layer) << 2 * layer;
    QTest::newRow("half of it is a layer and one element") << unit(2 * layer + 2) << 3 * layer;
    QTest::newRow("none ahead") << unit(1) << layer;
    QTest::newRow("hardly anything") << unit(2) << 2 * layer;
    QTest::newRow("layers of more than half a billion")
        << QByteArray("model.hidden=8192 model.ffn=32768 model.heads=64") << 2 * large;
}

void TestShardedUnits::gathersAhead()
{
    QFETCH(QByteArray, settings);
    QFETCH(qint64, elements);
    const ModelProgram program = programOf(planOf(base + settings));
    const Tape::Event first = program.pieces[1].tape.forward.front();
    QVERIFY(first.kind == TensorKind::GatheredParameters);
    QCOMPARE(qint64{first.bytes}, 2 * elements);
}

void TestShardedUnits::refuses_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::newRow("Megatron's own layers") << QByteArray("implementation.profile=megatron-local");
    QTest::newRow("Muon") << QByteArray("optimizer.name=muon");
    QTest::newRow("bitsandbytes' optimizer") << QByteArray("optimizer.name=paged_adamw_8bit");
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
