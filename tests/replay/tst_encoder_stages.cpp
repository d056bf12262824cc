// SPDX-License-Identifier: GPL-3.0-or-later
//
// Image encoders by tape wherever they are placed: both readers agree, parameters are the model's, and what lies
// between the stages has the sizes worked out by hand.
#include "footprint/instant/estimator.h"
#include "footprint/tape/state.h"
#include "footprint/working.h"
#include "footprint/written_plan.h"
#include "replay/replay.h"

#include <QTest>

#include <algorithm>
#include <numeric>

using namespace headroom;
using test::planOf;

namespace {

/// A ViT-B at 224 pixels in 14's in front of a language model of 1.3 billion parameters.
const QByteArray model
    = "model.layers=16 model.hidden=2048 model.ffn=8192 model.heads=16 model.vocab=32000 model.tied_embeddings=false "
      "vision.layers=12 vision.hidden=1024 vision.ffn=4096 vision.heads=16 vision.patch=14 vision.image_size=224 "
      "vision.images_per_sample=4 projector.type=mlp projector.layers=2 batch.micro=2 batch.seq=2048 batch.accum=16 "
      "precision.recipe=megatron-bf16 implementation.profile=megatron-te ";

/// Small enough to be followed by hand: 256 patches an image, two images in a micro-batch.
const QByteArray small
    = "model.layers=4 model.hidden=512 model.ffn=2048 model.heads=8 model.vocab=8192 model.tied_embeddings=false "
      "vision.layers=4 vision.hidden=256 vision.ffn=1024 vision.heads=4 vision.patch=14 vision.image_size=224 "
      "projector.type=mlp projector.layers=2 batch.micro=2 batch.seq=1024 batch.accum=8 "
      "precision.recipe=megatron-bf16 implementation.profile=megatron-te ";

struct Placed
{
    TrainingPlan plan;
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;

