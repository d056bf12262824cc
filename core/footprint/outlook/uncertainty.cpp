// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/outlook/uncertainty.h"

#include "footprint/outlook/outside.h"
#include "footprint/tape/shape.h"
#include "footprint/torch/habits.h"
#include "footprint/working.h"
#include "plan/objective.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace headroom {

namespace {

/// A reason with its bytes on every stage.
struct Doubt
{
    std::string_view id;
    Text text;
    Measure measure = Measure::Allocated;
    bool isRange = false;
    std::vector<Interval> margins; ///< below and above, both positive
};

std::string percent(double share)
{
    return fmt::format("{:g} %", 100 * share);
}

/// What grows with the micro-batch, which tapes and formulas know less well than the state.
Bytes activationPart(const StageFootprint& stage)
{
    return stage.component(Component::Activations) + stage.component(Component::InFlight)
        + stage.component(Component::Logits) + stage.component(Component::WorkingSet);
}

class DoubtList
{
public:
    DoubtList(const TrainingPlan& plan, const Calibration& calibration, const Footprint& footprint)
        : m_plan(plan)
        , m_footprint(footprint)
        , m_calibration(calibration)
        , m_isCalibrated(calibration.k.has_value() || calibration.scalesTapes())
        , m_profile(profileOf(plan))
    {
    }

    void add(std::string_view id, Text text, Measure measure, bool isRange,
             const std::function<Interval(const StageFootprint&)>& marginOf)
    {
        Doubt doubt{id, std::move(text), measure, isRange, {}};
        for (const StageFootprint& stage : m_footprint.stages) {
            doubt.margins.push_back(marginOf(stage));
        }
        m_doubts.push_back(std::move(doubt));
    }

    /// What the coefficient scaled, as it was before.
    [[nodiscard]] Bytes scaledActivations(const StageFootprint& stage) const
    {
        const Bytes scaled = stage.component(Component::Activations) + stage.component(Component::InFlight);
        return stage.peakPhase == Phase::Optimizer
            ? Bytes{}
            : bytesFrom(static_cast<double>(scaled.value) / m_calibration.activations);
    }

    /// theory.md 9.4 and 9.5: the interval of the coefficients, 3 % of the activations where k is a measurement, 2 %
    /// where framework and schedule are known and fused, 8 % where Python makes the tensors, 15 % where the framework
    /// (9.4) or what is recomputed is not known.
    void addActivations()
    {
        const bool isTextbook = m_footprint.engine == Engine::Textbook;
        const bool isKnown = m_plan.implementation.profile.isKnown()
            || (!m_plan.framework.value.empty() && m_plan.framework.value != "base-yaml");
        const RecomputePlan& recompute = m_plan.recompute;
        const bool isVague = recompute.granularity.value == Granularity::Selective && !recompute.numLayers.isKnown()
            && (!recompute.modules.isKnown() || recompute.modules.value.empty());
        const bool isPython = torchHabits(m_profile) != nullptr;
        if (m_calibration.spread) {
            add("activations",
                Text{HEADROOM_TR("core", "What was measured determines the coefficients to within this")},
                Measure::Allocated, false, [this](const StageFootprint& stage) {
                    const Bytes margin = m_calibration.spread->margin(scaledActivations(stage));
                    return Interval{margin, margin};
                });
        } else if (m_isCalibrated) {
            addShare(0.03,
                     Text{HEADROOM_TR("core", "Activations that were measured hold within about %1"), {percent(0.03)}});
        } else if (isTextbook) {
            addShare(0.15,
                     Text{HEADROOM_TR("core", "The recipe's k holds within about %1 for a framework it does not know"),
                          {percent(0.15)}});
        } else if (isVague) {
            addShare(0.15,
                     Text{HEADROOM_TR("core", "What is recomputed selectively is not given: %1 of the activations"),
                          {percent(0.15)}});
        } else if (!isKnown) {
            addShare(
                0.15,
                Text{HEADROOM_TR("core", "Framework not known: other fused ones keep up to %1 more or less than %2"),
                     {percent(0.15), std::string(m_profile)}});
        } else if (isPython) {
            addShare(
                0.08,
                Text{HEADROOM_TR("core", "Layers written in Python differ between versions: %1 of the activations"),
                     {percent(0.08)}});
        } else {
            addShare(
                0.02,
                Text{HEADROOM_TR("core", "Fused layers of a known framework: %1 of the activations"), {percent(0.02)}});
        }
    }

