// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/value.h"

#include "allocator/allocator_sizes.h"
#include "plan/batch.h"

#include <algorithm>

namespace headroom {

namespace {

/// Trained as a whole beside a policy with adapters too.
TorchShape valueShape(const TorchShape& policy)
{
    TorchShape shape = policy;
    shape.model.labels = 1;
    shape.model.tied = shape.model.headBias = false;
    shape.adapters = {};
    shape.hasAdapterDropout = false;
    shape.trainsModel = shape.trainsEmbeddings = true;
    shape.parts = {};
    shape.trained = TrainedParts::all;
    shape.reference = ReferenceModel::None;
    shape.value = ValueModel::None;
    shape.reward = RewardModel::None;
    return shape;
}

/// Layers that attend: those of a hybrid that do not keep a state of a few tokens.
std::int64_t attendingLayers(const Architecture& model)
{
    return model.isHybrid() ? std::count_if(model.kinds.begin(), model.kinds.end(),
                                            [](LayerKind kind) { return kind.mixer == Mixer::Attention; })
                            : model.layers;
}

/// transformers' DynamicCache has keys and values of all heads where attention has them from latents
/// (modeling_deepseek_v3.py).
std::int64_t cacheWidth(const TorchShape& shape)
{
    const Architecture& model = shape.model;
    const std::int64_t width = model.isMla ? model.heads * (model.nopeDim + model.ropeDim + model.valueDim)
                                           : 2 * model.groups * model.headDim;
    return std::max<std::int64_t>(width / shape.tensor, 1);
}

} // namespace

TorchValueModel::TorchValueModel(const TorchShape& policy, std::uint16_t firstPiece, ModelProgram& program)
    : m_shape(valueShape(policy))
    , m_program(program)
    , m_blocks(m_shape,
               {static_cast<std::uint16_t>(firstPiece + Block), static_cast<std::uint16_t>(firstPiece + ExpertBlock)},
               program)
    , m_firstPiece(firstPiece)
{
}

void TorchValueModel::writePieces()
{
    auto* pieces = &m_program.pieces[m_firstPiece];
    writeTorchEmbedding(m_shape, 0, m_program.persistents, pieces[Embedding]);
    writeTorchScore(m_shape, m_program.persistents, pieces[Score]);
    m_blocks.writePieces();
}

void TorchValueModel::addTo(Chunk& chunk, std::vector<TorchPart>& parts)
{
    const std::size_t firstRun = chunk.runs.size(), firstPart = parts.size();
    chunk.runs.push_back({static_cast<std::uint16_t>(m_firstPiece + Embedding), 1, 0});
    parts.push_back({embeddingWeights(m_shape), 1});
    m_blocks.add({0, m_shape.model.layers, true, true}, chunk, parts);
    chunk.runs.push_back({static_cast<std::uint16_t>(m_firstPiece + Score), 1, 0});
    parts.push_back({headWeights(m_shape), 1});
    for (std::size_t i = firstPart; i < parts.size(); ++i) {
        parts[i].model = TorchPart::Model::Value;
    }
    for (std::size_t i = firstRun; i < chunk.runs.size(); ++i) {
        m_program.pieces[chunk.runs[i].piece].parameters.clear(); // of the model that is asked for there are no more
    }
}

std::vector<TorchPart> TorchValueModel::partsOf(TorchPart::Model model)
{
    Chunk apart;
    std::vector<TorchPart> parts;
    addTo(apart, parts);
    for (TorchPart& part : parts) {
        part.model = model;
        part.isTrained = model != TorchPart::Model::Reward;
    }
    return parts;
}

void TorchValueModel::addState(StageTensors& tensors)
{
    const StageTensors own = torchState(m_shape, partsOf(TorchPart::Model::Value));
    tensors.resident.insert(tensors.resident.end(), own.resident.begin(), own.resident.end());
    tensors.created.insert(tensors.created.end(), own.created.begin(), own.created.end());
}

/// TRL generates for all samples of a step before it trains, so many at once, and keeps the scores of every token in
/// fp32: a list with one tensor a token, then one tensor for these samples, at last a padded one of all
/// (trl/trainer/utils.py, generate and batch_generation, from memory). A value head's trainer generates for one
/// micro-batch after the other and keeps no scores (LLaMA-Factory train/ppo/trainer.py, get_inputs).
std::vector<Tape::Event> torchRollout(const TrainingPlan& plan, const TorchShape& policy)
{
    std::vector<Tape::Event> events;
    if (!plan.objective.response.isKnown()) {
        return events;
    }
    const auto add = [&events](TensorKind kind, double bytes) {
        constexpr double most = 1e18; // beyond any machine, and summable
        events.push_back(
            {blockSize(static_cast<std::int64_t>(std::clamp(bytes, 1.0, most))), Tape::Op::Allocate, kind, 0});
    };
    const bool keepsScores = policy.value == ValueModel::Separate;
    const auto samples = static_cast<double>(policy.sequences);
    const double all = keepsScores ? samples * static_cast<double>(microBatchesPerStep(plan)) : samples;
    constexpr double usual = 64; // trl/trainer/ppo_config.py, local_rollout_forward_batch_size, from memory
    const double asked = plan.objective.rollout.isKnown() ? static_cast<double>(plan.objective.rollout.value)
        : keepsScores                                     ? usual
                                                          : samples;
    const double atOnce = std::min(asked, all);
    const double cache = atOnce * static_cast<double>(plan.batch.seq.value)
        * static_cast<double>(attendingLayers(policy.model)) * static_cast<double>(cacheWidth(policy))
        * static_cast<double>(policy.compute);
    constexpr double fp32 = 4;
    const double scores = !keepsScores
        ? 0
        : static_cast<double>(std::min(plan.objective.response.value, plan.batch.seq.value))
            * static_cast<double>(policy.model.vocab) * fp32;
    const bool peaksAtLast = scores * (all - atOnce) > cache;
    if (!peaksAtLast) {
        add(TensorKind::GenerationCache, cache);
    }
    if (keepsScores) {
        add(TensorKind::Logits, scores * all);
        add(TensorKind::Logits, scores * (peaksAtLast ? all : atOnce));
    }
    return events;
}

} // namespace headroom
