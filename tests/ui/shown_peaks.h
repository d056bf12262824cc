// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/peaks_chart.h"
#include "charts/peaks_plot.h"
#include "ui/chart_data.h"
#include "ui/shown_chart.h"
#include "workspace/view_state.h"

#include <QApplication>
#include <QTest>

namespace headroom::test {

/// A PeaksChart on the screen, and where things are on it.
struct ShownPeaks : ShownChart<PeaksChart, PeaksPlot>
{
    explicit ShownPeaks(Run run)
    {
        chart.resize(1000, 420);
        chart.setRun(std::make_shared<Run>(std::move(run)));
        chart.show();
    }

    [[nodiscard]] bool isReady()
    {
        return QTest::qWaitForWindowExposed(&chart) && QTest::qWaitFor([this] { return !chart.isPreparing(); })
            && ShownChart::isReady();
    }
    [[nodiscard]] QCPAxis* steps() const { return horizontal(); }
    void wheel(QPoint at, int angle) const
    {
        QWheelEvent event(at, plot->mapToGlobal(at), QPoint(), QPoint(0, angle), Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(plot, &event);
    }
    /// The graph of a phase by name, drawn in the main rect.
    [[nodiscard]] QCPGraph* graph(const QString& name) const
    {
        for (int i = 0; i < plot->graphCount(); ++i) {
            if (plot->graph(i)->name() == name)
                return plot->graph(i);
        }
        return nullptr;
    }
};

/// One phase around 40 GiB, one step of 70.
inline Run longRun(std::uint32_t steps, std::uint32_t spike)
{
    RunBuilder builder;
    for (std::uint32_t step = 0; step < steps; ++step)
        builder.add(step, 1, 0, step == spike ? gib(70) : gib(40) + mib(step % 7));
    return builder.run;
}

} // namespace headroom::test
