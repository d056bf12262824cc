// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "accuracy/case_fields.h"

namespace headroom::accuracy {

/// Measurements of the loss alone, whose plan is a model next to nothing under all these logits.
class LossReader : public CaseFields
{
public:
    LossReader(const YAML::Node& node, FrameworkCase& result)
        : CaseFields(node, result)
    {
    }

    [[nodiscard]] static bool reads(std::string_view id);
    void read();
};

} // namespace headroom::accuracy
