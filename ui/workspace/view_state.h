// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <optional>
#include <vector>

namespace headroom {

/// Steps shown from left to right, fractions included.
struct StepRange
{
    double first = 0;
    double last = 1;

    [[nodiscard]] double span() const { return last - first; }
    [[nodiscard]] double centre() const { return (first + last) / 2; }
    friend bool operator==(const StepRange&, const StepRange&) = default;
};

/// What all charts and tables look at together: visible steps, the cursor, the chosen rank and stage. A chart reads and
/// sets it and knows no other chart.
class ViewState : public QObject
{
    Q_OBJECT

public:
    /// Whether a change of range is a stop of its own for back(), or continues the gesture before (a drag's next move).
    enum class Gesture { New, Continued };

    explicit ViewState(QObject* parent = nullptr);

    /// All there is to see. A view of everything keeps showing everything, any other view stays where it is.
    void setBounds(StepRange bounds);
    [[nodiscard]] StepRange bounds() const { return m_bounds; }

    [[nodiscard]] StepRange range() const { return m_range; }
    /// Kept inside the bounds and at least minimumSpan wide; not finite: ignored.
    void setRange(StepRange range, Gesture gesture = Gesture::New);
    /// Scales the span by `factor`, keeping `centre` in its place.
    void zoom(double factor, double centre, Gesture gesture = Gesture::New);
    void pan(double steps, Gesture gesture = Gesture::New);
    void fit();
    [[nodiscard]] bool isFitted() const { return m_range == m_bounds; }

    void back();
    void forward();
    [[nodiscard]] bool canGoBack() const { return m_position > 0; }
    [[nodiscard]] bool canGoForward() const { return m_position + 1 < m_history.size(); }

    [[nodiscard]] std::optional<qint64> cursor() const { return m_cursor; }
    void setCursor(std::optional<qint64> step);
    /// None: the maximum over all ranks.
    [[nodiscard]] std::optional<int> rank() const { return m_rank; }
    void setRank(std::optional<int> rank);
    [[nodiscard]] std::optional<int> stage() const { return m_stage; }
    void setStage(std::optional<int> stage);

    static constexpr double minimumSpan = 2;
    static constexpr std::size_t historyLimit = 100;

signals:
    void boundsChanged(headroom::StepRange bounds);
    void rangeChanged(headroom::StepRange range);
    void historyChanged();
    void cursorChanged(std::optional<qint64> step);
    void rankChanged(std::optional<int> rank);
    void stageChanged(std::optional<int> stage);

private:
    [[nodiscard]] StepRange inBounds(StepRange range) const;
    void show(StepRange range);

    StepRange m_bounds;
    StepRange m_range;
    std::vector<StepRange> m_history{StepRange{}}; ///< m_history[m_position] is what is shown
    std::size_t m_position = 0;
    std::optional<qint64> m_cursor;
    std::optional<int> m_rank;
    std::optional<int> m_stage;
};

} // namespace headroom
