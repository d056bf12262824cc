// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/insight_fixture.h"

#include "insight/log_conclusions.h"
#include "insight/rule.h"
#include "plan/batch.h"
#include "replay/replay.h"

#include <QTest>

using namespace headroom;

namespace {

/// A message of a GPU of 79.11 GiB, in PyTorch's words.
QByteArray message(const char* tried, const char* allocated, const char* unallocated,
                   const QByteArray& prefix = "[rank0]: ")
{
    return prefix + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + tried
        + ". GPU 0 has a total capacity of 79.11 GiB of which 52.00 MiB is free. Including non-PyTorch memory, this "
          "process has 79.06 GiB memory in use. Of the allocated memory "
        + allocated + " GiB is allocated by PyTorch, and " + unallocated
        + " GiB is reserved by PyTorch but unallocated.\n";
}

const QByteArray llama8b = "framework=megatron-args model.layers=32 model.hidden=4096 model.heads=32 model.kv_heads=8 "
                           "model.ffn=14336 model.gated_mlp=true model.vocab=128256 model.tied_embeddings=false "
                           "shard.dist_opt=true ";

/// What is open: the files' plan with its estimate, and the log.
struct Open
{
    TrainingPlan plan;
    Run run;
    Footprint footprint;
    Situation situation;

    Open(const QByteArray& settings, const QByteArray& log)
        : plan(planOf(settings))
        , run(readLogText(log.toStdString(), "train.log"))
    {
        const auto done = estimateInstantly(plan, {}, footprint);
        situation.plan = &plan;
        situation.footprint = done ? &footprint : nullptr;
        situation.estimator = estimateInstantly;
        situation.exact = replayWithin;
        situation.run = &run;
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    [[nodiscard]] Finding explained() const
    {
        const auto findings = diagnose(situation);
        const Finding* finding = find(findings, "out-of-memory");
        return finding != nullptr ? *finding : Finding{};
    }
};

QStringList evidenceOf(const Finding& finding)
{
    QStringList lines;
    for (const Evidence& evidence : finding.evidence) {
        lines << QString::fromStdString(evidence.text.english());
    }
    return lines;
}

} // namespace

/// Out of memory explained: why it failed, which tensor has the size, and what would have fitted.
class TestFailedRun : public QObject
{
    Q_OBJECT

private slots:
    void causes_data();
    void causes();
    void tensors_data();
    void tensors();
    void proposalsFit_data();
    void proposalsFit();
    void whatTheEstimateMissesStaysFree();
    void nothingFitsIsSaid();
    void turnedKnobsTakeTheMendAway();
};

void TestFailedRun::causes_data()
{
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<QByteArray>("edits"); // of the mend; *: some
    QTest::newRow("shortage") << message("2.00 GiB", "77.60", "0.50") << QByteArray("*");
    QTest::newRow("fragmentation") << message("2.00 GiB", "60.00", "16.50")
                                   << QByteArray("implementation.expandable_segments=true");
    QTest::newRow("outside the allocator") << message("2.00 GiB", "60.00", "0.50") << QByteArray();
    QTest::newRow("no message") << QByteArray("all is well\n") << QByteArray("-");
}

void TestFailedRun::causes()
{
    QFETCH(QByteArray, log);
    QFETCH(QByteArray, edits);
    const Open open("model.heads=16 batch.micro=64 batch.accum=4", log);
    const Finding finding = open.explained();
    QCOMPARE(finding.id.empty(), edits == "-");
    if (!finding.id.empty()) {
        QCOMPARE(finding.evidence.front().file, std::string("train.log"));
        QCOMPARE(finding.evidence.front().line, 1);
        const QByteArray made = QByteArray::fromStdString(editsText(finding));
        QVERIFY2(edits == "*" ? !made.isEmpty() : made == edits,
                 (made + qPrintable(evidenceOf(finding).join("; "))).constData());
    }
}

void TestFailedRun::tensors_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<QString>("tensor");
    // 4 × 4096 tokens × 128,256 × 4 bytes = 7.83 GiB: fp32 logits for the loss.
    QTest::newRow("logits") << llama8b + "batch.micro=4 batch.seq=4096 parallel.dp=8"
                            << message("7.83 GiB", "70.00", "0.50") << QStringLiteral("logits");
    // 2 × 4096 tokens × 2 × 14336 × 2 bytes = 448 MiB: gate and up projection in one.
    QTest::newRow("MLP") << llama8b + "batch.micro=2 batch.seq=4096 parallel.dp=8"
                         << message("448.00 MiB", "77.00", "0.20") << QStringLiteral("fc1 output");
    // 32 heads × 4096² × 2 samples × 2 bytes = 2 GiB.
    QTest::newRow("scores") << llama8b + "batch.micro=2 batch.seq=4096 parallel.dp=8 attention.impl=unfused"
                            << message("2.00 GiB", "76.00", "0.20") << QStringLiteral("attention");
    // 8,030,261,248 parameters × 2 bytes = 14.96 GiB (Llama-3-8B's published count; padding is far below).
    QTest::newRow("gradient buffer") << llama8b + "batch.micro=1 batch.seq=4096 parallel.dp=8"
                                     << message("14.96 GiB", "60.00", "0.20") << QStringLiteral("gradients");
    // Mixtral: 4096 tokens × top 2 × 14336 × 2 (gate and up) × 2 bytes = 448 MiB on a rank with every expert.
    QTest::newRow("experts") << QByteArray(
        "framework=megatron-args model.layers=8 model.hidden=4096 model.heads=32 "
        "model.kv_heads=8 model.ffn=14336 model.gated_mlp=true model.vocab=32000 moe.experts=8 "
        "moe.topk=2 moe.ffn=14336 moe.grouped_gemm=true shard.dist_opt=true batch.micro=1 "
        "batch.seq=4096 parallel.dp=8")
                             << message("448.00 MiB", "77.00", "0.20") << QStringLiteral("fc1 output");
    QTest::newRow("nothing of the kind") << llama8b + "batch.micro=2 batch.seq=4096 parallel.dp=8"
                                         << message("3.33 GiB", "77.00", "0.20") << QString();
    QTest::newRow("too small to tell") << llama8b + "batch.micro=2 batch.seq=4096 parallel.dp=8"
                                       << message("20.00 MiB", "78.00", "0.20") << QString();
}

