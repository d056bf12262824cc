// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"
#include "config/format_file.h"
#include "config/open_plan.h"

#include <QDir>
#include <QFile>
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
    void aDataFileAloneTeachesAFramework();
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
                                       << "x.yaml:4: “half” is not a transform; there are not, size, count, "
                                          "first, any, names, starts and workspace";
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

/// A framework nobody has: one file in the user's folder, and its configs open, say what is odd about them and are
/// changed to the byte.
void TestConfigFormat::aDataFileAloneTeachesAFramework()
{
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath("formats/config"));
    const auto write = [&](const QString& name, const QByteArray& text) {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
    };
    QVERIFY(write("formats/config/looper.yaml",
                  "id: looper\ntitle: Looper YAML\nrecognised_by:\n  - [loop.cut, loop.depth]\n"
                  "keys:\n  model.layers: [loop.depth]\n  model.hidden: [loop.girth]\n  batch.micro: [loop.cut]\n"
                  "  parallel.pp: [loop.stages]\n  recompute.enabled: {key: loop.keep_all, as: not}\n"
                  "  recompute.granularity: [loop.forget]\n"
                  "products:\n  parallel.world: [\"{loop.boxes} * {loop.cards}\"]\n"
                  "blocks: [loop]\ndefaults:\n  batch.accum: 3\n"
                  "files:\n  below: [loop.base]\n"
                  "no_effect:\n  - when: {loop.magic: }\n    without: {loop.wand: }\n    source: the book\n"));
    QVERIFY(write("base.yaml", "loop: {cut: 9, depth: 4, girth: 64}\n"));
    const QByteArray text = "# Looper\nloop:\n  cut: 4   # each\n  depth: 12\n  stages: 2\n  keep_all: no\n"
                            "  forget: full\n  boxes: 2\n  cards: 8\n  magic: 1\n  base: base.yaml\n  wobble: 1\n";
    QVERIFY(write("run.yaml", text));
    const ConfigFormats formats = ConfigFormats::load(folder.path().toStdString());
    QVERIFY(formats.problems.empty());
    const auto opened = openConfig(folder.filePath("run.yaml").toStdString(), formats, builtinCatalog());
    QVERIFY2(opened, opened ? "" : opened.error().english().c_str());
    QCOMPARE(opened->format->id, std::string("looper"));
    compare(opened->plan,
            "model.layers=12, model.hidden=64, batch.micro=4, batch.accum=3, parallel.pp=2, parallel.world=16, "
            "recompute.enabled=true, recompute.granularity=full");
    QCOMPARE(opened->withoutEffect.size(), std::size_t{1});
    QCOMPARE(opened->withoutEffect.front().key, std::string("loop.magic"));
    const bool saysUnknown = sentences(opened->problems).join('\n').contains("“loop.wobble” is not a key");
    QVERIFY(saysUnknown);

    TrainingPlan after = opened->plan;
    QVERIFY(setField(after, "batch.micro", "2", {OriginKind::Edited, 0, nullptr}));
    QVERIFY(setField(after, "recompute.enabled", "false", {OriginKind::Edited, 0, nullptr}));
    const auto edits = editsFor(opened->document, *opened->format, opened->plan, after);
    QVERIFY2(edits, edits ? "" : edits.error().english().c_str());
    const auto changed = opened->document.set(*edits);
    QVERIFY2(changed, changed ? "" : changed.error().english().c_str());
    QByteArray expected = text;
    expected.replace("cut: 4", "cut: 2");
    const QByteArray bytes = QByteArray::fromStdString(changed->bytes());
    QCOMPARE(bytes.left(bytes.indexOf("  keep_all")), expected.left(expected.indexOf("  keep_all")));
    QCOMPARE(bytes.mid(bytes.indexOf("  forget")), expected.mid(expected.indexOf("  forget")));
    const auto again = openConfig(*changed, formats, builtinCatalog());
    QVERIFY(again);
    compare(again->plan, "batch.micro=2, recompute.enabled=false, model.layers=12");
}

QTEST_APPLESS_MAIN(TestConfigFormat)
#include "tst_config_format.moc"
