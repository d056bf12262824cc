// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/loss_lines.h"

#include "runlog/log_files.h"
#include "units/number.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace headroom {

namespace {

constexpr std::int64_t pieceBytes = std::int64_t{1} << 20;
constexpr std::size_t longestLine = std::size_t{64} << 20;
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<std::string_view, 7> stepKeys{"step",          "iteration", "global_step",      "iter",
                                                   "current_steps", "_step",     "train/global_step"};
constexpr std::array<std::string_view, 6> lossKeys{"loss",       "lm loss",       "train_loss",
                                                   "train/loss", "training_loss", "lm_loss"};

template <std::size_t n> bool isOneOf(const std::array<std::string_view, n>& keys, std::string_view key)
{
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

struct Row
{
    std::optional<std::int64_t> step;
    std::optional<double> loss;
};

double numberOf(simdjson::dom::element value)
{
    double number = 0;
    if (value.get_double().get(number) == simdjson::SUCCESS) {
        return number;
    }
    std::string_view text; // some loggers write every number as a string
    if (value.get_string().get(text) == simdjson::SUCCESS) {
        const auto parsed = parseReal(text);
        return parsed ? *parsed : notANumber;
    }
    return notANumber;
}

std::optional<std::int64_t> stepOf(double number)
{
    constexpr double limit = 9e15; // beyond, doubles are not exact
    return std::abs(number) < limit && number == std::floor(number) ? std::optional(static_cast<std::int64_t>(number))
                                                                    : std::nullopt;
}

Row rowOf(simdjson::dom::object object)
{
    Row row;
    for (const auto field : object) {
        if (isOneOf(stepKeys, field.key)) {
            row.step = stepOf(numberOf(field.value));
        } else if (isOneOf(lossKeys, field.key)) {
            row.loss = numberOf(field.value);
        }
    }
    return row;
}

/// How the lines of one writer look: the same text with other numbers in it. Such lines need no JSON parser, which
/// takes several times as long for a line of thirty bytes.
class Skeleton
{
public:
    /// Learns from a line that is JSON; no line is read by it where the step or the loss is not there exactly once.
    void learn(std::string_view line)
    {
        m_parts.clear();
        std::size_t literal = 0;
        std::string_view key;
        std::size_t quote = std::string_view::npos;
        int steps = 0;
        int losses = 0;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const char c = line[i];
            if (quote != std::string_view::npos) {
                if (c == '\\') {
                    ++i;
                } else if (c == '"') {
                    key = line.substr(quote + 1, i - quote - 1);
                    quote = std::string_view::npos;
                }
            } else if (c == '"') {
                quote = i;
            } else if (startsNumber(c)) {
                const Slot slot = isOneOf(stepKeys, key) ? Slot::Step
                    : isOneOf(lossKeys, key)             ? Slot::Loss
                                                         : Slot::Other;
                steps += slot == Slot::Step ? 1 : 0;
                losses += slot == Slot::Loss ? 1 : 0;
                m_parts.push_back({std::string(line.substr(literal, i - literal)), slot});
                while (i < line.size() && isNumber(line[i])) {
                    ++i;
                }
                literal = i--;
            }
        }
        m_end = line.substr(literal);
        if (steps != 1 || losses != 1) {
            m_parts.clear();
        }
    }

    [[nodiscard]] bool read(std::string_view line, Row& row) const
    {
        const char* at = line.data();
        const char* const end = at + line.size();
        for (const Part& part : m_parts) {
            const std::size_t size = part.before.size();
            if (static_cast<std::size_t>(end - at) <= size || std::memcmp(at, part.before.data(), size) != 0
                || !startsNumber(at[size])) {
                return false;
            }
            at += size;
            std::from_chars_result done{at, {}};
            if (part.slot == Slot::Step) {
                done = std::from_chars(at, end, row.step.emplace());
            } else if (part.slot == Slot::Loss) {
                done = std::from_chars(at, end, row.loss.emplace());
            } else {
                while (done.ptr != end && isNumber(*done.ptr)) {
                    ++done.ptr;
                }
            }
            if (done.ec != std::errc{}) {
                return false;
            }
            at = done.ptr;
        }
        return !m_parts.empty() && std::string_view(at, static_cast<std::size_t>(end - at)) == m_end;
    }

private:
    enum class Slot : std::uint8_t { Step, Loss, Other };
    struct Part
    {
        std::string before;
        Slot slot;
    };

    static bool startsNumber(char c) { return c == '-' || (c >= '0' && c <= '9'); }
    static bool isNumber(char c) { return startsNumber(c) || c == '.' || c == 'e' || c == 'E' || c == '+'; }

    std::vector<Part> m_parts;
    std::string m_end;
};

/// Python writes NaN, Infinity and -Infinity, which JSON does not have.
std::string withoutPythonNumbers(std::string_view line)
{
    std::string text(line);
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
            text.replace(at, word.size(), "null");
        }
    }
    return text;
}

