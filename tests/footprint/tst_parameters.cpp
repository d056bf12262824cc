// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/parameters.h"
#include "footprint/plans.h"
#include "footprint/theory_cases.h"
#include "footprint/working.h"

#include <QtTest>

using namespace headroom;
using headroom::test::planOf;
using headroom::test::theoryCases;
using Json = nlohmann::json;

namespace {

std::int64_t parametersOf(const TrainingPlan& plan)
{
    return modelParameters(architectureOf(plan), visionTowerOf(plan), projectorOf(plan));
}

StageWeights weightsOf(const TrainingPlan& plan, std::int64_t stage)
{
    return stageWorking(workingOf(plan, {}), PipelineSplit::of(plan).value(), stage).weights;
}

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

/// The 7B model of Megatron-LM's memory tests.
TrainingPlan testModelOf7B()
{
    return planOf({{"model.layers", "32"},
                   {"model.hidden", "4096"},
                   {"model.heads", "32"},
                   {"model.kv_heads", "8"},
                   {"model.ffn", "16384"},
                   {"model.padded_vocab", "131200"},
                   {"model.tied_embeddings", "false"},
                   {"model.layer_norm", "true"},
                   {"model.attn_bias", "true"},
                   {"model.mlp_bias", "true"},
                   {"batch.micro", "1"},
                   {"batch.seq", "8192"}});
}

TrainingPlan deepSeekV3()
{
    return planOf({{"model.layers", "61"},
                   {"model.hidden", "7168"},
                   {"model.heads", "128"},
                   {"model.head_dim", "128"},
                   {"model.ffn", "18432"},
                   {"model.gated_mlp", "true"},
                   {"model.vocab", "129280"},
                   {"model.tied_embeddings", "false"},
                   {"moe.experts", "256"},
                   {"moe.topk", "8"},
                   {"moe.ffn", "2048"},
                   {"moe.shared_ffn", "2048"},
                   {"moe.first_dense_layers", "3"},
                   {"mla.q_lora_rank", "1536"},
                   {"mla.kv_lora_rank", "512"},
                   {"mla.qk_nope_dim", "128"},
                   {"mla.qk_rope_dim", "64"},
                   {"mla.v_dim", "128"}});
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
    void activeExpertsOnly();
    void moeLayersOfARange_data();
    void moeLayersOfARange();
    void visionTowers_data();
    void visionTowers();
    void projectors_data();
    void projectors();
    void paddedVocabulary_data();
    void paddedVocabulary();
    void layersOfStages_data();
    void layersOfStages();
    void ranksOfRealRuns_data();
    void ranksOfRealRuns();
    void mixtureWithPrediction();
    void stagesAddUp_data();
    void stagesAddUp();
    void tensorParallelismNeverAdds_data();
    void tensorParallelismNeverAdds();
    void absurdSizesSaturate();
};

void ParametersTest::theoryTotals_data()
{
    QTest::addColumn<Json>("row");
    for (const Json& row : theoryCases("P0")) {
        if (row.at("inputs").contains("V") && !row.at("inputs").contains("E")) {
            QTest::addRow("%s", row.at("what").get<std::string>().c_str()) << row;
        }
    }
    if (theoryCases("P0").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void ParametersTest::theoryTotals()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
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
    const Architecture model = architectureOf(deepSeekV3());
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
    QCOMPARE(parametersOf(deepSeekV3()), 671'026'419'200 - 58 * 256);
}

void ParametersTest::activeExpertsOnly()
{
    // Mixtral's active parameters: two of eight experts.
    TrainingPlan plan = planOf({{"model.layers", "32"},
                                {"model.hidden", "4096"},
                                {"model.heads", "32"},
                                {"model.kv_heads", "8"},
                                {"model.gated_mlp", "true"},
                                {"model.vocab", "32000"},
                                {"model.tied_embeddings", "false"},
                                {"moe.experts", "8"},
                                {"moe.ffn", "14336"},
                                {"parallel.ep", "4"},
                                {"parallel.etp", "1"},
                                {"batch.micro", "1"},
                                {"batch.seq", "128"}});
    QCOMPARE(weightsOf(plan, 0).total().value(), 12'879'925'248);
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
    const TrainingPlan clip = planOf({{"vision.layers", "24"},
                                      {"vision.hidden", "1024"},
                                      {"vision.heads", "16"},
                                      {"vision.ffn", "4096"},
                                      {"vision.patch", "14"},
                                      {"vision.image_size", "336"},
                                      {"vision.class_token", "true"},
                                      {"vision.learned_positions", "true"},
                                      {"vision.extra_norms", "2"}});
    QTest::newRow("CLIP ViT-L/14-336") << clip << qint64{303'507'456} << qint64{577};
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

void ParametersTest::layersOfStages_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QList<qint64>>("layers");
    const auto split = [](const char* layers, const char* stages, test::FieldTexts more) {
        return planOf(more, planOf({{"model.layers", layers}, {"parallel.pp", stages}}));
    };
    QTest::newRow("even") << split("32", "4", {}) << QList<qint64>{8, 8, 8, 8};
    QTest::newRow("embedding and loss counted")
        << split("30", "4", {{"parallel.embed_in_split", "true"}, {"parallel.loss_in_split", "true"}})
        << QList<qint64>{7, 8, 8, 7};
    QTest::newRow("first and last given")
        << split("28", "4", {{"parallel.first_stage_layers", "5"}, {"parallel.last_stage_layers", "7"}})
        << QList<qint64>{5, 8, 8, 7};
    QTest::newRow("remainder in front") << split("30", "4", {}) << QList<qint64>{8, 8, 7, 7};
    QTest::newRow("one stage") << split("5", "1", {}) << QList<qint64>{5};
    QTest::newRow("one stage, counts") << split("5", "1", {{"parallel.last_stage_layers", "5"}}) << QList<qint64>{5};
    QTest::newRow("two stages, last given")
        << split("9", "2", {{"parallel.last_stage_layers", "2"}}) << QList<qint64>{7, 2};
    QTest::newRow("first given, remainder")
        << split("12", "4", {{"parallel.first_stage_layers", "1"}}) << QList<qint64>{1, 4, 4, 3};
    QTest::newRow("contradiction") << split("12", "2",
                                            {{"parallel.first_stage_layers", "1"}, {"parallel.last_stage_layers", "1"}})
                                   << QList<qint64>{};
    QTest::newRow("too many given") << split("12", "4", {{"parallel.first_stage_layers", "13"}}) << QList<qint64>{};
    QTest::newRow("more stages than layers") << split("3", "4", {}) << QList<qint64>{};
}

void ParametersTest::layersOfStages()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QList<qint64>, layers);
    const auto split = PipelineSplit::of(plan);
    QCOMPARE(split.has_value(), !layers.isEmpty());
    qint64 first = 0;
    for (int stage = 0; stage < layers.size(); ++stage) {
        QCOMPARE(split->layers(stage), layers[stage]);
        QCOMPARE(split->firstLayer(stage), first);
        first += layers[stage];
    }
}

void ParametersTest::ranksOfRealRuns_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<int>("stage");
    QTest::addColumn<qint64>("parameters");
    QTest::newRow("7B, PP 4, last stage")
        << planOf({{"parallel.pp", "4"}}, testModelOf7B()) << 3 << qint64{1'947'066'368};
    QTest::newRow("7B, TP 4") << planOf({{"parallel.tp", "4"},
                                         {"model.padded_vocab", "131584"},
                                         {"model.learned_positions", "true"},
                                         {"model.max_pos", "8192"}},
                                        testModelOf7B())
                              << 0 << qint64{1'713'299'456};
    QTest::newRow("15B, TP 8") << planOf({{"model.layers", "32"},
                                          {"model.hidden", "6144"},
                                          {"model.heads", "48"},
                                          {"model.kv_heads", "8"},
                                          {"model.ffn", "24576"},
                                          {"model.padded_vocab", "256000"},
                                          {"model.layer_norm", "true"},
                                          {"model.tied_embeddings", "false"},
                                          {"parallel.tp", "8"}})
                               << 0 << qint64{1'954'295'808};
    const TrainingPlan llama = planOf({{"parallel.tp", "2"}, {"parallel.pp", "4"}}, test::llama3Of8B());
    QTest::newRow("Llama-3-8B, TP 2 PP 4, first") << llama << 0 << qint64{1'135'149'056};
    QTest::newRow("Llama-3-8B, TP 2 PP 4, inner") << llama << 1 << qint64{872'480'768};
    QTest::newRow("Llama-3-8B, TP 2 PP 4, last") << llama << 3 << qint64{1'135'153'152};
}

void ParametersTest::ranksOfRealRuns()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(int, stage);
    QFETCH(qint64, parameters);
    QCOMPARE(weightsOf(plan, stage).total().value(), parameters);
}

void ParametersTest::mixtureWithPrediction()
{
    const TrainingPlan plan = planOf({{"model.layers", "16"},
                                      {"model.hidden", "1024"},
                                      {"model.heads", "32"},
                                      {"model.gated_mlp", "true"},
                                      {"model.padded_vocab", "51712"},
                                      {"model.tied_embeddings", "false"},
                                      {"model.mtp_layers", "1"},
                                      {"moe.experts", "32"},
                                      {"moe.topk", "4"},
                                      {"moe.ffn", "1024"},
                                      {"moe.shared_ffn", "1024"},
                                      {"mla.q_lora_rank", "1536"},
                                      {"mla.kv_lora_rank", "512"},
                                      {"mla.qk_nope_dim", "128"},
                                      {"mla.qk_rope_dim", "64"},
                                      {"mla.v_dim", "128"},
                                      {"parallel.tp", "2"},
                                      {"parallel.pp", "2"},
                                      {"parallel.ep", "4"},
                                      {"parallel.etp", "1"}});
    const StageWeights weights = weightsOf(plan, 1);
    QCOMPARE(weights.language.total().value(), 168'173'568);
    QCOMPARE(weights.experts.total().value(), 226'492'416);
}

void ParametersTest::stagesAddUp_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("copies");
    for (const char* stages : {"1", "2", "3", "5", "8", "32"}) {
        for (const char* schedule : {"1f1b", "gpipe", "zb-v", "dualpipev"}) {
            for (const char* tied : {"true", "false"}) {
                const TrainingPlan plan = planOf({{"parallel.pp", stages},
                                                  {"parallel.schedule", schedule},
                                                  {"model.tied_embeddings", tied},
                                                  {"moe.experts", "4"},
                                                  {"moe.ffn", "512"},
                                                  {"moe.layer_freq", "2"}},
                                                 test::llama3Of8B());
                const bool isCopied = QByteArray(tied) == "true" && QByteArray(stages) != "1"
                    && !isFolded(plan.parallel.schedule.value);
                QTest::addRow("%s stages, %s, tied %s", stages, schedule, tied)
                    << plan << (isCopied ? qint64{128'256} * 4096 : qint64{0});
            }
        }
    }
}

void ParametersTest::stagesAddUp()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, copies);
    std::int64_t sum = 0;
    for (std::int64_t stage = 0; stage < plan.parallel.pp.value; ++stage) {
        sum += weightsOf(plan, stage).total().value();
    }
    QCOMPARE(sum, parametersOf(plan) + copies);
}

void ParametersTest::tensorParallelismNeverAdds_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("Llama-3-8B") << test::llama3Of8B();
    QTest::newRow("7B with biases") << testModelOf7B();
    QTest::newRow("DeepSeek-V3") << deepSeekV3();
    QTest::newRow("workflow example") << test::workflowExample();
}

void ParametersTest::tensorParallelismNeverAdds()
{
    QFETCH(TrainingPlan, plan);
    std::int64_t before = parametersOf(plan);
    for (const char* size : {"1", "2", "4", "8", "16", "32"}) {
        const std::int64_t now = weightsOf(planOf({{"parallel.tp", size}}, plan), 0).total().value();
        QVERIFY(now <= before);
        QVERIFY(now > 0);
        before = now;
    }
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
