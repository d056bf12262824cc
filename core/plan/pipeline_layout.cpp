// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/pipeline_layout.h"

#include "units/number.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace headroom {

namespace {

/// Beyond any run, and quick to expand.
constexpr std::size_t mostCharacters = 1'000'000;
constexpr const char* tooLarge = HEADROOM_TR("core", "the pipeline layout has more layers than any model");

tl::unexpected<Problem> wrong(const char* pattern, std::string first = {}, std::string second = {})
{
    return failure(Text{pattern, {std::move(first), std::move(second)}});
}

/// Replaces x*n and (…)*n by what they stand for, from the innermost parentheses outwards.
class Expander
{
public:
    explicit Expander(std::string_view text)
        : m_text(text)
    {
    }

    Result<std::string> all()
    {
        Result<std::string> result = sequence();
        if (result && m_place < m_text.size()) {
            return wrong(HEADROOM_TR("core", "the pipeline layout closes a parenthesis that is not open"));
        }
        return result;
    }

private:
    Result<std::string> sequence(int depth = 0)
    {
        std::string result;
        while (m_place < m_text.size() && m_text[m_place] != ')') {
            std::string item(1, m_text[m_place++]);
            if (item == "," || item == " ") {
                continue;
            }
            if (item == "(") {
                constexpr int deepest = 20;
                auto inner = depth < deepest ? sequence(depth + 1) : wrong(tooLarge);
                if (!inner) {
                    return inner;
                }
                if (m_place == m_text.size()) {
                    return wrong(HEADROOM_TR("core", "the pipeline layout does not close a parenthesis"));
                }
                ++m_place;
                item = std::move(*inner);
            }
            const auto times = repetitions();
            if (!times) {
                return tl::unexpected(times.error());
            }
            if (static_cast<double>(item.size()) * static_cast<double>(*times)
                > static_cast<double>(mostCharacters - result.size())) {
                return wrong(tooLarge);
            }
            for (std::int64_t i = 0; i < *times; ++i) {
                result += item;
            }
        }
        return result;
    }

    Result<std::int64_t> repetitions()
    {
        if (m_place == m_text.size() || m_text[m_place] != '*') {
            return 1;
        }
        const std::size_t start = ++m_place;
        while (m_place < m_text.size() && m_text[m_place] >= '0' && m_text[m_place] <= '9') {
            ++m_place;
        }
        const auto times = parseInteger(m_text.substr(start, m_place - start));
        if (!times) {
            return wrong(HEADROOM_TR("core", "the pipeline layout has no number behind “*”"));
        }
        return *times;
    }

    std::string_view m_text;
    std::size_t m_place = 0;
};

bool isListOfCounts(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789, []") == std::string_view::npos
        && text.find_first_of("0123456789") != std::string_view::npos;
}

std::vector<std::int64_t> countsIn(std::string_view text)
{
    std::vector<std::int64_t> counts;
    std::size_t place = 0;
    while ((place = text.find_first_of("0123456789", place)) != std::string_view::npos) {
        const std::size_t end = std::min(text.find_first_not_of("0123456789", place), text.size());
        counts.push_back(parseInteger(text.substr(place, end - place)).value_or(-1));
        place = end;
    }
    return counts;
}

} // namespace

void PipelineLayout::append(Cell cell)
{
    cell.firstLayer = m_layers;
    m_layers += cell.layers;
    m_mtpLayers += cell.mtpLayers;
    m_cells.push_back(cell);
}

Result<void> PipelineLayout::readCounts(std::string_view text)
{
    for (const std::int64_t count : countsIn(text)) {
        if (count < 0 || count > static_cast<std::int64_t>(mostCharacters)) {
            return wrong(tooLarge);
        }
        append({0, count, 0, false, false});
    }
    m_cells.front().hasEmbedding = m_cells.back().hasLoss = true;
    return {};
}

Result<void> PipelineLayout::readLetters(std::string_view text)
{
    const Result<std::string> expanded = Expander(text).all();
    if (!expanded) {
        return tl::unexpected(expanded.error());
    }
    Cell cell;
    for (const char letter : *expanded + '|') {
        switch (letter) {
        case 'E':
            if (!m_cells.empty() || cell.layers > 0) {
                return wrong(HEADROOM_TR("core", "the embedding of the pipeline layout does not come first"));
            }
            cell.hasEmbedding = true;
            break;
        case 't':
            ++cell.layers;
            break;
        case 'm':
            ++cell.mtpLayers;
            break;
        case 'L':
            cell.hasLoss = true;
            break;
        case '|':
            append(cell);
            cell = {};
            break;
        default:
            return wrong(HEADROOM_TR("core", "“%1” in the pipeline layout is none of E, t, m, L and |"),
                         std::string(1, letter));
        }
    }
    return {};
}

Result<PipelineLayout> PipelineLayout::parse(std::string_view text, std::int64_t stages)
{
    PipelineLayout layout(std::max<std::int64_t>(stages, 1));
    if (text.size() > mostCharacters) {
        return wrong(tooLarge);
    }
    if (auto read = isListOfCounts(text) ? layout.readCounts(text) : layout.readLetters(text); !read) {
        return tl::unexpected(read.error());
    }
    const auto cells = static_cast<std::int64_t>(layout.m_cells.size());
    if (cells % layout.m_stages != 0) {
        return wrong(HEADROOM_TR("core", "the %1 chunks of the pipeline layout do not go round %2 stages"),
                     formatCount(cells), formatCount(layout.m_stages));
    }
    const auto loss
        = std::find_if(layout.m_cells.begin(), layout.m_cells.end(), [](const Cell& c) { return c.hasLoss; });
    if (!layout.m_cells.front().hasEmbedding || loss != std::prev(layout.m_cells.end())) {
        return wrong(
            HEADROOM_TR("core", "the pipeline layout needs its embedding at the start and its loss at the end"));
    }
    return layout;
}

std::int64_t PipelineLayout::layersOfStage(std::int64_t stage) const
{
    std::int64_t sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks(); ++chunk) {
        sum += cell(stage, chunk).layers;
    }
    return sum;
}

} // namespace headroom
