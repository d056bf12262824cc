// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/theory_cases.h"
#include "footprint/vision_plans.h"
#include "footprint/weights.h"

#include <QtTest>

#include <limits>

using namespace headroom;
using test::parametersOf;
using test::planOf;
using Json = nlohmann::json;

namespace {

TrainingPlan planOfCase(const Json& inputs)
{
    TrainingPlan plan;
    const std::vector<std::pair<const char*, const char*>> keys{
        {"L", "model.layers"},
        {"h", "model.hidden"},
        {"a", "model.heads"},
        {"g", "model.kv_heads"},
        {"d", "model.head_dim"},
        {"f", "model.ffn"},
        {"V", "model.vocab"},
        {"gated", "model.gated_mlp"},
        {"ln", "model.layer_norm"},
        {"tied", "model.tied_embeddings"},
        {"qkv_bias", "model.attn_bias"},
        {"o_bias", "model.attn_out_bias"},
        {"mlp_bias", "model.mlp_bias"},
        {"pos", "model.max_pos"},
    };
    for (const auto& [name, key] : keys) {
        if (inputs.contains(name)) {
            plan = planOf({{key, inputs.at(name).dump()}}, plan);
        }
    }
    if (!inputs.contains("o_bias")) {
        plan = planOf({{"model.attn_out_bias", "false"}}, plan);
    }
    return inputs.contains("pos") ? planOf({{"model.learned_positions", "true"}}, plan) : plan;
}

} // namespace

class ParametersTest : public QObject
{
    Q_OBJECT

private slots:
    void theoryTotals_data();
    void theoryTotals();
    void textbookBlock();
    void latentAttention();
    void mixtureOfExperts();
    void moeLayersOfARange_data();
    void moeLayersOfARange();
    void visionTowers_data();
    void visionTowers();
    void projectors_data();
    void projectors();
    void paddedVocabulary_data();
    void paddedVocabulary();
    void absurdSizesSaturate();
};

void ParametersTest::theoryTotals_data()
{
    test::addTheoryRows(
        {"P0"}, [](const Json& row) { return row.at("inputs").contains("V") && !row.at("inputs").contains("E"); });
}

void ParametersTest::theoryTotals()
{
    QFETCH(Json, row);
    QCOMPARE(parametersOf(planOfCase(row.at("inputs"))), row.at("expected").at("params").get<std::int64_t>());
}

void ParametersTest::textbookBlock()
{
    const TrainingPlan plan = test::workflowExample();
    QVERIFY(architectureOf(plan).isTextbook);
    QCOMPARE(parametersOf(plan), 24 * 12 * 1024LL * 1024 + 50'000LL * 1024);
    // The norms and positions appear as soon as the block is a real one.
    const TrainingPlan real = planOf({{"model.heads", "16"}}, plan);
    QVERIFY(!architectureOf(real).isTextbook);
    QCOMPARE(parametersOf(real), 353'189'888 + 24 * 2 * 1024 + 1024);
}

void ParametersTest::latentAttention()
{
    const Architecture model = architectureOf(test::deepSeekV3());
    const ModelWeights weights = weightsPerGpu(model, {}, {}, {});
    const std::int64_t mlp = 3 * 7168LL * 18432;
    QCOMPARE(weights.denseLayer.total().value() - mlp - 2 * 7168, 187'107'328);
}

void ParametersTest::mixtureOfExperts()
{
    const TrainingPlan mixtral = planOf({{"model.layers", "32"},
                                         {"model.hidden", "4096"},
                                         {"model.heads", "32"},
                                         {"model.kv_heads", "8"},
                                         {"model.ffn", "14336"},
                                         {"model.gated_mlp", "true"},
                                         {"model.vocab", "32000"},
                                         {"model.tied_embeddings", "false"},
                                         {"moe.experts", "8"},
                                         {"moe.topk", "2"}});
    QCOMPARE(parametersOf(mixtral), 46'702'792'704);
    // The published total counts the 256 routing biases of each of 58 layers, which are buffers here.
    QCOMPARE(parametersOf(test::deepSeekV3()), 671'026'419'200 - 58 * 256);
}

void ParametersTest::moeLayersOfARange_data()
{
    QTest::addColumn<qint64>("firstDense");
    QTest::addColumn<qint64>("every");
    QTest::addColumn<qint64>("first");
    QTest::addColumn<qint64>("count");
    QTest::newRow("all") << 0LL << 1LL << 0LL << 12LL;
    QTest::newRow("dense start") << 3LL << 1LL << 0LL << 61LL;
    QTest::newRow("dense start, later stage") << 3LL << 1LL << 2LL << 5LL;
    QTest::newRow("every second") << 0LL << 2LL << 0LL << 9LL;
    QTest::newRow("every second, odd start") << 0LL << 2LL << 5LL << 4LL;
    QTest::newRow("every third after five") << 5LL << 3LL << 4LL << 11LL;
    QTest::newRow("range before the first") << 30LL << 1LL << 0LL << 10LL;
    QTest::newRow("nothing") << 0LL << 1LL << 7LL << 0LL;
}

void ParametersTest::moeLayersOfARange()
{
    QFETCH(qint64, firstDense);
    QFETCH(qint64, every);
    QFETCH(qint64, first);
    QFETCH(qint64, count);
    Architecture model;
    model.experts = 8;
    model.firstDenseLayers = firstDense;
    model.moeEvery = every;
    std::int64_t expected = 0;
    for (qint64 layer = first; layer < first + count; ++layer) {
        expected += layer >= firstDense && layer % every == 0 ? 1 : 0;
    }
    QCOMPARE(model.moeLayers(first, count), expected);
}

void ParametersTest::visionTowers_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("parameters");
    QTest::addColumn<qint64>("tokens");
    QTest::newRow("CLIP ViT-L/14-336") << test::withClip({}) << qint64{303'507'456} << qint64{577};
    const TrainingPlan qwen = planOf({{"model.hidden", "3584"},
                                      {"vision.layers", "32"},
                                      {"vision.hidden", "1280"},
                                      {"vision.heads", "16"},
                                      {"vision.ffn", "5120"},
                                      {"vision.patch", "14"},
                                      {"vision.temporal_patch", "2"},
                                      {"vision.merge", "2"},
                                      {"vision.tokens_per_image", "256"},
                                      {"projector.type", "patch_merger"}});
    QTest::newRow("Qwen2-VL-7B with merger") << qwen << qint64{675'759'104} << qint64{1024};
}

void ParametersTest::visionTowers()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, parameters);
    QFETCH(qint64, tokens);
    const VisionTower tower = visionTowerOf(plan);
    const ModelWeights weights = weightsPerGpu({}, tower, projectorOf(plan), {});
    QCOMPARE(weights.vision().total().value() + weights.projector.total().value(), parameters);
    QCOMPARE(tower.tokens, tokens);
}

