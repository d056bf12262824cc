// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/layer_pattern.h"

#include "units/number.h"

#include <algorithm>
#include <optional>

namespace headroom {

namespace {

constexpr std::size_t mostLayers = 100'000;

std::optional<LayerKind> kindOf(char letter)
{
    switch (letter) {
    case 'M':
        return LayerKind{Mixer::Mamba2, FeedForward::None};
    case 'G':
        return LayerKind{Mixer::DeltaNet, FeedForward::None};
    case '*':
        return LayerKind{Mixer::Attention, FeedForward::None};
    case '-':
        return LayerKind{Mixer::None, FeedForward::Mlp};
    case 'E':
        return LayerKind{Mixer::None, FeedForward::Experts};
    default:
        return std::nullopt;
    }
}

Result<std::vector<LayerKind>> readLetters(std::string_view letters)
{
    std::vector<LayerKind> layers;
    for (const char letter : letters) {
        const auto kind = kindOf(letter);
        if (!kind) {
            const auto code = static_cast<unsigned char>(letter);
            return failure(Text{HEADROOM_TR("core",
                                            "“%1” is no layer of a pattern: those are M (Mamba-2), G (gated delta "
                                            "net), * (attention), - (MLP) and E (experts)"),
                                {code >= 0x20 && code < 0x7f ? std::string(1, letter) : "?"}});
        }
        layers.push_back(*kind);
    }
    return layers;
}

Mixer otherMixer(const std::string& name)
{
    return name == "gated_delta_net" ? Mixer::DeltaNet : name == "mamba" ? Mixer::Mamba : Mixer::Mamba2;
}

FeedForward feedForwardOf(const MoePlan& moe, std::int64_t layer)
{
    const bool hasExperts = moe.experts.value > 0 && layer >= moe.firstDenseLayers.value
        && layer % std::max<std::int64_t>(moe.layerFreq.valueOr(1), 1) == 0;
    return hasExperts ? FeedForward::Experts : FeedForward::Mlp;
}

/// transformers names the kinds of layers in a list.
Result<Mixer> mixerNamed(const std::string& name, const MixerPlan& plan)
{
    if (name == "attention" || name == "full_attention") {
        return Mixer::Attention;
    }
    if (name == "linear_attention") {
        return plan.kind.isKnown() ? otherMixer(plan.kind.value) : Mixer::DeltaNet;
    }
    if (name == "mamba") {
        return plan.kind.isKnown() ? otherMixer(plan.kind.value) : Mixer::Mamba2;
    }
    return failure(Text{HEADROOM_TR("core", "layers of the type “%1” are not described"), {name}});
}

/// Of an encoder-decoder model its decoder's.
const Count& layersOf(const TrainingPlan& plan)
{
    return plan.model.decoderLayers.isKnown() ? plan.model.decoderLayers : plan.model.layers;
}

Result<void> checkLength(std::size_t said, const TrainingPlan& plan)
{
    if (layersOf(plan).isKnown() && static_cast<std::int64_t>(said) != layersOf(plan).value) {
        return failure(Text{HEADROOM_TR("core", "the pattern has %1 layers, the model %2"),
                            {formatCount(static_cast<std::int64_t>(said)), formatCount(layersOf(plan).value)}});
    }
    return {};
}

/// Every layer has an MLP or experts behind its mixer.
Result<LayerPattern> layersByType(const TrainingPlan& plan)
{
    LayerPattern pattern;
    for (const std::string& name : plan.mixer.layerTypes.value) {
        auto mixer = mixerNamed(name, plan.mixer);
        if (!mixer) {
            return tl::unexpected(std::move(mixer.error()));
        }
        pattern.layers.push_back({*mixer, feedForwardOf(plan.moe, static_cast<std::int64_t>(pattern.layers.size()))});
    }
    return pattern;
}

Result<LayerPattern> layersByPlace(const TrainingPlan& plan)
{
    const MixerPlan& mixer = plan.mixer;
    std::vector<std::int64_t> places;
    for (const std::string& text : mixer.attentionLayers.value) {
        const auto place = parseInteger(text);
        if (!place || *place < 0 || *place >= layersOf(plan).value) {
            return failure(Text{HEADROOM_TR("core", "“%1” is no place of one of %2 layers"),
                                {text, formatCount(layersOf(plan).value)}});
        }
        places.push_back(*place);
    }
    const std::int64_t every = std::max<std::int64_t>(mixer.attentionEvery.value, 0);
    const std::int64_t offset = mixer.attentionOffset.valueOr(every - 1);
    LayerPattern pattern;
    const auto count = std::clamp<std::int64_t>(layersOf(plan).value, 0, mostLayers);
    for (std::int64_t layer = 0; layer < count; ++layer) {
        const bool hasAttention
            = every > 0 ? layer % every == offset : std::find(places.begin(), places.end(), layer) != places.end();
        pattern.layers.push_back(
            {hasAttention ? Mixer::Attention : otherMixer(mixer.kind.value), feedForwardOf(plan.moe, layer)});
    }
    return pattern;
}

Result<LayerPattern> readPattern(const TrainingPlan& plan)
{
    if (plan.model.layerPattern.isKnown()) {
        return parseLayerPattern(plan.model.layerPattern.value);
    }
    return plan.mixer.layerTypes.isKnown() ? layersByType(plan) : layersByPlace(plan);
}

const Origin& originOf(const TrainingPlan& plan)
{
    return plan.model.layerPattern.isKnown() ? plan.model.layerPattern.origin
        : plan.mixer.layerTypes.isKnown()    ? plan.mixer.layerTypes.origin
                                             : plan.mixer.attentionLayers.origin;
}

} // namespace

bool isHybrid(const TrainingPlan& plan)
{
    return plan.model.layerPattern.isKnown() || plan.mixer.kind.isKnown() || plan.mixer.layerTypes.isKnown();
}

Result<LayerPattern> parseLayerPattern(std::string_view letters)
{
    LayerPattern pattern;
    const std::string_view main = letters.substr(0, letters.find('/'));
    if (letters.size() > mostLayers) {
        return failure(Text{HEADROOM_TR("core", "the pattern of layers is longer than any model")});
    }
    for (std::size_t begin = 0; begin <= main.size();) {
        const std::size_t end = std::min(main.find('|', begin), main.size());
        auto layers = readLetters(main.substr(begin, end - begin));
        if (!layers) {
            return tl::unexpected(std::move(layers.error()));
        }
        pattern.layers.insert(pattern.layers.end(), layers->begin(), layers->end());
        pattern.segments.push_back(static_cast<std::int64_t>(layers->size()));
        begin = end + 1;
    }
    std::string_view rest = letters.substr(main.size());
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::size_t end = std::min(rest.find('/'), rest.size());
        auto layers = readLetters(rest.substr(0, end));
        if (!layers) {
            return tl::unexpected(std::move(layers.error()));
        }
        if (pattern.predictors > 0 && *layers != pattern.predictor) {
            return failure(Text{HEADROOM_TR("core", "the multi-token predictions of a pattern differ")});
        }
        pattern.predictor = std::move(*layers);
        ++pattern.predictors;
        rest.remove_prefix(end);
    }
    if (pattern.layers.empty()) {
        return failure(Text{HEADROOM_TR("core", "the pattern of layers is empty")});
    }
    return pattern;
}

Result<LayerPattern> layerPatternOf(const TrainingPlan& plan)
{
    if (!isHybrid(plan)) {
        return LayerPattern{};
    }
    Result<LayerPattern> pattern = readPattern(plan);
    const Result<void> length
        = pattern ? checkLength(pattern->layers.size(), plan) : Result<void>(tl::unexpected(pattern.error()));
    if (!length) {
        Problem problem = length.error();
        const Origin& origin = originOf(plan);
        problem.file = origin.source ? *origin.source : std::string{};
        problem.line = origin.line;
        return tl::unexpected(std::move(problem));
    }
    return pattern;
}

} // namespace headroom
