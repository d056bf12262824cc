// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/verdict.h"

#include "workspace/wording.h"

#include <QCoreApplication>
#include <QLocale>

namespace headroom {
namespace {

constexpr double tightShare = 0.05;

class Words
{
    Q_DECLARE_TR_FUNCTIONS(Verdict)
};

Verdict::Level levelOf(Bytes peak, Bytes capacity)
{
    if (peak > capacity) {
        return Verdict::Level::DoesNotFit;
    }
    const double left = static_cast<double>((capacity - peak).value);
    return left < tightShare * static_cast<double>(capacity.value) ? Verdict::Level::Tight : Verdict::Level::Fits;
}

QString sentenceFor(const StageFootprint& stage, std::optional<Bytes> capacity)
{
    const QString phase = phaseName(stage.peakPhase);
    const QString number = QString::number(stage.stage);
    if (!capacity) {
        return Words::tr("Peaks at %1 in %2 on stage %3. Choose a GPU to see whether it fits")
            .arg(gibText(stage.device), phase, number);
    }
    const QString peak = plainGib(stage.device);
    switch (levelOf(stage.device, *capacity)) {
    case Verdict::Level::DoesNotFit:
        return Words::tr("Does not fit: stage %1 peaks at %2 of %3 in %4, %5 over")
            .arg(number, peak, gibText(*capacity), phase, gibText(stage.device - *capacity));
    case Verdict::Level::Tight:
        return Words::tr("Tight: stage %1 peaks at %2 of %3 in %4, only %5 left")
            .arg(number, peak, gibText(*capacity), phase, gibText(*capacity - stage.device));
    default:
        return Words::tr("Fits: stage %1 peaks at %2 of %3 in %4, %5 left")
            .arg(number, peak, gibText(*capacity), phase, gibText(*capacity - stage.device));
    }
}

QString exactnessOf(const VerdictInput& input)
{
    QLocale locale;
    const QString k = locale.toString(input.footprint->k, 'f', 1);
    const bool isExact = input.footprint->engine != Engine::Textbook;
    const bool isReplayed = input.footprint->engine == Engine::Replay;
    const QString profile = QString::fromUtf8(input.profile.data(), static_cast<qsizetype>(input.profile.size()));
    QString text = isReplayed ? Words::tr("one step replayed (%1)").arg(profile)
        : isExact             ? Words::tr("every tensor counted (%1)").arg(profile)
        : input.hasOwnK       ? Words::tr("textbook recipe, k = %1 set by you").arg(k)
                              : Words::tr("textbook recipe, k = %1 derived").arg(k);
    if (input.isCalibrated) {
        text = Words::tr("%1, calibrated by measurement").arg(text);
    }
    const auto peak = input.summary != nullptr ? input.summary->peak : std::nullopt;
    if (!peak || input.originalFootprint == nullptr || input.originalFootprint->stages.empty()) {
        return text;
    }
    Bytes estimated;
    for (const StageFootprint& stage : input.originalFootprint->stages) {
        estimated = std::max(estimated, stage.peakAllocated);
    }
    const double measured = static_cast<double>(input.run->allocatedBytes[*peak]);
    const double percent = measured > 0 ? (static_cast<double>(estimated.value) / measured - 1) * 100 : 0;
    return text + u'\n'
        + (percent >= 0 ? Words::tr("%1 % above the log's peak").arg(locale.toString(percent, 'f', 1))
                        : Words::tr("%1 % below the log's peak").arg(locale.toString(-percent, 'f', 1)));
}

/// The log alone: the largest value measured.
Verdict judgeLog(const VerdictInput& input, std::size_t peak)
{
    Verdict verdict;
    const Record record = input.run->record(peak);
    const QString phase = toQString(input.run->phaseNames[record.phase]);
    const QString place
        = QStringLiteral("%1:%2").arg(fileName(input.run->files[record.file]), QString::number(record.line));
    if (!input.capacity) {
        verdict.level = Verdict::Level::Unknown;
        verdict.sentence = Words::tr("Measured peak %1 in %2, step %3 (%4). Choose a GPU to see how much is left")
                               .arg(gibText(record.allocated), phase, grouped(record.step), place);
    } else {
        verdict.level = levelOf(record.allocated, *input.capacity);
        verdict.sentence
            = Words::tr("Measured peak %1 of %2 in %3, step %4 (%5)")
                  .arg(plainGib(record.allocated), gibText(*input.capacity), phase, grouped(record.step), place);
    }
    verdict.exactness = Words::tr("allocated, as logged");
    return verdict;
}

} // namespace

QString noEstimateText(const QString& obstacle)
{
    return Words::tr("No estimate: %1").arg(obstacle);
}

QString phaseName(Phase phase)
{
    switch (phase) {
    case Phase::Forward:
        return Words::tr("forward");
    case Phase::Backward:
        return Words::tr("backward");
    case Phase::Optimizer:
        return Words::tr("optimizer");
    }
    return {};
}

int shownStage(const Footprint& footprint, std::optional<int> chosen)
{
    return chosen && *chosen >= 0 && static_cast<std::size_t>(*chosen) < footprint.stages.size()
        ? *chosen
        : static_cast<int>(footprint.fullestStage);
}

Verdict judge(const VerdictInput& input)
{
    Verdict verdict;
    if (input.footprint != nullptr && !input.footprint->stages.empty()) {
        const StageFootprint& fullest = input.footprint->fullest();
        verdict.level = input.capacity ? levelOf(fullest.device, *input.capacity) : Verdict::Level::Unknown;
        verdict.sentence = sentenceFor(fullest, input.capacity);
        verdict.exactness = exactnessOf(input);
        return verdict;
    }
    if (const auto peak = input.summary != nullptr ? input.summary->peak : std::nullopt) {
        return judgeLog(input, *peak);
    }
    if (!input.obstacle.isEmpty()) {
        verdict.level = Verdict::Level::Unknown;
        verdict.sentence = noEstimateText(input.obstacle);
    }
    return verdict;
}

} // namespace headroom
