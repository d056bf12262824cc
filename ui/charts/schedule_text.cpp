// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/schedule_text.h"

#include <QCoreApplication>

namespace headroom {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(headroom::Schedule)
};

} // namespace

QString scheduleTitle(Schedule schedule)
{
    switch (schedule) {
    case Schedule::GPipe:
        return QStringLiteral("GPipe");
    case Schedule::OneForwardOneBackward:
        return QStringLiteral("1F1B");
    case Schedule::Interleaved:
        return Words::tr("Interleaved 1F1B");
    case Schedule::ZbH1:
        return QStringLiteral("ZB-H1");
    case Schedule::ZbH2:
        return QStringLiteral("ZB-H2");
    case Schedule::ZbV:
        return QStringLiteral("ZB-V");
    case Schedule::VHalf:
        return QStringLiteral("V-Half");
    case Schedule::VMin:
        return QStringLiteral("V-Min");
    case Schedule::DualPipe:
        return QStringLiteral("DualPipe");
    case Schedule::DualPipeV:
        return QStringLiteral("DualPipeV");
    }
    return {};
}

} // namespace headroom
