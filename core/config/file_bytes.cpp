// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace headroom {

namespace {

/// A file descriptor that closes itself.
class Descriptor
{
public:
    explicit Descriptor(int number)
        : m_number(number)
    {
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }

    [[nodiscard]] int number() const { return m_number; }
    [[nodiscard]] bool isOpen() const { return m_number >= 0; }
    bool close() { return m_number < 0 || ::close(std::exchange(m_number, -1)) == 0; }

private:
    int m_number;
};

Text reasonOf(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return Text{HEADROOM_TR("core", "there is no such file")};
    case EACCES:
    case EPERM:
        return Text{HEADROOM_TR("core", "you have no permission for this file")};
    case EISDIR:
        return Text{HEADROOM_TR("core", "this is a folder, not a file")};
    case ENOSPC:
    case EDQUOT:
        return Text{HEADROOM_TR("core", "there is no space left on the disk")};
    default:
        return Text{HEADROOM_TR("core", "the system refused: %1"), {std::strerror(error)}};
    }
}

Result<std::string> readAll(int file, std::size_t limit, const std::string& name)
{
    std::string bytes;
    std::array<char, 65536> buffer{};
    while (bytes.size() <= limit) {
        const ssize_t count = ::read(file, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return failure(reasonOf(errno), name);
        }
        if (count == 0) {
            return bytes;
        }
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return failure(Text{HEADROOM_TR("core", "the file is larger than %1 MiB, so it is hardly a config"),
                        {std::to_string(limit >> 20)}},
                   name);
}

/// Where the bytes go: the end of a chain of links, even when nothing is there yet.
std::filesystem::path targetOf(std::filesystem::path path)
{
    constexpr int maxLinks = 40;
    std::error_code error;
    for (int i = 0; i < maxLinks && std::filesystem::is_symlink(path, error); ++i) {
        const auto target = std::filesystem::read_symlink(path, error);
        if (error) {
            break;
        }
        path = target.is_absolute() ? target : path.parent_path() / target;
    }
    return path;
}

bool writeAll(int file, const std::string& bytes)
{
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    return true;
}

/// Owner and mode of the file that is replaced; the owner can only be kept by root and matters little otherwise.
bool takeOver(int file, const std::filesystem::path& old)
{
    struct stat status
    {
    };
    if (::stat(old.c_str(), &status) != 0) {
        return errno == ENOENT;
    }
    if (::fchown(file, status.st_uid, status.st_gid) != 0 && errno != EPERM) {
        return false;
    }
    return ::fchmod(file, status.st_mode & 07777) == 0;
}

/// A rename is lasting once its folder is on the disk; some file systems can't sync folders, which is no failure.
void syncFolder(const std::filesystem::path& folder)
{
    const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.isOpen()) {
        static_cast<void>(::fsync(descriptor.number()));
    }
}

} // namespace

Result<std::string> readFile(const std::filesystem::path& path, std::size_t limit)
{
    const std::string name = path.string();
    // Not blocking: a pipe that nobody writes to must not hang us.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status
    {
    };
    if (!file.isOpen() || ::fstat(file.number(), &status) != 0) {
        return failure(reasonOf(errno), name);
    }
    if (S_ISDIR(status.st_mode)) {
        return failure(reasonOf(EISDIR), name);
    }
    if (!S_ISREG(status.st_mode)) {
        return failure(Text{HEADROOM_TR("core", "this is not a regular file")}, name);
    }
    if (static_cast<std::uintmax_t>(status.st_size) > limit) {
        return failure(Text{HEADROOM_TR("core", "the file is larger than %1 MiB, so it is hardly a config"),
                            {std::to_string(limit >> 20)}},
                       name);
    }
    return readAll(file.number(), limit, name);
}

std::vector<std::filesystem::path> yamlFiles(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> files;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() == ".yaml" || entry->path().extension() == ".yml") {
            files.push_back(entry->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

Result<void> writeFileAtomically(const std::filesystem::path& path, const std::string& bytes)
{
    const std::filesystem::path target = targetOf(path);
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    std::error_code error;
    if (std::filesystem::is_directory(target, error)) {
        return failure(reasonOf(EISDIR), path.string());
    }
    std::filesystem::path temporary;
    int number = -1;
    for (int attempt = 0; number < 0 && attempt < 100; ++attempt) {
        temporary = folder
            / ("." + target.filename().string() + "." + std::to_string(::getpid()) + "-" + std::to_string(attempt));
        number = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (number < 0 && errno != EEXIST) {
            break;
        }
    }
    Descriptor file(number);
    if (!file.isOpen()) {
        return failure(reasonOf(errno), path.string());
    }
    const bool isWritten = takeOver(file.number(), target) && writeAll(file.number(), bytes)
        && ::fsync(file.number()) == 0 && file.close() && ::rename(temporary.c_str(), target.c_str()) == 0;
    if (!isWritten) {
        const int reason = errno;
        ::unlink(temporary.c_str());
        return failure(reasonOf(reason), path.string());
    }
    syncFolder(folder);
    return {};
}

} // namespace headroom
