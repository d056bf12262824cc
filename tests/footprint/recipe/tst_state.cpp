// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/plans.h"
#include "footprint/theory_cases.h"
#include "footprint/weights.h"
#include "plan/precision.h"

#include <QtTest>

#include <map>

using namespace headroom;
using test::matrices;
using test::planOf;
using test::stateOf;
using Json = nlohmann::json;

class StateTest : public QObject
{
    Q_OBJECT

private slots:
    void bytesPerParameter_data();
    void bytesPerParameter();
    void everyRecipeHasItsTotal();
    void theoryRows_data();
    void theoryRows();
    void frozenParts_data();
    void frozenParts();
    void lowRankAdapters_data();
    void lowRankAdapters();
    void shortAdapters();
    void adaptersBesideShortBase();
    void quantisedBase();
    void factoredSecondMoment();
    void muonLeavesTablesToAdam();
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
    // theory_moe_cp.md B3: 8-bit weights beside 16-bit ones, and the same transposed where the GPU needs them.
    row("Megatron in 8 bits, Hopper", 18 + 2, {{"precision.recipe", "megatron-bf16"}, {"precision.fp8", "hybrid"}});
    row("Megatron in 8 bits, Blackwell", 18 + 1,
        {{"precision.recipe", "megatron-bf16"}, {"precision.fp8", "hybrid"}, {"hardware.gpu", "b200"}});
    row("other frameworks in 8 bits", 16, {{"framework", "torchtitan"}, {"precision.fp8", "tensorwise"}});
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
    test::addTheoryRows({"S01"});
}

void StateTest::theoryRows()
{
    QFETCH(Json, row);
    const Json& inputs = row.at("inputs");
    const double expected = row.at("expected").at("bytes_per_param");
    const auto typeOf = [](double bytes) {
        return bytes == 4 ? "fp32" : bytes == 2 ? "bf16" : bytes == 0 ? "none" : "int8";
    };
    if (inputs.contains("bits")) {
        QCOMPARE(bytesPerElement(DataType::Nf4), expected);
        const TrainingPlan plan = planOf({{"precision.params", "nf4"}});
        QCOMPARE(stateRecipe(plan).frozen, expected);
        constexpr double plain = (4 + 32.0 / 64) / 8; // a constant of 32 bits for every 64 weights
        QCOMPARE(stateRecipe(planOf({{"precision.double_quantised", "false"}}, plan)).frozen, plain);
        QCOMPARE(stateRecipe(planOf({{"implementation.profile", "litgpt"}}, plan)).frozen, plain);
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
    TrainingPlan plan = planOf({{"lora.rank", "16"}}, test::llama2Of7B());
    if (!targets.isEmpty()) {
        plan = planOf({{"lora.targets", targets.toStdString()}}, plan);
    }
    const StageWeights weights = test::weightsOf(plan, 0);
    QCOMPARE(weights.language.adapters.value(), adapters);
    // A frozen bf16 base and adapters at 16 bytes each.
    QCOMPARE(stateOf(plan, weights).total(), 2 * 6'738'415'616.0 + 16.0 * static_cast<double>(adapters));
}

/// torchtune's adapters, gradients and moments are 16-bit.
void StateTest::shortAdapters()
{
    const TrainingPlan plan
        = planOf({{"lora.rank", "16"}, {"implementation.profile", "torchtune"}}, test::llama2Of7B());
    const StageWeights weights = test::weightsOf(plan, 0);
    const auto adapters = static_cast<double>(weights.language.adapters.value());
    QCOMPARE(stateOf(plan, weights).total(), 2 * 6'738'415'616.0 + 8.0 * adapters);
}

/// PyTorch's moments are of the type of what is stepped, whatever the base's are; bitsandbytes' have 8 bits and a
/// scale.
void StateTest::adaptersBesideShortBase()
{
    TrainingPlan plan
        = planOf({{"lora.rank", "16"}, {"implementation.profile", "hf-sdpa"}, {"precision.recipe", "bf16-pure"}},
                 test::llama2Of7B());
    const StageWeights weights = test::weightsOf(plan, 0);
    const auto adapters = static_cast<double>(weights.language.adapters.value());
    QCOMPARE(stateOf(plan, weights).total(), 2 * 6'738'415'616.0 + (4 + 4 + 8) * adapters);
    plan = planOf({{"optimizer.name", "paged_adamw_8bit"}}, plan);
    QCOMPARE(stateOf(plan, weights).total(), 2 * 6'738'415'616.0 + (4 + 4 + 2 * (1 + 4 / 256.0)) * adapters);
}

void StateTest::quantisedBase()
{
    const TrainingPlan plan = planOf(
        {{"lora.rank", "16"}, {"lora.targets", "q_proj,v_proj"}, {"precision.params", "nf4"}}, test::llama2Of7B());
    const StageWeights weights = test::weightsOf(plan, 0);
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
