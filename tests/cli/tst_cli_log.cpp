// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/folders.h"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace {

constexpr auto megatronLog
    = "------------------------ arguments ------------------------\n"
      "  num_layers ...................................... 24\n"
      "  hidden_size ..................................... 2048\n"
      "  num_attention_heads ............................. 16\n"
      "  pipeline_model_parallel_size .................... 4\n"
      "  world_size ...................................... 8\n"
      "-------------------- end of arguments ---------------------\n"
      "[Rank 6] (after 2 iterations) memory (MB) | allocated: 1024.0 | max allocated: 2048.0 | reserved: 4096.0 | max "
      "reserved: "
      "4096.0\n"
      " iteration        2/    1000 | elapsed time per iteration (ms): 500.0 | lm loss: 1.25E+01 |\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 23.65 GiB "
      "of which "
      "1.66 GiB is free. Of the allocated memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is reserved by "
      "PyTorch but "
      "unallocated.\n";

} // namespace

/// `headroom-cli log` on what frameworks print.
class TestCliLog : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void tellsWhatTheLogSays();
    void fewArgumentsAreNoModel();
    void printsCsv();
    void readsTheUsersFormats();
    void namesBrokenFormats();
    void refusesTwoOutputs();
    void follows();
    void followsAFolder();

private:
    void write(const QString& name, const QByteArray& bytes, QIODevice::OpenMode mode = QIODevice::WriteOnly);
    void prepare(QProcess& process);
    /// Whether the text comes within ten seconds; `out` has all that came.
    static bool prints(QProcess& process, QByteArray& out, const QByteArray& text);
    QByteArray run(const QStringList& arguments, int code = 0);

    std::unique_ptr<QTemporaryDir> m_folder;
    QByteArray m_errors;
};

void TestCliLog::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
    write(QStringLiteral("train.log"), megatronLog);
}

void TestCliLog::write(const QString& name, const QByteArray& bytes, QIODevice::OpenMode mode)
{
    const QString path = m_folder->filePath(name);
    QVERIFY(QFileInfo(path).dir().mkpath(QStringLiteral(".")));
    QFile file(path);
    QVERIFY(file.open(mode));
    file.write(bytes);
}

void TestCliLog::prepare(QProcess& process)
{
    process.setWorkingDirectory(m_folder->path());
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("XDG_CONFIG_HOME"), m_folder->filePath(QStringLiteral("config")));
    process.setProcessEnvironment(environment);
}

QByteArray TestCliLog::run(const QStringList& arguments, int code)
{
    QProcess process;
    prepare(process);
    process.start(QStringLiteral(HEADROOM_CLI), arguments);
    process.waitForFinished(60000);
    m_errors = process.readAllStandardError();
    if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != code) {
        qWarning("%s: exit code %d, %s", qPrintable(arguments.join(u' ')), process.exitCode(), m_errors.constData());
        return {};
    }
    return process.readAllStandardOutput();
}

void TestCliLog::tellsWhatTheLogSays()
{
    const auto json = nlohmann::json::parse(run({"log", "train.log", "--json"}).toStdString(), nullptr, false);
    QVERIFY(!json.is_discarded());
    QCOMPARE(json["phases"]["total"]["max_bytes"].get<qint64>(), qint64{2048} << 20);
    QCOMPARE(json["phases"]["total"]["stage"].get<qint64>(), qint64{3}); // 8 ranks in 4 stages
    QCOMPARE(json["arguments"]["hidden_size"]["value"].get<std::string>(), std::string("2048"));
    QCOMPARE(json["arguments"]["hidden_size"]["line"].get<qint64>(), qint64{3});
    QCOMPARE(json["steps"]["median_step_seconds"].get<double>(), 0.5);
    QCOMPARE(json["steps"]["last_loss"].get<double>(), 12.5);
    QCOMPARE(json["capacity_bytes"].get<qint64>(), qint64{25393994138});
    QCOMPARE(json["out_of_memory"].size(), std::size_t{1});
    QCOMPARE(json["out_of_memory"][0]["cause"].get<std::string>(), std::string("fragmentation"));
    QCOMPARE(json["out_of_memory"][0]["line"].get<qint64>(), qint64{10});
    const QByteArray text = run({"log", "train.log"});
    QVERIFY2(text.contains("fragmentation") && text.contains("train.log:8"), text);
}

/// The sample lists nine arguments, without heads and vocabulary: no estimate is made of them to measure the log by.
void TestCliLog::fewArgumentsAreNoModel()
{
    const auto json = nlohmann::json::parse(
        run({"log", QString::fromStdString(headroom::sourcePath("resources/samples/llama3-8b-oom.log").string()),
             "--json"})
            .toStdString());
    QStringList ids;
    for (const auto& finding : json.at("findings")) {
        ids += QString::fromStdString(finding.at("id").get<std::string>());
    }
    QVERIFY2(ids.contains(QStringLiteral("out-of-memory")), qPrintable(ids.join(u' ')));
    QVERIFY2(!ids.contains(QStringLiteral("estimate-disagrees")), qPrintable(ids.join(u' ')));
}

