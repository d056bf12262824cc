// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/bytes_ticker.h"

#include <algorithm>
#include <cmath>

namespace headroom {

BytesTicker::BytesTicker()
{
    setTickCount(6);
}

BytesTicker::Unit BytesTicker::unitFor(double upperGib)
{
    if (upperGib >= 0.5)
        return {u"GiB", 1};
    if (upperGib * 1024 >= 0.5)
        return {u"MiB", 1024};
    return {u"KiB", 1024.0 * 1024.0};
}

double BytesTicker::getTickStep(const QCPRange& range)
{
    m_unit = unitFor(range.upper);
    const double aimed = std::max(range.size() * m_unit.perGib / tickCount(), 1e-6);
    const int exponent = static_cast<int>(std::ceil(std::log2(aimed)));
    m_decimals = std::max(0, -exponent);
    return std::ldexp(1, exponent) / m_unit.perGib;
}

int BytesTicker::getSubTickCount(double)
{
    return 0;
}

QString BytesTicker::getTickLabel(double tick, const QLocale& locale, QChar, int)
{
    return locale.toString(tick * m_unit.perGib, 'f', m_decimals);
}

void fitTickCount(QCPAxis& axis)
{
    constexpr int most = 6;
    const int room = 2 * axis.axisRect()->height() / (3 * QFontMetrics(axis.tickLabelFont()).height());
    axis.ticker()->setTickCount(std::clamp(room, 2, most));
}

LogBytesTicker::LogBytesTicker()
{
    setLogBase(2);
    setSubTickCount(0);
    setTickCount(8);
}

QVector<double> LogBytesTicker::createTickVector(double tickStep, const QCPRange& range)
{
    m_unit = BytesTicker::unitFor(range.upper);
    return QCPAxisTickerLog::createTickVector(tickStep, range);
}

QString LogBytesTicker::getTickLabel(double tick, const QLocale& locale, QChar, int)
{
    return locale.toString(tick * m_unit.perGib, 'g', 4);
}

StepTicker::StepTicker()
{
    setTickCount(8);
}

double StepTicker::getTickStep(const QCPRange& range)
{
    return std::max(1.0, std::floor(QCPAxisTicker::getTickStep(range))); // 2.5 becomes 2, not 3
}

int StepTicker::getSubTickCount(double)
{
    return 0;
}

QString StepTicker::getTickLabel(double tick, const QLocale& locale, QChar, int)
{
    return locale.toString(static_cast<qint64>(std::llround(tick)));
}

} // namespace headroom
