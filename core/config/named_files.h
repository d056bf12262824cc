// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A file that a config names and whose values belong to the same run.
struct NamedFile
{
    /// Which of the two wins where both state a value.
    enum class Role : std::uint8_t {
        Beside, ///< the config; the framework refuses a pair that differs, as Trainer does with its DeepSpeed file
        Below, ///< the config
        Above, ///< the file
        Model ///< the config; only what describes the model is taken
    };

    std::string text; ///< as the config has it
    Role role = Role::Below;
    const Setting* setting = nullptr; ///< where it stands
};

/// The files that the keys of `format.files` name in the document, those that win over earlier ones later.
[[nodiscard]] std::vector<NamedFile> namedFiles(const ConfigDocument& document, const ConfigFormat& format);

/// Where the file lies: below the config's folder or, as frameworks are started from the top of a repository, below one
/// of the folders above it. Of a folder, its config.json.
[[nodiscard]] std::optional<std::filesystem::path> findNamedFile(const std::string& config, const NamedFile& file);

/// The text can't mean anything but a file of this machine: models are also named by their place on a hub.
[[nodiscard]] bool mustBeFile(const NamedFile& file);

} // namespace headroom
