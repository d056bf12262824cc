// SPDX-License-Identifier: GPL-3.0-or-later
//
// What PyTorch frameworks copy, gather and send, of layers, output layer and tables (theory_frameworks.md 2.1, 4).
#include "footprint/instant/estimator.h"
#include "footprint/torch/tapes.h"
#include "footprint/torch_plans.h"
#include "footprint/working.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace headroom;
using namespace headroom::test;

namespace {

/// Bytes that tensors of a kind, larger than `smallest`, have at most at a time.
std::int64_t mostAlive(const std::vector<Tape::Event>& events, TensorKind kind, std::int64_t smallest)
{
    std::int64_t alive = 0, most = 0;
    for (const Tape::Event& event : events) {
        const bool isMeant = event.kind == kind && event.bytes > smallest;
        alive += !isMeant ? 0 : event.op == Tape::Op::Allocate ? event.bytes : -event.bytes;
        most = std::max(most, alive);
    }
    return most;
}

} // namespace

class TestTorchTapes : public QObject
{
    Q_OBJECT

private slots:
    void handsOnLigerGradients();
    void splitsTensors_data();
    void splitsTensors();
    void bringsBack_data();
    void bringsBack();
    void keepsFabricLogits();
    void packsFabricsOutputLayer();
    void gathersAhead();
    void weighsRoutedRows();
    void receivesGradients();
    void spreadsTables_data();
    void spreadsTables();
};

/// Liger ops/fused_linear_cross_entropy.py: the gradient of the output layer, V h, is made in the forward; backward
/// returns that same tensor.
void TestTorchTapes::handsOnLigerGradients()
{
    TrainingPlan plan = planOf(llama2, "hf-flash");
    plan.implementation.fusedLoss = Name("liger");
    plan.parallel.dp = Count(2);
    plan.shard.zeroStage = Count(3);
    const Tape tape = programOf(plan).pieces[2].tape;
    std::vector<Tape::Event> events = tape.forward;
    events.insert(events.end(), tape.backward.begin(), tape.backward.end());
    QCOMPARE(mostAlive(events, TensorKind::WeightGradient, 2 * 4096), std::int64_t{2} * 32000 * 4096);
}

void TestTorchTapes::splitsTensors_data()
{
    QTest::addColumn<QByteArray>("profile");
    QTest::addColumn<int>("tableRanks");
    // transformers modeling_llama.py: no plan for the embedding; torchtune models/llama3/_parallelism.py: by rows.
    QTest::newRow("transformers") << QByteArray("hf-sdpa") << 1;
    QTest::newRow("torchtune") << QByteArray("torchtune") << 4;
}

/// Llama-3-8B over four ranks: matrices and output layer split, norms whole. The logits are gathered: Th 16-bit words
/// of a quarter of the vocabulary, then of all of it.
void TestTorchTapes::splitsTensors()
{
    QFETCH(QByteArray, profile);
    QFETCH(int, tableRanks);
    TrainingPlan plan = planOf(llama3, profile.constData());
    plan.parallel.tp = Count(4);
    plan.parallel.world = Count(4);
    const ModelProgram program = programOf(plan);
    constexpr std::int64_t h = 4096, table = 128256 * h;
    const std::int64_t layer = (2 * h * h + 2 * h * 1024 + 3 * h * 14336) / 4 + 2 * h;
    QCOMPARE(qint64{parameterCount(program, program.stages.front())},
             qint64{table / tableRanks + table / 4 + 32 * layer + h});
    std::vector<std::int64_t> logits;
    for (const Tape::Event& event : program.pieces[2].tape.forward) {
        if (event.kind == TensorKind::Logits && event.op == Tape::Op::Allocate) {
            logits.push_back(event.bytes / tokens);
        }
    }
    QCOMPARE(logits, (std::vector<std::int64_t>{2 * 128256 / 4, 2 * 128256, 4 * 128256}));
}

void TestTorchTapes::bringsBack_data()
{
    QTest::addColumn<QByteArray>("framework");
    QTest::addColumn<double>("alivePerToken");
    // The product of silu(gate) and up needs 4f, while the input of the last linear layer, 2f, waits for its end.
    QTest::newRow("copied beside the computation") << QByteArray("axolotl") << 6.0 * 11008;
    QTest::newRow("copied at once") << QByteArray("llm-foundry") << 4.0 * 11008;
}

