// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli_fixture.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <string>

using namespace headroom::cli;

class TestCliConfig : public CliFixture
{
    Q_OBJECT

private slots:
    void checkHolds_data();
    void checkHolds();
    void checkComparesWithTheLog();
    void setChangesOnlyTheValue();
    void setWritesAndReadsBack();
    void exports_data();
    void exports();
    void exportIsReadBack();
};

void TestCliConfig::checkHolds_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const char* before, const char* after, int code, const char* says) {
        QTest::newRow(name) << QByteArray(before) << QByteArray(after) << code << QByteArray(says);
    };
    row("holds", "", "", 0, "2 micro × 8 accumulate × 1 data-parallel = 16, global batch 16 ✓");
    row("global batch", "parallel:\n", "parallel:\n  data_parallel_size: 2\n", 1, "a.yaml:13");
    row("micro-batch is the global batch", "micro_batch_size: 2 ", "micro_batch_size: 16", 1,
        "Micro-batch was taken for the global batch");
    row("recompute off", "granularity: none", "granularity: full", 1, "recompute in effect: none");
    row("layers", "pipeline_parallel_size: 1", "pipeline_parallel_size: 5", 1, "24 layers do not divide over 5 stages");
}

void TestCliConfig::checkHolds()
{
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QFETCH(QByteArray, says);
    write("a.yaml", before.isEmpty() ? QByteArray(example) : QByteArray(example).replace(before, after));
    const Outcome outcome = run({"check", "a.yaml"});
    QVERIFY2(outcome.out.contains(says), outcome.out + outcome.err);
    QTEST(outcome.code, "code");
    const auto json = run({"check", "a.yaml", "--json"}).json();
    QCOMPARE(json["holds"].get<bool>(), outcome.code == 0);
}

void TestCliConfig::checkComparesWithTheLog()
{
    // The log's 40 GiB are not what this small model takes.
    const Outcome other = run({"check", "a.yaml", "--log", "train.log"});
    QCOMPARE(other.code, 1);
    QVERIFY(other.out.contains("The log and the estimate differ"));
    const auto stage = run({"estimate", "a.yaml", "--instant", "--json"}).json()["stages"][0];
    QByteArray log;
    for (const char* phase : {"forward", "backward", "optimizer"}) {
        const auto bytes = stage["phases"][phase]["allocated_bytes"].get<std::int64_t>();
        log += QByteArray("phase=") + phase + " step=1 peak_alloc=" + QByteArray::number(qlonglong(bytes)) + "B\n";
    }
    write("same.log", log);
    QCOMPARE(run({"check", "a.yaml", "--log", "same.log"}).code, 0);
}

void TestCliConfig::setChangesOnlyTheValue()
{
    const Outcome outcome = run({"set", "a.yaml", "parallel.pipeline_parallel_size=4", "batch.micro=1"});
    QCOMPARE(outcome.err, QByteArray());
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out,
             QByteArray(example)
                 .replace("pipeline_parallel_size: 1 ", "pipeline_parallel_size: 4 ")
                 .replace("micro_batch_size: 2 ", "micro_batch_size: 1 "));
    const Outcome diff = run({"set", "a.yaml", "train.seq_length=2048", "--diff"});
    QVERIFY2(diff.out.contains("-  seq_length: 1024\n+  seq_length: 2048\n"), diff.out);

    const auto json = run({"set", "a.yaml", "batch.micro=1", "--json"}).json();
    QCOMPARE(json["schema"].get<std::string>(), std::string("headroom.set/1"));
    QVERIFY(json["written"].is_null());
    QCOMPARE(json["changes"].size(), std::size_t{1});
    const auto change = json["changes"][0];
    QCOMPARE(change["key"].get<std::string>(), std::string("train.micro_batch_size"));
    QCOMPARE(change["line"].get<int>(), 10);
    QCOMPARE(change["before"].get<std::string>(), std::string("2"));
    QCOMPARE(change["after"].get<std::string>(), std::string("1"));
    QCOMPARE(QByteArray::fromStdString(json["text"].get<std::string>()),
             QByteArray(example).replace("micro_batch_size: 2 ", "micro_batch_size: 1 "));
}

void TestCliConfig::setWritesAndReadsBack()
{
    QCOMPARE(run({"set", "a.yaml", "train.micro_batch_size=1", "-o", "b.yaml"}).code, 0);
    QCOMPARE(run({"estimate", "b.yaml", "--json"}).json()["plan"]["batch.micro"]["value"].get<qint64>(), qint64{1});
    QCOMPARE(run({"set", "a.yaml", "train.micro_batch_size=8", "--in-place"}).code, 0);
    const auto plan = run({"estimate", "a.yaml", "--json"}).json()["plan"];
    QCOMPARE(plan["batch.micro"]["value"].get<qint64>(), qint64{8});
    QCOMPARE(plan["batch.micro"]["origin"].get<std::string>(), std::string("a.yaml:10"));
    QCOMPARE(QDir(m_folder->path()).entryList({"a.yaml*"}), QStringList{"a.yaml"});
}

void TestCliConfig::exports_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("Megatron's flags") << QStringList{"--to", "megatron-args"} << 0
                                      << QByteArray("    --micro-batch-size 2 \\\n");
    QTest::newRow("with a setting") << QStringList{"--to", "megatron-args", "--set", "batch.seq=4096"} << 0
                                    << QByteArray("    --seq-length 4096 \\\n");
    QTest::newRow("a model has no place in DeepSpeed's file")
        << QStringList{"--to", "deepspeed-json"} << 1 << QByteArray("not said: model.layers = 24");
    QTest::newRow("no such format") << QStringList{"--to", "paper"} << 2 << QByteArray("deepspeed-json");
    QTest::newRow("a format that is only read") << QStringList{"--to", "axolotl"} << 2 << QByteArray("base-yaml");
    QTest::newRow("nowhere") << QStringList{"--to", "base-yaml", "-o", "no/such/b.yaml"} << 2 << QByteArray("no/such");
}

void TestCliConfig::exports()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, says);
    const Outcome outcome = run(QStringList{"export", "a.yaml"} + arguments);
    QVERIFY2((outcome.out + outcome.err).contains(says), outcome.out + outcome.err);
    QTEST(outcome.code, "code");
}

/// A script made from the file and a file made from the script are the same run: the estimates say so.
void TestCliConfig::exportIsReadBack()
{
    QCOMPARE(run({"export", "a.yaml", "--to", "megatron-args", "-o", "a.sh"}).code, 0);
    const auto json = run({"export", "a.sh", "--to", "base-yaml", "-o", "b.yaml", "--json"}).json();
    QCOMPARE(json["schema"].get<std::string>(), std::string("headroom.export/1"));
    QVERIFY(json["text"].get<std::string>().find("micro_batch_size: 2\n") != std::string::npos);
    const auto peak = [this](const char* file) {
        const auto estimate = run({"estimate", file, "--json"}).json();
        return estimate["stages"][0]["peak_allocated_bytes"].get<std::int64_t>();
    };
    QCOMPARE(peak("b.yaml"), peak("a.sh"));
}

QTEST_GUILESS_MAIN(TestCliConfig)
#include "tst_cli_config.moc"