    /// The recipe forgets the logits: two bytes and four of each while the loss is computed (theory.md 3.5).
    void addForgottenLogits()
    {
        if (m_footprint.engine != Engine::Textbook || classifierLabels(m_plan)) {
            return;
        }
        const Working working = workingOf(m_plan, {});
        const double logits = 6 * working.activations.tokens * static_cast<double>(working.model.vocab)
            / static_cast<double>(working.split.tensor);
        const std::int64_t last = static_cast<std::int64_t>(m_footprint.stages.size()) - 1;
        add("logits", Text{HEADROOM_TR("core", "The recipe leaves out the logits of the last stage")},
            Measure::Allocated, true, [&](const StageFootprint& stage) {
                return Interval{{}, stage.stage == last ? bytesFrom(logits) : Bytes{}};
            });
    }

    void addAssumptions(const std::vector<Assumption>& assumptions)
    {
        for (const Assumption& assumption : assumptions) {
            Doubt doubt{assumption.field, assumption.text, Measure::Allocated, assumption.isRange, {}};
            doubt.margins.resize(m_footprint.stages.size());
            bool isUsed = false;
            for (const Alternative& alternative : assumption.alternatives) {
                for (std::size_t i = 0; alternative.isPlausible && i < alternative.changes.size(); ++i) {
                    const Bytes change = alternative.changes[i];
                    Interval& margin = doubt.margins[i];
                    margin.low = std::max(margin.low, Bytes{-change.value});
                    margin.high = std::max(margin.high, change);
                    isUsed = true;
                }
            }
            if (isUsed) {
                m_doubts.push_back(std::move(doubt));
            }
        }
    }

    /// theory.md 9.3 and 9.5: reserved repeats within 3 % of itself; over allocated it is 2 to 8 % where all steps ask
    /// for the same blocks, 5 to 20 % where their lengths vary.
    void addReserved()
    {
        const bool isVarying = hasVaryingLengths();
        const bool isReplayed = m_footprint.engine == Engine::Replay;
        const double share = isVarying ? 0.20 : 0.08;
        const auto marginOf = [&](const StageFootprint& stage) {
            const double allocated = static_cast<double>(stage.peakAllocated.value);
            const double reserved = static_cast<double>(stage.peakReserved.value);
            const double repeated = isReplayed ? 0.03 * reserved : 0;
            const double above = std::max(isReplayed && !isVarying ? 0 : allocated * (1 + share) - reserved, repeated);
            const double below = std::min(repeated, std::max(reserved - allocated, 0.0));
            return Interval{bytesFrom(below), bytesFrom(std::max(above, 0.0))};
        };
        const Text text = isVarying
            ? Text{HEADROOM_TR("core", "Samples of varying length fragment the cache: 5 to %1 over allocated"),
                   {percent(share)}}
            : isReplayed
            ? Text{HEADROOM_TR("core", "What the allocator's cache holds repeats to about %1"), {percent(0.03)}}
            : Text{HEADROOM_TR("core", "No allocator was replayed: its cache adds up to %1"), {percent(share)}};
        add("reserved", text, Measure::Reserved, false, marginOf);
    }

