// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli_fixture.h"

#include <QTest>

using namespace headroom::cli;

/// What check and estimate say of values that nobody gave: which are taken, which are needed, and how to give them.
class TestCliUnknowns : public CliFixture
{
    Q_OBJECT

private slots:
    void checkNamesThem_data();
    void checkNamesThem();
    void estimateAsksForThem_data();
    void estimateAsksForThem();
    void estimateSaysWhatItTook_data();
    void estimateSaysWhatItTook();
    void modelAloneTakesASmallBatch();
    void logSaysHowManyGpus();
    void logInThePlaceOfAConfig();
};

namespace {

constexpr const char* deepspeed = R"({"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": "auto"})";
constexpr const char* trainer = "per_device_train_batch_size: 2\nmodel_name_or_path: some/model\nmax_length: 2048\n";
constexpr const char* llama = R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
                                  "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000})";

} // namespace

void TestCliUnknowns::checkNamesThem_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QByteArray>("says");
    QTest::addColumn<QStringList>("unknown");
    const auto row = [](const char* name, const char* config, const QStringList& more, const char* says,
                        const QStringList& unknown) {
        QTest::newRow(name) << QByteArray(config) << more << QByteArray(says) << unknown;
    };
    row("all of it", deepspeed, {},
        "not known from these files: model.layers, model.hidden, model.vocab, batch.micro, batch.seq\n",
        {"model.layers", "model.hidden", "model.vocab", "batch.micro", "batch.seq"});
    row("a batch only", deepspeed, {"--model", "llama-3-8b"}, "not known from these files: batch.micro, batch.seq\n",
        {"batch.micro", "batch.seq"});
    row("a model only", trainer, {}, "not known from these files: model.layers, model.hidden, model.vocab\n",
        {"model.layers", "model.hidden", "model.vocab"});
    row("a name that means nothing here", trainer, {}, "“some/model” is not a model known here",
        {"model.layers", "model.hidden", "model.vocab"});
    row("no more than is said", deepspeed, {}, "\nHolds, as far as these files say.\n",
        {"model.layers", "model.hidden", "model.vocab", "batch.micro", "batch.seq"});
    row("all that is needed", trainer, {"--model", "llama-3-8b"}, "\nHolds.\n", {});
    row("GPUs", trainer, {"--model", "llama-3-8b"}, "the number of GPUs is not in these files; 1 taken (--world N)\n",
        {});
    row("an equation without a term", deepspeed, {}, "? micro × 1 accumulate × 1 data-parallel = ?, global batch ? ?",
        {"model.layers", "model.hidden", "model.vocab", "batch.micro", "batch.seq"});
}

void TestCliUnknowns::checkNamesThem()
{
    QFETCH(QByteArray, config);
    QFETCH(QStringList, more);
    QFETCH(QByteArray, says);
    QFETCH(QStringList, unknown);
    write("b.yaml", config);
    const Outcome outcome = run(QStringList{"check", "b.yaml"} + more);
    QVERIFY2((outcome.out + outcome.err).contains(says), outcome.out + outcome.err);
    QCOMPARE(outcome.out.contains("not known from these files"), !unknown.isEmpty());
    QStringList listed;
    const auto json = run(QStringList{"check", "b.yaml", "--json"} + more).json();
    for (const auto& field : json["unknown"]) {
        listed += QString::fromStdString(field.get<std::string>());
    }
    QCOMPARE(listed, unknown);
}

void TestCliUnknowns::estimateAsksForThem_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QByteArrayList>("asks");
    QTest::newRow("a model and a batch") << QByteArray(deepspeed) << QStringList()
                                         << QByteArrayList{"model.layers is not known", "--model PRESET|FILE",
                                                           "--set batch.micro=VALUE", "--set batch.seq=VALUE"};
    QTest::newRow("a batch") << QByteArray(deepspeed) << QStringList{"--model", "llama-3-8b"}
                             << QByteArrayList{"batch.micro is not known", "--set batch.micro=VALUE",
                                               "--set batch.seq=VALUE"};
    QTest::newRow("a length") << QByteArray(deepspeed) << QStringList{"--model", "llama-3-8b", "--set", "batch.micro=1"}
                              << QByteArrayList{"batch.seq is not known", "--set batch.seq=VALUE"};
    QTest::newRow("a model") << QByteArray(trainer) << QStringList()
                             << QByteArrayList{"“some/model” is not a model known here", "--model PRESET|FILE"};
    QTest::newRow("a run for a model file")
        << QByteArray(llama) << QStringList()
        << QByteArrayList{"batch.micro is not known", "--set batch.micro=VALUE", "--set batch.seq=VALUE"};
}

void TestCliUnknowns::estimateAsksForThem()
{
    QFETCH(QByteArray, config);
    QFETCH(QStringList, more);
    QFETCH(QByteArrayList, asks);
    write("b.yaml", config);
    const Outcome outcome = run(QStringList{"estimate", "b.yaml"} + more);
    QCOMPARE(outcome.code, 2);
    for (const QByteArray& text : asks) {
        QVERIFY2((outcome.out + outcome.err).contains(text), text + " in " + outcome.out + outcome.err);
    }
    QCOMPARE(outcome.err.contains("--model PRESET"), asks.contains("--model PRESET|FILE"));
}

