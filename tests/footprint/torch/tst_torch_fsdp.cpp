// SPDX-License-Identifier: GPL-3.0-or-later
//
// PyTorch's two FSDPs: what a block gathers, how its gradients are reduced and what accumulates between steps. Sizes
// follow from torch/distributed/fsdp/_runtime_utils.py and _fully_shard/_fsdp_param_group.py.
#include "footprint/estimate.h"
#include "footprint/torch/tapes.h"
#include "footprint/torch_plans.h"

#include <QTest>

#include <algorithm>
#include <optional>

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr std::int64_t h = 4096, f = 11008;
constexpr std::int64_t block = 4 * h * h + 3 * h * f + 2 * h; // elements of a block of Llama 2 7B
constexpr std::int64_t parameters = 6738415616;

/// Shards in fp32, computed with and gathered in bf16.
TrainingPlan sharded(const char* profile, const char* version, DataType reduce = DataType::Fp32)
{
    TrainingPlan plan = planOf(llama2, profile);
    shardWithFsdp(plan, 8);
    plan.precision.reduce = Field<DataType>(reduce);
    if (*version != 0) {
        plan.shard.fsdpVersion = Count(QByteArray(version).toInt());
    }
    return plan;
}

/// Bytes of a kind alive at most, or when the first tensor of another kind is allocated.
std::int64_t alive(const std::vector<Tape::Event>& events, TensorKind kind, std::optional<TensorKind> until = {})
{
    std::int64_t bytes = 0, most = 0;
    for (const Tape::Event& event : events) {
        if (until && event.kind == *until && event.op == Tape::Op::Allocate) {
            return bytes;
        }
        if (event.kind == kind && (event.op == Tape::Op::Allocate || event.op == Tape::Op::Free)) {
            bytes += event.op == Tape::Op::Allocate ? event.bytes : -event.bytes;
            most = std::max(most, bytes);
        }
    }
    return until ? -1 : most;
}

} // namespace

class TestTorchFsdp : public QObject
{
    Q_OBJECT

private slots:
    void gathers_data();
    void gathers();
    void reduces_data();
    void reduces();
    void accumulates_data();
    void accumulates();
};

void TestTorchFsdp::gathers_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<std::int64_t>("forward");
    QTest::addColumn<std::int64_t>("backward");

    constexpr std::int64_t whole = 2 * block, buffer = whole / 8 * 9;
    // The collective writes the flat tensor and reads this rank's share in 16 bits; the block in front is gathered
    // while the backward of this one runs.
    QTest::newRow("first") << sharded("hf-flash", "1") << buffer << 2 * whole;
    QTest::newRow("accelerate's unless told") << sharded("hf-flash", "") << buffer << 2 * whole;
    // Galvatron asks for no prefetch.
    QTest::newRow("first, one after the other") << sharded("galvatron", "") << buffer << buffer;
    TrainingPlan plan = sharded("hf-flash", "1");
    plan.precision.params = plan.precision.grads = Field<DataType>(DataType::Bf16); // the shard is what is read
    QTest::newRow("first, 16-bit shards") << plan << whole << 2 * whole;
    // What the next block's collective writes beside what this one's has written (theory.md 2.4).
    QTest::newRow("second") << sharded("hf-flash", "2") << 2 * buffer << whole + buffer;
    QTest::newRow("torchtitan's") << sharded("torchtitan", "") << 2 * buffer << whole + buffer;
}

void TestTorchFsdp::gathers()
{
    QFETCH(TrainingPlan, plan);
    const Tape tape = programOf(plan).pieces[1].tape;
    QTEST(alive(tape.forward, TensorKind::GatheredParameters), "forward");
    QTEST(alive(tape.backward, TensorKind::GatheredParameters), "backward");
}

