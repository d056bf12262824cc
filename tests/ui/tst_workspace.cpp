// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/plan_edits.h"
#include "models/peaks_model.h"
#include "models/problems_model.h"
#include "models/terms_model.h"
#include "runlog/read_log.h"
#include "support/folders.h"
#include "workspace/config_export.h"
#include "workspace/log_overview.h"
#include "workspace/open_files.h"
#include "workspace/recent_files.h"
#include "workspace/samples.h"
#include "workspace/verdict.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace headroom;

namespace {

/// A log of one line behind the arguments of its run.
constexpr auto logWithArguments = "------------------------ arguments ------------------------\n"
                                  "  hidden_size ..................................... 1024\n"
                                  "  micro_batch_size ................................ 2\n"
                                  "  num_attention_heads ............................. 16\n"
                                  "  num_layers ...................................... 24\n"
                                  "  padded_vocab_size ............................... 50304\n"
                                  "  seq_length ...................................... 1024\n"
                                  "-------------------- end of arguments ---------------------\n"
                                  "phase=forward step=1 peak_alloc=1GiB\n";

} // namespace

class WorkspaceTest : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase();
    void init();

    void filesAreRecognisedByContent_data();
    void filesAreRecognisedByContent();
    void aLogsArgumentsAreAPlan();
    void aLogAfterItsConfigBringsTheModel();
    void openingIsCancelled();
    void exportPaths();
    void modelAndGpuOfTheUserAreNotExported();
    void verdicts_data();
    void verdicts();
    void groupedNumbers();
    void recentFilesAreKept();
    void shippedSamplesAreThere();
    void modelsKeepTheContract();

private:
    QString write(const QString& name, const QByteArray& bytes);
    QTemporaryDir m_folder;
    std::shared_ptr<const Library> m_library;
};

void WorkspaceTest::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("headroom-test"));
    QCoreApplication::setApplicationName(QStringLiteral("headroom-test-workspace"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QLocale::setDefault(QLocale::c());
}

void WorkspaceTest::init()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral(".*")));
    if (!m_library) {
        m_library = Library::load();
    }
}

QString WorkspaceTest::write(const QString& name, const QByteArray& bytes)
{
    QFile file(m_folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) {
        qFatal("cannot write %s", qPrintable(file.fileName()));
    }
    return file.fileName();
}

void WorkspaceTest::filesAreRecognisedByContent_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("kind");
    const QByteArray log = "phase=forward step=1 peak_alloc=1GiB\n";
    const QByteArray config = "parallel:\n  pipeline_parallel_size: 2\ntrain:\n  micro_batch_size: 2\n";
    QTest::newRow("a log") << QStringLiteral("train.log") << log << QStringLiteral("log");
    QTest::newRow("a log called yaml") << QStringLiteral("stdout.yaml") << log << QStringLiteral("log");
    QTest::newRow("a log that begins with words")
        << QStringLiteral("out") << "starting\n" + log << QStringLiteral("log");
    QTest::newRow("a config") << QStringLiteral("train.yaml") << config << QStringLiteral("config");
    QTest::newRow("a config called txt") << QStringLiteral("train.txt") << config << QStringLiteral("config");
    QTest::newRow("a model")
        << QStringLiteral("config.json")
        << QByteArray(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257})")
        << QStringLiteral("model");
    QTest::newRow("neither") << QStringLiteral("poem.txt") << QByteArray("roses are red\n")
                             << QStringLiteral("problem");
    QTest::newRow("nothing") << QStringLiteral("train.log") << QByteArray() << QStringLiteral("problem");
}

void WorkspaceTest::filesAreRecognisedByContent()
{
    QFETCH(QString, name);
    QFETCH(QByteArray, bytes);
    QFETCH(QString, kind);
    const auto opened
        = openFiles({toPath(write(name, bytes))}, *m_library, [](double, const std::string&) { return true; });
    QCOMPARE(opened.log.has_value(), kind == QLatin1String("log"));
    QCOMPARE(opened.config.has_value(), kind == QLatin1String("config"));
    QCOMPARE(opened.model.has_value(), kind == QLatin1String("model"));
    QCOMPARE(!opened.problems.empty(), kind == QLatin1String("problem"));
}

