// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/event_file.h"

#include "runlog/record_draft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

namespace headroom {
namespace {

constexpr std::int64_t longestEvent = std::int64_t{16}
    << 20; ///< images and graphs are larger than scalars, not larger than this
constexpr std::int64_t headBytes = 12; ///< length and its checksum
constexpr std::int64_t tailBytes = 4; ///< checksum of the data
constexpr std::string_view scalarFormat = "tensorboard.scalar";

constexpr std::array<std::uint32_t, 256> crcTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
        }
        table[i] = crc;
    }
    return table;
}();

/// TensorFlow stores checksums turned and shifted, so that a checksum of checksums is not degenerate.
std::uint32_t maskedCrc(std::string_view bytes)
{
    return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

template <class T> T littleEndian(std::string_view bytes)
{
    T value{};
    std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
    return value;
}

/// Reads a message of protocol buffers field by field; anything that is not one ends it.
class Message
{
public:
    explicit Message(std::string_view text)
        : m_bytes(text)
    {
    }

    [[nodiscard]] bool next()
    {
        const std::optional<std::uint64_t> tag = varint();
        if (!tag || *tag >> 3U == 0) {
            return false;
        }
        field = *tag >> 3U;
        switch (*tag & 7U) {
        case 0: {
            const std::optional<std::uint64_t> value = varint();
            number = value.value_or(0);
            bytes = {};
            return value.has_value();
        }
        case 1:
            return take(8);
        case 2: {
            const std::optional<std::uint64_t> length = varint();
            return length && *length <= m_bytes.size() && take(static_cast<std::size_t>(*length));
        }
        case 5:
            return take(4);
        default:
            return false;
        }
    }

    std::uint64_t field = 0;
    std::uint64_t number = 0; ///< of a whole number
    std::string_view bytes; ///< of the other kinds

private:
    [[nodiscard]] std::optional<std::uint64_t> varint()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !m_bytes.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_bytes.front());
            m_bytes.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] bool take(std::size_t length)
    {
        if (length > m_bytes.size()) {
            return false;
        }
        bytes = m_bytes.substr(0, length);
        m_bytes.remove_prefix(length);
        return true;
    }

    std::string_view m_bytes;
};

/// A scalar kept as a tensor, as newer writers do: float_val, double_val or the raw content of either.
std::optional<double> scalarOfTensor(std::string_view tensor)
{
    constexpr std::uint64_t floatType = 1;
    constexpr std::uint64_t doubleType = 2;
    std::uint64_t type = 0;
    std::optional<double> value;
    for (Message message(tensor); message.next();) {
        const std::string_view bytes = message.bytes;
        if (message.field == 1) {
            type = message.number;
        } else if ((message.field == 5 || (message.field == 4 && type == floatType)) && bytes.size() == sizeof(float)) {
            value = littleEndian<float>(bytes);
        } else if ((message.field == 6 || (message.field == 4 && type == doubleType))
                   && bytes.size() == sizeof(double)) {
            value = littleEndian<double>(bytes);
        }
    }
    return value;
}

struct Scalar
{
    std::string_view tag;
    std::optional<double> value;
};

Scalar readValue(std::string_view bytes)
{
    Scalar scalar;
    for (Message message(bytes); message.next();) {
        if (message.field == 1) {
            scalar.tag = message.bytes;
        } else if (message.field == 2 && message.bytes.size() == sizeof(float)) {
            scalar.value = littleEndian<float>(message.bytes);
        } else if (message.field == 8) {
            scalar.value = scalarOfTensor(message.bytes);
        }
    }
    return scalar;
}

/// Gathers the scalars of a step, which are written one event each.
class Gatherer
{
public:
    Gatherer(const LineFormats& formats, std::size_t maxProblems)
        : m_format(formats.find(scalarFormat))
        , m_index(m_format == nullptr ? 0 : static_cast<std::size_t>(m_format - formats.formats.data()))
    {
        builder.begin(maxProblems);
    }

