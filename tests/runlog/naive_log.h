// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

#include <random>
#include <string>
#include <vector>

namespace headroom {

/// A log of `lines` lines: records in random field order, with prefixes, colours, progress bars and line ends of every
/// kind, between lines that are none.
[[nodiscard]] std::string randomLog(std::mt19937& random, int lines);

/// One line a record, as records() below writes them; read by regular expressions that know nothing of the scanner.
[[nodiscard]] std::vector<std::string> naiveRecords(const std::string& log);

/// "line 3: forward step 12 rank 5 allocated 33554432000 reserved 34359738368".
[[nodiscard]] std::vector<std::string> records(const Run& run);

} // namespace headroom
