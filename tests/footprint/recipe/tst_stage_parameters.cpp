// SPDX-License-Identifier: GPL-3.0-or-later
//
// Layers and weights of pipeline stages and of their ranks.
#include "footprint/plans.h"
#include "footprint/weights.h"

#include <QtTest>

using namespace headroom;
using test::parametersOf;
using test::planOf;
using test::weightsOf;

namespace {

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

} // namespace

class StageParametersTest : public QObject
{
    Q_OBJECT

private slots:
    void activeExpertsOnly();
    void layersOfStages_data();
    void layersOfStages();
    void ranksOfRealRuns_data();
    void ranksOfRealRuns();
    void mixtureWithPrediction();
    void stagesAddUp_data();
    void stagesAddUp();
    void tensorParallelismNeverAdds_data();
    void tensorParallelismNeverAdds();
};

void StageParametersTest::activeExpertsOnly()
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

void StageParametersTest::layersOfStages_data()
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

void StageParametersTest::layersOfStages()
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

void StageParametersTest::ranksOfRealRuns_data()
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

void StageParametersTest::ranksOfRealRuns()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(int, stage);
    QFETCH(qint64, parameters);
    QCOMPARE(weightsOf(plan, stage).total().value(), parameters);
}

void StageParametersTest::mixtureWithPrediction()
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

void StageParametersTest::stagesAddUp_data()
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

void StageParametersTest::stagesAddUp()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, copies);
    std::int64_t sum = 0;
    for (std::int64_t stage = 0; stage < plan.parallel.pp.value; ++stage) {
        sum += weightsOf(plan, stage).total().value();
    }
    QCOMPARE(sum, parametersOf(plan) + copies);
}

void StageParametersTest::tensorParallelismNeverAdds_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("Llama-3-8B") << test::llama3Of8B();
    QTest::newRow("7B with biases") << testModelOf7B();
    QTest::newRow("DeepSeek-V3") << test::deepSeekV3();
    QTest::newRow("workflow example") << test::workflowExample();
}

void StageParametersTest::tensorParallelismNeverAdds()
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

QTEST_APPLESS_MAIN(StageParametersTest)
#include "tst_stage_parameters.moc"
