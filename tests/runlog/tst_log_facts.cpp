// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/catalog.h"
#include "config/config_format.h"
#include "plan/fields.h"
#include "runlog/log_arguments.h"
#include "runlog/log_launch.h"
#include "runlog/out_of_memory.h"
#include "runlog/read_log.h"

#include <QTest>

using namespace headroom;

namespace {

constexpr double gibi = 1073741824;

Bytes bytes(double value)
{
    return Bytes{static_cast<std::int64_t>(value + 0.5)};
}

} // namespace

/// What a log tells besides its measurements.
class LogFactsTest : public QObject
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
    void capacity();
    void cause_data();
    void cause();
    void oldCachedIsBeyondAllocated();
    void hardWrapped();
    void otherProcesses();
    void severalOtherProcesses();
    void ownProcessInAContainer();
    void meshes_data();
    void meshes();
    void launchOfARun_data();
    void launchOfARun();
    void statedStaysBesideALog();
    void noFigure();
    void phaseOfTraceback_data();
    void phaseOfTraceback();
    void sizesOfTensors();
    void requestAlone();
    void gradientBuffers();
    void inferredPhases();
    void cumulativeMaximum();
};

void LogFactsTest::arguments()
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

void LogFactsTest::argumentsOfOthers_data()
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

void LogFactsTest::argumentsOfOthers()
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

void LogFactsTest::planOfMegatron()
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
void LogFactsTest::sizesOfTheFirstLine()
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

void LogFactsTest::listsWithoutTheUsual_data()
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
void LogFactsTest::listsWithoutTheUsual()
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

void LogFactsTest::parameters()
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

void LogFactsTest::capacity()
{
    QCOMPARE(capacityOf(readLogText("CUDA capacity: NVIDIA H100 with 95.00GiB memory\n", "a.log")), bytes(95 * gibi));
    QCOMPARE(capacityOf(readLogText(
                 "| N/A   54C    P0  147W /  700W |    1521MiB /  81559MiB |      0%      Default |\n", "a.log")),
             bytes(81559.0 * 1048576));
    QVERIFY(!capacityOf(readLogText("nothing\n", "a.log")));
}

void LogFactsTest::cause_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<int>("cause");
    const auto row = [](const char* name, const char* message, OutOfMemoryCause cause) {
        QTest::newRow(name) << QByteArray(message) << static_cast<int>(cause);
    };
    const char* const head = "torch.OutOfMemoryError: CUDA out of memory. ";
    const auto modern = [&](const char* rest) { return QByteArray(head) + rest; };
    row("shortage",
        modern(
            "Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 300.00 MiB is free. "
            "Including non-PyTorch memory, this process has 78.80 GiB memory in use. Of the allocated memory 77.50 GiB "
            "is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated."),
        OutOfMemoryCause::Shortage);
    row("fragmentation: what no tensor uses would do",
        modern(
            "Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which 1.66 GiB is free. Of the "
            "allocated memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is reserved by PyTorch but unallocated."),
        OutOfMemoryCause::Fragmentation);
    row("outside: another process holds it",
        modern(
            "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.00 GiB is free. Process 77 "
            "has 40.00 GiB memory in use. Of the allocated memory 36.00 GiB is allocated by PyTorch, and 500.00 MiB is "
            "reserved by PyTorch but unallocated."),
        OutOfMemoryCause::OutsideAllocator);
    row("giant block",
        modern(
            "Tried to allocate 32.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 20.00 GiB is free. Of the "
            "allocated memory 57.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated."),
        OutOfMemoryCause::GiantBlock);
    row("limit",
        modern("Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 20.00 GiB is free. 1.05 "
               "GiB "
               "allowed; Of the allocated memory 900.00 MiB is allocated by PyTorch, and 100.00 MiB is reserved by "
               "PyTorch "
               "but unallocated."),
        OutOfMemoryCause::Limit);
    row("host", "  exitcode  : -9 (pid: 4242)", OutOfMemoryCause::Host);
    row("no sizes", "RuntimeError: CUDA error: out of memory", OutOfMemoryCause::Unknown);
}