    explicit Placed(const QByteArray& settings)
        : plan(planOf(settings))
    {
        if (const auto done = estimator.run(plan, stages); !done) {
            qFatal("%s: %s", settings.constData(), done.error().english().c_str());
        }
    }
    [[nodiscard]] const StageProgram& program(std::size_t stage) const { return estimator.program().stages[stage]; }
    [[nodiscard]] StageReplay replayed(std::size_t stage) const
    {
        return replayStage(estimator.program(), program(stage));
    }
};

std::int64_t tensors(const std::array<Bytes, tensorKindCount>& all, TensorKind kind)
{
    return all[static_cast<std::size_t>(kind)].value;
}

/// The same under PyTorch's own pipeline, sharded or not.
void addTorchPlacements()
{
    const QByteArray torch = model + "implementation.profile=torchtitan ";
    const auto row
        = [&](const char* name, const char* settings) { QTest::addRow("torchtitan, %s", name) << torch + settings; };
    row("one stage of its own", "parallel.pp=2 parallel.encoder_pp=1");
    row("three stages, sharded", "parallel.pp=4 parallel.encoder_pp=3 shard.fsdp=true parallel.dp=2");
    row("own stage before a single one", "parallel.encoder_pp=1");
    row("own stage, tied words", "parallel.encoder_pp=1 model.tied_embeddings=true");
    row("own stages, all passes first", "parallel.pp=2 parallel.encoder_pp=2 parallel.schedule=gpipe batch.accum=6");
    row("own stages, narrower", "parallel.pp=2 parallel.tp=4 parallel.encoder_pp=2 parallel.encoder_tp=2");
    row("own stages, frozen", "parallel.pp=2 parallel.encoder_pp=3 frozen.vision=true");
    row("own stages, frozen with the projector",
        "parallel.pp=2 parallel.encoder_pp=3 frozen.vision=true frozen.projector=true");
    row("own stages, projector alone", "parallel.pp=2 parallel.encoder_pp=2 frozen.vision=true frozen.llm=true");
    row("own stages, adapters", "parallel.pp=2 parallel.encoder_pp=1 lora.rank=16");
    row("every stage", "parallel.pp=4 parallel.encoder_placement=every_stage");
    row("every stage, sharded", "parallel.pp=4 parallel.encoder_placement=every_stage shard.fsdp=true parallel.dp=2");
    row("every stage, interleaved",
        "parallel.pp=2 parallel.vpp=2 parallel.schedule=interleaved parallel.encoder_placement=every_stage");
    row("every stage, projector alone", "parallel.pp=4 parallel.encoder_placement=every_stage frozen.vision=true");
    row("every stage, recomputed", "parallel.pp=4 parallel.encoder_placement=every_stage recompute.vision=true");
    row("every rank of a group", "parallel.tp=4 parallel.encoder_tp=1 parallel.encoder_placement=every_stage");
    const char* inner = "projector.type=patch_merger vision.merge=2 vision.deepstack_layers=3 ";
    QTest::newRow("torchtitan, inner features") << torch + inner + "parallel.pp=4";
    QTest::newRow("torchtitan, inner features of a frozen encoder")
        << torch + inner + "parallel.pp=2 parallel.encoder_pp=1 frozen.vision=true";
}

void addPlacements()
{
    QTest::addColumn<QByteArray>("settings");
    const auto row = [](const char* name, const char* settings) { QTest::newRow(name) << model + settings; };
    row("first stage", "parallel.pp=4");
    row("first stage, torchtitan", "parallel.pp=4 implementation.profile=torchtitan");
    const char* inner = "projector.type=patch_merger vision.merge=2 vision.deepstack_layers=3 ";
    const auto innerRow
        = [&](const char* name, const char* settings) { QTest::newRow(name) << model + inner + settings; };
    innerRow("inner features", "parallel.pp=4");
    innerRow("inner features of a frozen encoder", "parallel.pp=4 frozen.vision=true");
    innerRow("inner features from a stage of its own", "parallel.pp=2 parallel.encoder_pp=1");
    innerRow("inner features on every stage", "parallel.pp=4 parallel.encoder_placement=every_stage");
    row("one stage of its own", "parallel.pp=2 parallel.encoder_pp=1");
    row("three stages", "parallel.pp=4 parallel.encoder_pp=3");
    row("own stage before a single one", "parallel.encoder_pp=1");
    row("own stage, tied words", "parallel.encoder_pp=1 model.tied_embeddings=true");
    row("own stages, all passes first", "parallel.pp=2 parallel.encoder_pp=2 parallel.schedule=gpipe batch.accum=6");
    row("own stages, few micro-batches", "parallel.pp=2 parallel.encoder_pp=2 batch.accum=2");
    row("own stages, narrower", "parallel.pp=2 parallel.tp=4 parallel.encoder_pp=2 parallel.encoder_tp=2");
    row("own stages, long sequences",
        "parallel.pp=2 parallel.tp=2 parallel.sp=true parallel.cp=2 parallel.encoder_pp=1");
    row("own stages, frozen", "parallel.pp=2 parallel.encoder_pp=3 frozen.vision=true");
    row("own stages, frozen with the projector",
        "parallel.pp=2 parallel.encoder_pp=3 frozen.vision=true frozen.projector=true");
    row("own stages, projector alone", "parallel.pp=2 parallel.encoder_pp=2 frozen.vision=true frozen.llm=true");
    row("own stages, recomputed", "parallel.pp=2 parallel.encoder_pp=2 recompute.vision=true");
    row("own stages, all recomputed",
        "parallel.pp=2 parallel.encoder_pp=2 recompute.vision=true recompute.enabled=true recompute.granularity=full");
    row("own stages, sharded", "parallel.pp=2 parallel.encoder_pp=2 shard.dist_opt=true parallel.dp=4");
    for (const char* schedule : {"1f1b", "gpipe", "zb-h1", "zb-h2", "zb-v", "v-half", "v-min", "dualpipev"}) {
        QTest::addRow("every stage, %s", schedule)
            << model + "parallel.pp=4 parallel.encoder_placement=every_stage parallel.schedule=" + schedule;
    }
    row("every stage, in chunks", "parallel.pp=4 parallel.vpp=2 parallel.encoder_placement=every_stage");
    row("every stage, few micro-batches", "parallel.pp=4 parallel.encoder_placement=every_stage batch.accum=2");
    row("every stage, narrower",
        "parallel.pp=2 parallel.tp=4 parallel.encoder_tp=2 parallel.encoder_placement=every_stage");
    row("every group of a single stage", "parallel.tp=4 parallel.encoder_tp=1 parallel.encoder_placement=every_stage");
    row("every stage, frozen", "parallel.pp=4 parallel.encoder_placement=every_stage frozen.vision=true");
    row("every stage, frozen with the projector",
        "parallel.pp=4 parallel.encoder_placement=every_stage frozen.vision=true frozen.projector=true");
    row("every stage, recomputed", "parallel.pp=4 parallel.encoder_placement=every_stage recompute.vision=true");
    row("every stage, sharded",
        "parallel.pp=4 parallel.encoder_placement=every_stage shard.dist_opt=true parallel.dp=2");
    addTorchPlacements();
}

} // namespace

