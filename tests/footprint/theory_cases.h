// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

/// The worked numbers of the theory whose id starts with `prefix`, without those its addenda replaced. Empty where the
/// workplace's files are not there; tests then skip.
inline std::vector<nlohmann::json> theoryCases(std::string_view prefix)
{
    std::ifstream file(std::string(HEADROOM_SHARED) + "/cases/theory_cases.json");
    std::vector<nlohmann::json> result;
    if (!file) {
        return result;
    }
    const nlohmann::json document = nlohmann::json::parse(file);
    for (const nlohmann::json& row : document.at("cases")) {
        if (row.at("id").get<std::string>().starts_with(prefix) && row.value("status", "") != "superseded") {
            result.push_back(row);
        }
    }
    return result;
}

} // namespace headroom::test
