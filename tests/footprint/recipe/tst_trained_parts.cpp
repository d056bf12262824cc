// SPDX-License-Identifier: GPL-3.0-or-later
//
// Parts of a model that are frozen by name, layer or share: which, what the blocks then keep, what is left of the
// state.
#include "footprint/recipe/trained_parts.h"

#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/plans.h"
#include "footprint/tape/state.h"
#include "footprint/torch_plans.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

using namespace headroom;
using namespace headroom::test;

namespace {

using Parts = TrainedParts;
constexpr std::uint32_t attention = Parts::Query | Parts::Key | Parts::Value | Parts::Output;
constexpr std::uint32_t mlp = Parts::Gate | Parts::Up | Parts::Down;
constexpr std::uint32_t norms = Parts::FirstNorm | Parts::SecondNorm;
constexpr std::uint32_t block = attention | mlp | norms;

TrainingPlan llama()
{
    return planOf(llama2, "hf-sdpa");
}

Parts partsOf(const TrainingPlan& plan)
{
    const auto parts = trainedPartsOf(plan);
    if (!parts) {
        qFatal("%s", parts.error().english().c_str());
    }
    return *parts;
}

/// Bytes per token that the pieces keep, by how often they stand in the only chunk; embedding and head left out.
double keptOf(const ModelProgram& program, std::int64_t layers)
{
    double bytes = 0;
    std::int64_t blocks = 0;
    const std::vector<PieceRun>& runs = program.stages.front().chunks.front().runs;
    for (std::size_t i = 1; i + 1 < runs.size(); ++i) {
        bytes += static_cast<double>(runs[i].count) * keptPerToken(program, runs[i].piece);
        blocks += runs[i].count;
    }
    Q_ASSERT(blocks == layers);
    return blocks == layers ? bytes : -1;
}

std::int64_t bytesOf(const std::vector<Tape::Event>& events, TensorKind kind)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& event : events) {
        bytes += event.kind == kind ? event.bytes : 0;
    }
    return bytes;
}

} // namespace

class TestTrainedParts : public QObject
{
    Q_OBJECT

private slots:
    void finds_data();
    void finds();
    void findsExperts();
    void findsImageParts_data();
    void findsImageParts();
    void keeps_data();
    void keeps();
    void storesStateOfTheTrained();
    void frozenWeightsHaveATypeOfTheirOwn();
    void textbookCountsTheSameState_data();
    void textbookCountsTheSameState();
    void freezesChunks();
    void refuses_data();
    void refuses();
};

void TestTrainedParts::finds_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QList<quint32>>("layers"); // 0, 29, 30, 31
    QTest::addColumn<bool>("table");
    QTest::addColumn<bool>("head");
    const auto row
        = [](const char* name, const char* key, const char* value, const QList<quint32>& layers, bool table,
             bool head) { QTest::newRow(name) << QByteArray(key) << QByteArray(value) << layers << table << head; };
    row("last two layers", "frozen.trained_layers", "2", {0, 0, block, block}, false, false);
    row("first two layers", "frozen.trained_layers", "-2", {block, 0, 0, 0}, false, false);
    row("more than there are", "frozen.trained_layers", "99", {block, block, block, block}, false, false);
    row("embedding frozen", "frozen.patterns", "embed_tokens", {block, block, block, block}, false, true);
    row("MLPs frozen", "frozen.patterns", "mlp", {block & ~mlp, block & ~mlp, block & ~mlp, block & ~mlp}, true, true);
    row("one number is not another", "frozen.patterns", R"(layers\.3\.)", {block, block, block, block}, true, true);
    row("the thirties", "frozen.patterns", R"(layers\.3\d)", {block, block, 0, 0}, true, true);
    row("output layer alone", "frozen.trained", "^lm_head.weight$", {0, 0, 0, 0}, false, true);
    row("matrices of single layers", "frozen.trained", R"(^model\.layers\.30\.self_attn\.o_proj|layers\.31\.mlp\.up)",
        {0, 0, Parts::Output, Parts::Up}, false, false);
    row("nothing", "frozen.ratio", "0", {block, block, block, block}, true, true);
    row("everything", "frozen.ratio", "1", {0, 0, 0, 0}, false, false);
    // 32000·4096 of the embedding are 1.945 % of the parameters, so 2 % end within the first query.
    row("a share of the front", "frozen.ratio", "0.02", {block, block, block, block}, false, true);
    row("empty expressions freeze nothing", "frozen.trained", "", {Parts::all, Parts::all, Parts::all, Parts::all},
        true, true);
}

