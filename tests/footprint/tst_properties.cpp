// SPDX-License-Identifier: GPL-3.0-or-later
//
// What must hold for every plan, whatever its figures are.
#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/schedule/order.h"
#include "footprint/settings.h"

#include <QtTest>

using namespace headroom;
using test::planOf;
using test::Settings;
using test::with;
using test::written;

namespace {

Footprint instantOf(const TrainingPlan& plan)
{
    Footprint footprint;
    const auto done = estimateInstantly(plan, {}, footprint);
    if (!done) {
        qFatal("%s", done.error().english().c_str());
    }
    if (footprint.notExact) {
        qFatal("%s", footprint.notExact->english().c_str());
    }
    return footprint;
}

std::int64_t stored(const StageFootprint& stage)
{
    return (stage.component(Component::Activations) + stage.component(Component::InFlight)).value;
}

TrainingPlan megatron(const TrainingPlan& model)
{
    return planOf({{"precision.recipe", "megatron-bf16"}, {"batch.accum", "16"}}, model);
}

TrainingPlan mixtral()
{
    return planOf({{"moe.experts", "8"},
                   {"moe.topk", "2"},
                   {"moe.ffn", "14336"},
                   {"moe.dispatcher", "alltoall"},
                   {"moe.grouped_gemm", "true"}},
                  test::llama3Of8B());
}

TrainingPlan latent()
{
    return planOf({{"mla.q_lora_rank", "1536"},
                   {"mla.kv_lora_rank", "512"},
                   {"mla.qk_nope_dim", "128"},
                   {"mla.qk_rope_dim", "64"},
                   {"mla.v_dim", "128"},
                   {"model.kv_heads", "32"},
                   {"model.qk_norm", "true"}},
                  mixtral());
}

} // namespace

class TestProperties : public QObject
{
    Q_OBJECT

private slots:
    void tensorParallelNeverRaises_data();
    void tensorParallelNeverRaises();
    void moreMicroBatchesNeverHoldFewer_data();
    void moreMicroBatchesNeverHoldFewer();
    void stagesAddUp_data();
    void stagesAddUp();
    void recomputeNeverKeepsMore_data();
    void recomputeNeverKeepsMore();
    void illegalPlansSayWhy_data();
    void illegalPlansSayWhy();
};

void TestProperties::tensorParallelNeverRaises_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("Llama-3-8B") << megatron(test::llama3Of8B());
    QTest::newRow("Llama-2-70B, stages") << planOf({{"parallel.pp", "4"}}, megatron(test::llama2Of70B()));
    QTest::newRow("experts") << megatron(mixtral());
    QTest::newRow("latent attention") << megatron(latent());
    QTest::newRow("zero bubble") << planOf({{"parallel.pp", "4"}, {"parallel.schedule", "zb-v"}},
                                           megatron(test::llama3Of8B()));
    QTest::newRow("prediction") << planOf({{"model.mtp_layers", "1"}}, megatron(test::llama3Of8B()));
}

/// Neither the parts of the state, nor the activations, nor the whole, with and without sequence parallelism.
void TestProperties::tensorParallelNeverRaises()
{
    QFETCH(TrainingPlan, plan);
    for (const char* sequenceParallel : {"false", "true"}) {
        if (plan.moe.experts.value > 0 && sequenceParallel == std::string_view("false")) {
            continue; // Megatron-LM refuses experts under tensor parallelism without it
        }
        Footprint before = instantOf(plan);
        for (const char* tensor : {"2", "4", "8"}) {
            const Footprint now = instantOf(planOf({{"parallel.tp", tensor}, {"parallel.sp", sequenceParallel}}, plan));
            for (std::size_t i = 0; i < now.stages.size(); ++i) {
                const StageFootprint& smaller = now.stages[i];
                const StageFootprint& larger = before.stages[i];
                QVERIFY(smaller.parameters <= larger.parameters);
                QVERIFY(smaller.staticState() <= larger.staticState());
                QVERIFY2(smaller.peakAllocated <= larger.peakAllocated, tensor);
                // Components stand as they are at the peak, which may be another moment: those kept are compared where
                // it is not.
                if (smaller.peakPhase == larger.peakPhase) {
                    QVERIFY2(stored(smaller) <= stored(larger), tensor);
                }
            }
            before = now;
        }
    }
}

