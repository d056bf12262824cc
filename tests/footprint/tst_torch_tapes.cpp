// SPDX-License-Identifier: GPL-3.0-or-later
//
// What layers of PyTorch frameworks keep, against the tables that were derived from saved-tensor hooks (theory.md 3.3,
// 3.7, 3.9 and theory_frameworks.md 2.1, 4).
#include "footprint/tape_instant.h"
#include "footprint/tape_torch.h"
#include "footprint/torch_plans.h"
#include "footprint/working.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace headroom;
using namespace headroom::test;

namespace {

/// Bytes that tensors of a kind, larger than `smallest`, have at most at a time.
std::int64_t mostAlive(const std::vector<Tape::Event>& events, TensorKind kind, std::int64_t smallest)
{
    std::int64_t alive = 0, most = 0;
    for (const Tape::Event& event : events) {
        const bool isMeant = event.kind == kind && event.bytes > smallest;
        alive += !isMeant ? 0 : event.op == Tape::Op::Allocate ? event.bytes : -event.bytes;
        most = std::max(most, alive);
    }
    return most;
}

} // namespace

class TestTorchTapes : public QObject
{
    Q_OBJECT

private slots:
    void keeps_data();
    void keeps();
    void keepsOfExperts();
    void keepsOfImages();
    void handsOnLigerGradients();
    void splitsTensors_data();
    void splitsTensors();
    void keepsDropoutMasks();
    void keepsSideBySide_data();
    void keepsSideBySide();
    void bringsBack_data();
    void bringsBack();
    void keepsFabricLogits();
    void packsFabricsOutputLayer();
    void gathersAhead();
    void weighsRoutedRows();
    void receivesGradients();
    void spreadsTables_data();
    void spreadsTables();
    void refuses_data();
    void refuses();
    void composes_data();
    void composes();
};

