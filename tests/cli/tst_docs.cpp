// SPDX-License-Identifier: GPL-3.0-or-later
//
// What README, CONTRIBUTING and the man page tell is so: commands give what is printed there, options and files exist.
#include "cli/cli_fixture.h"
#include "support/folders.h"

#include <QDir>
#include <QDirIterator>
#include <QRegularExpression>
#include <QSet>

using namespace headroom::cli;

namespace {

const QDir source(headroom::sourcePath(""));

QString read(const QString& path)
{
    QFile file(source.filePath(path));
    if (!file.open(QIODevice::ReadOnly)) {
        qFatal("%s cannot be read", qPrintable(path));
    }
    return QString::fromUtf8(file.readAll());
}

/// What a pattern's first group finds, each once, in order.
QStringList found(const QString& text, const QString& pattern)
{
    QStringList all;
    const QRegularExpression expression(pattern, QRegularExpression::MultilineOption);
    for (auto match = expression.globalMatch(text); match.hasNext();) {
        all += match.next().captured(1);
    }
    all.removeDuplicates();
    return all;
}

/// "a/*.cpp" stands for at least one file.
bool exists(const QString& path)
{
    const QFileInfo info(source.filePath(path));
    return !QDir(info.path()).entryList({info.fileName()}, QDir::AllEntries | QDir::NoDotAndDotDot).isEmpty();
}

} // namespace

class TestDocs : public CliFixture
{
    Q_OBJECT

private slots:
    void consolesAreTrue_data();
    void consolesAreTrue();
    void optionsExist();
    void theManPageHasEveryOption();
    void linksLead_data();
    void linksLead();
    void pathsExist();
    void presetsExist();
    void namesAreInTheWindow();

private:
    QString allHelp();
};

/// Of each command in README: what it prints first and how it ends. The tables below it move with every improvement of
/// the estimate; they are printed anew when a release is made.
void TestDocs::consolesAreTrue_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("begins");
    const QString readme = read(QStringLiteral("README.md"));
    const QRegularExpression command(QStringLiteral("^\\$ headroom-cli (.*)\\n(.*)\\n"),
                                     QRegularExpression::MultilineOption);
    for (auto match = command.globalMatch(readme); match.hasNext();) {
        const auto one = match.next();
        QTest::newRow(qPrintable(one.captured(1))) << one.captured(1).split(u' ') << one.captured(2);
    }
}

void TestDocs::consolesAreTrue()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, begins);
    const QDir samples(source.filePath(QStringLiteral("resources/samples")));
    for (const QString& name : samples.entryList({QStringLiteral("llama3*")})) {
        QVERIFY(QFile::copy(samples.filePath(name), m_folder->filePath(name)));
    }
    const Outcome outcome = run(arguments);
    QCOMPARE(outcome.err, QByteArray());
    QVERIFY2(outcome.out.startsWith((begins + u'\n').toUtf8()), outcome.out.left(500));
    QCOMPARE(outcome.code, begins.startsWith(QStringLiteral("Does not fit")) && arguments[0] == "estimate" ? 1 : 0);
}

QString TestDocs::allHelp()
{
    const QString commands = QString::fromUtf8(run({"--help"}).out);
    QString all = commands;
    for (const QString& command :
         found(commands.mid(commands.indexOf(QStringLiteral("Subcommands:"))), QStringLiteral("^  ([a-z]+) "))) {
        all += QString::fromUtf8(run({command, "--help"}).out);
    }
    return all;
}

void TestDocs::optionsExist()
{
    const QString option = QStringLiteral("(?<![a-z-])(--[a-z][a-z-]+)");
    const QStringList known = found(allHelp(), option);
    QVERIFY(known.size() > 10);
    const QSet<QString> others{QStringLiteral("--quick"), QStringLiteral("--num-layers"), QStringLiteral("--version")};
    const QString manual = read(QStringLiteral("packaging/linux/headroom-cli.1")).remove(u'\\');
    for (const QString& named : found(read(QStringLiteral("README.md")) + manual, option)) {
        QVERIFY2(known.contains(named) || others.contains(named), qPrintable(named));
    }
}

void TestDocs::theManPageHasEveryOption()
{
    const QString manual = read(QStringLiteral("packaging/linux/headroom-cli.1")).remove(u'\\');
    for (const QString& option : found(allHelp(), QStringLiteral("^  (?:-[a-z],)?(--[a-z][a-z-]+)"))) {
        QVERIFY2(manual.contains(option), qPrintable(option));
    }
}

void TestDocs::linksLead_data()
{
    QTest::addColumn<QString>("file");
    for (const char* file : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "resources/samples/README.md",
                             "resources/formats/config/README.md", "resources/formats/log/README.md"}) {
        QTest::newRow(file) << QString::fromLatin1(file);
    }
}

void TestDocs::linksLead()
{
    QFETCH(QString, file);
    const QString folder = QFileInfo(file).path();
    for (const QString& link : found(read(file), QStringLiteral("\\]\\(([^)#]+)\\)"))) {
        QVERIFY2(link.startsWith(QStringLiteral("https://")) || exists(folder + u'/' + link), qPrintable(link));
    }
}

/// CONTRIBUTING's names of files and folders, but those of a build, a user, or a file that is to be made.
void TestDocs::pathsExist()
{
    const QStringList paths = found(read(QStringLiteral("CONTRIBUTING.md")),
                                    QStringLiteral("`((?:core|app|ui|resources|tests|packaging)(?:/[^` ]*)?)`"));
    QVERIFY(paths.size() > 20);
    for (const QString& path : paths) {
        QVERIFY2(path.contains(QStringLiteral("NAME")) || exists(path), qPrintable(path));
    }
}

void TestDocs::presetsExist()
{
    const auto presets = nlohmann::json::parse(read(QStringLiteral("CMakePresets.json")).toStdString());
    QStringList known;
    for (const auto& preset : presets.at("buildPresets")) {
        known += QString::fromStdString(preset.at("name").get<std::string>());
    }
    QString text = read(QStringLiteral("CONTRIBUTING.md"));
    text = text.mid(text.indexOf(QStringLiteral("| preset | for |")));
    QStringList told = found(text.left(text.indexOf(QStringLiteral("\n\n"))), QStringLiteral("^\\| `([a-z]+)` \\|"));
    known.sort();
    told.sort();
    QCOMPARE(told, known);
}

/// What README sets in italics is written on the window, or is a sample.
void TestDocs::namesAreInTheWindow()
{
    QString window = read(QStringLiteral("resources/samples/index.yaml"));
    for (QDirIterator files(source.filePath(QStringLiteral("ui")), {QStringLiteral("*.cpp")}, QDir::Files,
                            QDirIterator::Subdirectories);
         files.hasNext();) {
        window += read(files.next());
    }
    window.remove(u'&');
    const QStringList names
        = found(read(QStringLiteral("README.md")), QStringLiteral("(?<!\\*)\\*([A-Z][^*\\n]+)\\*(?!\\*)"));
    QVERIFY(names.size() > 5);
    for (const QString& name : names) {
        QVERIFY2(window.contains(u'"' + name + u'"') || window.contains(QStringLiteral("title: ") + name),
                 qPrintable(name));
    }
}

QTEST_GUILESS_MAIN(TestDocs)
#include "tst_docs.moc"
