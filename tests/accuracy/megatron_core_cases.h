// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "accuracy/case_fields.h"

namespace headroom::accuracy {

/// Runs of Megatron-Core that are described by sizes instead of flags: SimuMax's, Megatron-Bridge's, ms-swift's and
/// those of the paper on zero-bubble pipelines.
class MegatronCoreReader : public CaseFields
{
public:
    MegatronCoreReader(const YAML::Node& node, FrameworkCase& result)
        : CaseFields(node, result)
    {
    }

    [[nodiscard]] static bool reads(std::string_view framework, std::string_view id);
    void read();

private:
    void readAttention();
    void readExperts();
    void readModules();
    void readSimuMax();
    void readBridge();
    void readZeroBubble();
    void readSwift();
    void readSwiftObjective(const YAML::Node& arguments);
    void readSwiftImages();
};

} // namespace headroom::accuracy
