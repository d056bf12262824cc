// SPDX-License-Identifier: GPL-3.0-or-later
//
// The state that one rank keeps, however it is sharded over replicas or moved to the host.
#include "footprint/plans.h"
#include "footprint/weights.h"

#include <QtTest>

using namespace headroom;
using test::matrices;
using test::planOf;
using test::stateOf;

class ShardingTest : public QObject
{
    Q_OBJECT

private slots:
    void zeroStages_data();
    void zeroStages();
    void distributedOptimizer_data();
    void distributedOptimizer();
    void precisionAwareOptimizer_data();
    void precisionAwareOptimizer();
    void fullySharded_data();
    void fullySharded();
    void expertsHaveTheirOwnReplicas();
    void offload_data();
    void offload();
};

void ShardingTest::zeroStages_data()
{
    QTest::addColumn<QString>("stage");
    QTest::addColumn<double>("bytes");
    // ZeRO paper, figure 1: 7.5e9 parameters on 64 GPUs.
    QTest::newRow("0") << "0" << 120e9;
    QTest::newRow("1") << "1" << 31.40625e9;
    QTest::newRow("2") << "2" << 16.640625e9;
    QTest::newRow("3") << "3" << 1.875e9;
}

void ShardingTest::zeroStages()
{
    QFETCH(QString, stage);
    QFETCH(double, bytes);
    const TrainingPlan plan = planOf({{"shard.zero_stage", stage.toStdString()}, {"parallel.dp", "64"}});
    QCOMPARE(stateOf(plan, matrices(7'500'000'000)).total(), bytes);
}

void ShardingTest::distributedOptimizer_data()
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

void ShardingTest::distributedOptimizer()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

void ShardingTest::precisionAwareOptimizer_data()
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
    // Of the optimizer's own fp32 masters the lower halves are stored.
    QTest::newRow("Transformer Engine's masters") << test::planOf({{"precision.recipe", "megatron-bf16"},
                                                                   {"optimizer.impl", "precision-aware"},
                                                                   {"shard.dist_opt", "true"},
                                                                   {"parallel.dp", "8"}})
                                                  << 7.25;
}

void ShardingTest::precisionAwareOptimizer()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

void ShardingTest::fullySharded_data()
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
    row("hybrid, context parallel ranks share too", 16.0 / 4, {{"parallel.dp_shard", "2"}, {"parallel.cp", "2"}});
    row("hybrid, Megatron's instances", 16.0 / 4, {{"shard.dist_opt_instances", "2"}});
    row("no shard, with Megatron's optimizer", 16, {{"shard.strategy", "no_shard"}, {"shard.dist_opt", "true"}});
}

void ShardingTest::fullySharded()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

void ShardingTest::expertsHaveTheirOwnReplicas()
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

void ShardingTest::offload_data()
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

void ShardingTest::offload()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytes);
    QCOMPARE(stateOf(plan, matrices(1 << 20)).total(), bytes * (1 << 20));
}

QTEST_APPLESS_MAIN(ShardingTest)
#include "tst_sharding.moc"
