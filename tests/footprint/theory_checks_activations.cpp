// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/anchor_plans.h"
#include "footprint/recipe/architecture.h"
#include "footprint/schedule/schedule.h"
#include "footprint/tape/shape.h"
#include "footprint/theory_checks.h"
#include "units/bytes.h"

#include <QtTest>

#include <cmath>

namespace headroom::test {

namespace {

Settings with(Settings settings, const Settings& more)
{
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

/// A run's tensors as theory.md 9.1 takes them off the peak to get k.
struct Corrections
{
    explicit Corrections(const TrainingPlan& runPlan)
        : plan(runPlan)
        , program(programOf(runPlan))
    {
    }

    [[nodiscard]] const Tape& layer() const
    {
        const auto& runs = program.stages.front().chunks.front().runs;
        return program.pieces[runs[1].piece].tape;
    }
    [[nodiscard]] std::int64_t state() const
    {
        const std::int64_t elements = parameterCount(program, program.stages.back());
        return std::llround(perParameter(plan) * static_cast<double>(elements));
    }
    [[nodiscard]] std::int64_t workspaces() const
    {
        std::int64_t sum = 0;
        for (const auto& storage : program.persistents.all) {
            using enum TensorKind;
            sum += storage.kind == CublasWorkspace || storage.kind == GemmWorkspace ? storage.bytes : 0;
        }
        return sum;
    }
    [[nodiscard]] std::int64_t finalNorm() const
    {
        const Tape& head = lastTape(program);
        return stream() + bytesOf(head.saved, TensorKind::NormOutput);
    }
    [[nodiscard]] std::int64_t finalStatistics() const
    {
        return bytesOf(lastTape(program).saved, TensorKind::NormStatistics);
    }
    [[nodiscard]] std::int64_t logits() const
    {
        const Tape& head = lastTape(program);
        return logitsPeak(head, head.forward, 0);
    }
    [[nodiscard]] std::int64_t masks() const
    {
        return bytesOf(program.stages.back().chunks.back().loaded, TensorKind::LoaderMask);
    }
    [[nodiscard]] std::int64_t layersAlive(std::int64_t stage) const
    {
        const RankShape& shape = program.shape;
        const PipelineShape pipeline{shape.schedule, shape.stages, shape.chunks, shape.microBatches, shape.chunkGroup};
        const StageProgram& own = program.stages[static_cast<std::size_t>(stage)];
        return std::llround(inFlight(effectivePipeline(pipeline), stage).units * static_cast<double>(own.layers));
    }
    /// What one layer keeps, the tensor it reads included. The random state of attention's dropout, 16 bytes that
    /// take a block of 512, is not in theory's account.
    [[nodiscard]] std::int64_t layerBytes() const
    {
        const Events& saved = layer().saved;
        return stream() + bytesOf(saved) - bytesOf(saved, TensorKind::RandomState);
    }
    /// With rotary positions the account of K01 has the packed projection and rotated copies of q and k beside it. Its
    /// successor, theory_dense.md rule 12, has q, k and v once and the tables of unfused rotation, and rule 11 a second
    /// result where the batch is turned. The tape follows the successor, which the peak of V06 confirms.
    [[nodiscard]] std::int64_t replacedRule() const
    {
        const Events& saved = layer().saved;
        using enum TensorKind;
        const std::int64_t once = bytesOf(saved, QkvCopies);
        if (once == 0) {
            return 0;
        }
        const RankShape& shape = program.shape;
        const std::int64_t rotated = once * (shape.heads + shape.groups) / (shape.heads + 2 * shape.groups);
        return rotated - bytesOf(saved, RotaryTables) - bytesOf(saved, ContextCopy);
    }
    [[nodiscard]] std::int64_t stream() const { return program.shape.boundaryBytes(); }

    TrainingPlan plan;
    ModelProgram program;
};

const Settings ampere{{"hardware.gpu", "a100-80gb"}}, hopper{{"hardware.gpu", "h100-80gb"}};

void peakPlaces(const Json& /*in*/, const Json& out)
{
    const Settings plain{{"batch.micro", "1"}, {"parallel.pp", "4"}, {"batch.accum", "8"}, {"batch.global", "16"}};
    for (const auto& [own, name] : {std::pair{plain, "plain"}, std::pair{pipelined, "interleaved"}}) {
        const Corrections run(planOf(gpt7b, with(own, ampere)));
        QCOMPARE(run.program.shape.microBatches, name == std::string("plain") ? 8 : 4);
        const auto expected
            = [&, key = std::string(name)](const char* where) { return out.at(key + where).get<std::int64_t>(); };
        QCOMPARE(run.layersAlive(0) * run.layerBytes(), expected("_first"));
        // Input and output of the final norm without its statistics, and the logits.
        QCOMPARE(run.layersAlive(3) * run.layerBytes() + 2 * run.stream() + run.logits(), expected("_last"));
    }
}

void compareAccount(const Json& in, const Corrections& run, std::int64_t unit)
{
    const auto compare = [&](std::int64_t bytes, const char* key) { QCOMPARE(bytes, in.value(key, std::int64_t{0})); };
    if (in.contains("static")) {
        compare(run.state(), "static");
        compare(run.workspaces() & ~(mib(1).value - 1), "workspaces"); // Hopper's has 1 KiB more
    }
    compare(run.finalNorm() + (in.contains("static") ? run.finalStatistics() : 0), "final_norm");
    compare(run.logits(), "logits");
    compare(run.layersAlive(static_cast<std::int64_t>(run.program.stages.size()) - 1), "layers_alive");
    compare(unit, "U");
}

double coefficient(const Json& in)
{
    double rest = in.at("peak").get<double>();
    for (const auto& [key, value] : in.items()) {
        rest -= key == "peak" || key == "layers_alive" || key == "U" ? 0 : value.get<double>();
    }
    return rest / (in.at("layers_alive").get<double>() * in.at("U").get<double>());
}

/// Every figure that is taken off the peak, as the tapes have it, and what is left of it beside what a layer keeps.
void realCoefficients(const Json& in, const Json& out)
{
    const Corrections pipeline(planOf(gpt7b, with(pipelined, ampere)));
    compareAccount(in.at("A"), pipeline, pipeline.stream());
    QCOMPARE(pipeline.masks(), in.at("A").at("mask").get<std::int64_t>());
    QCOMPARE(3 * pipeline.stream(), in.at("A").at("boundary").get<std::int64_t>());

    const Corrections tensor(planOf(gpt7b, with(tensorParallel, hopper)));
    compareAccount(in.at("B"), tensor, tensor.stream());
    QCOMPARE(tensor.masks(), in.at("B").at("masks").get<std::int64_t>());
    const Tape& embedding = tensor.program.pieces.front().tape;
    QCOMPARE(bytesOf(embedding.saved, TensorKind::DropoutMask), in.at("B").at("embedding_mask").get<std::int64_t>());

    const Corrections sequence(planOf(gpt15b, ampere));
    const std::int64_t shards = sequence.program.shape.sequenceShards;
    compareAccount(in.at("C"), sequence, sequence.stream() * shards);

    for (const auto& [name, run] : {std::pair{"A", &pipeline}, std::pair{"B", &tensor}, std::pair{"C", &sequence}}) {
        const double unit = in.at(name).at("U").get<double>();
        const double theory = out.at(std::string(name) + "_theory").get<double>();
        QCOMPARE(static_cast<double>(run->layerBytes() + run->replacedRule()) / unit, theory);
        const double measured = coefficient(in.at(name));
        QVERIFY(std::abs(measured / out.at(name).get<double>() - 1) <= 1e-6);
        QVERIFY(std::abs(measured / theory - 1) <= 0.0005);
    }
}

/// The recipe's k of the same run: the stage's own layers, nothing taken off. It is four times what a layer keeps.
void naiveCoefficient(const Json& in, const Json& out)
{
    const Corrections run(planOf(gpt7b, with(pipelined, ampere)));
    QCOMPARE(run.program.stages.back().layers, in.at("L").get<std::int64_t>());
    QCOMPARE(run.stream(), in.at("U").get<std::int64_t>());
    const double rise = in.at("peak").get<double>() - in.at("steady").get<double>();
    const double naive = rise / static_cast<double>(run.program.stages.back().layers * run.stream());
    QVERIFY(std::abs(naive / out.at("naive").get<double>() - 1) <= 1e-6);
    QVERIFY(naive > 4 * static_cast<double>(run.layerBytes()) / static_cast<double>(run.stream()));
}

} // namespace

const TheoryChecks& activationChecks()
{
    static const TheoryChecks all{{"I07", peakPlaces}, {"K01", realCoefficients}, {"K02", naiveCoefficient}};
    return all;
}

} // namespace headroom::test
