// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/estimator.h"
#include "footprint/programs.h"
#include "footprint/torch_plans.h"

#include <QTest>

using namespace headroom;
using namespace headroom::test;

/// Which plans the profiles of PyTorch frameworks describe, and that what saves memory does so in any of them.
class TestTorchProfiles : public QObject
{
    Q_OBJECT

private slots:
    void refuses_data();
    void refuses();
    void composes_data();
    void composes();
    void keepsForWeights();
};

void TestTorchProfiles::refuses_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<QString>("sentence");

    TrainingPlan plan = planOf(llama2, "litgpt");
    plan.parallel.tp = Count(2);
    plan.parallel.world = Count(2);
    QTest::newRow("tensor parallelism") << plan << "litgpt does not split tensors";
    plan = planOf(llama2, "galvatron");
    plan.parallel.tp = Count(4);
    plan.parallel.vocabTp = Count(2);
    QTest::newRow("vocabulary over some ranks")
        << plan << "the profile galvatron does not describe a vocabulary split over other ranks than the layers";
    plan = planOf(llama2, "torchtune");
    plan.parallel.pp = Count(2);
    QTest::newRow("pipeline") << plan << "torchtune has no pipeline";
    plan = planOf(llama2, "hf-flash");
    plan.moe.experts = Count(8);
    plan.moe.latent = Count(512);
    plan.parallel.tp = Count(2);
    QTest::newRow("latent experts, split")
        << plan << "the profile hf-flash does not split experts in a narrower space: set parallel.tp to 1";
    plan = planOf(llama2, "hf-flash");
    plan.vision.layers = Count(24);
    plan.vision.hidden = Count(1024);
    QTest::newRow("images") << plan << "the profile hf-flash does not describe images of unknown size";
    plan = planOf(llama2, "torchtitan");
    plan.parallel.pp = Count(4);
    plan.batch.accum = Count(8);
    plan.parallel.schedule = Field<Schedule>(Schedule::DualPipe);
    QTest::newRow("schedule") << plan << "the profile torchtitan describes 1f1b, gpipe and interleaved pipelines";
    plan = planOf(llama2, "torchtitan");
    plan.parallel.pp = Count(4);
    plan.batch.accum = Count(8);
    plan.parallel.schedule = Field<Schedule>(Schedule::ZbV);
    plan.recompute.enabled = Flag(true);
    plan.recompute.granularity = Field<Granularity>(Granularity::Full);
    QTest::newRow("recomputed before a split backward")
        << plan << "the profile torchtitan describes this schedule without recomputation";
    plan.recompute.enabled = Flag(false);
    plan.parallel.layout = Name("Et*10|t*10|t*10|t*2L");
    QTest::newRow("a layout under a split backward")
        << plan << "explicit layouts are described where the backward is one pass";
    plan.parallel.layout = {};
    plan.parallel.schedule = Field<Schedule>(Schedule::GPipe);
    plan.batch.accum = Count(90'000'000);
    QTest::newRow("endless pipeline") << plan
                                      << "4 stages with 1 chunks and 90,000,000 micro-batches are too many to walk";
    plan = planOf(llama2, "hf-flash");
    plan.vision.layers = Count(100);
    plan.vision.hidden = Count(16'000'000);
    plan.vision.heads = Count(16);
    plan.vision.tokensPerImage = Count(1 << 24);
    plan.projector.type = Name("mlp");
    QTest::newRow("endless images") << plan << "the sizes of the plan are beyond what any machine holds";
    plan = planOf(llama2, "hf-flash");
    plan.model.layers = Count();
    QTest::newRow("missing layers") << plan << "model.layers is not known";
}

void TestTorchProfiles::refuses()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, sentence);
    const QString refusal = refusalOf(plan);
    QVERIFY2(!refusal.isEmpty() && refusal.contains(sentence), qPrintable(refusal));
}

