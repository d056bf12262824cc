// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/calibrate.h"

#include "footprint/tape/shape.h"
#include "insight/rule.h"
#include "plan/batch.h"
#include "units/number.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;
constexpr double relativeSigma = 0.005; ///< of a measured peak (theory.md 9.3)
constexpr double offsetSigma = 0.5e9 / gibibyte; ///< prior (theory.md 9.4)
constexpr double bad = 0.02; ///< a residual beyond which something else is wrong (theory.md 9.3)
constexpr double good = 0.01;
constexpr double badChiSquare = 4;

/// How well theory knows a profile's activations (theory.md 9.4, 9.5).
double activationSigma(const TrainingPlan& plan, Engine engine)
{
    if (engine == Engine::Textbook) {
        return 0.15;
    }
    const std::string_view profile = profileOf(plan);
    return profile.starts_with("megatron") ? 0.03 : profile.starts_with("hf") ? 0.08 : 0.05;
}

/// A point in the terms of the model: measured = base + activations · (1 + unknown) + offset.
struct Sample
{
    double measured = 0; ///< GiB
    double theory = 0, activations = 0; ///< GiB
    Engine engine = Engine::Instant;
    double theoryK = 0;
};

/// What scales with k at the stage's peak in a phase; where the peak is the optimizer's, what comes and goes elsewhere.
Bytes activationsOf(const StageFootprint& stage, std::optional<Phase> phase)
{
    const Phase which = phase.value_or(stage.peakPhase);
    if (which == Phase::Optimizer) {
        return {};
    }
    if (stage.peakPhase != Phase::Optimizer) {
        return {stage.component(Component::Activations).value + stage.component(Component::InFlight).value};
    }
    return {std::max<std::int64_t>(stage.phase(which).value - stage.steadyAllocated.value, 0)};
}

double kOf(const TrainingPlan& plan, const StageFootprint& stage, Bytes activations)
{
    const double tokens = static_cast<double>(plan.batch.micro.valueOr(1))
        * static_cast<double>(plan.batch.seq.valueOr(1))
        / static_cast<double>(std::max<std::int64_t>(plan.parallel.cp.value, 1));
    const double layers = static_cast<double>(std::max<std::int64_t>(stage.layers * stage.inFlight, 1));
    return static_cast<double>(activations.value)
        / (2 * tokens * static_cast<double>(plan.model.hidden.valueOr(1)) * layers);
}

