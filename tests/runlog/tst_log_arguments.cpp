// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/catalog.h"
#include "config/config_format.h"
#include "plan/fields.h"
#include "runlog/log_arguments.h"
#include "runlog/log_launch.h"
#include "runlog/read_log.h"

#include <QTest>

using namespace headroom;

/// What a log tells of the run's settings.
class LogArgumentsTest : public QObject
{
    Q_OBJECT

private slots:
    void arguments();
    void argumentsOfOthers_data();
    void argumentsOfOthers();
    void planOfMegatron();
    void sizesOfTheFirstLine();
    void listsWithoutTheUsual_data();
    void listsWithoutTheUsual();
    void parameters();
    void meshes_data();
    void meshes();
    void launchOfARun_data();
    void launchOfARun();
    void statedStaysBesideALog();
};

void LogArgumentsTest::arguments()
{
    const Run run = readLogText("using world size: 8, data-parallel size: 2, context-parallel size: 1, "
                                "tensor-model-parallel size: 2, pipeline-model-parallel size: 2\n"
                                "------------------------ arguments ------------------------\n"
                                "  hidden_size ..................................... 4096\n"
                                "  distributed_timeout_minutes_for_checkpointing_x  10\n"
                                "  data_path ....................................... ['a b', 'c']\n"
                                "-------------------- end of arguments ---------------------\n"
                                "  not_an_argument ................................. 1\n",
                                "train.log");
    const std::vector<LogArgument> arguments = argumentsOf(run);
    QStringList list;
    for (const LogArgument& argument : arguments) {
        list << QString::fromStdString(argument.key + '=' + argument.value + '@' + std::to_string(argument.line));
    }
    const QStringList expected{QStringLiteral("world_size=8@1"),
                               QStringLiteral("data_parallel_size=2@1"),
                               QStringLiteral("context_parallel_size=1@1"),
                               QStringLiteral("tensor_model_parallel_size=2@1"),
                               QStringLiteral("pipeline_model_parallel_size=2@1"),
                               QStringLiteral("hidden_size=4096@3"),
                               QStringLiteral("distributed_timeout_minutes_for_checkpointing_x=10@4"),
                               QStringLiteral("data_path=['a b', 'c']@5")};
    QCOMPARE(list, expected);
}

void LogArgumentsTest::argumentsOfOthers_data()
{
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    QTest::newRow("DeepSpeed") << QByteArray("[config.py:1:print] DeepSpeedEngine configuration:\n"
                                             "[2021-05-27 21:32:10,901] [INFO] [config.py:751:print]   "
                                             "zero_optimization_stage ...... 1\n")
                               << QByteArray("zero_optimization_stage") << QByteArray("1");
    QTest::newRow("Hugging Face") << QByteArray("TrainingArguments(\nbf16=True,\nper_device_train_batch_size=4,\n)\n")
                                  << QByteArray("per_device_train_batch_size") << QByteArray("4");
    QTest::newRow("torchtitan") << QByteArray(
        "Running with configs: {'training': {'seq_len': 8192, 'compile': False}}\n")
                                << QByteArray("training.seq_len") << QByteArray("8192");
    QTest::newRow("banner") << QByteArray("  Instantaneous batch size per device = 4\n")
                            << QByteArray("Instantaneous batch size per device") << QByteArray("4");
}

void LogArgumentsTest::argumentsOfOthers()
{
    QFETCH(QByteArray, log);
    QFETCH(QByteArray, key);
    QFETCH(QByteArray, value);
    const std::vector<LogArgument> arguments = argumentsOf(readLogText(log.toStdString(), "train.log"));
    const auto found = std::find_if(arguments.begin(), arguments.end(),
                                    [&](const LogArgument& argument) { return argument.key == key.toStdString(); });
    QVERIFY(found != arguments.end());
    QCOMPARE(QByteArray::fromStdString(found->value), value);
}

