// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/format_file.h"

#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>

using namespace headroom;

class TestConfigFormat : public QObject
{
    Q_OBJECT

private slots:
    void builtinFormatsAreUnderstood();
    void detects_data();
    void detects();
    void userFormats();
    void brokenFormats_data();
    void brokenFormats();
};

void TestConfigFormat::builtinFormatsAreUnderstood()
{
    QCOMPARE(sentences(builtinFormats().problems), QStringList{});
    QVERIFY(builtinFormats().formats.size() >= 2);
}

void TestConfigFormat::detects_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("id");
    QTest::newRow("one parallel key") << "parallel: {pipeline_parallel_size: 2}"
                                      << "base-yaml";
    QTest::newRow("train only") << "train: {micro_batch_size: 2}"
                                << "base-yaml";
    QTest::newRow("recompute only") << "recompute: {granularity: full}"
                                    << "base-yaml";
    QTest::newRow("aliases") << "parallel: {pp: 2}"
                             << "base-yaml";
    QTest::newRow("blocks") << "parallel: {dp: 1}\ntrain: {accum: 4}"
                            << "base-yaml";
    QTest::newRow("llama") << R"({"model_type": "llama", "hidden_size": 8})"
                           << "hf-config";
    QTest::newRow("multimodal") << R"({"model_type": "llava", "text_config": {"vocab_size": 8}})"
                                << "hf-config";
    QTest::newRow("neither") << "a: 1"
                             << "";
    QTest::newRow("prefix of a key") << "recompute: {granularity_x: full}"
                                     << "";
}

void TestConfigFormat::detects()
{
    QFETCH(QString, text);
    QFETCH(QString, id);
    const ConfigFormat* format = builtinFormats().detect(parsed(text));
    QCOMPARE(format != nullptr ? QString::fromStdString(format->id) : QString(), id);
}

void TestConfigFormat::userFormats()
{
    QTemporaryDir folder;
    const std::filesystem::path formatFolder
        = std::filesystem::path(folder.path().toStdString()) / "formats" / "config";
    std::filesystem::create_directories(formatFolder);
    std::ofstream(formatFolder / "mine.yaml") << "id: mine\ntitle: Mine\nrecognised_by: [[stages, batch, mode]]\n"
                                                 "keys:\n  parallel.pp: stages\n  batch.micro: [batch]\n"
                                                 "  shard.zero_stage: {key: mode, words: {ddp: \"0\", zero3: \"3\"}}\n";
    std::ofstream(formatFolder / "broken.yaml") << "id: broken\ntitle: x\nkeys:\n  parallel.qq: stages\n";
    std::ofstream(formatFolder / "notes.txt") << "not a format\n";
    const ConfigFormats loaded = ConfigFormats::load(folder.path().toStdString());
    QCOMPARE(loaded.formats.size(), builtinFormats().formats.size() + 1);
    QCOMPARE(sentences(loaded.problems),
             QStringList{QString::fromStdString((formatFolder / "broken.yaml").string())
                         + ":4: “parallel.qq” is not a field of a plan"});
    const ConfigDocument document = parsed("stages: 4\nbatch: 2\nmode: zero3\n");
    const ConfigFormat* format = loaded.detect(document);
    QVERIFY(format != nullptr);
    QCOMPARE(format->id, std::string("mine"));
    const TrainingPlan plan = readPlan(document, *format, builtinCatalog()).plan;
    QCOMPARE(fieldOf(plan, "shard.zero_stage"), QString("3"));
    TrainingPlan changed = plan;
    changed.shard.zeroStage.set(0, {});
    changed.shard.zeroStage.origin.kind = OriginKind::Edited;
    const auto edits = editsFor(document, *format, plan, changed);
    QVERIFY(edits);
    QCOMPARE(*edits, (std::vector<ConfigEdit>{{"mode", "ddp"}}));
}

void TestConfigFormat::brokenFormats_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("problem");
    const QString good = "id: x\ntitle: X\nrecognised_by: [[a]]\n";
    QTest::newRow("empty") << ""
                           << "x.yaml: the file is empty";
    QTest::newRow("a list") << "- a\n"
                            << "x.yaml:1: the file is not a mapping of keys to values";
    QTest::newRow("no keys") << good << "x.yaml:1: “keys” is missing here";
    QTest::newRow("no id") << "title: X\nrecognised_by: [[a]]\nkeys: {parallel.pp: a}\n"
                           << "x.yaml:1: “id” is missing here";
    QTest::newRow("unknown entry") << good + "keys: {parallel.pp: a}\ncolour: red\n"
                                   << "x.yaml:5: “colour” is not known here";
    QTest::newRow("unknown transform") << good + "keys: {parallel.pp: {key: a, as: half}}\n"
                                       << "x.yaml:4: “half” is not a transform; there are not, size, count and first";
    QTest::newRow("default of a wrong type") << good + "keys: {parallel.pp: a}\ndefaults:\n  parallel.pp: two\n"
                                             << "x.yaml:6: “two” is not a whole number, which parallel.pp needs";
    QTest::newRow("unknown scope") << good + "keys: {parallel.pp: $text.a}\n"
                                   << "x.yaml:4: “$text.a” names no scope of this file";
    QTest::newRow("field twice") << good + "keys:\n  parallel.pp: a\n  parallel.pp: b\n"
                                 << "x.yaml:6: “parallel.pp” is already on line 5; the last one, on line 6, is used";
    QTest::newRow("variant without condition")
        << good + "keys: {parallel.pp: a}\nvariants:\n  - keys: {parallel.tp: b}\n"
        << "x.yaml:6: “when” is missing here";
    QTest::newRow("list for a text") << good + "keys: {parallel.pp: {key: [a, b]}}\n"
                                     << "x.yaml:4: a single value belongs here";
}

void TestConfigFormat::brokenFormats()
{
    QFETCH(QString, text);
    QFETCH(QString, problem);
    const auto format = parseFormat(text.toStdString(), "x.yaml");
    QVERIFY(!format);
    QCOMPARE(QString::fromStdString(format.error().english()), problem);
}

QTEST_APPLESS_MAIN(TestConfigFormat)
#include "tst_config_format.moc"
