// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "accuracy/case_fields.h"

namespace headroom::accuracy {

/// Runs of models whose layers are of several kinds in turn, on Megatron-Core: Nemotron 3 Nano by Megatron-Bridge's
/// scripts, Qwen3.5 at 128 k tokens.
class HybridReader : public CaseFields
{
public:
    HybridReader(const YAML::Node& node, FrameworkCase& result)
        : CaseFields(node, result)
    {
    }

    [[nodiscard]] static bool reads(std::string_view id);
    void read();

private:
    void readImplementation();
    void readNemotron();
    void readQwen();
    void readTower();
    void readSharding();
};

} // namespace headroom::accuracy
