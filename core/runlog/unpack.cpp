// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/unpack.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace headroom {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t inputBytes = 256 << 10;
constexpr std::size_t outputBytes = 1 << 20;

Text systemError(int error)
{
    return Text(HEADROOM_TR("core", "the file can't be unpacked: %1"), {std::generic_category().message(error)});
}

/// A file without a name; where the file system can't, one whose name is taken away at once.
int temporaryFile()
{
    std::error_code noFolder;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(noFolder);
    const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0) {
        return unnamed;
    }
    std::string name = (folder / "headroom-XXXXXX").string();
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) {
        ::unlink(name.c_str());
    }
    return named;
}

/// Reads the packed bytes, writes the text and watches the limits.
class Transfer
{
public:
    Transfer(int input, int output, const UnpackLimits& limits)
        : m_input(input)
        , m_output(output)
        , m_limits(limits)
        , m_buffer(inputBytes)
    {
    }

    /// The next bytes; empty at the end and after an error.
    [[nodiscard]] std::string_view next()
    {
        ssize_t got = -1;
        do {
            got = ::read(m_input, m_buffer.data(), m_buffer.size());
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            problem = systemError(errno);
        }
        m_read += std::max<ssize_t>(got, 0);
        return {m_buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    }

    /// False when no more may be written; `problem` says why.
    [[nodiscard]] bool write(std::string_view text)
    {
        written += static_cast<std::int64_t>(text.size());
        if (written > m_limits.bytes || (written > m_limits.ratioFrom && written / m_limits.ratio > m_read)) {
            written -= static_cast<std::int64_t>(text.size());
            problem = Text(HEADROOM_TR("core", "unpacking stopped at %1 MiB: the file grows beyond what a log does"),
                           {std::to_string(written >> 20)});
            return false;
        }
        if (m_limits.keepGoing && !m_limits.keepGoing()) {
            problem = Text(HEADROOM_TR("core", "reading was cancelled"));
            return false;
        }
        while (!text.empty()) {
            const ssize_t done = ::write(m_output, text.data(), text.size());
            if (done < 0 && errno != EINTR) {
                problem = systemError(errno);
                return false;
            }
            text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
        }
        return true;
    }

    void damaged()
    {
        problem = Text(HEADROOM_TR("core", "the packed file is damaged or cut off; what could be unpacked was read"));
    }

    std::optional<Text> problem;
    std::int64_t written = 0;

private:
    int m_input;
    int m_output;
    const UnpackLimits& m_limits;
    std::vector<char> m_buffer;
    std::int64_t m_read = 0;
};

/// Files of several members, as `cat a.gz b.gz` and log rotation make them, are read to the end.
void unpackGzip(Transfer& transfer)
{
    z_stream stream{};
    constexpr int gzipOnly = 15 + 16;
    if (::inflateInit2(&stream, gzipOnly) != Z_OK) {
        transfer.damaged();
        return;
    }
    std::vector<char> output(outputBytes);
    int state = Z_OK;
    bool goesOn = true;
    for (std::string_view input = transfer.next(); goesOn && !input.empty(); input = transfer.next()) {
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data())); // NOLINT: zlib's signature
        stream.avail_in = static_cast<uInt>(input.size());
        do {
            if (state == Z_STREAM_END && stream.avail_in > 0) {
                ::inflateReset(&stream);
            }
            stream.next_out = reinterpret_cast<Bytef*>(output.data());
            stream.avail_out = static_cast<uInt>(output.size());
            state = ::inflate(&stream, Z_NO_FLUSH);
            const std::size_t got = output.size() - stream.avail_out;
            goesOn = (state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR)
                && transfer.write({output.data(), got});
        } while (goesOn && (stream.avail_in > 0 || stream.avail_out == 0) && state != Z_BUF_ERROR);
    }
    if (!transfer.problem && state != Z_STREAM_END) {
        transfer.damaged();
    }
    ::inflateEnd(&stream);
}

