// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/catalog.h"
#include "footprint/recipe/parameters.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <set>

using namespace headroom;

namespace {

std::string idOf(const ModelPreset* preset)
{
    return preset != nullptr ? preset->id : std::string("none");
}

std::string idOf(const Gpu* gpu)
{
    return gpu != nullptr ? gpu->id : std::string("none");
}

const Catalog& builtinCatalog()
{
    static const Catalog catalog = Catalog::load();
    return catalog;
}

/// A user's folder with these files, and what the catalog makes of it.
Catalog catalogWith(const std::vector<std::pair<std::string, std::string>>& files)
{
    const QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    std::filesystem::create_directory(root / "models");
    for (const auto& [name, content] : files) {
        std::ofstream(root / name, std::ios::binary) << content;
    }
    return Catalog::load(root);
}

} // namespace

class CatalogTest : public QObject
{
    Q_OBJECT

private slots:
    void builtinFilesAreUnderstood();
    void presetsCountAsPublished_data();
    void presetsCountAsPublished();
    void publishedCounts_data();
    void publishedCounts();
    void findsModels_data();
    void findsModels();
    void findsGpus_data();
    void findsGpus();
    void capacitiesFitTheirNames();
    void userEntriesAddAndReplace();
    void brokenUserFiles_data();
    void brokenUserFiles();
};

void CatalogTest::builtinFilesAreUnderstood()
{
    const Catalog& catalog = builtinCatalog();
    for (const Problem& problem : catalog.problems) {
        qWarning("%s", problem.english().c_str());
    }
    QVERIFY(catalog.problems.empty());
    std::set<std::string> ids;
    for (const ModelPreset& preset : catalog.models) {
        QVERIFY2(ids.insert(preset.id).second, preset.id.c_str());
        QVERIFY2(!preset.source.empty(), preset.id.c_str());
        QCOMPARE(preset.plan.model.layers.origin.kind, OriginKind::Preset);
        QCOMPARE(preset.plan.model.layers.origin.english(), "preset " + preset.id);
    }
}

void CatalogTest::presetsCountAsPublished_data()
{
    QTest::addColumn<QString>("id");
    for (const ModelPreset& preset : builtinCatalog().models) {
        QTest::addRow("%s", preset.id.c_str()) << QString::fromStdString(preset.id);
    }
}

void CatalogTest::presetsCountAsPublished()
{
    QFETCH(QString, id);
    const Catalog& catalog = builtinCatalog();
    const ModelPreset* preset = catalog.model(id.toStdString());
    QVERIFY(preset != nullptr);
    QVERIFY(preset->publishedParameters > 0);
    const TrainingPlan& plan = preset->plan;
    QCOMPARE(modelParameters(architectureOf(plan), visionTowerOf(plan), projectorOf(plan)),
             preset->publishedParameters);
}