/// Every operation that saved a tensor gets its own copy back: two norms with an fp32 copy and the normalised tensor,
/// 6h + 4 each; q, k, v, gate and up read a norm's result, 2h each; attention 8h and 4 a numbers; the output
/// projection 2h; silu, its product with up and the last linear layer 2f, 4f and 2f.
void TestTorchTapes::bringsBack()
{
    QFETCH(QByteArray, framework);
    QFETCH(double, alivePerToken);
    TrainingPlan plan = planOf(llama2, "hf-sdpa");
    plan.framework = Name(framework.toStdString());
    plan.shard.offloadActivations = Flag(true);
    const ModelProgram program = programOf(plan);
    QCOMPARE(keptPerToken(program), 0.0);
    std::int64_t copied = 0, alive = 0, most = 0;
    for (const Tape::Event& event : program.pieces[1].tape.backward) {
        if (componentOf(event.kind) != Component::Activations || event.slot < Tape::firstLocal) {
            continue;
        }
        copied += event.op == Tape::Op::Allocate ? event.bytes : 0;
        alive += event.op == Tape::Op::Allocate ? event.bytes : -event.bytes;
        most = std::max(most, alive);
    }
    QCOMPARE(alive, std::int64_t{0});
    QCOMPARE(static_cast<double>(copied) / tokens, 2 * (6.0 * 4096 + 4) + 20.0 * 4096 + 4 * 32 + 8.0 * 11008);
    QCOMPARE(static_cast<double>(most) / tokens, alivePerToken);
}

/// Fabric's half precision returns fp32 (convert_output): the list of chunks and the log-softmax of each, 4 bytes a
/// logit.
void TestTorchTapes::keepsFabricLogits()
{
    TrainingPlan plan = planOf(llama2, "litgpt");
    plan.lora.rank = Count(8);
    plan.implementation.keepsLogits = Flag(true);
    const ModelProgram program = programOf(plan);
    std::int64_t logits = 0;
    for (const Tape::Event& event : program.pieces[2].tape.saved) {
        logits += componentOf(event.kind) == Component::Logits && event.bytes > 8 * tokens ? event.bytes : 0;
    }
    QCOMPARE(logits, std::int64_t{8} * 32000 * tokens);
}

/// Every linear layer is packed, at half a byte and an fp32 constant for 64; a product makes fp16 and bf16 of it.
void TestTorchTapes::packsFabricsOutputLayer()
{
    TrainingPlan plan = planOf(llama2, "litgpt");
    plan.lora.rank = Count(8);
    plan.lora.targets = Names({"q_proj", "v_proj"});
    plan.precision.params = Field<DataType>(DataType::Nf4);
    const ModelProgram program = programOf(plan);
    constexpr double table = 32000.0 * 4096, matrices = 32 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008);
    constexpr double adapters = 32 * 2 * 8.0 * (4096 + 4096);
    double parameters = 0;
    for (const Tape::Event& event : program.stages.front().tensors.resident) {
        parameters += event.kind == TensorKind::Parameters ? static_cast<double>(event.bytes) : 0;
    }
    const double expected = 2 * table + 0.5625 * (matrices + table) + 2 * adapters + 2 * 65 * 4096;
    QVERIFY2(std::abs(parameters - expected) < 1e-4 * expected, qPrintable(QString::number(parameters)));
    const std::int64_t unpacked = 2 * 2 * 32000 * 4096, gradients = tokens * 32000 * 4 / 8;
    std::int64_t most = 0;
    for (const Piece& piece : program.pieces) {
        for (const Tape::Event& event : piece.tape.backward) {
            most = std::max(most, event.op == Tape::Op::Allocate ? event.bytes : 0);
        }
    }
    QCOMPARE(most, unpacked + gradients);
}

