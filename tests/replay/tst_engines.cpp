// SPDX-License-Identifier: GPL-3.0-or-later
//
// The footprint of a whole plan by either reader of the tapes, and what stands in where no tape describes it.
#include "footprint/instant/estimator.h"
#include "replay/models.h"
#include "replay/replay.h"

#include <QTest>

using namespace headroom;
using test::llama7b;
using test::planOf;

class TestEngines : public QObject
{
    Q_OBJECT

private slots:
    void offloadsTheOptimizer();
    void replacesStagesOnly();
    void fallsBack_data();
    void fallsBack();
    void internEvoClipsCopies();
    void deepSpeedSteps_data();
    void deepSpeedSteps();
};

/// theory.md 2.6: of the distributed optimizer's 6 + 12/d bytes the 12/d go, as far as they are offloaded.
void TestEngines::offloadsTheOptimizer()
{
    const auto stateOf = [](const QByteArray& settings) {
        Footprint footprint;
        if (!estimateInstantly(planOf(llama7b + "shard.dist_opt=true parallel.dp=8 " + settings), {}, footprint)) {
            qFatal("refused");
        }
        return footprint.stages.front().component(Component::OptimizerState).value;
    };
    const std::int64_t whole = stateOf({});
    QCOMPARE(whole, std::int64_t{6738415616} / 8 * 12);
    QCOMPARE(stateOf("shard.offload_optimizer=true"), std::int64_t{0});
    QCOMPARE(stateOf("shard.offload_optimizer=true shard.offload_optimizer_fraction=0.25"), whole / 4 * 3);
}

void TestEngines::replacesStagesOnly()
{
    const TrainingPlan plan = planOf(llama7b + "parallel.pp=2 batch.accum=4 hardware.capacity_bytes=80GiB");
    Footprint instant, replayed;
    QVERIFY(estimateInstantly(plan, {}, instant));
    QVERIFY(replay(plan, {}, replayed));
    QCOMPARE(instant.stages.size(), std::size_t{2});
    QCOMPARE(qint64{instant.modelParameters}, qint64{6738415616}); // theory.md P02
    QCOMPARE(qint64{replayed.modelParameters}, qint64{6738415616});
    QCOMPARE(instant.stages[0].parameters + instant.stages[1].parameters, std::int64_t{6738415616});
    QVERIFY(replayed.stages[0].peakReserved >= replayed.stages[0].peakAllocated);
    QVERIFY(replayed.stages[0].device > replayed.stages[0].peakReserved);
    QVERIFY(replayed.fits().has_value());
    QVERIFY(instant.engine == Engine::Instant && replayed.engine == Engine::Replay);
}

void TestEngines::fallsBack_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("textbook model") << QByteArray("model.layers=24 model.hidden=1024 model.vocab=50000 batch.micro=2 "
                                                  "batch.seq=1024")
                                    << QByteArray("model.heads is not known");
    QTest::newRow("offloaded activations beside recomputed layers")
        << llama7b + "shard.offload_activations=true recompute.granularity=full"
        << QByteArray("leave shard.offload_activations out");
    QTest::newRow("Muon beside the host")
        << llama7b + "precision.recipe=megatron-bf16-muon shard.offload_optimizer=true"
        << QByteArray("leave shard.offload_optimizer out");
    QTest::newRow("8-bit parameters under FSDP")
        << llama7b + "shard.fsdp=true parallel.dp=4 precision.fp8=tensorwise precision.fp8_params=true"
        << QByteArray("leave precision.fp8_params out");
    QTest::newRow("unknown dispatcher") << llama7b + "moe.experts=8 moe.dispatcher=carrier-pigeon"
                                        << QByteArray("the token dispatcher carrier-pigeon");
    QTest::newRow("experts that do not divide") << llama7b + "moe.experts=8 moe.ffn=1001 parallel.tp=2"
                                                << QByteArray("moe.ffn (1001) cannot be split over 2 ranks");
    QTest::newRow("latent attention without head sizes") << llama7b + "mla.kv_lora_rank=512" << QByteArray("mla.v_dim");
    QTest::newRow("exchange without its group")
        << llama7b + "parallel.cp=4 parallel.cp_comm=a2a+p2p" << QByteArray("parallel.cp_inner");
    QTest::newRow("ZeRO-3") << llama7b + "shard.zero_stage=3 parallel.dp=8" << QByteArray("set shard.fsdp");
    QTest::newRow("endless accumulation")
        << llama7b + "parallel.pp=4 parallel.schedule=gpipe batch.accum=100000000" << QByteArray("too many to walk");
    QTest::newRow("endless pipeline") << llama7b + "model.layers=5000 parallel.pp=5000 batch.accum=1000000"
                                      << QByteArray("too many to walk");
    QTest::newRow("other framework") << llama7b + "implementation.profile=maxtext" << QByteArray("maxtext");
}

