// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace headroom {

namespace {

using Lines = std::vector<std::string_view>;

/// Beyond this many differing lines the search would take quadratic time and nobody would read the result.
constexpr int mostDifferences = 2000;

Lines splitLines(std::string_view text)
{
    Lines lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

/// The furthest-reaching paths of each number of differences, from which the edit script is read backwards.
class Myers
{
public:
    Myers(std::span<const std::string_view> before, std::span<const std::string_view> after)
        : m_before(before)
        , m_after(after)
        , m_offset(mostDifferences + 1)
        , m_reach(2 * static_cast<std::size_t>(m_offset) + 1, 0)
    {
    }

    /// One kind per step from the beginning to the end; empty when there are too many differences.
    std::vector<DiffKind> script()
    {
        for (int differences = 0; differences <= mostDifferences; ++differences) {
            m_trace.emplace_back(m_reach.begin() + m_offset - differences - 1,
                                 m_reach.begin() + m_offset + differences + 2);
            for (int diagonal = -differences; diagonal <= differences; diagonal += 2) {
                if (advance(diagonal, differences)) {
                    return backtrack(differences);
                }
            }
        }
        return {};
    }

private:
    int& reach(int diagonal) { return m_reach[static_cast<std::size_t>(m_offset + diagonal)]; }

    static bool goesDown(int diagonal, int differences, int left, int right)
    {
        return diagonal == -differences || (diagonal != differences && left < right);
    }

    bool advance(int diagonal, int differences)
    {
        const int left = reach(diagonal - 1);
        const int right = reach(diagonal + 1);
        int x = goesDown(diagonal, differences, left, right) ? right : left + 1;
        while (x < static_cast<int>(m_before.size()) && x - diagonal < static_cast<int>(m_after.size())
               && m_before[static_cast<std::size_t>(x)] == m_after[static_cast<std::size_t>(x - diagonal)]) {
            ++x;
        }
        reach(diagonal) = x;
        return x >= static_cast<int>(m_before.size()) && x - diagonal >= static_cast<int>(m_after.size());
    }

    std::vector<DiffKind> backtrack(int differences)
    {
        std::vector<DiffKind> steps;
        int x = static_cast<int>(m_before.size());
        int y = static_cast<int>(m_after.size());
        for (int d = differences; d > 0; --d) {
            // m_trace[d] holds the reaches before round d for diagonals -d-1 … d+1.
            const auto earlier = [&](int diagonal) {
                return m_trace[static_cast<std::size_t>(d)][static_cast<std::size_t>(diagonal + d + 1)];
            };
            const int diagonal = x - y;
            const bool down = goesDown(diagonal, d, earlier(diagonal - 1), earlier(diagonal + 1));
            const int startX = down ? earlier(diagonal + 1) : earlier(diagonal - 1);
            const int startY = startX - (down ? diagonal + 1 : diagonal - 1);
            for (; x > startX && y > startY; --x, --y) {
                steps.push_back(DiffKind::Same);
            }
            steps.push_back(down ? DiffKind::Added : DiffKind::Removed);
            (down ? y : x) -= 1;
        }
        steps.insert(steps.end(), static_cast<std::size_t>(x), DiffKind::Same);
        std::reverse(steps.begin(), steps.end());
        return steps;
    }

    std::span<const std::string_view> m_before;
    std::span<const std::string_view> m_after;
    int m_offset;
    std::vector<int> m_reach;
    std::vector<std::vector<int>> m_trace;
};

std::string hunk(std::span<const DiffLine> lines)
{
    std::int64_t beforeFirst = 0;
    std::int64_t afterFirst = 0;
    std::int64_t beforeCount = 0;
    std::int64_t afterCount = 0;
    std::string body;
    for (const DiffLine& line : lines) {
        beforeFirst = beforeFirst == 0 ? line.before : beforeFirst;
        afterFirst = afterFirst == 0 ? line.after : afterFirst;
        beforeCount += line.kind == DiffKind::Added ? 0 : 1;
        afterCount += line.kind == DiffKind::Removed ? 0 : 1;
        body += line.kind == DiffKind::Same ? ' ' : line.kind == DiffKind::Removed ? '-' : '+';
        body += line.text;
        if (!line.text.ends_with('\n')) {
            body += "\n\\ No newline at end of file\n";
        }
    }
    return fmt::format("@@ -{},{} +{},{} @@\n{}", beforeFirst, beforeCount, afterFirst, afterCount, body);
}

} // namespace

std::vector<DiffLine> lineDiff(std::string_view before, std::string_view after)
{
    const Lines old = splitLines(before);
    const Lines fresh = splitLines(after);
    std::size_t head = 0;
    while (head < old.size() && head < fresh.size() && old[head] == fresh[head]) {
        ++head;
    }
    std::size_t tail = 0;
    while (tail < old.size() - head && tail < fresh.size() - head
           && old[old.size() - 1 - tail] == fresh[fresh.size() - 1 - tail]) {
        ++tail;
    }
    const std::size_t removed = old.size() - head - tail;
    const std::size_t added = fresh.size() - head - tail;
    std::vector<DiffKind> steps
        = Myers(std::span(old).subspan(head, removed), std::span(fresh).subspan(head, added)).script();
    if (steps.empty()) {
        steps.assign(removed, DiffKind::Removed);
        steps.insert(steps.end(), added, DiffKind::Added);
    }
    steps.insert(steps.begin(), head, DiffKind::Same);
    steps.insert(steps.end(), tail, DiffKind::Same);

    std::vector<DiffLine> lines;
    std::size_t x = 0;
    std::size_t y = 0;
    for (const DiffKind kind : steps) {
        DiffLine line{kind, 0, 0, kind == DiffKind::Added ? fresh[y] : old[x]};
        line.before = kind == DiffKind::Added ? 0 : static_cast<std::int64_t>(++x);
        line.after = kind == DiffKind::Removed ? 0 : static_cast<std::int64_t>(++y);
        lines.push_back(line);
    }
    return lines;
}

std::string unifiedDiff(std::string_view before, std::string_view after, const std::string& beforeName,
                        const std::string& afterName, std::size_t context)
{
    const std::vector<DiffLine> lines = lineDiff(before, after);
    const auto isChange = [](const DiffLine& line) { return line.kind != DiffKind::Same; };
    std::string result;
    for (auto change = std::find_if(lines.begin(), lines.end(), isChange); change != lines.end();) {
        const auto first
            = change - std::min<std::ptrdiff_t>(change - lines.begin(), static_cast<std::ptrdiff_t>(context));
        auto end = change;
        auto next = change;
        // Changes whose contexts touch share a hunk.
        while (next != lines.end() && next - end <= static_cast<std::ptrdiff_t>(2 * context)) {
            end = std::find_if_not(next, lines.end(), isChange);
            next = std::find_if(end, lines.end(), isChange);
        }
        const auto last = end + std::min<std::ptrdiff_t>(lines.end() - end, static_cast<std::ptrdiff_t>(context));
        result += hunk({first, last});
        change = next;
    }
    return result.empty() ? result : fmt::format("--- {}\n+++ {}\n{}", beforeName, afterName, result);
}

} // namespace headroom
