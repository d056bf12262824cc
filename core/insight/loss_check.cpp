// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/loss_check.h"

#include "insight/least_squares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom {

namespace {

double medianOf(std::vector<double> values)
{
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// A run of losses without its slow course: each value less the mean of its neighbours, which a smooth curve nearly
/// equals. Scaled so that independent noise keeps its size.
std::vector<double> fluctuations(const std::vector<double>& losses)
{
    constexpr double keepsSize = 0.816496580927726; // 1/√(1 + ¼ + ¼)
    std::vector<double> result;
    for (std::size_t i = 1; i + 1 < losses.size(); ++i) {
        result.push_back((losses[i] - (losses[i - 1] + losses[i + 1]) / 2) * keepsSize);
    }
    return result;
}

/// Standard deviation that a few outliers do not move.
double robustDeviation(std::vector<double> values)
{
    constexpr double ofNormal = 1.4826;
    for (double& value : values) {
        value = std::abs(value);
    }
    return ofNormal * medianOf(std::move(values));
}

double correlation(const std::vector<double>& a, const std::vector<double>& b)
{
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 1;
}

std::vector<double> differences(const std::vector<double>& first, const std::vector<double>& second,
                                std::int64_t shift = 0)
{
    std::vector<double> result;
    const auto size = static_cast<std::int64_t>(first.size());
    for (std::int64_t i = std::max<std::int64_t>(0, -shift); i < size && i + shift < size; ++i) {
        result.push_back(second[static_cast<std::size_t>(i + shift)] - first[static_cast<std::size_t>(i)]);
    }
    return result;
}

struct Slope
{
    double perStep = 0, error = 0;
};

Slope slopeOf(const std::vector<std::int64_t>& steps, const std::vector<double>& values)
{
    const auto n = static_cast<double>(values.size());
    double meanStep = 0;
    double meanValue = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        meanStep += static_cast<double>(steps[i]) / n;
        meanValue += values[i] / n;
    }
    double xx = 0;
    double xy = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = static_cast<double>(steps[i]) - meanStep;
        xx += x * x;
        xy += x * (values[i] - meanValue);
    }
    if (!(xx > 0)) {
        return {};
    }
    Slope slope{xy / xx, 0};
    double rest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double fitted = meanValue + slope.perStep * (static_cast<double>(steps[i]) - meanStep);
        rest += (values[i] - fitted) * (values[i] - fitted);
    }
    slope.error = n > 2 ? std::sqrt(rest / (n - 2) / xx) : 0;
    return slope;
}

class Comparison
{
public:
    Comparison(LossComparison& result, const LossOptions& options)
        : m_result(result)
        , m_options(options)
        , m_differences(differences(result.first, result.second))
    {
    }

    void run()
    {
        measure();
        m_result.verdict = verdict();
        if (m_result.verdict == LossVerdict::Identical || m_result.verdict == LossVerdict::Noise) {
            m_result.departsAt.reset();
        }
    }

private:
    void measure()
    {
        LossComparison& r = m_result;
        std::vector<double> magnitudes;
        for (const double loss : r.first) {
            magnitudes.push_back(std::abs(loss));
        }
        r.scale = medianOf(std::move(magnitudes));
        m_firstNoise = fluctuations(r.first);
        m_secondNoise = fluctuations(r.second);
        r.noise = robustDeviation(m_firstNoise);
        // Rounding of 16-bit sums moves a loss by some thousandths of itself; where the steps themselves are noisier,
        // a tenth of that noise cannot be told from it either.
        constexpr double ofScale = 2e-3;
        constexpr double ofNoise = 0.1;
        r.tolerance = m_options.tolerance.value_or(std::max(ofScale * r.scale, ofNoise * r.noise));
        std::vector<double> absolute;
        for (std::size_t i = 0; i < m_differences.size(); ++i) {
            absolute.push_back(std::abs(m_differences[i]));
            if (absolute.back() > r.largest) {
                r.largest = absolute.back();
                r.largestStep = r.steps[i];
            }
            if (static_cast<std::int64_t>(i) < m_options.window) {
                r.largestOfFirst = std::max(r.largestOfFirst, absolute.back());
            }
        }
        m_trend = slopeOf(r.steps, absolute);
        r.trendPerStep = m_trend.perStep;
        r.departsAt = departure(absolute);
    }

    /// Above the tolerance, and in most of the steps that follow.
    std::optional<std::int64_t> departure(const std::vector<double>& absolute) const
    {
        constexpr std::size_t window = 5;
        for (std::size_t i = 0; i < absolute.size(); ++i) {
            const std::size_t end = std::min(absolute.size(), i + window);
            const auto above = std::count_if(absolute.begin() + static_cast<std::ptrdiff_t>(i),
                                             absolute.begin() + static_cast<std::ptrdiff_t>(end),
                                             [this](double value) { return value > m_result.tolerance; });
            if (absolute[i] > m_result.tolerance && above * 5 >= static_cast<std::ptrdiff_t>(end - i) * 3) {
                return m_result.steps[i];
            }
        }
        return std::nullopt;
    }

    bool isShifted()
    {
        const double now = rootMeanSquare(m_differences);
        for (const std::int64_t shift : {1, -1}) {
            const double then = rootMeanSquare(differences(m_result.first, m_result.second, shift));
            if (m_differences.size() >= 4 && then < 0.2 * now) {
                m_result.shift = shift;
                return true;
            }
        }
        return false;
    }

