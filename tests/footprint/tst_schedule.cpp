// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule.h"
#include "footprint/schedule_order.h"
#include "footprint/theory_cases.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <optional>

using namespace headroom;
using headroom::test::theoryCases;
using Json = nlohmann::json;

namespace {

using Kind = StagePass::Kind;

/// The passes of one stage in the order its framework runs them, written down from the schedules' descriptions and not
/// from the code under test: GPipe runs everything forward, then everything backward; the others fill the pipeline,
/// alternate, and drain it.
std::vector<StagePass> describedOrder(const PipelineShape& shape, std::int64_t stage)
{
    const std::int64_t chunks = shape.schedule == Schedule::Interleaved ? shape.chunks : 1;
    const std::int64_t group = shape.group > 0 ? shape.group : shape.stages;
    std::vector<StagePass> forwards, backwards;
    for (std::int64_t first = 0; first < shape.microBatches; first += group) {
        const std::int64_t end = std::min(first + group, shape.microBatches);
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
            for (std::int64_t micro = first; micro < end; ++micro) {
                forwards.push_back({Kind::Forward, static_cast<std::size_t>(chunk), micro});
                backwards.push_back({Kind::Backward, static_cast<std::size_t>(chunks - 1 - chunk), micro});
            }
        }
    }
    const auto all = static_cast<std::int64_t>(forwards.size());
    std::int64_t fill = all;
    if (shape.schedule == Schedule::OneForwardOneBackward) {
        fill = std::min(shape.stages - stage - 1, all);
    } else if (shape.schedule == Schedule::Interleaved) {
        fill = std::min((shape.stages - stage - 1) * 2 + (chunks - 1) * group, all);
    }
    std::vector<StagePass> order(forwards.begin(), forwards.begin() + fill);
    for (std::int64_t next = fill; next < all; ++next) {
        order.push_back(forwards[static_cast<std::size_t>(next)]);
        order.push_back(backwards[static_cast<std::size_t>(next - fill)]);
    }
    for (std::int64_t next = all - fill; next < all; ++next) {
        order.push_back(backwards[static_cast<std::size_t>(next)]);
    }
    return order;
}

struct Held
{
    double chunks = 0, firstChunk = 0; ///< the most of chunk 0 at a moment with the most chunks
    double start = 0, end = 0; ///< when the stage works
};

/// Runs all stages together: a pass waits for the pass before it in the pipeline. Null if they wait for each other, or
/// if a pass is missing or comes twice.
class Pipeline
{
public:
    explicit Pipeline(const PipelineShape& shape, double weightShare = 1)
        : m_shape(effectivePipeline(shape))
        , m_isFolded(isFolded(m_shape.schedule))
        , m_isDual(m_shape.schedule == Schedule::DualPipe)
        , m_chunks(m_isFolded || m_isDual                          ? 2
                       : m_shape.schedule == Schedule::Interleaved ? m_shape.chunks
                                                                   : 1)
        , m_positions(m_isDual ? m_shape.stages : m_shape.stages * m_chunks)
        , m_weightShare(weightShare)
        , m_done(static_cast<std::size_t>(2 * 3 * m_positions * m_shape.microBatches), -1)
        , m_live(static_cast<std::size_t>(m_shape.stages * m_chunks))
    {
        for (std::int64_t stage = 0; stage < m_shape.stages; ++stage) {
            m_orders.push_back(stageOrder(m_shape, stage));
        }
    }

