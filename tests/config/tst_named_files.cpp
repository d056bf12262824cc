// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/open_plan.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace headroom;

namespace {

using Files = QMap<QString, QByteArray>;

/// "field=value @ file:line, …"; without a place, only the value counts.
void compare(const TrainingPlan& plan, const QString& expected, const QString& folder)
{
    for (const QString& part : expected.split(", ")) {
        const QString field = part.section('=', 0, 0);
        QString found = field + "=" + fieldOf(plan, field);
        if (part.contains(" @ ")) {
            const Origin origin = fieldOrigin(plan, field.toStdString());
            const QString file = QString::fromStdString(origin.source ? *origin.source : "nowhere");
            found += " @ " + QDir(folder).relativeFilePath(file) + ":" + QString::number(origin.line);
        }
        QCOMPARE(found, part);
    }
}

const QByteArray zero3 = "{\n  \"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"cpu\"}},\n"
                         "  \"train_micro_batch_size_per_gpu\": \"auto\",\n"
                         "  \"gradient_accumulation_steps\": \"auto\",\n  \"bf16\": {\"enabled\": \"auto\"}\n}\n";
const QByteArray tinyLlama
    = "{\n  \"model_type\": \"llama\",\n  \"num_hidden_layers\": 22,\n  \"hidden_size\": 2048,\n"
      "  \"intermediate_size\": 5632,\n  \"num_attention_heads\": 32,\n  \"num_key_value_heads\": 4,\n"
      "  \"vocab_size\": 32000\n}\n";

} // namespace

/// Plans from several files: what a config names is read with it, and each value keeps its own place.
class TestNamedFiles : public QObject
{
    Q_OBJECT

private slots:
    void plans_data();
    void plans();
    void problems_data();
    void problems();
    void filesThatNameOneAnotherEnd();
    void editsStayInTheConfig();
    void launchers_data();
    void launchers();

private:
    QTemporaryDir m_folder;

    void write(const Files& files);
    Result<OpenedConfig> opened(const QString& name) const
    {
        return openConfig(m_folder.filePath(name).toStdString(), builtinFormats(), builtinCatalog());
    }
};

void TestNamedFiles::write(const Files& files)
{
    QDir folder(m_folder.path());
    for (const QString& entry : folder.entryList(QDir::AllEntries | QDir::NoDotAndDotDot)) {
        QFileInfo(folder.filePath(entry)).isDir() ? QDir(folder.filePath(entry)).removeRecursively()
                                                  : folder.remove(entry);
    }
    for (auto file = files.begin(); file != files.end(); ++file) {
        folder.mkpath(QFileInfo(folder.filePath(file.key())).path());
        QFile out(folder.filePath(file.key()));
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(file.value());
    }
}

