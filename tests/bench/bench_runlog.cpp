// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench_runlog [MIB [FOLDER]]: how long reading a log takes beside ripgrep counting the same lines.
//
// Makes three logs of MIB MiB (600 unless given) in FOLDER (a folder in the temporary one unless given), always the
// same bytes: records_none.log, records_fifth.log and records_all.log with no record line, one in five, and nothing
// else. A log that is already there in the right size is used again; to have such a log for other purposes run
// bench_runlog with a FOLDER and take it from there. Each figure is the median of three runs over a warm page cache,
// the two programs in turn. Prints lines of `name value unit`; ratio is readLog's time over that of ripgrep counting
// the base format's lines, ratio_all over that of ripgrep counting the lines with any format's anchor, which is what
// readLog looks for: to be 0.7 or less. The processor times are of all threads together; they hold beside other work.
// Then a hundred files of ranks, MIB / 60 MiB each, as one Run; and from 600 MiB on a sparse file of 10 GiB.
#include "bench/log_maker.h"
#include "runlog/line_format.h"
#include "runlog/read_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include <sys/resource.h>

namespace headroom {
namespace {

namespace fs = std::filesystem;

struct Log
{
    std::string_view name;
    int one;
};
constexpr std::array<Log, 3> logs{{{"records_none", 0}, {"records_fifth", 5}, {"records_all", 1}}};

double seconds(const std::function<void()>& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Processor time of all threads of this process or of the children it waited for.
double processorSeconds(int who)
{
    rusage usage{};
    ::getrusage(who, &usage);
    const auto time
        = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    return time(usage.ru_utime) + time(usage.ru_stime);
}

double median(std::array<double, 3> values)
{
    std::ranges::sort(values);
    return values[1];
}

void print(std::string_view log, std::string_view what, double value, std::string_view unit)
{
    fmt::print("{}.{} {:.4g} {}\n", log, what, value, unit);
}

/// What the Run's columns occupy.
double columnBytes(const Run& run)
{
    const auto bytes = [](const auto& column) { return static_cast<double>(column.capacity() * sizeof(column[0])); };
    const auto sparse = [&](const auto& column) { return bytes(column.records) + bytes(column.values); };
    return bytes(run.step) + bytes(run.phase) + bytes(run.rank) + bytes(run.allocatedBytes) + bytes(run.reservedBytes)
        + bytes(run.line) + sparse(run.stepSeconds) + sparse(run.tokensPerSecond) + sparse(run.loss);
}

/// The largest resident size of this process so far, MiB.
double peakResidentMib()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

bool hasRipgrep()
{
    return std::system("rg --version > /dev/null 2>&1") == 0; // NOLINT: a fixed command
}

/// A file with the anchors of all formats, one a line, for ripgrep.
fs::path anchorFile(const fs::path& folder)
{
    const fs::path path = folder / "anchors.txt";
    std::ofstream out(path, std::ios::binary);
    for (const LineFormat& format : LineFormats::builtin().formats) {
        for (const std::string& anchor : format.anchors) {
            out << anchor << '\n';
        }
    }
    return path;
}

/// Time and memory of reading files that have no counterpart for ripgrep. False when that failed.
bool measureAlone(std::string_view name, const fs::path& path)
{
    const std::array<fs::path, 1> paths{path};
    const double residentBefore = peakResidentMib();
    Result<Run> run;
    const double time = seconds([&] { run = readLog(paths); });
    if (!run) {
        fmt::print(stderr, "{}\n", run.error().english());
        return false;
    }
    print(name, "files", static_cast<double>(run->files.size()), "1");
    print(name, "records", static_cast<double>(run->size()), "1");
    print(name, "time", time * 1e3, "ms");
    print(name, "throughput", static_cast<double>(run->byteCount) / time / 1e9, "GB/s");
    print(name, "columns", columnBytes(*run) / (1 << 20), "MiB");
    print(name, "peak_resident_growth", peakResidentMib() - residentBefore, "MiB");
    return true;
}

bool benchRankFiles(std::int64_t bytes, const fs::path& folder)
{
    constexpr int ranks = 100;
    const fs::path rankFolder = folder / "ranks";
    fs::create_directories(rankFolder);
    for (int rank = 0; rank < ranks; ++rank) {
        writeLog(rankFolder / fmt::format("rank{}.log", rank), bytes / 60, 5);
    }
    return measureAlone("rank_files", rankFolder);
}

bool benchSparse(const fs::path& folder)
{
    const fs::path file = folder / "sparse.log";
    std::ofstream(file, std::ios::binary | std::ios::trunc).close();
    fs::resize_file(file, std::uintmax_t{10} << 30);
    std::ofstream(file, std::ios::binary | std::ios::app) << "\nphase=forward step=1 peak_alloc=1GiB\n";
    const bool done = measureAlone("sparse", file);
    fs::remove(file);
    return done;
}

/// How long something takes: on the clock and, all threads together, of the processors; medians of three.
struct Times
{
    std::array<double, 3> clock{}, processor{};

    void measure(std::size_t round, int who, const std::function<void()>& work)
    {
        const double before = processorSeconds(who);
        clock[round] = seconds(work);
        processor[round] = processorSeconds(who) - before;
    }
    void print(std::string_view log, const std::string& name) const
    {
        headroom::print(log, name + "time", median(clock) * 1e3, "ms");
        headroom::print(log, name + "processor_time", median(processor) * 1e3, "ms");
    }
};

/// Reads and counts in turn, three times after a warm-up. Returns the number of records, or -1 when reading failed.
std::int64_t measure(std::string_view log, const fs::path& file, bool ripgrep)
{
    const std::array<fs::path, 1> paths{file};
    const std::string one = fmt::format("rg -c peak_alloc '{}' > /dev/null", file.string());
    const std::string all
        = fmt::format("rg -cFf '{}' '{}' > /dev/null", anchorFile(file.parent_path()).string(), file.string());
    const auto count = [](const std::string& command) { std::ignore = std::system(command.c_str()); }; // NOLINT
    const double residentBefore = peakResidentMib();
    Times ours, ofOne, ofAll;
    Result<Run> run = readLog(paths);
    for (std::size_t i = 0; i < 3 && run; ++i) {
        run = Run{};
        ours.measure(i, RUSAGE_SELF, [&] { run = readLog(paths); });
        if (ripgrep) {
            ofOne.measure(i, RUSAGE_CHILDREN, [&] { count(one); });
            ofAll.measure(i, RUSAGE_CHILDREN, [&] { count(all); });
        }
    }
    if (!run) {
        fmt::print(stderr, "{}\n", run.error().english());
        return -1;
    }
    const double time = median(ours.clock);
    const auto records = static_cast<double>(run->size());
    print(log, "size", static_cast<double>(run->byteCount) / (1 << 20), "MiB");
    print(log, "records", records, "1");
    ours.print(log, "");
    print(log, "throughput", static_cast<double>(run->byteCount) / time / 1e9, "GB/s");
    if (ripgrep) {
        ofOne.print(log, "ripgrep_");
        print(log, "ratio", time / median(ofOne.clock), "1");
        print(log, "processor_ratio", median(ours.processor) / median(ofOne.processor), "1");
        ofAll.print(log, "ripgrep_all_");
        print(log, "ratio_all", time / median(ofAll.clock), "1");
        print(log, "processor_ratio_all", median(ours.processor) / median(ofAll.processor), "1");
    }
    if (!run->isEmpty()) {
        print(log, "record_rate", records / time / 1e6, "M/s");
        print(log, "record_size", columnBytes(*run) / records, "B");
    }
    print(log, "peak_resident", peakResidentMib(), "MiB");
    print(log, "peak_resident_growth", peakResidentMib() - residentBefore, "MiB");
    return static_cast<std::int64_t>(run->size());
}

int bench(std::int64_t mebibytes, const fs::path& folder)
{
    const bool ripgrep = hasRipgrep();
    if (!ripgrep) {
        fmt::print("# ripgrep (rg) is not installed: no comparison\n");
    }
    std::error_code error;
    fs::create_directories(folder, error);
    const std::int64_t bytes = mebibytes << 20;
    for (const Log& log : logs) {
        const fs::path file = folder / fmt::format("{}.log", log.name);
        const auto size = fs::file_size(file, error);
        if (error || static_cast<std::int64_t>(size) < bytes || static_cast<std::int64_t>(size) > bytes + (2 << 20)) {
            writeLog(file, bytes, log.one);
        }
        const std::int64_t records = measure(log.name, file, ripgrep);
        if (records < 0 || (records > 0) != (log.one > 0)) {
            fmt::print(stderr, "{}: {} records are not what the log was made with\n", file.string(), records);
            return 1;
        }
    }
    constexpr std::int64_t largeMebibytes = 600;
    const bool done = benchRankFiles(bytes, folder) && (mebibytes < largeMebibytes || benchSparse(folder));
    return done ? 0 : 1;
}

} // namespace
} // namespace headroom

int main(int argc, char** argv)
{
    std::int64_t mebibytes = 600;
    if (argc > 1) {
        const std::string_view text = argv[1];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
        if (error != std::errc{} || end != text.data() + text.size() || mebibytes < 1 || argc > 3) {
            fmt::print(stderr, "usage: bench_runlog [MIB [FOLDER]]\n");
            return 2;
        }
    }
    const std::filesystem::path folder
        = argc > 2 ? argv[2] : std::filesystem::temp_directory_path() / fmt::format("headroom_bench_{}", mebibytes);
    return headroom::bench(mebibytes, folder);
}