Result<Sample> sampleOf(const CalibrationPoint& point, const TrainingPlan& plan, Estimator estimator)
{
    Footprint footprint;
    if (auto done = estimator(plan, {}, footprint); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    if (point.stage >= footprint.stages.size()) {
        return failure(Text{HEADROOM_TR("core", "the plan has no stage %1"), {std::to_string(point.stage)}});
    }
    const StageFootprint& stage = footprint.stages[point.stage];
    const Bytes peak = point.phase ? stage.phase(*point.phase) : stage.peakAllocated;
    const Bytes activations = activationsOf(stage, point.phase);
    return Sample{static_cast<double>(point.allocated.value) / gibibyte, static_cast<double>(peak.value) / gibibyte,
                  static_cast<double>(activations.value) / gibibyte, footprint.engine, kOf(plan, stage, activations)};
}

double misfitOf(const std::vector<Sample>& samples)
{
    std::vector<double> relative;
    for (const Sample& sample : samples) {
        relative.push_back(sample.theory / sample.measured - 1);
    }
    return rootMeanSquare(relative);
}

struct Trial
{
    const char* name;
    const char* title;
    std::vector<PlanEdit> edits;
};

/// Settings that logs and configs most often disagree about.
std::vector<Trial> trials(const TrainingPlan& plan)
{
    std::vector<Trial> result{{HEADROOM_TR("core", "recompute is off"),
                               HEADROOM_TR("core", "The log looks as if recompute is off"),
                               {{"recompute.enabled", "false"}, {"recompute.granularity", "none"}}},
                              {HEADROOM_TR("core", "every layer is recomputed"),
                               HEADROOM_TR("core", "The log looks as if every layer is recomputed"),
                               {{"recompute.enabled", "true"}, {"recompute.granularity", "full"}}},
                              {HEADROOM_TR("core", "attention stores its scores"),
                               HEADROOM_TR("core", "The log looks as if attention stores its scores"),
                               {{"attention.impl", "unfused"}}},
                              {HEADROOM_TR("core", "attention does not store its scores"),
                               HEADROOM_TR("core", "The log looks as if attention does not store its scores"),
                               {{"attention.impl", "flash"}}},
                              {HEADROOM_TR("core", "the loss is fused"),
                               HEADROOM_TR("core", "The log looks as if the loss is fused"),
                               {{"implementation.fused_loss", "native"}}},
                              {HEADROOM_TR("core", "the loss is not fused"),
                               HEADROOM_TR("core", "The log looks as if the loss is not fused"),
                               {{"implementation.fused_loss", "none"}}},
                              {HEADROOM_TR("core", "the optimizer's state is sharded"),
                               HEADROOM_TR("core", "The log looks as if the optimizer's state is sharded"),
                               {{"shard.dist_opt", "true"}}},
                              {HEADROOM_TR("core", "the optimizer's state is not sharded"),
                               HEADROOM_TR("core", "The log looks as if the optimizer's state is not sharded"),
                               {{"shard.dist_opt", "false"}}}};
    if (plan.parallel.tp.value > 1) {
        result.push_back({HEADROOM_TR("core", "sequence parallelism is on"),
                          HEADROOM_TR("core", "The log looks as if sequence parallelism is on"),
                          {{"parallel.sp", "true"}}});
        result.push_back({HEADROOM_TR("core", "sequence parallelism is off"),
                          HEADROOM_TR("core", "The log looks as if sequence parallelism is off"),
                          {{"parallel.sp", "false"}}});
    }
    if (plan.parallel.pp.value > 1) {
        result.push_back({HEADROOM_TR("core", "the schedule is 1F1B"),
                          HEADROOM_TR("core", "The log looks as if the schedule is 1F1B"),
                          {{"parallel.schedule", "1f1b"}}});
        result.push_back({HEADROOM_TR("core", "the schedule is GPipe"),
                          HEADROOM_TR("core", "The log looks as if the schedule is GPipe"),
                          {{"parallel.schedule", "gpipe"}}});
    }
    return result;
}

class Calibrator
{
public:
    Calibrator(std::span<const CalibrationPoint> points, Estimator estimator)
        : m_points(points)
        , m_estimator(estimator)
    {
    }

    Result<Calibrated> run()
    {
        if (m_points.empty()) {
            return failure(Text{HEADROOM_TR("core", "there is no measured peak to calibrate on")});
        }
        for (const CalibrationPoint& point : m_points) {
            auto sample = sampleOf(point, point.plan, m_estimator);
            if (!sample) {
                return tl::unexpected(std::move(sample.error()));
            }
            m_samples.push_back(*sample);
        }
        if (std::none_of(m_samples.begin(), m_samples.end(), [](const Sample& s) { return s.activations > 0; })) {
            return failure(Text{HEADROOM_TR("core",
                                            "the measured peaks are in the optimizer's step, which says nothing "
                                            "about activations")});
        }
        m_result.misfit = misfitOf(m_samples);
        if (auto fitted = fit(); !fitted) {
            return tl::unexpected(std::move(fitted.error()));
        }
        describe();
        if (isDoubtful()) {
            findSuspects();
        }
        return std::move(m_result);
    }

private:
    /// With four points or more whose activations differ, they speak for themselves.
    [[nodiscard]] bool isDetermined() const
    {
        const auto [least, most]
            = std::minmax_element(m_samples.begin(), m_samples.end(),
                                  [](const Sample& a, const Sample& b) { return a.activations < b.activations; });
        return m_samples.size() >= 4 && most->activations - least->activations > 0.1 * most->measured;
    }

    Result<void> fit()
    {
        std::vector<LeastSquares::Measurement> measurements;
        for (const Sample& sample : m_samples) {
            measurements.push_back(
                {{sample.activations, 1, 0}, sample.measured - sample.theory, relativeSigma * sample.measured});
        }
        LeastSquares::Priors priors{};
        if (!isDetermined()) {
            const double sigma = activationSigma(m_points.front().plan, m_samples.front().engine);
            priors = {LeastSquares::Prior{0, sigma}, LeastSquares::Prior{0, offsetSigma}, std::nullopt};
            m_result.remarks.push_back(Text{
                HEADROOM_TR("core", "%1 peaks are few: theory, known to %2 %, counts as a measurement beside them"),
                {formatCount(std::ssize(m_samples)), formatReal(sigma * 100)}});
        }
        auto fitted = LeastSquares::fit(measurements, 2, priors);
        if (!fitted) {
            return tl::unexpected(std::move(fitted.error()));
        }
        m_result.fit = *fitted;
        return {};
    }

    void describe()
    {
        const LeastSquares& fit = *m_result.fit;
        const RealInterval scale = fit.interval(0);
        const RealInterval offset = fit.interval(1);
        m_result.calibration.activations = 1 + fit.value(0);
        m_result.calibration.offset = bytesFrom(fit.value(1) * gibibyte);
        m_result.calibration.spread = CalibrationSpread{fit.spread(0, 0), fit.spread(0, 1), fit.spread(1, 1)};
        m_result.activations = {1 + scale.low, 1 + scale.high};
        m_result.offsetLow = bytesFrom(offset.low * gibibyte);
        m_result.offsetHigh = bytesFrom(offset.high * gibibyte);
        m_result.reducedChiSquare = fit.reducedChiSquare();
        for (std::size_t i = 0; i < m_samples.size(); ++i) {
            const Sample& sample = m_samples[i];
            const double predicted = sample.theory + fit.predict({sample.activations, 1, 0});
            m_result.residuals.push_back({m_points[i].allocated, bytesFrom(sample.theory * gibibyte),
                                          bytesFrom(predicted * gibibyte), m_points[i].evidence});
            if (m_result.theoryK == 0) {
                m_result.theoryK = sample.theoryK;
            }
        }
        m_result.k = m_result.theoryK * m_result.calibration.activations;
    }

    [[nodiscard]] bool isDoubtful() const
    {
        if (m_result.reducedChiSquare.value_or(0) > badChiSquare) {
            return true;
        }
        return std::any_of(m_samples.begin(), m_samples.end(),
                           [](const Sample& sample) { return std::abs(sample.theory / sample.measured - 1) > bad; });
    }

    [[nodiscard]] std::optional<double> misfitWith(const Trial& trial) const
    {
        std::vector<Sample> samples;
        for (const CalibrationPoint& point : m_points) {
            const auto plan = edited(point.plan, trial.edits);
            const auto sample = plan ? sampleOf(point, *plan, m_estimator) : Result<Sample>(failure(Text{}));
            if (!sample) {
                return std::nullopt;
            }
            samples.push_back(*sample);
        }
        return misfitOf(samples);
    }

    void findSuspects()
    {
        for (Trial& trial : trials(m_points.front().plan)) {
            const auto misfit = misfitWith(trial);
            if (misfit && *misfit < good && *misfit < m_result.misfit / 3) {
                m_result.suspects.push_back({Text{trial.name}, Text{trial.title}, std::move(trial.edits), *misfit});
            }
        }
        std::stable_sort(m_result.suspects.begin(), m_result.suspects.end(),
                         [](const Suspect& a, const Suspect& b) { return a.misfit < b.misfit; });
        if (!m_result.suspects.empty()) {
            // The setting explains the difference; a coefficient that absorbed it would be wrong for every other plan.
            m_result.calibration = {};
        } else {
            m_result.remarks.push_back(
                Text{HEADROOM_TR("core",
                                 "theory misses the measurements by %1 %, and no single other setting explains "
                                 "that: take the coefficients for this configuration only"),
                     {formatReal(std::round(m_result.misfit * 1000) / 10)}});
        }
    }

    std::span<const CalibrationPoint> m_points;
    Estimator m_estimator;
    std::vector<Sample> m_samples;
    Calibrated m_result;
};

} // namespace

Result<Calibrated> calibrate(std::span<const CalibrationPoint> points, Estimator estimator)
{
    return Calibrator(points, estimator).run();
}

std::pair<Bytes, Bytes> Calibrated::predict(const StageFootprint& theory) const
{
    const double scaled = static_cast<double>(activationsOf(theory, std::nullopt).value) / gibibyte;
    const double peak = static_cast<double>(theory.peakAllocated.value) / gibibyte;
    const RealInterval interval = fit->predictionInterval({scaled, 1, 0}, relativeSigma * peak);
    return {bytesFrom((peak + interval.low) * gibibyte), bytesFrom((peak + interval.high) * gibibyte)};
}

std::optional<std::size_t> stageOfRank(const TrainingPlan& plan, std::int32_t rank)
{
    const std::int64_t stages = std::max<std::int64_t>(plan.parallel.pp.value, 1);
    if (stages == 1) {
        return 0;
    }
    const std::int64_t world = worldSize(plan);
    if (rank < 0 || rank >= world || world % stages != 0) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(rank / (world / stages));
}

} // namespace headroom
