// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_state.h"
#include "plans.h"

#include <QtTest>

#include <numeric>

using namespace headroom;
using headroom::test::planOf;

/// Muon in Megatron's tapes: momentum for matrices, Adam's two moments for everything else (theory.md 2.1, S01j).
class MuonTest : public QObject
{
    Q_OBJECT

private slots:
    void keepsOneMomentOfMatrices_data();
    void keepsOneMomentOfMatrices();
    void orthogonalisesOneMatrix();
};

namespace {

TrainingPlan small(test::FieldTexts more = {})
{
    return planOf(more,
                  planOf({{"model.layers", "4"},
                          {"model.hidden", "1024"},
                          {"model.heads", "16"},
                          {"model.ffn", "4096"},
                          {"model.vocab", "32000"},
                          {"model.tied_embeddings", "false"},
                          {"precision.recipe", "megatron-bf16"},
                          {"optimizer.name", "muon"},
                          {"batch.seq", "128"},
                          {"batch.micro", "1"}}));
}

constexpr std::int64_t h = 1024;
constexpr std::int64_t matrices = 4 * 12 * h * h; ///< 4h² of attention and 8h² of the MLP in each layer
constexpr std::int64_t others = 2 * 32'000 * h + 9 * h; ///< embedding, output layer, two norms a layer and the last

} // namespace

void MuonTest::keepsOneMomentOfMatrices_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("whole") << small() << qint64{4 * matrices + 8 * others};
    QTest::newRow("shared by four") << small({{"shard.dist_opt", "true"}, {"parallel.dp", "4"}})
                                    << qint64{(4 * matrices + 8 * others) / 4};
    QTest::newRow("Adam") << small({{"optimizer.name", "adam"}}) << qint64{8 * (matrices + others)};
}

void MuonTest::keepsOneMomentOfMatrices()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, bytes);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY2(built, built ? "" : built.error().english().c_str());
    QCOMPARE(stageState(program, program.stages[0]).moments, bytes);
    const auto tensors = momentTensors(program, program.stages[0]);
    QCOMPARE(std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0}), bytes);
}

/// 2mn + 2m² fp32 numbers of the largest matrix, 4096 × 1024 (theory.md 5.4); Adam needs none.
void MuonTest::orthogonalisesOneMatrix()
{
    ModelProgram program;
    QVERIFY(buildProgram(small(), program));
    QCOMPARE(stageState(program, program.stages[0]).stepTemporaries, 4 * (2 * 4 * h * h + 2 * h * h));
    QVERIFY(buildProgram(small({{"optimizer.name", "adam"}}), program));
    QCOMPARE(stageState(program, program.stages[0]).stepTemporaries, 0);
}

QTEST_APPLESS_MAIN(MuonTest)
#include "tst_muon.moc"
