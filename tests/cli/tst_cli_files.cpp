// SPDX-License-Identifier: GPL-3.0-or-later
//
// Whatever file a command is given: a sentence that names it, exit code 2, and nothing on the way of another program.
#include "cli/cli_fixture.h"

#include <QDir>
#include <QFile>
#include <QMap>
#include <QRegularExpression>

using namespace headroom::cli;

namespace {

/// A sensible call of every command that takes files; FILE is what it gets.
const QMap<QString, QStringList> calls{
    {"estimate", {"estimate", "FILE"}},
    {"fit", {"fit", "FILE", "--capacity", "80GiB"}},
    {"log", {"log", "FILE"}},
    {"compare", {"compare", "FILE", "train.log"}},
    {"loss", {"loss", "FILE", "FILE"}},
    {"report", {"report", "FILE", "-o", "report.html"}},
    {"check", {"check", "FILE"}},
    {"set", {"set", "FILE", "batch.micro=1", "--in-place"}},
    {"export", {"export", "FILE", "--to", "megatron-args"}},
};

const QStringList catalogs{"models", "gpus", "formats", "fields"};

} // namespace

class TestCliFiles : public CliFixture
{
    Q_OBJECT

private slots:
    void everyCommandIsTried();
    void helps_data();
    void helps();
    void broken_data();
    void broken();
    void typingErrorsAreNamed_data();
    void typingErrorsAreNamed();
    void refuses_data();
    void refuses();
};

/// A new command needs a row here.
void TestCliFiles::everyCommandIsTried()
{
    const QString help = QString::fromUtf8(run({"--help"}).out);
    const QRegularExpression line(QStringLiteral("^  ([a-z]+) "), QRegularExpression::MultilineOption);
    QStringList commands;
    for (auto found = line.globalMatch(help.mid(help.indexOf(QStringLiteral("Subcommands:")))); found.hasNext();) {
        commands += found.next().captured(1);
    }
    commands.sort();
    QStringList tried = calls.keys() + catalogs;
    tried.sort();
    QCOMPARE(commands, tried);
}

void TestCliFiles::helps_data()
{
    QTest::addColumn<QString>("command");
    for (const QString& command : calls.keys() + catalogs) {
        QTest::newRow(qPrintable(command)) << command;
    }
}

void TestCliFiles::helps()
{
    QFETCH(QString, command);
    const Outcome outcome = run({command, "--help"});
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.err, QByteArray());
    QVERIFY2(outcome.out.contains("Usage: headroom-cli " + command.toUtf8()), outcome.out);
    QVERIFY(outcome.out.contains("--json") || command == QStringLiteral("report")); // which is a page
    if (calls.contains(command)) {
        QCOMPARE(run({command}).code, 2); // without its files
    }
}

void TestCliFiles::broken_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("bytes"); // null: no file; "/": a folder
    const QMap<QString, QByteArray> files{
        {"missing", {}},
        {"folder", "/"},
        {"empty", ""},
        {"blanks", "  \n\t\n"},
        {"zeros", QByteArray(4096, '\0')},
        {"binary", QByteArray::fromHex("89504e470d0a1a0a0000000dff00fe01") + "\n\xff\xfe"},
        {"words", "hello world"},
        {"half JSON", R"({"train": {"micro_batch_size": )"},
        {"half YAML", "train: [1, 2"},
        {"UTF-16", QByteArray("\xff\xfeh\0i\0\n\0", 8)}};
    for (auto call = calls.begin(); call != calls.end(); ++call) {
        for (auto file = files.begin(); file != files.end(); ++file) {
            QTest::addRow("%s, %s", qPrintable(call.key()), qPrintable(file.key())) << *call << *file;
        }
    }
}

