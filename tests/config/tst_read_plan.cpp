// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"
#include "footprint/recipe/architecture.h"
#include "footprint/recipe/parameters.h"
#include "plan/validity.h"
#include "support/folders.h"

#include <QtTest>

#include <filesystem>

using namespace headroom;

class TestReadPlan : public QObject
{
    Q_OBJECT

private slots:
    void readsBaseFields_data();
    void readsBaseFields();
    void valuesMeanWhatYamlReadersMake_data();
    void valuesMeanWhatYamlReadersMake();
    void originsNameTheLine();
    void presetIsBeneathTheFile();
    void effectiveRecompute_data();
    void effectiveRecompute();
    void problemsNameTheLine_data();
    void problemsNameTheLine();
    void brokenValuesGiveASentence_data();
    void brokenValuesGiveASentence();
    void unclearStaysUnknown_data();
    void unclearStaysUnknown();
    void absurdSizesAreNotTaken_data();
    void absurdSizesAreNotTaken();
    void modelsTellWhatIsOdd();
    void namedModelReplacesThePreset();
};

void TestReadPlan::readsBaseFields_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    const QString anchor = "parallel: {pp: 1}\n";
    const auto row = [&](const char* name, const char* text, const char* field, const char* value) {
        QTest::newRow(name) << anchor + text << field << value;
    };
    row("layers", "model: {layers: 24}", "model.layers", "24");
    row("num_hidden_layers", "model: {num_hidden_layers: 24}", "model.layers", "24");
    row("n_layer", "model: {n_layer: 24}", "model.layers", "24");
    row("hidden", "model: {h: 1024}", "model.hidden", "1024");
    row("hidden_size", "model: {hidden_size: 1024}", "model.hidden", "1024");
    row("ffn", "model: {intermediate_size: 4096}", "model.ffn", "4096");
    row("heads", "model: {num_attention_heads: 16}", "model.heads", "16");
    row("kv heads", "model: {num_query_groups: 8}", "model.kv_heads", "8");
    row("vocabulary", "model: {vocab_size: 50_000}", "model.vocab", "50000");
    row("untied", "model: {untie_embeddings_and_output_weights: true}", "model.tied_embeddings", "false");
    row("preset by name", "model: llama-3-8b", "model.layers", "32");
    row("preset in the block", "model: {preset: Llama 3 8B}", "model.hidden", "4096");
    row("preset as a name", "model: {name: llama-3-8b}", "model.vocab", "128256");
    row("a name that is no preset", "model: {name: my-model, layers: 3}", "model.name", "my-model");
    row("vision", "model: {vision: {depth: 27, patch_size: 16}}", "vision.layers", "27");
    row("tokens of an image", "model: {preset: qwen2-vl-7b, vision: {image_size: 896}}", "vision.tokens_per_image",
        "1024");
    row("projector", "model: {projector: {in: 1024, out: 4096}}", "projector.out", "4096");
    row("frozen list", "model: {freeze: [vision]}", "frozen.vision", "true");
    row("all frozen", "model: {freeze: True}", "frozen.all", "true");
    row("nothing frozen", "model: {freeze: no}", "frozen.all", "false");
    row("frozen list, the others", "model: {freeze: [vision]}", "frozen.llm", "false");
    row("frozen word", "model: {freeze: llm}", "frozen.llm", "true");
    row("frozen map", "model: {freeze: {vision: true, llm: false}}", "frozen.vision", "true");
    row("frozen by another name", "model: {freeze: [vit, connector]}", "frozen.projector", "true");
    row("micro", "train: {micro_batch_size: 2}", "batch.micro", "2");
    row("accumulation", "train: {gradient_accumulation_steps: 8}", "batch.accum", "8");
    row("global stays as written", "train: {micro_batch_size: 2, global_batch_size: 17}", "batch.global", "17");
    row("sequence", "train: {max_seq_len: 4096}", "batch.seq", "4096");
    row("context parallel", "parallel: {pp: 1, context_parallel_size: 4}", "parallel.cp", "4");
    row("chunks", "parallel: {pp: 1, virtual_pipeline_chunks: 2}", "parallel.vpp", "2");
    row("schedule", "parallel: {pp: 1, schedule: 1F1B}", "parallel.schedule", "1f1b");
    row("pipeline default", "parallel: {tp: 2}", "parallel.pp", "1");
    row("world", "hardware: {num_gpus: 16}", "parallel.world", "16");
    row("nodes", "hardware: {nodes: 2, gpus_per_node: 8}", "parallel.world", "16");
    row("stated world wins over nodes", "hardware: {nodes: 2, gpus_per_node: 8, world_size: 8}", "parallel.world", "8");
    row("capacity", "hardware: {capacity: 80GiB}", "hardware.capacity_bytes", "85899345920");
    row("capacity in GB", "hardware: {capacity: \"24 GB\"}", "hardware.capacity_bytes", "24000000000");
    row("gpu", "hardware: {gpu: h100-80gb}", "hardware.gpu", "h100-80gb");
    row("precision recipe", "precision: megatron-bf16", "precision.recipe", "megatron-bf16");
    row("precision dtype", "precision: bf16", "precision.recipe", "bf16");
    row("precision map", "precision: {params: bfloat16, grads: float32}", "precision.params", "bf16");
    row("optimizer", "optimizer: adamw", "optimizer.name", "adamw");
    row("optimizer map", "optimizer: {type: sgd, lr: 1e-5}", "optimizer.name", "sgd");
    row("modules", "recompute: {modules: [core_attn, mlp]}", "recompute.modules", "core_attn, mlp");
    row("one module", "recompute: {modules: core_attn}", "recompute.modules", "core_attn");
    row("merged", "x: &x {micro_batch_size: 2}\ntrain: {<<: *x}", "batch.micro", "2");
    row("last duplicate", "train: {micro_batch_size: 2, micro_batch_size: 4}", "batch.micro", "4");
}

