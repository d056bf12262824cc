// SPDX-License-Identifier: GPL-3.0-or-later
//
// The state of PyTorch frameworks and how it is shared by ranks, stages and experts.
#include "footprint/instant/estimator.h"
#include "footprint/torch/tapes.h"
#include "footprint/torch_plans.h"

#include <QTest>

#include <cmath>

using namespace headroom;
using namespace headroom::test;

class TestTorchState : public QObject
{
    Q_OBJECT

private slots:
    void state_data();
    void state();
    void deepSpeedBuckets_data();
    void deepSpeedBuckets();
    void tiedGradientStandsOnce();
    void stagesShareTheModel_data();
    void stagesShareTheModel();
    void expertRanksShareExperts();
    void expertsBesideTensors_data();
    void expertsBesideTensors();
    void refusesOtherExperts_data();
    void refusesOtherExperts();
};

void TestTorchState::state_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("resident");
    QTest::addColumn<double>("created");
    QTest::addColumn<double>("temporaries");

    const double p = 6738415616.0; // Llama-2-7B
    TrainingPlan plan = planOf(llama2, "hf-sdpa");
    QTest::newRow("bf16 throughout, foreach") << plan << 2 * p << 4 * p << 2 * p;
    plan.optimizer.impl = Name("fused");
    QTest::newRow("fused") << plan << 2 * p << 4 * p << 0.0;
    plan.optimizer.impl = Name("foreach2");
    QTest::newRow("foreach of PyTorch 2.0") << plan << 2 * p << 4 * p << 4 * p;

    // theory.md 5.4 and 2.1: 2mn + 2m² of the largest matrix (4096 × 11008) in bf16, and roots of what Adam has left.
    const double tables = 2 * 32000.0 * 4096, vectors = 65 * 4096.0, large = 4096.0 * 11008;
    const double matrices = p - tables - vectors;
    TrainingPlan other = planOf(llama2, "hf-sdpa");
    other.optimizer.name = Name("muon");
    QTest::newRow("Muon") << other << 2 * p << 2 * matrices + 4 * (tables + vectors)
                          << 2 * (2 * large + 2 * 4096.0 * 4096) + 2 * (tables + vectors);
    // Rows and columns of 32 layers and both tables, and the norms; the largest tensor is a table.
    const double factors = 32 * (4 * 2 * 4096.0 + 3 * (4096.0 + 11008)) + 2 * (32000.0 + 4096);
    other.optimizer.name = Name("adafactor");
    QTest::newRow("Adafactor of transformers") << other << 2 * p << 4 * (factors + vectors) << 4 * 4 * tables / 2;
    other.implementation.profile = Name("torchtune");
    QTest::newRow("Adafactor of PyTorch") << other << 2 * p << 4 * (factors + vectors) << 4 * tables / 2;
    other.optimizer.name = Name("sgd_momentum");
    QTest::newRow("SGD with momentum") << other << 2 * p << 2 * p << 0.0;

    TrainingPlan fsdp = planOf(llama2, "torchtitan");
    shardWithFsdp(fsdp, 12);
    other = fsdp;
    other.shard.strategy = Name("NO_SHARD");
    QTest::newRow("FSDP that shards nothing") << other << 4 * p << 8 * p << 0.0;
    QTest::newRow("FSDP over 12") << fsdp << 4 * p / 12 << 8 * p / 12 << 0.0;

    TrainingPlan zero = planOf(llama2, "hf-sdpa");
    zero.precision.recipe = Name("bf16-mixed");
    zero.parallel.dp = Count(8);
    const double bucket = 2 * 5e8;
    zero.shard.zeroStage = Count(1);
    QTest::newRow("ZeRO-1") << zero << 2 * p + 12 * p / 8 << 0.0 << 6 * p / 8;
    zero.shard.zeroStage = Count(2);
    QTest::newRow("ZeRO-2") << zero << 2 * p + 12 * p / 8 << 0.0 << 6 * p / 8;
    zero.shard.zeroStage = Count(3);
    QTest::newRow("ZeRO-3") << zero << (14 + 2) * p / 8 + bucket << 0.0 << 8 * p / 8;

    // Four sub-groups of at most 1e9 elements, of which two stay with master, moments and gradient in fp32.
    zero.parallel.dp = Count(2);
    zero.shard.offloadOptimizer = Flag(true);
    zero.shard.offloadOptimizerFraction = Real(0.5);
    const double staying = p / 2 - 2e9;
    QTest::newRow("ZeRO-3, half of the state offloaded") << zero << 2 * p / 2 + bucket + 16 * staying << 0.0 << 4e9;
    // One sub-group is offloaded whole or not at all, and half of one is none.
    zero.shard.subGroup = Count(4'000'000'000);
    QTest::newRow("ZeRO-3, one sub-group") << zero << 2 * p / 2 + bucket + 16 * p / 2 << 0.0 << 4 * p / 2;
    zero.shard.offloadOptimizerFraction = Real(1.0);
    QTest::newRow("ZeRO-3, all state offloaded") << zero << 2 * p / 2 + bucket << 0.0 << 0.0;

    // theory.md 2.1 S06: rank 16 on q and v of Llama-2-7B are 8,388,608 weights in fp32.
    TrainingPlan lora = planOf(llama2, "hf-sdpa");
    lora.lora.rank = Count(16);
    lora.lora.targets = Names(std::vector<std::string>{"q_proj", "v_proj"});
    const double n = 8388608.0;
    QTest::newRow("S06 LoRA") << lora << 2 * p + 4 * n << 8 * n << 4 * n;
    other = lora;
    other.optimizer.name = Name("paged_adamw_8bit"); // two of 8 bits, with an fp32 scale for 256 (tensors of 65,536)
    QTest::newRow("LoRA, 8-bit Adam") << other << 2 * p + 4 * n << 2 * (1 + 4 / 256.0) * n << 0.0;
    other.optimizer.name = Name("sgd_momentum");
    QTest::newRow("LoRA, SGD with momentum") << other << 2 * p + 4 * n << 4 * n << 0.0;
    other.optimizer.name = Name("adafactor"); // rows and columns of 128 tensors in blocks; two temporaries
    QTest::newRow("LoRA, Adafactor") << other << 2 * p + 4 * n << 128 * (4 * 4096.0 + 512) << 2 * 4 * 65536.0;
    lora.shard.zeroStage = Count(3);
    lora.parallel.dp = Count(4);
    QTest::newRow("LoRA under ZeRO-3") << lora << (2 * p + 4 * n + 4 * n + 8 * n) / 4 + bucket << 0.0 << 8 * n / 4;
}

