// SPDX-License-Identifier: GPL-3.0-or-later
//
// The working behind the exact figures adds up, and its layers keep what the papers say.
#include "footprint/explain_tapes.h"
#include "footprint/written_plan.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace headroom;

namespace {

TrainingPlan gpt(const QByteArray& settings = {})
{
    return test::planOf("model.layers=8 model.hidden=1024 model.ffn=4096 model.heads=16 model.vocab=32000 "
                        "model.learned_positions=true model.max_pos=2048 model.layer_norm=true model.attn_bias=true "
                        "model.mlp_bias=true model.tied_embeddings=false model.attn_dropout=0.1 "
                        "model.hidden_dropout=0.1 batch.micro=2 batch.seq=2048 batch.accum=8 parallel.pp=2 "
                        "precision.recipe=megatron-bf16 "
                        + settings);
}

constexpr double tokens = 2 * 2048, hidden = 1024;

const Term* find(const std::vector<Term>& terms, const char* name)
{
    const auto found
        = std::find_if(terms.begin(), terms.end(), [name](const Term& term) { return term.name.english() == name; });
    return found == terms.end() ? nullptr : &*found;
}

double sumOfParts(const Term& term)
{
    double sum = 0;
    for (const Term& part : term.parts) {
        sum += part.value;
    }
    return sum;
}

struct Explained
{
    Footprint footprint;
    std::vector<Term> terms;
};

Explained explained(const QByteArray& settings, std::size_t stage)
{
    const TrainingPlan plan = gpt(settings);
    Explained result;
    if (!estimateInstantly(plan, {}, result.footprint)) {
        qFatal("no estimate");
    }
    result.terms = explainTapes(plan, result.footprint.stages[stage]);
    return result;
}

} // namespace

class TestExplainTapes : public QObject
{
    Q_OBJECT

private slots:
    void componentsAreTheStages();
    void layersKeepWhatThePaperSays();
    void recomputedLayersKeepTheirInputs();
    void parametersAreTheModels();
    void tensorsSplitComponents();
    void nothingWithoutTapes();
};

void TestExplainTapes::componentsAreTheStages()
{
    for (const std::size_t stage : {std::size_t{0}, std::size_t{1}}) {
        const auto [footprint, terms] = explained({}, stage);
        const StageFootprint& result = footprint.stages[stage];
        double sum = 0;
        for (const char* name : {"Parameters", "Gradients", "Optimizer state", "Activations at the peak", "Logits",
                                 "Working set", "Buffers"}) {
            const Term* term = find(terms, name);
            sum += term != nullptr ? term->value : 0;
        }
        QCOMPARE(sum, static_cast<double>(result.peakAllocated.value));
        QCOMPARE(find(terms, "Device")->value, sumOfParts(*find(terms, "Device")));
        const Term& state = *find(terms, "Optimizer state");
        QCOMPARE(state.value, sumOfParts(state));
    }
}

void TestExplainTapes::layersKeepWhatThePaperSays()
{
    // Korthikanti et al. 2022, equation 2 without the attention core, which flash attention recomputes: 34·s·b·h bytes
    // a layer, of which the masks of two dropouts are 2·s·b·h; softmax statistics come on top.
    const auto [footprint, terms] = explained({}, 0);
    const Term& kept = *find(terms, "Kept of one micro-batch");
    const Term* layers = find(kept.parts, "4 layers");
    QVERIFY(layers != nullptr);
    const double perLayer = layers->value / 4 / (tokens * hidden);
    QVERIFY2(std::abs(perLayer - 34) < 0.35, qPrintable(QString::number(perLayer)));
    QCOMPARE(sumOfParts(*layers), layers->value);
    QCOMPARE(find(layers->parts, "fc1 output")->value, 4 * 8 * tokens * hidden);
    QCOMPARE(find(layers->parts, "dropout mask")->value, 4 * 2 * tokens * hidden);
}

void TestExplainTapes::recomputedLayersKeepTheirInputs()
{
    const auto [footprint, terms] = explained("recompute.enabled=true recompute.granularity=full", 0);
    const Term* layers = find(find(terms, "Kept of one micro-batch")->parts, "4 layers");
    QVERIFY(layers != nullptr);
    QCOMPARE(layers->value, 4 * 2 * tokens * hidden);
    const auto [paired, pairedTerms] = explained(
        "recompute.enabled=true recompute.granularity=full recompute.method=uniform recompute.num_layers=2", 0);
    QCOMPARE(find(find(pairedTerms, "Kept of one micro-batch")->parts, "4 layers")->value, 2 * 2 * tokens * hidden);
}

void TestExplainTapes::parametersAreTheModels()
{
    const auto [footprint, terms] = explained({}, 1);
    const Term& parameters = *find(terms, "Parameters");
    // 12h² + 13h a layer with all biases and norms.
    QCOMPARE(find(parameters.parts, "4 layers")->value, 4 * (12 * hidden * hidden + 13 * hidden));
    QCOMPARE(sumOfParts(parameters), static_cast<double>(footprint.stages[1].parameters));
}

void TestExplainTapes::tensorsSplitComponents()
{
    const TrainingPlan plan = gpt({});
    Footprint footprint;
    QVERIFY(estimateInstantly(plan, {}, footprint));
    PeakTensors tensors{};
    tensors[static_cast<std::size_t>(TensorKind::Logits)] = mib(100);
    tensors[static_cast<std::size_t>(TensorKind::LogitsGradient)] = mib(50);
    tensors[static_cast<std::size_t>(TensorKind::Qkv)] = mib(30);
    const auto terms = explainTapes(plan, footprint.stages[1], &tensors);
    const Term* logits = find(terms, "Logits");
    QVERIFY(logits != nullptr);
    QCOMPARE(logits->parts.size(), std::size_t{2});
    QCOMPARE(logits->parts[1].name.english(), std::string("gradient of logits"));
    QCOMPARE(find(find(terms, "Activations at the peak")->parts, "qkv")->value, static_cast<double>(mib(30).value));
}

void TestExplainTapes::nothingWithoutTapes()
{
    StageFootprint stage;
    QVERIFY(explainTapes(gpt("implementation.profile=torchtune"), stage).empty());
    stage.stage = 7; // of a plan with two
    QVERIFY(explainTapes(gpt({}), stage).empty());
}

QTEST_GUILESS_MAIN(TestExplainTapes)
#include "tst_explain_tapes.moc"
