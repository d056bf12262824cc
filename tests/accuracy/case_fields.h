// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "accuracy/framework_cases.h"

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

namespace headroom::accuracy {

[[nodiscard]] std::string text(const YAML::Node& node);
/// The words of a node, whatever its shape.
[[nodiscard]] std::string words(const YAML::Node& node);
[[nodiscard]] bool contains(std::string_view haystack, std::string_view needle);

/// What every case says in the same keys, whatever its framework.
class CaseFields
{
protected:
    CaseFields(const YAML::Node& node, FrameworkCase& result)
        : m_node(node)
        , m_case(result)
        , m_notes(words(node["notes"]))
    {
    }

    void set(std::string_view field, const std::string& value);
    void setState(const std::string& parameters, const std::string& gradients, const std::string& master,
                  const std::string& moments);
    void readModel();
    void readBatchAndParallel();
    void readRecompute();

    const YAML::Node m_node;
    FrameworkCase& m_case;
    const std::string m_notes;

private:
    void readVision(const YAML::Node& vision);
    void readVideo(const YAML::Node& vision, long long pixels);
};

} // namespace headroom::accuracy