void TestTorchState::state()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, resident);
    QFETCH(double, created);
    QFETCH(double, temporaries);
    const ModelProgram program = programOf(plan);
    const StageTensors& tensors = program.stages.front().tensors;
    const auto isClose = [](std::int64_t got, double expected) {
        return std::abs(static_cast<double>(got) - expected) <= 1e-4 * expected + 1;
    };
    QVERIFY2(isClose(sumOf(tensors.resident), resident), std::to_string(sumOf(tensors.resident)).c_str());
    QVERIFY2(isClose(sumOf(tensors.created), created), std::to_string(sumOf(tensors.created)).c_str());
    QVERIFY2(isClose(sumOf(tensors.temporaries), temporaries), std::to_string(sumOf(tensors.temporaries)).c_str());
}

/// stage_1_and_2.py makes the bucket in backward() and drops it in independent_gradient_partition_epilogue(); stage3.py
/// has its from the start (tested above).
void TestTorchState::deepSpeedBuckets_data()
{
    QTest::addColumn<int>("stage");
    QTest::addColumn<qint64>("elements"); ///< stated
    QTest::addColumn<qint64>("bytes"); ///< of the bucket that a backward makes
    QTest::newRow("ZeRO-1") << 1 << qint64{0} << qint64{1'000'000'000};
    QTest::newRow("ZeRO-2") << 2 << qint64{0} << qint64{1'000'000'000};
    QTest::newRow("ZeRO-2, stated") << 2 << qint64{400'000'000} << qint64{800'000'000};
    QTest::newRow("ZeRO-3") << 3 << qint64{0} << qint64{0};
}

void TestTorchState::deepSpeedBuckets()
{
    QFETCH(int, stage);
    QFETCH(qint64, elements);
    QFETCH(qint64, bytes);
    TrainingPlan plan = planOf(llama2, "hf-sdpa");
    plan.precision.recipe = Name("bf16-mixed");
    plan.parallel.dp = Count(8);
    plan.shard.zeroStage = Count(stage);
    if (elements > 0) {
        plan.shard.reduceBucket = Count(elements);
    }
    const ModelProgram program = programOf(plan);
    std::int64_t made = 0;
    for (const PersistentStorages::Storage& storage : program.persistents.all) {
        made += storage.kind == TensorKind::ReduceBuffer ? storage.bytes : 0;
        QVERIFY(storage.kind != TensorKind::ReduceBuffer || storage.endsWithStep);
    }
    QVERIFY2(std::abs(made - bytes) < 512, std::to_string(made).c_str());
}

/// A tied table is one parameter of the root group: its shard, its gradient and its moments are 16 bytes, not 20.
void TestTorchState::tiedGradientStandsOnce()
{
    TrainingPlan plan = planOf(llama32, "torchtitan");
    shardWithFsdp(plan, 8);
    const ModelProgram program = programOf(plan);
    std::int64_t bytes = 0;
    for (const PieceRun& run : program.stages.front().chunks.front().runs) {
        for (const Tape::Event& event : program.pieces[run.piece].tape.backward) {
            bytes += event.op == Tape::Op::Accumulate ? run.count * event.bytes : 0;
        }
    }
    const double parameters = 3212749824.0; // Llama-3.2-3B
    QVERIFY2(std::abs(static_cast<double>(bytes) - 4 * parameters / 8) < 1e-4 * parameters,
             std::to_string(bytes).c_str());
}

void TestTorchState::stagesShareTheModel_data()
{
    QTest::addColumn<int>("stages");
    QTest::addColumn<int>("chunks");
    QTest::newRow("4 stages") << 4 << 1;
    QTest::newRow("4 stages of 2 chunks") << 4 << 2;
    QTest::newRow("8 stages of 4 chunks") << 8 << 4;
}

/// Stages have the model's weights between them, and each holds less than the whole.
void TestTorchState::stagesShareTheModel()
{
    QFETCH(int, stages);
    QFETCH(int, chunks);
    TrainingPlan plan = planOf(llama3, "torchtitan");
    shardWithFsdp(plan, 8);
    plan.batch.accum = Count(8);
    const ModelProgram whole = programOf(plan);
    InstantEstimator estimator;
    std::vector<StageFootprint> alone, split;
    QVERIFY(estimator.run(plan, alone).has_value());
    plan.parallel.pp = Count(stages);
    plan.parallel.vpp = Count(chunks);
    plan.parallel.schedule = Field<Schedule>(chunks > 1 ? Schedule::Interleaved : Schedule::OneForwardOneBackward);
    const ModelProgram program = programOf(plan);
    QCOMPARE(program.stages.size(), static_cast<std::size_t>(stages));
    std::int64_t parameters = 0, states = 0;
    for (const StageProgram& stage : program.stages) {
        parameters += parameterCount(program, stage);
        states += sumOf(stage.tensors.resident) + sumOf(stage.tensors.created);
    }
    QCOMPARE(parameters, parameterCount(whole, whole.stages.front()));
    const StageTensors& all = whole.stages.front().tensors;
    QVERIFY(std::abs(states - sumOf(all.resident) - sumOf(all.created)) < 1'000'000);
    QVERIFY(estimator.run(plan, split).has_value());
    for (const StageFootprint& stage : split) {
        QVERIFY(stage.steadyAllocated < alone.front().steadyAllocated);
    }
}

/// Expert parallelism within the ranks that share the weights moves experts, it does not change how many bytes of them
/// a rank keeps; it makes what is gathered smaller.
void TestTorchState::expertRanksShareExperts()
{
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, "torchtitan");
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    shardWithFsdp(plan, 8);
    const ModelProgram together = programOf(plan);
    plan.parallel.ep = Count(4);
    const ModelProgram apart = programOf(plan);
    const auto resident = [](const ModelProgram& program) { return sumOf(program.stages.front().tensors.resident); };
    QVERIFY(std::abs(resident(apart) - resident(together)) < 1'000'000);
    const auto gathered = [](const ModelProgram& program) {
        std::int64_t most = 0;
        for (const Tape::Event& event : program.pieces[3].tape.forward) {
            most = std::max(most, event.kind == TensorKind::GatheredParameters ? event.bytes : 0);
        }
        return most;
    };
    QVERIFY(2 * gathered(apart) < gathered(together));
}

void TestTorchState::expertsBesideTensors_data()
{
    QTest::addColumn<int>("expert");
    QTest::addColumn<int>("expertTensor"); ///< 0: not stated
    QTest::addColumn<qint64>("rows");
    QTest::addColumn<qint64>("weights");
    const qint64 whole = qint64{128} * 2048 * 768;
    const qint64 rows = 8 * tokens;
    QTest::newRow("not spread, split like all else") << 1 << 0 << rows << whole / 2;
    QTest::newRow("spread and whole: a rank sends its half of the tokens") << 4 << 0 << rows / 2 << whole / 4;
    QTest::newRow("the same, stated") << 4 << 1 << rows / 2 << whole / 4;
    QTest::newRow("spread and split: both ranks have all rows") << 4 << 2 << rows << whole / 8;
}

/// Bytes of the rows a rank's experts read, and elements of its three weight tensors. All ranks together hold each
/// expert's state once, however it is cut.
void TestTorchState::expertsBesideTensors()
{
    QFETCH(int, expert);
    QFETCH(int, expertTensor);
    QFETCH(qint64, rows);
    QFETCH(qint64, weights);
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, "torchtitan");
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    shardWithFsdp(plan, 8);
    plan.parallel.tp = Count(2);
    plan.parallel.sp = Flag(true);
    const qint64 resident = sumOf(programOf(plan).stages.front().tensors.resident);
    plan.parallel.ep = Count(expert);
    if (expertTensor > 0) {
        plan.parallel.etp = Count(expertTensor);
    }
    const ModelProgram program = programOf(plan);
    const Piece& block = program.pieces[3];
    qint64 permuted = 0;
    for (const Tape::Event& event : block.tape.forward) {
        const bool isMade = event.op == Tape::Op::Allocate && event.kind == TensorKind::PermutedTokens;
        permuted += isMade ? event.bytes : 0;
    }
    QCOMPARE(permuted, rows * 2048 * 2);
    QCOMPARE(std::count(block.parameters.begin(), block.parameters.end(), weights), std::ptrdiff_t{3});
    QVERIFY(std::abs(sumOf(program.stages.front().tensors.resident) - resident) < 1'000'000);
}

void TestTorchState::refusesOtherExperts_data()
{
    QTest::addColumn<QString>("profile");
    QTest::addColumn<int>("expert");
    QTest::addColumn<int>("expertTensor");
    QTest::addColumn<QString>("words");
    QTest::newRow("a part of the ranks") << "torchtitan" << 4 << 2 << "set parallel.etp to 1 or to parallel.tp";
    QTest::newRow("both in another framework") << "nanotron" << 4 << 1 << "set parallel.tp or parallel.ep to 1";
    QTest::newRow("whole ones in another framework") << "nanotron" << 1 << 1 << "leave parallel.etp out";
}

void TestTorchState::refusesOtherExperts()
{
    QFETCH(QString, profile);
    QFETCH(int, expert);
    QFETCH(int, expertTensor);
    QFETCH(QString, words);
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, profile.toUtf8().constData());
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    plan.parallel.dp = Count(8);
    plan.parallel.tp = Count(4);
    plan.parallel.ep = Count(expert);
    plan.parallel.etp = Count(expertTensor);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY(!built);
    QVERIFY2(built.error().english().find(words.toStdString()) != std::string::npos, built.error().english().c_str());
}

QTEST_APPLESS_MAIN(TestTorchState)
#include "tst_torch_state.moc"