    bool isScaled()
    {
        std::vector<double> logarithms;
        for (std::size_t i = 0; i < m_result.first.size(); ++i) {
            const double ratio = m_result.second[i] / m_result.first[i];
            if (!(ratio > 0)) {
                return false;
            }
            logarithms.push_back(std::log(ratio));
        }
        const double centre = medianOf(logarithms);
        double spread = 0;
        for (const double value : logarithms) {
            spread = std::max(spread, std::abs(value - centre));
        }
        // One factor for all steps: they vary by far less than what the factor is.
        if (std::abs(centre) < std::log(1.05) || spread > 0.1 * std::abs(centre)) {
            return false;
        }
        m_result.factor = std::exp(centre);
        return true;
    }

    LossVerdict verdict()
    {
        LossComparison& r = m_result;
        if (r.largest == 0) {
            return LossVerdict::Identical;
        }
        const bool isBeyond = r.departsAt.has_value();
        if (isBeyond && isShifted()) {
            return LossVerdict::Shifted;
        }
        if (isBeyond && isScaled()) {
            return LossVerdict::Scaled;
        }
        if (isBeyond && isIndependent()) {
            return hasOtherNoise() ? LossVerdict::OtherBatch : LossVerdict::OtherData;
        }
        // Growing with the steps: a slope that chance does not give, and that matters within the steps seen.
        const double span = static_cast<double>(r.steps.back() - r.steps.front());
        const bool grows = m_trend.perStep > 4 * m_trend.error && m_trend.perStep * span > r.tolerance;
        if (grows && isBeyond) {
            return LossVerdict::Drift;
        }
        return isBeyond ? LossVerdict::Different : LossVerdict::Noise;
    }

    /// With the same batches the ups and downs of two runs are the same, whatever else differs.
    bool isIndependent() const
    {
        constexpr std::size_t enough = 10;
        return m_firstNoise.size() >= enough && m_result.noise > 2e-3 * m_result.scale
            && correlation(m_firstNoise, m_secondNoise) < 0.5;
    }

    /// Averages over a batch of another size have another noise, by the root of the sizes: told apart where chance does
    /// not do as much.
    bool hasOtherNoise() const
    {
        const double first = rootMeanSquare(m_firstNoise);
        const double second = rootMeanSquare(m_secondNoise);
        const double ratio = std::max(first, second) / std::max(std::min(first, second), 1e-300);
        // Deviation of the logarithm of a ratio of two sample deviations; neighbours overlap, so fewer count.
        const double chance = std::sqrt(1.0 / (static_cast<double>(m_firstNoise.size()) * 0.5));
        return std::log(ratio) > std::max(std::log(1.2), 2.8 * chance);
    }

    LossComparison& m_result;
    const LossOptions& m_options;
    std::vector<double> m_differences, m_firstNoise, m_secondNoise;
    Slope m_trend;
};

} // namespace

LossSeries LossSeries::of(std::string name, std::vector<std::int64_t> steps, std::vector<double> losses,
                          std::vector<std::int64_t> lines)
{
    LossSeries series;
    series.name = std::move(name);
    std::vector<std::size_t> order(steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a] < steps[b]; });
    for (const std::size_t row : order) {
        if (!std::isfinite(losses[row])) {
            ++series.notFinite;
            continue;
        }
        if (!series.steps.empty() && series.steps.back() == steps[row]) {
            ++series.duplicates;
            series.losses.back() = losses[row];
            series.lines.back() = lines[row];
            continue;
        }
        series.steps.push_back(steps[row]);
        series.losses.push_back(losses[row]);
        series.lines.push_back(lines[row]);
    }
    if (series.steps.size() > 2) {
        std::vector<double> distances;
        for (std::size_t i = 1; i < series.steps.size(); ++i) {
            distances.push_back(static_cast<double>(series.steps[i] - series.steps[i - 1]));
        }
        const auto usual = static_cast<std::int64_t>(medianOf(std::move(distances)));
        const std::int64_t expected = (series.steps.back() - series.steps.front()) / usual + 1;
        series.missing = std::max<std::int64_t>(0, expected - std::ssize(series.steps));
    }
    return series;
}

LossSeries LossSeries::of(const Run& run)
{
    std::vector<std::int64_t> steps;
    std::vector<std::int64_t> lines;
    for (const std::uint32_t record : run.loss.records) {
        steps.push_back(run.step[record]);
        lines.push_back(run.line[record]);
    }
    return of(run.files.empty() ? std::string{} : run.files.front(), std::move(steps), run.loss.values,
              std::move(lines));
}

Result<LossComparison> compareLosses(const LossSeries& first, const LossSeries& second, const LossOptions& options)
{
    LossComparison result;
    std::size_t j = 0;
    for (std::size_t i = 0; i < first.steps.size(); ++i) {
        while (j < second.steps.size() && second.steps[j] < first.steps[i]) {
            ++j;
        }
        if (j < second.steps.size() && second.steps[j] == first.steps[i]) {
            result.steps.push_back(first.steps[i]);
            result.first.push_back(first.losses[i]);
            result.second.push_back(second.losses[j]);
        }
    }
    if (result.steps.size() < 2) {
        return failure(Text{HEADROOM_TR("core", "%1 and %2 have fewer than two steps with a loss in common"),
                            {first.name, second.name}});
    }
    Comparison(result, options).run();
    return result;
}

} // namespace headroom