    void event(std::string_view bytes, std::int64_t number)
    {
        std::uint64_t step = 0;
        std::string_view summary;
        for (Message message(bytes); message.next();) {
            if (message.field == 2 && message.bytes.empty()) {
                step = message.number;
            } else if (message.field == 5) {
                summary = message.bytes;
            }
        }
        for (Message message(summary); message.next();) {
            if (message.field == 1) {
                scalar(readValue(message.bytes), step, number);
            }
        }
    }

    void finish()
    {
        if (!m_draft.isEmpty()) {
            builder.setLine(m_line);
            m_draft.finish(builder);
            builder.seen(m_index);
        }
        m_draft = {};
    }

    ChunkBuilder builder;

private:
    void scalar(const Scalar& scalar, std::uint64_t step, std::int64_t number)
    {
        if (m_format == nullptr || !scalar.value) {
            return;
        }
        const auto known = std::ranges::find(m_format->values, scalar.tag, &LineFormat::Value::key);
        if (known == m_format->values.end()) {
            return;
        }
        const auto now = static_cast<double>(step);
        if (!m_draft.isEmpty() && m_step != now) {
            finish();
        }
        if (m_draft.isEmpty()) {
            m_line = number;
            m_step = now;
        }
        m_draft.set("step", now);
        m_draft.set(known->rule.name, *scalar.value * known->rule.factor);
    }

    const LineFormat* m_format;
    std::size_t m_index;
    RecordDraft m_draft;
    double m_step = 0;
    std::int64_t m_line = 0;
};

} // namespace

std::uint32_t crc32c(std::string_view bytes)
{
    std::uint32_t crc = ~0U;
    for (const char c : bytes) {
        crc = (crc >> 8U) ^ crcTable[(crc ^ static_cast<unsigned char>(c)) & 0xffU];
    }
    return ~crc;
}

bool looksLikeEventFile(std::string_view head)
{
    return head.size() >= headBytes && littleEndian<std::uint64_t>(head.substr(0, 8)) <= longestEvent
        && littleEndian<std::uint32_t>(head.substr(8, 4)) == maskedCrc(head.substr(0, 8));
}

LogChunk readEventFile(ByteSource& source, std::int64_t fileSize, const LineFormats& formats, std::size_t maxProblems)
{
    Gatherer gatherer(formats, maxProblems);
    std::int64_t events = 0;
    for (std::int64_t at = 0; at < fileSize; ++events) {
        gatherer.builder.setLine(events);
        const std::string_view head = source.read(at, std::min(headBytes, fileSize - at));
        if (head.size() < headBytes) {
            gatherer.builder.problem(
                Severity::Note,
                Text(HEADROOM_TR("core", "the file ends inside this event; it may still be being written")));
            break;
        }
        if (!looksLikeEventFile(head)) {
            gatherer.builder.problem(Severity::Error,
                                     Text(HEADROOM_TR("core",
                                                      "the length of this event is damaged: what comes after "
                                                      "it can't be read")));
            break;
        }
        const auto length = littleEndian<std::int64_t>(head.substr(0, 8));
        const std::string_view body
            = source.read(at + headBytes, std::min(length + tailBytes, fileSize - at - headBytes));
        if (static_cast<std::int64_t>(body.size()) < length + tailBytes) {
            gatherer.builder.problem(
                Severity::Note,
                Text(HEADROOM_TR("core", "the file ends inside this event; it may still be being written")));
            break;
        }
        const std::string_view data = body.substr(0, static_cast<std::size_t>(length));
        if (littleEndian<std::uint32_t>(body.substr(data.size())) != maskedCrc(data)) {
            gatherer.builder.problem(Severity::Error,
                                     Text(HEADROOM_TR("core", "the checksum of this event is wrong; it is left out")));
        } else {
            gatherer.event(data, events);
        }
        at += headBytes + length + tailBytes;
    }
    gatherer.finish();
    LogChunk chunk = gatherer.builder.take();
    chunk.lineFeeds = events;
    return chunk;
}

} // namespace headroom