class TestEncoderStages : public QObject
{
    Q_OBJECT

private slots:
    void readersAgree_data() { addPlacements(); }
    void readersAgree();
    void parametersAreTheModels_data() { addPlacements(); }
    void parametersAreTheModels();
    void inFlightOfALongerPipeline();
    void boundariesByHand();
    void encoderByHand();
    void copiesByHand();
    void torchByHand();
    void innerFeaturesByHand();
    void frozenStagesKeepNothing();
    void forgetsTheLastPlan();
    void refusesWhatNobodyRuns();
};

void TestEncoderStages::readersAgree()
{
    QFETCH(QByteArray, settings);
    const Placed placed(settings);
    for (std::size_t i = 0; i < placed.stages.size(); ++i) {
        const StageFootprint& instant = placed.stages[i];
        const StageReplay replayed = placed.replayed(i);
        const Bytes rounding{std::max(replayed.peakRounding.value, replayed.steadyRounding.value)};
        // Between the tensors alone and the blocks they lie in, up to half a percent.
        const auto hold = [&](const char* what, Bytes figure, Bytes blocks) {
            const auto got = static_cast<double>(figure.value);
            const bool holds = got <= 1.005 * static_cast<double>(blocks.value)
                && got >= 0.995 * static_cast<double>((blocks - rounding).value);
            if (!holds) {
                qWarning("stage %zu, %s: instant %lld, replay %lld, of which rounding %lld", i, what,
                         static_cast<long long>(figure.value), static_cast<long long>(blocks.value),
                         static_cast<long long>(rounding.value));
            }
            return holds;
        };
        QVERIFY(hold("steady", instant.steadyAllocated, replayed.steadyAllocated));
        QVERIFY(hold("peak", instant.peakAllocated, replayed.peakAllocated));
        QVERIFY(hold("first step", instant.firstStepPeakAllocated, replayed.firstStepPeakAllocated));
        for (std::size_t phase = 0; phase < replayed.phases.size(); ++phase) {
            QVERIFY(hold("phase", instant.phases[phase], replayed.phases[phase]));
        }
        const Bytes sum = std::accumulate(instant.components.begin(), instant.components.end(), Bytes{})
            - instant.component(Component::Context);
        QCOMPARE(qint64{sum.value}, qint64{instant.peakAllocated.value});
        for (const Bytes component : instant.components) {
            QVERIFY(component.value >= 0);
        }
    }
}

/// By stage as the recipe counts them, and in all the model's, with as many encoders as there are copies.
void TestEncoderStages::parametersAreTheModels()
{
    QFETCH(QByteArray, settings);
    const Placed placed(settings);
    const Working working = workingOf(placed.plan, {});
    const auto split = PipelineSplit::of(placed.plan).value();
    QCOMPARE(placed.stages.size(), static_cast<std::size_t>(split.stages() + working.encoderStages));
    for (std::size_t i = 0; i < placed.stages.size(); ++i) {
        const StageWorking stage = stageWorking(working, split, static_cast<std::int64_t>(i));
        QCOMPARE(qint64{placed.stages[i].parameters}, qint64{stage.weights.total().value()});
        QCOMPARE(qint64{placed.stages[i].inFlight}, qint64{stage.held.microBatches()});
    }
    const bool isMlp = placed.plan.projector.type.value == "mlp";
    const bool hasAdapters = placed.plan.lora.rank.isKnown();
    if (placed.plan.parallel.tp.value > 1 || placed.plan.model.tiedEmbeddings.value || !isMlp || hasAdapters) {
        return;
    }
    std::int64_t sum = 0;
    for (const StageFootprint& stage : placed.stages) {
        sum += stage.parameters;
    }
    const std::int64_t copies
        = encoderPlacement(placed.plan) == EncoderPlacement::EveryStage ? placed.plan.parallel.pp.value : 1;
    constexpr std::int64_t h = 1024; // 12h² + 13h a layer, patches of 3·14², and a projector to 2048
    constexpr std::int64_t encoder = 12 * (12 * h * h + 13 * h) + 3 * 14 * 14 * h;
    constexpr std::int64_t projector = (h + 1) * 2048 + 2049 * 2048;
    constexpr std::int64_t H = 2048; // 4H² + 2·4H·H and two norms
    constexpr std::int64_t language = 16 * (12 * H * H + 2 * H) + 2 * 32000 * H + H;
    QCOMPARE(qint64{sum}, qint64{language + copies * (encoder + projector)});
}