void TestCliLog::printsCsv()
{
    const QByteArray csv = run({"log", "train.log", "--csv"});
    const QList<QByteArray> lines = csv.split('\n');
    QCOMPARE(lines.size(), qsizetype{3});
    QVERIFY(lines[0].startsWith("file,line,step,phase,rank,allocated_bytes,"));
    QCOMPARE(lines[1], QByteArray("train.log,8,2,total,6,2147483648,4294967296,1073741824,,,,,"));
}

void TestCliLog::readsTheUsersFormats()
{
    write(QStringLiteral("config/headroom/formats/log/mine.yaml"),
          "framework: mine\nformats:\n  mine.step:\n    anchors: ['high water']\n    pattern: 'update %{step}: high "
          "water "
          "%{peak_alloc_bytes:GiB} GB'\n");
    write(QStringLiteral("mine.log"), "update 7: high water 2.5 GB\n");
    const auto json = nlohmann::json::parse(run({"log", "mine.log", "--json"}).toStdString(), nullptr, false);
    QVERIFY(!json.is_discarded());
    QCOMPARE(json["formats"][0].get<std::string>(), std::string("mine.step"));
    QCOMPARE(json["top"][0]["max_bytes"].get<qint64>(), qint64{2684354560});
    QVERIFY(run({"formats"}).contains("mine.step"));
}

void TestCliLog::namesBrokenFormats()
{
    write(QStringLiteral("config/headroom/formats/log/mine.yaml"), "formats:\n  mine.step:\n    anchors: [abc]\n");
    QVERIFY(!run({"log", "train.log"}).isEmpty());
    QVERIFY2(m_errors.contains("mine.yaml:2"), m_errors);
}

void TestCliLog::refusesTwoOutputs()
{
    run({"log", "train.log", "--csv", "--json"}, 2);
    QVERIFY2(m_errors.contains("--csv") || m_errors.contains("--json"), m_errors);
}

bool TestCliLog::prints(QProcess& process, QByteArray& out, const QByteArray& text)
{
    for (int i = 0; i < 100 && !out.contains(text); ++i) {
        process.waitForReadyRead(100);
        out += process.readAllStandardOutput();
    }
    return out.contains(text);
}

/// Prints what is written while it runs, and ends when it is asked to.
void TestCliLog::follows()
{
    write(QStringLiteral("grow.log"), "phase=forward step=1 peak_alloc=1GiB\n");
    QProcess process;
    prepare(process);
    process.start(QStringLiteral(HEADROOM_CLI), {"log", "grow.log", "--follow", "--interval", "0.05"});
    QByteArray out;
    QVERIFY2(prints(process, out, "grow.log,1,1,forward"), out);
    write(QStringLiteral("grow.log"), "phase=backward step=2 peak_alloc=2GiB\n", QIODevice::Append);
    QVERIFY2(prints(process, out, "grow.log,2,2,backward,,2147483648"), out);
    process.terminate();
    QVERIFY(process.waitForFinished(10000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 0);
    QCOMPARE(out.count("grow.log,1,1,forward"), qsizetype{1});
}

/// A folder of per-rank files: what each of them gets, and a file that comes later.
void TestCliLog::followsAFolder()
{
    QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("ranks")));
    write(QStringLiteral("ranks/rank0.log"), "phase=forward step=1 peak_alloc=1GiB\n");
    QProcess process;
    prepare(process);
    process.start(QStringLiteral(HEADROOM_CLI), {"log", "ranks", "--follow", "--interval", "0.05"});
    QByteArray out;
    QVERIFY2(prints(process, out, "rank0.log,1,1,forward,0,1073741824"), out);
    write(QStringLiteral("ranks/rank1.log"), "phase=forward step=1 peak_alloc=3GiB\n");
    QVERIFY2(prints(process, out, "rank1.log,1,1,forward,1,3221225472"), out);
    write(QStringLiteral("ranks/rank0.log"), "phase=backward step=1 peak_alloc=2GiB\n", QIODevice::Append);
    QVERIFY2(prints(process, out, "rank0.log,2,1,backward,0,2147483648"), out);
    process.terminate();
    QVERIFY(process.waitForFinished(10000));
    QCOMPARE(process.exitCode(), 0);
    QCOMPARE(out.count("allocated_bytes"), qsizetype{1});
    QCOMPARE(out.count('\n'), qsizetype{4});
}

QTEST_GUILESS_MAIN(TestCliLog)
#include "tst_cli_log.moc"
