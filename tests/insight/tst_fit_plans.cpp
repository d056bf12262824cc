// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit.h"
#include "insight/fit_plans.h"
#include "insight/insight_fixture.h"
#include "insight/rule.h"
#include "plan/batch.h"
#include "plan/validity.h"
#include "replay/replay.h"

#include <QTest>

#include <cmath>
#include <ctime>

using namespace headroom;

namespace {

constexpr double margin = 0.05;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

/// Asks as the terminal does: the closed form searches, the replay decides.
FitQuestion questionOf(const TrainingPlan& plan, int capacity)
{
    FitQuestion question;
    question.plan = &plan;
    question.capacity = Bytes{capacity * gibibyte};
    question.margin = margin;
    question.exact = replayWithin;
    return question;
}

/// By the replay of every stage; what the closed form already finds too large is not replayed.
bool fitsExactly(const TrainingPlan& plan, Bytes limit)
{
    Footprint footprint;
    return estimateInstantly(plan, {}, footprint) && footprint.fullest().device <= limit && replay(plan, {}, footprint)
        && footprint.fullest().device <= limit;
}

std::int64_t samplesOf(const TrainingPlan& plan)
{
    return plan.batch.global.isStated() ? plan.batch.global.value
                                        : plan.batch.micro.value * microBatchesPerStep(plan) * dataParallelSize(plan);
}

/// The plan with one size changed and what has to follow, by hand; null where GPUs or samples do not come out even.
std::optional<TrainingPlan> turned(const TrainingPlan& plan, const char* field, std::int64_t value)
{
    auto changed = edited(plan, {{field, std::to_string(value)}});
    const std::int64_t replica
        = changed->parallel.tp.valueOr(1) * changed->parallel.pp.valueOr(1) * changed->parallel.cp.valueOr(1);
    const std::int64_t world = worldSize(plan);
    if (world % replica != 0) {
        return std::nullopt;
    }
    const Origin origin{OriginKind::Edited, 0, nullptr};
    changed->parallel.dp.set(world / replica, origin);
    const std::int64_t atOnce = changed->batch.micro.valueOr(1) * (world / replica);
    if (samplesOf(plan) % atOnce != 0) {
        return std::nullopt;
    }
    changed->batch.accum.set(samplesOf(plan) / atOnce, origin);
    const auto problems = validate(*changed);
    const bool isLegal = std::none_of(problems.begin(), problems.end(),
                                      [](const Problem& problem) { return problem.severity == Severity::Error; });
    return isLegal ? changed : std::nullopt;
}

double distance(std::int64_t a, std::int64_t b)
{
    return std::abs(std::log(double(a) / double(b)));
}

/// The nearest value with which the plan fits, every one of them tried.
std::optional<std::int64_t> nearestThatFits(const TrainingPlan& plan, const char* field, std::int64_t now,
                                            std::vector<std::int64_t> values, Bytes limit)
{
    std::erase(values, now);
    std::stable_sort(values.begin(), values.end(),
                     [now](std::int64_t a, std::int64_t b) { return distance(a, now) < distance(b, now); });
    for (const std::int64_t value : values) {
        const auto changed = turned(plan, field, value);
        if (changed && fitsExactly(*changed, limit)) {
            return value;
        }
    }
    return std::nullopt;
}

std::vector<std::int64_t> countsTo(std::int64_t last, std::int64_t dividing = 0)
{
    std::vector<std::int64_t> values;
    for (std::int64_t value = 1; value <= last; ++value) {
        if (dividing == 0 || dividing % value == 0) {
            values.push_back(value);
        }
    }
    return values;
}

std::vector<FitProposal> allOf(const FitAnswer& answer)
{
    std::vector<FitProposal> all = answer.singles;
    all.insert(all.end(), answer.pairs.begin(), answer.pairs.end());
    return all;
}

} // namespace

/// The smallest change that fits, on plans of every kind: proposals fit by the replay, keep what they have to, and none
/// is missed.
class TestFitPlans : public QObject
{
    Q_OBJECT

private slots:
    void proposals_data();
    void proposals();
    void missesNone_data() { proposals_data(); }
    void missesNone();
    void inverseQuestionsFit_data() { proposals_data(); }
    void inverseQuestionsFit();
    void cleanupTestCase();

private:
    double m_worst = 0; ///< milliseconds of the processor, of one search
    QByteArray m_worstName;
    int m_answered = 0;
};

void TestFitPlans::proposals_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<int>("capacity");
    for (const test::FitPlan& row : test::fitPlans()) {
        QTest::newRow(row.name) << row.settings << row.capacity;
    }
}

