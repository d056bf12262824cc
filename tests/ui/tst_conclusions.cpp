// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a log says about its plan is found out away from the window, and only of the newest log.
#include "runlog/read_log.h"
#include "workspace/conclusions_job.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

using namespace headroom;

namespace {

const QByteArray config = "model: {num_layers: 32, hidden_size: 4096, num_attention_heads: 32, ffn_hidden_size: 11008, "
                          "vocab_size: 32000}\n"
                          "parallel: {pipeline_parallel_size: 4, data_parallel_size: 2}\n"
                          "train: {micro_batch_size: 8, gradient_accumulation_steps: 8, seq_length: 4096}\n"
                          "hardware: {gpu: a100-80gb}\n";

/// A run that ends in that many requested GiB that were not there.
QByteArray failedLog(int requested)
{
    return "phase=forward step=1 rank=0 peak_alloc=60GiB\nphase=backward step=1 rank=0 peak_alloc=70GiB\n"
           "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
        + QByteArray::number(requested)
        + ".00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.66 GiB is free. Of the allocated memory 76.00 "
          "GiB is allocated by PyTorch, and 0.50 GiB is reserved by PyTorch but unallocated.\n";
}

LoggedRun loggedRun(int requested)
{
    auto run = std::make_shared<const Run>(readLogText(failedLog(requested).toStdString(), "train.log"));
    return {run, summarise(*run), std::nullopt, {}};
}

const Finding* failure(const Workspace& workspace)
{
    const auto& findings = workspace.findings();
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return finding.id == "out-of-memory"; });
    return found != findings.end() ? &*found : nullptr;
}

} // namespace

class ConclusionsTest : public QObject
{
    Q_OBJECT

private slots:
    void onlyTheNewestAreAnnounced();
    void cancelledAreNotAnnounced();
    void openingLastsUntilTheyAreThere();
    void supersededAreDropped();
    void cancellingLeavesTheRest();
    void growthDrawsThemAnew();

private:
    QString write(const QString& name, const QByteArray& bytes)
    {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) {
            qFatal("cannot write %s", qPrintable(file.fileName()));
        }
        return file.fileName();
    }

    std::shared_ptr<const Library> m_library = Library::load();
    QTemporaryDir m_folder;
};

void ConclusionsTest::onlyTheNewestAreAnnounced()
{
    ConclusionsJob job;
    std::vector<Bytes> announced;
    connect(&job, &ConclusionsJob::finished, this, [&](const LogConclusions& conclusions) {
        announced.push_back(conclusions.shortage->message.requested.value_or(Bytes{}));
    });
    for (const int requested : {3, 4, 5}) {
        job.start(loggedRun(requested));
    }
    QVERIFY(announced.empty()); // nothing is done before the event loop has a turn
    QTRY_VERIFY(!job.isRunning());
    QTest::qWait(50);
    QCOMPARE(announced.size(), std::size_t{1});
    QCOMPARE(announced.front().value, std::int64_t{5} << 30);
}

void ConclusionsTest::cancelledAreNotAnnounced()
{
    ConclusionsJob job;
    const QSignalSpy finished(&job, &ConclusionsJob::finished);
    job.start(loggedRun(3));
    job.start(loggedRun(4));
    job.cancel();
    QVERIFY(!job.isRunning());
    QTest::qWait(200);
    QCOMPARE(finished.count(), 0);
    job.start(loggedRun(5)); // and the job goes on to serve
    QTRY_COMPARE(finished.count(), 1);
}

void ConclusionsTest::openingLastsUntilTheyAreThere()
{
    Workspace workspace(m_library);
    int documents = 0;
    connect(&workspace, &Workspace::documentsChanged, this, [&] {
        // The files are shown at once, the window's thread has not concluded anything.
        ++documents;
        QVERIFY(workspace.isOpening());
        QVERIFY(failure(workspace) == nullptr);
        QVERIFY(!workspace.findings().empty());
    });
    const QSignalSpy concluding(&workspace, &Workspace::concludingFrom);
    workspace.open({write(QStringLiteral("train.yaml"), config), write(QStringLiteral("train.log"), failedLog(3))});
    QTRY_VERIFY(!workspace.isOpening());
    QCOMPARE(documents, 1);
    QCOMPARE(concluding.count(), 1);
    QCOMPARE(concluding.front().front().toString(), QStringLiteral("train.log"));
    QVERIFY(failure(workspace) != nullptr && failure(workspace)->mend.has_value());
}

void ConclusionsTest::supersededAreDropped()
{
    Workspace workspace(m_library);
    std::vector<QString> titles;
    bool isFirst = true;
    const QString second = write(QStringLiteral("second.log"), failedLog(4));
    connect(&workspace, &Workspace::documentsChanged, this, [&] {
        if (std::exchange(isFirst, false)) {
            workspace.open({second}); // while the first log's conclusions are being drawn
        }
    });
    connect(&workspace, &Workspace::findingsChanged, this, [&] {
        if (const Finding* finding = failure(workspace);
            finding != nullptr && workspace.log()->paths.front().filename() == "second.log") {
            titles.push_back(translated(finding->title));
        }
    });
    workspace.open({write(QStringLiteral("train.yaml"), config), write(QStringLiteral("first.log"), failedLog(3))});
    QTRY_VERIFY(workspace.log() != nullptr && workspace.log()->paths.front().filename() == "second.log");
    QTRY_VERIFY(!workspace.isOpening());
    QTest::qWait(200);
    QVERIFY(!titles.empty());
    for (const QString& title : titles) {
        QVERIFY2(title.contains(QStringLiteral("4.00 GiB")), qPrintable(title));
    }
}

void ConclusionsTest::cancellingLeavesTheRest()
{
    Workspace workspace(m_library);
    connect(&workspace, &Workspace::documentsChanged, this, [&] { workspace.cancelOpening(); });
    workspace.open({write(QStringLiteral("train.yaml"), config), write(QStringLiteral("train.log"), failedLog(3))});
    QTRY_VERIFY(workspace.log() != nullptr);
    QVERIFY(!workspace.isOpening());
    QTest::qWait(200);
    QVERIFY(failure(workspace) == nullptr);
    QVERIFY(!workspace.findings().empty());
    workspace.turnKnob(Knob::MicroBatch, 4); // later findings do not begin anew
    QTest::qWait(2 * Workspace::settleMs);
    QVERIFY(!workspace.isOpening());
}

void ConclusionsTest::growthDrawsThemAnew()
{
    Workspace workspace(m_library);
    const QString log
        = write(QStringLiteral("grows.log"), failedLog(3) + "phase=forward step=2 rank=0 peak_alloc=60GiB\n");
    workspace.open({write(QStringLiteral("train.yaml"), config), log});
    QTRY_VERIFY(!workspace.isOpening() && failure(workspace) != nullptr);
    QFile file(log);
    QVERIFY(file.open(QIODevice::Append));
    file.write("phase=backward step=2 rank=0 peak_alloc=70GiB\n");
    file.close();
    QTRY_COMPARE_WITH_TIMEOUT(workspace.log()->run->size(), std::size_t{4}, 15'000);
    QTRY_VERIFY(!workspace.isOpening());
    QTRY_VERIFY(failure(workspace) != nullptr);
}

QTEST_GUILESS_MAIN(ConclusionsTest)
#include "tst_conclusions.moc"