void TestTorchTapes::keeps_data()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::addColumn<double>("bytesPerToken");

    QTest::newRow("A09 Llama-2-7B") << planOf(llama2, "hf-sdpa") << 186504.0;
    // theory.md 3.3: two norms 8h + 4, q, k, v and result, 4a, 8f; k = 26.02 with repeated keys and values, else 24.52.
    const double repeated = 2 * (8 * 4096 + 4) + 4 * 2 * 4096 + 4 * 32 + 8 * 14336;
    QTest::newRow("A10 Llama-3-8B, repeated") << planOf(llama3, "hf-sdpa") << repeated;
    QTest::newRow("A10 Llama-3-8B, as they are") << planOf(llama3, "hf-flash") << repeated - 2 * 2 * (4096 - 1024);
    // theory.md 3.6: 6 bytes a score in place of the statistics; the result once more where heads move behind tokens.
    // modeling_deepseek_v3.py: both latents are normed like a stream of their width; q and k are assembled anew, the
    // value is a view of the up-projection of keys and values.
    TrainingPlan latent = planOf({27, 2048, 10944, 16, 16, 102400, false}, "hf-flash");
    latent.mla.kvLoraRank = Count(512);
    latent.mla.qLoraRank = Count(1536);
    latent.mla.qkNopeDim = latent.mla.vDim = Count(128);
    latent.mla.qkRopeDim = Count(64);
    QTest::newRow("latent attention") << latent
                                      << 2.0 * (8 * 2048 + 4) + 8 * 1536 + 4 + 8 * 512 + 4 + 4 * 16 * 192 + 2 * 16 * 256
            + 2 * 16 * 128 + 4 * 16 + 8 * 10944;
    // Streams and norms' results 4h each, one product of q, k and v 6h beside rotated ones of 4h, the result 2h.
    QTest::newRow("nanotron") << planOf(llama2, "nanotron") << 20.0 * 4096 + 8.0 * 11008 + 4 * 32 + 2 * 4;
    // Streams and norms' results 4h each, q, k, v and the result 2h each, gate and up 4f, their product 2f, statistics:
    // 514.5 MiB a layer, as Galvatron's profiler published for 4096 tokens. Of several sequences the result once more
    // with tokens first; over two ranks with sequence parallelism a half of all that, gathered inputs are not kept:
    // 273.3 MiB of a sample.
    TrainingPlan galvatron = planOf(llama2, "galvatron");
    const double oneSequence = 16.0 * 4096 + 6.0 * 11008 + 4 * 32 + 2 * 4;
    QTest::newRow("Galvatron") << galvatron << oneSequence;
    galvatron.batch.micro = Count(2);
    QTest::newRow("Galvatron, two sequences") << galvatron << 2 * (oneSequence + 2.0 * 4096);
    galvatron.parallel.tp = Count(2);
    galvatron.parallel.sp = Flag(true);
    QTest::newRow("Galvatron, two sequences over two ranks") << galvatron << oneSequence + 2.0 * 4096;
    QTest::newRow("explicit scores") << planOf(llama2, "hf-eager") << 186504.0 + 6.0 * 32 * tokens - 4 * 32;

    TrainingPlan frozen = planOf(llama2, "hf-sdpa");
    frozen.frozen.llm = Flag(true);
    QTest::newRow("A18 frozen Llama-2-7B") << frozen << 131720.0;

    TrainingPlan fp32Adapters = planOf(llama2, "hf-sdpa");
    fp32Adapters.lora.rank = Count(16);
    fp32Adapters.lora.targets = Names(std::vector<std::string>{"q_proj", "v_proj"});
    // theory_frameworks.md 2.1 rule 5: every adapter casts its input by itself, 4h, and keeps rank r in fp32.
    QTest::newRow("fp32 adapters on q and v") << fp32Adapters << 131720.0 + 2 * (4 * 4096 + 4 * 16);
    TrainingPlan adapters = fp32Adapters;
    adapters.lora.adapterType = Field<DataType>(DataType::Bf16);
    // 16-bit adapters share the input that is there.
    QTest::newRow("16-bit adapters on q and v") << adapters << 131720.0 + 2 * 4096 + 2 * 2 * 16;

    // LitGPT: norms in fp32, q, k and v as one of which the value is a view, 6f, the dropped input with its mask, 2r,
    // and the results for q and v that index_copy keeps (lora.py, zero_pad).
    TrainingPlan lit = adapters;
    lit.implementation.profile = Name("litgpt");
    lit.lora.rank = Count(8);
    lit.lora.dropout = Real(0.05);
    QTest::newRow("LitGPT") << lit
                            << 2.0 * (4 * 4096 + 4) + (6 + 4 + 2) * 4096 + 4 * 32 + 6 * 11008 + 3 * 4096 + 2 * 2 * 8
            + 2 * 2 * 4096;
    // auto_gptq qlinear_cuda_old.py: every product of a GPTQ layer keeps its unpacked 16-bit weight, 4h² of attention
    // and 3hf; bitsandbytes (autograd/_functions.py, MatMul4Bit) unpacks it again in backward.
    adapters.precision.params = Field<DataType>(DataType::Int4);
    QTest::newRow("adapters on GPTQ") << adapters
                                      << 131720.0 + 2 * 4096 + 2 * 2 * 16
            + 2.0 * (4 * 4096 * 4096 + 3 * 4096 * 11008) / tokens;
    adapters.precision.params = Field<DataType>(DataType::Nf4);
    QTest::newRow("adapters on nf4") << adapters << 131720.0 + 2 * 4096 + 2 * 2 * 16;

    // Both norms keep their normalised input, of which every other has a 16-bit copy, in fp32 (transformers
    // modeling_gemma.py, GemmaRMSNorm).
    TrainingPlan gemma = planOf(llama2, "hf-sdpa");
    gemma.model.activation = Name("geglu");
    QTest::newRow("Gemma's norm") << gemma << 186504.0 + 2 * 2 * 4096;

    // theory_frameworks.md 2.1 rule 2, and the one number a row that each norm keeps.
    QTest::newRow("eager Llama-3.2-3B") << planOf(llama32, "torchtune") << 139360.0 + 8;
    TrainingPlan compiled = planOf(llama32, "torchtune");
    compiled.implementation.compile = Flag(true);
    QTest::newRow("compiled Llama-3.2-3B") << compiled << 98400.0 + 8;

    TrainingPlan selective = planOf(llama3, "torchtitan");
    shardWithFsdp(selective, 8);
    selective.recompute.enabled = Flag(true);
    selective.recompute.granularity = Field<Granularity>(Granularity::Selective);
    // theory_frameworks.md 4: input 2h, wq 2ad, wv 2gd, attention 2ad + 4a, w1 2f, w2 2h.
    const double stored = 2 * 4096 + 2 * 4096 + 2 * 1024 + 2 * 4096 + 4 * 32 + 2 * 14336;
    TrainingPlan compiledSelective = selective;
    compiledSelective.implementation.compile = Flag(true);
    QTest::newRow("selective, compiled") << compiledSelective << stored;
    QTest::newRow("selective, eager caches w2") << selective << stored + 2 * 4096;
}

