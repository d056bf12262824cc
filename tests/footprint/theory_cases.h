// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "support/folders.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::test {

/// The worked numbers of the theory whose id starts with `prefix`, without those its addenda replaced. Empty where the
/// workplace's files are not there; tests then skip.
inline std::vector<nlohmann::json> theoryCases(std::string_view prefix)
{
    std::ifstream file(sharedPath("cases/theory_cases.json"));
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

/// Rows of those cases in the column "row", as far as `isMeant` says so; without the files the test is skipped.
inline void addTheoryRows(
    std::initializer_list<std::string_view> prefixes,
    bool (*isMeant)(const nlohmann::json& row) = [](const nlohmann::json& /*row*/) { return true; })
{
    QTest::addColumn<nlohmann::json>("row");
    if (theoryCases("").empty()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
    for (const std::string_view prefix : prefixes) {
        const std::vector<nlohmann::json> rows = theoryCases(prefix);
        QVERIFY2(!rows.empty(), std::string(prefix).c_str());
        for (const nlohmann::json& row : rows) {
            if (isMeant(row)) {
                QTest::addRow("%s: %s", row.at("id").get<std::string>().c_str(),
                              row.at("what").get<std::string>().c_str())
                    << row;
            }
        }
    }
}

} // namespace headroom::test
