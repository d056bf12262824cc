// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/plans.h"
#include "footprint/state.h"
#include "footprint/theory_cases.h"
#include "plan/precision.h"

#include <QtTest>

using namespace headroom;
using headroom::test::planOf;
using headroom::test::theoryCases;
using Json = nlohmann::json;

namespace {

StageWeights matrices(std::int64_t count)
{
    StageWeights weights;
    weights.language.matrices = count;
    return weights;
}

StateBytes stateOf(const TrainingPlan& plan, const StageWeights& weights)
{
    return stateBytes(weights, stateRecipe(plan), shardingOf(plan, splitOf(plan)), trainableOf(plan));
}

StageWeights llama2Of7B(const TrainingPlan& lora)
{
    const TrainingPlan plan = planOf({{"model.layers", "32"},
                                      {"model.hidden", "4096"},
                                      {"model.heads", "32"},
                                      {"model.ffn", "11008"},
                                      {"model.gated_mlp", "true"},
                                      {"model.vocab", "32000"},
                                      {"model.tied_embeddings", "false"}},
                                     lora);
    const Architecture model = architectureOf(plan);
    const ModelWeights weights = weightsPerGpu(model, {}, {}, {}, adaptersOf(plan));
    return stageWeights(weights, model, {{{{0, 32}, {}}}, true, true, {}}, 1);
}

} // namespace

class StateTest : public QObject
{
    Q_OBJECT

private slots:
    void bytesPerParameter_data();
    void bytesPerParameter();
    void everyRecipeHasItsTotal();
    void theoryRows_data();
    void theoryRows();
    void zeroStages_data();
    void zeroStages();
    void distributedOptimizer_data();
    void distributedOptimizer();
    void precisionAwareOptimizer_data();
    void precisionAwareOptimizer();
    void fullySharded_data();
    void fullySharded();
    void expertsHaveTheirOwnReplicas();
    void frozenParts_data();
    void frozenParts();
    void lowRankAdapters_data();
    void lowRankAdapters();
    void quantisedBase();
    void factoredSecondMoment();
    void muonLeavesTablesToAdam();
    void offload_data();
    void offload();
    void persistentGradients_data();
    void persistentGradients();
};

void StateTest::bytesPerParameter_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytes");
    const auto row = [](const char* name, double bytes, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(fields) << bytes;
    };
    row("nothing stated: 16-bit, fp32 Adam", 16, {});
    row("fp32 Adam", 16, {{"precision.recipe", "fp32"}});
    row("bf16 mixed", 16, {{"precision.recipe", "bf16-mixed"}});
    row("fp16 mixed", 16, {{"precision.recipe", "fp16-mixed"}});
    row("Megatron bf16", 18, {{"precision.recipe", "megatron-bf16"}});
    row("Megatron fp16", 20, {{"precision.recipe", "megatron-fp16"}});
    row("pure bf16", 8, {{"precision.recipe", "bf16-pure"}});
    row("8-bit Adam, master", 10.03125, {{"precision.recipe", "bf16-adam8bit"}});
    row("8-bit Adam, no master", 6.03125, {{"precision.recipe", "bf16-pure-adam8bit"}});
    row("fp32 SGD with momentum", 12, {{"precision.recipe", "fp32-sgd-momentum"}});
    row("fp32 SGD", 8, {{"precision.recipe", "fp32-sgd"}});
    row("Megatron bf16 with Muon", 14, {{"precision.recipe", "megatron-bf16-muon"}});
    row("AdamW by name", 16, {{"optimizer.name", "adamw_torch_fused"}});
    row("8-bit Adam by name", 10.03125, {{"optimizer.name", "paged_adamw_8bit"}});
    row("8-bit Adam without master", 6.03125, {{"optimizer.name", "adamw_bnb_8bit"}, {"precision.master", "none"}});
    row("SGD by name", 8, {{"optimizer.name", "SGD"}});
    row("SGD with momentum by name", 12, {{"optimizer.name", "sgd_momentum"}});
    row("SGD by name keeps its recipe's momentum", 12,
        {{"optimizer.name", "sgd"}, {"precision.recipe", "fp32-sgd-momentum"}});
    row("Lion", 12, {{"optimizer.name", "lion"}});
    row("Muon by name", 14, {{"optimizer.name", "muon"}, {"precision.recipe", "megatron-bf16"}});
    row("Adafactor: no moment of the weight's size", 8, {{"optimizer.name", "adafactor"}});
    row("stated moments win over the name", 2 + 4 + 4 + 2 * 2.0,
        {{"optimizer.name", "adamw"},
         {"precision.opt_m", "bf16"},
         {"precision.opt_v", "bf16"},
         {"precision.grads", "fp32"},
         {"precision.params", "bf16"},
         {"precision.master", "fp32"}});
}

