// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule/schedule.h"
#include "footprint/theory_cases.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace headroom;
using headroom::test::addTheoryRows;
using Json = nlohmann::json;

class ScheduleTest : public QObject
{
    Q_OBJECT

private slots:
    void theoryCounts_data();
    void theoryCounts();
    void zeroBubble_data();
    void zeroBubble();
    void dualPipe_data();
    void dualPipe();
    void foldedAndBidirectional_data();
    void foldedAndBidirectional();
    void groupsOfAnotherSize_data();
    void groupsOfAnotherSize();
    void oneStageHoldsOne_data();
    void oneStageHoldsOne();
};

void ScheduleTest::theoryCounts_data()
{
    addTheoryRows({"I01", "I02", "I05"});
}

void ScheduleTest::theoryCounts()
{
    QFETCH(Json, row);
    const Json& inputs = row.at("inputs");
    const Json& expected = row.at("expected");
    PipelineShape shape{Schedule::OneForwardOneBackward, inputs.at("p"), inputs.value("v", std::int64_t{1}),
                        inputs.at("m"), inputs.value("group", std::int64_t{0})};
    if (row.at("id").get<std::string>().starts_with("I05")) {
        shape.schedule = Schedule::GPipe;
    }
    const bool isInterleaved = inputs.contains("v");
    const Json& counts = expected.at(isInterleaved ? "inflight_in_stage_units" : "inflight");
    for (std::size_t stage = 0; stage < counts.size(); ++stage) {
        QCOMPARE(inFlight(shape, static_cast<std::int64_t>(stage)).units, counts[stage].get<double>());
        if (isInterleaved) {
            QCOMPARE(warmupChunks(shape, static_cast<std::int64_t>(stage)),
                     expected.at("warmup")[stage].get<std::int64_t>());
        }
    }
}

void ScheduleTest::zeroBubble_data()
{
    addTheoryRows({"I03"});
}

void ScheduleTest::zeroBubble()
{
    QFETCH(Json, row);
    const std::int64_t stages = row.at("inputs").at("p");
    const std::int64_t micro = row.at("inputs").at("m");
    const Json& expected = row.at("expected");
    const double weightShare = 32.0 / 34.0;
    const auto units = [&](Schedule schedule, std::int64_t stage) {
        return inFlight({schedule, stages, 1, micro}, stage, weightShare).units;
    };
    for (std::int64_t stage = 0; stage < stages; ++stage) {
        const auto index = static_cast<std::size_t>(stage);
        QCOMPARE(units(Schedule::ZbH1, stage), expected.at("mem_zbh1_stage")[index].get<double>());
        QCOMPARE(units(Schedule::ZbH2, stage), expected.at("mem_zbh2_stage")[index].get<double>());
    }
    // The published integer forms are those of the fullest stage, and assume that nothing is released early.
    const auto fullest = [&](Schedule schedule) {
        double most = 0;
        for (std::int64_t stage = 0; stage < stages; ++stage) {
            most = std::max(most, inFlight({schedule, stages, 1, 4 * micro}, stage).units);
        }
        return most;
    };
    QCOMPARE(fullest(Schedule::ZbV), expected.at("mem_zbv").get<double>());
    QCOMPARE(fullest(Schedule::VHalf), expected.at("mem_vhalf").get<double>());
    QCOMPARE(fullest(Schedule::VMin), expected.at("mem_vmin").get<double>());
    const auto shape = [&](Schedule schedule) { return PipelineShape{schedule, stages, 1, micro}; };
    QCOMPARE(bubbleTime(shape(Schedule::OneForwardOneBackward)), expected.at("bubble_1f1b").get<double>());
    QCOMPARE(bubbleTime(shape(Schedule::ZbH1)), expected.at("bubble_zbh1").get<double>());
    QCOMPARE(bubbleTime(shape(Schedule::ZbH2)), expected.at("bubble_zbh2").get<double>());
    QCOMPARE(bubbleTime(shape(Schedule::ZbV)), expected.at("bubble_zbv").get<double>());
    QCOMPARE(bubbleFraction(shape(Schedule::OneForwardOneBackward)), expected.at("rate_1f1b").get<double>());
    QCOMPARE(bubbleFraction(shape(Schedule::ZbH1)), expected.at("rate_zbh1").get<double>());
}

void ScheduleTest::dualPipe_data()
{
    addTheoryRows({"I04"});
}

