// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/batch.h"
#include "plan/field_kinds.h"
#include "plan/fields.h"
#include "plan/pipeline_split.h"
#include "plan/precision.h"
#include "plan/validity.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace headroom;

namespace {

Origin written(int line = 1)
{
    return {OriginKind::ConfigFile, line, std::make_shared<const std::string>("a.yaml")};
}

/// "parallel.pp=4 batch.micro=2" as a plan.
TrainingPlan planOf(const QByteArray& settings)
{
    TrainingPlan plan;
    int line = 0;
    for (const QByteArray& setting : settings.split(' ')) {
        const auto at = setting.indexOf('=');
        if (at > 0) {
            const auto done
                = setField(plan, setting.left(at).toStdString(), setting.mid(at + 1).toStdString(), written(++line));
            Q_ASSERT(done.has_value());
        }
    }
    return plan;
}

} // namespace

class TestFields : public QObject
{
    Q_OBJECT

private slots:
    void everyKeyIsUniqueAndReadsBack();
    void refuses_data();
    void refuses();
    void differencesAndOverlay();
    void originsSpeak();
    void equation_data();
    void equation();
    void splitsLayers_data();
    void splitsLayers();
    void validates_data();
    void validates();
    void recipes_data();
    void recipes();
    void kindsNameWordsThatAreTaken();
    void nearest_data();
    void nearest();
};

void TestFields::everyKeyIsUniqueAndReadsBack()
{
    std::set<std::string, std::less<>> keys;
    TrainingPlan plan;
    forEachField(plan, [&]<class T>(std::string_view key, Field<T>&) {
        QVERIFY2(keys.emplace(key).second, std::string(key).c_str());
        std::string text = "7";
        if constexpr (std::is_same_v<T, bool>) {
            text = "true";
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            text = "mlp, core_attn";
        } else if constexpr (std::is_same_v<T, Schedule>) {
            text = "zb-h2";
        } else if constexpr (std::is_same_v<T, Granularity>) {
            text = "selective";
        } else if constexpr (std::is_same_v<T, DataType>) {
            text = "fp16";
        }
        TrainingPlan changed;
        QVERIFY2(setField(changed, key, text, written(9)).has_value(), std::string(key).c_str());
        QCOMPARE(fieldText(changed, key), text);
        QCOMPARE(fieldOrigin(changed, key).line, 9);
        QVERIFY(isFieldKey(key));
        const auto differences = difference(plan, changed);
        QCOMPARE(differences.size(), std::size_t{1});
        QCOMPARE(differences.front().key, std::string(key));
    });
    QVERIFY(keys.size() > 100);
}

void TestFields::refuses_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("unknown key") << QByteArray("parallel.pipes") << QByteArray("4");
    QTest::newRow("fraction of a layer") << QByteArray("model.layers") << QByteArray("2.5");
    QTest::newRow("word for a number") << QByteArray("batch.micro") << QByteArray("auto");
    QTest::newRow("not a bool") << QByteArray("recompute.enabled") << QByteArray("maybe");
    QTest::newRow("not a granularity") << QByteArray("recompute.granularity") << QByteArray("some");
    QTest::newRow("not a size") << QByteArray("hardware.capacity_bytes") << QByteArray("80 bananas");
    QTest::newRow("not a dtype") << QByteArray("precision.params") << QByteArray("fp17");
}

void TestFields::refuses()
{
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, text);
    TrainingPlan plan;
    const auto done = setField(plan, key.toStdString(), text.toStdString(), written(3));
    QVERIFY(!done.has_value());
    QVERIFY(done.error().english().starts_with("a.yaml:3: "));
    QVERIFY(difference(plan, TrainingPlan{}).empty());
}

void TestFields::differencesAndOverlay()
{
    TrainingPlan plan = planOf("model.layers=24 batch.micro=2 hardware.capacity_bytes=80GiB");
    QCOMPARE(plan.hardware.capacityBytes.value, std::int64_t{85899345920});
    const TrainingPlan over = planOf("batch.micro=1 parallel.pp=2");
    overlay(plan, over);
    QCOMPARE(plan.model.layers.value, std::int64_t{24});
    QCOMPARE(plan.batch.micro.value, std::int64_t{1});
    QCOMPARE(plan.parallel.pp.value, std::int64_t{2});
    // A default in the upper plan does not hide what the lower one states.
    overlay(plan, TrainingPlan{});
    QCOMPARE(plan.parallel.pp.value, std::int64_t{2});
}

