// SPDX-License-Identifier: GPL-3.0-or-later
//
// How tokens reach their experts, and what stays of that for the backward. With deterministic algorithms rows are added
// to their tokens by index_add, whose derivative reads the shape of its source and so keeps it (PyTorch
// tools/autograd/derivatives.yaml; Megatron-Core transformer/moe/moe_utils.py, unpermute, since 0.15).
#include "footprint/programs.h"
#include "footprint/written_plan.h"

#include <QTest>

using namespace headroom;
using test::planOf;
using test::programOf;

class TestExpertTapes : public QObject
{
    Q_OBJECT

private slots:
    void keepsOutputs_data();
    void keepsOutputs();
    void sendsTokensOnce_data();
    void sendsTokensOnce();
};

namespace {

/// Two sequences of 1024 tokens of width 512 on each of four ranks, two experts of eight for a token.
const QByteArray base = "implementation.profile=megatron-te model.layers=2 model.hidden=512 model.ffn=2048 "
                        "model.heads=8 model.vocab=32768 batch.micro=2 batch.seq=1024 precision.recipe=megatron-bf16 "
                        "moe.experts=8 moe.topk=2 moe.grouped_gemm=true parallel.ep=4 parallel.dp=4 "
                        "attention.impl=fused ";
constexpr qint64 tokens = 2048, rowBytes = 2 * 512;

qint64 savedBytes(const ModelProgram& program, TensorKind kind)
{
    qint64 bytes = 0;
    for (const Tape::Event& saved : program.pieces[3].tape.saved) { // the layer with experts
        bytes += saved.kind == kind ? saved.bytes : 0;
    }
    return bytes;
}

} // namespace

void TestExpertTapes::keepsOutputs_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<TensorKind>("kind");
    QTest::addColumn<qint64>("bytes");
    using enum TensorKind;
    const QByteArray deterministic = "implementation.deterministic=true ", exchanged = "moe.dispatcher=alltoall ";
    // Of the tokens of four ranks each expert rank works on 2 · 4 / 4 times its own.
    QTest::newRow("gathered") << deterministic << ExpertOutput << 2 * tokens * rowBytes;
    QTest::newRow("exchanged: the rows that came back")
        << deterministic + exchanged << ReturnedTokens << 2 * tokens * rowBytes;
    QTest::newRow("exchanged: not what the experts returned") << deterministic + exchanged << ExpertOutput << qint64{0};
    QTest::newRow("one expert rank: rows in the tokens' order")
        << deterministic + exchanged + "parallel.ep=1" << UnsortedTokens << 2 * tokens * rowBytes;
    QTest::newRow("not deterministic") << QByteArray() << ExpertOutput << qint64{0};
    QTest::newRow("DeepEP") << deterministic + "moe.dispatcher=flex" << ExpertOutput << 2 * tokens * rowBytes;
    QTest::newRow("HybridEP sorts within the exchange")
        << deterministic + "moe.dispatcher=hybridep" << ExpertOutput << qint64{0};
    QTest::newRow("fused") << deterministic + "moe.permute_fusion=true" << ExpertOutput << qint64{0};
    QTest::newRow("before 0.15") << deterministic + "implementation.kept_expert_output=false" << ExpertOutput
                                 << qint64{0};
}

void TestExpertTapes::keepsOutputs()
{
    QFETCH(QByteArray, settings);
    QFETCH(TensorKind, kind);
    QFETCH(qint64, bytes);
    QCOMPARE(savedBytes(programOf(planOf(base + settings)), kind), bytes);
}

void TestExpertTapes::sendsTokensOnce_data()
{
    QTest::addColumn<QByteArray>("dispatcher");
    QTest::addColumn<qint64>("sent"); // rows of the first copy, in front of the exchange
    QTest::addColumn<qint64>("received");
    QTest::addColumn<TensorKind>("kept"); // what the experts read, 2 · 4 / 4 rows for a token of each of four ranks
    using enum TensorKind;
    QTest::newRow("all-to-all") << QByteArray("alltoall") << 2 * tokens << 2 * tokens << SortedTokens;
    // Both choices miss the two experts of a rank with 6/8 · 5/7: 26/56 of 8192 tokens come, whole ones.
    QTest::newRow("DeepEP") << QByteArray("deepep") << qint64{0} << 8192 * qint64{26} / 56 << SortedTokens;
    QTest::newRow("HybridEP") << QByteArray("hybridep") << qint64{0} << 2 * tokens << DispatchedTokens;
}

void TestExpertTapes::sendsTokensOnce()
{
    QFETCH(QByteArray, dispatcher);
    QFETCH(qint64, sent);
    QFETCH(qint64, received);
    QFETCH(TensorKind, kept);
    const ModelProgram program = programOf(planOf(base + "moe.dispatcher=" + dispatcher));
    const auto made = [&program](TensorKind kind) {
        qint64 bytes = 0;
        for (const Tape::Event& event : program.pieces[3].tape.forward) {
            bytes += event.op == Tape::Op::Allocate && event.kind == kind ? event.bytes : 0;
        }
        return bytes;
    };
    QCOMPARE(made(TensorKind::PermutedTokens), sent * rowBytes);
    QCOMPARE(made(TensorKind::DispatchedTokens), received * rowBytes);
    QCOMPARE(savedBytes(program, kept), 2 * tokens * rowBytes);
    QCOMPARE(savedBytes(program, TensorKind::PermutedTokens), qint64{0});
}

QTEST_APPLESS_MAIN(TestExpertTapes)
#include "tst_expert_tapes.moc"
