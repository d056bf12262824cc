// SPDX-License-Identifier: GPL-3.0-or-later
#include "units/text.h"

namespace headroom {

std::string Text::fill(const std::string& translated) const
{
    std::string result;
    result.reserve(translated.size() + 32);
    for (std::size_t i = 0; i < translated.size(); ++i) {
        const bool isPlaceholder
            = translated[i] == '%' && i + 1 < translated.size() && translated[i + 1] >= '1' && translated[i + 1] <= '9';
        const std::size_t index = isPlaceholder ? static_cast<std::size_t>(translated[i + 1] - '1') : arguments.size();
        if (index < arguments.size()) {
            result += arguments[index];
            ++i;
        } else {
            result += translated[i];
        }
    }
    return result;
}

} // namespace headroom