/// 1F1B over 2 + 2 stages holds 4, 3, 2, 1 micro-batches (theory.md 4.1).
void TestEncoderStages::inFlightOfALongerPipeline()
{
    const Placed placed(small + "parallel.pp=2 parallel.encoder_pp=2");
    QCOMPARE(placed.stages.size(), std::size_t{4});
    for (std::size_t i = 0; i < 4; ++i) {
        QCOMPARE(qint64{placed.stages[i].inFlight}, static_cast<qint64>(4 - i));
        QCOMPARE(qint64{placed.stages[i].layers}, i < 2 ? 0 : 2);
    }
    QCOMPARE(qint64{placed.stages[3].firstLayer}, 2);
}

/// Between two steps a stage still has the last input that it received and that input's gradient.
void TestEncoderStages::boundariesByHand()
{
    const Placed placed(small + "parallel.pp=2 parallel.encoder_pp=2");
    constexpr qint64 patches = qint64{2} * 256 * 256 * 2; // images · patches · width · bytes
    constexpr qint64 features = qint64{2} * 256 * 512 * 2;
    constexpr qint64 words = qint64{2} * 1024 * 512 * 2;
    const QList<qint64> received{0, patches, features, words};
    for (std::size_t i = 0; i < 4; ++i) {
        const StageReplay replayed = placed.replayed(i);
        const qint64 bytes = received[static_cast<qsizetype>(i)];
        QCOMPARE(qint64{tensors(replayed.steadyTensors, TensorKind::Boundary)}, bytes);
        QCOMPARE(qint64{tensors(replayed.steadyTensors, TensorKind::ActivationGradient)}, bytes);
        // 18 bytes of state a parameter aside, four workspaces of 32 MiB at most are all that is there.
        const qint64 others = placed.stages[i].steadyAllocated.value - 2 * bytes - 18 * placed.stages[i].parameters;
        QVERIFY2(others >= 0 && others < (qint64{128} << 20), qPrintable(QString::number(others)));
    }
}

/// What a micro-batch leaves on the first stage and on the second, tensor by tensor and patch by patch.
void TestEncoderStages::encoderByHand()
{
    const Placed placed(small + "parallel.pp=2 parallel.encoder_pp=2 batch.accum=1");
    constexpr qint64 h = 256, f = 1024, heads = 4, patches = qint64{2} * 256;
    // Input, norm, q k v, context, sum, norm, two of the MLP's width; statistics of two norms, and of the softmax, and
    // a block for the state of its random numbers.
    constexpr qint64 layer = patches * (2 * (h + h + 3 * h + h + h + h + 2 * f) + 2 * 8 + 4 * heads) + 512;
    constexpr qint64 projector = patches * 2 * (512 + 512); // before and after its activation
    const auto held = [&](std::size_t stage) {
        const StageFootprint& instant = placed.stages[stage];
        return qint64{(instant.component(Component::Activations) + instant.component(Component::InFlight)).value};
    };
    QCOMPARE(held(0), 2 * layer);
    QCOMPARE(held(1), 2 * layer + projector);
    // The recipe leaves the random state out, and counts what was received.
    const Working working = workingOf(placed.plan, {});
    const auto split = PipelineSplit::of(placed.plan).value();
    constexpr qint64 received = patches * h * 2;
    QCOMPARE(stageWorking(working, split, 0).vision, static_cast<double>(held(0) - 2 * 512));
    QCOMPARE(stageWorking(working, split, 1).vision, static_cast<double>(held(1) - 2 * 512 + received));
    // One more in flight also keeps its pixels, which the patches' weight gradient needs.
    const Placed two(small + "parallel.pp=2 parallel.encoder_pp=2 batch.accum=2");
    constexpr qint64 pixels = patches * 3 * 14 * 14 * 2;
    QCOMPARE(qint64{(two.stages[0].peakAllocated - placed.stages[0].peakAllocated).value}, 2 * layer + pixels);
}