void TestCliFiles::broken()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, bytes);
    if (bytes == "/") {
        QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("input")));
    } else if (!bytes.isNull()) {
        write("input", bytes);
    }
    arguments.replaceInStrings(QStringLiteral("FILE"), QStringLiteral("input"));
    const Outcome outcome = run(arguments);
    QVERIFY2(outcome.code == 2, outcome.out + outcome.err);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY2(outcome.err.startsWith("headroom-cli: input:"), outcome.err);
    QVERIFY2(outcome.err.count('\n') == 1 && outcome.err.endsWith('\n'), outcome.err);
    if (!bytes.isNull() && bytes != "/") {
        QFile file(m_folder->filePath(QStringLiteral("input")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), bytes);
    }
    QVERIFY(!QFile::exists(m_folder->filePath(QStringLiteral("report.html"))));
}

void TestCliFiles::typingErrorsAreNamed_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("a command") << QStringList{"estimat", "a.yaml"};
    QTest::newRow("an option") << QStringList{"--estimat"};
    QTest::newRow("a file alone") << QStringList{"a.yaml"};
    QTest::newRow("an option of a command") << QStringList{"estimate", "a.yaml", "--capasity", "80GiB"};
}

void TestCliFiles::typingErrorsAreNamed()
{
    QFETCH(QStringList, arguments);
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.code, 2);
    const QString wrong = arguments.size() > 2 ? arguments[2] : arguments[0];
    QVERIFY2(outcome.err.contains(wrong.toUtf8()) && outcome.err.contains("--help"), outcome.err);
}

void TestCliFiles::refuses_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const QStringList& arguments, const char* says) {
        QTest::newRow(name) << arguments << QByteArray(says);
    };
    row("no command", {}, "subcommand");
    row("neither config nor model", {"estimate", "--capacity", "80GiB"}, "--model");
    row("unknown option", {"log", "train.log", "--tap"}, "--tap");
    row("missing config", {"estimate", "nothing.yaml"}, "nothing.yaml");
    row("a folder as config", {"estimate", "."}, "folder");
    row("missing log", {"log", "nothing.log"}, "nothing.log");
    row("a config as log", {"log", "a.yaml"}, "a.yaml");
    row("a log as config", {"estimate", "train.log"}, "train.log");
    row("unknown field", {"estimate", "a.yaml", "--set", "parallel.pipes=4"}, "parallel.pipes");
    row("value of the wrong kind", {"estimate", "a.yaml", "--set", "batch.micro=two"}, "two");
    row("not an assignment", {"set", "a.yaml", "batch.micro"}, "key=value");
    row("unknown GPU", {"estimate", "a.yaml", "--gpu", "h900"}, "h900");
    row("unknown model", {"estimate", "a.yaml", "--model", "gpt-17"}, "gpt-17");
    row("absurd capacity", {"estimate", "a.yaml", "--capacity", "-80GiB"}, "-80GiB");
    row("absurd layers", {"estimate", "a.yaml", "--set", "model.layers=1e30"}, "1e30");
    row("zero micro-batch", {"estimate", "a.yaml", "--set", "batch.micro=0"}, "between");
    row("a word for a number", {"set", "a.yaml", "train.micro_batch_size=two"}, "two");
    row("nothing for a number", {"set", "a.yaml", "train.micro_batch_size=", "--in-place"}, "micro_batch_size");
    row("a size no run can have", {"set", "a.yaml", "model.num_layers=-3", "--in-place"}, "between");
    row("more stages than layers", {"set", "a.yaml", "parallel.pipeline_parallel_size=48", "--in-place"}, "48");
    row("output and in place", {"set", "a.yaml", "batch.micro=1", "-o", "b.yaml", "--in-place"}, "excludes");
    row("output into nowhere", {"set", "a.yaml", "batch.micro=1", "-o", "no/such/folder/b.yaml"}, "no/such/folder");
}

void TestCliFiles::refuses()
{
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, says);
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.err.contains(says), outcome.err);
    QCOMPARE(QByteArray(example), [&] {
        QFile file(m_folder->filePath("a.yaml"));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }());
}

QTEST_GUILESS_MAIN(TestCliFiles)
#include "tst_cli_files.moc"
