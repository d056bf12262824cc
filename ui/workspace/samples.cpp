// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/samples.h"

#include "config/config_document.h"
#include "workspace/wording.h"

#include <QCoreApplication>

#include <array>
#include <system_error>

namespace headroom {

std::vector<Sample> loadSamples(const std::filesystem::path& folder)
{
    std::vector<Sample> samples;
    const auto index = ConfigDocument::open(folder / "index.yaml");
    if (!index) {
        return samples;
    }
    for (std::size_t i = 0;; ++i) {
        const auto value = [&](const char* name) {
            const Setting* setting = index->find("samples[" + std::to_string(i) + "]." + name);
            return setting == nullptr ? std::string() : setting->text;
        };
        const std::string id = value("id");
        if (id.empty()) {
            return samples;
        }
        Sample sample;
        sample.id = toQString(id);
        // UpdateTranslations.cmake collects these texts.
        sample.title = QCoreApplication::translate("samples", value("title").c_str());
        sample.description = QCoreApplication::translate("samples", value("description").c_str());
        std::error_code error;
        for (const char* kind : {"log", "config"}) {
            if (const std::string file = value(kind); !file.empty() && std::filesystem::exists(folder / file, error)) {
                sample.paths.append(pathText(folder / file));
            }
        }
        if (!sample.paths.isEmpty()) {
            samples.push_back(std::move(sample));
        }
    }
}

std::filesystem::path samplesFolder(const QString& programFolder)
{
    const std::array<std::filesystem::path, 2> places{toPath(programFolder) / HEADROOM_SAMPLES_FROM_BIN,
                                                      HEADROOM_SOURCE_SAMPLES};
    std::error_code error;
    for (const auto& place : places) {
        if (std::filesystem::exists(place / "index.yaml", error)) {
            return std::filesystem::weakly_canonical(place, error);
        }
    }
    return {};
}

} // namespace headroom
