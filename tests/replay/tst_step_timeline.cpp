// SPDX-License-Identifier: GPL-3.0-or-later
//
// A step as it is drawn: order and widths follow from the schedules of theory.md 4, heights from the replay.
#include "footprint/programs.h"
#include "footprint/written_plan.h"
#include "replay/replay.h"
#include "replay/step_timeline.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace headroom;

namespace {

struct Replayed
{
    ModelProgram program;
    StageReplay stage;
    StepTimeline timeline;
};

Replayed replayed(const QByteArray& settings, std::size_t stage, std::size_t mostSpans = 8192)
{
    const QByteArray model = "model.layers=16 model.hidden=512 model.ffn=2048 model.heads=8 model.vocab=1024 "
                             "model.tied_embeddings=false batch.micro=1 batch.seq=256 precision.recipe=megatron-bf16 ";
    Replayed result;
    result.program = test::programOf(test::planOf(model + settings));
    ReplayOptions options;
    options.recordsTimeline = true;
    result.stage = replayStage(result.program, result.program.stages[stage], options);
    result.timeline = stepTimeline(result.program, result.stage, mostSpans);
    return result;
}

/// "F1 B1 F2 B2 step", with the chunk behind a dot when there are several; "eF1" for an image encoder.
QString orderOf(const StepTimeline& timeline)
{
    QStringList order;
    for (const StepTimeline::Pass& pass : timeline.passes) {
        if (pass.phase == Phase::Optimizer) {
            order.append(QStringLiteral("step"));
            continue;
        }
        QString text = (pass.phase == Phase::Forward ? u'F' : u'B') + QString::number(pass.microBatch + 1);
        if (pass.isEncoder) {
            text.prepend(u'e');
        } else if (timeline.chunks > 1) {
            text += u'.' + QString::number(pass.chunk + 1);
        }
        order.append(text);
    }
    return order.join(u' ');
}

} // namespace

class TestStepTimeline : public QObject
{
    Q_OBJECT

private slots:
    void passesFollowTheSchedule_data();
    void passesFollowTheSchedule();
    void widthsAreWork_data();
    void widthsAreWork();
    void spansCoverTheStep();
    void heightsAreTheReplays();
    void joiningKeepsThePeak();
    void fewMicroBatchesAreTold();
    void cancelledBeforeItBegins();
};

void TestStepTimeline::passesFollowTheSchedule_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<int>("stage");
    QTest::addColumn<QString>("order");
    QTest::addColumn<qint64>("inFlight");
    // theory.md 4.1: p − 1 − i warm-up forwards, then one forward and one backward in turn; min(m, p − i) in flight.
    QTest::newRow("one stage") << QByteArray("batch.accum=2") << 0 << QStringLiteral("F1 B1 F2 B2 step") << qint64{1};
    // Last of two: its encoder runs when the first stage, two passes wide in backward, is at F1 F2 B1 F3 B2 B3.
    QTest::newRow("image encoder on every stage")
        << QByteArray("batch.accum=3 parallel.pp=2 parallel.encoder_placement=every_stage vision.layers=2 "
                      "vision.hidden=256 vision.heads=4 vision.patch=14 vision.image_size=224 projector.type=mlp")
        << 1 << QStringLiteral("eF1 F1 eF2 B1 F2 eB1 eF3 B2 F3 eB2 B3 eB3 step") << qint64{1};
    QTest::newRow("first of four") << QByteArray("batch.accum=5 parallel.pp=4") << 0
                                   << QStringLiteral("F1 F2 F3 F4 B1 F5 B2 B3 B4 B5 step") << qint64{4};
    QTest::newRow("third of four") << QByteArray("batch.accum=4 parallel.pp=4") << 2
                                   << QStringLiteral("F1 F2 B1 F3 B2 F4 B3 B4 step") << qint64{2};
    QTest::newRow("last of four") << QByteArray("batch.accum=3 parallel.pp=4") << 3
                                  << QStringLiteral("F1 B1 F2 B2 F3 B3 step") << qint64{1};
    QTest::newRow("GPipe") << QByteArray("batch.accum=3 parallel.pp=2 parallel.schedule=gpipe") << 0
                           << QStringLiteral("F1 F2 F3 B1 B2 B3 step") << qint64{3};
    // Megatron-LM schedules.py: (p − i − 1)·2 + (v − 1)·p warm-up chunks, groups of p micro-batches through all chunks.
    QTest::newRow("interleaved, last of two")
        << QByteArray("batch.accum=2 parallel.pp=2 parallel.vpp=2") << 1
        << QStringLiteral("F1.1 F2.1 F1.2 B1.2 F2.2 B2.2 B1.1 B2.1 step") << qint64{2};
}

void TestStepTimeline::passesFollowTheSchedule()
{
    QFETCH(QByteArray, settings);
    QFETCH(int, stage);
    QFETCH(QString, order);
    QFETCH(qint64, inFlight);
    const Replayed run = replayed(settings, static_cast<std::size_t>(stage));
    QCOMPARE(orderOf(run.timeline), order);
    QCOMPARE(run.timeline.inFlight, inFlight);
}

