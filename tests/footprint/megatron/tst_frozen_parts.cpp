// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/estimator.h"
#include "footprint/plans.h"
#include "footprint/programs.h"
#include "footprint/tape/state.h"
#include "footprint/torch_plans.h"

#include <QTest>

using namespace headroom;
using namespace headroom::test;

/// Parts of Megatron's layers and predictions that are frozen by name, layer or share: what is left of the state, and
/// what the layers then keep.
class TestFrozenParts : public QObject
{
    Q_OBJECT

private slots:
    void storesStateOfTheTrained_data();
    void storesStateOfTheTrained();
    void predictsFrozen_data();
    void predictsFrozen();
    void keepsInputsOfTheTrained_data();
    void keepsInputsOfTheTrained();
};

void TestFrozenParts::storesStateOfTheTrained_data()
{
    QTest::addColumn<QByteArray>("profile");
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<qint64>("trained"); // elements
    constexpr qint64 h = 4096, f = 11008, v = 32000, mlps = 3 * h * f, attentions = 4 * h * h;
    const auto row = [](const char* name, const char* profile, const char* key, const char* value, qint64 trained) {
        QTest::newRow(name) << QByteArray(profile) << QByteArray(key) << QByteArray(value) << trained;
    };
    // Transformer Engine has the norm's weight in the linear layer behind it, as mlp.linear_fc1.layer_norm_weight.
    row("MLPs, norms with them", "megatron-te", "frozen.trained", R"(mlp\.)", 32 * (mlps + h));
    row("MLPs", "megatron-local", "frozen.trained", R"(mlp\.)", 32 * mlps);
    row("all but MLPs", "megatron-local", "frozen.patterns", R"(mlp\.)", 32 * (attentions + 2 * h) + h + 2 * v * h);
    row("last matrices", "megatron-te", "frozen.trained", "linear_fc2", 32 * h * f);
    row("names of the checkpoint", "megatron-te", "frozen.trained", R"(self_attn\.)", 32 * attentions);
    row("two layers", "megatron-te", "frozen.trained_layers", "2", 2 * (attentions + mlps + 2 * h));
    row("output layer", "megatron-te", "frozen.trained", "output_layer", v * h);
}

/// Weights of 2 bytes, of all; gradients, master weights and two moments of 4 each, of the trained. Segments that grow
/// have no rest.
void TestFrozenParts::storesStateOfTheTrained()
{
    QFETCH(QByteArray, profile);
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    QFETCH(qint64, trained);
    const TrainingPlan plan = planOf({{"precision.recipe", "megatron-bf16"},
                                      {"implementation.expandable_segments", "true"},
                                      {key.toStdString(), value.toStdString()}},
                                     planOf(llama2, profile.constData()));
    const ModelProgram program = programOf(plan);
    constexpr std::int64_t all = 6'738'415'616;
    const StageState state = stageState(program, program.stages.front());
    QCOMPARE(parameterCount(program, program.stages.front()), all);
    QCOMPARE(state.parameters, 2 * all);
    QCOMPARE(state.gradients, 4 * trained);
    QCOMPARE(state.master, 4 * trained);
    QCOMPARE(state.moments, 2 * 4 * trained);

    const ModelProgram staged = programOf(planOf({{"parallel.pp", "4"}, {"batch.accum", "4"}}, plan));
    std::int64_t parameters = 0, gradients = 0;
    for (const StageProgram& stage : staged.stages) {
        parameters += parameterCount(staged, stage);
        gradients += stageState(staged, stage).gradients;
    }
    QCOMPARE(parameters, all);
    QCOMPARE(gradients, 4 * trained);
}

void TestFrozenParts::predictsFrozen_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<qint64>("trained"); // elements
    constexpr qint64 h = 4096, f = 11008, v = 32000, mlp = 3 * h * f, attention = 4 * h * h;
    constexpr qint64 layer = mlp + attention + 2 * h, joining = 2 * h * h + 3 * h;
    const auto row = [](const char* name, const char* key, const char* value, qint64 trained) {
        QTest::newRow(name) << QByteArray(key) << QByteArray(value) << trained;
    };
    row("the predictions alone", "frozen.trained", R"(^mtp\.)", 2 * (layer + joining));
    row("all but them", "frozen.patterns", R"(^mtp\.)", 32 * layer + h + 2 * v * h);
    row("all but their layers", "frozen.patterns", "transformer_layer", 32 * layer + 2 * joining + h + 2 * v * h);
    row("last matrices", "frozen.trained", "linear_fc2", (32 + 2) * h * f);
    row("the two last of the checkpoint's", "frozen.trained", R"(model\.layers\.3[23]\.)", 2 * (layer + joining));
    row("last layer and what follows", "frozen.trained_layers", "1", layer + 2 * (layer + joining));
    row("embedding", "frozen.trained", "word_embeddings", v * h);
}

/// A prediction has a layer, a projection of two states and three norms (theory.md 1.4), each with a name.
void TestFrozenParts::predictsFrozen()
{
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    QFETCH(qint64, trained);
    const TrainingPlan plan = planOf({{"precision.recipe", "megatron-bf16"},
                                      {"model.mtp_layers", "2"},
                                      {"implementation.expandable_segments", "true"},
                                      {key.toStdString(), value.toStdString()}},
                                     planOf(llama2, "megatron-te"));
    constexpr qint64 h = 4096, one = 202'383'360 + 2 * h * h + 3 * h; // 4 h² + 3 h f + 2 h, and what joins states
    const ModelProgram program = programOf(plan);
    QCOMPARE(qint64{parameterCount(program, program.stages.front())}, 6'738'415'616 + 2 * one);
    QCOMPARE(qint64{stageState(program, program.stages.front()).gradients}, 4 * trained);
    QCOMPARE(qint64{stageState(program, program.stages.front()).master}, 4 * trained);
}

void TestFrozenParts::keepsInputsOfTheTrained_data()
{
    QTest::addColumn<QByteArray>("frozen");
    QTest::addColumn<double>("less"); // bytes a token of a layer
    constexpr double h = 4096, f = 11008;
    QTest::newRow("second matrix: the product of gate and up") << QByteArray("linear_fc2") << 2 * f;
    QTest::newRow("first matrix: what the norm made") << QByteArray("linear_fc1.weight") << 2 * h;
    QTest::newRow("projection: what the norm made") << QByteArray("linear_qkv.weight") << 2 * h;
    QTest::newRow("output: attention's backward reads it too") << QByteArray("linear_proj") << 0.0;
    QTest::newRow("embedding and head: no layer's") << QByteArray("embedding|output_layer") << 0.0;
}

void TestFrozenParts::keepsInputsOfTheTrained()
{
    QFETCH(QByteArray, frozen);
    QFETCH(double, less);
    const auto keptWith = [](const TrainingPlan& plan) {
        const ModelProgram program = programOf(plan);
        const PieceRun layers = program.stages.front().chunks.front().runs[1];
        return layers.count == 32 ? keptPerToken(program, layers.piece) : -1;
    };
    const TrainingPlan plan = planOf(llama2, "megatron-te");
    QCOMPARE(keptWith(plan) - keptWith(planOf({{"frozen.patterns", frozen.toStdString()}}, plan)), less);
}

QTEST_APPLESS_MAIN(TestFrozenParts)
#include "tst_frozen_parts.moc"
