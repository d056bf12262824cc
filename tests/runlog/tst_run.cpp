// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/anchor_scan.h"
#include "runlog/byte_search.h"
#include "runlog/read_log.h"

#include <QTest>

#include <limits>
#include <random>

using namespace headroom;

/// What is kept of a log, and what it answers.
class RunTest : public QObject
{
    Q_OBJECT

private slots:
    void phaseNames();
    void manyPhaseNames();
    void problemsAreBounded();
    void peak();
    void largestIsASort();
    void anchorScan();
};

void RunTest::phaseNames()
{
    const Run run = readLogText("phase=eval step=1 peak_alloc=1GiB\nphase=optimizer step=1 peak_alloc=1GiB\n"
                                "phase=EVAL step=2 peak_alloc=1GiB\nphase=\"optimizer step\" step=2 peak_alloc=1GiB\n",
                                "train.log");
    QCOMPARE(run.phaseNames, (std::vector<std::string>{"forward", "backward", "optimizer", "eval", "optimizer step"}));
    QCOMPARE(run.phase, (std::vector<std::uint8_t>{3, 2, 3, 4}));
}

void RunTest::manyPhaseNames()
{
    std::string text;
    for (int i = 0; i < 300; ++i) {
        text += "phase=p" + std::to_string(i) + " step=1 peak_alloc=1GiB\n";
    }
    const Run run = readLogText(text, "train.log");
    QCOMPARE(run.size(), std::size_t{300});
    QCOMPARE(run.phaseNames.size(), std::size_t{256});
    QCOMPARE(run.phaseNames[run.phase[251]], std::string("p251"));
    QCOMPARE(run.phaseNames[run.phase[252]], std::string("(other)"));
    QCOMPARE(run.phaseNames[run.phase[299]], std::string("(other)"));
    QCOMPARE(run.problemCount, std::int64_t{1});
}

void RunTest::problemsAreBounded()
{
    std::string text;
    for (int i = 0; i < 5000; ++i) {
        text += "phase=forward step=1 peak_alloc=x" + std::to_string(i) + "\n";
    }
    const Run run = readLogText(text, "train.log");
    QCOMPARE(run.problemCount, std::int64_t{5000});
    QCOMPARE(run.problems.size(), Run::maxProblems);
    QCOMPARE(run.problems.back().line, std::int64_t{1000});
}

void RunTest::peak()
{
    const Run run = readLogText("phase=forward step=1 rank=0 peak_alloc=5GiB\n"
                                "phase=backward step=1 rank=0 peak_alloc=9GiB\n"
                                "phase=backward step=1 rank=4 peak_alloc=9GiB\n"
                                "phase=forward step=2 rank=4 peak_alloc=7GiB\n"
                                "phase=eval step=2 peak_alloc=1GiB\n",
                                "train.log");
    QCOMPARE(run.peak(), std::optional<std::size_t>(1));
    QCOMPARE(run.peak(std::uint8_t{0}), std::optional<std::size_t>(3));
    QCOMPARE(run.peak({}, 4), std::optional<std::size_t>(2));
    QCOMPARE(run.peak(std::uint8_t{0}, 0), std::optional<std::size_t>(0));
    QCOMPARE(run.peak(std::uint8_t{2}), std::optional<std::size_t>());
    QCOMPARE(run.ranks(), (std::vector<std::int32_t>{0, 4}));
    QCOMPARE(run.largest(3), (std::vector<std::size_t>{1, 2, 3}));
    QCOMPARE(run.largest(0).size(), std::size_t{0});
    QCOMPARE(Run().peak(), std::optional<std::size_t>());
    QVERIFY(Run().ranks().empty());
}

void RunTest::largestIsASort()
{
    std::mt19937 random(1);
    Run run;
    for (int i = 0; i < 2000; ++i) {
        run.step.push_back(static_cast<std::uint32_t>(i));
        run.allocatedBytes.push_back(static_cast<std::int64_t>(random() % 300));
    }
    std::vector<std::size_t> sorted(run.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        sorted[i] = i;
    }
    std::ranges::stable_sort(sorted, std::greater<>(), [&](std::size_t i) { return run.allocatedBytes[i]; });
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{7}, std::size_t{500}, std::size_t{2000}, std::size_t{9999}}) {
        const std::vector<std::size_t> expected(
            sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(std::min(n, sorted.size())));
        QCOMPARE(run.largest(n), expected);
    }
}

/// Every occurrence of every anchor, as a plain search finds them.
void RunTest::anchorScan()
{
    const FormatFile file = parseLineFormats("formats:\n"
                                             "  a: {anchors: [peak_alloc, ak_al], pattern: x}\n"
                                             "  b: {anchors: ['loc', 'ak_al'], pattern: x}\n",
                                             "test.yaml");
    QVERIFY(file.problems.empty());
    LineFormats formats;
    for (const FormatFile::Entry& entry : file.entries) {
        formats.formats.push_back(entry.format);
    }
    const AnchorSet anchors(formats);
    std::mt19937 random(2);
    std::string text;
    for (int i = 0; i < 20000; ++i) {
        text += random() % 40 == 0 ? std::string("peak_alloc") : std::string(1, "peak_loc\n"[random() % 9]);
    }
    AnchorScan scan(anchors);
    const std::vector<AnchorHit>& hits = scan.scan(text);
    std::size_t expected = 0;
    for (const std::string anchor : {"peak_alloc", "ak_al", "loc"}) {
        for (std::size_t at = 0; (at = text.find(anchor, at)) != std::string::npos; ++at) {
            const bool found = std::any_of(hits.begin(), hits.end(), [&](const AnchorHit& hit) {
                return hit.begin == at && anchors.lengthOf(hit.anchor) == anchor.size();
            });
            QVERIFY(found);
            ++expected;
        }
    }
    QCOMPARE(hits.size(), expected);
    QCOMPARE(countByte(text, '\n'), static_cast<std::int64_t>(std::count(text.begin(), text.end(), '\n')));
}

QTEST_APPLESS_MAIN(RunTest)
#include "tst_run.moc"