void TestTrainedParts::finds()
{
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    QFETCH(QList<quint32>, layers);
    QFETCH(bool, table);
    QFETCH(bool, head);
    const Parts parts = partsOf(planOf({{key.toStdString(), value.toStdString()}}, llama()));
    const std::array<std::int64_t, 4> asked{0, 29, 30, 31};
    for (std::size_t i = 0; i < asked.size(); ++i) {
        QCOMPARE(parts.of(asked[i]), layers[static_cast<qsizetype>(i)]);
    }
    QCOMPARE((parts.outside & Parts::Table) != 0, table);
    QCOMPARE((parts.outside & Parts::Head) != 0, head);
}

/// Axolotl's example for Mixtral.
void TestTrainedParts::findsExperts()
{
    const Parts parts = partsOf(planOf({{"moe.experts", "8"},
                                        {"moe.topk", "2"},
                                        {"frozen.trained",
                                         R"(^model\.layers\.2[0-9]+\.block_sparse_moe\.gate)"
                                         R"(|^model\.layers\.31\.block_sparse_moe\.experts)"}},
                                       llama()));
    QCOMPARE(parts.of(19), 0U);
    QCOMPARE(parts.of(20), std::uint32_t{Parts::Router});
    QCOMPARE(parts.of(29), std::uint32_t{Parts::Router});
    QCOMPARE(parts.of(30), 0U);
    QCOMPARE(parts.of(31), std::uint32_t{Parts::ExpertGate | Parts::ExpertUp | Parts::ExpertDown});
}

void TestTrainedParts::findsImageParts_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<bool>("vision");
    QTest::addColumn<bool>("projector");
    QTest::addColumn<bool>("language");
    QTest::newRow("Qwen's encoder with its merger")
        << QByteArray("frozen.patterns") << QByteArray("^visual") << false << false << true;
    QTest::newRow("merger alone trained")
        << QByteArray("frozen.trained") << QByteArray("merger") << false << true << false;
    QTest::newRow("Llava's tower") << QByteArray("frozen.patterns") << QByteArray("vision_tower") << false << true
                                   << true;
    QTest::newRow("layers alone") << QByteArray("frozen.trained_layers") << QByteArray("1") << false << false << true;
    QTest::newRow("language model") << QByteArray("frozen.patterns") << QByteArray("language_model|lm_head") << true
                                    << true << false;
}

void TestTrainedParts::findsImageParts()
{
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    QFETCH(bool, vision);
    QFETCH(bool, projector);
    QFETCH(bool, language);
    const TrainingPlan plan = planOf({{"vision.layers", "32"},
                                      {"vision.hidden", "1280"},
                                      {"vision.heads", "16"},
                                      {"vision.patch", "14"},
                                      {"vision.tokens_per_image", "1024"},
                                      {"projector.type", "patch_merger"},
                                      {key.toStdString(), value.toStdString()}},
                                     llama());
    const Trainable trainable = trainableOf(plan);
    QCOMPARE(trainable.vision, vision);
    QCOMPARE(trainable.projector, projector);
    QCOMPARE(trainable.language, language);
}

void TestTrainedParts::keeps_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<double>("expected");
    // A whole block in bf16, bytes a token: two norms with a copy in fp32, a number and the normalised tensor before
    // and behind the weight, q, k, v and context with a number a head, gate, SiLU, up and their product.
    constexpr double h = 4096, f = 11008, a = 32;
    constexpr double norm = 4 * h + 4, kernel = 4 * 2 * h + 4 * a, activation = 3 * 2 * f;
    constexpr double whole = 2 * (norm + 2 * 2 * h) + kernel + activation + 2 * f;
    // Frozen, but gradients pass: no weight's gradient needs what its product or norm read.
    constexpr double passed = 2 * norm + kernel + activation;
    const auto row = [](const char* name, const char* key, const char* value, double expected) {
        QTest::newRow(name) << QByteArray(key) << QByteArray(value) << expected;
    };
    row("all", "frozen.all", "false", 32 * whole);
    row("last two", "frozen.trained_layers", "2", 2 * whole - 0);
    row("first two", "frozen.trained_layers", "-2", 2 * whole + 30 * passed);
    row("embedding trained alone", "frozen.trained", "embed_tokens", 32 * passed);
    row("output layer trained alone", "frozen.trained", "lm_head", 0);
    // The product with the last matrix keeps its input, and nothing before it needs a gradient.
    row("last matrix of the last layer", "frozen.trained", R"(31\.mlp\.down_proj)", 2 * f);
    // Attention's result, then what passes gradients through the MLP.
    row("output projection of the last layer", "frozen.trained", R"(31\.self_attn\.o_proj)", 2 * h + norm + activation);
    // Of the first trained layer the stream needs no gradient, so its norm keeps what its weight's gradient reads: the
    // normalised tensor. The value is only a key's peer: q and k get gradients from their own weights.
    row("queries of the last layer", "frozen.trained", R"(31\.self_attn\.q_proj)", 2 * h + kernel + norm + activation);
}