void TestFailedRun::tensors()
{
    QFETCH(QByteArray, settings);
    QFETCH(QByteArray, log);
    QFETCH(QString, tensor);
    const Open open(settings, log);
    QVERIFY(open.situation.footprint != nullptr);
    const QStringList named = evidenceOf(open.explained()).filter("of this size: ");
    QCOMPARE(named.isEmpty(), tensor.isEmpty());
    if (!tensor.isEmpty()) {
        QVERIFY2(!named.filter(tensor).isEmpty(), qPrintable(named.join("; ")));
    }
}

void TestFailedRun::proposalsFit_data()
{
    QTest::addColumn<QByteArray>("settings");
    QTest::addColumn<int>("changes"); // knobs of a proposal
    QTest::newRow("one change") << llama8b + "batch.micro=8 batch.seq=4096 batch.accum=4 parallel.dp=8" << 1;
    QTest::newRow("stages") << llama8b + "batch.micro=8 batch.seq=4096 batch.accum=8 parallel.pp=4 parallel.dp=2" << 1;
    QTest::newRow("two changes") << llama8b + "model.layers=8 batch.micro=1 batch.seq=65536 batch.accum=4 parallel.dp=2"
                                 << 2;
}

void TestFailedRun::proposalsFit()
{
    QFETCH(QByteArray, settings);
    QFETCH(int, changes);
    const Open open(settings, message("2.00 GiB", "77.60", "0.50"));
    const Finding finding = open.explained();
    QVERIFY2(finding.mend.has_value(), qPrintable(evidenceOf(finding).join("; ")));
    const auto changed = edited(open.plan, finding.mend->edits);
    QVERIFY(changed);
    Footprint exact;
    QVERIFY(replay(*changed, {}, exact));
    const double capacity = 79.11 * 0.95;
    QVERIFY2(exact.fullest().device.gib() <= capacity, qPrintable(QString::number(exact.fullest().device.gib())));
    QVERIFY(finding.mend->predictedPeak && finding.mend->predictedPeak->gib() <= capacity);
    QVERIFY(finding.mend->stepTime.has_value());
    QVERIFY(batchEquation(*changed).holds.value_or(true));
    QVERIFY(!finding.alternatives.empty());
    for (const Mend& other : finding.alternatives) {
        const auto otherwise = edited(open.plan, other.edits);
        QVERIFY(otherwise && replay(*otherwise, {}, exact));
        QVERIFY2(exact.fullest().device.gib() <= capacity, other.label.english().c_str());
        QVERIFY(other.words(&Text::english) != finding.mend->words(&Text::english));
    }
    // In words, not in keys of the plan.
    const std::string words = finding.mend->words(&Text::english);
    QVERIFY2(words.find(" = ") == std::string::npos, words.c_str());
    QCOMPARE(finding.mend->further.size(), std::size_t(changes - 1));
    const LogConclusions conclusions = [&] {
        Situation situation = open.situation;
        const RunSummary summary = summarise(open.run);
        situation.summary = &summary;
        return concludeFromLog(situation);
    }();
    QVERIFY(conclusions.shortage && conclusions.shortage->answer);
    QCOMPARE(conclusions.shortage->answer->singles.empty(), changes == 2);
}

