// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace headroom {

[[nodiscard]] double rootMeanSquare(std::span<const double> values); ///< 0 of none

struct RealInterval
{
    double low = 0, high = 0;
};

/// Weighted least squares for at most three unknowns (theory.md 9.3), each optionally with a Gaussian prior (9.4).
class LeastSquares
{
public:
    static constexpr std::size_t mostUnknowns = 3;
    using Row = std::array<double, mostUnknowns>;

    struct Measurement
    {
        Row x{}; ///< coefficients of the unknowns
        double y = 0;
        double sigma = 1; ///< standard deviation expected of y
    };
    struct Prior
    {
        double mean = 0, sd = 0;
    };
    using Priors = std::array<std::optional<Prior>, mostUnknowns>;

    /// Fails when the measurements and priors do not determine every unknown.
    [[nodiscard]] static Result<LeastSquares> fit(std::span<const Measurement> measurements, std::size_t unknowns,
                                                  const Priors& priors = {});

    [[nodiscard]] double value(std::size_t unknown) const { return m_value[unknown]; }
    [[nodiscard]] double standardError(std::size_t unknown) const;
    [[nodiscard]] RealInterval interval(std::size_t unknown) const; ///< 95 %
    /// The square of the 95 % half-width of an unknown; of two, what they have in common.
    [[nodiscard]] double spread(std::size_t a, std::size_t b) const;
    /// χ² by degrees of freedom: about 1 when the model and the sigmas are right; nothing without a degree of freedom.
    [[nodiscard]] std::optional<double> reducedChiSquare() const;

    [[nodiscard]] double predict(const Row& x) const;
    /// 95 % interval of one more measurement there, whose own deviation is `sigma`.
    [[nodiscard]] RealInterval predictionInterval(const Row& x, double sigma) const;

private:
    [[nodiscard]] double quantile() const;

    std::size_t m_unknowns = 0;
    Row m_value{};
    std::array<Row, mostUnknowns> m_covariance{}; ///< scaled by m_scale
    double m_chiSquare = 0;
    double m_scale = 1; ///< s², floored so that few points do not fake certainty
    std::int64_t m_degrees = 0;
};

/// The value that a Student t variable with so many degrees of freedom stays below in 97.5 % of the cases; the normal
/// distribution's for none.
[[nodiscard]] double studentQuantile(std::int64_t degreesOfFreedom);

} // namespace headroom