void TestTrainedParts::keeps()
{
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    QFETCH(double, expected);
    const ModelProgram program = programOf(planOf({{key.toStdString(), value.toStdString()}}, llama()));
    QCOMPARE(keptOf(program, 32), expected);
}

/// Two layers of 4·4096² + 3·4096·11008 + 2·4096 elements: moments of 2 + 2 bytes; the weights stay whole.
void TestTrainedParts::storesStateOfTheTrained()
{
    constexpr std::int64_t layer = 4LL * 4096 * 4096 + 3LL * 4096 * 11008 + 2 * 4096;
    const ModelProgram program = programOf(planOf({{"frozen.trained_layers", "2"}}, llama()));
    const StageTensors& tensors = program.stages.front().tensors;
    QCOMPARE(bytesOf(tensors.created, TensorKind::Moments), 2 * layer * 4);
    QCOMPARE(bytesOf(tensors.resident, TensorKind::Parameters), 6738415616 * 2);

    const ModelProgram sharded = programOf(planOf({{"frozen.trained_layers", "2"},
                                                   {"shard.zero_stage", "3"},
                                                   {"parallel.dp", "8"},
                                                   {"precision.recipe", "megatron-bf16"}},
                                                  llama()));
    const std::vector<Tape::Event>& resident = sharded.stages.front().tensors.resident;
    QCOMPARE(bytesOf(resident, TensorKind::Master), 2 * layer * 4 / 8);
    QCOMPARE(bytesOf(resident, TensorKind::Parameters), 6738415616 * 2 / 8);
}

/// LLaMA-Factory's: the trained layers in fp32, the others as they were loaded.
void TestTrainedParts::frozenWeightsHaveATypeOfTheirOwn()
{
    constexpr std::int64_t layer = 4LL * 4096 * 4096 + 3LL * 4096 * 11008 + 2 * 4096;
    const TrainingPlan plan = planOf({{"precision.recipe", "fp32"},
                                      {"precision.autocast", "true"},
                                      {"precision.frozen", "bf16"},
                                      {"frozen.trained_layers", "2"}},
                                     llama());
    const ModelProgram program = programOf(plan);
    QCOMPARE(bytesOf(program.stages.front().tensors.resident, TensorKind::Parameters), 6738415616 * 2 + 2 * layer * 2);
    // With adapters nothing is trained but they: 16·(4·2·4096 + 3·(4096 + 11008)) a layer, in fp32.
    TrainingPlan adapted = planOf({{"lora.rank", "16"}}, plan);
    adapted.frozen = {};
    const ModelProgram lora = programOf(adapted);
    QCOMPARE(bytesOf(lora.stages.front().tensors.resident, TensorKind::Parameters),
             6738415616 * 2 + 32 * std::int64_t{16} * (4 * 2 * 4096 + 3 * (4096 + 11008)) * 4);
}

void TestTrainedParts::textbookCountsTheSameState_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::newRow("layers") << QByteArray("frozen.trained_layers") << QByteArray("5");
    QTest::newRow("names") << QByteArray("frozen.patterns") << QByteArray("mlp|lm_head");
    QTest::newRow("share") << QByteArray("frozen.ratio") << QByteArray("0.6");
}

void TestTrainedParts::textbookCountsTheSameState()
{
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    const TrainingPlan plan = planOf({{key.toStdString(), value.toStdString()}}, llama());
    Footprint textbook, instant;
    QVERIFY(estimate(plan, {}, textbook));
    QVERIFY(estimateInstantly(plan, {}, instant));
    QCOMPARE(instant.engine, Engine::Instant);
    const auto state = [](const Footprint& footprint) {
        return static_cast<double>(footprint.stages.front().component(Component::OptimizerState).value);
    };
    QVERIFY(std::abs(state(instant) / state(textbook) - 1) < 0.001);
}

