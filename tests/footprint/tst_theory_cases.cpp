// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every worked number of theory.md that its addenda have not replaced is tested somewhere: here, or in the program that
// `elsewhere` names. A case that is added to the file fails until somebody tests it.
#include "footprint/architecture.h"
#include "footprint/flops.h"
#include "footprint/plans.h"
#include "footprint/state.h"
#include "footprint/tape_program.h"
#include "footprint/tape_state.h"
#include "footprint/tape_summary.h"
#include "footprint/tape_walk.h"
#include "footprint/theory_cases.h"
#include "plan/validity.h"

#include <QtTest>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

using namespace headroom;
using headroom::test::planOf;
using Json = nlohmann::json;

namespace {

/// Which test program of this project holds a case, and the words by which it says so.
const std::vector<std::tuple<QByteArray, QByteArray, QByteArray>>& elsewhere()
{
    static const std::vector<std::tuple<QByteArray, QByteArray, QByteArray>> places{
        {"P0", "footprint/tst_parameters.cpp", "theoryCases(\"P0\")"},
        {"P10", "footprint/tst_parameters.cpp", "303'507'456"},
        {"P11", "footprint/tst_parameters.cpp", "675'759'104"},
        {"P12", "footprint/tst_parameters.cpp", "20'979'712"},
        {"P13", "footprint/tst_parameters.cpp", "75'601'920"},
        {"P16", "footprint/tst_parameters.cpp", "1'947'066'368"},
        {"P17", "footprint/tst_parameters.cpp", "1'713'299'456"},
        {"P18", "footprint/tst_parameters.cpp", "1'954'295'808"},
        {"P19", "footprint/tst_parameters.cpp", "226'492'416"},
        {"S01", "footprint/tst_state.cpp", "theoryCases(\"S01\")"},
        {"S06", "footprint/tst_torch_tapes.cpp", "S06 LoRA"},
        {"S07", "footprint/tst_state.cpp", "3'999'809'536"},
        {"S08", "footprint/tst_state.cpp", "60'416"},
        {"A01", "footprint/tst_activations.cpp", "paperLayers"},
        {"A02", "footprint/tst_activations.cpp", "\"A02\""},
        {"A03", "footprint/tst_activations.cpp", "\"A03\""},
        {"A04", "footprint/tst_activations.cpp", "\"A04\""},
        {"A09", "footprint/tst_torch_tapes.cpp", "A09 Llama-2-7B"},
        {"A10", "footprint/tst_torch_tapes.cpp", "A10 Llama-3-8B"},
        {"A16", "footprint/tst_activations.cpp", "\"A16\""},
        {"A17", "footprint/tst_activations.cpp", "\"A17\""},
        {"A18", "footprint/tst_torch_tapes.cpp", "A18"},
        {"I01", "footprint/tst_schedule.cpp", "\"I01\""},
        {"I02", "footprint/tst_schedule.cpp", "\"I02\""},
        {"I03", "footprint/tst_schedule.cpp", "\"I03\""},
        {"I04", "footprint/tst_schedule.cpp", "\"I04\""},
        {"I05", "footprint/tst_schedule.cpp", "\"I05\""},
        {"M", "replay/tst_caching_allocator.cpp", "theory_cases.json"},
        {"F01", "footprint/tst_step_time.cpp", "F01a and F01b"},
        {"F02", "footprint/tst_step_time.cpp", "F02"},
        {"F04", "footprint/tst_step_time.cpp", "F04"},
        {"F05", "footprint/tst_step_time.cpp", "F05"},
        {"K03", "insight/tst_least_squares.cpp", "\"K03\""},
        {"K04", "insight/tst_least_squares.cpp", "\"K04\""},
        {"V", "replay/tst_anchors.cpp", "V09"},
    };
    return places;
}

TrainingPlan llama(test::FieldTexts own)
{
    return planOf(
        own,
        planOf({{"precision.recipe", "megatron-bf16"}, {"implementation.loader_mask", "false"}}, test::llama3Of8B()));
}

ModelProgram programOf(const TrainingPlan& plan)
{
    ModelProgram program;
    const auto built = buildProgram(plan, program);
    if (!built) {
        qFatal("%s", built.error().english().c_str());
    }
    return program;
}

std::int64_t bytesOf(const std::vector<Tape::Event>& events, TensorKind kind)
{
    return std::accumulate(events.begin(), events.end(), std::int64_t{0}, [kind](std::int64_t sum, const auto& event) {
        return sum + (event.op == Tape::Op::Allocate && event.kind == kind ? event.bytes : 0);
    });
}

bool allocates(const std::vector<Tape::Event>& events, std::int64_t bytes)
{
    return std::any_of(events.begin(), events.end(), [bytes](const Tape::Event& event) {
        return event.op == Tape::Op::Allocate && event.bytes == bytes;
    });
}

const Tape& lastTape(const ModelProgram& program)
{
    return program.pieces[program.stages.back().chunks.back().runs.back().piece].tape;
}

double perParameter(const TrainingPlan& plan)
{
    const StateRecipe recipe = stateRecipe(plan);
    const Sharding sharding = shardingOf(plan, splitOf(plan));
    return recipe.parameter / sharding.parameters + (recipe.gradient + recipe.gradientCopy) / sharding.gradients
        + (recipe.master + recipe.moments) / sharding.optimizer;
}

/// The reference timeline of theory.md 5.5: layers with fixed kept and transient bytes, driven by the schedule's order.
class TimelineReader
{
public:
    explicit TimelineReader(const Json& inputs, std::int64_t stage)
        : m_inputs(inputs)
        , m_isLast(stage + 1 == size("p"))
        , m_isLazy(inputs.at("grads") == "lazy")
        , m_now(size("S0") + (m_isLazy ? 0 : size("n") * size("gl")))
    {
    }

