// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/written_plan.h"
#include "insight/fit.h"
#include "insight/fit_knobs.h"
#include "insight/rule.h"
#include "plan/batch.h"

#include <QElapsedTimer>
#include <QTest>

#include <cmath>
#include <set>

using namespace headroom;

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

TrainingPlan planOf(const QByteArray& settings)
{
    return test::planOf(settings, "a.yaml");
}

/// Llama-2-7B's published shape.
const QByteArray llama7b = "model.layers=32 model.hidden=4096 model.heads=32 model.ffn=11008 model.gated_mlp=true "
                           "model.vocab=32000 batch.seq=4096 ";

FitQuestion questionOf(const TrainingPlan& plan, std::int64_t capacityGib)
{
    FitQuestion question;
    question.plan = &plan;
    question.capacity = Bytes{capacityGib * gib};
    return question;
}

std::optional<Bytes> peakOf(const TrainingPlan& plan)
{
    Footprint footprint;
    if (!estimateInstantly(plan, {}, footprint)) {
        return std::nullopt;
    }
    return footprint.fullest().device;
}

/// An engine that finds 2 % more on every stage than the fast one.
Result<void> twoPercentMore(const TrainingPlan& /*plan*/, const Calibration& /*calibration*/, Interval /*worth*/,
                            Footprint& footprint)
{
    for (StageFootprint& stage : footprint.stages) {
        stage.device = Bytes{stage.device.value + stage.device.value / 50};
    }
    return {};
}

const FitProposal* proposalOf(const FitAnswer& answer, std::string_view knob)
{
    for (const FitProposal& proposal : answer.singles) {
        if (proposal.knobs.front() == knob) {
            return &proposal;
        }
    }
    return nullptr;
}

std::string valueOf(const FitProposal& proposal, std::string_view field)
{
    for (const PlanEdit& edit : proposal.edits) {
        if (edit.field == field) {
            return edit.value;
        }
    }
    return {};
}

} // namespace

class TestFit : public QObject
{
    Q_OBJECT

private slots:
    void adaptersAreTheLastResort_data()
    {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<int>("capacity");
        QTest::addColumn<QStringList>("kinds");
        const QByteArray llama70b = "model.layers=80 model.hidden=8192 model.heads=64 model.kv_heads=8 "
                                    "model.ffn=28672 model.gated_mlp=true model.vocab=32000 "
                                    "model.tied_embeddings=false batch.seq=2048 ";
        // 7 B parameters are 13 GiB in 16 bits; with gradients and state they are far more than 24.
        QTest::newRow("7B on a small card")
            << llama7b + "framework=hf-trainer batch.micro=1 batch.accum=8" << 24 << QStringList{"LoRA", "QLoRA"};
        // 69 B parameters are 128 GiB in 16 bits and 33 in 4.
        QTest::newRow("70B on one GPU") << llama70b + "framework=hf-trainer batch.micro=4 batch.accum=8" << 80
                                        << QStringList{"QLoRA"};
        QTest::newRow("no adapters there")
            << llama70b + "framework=megatron-args batch.micro=4 batch.accum=8" << 80 << QStringList{};
        QTest::newRow("adapters already")
            << llama70b + "framework=hf-trainer lora.rank=8 batch.micro=1 batch.accum=8" << 80 << QStringList{};
        QTest::newRow("something else does")
            << llama7b + "framework=hf-trainer parallel.dp=8 batch.micro=1" << 80 << QStringList{};
    }

    /// LoRA and QLoRA only where nothing of the same training fits, saying that they train less.
    void adaptersAreTheLastResort()
    {
        QFETCH(QByteArray, settings);
        QFETCH(int, capacity);
        QFETCH(QStringList, kinds);
        const TrainingPlan plan = planOf(settings);
        FitQuestion question = questionOf(plan, capacity);
        const auto answer = smallestChangeThatFits(question);
        QVERIFY(answer && !answer->fits);
        QStringList found;
        for (const FitProposal& proposal : answer->adapters) {
            const QString label = QString::fromStdString(inWords(proposal.labels, &Text::english));
            found << label.section(u' ', 0, 0);
            QVERIFY2(label.contains("trains less"), qPrintable(label));
            QVERIFY(peakOf(*edited(plan, proposal.edits)) <= question.limit());
            QVERIFY(batchEquation(*edited(plan, proposal.edits)).holds.value_or(true));
        }
        QCOMPARE(found, kinds);
        QVERIFY(found.isEmpty() || (answer->singles.empty() && answer->pairs.empty()));
        question.constraints.lacking = {"lora.rank"};
        QVERIFY(smallestChangeThatFits(question)->adapters.empty());
    }

