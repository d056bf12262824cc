// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// The value of an option in PYTORCH_CUDA_ALLOC_CONF's "name:value,name:[a:1,b:2]"; nothing when it is not there.
[[nodiscard]] std::optional<std::string> optionValue(std::string_view text, std::string_view name);
/// The text with the option set: in its place, or else at the end.
[[nodiscard]] std::string withOption(const std::string& text, const std::string& name, const std::string& value);

/// CUBLAS_WORKSPACE_CONFIG's ":4096:2:16:8", sizes in KiB each with a count, as a number of bytes. What is none stays
/// as it is.
[[nodiscard]] std::string workspaceBytes(const std::string& text);
/// The same back, in buffers of 4 MiB and 16 KiB; nothing for what is no whole number of them.
[[nodiscard]] std::optional<std::string> workspaceText(std::string_view bytes);

} // namespace headroom
