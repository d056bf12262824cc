// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <filesystem>
#include <vector>

namespace headroom {

/// A log and a config that ship with the program.
struct Sample
{
    QString id;
    QString title;
    QString description; ///< one line
    QStringList paths;
};

/// The samples listed in `folder`/index.yaml whose files are there, in its order.
[[nodiscard]] std::vector<Sample> loadSamples(const std::filesystem::path& folder);

/// Where the samples are: share/headroom/samples of the installation the program runs from, else the source tree it was
/// built from. Empty when neither is there.
[[nodiscard]] std::filesystem::path samplesFolder(const QString& programFolder);

} // namespace headroom
