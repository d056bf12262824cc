// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/missing_inputs.h"

#include "accuracy/case_fields.h"

#include <array>
#include <utility>

namespace headroom::accuracy {

namespace {

void append(std::string& list, const std::string& item)
{
    list += (list.empty() ? "" : ", ") + item;
}

bool isOpen(const YAML::Node& node)
{
    return !node || node.IsNull() || text(node) == "unknown";
}

std::string emptyKeys(const YAML::Node& node)
{
    const YAML::Node model = node["model"];
    std::string list;
    for (const auto& [value, name] : std::array<std::pair<YAML::Node, const char*>, 5>{{
             {model["layers"], "sizes of the layers"},
             {model["seq"], "sequence length"},
             {node["micro_batch"], "micro-batch"},
             {node["recompute"]["granularity"], "recomputation"},
             {node["n_gpus"], "number of GPUs"},
         }}) {
        if (isOpen(value)) {
            append(list, name);
        }
    }
    return list;
}

} // namespace

std::string missingInput(const YAML::Node& node)
{
    if (text(node["estimator_ready"]) != "true") {
        std::string list;
        for (const YAML::Node& item : node["unknown"]) {
            append(list, text(item));
        }
        if (list.empty()) {
            list = emptyKeys(node);
        }
        return list.empty() ? "the full list of its settings" : list;
    }
    const YAML::Node primary = node["primary"];
    const bool hasPeak = primary && primary.IsMap() && !isOpen(primary["gib"]);
    return hasPeak || text(node["outcome"]) == "oom" ? std::string{} : "a peak in bytes";
}

} // namespace headroom::accuracy
