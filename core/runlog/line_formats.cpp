// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/line_format.h"

#include "config/builtin_files.h"
#include "config/file_bytes.h"

#include <algorithm>

namespace headroom {
namespace {

constexpr std::int64_t largestFile = 1 << 20;
constexpr std::size_t mostFormats = 4096;

/// Gathers the formats of several files and lets them refer to one another.
class Gathering
{
public:
    void add(FormatFile file)
    {
        m_problems.insert(m_problems.end(), file.problems.begin(), file.problems.end());
        for (FormatFile::Entry& entry : file.entries) {
            const auto same = std::ranges::find(m_entries, entry.format.id,
                                                [](const Placed& placed) { return placed.entry.format.id; });
            if (same != m_entries.end()) {
                *same = {std::move(entry), file.name};
            } else if (m_entries.size() < mostFormats) {
                m_entries.push_back({std::move(entry), file.name});
            }
        }
    }

    [[nodiscard]] LineFormats link()
    {
        LineFormats result;
        for (Placed& placed : m_entries) {
            for (const std::string& row : placed.entry.rows) {
                if (const auto index = indexOf(placed, row)) {
                    placed.entry.format.rows.push_back(*index);
                }
            }
            if (!placed.entry.pairs.empty()) {
                placed.entry.format.pairs = indexOf(placed, placed.entry.pairs);
            }
        }
        for (Placed& placed : m_entries) {
            result.formats.push_back(std::move(placed.entry.format));
        }
        result.problems = std::move(m_problems);
        return result;
    }

private:
    struct Placed
    {
        FormatFile::Entry entry;
        std::string file;
    };

    [[nodiscard]] std::optional<std::size_t> indexOf(const Placed& from, const std::string& id)
    {
        const auto found
            = std::ranges::find(m_entries, id, [](const Placed& placed) { return placed.entry.format.id; });
        if (found == m_entries.end()) {
            m_problems.push_back({Severity::Error, from.file, from.entry.line,
                                  Text{HEADROOM_TR("core", "there is no log format “%1”"), {id}}});
            return std::nullopt;
        }
        return static_cast<std::size_t>(found - m_entries.begin());
    }

    std::vector<Placed> m_entries;
    std::vector<Problem> m_problems;
};

} // namespace

LineFormats LineFormats::load(const std::filesystem::path& userFolder)
{
    Gathering gathering;
    for (const BuiltinFile& file : builtinFiles()) {
        if (file.path.starts_with("formats/log/")) {
            gathering.add(parseLineFormats(file.content, std::string(file.path)));
        }
    }
    if (!userFolder.empty()) {
        for (const std::filesystem::path& path : yamlFiles(userFolder / "formats" / "log")) {
            const Result<std::string> bytes = readFile(path, largestFile);
            FormatFile broken{path.string(), {}, {}};
            if (!bytes) {
                broken.problems.push_back(bytes.error());
            }
            gathering.add(bytes ? parseLineFormats(*bytes, path.string()) : std::move(broken));
        }
    }
    return gathering.link();
}

const LineFormats& LineFormats::builtin()
{
    static const LineFormats formats = load();
    return formats;
}

const LineFormat* LineFormats::find(std::string_view id) const
{
    const auto found = std::ranges::find(formats, id, &LineFormat::id);
    return found == formats.end() ? nullptr : &*found;
}

} // namespace headroom
