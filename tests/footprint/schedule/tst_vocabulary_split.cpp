// SPDX-License-Identifier: GPL-3.0-or-later
//
// Embedding and output layer spread over the stages of a pipeline (sail-sg/VocabularyParallelism; theory_frameworks.md
// 11): GPT with 32 layers, h = 3072, on eight stages.
#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/schedule/schedule.h"
#include "footprint/written_plan.h"

#include <QTest>

using namespace headroom;
using test::planOf;

class TestVocabularySplit : public QObject
{
    Q_OBJECT

private slots:
    void holds_data();
    void holds();
    void spreadsWeights_data();
    void spreadsWeights();
    void peaksByMicroBatches();
    void refuses_data();
    void refuses();
};

namespace {

const QByteArray gpt = "model.layers=32 model.hidden=3072 model.ffn=12288 model.heads=24 model.vocab=128000 "
                       "model.layer_norm=true model.attn_bias=true model.mlp_bias=true model.learned_positions=true "
                       "model.rope=false model.max_pos=2048 batch.micro=1 batch.seq=2048 batch.accum=128 "
                       "parallel.pp=8 precision.recipe=megatron-fp16 shard.dist_opt=true attention.impl=flash "
                       "hardware.compute_capability=8 ";

constexpr std::int64_t hidden = 3072, tokens = 2048, table = std::int64_t{128000} * hidden;
constexpr std::int64_t layer = 12 * hidden * hidden + 13 * hidden;

std::vector<StageFootprint> stagesOf(const QByteArray& settings)
{
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    if (const auto done = estimator.run(planOf(gpt + settings), stages); !done) {
        qFatal("%s", done.error().english().c_str());
    }
    return stages;
}

} // namespace

void TestVocabularySplit::holds_data()
{
    QTest::addColumn<QByteArray>("split");
    QTest::addColumn<int>("first");
    QTest::newRow("1F1B") << QByteArray() << 8;
    QTest::newRow("variant 1, p + 2") << QByteArray("parallel.vocab_split=variant1") << 10;
    QTest::newRow("variant 2, p + 1") << QByteArray("parallel.vocab_split=variant2") << 9;
    QTest::newRow("interlaced, 1.5 p") << QByteArray("parallel.vocab_split=interlaced") << 12;
}

void TestVocabularySplit::holds()
{
    QFETCH(QByteArray, split);
    QFETCH(int, first);
    const auto stages = stagesOf("model.tied_embeddings=false " + split);
    Footprint recipe;
    QVERIFY(estimate(planOf(gpt + split), {}, recipe));
    for (int i = 0; i < 8; ++i) {
        const auto index = static_cast<std::size_t>(i);
        QCOMPARE(stages[index].inFlight, std::int64_t{first - i});
        QCOMPARE(recipe.stages[index].inFlight, std::int64_t{first - i});
    }
}

void TestVocabularySplit::spreadsWeights_data()
{
    QTest::addColumn<bool>("isTied");
    QTest::newRow("a matrix each") << false;
    QTest::newRow("one matrix") << true;
}

/// Four layers and 2 V h / p on every stage, the positions on the first one, the final norm on the last one.
void TestVocabularySplit::spreadsWeights()
{
    QFETCH(bool, isTied);
    const QByteArray settings
        = QByteArray("parallel.vocab_split=variant1 model.tied_embeddings=") + (isTied ? "true" : "false");
    const auto stages = stagesOf(settings);
    Footprint recipe;
    QVERIFY(estimate(planOf(gpt + settings), {}, recipe));
    for (std::size_t i = 0; i < 8; ++i) {
        const std::int64_t ends = i == 0 ? tokens * hidden : i == 7 ? 2 * hidden : 0;
        const std::int64_t expected = 4 * layer + (isTied ? 1 : 2) * table / 8 + ends;
        QCOMPARE(stages[i].parameters, expected);
        QCOMPARE(recipe.stages[i].parameters, expected);
    }
}

/// Variants differ by whole micro-batches of what four layers keep: 32 h + 4 a a token, two norms' two fp32 numbers a
/// token, and the random numbers' state of attention.
void TestVocabularySplit::peaksByMicroBatches()
{
    const auto peak = [](const char* split) {
        return stagesOf(QByteArray("model.tied_embeddings=false parallel.vocab_split=") + split)
            .front()
            .phase(Phase::Backward)
            .value;
    };
    constexpr std::int64_t kept = 4 * (tokens * (32 * hidden + 4 * 24 + 2 * 2 * 4) + 512);
    QCOMPARE(peak("variant1") - peak("variant2"), kept);
    QCOMPARE(peak("interlaced") - peak("variant1"), 2 * kept);
    // Two micro-batches' softmax in fp32, T V / p, and what they read, wait for the stages' sums.
    const auto stages = stagesOf("model.tied_embeddings=false parallel.vocab_split=variant1");
    for (const StageFootprint& stage : stages) {
        QCOMPARE(stage.component(Component::Logits).value, 2 * (tokens * 128000 / 8 * 4 + tokens * hidden * 2));
    }
}

void TestVocabularySplit::refuses_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::newRow("an unknown variant") << QByteArray("parallel.vocab_split=variant7");
    QTest::newRow("interleaved") << QByteArray("parallel.vocab_split=variant1 parallel.vpp=2");
    QTest::newRow("another schedule") << QByteArray("parallel.vocab_split=variant1 parallel.schedule=zb-h1");
}

void TestVocabularySplit::refuses()
{
    QFETCH(QByteArray, settings);
    Footprint footprint;
    QVERIFY(estimateInstantly(planOf(gpt + settings), {}, footprint));
    QVERIFY(footprint.notExact.has_value());
    const std::string sentence = footprint.notExact->english();
    QVERIFY2(sentence.find("leave parallel.vocab_split out") != std::string::npos, sentence.c_str());
}

QTEST_APPLESS_MAIN(TestVocabularySplit)
#include "tst_vocabulary_split.moc"
