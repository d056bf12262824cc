// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

/// Where tests find their files. The folders are known to one object alone: the tests themselves compile to the same
/// bytes in every clone, and the compiler's cache serves them all.
namespace headroom {

/// A file of the sources by its path there ("resources/samples").
std::filesystem::path sourcePath(const std::filesystem::path& path);

/// A good or broken input of our own by its path in tests/data.
std::filesystem::path testData(const std::filesystem::path& path);

/// A test case of the workplace by its path in shared/, beside the sources; absent elsewhere.
std::filesystem::path sharedPath(const std::filesystem::path& path);

} // namespace headroom