void StateTest::bytesPerParameter()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateRecipe(plan).total(), bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

/// The figure in each recipe's title, so that none is left out here.
void StateTest::everyRecipeHasItsTotal()
{
    const std::map<std::string_view, double> totals{{"bf16-mixed", 16},
                                                    {"fp16-mixed", 16},
                                                    {"fp32", 16},
                                                    {"megatron-bf16", 18},
                                                    {"megatron-fp16", 20},
                                                    {"bf16-pure", 8},
                                                    {"bf16-adam8bit", 10.03125},
                                                    {"bf16-pure-adam8bit", 6.03125},
                                                    {"fp32-sgd-momentum", 12},
                                                    {"fp32-sgd", 8},
                                                    {"megatron-bf16-muon", 14}};
    for (const PrecisionRecipe& recipe : precisionRecipes()) {
        QVERIFY2(totals.contains(recipe.id), std::string(recipe.id).c_str());
        QCOMPARE(stateRecipe(planOf({{"precision.recipe", recipe.id}})).total(), totals.at(recipe.id));
    }
}

void StateTest::theoryRows_data()
{
    QTest::addColumn<Json>("row");
    for (const Json& row : theoryCases("S01")) {
        QTest::addRow("%s", row.at("what").get<std::string>().c_str()) << row;
    }
    if (theoryCases("S01").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void StateTest::theoryRows()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
    const Json& inputs = row.at("inputs");
    const double expected = row.at("expected").at("bytes_per_param");
    const auto typeOf = [](double bytes) {
        return bytes == 4 ? "fp32" : bytes == 2 ? "bf16" : bytes == 0 ? "none" : "int8";
    };
    if (inputs.contains("bits")) {
        QCOMPARE(bytesPerElement(DataType::Nf4), expected);
        return;
    }
    const bool isFrozen = !inputs.contains("grad");
    TrainingPlan plan = planOf({{"precision.params", typeOf(inputs.at("param"))},
                                {"precision.grads", typeOf(inputs.value("grad", 0.0))},
                                {"precision.master", typeOf(inputs.value("master", 0.0))},
                                {"precision.opt_m", typeOf(inputs.value("m", 0.0))},
                                {"precision.opt_v", typeOf(inputs.value("v", 0.0))},
                                {"frozen.all", isFrozen ? "true" : "false"}});
    if (inputs.contains("grad_copy")) {
        plan = planOf({{"precision.recipe", "megatron-fp16"}}, plan);
    }
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), expected * (1 << 20));
}

void StateTest::zeroStages_data()
{
    QTest::addColumn<QString>("stage");
    QTest::addColumn<double>("bytes");
    // ZeRO paper, figure 1: 7.5e9 parameters on 64 GPUs.
    QTest::newRow("0") << "0" << 120e9;
    QTest::newRow("1") << "1" << 31.40625e9;
    QTest::newRow("2") << "2" << 16.640625e9;
    QTest::newRow("3") << "3" << 1.875e9;
}

