// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/folders.h"

#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

/// The program as a user starts it: arguments, exit codes, the picture.
class ProgramTest : public QObject
{
    Q_OBJECT

private slots:
    void tellsItsVersion();
    void refusesWhatItDoesNotKnow_data();
    void refusesWhatItDoesNotKnow();
    void writesAPicture_data();
    void writesAPicture();
    void saysWhatCouldNotBeOpened();

private:
    struct Outcome
    {
        int exitCode;
        QString output;
        QString errors;
    };
    static Outcome run(const QStringList& arguments);
    QTemporaryDir m_folder;
};

ProgramTest::Outcome ProgramTest::run(const QStringList& arguments)
{
    QProcess process;
    process.start(QStringLiteral(HEADROOM_PROGRAM), arguments);
    constexpr int patience = 60'000;
    if (!process.waitForFinished(patience)) {
        process.kill();
        process.waitForFinished();
        return {-1, {}, QStringLiteral("did not end")};
    }
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            QString::fromUtf8(process.readAllStandardOutput()), QString::fromUtf8(process.readAllStandardError())};
}

void ProgramTest::tellsItsVersion()
{
    const Outcome outcome = run({QStringLiteral("--version")});
    QCOMPARE(outcome.exitCode, 0);
    QVERIFY(outcome.output.contains(QStringLiteral(HEADROOM_VERSION)));
    QVERIFY(run({QStringLiteral("--help")}).output.contains(QStringLiteral("--screenshot")));
}

void ProgramTest::refusesWhatItDoesNotKnow_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("size") << QStringList{QStringLiteral("--size"), QStringLiteral("big")};
    QTest::newRow("half a size") << QStringList{QStringLiteral("--size"), QStringLiteral("1600x")};
    QTest::newRow("language") << QStringList{QStringLiteral("--language"), QStringLiteral("tlh")};
    QTest::newRow("theme") << QStringList{QStringLiteral("--theme"), QStringLiteral("pink")};
}

void ProgramTest::refusesWhatItDoesNotKnow()
{
    QFETCH(QStringList, arguments);
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(outcome.errors.contains(arguments.last()), qPrintable(outcome.errors));
}

void ProgramTest::writesAPicture_data()
{
    QTest::addColumn<QString>("theme");
    QTest::addColumn<bool>("isDark");
    QTest::newRow("light") << QStringLiteral("light") << false;
    QTest::newRow("dark") << QStringLiteral("dark") << true;
}

void ProgramTest::writesAPicture()
{
    QFETCH(QString, theme);
    QFETCH(bool, isDark);
    const QString samples = QString::fromStdString(headroom::sourcePath("resources/samples").string());
    const QString file = m_folder.filePath(theme + QStringLiteral(".png"));
    const Outcome outcome
        = run({QStringLiteral("--screenshot"), file, QStringLiteral("--size"), QStringLiteral("1300x820"),
               QStringLiteral("--theme"), theme, samples + QStringLiteral("/small-gpt.log"),
               samples + QStringLiteral("/small-gpt.yaml")});
    QVERIFY2(outcome.exitCode == 0, qPrintable(outcome.errors));
    const QImage picture(file);
    QCOMPARE(picture.size(), QSize(1300, 820));
    QCOMPARE(picture.pixelColor(5, 400).lightness() < 128, isDark);
}

void ProgramTest::saysWhatCouldNotBeOpened()
{
    const QString file = m_folder.filePath(QStringLiteral("nothing.png"));
    const Outcome outcome
        = run({QStringLiteral("--screenshot"), file, m_folder.filePath(QStringLiteral("nowhere.log"))});
    QCOMPARE(outcome.exitCode, 2);
    QVERIFY2(outcome.errors.contains(QStringLiteral("nowhere.log")), qPrintable(outcome.errors));
    QVERIFY(!QImage(file).isNull()); // the start page, with the message
}

QTEST_GUILESS_MAIN(ProgramTest)
#include "tst_program.moc"