/// FSDP2 keeps the result of a block's collective until the next block has asked for its own: two buffers of 9/8 of the
/// block's weights on 8 ranks.
void TestTorchTapes::gathersAhead()
{
    TrainingPlan plan = planOf(llama3, "torchtitan");
    shardWithFsdp(plan, 8);
    const std::int64_t weights = 2 * (4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14336 + 2 * 4096);
    QCOMPARE(mostAlive(programOf(plan).pieces[1].tape.forward, TensorKind::GatheredParameters, 4096),
             2 * weights / 8 * 9);
}

/// rows · scores in fp32: the gradient that comes in, that of the rows and, before it is summed, that of the scores.
void TestTorchTapes::weighsRoutedRows()
{
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, "prime-rl");
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    plan.lora.rank = Count(16);
    const std::int64_t rows = std::int64_t{8} * tokens * 2048 * 4;
    QCOMPARE(mostAlive(programOf(plan).pieces[3].tape.backward, TensorKind::ActivationGradient, rows - 1), 3 * rows);
}

/// torch/distributed/pipelining/stage.py, _prepare_backward_infra: a stage that sends has a buffer of 2Th for each of
/// its micro-batches' gradients.
void TestTorchTapes::receivesGradients()
{
    TrainingPlan plan = planOf(llama3, "torchtitan");
    shardWithFsdp(plan, 2);
    plan.parallel.pp = Count(4);
    plan.parallel.schedule = Field<Schedule>(Schedule::OneForwardOneBackward);
    plan.batch.accum = Count(8);
    const ModelProgram program = programOf(plan);
    for (const StageProgram& stage : program.stages) {
        std::int64_t buffers = 0;
        for (const PieceRun& run : stage.chunks.front().runs) {
            for (const Tape::Event& need : program.pieces[run.piece].tape.forwardNeeds) {
                buffers += need.kind == TensorKind::Boundary ? need.bytes : 0;
            }
        }
        QCOMPARE(buffers, stage.stage == 3 ? std::int64_t{0} : std::int64_t{8} * 2 * tokens * 4096);
    }
}

void TestTorchTapes::spreadsTables_data()
{
    QTest::addColumn<std::int64_t>("ranks");
    QTest::newRow("whole on every rank") << std::int64_t{1};
    QTest::newRow("split like the layers") << std::int64_t{2};
}

/// Galvatron's vocab_tp: eight GPUs share the state of the tables either way; what is gathered of the output layer is
/// split or not; a rank has the logits of all entries for half of the tokens, or of half of them for all.
void TestTorchTapes::spreadsTables()
{
    QFETCH(std::int64_t, ranks);
    TrainingPlan plan = planOf(llama2, "galvatron");
    shardWithFsdp(plan, 4);
    plan.parallel.tp = Count(2);
    plan.parallel.sp = Flag(true);
    plan.parallel.vocabTp = Count(ranks);
    const ModelProgram program = programOf(plan);
    const std::int64_t table = std::int64_t{32000} * 4096;
    const std::vector<Tape::Event>& forward = program.pieces[2].tape.forward;
    // The first FSDP reads a copy of the shard, which an eighth of a table and a quarter of the norm are.
    QCOMPARE(mostAlive(forward, TensorKind::GatheredParameters, 0),
             2 * (table / ranks + 4096) + 2 * (table / 8 + 4096 / 4));
    QCOMPARE(mostAlive(forward, TensorKind::LogitsSoftmax, 0), 2 * tokens * 32000 / 2);
    std::int64_t parameters = 0, buffer = 0;
    for (const Tape::Event& tensor : program.stages.front().tensors.resident) {
        parameters += tensor.kind == TensorKind::Parameters ? tensor.bytes : 0;
        buffer += tensor.kind == TensorKind::GlobalBuffer ? tensor.bytes : 0;
    }
    const std::int64_t layer = (4 * 4096 * 4096 + 3 * std::int64_t{4096} * 11008) / 2;
    const std::int64_t norms = (32 * 2 + 1) * 4096;
    QCOMPARE(parameters, 4 * (2 * table / 8 + (32 * layer + norms) / 4));
    QCOMPARE(buffer, 2 * tokens * 4096); // what sequence parallelism gathers
}

QTEST_APPLESS_MAIN(TestTorchTapes)
#include "tst_torch_tapes.moc"