void WorkspaceTest::aLogsArgumentsAreAPlan()
{
    const auto path = toPath(write(QStringLiteral("train.log"), logWithArguments));
    const auto opened = openFiles({path}, *m_library, [](double, const std::string&) { return true; });
    QVERIFY(opened.log && opened.log->plan);
    QCOMPARE(opened.log->plan->model.layers.value, 24);
    // With no config open they are the plan, so the log alone shows estimate beside measurement.
    Workspace workspace(m_library);
    workspace.open({QString::fromStdString(path.string())});
    QTRY_VERIFY(workspace.footprint() != nullptr);
    QCOMPARE(workspace.plan().model.layers.value, 24);
    QCOMPARE(workspace.plan().model.layers.origin.line, 5);
}

void WorkspaceTest::aLogAfterItsConfigBringsTheModel()
{
    const QString config = write(QStringLiteral("parallel.yaml"), "train:\n  micro_batch_size: 4\n");
    const QString log = write(QStringLiteral("late.log"), logWithArguments);
    Workspace workspace(m_library);
    workspace.open({config});
    QTRY_VERIFY(workspace.config() != nullptr);
    QVERIFY(workspace.footprint() == nullptr);
    workspace.turnKnob(Knob::MicroBatch, 8);
    workspace.open({log});
    QTRY_VERIFY(workspace.footprint() != nullptr);
    QCOMPARE(workspace.plan().model.layers.value, 24);
    // The config wins over the log, and what the user has turned over both.
    QCOMPARE(workspace.original().plan.batch.micro.value, 4);
    QCOMPARE(workspace.plan().batch.micro.value, 8);
}

void WorkspaceTest::openingIsCancelled()
{
    const auto path = toPath(write(QStringLiteral("train.log"), "phase=forward step=1 peak_alloc=1GiB\n"));
    const auto opened = openFiles({path}, *m_library, [](double, const std::string&) { return false; });
    QVERIFY(opened.wasCancelled);
    QVERIFY(!opened.log && opened.problems.empty());
}

void WorkspaceTest::exportPaths()
{
    QCOMPARE(exportPath("/a/train.yaml").string(), std::string("/a/train.headroom.yaml"));
    QCOMPARE(exportPath("/a/train.v2.yaml", 3).string(), std::string("/a/train.v2.headroom-3.yaml"));
    QCOMPARE(exportPath("train").string(), std::string("train.headroom"));
    const auto original = toPath(m_folder.filePath(QStringLiteral("run.yaml")));
    QCOMPARE(freeExportPath(original), exportPath(original));
    write(QStringLiteral("run.headroom.yaml"), "x");
    QCOMPARE(freeExportPath(original), exportPath(original, 2));
}

void WorkspaceTest::modelAndGpuOfTheUserAreNotExported()
{
    const QByteArray text = "model:\n  layers: 24\n  hidden: 1024\ntrain:\n  micro_batch_size: 2 # b\n";
    const auto path = toPath(write(QStringLiteral("run.yaml"), text));
    auto opened = openConfig(path, m_library->formats, m_library->catalog);
    QVERIFY(opened.has_value());
    const TrainingPlan original = opened->plan;
    const LoadedConfig config{path, std::move(*opened)};
    auto draft = withEdits(original, original,
                           {{"hardware.gpu", "h100-80gb"},
                            {"hardware.capacity_bytes", "80000000000"},
                            {"model.vocab", "1000"},
                            {"model.layers", "12"},
                            {"batch.micro", "1"}});
    QVERIFY(draft.has_value());
    const auto adjusted = adjustedConfig(config, original, *draft);
    QVERIFY2(adjusted.has_value(), adjusted ? "" : adjusted.error().english().c_str());
    // The layers stand in the file, so they follow; vocabulary and GPU do not.
    QCOMPARE(QByteArray::fromStdString(adjusted->bytes()),
             QByteArray("model:\n  layers: 12\n  hidden: 1024\ntrain:\n  micro_batch_size: 1 # b\n"));
    QCOMPARE(unwrittenFields(config, original, *draft), std::vector<std::string>{"model.vocab"});
    // What the run does has its place in the file, though nothing stood there.
    auto other = withEdits(original, original, {{"optimizer.name", "sgd"}});
    QVERIFY(other.has_value());
    const auto written = adjustedConfig(config, original, *other);
    QVERIFY2(written.has_value(), written ? "" : written.error().english().c_str());
    QCOMPARE(QByteArray::fromStdString(written->bytes()), text + "optimizer: sgd\n");
}