/// Reads a piece of whole lines; numbers its lines from 1. Its storage is used again for the next piece.
class PieceReader
{
public:
    struct Piece
    {
        LossLines rows;
        std::int64_t lineCount = 0;
    };

    const Piece& read(std::string_view text)
    {
        m_piece.rows.steps.clear();
        m_piece.rows.losses.clear();
        m_piece.rows.lines.clear();
        m_piece.rows.problems.clear();
        m_piece.rows.problemCount = m_piece.lineCount = 0;
        while (!text.empty()) {
            const void* found = std::memchr(text.data(), '\n', text.size());
            const std::size_t end = found == nullptr
                ? text.size()
                : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
            ++m_piece.lineCount;
            readLine(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return m_piece;
    }

private:
    void readLine(std::string_view line)
    {
        Row row;
        if (m_skeleton.read(line, row)) {
            keep(row);
            return;
        }
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
            return;
        }
        simdjson::dom::object object;
        if (m_parser.parse(withoutPythonNumbers(line)).get_object().get(object) != simdjson::SUCCESS) {
            problem(Text{HEADROOM_TR("core", "not a JSON object, left out")});
            return;
        }
        keep(rowOf(object));
        m_skeleton.learn(line);
    }

    void keep(const Row& row)
    {
        if (row.step && row.loss) {
            m_piece.rows.steps.push_back(*row.step);
            m_piece.rows.losses.push_back(std::isfinite(*row.loss) ? *row.loss : notANumber);
            m_piece.rows.lines.push_back(m_piece.lineCount);
        } else if (row.loss) {
            problem(Text{HEADROOM_TR("core", "a loss without a step, left out")});
        }
    }

    void problem(Text text)
    {
        ++m_piece.rows.problemCount;
        if (m_piece.rows.problems.size() < LossLines::maxProblems) {
            m_piece.rows.problems.push_back({Severity::Warning, {}, m_piece.lineCount, std::move(text)});
        }
    }

    Piece m_piece;
    Skeleton m_skeleton;
    simdjson::dom::parser m_parser;
};

void append(LossLines& all, const PieceReader::Piece& piece, std::int64_t linesBefore, const std::string& name)
{
    all.steps.insert(all.steps.end(), piece.rows.steps.begin(), piece.rows.steps.end());
    all.losses.insert(all.losses.end(), piece.rows.losses.begin(), piece.rows.losses.end());
    for (const std::int64_t line : piece.rows.lines) {
        all.lines.push_back(line + linesBefore);
    }
    all.problemCount += piece.rows.problemCount;
    for (const Problem& problem : piece.rows.problems) {
        if (all.problems.size() < LossLines::maxProblems) {
            all.problems.push_back({problem.severity, name, problem.line + linesBefore, problem.text});
        }
    }
}

/// The next whole lines of a file, about a piece of them; empty at its end.
class Pieces
{
public:
    explicit Pieces(FileBytes& file)
        : m_file(file)
    {
    }

