// SPDX-License-Identifier: GPL-3.0-or-later
//
// Closed forms of what pipelines hold and wait for, against running the orders of all stages together.
#include "footprint/schedule/order.h"
#include "footprint/schedule/schedule.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <optional>

using namespace headroom;

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

class ScheduleOrderTest : public QObject
{
    Q_OBJECT

private slots:
    void closedFormsMatchExecution_data();
    void closedFormsMatchExecution();
    void ordersAsDescribed_data();
    void ordersAsDescribed();
    void bubblesMatchExecution_data();
    void bubblesMatchExecution();
};

void ScheduleOrderTest::closedFormsMatchExecution_data()
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

void ScheduleOrderTest::closedFormsMatchExecution()
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

void ScheduleOrderTest::ordersAsDescribed_data()
{
    closedFormsMatchExecution_data();
}

void ScheduleOrderTest::ordersAsDescribed()
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

void ScheduleOrderTest::bubblesMatchExecution_data()
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
void ScheduleOrderTest::bubblesMatchExecution()
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

QTEST_APPLESS_MAIN(ScheduleOrderTest)
#include "tst_schedule_order.moc"
