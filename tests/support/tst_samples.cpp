// SPDX-License-Identifier: GPL-3.0-or-later
//
// The samples are what users see first: their logs are what the generator writes, they read without a problem, and each
// tells the story that its description promises.
#include "config/open_plan.h"
#include "plan/batch.h"
#include "runlog/read_log.h"
#include "support/folders.h"
#include "support/sample_log.h"

#include <QtTest>

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace headroom;

namespace {

const std::filesystem::path folder = sourcePath("resources/samples");

std::string contentOf(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

OpenedConfig open(const std::string& id)
{
    static const ConfigFormats formats = ConfigFormats::load();
    static const Catalog catalog = Catalog::load();
    Result<OpenedConfig> config = openConfig(folder / (id + ".yaml"), formats, catalog);
    if (!config) {
        throw std::runtime_error(config.error().english());
    }
    return *std::move(config);
}

} // namespace

class TestSamples : public QObject
{
    Q_OBJECT

private slots:
    void logsAreThoseOfTheGenerator_data() { rows(); }
    void logsAreThoseOfTheGenerator();
    void everyFileIsLabelled_data() { rows(); }
    void everyFileIsLabelled();
    void readsWithoutProblems_data() { rows(); }
    void readsWithoutProblems();
    void firstStepLacksTheMoments_data() { rows(); }
    void firstStepLacksTheMoments();
    void tellsItsStory_data();
    void tellsItsStory();
    void indexNamesThemAll();

private:
    static void rows();
};

void TestSamples::rows()
{
    QTest::addColumn<const samples::SampleRun*>("run");
    for (const samples::SampleRun& run : samples::sampleRuns()) {
        QTest::newRow(run.id.data()) << &run;
    }
}

Q_DECLARE_METATYPE(const samples::SampleRun*)

void TestSamples::logsAreThoseOfTheGenerator()
{
    QFETCH(const samples::SampleRun*, run);
    const std::string id(run->id);
    const std::string committed = contentOf(folder / (id + ".log"));
    QVERIFY2(committed == samples::sampleLog(*run, open(id).plan), "run make_samples resources/samples");
    QVERIFY2(committed.size() < 600'000, "samples stay small");
}

void TestSamples::everyFileIsLabelled()
{
    QFETCH(const samples::SampleRun*, run);
    for (const char* extension : {".log", ".yaml"}) {
        const std::string content = contentOf(folder / (std::string(run->id) + extension));
        QVERIFY(content.starts_with("# Illustration computed from formulas, not a "));
    }
}

void TestSamples::readsWithoutProblems()
{
    QFETCH(const samples::SampleRun*, run);
    const std::string id(run->id);
    const OpenedConfig config = open(id);
    for (const Problem& problem : config.problems) {
        QVERIFY2(problem.severity != Severity::Error, problem.english().c_str());
    }
    const std::filesystem::path log = folder / (id + ".log");
    const Result<Run> read = readLog(std::span(&log, 1));
    QVERIFY2(read.has_value(), read ? "" : read.error().english().c_str());
    QCOMPARE(read->problemCount, 0);
    const std::int64_t ranks = worldSize(config.plan);
    QCOMPARE(static_cast<std::int64_t>(read->ranks().size()), ranks);
    // Three phases a step; a run that fails in backward has the forward lines of its last step alone.
    const std::int64_t whole = run->failure ? run->failure->step - 1 : run->steps;
    QCOMPARE(static_cast<std::int64_t>(read->size()), ranks * (3 * whole + (run->failure ? 1 : 0)));
}

void TestSamples::firstStepLacksTheMoments()
{
    QFETCH(const samples::SampleRun*, run);
    const std::filesystem::path log = folder / (std::string(run->id) + ".log");
    const Result<Run> read = readLog(std::span(&log, 1));
    QVERIFY(read.has_value());
    std::int64_t first = 0;
    std::int64_t second = 0;
    for (std::size_t i = 0; i < read->size(); ++i) {
        const Record record = read->record(i);
        if (record.rank == 0 && record.phase == static_cast<std::uint8_t>(Phase::Backward) && record.step <= 2) {
            (record.step == 1 ? first : second) = record.allocated.value;
        }
    }
    // 8 of the 16 bytes a parameter costs; the batches of the two steps differ by far less.
    QVERIFY(first > 0 && second > first + (std::int64_t{1} << 30));
}

void TestSamples::tellsItsStory_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<int>("phase");
    QTest::addColumn<double>("fullestGib"); // by hand from the formulas of sample_peaks.h, see README.md of the samples
    QTest::addColumn<bool>("batchHolds");
    const auto row = [](const char* id, Phase phase, double gib, bool holds) {
        QTest::newRow(id) << QString::fromLatin1(id) << static_cast<int>(phase) << gib << holds;
    };
    row("llama3-8b-oom", Phase::Backward, 77.6, false);
    row("qwen2-vl-7b-forward", Phase::Forward, 42.8, true);
    row("llama2-7b-optimizer", Phase::Optimizer, 32.6, true);
    row("qwen2.5-7b-recompute-off", Phase::Backward, 67.0, true);
    row("small-gpt", Phase::Backward, 4.53, true);
}

void TestSamples::tellsItsStory()
{
    QFETCH(QString, id);
    QFETCH(int, phase);
    QFETCH(double, fullestGib);
    QFETCH(bool, batchHolds);
    const std::filesystem::path log = folder / (id.toStdString() + ".log");
    const Result<Run> read = readLog(std::span(&log, 1));
    QVERIFY(read.has_value());
    const Record peak = read->record(read->peak().value());
    QCOMPARE(static_cast<int>(peak.phase), phase);
    QVERIFY2(std::abs(peak.allocated.gib() / fullestGib - 1) < 0.01, qPrintable(QString::number(peak.allocated.gib())));
    QCOMPARE(batchEquation(open(id.toStdString()).plan).holds.value(), batchHolds);
}

void TestSamples::indexNamesThemAll()
{
    const YAML::Node index = YAML::LoadFile((folder / "index.yaml").string());
    QCOMPARE(index["samples"].size(), samples::sampleRuns().size());
    for (std::size_t i = 0; i < index["samples"].size(); ++i) {
        const YAML::Node sample = index["samples"][i];
        QCOMPARE(sample["id"].as<std::string>(), std::string(samples::sampleRuns()[i].id));
        QVERIFY(!sample["title"].as<std::string>().empty() && !sample["description"].as<std::string>().empty());
        QVERIFY(std::filesystem::is_regular_file(folder / sample["log"].as<std::string>()));
        QVERIFY(std::filesystem::is_regular_file(folder / sample["config"].as<std::string>()));
    }
}

QTEST_APPLESS_MAIN(TestSamples)
#include "tst_samples.moc"
