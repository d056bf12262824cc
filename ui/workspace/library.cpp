// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/library.h"

namespace headroom {

const AnchorSet& LogFormats::anchors() const
{
    std::error_code error;
    if (m_userFolder.empty() || !std::filesystem::is_directory(m_userFolder / "formats" / "log", error)) {
        return AnchorSet::builtin();
    }
    const std::lock_guard lock(m_mutex);
    if (!m_loaded) {
        LineFormats formats = LineFormats::load(m_userFolder);
        m_loaded = std::make_unique<const Loaded>(std::move(formats));
    }
    return m_loaded->anchors;
}

std::vector<Problem> LogFormats::problems() const
{
    const std::lock_guard lock(m_mutex);
    return m_loaded ? m_loaded->formats.problems : std::vector<Problem>();
}

} // namespace headroom
