// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/schedule.h"
#include "footprint/tape/shape.h"
#include "plan/pipeline_layout.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// Which layers the chunks of every pipeline stage run: as an explicit layout says, evenly over the chunks, or, under
/// schedules whose stages hold two pieces of the model (folded ones, and those that run it from both ends), by
/// position.
class ChunkLayers
{
public:
    ChunkLayers(const TrainingPlan& plan, const RankShape& shape);

    /// `layers`: by stage. Fails where the plan's layout can't be read or the tapes do not describe it.
    Result<void> place(std::vector<std::int64_t> layers);

    [[nodiscard]] std::size_t stages() const { return m_layers.size(); }
    [[nodiscard]] std::int64_t layers(std::int64_t stage) const;
    [[nodiscard]] std::int64_t first(std::int64_t stage) const;
    [[nodiscard]] std::int64_t layers(std::int64_t stage, std::size_t chunk) const;
    [[nodiscard]] std::int64_t first(std::int64_t stage, std::size_t chunk) const;
    /// Whether the chunk comes first (last) in the model.
    [[nodiscard]] bool isFirst(std::int64_t stage, std::size_t chunk) const;
    [[nodiscard]] bool isLast(std::int64_t stage, std::size_t chunk) const;
    /// Whether a layout has multi-token prediction in front of the last chunk, which has the loss.
    [[nodiscard]] bool predictsApart() const { return m_predicting < m_last; }
    /// How the chunk stands to the one that predicts: before it (below 0), that one (0), behind it.
    [[nodiscard]] std::int64_t fromPrediction(std::int64_t stage, std::size_t chunk) const
    {
        return static_cast<std::int64_t>(chunk) * m_shape.languageStages() + stage - m_predicting;
    }
    /// Whether the chunk has the last layer in front of the predictions, of a layout.
    [[nodiscard]] bool endsDecoder(std::int64_t stage, std::size_t chunk) const;

private:
    struct Place
    {
        std::int64_t firstLayer = 0, layers = 0;
    };

    [[nodiscard]] bool hasOwnPlaces() const { return isFolded(m_shape.schedule) || layerCopies(m_shape.schedule) > 1; }
    void placeByPosition();
    Result<void> placePredictions();
    [[nodiscard]] std::size_t positionOf(std::int64_t stage, std::size_t chunk) const;
    [[nodiscard]] const Place& placeOf(std::int64_t stage, std::size_t chunk) const
    {
        return m_places[positionOf(stage, chunk)];
    }

    const TrainingPlan& m_plan;
    const RankShape& m_shape;
    std::vector<std::int64_t> m_layers; ///< by stage
    std::optional<PipelineLayout> m_layout;
    std::int64_t m_predicting = 0, m_last = 0; ///< chunks by position in the pipeline, of a layout with predictions
    std::vector<Place> m_places; ///< by position in the pipeline
};

} // namespace headroom
