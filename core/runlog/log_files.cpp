// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_files.h"

#include "runlog/device_table.h"
#include "runlog/event_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t headBytes = 4096;

Text openingFailed(int error)
{
    switch (error) {
    case ENOENT:
        return Text(HEADROOM_TR("core", "there is no such file"));
    case EACCES:
    case EPERM:
        return Text(HEADROOM_TR("core", "reading it is not permitted"));
    case EINVAL:
        return Text(HEADROOM_TR("core", "it is not a regular file"));
    default:
        return Text(HEADROOM_TR("core", "it can't be opened: %1"), {std::generic_category().message(error)});
    }
}

struct Signature
{
    std::string_view bytes;
    std::string_view program; ///< that unpacks it
};

using namespace std::string_view_literals;
constexpr std::array<Signature, 5> compressions{{{"\x1f\x8b"sv, "gunzip"sv},
                                                 {"\x28\xb5\x2f\xfd"sv, "unzstd"sv},
                                                 {"\xfd\x37zXZ\0"sv, "unxz"sv},
                                                 {"BZh"sv, "bunzip2"sv},
                                                 {"PK\x03\x04"sv, "unzip"sv}}};

/// Control characters that no log has, in more than one byte of sixteen. Runs of zeros are no sign: logs that were
/// truncated while open begin with one, and after a machine has stopped they end with one.
bool looksBinary(std::string_view head)
{
    constexpr std::size_t run = 8;
    std::size_t bytes = 0;
    std::size_t controls = 0;
    for (std::size_t at = 0; at < head.size();) {
        const std::size_t zeros = std::min(head.find_first_not_of('\0', at), head.size()) - at;
        if (zeros >= run) {
            at += zeros;
            continue;
        }
        const auto byte = static_cast<unsigned char>(head[at++]);
        controls += byte < 0x20 && !(byte >= '\a' && byte <= '\r') && byte != 0x1b ? 1 : 0;
        ++bytes;
    }
    return controls > bytes / 16;
}

} // namespace

FileState stateOf(const std::string& name)
{
    struct stat status = {};
    if (::stat(name.c_str(), &status) != 0) {
        return {.name = name};
    }
    return {name, status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

LogFile inspectLogFile(const std::string& name, int& error)
{
    LogFile file{.name = name, .rank = rankOfFileName(name), .unpacked = {}, .problem = {}};
    const auto leaveOut = [&](Severity severity, Text text) {
        file.readable = false;
        file.problem = Problem{severity, name, 0, std::move(text)};
    };
    FileBytes bytes;
    error = bytes.open(name);
    if (error != 0) {
        leaveOut(Severity::Warning, openingFailed(error));
        return file;
    }
    file.size = bytes.size();
    const std::string_view head = bytes.read(0, std::min(file.size, headBytes));
    if (const std::optional<Packing> packing = packingOf(head)) {
        Result<Unpacked> unpacked = unpack(name, *packing);
        if (!unpacked) {
            leaveOut(Severity::Error, unpacked.error().text);
            return file;
        }
        file.unpacked = std::move(unpacked->file);
        file.size = unpacked->size;
        if (unpacked->problem) {
            file.problem = Problem{Severity::Warning, name, 0, *std::move(unpacked->problem)};
        }
        return file;
    }
    file.isEventFile = looksLikeEventFile(head);
    if (file.isEventFile) {
        return file;
    }
    file.isDeviceTable = looksLikeDeviceTable(head);
    if (file.size == 0) {
        leaveOut(Severity::Warning, Text(HEADROOM_TR("core", "the file is empty")));
    } else if (auto unreadable = unreadableContent(head)) {
        leaveOut(Severity::Error, *std::move(unreadable));
    }
    return file;
}

Result<std::vector<std::string>> logFilesIn(const fs::path& folder)
{
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        std::error_code noStatus;
        if (entry->is_regular_file(noStatus) && !entry->path().filename().string().starts_with('.')) {
            names.push_back(entry->path().string());
        }
    }
    if (error) {
        return failure(openingFailed(error.value()), folder.string());
    }
    if (names.empty()) {
        return failure(Text(HEADROOM_TR("core", "the folder holds no files")), folder.string());
    }
    std::ranges::sort(names, naturallyLess);
    return names;
}

Result<std::vector<LogFile>> listLogFiles(std::span<const fs::path> paths)
{
    std::vector<LogFile> files;
    for (const fs::path& path : paths) {
        std::error_code noStatus;
        const bool isFolder = fs::is_directory(path, noStatus);
        const Result<std::vector<std::string>> names
            = isFolder ? logFilesIn(path) : Result<std::vector<std::string>>({path.string()});
        if (!names) {
            return tl::unexpected(names.error());
        }
        for (const std::string& name : *names) {
            int error = 0;
            files.push_back(inspectLogFile(name, error));
            if (!isFolder && paths.size() == 1) {
                files.back().rank = -1; // a log of its own is one of all ranks, whatever number its name has
            }
            if (error != 0 && !isFolder) {
                return failure(openingFailed(error), name);
            }
        }
    }
    if (files.empty()) {
        return failure(Text(HEADROOM_TR("core", "no log file was named")));
    }
    if (files.size() > std::numeric_limits<std::uint16_t>::max()) {
        return failure(
            Text(HEADROOM_TR("core", "%1 files are more than can be read at once"), {std::to_string(files.size())}));
    }
    return files;
}

std::optional<Text> unreadableContent(std::string_view head)
{
    for (const Signature& compression : compressions) {
        if (head.starts_with(compression.bytes)) {
            return Text(HEADROOM_TR("core", "the file is compressed; unpack it with %1 first"),
                        {std::string(compression.program)});
        }
    }
    if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
        return Text(HEADROOM_TR("core", "the file is UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8 first"));
    }
    if (looksBinary(head)) {
        return Text(HEADROOM_TR("core", "the file holds binary data, not text"));
    }
    return {};
}

