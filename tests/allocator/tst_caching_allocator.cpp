// SPDX-License-Identifier: GPL-3.0-or-later
#include "allocator/caching_allocator.h"
#include "support/folders.h"

#include <nlohmann/json.hpp>

#include <QTest>

#include <fstream>
#include <map>
#include <random>
#include <string>

using namespace headroom;
using Json = nlohmann::json;

namespace {

constexpr std::int64_t MiB = std::int64_t{1} << 20;

/// Runs a trace of ["a", name, bytes], ["f", name], ["r"], ["e"]; false at the first request that fails.
bool runTrace(CachingAllocator& allocator, const Json& operations)
{
    std::map<std::string, CachingAllocator::Block> live;
    for (const Json& operation : operations) {
        const std::string kind = operation[0];
        if (kind == "a") {
            const auto block = allocator.allocate(operation[2]);
            if (block == CachingAllocator::noBlock) {
                return false;
            }
            live[operation[1]] = block;
        } else if (kind == "f") {
            allocator.free(live.at(operation[1]));
        } else if (kind == "r") {
            allocator.resetPeaks();
        } else {
            allocator.emptyCache();
        }
    }
    return true;
}

AllocatorOptions optionsFrom(const Json& config)
{
    AllocatorOptions options;
    options.capacity = config.value("cap", options.capacity);
    options.maxSplitSize = config.value("max_split", options.maxSplitSize);
    options.expandableSegments = config.value("expandable", false);
    return options;
}

std::map<std::string, std::int64_t> named(const AllocatorStatistics& now)
{
    return {{"allocated", now.allocated},
            {"reserved", now.reserved},
            {"requested", now.requested},
            {"peak_allocated", now.peakAllocated},
            {"peak_reserved", now.peakReserved},
            {"peak_requested", now.peakRequested},
            {"segments", now.segments},
            {"device_allocs", now.deviceAllocations},
            {"retries", now.retries}};
}

} // namespace

class TestCachingAllocator : public QObject
{
    Q_OBJECT

private slots:
    void followsTheTraces_data();
    void followsTheTraces();
    void roundsRequests_data();
    void roundsRequests();
    void keepsStreamsApart();
    void holdsBlocksInUse();
    void releasesOversizeBlocksFirst();
    void unmapsWholePagesOnly();
    void startsWithFreeSegments();
    void refusesImpossibleRequests();
    void staysConsistent_data();
    void staysConsistent();
};

void TestCachingAllocator::followsTheTraces_data()
{
    QTest::addColumn<QByteArray>("traceCase");
    std::ifstream file(sharedPath("cases/theory_cases.json"));
    if (!file) {
        QSKIP("the shared theory cases are not here");
    }
    const Json document = Json::parse(file);
    for (const Json& row : document.at("cases")) {
        const std::string id = row.at("id");
        if (id.starts_with("M") && row.at("inputs").contains("ops")) {
            QTest::newRow(id.c_str()) << QByteArray::fromStdString(row.dump());
        }
    }
}

void TestCachingAllocator::followsTheTraces()
{
    QFETCH(QByteArray, traceCase);
    const Json row = Json::parse(traceCase.toStdString());
    CachingAllocator allocator(optionsFrom(row.at("inputs").at("config")));
    const bool fits = runTrace(allocator, row.at("inputs").at("ops"));
    QCOMPARE(fits, !row.at("expected").value("oom", false));
    const auto got = named(allocator.statistics());
    for (const auto& [key, value] : row.at("expected").items()) {
        if (key != "oom") {
            QVERIFY2(got.at(key) == value.get<std::int64_t>(),
                     (key + ": " + std::to_string(got.at(key)) + " instead of " + value.dump()).c_str());
        }
    }
}