void WorkspaceTest::verdicts_data()
{
    QTest::addColumn<qint64>("deviceMib");
    QTest::addColumn<qint64>("capacityMib"); ///< 0: unknown
    QTest::addColumn<int>("level");
    QTest::addColumn<QString>("sentence");
    using Level = Verdict::Level;
    QTest::newRow("over") << qint64{81920 + 3482} << qint64{81920} << int(Level::DoesNotFit)
                          << QStringLiteral(
                                 "Does not fit: stage 0 peaks at 83.4 of 80.0 GiB in backward, 3.4 GiB over");
    QTest::newRow("under") << qint64{61440} << qint64{81920} << int(Level::Fits)
                           << QStringLiteral("Fits: stage 0 peaks at 60.0 of 80.0 GiB in backward, 20.0 GiB left");
    QTest::newRow("4 % left") << qint64{78643} << qint64{81920} << int(Level::Tight)
                              << QStringLiteral(
                                     "Tight: stage 0 peaks at 76.8 of 80.0 GiB in backward, only 3.2 GiB left");
    QTest::newRow("5 % left") << qint64{77824} << qint64{81920} << int(Level::Fits)
                              << QStringLiteral("Fits: stage 0 peaks at 76.0 of 80.0 GiB in backward, 4.0 GiB left");
    QTest::newRow("full to the byte") << qint64{81920} << qint64{81920} << int(Level::Tight)
                                      << QStringLiteral(
                                             "Tight: stage 0 peaks at 80.0 of 80.0 GiB in backward, only 0.0 GiB left");
    QTest::newRow("no GPU chosen")
        << qint64{61440} << qint64{0} << int(Level::Unknown)
        << QStringLiteral("Peaks at 60.0 GiB in backward on stage 0. Choose a GPU to see whether it fits");
}

void WorkspaceTest::verdicts()
{
    QFETCH(qint64, deviceMib);
    QFETCH(qint64, capacityMib);
    QFETCH(int, level);
    QFETCH(QString, sentence);
    Footprint footprint;
    footprint.stages.resize(1);
    footprint.stages[0].device = mib(deviceMib);
    VerdictInput input;
    input.footprint = &footprint;
    input.capacity = capacityMib > 0 ? std::optional(mib(capacityMib)) : std::nullopt;
    const Verdict verdict = judge(input);
    QCOMPARE(int(verdict.level), level);
    QCOMPARE(verdict.sentence, sentence);
}

void WorkspaceTest::groupedNumbers()
{
    const QChar gap(0x202F);
    QCOMPARE(grouped(0), QStringLiteral("0"));
    QCOMPARE(grouped(999), QStringLiteral("999"));
    QCOMPARE(grouped(1204311), QStringLiteral("1") + gap + QStringLiteral("204") + gap + QStringLiteral("311"));
    QCOMPARE(grouped(-1000), QStringLiteral("-1") + gap + QStringLiteral("000"));
    QCOMPARE(numberText(40741.3), QStringLiteral("40") + gap + QStringLiteral("741"));
    QCOMPARE(numberText(-1000), QStringLiteral("-1") + gap + QStringLiteral("000"));
    QCOMPARE(numberText(27.664), QStringLiteral("27.66"));
    const auto gapped = [gap](QString text) { return text.replace(u'_', gap); };
    QCOMPARE(withGaps(QStringLiteral("2 × 1,204,311, 1,2 and 12,3456")),
             gapped(QStringLiteral("2 × 1_204_311, 1,2 and 12,3456")));
    QCOMPARE(translated(Text("%1 of %2", {"1,536", "a 1,536"})), gapped(QStringLiteral("1_536 of a 1,536")));
}

