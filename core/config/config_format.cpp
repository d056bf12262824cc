// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_format.h"

#include "config/builtin_files.h"
#include "config/file_bytes.h"
#include "config/format_file.h"
#include "config/format_keys.h"

#include <algorithm>

namespace headroom {

namespace {

/// A format of the user's takes the place of a built-in one with the same id.
void add(ConfigFormats& formats, Result<ConfigFormat> format)
{
    if (!format) {
        formats.problems.push_back(std::move(format.error()));
        return;
    }
    const auto same = std::find_if(formats.formats.begin(), formats.formats.end(),
                                   [&](const ConfigFormat& known) { return known.id == format->id; });
    if (same != formats.formats.end()) {
        *same = std::move(*format);
    } else {
        formats.formats.push_back(std::move(*format));
    }
}

} // namespace

ConfigFormats ConfigFormats::load(const std::filesystem::path& userFolder)
{
    ConfigFormats formats;
    for (const BuiltinFile& file : builtinFiles()) {
        if (file.path.starts_with("formats/config/")) {
            add(formats, parseFormat(file));
        }
    }
    if (userFolder.empty()) {
        return formats;
    }
    for (const std::filesystem::path& path : yamlFiles(userFolder / "formats" / "config")) {
        add(formats, readFile(path, ConfigDocument::maxFileBytes).and_then([&](const std::string& bytes) {
            return parseFormat(bytes, path.string());
        }));
    }
    return formats;
}

const ConfigFormat* ConfigFormats::detect(const ConfigDocument& document) const
{
    // The format that needs the most keys to be there is the most specific one.
    const ConfigFormat* best = nullptr;
    std::size_t mostKeys = 0;
    for (const ConfigFormat& format : formats) {
        for (const auto& group : format.recognisedBy) {
            if (group.size() > mostKeys && std::all_of(group.begin(), group.end(), [&](const std::string& key) {
                    return hasKey(document, key);
                })) {
                best = &format;
                mostKeys = group.size();
            }
        }
    }
    return best;
}

} // namespace headroom
