// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>

namespace headroom {

/// A data file of resources/, linked into the program.
struct BuiltinFile
{
    std::string_view path; ///< below resources/: "models/llama-3.yaml"
    std::string_view content;
};

[[nodiscard]] std::span<const BuiltinFile> builtinFiles();

} // namespace headroom
