// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/catalog.h"
#include "footprint/parameters.h"

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
    QTest::newRow("GPT-2 small") << "gpt2" << qint64{124'439'808};
    QTest::newRow("Llama 2 7B") << "llama-2-7b" << qint64{6'738'415'616};
    QTest::newRow("Llama 3 8B") << "llama-3-8b" << qint64{8'030'261'248};
    QTest::newRow("Llama 2 70B") << "llama-2-70b" << qint64{68'976'648'192};
    QTest::newRow("Qwen2.5 7B") << "qwen2.5-7b" << qint64{7'615'616'512};
    QTest::newRow("Mixtral 8x7B") << "mixtral-8x7b" << qint64{46'702'792'704};
    QTest::newRow("Qwen2-VL 7B") << "qwen2-vl-7b" << qint64{8'291'375'616};
    QTest::newRow("Qwen3 235B-A22B") << "qwen3-235b-a22b" << qint64{235'093'634'560};
    QTest::newRow("Mixtral 8x22B") << "mixtral-8x22b" << qint64{140'620'634'112};
    QTest::newRow("DeepSeek-V2-Lite") << "deepseek-v2-lite" << qint64{15'706'484'224};
    // Less the biases that balance the router: 256 in each of 58 layers.
    QTest::newRow("DeepSeek-V3") << "deepseek-v3" << qint64{671'026'419'200 - 58 * 256};
    // Less 64 sinks and the router's 32 biases in each of 24 layers.
    QTest::newRow("gpt-oss 20B") << "gpt-oss-20b" << qint64{20'914'757'184 - 24 * (64 + 32)};
    QTest::newRow("GPT-NeoX 20B") << "gpt-neox-20b" << qint64{20'554'567'680};
    QTest::newRow("Falcon 40B") << "falcon-40b" << qint64{41'303'293'952};
    QTest::newRow("Phi-4") << "phi-4" << qint64{14'659'507'200};
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
    QTest::newRow("chat model") << "meta-llama/Llama-2-7b-chat-hf"
                                << "llama-2-7b";
    QTest::newRow("instruct model") << "Qwen/Qwen2.5-7B-Instruct"
                                    << "qwen2.5-7b";
    QTest::newRow("alias") << "gpt2-small"
                           << "gpt2";
    QTest::newRow("trained from the same") << "deepseek-ai/DeepSeek-R1"
                                           << "deepseek-v3";
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
