// SPDX-License-Identifier: GPL-3.0-or-later
// Records as tests compare them.
#pragma once

#include "runlog/run.h"

#include <QString>

namespace headroom::test {

inline constexpr double mebi = 1048576;
inline constexpr double gibi = 1073741824;

inline qint64 rounded(double bytes)
{
    return static_cast<qint64>(bytes + 0.5);
}

/// A record as the tests compare it; -1 where there is nothing.
inline QString described(const Run& run, std::size_t i)
{
    const Record record = run.record(i);
    return QStringLiteral("%1 step %2 rank %3 line %4 allocated %5 reserved %6")
        .arg(QString::fromStdString(run.phaseNames[record.phase]))
        .arg(record.step)
        .arg(record.rank)
        .arg(record.line)
        .arg(run.allocatedBytes[i])
        .arg(record.reserved ? record.reserved->value : -1);
}

inline QString expected(const char* phase, qint64 step, int rank, qint64 line, qint64 allocated, qint64 reserved = -1)
{
    return QStringLiteral("%1 step %2 rank %3 line %4 allocated %5 reserved %6")
        .arg(QLatin1String(phase))
        .arg(step)
        .arg(rank)
        .arg(line)
        .arg(allocated)
        .arg(reserved);
}

inline std::int64_t valueAt(const Sparse<std::int64_t>& column, std::size_t record)
{
    for (std::size_t i = 0; i < column.records.size(); ++i) {
        if (column.records[i] == record) {
            return column.values[i];
        }
    }
    return -1;
}

} // namespace headroom::test