void TestStepTimeline::widthsAreWork_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<double>("backwardOverForward");
    QTest::newRow("twice the products") << QByteArray() << 2.0;
    QTest::newRow("a forward more") << QByteArray("recompute.enabled=true recompute.granularity=full") << 3.0;
}

void TestStepTimeline::widthsAreWork()
{
    QFETCH(QByteArray, settings);
    QFETCH(double, backwardOverForward);
    // A stage in the middle has layers only, neither embedding nor head.
    const Replayed run = replayed("batch.accum=2 parallel.pp=4 " + settings, 1);
    const auto& passes = run.timeline.passes;
    const double forward = passes.front().end - passes.front().begin;
    QCOMPARE(forward, 4.0);
    for (const StepTimeline::Pass& pass : passes) {
        QCOMPARE(pass.end - pass.begin, pass.phase == Phase::Backward ? backwardOverForward * forward : forward);
    }
    const auto rebuilding = std::count_if(run.timeline.spans.begin(), run.timeline.spans.end(),
                                          [](const StepTimeline::Span& span) { return span.isRebuilding; });
    QCOMPARE(rebuilding, settings.isEmpty() ? 0 : 2 * 4);
}

void TestStepTimeline::spansCoverTheStep()
{
    const StepTimeline timeline = replayed("batch.accum=4 parallel.pp=2 parallel.vpp=2", 0).timeline;
    QCOMPARE(timeline.passes.size(), std::size_t{2 * 4 * 2 + 1});
    double end = 0;
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        const StepTimeline::Span& span = timeline.spans[i];
        QCOMPARE(span.begin, end);
        QVERIFY(span.end > span.begin);
        QVERIFY(span.begin >= timeline.passes[span.pass].begin && span.end <= timeline.passes[span.pass].end);
        QCOMPARE(timeline.spanAt((span.begin + span.end) / 2), i);
        end = span.end;
    }
    QCOMPARE(timeline.width(), end);
    QVERIFY(!timeline.spanAt(-0.1) && !timeline.spanAt(end + 0.1) && !timeline.spanAt(std::nan("")));
}

void TestStepTimeline::heightsAreTheReplays()
{
    const Replayed run = replayed("batch.accum=8 parallel.pp=2", 0);
    std::array<Bytes, phaseCount> highest{};
    for (const StepTimeline::Span& span : run.timeline.spans) {
        Bytes& most = highest[static_cast<std::size_t>(run.timeline.passes[span.pass].phase)];
        most = std::max(most, span.allocated());
    }
    for (const Phase phase : {Phase::Forward, Phase::Backward, Phase::Optimizer}) {
        const auto index = static_cast<std::size_t>(phase);
        // A phase also begins with what the one before left, which no layer's work shows.
        QVERIFY2(highest[index] <= run.stage.phases[index], nameOf(phase).data());
    }
    QCOMPARE(run.timeline.spans[run.timeline.peak].allocated(),
             *std::max_element(run.stage.phases.begin(), run.stage.phases.end()));
}

void TestStepTimeline::joiningKeepsThePeak()
{
    const QByteArray settings("batch.accum=8 parallel.pp=2");
    const StepTimeline fine = replayed(settings, 0).timeline;
    const StepTimeline coarse = replayed(settings, 0, 40).timeline;
    QVERIFY(coarse.spans.size() < fine.spans.size() && coarse.spans.size() <= 40 + coarse.passes.size());
    QCOMPARE(coarse.width(), fine.width());
    QCOMPARE(coarse.spans[coarse.peak].allocated(), fine.spans[fine.peak].allocated());
    QCOMPARE(coarse.spans[coarse.peak].components, fine.spans[fine.peak].components);
    QCOMPARE(orderOf(coarse), orderOf(fine));
}

void TestStepTimeline::fewMicroBatchesAreTold()
{
    const StepTimeline timeline = replayed("batch.accum=200000 parallel.pp=4", 0).timeline;
    QCOMPARE(timeline.microBatches, 200000);
    QVERIFY(timeline.walkedMicroBatches < 200000);
    QCOMPARE(timeline.passes.size(), static_cast<std::size_t>(2 * timeline.walkedMicroBatches + 1));
}

void TestStepTimeline::cancelledBeforeItBegins()
{
    Replayed run = replayed("batch.accum=2", 0);
    ReplayOptions options;
    int asked = 0;
    options.isCancelled = [&asked] { return ++asked == 2; };
    const StageReplay cut = replayStage(run.program, run.program.stages[0], options);
    QCOMPARE(asked, 2);
    QVERIFY(cut.events < run.stage.events / 2);
}

QTEST_GUILESS_MAIN(TestStepTimeline)
#include "tst_step_timeline.moc"
