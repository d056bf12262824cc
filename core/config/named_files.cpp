// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/named_files.h"

#include "config/format_keys.h"
#include "config/key_path.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

using Role = NamedFile::Role;

/// A repository is seldom deeper than this.
constexpr int mostFoldersAbove = 6;

bool endsLikeConfig(std::string_view text)
{
    constexpr std::array endings{".json", ".yaml", ".yml", ".toml", ".py"};
    return std::any_of(endings.begin(), endings.end(), [text](const char* ending) { return text.ends_with(ending); });
}

/// "training: gpt3/5b" of a list of defaults stands for training/gpt3/5b.yaml, a text alone for a file beside the
/// config. What Hydra itself is told, and values that are switched off, name no file.
std::string defaultsFile(const std::string& group, const std::string& value)
{
    if (value.empty() || value == "_self_" || value == "null" || value == "???" || group.starts_with("override ")) {
        return {};
    }
    std::string name = endsLikeConfig(value) ? value : value + ".yaml";
    if (group.empty()) {
        return name;
    }
    const std::size_t blank = group.rfind(' '); // "optional training"
    const std::string folder = group.substr(blank == std::string::npos ? 0 : blank + 1);
    return folder.substr(0, folder.find('@')) + "/" + name;
}

/// Later entries win over earlier ones, and the config itself stands where _self_ does, or else at the end (Hydra since
/// 1.1).
void addDefaults(std::vector<NamedFile>& files, const ConfigDocument& document, const std::string& key)
{
    const auto& settings = document.settings();
    const bool hasSelf = std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) {
        return setting.text == "_self_" && isBelow(setting.key, key);
    });
    Role role = Role::Below;
    for (const Setting& setting : settings) {
        if (!isBelow(setting.key, key)) {
            continue;
        }
        if (setting.text == "_self_") {
            role = Role::Above;
            continue;
        }
        const std::size_t close = setting.key.find(']');
        std::string group = close == std::string::npos ? std::string{} : setting.key.substr(close + 1);
        group.erase(0, group.starts_with('.') ? 1 : 0);
        if (group.size() > 1 && group.starts_with('"') && group.ends_with('"')) {
            group = group.substr(1, group.size() - 2);
        }
        if (std::string file = defaultsFile(group, setting.text); !file.empty()) {
            files.push_back({std::move(file), hasSelf ? role : Role::Below, &setting});
        }
    }
}

std::optional<std::filesystem::path> fileAt(const std::filesystem::path& path)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) {
        return path;
    }
    if (std::filesystem::is_regular_file(path / "config.json", error)) {
        return path / "config.json";
    }
    return std::nullopt;
}

} // namespace

std::vector<NamedFile> namedFiles(const ConfigDocument& document, const ConfigFormat& format)
{
    std::vector<NamedFile> files;
    const auto add = [&](const std::vector<std::string>& keys, Role role) {
        for (const std::string& key : keys) {
            for (const Setting* setting : itemsOf(document, key)) {
                files.push_back({setting->text, role, setting});
            }
        }
    };
    add(format.files.below, Role::Below);
    for (const std::string& key : format.files.defaultsLists) {
        addDefaults(files, document, key);
    }
    add(format.files.beside, Role::Beside);
    add(format.files.above, Role::Above);
    add(format.files.models, Role::Model);
    return files;
}

std::optional<std::filesystem::path> findNamedFile(const std::string& config, const NamedFile& file)
{
    constexpr std::size_t longestPath = 4096;
    if (!file.setting->isKnown || file.text.empty() || file.text.size() > longestPath
        || file.text.find('\0') != std::string::npos) {
        return std::nullopt;
    }
    const std::filesystem::path named(file.text);
    if (named.is_absolute()) {
        return fileAt(named);
    }
    std::filesystem::path folder = std::filesystem::path(config).parent_path();
    for (int above = 0; above <= mostFoldersAbove; ++above) {
        if (auto found = fileAt(folder / named)) {
            return found;
        }
        std::filesystem::path next = (folder / "..").lexically_normal();
        if (next == folder) {
            break;
        }
        folder = std::move(next);
    }
    return std::nullopt;
}

bool mustBeFile(const NamedFile& file)
{
    constexpr std::array beginnings{"/", "./", "../", "~"};
    const bool isPath = std::any_of(beginnings.begin(), beginnings.end(),
                                    [&](const char* beginning) { return file.text.starts_with(beginning); });
    return isPath || (file.role != Role::Model && endsLikeConfig(file.text));
}

} // namespace headroom
