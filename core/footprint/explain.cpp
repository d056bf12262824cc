// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"

#include "footprint/working.h"
#include "plan/batch.h"
#include "plan/objective.h"
#include "units/number.h"

#include <fmt/format.h>

#include <cmath>

namespace headroom {

namespace {

Term term(Text name, std::string formula, std::string substituted, double value, Unit unit)
{
    return {std::move(name), std::move(formula), std::move(substituted), value, unit, {}};
}

std::string number(std::int64_t value)
{
    return formatCount(value);
}

/// Three decimals are enough to follow the working.
double rounded(double value)
{
    return std::round(value * 1000) / 1000;
}

std::string number(double value)
{
    return value == std::floor(value) && std::abs(value) < 1e15 ? formatCount(static_cast<std::int64_t>(value))
                                                                : formatReal(rounded(value));
}

std::string size(double bytes)
{
    return formatBytes(bytesFrom(bytes), 3);
}

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

Term textbookPart(std::string formula, std::string substituted, double value, Unit unit)
{
    return term(Text{HEADROOM_TR("core", "Textbook")}, std::move(formula), std::move(substituted), value, unit);
}

Term modelPart(std::string formula, std::string substituted, double value, Unit unit)
{
    return term(Text{HEADROOM_TR("core", "This model")}, std::move(formula), std::move(substituted), value, unit);
}

/// The stage's inputs, gathered for the terms below.
struct Page
{
    const TrainingPlan& plan;
    const Footprint& footprint;
    const StageFootprint& result;
    const Working& working;
    const StageWorking& stage;
};

/// What the model's own block is made of, before any split.
std::vector<Term> blockParts(const Architecture& model, double block)
{
    const std::string h = number(model.hidden);
    const double queries = model.heads > 0 ? real(model.heads) * real(model.headDim) : real(model.hidden);
    const double keys = model.heads > 0 ? real(model.groups) * real(model.headDim) : real(model.hidden);
    std::vector<Term> parts;
    double counted = 0;
    if (!model.isMla) {
        const double attention = real(model.hidden) * (2 * queries + 2 * keys);
        parts.push_back(
            term(Text{HEADROOM_TR("core", "Attention")}, "h·(a + 2g)·d + a·d·h",
                 fmt::format("{} × ({} + 2 × {}) + {} × {}", h, number(queries), number(keys), number(queries), h),
                 attention, Unit::Number));
        counted += attention;
    }
    const double mlp = real(model.gate + 1) * real(model.hidden) * real(model.ffn);
    parts.push_back(term(Text{HEADROOM_TR("core", "MLP")}, model.gate > 1 ? "3·h·f" : "2·h·f",
                         fmt::format("{} × {} × {}", model.gate + 1, h, number(model.ffn)), mlp, Unit::Number));
    counted += mlp;
    parts.push_back(term(model.isMla ? Text{HEADROOM_TR("core", "Latent attention, norms and biases")}
                                     : Text{HEADROOM_TR("core", "Norms and biases")},
                         "", "", block - counted, Unit::Number));
    return parts;
}

Term blockTerm(const Page& page)
{
    const Architecture& model = page.working.model;
    const auto textbook = real(page.footprint.textbook.blockParameters);
    const std::string formula = "12·h²";
    const std::string numbers = fmt::format("12 × {}²", number(model.hidden));
    Term result = term(Text{HEADROOM_TR("core", "Block parameters")}, formula, numbers, textbook, Unit::Number);
    const Split whole;
    const ModelWeights weights = weightsPerGpu(model, {}, {}, whole);
    const double dense = weights.denseLayer.total().real();
    const bool isDense = model.moeLayers(0, model.layers) < model.layers;
    const double block = isDense ? dense : weights.moeLayer.total().real() + weights.layerExperts.total().real();
    if (block == textbook) {
        return result;
    }
    result.formula = isDense ? HEADROOM_TR("core", "attention + MLP + norms")
                             : HEADROOM_TR("core", "attention + router + experts + norms");
    result.substituted.clear();
    result.value = block;
    result.parts.push_back(textbookPart(formula, numbers, textbook, Unit::Number));
    Term own = modelPart(result.formula, "", block, Unit::Number);
    if (isDense) {
        own.parts = blockParts(model, block);
    } else {
        own.parts.push_back(term(Text{HEADROOM_TR("core", "Routed experts")}, "E·(G + 1)·h·f",
                                 fmt::format("{} × {} × {} × {}", number(model.experts), model.gate + 1,
                                             number(model.hidden), number(model.expertFfn)),
                                 weights.layerExperts.total().real(), Unit::Number));
        own.parts.push_back(term(Text{HEADROOM_TR("core", "Attention, router and norms")}, "", "",
                                 weights.moeLayer.total().real(), Unit::Number));
    }
    result.parts.push_back(std::move(own));
    return result;
}

void addPart(Term& parent, Text name, const std::string& formula, const std::string& substituted, double value,
             Unit unit)
{
    if (value > 0) {
        parent.parts.push_back(term(std::move(name), formula, substituted, value, unit));
    }
}

Term parametersTerm(const Page& page)
{
    const Architecture& model = page.working.model;
    const StageLayers& layers = page.stage.layers;
    const std::int64_t tensor = page.working.split.tensor;
    const bool hasTable = layers.holdsEmbedding || layers.holdsHead;
    Elements textbook = Elements(12) * model.hidden * model.hidden * layers.count();
    textbook += hasTable ? Elements(page.plan.model.vocab.valueOr(model.vocab)) * model.hidden : Elements(0);
    std::string formula = hasTable ? "L·12h² + V·h" : "L·12h²";
    std::string numbers = fmt::format("{} × 12 × {}²", number(layers.count()), number(model.hidden));
    if (hasTable) {
        numbers += fmt::format(" + {} × {}", number(page.plan.model.vocab.valueOr(model.vocab)), number(model.hidden));
    }
    if (tensor > 1) {
        formula = "(" + formula + ")/t";
        numbers = fmt::format("({}) / {}", numbers, number(tensor));
    }
    const double textbookValue = (textbook / tensor).real();
    const auto exact = real(page.result.parameters);
    Term result = term(Text{HEADROOM_TR("core", "Parameters on stage %1"), {number(page.result.stage)}}, formula,
                       numbers, textbookValue, Unit::Number);
    if (exact == textbookValue) {
        return result;
    }
    const StageWeights& weights = page.stage.weights;
    result.formula = HEADROOM_TR("core", "layers + embedding + head");
    result.substituted.clear();
    result.value = exact;
    Term own = modelPart("", "", exact, Unit::Number);
    addPart(own, Text{HEADROOM_TR("core", "%1 layers: linear layers"), {number(layers.count())}}, "", "",
            weights.language.matrices.real(), Unit::Number);
    addPart(own, Text{HEADROOM_TR("core", "Embedding and output layer")}, "V·h/t", "", weights.language.tables.real(),
            Unit::Number);
    addPart(own, Text{HEADROOM_TR("core", "Norms and biases")}, "", "", weights.language.vectors.real(), Unit::Number);
    addPart(own, Text{HEADROOM_TR("core", "Routed experts")}, "", "", weights.experts.total().real(), Unit::Number);
    addPart(own, Text{HEADROOM_TR("core", "LoRA adapters")}, "r·(in + out)", "", weights.language.adapters.real(),
            Unit::Number);
    addPart(own, Text{HEADROOM_TR("core", "Vision encoder")}, "", "", weights.vision.total().real(), Unit::Number);
    addPart(own, Text{HEADROOM_TR("core", "Projector")}, "", "", weights.projector.total().real(), Unit::Number);
    result.parts.push_back(textbookPart(std::move(formula), std::move(numbers), textbookValue, Unit::Number));
    result.parts.push_back(std::move(own));
    return result;
}

std::string sharded(double bytes, double ranks)
{
    return ranks > 1 ? fmt::format("{} / {}", number(bytes), number(ranks)) : number(bytes);
}

Term staticTerm(const Page& page)
{
    const StateRecipe& recipe = page.working.recipe;
    const Sharding& sharding = page.working.sharding;
    const StateBytes& state = page.stage.state;
    Term result = term(Text{HEADROOM_TR("core", "Static state")},
                       HEADROOM_TR("core", "parameters + gradients + optimizer state"),
                       fmt::format("{} + {} + {}", size(state.parameters), size(state.gradients + state.gradientCopies),
                                   size(state.master + state.moments)),
                       state.total(), Unit::Size);
    // One product says it all unless parts of the model are frozen, quantised or sharded differently.
    const double perParameter = recipe.parameter / sharding.parameters
        + (recipe.gradient + recipe.gradientCopy) / sharding.gradients
        + (recipe.master + recipe.moments) / sharding.optimizer;
    if (std::abs(perParameter * real(page.result.parameters) - state.total()) <= 0.001 * state.total()) {
        result.formula = HEADROOM_TR("core", "parameters × bytes per parameter");
        result.substituted
            = fmt::format("{} × ({} weight + {} gradient + {} master + {} moments)", number(page.result.parameters),
                          sharded(recipe.parameter, sharding.parameters),
                          sharded(recipe.gradient + recipe.gradientCopy, sharding.gradients),
                          sharded(recipe.master, sharding.optimizer), sharded(recipe.moments, sharding.optimizer));
    }
    addPart(result, Text{HEADROOM_TR("core", "Parameters")}, "", "", state.parameters, Unit::Size);
    addPart(result, Text{HEADROOM_TR("core", "Gradients")}, "", "", state.gradients, Unit::Size);
    addPart(result, Text{HEADROOM_TR("core", "fp32 gradient copies")}, "", "", state.gradientCopies, Unit::Size);
    addPart(result, Text{HEADROOM_TR("core", "Master weights")}, "", "", state.master, Unit::Size);
    addPart(result, Text{HEADROOM_TR("core", "Optimizer moments")}, "", "", state.moments, Unit::Size);
    return result;
}

/// k of this GPU: what tensor parallelism and recomputation leave of the model's.
double stageK(const Page& page)
{
    const double unit
        = page.working.activations.tokens * real(page.working.model.hidden) * real(page.stage.layers.count()) * 2;
    return unit > 0 ? page.stage.activations.kept / unit : 0;
}

Term activationsTerm(const Page& page)
{
    const ActivationModel& activations = page.working.activations;
    const double k = stageK(page);
    const bool isPacked = page.plan.batch.tokensPerMicrobatch.isKnown();
    const std::int64_t context = page.working.split.context;
    std::string formula = isPacked ? "T·h·L·k·2" : "B·S·h·L·k·2";
    std::string numbers = isPacked
        ? number(page.plan.batch.tokensPerMicrobatch.value)
        : fmt::format("{} × {}", number(batchEquation(page.plan).micro.value_or(1)), number(layerSequence(page.plan)));
    if (!isPacked && sequencesPerSample(page.plan) > 1) {
        numbers = fmt::format("{} × {}", number(sequencesPerSample(page.plan)), numbers);
    }
    numbers += fmt::format(" × {} × {} × {} × 2", number(page.working.model.hidden), number(page.stage.layers.count()),
                           number(k));
    if (context > 1) {
        formula += "/cp";
        numbers += fmt::format(" / {}", number(context));
    }
    Term result = term(Text{HEADROOM_TR("core", "Activations of one micro-batch")}, std::move(formula),
                       std::move(numbers), page.stage.activations.kept, Unit::Size);
    const bool isCalibrated = activations.k != activations.theoryK;
    result.parts.push_back(term(isCalibrated ? Text{HEADROOM_TR("core", "k of a whole layer, given")}
                                             : Text{HEADROOM_TR("core", "k of a whole layer, from its tensors")},
                                "", "", rounded(activations.k), Unit::Factor));
    if (activations.effectiveK != activations.k) {
        result.parts.push_back(term(Text{HEADROOM_TR("core", "k after recomputation")}, "", "",
                                    rounded(activations.effectiveK), Unit::Factor));
    }
    if (k != activations.effectiveK) {
        result.parts.push_back(term(Text{HEADROOM_TR("core", "k on this GPU")}, "", "", rounded(k), Unit::Factor));
    }
    return result;
}

/// Formula of the schedule and the same with the stage's numbers.
std::pair<std::string, std::string> scheduleFormula(const PipelineShape& pipeline, std::int64_t stage)
{
    const std::string m = number(pipeline.microBatches);
    const std::string p = number(pipeline.stages);
    switch (pipeline.schedule) {
    case Schedule::GPipe:
        return {"m", m};
    case Schedule::OneForwardOneBackward:
        return {"min(m, p − i)", fmt::format("min({}, {} − {})", m, p, number(stage))};
    case Schedule::Interleaved:
        return {"min(2(p − i − 1) + (v − 1)·q + 1, m·v) / v",
                fmt::format("min({} + 1, {}) / {}", number(warmupChunks(pipeline, stage)),
                            number(pipeline.microBatches * pipeline.chunks), number(pipeline.chunks))};
    case Schedule::ZbH1:
    case Schedule::ZbV:
        return {"min(m, p)", fmt::format("min({}, {})", m, p)};
    case Schedule::ZbH2:
        return {"min(m, 2p − 1)", fmt::format("min({}, 2 × {} − 1)", m, p)};
    case Schedule::VHalf:
        return {"min(m, ⌊(p + 2)/2⌋)", fmt::format("min({}, ⌊({} + 2)/2⌋)", m, p)};
    case Schedule::VMin:
        return {"min(m, ⌊(p + 4)/3⌋)", fmt::format("min({}, ⌊({} + 4)/3⌋)", m, p)};
    case Schedule::DualPipe:
        return {"min(m, p + 1)", fmt::format("min({}, {} + 1)", m, p)};
    case Schedule::DualPipeV:
        return {"min(m, (2p + 1)/2)", fmt::format("min({}, (2 × {} + 1)/2)", m, p)};
    }
    return {};
}

Term inFlightTerm(const Page& page)
{
    auto [formula, numbers] = scheduleFormula(page.working.pipeline, page.result.stage);
    return term(Text{HEADROOM_TR("core", "In flight on stage %1"), {number(page.result.stage)}}, std::move(formula),
                std::move(numbers), page.stage.held.units, Unit::Factor);
}

Term visionTerm(const Page& page)
{
    const VisionTower& tower = page.working.tower;
    const ActivationModel& activations = page.working.activations;
    const double unit = activations.visionTokens * real(tower.hidden) * real(tower.layers) * 2;
    // A frozen encoder with nothing trained before it keeps nothing.
    if (activations.tower == 0) {
        return term(Text{HEADROOM_TR("core", "Vision encoder, frozen, and projector: one micro-batch")},
                    HEADROOM_TR("core", "projector"), size(activations.projector), page.stage.vision, Unit::Size);
    }
    return term(
        Text{HEADROOM_TR("core", "Vision encoder, one micro-batch")}, HEADROOM_TR("core", "tokens·h·L·k·2 + projector"),
        fmt::format("{} × {} × {} × {} × 2 + {}", number(activations.visionTokens), number(tower.hidden),
                    number(tower.layers), number(unit > 0 ? activations.tower / unit : 0), size(activations.projector)),
        page.stage.vision, Unit::Size);
}

std::string peakFormula(bool hasVision, bool hasWorkingSet)
{
    return hasVision && hasWorkingSet
        ? HEADROOM_TR("core", "static state + in flight × activations + vision + working set")
        : hasVision     ? HEADROOM_TR("core", "static state + in flight × activations + vision")
        : hasWorkingSet ? HEADROOM_TR("core", "static state + in flight × activations + working set")
                        : HEADROOM_TR("core", "static state + in flight × activations");
}

Term peakTerm(const Page& page)
{
    const StageFootprint& stage = page.result;
    Term result;
    result.name = Text{HEADROOM_TR("core", "Peak, allocated")};
    result.value = real(stage.peakAllocated.value);
    const double workingSet = real(stage.component(Component::WorkingSet).value);
    if (stage.peakPhase == Phase::Optimizer) {
        result.formula = HEADROOM_TR("core", "static state");
        result.substituted = size(real(stage.staticState().value));
    } else {
        result.formula = peakFormula(page.stage.vision > 0, workingSet > 0);
        result.substituted = fmt::format("{} + {} × {}", size(real(stage.staticState().value)),
                                         number(page.stage.held.units), size(page.stage.activations.kept));
        if (page.stage.vision > 0) {
            result.substituted += " + " + size(page.stage.vision * real(page.stage.held.firstChunk));
        }
        if (workingSet > 0) {
            result.substituted += " + " + size(workingSet);
        }
    }
    if (page.footprint.fullestStage == static_cast<std::size_t>(stage.stage)) {
        result.parts.push_back(textbookPart(HEADROOM_TR("core", "12h² blocks, in flight × B·S·h·L·k·2"), "",
                                            real(page.footprint.textbook.peak.value), Unit::Size));
    }
    const auto phasePart = [&](Text name, Phase phase) {
        result.parts.push_back(term(std::move(name), "", "", real(stage.phase(phase).value), Unit::Size));
    };
    phasePart(Text{HEADROOM_TR("core", "Forward")}, Phase::Forward);
    phasePart(Text{HEADROOM_TR("core", "Backward")}, Phase::Backward);
    phasePart(Text{HEADROOM_TR("core", "Optimizer step")}, Phase::Optimizer);
    return result;
}

void addWorkingSet(const StageWorking& own, std::vector<Term>& terms)
{
    const auto add = [&terms](Text name, const char* formula, double bytes) {
        if (bytes > 0) {
            terms.push_back(term(std::move(name), formula, "", bytes, Unit::Size));
        }
    };
    add(Text{HEADROOM_TR("core", "Working set of recomputation")}, HEADROOM_TR("core", "one layer − its input"),
        own.rebuilt);
    add(Text{HEADROOM_TR("core", "Weights in 16 bits beside fp32 ones")},
        HEADROOM_TR("core", "2 × elements of matrices"), own.weightCache);
    add(Text{HEADROOM_TR("core", "Whole gradients")},
        HEADROOM_TR("core", "elements that train × bytes, until the last micro-batch's are reduced"),
        own.wholeGradients);
    add(Text{HEADROOM_TR("core", "Gathered in forward")}, HEADROOM_TR("core", "weights of two layers, of tables"),
        own.gathered);
    add(Text{HEADROOM_TR("core", "Gathered in backward")},
        HEADROOM_TR("core", "these + a layer's gradients, and those being reduced"), own.gatheredBackward);
}

} // namespace

std::vector<Term> explain(const TrainingPlan& plan, const Calibration& calibration, const Footprint& footprint,
                          std::size_t stage)
{
    const auto split = PipelineSplit::of(plan);
    if (!split || stage >= footprint.stages.size()) {
        return {};
    }
    const Working working = workingOf(plan, calibration);
    if (static_cast<std::int64_t>(stage) >= split->stages() + working.encoderStages) {
        return {};
    }
    const StageWorking own = stageWorking(working, *split, static_cast<std::int64_t>(stage));
    const Page page{plan, footprint, footprint.stages[stage], working, own};
    std::vector<Term> terms{blockTerm(page), parametersTerm(page), staticTerm(page), activationsTerm(page),
                            inFlightTerm(page)};
    if (own.layers.encoder.layers > 0 && working.tower.isPresent()) {
        terms.push_back(visionTerm(page));
    }
    addWorkingSet(own, terms);
    terms.push_back(peakTerm(page));
    terms.push_back(term(Text{HEADROOM_TR("core", "Device")}, HEADROOM_TR("core", "reserved + context"),
                         fmt::format("{} + {}", size(real(page.result.peakReserved.value)),
                                     size(real(page.result.component(Component::Context).value))),
                         real(page.result.device.value), Unit::Size));
    return terms;
}

} // namespace headroom