void LogArgumentsTest::planOfMegatron()
{
    const Run run = readLogText("------------------------ arguments ------------------------\n"
                                "  num_layers ...................................... 24\n"
                                "  hidden_size ..................................... 2048\n"
                                "  num_attention_heads ............................. 16\n"
                                "  seq_length ...................................... 4096\n"
                                "  micro_batch_size ................................ 2\n"
                                "  pipeline_model_parallel_size .................... 4\n"
                                "  tensor_model_parallel_size ...................... 2\n"
                                "  num_query_groups ................................ None\n"
                                "  recompute_granularity ........................... None\n"
                                "-------------------- end of arguments ---------------------\n",
                                "train.log");
    const auto plan = planOfArguments(run, ConfigFormats::load(), Catalog{});
    QVERIFY2(plan, plan ? "" : plan.error().english().c_str());
    QCOMPARE(plan->model.layers.value, std::int64_t{24});
    QCOMPARE(plan->model.hidden.value, std::int64_t{2048});
    QCOMPARE(plan->batch.micro.value, std::int64_t{2});
    QCOMPARE(plan->parallel.pp.value, std::int64_t{4});
    QCOMPARE(plan->parallel.pp.origin.line, std::int32_t{7});
    QCOMPARE(plan->parallel.pp.origin.kind, OriginKind::Log);
    QCOMPARE(plan->recompute.granularity.origin.kind, OriginKind::Log);
    QCOMPARE(plan->recompute.granularity.origin.line, std::int32_t{10});
    QVERIFY(!plan->recompute.enabled.value);
    QVERIFY(!planOfArguments(readLogText("nothing\n", "a.log"), ConfigFormats::load(), Catalog{}));
}

/// Megatron says the parallel sizes on one line above its list, which repeats them or does not.
void LogArgumentsTest::sizesOfTheFirstLine()
{
    const std::string banner = "using world size: 16, data-parallel size: 2, context-parallel size: 1, "
                               "tensor-model-parallel size: 2, pipeline-model-parallel size: 4\n";
    const std::string list = "------------------------ arguments ------------------------\n"
                             "  hidden_size ..................................... 2048\n"
                             "  micro_batch_size ................................ 2\n"
                             "  num_attention_heads ............................. 16\n"
                             "  num_layers ...................................... 24\n";
    const std::string sizes = "  pipeline_model_parallel_size .................... 4\n"
                              "  tensor_model_parallel_size ...................... 2\n";
    for (const std::string& more : {std::string(), sizes}) {
        const auto plan = planOfArguments(readLogText(banner + list + more, "train.log"), ConfigFormats::load(), {});
        QVERIFY(plan);
        QCOMPARE(plan->parallel.tp.value, std::int64_t{2});
        QCOMPARE(plan->parallel.pp.value, std::int64_t{4});
        QCOMPARE(plan->parallel.tp.origin.kind, OriginKind::Log);
        QCOMPARE(plan->parallel.pp.origin.line, std::int32_t{1});
        QCOMPARE(plan->parallel.world.value, std::int64_t{16});
        QCOMPARE(plan->model.layers.origin.line, std::int32_t{6});
    }
}

void LogArgumentsTest::listsWithoutTheUsual_data()
{
    QTest::addColumn<QByteArray>("more");
    QTest::addColumn<QStringList>("left");
    const QByteArray usual = "  attention_dropout ............................... 0.0\n"
                             "  bf16 ............................................ True\n"
                             "  ffn_hidden_size ................................. 8192\n"
                             "  global_batch_size ............................... 16\n"
                             "  hidden_dropout .................................. 0.0\n"
                             "  make_vocab_size_divisible_by .................... 128\n"
                             "  pipeline_model_parallel_size .................... 1\n"
                             "  tensor_model_parallel_size ...................... 1\n";
    // An old list has neither sequence parallelism nor a distributed optimizer, and is whole all the same.
    QTest::newRow("whole") << usual << QStringList{};
    QTest::newRow("a line or two lost") << usual.mid(usual.indexOf("  ffn")) << QStringList{};
    QTest::newRow("what is not default only")
        << QByteArray("  bf16 ............................................ True\n")
        << QStringList{
               "parallel.tp",        "parallel.pp",         "batch.accum", "model.ffn", "model.vocab_pad_multiple",
               "model.attn_dropout", "model.hidden_dropout"};
}

