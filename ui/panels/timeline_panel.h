// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace headroom {

class TimelineChart;
class ViewState;
class Workspace;

/// The timeline of the stage that the view looks at, the fullest unless one is chosen, as the replay delivers it.
class TimelinePanel : public QWidget
{
    Q_OBJECT

public:
    TimelinePanel(Workspace& workspace, ViewState& view, QWidget* parent = nullptr);

    [[nodiscard]] TimelineChart* chart() const { return m_chart; }

private:
    void followStage();
    void refresh();

    Workspace& m_workspace;
    ViewState& m_view;
    TimelineChart* m_chart;
};

} // namespace headroom