void LogFactsTest::cause()
{
    QFETCH(QByteArray, message);
    QFETCH(int, cause);
    const std::vector<OutOfMemory> list = outOfMemoryOf(readLogText((message + '\n').toStdString(), "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(static_cast<int>(list[0].cause), cause);
    QVERIFY(!list[0].meaning.english().empty());
}

void LogFactsTest::oldCachedIsBeyondAllocated()
{
    const auto list = outOfMemoryOf(readLogText("RuntimeError: CUDA out of memory. Tried to allocate 1024.00 MiB (GPU "
                                                "0; 15.90 GiB total capacity; 14.25 GiB already "
                                                "allocated; 991.56 MiB free; 607.00 KiB cached)\n",
                                                "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].reserved, std::optional(bytes(14.25 * gibi + 607 * 1024)));
}

void LogFactsTest::hardWrapped()
{
    const auto list = outOfMemoryOf(readLogText(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.84 GiB (GPU 1; 23.52 GiB total capacity; "
        "10.80 "
        "GiB already allocated; 496.38 MiB free; 13.06 GiB reserved in\ntotal by PyTorch) If reserved memory is >>\n",
        "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].requested, std::optional(bytes(1.84 * gibi)));
    QCOMPARE(list[0].reserved, std::optional(bytes(13.06 * gibi)));
    QCOMPARE(list[0].cause, OutOfMemoryCause::Fragmentation);
}

void LogFactsTest::otherProcesses()
{
    const auto list = outOfMemoryOf(readLogText(
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 514.00 MiB. GPU 3 has a total capacity "
        "of "
        "79.10 GiB of which 287.56 MiB is free. Process 3441597 has 2.50 GiB memory in use. Including non-PyTorch "
        "memory, this "
        "process has 76.25 GiB memory in use. Of the allocated memory 70.88 GiB is allocated by PyTorch, with 572.00 "
        "MiB "
        "allocated in private pools (e.g., CUDA Graphs), and 1.43 GiB is reserved by PyTorch but unallocated.\n",
        "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].rank, 3);
    QCOMPARE(list[0].device, std::optional<std::int64_t>(3));
    QCOMPARE(list[0].otherProcesses, std::optional(bytes(2.5 * gibi)));
    QCOMPARE(list[0].process, std::optional(bytes(76.25 * gibi)));
    QCOMPARE(list[0].privatePools, std::optional(bytes(572.0 * 1048576)));
}

/// Every process of the sentence counts, on one line and over several.
void LogFactsTest::severalOtherProcesses()
{
    const std::string head
        = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
          "capacity of 79.00 GiB of which 1.00 GiB is free. ";
    const std::string tail = "Including non-PyTorch memory, this process has 60.00 GiB memory in use. Of the allocated "
                             "memory 58.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but "
                             "unallocated.\n";
    const std::string first = "Process 11 has 4.00 GiB memory in use.",
                      second = "Process 12 has 6.50 GiB memory in use.",
                      third = "Process 13 has 512.00 MiB memory in use.";
    for (const char* between : {" ", "\n"}) {
        const auto list
            = outOfMemoryOf(readLogText(head + first + between + second + between + third + between + tail, "a.log"));
        QCOMPARE(list.size(), std::size_t{1});
        QCOMPARE(list[0].otherProcesses, std::optional(bytes(11 * gibi)));
        QCOMPARE(list[0].process, std::optional(bytes(60 * gibi)));
    }
}

/// There PyTorch finds its own process under the host's number only, and names it like any other. A small one is not
/// it.
void LogFactsTest::ownProcessInAContainer()
{
    const std::string head = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.50 GiB. GPU 5 has a "
                             "total capacity of 79.00 "
                             "GiB of which ";
    const std::string tail = " Of the allocated memory 63.25 GiB is allocated by PyTorch, and 4.25 GiB is reserved by "
                             "PyTorch but unallocated.\n";
    const auto alone
        = outOfMemoryOf(readLogText(head + "9.25 GiB is free. Process 4021 has 69.75 GiB memory in use." + tail, "a"));
    QCOMPARE(alone.size(), std::size_t{1});
    QCOMPARE(alone[0].process, std::optional(bytes(69.75 * gibi)));
    QVERIFY(!alone[0].otherProcesses);
    const auto two = outOfMemoryOf(readLogText(
        head + "3.25 GiB is free. Process 17 has 6.00 GiB memory in use. Process 4021 has 69.75 GiB memory in use."
            + tail,
        "a"));
    QCOMPARE(two[0].otherProcesses, std::optional(bytes(6.0 * gibi)));
}

void LogFactsTest::meshes_data()
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
void LogFactsTest::meshes()
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

void LogFactsTest::launchOfARun_data()
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

void LogFactsTest::launchOfARun()
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
void LogFactsTest::statedStaysBesideALog()
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

/// Windows reports 17179869184 GiB where it has no figure.
void LogFactsTest::noFigure()
{
    const auto list = outOfMemoryOf(readLogText(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 8.00 "
        "GiB of "
        "which 0 bytes is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of "
        "the "
        "allocated memory 9.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n",
        "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QVERIFY(!list[0].process);
    QCOMPARE(list[0].cause, OutOfMemoryCause::Shortage);
}

void LogFactsTest::phaseOfTraceback_data()
{
    QTest::addColumn<QByteArray>("frames");
    QTest::addColumn<int>("phase");
    const auto row
        = [](const char* name, const char* frames, int phase) { QTest::newRow(name) << QByteArray(frames) << phase; };
    row("forward", "  File \"/a/model.py\", line 3, in forward\n", static_cast<int>(Phase::Forward));
    row("backward",
        "  File \"/a/train.py\", line 3, in train_step\n  File \"/t/autograd/__init__.py\", line 4, in backward\n",
        static_cast<int>(Phase::Backward));
    row("recomputed forward in the backward",
        "  File \"/t/autograd/__init__.py\", line 4, in backward\n  File \"/a/model.py\", line 3, in forward\n",
        static_cast<int>(Phase::Backward));
    row("optimizer", "  File \"/t/optim/adamw.py\", line 3, in step\n", static_cast<int>(Phase::Optimizer));
    row("neither", "  File \"/a/data.py\", line 3, in load\n", -1);
}

void LogFactsTest::phaseOfTraceback()
{
    QFETCH(QByteArray, frames);
    QFETCH(int, phase);
    const auto list = outOfMemoryOf(readLogText(("Traceback (most recent call last):\n" + frames
                                                 + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 "
                                                   "GiB. GPU 0 has a total capacity of 8.00 GiB of "
                                                   "which 0 bytes is free.\n")
                                                    .toStdString(),
                                                "a.log"));
    QCOMPARE(list.size(), std::size_t{1});
    QCOMPARE(list[0].phase ? static_cast<int>(*list[0].phase) : -1, phase);
}

/// 2 × 8192 tokens × 128256 words × 4 bytes = 8,405,385,216 = 4008 × 2 MiB; scores 2 × 32 × 8192² × 2 bytes = 8 GiB.
void LogFactsTest::sizesOfTensors()
{
    TrainingPlan plan;
    plan.batch.micro = std::int64_t{2};
    plan.batch.seq = std::int64_t{8192};
    plan.model.vocab = std::int64_t{128256};
    plan.model.heads = std::int64_t{32};
    const std::vector<Text> logits = blocksOfSize(bytes(8405385216), plan);
    QCOMPARE(logits.size(), std::size_t{1});
    QVERIFY(logits[0].english().find("logits in 32 bits") != std::string::npos);
    const std::vector<Text> scores = blocksOfSize(bytes(8 * gibi), plan);
    QCOMPARE(scores.size(), std::size_t{1});
    QVERIFY(scores[0].english().find("scores in 16 bits") != std::string::npos);
    QVERIFY(blocksOfSize(bytes(3 * gibi), plan).empty());
}

/// What is asked for, without what is allocated, is told as far as it goes.
void LogFactsTest::requestAlone()
{
    const Run run
        = readLogText("[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 KiB. GPU 3 "
                      "has a total capacity of 79.11 GiB of which 0.25 GiB is free.\n",
                      "a.log");
    const std::vector<OutOfMemory> all = outOfMemoryOf(run);
    QCOMPARE(all.size(), std::size_t{1});
    QCOMPARE(all[0].cause, OutOfMemoryCause::Unknown);
    QCOMPARE(all[0].meaning.english(),
             std::string("512.0 KiB were asked for. The message does not say how much was "
                         "allocated, so the cause stays open."));
}

/// 1,132,938,240 parameters of a rank in 32 bits are 4321.8 MiB, which PyTorch rounds up to 4322 MiB: 4.22 GiB.
void LogFactsTest::gradientBuffers()
{
    const Run run = readLogText(
        " > number of parameters on (tensor, pipeline) model parallel rank (3, 2): 1132938240\n", "a.log");
    const std::vector<LogParameters> parameters = parametersOf(run);
    const auto found = [&](double gib) { return buffersOfSize(bytesFrom(gib * 0x1p30), parameters); };
    QCOMPARE(found(4.22).size(), std::size_t{1});
    QCOMPARE(found(4.22)[0].english(),
             std::string("a gradient buffer in 32 bits of the 1,132,938,240 parameters the log names"));
    QCOMPARE(found(2.11)[0].english(),
             std::string("a gradient buffer in 16 bits of the 1,132,938,240 parameters the log names"));
    QVERIFY(found(4.3).empty());
    QVERIFY(found(4.2).empty());
}

void LogFactsTest::inferredPhases()
{
    std::string text;
    for (const char* message :
         {"Engine before forward", "Engine after forward", "Engine after backward", "Engine after step"}) {
        text += std::string(message) + "\nMA 1 GB         Max_MA 2 GB         CA 3 GB         Max_CA 3 GB\n";
    }
    const Run run = readLogText(text, "a.log");
    QCOMPARE(run.size(), std::size_t{4});
    QCOMPARE(run.phaseNames[run.phase[0]], std::string("engine before forward"));
    QCOMPARE(run.phase[1], static_cast<std::uint8_t>(Phase::Forward));
    QCOMPARE(run.phase[2], static_cast<std::uint8_t>(Phase::Backward));
    QCOMPARE(run.phase[3], static_cast<std::uint8_t>(Phase::Optimizer));
    QCOMPARE(run.inferences.size(), std::size_t{1});
    QVERIFY(readLogText("phase=forward step=1 peak_alloc=1GiB\n", "a.log").inferences.empty());
}

/// ORTModule's maximum is never reset: where it did not rise the phase's own peak is not known.
void LogFactsTest::cumulativeMaximum()
{
    const auto line = [](const char* phase, int maximum) {
        return QStringLiteral(
                   "rank-0 step 5 memory (MiB) | phase: %1 | allocated: 1 | max allocated: %2 | cached: 9 | max "
                   "cached: 9 | inactive: 4 | max inactive: 8\n")
            .arg(QLatin1String(phase))
            .arg(maximum)
            .toStdString();
    };
    const Run run
        = readLogText(line("post_forward", 100) + line("post_backward", 100) + line("post_forward", 120), "a.log");
    QCOMPARE(run.size(), std::size_t{3});
    QCOMPARE(run.phaseNames[run.phase[0]], std::string("forward"));
    QCOMPARE(run.phaseNames[run.phase[1]], std::string(Run::wholeStep));
    QCOMPARE(run.phaseNames[run.phase[2]], std::string("forward"));
}

QTEST_APPLESS_MAIN(LogFactsTest)
#include "tst_log_facts.moc"