    void proposals_data()
    {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<int>("capacity");
        QTest::newRow("7B on 8 GPUs of 80")
            << llama7b + "parallel.pp=4 parallel.dp=2 batch.micro=8 batch.accum=8" << 80;
        QTest::newRow("7B, 40 GiB") << llama7b + "parallel.pp=2 parallel.dp=4 batch.micro=4 batch.accum=8" << 40;
        QTest::newRow("tensor") << llama7b + "parallel.tp=2 parallel.pp=2 parallel.dp=2 batch.micro=12 batch.accum=4"
                                << 80;
        QTest::newRow("global stated") << llama7b + "parallel.tp=2 parallel.world=16 batch.micro=8 batch.global=256"
                                       << 80;
        QTest::newRow("interleaved") << llama7b
                + "parallel.pp=4 parallel.vpp=8 parallel.schedule=interleaved parallel.dp=1 batch.micro=4 "
                  "batch.accum=16" << 80;
        QTest::newRow("small card") << llama7b + "parallel.pp=8 batch.micro=2 batch.accum=8" << 24;
    }

    /// A close call is decided by the exact engine: with one that finds 2 % more, every proposal fits by its figures.
    void closeCallsAreExact_data() { proposals_data(); }

    void closeCallsAreExact()
    {
        QFETCH(QByteArray, settings);
        QFETCH(int, capacity);
        const TrainingPlan plan = planOf(settings);
        FitQuestion question = questionOf(plan, capacity);
        question.exact = twoPercentMore;
        const auto answer = smallestChangeThatFits(question);
        QVERIFY(answer);
        QVERIFY(!answer->singles.empty() || !answer->pairs.empty());
        std::vector<FitProposal> all = answer->singles;
        all.insert(all.end(), answer->pairs.begin(), answer->pairs.end());
        if (auto fewest = fewestGpus(question)) {
            all.push_back(std::move(*fewest));
        }
        Footprint footprint;
        for (const FitProposal& proposal : all) {
            QVERIFY(estimateInstantly(*edited(plan, proposal.edits), {}, footprint));
            QVERIFY(twoPercentMore(plan, {}, {}, footprint));
            QVERIFY(footprint.fullest().device <= question.limit());
        }
        // The most that fits, judged exactly, is no more than the fast estimate's.
        const auto sequence = longestSequence(question);
        question.exact = nullptr;
        QVERIFY(sequence <= longestSequence(question)); // none is less than any
    }

    void proposals()
    {
        QFETCH(QByteArray, settings);
        QFETCH(int, capacity);
        const TrainingPlan plan = planOf(settings);
        const FitQuestion question = questionOf(plan, capacity);
        const auto answer = smallestChangeThatFits(question);
        QVERIFY(answer);
        QVERIFY(!answer->fits);
        QVERIFY(!answer->singles.empty() || !answer->pairs.empty());
        std::vector<FitProposal> all = answer->singles;
        all.insert(all.end(), answer->pairs.begin(), answer->pairs.end());
        for (const FitProposal& proposal : all) {
            const auto changed = edited(plan, proposal.edits);
            QVERIFY(changed);
            QVERIFY(peakOf(*changed) <= question.limit());
            QCOMPARE(worldSize(*changed), worldSize(plan));
            const auto samples = [](const TrainingPlan& p) {
                return p.batch.micro.value * microBatchesPerStep(p) * dataParallelSize(p);
            };
            QCOMPARE(samples(*changed), samples(plan));
            QVERIFY(batchEquation(*changed).holds.value_or(true));
            QCOMPARE(changed->batch.seq.value, plan.batch.seq.value);
            QVERIFY(proposal.stepTime.has_value());
        }
    }

    /// More of the layers than the share that is recomputed, up to all of them.
    void raisesAShare()
    {
        const TrainingPlan plan = planOf(llama7b
                                         + "batch.micro=1 recompute.enabled=true recompute.granularity=full "
                                           "recompute.fraction=0.5");
        std::vector<std::string> shares;
        for (const FitKnob& knob : fitKnobs(plan, {})) {
            for (const FitCandidate& candidate : knob.candidates) {
                if (knob.id == "recompute") {
                    QCOMPARE(candidate.primary.size(), std::size_t{1});
                    QCOMPARE(candidate.primary.front().field, std::string("recompute.fraction"));
                    shares.push_back(candidate.primary.front().value);
                }
            }
        }
        QCOMPARE(shares, (std::vector<std::string>{"0.75", "1"}));
    }

    void missesNoMicroBatch_data() { proposals_data(); }

