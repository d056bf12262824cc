// SPDX-License-Identifier: GPL-3.0-or-later
//
// Figures of plans that nobody would write down, but that a search may come to.
#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/settings.h"

#include <QtTest>

#include <random>

using namespace headroom;
using test::Settings;
using test::with;
using test::written;

class TestRandomPlans : public QObject
{
    Q_OBJECT

private slots:
    void legalPlansHaveFigures_data();
    void legalPlansHaveFigures();
};

void TestRandomPlans::legalPlansHaveFigures_data()
{
    QTest::addColumn<QByteArray>("profile");
    for (const char* profile : {"", "megatron-te", "megatron-local", "hf-eager", "hf-sdpa", "hf-flash", "torchtitan",
                                "torchtune", "deepspeed-pipeline"}) {
        QTest::addRow("%s", *profile == '\0' ? "recipe" : profile) << QByteArray(profile);
    }
}

/// Seeded random plans across profiles, models, schedules, sharding and recomputation. What the plan's own rules let
/// through has figures, finite and not negative, and components that add up; the others say why.
void TestRandomPlans::legalPlansHaveFigures()
{
    QFETCH(QByteArray, profile);
    const std::vector<std::vector<Settings>> choices{
        {{{"parallel.tp", "1"}}, {{"parallel.tp", "2"}}, {{"parallel.tp", "8"}, {"parallel.sp", "true"}}},
        {{{"parallel.pp", "1"}},
         {{"parallel.pp", "2"}},
         {{"parallel.pp", "4"}},
         {{"parallel.pp", "4"}, {"parallel.vpp", "2"}},
         {{"parallel.pp", "5"}},
         {{"parallel.pp", "2"}, {"parallel.layout", "Et*16|t*16L"}}},
        {{{"parallel.schedule", "1f1b"}},
         {{"parallel.schedule", "gpipe"}},
         {{"parallel.schedule", "zb-h1"}},
         {{"parallel.schedule", "zb-h2"}},
         {{"parallel.schedule", "zb-v"}},
         {{"parallel.schedule", "v-half"}},
         {{"parallel.schedule", "v-min"}},
         {{"parallel.schedule", "dualpipe"}},
         {{"parallel.schedule", "dualpipev"}}},
        {{{"batch.accum", "1"}}, {{"batch.accum", "7"}}, {{"batch.accum", "16"}}},
        {{{"batch.micro", "1"}}, {{"batch.micro", "3"}}},
        {{{"parallel.cp", "1"}}, {{"parallel.cp", "2"}}},
        {{},
         {{"moe.experts", "8"}, {"moe.topk", "2"}, {"moe.ffn", "2048"}},
         {{"model.mtp_layers", "1"}},
         {{"vision.layers", "24"},
          {"vision.hidden", "1024"},
          {"vision.ffn", "4096"},
          {"vision.heads", "16"},
          {"vision.image_size", "336"},
          {"vision.patch", "14"},
          {"projector.type", "mlp"},
          {"projector.layers", "2"}}},
        {{},
         {{"shard.dist_opt", "true"}, {"parallel.dp", "4"}},
         {{"shard.zero_stage", "1"}, {"parallel.dp", "4"}},
         {{"shard.zero_stage", "2"}, {"parallel.dp", "4"}},
         {{"shard.zero_stage", "3"}, {"parallel.dp", "4"}},
         {{"shard.fsdp", "true"}, {"parallel.dp", "8"}}},
        {{},
         {{"recompute.enabled", "true"}, {"recompute.granularity", "full"}},
         {{"recompute.enabled", "true"},
          {"recompute.granularity", "full"},
          {"recompute.method", "block"},
          {"recompute.num_layers", "3"}},
         {{"recompute.enabled", "true"},
          {"recompute.granularity", "selective"},
          {"recompute.modules", "mlp,core_attn"}}},
        {{{"precision.recipe", "megatron-bf16"}},
         {{"precision.recipe", "megatron-fp16"}},
         {{"precision.recipe", "fp32"}}},
        {{}, {{"optimizer.name", "muon"}}, {{"optimizer.name", "adafactor"}}, {{"optimizer.name", "sgd"}}},
        {{}, {{"lora.rank", "16"}}, {{"frozen.llm", "true"}}},
    };
    std::mt19937 random(20);
    int legal = 0, exact = 0;
    for (int round = 0; round < 400; ++round) {
        Settings fields;
        for (std::size_t i = 0; i < choices.size(); ++i) {
            // Half of the plans stay on one rank of a plain model, the only ones that some profiles describe.
            const bool isPlain = round % 2 == 0 && (i < 7 || i + 2 >= choices.size()) && i != 3 && i != 4;
            const Settings& picked = choices[i][isPlain ? 0 : random() % choices[i].size()];
            fields.insert(fields.end(), picked.begin(), picked.end());
        }
        if (!profile.isEmpty()) {
            fields.emplace_back("implementation.profile", profile.toStdString());
        }
        const TrainingPlan plan = with(test::llama3Of8B(), fields);
        Footprint footprint;
        const auto done = profile.isEmpty() ? estimate(plan, {}, footprint) : estimateInstantly(plan, {}, footprint);
        if (!done) {
            QVERIFY2(!done.error().english().empty(), written(fields).c_str());
            continue;
        }
        ++legal;
        exact += footprint.engine == Engine::Instant ? 1 : 0;
        QVERIFY2(footprint.engine == Engine::Instant || profile.isEmpty() || footprint.notExact.has_value(),
                 written(fields).c_str());
        QCOMPARE(footprint.stages.size(), static_cast<std::size_t>(plan.parallel.pp.value));
        for (const StageFootprint& stage : footprint.stages) {
            Bytes sum;
            for (std::size_t c = 0; c + 1 < stage.components.size(); ++c) { // the context is outside the allocator
                QVERIFY2(stage.components[c].value >= 0, written(fields).c_str());
                sum += stage.components[c];
            }
            constexpr std::int64_t most = std::int64_t{1} << 50; // a pebibyte
            QVERIFY2(stage.peakAllocated.value > 0 && stage.peakAllocated.value < most, written(fields).c_str());
            QVERIFY2(sum == stage.peakAllocated, written(fields).c_str());
            QVERIFY2(stage.steadyAllocated <= stage.peakAllocated, written(fields).c_str());
            QVERIFY2(stage.firstStepPeakAllocated.value > 0, written(fields).c_str());
            QVERIFY2(stage.device >= stage.peakReserved, written(fields).c_str());
            QVERIFY2(stage.inFlight >= 1, written(fields).c_str());
            for (const Bytes phase : stage.phases) {
                QVERIFY2(phase.value >= 0 && phase <= stage.peakAllocated, written(fields).c_str());
            }
        }
    }
    QVERIFY(legal > 100);
    QVERIFY2(profile.isEmpty() || exact > 20, qPrintable(QString::number(exact)));
}

QTEST_APPLESS_MAIN(TestRandomPlans)
#include "tst_random_plans.moc"
