// SPDX-License-Identifier: GPL-3.0-or-later
#include "screenshot.h"

#include "charts/peaks_chart.h"
#include "window/main_window.h"
#include "window/workbench.h"

#include <QApplication>
#include <QPixmap>

#include <cstdio>

namespace headroom {
namespace {

constexpr int lookMs = 50;
/// Findings and the diff follow the estimate within Workspace::settleMs.
constexpr int quietLooksNeeded = 5;

} // namespace

Screenshot::Screenshot(MainWindow& window, QString file, QObject* parent)
    : QObject(parent)
    , m_window(window)
    , m_file(std::move(file))
{
    connect(&window.workspace(), &Workspace::messageRaised, this, [this](Severity severity, const QString& sentence) {
        std::fprintf(stderr, "headroom: %s\n", qPrintable(sentence));
        m_hasFailed = m_hasFailed || severity == Severity::Error;
    });
    connect(&m_timer, &QTimer::timeout, this, &Screenshot::look);
    m_timer.start(lookMs);
}

void Screenshot::look()
{
    const bool isBusy = m_window.workspace().isOpening() || m_window.workspace().isReplaying()
        || m_window.workbench().peaksChart()->isPreparing();
    m_quietLooks = isBusy ? 0 : m_quietLooks + 1;
    if (m_quietLooks < quietLooksNeeded) {
        return;
    }
    m_timer.stop();
    if (!m_window.grab().save(m_file)) {
        std::fprintf(stderr, "headroom: cannot write the picture %s\n", qPrintable(m_file));
        m_hasFailed = true;
    }
    QApplication::exit(m_hasFailed ? 2 : 0);
}

} // namespace headroom