void TestCachingAllocator::roundsRequests_data()
{
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<qint64>("divisions");
    QTest::addColumn<qint64>("rounded");
    QTest::newRow("below a block") << qint64{100} << qint64{4} << qint64{512};
    QTest::newRow("nothing") << qint64{0} << qint64{0} << qint64{512};
    QTest::newRow("multiple of 512") << qint64{1024} << qint64{0} << qint64{1024};
    QTest::newRow("off by default") << qint64{5242881} << qint64{0} << qint64{5243392};
    // M20: applies above 512 bytes times the divisions only.
    QTest::newRow("divisions, too small") << qint64{1200} << qint64{4} << qint64{1536};
    QTest::newRow("divisions") << qint64{5242881} << qint64{4} << qint64{6291456};
    QTest::newRow("on a step") << qint64{9437184} << qint64{8} << qint64{9437184};
    QTest::newRow("power of two") << qint64{8 * MiB} << qint64{4} << qint64{8 * MiB};
    QTest::newRow("just above a power of two") << qint64{8 * MiB + 1} << qint64{4} << qint64{10 * MiB};
}

void TestCachingAllocator::roundsRequests()
{
    QFETCH(qint64, bytes);
    QFETCH(qint64, divisions);
    AllocatorOptions options;
    options.roundupPower2Divisions = divisions;
    QTEST(qint64{CachingAllocator(options).roundedSize(bytes)}, "rounded");
}

void TestCachingAllocator::keepsStreamsApart()
{
    CachingAllocator allocator;
    const auto gathered = allocator.allocate(30 * MiB, 1);
    allocator.free(gathered);
    // The free block belongs to stream 1, so stream 0 needs a segment of its own.
    const auto computed = allocator.allocate(30 * MiB, 0);
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{60 * MiB});
    static_cast<void>(allocator.allocate(30 * MiB, 1));
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{60 * MiB});
    allocator.free(computed);
    QCOMPARE(qint64{allocator.statistics().allocated}, qint64{30 * MiB});
}

void TestCachingAllocator::holdsBlocksInUse()
{
    CachingAllocator allocator;
    const auto block = allocator.allocate(16 * MiB);
    allocator.freeInUse(block);
    QCOMPARE(qint64{allocator.statistics().allocated}, qint64{0});
    QCOMPARE(qint64{allocator.statistics().active}, qint64{16 * MiB});
    static_cast<void>(allocator.allocate(16 * MiB));
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{32 * MiB}); // not lent while in use
    allocator.synchronize();
    QCOMPARE(qint64{allocator.statistics().active}, qint64{16 * MiB});
    static_cast<void>(allocator.allocate(16 * MiB));
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{32 * MiB});
    QCOMPARE(qint64{allocator.statistics().peakActive}, qint64{32 * MiB});
}

void TestCachingAllocator::releasesOversizeBlocksFirst()
{
    AllocatorOptions options;
    options.capacity = 100 * MiB;
    options.maxSplitSize = 32 * MiB;
    CachingAllocator allocator(options);
    allocator.free(allocator.allocate(80 * MiB));
    // 40 MiB may not take the 80 MiB block (more than 20 MiB would be lost), so that one is given back; no retry.
    QVERIFY(allocator.allocate(40 * MiB) != CachingAllocator::noBlock);
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{40 * MiB});
    QCOMPARE(qint64{allocator.statistics().retries}, qint64{0});
}

void TestCachingAllocator::unmapsWholePagesOnly()
{
    AllocatorOptions options;
    options.expandableSegments = true;
    CachingAllocator allocator(options);
    const auto first = allocator.allocate(10 * MiB);
    const auto second = allocator.allocate(60 * MiB); // 10 to 70 MiB of four pages
    const auto third = allocator.allocate(10 * MiB);
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{80 * MiB});
    allocator.free(second);
    allocator.emptyCache(); // pages 1 and 2 are whole, 0 and 3 are shared
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{40 * MiB});
    // 20 MiB at the front of the hole, mapped again after the 10 MiB that stayed.
    static_cast<void>(allocator.allocate(30 * MiB));
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{60 * MiB});
    allocator.free(first);
    allocator.free(third);
    QCOMPARE(qint64{allocator.statistics().allocated}, qint64{30 * MiB});
}

