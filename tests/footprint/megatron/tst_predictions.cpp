// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/programs.h"
#include "footprint/tape/parameter_tensors.h"
#include "footprint/written_plan.h"

#include <QTest>

#include <array>
#include <numeric>

using namespace headroom;
using namespace headroom::test;

namespace {

const QByteArray model
    = "model.layers=8 model.hidden=1024 model.ffn=2816 model.gated_mlp=true model.heads=16 model.vocab=32000 "
      "model.tied_embeddings=false model.mtp_layers=1 batch.micro=1 batch.seq=2048 batch.accum=8 "
      "implementation.profile=megatron-te precision.recipe=megatron-bf16 parallel.pp=4 parallel.vpp=2 ";

std::int64_t savedBytes(const Tape& tape)
{
    return std::accumulate(tape.saved.begin(), tape.saved.end(), std::int64_t{0},
                           [](std::int64_t sum, const Tape::Event& saved) { return sum + saved.bytes; });
}

constexpr std::int64_t h = 1024, ffn = 2816, vocab = 32000, tokens = 2048;

} // namespace

/// Multi-token prediction in a chunk of its own, as DeepSeek-V3's published layout has it.
class TestPredictions : public QObject
{
    Q_OBJECT

private slots:
    void standWhereTheLayoutSays();
    void keepAsMuchAsInTheHead();
    void refuses_data();
    void refuses();
};

void TestPredictions::standWhereTheLayoutSays()
{
    const ModelProgram program = programOf(planOf(model + "parallel.layout=Ett|t|t|t|t|tt|m|L"));
    constexpr std::int64_t layer = 4 * h * h + 3 * h * ffn + 2 * h, table = vocab * h;
    // Words, states and result have a norm each; the norm of the decoder stands behind its last layer.
    const std::array parameters{table + 3 * layer, 3 * layer + h, layer + table + 3 * h + 2 * h * h + layer,
                                layer + table};
    for (std::size_t stage = 0; stage < parameters.size(); ++stage) {
        QCOMPARE(parameterCount(program, program.stages[stage]), parameters[stage]);
    }
    // The model's states and those of the prediction.
    constexpr std::int64_t both = 2 * tokens * h * 2;
    QCOMPARE(program.stages[2].chunks[1].receivedBytes, 0); // as large as any other
    QCOMPARE(program.stages[2].chunks[1].sentBytes, both);
    QCOMPARE(program.stages[3].chunks[1].receivedBytes, both);
    QCOMPARE(program.stages[3].chunks[0].sentBytes, 0);
}

void TestPredictions::keepAsMuchAsInTheHead()
{
    const ModelProgram apart = programOf(planOf(model + "parallel.layout=Ett|t|t|t|t|tt|m|L"));
    const ModelProgram together = programOf(planOf(model + "parallel.layout=Ett|t|t|t|t|t|t|mL"));
    const auto pieceOf = [](const ModelProgram& program, std::size_t stage) -> const Tape& {
        return program.pieces[program.stages[stage].chunks[1].runs.back().piece].tape;
    };
    const Tape &norm = pieceOf(apart, 1), &predictions = pieceOf(apart, 2), &head = pieceOf(apart, 3);
    QCOMPARE(norm.outputBytes, tokens * h * 2);
    QCOMPARE(predictions.outputBytes, 2 * tokens * h * 2);
    QCOMPARE(savedBytes(norm) + norm.outputBytes + savedBytes(predictions) + predictions.outputBytes + savedBytes(head),
             savedBytes(pieceOf(together, 3)));
}

void TestPredictions::refuses_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("in two chunks") << model + "model.mtp_layers=2 parallel.layout=Ett|t|t|t|t|tt|m|mL"
                                   << "in one chunk, behind the last layer";
    QTest::newRow("before a chunk with layers") << model + "parallel.layout=Ett|t|t|t|t|m|tt|L"
                                                << "in one chunk, behind the last layer";
}

void TestPredictions::refuses()
{
    QFETCH(QByteArray, settings);
    QFETCH(QString, sentence);
    const QString refusal = refusalOf(planOf(settings));
    QVERIFY2(!refusal.isEmpty() && refusal.contains(sentence), qPrintable(refusal));
}

QTEST_APPLESS_MAIN(TestPredictions)
#include "tst_predictions.moc"
