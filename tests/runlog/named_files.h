// SPDX-License-Identifier: GPL-3.0-or-later
// Files of a test in a folder of its own.
#pragma once

#include "runlog/read_pieces.h"

#include <QTemporaryDir>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace headroom::test {

class NamedFiles
{
public:
    [[nodiscard]] std::filesystem::path path(const std::string& name) const
    {
        return std::filesystem::path(m_folder.path().toStdString()) / name;
    }
    std::filesystem::path write(const std::string& name, const std::string& content) const
    {
        std::filesystem::create_directories(path(name).parent_path());
        std::ofstream(path(name), std::ios::binary) << content;
        return path(name);
    }

private:
    QTemporaryDir m_folder;
};

inline Result<Run> read(const std::filesystem::path& file, int threads = 2, const ScanSizes& sizes = {},
                        std::function<bool(double)> progress = {})
{
    const std::array<std::filesystem::path, 1> paths{file};
    return readLogInPieces(paths, {.progress = std::move(progress), .threads = threads}, sizes);
}

} // namespace headroom::test