    std::optional<std::vector<Held>> run()
    {
        std::vector<Held> held(m_orders.size());
        std::vector<std::size_t> next(m_orders.size());
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::size_t stage = 0; stage < m_orders.size(); ++stage) {
                while (next[stage] < m_orders[stage].size()) {
                    const auto ready = readyAt(stage, m_orders[stage][next[stage]]);
                    if (!ready || !step(stage, m_orders[stage][next[stage]++], *ready, held[stage])) {
                        break;
                    }
                    moved = true;
                }
            }
        }
        const auto passes = static_cast<std::size_t>(m_shape.microBatches * (m_isDual ? 1 : m_chunks));
        for (std::size_t stage = 0; stage < m_orders.size(); ++stage) {
            const auto& order = m_orders[stage];
            const auto forwards = std::count_if(order.begin(), order.end(),
                                                [](const StagePass& pass) { return pass.kind == Kind::Forward; });
            if (next[stage] != order.size() || static_cast<std::size_t>(forwards) != passes) {
                return std::nullopt;
            }
        }
        const bool isEmpty
            = std::all_of(m_live.begin(), m_live.end(), [](double live) { return std::abs(live) < 1e-9; });
        return isEmpty ? std::optional(held) : std::nullopt;
    }

private:
    [[nodiscard]] std::int64_t direction(std::size_t stage, std::size_t chunk) const
    {
        const bool isSecondHalf = static_cast<std::int64_t>(stage) >= m_shape.stages / 2;
        return m_isDual && (chunk == 1) != isSecondHalf ? 1 : 0;
    }

    [[nodiscard]] std::int64_t position(std::size_t stage, std::size_t chunk) const
    {
        const auto place = static_cast<std::int64_t>(stage);
        if (m_isDual) {
            return direction(stage, chunk) == 0 ? place : m_shape.stages - 1 - place;
        }
        if (m_isFolded) {
            return chunk == 0 ? place : 2 * m_shape.stages - 1 - place;
        }
        return static_cast<std::int64_t>(chunk) * m_shape.stages + place;
    }

    /// When a pass ended; negative: not yet. `kind`: forward, input gradient, weight gradient.
    double& done(std::int64_t kind, std::int64_t way, std::int64_t place, std::int64_t micro)
    {
        return m_done[static_cast<std::size_t>(((way * 3 + kind) * m_positions + place) * m_shape.microBatches
                                               + micro)];
    }

    std::optional<double> readyAt(std::size_t stage, const StagePass& pass)
    {
        const std::int64_t place = position(stage, pass.chunk), way = direction(stage, pass.chunk);
        std::vector<double> waitsFor;
        if (pass.kind == Kind::Forward && place > 0) {
            waitsFor = {done(0, way, place - 1, pass.microBatch)};
        } else if (pass.kind == Kind::WeightGradient) {
            waitsFor = {done(1, way, place, pass.microBatch)};
        } else if (pass.kind != Kind::Forward) {
            waitsFor = {done(0, way, place, pass.microBatch)};
            if (place < m_positions - 1) {
                waitsFor.push_back(done(1, way, place + 1, pass.microBatch));
            }
        }
        double ready = 0;
        for (const double time : waitsFor) {
            if (time < 0) {
                return std::nullopt;
            }
            ready = std::max(ready, time);
        }
        return ready;
    }

    bool step(std::size_t stage, const StagePass& pass, double ready, Held& held)
    {
        const std::int64_t place = position(stage, pass.chunk), way = direction(stage, pass.chunk);
        const double unit = m_isDual ? 1 : 1.0 / static_cast<double>(m_chunks);
        const double start = std::max(held.end, ready);
        const bool isWhole = pass.kind == Kind::Backward;
        held.start = held.end == 0 ? start : held.start;
        held.end = start + (isWhole ? 2 : 1) * unit;
        const std::int64_t kind = pass.kind == Kind::Forward ? 0 : pass.kind == Kind::WeightGradient ? 2 : 1;
        double& time = done(kind, way, place, pass.microBatch);
        if (time >= 0) {
            return false; // twice
        }
        time = held.end;
        double& live = m_live[stage * static_cast<std::size_t>(m_chunks) + pass.chunk];
        live += pass.kind == Kind::Forward ? 1 : isWhole ? -1 : kind == 1 ? m_weightShare - 1 : -m_weightShare;
        double all = 0;
        for (std::int64_t chunk = 0; chunk < m_chunks; ++chunk) {
            all += m_live[stage * static_cast<std::size_t>(m_chunks) + static_cast<std::size_t>(chunk)];
        }
        const double first = m_live[stage * static_cast<std::size_t>(m_chunks)];
        if (all > held.chunks + 1e-9) {
            held.chunks = all;
            held.firstChunk = first;
        } else if (all > held.chunks - 1e-9) {
            held.firstChunk = std::max(held.firstChunk, first);
        }
        return true;
    }

    PipelineShape m_shape;
    bool m_isFolded, m_isDual;
    std::int64_t m_chunks, m_positions;
    double m_weightShare;
    std::vector<std::vector<StagePass>> m_orders;
    std::vector<double> m_done, m_live;
};