    struct Handle
    {
    };
    void enter(Phase phase) { m_phase = phase; }
    Handle allocate(TensorKind /*kind*/, std::int64_t /*bytes*/) { return {}; }
    void free(Handle& /*handle*/) { }

    Handle forward(std::size_t /*chunk*/, std::int64_t /*microBatch*/, const Handle& /*input*/)
    {
        for (std::int64_t layer = 0; layer < size("n"); ++layer) {
            reach(size("Al") + size("Ft"));
            m_now += size("Al");
        }
        reach(m_isLast ? size("Hs") + size("Ht") : 0);
        m_now += m_isLast ? size("Hs") : 0;
        return {};
    }

    Handle backward(std::size_t /*chunk*/, std::int64_t /*microBatch*/, Handle /*gradient*/)
    {
        m_now += size("G");
        reach(m_isLast ? size("Ht") : 0);
        m_now -= m_isLast ? size("Hs") : 0;
        const std::int64_t fresh = m_isLazy && !m_hasGradients ? size("gl") : 0;
        for (std::int64_t layer = 0; layer < size("n"); ++layer) {
            reach(size("Bt") + fresh);
            m_now += fresh - size("Al");
        }
        m_hasGradients = true;
        m_now -= size("G");
        return {};
    }
    Handle inputBackward(std::size_t chunk, std::int64_t microBatch, Handle gradient)
    {
        return backward(chunk, microBatch, gradient);
    }
    void weights(std::size_t /*chunk*/, std::int64_t /*microBatch*/) { }

    /// Null where everything is as the case says.
    [[nodiscard]] const char* mismatch(const Json& expected)
    {
        m_phase = Phase::Optimizer;
        reach(size("opt_states") + size("opt_tmp"));
        const std::int64_t afterStep = m_now + size("opt_states");
        const auto peak = [this](Phase phase) { return m_peaks[static_cast<std::size_t>(phase)]; };
        return peak(Phase::Forward) != expected.at("forward")                                       ? "forward"
            : peak(Phase::Backward) != expected.at("backward")                                      ? "backward"
            : peak(Phase::Optimizer) != expected.at("optimizer")                                    ? "optimizer"
            : afterStep != expected.at("after_step")                                                ? "after the step"
            : afterStep - (m_isLazy ? size("n") * size("gl") : 0) != expected.at("after_zero_grad") ? "zero_grad"
                                                                                                    : nullptr;
    }

private:
    [[nodiscard]] std::int64_t size(const char* key) const { return m_inputs.at(key).get<std::int64_t>(); }
    void reach(std::int64_t more)
    {
        auto& peak = m_peaks[static_cast<std::size_t>(m_phase)];
        peak = std::max(peak, m_now + more);
    }