void TestCliUnknowns::estimateSaysWhatItTook_data()
{
    QTest::addColumn<QStringList>("given");
    QTest::addColumn<QByteArray>("field");
    QTest::addColumn<bool>("isAssumed");
    const auto row = [](const char* name, const QStringList& given, const char* field, bool isAssumed) {
        QTest::newRow(name) << given << QByteArray(field) << isAssumed;
    };
    row("tied embeddings", {}, "model.tied_embeddings", true);
    row("tied embeddings given", {"--set", "model.tied_embeddings=true"}, "model.tied_embeddings", false);
    row("the data types", {}, "precision.recipe", true);
    row("the data types given", {"--set", "precision.recipe=bf16-mixed"}, "precision.recipe", false);
    row("the width of the MLP", {}, "model.ffn", true);
    row("the width of the MLP given", {"--set", "model.ffn=4096", "--set", "model.gated_mlp=false"}, "model.ffn",
        false);
}

void TestCliUnknowns::estimateSaysWhatItTook()
{
    QFETCH(QStringList, given);
    QFETCH(QByteArray, field);
    QFETCH(bool, isAssumed);
    const Outcome outcome = run(QStringList{"estimate", "a.yaml", "--instant"} + given);
    QCOMPARE(outcome.code, 0);
    const qsizetype table = outcome.out.indexOf("\nAssumed, and what the allocated peak");
    QCOMPARE(table >= 0 && outcome.out.indexOf(field, table) >= 0, isAssumed);
    const auto json = run(QStringList{"estimate", "a.yaml", "--instant", "--json"} + given).json();
    bool isListed = false;
    for (const auto& assumption : json["assumptions"]) {
        const bool isThis = assumption["field"].get<std::string>() == field.toStdString();
        isListed = isListed || isThis;
        QVERIFY(!isThis || (!assumption["taken"].get<std::string>().empty() && !assumption["alternatives"].empty()));
    }
    QCOMPARE(isListed, isAssumed);
}

/// A model's name and a number of GPUs are a question; what is taken for the batch is said, and can be given.
void TestCliUnknowns::modelAloneTakesASmallBatch()
{
    const QStringList question{"fit", "--model", "llama-3.1-8b", "--gpu", "h100-80gb", "--world", "8"};
    const Outcome outcome = run(question);
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.err.contains("note: batch.micro = 1 is assumed; give another with --set batch.micro=…"),
             outcome.err);
    QVERIFY2(outcome.err.contains("note: batch.seq = 4096 is assumed"), outcome.err);
    const Outcome given = run(question + QStringList{"--set", "batch.micro=1", "--set", "batch.seq=4096"});
    QCOMPARE(given.err, QByteArray());
    QCOMPARE(given.out, outcome.out);
}

/// 64 samples are 8 GPUs with 4 in each of 2 micro-batches; the message says what a GPU holds.
void TestCliUnknowns::logSaysHowManyGpus()
{
    write("b.yaml",
          "stage: sft\nfinetuning_type: full\nmodel_name_or_path: Qwen/Qwen2.5-14B\ncutoff_len: 4096\nbf16: true\n"
          "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n");
    write("b.log",
          "  Instantaneous batch size per device = 4\n"
          "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
          "  Gradient Accumulation steps = 2\n"
          "RuntimeError: CUDA out of memory. Tried to allocate 9.00 GiB (GPU 0; 64.00 GiB total capacity; 56.00 GiB "
          "already allocated; 5.00 GiB free; 58.00 GiB reserved in total by PyTorch)\n");
    const Outcome alone = run({"check", "b.yaml"});
    QVERIFY2(alone.out.contains("the number of GPUs is not in these files; 1 taken"), alone.out);
    const Outcome both = run({"check", "b.yaml", "--log", "b.log"});
    QVERIFY2(both.out.contains("4 micro × 2 accumulate × 8 data-parallel = 64, global batch 64 ✓"), both.out);
    QVERIFY2(both.out.contains("the number of GPUs, 8, follows from b.log:2"), both.out);
    const auto json = run({"check", "b.yaml", "--log", "b.log", "--json"}).json();
    QCOMPARE(json["plan"]["hardware.capacity_bytes"]["value"].get<std::int64_t>(), std::int64_t{64} << 30);
    // What the command line says goes before it.
    const Outcome other = run({"check", "b.yaml", "--log", "b.log", "--world", "4"});
    QVERIFY2(other.out.contains("4 micro × 2 accumulate × 4 data-parallel = 32"), other.out);
}

void TestCliUnknowns::logInThePlaceOfAConfig()
{
    write("b.log",
          "------------------------ arguments ------------------------\n"
          "  num_layers ...................................... 24\n"
          "  hidden_size ..................................... 1024\n"
          "  num_attention_heads ............................. 16\n"
          "  padded_vocab_size ............................... 50304\n"
          "  seq_length ...................................... 1024\n"
          "  micro_batch_size ................................ 4\n"
          "  pipeline_model_parallel_size .................... 2\n"
          "  world_size ...................................... 2\n"
          "-------------------- end of arguments ---------------------\n");
    const auto json = run({"estimate", "b.log", "--capacity", "80GiB", "--json"}).json();
    QCOMPARE(json["stages"].size(), std::size_t{2});
    QCOMPARE(json["plan"]["batch.micro"]["value"].get<std::int64_t>(), std::int64_t{4});
    const Outcome words = run({"estimate", "train.log"}); // measurements, but no arguments
    QCOMPARE(words.code, 2);
    QVERIFY2(words.err.contains("train.log: the log lists no arguments"), words.err);
}

QTEST_GUILESS_MAIN(TestCliUnknowns)
#include "tst_cli_unknowns.moc"