void ScheduleTest::dualPipe()
{
    QFETCH(Json, row);
    const Json& inputs = row.at("inputs");
    const Json& expected = row.at("expected");
    const std::int64_t stages = inputs.at("pp");
    const double weight = inputs.at("W").get<double>();
    const PassTimes times{inputs.at("F").get<double>(), inputs.at("B").get<double>() - weight, weight,
                          inputs.at("FB").get<double>()};
    const auto bubble = [&](Schedule schedule) { return bubbleTime({schedule, stages, 1, 4 * stages}, times); };
    QCOMPARE(bubble(Schedule::OneForwardOneBackward), expected.at("bubble_1f1b").get<double>());
    QVERIFY(std::abs(bubble(Schedule::ZbH1) - expected.at("bubble_zb1p").get<double>()) < 1e-9);
    QVERIFY(std::abs(bubble(Schedule::DualPipe) - expected.at("bubble_dualpipe").get<double>()) < 1e-9);
    const InFlight held = inFlight({Schedule::DualPipe, stages, 1, 4 * stages}, 0);
    QCOMPARE(held.units, expected.at("activation_units").get<double>());
    QCOMPARE(layerCopies(Schedule::DualPipe), expected.at("param_copies").get<std::int64_t>());
    // The same model in as many positions on half the GPUs, whose layers are two positions each.
    const std::int64_t half = stages / 2;
    QCOMPARE(half, expected.at("devices_dualpipev").get<std::int64_t>());
    QCOMPARE(inFlight({Schedule::DualPipeV, half, 1, 4 * stages}, 0).units * 2, held.units);
}

void ScheduleTest::foldedAndBidirectional_data()
{
    QTest::addColumn<int>("schedule");
    QTest::addColumn<int>("stages");
    QTest::addColumn<int>("microBatches");
    QTest::addColumn<double>("units");
    QTest::newRow("DualPipe, 8 GPUs") << static_cast<int>(Schedule::DualPipe) << 8 << 32 << 9.0;
    QTest::newRow("DualPipe, few micro-batches") << static_cast<int>(Schedule::DualPipe) << 8 << 4 << 4.0;
    // Nine activations of one of eight positions, two of which make a GPU's layers.
    QTest::newRow("DualPipeV, 4 GPUs") << static_cast<int>(Schedule::DualPipeV) << 4 << 32 << 4.5;
    QTest::newRow("ZB-H1, nothing released early") << static_cast<int>(Schedule::ZbH1) << 4 << 32 << 4.0;
    QTest::newRow("ZB-H2, nothing released early") << static_cast<int>(Schedule::ZbH2) << 4 << 32 << 7.0;
}

void ScheduleTest::foldedAndBidirectional()
{
    QFETCH(int, schedule);
    QFETCH(int, stages);
    QFETCH(int, microBatches);
    QFETCH(double, units);
    for (int stage = 0; stage < stages; ++stage) {
        QCOMPARE(inFlight({static_cast<Schedule>(schedule), stages, 1, microBatches}, stage).units, units);
    }
}

void ScheduleTest::groupsOfAnotherSize_data()
{
    QTest::addColumn<int>("group");
    QTest::addColumn<QList<int>>("warmup");
    // 2(p − i − 1) + (v − 1)·group
    QTest::newRow("pipeline size") << 0 << QList<int>{10, 8, 6, 4};
    QTest::newRow("larger") << 6 << QList<int>{12, 10, 8, 6};
    QTest::newRow("smaller") << 2 << QList<int>{8, 6, 4, 2};
}

void ScheduleTest::groupsOfAnotherSize()
{
    QFETCH(int, group);
    QFETCH(QList<int>, warmup);
    const PipelineShape shape{Schedule::Interleaved, 4, 2, 48, group};
    for (int stage = 0; stage < 4; ++stage) {
        QCOMPARE(warmupChunks(shape, stage), warmup[stage]);
        QCOMPARE(inFlight(shape, stage).units * 2, warmup[stage] + 1.0);
    }
}

void ScheduleTest::oneStageHoldsOne_data()
{
    QTest::addColumn<int>("schedule");
    for (int schedule = 0; schedule <= static_cast<int>(Schedule::DualPipeV); ++schedule) {
        QTest::addRow("%s", std::string(nameOf(static_cast<Schedule>(schedule))).c_str()) << schedule;
    }
}

void ScheduleTest::oneStageHoldsOne()
{
    QFETCH(int, schedule);
    QCOMPARE(inFlight({static_cast<Schedule>(schedule), 1, 4, 16}, 0).units, 1.0);
}

QTEST_APPLESS_MAIN(ScheduleTest)
#include "tst_schedule.moc"