    const Json& m_inputs;
    bool m_isLast, m_isLazy, m_hasGradients = false;
    std::int64_t m_now;
    Phase m_phase = Phase::Forward;
    std::array<std::int64_t, phaseCount> m_peaks{};
};

// One function for each kind of case. They report through QTest, so they return nothing.

void paddedVocabulary(const Json& in, const Json& out)
{
    const TrainingPlan plan = planOf({{"model.vocab", in.at("V").dump()},
                                      {"model.vocab_pad_multiple", in.at("divisible_by").dump()},
                                      {"parallel.tp", in.at("tp").dump()}});
    QCOMPARE(architectureOf(plan).vocab, out.at("padded").get<std::int64_t>());
}

void layersOfStages(const Json& in, const Json& out)
{
    TrainingPlan plan = planOf({{"model.layers", in.at("L").dump()}, {"parallel.pp", in.at("p").dump()}});
    plan.parallel.embedInSplit = Flag(in.value("emb", false));
    plan.parallel.lossInSplit = Flag(in.value("loss", false));
    for (const auto& [key, field] :
         {std::pair{"first", &plan.parallel.firstStageLayers}, std::pair{"last", &plan.parallel.lastStageLayers}}) {
        if (in.contains(key)) {
            field->set(in.at(key), {OriginKind::ConfigFile, 1, nullptr});
        }
    }
    QCOMPARE(layersPerStage(plan), out.at("layers").get<std::vector<std::int64_t>>());
}

void zeroStages(const Json& in, const Json& out)
{
    const TrainingPlan plan = planOf({{"shard.zero_stage", in.at("stage").dump()},
                                      {"parallel.dp", in.at("N").dump()},
                                      {"precision.recipe", "bf16-mixed"}});
    QCOMPARE(perParameter(plan) * in.at("P").get<double>(), out.at("bytes").get<double>());
}

void distributedOptimizer(const Json& in, const Json& out)
{
    const TrainingPlan plan = planOf({{"shard.dist_opt", "true"},
                                      {"parallel.dp", in.at("dp").dump()},
                                      {"shard.dist_opt_instances", in.at("instances").dump()},
                                      {"precision.recipe", "megatron-bf16"}});
    QCOMPARE(perParameter(plan), out.at("bytes_per_param").get<double>());
}

void expertState(const Json& in, const Json& out)
{
    const double dense = in.at("dense"), expert = in.at("expert");
    const auto each = [](const Json& replicas) {
        return perParameter(planOf(
            {{"shard.dist_opt", "true"}, {"parallel.dp", replicas.dump()}, {"precision.recipe", "megatron-bf16"}}));
    };
    QCOMPARE(dense * each(in.at("dp")) + expert * each(in.at("edp")), out.at("bytes").get<double>());
}

void preciseOptimizer(const Json& in, const Json& out)
{
    const auto type = [](const Json& bytes) {
        return bytes == 4 ? DataType::Fp32 : bytes == 2 ? DataType::Bf16 : DataType::Fp8;
    };
    TrainingPlan plan
        = planOf({{"shard.dist_opt", "true"}, {"parallel.dp", in.at("d").dump()}, {"precision.params", "bf16"}});
    const Origin origin{OriginKind::ConfigFile, 1, nullptr};
    plan.precision.grads.set(type(in.at("g")), origin);
    plan.precision.master.set(type(in.at("master")), origin);
    plan.precision.optM.set(type(in.at("m")), origin);
    plan.precision.optV.set(type(in.at("v")), origin);
    QCOMPARE(perParameter(plan), out.at("bytes_per_param").get<double>());
}

/// Of the matrix; tensors below 4,096 elements, which stay in fp32, are too few to be told apart.
void smallStates(const Json& in, const Json& out)
{
    const StateRecipe recipe = stateRecipe(planOf({{"precision.recipe", "bf16-adam8bit"}}));
    QCOMPARE(recipe.moments * in.at("n").get<double>(), out.at("matrix_state_bytes").get<double>());
}

void paddedBuffer(const Json& in, const Json& out)
{
    RankShape shape;
    shape.data = in.at("dp");
    QCOMPARE(paddedElements(shape, {in.at("bucket_numel").get<std::int64_t>()}, ParameterGroup::Dense),
             out.at("padded").get<std::int64_t>());
}

void expertCapacity(const Json& in, const Json& out)
{
    ExpertShape experts; // Mixtral's eight, all on this rank
    experts.count = experts.local = 8;
    experts.topk = 2;
    experts.padsToCapacity = true;
    experts.capacityFactor = in.at("capacity_factor");
    QCOMPARE(experts.rows(2048), 8 * out.at("capacity").get<std::int64_t>());
}

void outputHead(const Json& in, const Json& out)
{
    const auto headOf = [&](const char* loss) {
        return lastTape(programOf(planOf(
            {{"implementation.fused_loss", loss}, {"batch.seq", in.at("T").dump()}, {"model.vocab", in.at("V").dump()}},
            llama({}))));
    };
    const auto logits = [](const std::vector<Tape::Event>& events) {
        return bytesOf(events, TensorKind::Logits) + bytesOf(events, TensorKind::LogitsSoftmax);
    };
    const Tape unfused = headOf("none"), inPlace = headOf("te-inplace");
    QCOMPARE(logits(unfused.forward), out.at("megatron_forward_peak").get<std::int64_t>());
    QCOMPARE(logits(unfused.saved), out.at("megatron_saved").get<std::int64_t>());
    QCOMPARE(logits(unfused.saved), out.at("te_fused_2026_saved").get<std::int64_t>());
    QCOMPARE(logits(inPlace.saved), out.at("te_fused_older_inplace_saved").get<std::int64_t>());
}

void boundaryTensors(const Json& in, const Json& out)
{
    const auto unit = [&](test::FieldTexts own) {
        const TrainingPlan plan = planOf(
            {{"batch.seq", in.at("s").dump()}, {"batch.micro", in.at("b").dump()}, {"model.hidden", in.at("h").dump()}},
            llama(own));
        return programOf(plan).shape.boundaryBytes();
    };
    QCOMPARE(unit({}), out.at("plain").get<std::int64_t>());
    QCOMPARE(unit({{"parallel.tp", "4"}, {"parallel.sp", "true"}}), out.at("sp_tp4").get<std::int64_t>());
    QCOMPARE(unit({{"parallel.cp", "2"}}), out.at("cp2").get<std::int64_t>());
}

void timeline(const Json& in, const Json& out)
{
    RankShape shape;
    shape.stages = in.at("p");
    shape.microBatches = in.at("m");
    for (std::int64_t index = 0; index < shape.stages; ++index) {
        StageProgram stage;
        stage.stage = index;
        stage.chunks.resize(1);
        stage.chunks[0].receives = index > 0;
        stage.chunks[0].sends = index + 1 < shape.stages;
        TimelineReader reader(in, index);
        StepWalk<TimelineReader>::Memory memory;
        StepWalk<TimelineReader>(shape, stage, reader, memory).run(shape.microBatches);
        const Json& expected
            = out.contains("stage") ? out.at("stage") : out.at("stages").at(static_cast<std::size_t>(index));
        const char* mismatch = reader.mismatch(expected);
        QVERIFY2(mismatch == nullptr, mismatch);
    }
}

void optimizerTemporaries(const Json& /*in*/, const Json& out)
{
    const auto temporaries = [](const char* implementation) {
        const TrainingPlan plan = planOf(
            {{"optimizer.impl", implementation}, {"implementation.profile", "hf-sdpa"}, {"precision.recipe", "fp32"}},
            test::llama3Of8B());
        const ModelProgram program = programOf(plan);
        const auto& tensors = program.stages.front().tensors.temporaries;
        return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0},
                               [](std::int64_t sum, const Tape::Event& event) { return sum + event.bytes; });
    };
    QCOMPARE(temporaries("foreach"), out.at("adam_foreach_tmp").get<std::int64_t>());
    QCOMPARE(temporaries("for-loop"), out.at("adam_forloop_tmp").get<std::int64_t>());
    QCOMPARE(temporaries("fused"), out.at("adam_fused_tmp").get<std::int64_t>());
}