void TestFields::originsSpeak()
{
    QCOMPARE(written(9).english(), std::string("a.yaml:9"));
    QCOMPARE(Origin{}.english(), std::string("unknown"));
    QCOMPARE(TrainingPlan{}.parallel.pp.origin.english(), std::string("default"));
    QVERIFY(!TrainingPlan{}.parallel.pp.isStated());
    QVERIFY(!TrainingPlan{}.model.layers.isKnown());
}

void TestFields::equation_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<int>("holds"); // -1: cannot be said
    QTest::addColumn<qint64>("product");
    QTest::addColumn<qint64>("accumulate");
    QTest::addColumn<qint64>("dataParallel");
    const auto row
        = [](const char* name, const char* settings, int holds, qint64 product, qint64 accumulate, qint64 dp) {
              QTest::newRow(name) << QByteArray(settings) << holds << product << accumulate << dp;
          };
    row("the recipe's example", "batch.micro=2 batch.accum=8 batch.global=16", 1, 16, 8, 1);
    row("data parallel forgotten", "batch.micro=2 batch.accum=8 batch.global=16 parallel.dp=2", 0, 32, 8, 2);
    row("accumulation derived", "batch.micro=2 batch.global=32 parallel.dp=4", 1, 32, 4, 4);
    row("data parallel from the world",
        "batch.micro=1 batch.accum=4 batch.global=8 parallel.world=16 parallel.tp=2 parallel.pp=4", 1, 8, 4, 2);
    row("data parallel from the equation", "batch.micro=2 batch.accum=2 batch.global=16", 1, 16, 2, 4);
    row("nothing to check", "batch.micro=4", 1, 4, 1, 1);
    row("does not divide", "batch.micro=3 batch.global=16", 0, 3, 6, 1);
    row("micro-batch unknown", "batch.accum=4", -1, 0, 4, 1);
}

void TestFields::equation()
{
    QFETCH(QByteArray, settings);
    const TrainingPlan plan = planOf(settings);
    const BatchEquation equation = batchEquation(plan);
    QTEST(equation.holds ? int(*equation.holds) : -1, "holds");
    QTEST(qint64{equation.product.value_or(0)}, "product");
    QTEST(qint64{microBatchesPerStep(plan)}, "accumulate");
    QTEST(qint64{dataParallelSize(plan)}, "dataParallel");
}

void TestFields::splitsLayers_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QList<qint64>>("layers");
    QTest::newRow("even") << QByteArray("model.layers=24 parallel.pp=4") << QList<qint64>{6, 6, 6, 6};
    QTest::newRow("one stage") << QByteArray("model.layers=24") << QList<qint64>{24};
    QTest::newRow("indivisible") << QByteArray("model.layers=30 parallel.pp=4") << QList<qint64>{8, 8, 7, 7};
    // theory.md P15
    QTest::newRow("embedding and loss counted")
        << QByteArray("model.layers=30 parallel.pp=4 parallel.embed_in_split=true parallel.loss_in_split=true")
        << QList<qint64>{7, 8, 8, 7};
    QTest::newRow("first and last given")
        << QByteArray("model.layers=61 parallel.pp=16 parallel.first_stage_layers=4 parallel.last_stage_layers=1")
        << QList<qint64>{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1};
    QTest::newRow("contradiction") << QByteArray(
        "model.layers=8 parallel.pp=2 parallel.first_stage_layers=3 parallel.last_stage_layers=3")
                                   << QList<qint64>{};
    QTest::newRow("more stages than layers") << QByteArray("model.layers=2 parallel.pp=4") << QList<qint64>{};
    QTest::newRow("embedding and loss are stages of their own")
        << QByteArray("model.layers=2 parallel.pp=4 parallel.embed_in_split=true parallel.loss_in_split=true")
        << QList<qint64>{0, 1, 1, 0};
    // Megatron-LM's layouts, counted by hand.
    QTest::newRow("layout") << QByteArray("model.layers=15 parallel.pp=8 parallel.layout=Et*3|(tt|)*6L")
                            << QList<qint64>{3, 2, 2, 2, 2, 2, 2, 0};
    QTest::newRow("layout with a rest") << QByteArray("model.layers=14 parallel.pp=7 parallel.layout=Et*2|(tt|)*5t|tL")
                                        << QList<qint64>{};
    QTest::newRow("layout of a real run")
        << QByteArray("model.layers=61 parallel.pp=16 parallel.layout=Et*3|(tt|)*29,L") << QList<qint64>{};
    QTest::newRow("layout in two chunks")
        << QByteArray("model.layers=61 parallel.pp=16 parallel.layout=Et*3|(tt|)*29,m|L")
        << QList<qint64>{5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2};
    QTest::newRow("nested layout") << QByteArray("model.layers=12 parallel.pp=4 parallel.layout=E((t|)*2t|)*3tttL")
                                   << QList<qint64>{};
    QTest::newRow("layers per stage") << QByteArray("model.layers=32 parallel.pp=4 parallel.layout=8,8,7,9")
                                      << QList<qint64>{8, 8, 7, 9};
    QTest::newRow("layers per chunk") << QByteArray("model.layers=32 parallel.pp=2 parallel.layout=[8,8,7,9]")
                                      << QList<qint64>{15, 17};
    QTest::newRow("InternEvo") << QByteArray("framework=internevo model.layers=30 parallel.pp=4")
                               << QList<qint64>{7, 7, 8, 8};
    QTest::newRow("Galvatron") << QByteArray("implementation.profile=galvatron model.layers=30 parallel.pp=4")
                               << QList<qint64>{7, 7, 7, 9};
    QTest::newRow("Galvatron, explicit") << QByteArray(
        "framework=galvatron model.layers=30 parallel.pp=4 parallel.layout=8,8,7,7")
                                         << QList<qint64>{8, 8, 7, 7};
    QTest::newRow("InternEvo, fewer layers than stages")
        << QByteArray("framework=internevo model.layers=3 parallel.pp=4") << QList<qint64>{};
    QTest::newRow("absurd") << QByteArray("model.layers=1000000000000000 parallel.pp=1000000000000") << QList<qint64>{};
}

