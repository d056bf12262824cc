// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/outlook/flops.h"
#include "footprint/outlook/outside.h"
#include "footprint/recipe/architecture.h"
#include "footprint/schedule/step_walk.h"
#include "footprint/tape/shape.h"
#include "footprint/theory_checks.h"

#include <QtTest>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::test {

namespace {

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

void optimizerTemporaries(const Json& in, const Json& out)
{
    const auto stepOf = [](const char* implementation) {
        return bytesOf(programOf(planOf({{"optimizer.impl", implementation},
                                         {"implementation.profile", "hf-sdpa"},
                                         {"precision.recipe", "fp32"}},
                                        llama3Of8B()))
                           .stages.front()
                           .tensors.temporaries);
    };
    QCOMPARE(stepOf("foreach"), out.at("adam_foreach_tmp").get<std::int64_t>());
    QCOMPARE(stepOf("for-loop"), out.at("adam_forloop_tmp").get<std::int64_t>());
    QCOMPARE(stepOf("fused"), out.at("adam_fused_tmp").get<std::int64_t>());
    // Clipping makes one fp32 number a tensor, together less than the allocator's rounding of one tensor.
    constexpr std::int64_t tensors = 32 * 9 + 3;
    QVERIFY(tensors * out.at("clip_grad_norm_tmp_bytes_per_tensor").get<std::int64_t>() < kib(2).value);

    // Autocast keeps what it casts: the weights of matrix products. The case counts all of them; the lookup of the
    // embedding and the norms cast nothing (torch/csrc/autocast_mode.h lists the operations).
    const ModelProgram cast = programOf(
        planOf({{"implementation.profile", "hf-sdpa"}, {"precision.params", "fp32"}, {"precision.autocast", "true"}},
               llama3Of8B()));
    std::int64_t copies = 0;
    for (const PieceRun& run : cast.stages.front().chunks.front().runs) {
        copies += run.count * bytesOf(cast.pieces[run.piece].tape.saved, TensorKind::WeightCopies);
    }
    const std::int64_t norms = (2 * 32 + 1) * 4096;
    QCOMPARE(copies + 2 * (in.at("largest").get<std::int64_t>() + norms),
             out.at("autocast_weight_cache").get<std::int64_t>());
}

/// The protocols' buffers lie on one of the two sides, each side rounded to 2 MiB; which one, no plan says.
void connections(const Json& in, const Json& out)
{
    const auto rounded = [](std::int64_t bytes) { return (bytes + mib(2).value - 1) / mib(2).value * mib(2).value; };
    const std::int64_t ll = in.at("ll"), ll128 = in.at("ll128"), simple = in.at("simple");
    const auto side = [&](const char* key) { return out.at(key).get<std::int64_t>(); };
    QCOMPARE(rounded(ll + ll128 + simple), side("recv_write_mode"));
    QCOMPARE(rounded(ll + ll128), side("recv_read_mode"));
    QCOMPARE(rounded(simple + 1), side("send_read_mode")); // beside the sender's own head
    QCOMPARE(rounded(1), side("send_write_mode"));
    QCOMPARE(ncclConnection.value, side("recv_write_mode") + side("send_write_mode"));
    QCOMPARE(ncclConnection.value, side("recv_read_mode") + side("send_read_mode"));
    QCOMPARE(ncclConnection.value, side("per_connection"));
}

void exchange(const Json& in, const Json& out)
{
    const TrainingPlan plan = planOf({{"moe.experts", "64"},
                                      {"moe.topk", "2"},
                                      {"moe.dispatcher", "alltoall"},
                                      {"parallel.ep", in.at("ranks").dump()},
                                      {"parallel.dp", in.at("ranks").dump()}},
                                     llama3Of8B());
    const double bytes = static_cast<double>(outsideMemory(plan, splitOf(plan)).exchange.central.value);
    QCOMPARE(bytes, out.at("bytes").get<double>());
    const double reported = out.at("reported_delta_bytes").get<double>();
    QVERIFY(std::abs(bytes - reported) <= 0.2 * reported);
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
        // The paper's figure is the core beside the rest of the layer, cut off after the third digit.
        const double beside = layer.scores / (layer.total() - layer.scores);
        QCOMPARE(beside, out.at("s_over_6h")[i].get<double>());
        QCOMPARE(std::floor(1000 * beside) / 1000, out.at("paper_statement")[i].get<double>());
    }
}

} // namespace

const TheoryChecks& stepChecks()
{
    static const TheoryChecks all{
        {"T01", timeline}, {"T02", timeline},   {"T03", optimizerTemporaries}, {"N01", connections},
        {"N02", exchange}, {"N03", workspaces}, {"F03", coreAttentionAgain},
    };
    return all;
}

} // namespace headroom::test
