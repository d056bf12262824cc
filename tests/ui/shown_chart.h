// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/readout_item.h"
#include "theme/theme.h"

#include <QApplication>
#include <QLocale>
#include <QRegularExpression>
#include <QTest>

namespace headroom::test {

/// Before each test of a chart: the light theme, numbers without a country, and no warning but the offscreen
/// platform's.
inline void prepareChartTest()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support propagateSizeHints)")));
    QLocale::setDefault(QLocale::c());
    applyTheme(*qApp, ThemeChoice::Light);
}

/// A chart on the screen with its plot, the pixels of its first axes, and what its readout says.
template <class Chart, class Plot> struct ShownChart
{
    Chart chart;
    Plot* plot = chart.template findChild<Plot*>();

    [[nodiscard]] bool isReady()
    {
        chart.show();
        return QTest::qWaitForWindowExposed(&chart) && (plot->replot(QCustomPlot::rpImmediateRefresh), true);
    }
    [[nodiscard]] QCPAxis* horizontal() const { return plot->axisRect()->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* bytes() const { return plot->axisRect()->axis(QCPAxis::atLeft); }
    [[nodiscard]] QPoint pixel(double position, double gib) const
    {
        return {qRound(horizontal()->coordToPixel(position)), qRound(bytes()->coordToPixel(gib))};
    }
    [[nodiscard]] QString valueOf(const QString& name) const
    {
        for (const ReadoutItem::Row& row : plot->readout()->rows()) {
            if (row.name == name)
                return row.value;
        }
        return {};
    }
};

} // namespace headroom::test
