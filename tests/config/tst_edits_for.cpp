// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"

#include <QtTest>

using namespace headroom;

class TestEditsFor : public QObject
{
    Q_OBJECT

private slots:
    void editsSayTheDifference_data();
    void editsSayTheDifference();
    void recomputeIsTurnedOn();
    void editsAreRefused_data();
    void editsAreRefused();
    void editedFileReadsBack_data();
    void editedFileReadsBack();
};

void TestEditsFor::editsSayTheDifference_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("after");
    const auto row = [](const char* name, const char* text, const char* field, const char* value, const char* after) {
        QTest::newRow(name) << text << field << value << after;
    };
    row("own key", "parallel:\n  pipeline_parallel_size: 2 # x\n", "parallel.pp", "4",
        "parallel:\n  pipeline_parallel_size: 4 # x\n");
    row("alias that is there", "parallel:\n  pp: 2\n", "parallel.pp", "4", "parallel:\n  pp: 4\n");
    row("first key when none is there", "parallel:\n  pp: 2\n", "parallel.tp", "4",
        "parallel:\n  pp: 2\n  tensor_parallel_size: 4\n");
    row("block that is not there", "parallel:\n  pp: 2\n", "recompute.enabled", "true",
        "parallel:\n  pp: 2\nrecompute:\n  enabled: true\n");
    row("the one that is used", "parallel:\n  pp: 2\n  pipeline_parallel_size: 3\n", "parallel.pp", "4",
        "parallel:\n  pp: 2\n  pipeline_parallel_size: 4\n");
    row("the one that is not null", "parallel:\n  pp: 2\n  pipeline_parallel_size:\n", "parallel.pp", "4",
        "parallel:\n  pp: 4\n  pipeline_parallel_size:\n");
    row("null key before another", "parallel:\n  pp: 2\n  tp:\n", "parallel.tp", "4", "parallel:\n  pp: 2\n  tp: 4\n");
    row("capacity with its unit", "parallel: {pp: 2}\nhardware: {capacity: 80GiB}\n", "hardware.capacity_bytes",
        "24GiB", "parallel: {pp: 2}\nhardware: {capacity: 24GiB}\n");
    row("precision as a word", "parallel: {pp: 2}\nprecision: bf16\n", "precision.recipe", "fp32",
        "parallel: {pp: 2}\nprecision: fp32\n");
    row("precision in a map", "parallel: {pp: 2}\nprecision:\n  params: bf16\n", "precision.recipe", "fp32",
        "parallel: {pp: 2}\nprecision:\n  params: bf16\n  recipe: fp32\n");
    row("inverted flag", "parallel: {pp: 2}\nmodel: {untie_embeddings_and_output_weights: true}\n",
        "model.tied_embeddings", "true", "parallel: {pp: 2}\nmodel: {untie_embeddings_and_output_weights: false}\n");
    row("frozen list grows", "parallel: {pp: 2}\nmodel: {freeze: [vision]}\n", "frozen.llm", "true",
        "parallel: {pp: 2}\nmodel: {freeze: [vision, llm]}\n");
    row("frozen list shrinks", "parallel: {pp: 2}\nmodel: {freeze: [vit, llm]}\n", "frozen.vision", "false",
        "parallel: {pp: 2}\nmodel: {freeze: [llm]}\n");
    row("frozen without a list", "parallel: {pp: 2}\nmodel: {layers: 2}\n", "frozen.llm", "true",
        "parallel: {pp: 2}\nmodel: {layers: 2, freeze: {llm: true}}\n");
    row("modules", "parallel: {pp: 2}\nrecompute: {modules: [mlp]}\n", "recompute.modules", "mlp, core_attn",
        "parallel: {pp: 2}\nrecompute: {modules: [mlp, core_attn]}\n");
    row("world beside nodes", "parallel: {pp: 2}\nhardware: {nodes: 1, gpus_per_node: 8}\n", "parallel.world", "16",
        "parallel: {pp: 2}\nhardware: {nodes: 1, gpus_per_node: 8, world_size: 16}\n");
    // Frameworks that only switch it on or off: all layers, wholly.
    const char* axolotl = "base_model: a\nmicro_batch_size: 1\n";
    row("recompute as a switch", axolotl, "recompute.enabled", "true",
        "base_model: a\nmicro_batch_size: 1\ngradient_checkpointing: true\n");
    row("full is the switch", axolotl, "recompute.granularity", "full",
        "base_model: a\nmicro_batch_size: 1\ngradient_checkpointing: true\n");
    row("none is the switch off", "base_model: a\nmicro_batch_size: 1\ngradient_checkpointing: offload\n",
        "recompute.granularity", "none", "base_model: a\nmicro_batch_size: 1\ngradient_checkpointing: false\n");
    row("full is a word", "model: {d_model: 8}\nglobal_train_batch_size: 8\nactivation_checkpointing: null\n",
        "recompute.granularity", "full",
        "model: {d_model: 8}\nglobal_train_batch_size: 8\nactivation_checkpointing: whole_layer\n");
    row("on is a word", "model: {d_model: 8}\nglobal_train_batch_size: 8\n", "recompute.enabled", "true",
        "model: {d_model: 8}\nglobal_train_batch_size: 8\nactivation_checkpointing: whole_layer\n");
    row("a recipe that a switch means", "{\"zero_optimization\": {\"stage\": 2}}\n", "precision.recipe", "bf16-mixed",
        "{\"zero_optimization\": {\"stage\": 2}, \"bf16\": {\"enabled\": true}}\n");
    row("full for Megatron", "--num-layers: 2\n--hidden-size: 8\n--num-attention-heads: 1\n", "recompute.granularity",
        "full",
        "--num-layers: 2\n--hidden-size: 8\n--num-attention-heads: 1\n--recompute-granularity: full\n"
        "--recompute-method: uniform\n--recompute-num-layers: 1\n");
    row("full for Megatron with a method", "--num-layers: 2\n--hidden-size: 8\n--recompute-method: block\n",
        "recompute.granularity", "full",
        "--num-layers: 2\n--hidden-size: 8\n--recompute-method: block\n--recompute-granularity: full\n");
    row("full for NeMo",
        "trainer: {devices: 8}\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 8\n"
        "  activations_checkpoint_granularity: null\n  activations_checkpoint_method: null\n",
        "recompute.granularity", "full",
        "trainer: {devices: 8}\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 8\n"
        "  activations_checkpoint_granularity: full\n  activations_checkpoint_method: uniform\n"
        "  activations_checkpoint_num_layers: 1\n");
    // Off is what was there before anything was said.
    const char* megatron = "--num-layers: 2\n--hidden-size: 8\n--recompute-granularity: full\n"
                           "--recompute-method: block\n--recompute-num-layers: 1\n";
    row("off for Megatron", megatron, "recompute.enabled", "false",
        "--num-layers: 2\n--hidden-size: 8\n--recompute-granularity: null\n"
        "--recompute-method: null\n--recompute-num-layers: null\n");
    row("selective for Megatron", megatron, "recompute.granularity", "selective",
        "--num-layers: 2\n--hidden-size: 8\n--recompute-granularity: selective\n"
        "--recompute-method: null\n--recompute-num-layers: null\n");
    row("off as a word", "model: {d_model: 8}\nglobal_train_batch_size: 8\nactivation_checkpointing: whole_layer\n",
        "recompute.enabled", "false",
        "model: {d_model: 8}\nglobal_train_batch_size: 8\nactivation_checkpointing: null\n");
    row("same value", "parallel:\n  pp: 2\n", "parallel.pp", "2", "parallel:\n  pp: 2\n");
}

