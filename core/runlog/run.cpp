// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {

namespace {

std::vector<float> numbersOf(const std::vector<float>& values, const std::vector<float>& more)
{
    std::vector<float> all = values;
    all.insert(all.end(), more.begin(), more.end());
    std::erase_if(all, [](float value) { return std::isnan(value); });
    return all;
}

} // namespace

std::vector<float> Run::allStepSeconds() const
{
    return numbersOf(stepSeconds.values, steps.seconds);
}

std::vector<float> Run::allTokensPerSecond() const
{
    return numbersOf(tokensPerSecond.values, steps.tokensPerSecond);
}

const LogFact::Field* LogFact::find(std::string_view name) const
{
    const auto found = std::ranges::find(fields, name, &Field::name);
    return found == fields.end() ? nullptr : &*found;
}

std::optional<double> LogFact::number(std::string_view name) const
{
    const Field* const field = find(name);
    return field == nullptr ? std::nullopt : field->number;
}

std::string_view LogFact::text(std::string_view name) const
{
    const Field* const field = find(name);
    return field == nullptr ? std::string_view() : std::string_view(field->text);
}

Record Run::record(std::size_t index) const
{
    const auto next = std::ranges::upper_bound(firstRecordOfFile, static_cast<std::int64_t>(index));
    Record record{.step = step[index],
                  .phase = phase[index],
                  .rank = rank[index],
                  .allocated = {std::max<std::int64_t>(allocatedBytes[index], 0)},
                  .reserved = {},
                  .line = line[index],
                  .file
                  = static_cast<std::uint16_t>(std::max<std::ptrdiff_t>(next - firstRecordOfFile.begin(), 1) - 1)};
    if (!reservedBytes.empty() && reservedBytes[index] != noReserved) {
        record.reserved = Bytes{reservedBytes[index]};
    }
    return record;
}

std::vector<std::int32_t> Run::ranks() const
{
    std::vector<bool> present(std::size_t{std::numeric_limits<std::int16_t>::max()} + 1);
    for (const std::int16_t r : rank) {
        if (r >= 0) {
            present[static_cast<std::size_t>(r)] = true;
        }
    }
    std::vector<std::int32_t> distinct;
    for (std::size_t r = 0; r < present.size(); ++r) {
        if (present[r]) {
            distinct.push_back(static_cast<std::int32_t>(r));
        }
    }
    return distinct;
}

std::optional<std::size_t> Run::peak(std::optional<std::uint8_t> ofPhase, std::optional<std::int32_t> ofRank) const
{
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < size(); ++i) {
        const bool counts = hasAllocated(i) && (!ofPhase || phase[i] == *ofPhase) && (!ofRank || rank[i] == *ofRank);
        if (counts && (!best || allocatedBytes[i] > allocatedBytes[*best])) {
            best = i;
        }
    }
    return best;
}

std::vector<std::size_t> Run::largest(std::size_t n) const
{
    const auto before = [this](std::size_t a, std::size_t b) {
        return allocatedBytes[a] != allocatedBytes[b] ? allocatedBytes[a] > allocatedBytes[b] : a < b;
    };
    // A heap of the n largest so far, the least of them in front: most records cost one comparison.
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < size() && n > 0; ++i) {
        if (!hasAllocated(i)) {
            continue;
        }
        if (best.size() == n) {
            if (!before(i, best.front())) {
                continue;
            }
            std::ranges::pop_heap(best, before);
            best.pop_back();
        }
        best.push_back(i);
        std::ranges::push_heap(best, before);
    }
    std::ranges::sort_heap(best, before);
    return best;
}

} // namespace headroom
