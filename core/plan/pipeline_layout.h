// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace headroom {

/// An explicit pipeline layout: which chunk of which stage runs what. Two ways to write it are read:
/// Megatron-LM's, "Et*3|(tt|)*29,m|L" (pipeline_parallel_layer_layout.py): E embedding, t layer, m multi-token
/// prediction layer, L loss; bars between the chunks, which go round the stages; x*n and (…)*n repeat, commas are
/// decoration. Layers per stage, "8,8,7,9": embedding and loss then stand at the ends.
class PipelineLayout
{
public:
    struct Cell
    {
        std::int64_t firstLayer = 0, layers = 0, mtpLayers = 0;
        bool hasEmbedding = false, hasLoss = false;
    };

    /// Fails with what is wrong in the text: an unknown letter, cells that do not go round `stages` evenly, an
    /// embedding that does not come first or a loss that does not come last, or far more cells than any run has.
    [[nodiscard]] static Result<PipelineLayout> parse(std::string_view text, std::int64_t stages);

    [[nodiscard]] std::int64_t stages() const { return m_stages; }
    [[nodiscard]] std::int64_t chunks() const { return static_cast<std::int64_t>(m_cells.size()) / m_stages; }
    [[nodiscard]] const Cell& cell(std::int64_t stage, std::int64_t chunk) const
    {
        return m_cells[static_cast<std::size_t>(chunk * m_stages + stage)];
    }
    [[nodiscard]] std::int64_t layersOfStage(std::int64_t stage) const;
    [[nodiscard]] std::int64_t layers() const { return m_layers; } ///< of the model
    [[nodiscard]] std::int64_t mtpLayers() const { return m_mtpLayers; }

private:
    explicit PipelineLayout(std::int64_t stages)
        : m_stages(stages)
    {
    }
    Result<void> readCounts(std::string_view text);
    Result<void> readLetters(std::string_view text);
    void append(Cell cell);

    std::int64_t m_stages = 1, m_layers = 0, m_mtpLayers = 0;
    std::vector<Cell> m_cells; ///< by position in the pipeline
};

} // namespace headroom
