// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/device_table.h"

#include "units/number.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr std::string_view formatId = "smi.csv_header";
constexpr std::int64_t pieceBytes = 1 << 20;
constexpr double largestMib = 1 << 30;

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> cells(std::string_view line)
{
    std::vector<std::string_view> list;
    while (true) {
        const std::size_t comma = line.find(',');
        list.push_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) {
            return list;
        }
        line.remove_prefix(comma + 1);
    }
}

struct Columns
{
    std::optional<std::size_t> index, name, used, free, total;
};

/// The columns of a header; none for other lines. A name is followed by its unit in brackets, or by nothing.
std::optional<Columns> columnsOf(std::string_view line)
{
    Columns columns;
    const std::vector<std::string_view> names = cells(line);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view name = trimmed(names[i].substr(0, names[i].find('[')));
        if (name == "index") {
            columns.index = i;
        } else if (name == "uuid" || name == "gpu_uuid" || name == "pci.bus_id" || name == "gpu_bus_id") {
            columns.name = i;
        } else if (name == "memory.used") {
            columns.used = i;
        } else if (name == "memory.free") {
            columns.free = i;
        } else if (name == "memory.total") {
            columns.total = i;
        }
    }
    return columns.used || (columns.free && columns.total) ? std::optional(columns) : std::nullopt;
}

class TableReader
{
public:
    explicit TableReader(const LineFormats& formats)
    {
        m_builder.begin(0);
        const auto format = std::ranges::find(formats.formats, formatId, &LineFormat::id);
        m_format = static_cast<std::size_t>(format - formats.formats.begin());
        m_isKnown = format != formats.formats.end();
    }

    void readLine(std::string_view line)
    {
        m_builder.setLine(m_lines++);
        if (const std::optional<Columns> header = columnsOf(line)) {
            m_columns = *header;
            if (m_isKnown) {
                m_builder.seen(m_format);
            }
            return;
        }
        const std::vector<std::string_view> row = cells(line);
        const std::optional<std::int64_t> total = bytesAt(row, m_columns.total);
        const std::optional<std::int64_t> free = bytesAt(row, m_columns.free);
        std::optional<std::int64_t> used = bytesAt(row, m_columns.used);
        used = !used && free && total && *free <= *total ? std::optional(*total - *free) : used;
        const std::int32_t device = deviceOf(row);
        if (total) {
            addCapacity(*total, device);
        }
        if (used) {
            LineRecord record;
            record.phase = Run::wholeStep;
            record.rank = device;
            record.step = sampleOf(device);
            record.deviceBytes = used;
            m_builder.record(record);
        }
    }

    [[nodiscard]] LogChunk take() { return m_builder.take(); }

private:
    static std::optional<std::int64_t> bytesAt(const std::vector<std::string_view>& row,
                                               std::optional<std::size_t> column)
    {
        if (!column || *column >= row.size()) {
            return std::nullopt;
        }
        std::string_view text = row[*column];
        text = trimmed(text.ends_with("MiB") ? text.substr(0, text.size() - 3) : text);
        const std::optional<double> mebibytes = parseReal(text);
        return mebibytes && *mebibytes >= 0 && *mebibytes <= largestMib
            ? std::optional(static_cast<std::int64_t>(*mebibytes * 1048576))
            : std::nullopt;
    }

    std::int32_t deviceOf(const std::vector<std::string_view>& row)
    {
        constexpr std::size_t mostDevices = 1024;
        if (m_columns.index && *m_columns.index < row.size()) {
            const std::optional<std::int64_t> index = parseInteger(row[*m_columns.index]);
            return index && *index >= 0 && *index < static_cast<std::int64_t>(mostDevices)
                ? static_cast<std::int32_t>(*index)
                : -1;
        }
        if (!m_columns.name || *m_columns.name >= row.size()) {
            return -1;
        }
        const auto known = std::ranges::find(m_names, row[*m_columns.name]);
        const auto place = static_cast<std::int32_t>(known - m_names.begin());
        if (known == m_names.end() && m_names.size() < mostDevices) {
            m_names.emplace_back(row[*m_columns.name]);
        }
        return place < static_cast<std::int32_t>(mostDevices) ? place : -1;
    }

    std::uint32_t sampleOf(std::int32_t device)
    {
        const auto place = static_cast<std::size_t>(device + 1);
        m_samples.resize(std::max(m_samples.size(), place + 1));
        return ++m_samples[place];
    }

    void addCapacity(std::int64_t bytes, std::int32_t device)
    {
        LogFact fact;
        fact.kind = LineKind::Capacity;
        fact.format = formatId;
        fact.rank = device;
        fact.line = m_lines - 1;
        fact.fields.push_back({"capacity_bytes", {}, static_cast<double>(bytes)});
        m_builder.fact(std::move(fact));
    }

    ChunkBuilder m_builder;
    std::size_t m_format = 0;
    bool m_isKnown = false;
    Columns m_columns;
    std::int64_t m_lines = 0;
    std::vector<std::string> m_names; ///< of devices without an index
    std::vector<std::uint32_t> m_samples; ///< by device + 1
};

} // namespace

bool looksLikeDeviceTable(std::string_view head)
{
    const std::size_t feed = head.find('\n');
    const std::string_view line = trimmed(head.substr(0, feed));
    const auto isHeader = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
            || std::string_view(" .,_[]%MiBW").find(c) != std::string_view::npos;
    };
    return feed != std::string_view::npos && line.find('=') == std::string_view::npos
        && line.find(',') != std::string_view::npos && line.find(':') == std::string_view::npos && columnsOf(line)
        && std::ranges::count_if(line, isHeader) * 10 >= static_cast<std::ptrdiff_t>(line.size()) * 9;
}

LogChunk readDeviceTable(ByteSource& source, std::int64_t size, const LineFormats& formats)
{
    TableReader reader(formats);
    std::int64_t lineFeeds = 0;
    std::int64_t at = 0;
    bool endsInsideLine = false;
    while (at < size) {
        const std::string_view text = source.read(at, std::min(pieceBytes, size - at));
        const bool isLast = at + static_cast<std::int64_t>(text.size()) >= size || text.empty();
        std::size_t begin = 0;
        for (std::size_t feed = text.find('\n'); feed != std::string_view::npos; feed = text.find('\n', begin)) {
            reader.readLine(text.substr(begin, feed - begin));
            begin = feed + 1;
            ++lineFeeds;
        }
        if (begin == 0 || isLast) { // half a row, or one without an end
            endsInsideLine = begin < text.size();
            break;
        }
        at += static_cast<std::int64_t>(begin);
    }
    LogChunk chunk = reader.take();
    chunk.lineFeeds = lineFeeds;
    chunk.endsInsideLine = endsInsideLine;
    return chunk;
}

} // namespace headroom