void layerTransients(const Json& in, const Json& out)
{
    const ModelProgram program
        = programOf(planOf({{"attention.impl", "flash"}, {"batch.seq", in.at("T").dump()}}, llama({})));
    const auto& runs = program.stages.front().chunks.front().runs;
    const auto& backward = program.pieces[runs[1].piece].tape.backward;
    const std::int64_t tokens = in.at("T"), h = in.at("h"), f = in.at("f"), a = in.at("a"), g = in.at("g"),
                       d = in.at("d");
    // The gradients that stand together while the MLP's activation runs backward, its own input freed.
    const std::int64_t stream = 2 * tokens * h, wide = 2 * tokens * 2 * f;
    QVERIFY(allocates(backward, 2 * tokens * f) && allocates(backward, wide));
    QCOMPARE(stream + wide, out.at("mlp").get<std::int64_t>());
    // Beside the gradients of the context and of q, k and v.
    QCOMPARE(stream + 2 * tokens * (a + 2 * g) * d + bytesOf(backward, TensorKind::AttentionWorkspace),
             out.at("attn_fa2").get<std::int64_t>());
}

void workspaces(const Json& /*in*/, const Json& out)
{
    const auto workspace = [](const char* gpu) { return cublasWorkspaceBytes(planOf({{"hardware.gpu", gpu}})); };
    for (const auto& [key, bytes] : out.items()) {
        const bool isLarge = bytes.get<std::int64_t>() > 16'000'000;
        QVERIFY2(workspace(isLarge ? "h100-80gb" : "a100-80gb") == bytes.get<std::int64_t>(), key.c_str());
    }
}

