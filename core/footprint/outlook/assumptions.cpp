// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/outlook/assumptions.h"

#include "footprint/estimate.h"
#include "footprint/outlook/assumption_rows.h"
#include "plan/fields.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace headroom {

namespace {

/// The plan with the choice made; null where it is not legal.
std::optional<TrainingPlan> chosen(const TrainingPlan& plan, const AssumptionRow& row, const AssumptionChoice& choice)
{
    TrainingPlan result = plan;
    const std::string_view field = choice.field.empty() ? row.field : choice.field;
    const std::string_view value = choice.field.empty() ? choice.value : choice.fieldValue;
    if (!setField(result, field, value, {OriginKind::Edited, 0, nullptr})) {
        return std::nullopt;
    }
    if (!choice.alsoField.empty()
        && !setField(result, choice.alsoField, choice.alsoValue, {OriginKind::Edited, 0, nullptr})) {
        return std::nullopt;
    }
    return result;
}

/// Estimates alternatives against the plan as it is, within a second.
class Comparison
{
public:
    Comparison(const TrainingPlan& plan, const Calibration& calibration, const Footprint& footprint)
        : m_calibration(calibration)
        , m_estimator(footprint.engine == Engine::Textbook ? estimate : estimateInstantly)
        , m_isValid(m_estimator(plan, calibration, m_base).has_value())
    {
    }

    [[nodiscard]] std::vector<Bytes> changes(const TrainingPlan& other)
    {
        const bool isLate = std::chrono::steady_clock::now() - m_start > std::chrono::seconds(1);
        if (!m_isValid || isLate || !m_estimator(other, m_calibration, m_other) || m_other.engine != m_base.engine
            || m_other.stages.size() != m_base.stages.size()) {
            return {};
        }
        std::vector<Bytes> result;
        for (std::size_t i = 0; i < m_base.stages.size(); ++i) {
            result.push_back(m_other.stages[i].peakAllocated - m_base.stages[i].peakAllocated);
        }
        return result;
    }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    const Calibration& m_calibration;
    Result<void> (*m_estimator)(const TrainingPlan&, const Calibration&, Footprint&);
    Footprint m_base, m_other;
    bool m_isValid;
};

bool changesAnything(const std::vector<Bytes>& changes)
{
    return std::any_of(changes.begin(), changes.end(), [](Bytes change) { return change.value != 0; });
}

bool isNotable(const std::vector<Bytes>& changes, const Footprint& footprint)
{
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (std::abs(changes[i].value) > footprint.stages[i].peakAllocated.value / 2000) {
            return true;
        }
    }
    return false;
}

} // namespace

std::size_t Alternative::mostChangedStage(std::size_t preferred) const
{
    std::size_t most = preferred;
    constexpr std::int64_t shown = 5'000'000; // what rounds to 0.01 GiB
    for (std::size_t i = 0; i < changes.size() && std::abs(changes[preferred].value) < shown; ++i) {
        most = std::abs(changes[i].value) > std::abs(changes[most].value) ? i : most;
    }
    return most;
}

Bytes Assumption::largestChange(std::size_t stage) const
{
    Bytes largest;
    for (const Alternative& alternative : alternatives) {
        if (stage < alternative.changes.size()) {
            largest = std::max(largest, Bytes{std::abs(alternative.changes[stage].value)});
        }
    }
    return largest;
}

std::vector<Assumption> assumptionsOf(const TrainingPlan& plan, const Calibration& calibration,
                                      const Footprint& footprint)
{
    std::vector<Assumption> result;
    if (footprint.stages.empty()) {
        return result;
    }
    const AssumptionCase asked = assumptionCase(plan);
    Comparison comparison(plan, calibration, footprint);
    for (const AssumptionRow& row : assumptionRows()) {
        if (!row.matters(asked)) {
            continue;
        }
        Assumption assumption{row.field, std::string(row.taken), Text{row.text}, row.isRange, {}};
        bool matters = row.choices.empty() && footprint.engine != Engine::Textbook;
        for (const AssumptionChoice& choice : row.choices) {
            const auto other = chosen(plan, row, choice);
            std::vector<Bytes> changes = other ? comparison.changes(*other) : std::vector<Bytes>{};
            if (changesAnything(changes)) {
                matters = matters || isNotable(changes, footprint);
                assumption.alternatives.push_back({std::string(choice.value), std::move(changes), choice.isPlausible});
            }
        }
        if (matters) {
            result.push_back(std::move(assumption));
        }
    }
    const auto larger = [&](const Assumption& a, const Assumption& b) {
        return a.largestChange(footprint.fullestStage) > b.largestChange(footprint.fullestStage);
    };
    std::stable_sort(result.begin(), result.end(), larger);
    return result;
}

} // namespace headroom
