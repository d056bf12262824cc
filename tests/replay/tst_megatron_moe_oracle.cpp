// SPDX-License-Identifier: GPL-3.0-or-later
//
// The replay against an independent replay of the same runs, split by component: Megatron-LM's functional tests with
// experts, latent attention and context parallelism, and published runs of whole models on B200.
#include "accuracy/megatron_flags.h"
#include "replay/replay.h"
#include "support/folders.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>

using namespace headroom;
using Json = nlohmann::json;

namespace {

/// What the oracle's words for tensors belong to. Both sides count blocks, so that rounding is included.
const std::map<Component, std::set<std::string>>& oracleWords()
{
    static const std::map<Component, std::set<std::string>> words{
        {Component::Parameters, {"weights"}},
        {Component::Gradients, {"main_grads", "main_grad_copies"}},
        {Component::OptimizerState, {"master", "moments"}},
        {Component::Activations,
         {"residual",
          "embed_out",
          "positions",
          "norm_out",
          "stats",
          "qkv",
          "rope_q",
          "rope_k",
          "v_copy",
          "q_bshd",
          "k_bshd",
          "v_bshd",
          "qkv_bshd",
          "cp_q",
          "cp_k",
          "cp_v",
          "cp_a2a",
          "cp_ring",
          "mla_q",
          "mla_k",
          "mla_v",
          "mla_latent",
          "k_pe",
          "kv_repeat",
          "q_up",
          "kv_up",
          "rope_cos_sin",
          "context",
          "cp_out",
          "cp_result",
          "flash_out",
          "softmax",
          "softmax_dropped",
          "softmax_fp32",
          "mask",
          "lse",
          "fc1_out",
          "act_out",
          "gelu",
          "silu",
          "glu",
          "act_fp32",
          "router",
          "routing_map",
          "sort_index",
          "permute_map",
          "probs",
          "permuted",
          "dispatched",
          "dispatched_etp",
          "sorted",
          "latent"}},
        {Component::Logits, {"logits", "logits_fp32", "dlogits", "loss", "labels"}},
        {Component::WorkingSet,
         {"expert_out", "unsorted", "unsorted32", "combined", "combined32", "returned", "unpermuted", "unpermuted32",
          "moe_out", "fc2_out", "proj_out", "grad", "wgrad", "sp_gather", "pipeline_grad", "cp_partial", "scores",
          "scores_fp32"}},
        {Component::Buffers,
         {"pipeline_in", "pipeline_comm", "batch", "attention_mask", "tokens", "cublas", "te_gemm", "te_grouped_gemm",
          "global_buffer", "te_dummy_wgrad"}},
    };
    return words;
}

/// Every component of the peak within 1 % of the total.
bool hasComponents(const Json& row, const StageReplay& got)
{
    std::array<double, componentCount> differences{};
    for (std::size_t i = 0; i < differences.size(); ++i) {
        differences[i] = static_cast<double>(got.components[i].value);
    }
    const auto at
        = [&differences](Component component) -> double& { return differences[static_cast<std::size_t>(component)]; };
    at(Component::Activations) += at(Component::InFlight); // the oracle does not tell them apart
    at(Component::InFlight) = 0;
    for (const auto& [tag, bytes] : row.at("parts").at("peak").items()) {
        const auto found = std::find_if(oracleWords().begin(), oracleWords().end(),
                                        [&tag = tag](const auto& words) { return words.second.contains(tag); });
        if (found == oracleWords().end()) {
            qWarning("no component for %s", tag.c_str());
            return false;
        }
        at(found->first) -= bytes.get<double>();
    }
    const double tolerance = 0.01 * row.at("predicted").at("peak").get<double>();
    return std::all_of(differences.begin(), differences.end(),
                       [tolerance](double difference) { return std::abs(difference) <= tolerance; });
}

/// The oracle's rows with the flags of their case.
std::vector<Json> oracleRows()
{
    std::vector<Json> rows;
    std::ifstream file(sharedPath("cases/megatron_moe_cp.json"));
    std::ifstream measured(sharedPath("measured/megatron_ci.json"));
    if (!file || !measured) {
        return rows;
    }
    std::map<std::string, Json> flagsOf;
    for (const Json& entry : Json::parse(measured)) {
        flagsOf[entry.at("case")] = entry.at("flags");
    }
    const Json oracle = Json::parse(file);
    for (Json row : oracle.at("cases")) {
        if (row.at("flags").is_string()) {
            row["flags"] = flagsOf.at(row.at("id"));
        }
        rows.push_back(row);
    }
    return rows;
}

TrainingPlan planOf(const Json& row)
{
    TrainingPlan plan = accuracy::planFromMegatronFlags(row.at("flags")).plan;
    const Json& switches = row.at("switches");
    const std::string environment = row.at("environment");
    accuracy::applyRunFacts({environment, row.at("platform"), row.at("world")}, plan);
    const bool isDeterministic = plan.implementation.deterministic.valueOr(false);
    plan.implementation.placeholderGrads = Flag(switches.value("dummy_wgrad", true));
    const bool hasOwnChoice = plan.attention.impl.isKnown() && plan.attention.impl.value != "auto";
    plan.attention.impl = hasOwnChoice ? plan.attention.impl : Name("auto");
    if (!hasOwnChoice && switches.value("lts", false) && isDeterministic) {
        plan.attention.impl = Name("unfused"); // older libraries had no deterministic kernel
    }
    const std::string platform = row.at("platform");
    const bool isBlackwell = platform.find("b200") != std::string::npos;
    const bool isLarge = switches.value("cublas", isDeterministic) || platform.starts_with("h100")
        || (isBlackwell && switches.value("new_torch", false));
    plan.implementation.cublasWorkspaceBytes = Count(isLarge ? std::int64_t{32} << 20 : 8519680);
    // It knows neither that outputs of experts are kept nor how far Megatron's FSDP gathers ahead.
    plan.implementation.keptExpertOutput = Flag(false);
    plan.shard.communicationUnit = Count(2);
    if (plan.implementation.fusedLoss.value == "te") {
        plan.implementation.fusedLoss = Name("te-inplace"); // those runs are older than the fp32 gradient
    }
    return plan;
}

bool hasImages(const Json& row)
{
    const std::string id = row.at("id");
    return id.starts_with("mimo/") || id.starts_with("multimodal");
}

StageReplay replayOf(const ModelProgram& program, const Json& row, bool splitsAllBlocks)
{
    ReplayOptions options;
    options.allocator.expandableSegments = splitsAllBlocks || row.at("switches").value("expandable", false);
    const std::int64_t stage = row.at("stage");
    return replayStage(program, stage < 0 ? program.stages.back() : program.stages[static_cast<std::size_t>(stage)],
                       options);
}

struct Figures
{
    double steady = 0, peak = 0;
};

/// The same independent calculation with blocks as large as what is asked for: without the up to 1 MiB that the order
/// of allocation leaves in a block, which no two descriptions of a step share. Computed once; a line a row, in their
/// order.
std::vector<Figures> exactFigures(const std::vector<Json>& rows)
{
    std::ifstream file(testData("moe_cp_exact_blocks.csv"));
    std::string line;
    std::getline(file, line); // the names of the columns
    std::vector<Figures> figures;
    while (std::getline(file, line) && figures.size() < rows.size()) {
        const QList<QByteArray> cells = QByteArray::fromStdString(line).split(',');
        if (cells.size() != 3 || cells[0] != QByteArray::fromStdString(rows[figures.size()].at("id"))) {
            break;
        }
        figures.push_back({cells[1].toDouble(), cells[2].toDouble()});
    }
    return figures;
}

} // namespace