std::int32_t rankOfFileName(const fs::path& path)
{
    constexpr std::size_t longest = 5;
    const auto number = [](std::string_view text) -> std::int32_t {
        const bool isNumber
            = !text.empty() && text.size() <= longest && text.find_first_not_of("0123456789") == std::string_view::npos;
        std::int32_t value = 0;
        for (const char c : isNumber ? text : std::string_view()) {
            value = value * 10 + (c - '0');
        }
        return isNumber && value <= std::numeric_limits<std::int16_t>::max() ? value : -1;
    };
    std::string name = path.filename().string();
    name = name.substr(0, name.find('.')); // rank3.log.gz
    if (name == "stdout" || name == "stderr") {
        return number(path.parent_path().filename().string());
    }
    const std::size_t word = name.rfind("rank");
    if (word == std::string::npos) {
        return number(name);
    }
    const std::size_t first = std::min(name.find_first_not_of("_-", word + 4), name.size());
    const std::size_t end = std::min(name.find_first_not_of("0123456789", first), name.size());
    return number(std::string_view(name).substr(first, end - first));
}

bool naturallyLess(std::string_view a, std::string_view b)
{
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    const auto numberAt = [&](std::string_view text, std::size_t at) {
        const std::size_t first = std::min(text.find_first_not_of('0', at), text.size());
        const auto* const end = std::find_if_not(text.begin() + first, text.end(), isDigit);
        return text.substr(first, static_cast<std::size_t>(end - text.begin()) - first);
    };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (isDigit(a[i]) && isDigit(b[j])) {
            const std::string_view x = numberAt(a, i);
            const std::string_view y = numberAt(b, j);
            if (x != y) {
                return x.size() != y.size() ? x.size() < y.size() : x < y;
            }
            i = static_cast<std::size_t>(x.data() + x.size() - a.data());
            j = static_cast<std::size_t>(y.data() + y.size() - b.data());
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i;
            ++j;
        }
    }
    const std::size_t restA = a.size() - i;
    const std::size_t restB = b.size() - j;
    return restA != restB ? restA < restB : a < b; // "01" and "1" are equal as numbers, not as names
}

FileBytes::~FileBytes()
{
    close();
}

void FileBytes::close()
{
    if (m_file >= 0) {
        ::close(m_file);
    }
    m_file = -1;
}

int FileBytes::open(const LogFile& file)
{
    if (file.unpacked == nullptr) {
        return open(file.name);
    }
    close();
    m_error = 0;
    m_file = ::fcntl(file.unpacked->number(), F_DUPFD_CLOEXEC, 0);
    return m_file < 0 ? errno : 0;
}

int FileBytes::open(const std::string& name)
{
    close();
    m_error = 0;
    // O_NONBLOCK: opening a named pipe must not wait for its writer.
    m_file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (m_file < 0) {
        return errno;
    }
    struct stat status = {};
    if (::fstat(m_file, &status) != 0) {
        return errno;
    }
    if (!S_ISREG(status.st_mode)) {
        close();
        return EINVAL;
    }
    ::posix_fadvise(m_file, 0, 0, POSIX_FADV_SEQUENTIAL);
    return 0;
}

std::string_view FileBytes::read(std::int64_t offset, std::int64_t length)
{
    return read(m_buffer, offset, length);
}

std::string_view FileBytes::readAside(std::int64_t offset, std::int64_t length)
{
    return read(m_asideBuffer, offset, length);
}

std::string_view FileBytes::read(std::vector<char>& buffer, std::int64_t offset, std::int64_t length)
{
    const auto wanted = static_cast<std::size_t>(length);
    if (buffer.size() < wanted) {
        buffer.resize(wanted);
    }
    std::size_t done = 0;
    while (done < wanted) {
        const ssize_t got
            = ::pread(m_file, buffer.data() + done, wanted - done, offset + static_cast<std::int64_t>(done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            m_error = m_error == 0 ? errno : m_error;
        }
        if (got <= 0) {
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    return {buffer.data(), done};
}

std::int64_t FileBytes::size() const
{
    struct stat status = {};
    return m_file >= 0 && ::fstat(m_file, &status) == 0 ? status.st_size : -1;
}

} // namespace headroom
