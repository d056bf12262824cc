// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/read_log.h"

#include "runlog/capacity_shares.h"
#include "runlog/device_table.h"
#include "runlog/event_file.h"
#include "runlog/hard_wraps.h"
#include "runlog/log_files.h"
#include "runlog/phase_inference.h"
#include "runlog/read_pieces.h"
#include "runlog/run_assembler.h"
#include "runlog/trainer_peaks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

namespace headroom {
namespace {

const AnchorSet& anchorsOf(const ReadOptions& options)
{
    return options.formats == nullptr ? AnchorSet::builtin() : *options.formats;
}

/// A piece of a file: the unit of work.
struct Piece
{
    std::size_t file = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

std::vector<Piece> cut(const std::vector<LogFile>& files, std::int64_t length)
{
    std::vector<Piece> pieces;
    for (std::size_t file = 0; file < files.size(); ++file) {
        const std::int64_t size = files[file].readable ? files[file].size : 0;
        const bool isWhole = files[file].isEventFile || files[file].isDeviceTable;
        const std::int64_t step = isWhole ? std::max<std::int64_t>(size, 1) : length;
        for (std::int64_t begin = 0; begin < size; begin += step) {
            pieces.push_back({file, begin, std::min(begin + step, size)});
        }
    }
    return pieces;
}

/// How many problems a piece may still keep: none once the finished pieces have enough. Pieces are handed out in file
/// order, so every finished piece lies before one that is only now begun, and what is kept does not depend on timing.
class ProblemBudget
{
public:
    [[nodiscard]] std::size_t left() const { return m_kept.load() >= Run::maxProblems ? 0 : Run::maxProblems; }
    void spend(const LogChunk& chunk) { m_kept += chunk.problems.size(); }

private:
    std::atomic<std::size_t> m_kept{0};
};

/// Reads the pieces with several threads; each takes the next piece when it is done with one.
class Reading
{
public:
    Reading(const std::vector<LogFile>& files, const ReadOptions& options, const ScanSizes& sizes)
        : m_files(files)
        , m_anchors(anchorsOf(options))
        , m_options(options)
        , m_sizes(sizes)
        , m_pieces(cut(files, sizes.chunk))
        , m_chunks(m_pieces.size())
    {
        for (const Piece& piece : m_pieces) {
            m_bytes += piece.end - piece.begin;
        }
    }

    /// False when the user cancelled. Rethrows what a thread threw.
    [[nodiscard]] bool run()
    {
        const auto most = std::clamp<std::size_t>(m_pieces.size(), 1, 64);
        const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(m_options.threads, 1)), 1, most);
        {
            std::vector<std::jthread> others;
            for (std::size_t i = 1; i < count; ++i) {
                others.emplace_back([this] { work(); });
            }
            work();
        }
        if (m_thrown) {
            std::rethrow_exception(m_thrown);
        }
        return !m_stopped;
    }

    [[nodiscard]] Run assemble();

private:
    void work() noexcept
    {
        try {
            readPieces();
        } catch (...) {
            const std::lock_guard lock(m_mutex);
            m_thrown = std::current_exception();
            m_stopped = true;
        }
    }

    void readPieces()
    {
        LogScanner scanner(m_anchors, m_sizes);
        FileBytes bytes;
        std::size_t open = m_files.size();
        int openError = 0;
        for (std::size_t i = m_next++; i < m_pieces.size() && !m_stopped; i = m_next++) {
            const Piece& piece = m_pieces[i];
            if (piece.file != open) {
                open = piece.file;
                openError = bytes.open(m_files[open]);
            }
            LogChunk& chunk = m_chunks[i];
            if (openError == 0 && m_files[open].isEventFile) {
                chunk = readEventFile(bytes, m_files[open].size, m_anchors.formats(), m_budget.left());
            } else if (openError == 0 && m_files[open].isDeviceTable) {
                chunk = readDeviceTable(bytes, m_files[open].size, m_anchors.formats());
            } else if (openError == 0) {
                chunk = scanner.scan(bytes, piece.begin, piece.end, m_files[open].size, m_budget.left());
            }
            chunk.readError = openError != 0 ? openError : bytes.error();
            m_budget.spend(chunk);
            report(piece.end - piece.begin);
        }
    }