    void missesNoMicroBatch()
    {
        QFETCH(QByteArray, settings);
        QFETCH(int, capacity);
        const TrainingPlan plan = planOf(settings);
        const FitQuestion question = questionOf(plan, capacity);
        const std::int64_t samples = plan.batch.micro.value * microBatchesPerStep(plan);
        std::int64_t best = 0;
        for (std::int64_t micro = 1; micro < plan.batch.micro.value; ++micro) {
            if (samples % micro != 0) {
                continue;
            }
            TrainingPlan changed = plan;
            changed.batch.micro.value = micro;
            changed.batch.accum.set(samples / micro, {OriginKind::Edited, 0, nullptr});
            const auto peak = peakOf(changed);
            best = peak && *peak <= question.limit() ? micro : best; // the largest is the nearest
        }
        const auto answer = smallestChangeThatFits(question);
        const FitProposal* proposal = proposalOf(*answer, "micro-batch");
        QCOMPARE(proposal != nullptr, best > 0);
        if (proposal != nullptr) {
            QCOMPARE(valueOf(*proposal, "batch.micro"), std::to_string(best));
        }
    }

    void missesNoSplit_data() { proposals_data(); }

    void missesNoSplit()
    {
        QFETCH(QByteArray, settings);
        QFETCH(int, capacity);
        const TrainingPlan plan = planOf(settings);
        const FitQuestion question = questionOf(plan, capacity);
        const auto answer = smallestChangeThatFits(question);
        const std::int64_t world = worldSize(plan);
        const std::int64_t samples = plan.batch.micro.value * microBatchesPerStep(plan) * dataParallelSize(plan);
        for (const bool isTensor : {true, false}) {
            double nearest = 1e9;
            const std::int64_t now = isTensor ? plan.parallel.tp.value : plan.parallel.pp.value;
            for (std::int64_t value = 1; value <= 32; ++value) {
                TrainingPlan changed = plan;
                (isTensor ? changed.parallel.tp : changed.parallel.pp).value = value;
                const std::int64_t replica = changed.parallel.tp.value * changed.parallel.pp.value;
                // Stages that do not divide the layers are refused by most frameworks.
                const bool isUneven = !isTensor && plan.model.layers.value % value != 0;
                if (value == now || isUneven || world % replica != 0
                    || samples % (plan.batch.micro.value * (world / replica)) != 0) {
                    continue;
                }
                const Origin origin{OriginKind::Edited, 0, nullptr};
                changed.parallel.dp.set(world / replica, origin);
                changed.batch.accum.set(samples / (plan.batch.micro.value * (world / replica)), origin);
                const auto peak = peakOf(changed);
                if (peak && *peak <= question.limit()) {
                    nearest = std::min(nearest, std::abs(std::log2(double(value) / double(now))));
                }
            }
            const FitProposal* proposal = proposalOf(*answer, isTensor ? "tensor" : "pipeline");
            QCOMPARE(proposal != nullptr, nearest < 1e9);
            if (proposal != nullptr) {
                const double value = std::stod(valueOf(*proposal, isTensor ? "parallel.tp" : "parallel.pp"));
                QCOMPARE(std::abs(std::log2(value / double(now))), nearest);
            }
        }
    }

    void proposesNothingWhereItFits()
    {
        const TrainingPlan plan = planOf(llama7b + "parallel.pp=8 parallel.tp=4 batch.micro=1");
        const auto answer = smallestChangeThatFits(questionOf(plan, 80));
        QVERIFY(answer->fits);
        QVERIFY(answer->singles.empty() && answer->pairs.empty() && !answer->closest);
    }

    void tellsTheClosestWhereNothingFits()
    {
        const TrainingPlan plan = planOf(llama7b + "batch.micro=1 batch.seq=65536");
        const auto answer = smallestChangeThatFits(questionOf(plan, 2));
        QVERIFY(!answer->fits && answer->singles.empty() && answer->pairs.empty());
        QVERIFY(answer->closest.has_value());
        QVERIFY(answer->closest->peak < answer->peak);
    }

    void keepsTheSequenceUnlessAllowed()
    {
        const TrainingPlan plan = planOf(llama7b + "parallel.tp=8 batch.micro=1 batch.seq=65536");
        FitQuestion question = questionOf(plan, 80);
        QVERIFY(proposalOf(*smallestChangeThatFits(question), "sequence") == nullptr);
        question.constraints.keepTraining = false;
        const auto free = smallestChangeThatFits(question);
        const FitProposal* proposal = proposalOf(*free, "sequence");
        QVERIFY(proposal != nullptr);
        QVERIFY(valueOf(*proposal, "batch.seq") != "");
    }