void TestEncoderStages::copiesByHand()
{
    const QByteArray sharded = small + "parallel.pp=4 shard.dist_opt=true parallel.dp=2 ";
    const Placed first(sharded), every(sharded + "parallel.encoder_placement=every_stage");
    constexpr qint64 layer = 12 * 256 * 256 + 13 * 256;
    constexpr qint64 encoder = 4 * layer + 3 * 14 * 14 * 256 + 257 * 512 + 513 * 512;
    // bf16 weights and fp32 gradients whole; master weights and moments over 2·4 replicas instead of none.
    constexpr qint64 state = encoder * (2 + 4) + encoder / 8 * 12;
    for (std::size_t i = 1; i < 4; ++i) {
        const StageState with = stageState(every.estimator.program(), every.program(i));
        const StageState without = stageState(first.estimator.program(), first.program(i));
        QCOMPARE(qint64{with.parameters + with.gradients + with.master + with.moments}
                     - qint64{without.parameters + without.gradients + without.master + without.moments},
                 state);
    }
    // Of a micro-batch's two images no rank encodes more than one; the first stage reads the features of both.
    constexpr qint64 features = qint64{256} * 512 * 2;
    for (std::size_t i = 0; i < 4; ++i) {
        const Chunk& copy = every.program(i).chunks.back();
        QCOMPARE(qint64{copy.sentBytes}, features);
        QVERIFY(!copy.receives);
    }
    QCOMPARE(qint64{every.program(0).chunks.front().receivedBytes}, 2 * features);
    // The last stage works on one micro-batch, but holds the encoder's part of four, as the first stage does: pixels,
    // the stream into and out of four layers, what these keep beside it, and both sides of the projector's activation.
    constexpr qint64 h = 256, f = 1024, patches = 256;
    constexpr qint64 beside = patches * (2 * (h + 3 * h + h + h + h + 2 * f) + 2 * 8 + 4 * 4) + 512;
    constexpr qint64 kept = patches * (3 * 14 * 14 * 2 + 5 * 2 * h + 2 * 2 * 512) + 4 * beside;
    QCOMPARE(qint64{every.stages[3].component(Component::InFlight).value}, 4 * kept);
    QCOMPARE(qint64{first.stages[3].component(Component::InFlight).value}, 0);
}

/// What PyTorch's pipeline adds: FSDP holds a stage's weights gathered through the step, what is sent waits for its
/// backward, and of each micro-batch's gradient there is a buffer from the first step on
/// (torch/distributed/pipelining/stage.py).
void TestEncoderStages::torchByHand()
{
    const Placed placed(small
                        + "implementation.profile=torchtitan parallel.pp=2 parallel.encoder_pp=2 shard.fsdp=true "
                          "parallel.dp=2 batch.accum=2");
    constexpr qint64 layer = 12 * 256 * 256 + 13 * 256;
    constexpr qint64 patchParameters = 3 * 14 * 14 * 256, projector = 257 * 512 + 513 * 512;
    const QList<qint64> parameters{patchParameters + 2 * layer, 2 * layer + projector};
    constexpr qint64 images = 2, patches = images * 256;
    const QList<qint64> sent{patches * 256 * 2, images * 256 * 512 * 2};
    for (std::size_t i = 0; i < 2; ++i) {
        const auto k = static_cast<qsizetype>(i);
        QCOMPARE(qint64{placed.stages[i].parameters}, parameters[k]);
        const StageReplay replayed = placed.replayed(i);
        QCOMPARE(qint64{tensors(replayed.peakTensors, TensorKind::GatheredParameters)}, parameters[k] * 2);
        const Chunk& chunk = placed.program(i).chunks.front();
        QCOMPARE(qint64{chunk.sentBytes}, sent[k]);
        const Tape& sending = placed.estimator.program().pieces[chunk.runs.back().piece].tape;
        QCOMPARE(qint64{sending.saved.front().bytes}, sent[k]);
        QCOMPARE(qint64{sending.forwardNeeds.front().bytes}, 2 * sent[k]);
    }
    // The language model's first stage reads the features of both images.
    QCOMPARE(qint64{placed.program(2).chunks.front().receivedBytes}, sent[1]);
    QCOMPARE(qint64{placed.program(3).chunks.front().receivedBytes}, 0);
}

