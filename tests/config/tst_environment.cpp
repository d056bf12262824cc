// SPDX-License-Identifier: GPL-3.0-or-later
//
// Variables of the environment that PyTorch and Transformer Engine read: in launch scripts, in the mappings of other
// files, and where nothing can set them.
#include "config_fixture.h"

#include "config/environment_value.h"
#include "config/export_plan.h"

#include <QtTest>

using namespace headroom;

namespace {

constexpr const char* header = "#!/bin/bash\n#SBATCH --nodes=1\n";
constexpr const char* command = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 \\\n"
                                "  --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \\\n"
                                "  --micro-batch-size 2 --global-batch-size 32 --bf16\n";

ConfigDocument script(const QString& text)
{
    auto document = ConfigDocument::parse(text.toStdString(), "train.sh");
    if (!document) {
        qFatal("%s", document.error().english().c_str());
    }
    return std::move(*document);
}

} // namespace

class TestEnvironment : public QObject
{
    Q_OBJECT

private slots:
    void options_data();
    void options();
    void workspaces_data();
    void workspaces();
    void readsScripts_data();
    void readsScripts();
    void readsMappings_data();
    void readsMappings();
    void writesScripts_data();
    void writesScripts();
    void saysWhereItBelongs();
    void exports();
};

void TestEnvironment::options_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("value"); ///< of max_split_size_mb; "-": not there
    QTest::addColumn<QString>("changed"); ///< with 128
    const auto row = [](const char* name, const char* text, const char* value, const char* changed) {
        QTest::newRow(name) << text << value << changed;
    };
    row("alone", "max_split_size_mb:512", "512", "max_split_size_mb:128");
    row("not there", "backend:native", "-", "backend:native,max_split_size_mb:128");
    row("nothing", "", "-", "max_split_size_mb:128");
    row("first", "max_split_size_mb:512,backend:native", "512", "max_split_size_mb:128,backend:native");
    row("last", "backend:native, max_split_size_mb : 512", "512", "backend:native,max_split_size_mb:128");
    row("after a list", "roundup_power2_divisions:[256:1,512:2],max_split_size_mb:512", "512",
        "roundup_power2_divisions:[256:1,512:2],max_split_size_mb:128");
    row("within a list", "x:[a:1,max_split_size_mb:2]", "-", "x:[a:1,max_split_size_mb:2],max_split_size_mb:128");
    row("no colon", "max_split_size_mb", "", "max_split_size_mb:128");
    row("brackets that don't match", "a:[[1,max_split_size_mb:2", "-",
        "a:[[1,max_split_size_mb:2,max_split_size_mb:128");
}

void TestEnvironment::options()
{
    QFETCH(QString, text);
    QFETCH(QString, value);
    QFETCH(QString, changed);
    const auto found = optionValue(text.toStdString(), "max_split_size_mb");
    QCOMPARE(found ? QString::fromStdString(*found) : QStringLiteral("-"), value);
    QCOMPARE(QString::fromStdString(withOption(text.toStdString(), "max_split_size_mb", "128")), changed);
}

void TestEnvironment::workspaces_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("bytes");
    QTest::addColumn<QString>("back"); ///< "-": can't be written
    // cuBLAS: ":4096:8" are 8 buffers of 4096 KiB.
    QTest::newRow("deterministic") << ":4096:8"
                                   << "33554432"
                                   << ":4096:8";
    QTest::newRow("small") << ":16:8"
                           << "131072"
                           << ":16:8";
    QTest::newRow("PyTorch's own before Hopper") << ":4096:2:16:8"
                                                 << "8519680"
                                                 << ":4096:2:16:8";
    QTest::newRow("none") << ":0:0"
                          << "0"
                          << "-";
    QTest::newRow("size without a count") << ":4096"
                                          << ":4096"
                                          << "-";
    QTest::newRow("no number") << ":a:b"
                               << ":a:b"
                               << "-";
    QTest::newRow("too large") << ":9999999999:8"
                               << ":9999999999:8"
                               << "-";
    QTest::newRow("a word") << "x"
                            << "x"
                            << "-";
    QTest::newRow("no whole buffer") << ":1:1"
                                     << "1024"
                                     << "-";
}

void TestEnvironment::workspaces()
{
    QFETCH(QString, text);
    QFETCH(QString, bytes);
    QFETCH(QString, back);
    QCOMPARE(QString::fromStdString(workspaceBytes(text.toStdString())), bytes);
    const auto written = workspaceText(bytes.toStdString());
    QCOMPARE(written ? QString::fromStdString(*written) : QStringLiteral("-"), back);
}

