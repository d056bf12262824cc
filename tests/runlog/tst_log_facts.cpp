// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_arguments.h"
#include "runlog/read_log.h"

#include <QTest>

using namespace headroom;

namespace {

constexpr double gibi = 1073741824;

Bytes bytes(double value)
{
    return Bytes{static_cast<std::int64_t>(value + 0.5)};
}

} // namespace

/// What a log tells besides its measurements.
class LogFactsTest : public QObject
{
    Q_OBJECT

private slots:
    void capacity();
    void inferredPhases();
    void cumulativeMaximum();
};

void LogFactsTest::capacity()
{
    QCOMPARE(capacityOf(readLogText("CUDA capacity: NVIDIA H100 with 95.00GiB memory\n", "a.log")), bytes(95 * gibi));
    QCOMPARE(capacityOf(readLogText(
                 "| N/A   54C    P0  147W /  700W |    1521MiB /  81559MiB |      0%      Default |\n", "a.log")),
             bytes(81559.0 * 1048576));
    QVERIFY(!capacityOf(readLogText("nothing\n", "a.log")));
}

void LogFactsTest::inferredPhases()
{
    std::string text;
    for (const char* message :
         {"Engine before forward", "Engine after forward", "Engine after backward", "Engine after step"}) {
        text += std::string(message) + "\nMA 1 GB         Max_MA 2 GB         CA 3 GB         Max_CA 3 GB\n";
    }
    const Run run = readLogText(text, "a.log");
    QCOMPARE(run.size(), std::size_t{4});
    QCOMPARE(run.phaseNames[run.phase[0]], std::string("engine before forward"));
    QCOMPARE(run.phase[1], static_cast<std::uint8_t>(Phase::Forward));
    QCOMPARE(run.phase[2], static_cast<std::uint8_t>(Phase::Backward));
    QCOMPARE(run.phase[3], static_cast<std::uint8_t>(Phase::Optimizer));
    QCOMPARE(run.inferences.size(), std::size_t{1});
    QVERIFY(readLogText("phase=forward step=1 peak_alloc=1GiB\n", "a.log").inferences.empty());
}

/// ORTModule's maximum is never reset: where it did not rise the phase's own peak is not known.
void LogFactsTest::cumulativeMaximum()
{
    const auto line = [](const char* phase, int maximum) {
        return QStringLiteral(
                   "rank-0 step 5 memory (MiB) | phase: %1 | allocated: 1 | max allocated: %2 | cached: 9 | max "
                   "cached: 9 | inactive: 4 | max inactive: 8\n")
            .arg(QLatin1String(phase))
            .arg(maximum)
            .toStdString();
    };
    const Run run
        = readLogText(line("post_forward", 100) + line("post_backward", 100) + line("post_forward", 120), "a.log");
    QCOMPARE(run.size(), std::size_t{3});
    QCOMPARE(run.phaseNames[run.phase[0]], std::string("forward"));
    QCOMPARE(run.phaseNames[run.phase[1]], std::string(Run::wholeStep));
    QCOMPARE(run.phaseNames[run.phase[2]], std::string("forward"));
}

QTEST_APPLESS_MAIN(LogFactsTest)
#include "tst_log_facts.moc"
