// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the independent calculation of cases/frameworks.json and the tapes count other tensors, and who is right.
#pragma once

#include "accuracy/framework_cases.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace headroom::test {

/// A tensor that its figure has and that is not alive at its peak (negative), or that it leaves out. The size follows
/// from the settings, not from the difference.
struct OracleNote
{
    std::string tensor;
    double bytes = 0;
};

[[nodiscard]] std::vector<OracleNote> oracleNotes(const accuracy::FrameworkCase& entry, const nlohmann::json& row);

/// The peak of an optimizer step that its figure does not compare with because its loss had too much; 0: none.
[[nodiscard]] double oracleStep(const accuracy::FrameworkCase& entry, const nlohmann::json& row);

/// Where it has ZeRO-1's bucket and gradients beside the flat copies of the step: what stands with each of them alone,
/// while gradients are reduced and while the step runs. Activations may stand higher. 0: not such a row.
[[nodiscard]] double oracleFloor(const accuracy::FrameworkCase& entry, const nlohmann::json& row);

} // namespace headroom::test