void CatalogTest::publishedCounts_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<qint64>("parameters");
    // Checkpoint totals, so that a preset cannot pass by being wrong twice.
    const auto row = [](const char* id, qint64 parameters) { QTest::newRow(id) << QString(id) << parameters; };
    row("gpt2", 124'439'808);
    row("gpt2-medium", 354'823'168);
    row("gpt2-large", 774'030'080);
    row("gpt2-xl", 1'557'611'200);
    row("llama-2-7b", 6'738'415'616);
    row("llama-2-13b", 13'015'864'320);
    row("llama-2-70b", 68'976'648'192);
    row("llama-3-8b", 8'030'261'248);
    row("llama-3-70b", 70'553'706'496);
    row("llama-3.1-8b", 8'030'261'248);
    row("llama-3.1-70b", 70'553'706'496);
    row("llama-3.1-405b", 405'853'388'800);
    row("llama-3.2-1b", 1'235'814'400);
    row("llama-3.2-3b", 3'212'749'824);
    row("tiny-llama-1.1b", 1'100'048'384);
    row("mistral-7b", 7'241'732'096);
    row("mistral-7b-v0.3", 7'248'023'552);
    row("mixtral-8x7b", 46'702'792'704);
    row("qwen2.5-0.5b", 494'032'768);
    row("qwen2.5-1.5b", 1'543'714'304);
    row("qwen2.5-3b", 3'085'938'688);
    row("qwen2.5-7b", 7'615'616'512);
    row("qwen2.5-14b", 14'770'033'664);
    row("qwen2.5-32b", 32'763'876'352);
    row("qwen2.5-72b", 72'706'203'648);
    row("qwen3-0.6b", 596'049'920);
    row("qwen3-1.7b", 1'720'574'976);
    row("qwen3-4b", 4'022'468'096);
    row("qwen3-8b", 8'190'735'360);
    row("qwen3-14b", 14'768'307'200);
    row("qwen3-32b", 32'762'123'264);
    row("llava-1.5-7b", 7'063'427'072);
    row("qwen2-vl-7b", 8'291'375'616);
    row("qwen2.5-vl-3b", 3'754'622'976);
    row("qwen2.5-vl-7b", 8'292'166'656);
    row("qwen3-235b-a22b", 235'093'634'560);
    row("mixtral-8x22b", 140'620'634'112);
    row("deepseek-v2-lite", 15'706'484'224);
    // Less the biases that balance the router: 256 in each of 58 layers.
    row("deepseek-v3", 671'026'419'200 - 58 * 256);
    // Less 64 sinks and the router's 32 biases in each of 24 layers.
    row("gpt-oss-20b", 20'914'757'184 - 24 * (64 + 32));
    row("gpt-neox-20b", 20'554'567'680);
    // Less 128 corrections of the router in each of 23 layers.
    row("nemotron-3-nano-30b-a3b", 31'577'940'288 - 23 * 128);
    // Less the layer that predicts a token further: attention, experts, two norms, a projection of two streams, three
    // norms.
    const auto predictor = [](qint64 h, qint64 heads, qint64 ffn) {
        const qint64 attention = h * (2 * heads + 2 * 2) * 256 + heads * 256 * h + 2 * 256;
        return attention + h * 256 + 257 * 3 * h * ffn + h + 2 * h + 2 * h * h + 3 * h;
    };
    row("qwen3.5-35b-a3b", 35'951'822'704 - predictor(2048, 16, 512));
    row("qwen3.5-122b-a10b", 125'086'497'008 - predictor(3072, 32, 1024));
    row("falcon-40b", 41'303'293'952);
    row("phi-4", 14'659'507'200);
}

void CatalogTest::publishedCounts()
{
    QFETCH(QString, id);
    QFETCH(qint64, parameters);
    const Catalog& catalog = builtinCatalog();
    const ModelPreset* preset = catalog.model(id.toStdString());
    QVERIFY(preset != nullptr);
    QCOMPARE(preset->publishedParameters, parameters);
}

void CatalogTest::findsModels_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("id");
    QTest::newRow("id") << "llama-3-8b"
                        << "llama-3-8b";
    QTest::newRow("other separators") << "Llama 3-8B"
                                      << "llama-3-8b";
    QTest::newRow("Hugging Face name") << "meta-llama/Meta-Llama-3-8B-Instruct"
                                       << "llama-3-8b";
    QTest::newRow("dated release") << "Qwen/Qwen3-4B-Instruct-2507"
                                   << "qwen3-4b";
    QTest::newRow("quantised release") << "hugging-quants/Meta-Llama-3.1-405B-BNB-NF4-BF16"
                                       << "llama-3.1-405b";
    QTest::newRow("quantised fine-tuned release") << "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit"
                                                  << "llama-3.1-8b";
    QTest::newRow("TinyLlama") << "TinyLlama/TinyLlama-1.1B-Chat-v1.0"
                               << "tiny-llama-1.1b";
    QTest::newRow("chat model") << "meta-llama/Llama-2-7b-chat-hf"
                                << "llama-2-7b";
    QTest::newRow("instruct model") << "Qwen/Qwen2.5-7B-Instruct"
                                    << "qwen2.5-7b";
    QTest::newRow("alias") << "gpt2-small"
                           << "gpt2";
    QTest::newRow("trained from the same") << "deepseek-ai/DeepSeek-R1"
                                           << "deepseek-v3";
    QTest::newRow("of the generation before") << "Qwen/Qwen2-7B-Instruct"
                                              << "qwen2.5-7b";
    QTest::newRow("specialised") << "Qwen/Qwen2.5-Coder-32B-Instruct"
                                 << "qwen2.5-32b";
    QTest::newRow("distilled") << "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"
                               << "llama-3.1-8b";
    QTest::newRow("with another table") << "mistralai/Mistral-7B-Instruct-v0.3"
                                        << "mistral-7b-v0.3";
    QTest::newRow("vision") << "Qwen/Qwen2-VL-7B-Instruct"
                            << "qwen2-vl-7b";
    QTest::newRow("unknown") << "llama-9-7b"
                             << "none";
    QTest::newRow("empty") << ""
                           << "none";
    QTest::newRow("only an ending") << "instruct"
                                    << "none";
    QTest::newRow("only a slash") << "/"
                                  << "none";
}

void CatalogTest::findsModels()
{
    QFETCH(QString, name);
    QFETCH(QString, id);
    const Catalog& catalog = builtinCatalog();
    QCOMPARE(QString::fromStdString(idOf(catalog.model(name.toStdString()))), id);
}

void CatalogTest::findsGpus_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("id");
    QTest::newRow("id") << "h100-80gb"
                        << "h100-80gb";
    QTest::newRow("title") << "H100 80 GB"
                           << "h100-80gb";
    QTest::newRow("short") << "H100"
                           << "h100-80gb";
    QTest::newRow("driver's name, H100") << "NVIDIA H100 80GB HBM3"
                                         << "h100-80gb";
    QTest::newRow("driver's name, A100") << "NVIDIA A100-SXM4-80GB"
                                         << "a100-80gb";
    QTest::newRow("driver's name, 4090") << "NVIDIA GeForce RTX 4090"
                                         << "rtx-4090-24gb";
    QTest::newRow("V100") << "Tesla V100"
                          << "none";
    QTest::newRow("unknown") << "H900"
                             << "none";
    QTest::newRow("empty") << ""
                           << "none";
}

void CatalogTest::findsGpus()
{
    QFETCH(QString, name);
    QFETCH(QString, id);
    const Catalog& catalog = builtinCatalog();
    QCOMPARE(QString::fromStdString(idOf(catalog.gpu(name.toStdString()))), id);
}

/// CUDA reports some per cent less than the gigabytes (10⁹ or 2³⁰ bytes) in the name, never more than 2³⁰.
void CatalogTest::capacitiesFitTheirNames()
{
    for (const Gpu& gpu : builtinCatalog().gpus) {
        const QString title = QString::fromStdString(gpu.title);
        const auto match = QRegularExpression("(\\d+) GB$").match(title);
        QVERIFY2(match.hasMatch(), gpu.id.c_str());
        const double nominal = match.captured(1).toDouble();
        QVERIFY2(gpu.capacity.gib() <= nominal, gpu.id.c_str());
        QVERIFY2(gpu.capacity.gib() >= 0.88 * nominal, gpu.id.c_str());
        QVERIFY2(!gpu.architecture.empty(), gpu.id.c_str());
    }
}

void CatalogTest::userEntriesAddAndReplace()
{
    const Catalog& builtin = builtinCatalog();
    const Catalog catalog = catalogWith(
        {{"models/mine.yaml",
          "models:\n- id: mine\n  model: {layers: 2, hidden: 64, vocab: 100}\n- id: gpt2\n  title: Mine too\n"
          "  model: {layers: 1, hidden: 8, vocab: 10}\n"},
         {"models/notes.txt", "not a model"},
         {"gpus.yaml", "gpus:\n- {id: big, memory: 1024 GiB, memory_is: nominal}\n"}});
    QVERIFY(catalog.problems.empty());
    QCOMPARE(catalog.models.size(), builtin.models.size() + 1);
    QCOMPARE(catalog.model("mine")->title, std::string("mine"));
    QCOMPARE(catalog.model("gpt2")->plan.model.layers.value, 1);
    QCOMPARE(catalog.gpu("BIG")->capacity, gib(1024));
    QVERIFY(catalog.gpu("BIG")->isNominal);
}

void CatalogTest::brokenUserFiles_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("content");
    QTest::addColumn<int>("line");
    QTest::newRow("not YAML") << "models/a.yaml"
                              << "models: [" << -1;
    QTest::newRow("no mapping") << "models/a.yaml"
                                << "- 1\n"
                                << -1;
    QTest::newRow("empty") << "models/a.yaml"
                           << "" << -1;
    QTest::newRow("no id") << "models/a.yaml"
                           << "models:\n- model: {layers: 2, hidden: 8}\n"
                           << 2;
    QTest::newRow("no layers") << "models/a.yaml"
                               << "models:\n- id: a\n  model: {hidden: 8}\n"
                               << 2;
    QTest::newRow("text for a count") << "models/a.yaml"
                                      << "models:\n- id: a\n  model: {layers: many, hidden: 8}\n"
                                      << 3;
    QTest::newRow("unknown key") << "models/a.yaml"
                                 << "models:\n- id: a\n  model: {layers: 2, hidden: 8}\n  colour: red\n"
                                 << 4;
    QTest::newRow("field that is no model's")
        << "models/a.yaml"
        << "models:\n- id: a\n  model: {layers: 2, hidden: 8}\n  batch: {micro: 2}\n"
        << 4;
    QTest::newRow("negative count") << "models/a.yaml"
                                    << "models:\n- id: a\n  parameters: -3\n  model: {layers: 2, hidden: 8}\n"
                                    << 3;
    QTest::newRow("key outside the list") << "models/a.yaml"
                                          << "colour: red\n"
                                          << 1;
    QTest::newRow("GPU without memory") << "gpus.yaml"
                                        << "gpus:\n- {id: a}\n"
                                        << 2;
    QTest::newRow("GPU with nonsense memory") << "gpus.yaml"
                                              << "gpus:\n- {id: a, memory: lots}\n"
                                              << 2;
    QTest::newRow("GPU with negative memory") << "gpus.yaml"
                                              << "gpus:\n- {id: a, memory: -4 GiB}\n"
                                              << 2;
}

void CatalogTest::brokenUserFiles()
{
    QFETCH(QString, file);
    QFETCH(QString, content);
    QFETCH(int, line);
    const Catalog& builtin = builtinCatalog();
    const Catalog catalog = catalogWith({{file.toStdString(), content.toStdString()}});
    QVERIFY(!catalog.problems.empty());
    QVERIFY(QString::fromStdString(catalog.problems.front().file).endsWith(file.section('/', -1)));
    QVERIFY(!catalog.problems.front().text.isEmpty());
    if (line > 0) {
        QCOMPARE(catalog.problems.front().line, line);
    }
    QVERIFY(catalog.models.size() >= builtin.models.size());
}

QTEST_APPLESS_MAIN(CatalogTest)
#include "tst_catalog.moc"