void TestNamedFiles::plans_data()
{
    QTest::addColumn<Files>("files");
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("fields");
    QTest::newRow("LLaMA-Factory with DeepSpeed, below the repository")
        << Files{{"examples/deepspeed/z3.json", zero3},
                 {"examples/train/a.yaml",
                  "stage: sft\nfinetuning_type: full\ntemplate: x\nper_device_train_batch_size: 2\nbf16: true\n"
                  "deepspeed: examples/deepspeed/z3.json\n"}}
        << "examples/train/a.yaml"
        << "shard.zero_stage=3 @ examples/deepspeed/z3.json:2, shard.offload_params=true @ "
           "examples/deepspeed/z3.json:2, batch.micro=2 @ examples/train/a.yaml:4, batch.accum=1, "
           "precision.recipe=bf16-mixed @ examples/train/a.yaml:6";
    QTest::newRow("a number in the DeepSpeed file where Trainer's is silent")
        << Files{{"ds.json", "{\"zero_optimization\": {\"stage\": 1}, \"gradient_accumulation_steps\": 4}"},
                 {"a.yaml", "per_device_train_batch_size: 2\ndeepspeed: ds.json\n"}}
        << "a.yaml"
        << "batch.accum=4 @ ds.json:1, shard.zero_stage=1 @ ds.json:1";
    QTest::newRow("Axolotl with a model's folder and DeepSpeed")
        << Files{{"models/tiny/config.json", tinyLlama},
                 {"zero3.json", zero3},
                 {"a.yaml",
                  "base_model: ./models/tiny\nmicro_batch_size: 1\nsequence_len: 4096\n"
                  "deepspeed: zero3.json\nbf16: auto\n"}}
        << "a.yaml"
        << "model.layers=22 @ models/tiny/config.json:3, model.kv_heads=4 @ models/tiny/config.json:7, "
           "model.ffn=5632, batch.seq=4096 @ a.yaml:3, shard.zero_stage=3 @ zero3.json:2";
    QTest::newRow("a hybrid's folder: its mixers are part of the model")
        << Files{{"tiny/config.json",
                  "{\n  \"model_type\": \"qwen3_next\",\n  \"num_hidden_layers\": 8,\n  \"hidden_size\": 512,\n"
                  "  \"num_attention_heads\": 8,\n  \"full_attention_interval\": 4,\n"
                  "  \"linear_num_value_heads\": 16,\n  \"vocab_size\": 1000\n}\n"},
                 {"a.yaml",
                  "model_name_or_path: tiny\nstage: sft\nfinetuning_type: full\ntemplate: x\n"
                  "per_device_train_batch_size: 2\n"}}
        << "a.yaml"
        << "model.layers=8 @ tiny/config.json:3, mixer.attention_every=4 @ tiny/config.json:6, "
           "mixer.heads=16 @ tiny/config.json:7";
    QTest::newRow("a script with both")
        << Files{{"tiny/config.json", tinyLlama},
                 {"ds.json", zero3},
                 {"run.sh",
                  "MODEL=tiny\ntorchrun --nproc_per_node 4 --nnodes 2 train.py \\\n"
                  "  --model_name_or_path $MODEL \\\n  --per_device_train_batch_size 3 \\\n"
                  "  --bf16 True --deepspeed ds.json\n"}}
        << "run.sh"
        << "model.layers=22 @ tiny/config.json:3, batch.micro=3 @ run.sh:4, shard.zero_stage=3 @ ds.json:2, "
           "parallel.world=8";
    QTest::newRow("accelerate's file in a script")
        << Files{{"fsdp.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_processes: 16\n"},
                 {"run.sh", "accelerate launch --config_file fsdp.yaml train.py --per_device_train_batch_size 3\n"}}
        << "run.sh"
        << "parallel.world=16 @ fsdp.yaml:3, shard.fsdp=true, batch.micro=3 @ run.sh:1";
    QTest::newRow("the script's number of processes wins over accelerate's file")
        << Files{{"fsdp.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_processes: 16\n"},
                 {"run.sh",
                  "accelerate launch --config_file fsdp.yaml --num_processes 8 train.py \\\n"
                  "  --per_device_train_batch_size 3\n"}}
        << "run.sh"
        << "parallel.world=8 @ run.sh:1";
    QTest::newRow("a DeepSpeed file wins over accelerate's own fields")
        << Files{{"ds.json", "{\"zero_optimization\": {\"stage\": 2}}"},
                 {"a.yaml",
                  "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\n"
                  "deepspeed_config:\n  zero_stage: 3\n  deepspeed_config_file: ds.json\n"}}
        << "a.yaml"
        << "shard.zero_stage=2 @ ds.json:1";
    QTest::newRow("Hydra: _self_ first, so the files win")
        << Files{{"conf/train/7b.yaml",
                  "system: {tensor_model_parallel_size: 2, pipeline_model_parallel_size: 4}\n"
                  "model:\n  num_layers: 32\n  hidden_size: 4096\n  num_attention_heads: 32\n"},
                 {"conf/config.yaml", "defaults:\n  - _self_\n  - train: 7b\nexperiment: {exp_name: a}\n"}}
        << "conf/config.yaml"
        << "model.layers=32 @ conf/train/7b.yaml:3, parallel.pp=4 @ conf/train/7b.yaml:1, parallel.tp=2";
    QTest::newRow("Hydra: _self_ last, so the config wins")
        << Files{{"base.yaml",
                  "trainer: {devices: 8, num_nodes: 1}\nmodel:\n  tensor_model_parallel_size: 2\n"
                  "  pipeline_model_parallel_size: 2\n"},
                 {"a.yaml",
                  "defaults:\n  - base\n  - _self_\ntrainer: {devices: 4, num_nodes: 1}\n"
                  "model: {tensor_model_parallel_size: 4}\n"}}
        << "a.yaml"
        << "parallel.tp=4 @ a.yaml:5, parallel.pp=2 @ base.yaml:4";
    QTest::newRow("Megatron's flags give way to --yaml-cfg")
        << Files{{"m.yaml",
                  "language_model: {num_layers: 8, hidden_size: 512, num_attention_heads: 8}\n"
                  "model_parallel: {tensor_model_parallel_size: 2}\nmicro_batch_size: 4\n"},
                 {"run.sh",
                  "torchrun --nproc_per_node 2 pretrain_gpt.py --num-layers 24 --hidden-size 1024 \\\n"
                  "  --num-attention-heads 16 --micro-batch-size 1 --yaml-cfg m.yaml\n"}}
        << "run.sh"
        << "model.layers=8 @ m.yaml:1, batch.micro=4 @ m.yaml:3, parallel.tp=2 @ m.yaml:2, parallel.world=2";
    QTest::newRow("mmengine's _base_")
        << Files{{"base.py", "batch_size = 1\naccumulative_counts = 16\nmax_length = 2048\n"},
                 {"a.py", "_base_ = ['./base.py']\nbatch_size = 2\naccumulative_counts = 8\nmax_length = 4096\n"}}
        << "a.py"
        << "batch.micro=2 @ a.py:2, batch.seq=4096 @ a.py:4";
}

