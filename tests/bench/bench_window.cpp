// SPDX-License-Identifier: GPL-3.0-or-later
// bench_window RECORDS FOLDER: how long the window takes to stand with the first sample open, and from a slider's tick
// to the painted window with a log of that many records open. Prints lines of `name value unit`.
#include "charts/peaks_chart.h"
#include "insight/knobs.h"
#include "support/folders.h"
#include "window/file_commands.h"
#include "window/main_window.h"
#include "window/workbench.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QSettings>
#include <QStandardPaths>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace headroom;

namespace {

constexpr double nanosecondsPerMillisecond = 1e6;

void report(const char* name, double value, const char* unit)
{
    std::printf("%-28s %10.3f %s\n", name, value, unit);
}

double threadMilliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1000 + static_cast<double>(now.tv_nsec) / nanosecondsPerMillisecond;
}

QString writeLog(const QString& folder, qint64 records)
{
    QDir().mkpath(folder);
    QFile file(QDir(folder).filePath(QStringLiteral("bench_window.log")));
    if (!file.open(QIODevice::WriteOnly)) {
        return {};
    }
    constexpr const char* phases[] = {"forward", "backward", "optimizer"};
    QByteArray block;
    for (qint64 i = 0; i < records; ++i) {
        const qint64 step = i / 12;
        block += QStringLiteral("[rank%1] phase=%2 step=%3 peak_alloc=%4MiB\n")
                     .arg(QString::number(i / 3 % 4), QString::fromLatin1(phases[i % 3]), QString::number(step),
                          QString::number(40'000 + (step * 7919) % 1000 + i % 3 * 9000))
                     .toLatin1();
    }
    file.write(block);
    return file.fileName();
}

/// Also reports for how long at most the window's thread worked on something else than the user's next event.
bool openAndWait(MainWindow& window, const QStringList& paths, const char* blockName)
{
    double longest = 0;
    QElapsedTimer patience;
    patience.start();
    window.files().openPaths(paths);
    constexpr qint64 mostMs = 120'000;
    while ((window.workspace().isOpening() || window.workbench().peaksChart()->isPreparing()
            || window.workspace().footprint() == nullptr)
           && patience.elapsed() < mostMs) {
        const double before = threadMilliseconds();
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 5);
        longest = std::max(longest, threadMilliseconds() - before);
    }
    report(blockName, longest, "ms");
    window.grab();
    return window.workspace().footprint() != nullptr;
}

void measureTicks(MainWindow& window)
{
    constexpr int ticks = 100;
    std::vector<double> milliseconds;
    std::vector<double> processor; // of this thread: what a quiet machine would take
    for (int i = 0; i < ticks; ++i) {
        QElapsedTimer timer;
        timer.start();
        const double before = threadMilliseconds();
        window.workspace().turnKnob(Knob::SequenceLength, 1024 + 128 * (i % 20));
        QCoreApplication::processEvents(); // the queued replots and what else the tick asked for
        window.repaint();
        processor.push_back(threadMilliseconds() - before);
        milliseconds.push_back(static_cast<double>(timer.nsecsElapsed()) / nanosecondsPerMillisecond);
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    std::sort(processor.begin(), processor.end());
    report("tick_median", milliseconds[ticks / 2], "ms");
    report("tick_p99", milliseconds[ticks - 2], "ms");
    report("tick_processor_median", processor[ticks / 2], "ms");
    report("tick_processor_p99", processor[ticks - 2], "ms");
}

/// From a knob's last tick to the exact figures, the wait for rest included.
void measureExact(MainWindow& window)
{
    QElapsedTimer timer;
    timer.start();
    window.workspace().turnKnob(Knob::SequenceLength, 2048);
    while (window.workspace().isReplaying()) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 5);
    }
    window.grab();
    report("exact_after_tick", static_cast<double>(timer.nsecsElapsed()) / nanosecondsPerMillisecond, "ms");
}

} // namespace

int main(int argc, char* argv[])
{
    QApplication application(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("headroom-bench"));
    QCoreApplication::setApplicationName(QStringLiteral("headroom-bench"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    const QStringList arguments = QApplication::arguments();
    const qint64 records = arguments.size() > 1 ? arguments[1].toLongLong() : 1'000'000;
    const QString folder = arguments.size() > 2 ? arguments[2] : QDir::tempPath();
    const QString samples = QString::fromStdString(sourcePath("resources/samples").string());
    const QString config = samples + QStringLiteral("/llama3-8b-oom.yaml");

    QElapsedTimer timer;
    timer.start();
    applyTheme(application, ThemeChoice::Light);
    MainWindow window(Library::load());
    window.resize(1600, 1000);
    window.show();
    const bool opened
        = openAndWait(window, {samples + QStringLiteral("/llama3-8b-oom.log"), config}, "sample_longest_block");
    report("window_with_sample", static_cast<double>(timer.nsecsElapsed()) / nanosecondsPerMillisecond, "ms");
    timer.restart();
    const bool openedLarge = openAndWait(window, {writeLog(folder, records)}, "large_log_longest_block");
    report("large_log_written_and_open", static_cast<double>(timer.nsecsElapsed()) / nanosecondsPerMillisecond, "ms");
    measureTicks(window);
    measureExact(window);
    return opened && openedLarge ? 0 : 1;
}