void unpackZstd(Transfer& transfer)
{
    ZSTD_DStream* const stream = ::ZSTD_createDStream();
    std::vector<char> output(outputBytes);
    std::size_t state = 0; // 0 at the end of a frame
    bool goesOn = stream != nullptr;
    for (std::string_view input = transfer.next(); goesOn && !input.empty(); input = transfer.next()) {
        ZSTD_inBuffer in{input.data(), input.size(), 0};
        bool isFull = false;
        while (goesOn && (in.pos < in.size || isFull)) {
            ZSTD_outBuffer out{output.data(), output.size(), 0};
            state = ::ZSTD_decompressStream(stream, &out, &in);
            isFull = out.pos == out.size;
            goesOn = ::ZSTD_isError(state) == 0 && transfer.write({output.data(), out.pos});
        }
    }
    if (!transfer.problem && state != 0) {
        transfer.damaged();
    }
    ::ZSTD_freeDStream(stream);
}

void appendUtf8(std::string& text, std::uint32_t code)
{
    const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xc0U | (code >> 6U));
        tail(0);
    } else if (code < 0x10000) {
        text += static_cast<char>(0xe0U | (code >> 12U));
        tail(6);
        tail(0);
    } else {
        text += static_cast<char>(0xf0U | (code >> 18U));
        tail(12);
        tail(6);
        tail(0);
    }
}

/// Halves of a pair that stand alone become U+FFFD, the replacement character.
void unpackUtf16(Transfer& transfer, bool bigEndian)
{
    constexpr std::uint32_t replacement = 0xfffd;
    std::uint32_t high = 0;
    int pending = -1;
    bool isFirst = true;
    std::string text;
    const auto unit = [&](std::uint32_t value) {
        if (high != 0 && value >= 0xdc00 && value < 0xe000) {
            appendUtf8(text, 0x10000 + ((high - 0xd800) << 10U) + (value - 0xdc00));
            high = 0;
            return;
        }
        if (high != 0) {
            appendUtf8(text, replacement);
        }
        high = value >= 0xd800 && value < 0xdc00 ? value : 0;
        if (high == 0 && !(isFirst && value == 0xfeff)) {
            appendUtf8(text, value >= 0xdc00 && value < 0xe000 ? replacement : value);
        }
        isFirst = false;
    };
    for (std::string_view input = transfer.next(); !input.empty(); input = transfer.next()) {
        text.clear();
        for (const char c : input) {
            const auto byte = static_cast<unsigned char>(c);
            if (pending < 0) {
                pending = byte;
            } else {
                const auto first = static_cast<std::uint32_t>(pending);
                unit(bigEndian ? first << 8U | byte : static_cast<std::uint32_t>(byte) << 8U | first);
                pending = -1;
            }
        }
        if (!transfer.write(text)) {
            return;
        }
    }
}

} // namespace

OpenFile::~OpenFile()
{
    if (m_number >= 0) {
        ::close(m_number);
    }
}

std::optional<Packing> packingOf(std::string_view head)
{
    if (head.starts_with("\x1f\x8b"sv)) {
        return Packing::Gzip;
    }
    if (head.starts_with("\x28\xb5\x2f\xfd"sv)) {
        return Packing::Zstd;
    }
    if (head.starts_with("\xff\xfe"sv)) {
        return Packing::Utf16LittleEndian;
    }
    return head.starts_with("\xfe\xff"sv) ? std::optional(Packing::Utf16BigEndian) : std::nullopt;
}

Result<Unpacked> unpack(const std::string& name, Packing packing, const UnpackLimits& limits)
{
    const OpenFile input(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (input.number() < 0) {
        return failure(systemError(errno), name);
    }
    Unpacked result;
    result.file = std::make_shared<const OpenFile>(temporaryFile());
    if (result.file->number() < 0) {
        return failure(systemError(errno), name);
    }
    Transfer transfer(input.number(), result.file->number(), limits);
    switch (packing) {
    case Packing::Gzip:
        unpackGzip(transfer);
        break;
    case Packing::Zstd:
        unpackZstd(transfer);
        break;
    case Packing::Utf16LittleEndian:
    case Packing::Utf16BigEndian:
        unpackUtf16(transfer, packing == Packing::Utf16BigEndian);
        break;
    }
    result.size = transfer.written;
    result.problem = std::move(transfer.problem);
    return result;
}

} // namespace headroom
