// SPDX-License-Identifier: GPL-3.0-or-later
//
// What takes effect of the settings that recompute, and what is kept and rebuilt then.
#include "footprint/layer_activations.h"
#include "footprint/plans.h"
#include "footprint/programs.h"
#include "footprint/theory_cases.h"
#include "footprint/working.h"

#include <QtTest>

using namespace headroom;
using test::addTheoryRows;
using test::layerOf;
using test::modelOf;
using test::planOf;
using Json = nlohmann::json;

class RecomputeTest : public QObject
{
    Q_OBJECT

private slots:
    void groupedRecompute_data();
    void groupedRecompute();
    void effectiveRecompute_data();
    void effectiveRecompute();
    void namedModules_data();
    void namedModules();
    void modulesOverlapOnce();
    void wholeLayersOfAStage_data();
    void wholeLayersOfAStage();
    void share_data();
    void share();
    void moreRecomputingNeverAdds();
};

void RecomputeTest::groupedRecompute_data()
{
    addTheoryRows({"A16", "A17"});
}

void RecomputeTest::groupedRecompute()
{
    QFETCH(Json, row);
    const Json& inputs = row.at("inputs");
    const bool isUniform = row.at("id").get<std::string>().starts_with("A16");
    ActivationModel model;
    model.tokens = 1;
    model.dense = {inputs.at("layer_bytes"), inputs.at("layer_bytes")};
    model.input = inputs.at("input_bytes");
    model.recompute.kind = isUniform ? Recompute::Kind::Uniform : Recompute::Kind::Block;
    model.recompute.group = model.recompute.layers = inputs.at("n");
    const StageActivations stage = stageActivations(model, inputs.at("L"), 0, 1);
    QCOMPARE(stage.kept, row.at("expected").at("forward_live").get<double>());
    QCOMPARE(stage.kept + stage.rebuilt, row.at("expected").at("backward_live").get<double>());
}

void RecomputeTest::effectiveRecompute_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<int>("kind");
    using Kind = Recompute::Kind;
    const auto row = [](const char* name, Kind kind, test::FieldTexts fields) {
        QTest::newRow(name) << planOf(fields) << static_cast<int>(kind);
    };
    row("block absent", Kind::None, {});
    row("full", Kind::Block, {{"recompute.enabled", "true"}, {"recompute.granularity", "full"}});
    row("enabled: false wins", Kind::None, {{"recompute.enabled", "false"}, {"recompute.granularity", "full"}});
    row("enabled without granularity", Kind::None, {{"recompute.enabled", "true"}});
    row("granularity without enabled", Kind::Block, {{"recompute.granularity", "full"}});
    row("none", Kind::None, {{"recompute.enabled", "true"}, {"recompute.granularity", "none"}});
    row("selective layers", Kind::Block,
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.num_layers", "4"}});
    row("selective modules", Kind::Modules,
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}, {"recompute.modules", "mlp"}});
    row("selective, nothing named", Kind::Modules,
        {{"recompute.enabled", "true"}, {"recompute.granularity", "selective"}});
    row("full in groups", Kind::Uniform,
        {{"recompute.granularity", "full"}, {"recompute.method", "uniform"}, {"recompute.num_layers", "2"}});
}

void RecomputeTest::effectiveRecompute()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(int, kind);
    QCOMPARE(static_cast<int>(recomputeOf(plan).kind), kind);
}

void RecomputeTest::namedModules_data()
{
    QTest::addColumn<QString>("modules");
    QTest::addColumn<double>("bytes");
    const double whole = 1'141'964'800; // Llama-3-8B, 8192 tokens
    const double stream = 67'108'864; // 2·T·h
    const double hidden = 469'762'048; // fc1 output
    QTest::newRow("mlp drops its norm too") << "mlp" << whole - hidden - hidden / 2 - stream;
    QTest::newRow("core_attn, flash: lse only") << "core_attn" << whole - 1'048'576;
    QTest::newRow("layernorm") << "layernorm" << whole - 2 * stream;
    QTest::newRow("activation") << "act" << whole - hidden / 2;
    QTest::newRow("two modules") << "core_attn,mlp" << whole - 1'048'576 - hidden - hidden / 2 - stream;
    QTest::newRow("experts of a dense model") << "moe,moe_act,shared_experts" << whole;
    QTest::newRow("latent attention it has not") << "mla_up_proj" << whole;
    QTest::newRow("a name nobody knows") << "warp_drive" << whole;
}