void TestFields::splitsLayers()
{
    QFETCH(QByteArray, settings);
    const auto layers = layersPerStage(planOf(settings));
    QTEST(QList<qint64>(layers.begin(), layers.end()), "layers");
}

void TestFields::validates_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QByteArray>("says"); // empty: valid
    const QByteArray model = "model.layers=24 model.hidden=1024 model.heads=16 ";
    const auto row = [&](const char* name, const char* settings, const char* says) {
        QTest::newRow(name) << model + settings << QByteArray(says);
    };
    row("valid", "parallel.tp=4 parallel.pp=4", "");
    row("heads", "parallel.tp=3", "does not divide model.heads");
    row("sequence", "batch.seq=1001 parallel.cp=2", "does not divide batch.seq");
    row("negative micro-batch", "batch.micro=-2", "must be between");
    row("blocks that PyTorch cannot cut", "implementation.max_split_mib=20", "must be between 21 and");
    row("blocks that it can", "implementation.max_split_mib=21", "");
    row("absurd layers", "model.layers=1000000000000000000", "must be between");
    row("sequence parallel alone", "parallel.sp=true", "does nothing without tensor parallelism");
    row("too many stages", "parallel.pp=48", "cannot be split");
    row("world", "parallel.world=6 parallel.tp=4", "cannot be divided");
    row("world and data parallel", "parallel.world=16 parallel.tp=4 parallel.dp=2", "are 8 GPUs, not 16");
    row("world agrees", "parallel.world=16 parallel.tp=4 parallel.dp=4", "");
    row("chunks", "parallel.pp=4 parallel.vpp=4", "chunks");
    row("chunks of counted embedding and loss",
        "model.layers=22 parallel.pp=4 parallel.vpp=3 parallel.embed_in_split=true parallel.loss_in_split=true", "");
    row("chunks without them", "model.layers=22 parallel.pp=4 parallel.vpp=3", "chunks");
    row("layout", "model.layers=15 parallel.pp=8 parallel.layout=Et*3|(tt|)*6L", "");
    row("layout of another model", "parallel.pp=8 parallel.layout=Et*3|(tt|)*6L", "has 15 layers, the model 24");
    row("layout with other prediction layers",
        "model.layers=15 model.mtp_layers=2 parallel.pp=8 parallel.layout=Et*3|(tt|)*6mL", "multi-token prediction");
    row("layout that goes round unevenly", "parallel.pp=5 parallel.layout=Et*3|(tt|)*6L", "do not go round 5 stages");
    row("layout with an unknown letter", "parallel.pp=2 parallel.layout=Ex|L", "“x”");
    row("layout without an embedding", "parallel.pp=2 parallel.layout=tt|tL", "embedding at the start");
    row("layout with a late embedding", "parallel.pp=2 parallel.layout=tE|tL", "does not come first");
    row("layout with an early loss", "parallel.pp=2 parallel.layout=EtL|tL", "loss at the end");
    row("layout left open", "parallel.pp=2 parallel.layout=E(t|L", "close a parenthesis");
    row("layout closed too often", "parallel.pp=2 parallel.layout=Et)|L", "that is not open");
    row("layout without a number", "parallel.pp=2 parallel.layout=Et*|L", "no number");
    row("endless layout", "parallel.pp=2 parallel.layout=E((((t*9999)*9999)*9999)*9999)|L", "than any model");
    row("deep layout", "parallel.pp=2 parallel.layout=E((((((((((((((((((((((((t|L", "than any model");
    row("experts", "moe.experts=6 parallel.ep=4", "does not divide moe.experts");
    QTest::newRow("no model") << QByteArray("batch.micro=1") << QByteArray("model.layers is not known");
}