void TestReadPlan::readsBaseFields()
{
    QFETCH(QString, text);
    QFETCH(QString, field);
    QFETCH(QString, value);
    const PlanReading reading = readingOf(parsed(text));
    QCOMPARE(fieldOf(reading.plan, field), value);
    for (const Problem& problem : reading.problems) {
        QVERIFY2(problem.severity != Severity::Error, problem.english().c_str());
    }
}

void TestReadPlan::valuesMeanWhatYamlReadersMake_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value"); // empty: not understood
    const auto row = [](const char* name, const char* text, const char* key, const char* field, const char* value) {
        QTest::newRow(name) << key << text << field << value;
    };
    // Where YAML 1.1 readers and the frameworks' own converters differ, the converters decide: they read the file.
    row("1e-5", "1e-5", "recompute.fraction", "recompute.fraction", "1e-05");
    row("1.0e-5", "1.0e-5", "recompute.fraction", "recompute.fraction", "1e-05");
    row("4_096", "4_096", "train.seq_length", "batch.seq", "4096");
    row("010", "010", "train.seq_length", "batch.seq", "8");
    row("0x10", "0x10", "train.seq_length", "batch.seq", "16");
    row("1e3", "1e3", "train.seq_length", "batch.seq", "1000");
    row("1:30", "1:30", "train.seq_length", "batch.seq", "");
    row("1,000", "1,000", "train.seq_length", "batch.seq", "");
    row("1.5", "1.5", "train.seq_length", "batch.seq", "");
    row("quoted", "\"4096\"", "train.seq_length", "batch.seq", "4096");
    row("tilde", "~", "train.seq_length", "batch.seq", "");
    row("Null", "Null", "train.seq_length", "batch.seq", "");
    row("nothing", "", "train.seq_length", "batch.seq", "");
    row("auto", "auto", "train.seq_length", "batch.seq", "");
    row("NaN", ".nan", "recompute.fraction", "recompute.fraction", "");
    row("infinity", ".inf", "recompute.fraction", "recompute.fraction", "");
    row("yes", "yes", "parallel.sequence_parallel", "parallel.sp", "true");
    row("on", "on", "parallel.sequence_parallel", "parallel.sp", "true");
    row("True", "True", "parallel.sequence_parallel", "parallel.sp", "true");
    row("off", "off", "parallel.sequence_parallel", "parallel.sp", "false");
    row("maybe", "maybe", "parallel.sequence_parallel", "parallel.sp", "");
    row("interpolation with a default", "${SEQ:4096}", "train.seq_length", "batch.seq", "4096");
    row("interpolation without one", "${SEQ}", "train.seq_length", "batch.seq", "");
    row("Full", "Full", "recompute.granularity", "recompute.granularity", "full");
}

