// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench_loss [MIB [FOLDER]]: reading JSON lines of losses, beside copying the same file into memory with fread. Makes a
// file of MIB MiB (600 unless given) in FOLDER (the temporary one unless given). Median of three runs over a warm page
// cache; prints lines of `name value unit`. The bar is 1 GB/s.
#include "runlog/loss_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <vector>

namespace fs = std::filesystem;

namespace {

void make(const fs::path& path, std::uintmax_t bytes)
{
    std::error_code error;
    if (fs::file_size(path, error) >= bytes && !error) {
        return;
    }
    std::ofstream out(path, std::ios::binary);
    fmt::memory_buffer buffer;
    std::uintmax_t written = 0;
    for (std::int64_t step = 1; written < bytes; ++step) {
        buffer.clear();
        fmt::format_to(std::back_inserter(buffer), "{{\"step\": {}, \"loss\": {:.6f}}}\n", step,
                       2 + 8.0 / (1 + static_cast<double>(step % 100000) * 1e-3));
        out.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        written += buffer.size();
    }
}

std::size_t copyAll(const fs::path& path)
{
    std::vector<char> buffer(std::size_t{4} << 20);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    std::size_t sum = 0;
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
        sum += size;
    }
    return sum;
}

template <class Work> double medianSeconds(Work work)
{
    std::array<double, 3> times{};
    for (double& time : times) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    std::sort(times.begin(), times.end());
    return times[1];
}

} // namespace

int main(int argc, char** argv)
{
    const auto mebibytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 600;
    const fs::path folder = argc > 2 ? fs::path(argv[2]) : fs::temp_directory_path();
    fs::create_directories(folder);
    const fs::path path = folder / "bench_loss.jsonl";
    make(path, mebibytes << 20);
    const double gigabytes = static_cast<double>(fs::file_size(path)) / 1e9;
    std::size_t rows = 0;
    const double reading = medianSeconds([&] { rows = headroom::readLossLines(path)->steps.size(); });
    const double copying = medianSeconds([&] { rows += copyAll(path) == 0 ? 1 : 0; });
    fmt::print("loss_rows {} rows\nloss_speed {:.3f} GB/s\ncopy_speed {:.3f} GB/s\nloss_to_copy {:.2f} ratio\n", rows,
               gigabytes / reading, gigabytes / copying, reading / copying);
    return EXIT_SUCCESS;
}