    /// One caller at a time, so that what the user sees only grows.
    void report(std::int64_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_bytesDone += bytes;
        if (m_options.progress
            && !m_options.progress(static_cast<double>(m_bytesDone) / static_cast<double>(m_bytes))) {
            m_stopped = true;
        }
    }

    const std::vector<LogFile>& m_files;
    const AnchorSet& m_anchors;
    const ReadOptions& m_options;
    ScanSizes m_sizes;
    std::vector<Piece> m_pieces;
    std::vector<LogChunk> m_chunks;
    std::int64_t m_bytes = 0;

    std::atomic<std::size_t> m_next{0};
    std::atomic<bool> m_stopped{false};
    ProblemBudget m_budget;
    std::mutex m_mutex; ///< guards what follows
    std::int64_t m_bytesDone = 0;
    std::exception_ptr m_thrown;
};

/// A sentence for a file whose bytes could not all be had.
void addFileProblems(RunAssembler& assembler, const LogChunk& chunk)
{
    if (chunk.readError != 0) {
        assembler.fileProblem(Severity::Error,
                              Text(HEADROOM_TR("core", "reading stopped with an error: %1"),
                                   {std::generic_category().message(chunk.readError)}));
    } else if (chunk.fileEndsEarly) {
        assembler.fileProblem(Severity::Warning,
                              Text(HEADROOM_TR("core", "the file became shorter while it was read; open it again")));
    }
}

Run Reading::assemble()
{
    RunAssembler assembler(m_anchors.formats());
    std::size_t next = 0;
    for (std::size_t file = 0; file < m_files.size(); ++file) {
        assembler.beginFile(m_files[file].name, m_files[file].size, m_files[file].rank);
        if (m_files[file].problem) {
            assembler.fileProblem(m_files[file].problem->severity, m_files[file].problem->text);
        }
        for (; next < m_pieces.size() && m_pieces[next].file == file; ++next) {
            addFileProblems(assembler, m_chunks[next]);
            assembler.add(std::move(m_chunks[next]));
        }
    }
    return assembler.take(m_options.threads);
}

Run readTextAsItIs(std::string_view text, const std::string& name, const AnchorSet& anchors, const ScanSizes& sizes)
{
    const auto size = static_cast<std::int64_t>(text.size());
    const std::optional<Text> unreadable = unreadableContent(text.substr(0, 4096));
    std::vector<LogChunk> chunks;
    TextBytes bytes(text);
    LogScanner scanner(anchors, sizes);
    ProblemBudget budget;
    const bool isDeviceTable = !unreadable && looksLikeDeviceTable(text.substr(0, 4096));
    if (isDeviceTable) {
        chunks.push_back(readDeviceTable(bytes, size, anchors.formats()));
    }
    for (std::int64_t begin = 0; begin < size && !unreadable && !isDeviceTable; begin += sizes.chunk) {
        chunks.push_back(scanner.scan(bytes, begin, std::min(begin + sizes.chunk, size), size, budget.left()));
        budget.spend(chunks.back());
    }
    RunAssembler assembler(anchors.formats());
    assembler.beginFile(name, size);
    if (unreadable) {
        assembler.fileProblem(Severity::Error, *unreadable);
    } else if (text.empty()) {
        assembler.fileProblem(Severity::Warning, Text(HEADROOM_TR("core", "the file is empty")));
    }
    for (LogChunk& chunk : chunks) {
        assembler.add(std::move(chunk));
    }
    Run run = assembler.take();
    conclude(run);
    return run;
}

std::size_t findings(const Run& run)
{
    return run.size() + run.steps.size() + run.facts.size();
}

/// The width at which the lines of the text were broken: joining them finds more.
std::optional<std::size_t> brokenAt(std::string_view head, const AnchorSet& anchors)
{
    const std::optional<std::size_t> width = wrapWidth(head);
    const bool isBroken = width
        && findings(readTextAsItIs(joinWraps(head, *width), {}, anchors, {}))
            > findings(readTextAsItIs(head, {}, anchors, {}));
    return isBroken ? width : std::nullopt;
}

void addJoined(Run& run, std::size_t width)
{
    run.inferences.emplace_back(HEADROOM_TR("core", "Lines broken at %1 columns, as terminals do, were joined"),
                                std::vector<std::string>{std::to_string(width)});
}

/// The width at which a terminal broke the lines of the file.
std::optional<std::size_t> brokenAt(const LogFile& file, FileBytes& bytes, const AnchorSet& anchors)
{
    constexpr std::int64_t headBytes = 64 << 10;
    constexpr std::int64_t largestCapture = 64 << 20;
    if (!file.readable || file.isEventFile || file.isDeviceTable || file.size > largestCapture
        || bytes.open(file) != 0) {
        return std::nullopt;
    }
    return brokenAt(bytes.read(0, std::min(file.size, headBytes)), anchors);
}

/// Gives a capture of a terminal its whole lines back, in a file of its own; 0 for other logs.
std::size_t joinBrokenLines(LogFile& file, const AnchorSet& anchors)
{
    FileBytes bytes;
    const std::optional<std::size_t> width = brokenAt(file, bytes, anchors);
    if (!width) {
        return 0;
    }
    const std::string text = joinWraps(bytes.read(0, file.size), *width);
    auto joined = std::make_shared<const OpenFile>(::memfd_create("headroom", MFD_CLOEXEC));
    if (::pwrite(joined->number(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
        return 0; // no room: the lines are read as they are
    }
    file.unpacked = std::move(joined);
    file.size = static_cast<std::int64_t>(text.size());
    return *width;
}

} // namespace

void conclude(Run& run)
{
    resolveShares(run);
    resolveTorchtuneUnits(run);
    inferTrainerPeak(run);
    inferPhases(run);
}

bool hasBrokenLines(const LogFile& file, const AnchorSet& anchors)
{
    FileBytes bytes;
    return brokenAt(file, bytes, anchors).has_value();
}

Result<Run> readLogAsItIs(std::span<const std::filesystem::path> paths, const ReadOptions& options,
                          const ScanSizes& sizes)
{
    try {
        Result<std::vector<LogFile>> files = listLogFiles(paths);
        if (!files) {
            return tl::unexpected(files.error());
        }
        std::size_t width = 0;
        for (LogFile& file : *files) {
            width = std::max(width, joinBrokenLines(file, anchorsOf(options)));
        }
        Reading reading(*files, options, sizes);
        if (!reading.run()) {
            return failure(Text(HEADROOM_TR("core", "reading was cancelled")));
        }
        Run run = reading.assemble();
        if (width > 0) {
            addJoined(run, width);
        }
        return run;
    } catch (const std::bad_alloc&) {
        return failure(Text(HEADROOM_TR("core", "there is not enough memory to read this log")));
    }
}

Result<Run> readLogInPieces(std::span<const std::filesystem::path> paths, const ReadOptions& options,
                            const ScanSizes& sizes)
{
    Result<Run> run = readLogAsItIs(paths, options, sizes);
    if (run) {
        conclude(*run);
    }
    return run;
}

Run readTextInPieces(std::string_view text, const std::string& name, const ScanSizes& sizes)
{
    const AnchorSet& anchors = AnchorSet::builtin();
    const std::optional<std::size_t> width = brokenAt(text.substr(0, 64 << 10), anchors);
    const std::string joined = width ? joinWraps(text, *width) : std::string();
    Run run = readTextAsItIs(width ? std::string_view(joined) : text, name, anchors, sizes);
    if (width) {
        addJoined(run, *width);
    }
    return run;
}

Result<Run> readLog(std::span<const std::filesystem::path> paths, const ReadOptions& options)
{
    return readLogInPieces(paths, options, {});
}

Run readLogText(std::string_view text, const std::string& name)
{
    return readTextInPieces(text, name, {});
}

} // namespace headroom
