// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/followed_log.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/stat.h>

namespace headroom {
namespace {

constexpr std::int64_t pieceBytes = 16 << 20;
constexpr std::int64_t rememberedBytes = 256;
constexpr std::int64_t blockBytes = 32 << 10; ///< within which the lines of a block follow its head
constexpr std::int64_t searchBytes = 1 << 20;

/// Whether the file's name is that of a log with something behind it: "train.log.1", "train.log-20260105".
bool isRotatedName(const std::string& name, const std::string& log)
{
    const auto continues = [](char c) { return c == '.' || c == '-' || c == '_' || c == '~'; };
    return name.size() > log.size() && name.starts_with(log) && continues(name[log.size()]);
}

/// Whether the file has the same content as far as another was read.
bool hasContent(const FileState& file, const LogPlace& place)
{
    FileBytes bytes;
    const auto length = static_cast<std::int64_t>(place.last.size());
    return length > 0 && file.size >= place.bytes && bytes.open(file.name) == 0
        && bytes.read(place.bytes - length, length) == place.last;
}

tl::unexpected<Problem> cantBeOpened(int error, const std::filesystem::path& path)
{
    return failure(Text{HEADROOM_TR("core", "it can't be opened: %1"), {std::generic_category().message(error)}},
                   path.string());
}

} // namespace

FollowedLog::FollowedLog(std::filesystem::path path, const AnchorSet* anchors, std::int32_t rank, LogPlace start)
    : m_path(std::move(path))
    , m_anchors(anchors == nullptr ? AnchorSet::builtin() : *anchors)
    , m_rank(rank)
    , m_scanner(m_anchors, {})
    , m_search(m_anchors)
    , m_assembler(m_anchors.formats())
    , m_start(std::move(start))
{
    m_run = &m_assembler.update();
}

LogPlace FollowedLog::place(FileState file) const
{
    const std::int64_t lines = m_run->lineCount - (m_countsLast || m_endsInsideLine ? 1 : 0) - m_linesBefore;
    return {std::move(file), m_end, lines, m_lastBytes};
}

/// What was read before stays.
void FollowedLog::leave(FileState file)
{
    m_left = place(std::move(file));
    m_run->lineCount += m_end > 0 && !m_endsInsideLine ? 1 : 0;
}

void FollowedLog::begin()
{
    m_linesBefore = m_run->lineCount;
    m_endsInsideLine = false;
    m_end = 0;
    m_wholeEnd = 0;
    m_lastSize = -1;
    m_lastBytes.clear();
    m_assembler.beginFile(m_path.string(), 0, m_rank);
}

bool FollowedLog::isReading(const FileState& file) const
{
    if (m_bytes == nullptr) {
        return false;
    }
    return m_file.isSameFile(file) || (isRotatedName(file.name, m_path.string()) && hasContent(file, place(m_file)));
}

std::optional<LogPlace> FollowedLog::placeIn(const FileState& file) const
{
    const bool mayBe = m_left && (m_left->file.isSameFile(file) || isRotatedName(file.name, m_path.string()));
    return mayBe && hasContent(file, *m_left) ? m_left : std::nullopt;
}

Result<FollowedLog::Change> FollowedLog::poll()
{
    Change change{.firstRecord = m_run->size(), .firstStepRow = m_run->steps.size()};
    const std::size_t facts = m_run->facts.size();
    m_run->lineCount -= m_countsLast ? 1 : 0;
    m_countsLast = false;
    const std::int64_t bytes = m_run->byteCount;
    if (auto opened = openAgain(change); !opened) {
        return tl::unexpected(opened.error());
    }
    if (m_bytes != nullptr) {
        const std::int64_t size = m_bytes->size();
        if (wasRewritten(size)) {
            change.startedAnew = true;
            leave({.name = m_path.string()});
            begin();
        }
        readAdded(m_lastSize == size);
        m_lastSize = size;
    }
    if (change.startedAnew || m_run->byteCount != bytes) {
        m_run = &m_assembler.update();
    }
    m_countsLast = m_end > 0 && !m_endsInsideLine;
    m_run->lineCount += m_countsLast ? 1 : 0;
    change.isEmpty = m_run->size() == change.firstRecord && m_run->steps.size() == change.firstStepRow
        && m_run->facts.size() == facts;
    return change;
}

/// Opens the file where it isn't open, or where its name now stands for another.
Result<void> FollowedLog::openAgain(Change& change)
{
    struct stat status = {};
    if (::stat(m_path.c_str(), &status) != 0) {
        const bool mayCome = errno == ENOENT || errno == ESTALE || errno == ENOTDIR;
        return mayCome ? Result<void>() : Result<void>(cantBeOpened(errno, m_path));
    }
    const bool isSame = m_bytes != nullptr && status.st_dev == m_file.device && status.st_ino == m_file.inode;
    if (isSame) {
        return {};
    }
    auto bytes = std::make_unique<FileBytes>();
    const int error = bytes->open(m_path.string());
    if (error != 0) {
        return error == ENOENT ? Result<void>() : Result<void>(cantBeOpened(error, m_path));
    }
    if (m_bytes != nullptr) {
        readAdded(true, true); // the old file to its end: its writer has gone on to the new one
        leave(m_file);
        m_leftBytes = std::move(m_bytes);
        change.startedAnew = true;
    }
    m_bytes = std::move(bytes);
    m_file = {m_path.string(), status.st_dev, status.st_ino, status.st_size, 0, 0};
    begin();
    if (m_start.bytes > 0) {
        LogChunk known;
        known.lineFeeds = m_start.lineFeeds;
        m_assembler.add(std::move(known));
        m_run->lineCount -= m_start.lineFeeds + 1;
        m_linesBefore = -m_start.lineFeeds - 1;
        m_end = m_start.bytes;
        m_lastBytes = std::move(m_start.last);
        m_start = {};
    }
    return {};
}

bool FollowedLog::wasRewritten(std::int64_t size)
{
    if (size < m_end) {
        return true;
    }
    const auto length = static_cast<std::int64_t>(m_lastBytes.size());
    return m_bytes->read(m_end - length, length) != m_lastBytes;
}

/// Behind the last line feed, or the end of what was read where there is none after it.
std::int64_t FollowedLog::endOfWholeLines(std::int64_t size)
{
    for (std::int64_t end = size; end > m_end;) {
        const std::int64_t begin = std::max(m_end, end - searchBytes);
        const std::string_view text = m_bytes->read(begin, end - begin);
        const std::size_t feed = text.rfind('\n');
        if (feed != std::string_view::npos) {
            return begin + static_cast<std::int64_t>(feed) + 1;
        }
        end = begin;
    }
    return m_end;
}

/// The begin of the first line whose block may go on behind `end`: the rest of it is still to come.
std::int64_t FollowedLog::beforeOpenBlock(std::int64_t end)
{
    const std::int64_t begin = std::max(m_end, end - blockBytes);
    const std::string_view text = m_bytes->read(begin, end - begin);
    for (const AnchorHit& hit : m_search.scan(text)) {
        const std::string_view rest = text.substr(hit.begin);
        const auto goesOn = [&](std::uint16_t index) {
            const LineFormat& format = m_anchors.formats().formats[index];
            const int reach = std::max(format.reach, format.lines - 1);
            const std::string_view below = rest.substr(std::min(rest.find('\n'), rest.size()));
            return reach > 0 && std::ranges::count(rest, '\n') <= reach
                && (format.until.empty() || below.find(format.until) == std::string_view::npos);
        };
        if (std::ranges::any_of(m_anchors.formatsOf(hit.anchor), goesOn)) {
            const std::size_t feed = text.substr(0, hit.begin).rfind('\n');
            return feed == std::string_view::npos ? begin : begin + static_cast<std::int64_t>(feed) + 1;
        }
    }
    return end;
}

/// A line belongs to the piece with the line feed before it, so pieces begin and end one byte earlier.
LogChunk FollowedLog::scanned(std::int64_t from, std::int64_t to, std::int64_t fileEnd)
{
    const std::size_t room = m_problems >= Run::maxProblems ? 0 : Run::maxProblems - m_problems;
    return m_scanner.scan(*m_bytes, std::max<std::int64_t>(from - 1, 0), to - 1, fileEnd, room);
}

std::optional<Run> FollowedLog::runWithOpenBlock()
{
    if (m_bytes == nullptr || m_wholeEnd <= m_end) {
        return std::nullopt;
    }
    RunAssembler assembler = m_assembler;
    LogChunk chunk = scanned(m_end, m_wholeEnd, m_wholeEnd);
    chunk.endsInsideLine = false;
    assembler.add(std::move(chunk));
    Run run = assembler.take();
    run.byteCount += m_wholeEnd - m_end;
    return run;
}

/// Reads whole lines. Blocks that may go on wait until the file rests or their lines are there. Nothing comes any more
/// to a finished file, so what stands behind its last line feed is read as it is when a log is opened.
void FollowedLog::readAdded(bool toTheEnd, bool isFinished)
{
    const std::int64_t size = m_bytes->size();
    const std::int64_t lines = endOfWholeLines(size);
    const bool endsInsideLine = isFinished && lines < size;
    const std::int64_t whole = endsInsideLine ? size : lines;
    const std::int64_t end = toTheEnd ? whole : beforeOpenBlock(whole);
    m_wholeEnd = whole;
    for (std::int64_t from = m_end; from < end;) {
        const std::int64_t to = std::min(end, from + pieceBytes);
        LogChunk chunk = scanned(from, to == end && endsInsideLine ? end + 1 : to, whole);
        m_problems += chunk.problems.size();
        chunk.endsInsideLine = chunk.endsInsideLine && endsInsideLine;
        m_assembler.add(std::move(chunk));
        from = to;
    }
    if (end > m_end) {
        m_run->byteCount += end - m_end;
        m_end = end;
        m_endsInsideLine = endsInsideLine;
        const std::int64_t length = std::min(m_end, rememberedBytes);
        m_lastBytes = m_bytes->read(m_end - length, length);
    }
}

} // namespace headroom
