// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/bytes.h"
#include "units/problem.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct ModelPreset
{
    std::string id; ///< "llama-3-8b"
    std::string title; ///< "Llama 3 8B"
    TrainingPlan plan; ///< model, vision, projector fields only, origin Preset
    std::int64_t publishedParameters = 0; ///< 0: none published
    std::string source; ///< where the shape and the count were published
};

struct Gpu
{
    std::string id; ///< "h100-80gb"
    std::string title; ///< "H100 80 GB"
    Bytes capacity; ///< what CUDA reports as total memory
    std::string architecture; ///< "hopper"
};

/// Model presets and GPUs: resources/models/*.yaml and resources/gpus.yaml, then the user's own folder.
struct Catalog
{
    std::vector<ModelPreset> models;
    std::vector<Gpu> gpus;
    std::vector<Problem> problems;

    [[nodiscard]] static Catalog load(const std::filesystem::path& userFolder = {});
    /// By id or title, ignoring case and separators ("Llama 3-8B" finds llama-3-8b); null when there is none.
    [[nodiscard]] const ModelPreset* model(std::string_view name) const;
    [[nodiscard]] const Gpu* gpu(std::string_view name) const;
};

} // namespace headroom