void TestProperties::moreMicroBatchesNeverHoldFewer_data()
{
    QTest::addColumn<QByteArray>("schedule");
    QTest::addColumn<int>("chunks");
    for (int schedule = 0; schedule <= static_cast<int>(Schedule::DualPipeV); ++schedule) {
        const std::string name(nameOf(static_cast<Schedule>(schedule)));
        QTest::newRow(name.c_str()) << QByteArray::fromStdString(name)
                                    << (static_cast<Schedule>(schedule) == Schedule::Interleaved ? 2 : 1);
    }
}

void TestProperties::moreMicroBatchesNeverHoldFewer()
{
    QFETCH(QByteArray, schedule);
    QFETCH(int, chunks);
    const TrainingPlan plan = planOf(
        {{"parallel.pp", "4"}, {"parallel.schedule", schedule.constData()}, {"parallel.vpp", std::to_string(chunks)}},
        megatron(test::llama3Of8B()));
    std::vector<std::int64_t> heldBefore(4, 0), peakBefore(4, 0);
    for (int micro = 1; micro <= 40; ++micro) {
        const PipelineShape shape{plan.parallel.schedule.value, 4, chunks, micro};
        if (!canRun(shape) || (chunks > 1 && micro % 4 != 0)) {
            continue;
        }
        const Footprint footprint = instantOf(planOf({{"batch.accum", std::to_string(micro)}}, plan));
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY(footprint.stages[i].inFlight >= heldBefore[i]);
            QVERIFY(footprint.stages[i].peakAllocated.value >= peakBefore[i]);
            heldBefore[i] = footprint.stages[i].inFlight;
            peakBefore[i] = footprint.stages[i].peakAllocated.value;
        }
    }
}

void TestProperties::stagesAddUp_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("copies"); // of the embedding: tied, or for predictions
    const qint64 table = qint64{128'256} * 4096;
    for (const char* schedule : {"1f1b", "gpipe", "zb-h1", "zb-v", "v-min", "dualpipev", "dualpipe"}) {
        for (const char* tied : {"false", "true"}) {
            for (const char* predictions : {"0", "1"}) {
                const TrainingPlan plan = planOf({{"parallel.pp", "4"},
                                                  {"parallel.schedule", schedule},
                                                  {"model.tied_embeddings", tied},
                                                  {"model.mtp_layers", predictions}},
                                                 megatron(mixtral()));
                const bool isTogether
                    = isFolded(plan.parallel.schedule.value) || layerCopies(plan.parallel.schedule.value) > 1;
                // A copy for tying serves the predictions too.
                const bool hasCopy = !isTogether && (QByteArray(tied) == "true" || QByteArray(predictions) == "1");
                QTest::addRow("%s, tied %s, %s predictions", schedule, tied, predictions)
                    << plan << (hasCopy ? table : 0);
            }
        }
    }
    QTest::newRow("uneven") << planOf(
        {{"parallel.pp", "4"}, {"parallel.first_stage_layers", "5"}, {"parallel.last_stage_layers", "7"}},
        megatron(mixtral())) << qint64{0};
    QTest::newRow("interleaved") << planOf({{"parallel.pp", "4"}, {"parallel.vpp", "4"}}, megatron(mixtral()))
                                 << qint64{0};
    QTest::newRow("layout") << planOf({{"parallel.pp", "4"}, {"parallel.layout", "Et*5|(t*4|)*6tttL"}},
                                      megatron(mixtral()))
                            << qint64{0};
    QTest::newRow("counted embedding and loss") << planOf({{"parallel.pp", "2"},
                                                           {"parallel.vpp", "17"},
                                                           {"parallel.embed_in_split", "true"},
                                                           {"parallel.loss_in_split", "true"}},
                                                          megatron(mixtral()))
                                                << qint64{0};
}

