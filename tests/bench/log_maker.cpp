// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/log_maker.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace headroom {

void writeLog(const std::filesystem::path& file, std::int64_t bytes, int one)
{
    constexpr std::array<std::string_view, 3> phases{"forward", "backward", "optimizer"};
    std::mt19937 random(20260105); // NOLINT: the same log every time
    std::ofstream out(file, std::ios::binary);
    std::string lines;
    std::int64_t written = 0;
    for (unsigned i = 0, record = 0; written < bytes; ++i) {
        const std::string time = fmt::format("[2026-01-05 {:02}:{:02}:{:02},{:03}] [INFO] ", i / 3600 % 24, i / 60 % 60,
                                             i % 60, random() % 1000);
        if (one > 0 && i % static_cast<unsigned>(one) == 0) {
            fmt::format_to(std::back_inserter(lines), "{}phase={} step={} rank={} peak_alloc={}.{:02}GiB\n", time,
                           phases[record % 3], record / 24, record / 3 % 8, 20 + random() % 50, random() % 100);
            ++record;
        } else {
            fmt::format_to(
                std::back_inserter(lines),
                "{}iteration {}/500000 | consumed samples: {} | lm loss: {}.{:04}E+00 | grad norm: 0.{:03} | "
                "learning rate: 3.000E-04\n",
                time, i, i * 16U, 1 + random() % 9, random() % 10000, random() % 1000);
        }
        if (lines.size() > (1U << 20U)) {
            out << lines;
            written += static_cast<std::int64_t>(lines.size());
            lines.clear();
        }
    }
    out << lines;
}

} // namespace headroom