void TestTorchTapes::keeps()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(double, bytesPerToken);
    QCOMPARE(keptPerToken(programOf(plan)), bytesPerToken);
}

/// theory_frameworks.md 5: a routed row keeps its gathered input 2h, 8f of the experts and, weighted in fp32, 4h; a
/// token 4 bytes an expert. Beside that stand where its rows come from (8 twice a row) and their scores (4).
void TestTorchTapes::keepsOfExperts()
{
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, "prime-rl");
    plan.model.headDim = Count(128);
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    const double attention = 2 * (8 * 2048 + 4) + 2 * 2 * 32 * 128 + 4 * 4 * 128 + 4 * 32;
    const double routed = 8 * (2 * 2048 + 8 * 768 + 4 * 2048 + 8 + 8 + 4) + 4 * 128;
    QCOMPARE(keptPerToken(programOf(plan), 3), attention + routed);
}

/// theory.md 3.3 for a block with LayerNorm and GELU: two norms keep their input and output, 8 bytes a row; q, k, v and
/// the result; 2f twice.
void TestTorchTapes::keepsOfImages()
{
    TrainingPlan plan = planOf(llama2, "hf-sdpa");
    plan.vision.layers = Count(24);
    plan.vision.hidden = Count(1024);
    plan.vision.ffn = Count(4096);
    plan.vision.heads = Count(16);
    plan.vision.patch = Count(14);
    plan.vision.imageSize = Count(448);
    plan.vision.learnedPositions = Flag(true);
    plan.projector.type = Name("mlp");
    const double patches = 1024;
    const double kept = 2 * (4 * 1024 + 8) + 8 * 1024 + 4 * 16 + 4 * 4096;
    QCOMPARE(keptPerToken(programOf(plan), 8), kept * patches / tokens);
    plan.frozen.vision = Flag(true);
    QCOMPARE(keptPerToken(programOf(plan), 8), 0.0);
    plan.frozen.projector = Flag(true);
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    QVERIFY(estimator.run(plan, stages).has_value());
    const ModelProgram program = programOf(plan);
    const StageTensors& tensors = program.stages.front().tensors;
    QCOMPARE(stages.front().steadyAllocated.value >> 30, (sumOf(tensors.resident) + sumOf(tensors.created)) >> 30);
}

/// Liger ops/fused_linear_cross_entropy.py: the gradient of the output layer, V h, is made in the forward; backward
/// returns that same tensor.
void TestTorchTapes::handsOnLigerGradients()
{
    TrainingPlan plan = planOf(llama2, "hf-flash");
    plan.implementation.fusedLoss = Name("liger");
    plan.parallel.dp = Count(2);
    plan.shard.zeroStage = Count(3);
    const Tape tape = programOf(plan).pieces[2].tape;
    std::vector<Tape::Event> events = tape.forward;
    events.insert(events.end(), tape.backward.begin(), tape.backward.end());
    QCOMPARE(mostAlive(events, TensorKind::WeightGradient, 2 * 4096), std::int64_t{2} * 32000 * 4096);
}

void TestTorchTapes::splitsTensors_data()
{
    QTest::addColumn<QByteArray>("profile");
    QTest::addColumn<int>("tableRanks");
    // transformers modeling_llama.py: no plan for the embedding; torchtune models/llama3/_parallelism.py: by rows.
    QTest::newRow("transformers") << QByteArray("hf-sdpa") << 1;
    QTest::newRow("torchtune") << QByteArray("torchtune") << 4;
}

/// Llama-3-8B over four ranks: matrices and output layer split, norms whole. The logits are gathered: Th 16-bit words
/// of a quarter of the vocabulary, then of all of it.
void TestTorchTapes::splitsTensors()
{
    QFETCH(QByteArray, profile);
    QFETCH(int, tableRanks);
    TrainingPlan plan = planOf(llama3, profile.constData());
    plan.parallel.tp = Count(4);
    plan.parallel.world = Count(4);
    const ModelProgram program = programOf(plan);
    constexpr std::int64_t h = 4096, table = 128256 * h;
    const std::int64_t layer = (2 * h * h + 2 * h * 1024 + 3 * h * 14336) / 4 + 2 * h;
    QCOMPARE(qint64{parameterCount(program, program.stages.front())},
             qint64{table / tableRanks + table / 4 + 32 * layer + h});
    std::vector<std::int64_t> logits;
    for (const Tape::Event& event : program.pieces[2].tape.forward) {
        if (event.kind == TensorKind::Logits && event.op == Tape::Op::Allocate) {
            logits.push_back(event.bytes / tokens);
        }
    }
    QCOMPARE(logits, (std::vector<std::int64_t>{2 * 128256 / 4, 2 * 128256, 4 * 128256}));
}