void RecomputeTest::namedModules()
{
    QFETCH(QString, modules);
    QFETCH(double, bytes);
    const TrainingPlan plan = planOf({{"recompute.enabled", "true"},
                                      {"recompute.granularity", "selective"},
                                      {"recompute.modules", modules.toStdString()}},
                                     test::llama3Of8B());
    QCOMPARE(layerOf(plan), bytes);
    const StageActivations stage = stageActivations(modelOf(plan), 32, 0, 1);
    QCOMPARE(stage.kept, 32 * bytes);
    QCOMPARE(stage.rebuilt, 1'141'964'800 - bytes); // one layer at a time
}

void RecomputeTest::modulesOverlapOnce()
{
    // The MLP's norm output goes with either module; both together drop it once, and nothing falls below what the
    // residual stream and attention keep.
    const TrainingPlan plan = planOf(
        {{"recompute.granularity", "selective"}, {"recompute.modules", "mlp,mlp,layernorm,core_attn,attention,act"}},
        test::llama3Of8B());
    const double statistics = 8192 * 8;
    QCOMPARE(layerOf(plan), 2.0 * 67'108'864 + statistics);
}

void RecomputeTest::wholeLayersOfAStage_data()
{
    QTest::addColumn<QString>("count");
    QTest::addColumn<int>("chunks");
    QTest::addColumn<double>("kept"); // in layers stored whole and inputs: whole + inputs/100
    QTest::newRow("none") << "0" << 1 << 8 * 100.0;
    QTest::newRow("three of eight") << "3" << 1 << 5 * 100 + 3.0;
    QTest::newRow("all") << "8" << 1 << 8.0;
    QTest::newRow("more than there are") << "24" << 1 << 8.0;
    QTest::newRow("four of eight, two chunks") << "4" << 2 << 4 * 100 + 4.0;
}

void RecomputeTest::wholeLayersOfAStage()
{
    QFETCH(QString, count);
    QFETCH(int, chunks);
    QFETCH(double, kept);
    ActivationModel model;
    model.tokens = 1;
    model.dense = {100, 100};
    model.input = 1;
    model.recompute.kind = Recompute::Kind::Block;
    model.recompute.layers = count.toLongLong();
    const StageActivations stage = stageActivations(model, 8, 0, chunks);
    QCOMPARE(stage.kept, kept);
    // A layer is rebuilt only after those stored whole are gone, unless none is.
    QCOMPARE(stage.rebuilt, kept == 8.0 ? 99.0 : 0.0);
}

void RecomputeTest::moreRecomputingNeverAdds()
{
    const TrainingPlan plan = test::llama3Of8B();
    double before = stageActivations(modelOf(plan), 32, 0, 1).kept;
    for (const char* layers : {"1", "4", "16", "31", "32"}) {
        const TrainingPlan selective
            = planOf({{"recompute.granularity", "selective"}, {"recompute.num_layers", layers}}, plan);
        const double now = stageActivations(modelOf(selective), 32, 0, 1).kept;
        QVERIFY(now < before);
        before = now;
    }
    const TrainingPlan full = planOf({{"recompute.granularity", "full"}}, plan);
    QCOMPARE(stageActivations(modelOf(full), 32, 0, 1).kept, before);
}

void RecomputeTest::share_data()
{
    QTest::addColumn<QByteArray>("profile");
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("stages");
    QTest::addColumn<QByteArray>("share");
    QTest::addColumn<QList<int>>("recomputed");
    QTest::addColumn<QByteArray>("granularity");
    QTest::newRow("half") << QByteArray("hf-sdpa") << 32 << 1 << QByteArray("0.5") << QList<int>{16}
                          << QByteArray("full");
    QTest::newRow("none") << QByteArray("prime-rl") << 32 << 1 << QByteArray("0") << QList<int>{0}
                          << QByteArray("full");
    QTest::newRow("all") << QByteArray("torchtitan") << 32 << 1 << QByteArray("1.0") << QList<int>{32}
                         << QByteArray("full");
    QTest::newRow("a rest is left out") << QByteArray("internevo") << 30 << 4 << QByteArray("0.3")
                                        << QList<int>{2, 2, 2, 2} << QByteArray("full");
    QTest::newRow("a third") << QByteArray("torchtune") << 12 << 1 << QByteArray("0.333333") << QList<int>{4}
                             << QByteArray("selective");
    QTest::newRow("Megatron") << QByteArray("megatron-te") << 32 << 2 << QByteArray("0.25") << QList<int>{4, 4}
                              << QByteArray("full");
    QTest::newRow("DeepSpeed's pipeline") << QByteArray("deepspeed-pipeline") << 32 << 2 << QByteArray("0.75")
                                          << QList<int>{12, 12} << QByteArray("full");
}

/// The first int(layers · share) of each stage (InternEvo modeling_*.py, xtuner v1 model/dense/dense.py); recipe and
/// tapes count the same.
void RecomputeTest::share()
{
    QFETCH(QByteArray, profile);
    QFETCH(int, layers);
    QFETCH(int, stages);
    QFETCH(QByteArray, share);
    QFETCH(QList<int>, recomputed);
    QFETCH(QByteArray, granularity);
    const std::string count = std::to_string(layers), pipeline = std::to_string(stages);
    const TrainingPlan plan = planOf({{"model.layers", count},
                                      {"model.hidden", "1024"},
                                      {"model.heads", "16"},
                                      {"model.ffn", "4096"},
                                      {"model.vocab", "32000"},
                                      {"model.layer_norm", "true"},
                                      {"batch.seq", "1024"},
                                      {"batch.micro", "1"},
                                      {"batch.accum", "8"},
                                      {"parallel.pp", pipeline},
                                      {"precision.recipe", "megatron-fp16"},
                                      {"implementation.profile", profile.toStdString()},
                                      {"recompute.enabled", "true"},
                                      {"recompute.granularity", granularity.toStdString()},
                                      {"recompute.fraction", share.toStdString()}});
    const ModelProgram program = test::programOf(plan);
    const Working working = workingOf(plan, {});
    const auto split = PipelineSplit::of(plan).value();
    for (int i = 0; i < stages; ++i) {
        const StageProgram& stage = program.stages[static_cast<std::size_t>(i)];
        int counted = 0;
        for (const PieceRun& run : stage.chunks.front().runs) {
            counted += run.checkpointGroup > 0 ? static_cast<int>(run.count) : 0;
        }
        QCOMPARE(counted, recomputed[i]);
        const double whole = working.activations.tokens * working.activations.dense.whole;
        const double input = working.activations.tokens * working.activations.input;
        QCOMPARE(stageWorking(working, split, i).activations.kept,
                 recomputed[i] * input + static_cast<double>(stage.layers - recomputed[i]) * whole);
    }
}

QTEST_APPLESS_MAIN(RecomputeTest)
#include "tst_recompute.moc"
