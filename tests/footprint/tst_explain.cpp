// SPDX-License-Identifier: GPL-3.0-or-later
//
// The formulas shown with a plan's numbers in them, and that they end in the estimate's figures.
#include "footprint/estimated.h"

#include <QtTest>

#include <algorithm>

using namespace headroom;
using test::estimated;
using test::planOf;
using test::workflowExample;

class ExplainTest : public QObject
{
    Q_OBJECT

private slots:
    void explainsTheExample();
    void explanationsFollowTheEstimate_data();
    void explanationsFollowTheEstimate();
    void explainsNothingBeyondTheStages();
    void explainsWhatIsGathered();
};

void ExplainTest::explainsTheExample()
{
    const TrainingPlan plan = workflowExample();
    const Footprint footprint = estimated(plan);
    const std::vector<Term> terms = explain(plan, {}, footprint, 0);
    QCOMPARE(terms[0].formula, std::string("12·h²"));
    QCOMPARE(terms[0].substituted, std::string("12 × 1,024²"));
    QCOMPARE(terms[0].value, 12'582'912.0);
    QVERIFY(terms[0].parts.empty());
    QCOMPARE(terms[1].formula, std::string("L·12h² + V·h"));
    QCOMPARE(terms[1].substituted, std::string("24 × 12 × 1,024² + 50,000 × 1,024"));
    QCOMPARE(terms[1].value, 353'189'888.0);
    QCOMPARE(terms[2].substituted, std::string("353,189,888 × (2 weight + 2 gradient + 4 master + 8 moments)"));
    QCOMPARE(terms[2].value, 353'189'888.0 * 16);
    QCOMPARE(terms[3].substituted, std::string("2 × 1,024 × 1,024 × 24 × 16 × 2"));
    QCOMPARE(terms[3].value, 1.5 * 1024 * 1024 * 1024);
    QCOMPARE(terms[4].formula, std::string("min(m, p − i)"));
    QCOMPARE(terms[4].substituted, std::string("min(1, 1 − 0)"));
    QCOMPARE(terms[4].value, 1.0);
    QCOMPARE(terms[5].substituted, std::string("5.263 GiB + 1 × 1.500 GiB"));
}

void ExplainTest::explanationsFollowTheEstimate_data()
{
    test::addVariedPlans();
    QTest::newRow("experts") << planOf({{"moe.experts", "8"}, {"moe.topk", "2"}, {"parallel.ep", "2"}},
                                       test::llama3Of8B());
    QTest::newRow("adapters") << planOf({{"lora.rank", "8"}}, test::llama3Of8B());
}

void ExplainTest::explanationsFollowTheEstimate()
{
    QFETCH(TrainingPlan, plan);
    const Footprint footprint = estimated(plan);
    for (std::size_t stage = 0; stage < footprint.stages.size(); ++stage) {
        const std::vector<Term> terms = explain(plan, {}, footprint, stage);
        QVERIFY(terms.size() >= 7);
        for (const Term& term : terms) {
            QVERIFY(!term.name.isEmpty());
            QVERIFY(!term.formula.empty());
        }
        const StageFootprint& result = footprint.stages[stage];
        QCOMPARE(terms[1].value, static_cast<double>(result.parameters));
        QCOMPARE(terms[terms.size() - 2].value, static_cast<double>(result.peakAllocated.value));
        QCOMPARE(terms.back().value, static_cast<double>(result.device.value));
        // Textbook and exact figure stand side by side where they differ.
        if (!terms[0].parts.empty()) {
            QCOMPARE(terms[0].parts.size(), std::size_t{2});
            QCOMPARE(terms[0].parts[0].value, static_cast<double>(footprint.textbook.blockParameters));
            QCOMPARE(terms[0].parts[1].value, terms[0].value);
            double sum = 0;
            for (const Term& part : terms[0].parts[1].parts) {
                sum += part.value;
            }
            QCOMPARE(sum, terms[0].value);
        }
    }
}

void ExplainTest::explainsNothingBeyondTheStages()
{
    const TrainingPlan plan = workflowExample();
    QVERIFY(explain(plan, {}, estimated(plan), 1).empty());
    QVERIFY(explain(plan, {}, Footprint{}, 0).empty());
}

/// theory.md 2.4: two layers of 218,112,000 and both tables of 128,256 · 4,096 with the last norm, in 16 bits; backward
/// has a layer's gradients beside them, and as many that are being reduced.
void ExplainTest::explainsWhatIsGathered()
{
    const TrainingPlan plan
        = planOf({{"shard.fsdp", "true"}, {"parallel.dp", "8"}, {"precision.recipe", "bf16-pure"}}, test::llama3Of8B());
    const std::vector<Term> terms = explain(plan, {}, estimated(plan), 0);
    const auto valueOf = [&terms](const char* name) {
        const auto found
            = std::ranges::find_if(terms, [name](const Term& term) { return term.name.english() == name; });
        return found != terms.end() ? found->value : 0;
    };
    constexpr double forward = 2 * (2 * 218'112'000.0 + 2 * 128'256 * 4'096.0 + 4'096);
    QCOMPARE(valueOf("Gathered in forward"), forward);
    QCOMPARE(valueOf("Gathered in backward"), forward + 2 * 2 * 218'112'000.0);
}

QTEST_APPLESS_MAIN(ExplainTest)
#include "tst_explain.moc"