/// torch native_dropout: a byte an element after attention and MLP; in eager attention a mask, and the dropped
/// probabilities beside the fp32 softmax in the place of its 16-bit copy.
void TestTorchTapes::keepsDropoutMasks()
{
    TrainingPlan plan = planOf(llama2, "hf-eager");
    const double without = keptPerToken(programOf(plan));
    plan.model.hiddenDropout = Real(0.1);
    QCOMPARE(keptPerToken(programOf(plan)) - without, 2.0 * 4096);
    plan.model.attnDropout = Real(0.1);
    QCOMPARE(keptPerToken(programOf(plan)) - without, 2.0 * 4096 + 32.0 * tokens);
}

void TestTorchTapes::keepsSideBySide_data()
{
    QTest::addColumn<bool>("sharesNorm");
    QTest::addColumn<double>("bytesPerToken");
    // Pythia 6.9B (h = 4096, f = 4h): the layer's input 2h, LayerNorm's two numbers a row for each norm; the result of
    // each norm 2h; q, k, v and the result 8h; 4 a; GELU's input and result 4f. One after the other the stream between
    // attention and MLP comes to that, 2h.
    const double common = 2 * 4096 + 8 + 2 * 4096 + 8 * 4096 + 4 * 32 + 4 * 16384;
    QTest::newRow("GPT-NeoX, two norms") << false << common + 2 * 4096 + 8;
    QTest::newRow("GPT-J, one norm") << true << common;
}

void TestTorchTapes::keepsSideBySide()
{
    QFETCH(bool, sharesNorm);
    QFETCH(double, bytesPerToken);
    TrainingPlan plan = planOf({32, 4096, 16384, 32, 32, 50432, false}, "hf-sdpa");
    plan.model.gatedMlp = Flag(false);
    plan.model.layerNorm = Flag(true);
    TrainingPlan sideBySide = plan;
    sideBySide.model.parallelBlock = Flag(true);
    sideBySide.model.sharedNorm = Flag(sharesNorm);
    const double kept = keptPerToken(programOf(sideBySide));
    QCOMPARE(kept, bytesPerToken);
    QCOMPARE(keptPerToken(programOf(plan)) - kept, 2.0 * 4096 + (sharesNorm ? 2 * 4096 + 8 : 0));
    const std::int64_t parameters = parameterCount(programOf(plan), programOf(plan).stages.front());
    const std::int64_t fewer = parameters - parameterCount(programOf(sideBySide), programOf(sideBySide).stages.front());
    QCOMPARE(fewer, std::int64_t{sharesNorm ? 32 * 2 * 4096 : 0});
}

void TestTorchTapes::bringsBack_data()
{
    QTest::addColumn<QByteArray>("framework");
    QTest::addColumn<double>("alivePerToken");
    // The product of silu(gate) and up needs 4f, while the input of the last linear layer, 2f, waits for its end.
    QTest::newRow("copied beside the computation") << QByteArray("axolotl") << 6.0 * 11008;
    QTest::newRow("copied at once") << QByteArray("llm-foundry") << 4.0 * 11008;
}

/// Every operation that saved a tensor gets its own copy back: two norms with an fp32 copy and the normalised tensor,
/// 6h + 4 each; q, k, v, gate and up read a norm's result, 2h each; attention 8h and 4 a numbers; the output
/// projection 2h; silu, its product with up and the last linear layer 2f, 4f and 2f.
void TestTorchTapes::bringsBack()
{
    QFETCH(QByteArray, framework);
    QFETCH(double, alivePerToken);
    TrainingPlan plan = planOf(llama2, "hf-sdpa");
    plan.framework = Name(framework.toStdString());
    plan.shard.offloadActivations = Flag(true);
    const ModelProgram program = programOf(plan);
    QCOMPARE(keptPerToken(program), 0.0);
    std::int64_t copied = 0, alive = 0, most = 0;
    for (const Tape::Event& event : program.pieces[1].tape.backward) {
        if (componentOf(event.kind) != Component::Activations || event.slot < Tape::firstLocal) {
            continue;
        }
        copied += event.op == Tape::Op::Allocate ? event.bytes : 0;
        alive += event.op == Tape::Op::Allocate ? event.bytes : -event.bytes;
        most = std::max(most, alive);
    }
    QCOMPARE(alive, std::int64_t{0});
    QCOMPARE(static_cast<double>(copied) / tokens, 2 * (6.0 * 4096 + 4) + 20.0 * 4096 + 4 * 32 + 8.0 * 11008);
    QCOMPARE(static_cast<double>(most) / tokens, alivePerToken);
}