void TestEditsFor::editsSayTheDifference()
{
    QFETCH(QString, text);
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(QString, after);
    const ConfigDocument document = parsed(text);
    const ConfigFormat& format = formatOf(document);
    const TrainingPlan before = readingOf(document).plan;
    TrainingPlan changed = before;
    QVERIFY(setField(changed, field.toStdString(), value.toStdString(), {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(document, format, before, changed);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto result = document.set(*edits);
    QVERIFY2(result, result ? "" : result.error().english().c_str());
    QCOMPARE(QString::fromStdString(result->bytes()), after);
    QCOMPARE(fieldOf(readingOf(*result).plan, field), fieldOf(changed, field));
}

/// What the window does at a click on Full and on Selective.
void TestEditsFor::recomputeIsTurnedOn()
{
    const ConfigDocument document = parsed("--num-layers: 2\n--hidden-size: 8\n");
    const TrainingPlan before = readingOf(document).plan;
    TrainingPlan after = before;
    for (const auto& [field, value] :
         {std::pair{"recompute.enabled", "true"}, std::pair{"recompute.granularity", "selective"},
          std::pair{"recompute.modules", "core_attn"}}) {
        QVERIFY(setField(after, field, value, {OriginKind::Edited, 0, nullptr}));
    }
    TrainingPlan full = before;
    QVERIFY(setField(full, "recompute.enabled", "true", {OriginKind::Edited, 0, nullptr}));
    QVERIFY(setField(full, "recompute.granularity", "full", {OriginKind::Edited, 0, nullptr}));
    const auto all = editsFor(document, formatOf(document), before, full);
    QVERIFY2(all, all ? "" : all.error().english().c_str());
    QCOMPARE(*all,
             (std::vector<ConfigEdit>{{"--recompute-granularity", "full"},
                                      {"--recompute-method", "uniform"},
                                      {"--recompute-num-layers", "1"}}));
    const auto edits = editsFor(document, formatOf(document), before, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    QCOMPARE(*edits, (std::vector<ConfigEdit>{{"--recompute-granularity", "selective"}}));
    const auto written = document.set(*edits);
    QVERIFY(written);
    QVERIFY(difference(readingOf(*written).plan, after).empty());
}

void TestEditsFor::editsAreRefused_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("field without a key") << R"({"model_type": "llama", "hidden_size": 8})"
                                         << "parallel.pp"
                                         << "2"
                                         << "has no key for parallel.pp";
    QTest::newRow("preset's layers") << "parallel: {pp: 2}\nmodel: llama-3-8b"
                                     << "model.layers"
                                     << "4"
                                     << "model.layers comes from preset llama-3-8b";
    QTest::newRow("config.json knows no batch") << R"({"model_type": "llama", "hidden_size": 8})"
                                                << "batch.micro"
                                                << "2"
                                                << "Hugging Face config.json has no key for batch.micro";
}

void TestEditsFor::editsAreRefused()
{
    QFETCH(QString, text);
    QFETCH(QString, field);
    QFETCH(QString, value);
    QFETCH(QString, sentence);
    const ConfigDocument document = parsed(text);
    const ConfigFormat& format = formatOf(document);
    const TrainingPlan before = readingOf(document).plan;
    TrainingPlan changed = before;
    QVERIFY(setField(changed, field.toStdString(), value.toStdString(), {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(document, format, before, changed);
    QVERIFY(!edits);
    QVERIFY2(QString::fromStdString(edits.error().english()).contains(sentence), edits.error().english().c_str());
}

void TestEditsFor::editedFileReadsBack_data()
{
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    const std::vector<std::pair<const char*, const char*>> values{{"parallel.pp", "8"},
                                                                  {"parallel.tp", "2"},
                                                                  {"parallel.dp", "4"},
                                                                  {"parallel.cp", "2"},
                                                                  {"parallel.ep", "2"},
                                                                  {"parallel.vpp", "2"},
                                                                  {"parallel.sp", "true"},
                                                                  {"parallel.schedule", "gpipe"},
                                                                  {"batch.micro", "1"},
                                                                  {"batch.accum", "64"},
                                                                  {"batch.global", "128"},
                                                                  {"batch.seq", "8192"},
                                                                  {"recompute.enabled", "true"},
                                                                  {"recompute.granularity", "selective"},
                                                                  {"recompute.num_layers", "6"},
                                                                  {"recompute.modules", "mlp, moe"},
                                                                  {"precision.recipe", "fp16-mixed"},
                                                                  {"optimizer.name", "sgd"},
                                                                  {"hardware.gpu", "a100-40gb"},
                                                                  {"hardware.capacity_bytes", "25769803776"},
                                                                  {"parallel.world", "64"},
                                                                  {"shard.zero_stage", "1"},
                                                                  {"shard.dist_opt", "true"},
                                                                  {"model.layers", "48"},
                                                                  {"model.hidden", "2048"},
                                                                  {"model.ffn", "8192"},
                                                                  {"model.vocab", "32000"},
                                                                  {"frozen.vision", "true"},
                                                                  {"attention.impl", "flash"},
                                                                  {"lora.rank", "8"},
                                                                  {"vision.layers", "24"},
                                                                  {"projector.out", "2048"},
                                                                  {"moe.experts", "8"}};
    for (const auto& [key, value] : values) {
        QTest::newRow(key) << key << value;
    }
}

void TestEditsFor::editedFileReadsBack()
{
    QFETCH(QString, key);
    QFETCH(QString, value);
    const ConfigDocument document = parsed("train:\r\n    micro_batch_size: 2\r\nmodel:\r\n    heads: 16");
    const ConfigFormat& format = formatOf(document);
    const TrainingPlan before = readingOf(document).plan;
    TrainingPlan after = before;
    QVERIFY(setField(after, key.toStdString(), value.toStdString(), {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(document, format, before, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto result = document.set(*edits);
    QVERIFY2(result, result ? "" : result.error().english().c_str());
    const PlanReading reading = readingOf(*result);
    QCOMPARE(fieldOf(reading.plan, key), value);
    QCOMPARE(result->bytes().find("\n\n"), std::string::npos);
    QVERIFY(result->bytes().find('\n') == result->bytes().find("\r\n") + 1);
}

QTEST_APPLESS_MAIN(TestEditsFor)
#include "tst_edits_for.moc"
