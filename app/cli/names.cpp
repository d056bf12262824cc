// SPDX-License-Identifier: GPL-3.0-or-later
#include "names.h"

#include "wording.h"

#include <array>

namespace headroom::cli {

std::string phaseName(Phase phase)
{
    constexpr std::array names{HEADROOM_TR("cli", "forward"), HEADROOM_TR("cli", "backward"),
                               HEADROOM_TR("cli", "optimizer")};
    return say(names[static_cast<std::size_t>(phase)]);
}

std::string componentName(Component component)
{
    constexpr std::array names{
        HEADROOM_TR("cli", "parameters"),  HEADROOM_TR("cli", "gradients"), HEADROOM_TR("cli", "optimizer state"),
        HEADROOM_TR("cli", "activations"), HEADROOM_TR("cli", "in flight"), HEADROOM_TR("cli", "logits"),
        HEADROOM_TR("cli", "working set"), HEADROOM_TR("cli", "buffers"),   HEADROOM_TR("cli", "context")};
    static_assert(names.size() == componentCount);
    return say(names[static_cast<std::size_t>(component)]);
}

std::string stepPartName(StepPart part)
{
    constexpr std::array names{HEADROOM_TR("cli", "compute"),          HEADROOM_TR("cli", "recompute"),
                               HEADROOM_TR("cli", "bubble"),           HEADROOM_TR("cli", "tensor traffic"),
                               HEADROOM_TR("cli", "context traffic"),  HEADROOM_TR("cli", "expert traffic"),
                               HEADROOM_TR("cli", "pipeline traffic"), HEADROOM_TR("cli", "data traffic")};
    static_assert(names.size() == stepPartCount);
    return say(names[static_cast<std::size_t>(part)]);
}

} // namespace headroom::cli