    void answersTheInverseQuestions()
    {
        const TrainingPlan plan = planOf(llama7b + "parallel.tp=4 parallel.dp=2 batch.micro=1 batch.accum=16");
        const FitQuestion question = questionOf(plan, 80);
        const auto micro = largestMicroBatch(question);
        QVERIFY(micro.has_value());
        TrainingPlan changed = plan;
        changed.batch.micro.value = *micro;
        QVERIFY(peakOf(changed) <= question.limit());
        changed.batch.micro.value = *micro + 1;
        QVERIFY(peakOf(changed) > question.limit());

        const auto sequence = longestSequence(question);
        QVERIFY(sequence.has_value());
        changed = plan;
        changed.batch.seq.value = *sequence;
        QVERIFY(peakOf(changed) <= question.limit());
        changed.batch.seq.value = *sequence + 128;
        QVERIFY(peakOf(changed) > question.limit());

        const auto fewest = fewestGpus(question);
        QVERIFY(fewest.has_value());
        const auto smaller = edited(plan, fewest->edits);
        QVERIFY(worldSize(*smaller) <= worldSize(plan));
        QVERIFY(peakOf(*smaller) <= question.limit());
    }

    /// A model of 0.35 B parameters takes 18 bytes of each and fits one GPU, whatever copies of it the plan has.
    void fewestGpusHaveFewerCopies()
    {
        const TrainingPlan plan
            = planOf("model.layers=24 model.hidden=1024 model.heads=16 model.vocab=50304 batch.seq=1024 batch.micro=1 "
                     "batch.accum=2 parallel.tp=1 parallel.pp=2 parallel.dp=4");
        FitQuestion question = questionOf(plan, 80);
        question.constraints.keepGlobalBatch = true;
        const auto fewest = fewestGpus(question);
        QVERIFY(fewest.has_value());
        std::set<std::string> fields;
        for (const PlanEdit& edit : fewest->edits) {
            QVERIFY2(fields.insert(edit.field).second, edit.field.c_str());
        }
        const auto changed = edited(plan, fewest->edits);
        QVERIFY(changed);
        QCOMPARE(worldSize(*changed), std::int64_t{1});
        QCOMPARE(microBatchesPerStep(*changed), std::int64_t{8}); // the global batch stays
    }

    /// What the config's framework cannot do is not proposed.
    void proposesWhatTheFrameworkDoes()
    {
        const TrainingPlan plan = planOf(llama7b + "parallel.dp=8 batch.micro=2 batch.accum=1");
        FitQuestion question = questionOf(plan, 80);
        const ConfigFormat::Key tensor{"tensor_size", "parallel.tp"};
        ConfigFormat format;
        format.keys = {tensor};
        const std::vector<const ConfigFormat*> formats{&format};
        question.constraints.lacking = fieldsLacking(formats);
        QVERIFY(fieldsLacking({}).empty());
        const auto answer = smallestChangeThatFits(question);
        QVERIFY(answer);
        QVERIFY(!answer->singles.empty());
        QVERIFY(proposalOf(*answer, "tensor") != nullptr);
        QVERIFY(proposalOf(*answer, "pipeline") == nullptr && proposalOf(*answer, "context") == nullptr);
        if (const auto fewest = fewestGpus(question)) {
            QVERIFY(valueOf(*fewest, "parallel.pp").empty() || valueOf(*fewest, "parallel.pp") == "1");
        }
    }

    /// Within the limits of a legal plan, and far beyond any real one.
    void absurdSizesEnd()
    {
        const TrainingPlan plan = planOf(llama7b + "batch.micro=90000000 batch.seq=900000000");
        FitQuestion question = questionOf(plan, 80);
        question.constraints = {false, false, false};
        QElapsedTimer timer;
        timer.start();
        QVERIFY(smallestChangeThatFits(question));
        QVERIFY2(timer.elapsed() < 30'000, qPrintable(QString::number(timer.elapsed())));
    }

    void isQuick()
    {
        // Not a benchmark: only that no search runs away. tests/bench has the figures.
        const TrainingPlan plan
            = planOf("model.layers=80 model.hidden=8192 model.heads=64 model.kv_heads=8 model.ffn=28672 "
                     "model.gated_mlp=true model.vocab=32000 batch.seq=4096 parallel.tp=8 parallel.pp=4 parallel.dp=4 "
                     "parallel.sp=true batch.micro=16 batch.accum=16");
        const auto answer = smallestChangeThatFits(questionOf(plan, 24));
        QVERIFY(answer);
        QVERIFY2(answer->estimates < 20'000, qPrintable(QString::number(answer->estimates)));
    }
};

QTEST_APPLESS_MAIN(TestFit)
#include "tst_fit.moc"