void ParametersTest::projectors_data()
{
    QTest::addColumn<Projector>("projector");
    QTest::addColumn<qint64>("parameters");
    using Kind = Projector::Kind;
    QTest::newRow("LLaVA-1.5-7B, MLP") << Projector{Kind::Mlp, 1024, 4096, 4096, 2, 1, 0, 576} << qint64{20'979'712};
    QTest::newRow("one linear layer") << Projector{Kind::Linear, 1024, 4096, 4096, 1, 1, 0, 576}
                                      << qint64{1024 * 4096 + 4096};
    QTest::newRow("resampler") << Projector{Kind::Resampler, 1024, 1024, 1024, 6, 1, 0, 64} << qint64{75'601'920};
    // LayerNorm over four joined patches and two linear layers.
    QTest::newRow("pixel shuffle") << Projector{Kind::PixelShuffle, 1024, 4096, 4096, 2, 2, 0, 256}
                                   << qint64{2 * 4096 + 2 * (4096 * 4096 + 4096)};
    QTest::newRow("none") << Projector{} << qint64{0};
}

void ParametersTest::projectors()
{
    QFETCH(Projector, projector);
    QFETCH(qint64, parameters);
    QCOMPARE(weightsPerGpu({}, {}, projector, {}).projector.total().value(), parameters);
}

void ParametersTest::paddedVocabulary_data()
{
    QTest::addColumn<QString>("vocab");
    QTest::addColumn<QString>("multiple");
    QTest::addColumn<QString>("tensorParallel");
    QTest::addColumn<qint64>("padded");
    QTest::newRow("GPT-2") << "50257"
                           << "128"
                           << "1" << qint64{50304};
    QTest::newRow("GPT-2, TP 8") << "50257"
                                 << "128"
                                 << "8" << qint64{51200};
    QTest::newRow("131073") << "131073"
                            << "128"
                            << "1" << qint64{131200};
    QTest::newRow("131073, TP 4") << "131073"
                                  << "128"
                                  << "4" << qint64{131584};
    QTest::newRow("odd multiple") << "50257"
                                  << "3232"
                                  << "2" << qint64{51712};
    QTest::newRow("already a multiple") << "51200"
                                        << "128"
                                        << "8" << qint64{51200};
}

void ParametersTest::paddedVocabulary()
{
    QFETCH(QString, vocab);
    QFETCH(QString, multiple);
    QFETCH(QString, tensorParallel);
    QFETCH(qint64, padded);
    const TrainingPlan plan = planOf({{"model.vocab", vocab.toStdString()},
                                      {"model.vocab_pad_multiple", multiple.toStdString()},
                                      {"parallel.tp", tensorParallel.toStdString()}});
    QCOMPARE(architectureOf(plan).vocab, padded);
}

void ParametersTest::absurdSizesSaturate()
{
    TrainingPlan plan = test::llama3Of8B();
    const Origin origin{OriginKind::Edited, 0, nullptr};
    for (Count* count : {&plan.model.layers, &plan.model.hidden, &plan.model.ffn, &plan.model.vocab, &plan.moe.experts,
                         &plan.moe.ffn, &plan.mla.kvLoraRank, &plan.vision.layers, &plan.vision.hidden,
                         &plan.vision.patch, &plan.vision.merge, &plan.projector.out, &plan.model.maxPos}) {
        count->set(std::numeric_limits<std::int64_t>::max(), origin);
    }
    plan.projector.type.set("patch_merger", origin);
    plan.model.learnedPositions.set(true, origin);
    QCOMPARE(parametersOf(plan), std::numeric_limits<std::int64_t>::max());
    for (Count* count : {&plan.model.layers, &plan.model.hidden, &plan.model.ffn, &plan.model.vocab, &plan.moe.experts,
                         &plan.vision.layers, &plan.vision.merge}) {
        count->set(std::numeric_limits<std::int64_t>::min(), origin);
    }
    QVERIFY(parametersOf(plan) >= 0);
}

QTEST_APPLESS_MAIN(ParametersTest)
#include "tst_parameters.moc"