    [[nodiscard]] bool isTooLong() const { return m_rest.size() > longestLine; }

    void next(std::string& text)
    {
        text.swap(m_rest);
        m_rest.clear();
        while (text.size() <= longestLine) {
            const std::string_view more = m_file.read(m_offset, pieceBytes);
            if (more.empty()) {
                return;
            }
            m_offset += static_cast<std::int64_t>(more.size());
            const std::size_t end = more.rfind('\n');
            if (end != std::string_view::npos) {
                m_rest = more.substr(end + 1);
                text += more.substr(0, end + 1);
                return;
            }
            text += more;
        }
        text.swap(m_rest);
        text.clear();
    }

private:
    FileBytes& m_file;
    std::int64_t m_offset = 0;
    std::string m_rest; ///< the beginning of a line
};

struct Worker
{
    std::string text;
    PieceReader reader;
    std::future<const PieceReader::Piece*> reading;
};

/// Room for all rows of a file of `size` bytes, judged by those of its first `bytes`.
void reserve(LossLines& result, std::int64_t size, std::size_t bytes)
{
    constexpr double spare = 1.05;
    const auto rows
        = static_cast<std::size_t>(spare * static_cast<double>(result.steps.size()) * static_cast<double>(size)
                                   / static_cast<double>(std::max<std::size_t>(bytes, 1)));
    result.steps.reserve(rows);
    result.losses.reserve(rows);
    result.lines.reserve(rows);
}

Result<void> readAll(const std::string& name, FileBytes& file, LossLines& result)
{
    std::vector<Worker> workers(std::clamp(std::thread::hardware_concurrency(), 1U, 4U));
    Pieces pieces(file);
    std::int64_t lines = 0;
    for (bool atEnd = false; !atEnd;) {
        std::size_t bytes = 0;
        for (Worker& worker : workers) {
            worker.text.clear();
            pieces.next(worker.text);
            bytes += worker.text.size();
            atEnd = worker.text.empty();
            worker.reading = std::async(worker.text.size() > 65536 ? std::launch::async : std::launch::deferred,
                                        [&worker] { return &worker.reader.read(worker.text); });
            if (atEnd) {
                break;
            }
        }
        const bool isFirst = lines == 0;
        for (Worker& worker : workers) {
            if (worker.reading.valid()) {
                const PieceReader::Piece& piece = *worker.reading.get();
                append(result, piece, lines, name);
                lines += piece.lineCount;
            }
        }
        if (isFirst) {
            reserve(result, file.size(), bytes);
        }
    }
    if (pieces.isTooLong()) {
        return failure(Text{HEADROOM_TR("core", "a line of more than 64 MiB: these are not JSON lines")}, name, 0);
    }
    return {};
}

} // namespace

Result<LossLines> readLossLines(const std::filesystem::path& path)
{
    const std::string name = path.string();
    FileBytes file;
    if (const int error = file.open(name); error != 0) {
        return failure(Text{HEADROOM_TR("core", "cannot be read: %1"), {std::strerror(error)}}, name, 0);
    }
    LossLines result;
    if (auto done = readAll(name, file, result); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    if (file.error() != 0) {
        return failure(Text{HEADROOM_TR("core", "cannot be read: %1"), {std::strerror(file.error())}}, name, 0);
    }
    if (result.steps.empty()) {
        return failure(Text{HEADROOM_TR("core", "no line is a JSON object with a step and a loss")}, name, 0);
    }
    return result;
}

bool looksLikeLossLines(const std::filesystem::path& path)
{
    constexpr std::int64_t headBytes = 1 << 16;
    FileBytes file;
    if (file.open(path.string()) != 0) {
        return false;
    }
    std::string_view head = file.read(0, headBytes);
    head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    PieceReader reader;
    return !reader.read(head.substr(0, head.find('\n'))).rows.steps.empty();
}

} // namespace headroom