double divisor(const PipelineShape& shape)
{
    return isFolded(shape.schedule)               ? 2
        : shape.schedule == Schedule::Interleaved ? static_cast<double>(shape.chunks)
                                                  : 1;
}

} // namespace

class ScheduleTest : public QObject
{
    Q_OBJECT

private slots:
    void closedFormsMatchExecution_data();
    void closedFormsMatchExecution();
    void ordersAsDescribed_data();
    void ordersAsDescribed();
    void bubblesMatchExecution_data();
    void bubblesMatchExecution();
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

void ScheduleTest::closedFormsMatchExecution_data()
{
    QTest::addColumn<int>("schedule");
    QTest::addColumn<int>("stages");
    QTest::addColumn<int>("chunks");
    QTest::addColumn<int>("group");
    for (int stages = 2; stages <= 16; ++stages) {
        for (int schedule = 0; schedule <= static_cast<int>(Schedule::DualPipeV); ++schedule) {
            if (static_cast<Schedule>(schedule) != Schedule::Interleaved) {
                const std::string name(nameOf(static_cast<Schedule>(schedule)));
                QTest::addRow("%s p=%d", name.c_str(), stages) << schedule << stages << 1 << 0;
            }
        }
        for (int chunks = 2; chunks <= 8; ++chunks) {
            for (const int more : {0, 1, stages}) {
                QTest::addRow("interleaved p=%d v=%d group=%d", stages, chunks, stages + more)
                    << static_cast<int>(Schedule::Interleaved) << stages << chunks << (more == 0 ? 0 : stages + more);
            }
        }
    }
}

void ScheduleTest::closedFormsMatchExecution()
{
    QFETCH(int, schedule);
    QFETCH(int, stages);
    QFETCH(int, chunks);
    QFETCH(int, group);
    for (const int micro : {1, 2, 3, 5, 8, 12, 16, 32, 48, 64}) {
        const PipelineShape shape{static_cast<Schedule>(schedule), stages, chunks, micro, group};
        const bool isInterleaved = shape.schedule == Schedule::Interleaved;
        if ((isInterleaved && micro % std::max(stages, group) != 0) || !canRun(shape)) {
            continue; // frameworks refuse such a number
        }
        for (const double share : {1.0, 0.5}) {
            const auto held = Pipeline(shape, share).run();
            QVERIFY2(held, "the order deadlocks");
            for (int stage = 0; stage < stages; ++stage) {
                const InFlight closed = inFlight(shape, stage, share);
                const Held& executed = (*held)[static_cast<std::size_t>(stage)];
                QCOMPARE(closed.units * divisor(shape), executed.chunks);
                QVERIFY(shape.schedule != Schedule::VHalf || closed.units <= std::floor((stages + 2) / 2.0));
                QVERIFY(shape.schedule != Schedule::VMin || closed.units <= std::floor((stages + 4) / 3.0));
                if (isInterleaved || !splitsBackward(shape.schedule)) {
                    QCOMPARE(static_cast<double>(closed.firstChunk), executed.firstChunk);
                } else if (isFolded(shape.schedule) && shape.schedule != Schedule::DualPipeV) {
                    QCOMPARE(static_cast<double>(closed.firstChunk), std::ceil(executed.firstChunk));
                }
            }
        }
    }
}

void ScheduleTest::ordersAsDescribed_data()
{
    closedFormsMatchExecution_data();
}

void ScheduleTest::ordersAsDescribed()
{
    QFETCH(int, schedule);
    QFETCH(int, stages);
    QFETCH(int, chunks);
    QFETCH(int, group);
    for (const int micro : {1, 2, 5, 16, 64}) {
        const PipelineShape shape{static_cast<Schedule>(schedule), stages, chunks, micro, group};
        for (int stage = 0; stage < stages && !splitsBackward(shape.schedule); ++stage) {
            const auto order = stageOrder(shape, stage);
            const auto described = describedOrder(shape, stage);
            QCOMPARE(order.size(), described.size());
            for (std::size_t i = 0; i < order.size(); ++i) {
                QCOMPARE(order[i].kind, described[i].kind);
                QCOMPARE(order[i].chunk, described[i].chunk);
                QCOMPARE(order[i].microBatch, described[i].microBatch);
            }
        }
    }
}

void ScheduleTest::bubblesMatchExecution_data()
{
    QTest::addColumn<int>("schedule");
    QTest::addColumn<int>("chunks");
    for (const Schedule schedule : {Schedule::GPipe, Schedule::OneForwardOneBackward, Schedule::ZbH1, Schedule::ZbH2,
                                    Schedule::ZbV, Schedule::VHalf, Schedule::VMin}) {
        QTest::addRow("%s", std::string(nameOf(schedule)).c_str()) << static_cast<int>(schedule) << 1;
    }
    QTest::newRow("interleaved, 2 chunks") << static_cast<int>(Schedule::Interleaved) << 2;
    QTest::newRow("interleaved, 4 chunks") << static_cast<int>(Schedule::Interleaved) << 4;
}

/// With all passes equally long, a stage works (F + B)·m and waits for the bubble between its first and last pass.
void ScheduleTest::bubblesMatchExecution()
{
    QFETCH(int, schedule);
    QFETCH(int, chunks);
    for (const int stages : {2, 4, 8}) {
        for (const int micro : {16, 32, 64}) {
            const PipelineShape shape{static_cast<Schedule>(schedule), stages, chunks, micro};
            const auto held = Pipeline(shape).run();
            QVERIFY(held);
            double longest = 0;
            for (const Held& stage : *held) {
                longest = std::max(longest, stage.end - stage.start);
            }
            const double waits = longest - 3.0 * micro;
            if (shape.schedule == Schedule::VHalf || shape.schedule == Schedule::VMin) {
                // The paper's shares of 1F1B's bubble are rounded.
                const double plain = bubbleTime({Schedule::OneForwardOneBackward, stages, 1, micro});
                QVERIFY(waits > 0 && waits < plain);
                QVERIFY(std::abs(waits - bubbleTime(shape)) <= plain / 3);
            } else {
                QCOMPARE(waits, bubbleTime(shape));
            }
        }
    }
}

void ScheduleTest::theoryCounts_data()
{
    QTest::addColumn<Json>("row");
    for (const char* prefix : {"I01", "I02", "I05"}) {
        for (const Json& row : theoryCases(prefix)) {
            QTest::addRow("%s", row.at("id").get<std::string>().c_str()) << row;
        }
    }
    if (theoryCases("I0").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void ScheduleTest::theoryCounts()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
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
    QTest::addColumn<Json>("row");
    for (const Json& row : theoryCases("I03")) {
        QTest::addRow("%s", row.at("id").get<std::string>().c_str()) << row;
    }
    if (theoryCases("I03").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void ScheduleTest::zeroBubble()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
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
    QTest::addColumn<Json>("row");
    for (const Json& row : theoryCases("I04")) {
        QTest::addRow("%s", row.at("id").get<std::string>().c_str()) << row;
    }
    if (theoryCases("I04").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void ScheduleTest::dualPipe()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
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
