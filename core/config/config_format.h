// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"
#include "config/config_document.h"
#include "plan/training_plan.h"

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// How one framework's config maps to canonical fields: a data file of resources/formats/config.
struct ConfigFormat
{
    struct Key
    {
        std::string key; ///< the file's dotted key
        std::string field; ///< canonical field, "parallel.pp"
    };

    std::string id; ///< "base-yaml"
    std::string title; ///< "Headroom base format (YAML)"
    std::vector<std::vector<std::string>> recognisedBy; ///< any of these groups, all keys of a group present
    std::vector<Key> keys; ///< several keys may name one field: the first is the one that is written
    std::vector<Key> defaults; ///< value (in `key`) that the framework takes for `field` when the file is silent
};

struct ConfigFormats
{
    std::vector<ConfigFormat> formats;
    std::vector<Problem> problems; ///< broken data files; the others still work

    /// The built-in formats, then the user's own *.yaml of `userFolder` (ignored when empty or absent).
    [[nodiscard]] static ConfigFormats load(const std::filesystem::path& userFolder = {});
    /// Null when no format recognises the document.
    [[nodiscard]] const ConfigFormat* detect(const ConfigDocument& document) const;
};

struct PlanReading
{
    TrainingPlan plan;
    std::vector<Problem> problems; ///< values not understood, unknown keys, contradictions of the file with itself
};

/// The plan a document states, each value with file and line. `catalog` resolves preset names.
[[nodiscard]] PlanReading readPlan(const ConfigDocument& document, const ConfigFormat& format, const Catalog& catalog);

/// The edits that make `document` state the fields in which `after` differs from `before`; refused for a field the
/// format has no key for.
[[nodiscard]] Result<std::vector<ConfigEdit>> editsFor(const ConfigDocument& document, const ConfigFormat& format,
                                                       const TrainingPlan& before, const TrainingPlan& after);

} // namespace headroom
