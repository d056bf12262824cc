// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule/chunk_layers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headroom {

ChunkLayers::ChunkLayers(const TrainingPlan& plan, const RankShape& shape)
    : m_plan(plan)
    , m_shape(shape)
{
}

Result<void> ChunkLayers::place(std::vector<std::int64_t> layers)
{
    m_layers = std::move(layers);
    if (m_plan.parallel.layout.isKnown()) {
        auto layout = PipelineLayout::parse(m_plan.parallel.layout.value, m_shape.languageStages());
        if (!layout) {
            return tl::unexpected(std::move(layout.error()));
        }
        m_layout = std::move(*layout);
        if (auto placed = placePredictions(); !placed) {
            return placed;
        }
    }
    if (hasOwnPlaces()) {
        placeByPosition();
    }
    return {};
}

/// All of them in one chunk behind the decoder's layers (Megatron transformer/pipeline_parallel_layer_layout.py).
Result<void> ChunkLayers::placePredictions()
{
    if (m_shape.predictors == 0) {
        return {};
    }
    m_last = m_shape.languageStages() * m_shape.chunks - 1;
    m_predicting = m_last;
    std::int64_t decoderEnd = 0;
    for (std::int64_t position = 0; position <= m_last; ++position) {
        const PipelineLayout::Cell& cell
            = m_layout->cell(position % m_shape.languageStages(), position / m_shape.languageStages());
        decoderEnd = cell.layers > 0 ? position : decoderEnd;
        m_predicting = cell.mtpLayers > 0 ? position : m_predicting;
    }
    const PipelineLayout::Cell& predicting
        = m_layout->cell(m_predicting % m_shape.languageStages(), m_predicting / m_shape.languageStages());
    if (predicting.mtpLayers != m_shape.predictors || m_predicting < decoderEnd) {
        return failure(Text{HEADROOM_TR("core",
                                        "the tapes describe multi-token prediction in one chunk, behind the last "
                                        "layer: see parallel.layout")});
    }
    if (predictsApart() && splitsBackward(m_shape.schedule)) {
        return failure(Text{HEADROOM_TR("core",
                                        "multi-token prediction in front of the loss's chunk is not described under "
                                        "schedules that split the backward: see parallel.layout")});
    }
    return {};
}

bool ChunkLayers::endsDecoder(std::int64_t stage, std::size_t chunk) const
{
    const PipelineLayout::Cell& cell = m_layout->cell(stage, static_cast<std::int64_t>(chunk));
    return cell.layers > 0 && cell.firstLayer + cell.layers == m_layout->layers();
}

/// A folded stage's layers are halved, the larger half coming first.
void ChunkLayers::placeByPosition()
{
    m_places.clear();
    for (const std::int64_t count : m_layers) {
        m_places.push_back({0, isFolded(m_shape.schedule) ? (count + 1) / 2 : count});
    }
    for (std::size_t i = m_layers.size(); isFolded(m_shape.schedule) && i-- > 0;) {
        m_places.push_back({0, m_layers[i] / 2});
    }
    std::int64_t first = 0;
    for (Place& place : m_places) {
        place.firstLayer = first;
        first += place.layers;
    }
}

std::size_t ChunkLayers::positionOf(std::int64_t stage, std::size_t chunk) const
{
    const auto index = static_cast<std::size_t>(stage);
    const std::size_t mirrored = m_places.size() - 1 - index;
    const std::size_t upper = std::min(index, mirrored);
    return chunk == 0 ? upper : m_places.size() - 1 - upper;
}

bool ChunkLayers::isFirst(std::int64_t stage, std::size_t chunk) const
{
    return hasOwnPlaces() ? positionOf(stage, chunk) == 0 : stage == 0 && chunk == 0;
}

bool ChunkLayers::isLast(std::int64_t stage, std::size_t chunk) const
{
    return hasOwnPlaces()
        ? positionOf(stage, chunk) + 1 == m_places.size()
        : stage == m_shape.languageStages() - 1 && static_cast<std::int64_t>(chunk) + 1 == m_shape.chunks;
}

std::int64_t ChunkLayers::layers(std::int64_t stage) const
{
    return hasOwnPlaces() ? placeOf(stage, 0).layers + placeOf(stage, 1).layers
                          : m_layers[static_cast<std::size_t>(stage)];
}

std::int64_t ChunkLayers::first(std::int64_t stage) const
{
    return m_layout || hasOwnPlaces() ? first(stage, 0)
                                      : std::accumulate(m_layers.begin(), m_layers.begin() + stage, std::int64_t{0});
}

/// Every chunk holds as many, the embedding and the loss taking the place of a layer where they are counted; a rest is
/// missing in the last chunk (Megatron transformer_block.py, get_num_layers_to_build).
std::int64_t ChunkLayers::layers(std::int64_t stage, std::size_t chunk) const
{
    if (m_layout) {
        return m_layout->cell(stage, static_cast<std::int64_t>(chunk)).layers;
    }
    if (hasOwnPlaces()) {
        return placeOf(stage, chunk).layers;
    }
    const std::int64_t own = m_layers[static_cast<std::size_t>(stage)];
    const bool countsEmbedding = m_plan.parallel.embedInSplit.value && stage == 0;
    const bool countsLoss = m_plan.parallel.lossInSplit.value && stage == m_shape.languageStages() - 1;
    const std::int64_t slots = own + (countsEmbedding ? 1 : 0) + (countsLoss ? 1 : 0);
    const std::int64_t each = (slots + m_shape.chunks - 1) / m_shape.chunks;
    const std::int64_t before = static_cast<std::int64_t>(chunk) * each - (countsEmbedding && chunk > 0 ? 1 : 0);
    const std::int64_t wanted = each - (countsEmbedding && chunk == 0 ? 1 : 0);
    return std::clamp<std::int64_t>(own - before, 0, wanted);
}

/// A micro-batch passes the first chunks of all stages before the second ones.
std::int64_t ChunkLayers::first(std::int64_t stage, std::size_t chunk) const
{
    if (m_layout) {
        return m_layout->cell(stage, static_cast<std::int64_t>(chunk)).firstLayer;
    }
    if (hasOwnPlaces()) {
        return placeOf(stage, chunk).firstLayer;
    }
    std::int64_t first = 0;
    for (std::size_t other = 0; other < m_layers.size(); ++other) {
        const auto index = static_cast<std::int64_t>(other);
        const std::size_t before = index < stage ? chunk + 1 : chunk;
        for (std::size_t i = 0; i < before; ++i) {
            first += layers(index, i);
        }
    }
    return first;
}

} // namespace headroom
