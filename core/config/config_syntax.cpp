// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_syntax.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace headroom {

namespace {

using Reader = Result<SyntaxReading> (*)(const std::string&, const std::string&);

std::string endingOf(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    std::string ending(dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1));
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return ending;
}

/// "#!/bin/bash -l", "#! /usr/bin/env sh".
bool isShellByFirstLine(std::string_view bytes)
{
    const std::string_view line = bytes.substr(0, std::min(bytes.find('\n'), bytes.size()));
    return line.starts_with("#!") && line.find("sh") != std::string_view::npos;
}

Reader readerFor(const std::string& bytes, std::string_view name)
{
    constexpr std::array<std::pair<std::string_view, Reader>, 8> endings{{{"toml", readTomlSyntax},
                                                                          {"py", readPythonSyntax},
                                                                          {"sh", readShellSyntax},
                                                                          {"bash", readShellSyntax},
                                                                          {"slurm", readShellSyntax},
                                                                          {"sbatch", readShellSyntax},
                                                                          {"pbs", readShellSyntax},
                                                                          {"zsh", readShellSyntax}}};
    const std::string ending = endingOf(name);
    const auto found
        = std::find_if(endings.begin(), endings.end(), [&](const auto& known) { return known.first == ending; });
    return found != endings.end() ? found->second : isShellByFirstLine(bytes) ? readShellSyntax : readYamlSyntax;
}

} // namespace

Result<SyntaxReading> readSyntax(const std::string& bytes, const std::string& name)
{
    return readerFor(bytes, name)(bytes, name);
}

} // namespace headroom