/// Two chunks on each of two stages, whose first ones have the first half of the layers: all of it is frozen. Nothing
/// stands in front of the first stage's; the second one's first chunk reads what always wants a gradient (torch/
/// distributed/pipelining/stage.py).
void TestTrainedParts::freezesChunks()
{
    TrainingPlan plan = planOf({{"frozen.trained_layers", "16"},
                                {"parallel.pp", "2"},
                                {"parallel.vpp", "2"},
                                {"parallel.schedule", "interleaved"},
                                {"batch.accum", "4"}},
                               planOf(llama2, "torchtitan"));
    const ModelProgram program = programOf(plan);
    const auto keeps = [&program](std::size_t stage, std::size_t chunk) {
        double bytes = 0;
        for (const PieceRun& run : program.stages[stage].chunks[chunk].runs) {
            bytes += run.count == 8 ? keptPerToken(program, run.piece) : 0; // its layers
        }
        return bytes;
    };
    QVERIFY(program.stages[0].chunks[0].isFrozen);
    QCOMPARE(keeps(0, 0), 0.0);
    QVERIFY(!program.stages[1].chunks[0].isFrozen);
    QCOMPARE(keeps(1, 0), 131720.0); // theory.md A18
    QCOMPARE(keeps(0, 1), 186504.0); // A09
    QCOMPARE(keeps(1, 1), 186504.0);
    const double trained = 8 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008 + 2 * 4096);
    for (const StageProgram& stage : program.stages) {
        QCOMPARE(static_cast<double>(bytesOf(stage.tensors.created, TensorKind::Moments)), 4 * trained); // 16-bit pairs
    }
}

void TestTrainedParts::refuses_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const char* settings, const char* sentence) {
        QTest::newRow(name) << QByteArray(settings) << QString(sentence);
    };
    row("no expression", "frozen.patterns=(", "is not a regular expression");
    row("one that explodes", "frozen.patterns=(([a-z._]+)+)+[A-Z]", "takes too long");
    row("no share", "frozen.ratio=1.5", "must be between 0 and 1");
    row("half of the experts", "moe.experts=8 moe.topk=2 frozen.patterns=experts\\.0\\.", "some experts");
    row("nothing left", "frozen.patterns=.", "nothing is left to train");
    row("BERT", "implementation.profile=megatron-te model.family=bert frozen.patterns=mlp", "neither BERT nor");
    row("T5", "implementation.profile=megatron-te model.family=t5 frozen.patterns=mlp", "nor encoder-decoder");
    row("predictions of Megatron's hybrids",
        "implementation.profile=megatron-te model.mtp_layers=1 mixer.kind=mamba2 frozen.patterns=mlp",
        "model.mtp_layers to 0");
    row("half of what joins states", "implementation.profile=megatron-te model.mtp_layers=1 frozen.patterns=eh_proj",
        "frozen alike");
    row("one prediction of two", "implementation.profile=megatron-te model.mtp_layers=2 frozen.patterns=mtp.layers.1",
        "frozen alike");
    row("Megatron-Kwai's layers", "implementation.profile=megatron-kwai frozen.trained_layers=2",
        "trains all of a model");
    row("a share over Megatron's stages", "implementation.profile=megatron-te parallel.pp=2 frozen.ratio=0.5",
        "one pipeline stage alone");
    row("half of Megatron's packed weight", "implementation.profile=megatron-te frozen.patterns=q_proj",
        "packs query, key and value");
    row("nothing left of Megatron's", "implementation.profile=megatron-te frozen.patterns=.",
        "nothing is left to train");
}

void TestTrainedParts::refuses()
{
    QFETCH(QByteArray, settings);
    QFETCH(QString, sentence);
    TrainingPlan plan = llama();
    for (const QByteArray& setting : settings.split(' ')) {
        const qsizetype equals = setting.indexOf('=');
        plan = planOf({{setting.left(equals).toStdString(), setting.mid(equals + 1).toStdString()}}, plan);
    }
    QElapsedTimer timer;
    timer.start();
    Footprint footprint;
    const auto done = estimateInstantly(plan, {}, footprint);
    const std::string said = !done ? done.error().english() : footprint.notExact ? footprint.notExact->english() : "";
    QVERIFY2(QString::fromStdString(said).contains(sentence), said.c_str());
    QVERIFY(timer.elapsed() < 5000);
}

QTEST_APPLESS_MAIN(TestTrainedParts)
#include "tst_trained_parts.moc"