/// Fabric's half precision returns fp32 (convert_output): the list of chunks and the log-softmax of each, 4 bytes a
/// logit.
void TestTorchTapes::keepsFabricLogits()
{
    TrainingPlan plan = planOf(llama2, "litgpt");
    plan.lora.rank = Count(8);
    plan.implementation.keepsLogits = Flag(true);
    const ModelProgram program = programOf(plan);
    std::int64_t logits = 0;
    for (const Tape::Event& event : program.pieces[2].tape.saved) {
        logits += componentOf(event.kind) == Component::Logits && event.bytes > 8 * tokens ? event.bytes : 0;
    }
    QCOMPARE(logits, std::int64_t{8} * 32000 * tokens);
}

/// Every linear layer is packed, at half a byte and an fp32 constant for 64; a product makes fp16 and bf16 of it.
void TestTorchTapes::packsFabricsOutputLayer()
{
    TrainingPlan plan = planOf(llama2, "litgpt");
    plan.lora.rank = Count(8);
    plan.lora.targets = Names({"q_proj", "v_proj"});
    plan.precision.params = Field<DataType>(DataType::Nf4);
    const ModelProgram program = programOf(plan);
    constexpr double table = 32000.0 * 4096, matrices = 32 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008);
    constexpr double adapters = 32 * 2 * 8.0 * (4096 + 4096);
    double parameters = 0;
    for (const Tape::Event& event : program.stages.front().tensors.resident) {
        parameters += event.kind == TensorKind::Parameters ? static_cast<double>(event.bytes) : 0;
    }
    const double expected = 2 * table + 0.5625 * (matrices + table) + 2 * adapters + 2 * 65 * 4096;
    QVERIFY2(std::abs(parameters - expected) < 1e-4 * expected, qPrintable(QString::number(parameters)));
    const std::int64_t unpacked = 2 * 2 * 32000 * 4096, gradients = tokens * 32000 * 4 / 8;
    std::int64_t most = 0;
    for (const Piece& piece : program.pieces) {
        for (const Tape::Event& event : piece.tape.backward) {
            most = std::max(most, event.op == Tape::Op::Allocate ? event.bytes : 0);
        }
    }
    QCOMPARE(most, unpacked + gradients);
}

/// FSDP2 keeps the result of a block's collective until the next block has asked for its own: two buffers of 9/8 of the
/// block's weights on 8 ranks.
void TestTorchTapes::gathersAhead()
{
    TrainingPlan plan = planOf(llama3, "torchtitan");
    shardWithFsdp(plan, 8);
    const std::int64_t weights = 2 * (4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14336 + 2 * 4096);
    QCOMPARE(mostAlive(programOf(plan).pieces[1].tape.forward, TensorKind::GatheredParameters, 4096),
             2 * weights / 8 * 9);
}

/// rows · scores in fp32: the gradient that comes in, that of the rows and, before it is summed, that of the scores.
void TestTorchTapes::weighsRoutedRows()
{
    TrainingPlan plan = planOf({48, 2048, 6144, 32, 4, 151936, false}, "prime-rl");
    plan.moe.experts = Count(128);
    plan.moe.topk = Count(8);
    plan.moe.ffn = Count(768);
    plan.lora.rank = Count(16);
    const std::int64_t rows = std::int64_t{8} * tokens * 2048 * 4;
    QCOMPARE(mostAlive(programOf(plan).pieces[3].tape.backward, TensorKind::ActivationGradient, rows - 1), 3 * rows);
}

