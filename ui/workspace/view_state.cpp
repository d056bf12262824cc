// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/view_state.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace headroom {

ViewState::ViewState(QObject* parent)
    : QObject(parent)
{
}

void ViewState::setBounds(StepRange bounds)
{
    if (!std::isfinite(bounds.first) || !std::isfinite(bounds.last) || bounds.last < bounds.first)
        return;
    if (bounds.span() < minimumSpan) // one step, or none: it stands in the middle
        bounds = {bounds.centre() - minimumSpan / 2, bounds.centre() + minimumSpan / 2};
    if (bounds == m_bounds)
        return;
    const bool wasFitted = isFitted();
    std::replace(m_history.begin(), m_history.end(), m_bounds,
                 bounds); // going back to everything means all there is now
    m_bounds = bounds;
    emit boundsChanged(bounds);
    // A zoom survives new data, but not data that it shows nothing of.
    const bool apart = m_range.first >= bounds.last || m_range.last <= bounds.first;
    if (wasFitted || apart) {
        m_history = {bounds};
        m_position = 0;
        emit historyChanged();
        show(bounds);
    } else if (isOn(Switch::Follow)) {
        const StepRange newest = inBounds({bounds.last - m_range.span(), bounds.last});
        m_history[m_position] = newest; // as far as going back goes, it is the view there was
        show(newest);
    } else {
        show(inBounds(m_range));
    }
}

void ViewState::setRange(StepRange range, Gesture gesture)
{
    if (!std::isfinite(range.first) || !std::isfinite(range.last))
        return;
    range = inBounds(range);
    if (range == m_range)
        return;
    m_history.resize(m_position + 1);
    if (gesture == Gesture::New || m_history.size() == 1) {
        m_history.push_back(range);
        if (m_history.size() > historyLimit)
            m_history.erase(m_history.begin());
        m_position = m_history.size() - 1;
    } else {
        m_history.back() = range;
    }
    emit historyChanged();
    show(range);
    stopFollowingElsewhere();
}

void ViewState::zoom(double factor, double centre, Gesture gesture)
{
    if (!(factor > 0))
        return;
    // The least span reached, a further step would shift the view: leave it.
    if (factor < 1 && m_range.span() <= minimumSpan)
        return;
    factor = std::max(factor, minimumSpan / m_range.span());
    setRange({centre + (m_range.first - centre) * factor, centre + (m_range.last - centre) * factor}, gesture);
}

void ViewState::pan(double steps, Gesture gesture)
{
    setRange({m_range.first + steps, m_range.last + steps}, gesture);
}

void ViewState::fit()
{
    setRange(m_bounds);
}

void ViewState::back()
{
    if (!canGoBack())
        return;
    --m_position;
    emit historyChanged();
    show(inBounds(m_history[m_position]));
    stopFollowingElsewhere();
}

void ViewState::forward()
{
    if (!canGoForward())
        return;
    ++m_position;
    emit historyChanged();
    show(inBounds(m_history[m_position]));
    stopFollowingElsewhere();
}

void ViewState::setCursor(std::optional<qint64> step)
{
    if (step == m_cursor)
        return;
    m_cursor = step;
    emit cursorChanged(step);
}

void ViewState::setRank(std::optional<int> rank)
{
    if (rank == m_rank)
        return;
    m_rank = rank;
    emit rankChanged(rank);
}

void ViewState::setStage(std::optional<int> stage)
{
    if (stage == m_stage)
        return;
    m_stage = stage;
    emit stageChanged(stage);
}

void ViewState::setMarker(Marker which, std::optional<qint64> step)
{
    std::optional<qint64>& marker = m_markers[which == Marker::A ? 0 : 1];
    if (step == marker)
        return;
    marker = step;
    emit markersChanged();
}

void ViewState::clearMarkers()
{
    if (!m_markers[0] && !m_markers[1])
        return;
    m_markers = {};
    emit markersChanged();
}

void ViewState::setOn(Switch which, bool isOn)
{
    bool& state = m_switches[static_cast<std::size_t>(which)];
    if (isOn == state)
        return;
    state = isOn;
    emit switched(which, isOn);
    if (which == Switch::Follow && isOn)
        setRange({m_bounds.last - m_range.span(), m_bounds.last});
}

bool ViewState::isShown(const Channel& channel) const
{
    return channel.isShownAtFirst() != m_otherwise.contains(channel);
}

void ViewState::setShown(const Channel& channel, bool isShown)
{
    setShown(std::vector<Channel>{channel}, isShown);
}

void ViewState::setShown(const std::vector<Channel>& channels, bool isShown)
{
    bool isChange = false;
    for (const Channel& channel : channels) {
        if (this->isShown(channel) == isShown)
            continue;
        isChange = true;
        if (channel.isShownAtFirst() == isShown)
            m_otherwise.erase(channel);
        else
            m_otherwise.insert(channel);
    }
    if (isChange)
        emit channelsChanged();
}

std::vector<Channel> ViewState::addedChannels() const
{
    std::vector<Channel> added;
    std::copy_if(m_otherwise.begin(), m_otherwise.end(), std::back_inserter(added),
                 [](const Channel& channel) { return !channel.isShownAtFirst(); });
    return added;
}

void ViewState::stopFollowingElsewhere()
{
    if (m_range.last < m_bounds.last)
        setOn(Switch::Follow, false);
}

StepRange ViewState::inBounds(StepRange range) const
{
    if (range.last < range.first)
        std::swap(range.first, range.last);
    const double span = std::clamp(range.span(), std::min(minimumSpan, m_bounds.span()), m_bounds.span());
    // The ends are computed from one side only, so that a view of everything equals the bounds exactly.
    if (span >= m_bounds.span())
        return m_bounds;
    double first = range.span() < span ? range.centre() - span / 2 : range.first;
    first = std::clamp(first, m_bounds.first, m_bounds.last - span);
    return {first, first + span};
}

void ViewState::show(StepRange range)
{
    if (range == m_range)
        return;
    m_range = range;
    emit rangeChanged(range);
}

} // namespace headroom