/// The run needed 79.6 GiB where the estimate has less: a proposal leaves the difference free as well.
void TestFailedRun::whatTheEstimateMissesStaysFree()
{
    const Open open(llama8b + "batch.micro=1 batch.seq=4096 batch.accum=4 parallel.dp=8",
                    message("2.00 GiB", "77.60", "0.50"));
    const double missing = 79.6 - open.footprint.fullest().peakAllocated.gib();
    QVERIFY2(missing > 1, qPrintable(QString::number(missing)));
    const Finding finding = open.explained();
    QVERIFY(!evidenceOf(finding).filter("more than its estimate").isEmpty());
    QVERIFY(finding.mend && finding.mend->predictedPeak);
    QVERIFY(finding.mend->predictedPeak->gib() <= (79.11 - missing) * 0.95 + 0.01);
}

void TestFailedRun::nothingFitsIsSaid()
{
    const Open open("model.layers=80 model.hidden=8192 model.heads=64 model.ffn=28672 model.gated_mlp=true "
                    "batch.micro=1 batch.accum=1",
                    message("2.00 GiB", "77.60", "0.50"));
    const Finding finding = open.explained();
    QVERIFY(!finding.mend);
    QVERIFY2(!evidenceOf(finding).filter("no change of one or two settings").isEmpty(),
             qPrintable(evidenceOf(finding).join("; ")));
    for (const Mend& other : finding.alternatives) { // adapters
        QVERIFY(other.label.english().find("trains less") != std::string::npos);
    }
}

void TestFailedRun::turnedKnobsTakeTheMendAway()
{
    Open open(llama8b + "batch.micro=8 batch.seq=4096 batch.accum=4 parallel.dp=8",
              message("2.00 GiB", "77.60", "0.50"));
    QVERIFY(open.explained().mend.has_value());
    const TrainingPlan original = open.plan;
    open.situation.original = &original;
    QVERIFY(open.explained().mend.has_value());
    open.plan.batch.micro.value = 4;
    QVERIFY(!open.explained().mend.has_value() && open.explained().alternatives.empty());
    QVERIFY(!evidenceOf(open.explained()).filter("would have fitted, with a peak of").isEmpty()); // it still says what
}

QTEST_APPLESS_MAIN(TestFailedRun)
#include "tst_failed_run.moc"
