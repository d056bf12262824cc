// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule.h"
#include "footprint/theory_cases.h"

#include <QtTest>

#include <optional>
#include <set>

using namespace headroom;
using headroom::test::theoryCases;
using Json = nlohmann::json;

namespace {

struct Pass
{
    bool isForward = true;
    std::int64_t microBatch = 0;
    std::int64_t chunk = 0;
};

/// The passes of one stage in the order its framework runs them, written down from the schedules' descriptions and not
/// from the closed forms under test: GPipe runs everything forward, then everything backward; the others fill the
/// pipeline, alternate, and drain it.
std::vector<Pass> orderOf(const PipelineShape& shape, std::int64_t stage)
{
    const std::int64_t chunks = shape.schedule == Schedule::Interleaved ? shape.chunks : 1;
    std::vector<Pass> forwards;
    std::vector<Pass> backwards;
    for (std::int64_t first = 0; first < shape.microBatches; first += shape.stages) {
        const std::int64_t end = std::min(first + shape.stages, shape.microBatches);
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
            for (std::int64_t micro = first; micro < end; ++micro) {
                forwards.push_back({true, micro, chunk});
                backwards.push_back({false, micro, chunks - 1 - chunk});
            }
        }
    }
    const auto all = static_cast<std::int64_t>(forwards.size());
    std::int64_t fill = all;
    if (shape.schedule == Schedule::OneForwardOneBackward) {
        fill = std::min(shape.stages - stage - 1, all);
    } else if (shape.schedule == Schedule::Interleaved) {
        fill = std::min((shape.stages - stage - 1) * 2 + (chunks - 1) * shape.stages, all);
    }
    std::vector<Pass> order(forwards.begin(), forwards.begin() + fill);
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
    std::int64_t chunks = 0;
    std::int64_t firstChunk = 0; ///< the most of chunk 0 at a moment with the most chunks
};

/// Runs all stages together: a pass waits for the pass before it in the pipeline. Null if they wait for each other.
class Pipeline
{
public:
    explicit Pipeline(const PipelineShape& shape)
        : m_shape(shape)
        , m_next(static_cast<std::size_t>(shape.stages))
        , m_live(static_cast<std::size_t>(shape.stages))
        , m_liveFirst(static_cast<std::size_t>(shape.stages))
    {
        for (std::int64_t stage = 0; stage < shape.stages; ++stage) {
            m_orders.push_back(orderOf(shape, stage));
        }
    }

    std::optional<std::vector<Held>> run()
    {
        std::vector<Held> held(m_orders.size());
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::size_t stage = 0; stage < m_orders.size(); ++stage) {
                while (m_next[stage] < m_orders[stage].size() && isReady(stage, m_orders[stage][m_next[stage]])) {
                    step(stage, held[stage]);
                    moved = true;
                }
            }
        }
        for (std::size_t stage = 0; stage < m_orders.size(); ++stage) {
            if (m_next[stage] != m_orders[stage].size() || m_live[stage] != 0) {
                return std::nullopt;
            }
        }
        return held;
    }

private:
    using Done = std::tuple<bool, std::int64_t, std::int64_t>; ///< forward, micro-batch, position in the model

    [[nodiscard]] std::int64_t position(std::size_t stage, std::int64_t chunk) const
    {
        return chunk * m_shape.stages + static_cast<std::int64_t>(stage);
    }

    [[nodiscard]] bool isReady(std::size_t stage, const Pass& pass) const
    {
        const std::int64_t chunks = m_shape.schedule == Schedule::Interleaved ? m_shape.chunks : 1;
        const std::int64_t last = m_shape.stages * chunks - 1;
        const std::int64_t place = position(stage, pass.chunk);
        if (pass.isForward) {
            return place == 0 || m_done.contains({true, pass.microBatch, place - 1});
        }
        return m_done.contains({true, pass.microBatch, place})
            && (place == last || m_done.contains({false, pass.microBatch, place + 1}));
    }

    void step(std::size_t stage, Held& held)
    {
        const Pass pass = m_orders[stage][m_next[stage]++];
        m_done.insert({pass.isForward, pass.microBatch, position(stage, pass.chunk)});
        const std::int64_t change = pass.isForward ? 1 : -1;
        m_live[stage] += change;
        m_liveFirst[stage] += pass.chunk == 0 ? change : 0;
        if (m_live[stage] > held.chunks) {
            held = {m_live[stage], m_liveFirst[stage]};
        } else if (m_live[stage] == held.chunks) {
            held.firstChunk = std::max(held.firstChunk, m_liveFirst[stage]);
        }
    }

    PipelineShape m_shape;
    std::vector<std::vector<Pass>> m_orders;
    std::vector<std::size_t> m_next;
    std::vector<std::int64_t> m_live, m_liveFirst;
    std::set<Done> m_done;
};

} // namespace

class ScheduleTest : public QObject
{
    Q_OBJECT

private slots:
    void closedFormsMatchExecution_data();
    void closedFormsMatchExecution();
    void theoryCounts_data();
    void theoryCounts();
    void zeroBubble_data();
    void zeroBubble();
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
    for (const int stages : {2, 3, 4, 5, 8, 16}) {
        QTest::addRow("gpipe p=%d", stages) << static_cast<int>(Schedule::GPipe) << stages << 1;
        QTest::addRow("1f1b p=%d", stages) << static_cast<int>(Schedule::OneForwardOneBackward) << stages << 1;
        for (const int chunks : {2, 3, 4, 8}) {
            QTest::addRow("interleaved p=%d v=%d", stages, chunks)
                << static_cast<int>(Schedule::Interleaved) << stages << chunks;
        }
    }
}

void ScheduleTest::closedFormsMatchExecution()
{
    QFETCH(int, schedule);
    QFETCH(int, stages);
    QFETCH(int, chunks);
    for (const int micro : {1, 2, 3, 5, 8, 12, 16, 32, 48, 64}) {
        PipelineShape shape{static_cast<Schedule>(schedule), stages, chunks, micro};
        if (shape.schedule == Schedule::Interleaved && micro % stages != 0) {
            continue; // frameworks refuse to interleave such a number
        }
        const auto held = Pipeline(shape).run();
        QVERIFY2(held, "the order deadlocks");
        for (int stage = 0; stage < stages; ++stage) {
            const InFlight closed = inFlight(shape, stage);
            const Held& executed = (*held)[static_cast<std::size_t>(stage)];
            QCOMPARE(closed.units * chunks, static_cast<double>(executed.chunks));
            QCOMPARE(closed.firstChunk, executed.firstChunk);
            QCOMPARE(closed.microBatches(), (executed.chunks + chunks - 1) / chunks);
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
        QCOMPARE(units(Schedule::ZbV, stage), expected.at("mem_zbv").get<double>());
        QCOMPARE(units(Schedule::VHalf, stage), expected.at("mem_vhalf").get<double>());
        QCOMPARE(units(Schedule::VMin, stage), expected.at("mem_vmin").get<double>());
    }
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