void TestNamedFiles::plans()
{
    QFETCH(Files, files);
    QFETCH(QString, config);
    QFETCH(QString, fields);
    write(files);
    const auto opened_ = opened(config);
    QVERIFY2(opened_, opened_ ? "" : opened_.error().english().c_str());
    QVERIFY(!opened_->files.empty());
    for (const Problem& problem : opened_->problems) {
        QVERIFY2(problem.severity == Severity::Note, problem.english().c_str());
    }
    compare(opened_->plan, fields, m_folder.path());
}

void TestNamedFiles::problems_data()
{
    QTest::addColumn<Files>("files");
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("problem");
    const QByteArray trainer = "per_device_train_batch_size: 2\n";
    QTest::newRow("a missing file") << Files{{"a.yaml", trainer + "deepspeed: ds.json\n"}} << "a.yaml"
                                    << "a.yaml:2: “ds.json” is not on this machine, so what it says is not known";
    QTest::newRow("a missing model") << Files{{"a.yaml", trainer + "model_name_or_path: /no/such/model\n"}} << "a.yaml"
                                     << "a.yaml:2: “/no/such/model” is not on this machine, so what it says is not "
                                        "known";
    QTest::newRow("a model of a hub") << Files{{"a.yaml", trainer + "model_name_or_path: some/model\n"}} << "a.yaml"
                                      << "a.yaml:2: “some/model” is not a model known here";
    QTest::newRow("a built-in name for DeepSpeed")
        << Files{{"a.yaml", "tuner_type: full\nper_device_train_batch_size: 1\ndeepspeed: zero2\n"}} << "a.yaml"
        << QString();
    QTest::newRow("a broken file") << Files{{"ds.json", "{\"zero_optimization\": ["},
                                            {"a.yaml", trainer + "deepspeed: ds.json\n"}}
                                   << "a.yaml"
                                   << "ds.json:";
    QTest::newRow("two batch sizes")
        << Files{{"ds.json", "{\n\"zero_optimization\": {},\n\"train_micro_batch_size_per_gpu\": 4\n}"},
                 {"a.yaml", trainer + "deepspeed: ds.json\n"}}
        << "a.yaml"
        << "a.yaml:1: batch.micro is 2 here and 4 on line 3 of ";
    QTest::newRow("the same batch size twice")
        << Files{{"ds.json", "{\"zero_optimization\": {}, \"train_micro_batch_size_per_gpu\": 2}"},
                 {"a.yaml", trainer + "deepspeed: ds.json\n"}}
        << "a.yaml" << QString();
}

void TestNamedFiles::problems()
{
    QFETCH(Files, files);
    QFETCH(QString, config);
    QFETCH(QString, problem);
    write(files);
    const auto opened_ = opened(config);
    QVERIFY2(opened_, opened_ ? "" : opened_.error().english().c_str());
    QCOMPARE(fieldOf(opened_->plan, "batch.micro"),
             config == "a.yaml" && files.value(config).contains("tuner") ? "1" : "2");
    QStringList found = sentences(opened_->problems);
    found.replaceInStrings(m_folder.path() + "/", QString());
    if (problem.isEmpty()) {
        QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
    } else {
        QCOMPARE(found.size(), 1);
        QVERIFY2(found.first().startsWith(problem), qPrintable(found.first()));
        QVERIFY(opened_->problems.front().severity != Severity::Error);
    }
}

