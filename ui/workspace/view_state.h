// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/channel.h"

#include <QObject>

#include <array>
#include <optional>
#include <set>
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

/// What all charts and tables look at together: visible steps, the cursor, two markers, the chosen rank, stage and
/// lines. A chart reads and sets it and knows no other chart.
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

    enum class Marker { A, B };
    [[nodiscard]] std::optional<qint64> marker(Marker which) const { return m_markers[which == Marker::A ? 0 : 1]; }
    void setMarker(Marker which, std::optional<qint64> step);
    void clearMarkers();

    /// The newest steps stay in view when more arrive (until the user looks elsewhere); the amounts on a logarithmic
    /// axis; step time, tokens per second and loss below; other charts cover the steps in view.
    enum class Switch { Follow, LogScale, Metrics, Link };
    [[nodiscard]] bool isOn(Switch which) const { return m_switches[static_cast<std::size_t>(which)]; }
    void setOn(Switch which, bool isOn);

    [[nodiscard]] bool isShown(const Channel& channel) const;
    void setShown(const Channel& channel, bool isShown);
    /// Sets several at once, with one signal.
    void setShown(const std::vector<Channel>& channels, bool isShown);
    /// Those shown that are not shown at first, in order.
    [[nodiscard]] std::vector<Channel> addedChannels() const;

    static constexpr double minimumSpan = 2;
    static constexpr std::size_t historyLimit = 100;

signals:
    void boundsChanged(headroom::StepRange bounds);
    void rangeChanged(headroom::StepRange range);
    void historyChanged();
    void cursorChanged(std::optional<qint64> step);
    void rankChanged(std::optional<int> rank);
    void stageChanged(std::optional<int> stage);
    void markersChanged();
    void switched(headroom::ViewState::Switch which, bool isOn);
    void channelsChanged();

private:
    [[nodiscard]] StepRange inBounds(StepRange range) const;
    void show(StepRange range);
    void stopFollowingElsewhere();

    StepRange m_bounds;
    StepRange m_range;
    std::vector<StepRange> m_history{StepRange{}}; ///< m_history[m_position] is what is shown
    std::size_t m_position = 0;
    std::optional<qint64> m_cursor;
    std::optional<int> m_rank;
    std::optional<int> m_stage;
    std::array<std::optional<qint64>, 2> m_markers;
    std::array<bool, 4> m_switches{false, false, false, true}; ///< in the order of Switch
    std::set<Channel> m_otherwise; ///< channels that are not as they are at first
};

} // namespace headroom