void TestReadPlan::valuesMeanWhatYamlReadersMake()
{
    QFETCH(QString, key);
    QFETCH(QString, text);
    QFETCH(QString, field);
    QFETCH(QString, value);
    const QString block = key.section('.', 0, 0);
    const QString name = key.section('.', 1);
    const QString other = block == "train" ? "" : "train:\n  micro_batch_size: 1\n";
    const QString more = block == "train" ? "  micro_batch_size: 1\n" : "";
    const PlanReading reading = readingOf(parsed(other + block + ":\n  " + name + ": " + text + "\n" + more));
    QCOMPARE(fieldOf(reading.plan, field), value);
    const bool isNull = text.isEmpty() || text == "~" || text == "Null";
    const int line = block == "train" ? 2 : 4;
    const bool isReported = std::any_of(reading.problems.begin(), reading.problems.end(), [&](const Problem& problem) {
        return problem.line == line && problem.severity != Severity::Note;
    });
    QCOMPARE(isReported, value.isEmpty() && !isNull);
}

void TestReadPlan::originsNameTheLine()
{
    const PlanReading reading
        = readingOf(parsed("# header\nparallel:\n  pp: 2\nhardware:\n  nodes: 2\n  gpus_per_node: 8\n"));
    QCOMPARE(fieldOrigin(reading.plan, "parallel.pp").english(), std::string("test.yaml:3"));
    QCOMPARE(fieldOrigin(reading.plan, "parallel.tp").english(), std::string("default"));
    QCOMPARE(fieldOrigin(reading.plan, "parallel.world").english(), std::string("test.yaml:5"));
    QCOMPARE(fieldOrigin(reading.plan, "batch.micro").english(), std::string("unknown"));
    QCOMPARE(fieldOf(reading.plan, "framework"), QString("base-yaml"));
}

void TestReadPlan::presetIsBeneathTheFile()
{
    const PlanReading reading = readingOf(parsed("model:\n  preset: llama-3-8b\n  layers: 4\nparallel: {pp: 2}\n"));
    QCOMPARE(sentences(reading.problems), QStringList{});
    QCOMPARE(fieldOf(reading.plan, "model.layers"), QString("4"));
    QCOMPARE(fieldOrigin(reading.plan, "model.layers").english(), std::string("test.yaml:3"));
    QCOMPARE(fieldOrigin(reading.plan, "model.hidden").english(), std::string("preset llama-3-8b"));
}

void TestReadPlan::effectiveRecompute_data()
{
    QTest::addColumn<QString>("block");
    QTest::addColumn<QString>("enabled");
    QTest::addColumn<int>("severity"); // -1: nothing to say
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const char* block, const char* enabled, int severity, const char* sentence) {
        QTest::newRow(name) << block << enabled << severity << sentence;
    };
    constexpr int warning = static_cast<int>(Severity::Warning);
    constexpr int note = static_cast<int>(Severity::Note);
    row("no block", "", "false", -1, "");
    row("on", "recompute: {enabled: true, granularity: full}", "true", -1, "");
    row("off", "recompute: {enabled: false, granularity: none}", "false", -1, "");
    row("off alone", "recompute: {enabled: false}", "false", -1, "");
    row("enabled: false wins", "recompute: {enabled: false, granularity: full}", "false", -1, "");
    row("enabled without granularity", "recompute: {enabled: true}", "true", -1, "");
    row("enabled with none", "recompute: {enabled: true, granularity: none}", "true", -1, "");
    row("granularity alone", "recompute: {granularity: full}", "true", note, "enabled is not written");
    row("selective of layers", "recompute: {enabled: true, granularity: selective, num_layers: 4}", "true", -1, "");
    row("selective of modules", "recompute: {enabled: true, granularity: selective, modules: [mlp]}", "true", -1, "");
    row("selective of nothing", "recompute: {enabled: true, granularity: selective}", "true", warning,
        "neither num_layers nor modules");
}

void TestReadPlan::effectiveRecompute()
{
    QFETCH(QString, block);
    QFETCH(QString, enabled);
    QFETCH(int, severity);
    QFETCH(QString, sentence);
    const PlanReading reading = readingOf(parsed("parallel: {pp: 2}\n" + block));
    QCOMPARE(fieldOf(reading.plan, "recompute.enabled"), enabled);
    QCOMPARE(reading.problems.size(), severity < 0 ? std::size_t{0} : std::size_t{1});
    if (severity >= 0) {
        const Problem& problem = reading.problems.front();
        QCOMPARE(static_cast<int>(problem.severity), severity);
        QCOMPARE(problem.line, std::int64_t{2});
        QVERIFY2(QString::fromStdString(problem.english()).contains(sentence), problem.english().c_str());
    }
}

