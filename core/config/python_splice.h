// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_syntax.h"
#include "config/flag_splice.h"

#include <cstddef>
#include <string>
#include <vector>

namespace headroom {

/// The arguments of a call or a dict: where the next one goes.
struct PythonContainer
{
    std::string path;
    std::size_t begin = 0, end = 0; ///< of its brackets
    std::size_t lastBegin = 0, lastEnd = 0; ///< of the last named entry; 0: there is none
    bool hasComma = false; ///< behind the last entry
    bool isDict = false; ///< {"key": value}
    char quote = '\'';
};

/// An object that a function of another file makes and whose attributes are set then: cfg.train.micro_batch_size = 2.
struct PythonObject
{
    std::string name; ///< empty: there is none
    std::size_t lastBegin = 0, lastEnd = 0; ///< of the last statement that sets one
};

/// A Python file: values are replaced where their literal stands, through a name that stands for nothing else; a new
/// one goes behind its siblings.
class PythonSyntax final : public ConfigSyntax
{
public:
    [[nodiscard]] Result<std::string> spliced(const std::string& bytes, const std::string& name,
                                              const ConfigEdit& edit) const override;

    std::vector<FlagValue> values;
    std::vector<PythonContainer> containers;
    PythonObject object; ///< its attributes are keys without its name

private:
    [[nodiscard]] Result<std::string> added(const std::string& bytes, const std::string& name,
                                            const ConfigEdit& edit) const;
    [[nodiscard]] std::string attributeAdded(const std::string& bytes, const ConfigEdit& edit) const;
};

} // namespace headroom