void TestTorchProfiles::composes_data()
{
    QTest::addColumn<TrainingPlan>("less");
    QTest::addColumn<TrainingPlan>("more");

    TrainingPlan plan = planOf(llama3, "torchtitan");
    shardWithFsdp(plan, 8);
    TrainingPlan other = plan;
    other.parallel.tp = Count(2);
    other.parallel.sp = Flag(true);
    QTest::newRow("torchtitan, tensor parallel") << other << plan;
    other = plan;
    other.parallel.dp = Count(24);
    QTest::newRow("FSDP over more") << other << plan;
    plan = planOf(llama2, "hf-eager");
    other = plan;
    other.recompute.enabled = Flag(true);
    other.recompute.granularity = Field<Granularity>(Granularity::Full);
    QTest::newRow("recomputed") << other << plan;
    other.lora.rank = Count(8); // gradients of the weights would outgrow the stored inputs
    plan = other;
    other.recompute.offloadInputs = Flag(true);
    QTest::newRow("inputs on the host") << other << plan;
    plan = planOf(llama2, "hf-sdpa");
    other = plan;
    other.lora.rank = Count(8);
    QTest::newRow("adapters instead of all") << other << plan;
    plan = other;
    other.precision.params = Field<DataType>(DataType::Nf4);
    QTest::newRow("4-bit base") << other << plan;
    other = plan;
    other.implementation.fusedLoss = Name("liger");
    QTest::newRow("Liger") << other << plan;
    plan = planOf(llama2, "internevo");
    other = plan;
    other.batch.seq = Count(1); // less than a token a rank
    other.parallel.tp = Count(8);
    other.parallel.sp = Flag(true);
    QTest::newRow("hardly any tokens") << other << plan;
    plan = planOf({4, 256, 1024, 8, 8, 1, false}, "torchtitan"); // less vocabulary than ranks
    shardWithFsdp(plan, 8);
    plan.implementation.fusedLoss = Name("liger");
    other = plan;
    other.parallel.tp = Count(8);
    QTest::newRow("hardly any vocabulary") << other << plan;
}

void TestTorchProfiles::composes()
{
    QFETCH(TrainingPlan, less);
    QFETCH(TrainingPlan, more);
    InstantEstimator estimator;
    std::vector<StageFootprint> small, large;
    QVERIFY(estimator.run(less, small).has_value());
    QVERIFY(estimator.run(more, large).has_value());
    QVERIFY(small.front().peakAllocated < large.front().peakAllocated);
}

/// Between both passes of a split backward stand, beside all that was saved, the gradients of what has weights: of the
/// seven products of a block and of its two norms.
void TestTorchProfiles::keepsForWeights()
{
    TrainingPlan plan = planOf(llama3, "torchtitan");
    plan.parallel.pp = Count(2);
    plan.batch.accum = Count(4);
    plan.parallel.schedule = Field<Schedule>(Schedule::ZbV);
    plan.recompute.enabled = Flag(false);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY2(built, built ? "" : built.error().english().c_str());
    const Tape& block = program.pieces[1].tape;
    std::int64_t kept = 0;
    for (const Tape::Event& event : block.inputBackward) {
        kept += event.op == Tape::Op::Allocate ? event.bytes : event.op == Tape::Op::Free ? -event.bytes : 0;
    }
    const std::int64_t tokens = plan.batch.micro.value * plan.batch.seq.value;
    const std::int64_t hidden = plan.model.hidden.value, ffn = plan.model.ffn.value;
    const std::int64_t keys = hidden / plan.model.heads.value * plan.model.kvHeads.value;
    // down, up, gate, norm; output, query, key, value, norm
    QCOMPARE(kept, 2 * tokens * (hidden + ffn + ffn + hidden + hidden + hidden + keys + keys + hidden));
    // A stage holds both ends of the model: layers 0 to 7 and 24 to 31 of 32.
    QCOMPARE(program.stages[0].chunks.size(), std::size_t{2});
    std::int64_t parameters = 0, whole = 0;
    for (const StageProgram& stage : program.stages) {
        parameters += parameterCount(program, stage);
    }
    plan.parallel.schedule = Field<Schedule>(Schedule::OneForwardOneBackward);
    QVERIFY(buildProgram(plan, program));
    for (const StageProgram& stage : program.stages) {
        whole += parameterCount(program, stage);
    }
    QCOMPARE(parameters, whole);
    // One stage has nothing to fold.
    plan.parallel.pp = Count(1);
    plan.parallel.schedule = Field<Schedule>(Schedule::ZbV);
    QVERIFY(buildProgram(plan, program));
    QCOMPARE(parameterCount(program, program.stages[0]), whole);
}

QTEST_APPLESS_MAIN(TestTorchProfiles)
#include "tst_torch_profiles.moc"
