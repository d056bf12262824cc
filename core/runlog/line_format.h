// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_kind.h"
#include "runlog/line_pattern.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Since when a peak counts.
enum class PeakScope : std::uint8_t {
    Start, ///< of the process: a running maximum
    Reset, ///< the line before
    Step,
    Iteration, ///< its beginning: what a phase shows includes the phases before it
    Phase,
    Call, ///< the call before, which the log shows as a line
    Epoch,
    Now ///< no peak: the amount at that moment
};

/// How lines of one kind look and what they mean: one entry of resources/formats/log (its README has the language).
struct LineFormat
{
    enum class Rank : std::uint8_t { Printing, Maximum, Sum };
    enum class Step : std::uint8_t { Before, Next }; ///< whose step counts where the line has none
    struct Value
    {
        std::string key; ///< as the log has it
        FieldRule rule; ///< the field it is
        bool asMatched = false; ///< the pattern gave the unit already
    };

    std::string id;
    std::string framework;
    LineKind kind = LineKind::Memory;
    std::vector<std::string> anchors; ///< literals; one of them is on every line of the format
    LinePattern pattern;
    bool plainReader = false; ///< read by readPlainLine, which is faster
    bool isInner = false; ///< looked for only where another format says so
    PeakScope peak = PeakScope::Start;
    Rank ranks = Rank::Printing;
    Step step = Step::Before;
    std::optional<int> firstEpoch; ///< steps count anew in each epoch, of which this is the first
    bool phaseIsLineBefore = false;
    std::string phase; ///< of lines that name none
    int lines = 1; ///< the pattern may span so many
    int above = 0; ///< `rows` begin so many lines before the line …
    int reach = 0; ///< … and end so many after it
    std::string until; ///< or at the first line with this
    std::vector<std::size_t> rows; ///< formats of the lines around
    std::optional<std::size_t> pairs; ///< format of what is inside the group `rest`, or the match
    std::vector<Value> values; ///< of the keys that mean a field
};

/// The formats of resources/formats/log and of the user's own folder.
struct LineFormats
{
    std::vector<LineFormat> formats;
    std::vector<Problem> problems; ///< broken data files; the others still work

    /// The built-in formats, then the user's own: formats/log/*.yaml below `userFolder` (ignored when empty or absent).
    /// One with the id of a built-in format takes its place.
    [[nodiscard]] static LineFormats load(const std::filesystem::path& userFolder = {});
    /// The built-in formats, read once.
    [[nodiscard]] static const LineFormats& builtin();
    [[nodiscard]] const LineFormat* find(std::string_view id) const;
};

/// The formats of one data file, whose `rows` and `pairs` still name nothing: see linkFormats. What is wrong with one
/// format leaves out that one and is a problem with its line.
struct FormatFile
{
    struct Entry
    {
        LineFormat format;
        std::vector<std::string> rows;
        std::string pairs;
        std::int64_t line = 0;
    };
    std::string name;
    std::vector<Entry> entries;
    std::vector<Problem> problems;
};
[[nodiscard]] FormatFile parseLineFormats(std::string_view bytes, const std::string& name);

} // namespace headroom