class TestMegatronMoeOracle : public QObject
{
    Q_OBJECT

private slots:
    void matches_data();
    void matches();
    void matchesComponents();
    void matchesExactly();

private:
    int m_rows = 0, m_rowsWithin = 0;
};

void TestMegatronMoeOracle::matches_data()
{
    QTest::addColumn<int>("index");
    const auto rows = oracleRows();
    if (rows.empty()) {
        QSKIP("the shared oracle cases are not here");
    }
    for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        const Json& row = rows[static_cast<std::size_t>(i)];
        QTest::addRow("%s, %s %s", row.at("id").get<std::string>().c_str(),
                      row.at("environment").get<std::string>().c_str(), row.at("row").get<std::string>().c_str())
            << i;
    }
}

void TestMegatronMoeOracle::matches()
{
    QFETCH(int, index);
    static const auto rows = oracleRows();
    const Json& row = rows[static_cast<std::size_t>(index)];
    if (hasImages(row)) {
        QSKIP("a vision encoder beside the language model");
    }
    ModelProgram program;
    const auto built = buildProgram(planOf(row), program);
    QVERIFY2(built, built ? "" : built.error().english().c_str());
    const StageReplay got = replayOf(program, row, false);
    // The oracle gives every stage two cuBLAS workspaces; a stage without a product of PyTorch's own makes none. It
    // also lets the gradient that is being sent go one tensor earlier than tst_megatron_oracle's, which measured runs
    // agree with. In the test models, whose tensors have 1 to 5 MB, the order of allocation decides which blocks keep a
    // rest of up to 1 MiB: without that rounding both agree to 0.2 %.
    const bool isWholeModel = row.at("id").get<std::string>().starts_with("simumax");
    for (const auto& [key, bytes, tolerance] :
         {std::tuple{"steady", got.steadyAllocated, isWholeModel ? 0.0025 : 0.017},
          std::tuple{"peak", got.peakAllocated, isWholeModel ? 0.001 : 0.0085}}) {
        const double expected = row.at("predicted").at(key).get<double>();
        QVERIFY2(std::abs(static_cast<double>(bytes.value) - expected) <= tolerance * expected,
                 (std::string(key) + ": " + std::to_string(bytes.value) + " instead of "
                  + std::to_string(static_cast<std::int64_t>(expected)))
                     .c_str());
    }
    ++m_rows;
    m_rowsWithin += hasComponents(row, got) ? 1 : 0;
}

