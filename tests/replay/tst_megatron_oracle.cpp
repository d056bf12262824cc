// SPDX-License-Identifier: GPL-3.0-or-later
//
// The replay against an independent replay of the same runs, split by component: 336 runs of Megatron-LM's functional
// tests (dense GPT, BERT, T5; local and Transformer Engine; flash, fused, unfused; interleaved; recomputed). Runs with
// context parallelism are compared in tst_megatron_moe_oracle, whose oracle knows how the ring allocates.
#include "accuracy/megatron_flags.h"
#include "replay/replay.h"
#include "support/folders.h"

#include <QTest>

#include <cmath>
#include <fstream>
#include <map>
#include <string>

using namespace headroom;
using Json = nlohmann::json;

namespace {

/// The oracle's word for a tensor, and ours.
const std::map<std::string, std::string> kindNames{
    {"fp32 main grads", "fp32 main gradients"},
    {"master", "master weights"},
    {"adam", "moments"},
    {"norm out", "norm output"},
    {"norm stats", "norm statistics"},
    {"q projection", "query projection"},
    {"kv projection", "key-value projection"},
    {"qk norm in", "q/k norm input"},
    {"qk norm out", "q/k norm output"},
    {"rope copies", "rotated q and k"},
    {"rope cos, sin", "rotary tables"},
    {"v copy", "value copy"},
    {"q,k,v copies", "q, k, v copies"},
    {"kv repeated", "repeated k and v"},
    {"softmax", "attention softmax"},
    {"probabilities", "attention probabilities"},
    {"context", "attention context"},
    {"context copy", "attention context copy"},
    {"softmax stats", "softmax statistics"},
    {"rng", "random state"},
    {"fc1 out", "fc1 output"},
    {"activation out", "activation output"},
    {"head", "head states"},
    {"dlogits", "gradient of logits"},
    {"loss", "loss terms"},
    {"scores", "attention scores"},
    {"grad scores", "gradient of scores"},
    {"attention work", "attention workspace"},
    {"grad", "gradient"},
    {"wgrad", "weight gradient"},
    {"sp gather", "gathered input"},
    {"attention out", "output before the residual"},
    {"mlp out", "output before the residual"},
    {"embedding tmp", "residual stream"}, // without dropout its last one is the stream
    {"boundary", "boundary tensor"},
    {"cublas workspace", "cuBLAS workspace"},
    {"te workspace", "GEMM workspace"},
    {"dummy wgrad", "placeholder gradients"},
};

std::map<std::string, std::int64_t> oracleParts(const Json& parts)
{
    std::map<std::string, std::int64_t> byName;
    for (const auto& [tag, bytes] : parts.items()) {
        const auto found = kindNames.find(tag);
        byName[found == kindNames.end() ? tag : found->second] += bytes.get<std::int64_t>();
    }
    return byName;
}

std::map<std::string, std::int64_t> ourParts(const std::array<Bytes, tensorKindCount>& tensors, Bytes rounding)
{
    std::map<std::string, std::int64_t> byName;
    for (int i = 0; i < tensorKindCount; ++i) {
        const auto kind = static_cast<TensorKind>(i);
        // The oracle has one word for every attention mask, and for everything in the embedding.
        const TensorKind named = kind == TensorKind::LoaderMask ? TensorKind::PaddingMask
            : kind == TensorKind::EmbeddingTemporary            ? TensorKind::ResidualStream
                                                                : kind;
        byName[std::string(nameOf(named))] += tensors[static_cast<std::size_t>(i)].value;
    }
    byName["allocator rounding"] = rounding.value;
    return byName;
}

struct OracleRow
{
    std::string name;
    Json flags, run;
};

std::vector<OracleRow> oracleRows()
{
    std::vector<OracleRow> rows;
    std::ifstream file(sharedPath("cases/megatron_dense.json"));
    if (!file) {
        return rows;
    }
    const Json cases = Json::parse(file);
    std::map<std::string, Json> flagsOf;
    for (const Json& entry : cases) {
        flagsOf[entry.at("case")] = entry.at("flags");
    }
    for (const Json& entry : cases) {
        const std::string name = entry.at("case");
        if (entry.at("flags").value("--context-parallel-size", 1) > 1) {
            continue;
        }
        for (const Json& run : entry.at("runs")) {
            const std::string platform = run.at("platform");
            // The result file of this run belongs to its sibling's flags: its measured values are the same.
            const bool isSiblings = name == "gpt/gpt3_15b_8t_release_sm_gb200" && platform == "a100";
            rows.push_back({name, isSiblings ? flagsOf.at("gpt/gpt3_15b_8t_release_sm") : entry.at("flags"), run});
        }
    }
    return rows;
}

TrainingPlan planOf(const OracleRow& row)
{
    Json flags = row.flags;
    if (row.name.find("no_create_attention_mask_in_dataloader") != std::string::npos) {
        flags["--no-create-attention-mask-in-dataloader"] = true; // the case's subject, not among its flags
    }
    TrainingPlan plan = accuracy::planFromMegatronFlags(flags).plan;
    const Json& environment = row.run.at("environment");
    accuracy::applyRunFacts({environment.is_null() ? std::string{} : environment.get<std::string>(),
                             row.run.at("platform"), row.run.at("world")},
                            plan);
    plan.attention.impl = Name(row.run.at("backend").get<std::string>());
    if (row.run.at("variant").get<std::string>().starts_with("cuBLAS 32 MiB")) {
        plan.implementation.cublasWorkspaceBytes = Count(std::int64_t{32} << 20);
    }
    return plan;
}

StageReplay lastStage(const OracleRow& row)
{
    ModelProgram program;
    const auto built = buildProgram(planOf(row), program);
    if (!built) {
        qWarning("%s", built.error().english().c_str());
        return {};
    }
    ReplayOptions options;
    // That run only checks the gradients of one step after a resume.
    options.steps = row.name == "gpt/gpt3_mcore_reruns_resume_check_grads" ? 1 : 3;
    return replayStage(program, program.stages.back(), options);
}

} // namespace

