// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/builtin_files.h"
#include "config/config_format.h"
#include "units/problem.h"

#include <string>
#include <string_view>

namespace headroom {

/// A format from its data file; resources/formats/config/README.md describes the language. Fails with file and line for
/// what is not understood: a mapping table that is half wrong would misread configs in silence.
[[nodiscard]] Result<ConfigFormat> parseFormat(std::string_view bytes, const std::string& name);
/// The same of a file of ours, in half the time: what users' files are checked for first holds in it.
[[nodiscard]] Result<ConfigFormat> parseFormat(const BuiltinFile& file);

} // namespace headroom