void TestTorchFsdp::reduces_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<std::int64_t>("unsharded");
    QTest::addColumn<std::int64_t>("input");
    QTest::addColumn<std::int64_t>("gatheredThen"); ///< -1: the reduction makes nothing of its own

    constexpr std::int64_t whole = 2 * block;
    // One by one and joined; the block's own weights are gone before the copy in fp32 is made.
    QTest::newRow("first") << sharded("hf-flash", "1") << 2 * whole << 2 * whole << whole;
    QTest::newRow("first, in 16 bits") << sharded("hf-flash", "1", DataType::Bf16) << 2 * whole << std::int64_t{0}
                                       << std::int64_t{-1};
    QTest::newRow("second") << sharded("hf-flash", "2") << whole << 2 * whole << whole + whole / 8 * 9;
    QTest::newRow("second, in 16 bits") << sharded("hf-flash", "2", DataType::Bf16) << whole << whole
                                        << whole + whole / 8 * 9;
}

void TestTorchFsdp::reduces()
{
    QFETCH(TrainingPlan, plan);
    const Tape tape = programOf(plan).pieces[1].tape;
    QTEST(alive(tape.backward, TensorKind::WeightGradient), "unsharded");
    QTEST(alive(tape.backward, TensorKind::ReduceBuffer), "input");
    QTEST(alive(tape.backward, TensorKind::GatheredParameters, TensorKind::ReduceBuffer), "gatheredThen");
}

void TestTorchFsdp::accumulates_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<std::int64_t>("whole");
    const auto over = [](TrainingPlan plan, int microBatches, const char* framework = "") {
        plan.batch.accum = Count(microBatches);
        plan.framework = Name(framework);
        return plan;
    };
    QTest::newRow("one micro-batch") << over(sharded("hf-flash", "1"), 1) << std::int64_t{0};
    // trainer.py, accelerator.no_sync: whole gradients in the type of the computation, or of the reduction.
    QTest::newRow("first") << over(sharded("hf-flash", "1"), 4) << 2 * parameters;
    QTest::newRow("second") << over(sharded("hf-flash", "2"), 4) << 4 * parameters;
    QTest::newRow("second, in 16 bits") << over(sharded("hf-flash", "2", DataType::Bf16), 4) << 2 * parameters;
    QTest::newRow("LitGPT") << over(sharded("litgpt", ""), 4) << 2 * parameters;
    QTest::newRow("torchtitan reduces each") << over(sharded("torchtitan", ""), 4) << std::int64_t{0};
    QTest::newRow("verl reduces each") << over(sharded("hf-flash", "1"), 4, "verl") << std::int64_t{0};
    TrainingPlan synchronised = over(sharded("hf-flash", "2"), 4);
    synchronised.shard.syncEachBatch = Flag(true);
    QTest::newRow("accelerate is told to reduce each") << synchronised << std::int64_t{0};
    TrainingPlan lora = over(sharded("hf-flash", "1"), 4);
    lora.lora.rank = Count(16);
    lora.lora.targets = Names(std::vector<std::string>{"q_proj", "v_proj"});
    QTest::newRow("adapters") << lora << std::int64_t{2} * 8388608; // theory.md 2.1 S06
}

void TestTorchFsdp::accumulates()
{
    QFETCH(TrainingPlan, plan);
    const ModelProgram program = programOf(plan);
    std::int64_t whole = 0;
    for (const PersistentStorages::Storage& storage : program.persistents.all) {
        whole += storage.kind == TensorKind::Gradients && storage.endsWithStep ? storage.bytes : 0;
    }
    QTEST(whole, "whole");
    // What this rank keeps of them is there when the optimizer steps, in the type of the shards.
    std::int64_t shares = 0;
    for (const Tape::Event& tensor : program.stages.front().tensors.temporaries) {
        shares += tensor.kind == TensorKind::Gradients ? tensor.bytes : 0;
    }
    QCOMPARE(shares > 0, whole > 0);
    if (Footprint textbook; whole > 0) {
        QVERIFY(estimate(plan, {}, textbook));
        QCOMPARE(textbook.stages.front().peakPhase, Phase::Backward);
        QCOMPARE(textbook.stages.front().component(Component::Gradients).value, whole);
    }
}

QTEST_APPLESS_MAIN(TestTorchFsdp)
#include "tst_torch_fsdp.moc"
