// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/plans.h"
#include "footprint/tape/state.h"

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
    void dealsWholeTensors_data();
    void dealsWholeTensors();
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

/// 9 norms, 4 projections, 4 q, k, v, 8 matrices of MLPs, two of words: by size they go to ranks 0 1 2 3 3 2 1 0 0 1 …
/// (theory_moe_cp.md B6).
void MuonTest::dealsWholeTensors_data()
{
    QTest::addColumn<QString>("rank");
    QTest::addColumn<qint64>("elements");
    QTest::addColumn<qint64>("moments");
    const qint64 words = 32'000 * h;
    // Tensors 3, 4, 11, 12, 19 and 20: two norms, two projections, two of the MLP.
    QTest::newRow("the last") << "3" << qint64{2 * h + 10 * h * h} << qint64{8 * 2 * h + 4 * 10 * h * h};
    // 0, 7, 8, 15, 16, 23 and 24: three norms, two of q, k, v, two of the MLP.
    QTest::newRow("the first") << "0" << qint64{3 * h + 14 * h * h} << qint64{8 * 3 * h + 4 * 14 * h * h};
    // 1, 6, 9, 14, 17, 22 and 25: two norms, a projection, q, k and v, two of the MLP, one of words.
    const qint64 matrix = 12 * h * h;
    QTest::newRow("the fullest") << QString() << qint64{2 * h + matrix + words}
                                 << qint64{8 * (2 * h + words) + 4 * matrix};
}

void MuonTest::dealsWholeTensors()
{
    QFETCH(QString, rank);
    QFETCH(qint64, elements);
    QFETCH(qint64, moments);
    TrainingPlan plan = small({{"shard.dist_opt", "true"}, {"shard.whole_tensors", "true"}, {"parallel.dp", "4"}});
    const std::string stated = rank.toStdString();
    plan = stated.empty() ? plan : planOf({{"shard.rank", stated}}, plan);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY2(built, built ? "" : built.error().english().c_str());
    const StageState state = stageState(program, program.stages[0]);
    QCOMPARE(state.moments, moments);
    QVERIFY(state.master >= 4 * elements && state.master <= 4 * elements + (qint64{1} << 20)); // a segment's rest
    QVERIFY(state.gradients >= 4 * (matrices + others)); // which every rank has
    // What they are gathered in is more than a matrix's temporaries.
    QCOMPARE(state.stepTemporaries, 2 * (matrices + others));
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