/// Every component within 1 % of the total, in 95 of 100 runs.
void TestMegatronMoeOracle::matchesComponents()
{
    if (m_rows == 0) {
        QSKIP("the shared oracle cases are not here");
    }
    QVERIFY2(100 * m_rowsWithin >= 95 * m_rows,
             (std::to_string(m_rowsWithin) + " of " + std::to_string(m_rows)).c_str());
}

/// Without the allocator's rounding nearly all rows are the same to the byte. What is left: the gradient on its way to
/// the stage before, which the oracle drops one operation earlier than its sibling for dense models and we do, and the
/// cuBLAS workspaces of stages without a product of PyTorch's own.
void TestMegatronMoeOracle::matchesExactly()
{
    const auto rows = oracleRows();
    if (rows.empty()) {
        QSKIP("the shared oracle cases are not here");
    }
    const auto figures = exactFigures(rows);
    QCOMPARE(figures.size(), rows.size());
    int compared = 0, steady = 0, peak = 0, peakButSent = 0;
    const auto isWithin = [](Bytes bytes, double expected, double share) {
        return std::abs(static_cast<double>(bytes.value) - expected) <= share * expected;
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ModelProgram program;
        if (hasImages(rows[i]) || !buildProgram(planOf(rows[i]), program)) {
            continue;
        }
        const StageReplay got = replayOf(program, rows[i], true);
        const std::int64_t unit = program.shape.boundaryBytes();
        const bool isSending = program.shape.stages > 1
            && got.peakTensors[static_cast<std::size_t>(TensorKind::ActivationGradient)].value == unit;
        ++compared;
        steady += isWithin(got.steadyAllocated, figures[i].steady, 0.001) ? 1 : 0;
        peak += isWithin(got.peakAllocated, figures[i].peak, 0.001) ? 1 : 0;
        peakButSent += isWithin({got.peakAllocated.value - (isSending ? unit : 0)}, figures[i].peak, 0.001) ? 1 : 0;
        QVERIFY2(isWithin(got.peakAllocated, figures[i].peak, 0.002), rows[i].at("id").get<std::string>().c_str());
    }
    qInfo("of %d: resident within 0.1 %% %d, peak %d, without the gradient on its way %d", compared, steady, peak,
          peakButSent);
    QVERIFY(100 * steady >= 95 * compared);
    QVERIFY(100 * peakButSent >= 95 * compared);
}

QTEST_GUILESS_MAIN(TestMegatronMoeOracle)
#include "tst_megatron_moe_oracle.moc"
