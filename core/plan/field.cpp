// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/field.h"

#include <fmt/format.h>

namespace headroom {

std::string Origin::english() const
{
    const std::string name = source ? *source : std::string{};
    switch (kind) {
    case OriginKind::Unknown:
        return line > 0 ? fmt::format("unknown ({}:{})", name, line) : "unknown";
    case OriginKind::Default:
        return "default";
    case OriginKind::Derived:
        return name.empty() ? "derived" : fmt::format("derived from {}", name);
    case OriginKind::Preset:
        return fmt::format("preset {}", name);
    case OriginKind::ConfigFile:
    case OriginKind::Log:
        return line > 0 ? fmt::format("{}:{}", name, line) : name;
    case OriginKind::CommandLine:
        return name.empty() ? "command line" : fmt::format("command line {}", name);
    case OriginKind::Edited:
        return "edited";
    }
    return {};
}

} // namespace headroom