class TestMegatronOracle : public QObject
{
    Q_OBJECT

private slots:
    void matches_data();
    void matches();
};

void TestMegatronOracle::matches_data()
{
    QTest::addColumn<int>("index");
    const auto rows = oracleRows();
    if (rows.empty()) {
        QSKIP("the shared oracle cases are not here");
    }
    for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        const OracleRow& row = rows[static_cast<std::size_t>(i)];
        const Json& environment = row.run.at("environment");
        QTest::addRow("%s, %s %s", row.name.c_str(),
                      environment.is_null() ? "" : environment.get<std::string>().c_str(),
                      row.run.at("platform").get<std::string>().c_str())
            << i;
    }
}

void TestMegatronOracle::matches()
{
    QFETCH(int, index);
    static const auto rows = oracleRows();
    const OracleRow& row = rows[static_cast<std::size_t>(index)];
    const StageReplay got = lastStage(row);
    const Json& predicted = row.run.at("predicted");
    for (const auto& [key, bytes] :
         {std::pair{"steady", got.steadyAllocated}, std::pair{"peak", got.peakAllocated},
          std::pair{"first_step_peak", got.firstStepPeakAllocated}, std::pair{"reserved", got.reservedAtEnd}}) {
        const double expected = predicted.at(key).get<double>();
        QVERIFY2(std::abs(static_cast<double>(bytes.value) - expected) <= 0.001 * expected,
                 (std::string(key) + ": " + std::to_string(bytes.value) + " instead of "
                  + std::to_string(static_cast<std::int64_t>(expected)))
                     .c_str());
    }
    for (const auto& [key, ours] : {std::pair{"steady", ourParts(got.steadyTensors, got.steadyRounding)},
                                    std::pair{"peak", ourParts(got.peakTensors, got.peakRounding)}}) {
        const auto expected = oracleParts(row.run.at("parts").at(key));
        const double tolerance = 0.01 * predicted.at(key).get<double>();
        for (const auto& [name, bytes] : ours) {
            const auto found = expected.find(name);
            const std::int64_t wanted = found == expected.end() ? 0 : found->second;
            QVERIFY2(std::abs(static_cast<double>(bytes - wanted)) <= tolerance,
                     (std::string(key) + ", " + name + ": " + std::to_string(bytes) + " instead of "
                      + std::to_string(wanted))
                         .c_str());
        }
        for (const auto& [name, bytes] : expected) {
            QVERIFY2(ours.contains(name), name.c_str());
        }
    }
}

QTEST_APPLESS_MAIN(TestMegatronOracle)
#include "tst_megatron_oracle.moc"