void StateTest::zeroStages()
{
    QFETCH(QString, stage);
    QFETCH(double, bytes);
    const TrainingPlan plan = planOf({{"shard.zero_stage", stage.toStdString()}, {"parallel.dp", "64"}});
    QCOMPARE(stateOf(plan, matrices(7'500'000'000)).total(), bytes);
}

void StateTest::distributedOptimizer_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytes");
    const auto row = [](const char* name, double bytes, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(fields, planOf({{"shard.dist_opt", "true"}})) << bytes;
    };
    // Megatron-LM docs/user-guide/features/dist_optimizer.md
    row("bf16, dp 1", 18, {{"precision.recipe", "megatron-bf16"}, {"parallel.dp", "1"}});
    row("bf16, dp 2", 12, {{"precision.recipe", "megatron-bf16"}, {"parallel.dp", "2"}});
    row("bf16, dp 8", 7.5, {{"precision.recipe", "megatron-bf16"}, {"parallel.dp", "8"}});
    row("bf16, dp 64", 6.1875, {{"precision.recipe", "megatron-bf16"}, {"parallel.dp", "64"}});
    row("bf16, dp 64 in 8 instances", 7.5,
        {{"precision.recipe", "megatron-bf16"}, {"parallel.dp", "64"}, {"shard.dist_opt_instances", "8"}});
    row("bf16, dp 4 and cp 2", 7.5,
        {{"precision.recipe", "megatron-bf16"}, {"parallel.dp", "4"}, {"parallel.cp", "2"}});
    row("fp32, dp 8", 8 + 8.0 / 8, {{"precision.recipe", "fp32"}, {"parallel.dp", "8"}});
    row("data parallel size from the world", 7.5,
        {{"precision.recipe", "megatron-bf16"}, {"parallel.world", "32"}, {"parallel.tp", "2"}, {"parallel.pp", "2"}});
}

void StateTest::distributedOptimizer()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

void StateTest::precisionAwareOptimizer_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytes");
    const auto row = [](const char* name, const char* grads, const char* master, const char* moments, double bytes) {
        QTest::newRow(name) << planOf({{"precision.grads", grads},
                                       {"precision.master", master},
                                       {"precision.opt_m", moments},
                                       {"precision.opt_v", moments},
                                       {"shard.dist_opt", "true"},
                                       {"parallel.dp", "8"}})
                            << bytes;
    };
    // 2 + g + (master + m + v)/d; a 2-byte master stores the low half of the fp32 value.
    row("all fp32", "fp32", "fp32", "fp32", 7.5);
    row("all 16-bit", "bf16", "bf16", "bf16", 4.75);
    row("fp8 moments", "bf16", "fp32", "fp8", 4.75);
    row("16-bit master only", "fp32", "bf16", "fp32", 7.25);
}

void StateTest::precisionAwareOptimizer()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

void StateTest::fullySharded_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytes");
    const auto row = [](const char* name, double bytes, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(fields, planOf({{"shard.fsdp", "true"}, {"parallel.dp", "8"}})) << bytes;
    };
    row("full shard", 16.0 / 8, {});
    row("full shard, by name", 16.0 / 8, {{"shard.strategy", "FULL_SHARD"}});
    row("parameters stay whole", 2 + 14.0 / 8, {{"shard.strategy", "SHARD_GRAD_OP"}});
    row("no shard", 16, {{"shard.strategy", "NO_SHARD"}});
    row("hybrid, two replicas", 16.0 / 4, {{"parallel.dp_replicate", "2"}});
    row("hybrid, shards given", 16.0 / 2, {{"parallel.dp_shard", "2"}});
}

void StateTest::fullySharded()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

void StateTest::expertsHaveTheirOwnReplicas()
{
    // 168,173,568 dense parameters over dp 2 and 226,492,416 expert parameters over edp 1.
    const TrainingPlan plan = planOf({{"precision.recipe", "megatron-bf16"},
                                      {"shard.dist_opt", "true"},
                                      {"parallel.dp", "2"},
                                      {"parallel.tp", "2"},
                                      {"parallel.ep", "4"},
                                      {"parallel.etp", "1"}});
    StageWeights weights = matrices(168'173'568);
    weights.experts.matrices = 226'492'416;
    QCOMPARE(stateOf(plan, weights).total(), 6'094'946'304.0);
}

void StateTest::frozenParts_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytes"); // of one language, one vision, one projector parameter
    const auto row = [](const char* name, double bytes, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(
            fields, planOf({{"precision.recipe", "megatron-bf16"}, {"vision.layers", "1"}, {"vision.hidden", "8"}}))
                            << bytes;
    };
    row("nothing", 18 + 18 + 18, {});
    row("encoder", 18 + 2 + 18, {{"frozen.vision", "true"}});
    row("language model and encoder", 2 + 2 + 18, {{"frozen.llm", "true"}, {"frozen.vision", "true"}});
    row("projector", 18 + 18 + 2, {{"frozen.projector", "true"}});
    row("all", 2 + 2 + 2, {{"frozen.all", "true"}});
}

void StateTest::frozenParts()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    StageWeights weights = matrices(1 << 20);
    weights.vision.matrices = 1 << 20;
    weights.projector.matrices = 1 << 20;
    QCOMPARE(stateOf(plan, weights).total(), bytes * (1 << 20));
}

