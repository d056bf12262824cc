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
    std::vector<std::string> aliases; ///< other names it goes by
};

struct Gpu
{
    std::string id; ///< "h100-80gb"
    std::string title; ///< "H100 80 GB"
    Bytes capacity; ///< what CUDA reports as total memory
    std::string architecture; ///< "hopper"
    bool isNominal = false; ///< the size on the data sheet: what CUDA reports is not known and somewhat less
    std::vector<std::string> aliases; ///< other names it goes by, "h100-sxm5-80gb"
};

/// Model presets and GPUs: resources/models/*.yaml and resources/gpus.yaml, then the user's own folder.
struct Catalog
{
    std::vector<ModelPreset> models;
    std::vector<Gpu> gpus;
    std::vector<Problem> problems;

    [[nodiscard]] static Catalog load(const std::filesystem::path& userFolder = {});
    /// By id, title or alias, ignoring case and separators ("Llama 3-8B" finds llama-3-8b), an organisation in front
    /// ("Qwen/…") and what marks a fine-tuned release ("-Instruct"); null when there is none.
    [[nodiscard]] const ModelPreset* model(std::string_view name) const;
    /// The same for GPUs, as drivers name them too ("NVIDIA H100 80GB HBM3").
    [[nodiscard]] const Gpu* gpu(std::string_view name) const;
};

} // namespace headroom
