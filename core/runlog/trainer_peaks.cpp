// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/trainer_peaks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {
namespace {

bool hasFormat(const Run& run, std::string_view id)
{
    return std::ranges::find(run.formats, id) != run.formats.end();
}

std::size_t firstOfNextFile(const Run& run, std::size_t file)
{
    return file + 1 < run.firstRecordOfFile.size() ? static_cast<std::size_t>(run.firstRecordOfFile[file + 1])
                                                   : run.size();
}

void makeDecimal(Run& run, std::size_t file)
{
    constexpr double decimalShare = 1e9 / 0x1p30;
    const auto first = static_cast<std::size_t>(run.firstRecordOfFile[file]);
    const std::size_t end = firstOfNextFile(run, file);
    const auto scale = [](std::int64_t& bytes) {
        bytes = bytes < 0 ? bytes : std::llround(static_cast<double>(bytes) * decimalShare);
    };
    for (std::size_t i = first; i < end; ++i) {
        scale(run.allocatedBytes[i]);
        if (!run.reservedBytes.empty()) {
            scale(run.reservedBytes[i]);
        }
    }
    for (std::size_t i = 0; i < run.activeBytes.records.size(); ++i) {
        if (run.activeBytes.records[i] >= first && run.activeBytes.records[i] < end) {
            scale(run.activeBytes.values[i]);
        }
    }
}

} // namespace

void resolveTorchtuneUnits(Run& run)
{
    if (!hasFormat(run, "torchtune.step") && !hasFormat(run, "torchtune.init")) {
        return;
    }
    bool isUnknown = false;
    for (std::size_t file = 0; file < run.files.size(); ++file) {
        const auto label = std::ranges::find_if(
            run.facts, [&](const LogFact& fact) { return fact.format == "torchtune.unit" && fact.file == file; });
        if (label == run.facts.end()) {
            isUnknown = isUnknown || firstOfNextFile(run, file) > static_cast<std::size_t>(run.firstRecordOfFile[file]);
        } else if (label->text("label") == "GB") {
            makeDecimal(run, file);
        }
    }
    if (isUnknown && hasFormat(run, "torchtune.step")) {
        run.inferences.emplace_back(
            HEADROOM_TR("core",
                        "The log does not say the unit of torchtune's amounts. GiB is taken, "
                        "which torchtune writes since August 2024; before, it was GB, 7 % less"));
    }
}

void inferTrainerPeak(Run& run)
{
    struct Part
    {
        std::string_view stage, what;
    };
    static constexpr std::array<Part, 4> parts{
        {{"before_init", ""}, {"init", "alloc_delta"}, {"train", "alloc_delta"}, {"train", "peaked_delta"}}};
    double peak = 0;
    const LogFact* last = nullptr;
    for (const Part& part : parts) {
        const auto fact = std::ranges::find_if(run.facts, [&](const LogFact& one) {
            const bool isGpu
                = one.format == "hf.mem_raw" || (one.format == "hf.mem_fmt" && one.text("device_kind") == "gpu");
            return isGpu && one.text("stage") == part.stage && one.text("what") == part.what;
        });
        if (fact != run.facts.end()) {
            peak += fact->number("bytes").value_or(0);
            last = part.what == "peaked_delta" ? &*fact : last;
        }
    }
    if (last != nullptr && peak >= 1 && peak < 0x1p50) {
        run.inferences.emplace_back(
            HEADROOM_TR("core",
                        "The Trainer's figures up to line %1 add up to a peak of the training of "
                        "%2 allocated: what was there before, what initialising and training "
                        "added, and the peak beyond that"),
            std::vector<std::string>{std::to_string(last->line), formatGib(Bytes{static_cast<std::int64_t>(peak)}, 2)});
    }
}

} // namespace headroom
