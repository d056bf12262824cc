// SPDX-License-Identifier: GPL-3.0-or-later
//
// Linear layers of PyTorch frameworks that compute in 8 bits: what they keep, take for a while and gather. The sizes
// are counted by hand from torchao's and Transformer Engine's functions.
#include "footprint/programs.h"
#include "footprint/torch/tapes.h"
#include "footprint/torch_plans.h"

#include <QTest>

#include <algorithm>

using namespace headroom;
using namespace headroom::test;

namespace {

/// Bytes a token of Llama 2 7B, and elements of a block's matrices.
constexpr double h = 4096, f = 11008, a = 32;
constexpr double matrices = 4 * h * h + 3 * h * f;
constexpr double whole = 186504; // theory.md A09: 24h + 8f + 4a + 8
constexpr double frozen = 131720; // A18

TrainingPlan planIn8Bits(const char* profile, const char* recipe, const char* generation = "9")
{
    TrainingPlan plan = planOf(llama2, profile);
    plan.precision.fp8 = Name(recipe);
    plan.hardware.computeCapability = Count(QByteArray(generation).toInt());
    return plan;
}

std::int64_t mostGathered(const std::vector<Tape::Event>& events)
{
    std::int64_t alive = 0, most = 0;
    for (const Tape::Event& event : events) {
        const bool isMeant = event.kind == TensorKind::GatheredParameters;
        alive += !isMeant ? 0 : event.op == Tape::Op::Allocate ? event.bytes : -event.bytes;
        most = std::max(most, alive);
    }
    return most;
}

} // namespace

class TestTorchFloat8 : public QObject
{
    Q_OBJECT

private slots:
    void keeps_data();
    void keeps();
    void works_data();
    void works();
    void gathers_data();
    void gathers();
    void leavesHead_data();
    void leavesHead();
    void refuses_data();
    void refuses();
};

void TestTorchFloat8::keeps_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytesPerToken");

    // The 16-bit input and weight wait: float8_linear.py, ctx.save_for_backward(input_hp, weight_hp_t).
    QTest::newRow("torchao, one scale") << planIn8Bits("hf-sdpa", "tensorwise") << whole;
    QTest::newRow("torchao, by row") << planIn8Bits("hf-sdpa", "rowwise") << whole;
    TrainingPlan lora = planIn8Bits("hf-sdpa", "tensorwise");
    lora.frozen.llm = Flag(true);
    // It saves them whatever is trained: results of both norms and the MLP's product.
    QTest::newRow("torchao, frozen") << lora << frozen + 2 * 2 * h + 2 * f;
    // Two norms without their result, q, k, v and attention's result, gate, SiLU and up; a byte of the input of q, k,
    // v, the output, gate, up and down each; both layouts of every weight.
    const double plain = 2 * (6 * h + 4) + 8 * h + 4 * a + 6 * f, inputs = 6 * h + f;
    QTest::newRow("Transformer Engine") << planIn8Bits("hf-sdpa", "delayed") << plain + inputs + 2 * matrices / tokens;
    QTest::newRow("Transformer Engine, Blackwell")
        << planIn8Bits("hf-sdpa", "delayed", "10") << plain + inputs + matrices / tokens;
    // One byte for 32 elements.
    QTest::newRow("Transformer Engine, MX")
        << planIn8Bits("hf-sdpa", "mxfp8", "10") << plain + (inputs + 2 * matrices / tokens) * 33 / 32;
    lora.precision.fp8 = Name("delayed");
    QTest::newRow("Transformer Engine, frozen") << lora << frozen + 2 * matrices / tokens;
    // An MLP whose width is no multiple of 16 computes as ever.
    TrainingPlan odd = planIn8Bits("hf-sdpa", "delayed");
    odd.model.ffn = Count(11000);
    QTest::newRow("sizes it does not take")
        << odd << 2 * (6 * h + 4) + 8 * h + 4 * a + 8 * 11000 + 4 * h + 2 * h + 2 * 4 * h * h / tokens;
}

void TestTorchFloat8::keeps()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytesPerToken);
    QCOMPARE(keptPerToken(programOf(plan)), bytesPerToken);
}

void TestTorchFloat8::works_data()
{
    QTest::addColumn<QByteArray>("recipe");
    QTest::addColumn<bool>("isCompiled");
    QTest::addColumn<bool>("gathers");
    QTest::addColumn<bool>("isTrained");
    QTest::addColumn<std::int64_t>("forward");
    QTest::addColumn<std::int64_t>("backward");
    const auto row = [](const char* name, const char* recipe, bool isCompiled, bool gathers, bool isTrained,
                        std::int64_t forward, std::int64_t backward) {
        QTest::newRow(name) << QByteArray(recipe) << isCompiled << gathers << isTrained << forward << backward;
    };
    // 32 tokens, 64 × 16 weights: 2048 bytes of input, 1024 of weight, 512 of gradient, in 16 bits twice as much.
    constexpr std::int64_t input = 2048, weight = 1024, gradient = 512;
    // The compiler's: two operands of one product at a time; a gathered weight is copied for the input's gradient.
    row("one scale", "tensorwise", true, false, true, input + weight, gradient + input);
    row("weights gathered so", "tensorwise", true, true, true, input, gradient + input);
    row("by row", "rowwise", true, false, true, input + weight, gradient + input);
    row("exact weight gradients", "rowwise_with_gw_hp", true, false, true, input + weight, gradient + weight);
    row("frozen", "tensorwise", true, false, false, input + weight, gradient + weight);
    // Else two fp32 tensors of the input before its cast is there and the result is not; in backward beside the casts
    // of gradient and weight, which come before the gradient of the input.
    const std::int64_t cast = 8 * input + input;
    row("one scale, as it runs", "tensorwise", false, false, true, cast - 2 * gradient, gradient + weight + cast);
    row("weights gathered so, as it runs", "tensorwise", false, true, true, cast - 2 * gradient, gradient + cast);
    row("by row, as it runs", "rowwise", false, false, true, cast - 2 * gradient, 2 * gradient + weight + cast);
    row("exact weight gradients, as it runs", "rowwise_with_gw_hp", false, false, true, cast - 2 * gradient,
        std::max(gradient + 2 * weight, gradient + 9 * weight - 2 * input));
    row("frozen, as it runs", "tensorwise", false, false, false, cast - 2 * gradient,
        gradient + weight + cast + 2 * weight);
}