void TestCachingAllocator::startsWithFreeSegments()
{
    CachingAllocator allocator;
    for (const std::int64_t free : {5 * MiB, 5 * MiB, 7 * MiB}) {
        allocator.cacheSegment(free);
    }
    const auto whole = allocator.allocate(4 * MiB), second = allocator.allocate(4 * MiB);
    QCOMPARE(qint64{allocator.sizeOf(whole)}, qint64{5 * MiB}); // 1 MiB is not split off
    QVERIFY(allocator.addressOf(whole) < allocator.addressOf(second)); // of equal blocks the lowest
    const auto cut = allocator.allocate(4 * MiB);
    QCOMPARE(qint64{allocator.sizeOf(cut)}, qint64{4 * MiB});
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{(5 + 5 + 7) * MiB});
    for (const auto block : {whole, second, cut}) {
        allocator.free(block);
    }
    QCOMPARE(qint64{allocator.largestFreeBlock()}, qint64{7 * MiB}); // segments are never joined
}

void TestCachingAllocator::refusesImpossibleRequests()
{
    CachingAllocator allocator;
    QCOMPARE(allocator.allocate(-1), CachingAllocator::noBlock);
    QCOMPARE(allocator.allocate(std::numeric_limits<std::int64_t>::max()), CachingAllocator::noBlock);
    QVERIFY(allocator.allocate(std::int64_t{1} << 59) != CachingAllocator::noBlock);
    QVERIFY(allocator.allocate(std::int64_t{1} << 58) != CachingAllocator::noBlock);
    QCOMPARE(allocator.allocate(std::int64_t{1} << 59), CachingAllocator::noBlock); // the device is full
}

void TestCachingAllocator::staysConsistent_data()
{
    QTest::addColumn<bool>("expandable");
    QTest::addColumn<qint64>("maxSplit");
    QTest::addColumn<qint64>("capacity");
    QTest::newRow("default") << false << qint64{AllocatorOptions::unlimited} << qint64{AllocatorOptions::unlimited};
    QTest::newRow("expandable") << true << qint64{AllocatorOptions::unlimited} << qint64{AllocatorOptions::unlimited};
    QTest::newRow("max split") << false << qint64{32 * MiB} << qint64{AllocatorOptions::unlimited};
    QTest::newRow("full device") << false << qint64{64 * MiB} << qint64{700 * MiB};
    QTest::newRow("full device, expandable") << true << qint64{AllocatorOptions::unlimited} << qint64{700 * MiB};
}

/// A random trace: the sums always agree with the live blocks, and everything comes back at the end.
void TestCachingAllocator::staysConsistent()
{
    QFETCH(bool, expandable);
    QFETCH(qint64, maxSplit);
    QFETCH(qint64, capacity);
    AllocatorOptions options;
    options.expandableSegments = expandable;
    options.maxSplitSize = maxSplit;
    options.capacity = capacity;
    CachingAllocator allocator(options);
    std::mt19937_64 random(7);
    std::vector<CachingAllocator::Block> live;
    for (int i = 0; i < 20000; ++i) {
        if (random() % 2 == 0 || live.empty()) {
            const int magnitude = static_cast<int>(random() % 27);
            const auto bytes = static_cast<std::int64_t>(random() % (std::uint64_t{1} << magnitude) + 1);
            const auto block = allocator.allocate(bytes, static_cast<std::uint32_t>(random() % 2));
            if (block != CachingAllocator::noBlock) {
                QVERIFY(allocator.sizeOf(block) >= bytes);
                live.push_back(block);
            }
        } else {
            std::swap(live[random() % live.size()], live.back());
            allocator.free(live.back());
            live.pop_back();
        }
        std::int64_t allocated = 0;
        for (const auto block : live) {
            allocated += allocator.sizeOf(block);
        }
        const AllocatorStatistics& now = allocator.statistics();
        QVERIFY(now.allocated == allocated && now.reserved >= now.allocated && now.reserved <= options.capacity);
    }
    for (const auto block : live) {
        allocator.free(block);
    }
    allocator.emptyCache();
    QCOMPARE(qint64{allocator.statistics().allocated}, qint64{0});
    QCOMPARE(qint64{allocator.statistics().reserved}, qint64{0});
    QCOMPARE(qint64{allocator.statistics().segments}, qint64{0});
}

QTEST_APPLESS_MAIN(TestCachingAllocator)
#include "tst_caching_allocator.moc"