/// A list without what every list has: what Megatron-LM takes instead is no statement of the log.
void LogArgumentsTest::listsWithoutTheUsual()
{
    QFETCH(QByteArray, more);
    QFETCH(QStringList, left);
    const Run run = readLogText(("------------------------ arguments ------------------------\n"
                                 "  hidden_size ..................................... 2048\n"
                                 "  micro_batch_size ................................ 2\n"
                                 "  num_attention_heads ............................. 16\n"
                                 "  num_layers ...................................... 24\n"
                                 + more + "-------------------- end of arguments ---------------------\n")
                                    .toStdString(),
                                "train.log");
    const auto plan = planOfArguments(run, ConfigFormats::load(), Catalog{});
    QVERIFY(plan);
    const std::vector<std::string> fields = fieldsLeftToDefaults(run, *plan);
    QVERIFY(fields.empty() == left.isEmpty());
    for (const QString& field : left) {
        QVERIFY2(std::ranges::find(fields, field.toStdString()) != fields.end() || field == u"batch.accum",
                 qPrintable(field));
    }
    QVERIFY(std::ranges::find(fields, "batch.micro") == fields.end());
    QVERIFY(std::ranges::find(fields, "precision.recipe") == fields.end());
}

void LogArgumentsTest::parameters()
{
    const std::vector<LogParameters> list = parametersOf(readLogText(
        "[rank5]: > number of parameters on (tensor, pipeline) model parallel rank (3, 2): 1132938240\n"
        " > number of parameters on model parallel rank 3            52.005 Billion\n"
        "... | number of nan iterations:   0 |Number of parameters in transformer block in billions:  1.35\n"
        "trainable params: 3,784,704 || all params: 467,772,416 || trainable%: 0.8091\n",
        "a.log"));
    QCOMPARE(list.size(), std::size_t{5});
    QCOMPARE(list[0].count, std::int64_t{1132938240});
    QCOMPARE(list[0].rank, 5);
    QCOMPARE(list[0].what, std::string("tensor, pipeline (3, 2)"));
    QCOMPARE(list[1].count, std::int64_t{52005000000});
    QCOMPARE(list[2].count, std::int64_t{1350000000});
    QCOMPARE(list[2].line, std::int64_t{3});
    QCOMPARE(list[3].count, std::int64_t{467772416});
    QCOMPARE(list[4].count, std::int64_t{3784704});
}

void LogArgumentsTest::meshes_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("fields"); // as the plan says them; empty: nothing is taken
    const QByteArray head = "[rank0]:[titan] 2026-01-01 10:00:00,000 - root - INFO - ";
    const auto row = [&](const char* name, const QByteArray& line, const QByteArray& fields) {
        QTest::newRow(name) << head + line << fields;
    };
    row("one dimension", "Building 1-D device mesh with ['dp_shard'], [8]",
        "parallel.tp=1 parallel.pp=1 parallel.cp=1 parallel.world=8");
    row("three", "Building 3-D device mesh with ['pp', 'dp_shard', 'tp'], [2, 4, 2]",
        "parallel.tp=2 parallel.pp=2 parallel.cp=1 parallel.world=16");
    row("hybrid shards", "Building 2-D device mesh with ['dp_replicate', 'dp_shard'], [2, 4]",
        "parallel.dp_replicate=2 parallel.world=8");
    row("parts with experts", "Building 3-D device mesh with ['dp_shard_mod_ep', 'dp_shard_in_ep', 'cp'], [2, 4, 2]",
        "parallel.cp=2 parallel.world=16");
    row("all by name",
        "Building device mesh with parallelism: pp=2, dp_replicate=1, dp_shard=4, cp=1, tp=2, ep=4, etp=1",
        "parallel.tp=2 parallel.pp=2 parallel.ep=4 parallel.world=16");
    row("sizes and names differ in number", "Building 2-D device mesh with ['dp_shard', 'tp'], [8]", {});
    row("no number", "Building 1-D device mesh with ['dp_shard'], [x]", {});
    row("absurd", "Building 1-D device mesh with ['dp_shard'], [99999999999999999999]", {});
}