/// By tape, on whole tensors: nothing of the model is left out or held twice but what the plan duplicates.
void TestProperties::stagesAddUp()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, copies);
    const Footprint footprint = instantOf(plan);
    std::int64_t sum = 0, layers = 0;
    for (const StageFootprint& stage : footprint.stages) {
        sum += stage.parameters;
        layers += stage.layers;
    }
    const std::int64_t replicas = layerCopies(plan.parallel.schedule.value);
    QCOMPARE(layers, replicas * plan.model.layers.value);
    QCOMPARE(sum, replicas * footprint.modelParameters + copies);
}

void TestProperties::recomputeNeverKeepsMore_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    for (const char* schedule : {"1f1b", "gpipe", "interleaved", "zb-h2", "v-half", "dualpipe"}) {
        for (const auto& [name, model] : {std::pair{"Llama-3-8B", test::llama3Of8B()}, std::pair{"experts", mixtral()},
                                          std::pair{"latent attention", latent()}}) {
            QTest::addRow("%s, %s", name, schedule)
                << planOf({{"parallel.pp", "4"},
                           {"parallel.schedule", schedule},
                           {"parallel.vpp", QByteArray(schedule) == "interleaved" ? "2" : "1"},
                           // Flash attention keeps so little that a checkpoint around it keeps more.
                           {"attention.impl", "unfused"}},
                          megatron(model));
        }
    }
}

void TestProperties::recomputeNeverKeepsMore()
{
    QFETCH(TrainingPlan, plan);
    const auto recomputing = [&](const Settings& how) {
        Settings fields = how;
        fields.emplace_back("recompute.enabled", "true");
        return instantOf(with(plan, fields));
    };
    const Footprint none = instantOf(plan);
    const Footprint full = recomputing({{"recompute.granularity", "full"}});
    const auto held = [](const StageFootprint& stage) { return stage.component(Component::InFlight); };
    for (std::size_t i = 0; i < none.stages.size(); ++i) {
        QVERIFY(full.stages[i].peakAllocated <= none.stages[i].peakAllocated);
    }
    if (splitsBackward(plan.parallel.schedule.value)) {
        return; // what waits for the weights' gradients has been rebuilt, whatever was recomputed
    }
    const std::vector<Settings> selections{
        {{"recompute.modules", "mlp"}},
        {{"recompute.modules", "core_attn"}},
        {{"recompute.modules", "layernorm,moe_act,mla_up_proj,core_attn,shared_experts"}}};
    for (Settings selection : selections) {
        selection.emplace_back("recompute.granularity", "selective");
        const Footprint some = recomputing(selection);
        for (std::size_t i = 0; i < none.stages.size(); ++i) {
            QVERIFY2(full.stages[i].peakAllocated <= some.stages[i].peakAllocated, written(selection).c_str());
            QVERIFY2(some.stages[i].peakAllocated <= none.stages[i].peakAllocated, written(selection).c_str());
            QVERIFY2(held(full.stages[i]) <= held(some.stages[i]), written(selection).c_str());
            QVERIFY2(held(some.stages[i]) <= held(none.stages[i]), written(selection).c_str());
        }
    }
}

void TestProperties::illegalPlansSayWhy_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* key, const char* text, const char* says) {
        QTest::addRow("%s=%s", key, text) << QByteArray(key) << QByteArray(text) << QByteArray(says);
    };
    row("parallel.tp", "3", "does not divide model.heads");
    row("parallel.pp", "33", "33 pipeline stages");
    row("parallel.cp", "3", "does not divide batch.seq");
    row("parallel.layout", "Et*32|", "its loss at the end");
    row("parallel.layout", "Et*31L", "has 31 layers, the model 32");
    row("batch.micro", "-1", "must be between");
    row("model.layers", "0", "must be between");
    row("model.kv_heads", "5", "does not divide model.heads");
    row("parallel.ep", "3", "does not divide moe.experts");
}

void TestProperties::illegalPlansSayWhy()
{
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, says);
    const TrainingPlan plan = with(megatron(mixtral()), {{key.toStdString(), text.toStdString()}});
    Footprint footprint;
    const auto done = estimateInstantly(plan, {}, footprint);
    QVERIFY(!done);
    const std::string sentence = done.error().english();
    QVERIFY2(sentence.find(says.toStdString()) != std::string::npos, sentence.c_str());
}

QTEST_APPLESS_MAIN(TestProperties)
#include "tst_properties.moc"
