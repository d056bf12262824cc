// SPDX-License-Identifier: GPL-3.0-or-later
//
// Logs as the window opens them: with the user's formats, without measurements, many, and large.
#include "workspace/library.h"
#include "workspace/open_files.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>

#include <sys/resource.h>

using namespace headroom;

namespace {

namespace fs = std::filesystem;

OpenedFiles opened(const fs::path& path, const fs::path& userFolder = {})
{
    const std::shared_ptr<const Library> library = Library::load(userFolder);
    return openFiles({path}, *library, [](double, const std::string&) { return true; });
}

/// MiB, of this process so far.
long peakResident()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

} // namespace

class OpenLogsTest : public QObject
{
    Q_OBJECT

private slots:
    void withoutMeasurements_data();
    void withoutMeasurements();
    void usersFormats();
    void hundredRanks();
    void sparseFile();

private:
    [[nodiscard]] fs::path write(const QString& name, const QByteArray& text) const
    {
        const QString path = m_folder.filePath(name);
        QFile file(path);
        if (!QDir().mkpath(QFileInfo(path).path()) || !file.open(QIODevice::WriteOnly)
            || file.write(text) != text.size()) {
            qFatal("cannot write");
        }
        return path.toStdString();
    }
    QTemporaryDir m_folder;
};

void OpenLogsTest::withoutMeasurements_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("isLog");
    QTest::newRow("an out-of-memory message")
        << QByteArray("Traceback (most recent call last):\ntorch.OutOfMemoryError: CUDA out of memory. Tried to "
                      "allocate 3.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.66 GiB is free.\n")
        << true;
    QTest::newRow("timers") << QByteArray("time (ms) | forward-compute: 306.62 | optimizer: 94.69\n") << true;
    QTest::newRow("losses") << QByteArray(" iteration 2/ 9 | elapsed time per iteration (ms): 20.0 | lm loss: 1.0 |\n")
                            << true;
    QTest::newRow("a letter") << QByteArray("Dear reader,\nthis is not a log.\n") << false;
}

void OpenLogsTest::withoutMeasurements()
{
    QFETCH(const QByteArray, text);
    QFETCH(const bool, isLog);
    const OpenedFiles files = opened(write(QStringLiteral("train.log"), text));
    QCOMPARE(files.log.has_value(), isLog);
    QCOMPARE(files.problems.empty(), isLog);
    if (isLog) {
        QVERIFY(files.log->run->isEmpty());
        QVERIFY(!files.log->summary.peak);
    }
}

/// A format of the user's own works, and one that is broken is told.
void OpenLogsTest::usersFormats()
{
    std::ignore
        = write(QStringLiteral("config/formats/log/mine.yaml"),
                "framework: mine\nformats:\n  mine.step:\n    anchors: ['gpu high water']\n    pattern: 'update "
                "%{step}: gpu high water %{peak_alloc_bytes:GiB} GB'\n");
    std::ignore = write(QStringLiteral("config/formats/log/broken.yaml"),
                        "framework: broken\nformats:\n  broken.step:\n    anchors: ['abc']\n    pattern: '('\n");
    const fs::path log = write(QStringLiteral("own.log"), "update 7: gpu high water 12.5 GB\n");
    QVERIFY(!opened(log).log);
    const fs::path folder = m_folder.filePath(QStringLiteral("config")).toStdString();
    const std::shared_ptr<const Library> library = Library::load(folder);
    QVERIFY(library->logFormats->problems().empty()); // nothing has been asked for
    const OpenedFiles files = openFiles({log}, *library, [](double, const std::string&) { return true; });
    QVERIFY(files.log.has_value());
    QCOMPARE(files.log->run->allocatedBytes, (std::vector<std::int64_t>{25LL << 29}));
    QCOMPARE(files.log->run->step, (std::vector<std::uint32_t>{7}));
    QCOMPARE(library->logFormats->problems().size(), std::size_t{1});
    QVERIFY(library->logFormats->problems()[0].file.ends_with("broken.yaml"));
}

/// As many files as a machine room writes are one Run (10 MB each in bench_runlog).
void OpenLogsTest::hundredRanks()
{
    QByteArray text;
    for (int step = 1; step <= 500; ++step) {
        text += "a line of a data loader that says nothing about memory\nphase=backward step="
            + QByteArray::number(step) + " peak_alloc=" + QByteArray::number(20 + step % 7) + "GiB\n";
    }
    fs::path file;
    for (int rank = 0; rank < 100; ++rank) {
        file = write(QStringLiteral("ranks/rank%1.log").arg(rank), text);
    }
    const OpenedFiles files = opened(file.parent_path());
    QVERIFY(files.log.has_value());
    QCOMPARE(files.log->run->files.size(), std::size_t{100});
    QCOMPARE(files.log->run->size(), std::size_t{100 * 500});
    QCOMPARE(files.log->run->ranks().size(), std::size_t{100});
    QCOMPARE(files.log->summary.rankCount, 100);
}

void OpenLogsTest::sparseFile()
{
    const fs::path file = write(QStringLiteral("sparse.log"), "phase=forward step=1 peak_alloc=1GiB\n");
    std::error_code error;
    fs::resize_file(file, std::uintmax_t{1} << 30, error);
    if (error) {
        QSKIP("no room for a sparse file here");
    }
    QFile end(QString::fromStdString(file.string()));
    QVERIFY(end.open(QIODevice::Append));
    end.write("\nphase=forward step=2 peak_alloc=2GiB\n");
    end.close();
    const long before = peakResident();
    const OpenedFiles files = opened(file);
    QVERIFY(files.log.has_value());
    QCOMPARE(files.log->run->line, (std::vector<std::uint32_t>{1, 3}));
    const long growth = peakResident() - before;
    QVERIFY2(growth < 200, qPrintable(QString::number(growth)));
}

QTEST_GUILESS_MAIN(OpenLogsTest)
#include "tst_open_logs.moc"