/// torch/distributed/pipelining/stage.py, _prepare_backward_infra: a stage that sends has a buffer of 2Th for each of
/// its micro-batches' gradients.
void TestTorchTapes::receivesGradients()
{
    TrainingPlan plan = planOf(llama3, "torchtitan");
    shardWithFsdp(plan, 2);
    plan.parallel.pp = Count(4);
    plan.parallel.schedule = Field<Schedule>(Schedule::OneForwardOneBackward);
    plan.batch.accum = Count(8);
    const ModelProgram program = programOf(plan);
    for (const StageProgram& stage : program.stages) {
        std::int64_t buffers = 0;
        for (const PieceRun& run : stage.chunks.front().runs) {
            for (const Tape::Event& need : program.pieces[run.piece].tape.forwardNeeds) {
                buffers += need.kind == TensorKind::Boundary ? need.bytes : 0;
            }
        }
        QCOMPARE(buffers, stage.stage == 3 ? std::int64_t{0} : std::int64_t{8} * 2 * tokens * 4096);
    }
}

void TestTorchTapes::spreadsTables_data()
{
    QTest::addColumn<std::int64_t>("ranks");
    QTest::newRow("whole on every rank") << std::int64_t{1};
    QTest::newRow("split like the layers") << std::int64_t{2};
}

/// Galvatron's vocab_tp: eight GPUs share the state of the tables either way; what is gathered of the output layer is
/// split or not; a rank has the logits of all entries for half of the tokens, or of half of them for all.
void TestTorchTapes::spreadsTables()
{
    QFETCH(std::int64_t, ranks);
    TrainingPlan plan = planOf(llama2, "galvatron");
    shardWithFsdp(plan, 4);
    plan.parallel.tp = Count(2);
    plan.parallel.sp = Flag(true);
    plan.parallel.vocabTp = Count(ranks);
    const ModelProgram program = programOf(plan);
    const std::int64_t table = std::int64_t{32000} * 4096;
    const std::vector<Tape::Event>& forward = program.pieces[2].tape.forward;
    // The first FSDP reads a copy of the shard, which an eighth of a table and a quarter of the norm are.
    QCOMPARE(mostAlive(forward, TensorKind::GatheredParameters, 0),
             2 * (table / ranks + 4096) + 2 * (table / 8 + 4096 / 4));
    QCOMPARE(mostAlive(forward, TensorKind::LogitsSoftmax, 0), 2 * tokens * 32000 / 2);
    std::int64_t parameters = 0, buffer = 0;
    for (const Tape::Event& tensor : program.stages.front().tensors.resident) {
        parameters += tensor.kind == TensorKind::Parameters ? tensor.bytes : 0;
        buffer += tensor.kind == TensorKind::GlobalBuffer ? tensor.bytes : 0;
    }
    const std::int64_t layer = (4 * 4096 * 4096 + 3 * std::int64_t{4096} * 11008) / 2;
    const std::int64_t norms = (32 * 2 + 1) * 4096;
    QCOMPARE(parameters, 4 * (2 * table / 8 + (32 * layer + norms) / 4));
    QCOMPARE(buffer, 2 * tokens * 4096); // what sequence parallelism gathers
}

void TestTorchTapes::refuses_data()
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
    plan.moe.latent = Count(512);
    QTest::newRow("latent experts") << plan << "the profile hf-flash does not describe experts in a narrower space";
    plan = planOf(llama2, "hf-flash");
    plan.vision.layers = Count(24);
    plan.vision.hidden = Count(1024);
    QTest::newRow("images") << plan << "the profile hf-flash does not describe images of unknown size";
    plan = planOf(llama2, "torchtitan");
    plan.parallel.pp = Count(4);
    plan.batch.accum = Count(8);
    plan.parallel.schedule = Field<Schedule>(Schedule::ZbH1);
    QTest::newRow("schedule") << plan << "the profile torchtitan describes 1f1b, gpipe and interleaved pipelines";
    plan = planOf(llama2, "torchtitan");
    plan.parallel.pp = Count(4);
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

void TestTorchTapes::refuses()
{
    QFETCH(TrainingPlan, plan);
    QFETCH(QString, sentence);
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    QVERIFY(!built);
    QVERIFY2(QString::fromStdString(built.error().english()).contains(sentence), built.error().english().c_str());
}

void TestTorchTapes::composes_data()
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

void TestTorchTapes::composes()
{
    QFETCH(TrainingPlan, less);
    QFETCH(TrainingPlan, more);
    InstantEstimator estimator;
    std::vector<StageFootprint> small, large;
    QVERIFY(estimator.run(less, small).has_value());
    QVERIFY(estimator.run(more, large).has_value());
    QVERIFY(small.front().peakAllocated < large.front().peakAllocated);
}

QTEST_APPLESS_MAIN(TestTorchTapes)
#include "tst_torch_tapes.moc"
