// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace headroom {

/// Ticks of an axis in GiB at powers of two, so that card sizes (24, 40, 80) fall on them. Labels are in the axis unit
/// and carry as many decimals as the step needs: they never repeat.
class BytesTicker : public QCPAxisTicker
{
public:
    BytesTicker();

    struct Unit
    {
        const char16_t* name;
        double perGib;
    };
    /// GiB, or MiB and KiB for axes that end below half of the larger unit.
    [[nodiscard]] static Unit unitFor(double upperGib);

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double tickStep) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    Unit m_unit{u"GiB", 1};
    int m_decimals = 0;
};

/// As many ticks as have room, one and a half lines of text each.
void fitTickCount(QCPAxis& axis);

/// The same on a logarithmic axis: ticks at powers of two.
class LogBytesTicker : public QCPAxisTickerLog
{
public:
    LogBytesTicker();

protected:
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

private:
    BytesTicker::Unit m_unit{u"GiB", 1};
};

/// Whole steps only, with the locale's digit groups.
class StepTicker : public QCPAxisTicker
{
public:
    StepTicker();

protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double tickStep) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

} // namespace headroom
