// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where the caching allocator puts tensors that stay, and what their blocks hold beyond them (theory.md 6.3): worked
// out by hand from its rules. Segments are 20 MiB below 10 MiB, multiples of 2 MiB from there on; a rest of up to 1 MiB
// is not split off.
#include "footprint/tape/segments.h"

#include <QTest>

using namespace headroom;

namespace {

constexpr std::int64_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

} // namespace

class TestSegments : public QObject
{
    Q_OBJECT

private slots:
    void leavesRests_data();
    void leavesRests();
    void placesAtOnceAsOneByOne();
    void reusesWhatIsFree();
    void growsWithoutRests();
};

void TestSegments::leavesRests_data()
{
    QTest::addColumn<std::vector<std::int64_t>>("kibibytes"); // of tensors, in this order
    QTest::addColumn<std::int64_t>("rests"); // KiB
    const auto row = [](const char* name, std::vector<std::int64_t> kibibytes, std::int64_t rests) {
        QTest::newRow(name) << std::move(kibibytes) << rests;
    };
    row("small ones have a pool of their own", {100, 1024, 1}, 0);
    row("a segment of its own, filled", {10 * 1024}, 0);
    row("a segment of its own, 1 MiB left", {11 * 1024}, 1024);
    row("a segment of its own, more left", {11 * 1024 - 1}, 0);
    row("what is left of one serves another", {10 * 1024 + 512, 1536}, 0); // 12 MiB = 10.5 + 1.5
    row("two of 7 MiB leave 6 MiB", {7 * 1024, 7 * 1024}, 0);
    row("which 5.5 MiB fit, and half a MiB is left", {7 * 1024, 7 * 1024, 5632}, 512);
    row("three of 6.5 MiB leave half a MiB", {6656, 6656, 6656}, 512);
    row("seven of 2.75 MiB leave 0.75 MiB", {2816, 2816, 2816, 2816, 2816, 2816, 2816}, 768);
    row("the smallest that fits", {9 * 1024, 9 * 1024, 9 * 1024, 2 * 1024, 10 * 1024}, 1024);
    // 9 + 9 leave 2 MiB; 9 leaves 11; 2 goes where 2 are left, so that 10 finds 11, of which 1 stays.
}

void TestSegments::leavesRests()
{
    QFETCH(std::vector<std::int64_t>, kibibytes);
    QFETCH(std::int64_t, rests);
    Segments::Sizes tensors;
    for (const std::int64_t size : kibibytes) {
        tensors.push_back({size * kibibyte, 1});
    }
    QCOMPARE(Segments().place(tensors) / kibibyte, rests);
}

/// A hundred of one size between others: the same as each for itself.
void TestSegments::placesAtOnceAsOneByOne()
{
    for (const std::int64_t size :
         {1100 * kibibyte, 2816 * kibibyte, 5632 * kibibyte, 6656 * kibibyte, 11 * mebibyte}) {
        Segments together, apart;
        std::int64_t restsApart = 0;
        for (Segments* segments : {&together, &apart}) {
            for (const std::int64_t other : {7 * mebibyte, 13 * mebibyte + 512 * kibibyte, 45 * mebibyte}) {
                segments->place(other);
            }
            segments->free(30 * mebibyte);
        }
        for (int i = 0; i < 100; ++i) {
            restsApart += apart.place(size);
        }
        QCOMPARE(together.place(size, 100), restsApart);
        QCOMPARE(together.place(3 * mebibyte, 50), apart.place(3 * mebibyte, 50)); // and leaves as much behind
    }
}

void TestSegments::reusesWhatIsFree()
{
    Segments segments;
    QCOMPARE(segments.place(6656 * kibibyte, 6), 2 * 512 * kibibyte); // two segments
    segments.release();
    QCOMPARE(segments.place(20 * mebibyte - 300 * kibibyte), 300 * kibibyte); // one of them
    QCOMPARE(segments.place(19 * mebibyte, 2), 2 * mebibyte); // the other, and a new one of 20 MiB
    segments.free(19 * mebibyte + 512 * kibibyte, 2);
    QCOMPARE(segments.place(19 * mebibyte, 3), 2 * mebibyte); // twice half a MiB, and a whole one of another
}

void TestSegments::growsWithoutRests()
{
    QCOMPARE(Segments(true).place(11 * mebibyte), 0);
    QCOMPARE(Segments(true).place(6656 * kibibyte, 3), 0);
}

QTEST_APPLESS_MAIN(TestSegments)
#include "tst_segments.moc"
