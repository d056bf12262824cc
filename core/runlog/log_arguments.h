// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "runlog/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct ConfigFormats;
struct Catalog;

/// An argument as a log lists it.
struct LogArgument
{
    std::string key; ///< "hidden_size"
    std::string value; ///< as written
    std::uint16_t file = 0; ///< index into Run::files
    std::int64_t line = 0;
};

/// The arguments in the order of their lines; the first listing of a key counts, since every rank may print its own.
[[nodiscard]] std::vector<LogArgument> argumentsOf(const Run& run);

/// The plan that Megatron's dotted list states, each value with its line in the log, by the same rules as a file of
/// arguments. Fails when the log lists none that mean something.
[[nodiscard]] Result<TrainingPlan> planOfArguments(const Run& run, const ConfigFormats& formats,
                                                   const Catalog& catalog);

/// The fields of `plan`, which planOfArguments() made of the log, that a list without the usual arguments leaves to
/// Megatron's defaults; none where the list is whole.
[[nodiscard]] std::vector<std::string> fieldsLeftToDefaults(const Run& run, const TrainingPlan& plan);

/// Memory of the device, the largest that the log names; zero is never meant.
[[nodiscard]] std::optional<Bytes> capacityOf(const Run& run);

/// Parameters as a log counts them; most frameworks count one rank's share.
struct LogParameters
{
    std::string what; ///< "tensor, pipeline (3, 2)", "Total", …
    std::int64_t count = 0;
    std::int32_t rank = -1;
    std::uint16_t file = 0;
    std::int64_t line = 0;
};
[[nodiscard]] std::vector<LogParameters> parametersOf(const Run& run);

} // namespace headroom
