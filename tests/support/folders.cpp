// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/folders.h"

namespace headroom {

std::filesystem::path sourcePath(const std::filesystem::path& path)
{
    return std::filesystem::path(HEADROOM_SOURCE) / path;
}

std::filesystem::path testData(const std::filesystem::path& path)
{
    return sourcePath("tests/data") / path;
}

std::filesystem::path sharedPath(const std::filesystem::path& path)
{
    return sourcePath("../shared") / path;
}

} // namespace headroom