/// Three mergers beside the last one, each of 2 × 2 patches: 4h wide, as many features again.
void TestEncoderStages::innerFeaturesByHand()
{
    const QByteArray merger = small + "projector.type=patch_merger vision.merge=2 parallel.encoder_pp=1 batch.accum=2 ";
    const Placed one(merger), four(merger + "vision.deepstack_layers=3");
    constexpr qint64 rows = qint64{2} * 64, merged = 4 * 256, out = 512;
    constexpr qint64 parameters = 2 * merged + merged * merged + merged + merged * out + out;
    QCOMPARE(qint64{four.stages[0].parameters - one.stages[0].parameters}, 3 * parameters);
    // The merged patches normed, both sides of the activation, and two statistics a row in blocks of 512 bytes.
    constexpr qint64 kept = rows * 2 * 3 * merged + 2 * 512;
    const auto held = [](const Placed& placed) { // of the micro-batch that waits
        return qint64{placed.stages[0].component(Component::InFlight).value};
    };
    QCOMPARE(held(four) - held(one), 3 * kept);
    QCOMPARE(qint64{four.program(0).chunks[0].sentBytes}, 4 * rows * out * 2);
    // A frozen encoder keeps nothing but what the mergers norm: the last stream and three inner ones.
    const QByteArray frozen = "frozen.vision=true ";
    const Placed frozenOne(merger + frozen), frozenFour(merger + frozen + "vision.deepstack_layers=3");
    constexpr qint64 stream = qint64{2} * 256 * 256 * 2;
    QCOMPARE(held(frozenFour) - held(frozenOne), 3 * (kept + stream));
}

/// Nothing is kept, no backward runs; what was received stays until the schedule lets go of it.
void TestEncoderStages::frozenStagesKeepNothing()
{
    const Placed placed(small + "parallel.pp=2 parallel.encoder_pp=2 frozen.vision=true frozen.projector=true");
    for (std::size_t i = 0; i < 2; ++i) {
        QCOMPARE(qint64{placed.stages[i].component(Component::InFlight).value}, 0);
        QCOMPARE(qint64{placed.stages[i].component(Component::Gradients).value}, 0);
        QCOMPARE(qint64{placed.stages[i].component(Component::OptimizerState).value}, 0);
        const StageReplay replayed = placed.replayed(i);
        QCOMPARE(qint64{tensors(replayed.steadyTensors, TensorKind::ActivationGradient)}, 0);
    }
}

/// An estimator that has seen a copy of the encoder on every stage tells of the next plan what a new one tells.
void TestEncoderStages::forgetsTheLastPlan()
{
    const QByteArray gpt = "model.layers=16 model.hidden=2048 model.ffn=8192 model.heads=16 model.vocab=32000 "
                           "model.layer_norm=true batch.micro=2 batch.seq=2048 batch.accum=16 parallel.pp=4 "
                           "precision.recipe=megatron-fp16 implementation.profile=megatron-2.4";
    for (const QByteArray& next : {model + "implementation.profile=torchtitan parallel.pp=4", gpt}) {
        Placed used(model + "parallel.pp=4 parallel.encoder_placement=every_stage");
        QVERIFY(used.estimator.run(planOf(next), used.stages));
        const Placed fresh(next);
        QCOMPARE(used.stages.size(), fresh.stages.size());
        for (std::size_t i = 0; i < fresh.stages.size(); ++i) {
            QCOMPARE(qint64{used.stages[i].peakAllocated.value}, qint64{fresh.stages[i].peakAllocated.value});
        }
    }
}

void TestEncoderStages::refusesWhatNobodyRuns()
{
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    const auto done = estimator.run(planOf(model
                                           + "parallel.pp=4 parallel.encoder_placement=every_stage "
                                             "parallel.schedule=dualpipe"),
                                    stages);
    QVERIFY(!done);
    QVERIFY2(done.error().english().find("every stage") != std::string::npos, done.error().english().c_str());
    const auto inner = estimator.run(planOf(model
                                            + "projector.type=patch_merger vision.deepstack_layers=3 "
                                              "parallel.encoder_pp=2"),
                                     stages);
    QVERIFY(!inner);
    QVERIFY2(inner.error().english().find("one stage of the encoder") != std::string::npos,
             inner.error().english().c_str());
    for (const char* sizes :
         {"vision.images_per_sample=900000000 batch.micro=900000000", "vision.layers=900000000000000",
          "vision.hidden=90000000000 vision.heads=1", "projector.hidden=9000000000000"}) {
        QVERIFY2(!estimator.run(planOf(model + sizes), stages), sizes);
    }
}

QTEST_APPLESS_MAIN(TestEncoderStages)
#include "tst_encoder_stages.moc"
