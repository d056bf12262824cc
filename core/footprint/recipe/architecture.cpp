// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/architecture.h"

#include "footprint/recipe/trained_parts.h"
#include "footprint/tape/shape.h"
#include "footprint/torch/habits.h"
#include "plan/batch.h"
#include "plan/objective.h"
#include "plan/pipeline_split.h"
#include "plan/vocabulary_split.h"

namespace headroom {

namespace {

/// Sizes that no limit of validate() covers are kept within bounds here, so that formulas need no further care.
constexpr std::int64_t largestSize = std::int64_t{1} << 40;
constexpr std::int64_t largestMerge = 1 << 10;

std::int64_t size(const Count& count, std::int64_t otherwise = 0)
{
    return std::clamp<std::int64_t>(count.valueOr(otherwise), 0, largestSize);
}

std::int64_t positive(const Count& count, std::int64_t otherwise = 1)
{
    return std::max<std::int64_t>(size(count, otherwise), 1);
}

std::int64_t paddedVocabulary(const ModelPlan& model, std::int64_t tensorParallel)
{
    if (model.paddedVocab.isKnown()) {
        return size(model.paddedVocab);
    }
    const std::int64_t vocab = size(model.vocab);
    if (!model.vocabPadMultiple.isKnown()) {
        return vocab;
    }
    // megatron/core/tokenizers/utils/build_tokenizer.py: a multiple of D·t (theory.md 1.4).
    const Elements multiple = Elements(positive(model.vocabPadMultiple)) * tensorParallel;
    return std::min((Elements(vocab) / multiple.value() * multiple).value(), largestSize);
}

void resolveAttention(const TrainingPlan& plan, Architecture& result)
{
    const ModelPlan& model = plan.model;
    result.heads = size(model.heads);
    if (result.heads > 0) {
        result.groups = std::max<std::int64_t>(size(model.kvHeads, result.heads), 1);
        result.headDim = positive(model.headDim, result.hidden / result.heads);
    } else {
        result.groups = 1;
        result.headDim = result.hidden;
    }
    result.qkvBias = model.attnBias.valueOr(false);
    result.outBias = model.attnOutBias.valueOr(result.qkvBias);
    result.qkNorm = model.qkNorm.valueOr(false);
    result.kvLoraRank = size(plan.mla.kvLoraRank);
    result.isMla = result.kvLoraRank > 0 && result.heads > 0;
    result.qLoraRank = size(plan.mla.qLoraRank);
    result.nopeDim = size(plan.mla.qkNopeDim);
    result.ropeDim = size(plan.mla.qkRopeDim);
    result.valueDim = size(plan.mla.vDim, result.headDim);
}

void resolveExperts(const MoePlan& moe, Architecture& result)
{
    result.experts = size(moe.experts);
    if (!result.isMoe()) {
        return;
    }
    result.topk = std::min(positive(moe.topk), result.experts);
    result.expertFfn = positive(moe.ffn, result.ffn);
    // Frameworks give the shared width either whole or per shared expert.
    result.sharedFfn = moe.sharedFfn.isKnown()
        ? size(moe.sharedFfn)
        : std::min((Elements(size(moe.sharedExperts)) * result.expertFfn).value(), largestSize);
    result.latent = size(moe.latent);
    result.firstDenseLayers = size(moe.firstDenseLayers);
    result.moeEvery = positive(moe.layerFreq);
}

/// State spaces and delta nets as their configurations complete themselves: Megatron-LM transformer_config.py and
/// ssm/mamba_mixer.py, transformers configuration_*.py.
void resolveHybrid(const TrainingPlan& plan, Architecture& result)
{
    auto pattern = layerPatternOf(plan);
    if (!pattern) {
        return; // validate() says why
    }
    const MixerPlan& mixer = plan.mixer;
    result.kinds = std::move(pattern->layers);
    result.predictorKinds = std::move(pattern->predictor);
    result.mtpLayers = std::max(result.mtpLayers, pattern->predictors);
    LinearMixer& sizes = result.mixer;
    sizes.headDim = positive(mixer.headDim, 64);
    const std::int64_t inner = (Elements(positive(mixer.expand, 2)) * result.hidden).value();
    sizes.heads = positive(mixer.heads, inner / sizes.headDim);
    sizes.keyHeads = positive(mixer.keyHeads, sizes.heads);
    sizes.keyDim = positive(mixer.keyDim, sizes.headDim);
    sizes.state = positive(mixer.stateDim, 128);
    sizes.groups = positive(mixer.groups, 8);
    sizes.conv = size(mixer.conv, 4);
    sizes.chunk = positive(mixer.chunk, 128);
    sizes.timeRank = size(mixer.timeRank, (result.hidden + 15) / 16);
    sizes.hasConvBias = mixer.convBias.valueOr(mixer.kind.value != "gated_delta_net");
}

Projector::Kind projectorKind(const std::string& name)
{
    using Kind = Projector::Kind;
    if (name == "linear") {
        return Kind::Linear;
    }
    if (name == "patch_merger") {
        return Kind::PatchMerger;
    }
    if (name == "pixel_shuffle") {
        return Kind::PixelShuffle;
    }
    if (name == "perceiver") {
        return Kind::Perceiver;
    }
    return name == "resampler" ? Kind::Resampler : Kind::Mlp;
}

/// Llama 3.2 Vision has, beside one table of positions, one for each way to lay out its tiles and one for none, each of
/// every tile (transformers, MllamaPrecomputedPositionEmbedding).
std::int64_t tiledPositions(const VisionPlan& vision, std::int64_t tokens)
{
    if (!vision.type.value.starts_with("mllama")) {
        return 0;
    }
    const std::int64_t tiles = std::min<std::int64_t>(positive(vision.maxTiles), 64);
    std::int64_t layouts = 1;
    for (std::int64_t width = 1; width <= tiles; ++width) {
        layouts += tiles / width;
    }
    return (Elements(layouts) * tiles * tokens).value();
}

} // namespace

LayerKind Architecture::kindOf(std::int64_t layer) const
{
    const auto place = static_cast<std::size_t>(std::max<std::int64_t>(layer, 0));
    return place < kinds.size()
        ? kinds[place]
        : LayerKind{Mixer::Attention, moeLayers(layer, 1) > 0 ? FeedForward::Experts : FeedForward::Mlp};
}

std::int64_t Architecture::moeLayers(std::int64_t first, std::int64_t count) const
{
    if (!isMoe()) {
        return 0;
    }
    if (isHybrid()) {
        const auto all = static_cast<std::int64_t>(kinds.size());
        const std::int64_t begin = std::clamp<std::int64_t>(first, 0, all);
        const std::int64_t end = std::clamp<std::int64_t>(first + count, begin, all);
        return std::count_if(kinds.begin() + begin, kinds.begin() + end,
                             [](LayerKind kind) { return kind.feedForward == FeedForward::Experts; });
    }
    // Layer i has experts when i is a multiple of the frequency, from the first non-dense layer on.
    const auto upTo = [this](std::int64_t end) { return (end + moeEvery - 1) / moeEvery; };
    const std::int64_t begin = std::max(first, firstDenseLayers);
    const std::int64_t end = first + count;
    return begin < end ? upTo(end) - upTo(begin) : 0;
}

std::vector<std::pair<LayerKind, std::int64_t>> Architecture::countKinds(std::int64_t first, std::int64_t count) const
{
    std::vector<std::pair<LayerKind, std::int64_t>> counts;
    const auto all = static_cast<std::int64_t>(kinds.size());
    for (std::int64_t i = std::max<std::int64_t>(first, 0); i < std::min(first + count, all); ++i) {
        const LayerKind kind = kinds[static_cast<std::size_t>(i)];
        auto found = std::find_if(counts.begin(), counts.end(), [kind](const auto& one) { return one.first == kind; });
        if (found == counts.end()) {
            found = counts.insert(found, {kind, 0});
        }
        ++found->second;
    }
    return counts;
}

std::int64_t Split::expertData() const
{
    const Elements ranks = Elements(data) * context * tensor;
    const Elements group = Elements(expert) * expertTensor;
    return std::max<std::int64_t>(ranks.value() / std::max<std::int64_t>(group.value(), 1), 1);
}

namespace {

void resolveEncoder(const TrainingPlan& plan, Architecture& result)
{
    const ModelPlan& model = plan.model;
    if (model.family.value != "t5" && !model.decoderLayers.isKnown()) {
        return;
    }
    constexpr std::int64_t buckets = 32; // transformers configuration_t5.py, relative_attention_num_buckets
    result.encoderLayers = size(model.encoderLayers, result.layers);
    result.layers = size(model.decoderLayers, result.layers);
    result.audioBins = size(model.audioBins);
    const bool isLearned = model.learnedPositions.valueOr(false);
    result.encoderPositions = result.audioBins > 0 && isLearned ? size(plan.batch.seq) : 0;
    result.relativePositions = isLearned || model.rope.valueOr(false) ? 0 : buckets;
}

} // namespace

std::int64_t layerSequence(const TrainingPlan& plan)
{
    const bool hasEncoder = plan.model.family.value == "t5" || plan.model.decoderLayers.isKnown();
    return hasEncoder ? plan.batch.decoderSeq.valueOr(plan.batch.seq.value) : plan.batch.seq.value;
}

Architecture architectureOf(const TrainingPlan& plan)
{
    const ModelPlan& model = plan.model;
    Architecture result;
    result.isTextbook = !model.heads.isKnown() && !model.ffn.isKnown() && !plan.moe.experts.isKnown();
    result.layers = size(model.layers);
    result.hidden = size(model.hidden);
    resolveAttention(plan, result);
    result.gate = model.gatedMlp.valueOr(false) ? 2 : 1;
    result.ffn = size(model.ffn, 4 * result.hidden);
    result.mlpBias = model.mlpBias.valueOr(false);
    result.layerNorm = model.layerNorm.valueOr(false);
    result.tied = model.tiedEmbeddings.valueOr(true);
    result.vocab = paddedVocabulary(model, positive(plan.parallel.tp));
    if (const auto labels = classifierLabels(plan)) {
        result.labels = *labels;
        result.tied = false;
    }
    result.positions = model.learnedPositions.valueOr(false) ? size(model.maxPos, size(plan.batch.seq)) : 0;
    result.hiddenDropout = model.hiddenDropout.valueOr(0) > 0;
    result.mtpLayers = size(model.mtpLayers);
    result.isParallel = model.parallelBlock.valueOr(false);
    result.blockNorms = result.isParallel && model.sharedNorm.valueOr(false) ? 1 : 2;
    result.headBias = model.headBias.valueOr(false);
    result.attnGate = model.attnGate.value;
    result.sharedGate = plan.moe.sharedGate.value;
    result.repeatsPredictor = model.repeatedPredictor.value;
    resolveExperts(plan.moe, result);
    if (isHybrid(plan)) {
        resolveHybrid(plan, result);
    }
    resolveEncoder(plan, result);
    return result;
}

VisionTower visionTowerOf(const TrainingPlan& plan)
{
    const VisionPlan& vision = plan.vision;
    VisionTower result;
    if (vision.layers.value <= 0 && vision.extraLayers.value <= 0) {
        return result; // most plans; they are asked a dozen times for each slider tick
    }
    result.hidden = size(vision.hidden);
    result.layers = result.hidden > 0 ? size(vision.layers) + size(vision.extraLayers) : 0;
    result.ffn = size(vision.ffn, 4 * result.hidden);
    result.gate = vision.gatedMlp.valueOr(false) ? 2 : 1;
    result.heads = size(vision.heads);
    result.patch = size(vision.patch);
    result.temporalPatch = positive(vision.temporalPatch);
    result.classToken = vision.classToken.valueOr(false);
    result.learnedPositions = vision.learnedPositions.valueOr(false);
    result.patchBias = vision.patchBias.valueOr(false);
    result.qkvBias = vision.qkvBias.valueOr(true);
    result.layerNorm = vision.layerNorm.valueOr(true);
    result.extraNorms = size(vision.extraNorms);
    const std::int64_t cls = result.classToken ? 1 : 0;
    if (vision.imageSize.isKnown() && result.patch > 0) {
        const std::int64_t side = size(vision.imageSize) / result.patch;
        result.tokens = (Elements(side) * side + cls).value();
    } else if (vision.tokensPerImage.isKnown()) {
        const std::int64_t merge = std::min(positive(vision.merge), largestMerge);
        result.tokens = (Elements(size(vision.tokensPerImage)) * merge * merge + cls).value();
    }
    result.positions
        = result.learnedPositions ? (Elements(result.tokens) + tiledPositions(vision, result.tokens)).value() : 0;
    result.images
        = std::min((Elements(size(vision.imagesPerSample, 1)) * positive(vision.maxTiles)).value(), largestSize);
    return result;
}

Architecture asModel(const VisionTower& tower)
{
    Architecture model;
    model.layers = tower.layers;
    model.hidden = tower.hidden;
    model.heads = tower.heads;
    model.groups = tower.heads;
    model.headDim = tower.heads > 0 ? tower.hidden / tower.heads : tower.hidden;
    model.ffn = tower.ffn;
    model.gate = tower.gate;
    model.layerNorm = tower.layerNorm;
    return model;
}

Projector projectorOf(const TrainingPlan& plan)
{
    const ProjectorPlan& projector = plan.projector;
    const VisionTower tower = visionTowerOf(plan);
    Projector result;
    const bool isStated = projector.type.isKnown() || projector.in.isKnown() || projector.out.isKnown();
    if (!tower.isPresent() || !isStated || projector.type.value == "none") {
        return result;
    }
    result.kind = projectorKind(projector.type.value);
    result.in = size(projector.in, tower.hidden);
    result.out = size(projector.out, size(plan.model.hidden));
    const bool merges = result.kind == Projector::Kind::PatchMerger || result.kind == Projector::Kind::PixelShuffle;
    result.merge = merges ? std::min(positive(plan.vision.merge, 2), largestMerge) : 1;
    result.hidden = size(projector.hidden, result.kind == Projector::Kind::Resampler ? result.in : result.out);
    result.layers = positive(projector.layers, result.kind == Projector::Kind::Resampler ? 6 : 2);
    result.deepstack = size(plan.vision.deepstackLayers);
    const std::int64_t patches = tower.tokens - (tower.classToken && tower.tokens > 0 ? 1 : 0);
    result.tokens = size(plan.vision.tokensPerImage, patches / (result.merge * result.merge));
    return result;
}

/// Megatron-Core splits experts as all else unless told otherwise (transformer_config.py). torchtitan leaves them whole
/// where it spreads them over ranks, and elsewhere splits them whatever is said (models/llama4/infra/parallelize.py,
/// apply_moe_ep_tp; from memory).
static std::int64_t expertTensorParallel(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    const std::int64_t tensor = positive(parallel.tp);
    const bool isPlain = plan.moe.experts.value < 1 || (tensor == 1 && !parallel.etp.isKnown());
    if (isPlain || torchHabits(profileOf(plan)) == nullptr) {
        return positive(parallel.etp, tensor);
    }
    return parallel.ep.value > 1 ? positive(parallel.etp) : tensor;
}

Split splitOf(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    Split result;
    result.tensor = positive(parallel.tp);
    result.pipeline = positive(parallel.pp);
    result.chunks = chunksPerStage(plan);
    result.context = positive(parallel.cp);
    result.expert = positive(parallel.ep);
    result.expertTensor = expertTensorParallel(plan);
    result.data = std::clamp<std::int64_t>(dataParallelSize(plan), 1, largestSize);
    result.sequence = parallel.sp.value && result.tensor > 1;
    result.vocabulary = vocabularySplit(plan) == VocabularySplit::None ? 1 : result.pipeline;
    return result;
}

Trainable trainableOf(const TrainingPlan& plan)
{
    const bool all = !plan.frozen.all.value;
    const bool hasTower = visionTowerOf(plan).isPresent();
    Trainable result;
    result.adapters = plan.lora.rank.isKnown() && plan.lora.rank.value > 0;
    result.language = all && !plan.frozen.llm.value && !result.adapters;
    result.vision = all && hasTower && !plan.frozen.vision.value;
    result.projector = all && hasTower && !plan.frozen.projector.value;
    if (all && freezesParts(plan)) {
        if (const auto parts = trainedPartsOf(plan)) {
            result.language = result.language && parts->trainsLanguage();
            result.vision = result.vision && (parts->outside & TrainedParts::Vision) != 0;
            result.projector = result.projector && (parts->outside & TrainedParts::Projector) != 0;
        }
    }
    return result;
}

} // namespace headroom