void TestFields::validates()
{
    QFETCH(QByteArray, settings);
    QFETCH(QByteArray, says);
    const auto problems = validate(planOf(settings));
    if (says.isEmpty()) {
        QVERIFY2(problems.empty(), problems.empty() ? "" : problems.front().english().c_str());
    } else {
        QVERIFY(!problems.empty());
        QVERIFY2(problems.front().english().find(says.toStdString()) != std::string::npos,
                 problems.front().english().c_str());
    }
}

void TestFields::recipes_data()
{
    QTest::addColumn<QByteArray>("recipe");
    QTest::addColumn<double>("bytesPerParameter");
    // theory.md 2.1; the moments' scales of 8-bit Adam count.
    QTest::newRow("default") << QByteArray("") << 16.0;
    QTest::newRow("dtype name") << QByteArray("bf16") << 16.0;
    QTest::newRow("fp32 weights alone") << QByteArray("precision.params=fp32") << 16.0;
    QTest::newRow("S01a") << QByteArray("fp32") << 16.0;
    QTest::newRow("S01b") << QByteArray("bf16-mixed") << 16.0;
    QTest::newRow("S01c") << QByteArray("megatron-bf16") << 18.0;
    QTest::newRow("S01e") << QByteArray("bf16-pure") << 8.0;
    QTest::newRow("S01f") << QByteArray("bf16-adam8bit") << 10.03125;
    QTest::newRow("S01g") << QByteArray("bf16-pure-adam8bit") << 6.03125;
    QTest::newRow("S01h") << QByteArray("fp32-sgd-momentum") << 12.0;
    QTest::newRow("S01i") << QByteArray("fp32-sgd") << 8.0;
    QTest::newRow("S01j") << QByteArray("megatron-bf16-muon") << 14.0;
}

void TestFields::recipes()
{
    QFETCH(QByteArray, recipe);
    const TrainingPlan plan
        = recipe.isEmpty() ? TrainingPlan{} : planOf(recipe.contains('=') ? recipe : "precision.recipe=" + recipe);
    const PrecisionRecipe types = effectivePrecision(plan);
    double sum = 0;
    for (const DataType type : {types.params, types.grads, types.master, types.optM, types.optV}) {
        sum += bytesPerElement(type);
    }
    QTEST(sum, "bytesPerParameter");
}

/// Words of a field are read, and mean a legal value of it.
void TestFields::kindsNameWordsThatAreTaken()
{
    std::size_t words = 0;
    for (const FieldKind& kind : fieldKinds()) {
        QVERIFY2(isFieldKey(kind.key), kind.key.c_str());
        for (const std::string& word : kind.words) {
            TrainingPlan plan;
            QVERIFY2(setField(plan, kind.key, word, written()).has_value(), (kind.key + '=' + word).c_str());
            QCOMPARE(fieldText(plan, kind.key), word);
            for (const Problem& problem : validate(plan)) {
                QVERIFY2(!problem.text.english().starts_with(word + " is none of"), problem.text.english().c_str());
            }
            ++words;
        }
    }
    QVERIFY(words > 40);
    const auto kinds = fieldKinds();
    const auto schedule = std::ranges::find(kinds, "parallel.schedule", &FieldKind::key);
    QVERIFY(schedule != kinds.end());
    QCOMPARE(schedule->words.size(), std::size_t{10}); // theory.md section 4
    QCOMPARE(schedule->standard, std::string("1f1b"));
}

void TestFields::nearest_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("field");
    QTest::newRow("letter missing") << "paralel.pp"
                                    << "parallel.pp";
    QTest::newRow("letters swapped") << "batch.mirco"
                                     << "batch.micro";
    QTest::newRow("group left out") << "zero_stage"
                                    << "shard.zero_stage";
    QTest::newRow("wrong group") << "model.seq"
                                 << "batch.seq";
    QTest::newRow("wrong group, long name") << "recompute.schedule"
                                            << "parallel.schedule";
    QTest::newRow("nothing like it") << "learning.weather"
                                     << "";
    QTest::newRow("nothing") << ""
                             << "";
    QTest::newRow("without end") << QString(100'000, u'x') << "";
}

void TestFields::nearest()
{
    QFETCH(QString, key);
    QFETCH(QString, field);
    QCOMPARE(QString::fromStdString(nearestField(key.toStdString())), field);
}

QTEST_APPLESS_MAIN(TestFields)
#include "tst_fields.moc"