void TestFitPlans::proposals()
{
    QFETCH(QByteArray, settings);
    QFETCH(int, capacity);
    const TrainingPlan plan = planOf(settings);
    const FitQuestion question = questionOf(plan, capacity);
    // Of the processor, so that a busy machine does not count.
    const std::clock_t start = std::clock();
    const auto answer = smallestChangeThatFits(question);
    const double elapsed = double(std::clock() - start) * 1000 / CLOCKS_PER_SEC;
    if (elapsed > 100) {
        qInfo("%.0f ms, %d estimates", elapsed, answer ? int(answer->estimates) : 0);
    }
    if (elapsed > m_worst) {
        m_worst = elapsed;
        m_worstName = QTest::currentDataTag();
    }
    QVERIFY2(answer, answer ? "" : answer.error().english().c_str());
    QVERIFY2(!answer->fits, qPrintable(QString::number(answer->peak.gib())));
    m_answered += allOf(*answer).empty() ? 0 : 1;
    QVERIFY(!allOf(*answer).empty() || answer->closest.has_value());
    for (const FitProposal& proposal : allOf(*answer)) {
        const auto changed = edited(plan, proposal.edits);
        QVERIFY(changed);
        QVERIFY2(fitsExactly(*changed, question.limit()),
                 qPrintable(QString::fromStdString(proposal.labels.front().english())));
        QCOMPARE(worldSize(*changed), worldSize(plan));
        QCOMPARE(samplesOf(*changed), samplesOf(plan));
        QVERIFY(batchEquation(*changed).holds.value_or(true));
        QCOMPARE(changed->batch.seq.value, plan.batch.seq.value);
        QCOMPARE(changed->model.layers.value % changed->parallel.pp.valueOr(1), std::int64_t{0});
        QVERIFY(proposal.stepTime.has_value());
    }
}

void TestFitPlans::missesNone()
{
    QFETCH(QByteArray, settings);
    QFETCH(int, capacity);
    const TrainingPlan plan = planOf(settings);
    const FitQuestion question = questionOf(plan, capacity);
    const auto answer = smallestChangeThatFits(question);
    QVERIFY(answer);
    struct Size
    {
        const char* knob;
        const char* field;
        std::int64_t now;
        std::vector<std::int64_t> values;
    };
    const std::int64_t world = worldSize(plan);
    for (const Size& size : {
             Size{"micro-batch", "batch.micro", plan.batch.micro.value, countsTo(plan.batch.micro.value)},
             Size{"pipeline", "parallel.pp", plan.parallel.pp.valueOr(1), countsTo(world, plan.model.layers.value)},
             Size{"tensor", "parallel.tp", plan.parallel.tp.valueOr(1), countsTo(world, plan.model.heads.value)},
             Size{"context", "parallel.cp", plan.parallel.cp.valueOr(1), countsTo(world)},
             Size{"expert", "parallel.ep", plan.parallel.ep.valueOr(1),
                  countsTo(plan.moe.experts.valueOr(0), plan.moe.experts.valueOr(0))},
         }) {
        const auto best = nearestThatFits(plan, size.field, size.now, size.values, question.limit());
        const auto found
            = std::find_if(answer->singles.begin(), answer->singles.end(),
                           [&](const FitProposal& proposal) { return proposal.knobs.front() == size.knob; });
        QVERIFY2((found != answer->singles.end()) == best.has_value(), size.knob);
        if (best) {
            const auto edit = std::find_if(found->edits.begin(), found->edits.end(),
                                           [&](const PlanEdit& one) { return one.field == size.field; });
            QVERIFY(edit != found->edits.end());
            QCOMPARE(distance(std::stoll(edit->value), size.now), distance(*best, size.now));
        }
    }
}

void TestFitPlans::inverseQuestionsFit()
{
    QFETCH(QByteArray, settings);
    QFETCH(int, capacity);
    const TrainingPlan plan = planOf(settings);
    const FitQuestion question = questionOf(plan, capacity);
    if (const auto fewest = fewestGpus(question)) {
        const auto changed = edited(plan, fewest->edits);
        QVERIFY(changed && worldSize(*changed) <= worldSize(plan));
        QVERIFY(fitsExactly(*changed, question.limit()));
        QCOMPARE(samplesOf(*changed), samplesOf(plan));
    }
    FitConstraints anyBatch = question.constraints;
    anyBatch.keepGlobalBatch = false;
    if (const auto micro = largestMicroBatch(question)) {
        const auto edits = linkedEdits(plan, {{"batch.micro", std::to_string(*micro)}}, anyBatch);
        QVERIFY(edits && fitsExactly(*edited(plan, *edits), question.limit()));
    }
    if (const auto sequence = longestSequence(question)) {
        const auto edits = linkedEdits(plan, {{"batch.seq", std::to_string(*sequence)}}, question.constraints);
        QVERIFY(edits && fitsExactly(*edited(plan, *edits), question.limit()));
    }
}

void TestFitPlans::cleanupTestCase()
{
    qInfo("%d plans, %d of them with a proposal; the longest search took %.1f ms (%s)", int(test::fitPlans().size()),
          m_answered, m_worst, m_worstName.constData());
}

QTEST_APPLESS_MAIN(TestFitPlans)
#include "tst_fit_plans.moc"
