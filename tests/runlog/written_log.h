// SPDX-License-Identifier: GPL-3.0-or-later
// Logs in the base format, and files that are written and go on being written.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace headroom::test {

inline std::string line(int step, double gib = 1)
{
    return "phase=forward step=" + std::to_string(step) + " peak_alloc=" + std::to_string(gib) + "GiB\n";
}

inline std::string lines(int first, int last)
{
    std::string text;
    for (int step = first; step <= last; ++step) {
        text += line(step);
    }
    return text;
}

inline void write(const std::filesystem::path& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline void append(const std::filesystem::path& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

} // namespace headroom::test
