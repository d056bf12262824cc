// SPDX-License-Identifier: GPL-3.0-or-later
//
// T5 and Whisper: what their blocks keep, their published sizes, and that recipe and tapes agree.
#include "footprint/instant/estimator.h"
#include "footprint/torch/tapes.h"
#include "footprint/torch_plans.h"
#include "footprint/working.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace headroom;
using namespace headroom::test;

class TestEncoderDecoders : public QObject
{
    Q_OBJECT

private slots:
    void keepsAcross();
    void encoderDecoderParameters_data();
    void encoderDecoderParameters();
    void recipeOfEncoderDecoders();
    void gathersWholeDecoderBlocks();
};

namespace {

/// Whisper large: 32 + 32 layers, 1500 frames after the convolutions, 448 tokens.
TrainingPlan whisper()
{
    TrainingPlan plan = planOf({32, 1280, 5120, 20, 20, 51865, true}, "hf-sdpa");
    plan.model.family = Name("t5");
    plan.model.encoderLayers = plan.model.decoderLayers = Count(32);
    plan.model.audioBins = Count(80);
    plan.model.gatedMlp = Flag(false);
    plan.model.layerNorm = plan.model.learnedPositions = plan.model.attnBias = plan.model.mlpBias = Flag(true);
    plan.model.maxPos = plan.batch.decoderSeq = Count(448);
    plan.batch.seq = Count(1500);
    plan.batch.micro = Count(8);
    return plan;
}

TrainingPlan t5Large()
{
    TrainingPlan plan = planOf({24, 1024, 4096, 16, 16, 32128, true}, "hf-eager");
    plan.model.family = Name("t5");
    plan.model.encoderLayers = plan.model.decoderLayers = Count(24);
    plan.model.gatedMlp = plan.model.learnedPositions = plan.model.rope = Flag(false);
    plan.batch.seq = Count(512);
    plan.batch.decoderSeq = Count(128);
    plan.batch.micro = Count(8);
    return plan;
}

std::int64_t keptBytes(const ModelProgram& program, std::size_t piece)
{
    return std::llround(keptPerToken(program, piece) * static_cast<double>(tokens));
}

} // namespace

/// Of a micro-batch in Whisper (modeling_whisper.py): LayerNorm's input, output and two numbers a row, three times; q,
/// k, v and result, a number a head; the same across with keys and values of 1500 frames; both sides of a GELU. The
/// encoder's blocks have one attention; in front of them are 80 bins at twice the rate and both sides of two GELUs.
void TestEncoderDecoders::keepsAcross()
{
    const ModelProgram program = programOf(whisper());
    constexpr std::int64_t own = 8 * 448, frames = 8 * 1500, h = 1280, f = 5120, a = 20;
    const std::int64_t attention = 2 * h + 8 + 2 * h + 8 * h + 4 * a, mlp = 2 * h + 8 + 2 * h + 4 * f;
    const std::int64_t across = 2 * h + 8 + 2 * h + 2 * h + 2 * h + 4 * a;
    const auto block = [](std::int64_t bytes) { return (bytes + 511) / 512 * 512; };
    std::int64_t statistics = 0; // and what rounds them up to blocks
    for (const std::int64_t bytes : {own * 8, own * 8, own * 8, own * 4 * a, own * 4 * a}) {
        statistics += block(bytes) - bytes;
    }
    QCOMPARE(keptBytes(program, 1), own * (attention + across + mlp) + frames * 4 * h + statistics);
    std::int64_t source = 0;
    for (const std::int64_t bytes : {frames * 8, frames * 8, frames * 4 * a}) {
        source += block(bytes) - bytes;
    }
    QCOMPARE(keptBytes(program, 5), frames * (attention + mlp) + source);
    QCOMPARE(keptBytes(program, 4), frames * 2 * (2 * 80 + 2 * 2 * h + h));
}

void TestEncoderDecoders::encoderDecoderParameters_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<qint64>("parameters");
    QTest::newRow("T5 large") << t5Large() << qint64{737'668'096}; // as published
    QTest::newRow("Whisper large v2") << whisper() << qint64{1'543'304'960};
}

void TestEncoderDecoders::encoderDecoderParameters()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(qint64, parameters);
    QCOMPARE(qint64{modelParameters(architectureOf(plan), visionTowerOf(plan), projectorOf(plan))}, parameters);
    const ModelProgram program = programOf(plan);
    QCOMPARE(qint64{parameterCount(program, program.stages.front())}, parameters);
}

/// Megatron's T5 by tape and by recipe: all that waits for the backward, the encoder's part in it.
void TestEncoderDecoders::recipeOfEncoderDecoders()
{
    TrainingPlan plan = t5Large();
    plan.implementation.profile = Name("megatron-te");
    plan.model.learnedPositions = plan.model.layerNorm = Flag(true);
    plan.model.hiddenDropout = plan.model.attnDropout = Real(0.0);
    plan.attention.impl = Name("flash");
    plan.precision.recipe = Name("megatron-bf16");
    const ModelProgram program = programOf(plan);
    double kept = 0, copies = 0;
    for (const PieceRun& run : program.stages.front().chunks.front().runs) {
        const bool isLayer = run.count > 1;
        for (const Tape::Event& saved : program.pieces[run.piece].tape.saved) {
            // Padded sequences are packed for flash attention and unpacked again.
            copies
                += isLayer && saved.kind == TensorKind::ContextCopy ? static_cast<double>(run.count * saved.bytes) : 0;
        }
        kept += isLayer ? static_cast<double>(run.count) * keptPerToken(program, run.piece) * tokens : 0;
    }
    const Working working = workingOf(plan, {});
    const double recipe = stageWorking(working, PipelineSplit::of(plan).value(), 0).activations.kept;
    const double memory = 2.0 * 2 * 8 * 512 * 1024; // around the norm between the halves
    const double ratio = (recipe - memory) / (kept - copies);
    QVERIFY2(std::abs(ratio - 1) < 0.01, qPrintable(QString::number(ratio)));
}

/// While the decoder's words are looked up FSDP gathers its first block for what comes: two attentions of 4·h², an MLP
/// of 2·h·f and three norms of h, in 16 bits; the buffer has room for the rank's own eighth too.
void TestEncoderDecoders::gathersWholeDecoderBlocks()
{
    TrainingPlan plan = t5Large();
    plan.parallel.dp = Count(8);
    plan.shard.fsdp = Flag(true);
    plan.shard.fsdpVersion = Count(2);
    plan.precision.recipe = Name("bf16-pure");
    const ModelProgram program = programOf(plan);
    constexpr std::int64_t h = 1024, f = 4096, block = 2 * (2 * 4 * h * h + 2 * h * f + 3 * h);
    const auto gathers = [&program](std::size_t piece, std::int64_t bytes) {
        const auto& events = program.pieces[piece].tape.forward;
        return std::any_of(events.begin(), events.end(), [bytes](const Tape::Event& event) {
            return event.op == Tape::Op::Allocate && event.kind == TensorKind::GatheredParameters
                && event.bytes == (bytes + 511) / 512 * 512;
        });
    };
    QVERIFY(gathers(0, block / 8 * 9));
    QVERIFY(gathers(1, block));
}

QTEST_APPLESS_MAIN(TestEncoderDecoders)
#include "tst_encoder_decoders.moc"
