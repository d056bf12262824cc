// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_fixture.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace headroom;

namespace {

std::string contentOf(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

class TestConfigSave : public QObject
{
    Q_OBJECT

private slots:
    void savesAtomically();
    void savesThroughLinks();
    void failedSaveLeavesNothing();
};

void TestConfigSave::savesAtomically()
{
    QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "config.yaml";
    const ConfigDocument document = parsed("a: 1\r\n");
    QVERIFY(document.save(path));
    QCOMPARE(contentOf(path), std::string("a: 1\r\n"));
    QCOMPARE(::chmod(path.c_str(), 0640), 0);
    QVERIFY(parsed("a: 2").save(path));
    QCOMPARE(contentOf(path), std::string("a: 2"));
    struct stat status
    {
    };
    QCOMPARE(::stat(path.c_str(), &status), 0);
    QCOMPARE(status.st_mode & 07777, mode_t{0640});
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList{"config.yaml"});
}

void TestConfigSave::savesThroughLinks()
{
    QTemporaryDir folder;
    const std::filesystem::path root(folder.path().toStdString());
    std::filesystem::create_directory(root / "real");
    std::ofstream(root / "real" / "config.yaml") << "a: 1\n";
    std::filesystem::create_symlink("real/config.yaml", root / "link.yaml");
    QVERIFY(parsed("a: 2\n").save(root / "link.yaml"));
    QVERIFY(std::filesystem::is_symlink(root / "link.yaml"));
    QCOMPARE(contentOf(root / "real" / "config.yaml"), std::string("a: 2\n"));
    std::filesystem::create_symlink("real/new.yaml", root / "dangling.yaml");
    QVERIFY(parsed("a: 3\n").save(root / "dangling.yaml"));
    QCOMPARE(contentOf(root / "real" / "new.yaml"), std::string("a: 3\n"));
}

void TestConfigSave::failedSaveLeavesNothing()
{
    QTemporaryDir folder;
    const std::filesystem::path root(folder.path().toStdString());
    std::filesystem::create_directory(root / "config.yaml");
    const auto onFolder = parsed("a: 1\n").save(root / "config.yaml");
    QVERIFY(!onFolder);
    QVERIFY(QString::fromStdString(onFolder.error().english()).endsWith("this is a folder, not a file"));
    const auto nowhere = parsed("a: 1\n").save(root / "none" / "config.yaml");
    QVERIFY(!nowhere);
    QCOMPARE(nowhere.error().file, (root / "none" / "config.yaml").string());
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList{});
}

QTEST_APPLESS_MAIN(TestConfigSave)
#include "tst_config_save.moc"