void TestReadPlan::problemsNameTheLine_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("expected");
    const auto row = [](const char* name, const char* text, const QStringList& expected) {
        QTest::newRow(name) << "parallel:\n  pp: 2\n" + QString(text) << expected;
    };
    row("not a number", "train: {micro_batch_size: two}",
        {"test.yaml:3: “two” is not a whole number, which train.micro_batch_size needs"});
    row("not a schedule", "  schedule: zigzag",
        {"test.yaml:3: “zigzag” is not one of the values of parallel.schedule: gpipe, 1f1b, interleaved, "
         "zb-h1, zb-h2, zb-v, v-half, v-min, dualpipe, dualpipev"});
    row("unknown preset", "model: nonesuch-7b", {"test.yaml:3: “nonesuch-7b” is not a model known here"});
    row("unknown recipe", "precision: int3",
        {"test.yaml:3: “int3” is not a precision recipe known here; fp32, bf16-mixed and megatron-bf16 are some"});
    row("unknown key", "  colour: red",
        {"test.yaml:3: “parallel.colour” is not a key of this format, so it is not used"});
    row("misspelt key", "  tensor_paralel_size: 2",
        {"test.yaml:3: “parallel.tensor_paralel_size” is not a key of this format, so it is not used; is "
         "“parallel.tensor_parallel_size” meant?"});
    row("misspelt block", "recomptue: {enabled: true}",
        {"test.yaml:3: “recomptue” is not a block of this format, so it is not used; is “recompute” meant?"});
    row("block with a single value", "train: 4", {"test.yaml:3: “train” is a single value; its keys belong below it"});
    row("two names for one field", "  pipeline_parallel_size: 4",
        {"test.yaml:2: “parallel.pp” is not used: “parallel.pipeline_parallel_size” on line 3 sets the same and comes "
         "first"});
    row("two names that agree", "  pipeline_parallel_size: 2", {});
    row("frozen part that is not known", "model: {freeze: [visoin]}",
        {"test.yaml:3: “visoin” is not one of the values of model.freeze"});
    row("filled in elsewhere", "train: {seq_length: \"${SEQ}\"}",
        {"test.yaml:3: “${SEQ}” is filled in by another program, so batch.seq is not known from this file"});
    row("keys that don't matter", "train: {lr: 1e-5, seed: 1}\nlogging: {x: 1}", {});
    row("capacity without unit", "hardware: {capacity: lots}",
        {"test.yaml:3: “lots” is not a size such as 80GiB, which hardware.capacity needs"});
}

void TestReadPlan::problemsNameTheLine()
{
    QFETCH(QString, text);
    QFETCH(QStringList, expected);
    QCOMPARE(sentences(readingOf(parsed(text)).problems), expected);
}

void TestReadPlan::brokenValuesGiveASentence_data()
{
    QTest::addColumn<QStringList>("places");
    QTest::newRow("nan.yaml") << QStringList{":2: “.nan” is not a whole number", ":4: “NaN” is not a whole number"};
    QTest::newRow("negative.yaml") << QStringList{":2: parallel.pp is -2; it must be between"};
    QTest::newRow("crlf_no_final_newline.yaml") << QStringList{":2: “two” is not a whole number"};
    QTest::newRow("bad_merge.yaml") << QStringList{":2: only mappings can be merged"};
}

void TestReadPlan::brokenValuesGiveASentence()
{
    QFETCH(QStringList, places);
    const std::filesystem::path path = testData("broken/config") / QTest::currentDataTag();
    const auto opened = openConfig(path, builtinFormats(), builtinCatalog());
    QVERIFY(opened);
    std::vector<Problem> problems = opened->problems;
    const auto more = validate(opened->plan);
    problems.insert(problems.end(), more.begin(), more.end());
    const QString all = sentences(problems).join('\n');
    for (const QString& place : places) {
        QVERIFY2(all.contains(QString::fromStdString(path.string()) + place), qPrintable(all));
    }
}

