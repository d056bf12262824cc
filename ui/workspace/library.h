// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"
#include "config/config_format.h"

#include <memory>

namespace headroom {

/// What Headroom knows before any file is open. Read once, never changed.
struct Library
{
    Catalog catalog;
    ConfigFormats formats;

    [[nodiscard]] static std::shared_ptr<const Library> load(const std::filesystem::path& userFolder = {})
    {
        return std::make_shared<const Library>(Library{Catalog::load(userFolder), ConfigFormats::load(userFolder)});
    }
};

} // namespace headroom
