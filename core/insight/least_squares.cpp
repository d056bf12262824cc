// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/least_squares.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double normalQuantile = 1.959963984540054;
constexpr double leastScale = 0.25; // theory.md 9.3

using Row = LeastSquares::Row;
using Matrix = std::array<Row, LeastSquares::mostUnknowns>;

/// Inverse of the leading n×n part of a symmetric positive definite matrix, by Gauss-Jordan with columns scaled to a
/// unit diagonal; nothing when it is singular within rounding.
std::optional<Matrix> inverse(Matrix a, std::size_t n)
{
    constexpr double singular = 1e-12;
    Row scale{};
    for (std::size_t i = 0; i < n; ++i) {
        if (!(a[i][i] > 0)) {
            return std::nullopt;
        }
        scale[i] = 1 / std::sqrt(a[i][i]);
    }
    Matrix result{};
    for (std::size_t i = 0; i < n; ++i) {
        result[i][i] = 1;
        for (std::size_t j = 0; j < n; ++j) {
            a[i][j] *= scale[i] * scale[j];
        }
    }
    for (std::size_t pivot = 0; pivot < n; ++pivot) {
        const double divisor = a[pivot][pivot];
        if (!(divisor > singular)) {
            return std::nullopt;
        }
        for (std::size_t j = 0; j < n; ++j) {
            a[pivot][j] /= divisor;
            result[pivot][j] /= divisor;
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (i == pivot) {
                continue;
            }
            const double factor = a[i][pivot];
            for (std::size_t j = 0; j < n; ++j) {
                a[i][j] -= factor * a[pivot][j];
                result[i][j] -= factor * result[pivot][j];
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            result[i][j] *= scale[i] * scale[j];
        }
    }
    return result;
}

} // namespace

Result<LeastSquares> LeastSquares::fit(std::span<const Measurement> measurements, std::size_t unknowns,
                                       const Priors& priors)
{
    Matrix normal{};
    Row right{};
    std::int64_t priorCount = 0;
    for (const Measurement& point : measurements) {
        const double weight = 1 / (point.sigma * point.sigma);
        for (std::size_t i = 0; i < unknowns; ++i) {
            right[i] += weight * point.x[i] * point.y;
            for (std::size_t j = 0; j < unknowns; ++j) {
                normal[i][j] += weight * point.x[i] * point.x[j];
            }
        }
    }
    for (std::size_t i = 0; i < unknowns; ++i) {
        if (const auto& prior = priors[i]) {
            normal[i][i] += 1 / (prior->sd * prior->sd);
            right[i] += prior->mean / (prior->sd * prior->sd);
            ++priorCount;
        }
    }
    const auto covariance = inverse(normal, unknowns);
    if (!covariance) {
        return failure(Text{HEADROOM_TR("core", "the measurements do not tell the unknown coefficients apart")});
    }
    LeastSquares result;
    result.m_unknowns = unknowns;
    for (std::size_t i = 0; i < unknowns; ++i) {
        for (std::size_t j = 0; j < unknowns; ++j) {
            result.m_value[i] += (*covariance)[i][j] * right[j];
        }
    }
    for (const Measurement& point : measurements) {
        const double residual = (point.y - result.predict(point.x)) / point.sigma;
        result.m_chiSquare += residual * residual;
    }
    result.m_degrees
        = std::max<std::int64_t>(0, std::ssize(measurements) + priorCount - static_cast<std::int64_t>(unknowns));
    // Priors bring their own deviation, which must not be rescaled by how well a few points agree.
    if (priorCount == 0 && result.m_degrees > 0) {
        result.m_scale = std::max(leastScale, result.m_chiSquare / static_cast<double>(result.m_degrees));
    } else if (priorCount > 0) {
        result.m_degrees = 0;
    }
    result.m_covariance = *covariance;
    for (Row& row : result.m_covariance) {
        for (double& entry : row) {
            entry *= result.m_scale;
        }
    }
    return result;
}

double LeastSquares::standardError(std::size_t unknown) const
{
    return std::sqrt(m_covariance[unknown][unknown]);
}

RealInterval LeastSquares::interval(std::size_t unknown) const
{
    const double half = quantile() * standardError(unknown);
    return {m_value[unknown] - half, m_value[unknown] + half};
}

double LeastSquares::spread(std::size_t a, std::size_t b) const
{
    return quantile() * quantile() * m_covariance[a][b];
}

std::optional<double> LeastSquares::reducedChiSquare() const
{
    return m_degrees > 0 ? std::optional(m_chiSquare / static_cast<double>(m_degrees)) : std::nullopt;
}

double LeastSquares::predict(const Row& x) const
{
    double y = 0;
    for (std::size_t i = 0; i < m_unknowns; ++i) {
        y += m_value[i] * x[i];
    }
    return y;
}

RealInterval LeastSquares::predictionInterval(const Row& x, double sigma) const
{
    double variance = m_scale * sigma * sigma;
    for (std::size_t i = 0; i < m_unknowns; ++i) {
        for (std::size_t j = 0; j < m_unknowns; ++j) {
            variance += x[i] * m_covariance[i][j] * x[j];
        }
    }
    const double y = predict(x);
    const double half = quantile() * std::sqrt(variance);
    return {y - half, y + half};
}

double LeastSquares::quantile() const
{
    return studentQuantile(m_degrees);
}

double studentQuantile(std::int64_t degreesOfFreedom)
{
    // Any table of the t distribution, for 1 to 10 degrees of freedom.
    constexpr std::array table{12.7062047361747, 4.30265272974946, 3.18244630528371, 2.77644510519779,
                               2.57058183563631, 2.44691185114497, 2.36462425159279, 2.30600413520417,
                               2.26215716279820, 2.22813885198627};
    if (degreesOfFreedom <= 0) {
        return normalQuantile;
    }
    if (degreesOfFreedom <= std::ssize(table)) {
        return table[static_cast<std::size_t>(degreesOfFreedom - 1)];
    }
    // Cornish-Fisher (Abramowitz and Stegun 26.7.5), exact to 1e-5 from here on.
    const double z = normalQuantile;
    const double n = static_cast<double>(degreesOfFreedom);
    const double z2 = z * z;
    return z
        * (1 + (z2 + 1) / (4 * n) + ((5 * z2 + 16) * z2 + 3) / (96 * n * n)
           + (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n)
           + ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * n * n * n * n));
}

double rootMeanSquare(std::span<const double> values)
{
    double sum = 0;
    for (const double value : values) {
        sum += value * value;
    }
    return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

} // namespace headroom