void TestTorchFloat8::works()
{
    QFETCH(QByteArray, recipe);
    QFETCH(bool, isCompiled);
    QFETCH(bool, gathers);
    QFETCH(bool, isTrained);
    TrainingPlan plan = planIn8Bits("torchtitan", recipe.constData());
    plan.implementation.compile = Flag(isCompiled);
    plan.shard.fsdp = Flag(true);
    plan.precision.fp8Params = Flag(gathers);
    const auto float8 = torchFloat8(plan, torchtitanHabits);
    QVERIFY(float8.has_value());
    ModuleOperation operation;
    operation.bytes = 32 * 16 * 2;
    float8->describe({32, 64, 16, 2, isTrained, true}, operation);
    QTEST(operation.forwardWork, "forward");
    QTEST(operation.backwardWork, "backward");
    QCOMPARE(operation.saves[0], isTrained || !isCompiled);
    QVERIFY(operation.keeps.empty());
}

void TestTorchFloat8::gathers_data()
{
    QTest::addColumn<bool>("in8Bits");
    QTest::addColumn<double>("bytes");
    // Norms stay in 16 bits. FSDP2 has a block's weights, this rank's share beside what all sent, and the next block's.
    QTest::newRow("16 bits") << false << 2 * (matrices + 2 * h);
    QTest::newRow("8 bits") << true << matrices + 2 * 2 * h;
}

void TestTorchFloat8::gathers()
{
    QFETCH(bool, in8Bits);
    QFETCH(double, bytes);
    TrainingPlan plan = planIn8Bits("torchtitan", "tensorwise");
    shardWithFsdp(plan, 8);
    plan.precision.fp8Params = Flag(in8Bits);
    QCOMPARE(static_cast<double>(mostGathered(programOf(plan).pieces[1].tape.forward)), 2 * bytes / 8 * 9);
}

void TestTorchFloat8::leavesHead_data()
{
    QTest::addColumn<QByteArray>("recipe");
    QTest::addColumn<std::int64_t>("kept");
    QTest::newRow("torchao") << QByteArray("tensorwise") << std::int64_t{0};
    QTest::newRow("Transformer Engine") << QByteArray("delayed") << std::int64_t{2} * 32000 * 4096;
}

/// accelerate's filter for torchao leaves the last linear layer out, Transformer Engine's has both layouts of its
/// weight.
void TestTorchFloat8::leavesHead()
{
    QFETCH(QByteArray, recipe);
    const ModelProgram program = programOf(planIn8Bits("hf-sdpa", recipe.constData()));
    std::int64_t kept = 0;
    for (const Tape::Event& saved : program.pieces[2].tape.saved) {
        kept += saved.kind == TensorKind::WeightCopies ? saved.bytes : 0;
    }
    QTEST(kept, "kept");
}

void TestTorchFloat8::refuses_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("no such layers") << planIn8Bits("nanotron", "tensorwise")
                                    << "nanotron has no linear layers in 8 bits: leave precision.fp8 out";
    QTest::newRow("no such recipe") << planIn8Bits("torchtitan", "delayed")
                                    << "set precision.fp8 to tensorwise, rowwise, rowwise_with_gw_hp or mxfp8";
    QTest::newRow("Transformer Engine's alone")
        << planIn8Bits("litgpt", "rowwise") << "set precision.fp8 to delayed, blockwise or mxfp8";
    TrainingPlan plan = planIn8Bits("hf-sdpa", "tensorwise");
    plan.precision.params = Field<DataType>(DataType::Nf4);
    QTest::newRow("quantised weights") << plan << "hf-sdpa computes with quantised weights in 16 bits";
    plan = planIn8Bits("torchtitan", "rowwise");
    shardWithFsdp(plan, 8);
    plan.precision.fp8Params = Flag(true);
    QTest::newRow("gathers by row")
        << plan << "gathers them in 8 under the second FSDP (shard.fsdp_version 2) with precision.fp8";
    plan = planIn8Bits("torchtitan", "tensorwise");
    plan.precision.fp8Params = Flag(true);
    QTest::newRow("gathers without FSDP") << plan << "leave precision.fp8_params out";
}

void TestTorchFloat8::refuses()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, sentence);
    const QString refusal = refusalOf(plan);
    QVERIFY2(!refusal.isEmpty() && refusal.contains(sentence), qPrintable(refusal));
}

QTEST_APPLESS_MAIN(TestTorchFloat8)
#include "tst_torch_float8.moc"
