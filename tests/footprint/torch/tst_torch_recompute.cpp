// SPDX-License-Identifier: GPL-3.0-or-later
//
// Modules of a block that are checkpoints of their own: what stays of what they save, and what runs again.
#include "footprint/estimate.h"
#include "footprint/plans.h"
#include "footprint/torch_plans.h"

#include <QTest>

using namespace headroom;
using namespace headroom::test;

namespace {

/// Bytes a token of Llama 2 7B in bf16 (theory.md 3.3): a norm's copy in fp32, its number, the normalised tensor and
/// its result; what flash attention saves; gate, SiLU, up and their product.
constexpr double h = 4096, f = 11008, a = 32;
constexpr double norm = 4 * h + 4 + 2 * h + 2 * h;
constexpr double kernel = 4 * 2 * h + 4 * a;
constexpr double whole = 2 * norm + kernel + 8 * f;

TrainingPlan withModules(TrainingPlan plan, const QByteArray& modules)
{
    return planOf({{"recompute.enabled", "true"},
                   {"recompute.granularity", "selective"},
                   {"recompute.modules", modules.toStdString()}},
                  std::move(plan));
}

std::int64_t allocatedInBackward(const Tape& tape, TensorKind kind)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& event : tape.backward) {
        bytes += event.kind == kind && event.op == Tape::Op::Allocate ? event.bytes : 0;
    }
    return bytes;
}

} // namespace

class TestTorchRecompute : public QObject
{
    Q_OBJECT

private slots:
    void keeps_data();
    void keeps();
    void keepsOfExperts();
    void runsAgain();
    void refuses_data();
    void refuses();
};

void TestTorchRecompute::keeps_data()
{
    QTest::addColumn<QByteArray>("profile");
    QTest::addColumn<QByteArray>("modules");
    QTest::addColumn<double>("expected");
    const auto row = [](const char* name, const char* profile, const char* modules, double expected) {
        QTest::newRow(name) << QByteArray(profile) << QByteArray(modules) << expected;
    };
    // q, k and v are what it reads, its result is the output projection's input: a number a head is all it saves more.
    row("flash attention", "hf-sdpa", "core_attn", whole - 4 * a);
    // Eager attention keeps six bytes a score, and the result once more behind the move of its heads.
    row("scores", "hf-eager", "core_attn", whole - 4 * a);
    row("attention with its projections", "hf-sdpa", "self_attn", whole - kernel);
    row("MLP", "hf-sdpa", "mlp", whole - 8 * f);
    row("both", "hf-sdpa", "self_attn,mlp", whole - kernel - 8 * f);
    // What it reads in place of the copy in fp32, the number and the normalised tensor.
    row("norms", "hf-sdpa", "norm", whole - 2 * (4 * h + 4 + 2 * h) + 2 * 2 * h);
    // SiLU's result; the product is the last layer's input.
    row("activation", "hf-sdpa", "mlp_act", whole - 2 * f);
    row("an inner one belongs to the outer one", "hf-sdpa", "core_attn,self_attn,mlp_act,mlp", whole - kernel - 8 * f);
    // What the second norm's copy and the first one's result are made of is there anyway.
    row("OLMo's fine-grained", "hf-sdpa", "layernorm,core_attn,mlp_act",
        whole - 2 * (4 * h + 4 + 2 * h) + 2 * 2 * h - 4 * a - 2 * f);
}

void TestTorchRecompute::keeps()
{
    QFETCH(QByteArray, profile);
    QFETCH(QByteArray, modules);
    QFETCH(double, expected);
    QCOMPARE(keptPerToken(programOf(withModules(planOf(llama2, profile.constData()), modules))), expected);
}

/// Of experts and router the layer's normed input is left.
void TestTorchRecompute::keepsOfExperts()
{
    TrainingPlan plan = planOf(llama2, "hf-sdpa");
    plan.moe.experts = Count(8);
    plan.moe.topk = Count(2);
    const ModelProgram program = programOf(withModules(plan, "moe"));
    QCOMPARE(keptPerToken(program, program.stages.front().chunks.front().runs[1].piece), 2 * norm + kernel);
}

/// The MLP's forward in its backward: both products, SiLU, their product and the last layer's; nothing of attention's.
void TestTorchRecompute::runsAgain()
{
    const ModelProgram program = programOf(withModules(planOf(llama2, "hf-sdpa"), "mlp"));
    const Tape& tape = program.pieces[1].tape;
    const auto ofTokens = [](double bytes) { return static_cast<std::int64_t>(bytes) * tokens; };
    QCOMPARE(allocatedInBackward(tape, TensorKind::Fc1Output), ofTokens(2 * 2 * f));
    QCOMPARE(allocatedInBackward(tape, TensorKind::GateProduct), ofTokens(2 * f));
    QCOMPARE(allocatedInBackward(tape, TensorKind::ActivationOutput), ofTokens(2 * f));
    QCOMPARE(allocatedInBackward(tape, TensorKind::Context), 0);
    const ModelProgram without = programOf(planOf(llama2, "hf-sdpa"));
    QCOMPARE(allocatedInBackward(without.pieces[1].tape, TensorKind::Fc1Output), 0);
}

void TestTorchRecompute::refuses_data()
{
    QTest::addColumn<QByteArray>("modules");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("none named") << QByteArray("") << "recompute.num_layers";
    QTest::newRow("none of a block's") << QByteArray("mlp,shared_experts_of_mine") << "core_attn, self_attn";
}

void TestTorchRecompute::refuses()
{
    QFETCH(QByteArray, modules);
    QFETCH(QString, sentence);
    Footprint footprint;
    QVERIFY(estimateInstantly(withModules(planOf(llama2, "hf-flash"), modules), {}, footprint));
    QVERIFY(footprint.notExact);
    QVERIFY2(QString::fromStdString(footprint.notExact->english()).contains(sentence),
             footprint.notExact->english().c_str());
}

QTEST_APPLESS_MAIN(TestTorchRecompute)
#include "tst_torch_recompute.moc"