void TestEnvironment::readsScripts_data()
{
    QTest::addColumn<QString>("before"); ///< the command
    QTest::addColumn<QString>("expected");
    const auto row
        = [](const char* name, const char* before, const char* expected) { QTest::newRow(name) << before << expected; };
    row("nothing", "", "implementation.expandable_segments=, attention.impl=");
    row("exported", "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n",
        "implementation.expandable_segments=true");
    row("switched off", "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False\n",
        "implementation.expandable_segments=false");
    row("before the command", "PYTORCH_CUDA_ALLOC_CONF=\"max_split_size_mb:512,expandable_segments:True\" ",
        "implementation.expandable_segments=true, implementation.max_split_mib=512");
    row("the name since PyTorch 2.9", "export PYTORCH_ALLOC_CONF=roundup_power2_divisions:16\n",
        "implementation.roundup_divisions=16");
    row("other options", "export PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8\n",
        "implementation.expandable_segments=, implementation.max_split_mib=");
    row("a default", "export CUBLAS_WORKSPACE_CONFIG=${CUBLAS_WORKSPACE_CONFIG:-:4096:8}\n",
        "implementation.cublas_workspace_bytes=33554432");
    row("no flash, no fused", "export NVTE_FLASH_ATTN=0\nexport NVTE_FUSED_ATTN=0\n", "attention.impl=unfused");
    row("no flash", "NVTE_FLASH_ATTN=0 ", "attention.impl=fused");
    row("no fused", "NVTE_FUSED_ATTN=0 ", "attention.impl=flash");
    row("both", "NVTE_FUSED_ATTN=1 NVTE_FLASH_ATTN=1 ", "attention.impl=");
}

void TestEnvironment::readsScripts()
{
    QFETCH(QString, before);
    QFETCH(QString, expected);
    const PlanReading reading = readingOf(script(header + before + command));
    compare(reading.plan, expected);
}

void TestEnvironment::readsMappings_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("a functional test of Megatron-LM")
        << "ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\n  CUBLAS_WORKSPACE_CONFIG: :4096:8\n"
           "  PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True\n"
           "MODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 512\n  --num-attention-heads: 8\n";
    QTest::newRow("beside other settings")
        << "model_name_or_path: x/y\nstage: sft\nfinetuning_type: lora\ncutoff_len: 4096\n"
           "env:\n  PYTORCH_ALLOC_CONF: expandable_segments:True\n  CUBLAS_WORKSPACE_CONFIG: \":4096:8\"\n";
}

void TestEnvironment::readsMappings()
{
    QFETCH(QString, text);
    compare(readingOf(parsed(text)).plan,
            "implementation.expandable_segments=true, implementation.cublas_workspace_bytes=33554432");
}

void TestEnvironment::writesScripts_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    const QString rest = QString::fromUtf8(command);
    const QString start = QString::fromUtf8(header);
    QTest::newRow("new") << start + rest << start + "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" + rest;
    QTest::newRow("new, without a header")
        << rest << "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" + rest;
    QTest::newRow("other line ends")
        << QString(start + rest).replace("\n", "\r\n")
        << QString(start + "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" + rest).replace("\n", "\r\n");
    QTest::newRow("off before") << start + "export PYTORCH_CUDA_ALLOC_CONF='expandable_segments:False' # why\n" + rest
                                << start + "export PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' # why\n" + rest;
    QTest::newRow("another option before") << start + "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512 "
            + rest << start + "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512,expandable_segments:True " + rest;
    QTest::newRow("the newer name before")
        << start + "export PYTORCH_ALLOC_CONF=\"expandable_segments:False,backend:native\"\n" + rest
        << start + "export PYTORCH_ALLOC_CONF=\"expandable_segments:True,backend:native\"\n" + rest;
}

void TestEnvironment::writesScripts()
{
    QFETCH(QString, before);
    QFETCH(QString, after);
    const ConfigDocument document = script(before);
    const TrainingPlan plan = readingOf(document).plan;
    TrainingPlan changed = plan;
    QVERIFY(setField(changed, "implementation.expandable_segments", "true", {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(document, formatOf(document), plan, changed);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto written = document.set(*edits);
    QVERIFY2(written, written ? "" : written.error().english().c_str());
    QCOMPARE(QString::fromStdString(written->bytes()), after);
    compare(readingOf(*written).plan, "implementation.expandable_segments=true");
}

/// A YAML file can't set it for the program that reads it.
void TestEnvironment::saysWhereItBelongs()
{
    const ConfigDocument document
        = parsed("model_name_or_path: x/y\nstage: sft\nfinetuning_type: lora\ncutoff_len: 4096\n");
    const TrainingPlan plan = readingOf(document).plan;
    TrainingPlan changed = plan;
    QVERIFY(setField(changed, "implementation.expandable_segments", "true", {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(document, formatOf(document), plan, changed);
    QVERIFY(!edits);
    QCOMPARE(QString::fromStdString(edits.error().english()),
             QStringLiteral("test.yaml: implementation.expandable_segments is not said in this file but in the "
                            "environment that the run is started in: "
                            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"));
}

/// New scripts set the variables, other new files don't.
void TestEnvironment::exports()
{
    TrainingPlan plan = readingOf(script(header + QString::fromUtf8(command))).plan;
    QVERIFY(setField(plan, "implementation.expandable_segments", "true", {OriginKind::Edited, 0, nullptr}));
    QVERIFY(setField(plan, "implementation.max_split_mib", "256", {OriginKind::Edited, 0, nullptr}));
    for (const ConfigFormat* format : exportFormats(builtinFormats())) {
        if (format->id == "base-yaml") {
            continue; // has keys of its own
        }
        const auto file = exportPlan(plan, *format, builtinCatalog(), "train", "A run.");
        QVERIFY2(file, file ? "" : file.error().english().c_str());
        const QString text = QString::fromStdString(file->bytes);
        const bool isScript = format->exported->ending == ".sh";
        QCOMPARE(text.contains("\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:256\n"),
                 isScript);
        QCOMPARE(text.contains("PYTORCH"), isScript);
    }
}

QTEST_APPLESS_MAIN(TestEnvironment)
#include "tst_environment.moc"