    void addOutside()
    {
        const OutsideMemory outside = outsideMemory(m_plan, splitOf(m_plan));
        const auto marginOf = [](const Prior& prior) {
            return [prior](const StageFootprint&) {
                return Interval{prior.central - prior.low, prior.high - prior.central};
            };
        };
        add("context",
            Text{HEADROOM_TR("core", "CUDA context: %1 to %2"),
                 {formatBytes(outside.context.low, 0), formatBytes(outside.context.high, 0)}},
            Measure::Device, false, marginOf(outside.context));
        if (outside.communicators > 0) {
            add("nccl",
                Text{HEADROOM_TR("core", "NCCL buffers, communicators: %1; %2 to %3"),
                     {formatCount(outside.communicators), formatGib(outside.communication.low, 1),
                      formatGib(outside.communication.high, 1)}},
                Measure::Device, false, marginOf(outside.communication));
        }
        if (outside.exchange.high.value > 0) {
            add("expert-exchange",
                Text{HEADROOM_TR("core", "NCCL buffers of the experts' all-to-all: %1 to %2"),
                     {formatGib(outside.exchange.low, 1), formatGib(outside.exchange.high, 1)}},
                Measure::Device, false, marginOf(outside.exchange));
        }
    }

    [[nodiscard]] Interval interval(std::size_t stage, Measure measure, Bytes central) const
    {
        double below = 0, above = 0, squareBelow = 0, squareAbove = 0;
        for (const Doubt& doubt : m_doubts) {
            if (doubt.measure > measure) {
                continue;
            }
            const double low = static_cast<double>(doubt.margins[stage].low.value);
            const double high = static_cast<double>(doubt.margins[stage].high.value);
            below += doubt.isRange ? low : 0;
            above += doubt.isRange ? high : 0;
            squareBelow += doubt.isRange ? 0 : low * low;
            squareAbove += doubt.isRange ? 0 : high * high;
        }
        const double middle = static_cast<double>(central.value);
        return {bytesFrom(std::max(middle - below - std::sqrt(squareBelow), 0.0)),
                bytesFrom(middle + above + std::sqrt(squareAbove))};
    }

    [[nodiscard]] std::vector<UncertaintyReason> reasons() const
    {
        std::vector<UncertaintyReason> result;
        for (const Doubt& doubt : m_doubts) {
            const Interval& margin = doubt.margins[m_footprint.fullestStage];
            if (std::max(margin.low, margin.high).value > m_footprint.fullest().device.value / 5000) {
                result.push_back({doubt.id, doubt.text, doubt.measure, margin.low, margin.high, doubt.isRange});
            }
        }
        const auto larger = [](const UncertaintyReason& a, const UncertaintyReason& b) {
            return std::max(a.below, a.above) > std::max(b.below, b.above);
        };
        std::stable_sort(result.begin(), result.end(), larger);
        return result;
    }

private:
    void addShare(double share, Text text)
    {
        add("activations", std::move(text), Measure::Allocated, false, [share](const StageFootprint& stage) {
            const Bytes margin = bytesFrom(share * static_cast<double>(activationPart(stage).value));
            return Interval{margin, margin};
        });
    }

    /// Trainers of conversations pad to the longest sample of a batch unless they pack.
    [[nodiscard]] bool hasVaryingLengths() const
    {
        return (m_profile.starts_with("hf") || m_profile == "torchtune") && !m_plan.batch.packing.value;
    }

    const TrainingPlan& m_plan;
    const Footprint& m_footprint;
    const Calibration& m_calibration;
    bool m_isCalibrated;
    std::string_view m_profile;
    std::vector<Doubt> m_doubts;
};

} // namespace

Uncertainty describeUncertainty(const TrainingPlan& plan, const Calibration& calibration, Footprint& footprint)
{
    Uncertainty result;
    if (footprint.stages.empty()) {
        return result;
    }
    result.assumptions = assumptionsOf(plan, calibration, footprint);
    DoubtList doubts(plan, calibration, footprint);
    doubts.addActivations();
    doubts.addForgottenLogits();
    doubts.addAssumptions(result.assumptions);
    doubts.addReserved();
    doubts.addOutside();
    result.reasons = doubts.reasons();
    for (std::size_t i = 0; i < footprint.stages.size(); ++i) {
        StageFootprint& stage = footprint.stages[i];
        stage.intervals = StageIntervals{doubts.interval(i, Measure::Allocated, stage.peakAllocated),
                                         doubts.interval(i, Measure::Reserved, stage.peakReserved),
                                         doubts.interval(i, Measure::Device, stage.device)};
    }
    return result;
}

} // namespace headroom