void TestNamedFiles::filesThatNameOneAnotherEnd()
{
    write({{"a.yaml", "defaults: [b]\ntrainer: {devices: 8, num_nodes: 1}\nmodel: {tensor_model_parallel_size: 2}\n"},
           {"b.yaml",
            "defaults: [a, b]\ntrainer: {devices: 1, num_nodes: 1}\n"
            "model: {tensor_model_parallel_size: 1, pipeline_model_parallel_size: 3}\n"}});
    const auto config = opened("a.yaml");
    QVERIFY2(config, config ? "" : config.error().english().c_str());
    compare(config->plan, "parallel.tp=2 @ a.yaml:3, parallel.pp=3 @ b.yaml:3, parallel.world=8", m_folder.path());
}

/// A value of another file is written into the config, which wins; the other file stays as it is.
void TestNamedFiles::editsStayInTheConfig()
{
    write({{"ds.json", "{\"zero_optimization\": {\"stage\": 1}, \"gradient_accumulation_steps\": 4}"},
           {"a.yaml", "per_device_train_batch_size: 2\ndeepspeed: ds.json\n"}});
    const auto config = opened("a.yaml");
    QVERIFY(config);
    TrainingPlan after = config->plan;
    QVERIFY(setField(after, "batch.micro", "1", {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(config->document, *config->format, config->plan, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto changed = config->document.set(*edits);
    QVERIFY(changed);
    QCOMPARE(changed->bytes(), std::string("per_device_train_batch_size: 1\ndeepspeed: ds.json\n"));
    const auto again = openConfig(*changed, builtinFormats(), builtinCatalog());
    QVERIFY(again);
    QCOMPARE(fieldOf(again->plan, "batch.micro"), QString("1"));
    QCOMPARE(fieldOf(again->plan, "batch.accum"), QString("4"));
}

void TestNamedFiles::launchers_data()
{
    QTest::addColumn<QByteArray>("script");
    QTest::addColumn<QString>("world");
    const QByteArray flags = " --tensor-model-parallel-size 2 --micro-batch-size 1\n";
    const auto row = [&](const char* name, const QByteArray& launcher, const char* world) {
        QTest::newRow(name) << launcher + flags << world;
    };
    row("torchrun", "torchrun --nproc_per_node 8 --nnodes=4 a.py", "32");
    row("torchrun on one node", "torchrun --nproc-per-node 8 a.py", "8");
    row("torchrun in an array", "D=(\n  --nproc_per_node 4\n  --nnodes 2\n)\ntorchrun ${D[@]} a.py", "8");
    row("nodes known only when it runs", "torchrun --nproc_per_node 8 --nnodes $1 a.py", "");
    row("processes known only when it runs", "torchrun --nproc_per_node $1 --nnodes 4 a.py", "");
    row("torchrun below Slurm",
        "#!/bin/bash\n#SBATCH --nodes=16\n#SBATCH --ntasks-per-node=1\n"
        "srun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES a.py",
        "128");
    row("deepspeed", "deepspeed --num_gpus 8 --num_nodes 2 a.py", "16");
    row("accelerate counts all machines", "accelerate launch --num_machines 2 --num_processes 16 a.py", "16");
    row("srun", "srun -N 2 --ntasks-per-node 8 python a.py", "16");
    row("srun with all tasks", "srun --ntasks=24 python a.py", "24");
    row("sbatch in short form", "#!/bin/bash\n#SBATCH -N 4\n#SBATCH --ntasks-per-node 8\nsrun python a.py", "32");
    row("GPUs as a general resource", "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:4\nsrun python a.py", "8");
    row("of a type, beside others", "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:a100:8,tmpfs:10G\nsrun python a.py",
        "16");
    row("tasks beside the resource", "#!/bin/bash\n#SBATCH --gres=gpu:8\n#SBATCH --ntasks-per-node=4\nsrun python a.py",
        "4");
    row("a resource that is no GPU", "#!/bin/bash\n#SBATCH --gres=tmpfs:10\nsrun python a.py", "");
    row("mpirun", "mpirun -np 4 python a.py", "4");
    row("no launcher", "python a.py", "");
}

void TestNamedFiles::launchers()
{
    QFETCH(QByteArray, script);
    QFETCH(QString, world);
    write({{"run.sh", script}});
    const auto config = opened("run.sh");
    QVERIFY2(config, config ? "" : config.error().english().c_str());
    QCOMPARE(fieldOf(config->plan, "parallel.world"), world);
}

QTEST_APPLESS_MAIN(TestNamedFiles)
#include "tst_named_files.moc"