void StateTest::lowRankAdapters_data()
{
    QTest::addColumn<QString>("targets");
    QTest::addColumn<qint64>("adapters");
    QTest::newRow("q and v") << "q_proj,v_proj" << qint64{8'388'608};
    QTest::newRow("attention") << "q_proj,k_proj,v_proj,o_proj" << qint64{32 * 4 * 16 * 8192};
    QTest::newRow("every linear layer") << "" << qint64{32 * 16 * (4 * 8192 + 3 * (4096 + 11008))};
    QTest::newRow("all, in words") << "all-linear" << qint64{32 * 16 * (4 * 8192 + 3 * (4096 + 11008))};
}

void StateTest::lowRankAdapters()
{
    QFETCH(QString, targets);
    QFETCH(qint64, adapters);
    TrainingPlan plan = planOf({{"lora.rank", "16"}});
    if (!targets.isEmpty()) {
        plan = planOf({{"lora.targets", targets.toStdString()}}, plan);
    }
    const StageWeights weights = llama2Of7B(plan);
    QCOMPARE(weights.language.adapters.value(), adapters);
    // A frozen bf16 base and adapters at 16 bytes each.
    QCOMPARE(stateOf(plan, weights).total(), 2 * 6'738'415'616.0 + 16.0 * static_cast<double>(adapters));
}

void StateTest::quantisedBase()
{
    const TrainingPlan plan
        = planOf({{"lora.rank", "16"}, {"lora.targets", "q_proj,v_proj"}, {"precision.params", "nf4"}});
    const StageWeights weights = llama2Of7B(plan);
    QCOMPARE(weights.language.matrices.value(), 6'476'005'376);
    QCOMPARE(stateOf(plan, weights).total(), 3'999'809'536.0);
}

void StateTest::factoredSecondMoment()
{
    const TrainingPlan plan = planOf({{"optimizer.name", "adafactor"}});
    StageWeights weights;
    weights.language.matrices = 4096 * 11008;
    weights.language.factors = 4096 + 11008;
    QCOMPARE(stateOf(plan, weights).moments, 60'416.0);
    weights = {};
    weights.language.vectors = 4096;
    QCOMPARE(stateOf(plan, weights).moments, 16'384.0);
}

void StateTest::muonLeavesTablesToAdam()
{
    const TrainingPlan plan = planOf({{"precision.recipe", "megatron-bf16-muon"}});
    StageWeights weights = matrices(100);
    weights.language.tables = 10;
    weights.language.vectors = 1;
    QCOMPARE(stateOf(plan, weights).moments, 100 * 4.0 + 11 * 8.0);
}

void StateTest::offload_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytes");
    QTest::newRow("ZeRO-2, optimizer: only weights stay")
        << planOf({{"shard.zero_stage", "2"}, {"parallel.dp", "8"}, {"shard.offload_optimizer", "true"}}) << 2.0;
    QTest::newRow("distributed optimizer, half of it") << planOf({{"shard.dist_opt", "true"},
                                                                  {"parallel.dp", "8"},
                                                                  {"precision.recipe", "megatron-bf16"},
                                                                  {"shard.offload_optimizer", "true"},
                                                                  {"shard.offload_optimizer_fraction", "0.5"}})
                                                       << 6 + 0.5 * 12 / 8;
    QTest::newRow("ZeRO-3, everything") << planOf({{"shard.zero_stage", "3"},
                                                   {"parallel.dp", "8"},
                                                   {"shard.offload_optimizer", "true"},
                                                   {"shard.offload_params", "true"}})
                                        << 0.0;
    QTest::newRow("a fraction beyond one is all") << planOf(
        {{"shard.dist_opt", "true"}, {"shard.offload_optimizer", "true"}, {"shard.offload_optimizer_fraction", "7"}})
                                                  << 4.0;
}

void StateTest::offload()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

void StateTest::persistentGradients_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<bool>("persist");
    QTest::newRow("plain 16-bit") << planOf({{"precision.recipe", "bf16-mixed"}}) << false;
    QTest::newRow("fp32 throughout") << planOf({{"precision.recipe", "fp32"}}) << false;
    QTest::newRow("fp32 gradient buffer") << planOf({{"precision.recipe", "megatron-bf16"}}) << true;
    QTest::newRow("fp16 gradient buffer") << planOf({{"precision.recipe", "megatron-fp16"}}) << true;
    QTest::newRow("distributed optimizer") << planOf({{"shard.dist_opt", "true"}}) << true;
}

void StateTest::persistentGradients()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(bool, persist);
    QCOMPARE(stateRecipe(plan).gradientsPersist, persist);
}

QTEST_APPLESS_MAIN(StateTest)
#include "tst_state.moc"