/// torchtitan's device mesh is the run's parallel sizes.
void LogArgumentsTest::meshes()
{
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, fields);
    const Run run = readLogText(("first\n" + line + '\n').toStdString(), "train.log");
    TrainingPlan plan;
    completeFromLog(plan, run, Catalog{});
    if (fields.isEmpty()) {
        QVERIFY(!plan.parallel.world.isKnown() && !plan.parallel.tp.isStated());
        return;
    }
    for (const QByteArray& field : fields.split(' ')) {
        const std::string key = field.left(field.indexOf('=')).toStdString();
        QCOMPARE(QByteArray::fromStdString(fieldText(plan, key)), field.mid(field.indexOf('=') + 1));
        QCOMPARE(fieldOrigin(plan, key).kind, OriginKind::Log);
        QCOMPARE(fieldOrigin(plan, key).line, std::int32_t{2});
    }
    // What a config says stays.
    TrainingPlan stated;
    QVERIFY(setField(stated, "parallel.tp", "1", {OriginKind::ConfigFile, 3, nullptr}));
    completeFromLog(stated, run, Catalog{});
    QCOMPARE(stated.parallel.tp.value, std::int64_t{1});
}

void LogArgumentsTest::launchOfARun_data()
{
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<QByteArray>("field");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<int>("line");
    const QByteArray banner = "INFO >> ***** Running training *****\n"
                              "INFO >>   Instantaneous batch size per device = 4\n"
                              "INFO >>   Total train batch size (w. parallel, distributed & accumulation) = 1,024\n"
                              "INFO >>   Gradient Accumulation steps = 2\n";
    QTest::newRow("micro-batch") << banner << QByteArray("batch.micro") << QByteArray("4") << 2;
    QTest::newRow("accumulation") << banner << QByteArray("batch.accum") << QByteArray("2") << 4;
    QTest::newRow("replicas: 1024 / 4 / 2") << banner << QByteArray("parallel.dp") << QByteArray("128") << 3;
    QTest::newRow("capacity of a message") << QByteArray(
        "step\nRuntimeError: CUDA out of memory. Tried to allocate 172.00 MiB (GPU 0; 64.00 GiB total "
        "capacity; 60.00 GiB already allocated; 100.25 MiB free; 61.00 GiB reserved in total by PyTorch)\n")
                                           << QByteArray("hardware.capacity_bytes") << QByteArray("68719476736") << 2;
    QTest::newRow("name of the GPU") << QByteArray(
        "[rank0]:[titan] 2026-01-01 10:00:00,000 - root - INFO - CUDA capacity: NVIDIA A100-SXM4-80GB "
        "with 79.15GiB memory\n") << QByteArray("hardware.gpu")
                                     << QByteArray("a100-80gb") << 1;
    QTest::newRow("Megatron's world") << QByteArray(
        "using world size: 16, data-parallel size: 4, context-parallel size: 1, "
        "tensor-model-parallel size: 2, pipeline-model-parallel size: 2\n")
                                      << QByteArray("parallel.dp") << QByteArray("4") << 1;
}

void LogArgumentsTest::launchOfARun()
{
    QFETCH(QByteArray, log);
    QFETCH(QByteArray, field);
    QFETCH(QByteArray, value);
    QFETCH(int, line);
    TrainingPlan plan;
    completeFromLog(plan, readLogText(log.toStdString(), "train.log"), Catalog::load());
    QCOMPARE(QByteArray::fromStdString(fieldText(plan, field.toStdString())), value);
    const Origin origin = fieldOrigin(plan, field.toStdString());
    QCOMPARE(origin.kind, OriginKind::Log);
    QCOMPARE(static_cast<int>(origin.line), line);
}

/// Neither what a config says nor a total that is no multiple of the batch is touched.
void LogArgumentsTest::statedStaysBesideALog()
{
    const Run run = readLogText("  Instantaneous batch size per device = 4\n"
                                "  Total train batch size (w. parallel, distributed & accumulation) = 36\n"
                                "  Gradient Accumulation steps = 2\n",
                                "train.log");
    TrainingPlan plan;
    plan.batch.micro.set(8, {OriginKind::ConfigFile, 1, nullptr});
    completeFromLog(plan, run, Catalog{});
    QCOMPARE(plan.batch.micro.value, std::int64_t{8});
    QVERIFY(!plan.parallel.dp.isStated());
    QVERIFY(!plan.hardware.capacityBytes.isKnown());
}

QTEST_APPLESS_MAIN(LogArgumentsTest)
#include "tst_log_arguments.moc"
