// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/read_log.h"
#include "runlog/read_pieces.h"
#include "runlog/written_log.h"

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <cmath>

using namespace headroom;
using namespace headroom::test;

namespace {

/// "2 forward-compute r3 0.3-0.5 :7": step, name, rank, seconds of the fastest and the slowest, line.
QString rowsOf(const Run& run)
{
    QStringList rows;
    const TimerColumns& timers = run.timers;
    for (std::size_t i = 0; i < timers.size(); ++i) {
        const auto number = [](float value) { return QString::number(static_cast<double>(value), 'g', 6); };
        const QString least = std::isnan(timers.leastSeconds[i]) ? QString() : number(timers.leastSeconds[i]) + u'-';
        rows += QStringLiteral("%1 %2 r%3 %4%5 :%6")
                    .arg(timers.step[i])
                    .arg(QString::fromStdString(run.timerNames[timers.name[i]]))
                    .arg(timers.rank[i])
                    .arg(least, number(timers.seconds[i]))
                    .arg(timers.line[i]);
    }
    return rows.join(u'\n');
}

std::string iteration(int step)
{
    return " iteration " + std::to_string(step)
        + "/ 1000 | consumed samples: 8 | elapsed time per iteration (ms): 20.0 | lm loss: 1.0E+00 |\n";
}

const std::string minMax = "(min, max) time across ranks (ms):\n"
                           "    forward-backward ...............................: (1210.77, 1213.40)\n"
                           "    optimizer ......................................: (8.11, 8.20)training ...\n";

} // namespace

/// Times of parts of a step, as Megatron's and DeepSpeed's timers print them.
class LogTimersTest : public QObject
{
    Q_OBJECT

private slots:
    void rows_data();
    void rows();
    void everyBorder();
    void ranksOfFiles();
    void manyNames();
};

void LogTimersTest::rows_data()
{
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, const std::string& log, const char* expected) {
        QTest::newRow(name) << QByteArray::fromStdString(log) << QString::fromLatin1(expected);
    };
    row("the fastest and the slowest rank", iteration(7) + minMax,
        "7 forward-backward r-1 1.21077-1.2134 :3\n7 optimizer r-1 0.00811-0.0082 :4");
    row("blocks end where the next begins", iteration(7) + minMax + iteration(8) + minMax,
        "7 forward-backward r-1 1.21077-1.2134 :3\n7 optimizer r-1 0.00811-0.0082 :4\n"
        "8 forward-backward r-1 1.21077-1.2134 :7\n8 optimizer r-1 0.00811-0.0082 :8");
    row("before the first step", minMax + iteration(3),
        "3 forward-backward r-1 1.21077-1.2134 :2\n3 optimizer r-1 0.00811-0.0082 :3");
    row("the slowest only",
        iteration(2) + "max time across ranks (ms):\n    all-grads-sync .................................: 12.34\n",
        "2 all-grads-sync r-1 0.01234 :3");
    row("every rank",
        iteration(2)
            + "times across ranks (ms):\n  forward-compute:\n     rank  0: 1.50\n     rank 11: 2.50\n  optimizer:\n"
              "     rank  0: 3.00\n",
        "2 forward-compute r0 0.0015 :4\n2 forward-compute r11 0.0025 :5\n2 optimizer r0 0.003 :7");
    row("one line", iteration(4) + "time (ms) | forward-compute: 306.62 | batch generator: 2.97 | optimizer: 94.69\n",
        "4 forward-compute r-1 0.30662 :2\n4 batch generator r-1 0.00297 :2\n4 optimizer r-1 0.09469 :2");
    row("DeepSpeed's",
        "[2021-06-10 23:06:40,102] [INFO] [logging.py:68:log_dist] [Rank 0] step=10, skipped=0, lr=[0.001]\n"
        "[2021-06-10 23:06:40,102] [INFO] [logging.py:68:log_dist] [Rank 0] rank=0 time (ms) | fwd_microstep: 81.25 | "
        "bwd_microstep: 190.11\n",
        "10 fwd_microstep r0 0.08125 :2\n10 bwd_microstep r0 0.19011 :2");
    row("verl's", "step:3 - timing_s/gen:12.5 - timing_s/update_actor:30.25 - timing_s/step:50.0\n",
        "3 timing_s/gen r-1 12.5 :1\n3 timing_s/update_actor r-1 30.25 :1");
    row("a launcher's prefix", "[rank3]: time (ms) | forward: 10.00\n", "0 forward r3 0.01 :1");
    row("source text", "print('time (ms) | {}: {}')\nlog.info(\"(min, max) time across ranks (ms):\")\n", "");
    row("no numbers", iteration(1) + "time (ms) | forward: nan | backward: 1e999\n", "");
}

void LogTimersTest::rows()
{
    QFETCH(const QByteArray, log);
    QFETCH(const QString, expected);
    QCOMPARE(rowsOf(readLogText(log.toStdString(), "train.log")), expected);
}

/// Wherever pieces and windows end, the rows are the same.
void LogTimersTest::everyBorder()
{
    const std::string text
        = iteration(1) + minMax + "time (ms) | forward: 1.00 | backward: 2.00\n" + iteration(2) + minMax;
    const QString whole = rowsOf(readLogText(text, "train.log"));
    QCOMPARE(whole.count(u'\n'), 5);
    for (const std::int64_t size : {1, 7, 50, 111, 200}) {
        ScanSizes sizes;
        sizes.chunk = size;
        sizes.window = size;
        QCOMPARE(rowsOf(readTextInPieces(text, "train.log", sizes)), whole);
    }
}

/// A rank's own times take the rank of the file's name; those over all ranks do not.
void LogTimersTest::ranksOfFiles()
{
    QTemporaryDir folder;
    const std::filesystem::path path = folder.path().toStdString();
    write(path / "rank4.log", iteration(1) + "time (ms) | forward: 1.00\n");
    write(path / "rank5.log", iteration(1) + minMax);
    const auto run = readLog(std::array{path});
    QVERIFY(run);
    QCOMPARE(rowsOf(*run),
             QStringLiteral("1 forward r4 0.001 :2\n1 forward-backward r-1 1.21077-1.2134 :3\n"
                            "1 optimizer r-1 0.00811-0.0082 :4"));
    QCOMPARE(run->firstTimerOfFile, (std::vector<std::int64_t>{0, 1}));
}

/// Rubbish makes no thousands of channels.
void LogTimersTest::manyNames()
{
    std::string text;
    for (int i = 0; i < 3000; ++i) {
        text += "time (ms) | timer-" + std::to_string(i) + ": 1.00\n";
    }
    const Run run = readLogText(text, "train.log");
    QCOMPARE(run.timers.size(), std::size_t{3000});
    QCOMPARE(run.timerNames.size(), std::size_t{1001});
    QCOMPARE(run.timerNames.back(), std::string("(other)"));
    QCOMPARE(std::size_t{run.timers.name.back()}, std::size_t{1000});
}

QTEST_APPLESS_MAIN(LogTimersTest)
#include "tst_log_timers.moc"
