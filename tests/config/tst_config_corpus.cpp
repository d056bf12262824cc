// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_document.h"
#include "config/scalar_text.h"
#include "support/folders.h"

#include <QDir>
#include <QDirIterator>
#include <QtTest>

#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace headroom;

namespace {

/// Another value of the same kind, so that its spelling stays plain where it was.
std::string otherValue(const Setting& setting)
{
    const auto& text = setting.text;
    const bool isCapital = !text.empty() && text.front() >= 'A' && text.front() <= 'Z';
    if (meansTheSame(text, "true")) {
        return isCapital ? "False" : "false";
    }
    if (meansTheSame(text, "false")) {
        return isCapital ? "True" : "true";
    }
    return isNull(setting) || (text.find_first_not_of("0123456789.eE+-_") == std::string::npos && text != "17")
        ? "17"
        : "other_18";
}

/// Why a setting's own text can't be written again: a text over several lines becomes one of one line, and nothing at
/// all becomes null.
bool comesBack(const Setting& setting)
{
    return setting.style != ScalarStyle::Block && setting.style != ScalarStyle::MultiLine
        && setting.style != ScalarStyle::Empty;
}

/// What stands there: a reference to another key rather than its value.
std::string writtenText(const Setting& setting, const std::string& bytes)
{
    std::string written = bytes.substr(setting.begin, setting.end - setting.begin);
    const std::size_t open = written.find("${");
    const bool isReference = !setting.sources.empty() && open <= 1 && written.find('}') != std::string::npos;
    return isReference ? written.substr(open, written.rfind('}') + 1 - open) : setting.text;
}

/// An item of a long list, far enough in that those in front of it are written one by one.
bool isFarInList(const std::string& key)
{
    const std::size_t open = key.rfind('[');
    constexpr std::size_t mostDigits = 6;
    return open != std::string::npos && key.ends_with(']') && key.size() - open - 2 <= mostDigits
        && std::atoi(key.c_str() + open + 1) >= 24;
}

/// `after` is `before` with other texts at these places and nothing else.
bool onlyThese(const std::vector<const Setting*>& settings, const ConfigDocument& before, const ConfigDocument& after)
{
    std::size_t there = 0;
    std::size_t here = 0;
    for (const Setting* setting : settings) {
        const std::string between = before.bytes().substr(here, setting->begin - here);
        const Setting* now = after.find(setting->key);
        if (now == nullptr || after.bytes().compare(there, between.size(), between) != 0
            || now->begin != there + between.size() || now->text != otherValue(*setting)) {
            return false;
        }
        there = now->end;
        here = setting->end;
    }
    return before.bytes().substr(here) == after.bytes().substr(there);
}

} // namespace

class TestConfigCorpus : public QObject
{
    Q_OBJECT

private slots:
    void corpusRoundTrip_data();
    void corpusRoundTrip();

private:
    void checkTogether(const ConfigDocument& document, const std::vector<const Setting*>& settings);
};

void TestConfigCorpus::corpusRoundTrip_data()
{
    QTest::addColumn<QString>("path");
    for (const QString folder : {"corpus/configs", "corpus/models"}) {
        QDirIterator files(QDir(sharedPath(folder.toStdString())).path(), QDir::Files);
        while (files.hasNext()) {
            const QString path = files.next();
            QTest::newRow(qPrintable(files.fileName())) << path;
        }
    }
    // Own samples of the syntaxes that no public file is here for.
    QDirIterator own(QDir(testData("good/config")).path(), {"*.sh", "*.py", "*.toml"}, QDir::Files);
    while (own.hasNext()) {
        const QString path = own.next();
        QTest::newRow(qPrintable(own.fileName())) << path;
    }
}

void TestConfigCorpus::corpusRoundTrip()
{
    QFETCH(QString, path);
    const auto document = ConfigDocument::open(path.toStdString());
    QVERIFY2(document, document ? "" : document.error().english().c_str());
    const std::string& bytes = document->bytes();
    int changed = 0;
    std::vector<const Setting*> farInLists;
    for (const Setting& setting : document->settings()) {
        if (!setting.isKnown || (setting.begin == setting.end && setting.style != ScalarStyle::Empty)) {
            continue; // an expression, or put together from several places
        }
        if (isFarInList(setting.key) && setting.style == ScalarStyle::Plain && !setting.viaAlias) {
            farInLists.push_back(&setting);
            continue;
        }
        const auto there = document->set(std::vector<ConfigEdit>{{setting.key, otherValue(setting)}});
        const auto& all = document->settings();
        const bool isShared
            = std::count_if(all.begin(), all.end(), [&](const Setting& other) { return other.begin == setting.begin; })
            > 1;
        const bool isProgram = setting.key == "script"; // recognised by its ending
        if (!there && (isShared || setting.isDefinition || isProgram)) {
            continue; // the anchor's own text, a variable that a branch depends on
        }
        QVERIFY2(there, there ? "" : there.error().english().c_str());
        ++changed;
        const std::string written = bytes.substr(setting.begin, setting.end - setting.begin);
        const bool isSwitch = written.find(setting.text) == std::string::npos && setting.style == ScalarStyle::Plain
            && setting.sources.empty();
        if (setting.viaAlias || setting.viaMerge || isSwitch) {
            continue; // another place is written, or a flag taken out
        }
        const std::string& other = there->bytes();
        const std::size_t tail = bytes.size() - setting.end;
        QCOMPARE(other.substr(0, setting.begin), bytes.substr(0, setting.begin));
        QCOMPARE(other.substr(other.size() - tail), bytes.substr(setting.end));
        if (comesBack(setting)) {
            const auto back = there->set(std::vector<ConfigEdit>{{setting.key, writtenText(setting, bytes)}});
            QVERIFY2(back, back ? "" : back.error().english().c_str());
            QVERIFY2(back->bytes() == bytes, (setting.key + " does not come back: " + setting.text).c_str());
        }
    }
    QVERIFY(changed > 0);
    checkTogether(*document, farInLists);
}

/// Hundreds of items of one list are written in turns of every eighth.
void TestConfigCorpus::checkTogether(const ConfigDocument& document, const std::vector<const Setting*>& settings)
{
    constexpr std::size_t turns = 8;
    for (std::size_t turn = 0; turn < std::min(turns, settings.size()); ++turn) {
        std::vector<const Setting*> some;
        std::vector<ConfigEdit> edits, back;
        for (std::size_t i = turn; i < settings.size(); i += turns) {
            some.push_back(settings[i]);
            edits.push_back({settings[i]->key, otherValue(*settings[i])});
            back.push_back({settings[i]->key, settings[i]->text});
        }
        const auto there = document.set(edits);
        QVERIFY2(there, there ? "" : there.error().english().c_str());
        QVERIFY(onlyThese(some, document, *there));
        const auto again = there->set(back);
        QVERIFY2(again, again ? "" : again.error().english().c_str());
        QVERIFY(again->bytes() == document.bytes());
    }
}

QTEST_APPLESS_MAIN(TestConfigCorpus)
#include "tst_config_corpus.moc"