void WorkspaceTest::recentFilesAreKept()
{
    QSettings().clear();
    const QString log = write(QStringLiteral("a.log"), "x");
    const QString config = write(QStringLiteral("a.yaml"), "x");
    {
        RecentFiles recent;
        QVERIFY(recent.entries().isEmpty());
        recent.add({log, config});
        recent.add({log});
        recent.add({log, config}); // moves to the front, once
        QCOMPARE(recent.entries().size(), 2);
    }
    RecentFiles recent;
    QCOMPARE(recent.entries().size(), 2);
    QCOMPARE(RecentFiles::label(recent.entries().first()), QStringLiteral("a.log, a.yaml"));
    QVERIFY(RecentFiles::exists(recent.entries().first()));
    QVERIFY(QFile::remove(config));
    QVERIFY(!RecentFiles::exists(recent.entries().first()));
    for (int i = 0; i < 2 * RecentFiles::limit; ++i) {
        recent.add({m_folder.filePath(QString::number(i))});
    }
    QCOMPARE(recent.entries().size(), RecentFiles::limit);
}

void WorkspaceTest::shippedSamplesAreThere()
{
    const auto samples = loadSamples(sourcePath("resources/samples"));
    QVERIFY(samples.size() >= 3);
    for (const Sample& sample : samples) {
        QVERIFY2(sample.paths.size() == 2, qPrintable(sample.id));
        QVERIFY(!sample.title.isEmpty() && !sample.description.isEmpty());
    }
    QVERIFY(loadSamples(toPath(m_folder.path())).empty());
}

void WorkspaceTest::modelsKeepTheContract()
{
    PeaksModel peaks;
    QAbstractItemModelTester peaksTester(&peaks);
    const Run run
        = readLogText("phase=forward step=1 peak_alloc=1GiB\nphase=backward step=1 peak_alloc=3GiB peak_reserved=4GiB\n"
                      "phase=forward step=2 peak_alloc=2GiB\n",
                      "train.log");
    peaks.setLog(std::make_shared<const Run>(run), overviewOf(run));
    QCOMPARE(peaks.rowCount(), 3);
    QCOMPARE(peaks.index(0, PeaksModel::What).data().toString(), QStringLiteral("peak of backward"));
    QCOMPARE(peaks.index(1, PeaksModel::What).data().toString(), QStringLiteral("peak of forward"));
    QCOMPARE(peaks.index(1, PeaksModel::Allocated).data().toString(), QStringLiteral("2.00 GiB"));
    QCOMPARE(peaks.index(2, PeaksModel::Step).data().toString(), QStringLiteral("1"));

    ProblemsModel problems;
    QAbstractItemModelTester problemsTester(&problems);
    problems.setProblems({{Severity::Warning, "a.yaml", 3, Text("strange")}, {Severity::Error, {}, 0, Text("worse")}});
    QCOMPARE(problems.index(0, ProblemsModel::Place).data().toString(), QStringLiteral("a.yaml:3"));

    TermsModel terms;
    QAbstractItemModelTester termsTester(&terms);
    Term whole{Text("Peak"), "a + b", "1 + 2", 3.0 * 1024 * 1024 * 1024, Unit::Size, {}};
    whole.parts.push_back({Text("a"), {}, {}, 1234567, Unit::Number, {}});
    terms.setTerms({whole});
    const QModelIndex peak = terms.index(0, TermsModel::Name);
    QCOMPARE(terms.rowCount(peak), 1);
    QCOMPARE(terms.index(0, TermsModel::Value).data().toString(), QStringLiteral("3.00 GiB"));
    QCOMPARE(terms.index(0, TermsModel::Formula).data().toString(), QStringLiteral("a + b = 1 + 2"));
    QCOMPARE(terms.index(0, TermsModel::Value, peak).data().toString(), grouped(1234567));
    QSignalSpy resets(&terms, &TermsModel::modelReset);
    whole.value *= 2;
    terms.setTerms({whole}); // a slider's tick: what is expanded stays
    QCOMPARE(resets.count(), 0);
    QCOMPARE(terms.index(0, TermsModel::Value).data().toString(), QStringLiteral("6.00 GiB"));
}

QTEST_MAIN(WorkspaceTest)
#include "tst_workspace.moc"
