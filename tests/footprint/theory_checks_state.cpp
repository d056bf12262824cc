// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/recipe/architecture.h"
#include "footprint/recipe/state.h"
#include "footprint/tape/state.h"
#include "footprint/theory_checks.h"
#include "plan/pipeline_split.h"

#include <QtTest>

namespace headroom::test {

namespace {

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

/// Both states of the matrix by blocks; the vector is too small for that.
void smallStates(const Json& in, const Json& out)
{
    const TrainingPlan plan = planOf({{"precision.recipe", "bf16-adam8bit"}});
    QCOMPARE(stateRecipe(plan).moments * in.at("n").get<double>(), out.at("matrix_state_bytes").get<double>());
    const auto states = [](std::int64_t hidden) {
        const ModelProgram program = programOf(planOf({{"implementation.profile", "hf-sdpa"},
                                                       {"precision.recipe", "bf16-adam8bit"},
                                                       {"model.layers", "1"},
                                                       {"model.hidden", std::to_string(hidden)},
                                                       {"model.heads", "8"},
                                                       {"model.ffn", "8192"},
                                                       {"model.vocab", "32000"},
                                                       {"batch.seq", "128"},
                                                       {"batch.micro", "1"}}));
        return program.stages.front().tensors.created;
    };
    const auto vector = in.at("small_n").get<std::int64_t>();
    QVERIFY(vector < in.at("min_8bit").get<std::int64_t>());
    QVERIFY(allocates(states(vector), out.at("vector_state_bytes").get<std::int64_t>() / 2)); // each of its two
    QVERIFY(!allocates(states(4096), 4096 * 4)); // as large as that it has 8 bits like the rest
}

void paddedBuffer(const Json& in, const Json& out)
{
    RankShape shape;
    shape.data = in.at("dp");
    QCOMPARE(paddedElements(shape, {in.at("bucket_numel").get<std::int64_t>()}, ParameterGroup::Dense),
             out.at("padded").get<std::int64_t>());
}

/// The closed forms of theory.md 2.4, tensor by tensor. A gather reads this rank's share from a tensor of its own too
/// (_fsdp_collectives.py, foreach_all_gather), which they leave out: 1/8 of a block. Nor do they count what the next
/// block asks for once this one's weights are gone.
void fullShard(const Json& in, const Json& out)
{
    const std::int64_t ranks = in.at("ranks"), blocks = 32;
    const TrainingPlan plan = planOf({{"implementation.profile", "torchtitan"},
                                      {"implementation.separate_tables", "false"},
                                      {"shard.fsdp", "true"},
                                      {"parallel.dp", std::to_string(ranks)},
                                      {"precision.params", "fp32"},
                                      {"precision.reduce", "fp32"}},
                                     llama3Of8B());
    const ModelProgram program = programOf(plan);
    Footprint recipe;
    QVERIFY(estimate(plan, {}, recipe));
    QCOMPARE(recipe.fullest().peakPhase, Phase::Backward);
    QCOMPARE(recipe.fullest().component(Component::WorkingSet).value, out.at("bwd_work").get<std::int64_t>());
    QCOMPARE(parameterCount(program, program.stages.front()), in.at("P").get<std::int64_t>());
    const auto& runs = program.stages.front().chunks.front().runs;
    const Tape& root = program.pieces[runs[0].piece].tape;
    const Tape& block = program.pieces[runs[1].piece].tape;
    const Tape& head = program.pieces[runs[2].piece].tape; // the final norm's gradient is its own
    QCOMPARE(runs[1].count, blocks);

    using enum TensorKind;
    const auto gradients = [](const Events& events) {
        return std::accumulate(events.begin(), events.end(), std::int64_t{0}, [](std::int64_t sum, const auto& event) {
            return sum + (event.op == Tape::Op::Accumulate ? event.bytes : 0);
        });
    };
    const StageTensors& tensors = program.stages.front().tensors;
    QCOMPARE(bytesOf(tensors.resident) + bytesOf(tensors.created) + blocks * gradients(block.backward)
                 + gradients(root.backward) + gradients(head.backward),
             out.at("sharded").get<std::int64_t>());
    const std::int64_t share = 2 * in.at("P_layer").get<std::int64_t>() / ranks;
    const std::int64_t rootBytes = bytesOf(root.saved, GatheredParameters);
    const std::int64_t next = share * ranks + share;
    QCOMPARE(bytesOf(block.forward, GatheredParameters) - next - share + rootBytes,
             out.at("fwd_work").get<std::int64_t>());
    QCOMPARE(bytesOf(block.backward, GatheredParameters) - share + bytesOf(block.backward, WeightGradient)
                 + bytesOf(block.backward, ReduceBuffer) + rootBytes,
             out.at("bwd_work").get<std::int64_t>());
}

/// What DeepSpeed's helper adds up: with fp32 gradients 18 bytes a parameter, shared by all, and the largest layer
/// gathered beside its gradient, which is the output layer's here.
void deepSpeedHelper(const Json& in, const Json& out)
{
    const std::string ranks = in.at("N").dump();
    const TrainingPlan plan = planOf(
        {{"shard.zero_stage", "3"}, {"parallel.dp", ranks}, {"precision.recipe", "megatron-bf16"}}, llama3Of8B());
    const double state = perParameter(plan) * in.at("P").get<double>();
    const ModelProgram program = programOf(planOf({{"implementation.profile", "hf-sdpa"},
                                                   {"shard.zero_stage", "3"},
                                                   {"parallel.dp", ranks},
                                                   {"precision.params", "bf16"}},
                                                  llama3Of8B()));
    const Tape& embedding = program.pieces[program.stages.front().chunks.front().runs.front().piece].tape;
    const std::int64_t gradient = bytesOf(embedding.backward, TensorKind::WeightGradient);
    // Embedding, final norm and output layer are gathered together, as long as either is in use.
    const std::int64_t gathered = (bytesOf(embedding.saved, TensorKind::GatheredParameters) - 2 * 4096) / 2;
    QCOMPARE(gathered, 2 * in.at("largest").get<std::int64_t>());
    QCOMPARE(state + static_cast<double>(gathered + gradient), out.at("bytes").get<double>());
}

} // namespace

const TheoryChecks& stateChecks()
{
    static const TheoryChecks all{
        {"P14", paddedVocabulary}, {"P15", layersOfStages}, {"S02", zeroStages},  {"S03", distributedOptimizer},
        {"S04", preciseOptimizer}, {"S05", expertState},    {"S09", smallStates}, {"S10", fullShard},
        {"S11", deepSpeedHelper},  {"S12", paddedBuffer},
    };
    return all;
}

} // namespace headroom::test