void coreAttentionAgain(const Json& in, const Json& out)
{
    for (std::size_t i = 0; i < in.at("shapes").size(); ++i) {
        const std::int64_t h = in.at("shapes")[i][0], s = in.at("shapes")[i][1];
        Architecture model = architectureOf(planOf({{"model.layers", "1"},
                                                    {"model.hidden", std::to_string(h)},
                                                    {"model.heads", "128"},
                                                    {"model.ffn", std::to_string(4 * h)},
                                                    {"model.gated_mlp", "false"},
                                                    {"model.vocab", "50257"}}));
        const LayerFlops layer = denseLayerFlops(model, static_cast<double>(s));
        QCOMPARE(layer.scores / (3 * layer.total()), out.at("count_by_definition")[i].get<double>());
    }
}

using Check = std::function<void(const Json&, const Json&)>;

const std::map<std::string, Check>& checks()
{
    static const std::map<std::string, Check> all{
        {"P14", paddedVocabulary},   {"P15", layersOfStages},
        {"S02", zeroStages},         {"S03", distributedOptimizer},
        {"S04", preciseOptimizer},   {"S05", expertState},
        {"S12", paddedBuffer},       {"S09", smallStates},
        {"A12", expertCapacity},     {"A14", outputHead},
        {"I06", boundaryTensors},    {"T01", timeline},
        {"T02", timeline},           {"T03", optimizerTemporaries},
        {"T04", layerTransients},    {"N03", workspaces},
        {"F03", coreAttentionAgain},
    };
    return all;
}

/// Figures that the program does not compute, and why.
const std::map<std::string, QByteArray>& notComputed()
{
    static const std::map<std::string, QByteArray> reasons{
        {"S10", "the tapes of torchtitan and FSDP2 replaced the closed forms of the working set"},
        {"S11", "an upper bound that DeepSpeed's helper prints; the tapes count ZeRO-3 tensor by tensor"},
        {"A15", "the chunks of Liger's loss are those of its tape, by its own rule"},
        {"I07", "written for a model without the workspaces that V01 to V05 measure"},
        {"N01", "communication buffers are part of the prior outside the allocator"},
        {"N02", "communication buffers are part of the prior outside the allocator"},
        {"K01", "worked by hand from V03 to V06, which the anchors meet"},
        {"K02", "the wrong way to do it"},
    };
    return reasons;
}

template <class T> const T* findById(const std::map<std::string, T>& map, const std::string& id)
{
    const auto found = map.find(id.substr(0, 3));
    return found == map.end() ? nullptr : &found->second;
}

} // namespace

class TestTheoryCases : public QObject
{
    Q_OBJECT

private slots:
    void holds_data();
    void holds();
};

void TestTheoryCases::holds_data()
{
    QTest::addColumn<Json>("row");
    for (const Json& row : test::theoryCases("")) {
        QTest::newRow(row.at("id").get<std::string>().c_str()) << row;
    }
    if (test::theoryCases("").empty()) {
        QTest::newRow("absent") << Json();
    }
}

void TestTheoryCases::holds()
{
    QFETCH(Json, row);
    if (row.is_null()) {
        QSKIP("../shared/cases/theory_cases.json is not there");
    }
    const std::string id = row.at("id");
    if (const Check* check = findById(checks(), id)) {
        (*check)(row.at("inputs"), row.at("expected"));
        return;
    }
    for (const auto& [prefix, path, words] : elsewhere()) {
        if (id.starts_with(prefix.toStdString())) {
            QFile file(QStringLiteral(HEADROOM_TEST_DATA "/../") + path);
            QVERIFY2(file.open(QIODevice::ReadOnly), path.constData());
            QVERIFY2(file.readAll().contains(words), (path + " says nothing of " + words).constData());
            return;
        }
    }
    QVERIFY2(findById(notComputed(), id) != nullptr, "no test covers this case");
}

QTEST_APPLESS_MAIN(TestTheoryCases)
#include "tst_theory_cases.moc"