void TestReadPlan::unclearStaysUnknown_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("model"); ///< preset put beneath
    QTest::addColumn<QString>("field");
    QTest::addColumn<int>("line");
    QTest::newRow("over a default") << "parallel:\n  tensor_parallel_size: many\n"
                                    << ""
                                    << "parallel.tp" << 2;
    QTest::newRow("over a preset's") << "model:\n  preset: llama-3-8b\n  layers: lots\nparallel: {pp: 2}\n"
                                     << ""
                                     << "model.layers" << 3;
    QTest::newRow("filled in elsewhere") << "train:\n  micro_batch_size: ${MBS}\n"
                                         << "llama-3-8b"
                                         << "batch.micro" << 2;
    QTest::newRow("recipe") << "parallel: {pp: 2}\nprecision: weird\n"
                            << "llama-3-8b"
                            << "precision.recipe" << 2;
}

void TestReadPlan::unclearStaysUnknown()
{
    QFETCH(QString, text);
    QFETCH(QString, model);
    QFETCH(QString, field);
    const auto opened = openConfig(parsed(text), builtinFormats(), builtinCatalog());
    QVERIFY(opened);
    TrainingPlan named;
    if (!model.isEmpty()) {
        named = builtinCatalog().model(model.toStdString())->plan;
    }
    const TrainingPlan plan = composePlan(named, std::span(&*opened, 1), builtinCatalog());
    const Origin origin = fieldOrigin(plan, field.toStdString());
    QCOMPARE(origin.kind, OriginKind::Unknown);
    QTEST(static_cast<int>(origin.line), "line");
    QCOMPARE(fieldOf(plan, field), QString());
    QVERIFY2(sentences(validate(plan)).join('\n').contains(field + " is set here but not understood"),
             qPrintable(sentences(validate(plan)).join('\n')));
}

void TestReadPlan::absurdSizesAreNotTaken_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("field");
    const auto row = [](const char* name, const char* text, const char* field) {
        QTest::newRow(name) << QString(text) << QString(field);
    };
    row("layers", "train: {seq_length: 8}\nmodel: {layers: 1000000000000}\n", "model.layers");
    row("over a preset's", "train: {seq_length: 8}\nmodel: {preset: gpt2, num_layers: 0}\n", "model.layers");
    row("stages", "train: {seq_length: 8}\nparallel: {pp: -3}\n", "parallel.pp");
    row("micro-batch", "train: {micro_batch_size: 4611686018427387904}\n", "batch.micro");
}

void TestReadPlan::absurdSizesAreNotTaken()
{
    QFETCH(QString, text);
    QFETCH(QString, field);
    const PlanReading reading = readingOf(parsed(text));
    QVERIFY(sentences(reading.problems).join('\n').contains("it must be between"));
    QCOMPARE(fieldText(reading.plan, field.toStdString()), std::string());
    // Code that takes a value without asking whether it is known is safe from it too.
    QVERIFY(reading.plan.parallel.pp.value == 1 && reading.plan.model.layers.value <= 12);
}

void TestReadPlan::modelsTellWhatIsOdd()
{
    QTemporaryDir folder;
    QFile file(folder.filePath("config.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"model_type": "zamba2", "hidden_size": 7168, "num_hidden_layers": 61})");
    file.close();
    std::vector<Problem> problems;
    QVERIFY(openModel(file.fileName().toStdString(), builtinFormats(), builtinCatalog(), &problems));
    const QStringList said = sentences(problems);
    QCOMPARE(said.filter("“zamba2” is not a kind of model known here").size(), 1);
    QCOMPARE(said.filter("the estimate is incomplete").size(), 1);
}

void TestReadPlan::namedModelReplacesThePreset()
{
    const auto config = openConfig(parsed("model: {preset: qwen2-vl-7b, vision: {images_per_sample: 2}}\n"
                                          "train: {micro_batch_size: 2}\n"),
                                   builtinFormats(), builtinCatalog());
    QVERIFY(config);
    const auto model = openModel("llama-3-8b", builtinFormats(), builtinCatalog());
    QVERIFY(model);
    const TrainingPlan plan = composePlan(*model, {&*config, 1}, builtinCatalog());
    // Llama 3 8B's published count; a vision tower left over would add to it.
    QCOMPARE(qint64{modelParameters(architectureOf(plan), visionTowerOf(plan), projectorOf(plan))},
             qint64{8'030'261'248});
    QVERIFY(!plan.vision.layers.isKnown() && !plan.projector.type.isKnown());
    QCOMPARE(fieldText(plan, "batch.micro"), std::string("2"));
    QCOMPARE(fieldText(plan, "vision.images_per_sample"), std::string("2"));
}

QTEST_APPLESS_MAIN(TestReadPlan)
#include "tst_read_plan.moc"