/// What no tape describes is estimated as before, and said so.
void TestEngines::fallsBack()
{
    QFETCH(QByteArray, settings);
    QFETCH(QByteArray, says);
    const TrainingPlan plan = planOf(settings);
    for (auto* engine : {&estimateInstantly, &replay}) {
        Footprint footprint;
        QVERIFY(engine(plan, {}, footprint));
        QCOMPARE(footprint.engine, Engine::Textbook);
        QVERIFY(!footprint.stages.empty());
        const std::string reason = footprint.notExact.value_or(Text{}).english();
        QVERIFY2(reason.find(says.toStdString()) != std::string::npos, reason.c_str());
    }
}

/// compute_norm keeps an fp32 copy of every gradient of the rank's share: 4 bytes a weight. The copies are gone before
/// the flat tensors come, but those are too large for what the copies leave in the cache.
void TestEngines::internEvoClipsCopies()
{
    const std::int64_t parameters = 6738415616;
    const QByteArray sharded = llama7b + "precision.recipe=bf16-mixed shard.zero_stage=1 parallel.dp=8 ";
    const TrainingPlan plan = planOf(sharded + "implementation.profile=internevo");
    ModelProgram program, other;
    QVERIFY(buildProgram(plan, program).has_value());
    QVERIFY(buildProgram(planOf(sharded + "implementation.profile=hf-sdpa"), other).has_value());
    const auto copiesOf = [](const ModelProgram& of) {
        std::int64_t bytes = 0;
        for (const Tape::Event& copy : of.stages.front().tensors.clipping) {
            bytes += copy.bytes;
        }
        return bytes;
    };
    const std::int64_t copies = copiesOf(program);
    QVERIFY2(std::abs(copies - 4 * parameters / 8) < parameters / 10'000, std::to_string(copies).c_str());
    QCOMPARE(copiesOf(other), std::int64_t{0});
    ReplayOptions options;
    options.steps = 2;
    const StageReplay replay = replayStage(program, program.stages.front(), options);
    QVERIFY(replay.peakReserved.value - replay.peakAllocated.value >= copies);
}

void TestEngines::deepSpeedSteps_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<int>("bytes");
    QTest::newRow("fused: a list of fp32 gradients and its flat copy") << QByteArray() << 24;
    QTest::newRow("weight by weight: the list alone") << QByteArray("optimizer.impl=for-loop") << 20;
}

/// DeepSpeed without ZeRO, runtime/fp16/fused_optimizer.py and unfused_optimizer.py: 14 bytes a weight from the start,
/// gradients 2, in the step 4 or 8 more, in the first step as in every other.
void TestEngines::deepSpeedSteps()
{
    QFETCH(QByteArray, settings);
    QFETCH(int, bytes);
    const TrainingPlan plan = planOf(
        "model.layers=64 model.hidden=8192 model.ffn=32768 model.heads=32 model.vocab=50257 model.gated_mlp=false "
        "model.layer_norm=true model.attn_bias=true model.mlp_bias=true model.tied_embeddings=true model.rope=false "
        "model.learned_positions=true model.max_pos=1024 batch.micro=1 batch.accum=64 batch.seq=1024 parallel.tp=4 "
        "parallel.pp=16 recompute.enabled=true recompute.granularity=full precision.recipe=megatron-fp16 "
        "implementation.profile=deepspeed-pipeline "
        + settings);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY2(built.has_value(), built ? "" : built.error().english().c_str());
    const StageProgram& stage = program.stages[14]; // few micro-batches in flight: its peak is the step
    for (const int steps : {1, 3}) {
        ReplayOptions options;
        options.steps = steps;
        const auto peak = static_cast<double>(replayStage(program, stage, options).peakAllocated.value);
        const double perWeight = peak / static_cast<double>(parameterCount(program, stage));
        QVERIFY2(perWeight >= bytes && perWeight < bytes + 0.2, std::to_string(perWeight).c_str());
    }
}

QTEST_APPLESS_MAIN(TestEngines)
#include "tst_engines.moc"
