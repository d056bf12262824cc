// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/naive_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <regex>

namespace headroom {
namespace {

template <std::size_t n> std::string pick(std::mt19937& random, const std::array<const char*, n>& choices)
{
    return choices[random() % n];
}

std::string amount(std::mt19937& random)
{
    static constexpr std::array<const char*, 12> units{"GiB", "MiB", "GB",   "MB",   "gib", "mib",
                                                       "KiB", "kB",  " GiB", " MiB", " GB", "B"};
    return fmt::format("{}.{}{}", random() % 90, random() % 1000, pick(random, units));
}

std::string recordLine(std::mt19937& random)
{
    const bool coloured = random() % 6 == 0;
    const std::string on = coloured ? "\x1b[1;36m" : "";
    const std::string off = coloured ? "\x1b[0m" : "";
    const std::string quote = random() % 5 == 0 ? "\"" : "";
    static constexpr std::array<const char*, 5> phases{"forward", "backward", "optimizer", "eval", "Forward"};
    std::vector<std::string> fields{
        fmt::format("{}phase{}={}{}{}", on, off, quote, pick(random, phases), quote),
        fmt::format("step={}{}{}", on, random() % 100000, off),
        fmt::format("{}peak_alloc{}={}{}{}", on, off, quote, amount(random), quote),
    };
    if (random() % 2 == 0) {
        fields.push_back(fmt::format("rank={}", random() % 1024));
    }
    if (random() % 3 == 0) {
        fields.push_back(fmt::format("peak_reserved={}", amount(random)));
    }
    static constexpr std::array<const char*, 4> others{"my_phase=x", "peak_allocated=3GiB", "lr=3e-4", "train/step=7"};
    if (random() % 3 == 0) {
        fields.push_back(pick(random, others));
    }
    std::ranges::shuffle(fields, random);
    static constexpr std::array<const char*, 7> prefixes{
        "", "[rank3]:", "[default11]: ", "2: ", "12:", "[2026-01-05 10:00:00,123] [INFO] ", "\x1b[32m[rank5]:\x1b[0m "};
    static constexpr std::array<const char*, 4> separators{" ", ", ", "; ", "\t"};
    static constexpr std::array<const char*, 4> suffixes{"", " done", ")", "\x1b[K"};
    return pick(random, prefixes) + fmt::format("{}", fmt::join(fields, pick(random, separators)))
        + pick(random, suffixes);
}

std::string otherLine(std::mt19937& random)
{
    static constexpr std::array<const char*, 7> lines{"",
                                                      "iteration 12/500000 | lm loss: 3.1415E+00 | grad norm: 0.7",
                                                      "peak_alloc is not a record",
                                                      "phase=forward started",
                                                      "peak_alloc=3GiB step=4",
                                                      "step=1 my_phase=a peak_alloc=1GiB",
                                                      "\xe2\x94\x82 warmup \xe2\x94\x82"};
    return pick(random, lines) + std::string(random() % 40, '.');
}

std::optional<std::string> valueOf(const std::string& line, const std::string& key)
{
    const std::regex pattern("(?:^|[^A-Za-z0-9_./-])" + key
                             + "=\"?([^\\s,;\"()]+(?: (?:GiB|MiB|GB)(?![A-Za-z0-9_=]))?)");
    std::smatch match;
    return std::regex_search(line, match, pattern) ? std::optional(match[1].str()) : std::nullopt;
}

std::int64_t bytesOf(const std::string& text)
{
    static const std::regex pattern("([0-9.]+) ?([a-zA-Z]*)");
    std::smatch match;
    if (!std::regex_match(text, match, pattern)) {
        return -2;
    }
    std::string unit = match[2].str();
    std::ranges::transform(unit, unit.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    const long double base = unit.find('i') != std::string::npos ? 1024 : 1000;
    const auto power = std::string_view("bkmgt").find(unit.empty() ? 'b' : unit[0]);
    return std::llround(std::strtold(match[1].str().c_str(), nullptr)
                        * std::pow(base, static_cast<long double>(power)));
}

std::string rankOf(const std::string& line)
{
    static const std::regex prefix("^\\s*(?:\\[(?:rank|default)(\\d+)\\]:|(\\d+): )");
    std::smatch match;
    if (const auto rank = valueOf(line, "rank")) {
        return *rank;
    }
    return std::regex_search(line, match, prefix) ? match[1].str() + match[2].str() : "-1";
}

} // namespace

std::string randomLog(std::mt19937& random, int lines)
{
    std::string log;
    for (int i = 0; i < lines; ++i) {
        if (random() % 10 == 0) {
            log += " 10%|#         | 1/10 [00:01<00:09]\r";
        }
        log += random() % 3 == 0 ? recordLine(random) : otherLine(random);
        log += random() % 8 == 0 ? "\r\n" : "\n";
    }
    return log;
}

std::vector<std::string> naiveRecords(const std::string& log)
{
    static const std::regex colours("\x1b\\[[0-9;?]*[@-~]");
    std::vector<std::string> found;
    int number = 1;
    std::string line;
    for (const char c : log) {
        if (c != '\n' && c != '\r') {
            line += c;
            continue;
        }
        const std::string plain = std::regex_replace(line, colours, "");
        auto phase = valueOf(plain, "phase");
        const auto step = valueOf(plain, "step");
        const auto allocated = valueOf(plain, "peak_alloc");
        if (phase && step && allocated) {
            std::ranges::transform(*phase, phase->begin(), [](char l) { return static_cast<char>(std::tolower(l)); });
            const auto reserved = valueOf(plain, "peak_reserved");
            found.push_back(fmt::format("line {}: {} step {} rank {} allocated {} reserved {}", number, *phase, *step,
                                        rankOf(plain), bytesOf(*allocated), reserved ? bytesOf(*reserved) : -1));
        }
        line.clear();
        number += c == '\n' ? 1 : 0;
    }
    return found;
}

std::vector<std::string> records(const Run& run)
{
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < run.size(); ++i) {
        const Record record = run.record(i);
        texts.push_back(fmt::format("line {}: {} step {} rank {} allocated {} reserved {}", record.line,
                                    run.phaseNames[record.phase], record.step, record.rank, record.allocated.value,
                                    record.reserved.value_or(Bytes{-1}).value));
    }
    return texts;
}

} // namespace headroom
