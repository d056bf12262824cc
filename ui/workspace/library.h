// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"
#include "config/config_format.h"
#include "runlog/anchor_scan.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

namespace headroom {

/// The formats of logs, the user's own among them. Read when the first log is, so that the window is there before.
class LogFormats
{
public:
    explicit LogFormats(std::filesystem::path userFolder)
        : m_userFolder(std::move(userFolder))
    {
    }

    /// Any thread may ask.
    [[nodiscard]] const AnchorSet& anchors() const;
    /// What is wrong with the user's files; nothing before they were read.
    [[nodiscard]] std::vector<Problem> problems() const;

private:
    struct Loaded
    {
        explicit Loaded(LineFormats read)
            : formats(std::move(read))
            , anchors(formats)
        {
        }

        LineFormats formats;
        AnchorSet anchors;
    };

    std::filesystem::path m_userFolder;
    mutable std::mutex m_mutex;
    mutable std::unique_ptr<const Loaded> m_loaded;
};

/// What Headroom knows before any file is open. Read once, never changed.
struct Library
{
    Catalog catalog;
    ConfigFormats formats;
    std::shared_ptr<const LogFormats> logFormats = std::make_shared<LogFormats>(std::filesystem::path{});

    [[nodiscard]] static std::shared_ptr<const Library> load(const std::filesystem::path& userFolder = {})
    {
        return std::make_shared<const Library>(Library{Catalog::load(userFolder), ConfigFormats::load(userFolder),
                                                       std::make_shared<LogFormats>(userFolder)});
    }
};

} // namespace headroom
